//! `hardstand campaign compare`: the results of two campaigns, case by case.

use crate::campaign::{Change, Comparison, Difference, Group, Results};
use hardstand_error::Result;

use super::super::arguments::CampaignCompareArguments;
use super::super::differences::number;
use super::super::{ExitCode, show};
use super::no_place;

/// Cases of a list that are shown; `--json` has all.
const SHOWN: usize = 20;

pub(super) fn compare(a: &CampaignCompareArguments) -> Result<ExitCode> {
    let open = |folder: &std::path::PathBuf| -> Result<Results> {
        let folder = std::path::absolute(folder).map_err(|e| no_place(folder, &e))?;
        let results = Results::open(&folder)?;
        results.refuse_mixed()?;
        Ok(results)
    };
    let (before, after) = (open(&a.before)?, open(&a.after)?);
    let found = Comparison::of(&before, &after, a.confidence)?;
    if a.json {
        show::json(&found)?;
    } else {
        print(&found, &before, &after);
    }
    Ok(match (found.worse.is_empty(), found.unfinished_b.is_empty()) {
        (false, _) => ExitCode::Negative,
        (true, false) => ExitCode::Incomplete,
        (true, true) => ExitCode::Done,
    })
}

fn print(c: &Comparison, before: &Results, after: &Results) {
    for (name, results) in [("a", before), ("b", after)] {
        let m = &results.manifest;
        show::line(&format!(
            "{name:10} {}: {} {}",
            results.folder.display(),
            m.hardstand,
            m.controller.join(" ")
        ));
    }
    let Comparison { compared, identical, passed, failed, .. } = c;
    show::line(&format!(
        "compared   {compared} cases: {passed} passed in both, {failed} in neither; {identical} \
         ran identically"
    ));
    if !c.inputs.is_empty() {
        show::line(&format!("inputs     {} differs", c.inputs.join(", ")));
    }
    if before.manifest.fail_if != after.manifest.fail_if {
        show::line("fail_if    differs: both are judged by that of b");
    }
    changes("worse", &c.worse);
    changes("better", &c.better);
    names("only in a", &c.only_a);
    names("only in b", &c.only_b);
    names("not run a", &c.unfinished_a);
    names("not run b", &c.unfinished_b);
    if let [first, ..] = &c.other_inputs[..] {
        show::line(&format!(
            "other      {} cases of the same names are other cases: {} of {} differs",
            c.other_inputs.len(),
            first.inputs.join(", "),
            first.case
        ));
    }
    let whole = (c.groups.len() > 1).then_some(("all cases".to_string(), &c.total));
    let groups = c.groups.iter().map(|g| (format!("{} · {}", g.scenario, g.fault), g));
    for (name, group) in groups.chain(whole) {
        show_group(&name, group, c.confidence);
    }
}

fn changes(name: &str, list: &[Change]) {
    show::line(&format!("{name:10} {}", list.len()));
    for change in list.iter().take(SHOWN) {
        show::line(&format!("           {}: {}", change.case, change.why));
    }
    if list.len() > SHOWN {
        show::line(&format!("           and {} more", list.len() - SHOWN));
    }
}

fn names(name: &str, list: &[String]) {
    if let [first, ..] = list {
        show::line(&format!("{name:10} {} cases, first {first}", list.len()));
    }
}

fn show_group(name: &str, g: &Group, confidence: f64) {
    let Group { cases, pairs, worse, better, p, .. } = g;
    show::line(&format!(
        "group      {name}: {cases} cases, {pairs} independent pairs: {worse} worse, {better} \
         better, sign test p = {p:.4}"
    ));
    for d in &g.measures {
        show::line(&format!("           {}", measure(d, confidence)));
    }
}

fn measure(d: &Difference, confidence: f64) -> String {
    let Difference { measure, mean_a, mean_b, difference, differs } = d;
    let mean = difference.mean;
    let interval = match difference.half_width {
        None => "no interval, for it is one pair".into(),
        Some(half) => {
            let word = if *differs { "differs" } else { "no difference is shown" };
            let percent = 100.0 * confidence;
            format!("± {} ({percent} %, {} pairs): {word}", number(half), difference.pairs)
        }
    };
    let sign = if mean > 0.0 { "+" } else { "" };
    let [a, b, mean] = [*mean_a, *mean_b, mean].map(number);
    format!("{measure}: {a} → {b}, {sign}{mean} {interval}")
}
