//! `hardstand replay LOG --to-controller`.

use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use crate::campaign::Socket;
use crate::config::Scenario;
use crate::daemon::{self, Begin, EndReport, Happening, Host};
use crate::inspect::{Answers, Mismatch, replay_to_controllers};
use crate::process_harness::{Process, controller_command};
use crate::replay::Player;
use crate::rt::Ending;
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_log::{RunIndex, refuse_inputs};
use hardstand_protocol::SavedState;
use hardstand_protocol::{JointCommand, Phase};

use super::arguments::ReplayArguments;
use super::branch_live::socket_instead;
use super::{DaemonStop, ExitCode, differences, progress, show};

pub(super) fn show_to_controllers(a: &ReplayArguments) -> Result<ExitCode> {
    let stop = DaemonStop::on_signal()?;
    let index = RunIndex::of(&a.log, |_, _| ())?;
    let first_tick = index.segments.first().map_or(0, |part| part.first_tick);
    let player = Player::open_before(&a.log, &index, index.run_id(), first_tick)?;
    let (mut scenario, saved, _socket) = shown(a, &player, index.run_id())?;
    scenario.ticks = index.end_tick(index.run_id());
    scenario.record.path().map_or(Ok(()), |path| refuse_inputs(&index.files(), &path))?;
    if !a.json {
        let (log, ticks) = (a.log.display(), index.ticks());
        show::line(&format!("log        {log}: {ticks} ticks, shown to controllers"));
    }
    let mut started = Started::default();
    let (controller_replay, answers) = replay_to_controllers(player, &scenario.control.controllers);
    let bar = progress::bar(index.ticks(), "showing");
    // shared: the controller is started when the daemon is ready
    let (begin, host) = (Begin::Shown(&saved, controller_replay), Host::Shared);
    let summary = daemon::run(&scenario, begin, None, &host, stop.asked(), |happening| {
        stop.see(&happening);
        match happening {
            Happening::Ready(_, grants) => {
                if !a.json {
                    show::ready(&scenario, grants);
                }
                if !a.command.is_empty() {
                    started.start(a, &scenario, stop.asked());
                }
            }
            Happening::Stall(_) | Happening::ControllerLost(_) | Happening::Ending => {}
            Happening::Log(text) => show::note(text),
            Happening::Second(second) => {
                if second.phase == Phase::Waiting && a.command.is_empty() && !a.json {
                    show::waiting(&scenario);
                }
                bar.set_position(second.tick.saturating_sub(first_tick));
                started.look(stop.asked());
            }
        }
    });
    bar.finish_and_clear();
    let summary = summary?;
    let ended = started.end()?.filter(|_| summary.ending == Ending::Stopped);
    let (answers, end) = (answers.answers(), EndReport::from(&summary));
    let result = AnswersResult::of(&answers, &scenario, index.damage.as_deref(), end);
    if a.json {
        show::json(&result)?;
    } else {
        result.show();
    }
    if let Ending::ControllerTimeout(_) = summary.ending {
        if !a.json {
            show::summary(&summary);
        }
        return Ok(ExitCode::ControllerTimeout);
    }
    if let Some(status) = ended {
        let ticks = answers.ticks;
        show::note(&format!(
            "the controller ended after {ticks} ticks, before the log did ({status})"
        ));
        return Ok(ExitCode::ControllerTimeout);
    }
    let whole = answers.cut.is_none() && summary.ending != Ending::Stopped;
    Ok(match (answers.agree() && whole && answers.compared > 0, &index.damage) {
        (false, _) => ExitCode::Negative,
        (true, Some(_)) => ExitCode::Incomplete,
        (true, None) => ExitCode::Done,
    })
}

/// The log's scenario as a loop in lockstep that records nothing, the state that it begins in, and
/// a socket to keep while it runs.
fn shown(
    a: &ReplayArguments,
    player: &Player,
    run_id: u32,
) -> Result<(Scenario, SavedState, Option<Socket>)> {
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
    let socket = socket_instead(&scenario, &a.sets)?;
    socket.iter().for_each(|socket| scenario.bus.listen = vec![socket.endpoint()]);
    Ok((scenario, saved, socket))
}

/// The controller's process, if there is to be one.
#[derive(Default)]
struct Started {
    process: Option<Process>,
    refused: Option<Error>,
    /// It ended before anything else ended the run.
    ended: Option<ExitStatus>,
}

impl Started {
    /// Starts it; sets `stop` if that fails.
    fn start(&mut self, a: &ReplayArguments, scenario: &Scenario, stop: &AtomicBool) {
        let start = || {
            let (endpoint, robot) = (scenario.bus.endpoint()?, &scenario.bus.robot);
            Process::start(controller_command(&a.command, endpoint, robot)?)
        };
        match start() {
            Ok(process) => self.process = Some(process),
            Err(e) => self.refuse(e, stop),
        }
    }

    fn refuse(&mut self, e: Error, stop: &AtomicBool) {
        self.refused = Some(e);
        stop.store(true, Ordering::Relaxed);
    }

    /// Sets `stop` if it has ended: there will be no further answer to wait for.
    fn look(&mut self, stop: &AtomicBool) {
        let Some(process) = &mut self.process else { return };
        match process.ended() {
            Ok(None) => {}
            Ok(status) => {
                if !stop.swap(true, Ordering::Relaxed) {
                    self.ended = status;
                }
            }
            Err(e) => self.refuse(e, stop),
        }
    }

    /// Ends it, and says how it ended if that was early.
    fn end(self) -> Result<Option<ExitStatus>> {
        self.refused.map_or(Ok(self.ended), Err)
    }
}

/// Units of a set-point's numbers, for joints that turn.
const UNITS: [&str; 5] = ["rad", "rad/s", "N·m/rad", "N·m·s/rad", "N·m"];

/// The result of showing a log to controllers.
#[derive(Debug, Serialize)]
struct AnswersResult {
    /// All answers of the log were given again, bit for bit.
    identical: bool,
    /// Ticks that were shown.
    ticks: u64,
    /// Answers in both, of one joint to one state each.
    compared: u64,
    equal: u64,
    /// Answers of the log that were not given now.
    missing: u64,
    /// Answers given now to states that have none in the log.
    new: u64,
    first_difference: Option<AnswerDifference>,
    /// For each number of a set-point that differs, its largest difference.
    largest: Vec<LargestDifference>,
    /// Why it ended before the log did.
    ended_early: Option<String>,
    /// How the log is damaged.
    damage: Option<String>,
    /// How the daemon ended.
    end: EndReport,
}

#[derive(Debug, Serialize)]
struct AnswerDifference {
    /// Tick of the state that was answered.
    tick: u64,
    #[serde(flatten)]
    mismatch: Mismatch,
}

#[derive(Debug, Serialize)]
struct LargestDifference {
    field: &'static str,
    /// Unit for a joint that turns.
    unit: &'static str,
    difference: f64,
    joint: String,
    /// Tick of the state that was answered.
    tick: u64,
}

impl AnswersResult {
    fn of(answers: &Answers, scenario: &Scenario, damage: Option<&str>, end: EndReport) -> Self {
        let fields = JointCommand::NAMES.into_iter().zip(UNITS).zip(&answers.largest);
        let differing = fields.filter(|(_, largest)| largest.difference > 0.0);
        let largest = differing.map(|((field, unit), largest)| LargestDifference {
            field,
            unit,
            difference: largest.difference,
            joint: scenario.model.joints.get(largest.joint).map_or("", |j| &j.name).into(),
            tick: largest.tick,
        });
        let first = answers.first.as_ref();
        Self {
            identical: answers.agree() && answers.compared > 0,
            ticks: answers.ticks,
            compared: answers.compared,
            equal: answers.equal,
            missing: answers.missing,
            new: answers.new,
            first_difference: first
                .map(|(tick, m)| AnswerDifference { tick: *tick, mismatch: m.clone() }),
            largest: largest.collect(),
            ended_early: answers.cut.clone(),
            damage: damage.map(Into::into),
            end,
        }
    }

    fn show(&self) {
        let Self { ticks, compared, equal, missing, new, .. } = self;
        show::line(&format!("shown      {ticks} ticks"));
        show::line(&format!(
            "compared   {compared} set-points, one per joint and state: {equal} equal"
        ));
        if *missing > 0 {
            show::line(&format!("missing    {missing} of the log were not given now"));
        }
        if *new > 0 {
            show::line(&format!("new        {new} answer states that have no answer in the log"));
        }
        if let Some(why) = &self.ended_early {
            show::line(&format!("cut        {why}"));
        }
        if let Some(first) = &self.first_difference {
            let (tick, mismatch) = (first.tick, &first.mismatch);
            show::line(&format!("DIFFERENT  first to the state of tick {tick}: {mismatch}"));
        } else if *compared > 0 && *missing == 0 {
            show::line("identical  every answer is the same, bit for bit");
        }
        for l in &self.largest {
            let difference = differences::number(l.difference);
            show::line(&format!(
                "largest    {}: {difference} {}, {}, to the state of tick {}",
                l.field, l.unit, l.joint, l.tick
            ));
        }
        if let Some(damage) = &self.damage {
            show::line(&format!("damaged    {damage}"));
        }
    }
}
