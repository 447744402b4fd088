//! `hardstand branch`.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::config::{Scenario, key_of};
use crate::inspect::compare;
use crate::replay::{Forked, Player, fork};
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_log::{RunIndex, TickId, refuse_inputs};
use hardstand_protocol::PlantFailure;

use super::arguments::BranchArguments;
use super::differences::ComparisonResult;
use super::{ExitCode, differences, plot, progress, show};

/// Keys that say how a run begins and is paced: a branch begins in the state of the log, and ends
/// with it.
const NO_PART: [&str; 6] =
    ["initial", "events", "robot", "sim.duration_s", "sim.pace", "sim.start"];

pub(super) fn branch(a: &BranchArguments) -> Result<ExitCode> {
    a.plot.as_deref().map_or(Ok(()), |file| plot::check(file, [a.log.as_path()]))?;
    a.sets.iter().try_for_each(|set| check(set))?;
    let index = RunIndex::of(&a.log, |_, _| ())?;
    refuse_inputs(&index.files(), &a.to)?;
    let run_id = a.run_id.unwrap_or_else(|| index.run_id());
    let open = || Player::open_before(&a.log, &index, run_id, a.at);
    let mut player = open()?;
    if let Some(code) = differences::of_replay(&player, a.json)? {
        return Ok(code);
    }
    let info = player.info();
    let scenario = Scenario::from_texts(&info.scenario, &info.robot, &sets(a))?;
    let events = a.events.as_ref().map(|_| scenario.events.clone());
    if let Some((tick, _)) = events.iter().flatten().find(|(tick, _)| *tick < a.at) {
        let text = format!("--events: one is at tick {tick}, before the branch at {}", a.at);
        return Err(Error::new(ErrorKind::Input, text));
    }
    crate::rt::keep_files_private();
    let forked = match live(a, &index, run_id, &player, &scenario)? {
        Some(Ok(forked)) => forked,
        Some(Err(code)) => return Ok(code),
        None => {
            let bar = progress::bar(index.ticks(), "branching");
            let at = TickId { run_id, tick: a.at };
            let show = |ticks| bar.set_position(ticks);
            let forked = fork(&mut player, at, &scenario, events, &a.to, show)?;
            bar.finish_and_clear();
            forked
        }
    };
    let (mut x, mut y) = (open()?, Player::open(&a.to)?);
    let found = compare(&mut x, &mut y, |_, _| ())?;
    let comparison = ComparisonResult::of(&found, [&x, &y], [&a.log, &a.to]);
    let result = BranchResult::of(a, &forked, scenario.spec.period_ns, comparison);
    if a.json {
        show::json(&result)?;
    } else {
        result.show();
    }
    if let Some(file) = &a.plot {
        let again = || Ok((open()?, Player::open(&a.to)?));
        differences::draw(file, &found, [&a.log, &a.to], a.json, again)?;
    }
    Ok(match (&forked, &found.cause) {
        (Forked { failure: Some(_), .. }, _) => ExitCode::PlantFailure,
        (Forked { cut: Some(_), .. }, _) => ExitCode::Incomplete,
        (_, Some(_)) => ExitCode::Negative,
        (_, None) => ExitCode::Done,
    })
}

/// The branch with a controller, if there is one, or an exit code if it did not succeed.
#[cfg(feature = "zenoh")]
fn live(
    a: &BranchArguments,
    index: &RunIndex,
    run_id: u32,
    player: &Player,
    scenario: &Scenario,
) -> Result<Option<std::result::Result<Forked, ExitCode>>> {
    if a.command.is_empty() {
        return Ok(None);
    }
    super::branch_live::run(a, index, run_id, player, scenario).map(Some)
}

#[cfg(not(feature = "zenoh"))]
fn live(
    _: &BranchArguments,
    _: &RunIndex,
    _: u32,
    _: &Player,
    _: &Scenario,
) -> Result<Option<std::result::Result<Forked, ExitCode>>> {
    Ok(None)
}

/// What is changed, as KEY=VALUE.
fn sets(a: &BranchArguments) -> Vec<String> {
    let events = a.events.iter().map(|list| format!("events={list}"));
    a.sets.iter().cloned().chain(events).collect()
}

/// Refuses keys that could change nothing.
fn check(set: &str) -> Result<()> {
    let key = key_of(set);
    let part = |name: &str| key == name || key.starts_with(&format!("{name}."));
    let Some(name) = NO_PART.into_iter().find(|name| part(name)) else { return Ok(()) };
    let instead = match name {
        "events" => "use --events",
        _ => "a branch begins in the state of the log, and ends with it",
    };
    Err(Error::new(ErrorKind::Input, format!("--set {key} is not allowed in a branch: {instead}")))
}

/// The result of a branch.
#[derive(Debug, Serialize)]
struct BranchResult<'a> {
    /// The log with which it begins.
    #[serde(serialize_with = "crate::path_text::one")]
    log: &'a Path,
    at_tick: u64,
    at_s: f64,
    /// Keys that were changed, as KEY=VALUE.
    changed: Vec<String>,
    /// The controller's command; `null` if the commands are those of the log.
    controller: Option<Vec<String>>,
    ticks: u64,
    simulated_s: f64,
    #[serde(serialize_with = "crate::path_text::many")]
    log_files: &'a [PathBuf],
    plant_failure: Option<PlantFailure>,
    /// Why it ended before the log's run, if it did.
    ended_early: Option<&'a str>,
    /// The log (a) compared with the branch (b).
    comparison: ComparisonResult,
}

impl<'a> BranchResult<'a> {
    fn of(
        a: &'a BranchArguments,
        forked: &'a Forked,
        period_ns: u64,
        comparison: ComparisonResult,
    ) -> Self {
        let time_s = |ticks: u64| ticks as f64 * period_ns as f64 * 1e-9;
        Self {
            log: &a.log,
            at_tick: a.at,
            at_s: time_s(a.at),
            changed: sets(a),
            controller: command(a),
            ticks: forked.ticks,
            simulated_s: time_s(forked.ticks),
            log_files: &forked.files,
            plant_failure: forked.failure,
            ended_early: forked.cut.as_deref(),
            comparison,
        }
    }

    fn show(&self) {
        let changed =
            if self.changed.is_empty() { "nothing".into() } else { self.changed.join(", ") };
        show::line(&format!(
            "branched   from {} at tick {} ({:.3} s); changed: {changed}",
            self.log.display(),
            self.at_tick,
            self.at_s
        ));
        if let Some(command) = &self.controller {
            show::line(&format!("controller {}", command.join(" ")));
        }
        show::line(&format!("ran        {} ticks ({:.3} s)", self.ticks, self.simulated_s));
        for file in self.log_files {
            show::line(&format!("log        {}", file.display()));
        }
        if let Some(failure) = self.plant_failure {
            show::line(&format!("ended      plant failure: {}", failure.advice()));
        }
        if let Some(why) = self.ended_early {
            show::line(&format!("ended      before the log's run: {why}"));
        }
        show::line("");
        self.comparison.show();
    }
}

/// The controller's command, if there is one.
#[cfg(feature = "zenoh")]
fn command(a: &BranchArguments) -> Option<Vec<String>> {
    let words = a.command.iter().map(|word| word.to_string_lossy().into_owned());
    (!a.command.is_empty()).then(|| words.collect())
}

#[cfg(not(feature = "zenoh"))]
fn command(_: &BranchArguments) -> Option<Vec<String>> {
    None
}
