//! `hardstand branch`.

use std::path::Path;

use crate::config::Scenario;
use crate::inspect::compare;
use crate::record::{RunIndex, TickId};
use crate::replay::{Forked, Player, fork};
use hardstand_error::{Error, ErrorKind, Result};

use super::arguments::BranchArguments;
use super::{ExitCode, differences, plot, progress, show};

/// Keys that say how a run begins and is paced: a branch begins in the state of the log, and ends
/// with it.
const NO_PART: [&str; 6] =
    ["initial", "events", "robot", "sim.duration_s", "sim.pace", "sim.start"];

pub(super) fn branch(a: &BranchArguments) -> Result<ExitCode> {
    a.plot.as_deref().map_or(Ok(()), plot::check)?;
    a.sets.iter().try_for_each(|set| check(set))?;
    let index = RunIndex::of(&a.log, |_, _| ())?;
    refuse_source(&index, &a.to)?;
    let run_id = a.run_id.unwrap_or_else(|| index.run_id());
    let open = || Player::open_before(&a.log, &index, run_id, a.at);
    let mut player = open()?;
    if let Some(code) = differences::of_replay(&player) {
        return Ok(code);
    }
    let mut sets = a.sets.clone();
    sets.extend(a.events.iter().map(|list| format!("events={list}")));
    let info = player.info();
    let scenario = Scenario::from_texts(&info.scenario, &info.robot, &sets)?;
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
    told(a, &forked, scenario.spec.period_ns);
    let (mut x, mut y) = (open()?, Player::open(&a.to)?);
    let found = compare(&mut x, &mut y, |_, _| ())?;
    differences::show(&found, [&x, &y], [&a.log, &a.to]);
    if let Some(file) = &a.plot {
        let again = || Ok((open()?, Player::open(&a.to)?));
        differences::draw(file, &found, [&a.log, &a.to], again)?;
    }
    Ok(match (&forked, &found.cause) {
        (Forked { fault: Some(_), .. }, _) => ExitCode::PlantFailure,
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

/// Refuses keys that could change nothing.
fn check(set: &str) -> Result<()> {
    let key = set.split('=').next().unwrap_or_default().trim();
    let part = |name: &str| key == name || key.starts_with(&format!("{name}."));
    let Some(name) = NO_PART.into_iter().find(|name| part(name)) else { return Ok(()) };
    let instead = match name {
        "events" => "use --events",
        _ => "a branch begins in the state of the log, and ends with it",
    };
    Err(Error::new(ErrorKind::Input, format!("--set {key} has no part in a branch: {instead}")))
}

/// Writing over the log would destroy it while it is read.
fn refuse_source(index: &RunIndex, to: &Path) -> Result<()> {
    let stem = to.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = |p: &Path| {
        let parent = p.parent().filter(|p| !p.as_os_str().is_empty());
        parent.unwrap_or(Path::new(".")).canonicalize().ok()
    };
    let part_of = |file: &Path| {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        folder(file) == folder(to) && name.starts_with(&format!("{stem}.part"))
    };
    let same = |file: &Path| file.canonicalize().ok() == to.canonicalize().ok() && to.exists();
    let Some(part) = index.parts.iter().find(|p| same(&p.file) || part_of(&p.file)) else {
        return Ok(());
    };
    let text = format!(
        "--log {} would replace {}, which the branch begins in; choose another name",
        to.display(),
        part.file.display()
    );
    Err(Error::new(ErrorKind::Input, text))
}

fn told(a: &BranchArguments, forked: &Forked, period_ns: u64) {
    let time_s = |ticks: u64| ticks as f64 * period_ns as f64 * 1e-9;
    let changed = if a.sets.is_empty() { "nothing".into() } else { a.sets.join(", ") };
    show::line(&format!(
        "branched   from {} at tick {} ({:.3} s); changed: {changed}",
        a.log.display(),
        a.at,
        time_s(a.at)
    ));
    #[cfg(feature = "zenoh")]
    if !a.command.is_empty() {
        let words: Vec<_> = a.command.iter().map(|word| word.to_string_lossy()).collect();
        show::line(&format!("controller {}", words.join(" ")));
    }
    show::line(&format!("ran        {} ticks ({:.3} s)", forked.ticks, time_s(forked.ticks)));
    forked.files.iter().for_each(|file| show::line(&format!("log        {}", file.display())));
    if let Some(fault) = forked.fault {
        show::line(&format!("ended      plant failure: {}", fault.advice()));
    }
    if let Some(cut) = &forked.cut {
        show::line(&format!("ended      before the log's run: {cut}"));
    }
    show::line("");
}
