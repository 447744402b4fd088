//! What continuous integration and people read of a campaign.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use roxmltree::{Document, Node};

use super::stage::{HARDSTAND, Stage};
use crate::common::process::Process;

/// One case that passes, one that a condition fails, one whose controller leaves, one that is not
/// run.
const MIXED: &str = r#"
duration_s = 0.1
fail_if = ["low & <odd>"]

[[scenarios]]
name = "flat"
file = "QUADRUPED"

[[scenarios]]
name = "slick"
file = "QUADRUPED"
set = ["contact.mu_static=0.7"]

[[scenarios]]
name = "leaves"
file = "QUADRUPED"

[[scenarios]]
name = "later"
file = "QUADRUPED"

[[vary]]
key = "contact.d0_m"
between = [0.0065, 0.0067]

[conditions]
slides = "station.FL.mu_static < 0.75 and tick > 9"

[measures]
height_m = { quantity = "base.z", take = "last" }
"#;

const SCRIPT: &str = "case $HARDSTAND_CASE in leaves*) exit 3;; *) exec $STAND;; esac # <&\"'>";

/// [`MIXED`], run but for its last case, with both reports.
fn mixed() -> &'static Stage {
    static RUN: OnceLock<Stage> = OnceLock::new();
    RUN.get_or_init(|| {
        let stage = Stage::with_script(&MIXED.replace("low & <odd>", "slides"), SCRIPT);
        let [junit, html] = ["run.xml", "run.html"].map(|f| stage.path(f).display().to_string());
        let mut more = vec!["--jobs", "2", "--junit", &junit, "--html", &html];
        for name in ["flat", "slick", "leaves"] {
            more.extend(["--case", Box::leak(format!("{name}__none__s0001").into_boxed_str())]);
        }
        let said = stage.run(&more, 1);
        assert!(said.contains(&format!("junit      {junit}")), "{said}");
        stage
    })
}

/// `hardstand campaign report` of the folder.
fn report(stage: &Stage, more: &[&str], code: i32) -> String {
    let mut command = Command::new(HARDSTAND);
    command.args(["campaign", "report"]).arg(stage.results()).args(more);
    Process::start(stage.dir.path(), "report", command).ends_with(code)
}

/// What the schema of Jenkins allows: an element, its attributes, those that it must have, its
/// children.
type Rule =
    (&'static str, &'static [&'static str], &'static [&'static str], &'static [&'static str]);
const RULES: [Rule; 9] = [
    ("testsuites", &["name", "time", "tests", "failures", "errors"], &[], &["testsuite"]),
    (
        "testsuite",
        &["name", "tests", "failures", "errors", "group", "time", "skipped", "timestamp"],
        &["name", "tests", "failures", "errors"],
        &["properties", "testcase"],
    ),
    ("properties", &[], &[], &["property"]),
    ("property", &["name", "value"], &["name", "value"], &[]),
    (
        "testcase",
        &["name", "time", "classname", "group"],
        &["name"],
        &["skipped", "error", "failure", "system-out", "system-err"],
    ),
    ("failure", &["type", "message"], &[], &[]),
    ("error", &["type", "message"], &[], &[]),
    ("skipped", &["type", "message"], &[], &[]),
    ("system-out", &[], &[], &[]),
];

/// What breaks a rule.
fn invalid(xml: &str) -> Vec<String> {
    let read = Document::parse(xml).unwrap();
    let mut wrong = Vec::new();
    for node in read.descendants().filter(Node::is_element) {
        let name = node.tag_name().name();
        let Some((_, allowed, needed, children)) = RULES.iter().find(|rule| rule.0 == name) else {
            wrong.push(format!("element {name}"));
            continue;
        };
        let attributes: Vec<&str> = node.attributes().map(|a| a.name()).collect();
        wrong.extend(
            attributes.iter().filter(|a| !allowed.contains(a)).map(|a| format!("{name} {a}")),
        );
        wrong.extend(needed.iter().filter(|a| !attributes.contains(a)).map(|a| format!("no {a}")));
        let inner = node.children().filter(Node::is_element).map(|c| c.tag_name().name());
        wrong.extend(inner.filter(|c| !children.contains(c)).map(|c| format!("{c} in {name}")));
        if let Some(time) = node.attribute("time") {
            let number = time.bytes().all(|b| b.is_ascii_digit() || b == b'.');
            wrong.extend((!number).then(|| format!("time {time}")));
        }
    }
    wrong
}

#[test]
fn what_is_no_junit_is_seen() {
    let xml = "<testsuites><testsuite name='a' tests='1' errors='0'><properties/>\
               <testcase name='x' time='1e3'><properties/><flaw/></testcase></testsuite></testsuites>";
    let expected =
        ["no failures", "properties in testcase", "flaw in testcase", "time 1e3", "element flaw"];
    assert_eq!(invalid(xml), expected);
}

#[test]
fn junit_has_a_test_for_each_case_and_says_why_it_failed() {
    let stage = mixed();
    let junit = stage.path("report.xml");
    let said = report(stage, &["--junit", junit.to_str().unwrap()], 3);
    assert!(
        said.contains(
            "cases      4: 1 passed, 1 failed by fail_if, 1 did not reach their end, 1 missing"
        ),
        "{said}"
    );
    let xml = fs::read_to_string(&junit).unwrap();
    assert_eq!(invalid(&xml), Vec::<String>::new(), "{xml}");
    let read = Document::parse(&xml).unwrap();
    let all = read.root_element();
    let counts = ["tests", "failures", "errors"].map(|a| all.attribute(a).unwrap());
    assert_eq!(counts, ["4", "1", "1"]);
    let suites: Vec<[&str; 2]> = all
        .children()
        .filter(Node::is_element)
        .map(|suite| ["name", "skipped"].map(|a| suite.attribute(a).unwrap()))
        .collect();
    let names = ["flat", "slick", "leaves", "later"].map(|s| format!("campaign.{s}.none"));
    let skipped = ["0", "0", "0", "1"];
    assert!(suites.iter().map(|s| s[0]).eq(names.iter().map(String::as_str)), "{suites:?}");
    assert!(suites.iter().map(|s| s[1]).eq(skipped), "{suites:?}");
    let verdicts: Vec<[&str; 3]> = read
        .descendants()
        .filter(|n| ["failure", "error", "skipped"].contains(&n.tag_name().name()))
        .map(|n| {
            [n.tag_name().name(), n.attribute("type").unwrap(), n.attribute("message").unwrap()]
        })
        .collect();
    let slides = "slides: station.FL.mu_static < 0.75 and tick > 9 held first at tick 10 (0.010 s), \
                  station.FL.mu_static = 0.700000, tick = 10.000000";
    let left = "controller_ended after 0 ticks (0.000 s): the controller's exit code 3";
    assert_eq!(
        verdicts,
        [
            ["failure", "slides", slides],
            ["error", "controller_ended", left],
            ["skipped", "unfinished", "this case has not run, or was interrupted"],
        ]
    );
}

/// The parameters of a case, what was measured, and the controller's words with all their quotes.
#[test]
fn junit_has_the_parameters_of_each_case() {
    let stage = mixed();
    let xml = fs::read_to_string(stage.path("run.xml")).unwrap();
    assert_eq!(invalid(&xml), Vec::<String>::new(), "{xml}");
    let read = Document::parse(&xml).unwrap();
    let cases: Vec<Node<'_, '_>> =
        read.descendants().filter(|n| n.has_tag_name("testcase")).collect();
    assert_eq!(cases.len(), 3, "only those of this run");
    let controller = read.descendants().find(|n| n.attribute("name") == Some("controller"));
    assert_eq!(controller.unwrap().attribute("value"), Some(&*stage.controller.join(" ")));
    let out = cases[1].children().find(|n| n.has_tag_name("system-out")).unwrap();
    let lines: BTreeMap<&str, &str> =
        out.text().unwrap().lines().map(|line| line.split_once(" = ").unwrap()).collect();
    let row = &stage.rows()[1];
    for (line, column) in [
        ("scenario", "scenario"),
        ("fault", "fault"),
        ("seed", "seed"),
        ("contact.d0_m", "contact_d0_m"),
        ("height_m", "height_m"),
        ("digest", "digest"),
        ("page", "page"),
    ] {
        assert_eq!(lines[line], row[column], "{line}");
    }
    assert_eq!(lines["slides"], "true, first at 0.01 s");
    let wall_s: f64 = row["wall_s"].parse().unwrap();
    assert_eq!(cases[1].attribute("time"), Some(&*format!("{wall_s:.3}")));
}

/// The text between two marks.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let rest = text.split(from).nth(1).unwrap_or_else(|| panic!("no {from}"));
    rest.split(to).next().unwrap()
}

#[test]
fn the_page_has_matrix_table_plots_and_links_that_lead_somewhere() {
    let stage = mixed();
    let page = fs::read_to_string(stage.path("run.html")).unwrap();
    for load in ["http://", "https://", "src=", "@import", "url("] {
        // the name of SVG's language is no address that is read
        let without = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!without.contains(load), "the page loads {load}");
    }
    let matrix = between(&page, "<caption>scenario by all cases</caption>", "</table>");
    for (scenario, cell) in [
        ("flat", "<td class=\"good\">✓ 0/1</td>"),
        ("slick", "<td class=\"all\">✗ 1/1</td>"),
        ("leaves", "<td class=\"all\">✗ 1/1</td>"),
    ] {
        assert!(matrix.contains(&format!("<th>{scenario}</th>{cell}")), "{matrix}");
    }
    assert!(page.contains("<caption>scenario by contact.d0_m</caption>"));
    assert!(page.contains("height_m by contact.d0_m</figcaption><svg"), "a drawing");
    let table = between(&page, "<table id=\"cases\">", "</table>");
    assert_eq!(table.matches("<tr>").count(), 1 + 3, "{table}");
    assert!(!page.contains("# <&\"'>") && page.contains("# &lt;&amp;&quot;&#39;&gt;"));
    let links: Vec<&str> =
        page.split("href=\"").skip(1).map(|l| l.split('"').next().unwrap()).collect();
    assert!(links.contains(&"campaign-results/cases/slick__none__s0001/run.html"), "{links:?}");
    for link in links {
        assert!(stage.path(link).is_file(), "{link}");
    }
    let program = between(&page, "<tr><td>hardstand</td><td><code>", "</td></tr>");
    let hash = Command::new("sha256sum").arg(HARDSTAND).output().unwrap();
    let hash = String::from_utf8(hash.stdout).unwrap();
    assert!(program.contains(hash.split(' ').next().unwrap()), "{program}\n{hash}");
}

/// The command of a failed case, as a person would paste it.
#[test]
fn the_command_of_a_failed_case_repeats_it() {
    let stage = mixed();
    let page = fs::read_to_string(stage.path("run.html")).unwrap();
    let commands = page.split("<pre>").skip(1).map(|c| c.split("</pre>").next().unwrap());
    let command = commands.into_iter().find(|c| c.contains("--case slick")).unwrap();
    let plain = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    let command = plain.iter().fold(command.to_string(), |text, (from, to)| text.replace(from, to));
    let elsewhere = tempfile::tempdir().unwrap();
    let command = command.replace("again-", &format!("{}/again-", elsewhere.path().display()));
    let mut shell = super::recipes::with_hardstand("sh");
    shell.args(["-c", &command]);
    let said = Process::start(stage.dir.path(), "again", shell).ends_with(1);
    assert!(said.contains("cases      1 to run"), "{said}");
    let again = elsewhere.path().join("again-slick__none__s0001");
    let digest = |folder: &Path| {
        super::stage::rows(folder).into_iter().find(|r| r["scenario"] == "slick").unwrap()["digest"]
            .clone()
    };
    assert_eq!(digest(&again), digest(&stage.results()));
}

#[test]
fn a_folder_without_results_is_refused() {
    let stage = Stage::new(MIXED);
    let said = report(&stage, &[], 2);
    assert!(said.contains("campaign.json") && said.contains("--table"), "{said}");
    let said = stage.run(&["--case", "flat__none__s0002"], 2);
    assert!(said.contains("low & <odd>"), "{said}");
    stage.write(&MIXED.replace("low & <odd>", "slides"));
    let said = stage.run(&["--case", "flat__none__s0002"], 2);
    assert!(said.contains("--case flat__none__s0002: there is no such case"), "{said}");
    let file = stage.path("campaign.toml").display().to_string();
    assert!(stage.run(&["--junit", &file], 2).contains("choose another name"));
}

/// What was finished can be read after the campaign was killed.
#[test]
fn a_campaign_that_was_killed_has_a_report() {
    let script = "case $HARDSTAND_CASE in slick*) sleep 3;; esac; exec $STAND";
    let stage = Stage::with_script(&MIXED.replace("low & <odd>", "slides"), script);
    let mut campaign = stage.start("campaign", &["--jobs", "1"]);
    crate::common::process::wait_for("a case", || (!stage.finished().is_empty()).then_some(()));
    campaign.kill();
    let said = report(&stage, &[], 3);
    assert!(
        said.contains("4: 1 passed, 0 failed by fail_if, 0 did not reach their end, 3 missing")
    );
}

#[test]
fn two_reports_have_two_names() {
    let stage = Stage::new(MIXED);
    let (one, other) = (stage.path("report"), stage.path("./report"));
    let (one, other) = (one.display().to_string(), other.display().to_string());
    let said = stage.run(&["--junit", &one, "--html", &other], 2);
    assert!(said.contains("--junit and --html are both"), "{said}");
}

/// Neither what was read nor what is written already is replaced, before or after the cases.
#[test]
fn a_report_replaces_nothing_of_its_campaign() {
    let stage = mixed();
    let results = stage.results();
    let below = |name: &str| results.join(name).display().to_string();
    let kept = below("cases/flat__none__s0001/outcome.json");
    let files = [
        stage.path("campaign.toml").display().to_string(),
        crate::common::process::repository("config/quadruped.toml"),
        crate::common::process::repository("config/robots/quadruped.urdf"),
        below("campaign.json"),
        below("table.csv"),
        below("table.parquet"),
        below("parts/page.html"),
        kept,
    ];
    let before = files.each_ref().map(|file| fs::read(file).ok());
    for file in &files {
        for option in ["--junit", "--html"] {
            for said in
                [stage.run(&[option, file, "--table"], 2), report(stage, &[option, file], 2)]
            {
                assert!(said.contains("choose another name"), "{option} {file}: {said}");
            }
        }
    }
    assert_eq!(before, files.each_ref().map(|file| fs::read(file).ok()));
}

/// A mistake that would be found after hours is found at once.
#[test]
fn a_report_that_cannot_be_written_is_refused_before_a_case_is_run() {
    let stage = Stage::new(MIXED.replace("low & <odd>", "slides").as_str());
    let nowhere = stage.path("no/such/folder/page.html").display().to_string();
    let folder = stage.dir.path().display().to_string();
    for file in [nowhere, folder] {
        let said = stage.run(&["--html", &file], 2);
        assert!(said.contains(&format!("--html {file}")), "{said}");
        assert!(stage.finished().is_empty(), "{said}");
    }
}
