//! `hardstand replay LOG --to-controller`.

use std::sync::atomic::Ordering;

use crate::config::Scenario;
use crate::daemon::{self, Begin, Happening};
use crate::inspect::{Answers, replay_to_controllers};
use crate::message::SavedState;
use crate::process_harness::{Process, controller_command};
use crate::record::RunIndex;
use crate::replay::Player;
use crate::rt::{Ending, Phase};
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::JointCommand;

use super::arguments::ReplayArguments;
use super::{ExitCode, differences, progress, show, stop_on_signal};

pub(super) fn show_to_controllers(a: &ReplayArguments) -> Result<ExitCode> {
    let stop = stop_on_signal()?;
    let index = RunIndex::of(&a.log, |_, _| ())?;
    let first_tick = index.parts.first().map_or(0, |part| part.first_tick);
    let player = Player::open_before(&a.log, &index, index.run_id(), first_tick)?;
    let (mut scenario, saved) = shown(a, &player, index.run_id())?;
    scenario.ticks = index.end_tick(index.run_id());
    show::line(&format!(
        "log        {}: {} ticks, shown to controllers",
        a.log.display(),
        index.ticks()
    ));
    let mut controller = None;
    let (controller_replay, answers) = replay_to_controllers(player, &scenario.control.controllers);
    let bar = progress::bar(index.ticks(), "showing");
    let (begin, mut refused) = (Begin::Shown(&saved, controller_replay), None);
    let summary = daemon::run(&scenario, begin, None, &stop, |happening| match happening {
        Happening::Ready(_, grants) => {
            show::ready(&scenario, grants);
            if !a.command.is_empty() {
                match start(a, &scenario) {
                    Ok(process) => controller = Some(process),
                    Err(e) => {
                        refused = Some(e);
                        stop.store(true, Ordering::Relaxed);
                    }
                }
            }
        }
        Happening::Stall(_) => {}
        Happening::Second(second) => {
            if second.phase == Phase::Waiting && a.command.is_empty() {
                show::waiting(&scenario);
            }
            bar.set_position(second.tick.saturating_sub(first_tick));
        }
    });
    drop(controller);
    bar.finish_and_clear();
    let summary = summary?;
    if let Some(e) = refused {
        return Err(e);
    }
    let answers = answers.answers();
    told(&answers, &scenario);
    if let Some(damage) = &index.damage {
        show::line(&format!("damaged    {damage}"));
    }
    if let Ending::ControllerTimeout(_) = summary.ending {
        show::summary(&summary);
        return Ok(ExitCode::ControllerTimeout);
    }
    let whole = answers.cut.is_none() && summary.ending != Ending::Stopped;
    Ok(match (answers.agree() && whole && answers.compared > 0, &index.damage) {
        (false, _) => ExitCode::Negative,
        (true, Some(_)) => ExitCode::Incomplete,
        (true, None) => ExitCode::Done,
    })
}

/// The log's scenario as a loop in lockstep that records nothing, and the state that it begins in.
fn shown(a: &ReplayArguments, player: &Player, run_id: u32) -> Result<(Scenario, SavedState)> {
    let mut sets: Vec<String> = [
        "control.mode=\"lockstep\"",
        "sim.start=\"on_controller\"",
        "sim.pace=\"free\"",
        "record.file=\"\"",
    ]
    .map(String::from)
    .to_vec();
    if let Some(speed) = a.speed {
        sets.extend(["sim.pace=\"realtime\"".into(), format!("sim.speed={speed:?}")]);
    }
    sets.extend(a.sets.iter().cloned());
    let info = player.info();
    let mut scenario = Scenario::from_texts(&info.scenario, &info.robot, &sets)?;
    // they are in the log
    scenario.events.clear();
    let differs = "the replay differs from the log before its first tick";
    let mut saved = player.saved_state().ok_or_else(|| Error::new(ErrorKind::Log, differs))?;
    saved.run_id = run_id;
    if scenario.physics_hash != saved.physics_hash {
        let text = "--set changes what a tick computes, so the log's states could not come again; \
                    only bus, control and the like can be set here";
        return Err(Error::new(ErrorKind::Input, text));
    }
    Ok((scenario, saved))
}

fn start(a: &ReplayArguments, scenario: &Scenario) -> Result<Process> {
    let (endpoint, robot) = (scenario.bus.endpoint()?, &scenario.bus.robot);
    Process::start(controller_command(&a.command, endpoint, robot)?)
}

/// Units of a set-point's numbers, for joints that turn.
const UNITS: [&str; 5] = ["rad", "rad/s", "N·m/rad", "N·m·s/rad", "N·m"];

fn told(answers: &Answers, scenario: &Scenario) {
    let Answers { ticks, compared, equal, missing, new, .. } = answers;
    show::line(&format!("shown      {ticks} ticks"));
    show::line(&format!(
        "compared   {compared} set-points, a joint and a state each: {equal} equal"
    ));
    if *missing > 0 {
        show::line(&format!("missing    {missing} of the log were not given now"));
    }
    if *new > 0 {
        show::line(&format!("new        {new} answer states that nobody has answered in the log"));
    }
    if let Some(cut) = &answers.cut {
        show::line(&format!("cut        {cut}"));
    }
    let Some((tick, text)) = &answers.first else {
        if *compared > 0 && *missing == 0 {
            show::line("identical  the same was answered, bit for bit");
        }
        return;
    };
    show::line(&format!("DIFFERENT  first to the state of tick {tick}: {text}"));
    let fields = JointCommand::NAMES.iter().zip(UNITS);
    for ((field, unit), largest) in fields.zip(&answers.largest) {
        if largest.difference > 0.0 {
            let joint = scenario.model.joints.get(largest.joint);
            show::line(&format!(
                "largest    {field}: {} {unit}, {}, to the state of tick {}",
                differences::number(largest.difference),
                joint.map_or("", |joint| &joint.name),
                largest.tick
            ));
        }
    }
}
