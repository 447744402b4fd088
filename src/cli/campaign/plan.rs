//! `hardstand campaign plan`: how many cases a campaign has, and what they will take.

use serde::Serialize;

use crate::campaign::{Cost, Plan, Store};
use hardstand_error::Result;

use super::super::arguments::CampaignPlanArguments;
use super::super::shell::quoted;
use super::super::{ExitCode, show};
use super::{no_place, results_of};

/// Groups that are shown; `--json` has all.
const SHOWN: usize = 12;
/// Cases that are enough for a first estimate.
const SAMPLE: usize = 100;

#[derive(Serialize)]
struct PlanResult {
    #[serde(flatten)]
    cost: Cost,
    /// Time of the cases that are to be run, by the number of workers.
    takes: Vec<Takes>,
}

#[derive(Serialize)]
struct Takes {
    workers: usize,
    hours: f64,
}

pub(super) fn plan(a: &CampaignPlanArguments) -> Result<ExitCode> {
    let file = std::path::absolute(&a.file).map_err(|e| no_place(&a.file, &e))?;
    let plan = Plan::load(&file)?;
    let store = Store::new(a.out.clone().unwrap_or_else(|| results_of(&file)));
    let cost = Cost::of(&plan, &store);
    let takes = a.workers.iter().filter_map(|workers| {
        let workers = workers.get();
        Some(Takes { workers, hours: cost.open_s? / 3600.0 / workers as f64 })
    });
    let result = PlanResult { takes: takes.collect(), cost };
    if a.json {
        show::json(&result)?;
    } else {
        print(&result, &command(a));
    }
    Ok(ExitCode::Done)
}

/// The command that runs the campaign, for a shell.
fn command(a: &CampaignPlanArguments) -> String {
    let mut words = vec!["hardstand".into(), "campaign".into(), a.file.display().to_string()];
    if let Some(out) = &a.out {
        words.extend(["--out".into(), out.display().to_string()]);
    }
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

fn print(r: &PlanResult, command: &str) {
    let Cost { cases, scenarios, faults, seeds, duration_s, finished, .. } = &r.cost;
    show::line(&format!(
        "cases      {cases}: {scenarios} scenarios × {faults} faults × {seeds} seeds"
    ));
    let hours = *cases as f64 * duration_s / 3600.0;
    show::line(&format!("simulated  {duration_s} s each, {hours:.2} h in all"));
    show::line(&format!("finished   {finished}, {} to run", cases - finished));
    let Some(case_s) = r.cost.case_s else {
        let slices = (cases / SAMPLE).max(1);
        show::line(&format!(
            "measured   nothing: no case is finished. To measure {} of them, run `{command} \
             --shard 0/{slices}`",
            cases.div_ceil(slices)
        ));
        return;
    };
    let interval = r.cost.half_width_s.map_or(String::new(), |half| format!(" ± {half:.3}"));
    show::line(&format!("measured   {case_s:.3}{interval} s a case, of {finished} cases (95 %)"));
    groups(&r.cost);
    if finished == cases {
        return;
    }
    for Takes { workers, hours } in &r.takes {
        let time =
            if *hours < 1.0 { format!("{:.1} min", 60.0 * hours) } else { format!("{hours:.1} h") };
        show::line(&format!("takes      {time} with {workers} at a time"));
    }
}

/// The slowest groups first.
fn groups(cost: &Cost) {
    let mut groups: Vec<_> = cost.groups.iter().filter(|g| g.case_s.is_some()).collect();
    groups.sort_by(|a, b| b.case_s.unwrap_or(0.0).total_cmp(&a.case_s.unwrap_or(0.0)));
    for g in groups.iter().take(SHOWN) {
        let [mean, least, most] = [g.case_s, g.least_s, g.most_s].map(Option::unwrap_or_default);
        show::line(&format!(
            "group      {} · {}: {mean:.3} s ({least:.3} to {most:.3}), {} of {} finished",
            g.scenario, g.fault, g.finished, g.cases
        ));
    }
    if groups.len() > SHOWN {
        show::line(&format!("           and {} groups that are faster", groups.len() - SHOWN));
    }
}
