//! The certificate as a page: one file, no scripts, for screen and paper.

use std::fmt::Write as _;

use crate::certify::{Attribution, Certificate, Run, Verdict};

use super::super::html::escape;
use super::text;

const STYLE: &str = "\
:root{color-scheme:light dark;--line:#8884;--good:#1a7f37;--bad:#c1121f}\
@media(prefers-color-scheme:dark){:root{--good:#57d36f;--bad:#ff7b72}}\
body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.6rem;margin-bottom:.2rem}h2{font-size:1.15rem;margin-top:2rem}\
.verdict{font-weight:600;border-left:.4rem solid;padding:.3rem .8rem}\
.good{color:var(--good)}.bad{color:var(--bad)}\
table{border-collapse:collapse;width:100%}\
th,td{text-align:left;vertical-align:top;padding:.25rem .6rem;border-bottom:1px solid var(--line)}\
td.n{text-align:right;font-variant-numeric:tabular-nums}\
code,pre{font:.88em/1.45 ui-monospace,monospace}code{overflow-wrap:anywhere}\
pre{white-space:pre-wrap;border:1px solid var(--line);padding:.6rem}\
.wide{overflow-x:auto}svg{max-width:100%;height:auto;background:#fff}\
@media print{body{max-width:none;margin:0;font-size:10pt}tr,figure{break-inside:avoid}}";

/// The page of a run that differs, laid over the one that it has to equal, in the run's folder.
#[cfg(feature = "view")]
pub(super) const RUN_PAGE: &str = "run.html";

/// The page; `plots` are drawings (SVG) of runs that differ, by the name of the run.
pub(super) fn page(c: &Certificate, plots: &[(String, String)]) -> String {
    let mut out = String::new();
    let title = format!("{} with {}", c.scenario.robot, c.controller.command.join(" "));
    let _infallible = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Certificate: {title}</title>\n<style>{STYLE}</style>\n\
         <h1>Is this run a function of its inputs?</h1>\n<p><code>{title}</code></p>\n{verdict}",
        title = escape(&title),
        verdict = verdict(c)
    );
    out.push_str(&facts(c));
    if let Some(check) = &c.check {
        let class = if check.confirmed { "good" } else { "bad" };
        let lines = text::checked(check).join("\n");
        let _infallible = writeln!(
            out,
            "<h2>Beside the certificate that was repeated</h2>\n<pre class=\"{class}\">{}</pre>",
            escape(&lines)
        );
    }
    out.push_str(&runs(c));
    for run in c.bad() {
        let plot = plots.iter().find(|(name, _)| *name == run.name).map(|(_, svg)| svg.as_str());
        out.push_str(&one(run, plot));
    }
    if !c.notes.is_empty() {
        out.push_str("<h2>Remarks</h2>\n<ul>\n");
        c.notes
            .iter()
            .for_each(|note| out.push_str(&format!("<li>{}</li>\n", escape(&text::note(*note)))));
        out.push_str("</ul>\n");
    }
    out.push_str(&inputs(c));
    out.push_str(MEANING);
    out.push_str("</html>\n");
    out
}

/// What a certificate shows, and what it does not show.
const MEANING: &str = "\
<h2>What this means</h2>
<p>All runs were in lockstep: a tick waits for the commands that are due at it. The digest is
chained over the complete state of every tick, so two runs with the same last digest had the same
bits in every tick. Each log was also replayed, with the same digests. The runs from a saved
state are compared with each other, not with the reference: a controller that is started again has
lost the memory of the first one.</p>
<p>The certificate shows that in these runs neither pace, nor load, nor a stopped process
changed the
run. It does not show that the controller is good, nor that another scenario, another build or
another machine gives the same run.</p>
";

fn verdict(c: &Certificate) -> String {
    let count = c.runs.len();
    if c.certified {
        format!(
            "<p class=\"verdict good\">Yes: {count} runs; every run matches its reference to the \
             last bit.</p>\n"
        )
    } else {
        let bad: Vec<&str> = c.bad().map(|run| run.name.as_str()).collect();
        format!(
            "<p class=\"verdict bad\">No: of {count} runs {} differ: {}.</p>\n",
            bad.len(),
            escape(&bad.join(", "))
        )
    }
}

fn facts(c: &Certificate) -> String {
    let s = &c.scenario;
    let set = if s.set.is_empty() { "nothing".into() } else { s.set.join(", ") };
    let rows = [
        ("Scenario", format!("{}; changed: {set}", s.file)),
        ("Robot", s.robot.clone()),
        ("Hashes", format!("physics {}, layout {}", s.physics_hash, s.layout_hash)),
        (
            "Length",
            format!("{} ticks of {} µs: {} s", s.ticks, s.period_ns as f64 / 1e3, s.duration_s),
        ),
        ("Controller", c.controller.command.join(" ")),
        (
            "Machine",
            format!(
                "{} cores, {}, Linux {}, {}",
                c.machine.cores, c.machine.cpu, c.machine.kernel, c.machine.architecture
            ),
        ),
        ("Hardstand", format!("{}, SHA-256 {}", c.hardstand, c.inputs.daemon.sha256)),
        ("Environment", variables(c)),
        ("Date", c.date.clone()),
    ];
    let mut out = String::from("<table>\n");
    for (name, value) in rows {
        let _infallible =
            writeln!(out, "<tr><th>{name}</th><td><code>{}</code></td></tr>", escape(&value));
    }
    out.push_str("</table>\n");
    out
}

/// Variables that change how programs compute.
fn variables(c: &Certificate) -> String {
    let pairs: Vec<_> = c.inputs.environment.iter().map(|(k, v)| format!("{k}={v}")).collect();
    if pairs.is_empty() { "no variable that is recorded".into() } else { pairs.join(" ") }
}

/// The files that decided the runs, and Python's packages.
fn inputs(c: &Certificate) -> String {
    let i = &c.inputs;
    let mut out = String::from("<h2>Inputs</h2>\n<div class=\"wide\"><table>\n");
    let parts = [
        ("scenario", &i.scenario[..]),
        ("controller", &i.controller[..]),
        ("library", &i.libraries[..]),
        ("log", std::slice::from_ref(&i.reference_log)),
    ];
    for (what, files) in parts {
        for file in files {
            let _infallible = writeln!(
                out,
                "<tr><td>{what}</td><td><code>{}</code></td><td class=\"n\">{} B</td>\
                 <td><code>{}</code></td></tr>",
                escape(&file.file),
                file.bytes,
                file.sha256
            );
        }
    }
    out.push_str("</table></div>\n");
    if !i.packages.is_empty() {
        let _infallible = writeln!(out, "<p>{}</p>", escape(&i.packages.join(", ")));
    }
    out
}

fn runs(c: &Certificate) -> String {
    let mut out = String::from(
        "<h2>Runs</h2>\n<div class=\"wide\"><table>\n<tr><th>run</th><th>what was done</th>\
         <th>ticks</th><th>last digest</th><th>wall time</th><th>replays</th>\
         <th>verdict</th></tr>\n",
    );
    for run in &c.runs {
        let stopped = run.stopped_at_tick.map_or(String::new(), |t| format!(", after tick {t}"));
        let (class, word) = word(run);
        let _infallible = writeln!(
            out,
            "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td><code>{}</code></td>\
             <td class=\"n\">{:.2} s</td><td>{}</td><td class=\"{class}\">{}</td></tr>",
            escape(&run.name),
            escape(&format!("{}{stopped}", run.what)),
            run.ticks,
            run.digest,
            run.wall_s,
            if run.replays { "identically" } else { "NO" },
            escape(&word),
        );
    }
    out.push_str("</table></div>\n");
    if let Some(snapshot) = c.snapshot {
        let equal = if snapshot.equals_reference { "also" } else { "not" };
        let _infallible = writeln!(
            out,
            "<p>The runs from the state after tick {} are {equal} equal to the rest of the \
             reference.</p>",
            snapshot.tick
        );
    }
    out
}

/// The verdict on a run in words, and its class.
fn word(run: &Run) -> (&'static str, String) {
    let with = run.compared_with.as_deref().unwrap_or_default();
    match run.verdict {
        Verdict::Reference => ("", "compared with others".into()),
        Verdict::Equal => ("good", format!("equal to {with}")),
        Verdict::Different => ("bad", format!("DIFFERENT from {with}")),
        Verdict::Failed => ("bad", "FAILED".into()),
    }
}

/// A run that differs, or failed.
fn one(run: &Run, plot: Option<&str>) -> String {
    let mut out = format!("<h2>{}</h2>\n", escape(&run.name));
    if let Some(problem) = &run.problem {
        out.push_str(&format!("<pre>{}</pre>\n", escape(&text::problem(problem))));
    }
    let Some(d) = &run.difference else { return out };
    let [a, b] = text::values(&d.values);
    let with = run.compared_with.as_deref().unwrap_or_default();
    let _infallible = write!(
        out,
        "<p class=\"verdict bad\">{}</p>\n<table>\n\
         <tr><th>First difference</th><td>tick {} ({:.3} s)</td></tr>\n\
         <tr><th>Cause</th><td>{}</td></tr>\n<tr><th>Quantity</th><td><code>{}</code></td></tr>\n\
         <tr><th>In {}</th><td><code>{}</code></td></tr>\n\
         <tr><th>In {}</th><td><code>{}</code></td></tr>\n",
        escape(&text::explanation(d)),
        d.tick,
        d.time_s,
        cause(d.cause),
        escape(&text::quantity(d)),
        escape(with),
        escape(a),
        escape(&run.name),
        escape(b),
    );
    if let Some(state) = text::state(d) {
        out.push_str(&format!(
            "<tr><th>Then the robot</th><td><code>{}</code></td></tr>\n",
            escape(&state)
        ));
    }
    out.push_str("</table>\n");
    if let Some(svg) = plot {
        #[cfg(feature = "view")]
        out.push_str(&format!(
            "<p><a href=\"{}/{RUN_PAGE}\">Watch both runs</a>, one laid over the other.</p>\n",
            escape(&run.name)
        ));
        // a drawing within a page has no declaration
        let svg = svg.find("<svg").map_or("", |at| &svg[at..]);
        out.push_str(&format!("<figure>{svg}</figure>\n"));
    }
    out
}

const fn cause(of: Attribution) -> &'static str {
    match of {
        Attribution::Controller => "controller",
        Attribution::Plant => "plant",
        Attribution::Events => "events",
        Attribution::Beginning => "beginning",
    }
}
