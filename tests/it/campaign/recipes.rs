//! The recipes for farms, run as a farm would run them.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_yaml::Value;

use super::stage::{EIGHT, HARDSTAND, STAND, Stage, eight, rows, same};
use crate::common::process::{Process, repository};

/// A Python that can import this module, or a plain word why there is none.
pub fn python(test: &str, module: &str) -> Option<String> {
    let python = std::env::var("HARDSTAND_PYTHON").unwrap_or_else(|_| "python3".into());
    let mut tried = Command::new(&python);
    tried.args(["-c", &format!("import {module}")]).stdin(Stdio::null()).stderr(Stdio::null());
    if tried.status().is_ok_and(|status| status.success()) {
        return Some(python);
    }
    eprintln!(
        "SKIPPED {test}: {python} cannot import {module}. To run it: python3 -m venv v && \
         v/bin/pip install ray pyarrow && HARDSTAND_PYTHON=$PWD/v/bin/python cargo test --test it campaign::"
    );
    None
}

/// A command that finds `hardstand` on its path.
pub fn with_hardstand(program: &str) -> Command {
    let folder = Path::new(HARDSTAND).parent().unwrap().display();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap_or_default());
    // the path of who starts it is looked at, not that of what is started
    let program = if program == "hardstand" { HARDSTAND } else { program };
    let mut command = Command::new(program);
    command.env("PATH", path);
    command
}

/// A campaign that names its controller, as those on farms do.
fn on_farm() -> Stage {
    Stage::new(&format!("controller = {STAND:?}\n{EIGHT}"))
}

/// The number after `word`.
fn number(text: &str, word: &str) -> usize {
    let rest = text.split(word).nth(1).unwrap_or_else(|| panic!("no {word} in\n{text}"));
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

#[test]
fn slurm_runs_slices() {
    let script = repository("examples/campaign_slurm.sh");
    let text = std::fs::read_to_string(&script).unwrap();
    assert_eq!(number(&text, "--array=0-") + 1, number(&text, "\nslices="));
    let stage = on_farm();
    for task in ["1", "7"] {
        let mut command = with_hardstand("sh");
        command.arg(&script).arg(stage.path("campaign.toml"));
        command.envs([("SLURM_ARRAY_TASK_ID", task), ("SLURM_CPUS_PER_TASK", "1")]);
        // as when only these two are run again
        command.env("SLURM_ARRAY_TASK_COUNT", "2");
        Process::start(stage.dir.path(), "slurm", command).ends_with(0);
    }
    assert_eq!(stage.finished(), ["flat__none__s0009", "slick__noise__s0009"]);
}

#[test]
fn kubernetes_runs_slices() {
    let text = std::fs::read_to_string(repository("examples/campaign_kubernetes.yaml")).unwrap();
    let job: Value = serde_yaml::from_str(&text).unwrap();
    let spec = &job["spec"];
    assert_eq!(
        (job["kind"].as_str(), spec["completionMode"].as_str()),
        (Some("Job"), Some("Indexed"))
    );
    let pod = &spec["template"]["spec"];
    let container = &pod["containers"][0];
    let words: Vec<&str> =
        container["command"].as_sequence().unwrap().iter().map(|w| w.as_str().unwrap()).collect();
    let slices = number(words[2], "$JOB_COMPLETION_INDEX/");
    assert_eq!(spec["completions"].as_u64(), Some(slices as u64));
    // a policy for exit codes needs pods that are not started again by themselves
    assert_eq!(pod["restartPolicy"].as_str(), Some("Never"));
    let mount = container["volumeMounts"][0]["mountPath"].as_str().unwrap();
    assert!(container["env"][0]["value"].as_str().unwrap().starts_with(mount));
    assert_eq!(container["volumeMounts"][0]["name"], pod["volumes"][0]["name"]);

    let stage = on_farm();
    let mut command = with_hardstand(words[0]);
    command.args(&words[1..]).env("CAMPAIGN", stage.path("campaign.toml"));
    command.env("JOB_COMPLETION_INDEX", "2");
    Process::start(stage.dir.path(), "pod", command).ends_with(0);
    assert_eq!(stage.finished(), ["flat__noise__s0007"]);
}

/// A real cluster on this machine.
#[test]
fn ray_runs_slices() {
    let Some(python) = python("ray_runs_slices", "ray") else { return };
    let stage = on_farm();
    let results = stage.path("results");
    let mut command = with_hardstand(&python);
    command.arg(repository("examples/campaign_ray.py")).arg(stage.path("campaign.toml"));
    command.args(["--slices", "3", "--out"]).arg(&results);
    // its token, its sockets; and nothing is told to anybody
    command.env("HOME", stage.dir.path()).env("RAY_TMPDIR", stage.dir.path());
    command.env("RAY_USAGE_STATS_ENABLED", "0");
    let said = Process::start(stage.dir.path(), "ray", command).ends_with(0);
    assert!(said.contains("outcomes   8 of 8 cases: done 8"), "{said}");
    assert!(
        said.contains("8 rows; ") && said.contains("a slice has ended with 0, 0 to go"),
        "{said}"
    );
    assert_eq!(same(&rows(&results)), same(&eight().rows()));
}

/// Runs the command of a recipe for continuous integration as a runner does, in the folder of the
/// campaign, and returns the names of the cases in its JUnit report.
fn integrated(recipe: &str, command: &str, variables: &Value, upload: [&str; 2]) -> Vec<String> {
    let campaign = EIGHT.replace("duration_s", "fail_if = [\"slick\"]\nduration_s");
    let stage = Stage::new(&format!("controller = {STAND:?}\n{campaign}"));
    let mut shell = with_hardstand("sh");
    shell.args(["-e", "-c", command]).current_dir(stage.dir.path());
    shell.env("CAMPAIGN", variables["CAMPAIGN"].as_str().unwrap());
    let said = Process::start(stage.dir.path(), "runner", shell).ends_with(1);
    assert!(said.contains("failed     4 cases by fail_if"), "{recipe}: {said}");
    let [folder, junit] = upload;
    assert!(stage.path(folder).join("index.html").is_file(), "{recipe}");
    let xml = std::fs::read_to_string(stage.path(junit)).unwrap();
    let read = roxmltree::Document::parse(&xml).unwrap();
    let tests = read.descendants().filter(|n| n.has_tag_name("testcase"));
    tests.map(|test| test.attribute("name").unwrap().to_string()).collect()
}

/// The file of a recipe, which docs/campaigns.md shows word for word.
fn shown(file: &str) -> Value {
    let text = std::fs::read_to_string(repository(file)).unwrap();
    let docs = std::fs::read_to_string(repository("docs/campaigns.md")).unwrap();
    let body: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(docs.contains(&body.join("\n")), "{file} is not what docs/campaigns.md shows");
    serde_yaml::from_str(&text).unwrap()
}

#[test]
fn github_runs_a_campaign_and_keeps_its_reports() {
    let workflow = shown("examples/campaign_github.yml");
    let steps = workflow["jobs"]["campaign"]["steps"].as_sequence().unwrap();
    let step = |name: &str, value: &str| {
        let found =
            steps.iter().position(|s| s[name].as_str().is_some_and(|s| s.starts_with(value)));
        found.unwrap_or_else(|| panic!("no step with {name}: {value}"))
    };
    let (run, upload) = (step("name", "campaign"), step("uses", "actions/upload-artifact"));
    assert!(run < upload && steps[upload]["if"].as_str() == Some("${{ !cancelled() }}"));
    let folder = steps[upload]["with"]["path"].as_str().unwrap();
    let junit = format!("{folder}/junit.xml");
    let command = steps[run]["run"].as_str().unwrap();
    let tests = integrated("GitHub", command, &workflow["env"], [folder, &junit]);
    assert_eq!(tests.len(), 8, "{tests:?}");
}

#[test]
fn gitlab_runs_a_campaign_and_reads_its_report() {
    let job = &shown("examples/campaign_gitlab.yml")["campaign"];
    let script = job["script"].as_sequence().unwrap();
    let artifacts = &job["artifacts"];
    assert_eq!((script.len(), artifacts["when"].as_str()), (1, Some("always")));
    let junit = artifacts["reports"]["junit"].as_str().unwrap();
    let folder = artifacts["paths"][0].as_str().unwrap();
    let command = script[0].as_str().unwrap();
    let tests = integrated("GitLab", command, &job["variables"], [folder, junit]);
    assert_eq!(tests.len(), 8, "{tests:?}");
}
