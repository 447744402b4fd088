//! Runs one case: a daemon and a controller of each robot, and what came out.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Instant;

use rustix::process::Signal;

use crate::daemon::{EndKind, EndReport, file_of};
use crate::process_harness::{DAEMON_OUTPUT, Ended, FailureKind, Harness, LOG, last_lines};
use hardstand_error::Result;

use super::measurement::Finding;
use super::outcome::{Outcome, Word};
use super::plan::{Case, Keep, Plan, Way};
use super::store::{Store, forget};
use super::workers::{Socket, Workers, model_of};

/// Runs it to its end and stores what came out. `None` if `go_on` said no meanwhile: then nothing
/// is stored.
pub(super) fn run(
    plan: &Plan,
    case: &Case,
    store: &Store,
    workers: &Workers,
    go_on: &dyn Fn() -> bool,
) -> Result<Option<Outcome>> {
    let begin = Instant::now();
    let tried = store.begin(&case.id)?;
    let ended = processes(plan, case, &tried.folder, workers, go_on);
    if ended.is_err() || !go_on() {
        forget(&tried.folder);
        return ended.map(|_| None);
    }
    let robots = &plan.scenarios[case.scenario].robots;
    let log_of = |robot: &String| file_of(Path::new(LOG), robot, robots.len());
    let logs: Vec<PathBuf> = robots.iter().map(log_of).collect();
    let found = Finding::of(plan, logs.iter().map(|log| tried.folder.join(log)))?;
    let ended = ended?;
    let (outcome, exit_code, mut reason) = verdict(plan.way, &ended, &found, &tried.folder);
    let of_robot = match outcome {
        Word::Failure | Word::ControllerTimeout => ended.report.as_ref().map(|end| &end.robot),
        Word::ControllerEnded => ended.controller_of.as_ref(),
        _ => None,
    };
    if let Some(robot) = of_robot.filter(|_| robots.len() > 1) {
        reason = format!("{robot}: {reason}");
    }
    let mut outcome = Outcome {
        case: case.id.clone(),
        outcome,
        exit_code,
        reason,
        ticks: found.ticks,
        time_s: found.time_s,
        digest: found.digest.map_or(String::new(), |d| format!("{d:016x}")),
        conditions: found.conditions,
        first: found.first,
        measures: found.measures,
        wall_s: 0.0,
        log: None,
        page: None,
        inputs: plan.inputs(case),
    };
    let failed = outcome.outcome != Word::Done || plan.fails(&outcome);
    let kept = plan.keep == Keep::All || plan.keep == Keep::Failed && failed;
    if kept {
        outcome.log = store.keep(&case.id, &tried, &logs)?;
        if failed && outcome.log.is_some() {
            outcome.page = Store::draw(&case.id, &tried, &logs);
        }
    }
    outcome.wall_s = begin.elapsed().as_secs_f64();
    store.finish(&outcome, &tried, kept)?;
    Ok(Some(outcome))
}

/// Runs the case's processes to their end.
fn processes(
    plan: &Plan,
    case: &Case,
    tried: &Path,
    workers: &Workers,
    go_on: &dyn Fn() -> bool,
) -> Result<Ended> {
    let ground = &plan.scenarios[case.scenario];
    let mut harness = Harness {
        folder: tried.into(),
        run: plan.arguments(case),
        robots: ground.robots.clone(),
        controller: plan.controller.clone(),
        in_process: plan.way == Way::InProcess,
        patience: ground.patience,
        ..Harness::default()
    };
    if plan.way == Way::StaysUp {
        return workers.run(harness, model_of(&ground.file, &plan.sets(case)), go_on);
    }
    harness.variables = vec![
        ("HARDSTAND_SEED".into(), case.seed.to_string().into()),
        ("HARDSTAND_CASE".into(), case.id.clone().into()),
    ];
    let socket = (plan.way == Way::OwnProcess).then(Socket::new).transpose()?;
    socket.iter().for_each(|socket| socket.connect(&mut harness));
    harness.start()?.wait(|_| Ok(go_on()))
}

/// How the case ended, the exit code of the process that ended it, and why.
fn verdict(way: Way, ended: &Ended, found: &Finding, tried: &Path) -> (Word, i32, String) {
    let word = word(way, ended, found);
    if word == Word::ControllerTimeout && ended.hung {
        let reason = "timed out: the controller did not go on within control.patience_s";
        return (word, TIMEOUT_CODE, reason.into());
    }
    let code = code_of(ended.daemon);
    let reason = match (word, &ended.report, &ended.error) {
        (Word::Done, ..) => String::new(),
        (Word::Differs, ..) => found.difference.clone().unwrap_or_default(),
        (Word::ControllerEnded, ..) => {
            let code = ended.controller.map_or(code, code_of);
            let status =
                if code < 0 { format!("signal {}", -code) } else { format!("exit code {code}") };
            return (word, code, format!("the controller's {status}"));
        }
        (Word::Failure, Some(EndReport { plant_failure: Some(failure), .. }), _) => {
            failure.words().into()
        }
        (_, Some(EndReport { recording_error: Some(e), .. }), _) => {
            format!("recording ended early: {e}")
        }
        (_, Some(end), _) => end.to_string(),
        (_, None, Some(error)) => error.message.clone(),
        (_, None, None) => match ended.daemon.signal() {
            Some(signal) => format!("signal {signal}"),
            None => last_lines(&tried.join(DAEMON_OUTPUT)),
        },
    };
    let line = reason.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    (word, code, line.chars().take(REASON_CHARS_MAX).collect())
}

fn word(way: Way, ended: &Ended, found: &Finding) -> Word {
    if found.difference.is_some() {
        return Word::Differs;
    }
    // however it took the signal; a log that cannot be written does not grow either
    let is_recorded = ended.report.as_ref().is_none_or(|end| end.recording_error.is_none());
    if ended.hung && is_recorded {
        return Word::ControllerTimeout;
    }
    let Some(end) = &ended.report else {
        return match &ended.error {
            Some(e) if e.is_refusal() => Word::Refused,
            // the process that simulates is the controller
            None if way == Way::InProcess && !is_killed(ended.daemon) => Word::ControllerEnded,
            _ if way != Way::InProcess
                && ended.failure_kind(found.ticks) == FailureKind::ControllerEnded =>
            {
                Word::ControllerEnded
            }
            _ => Word::DaemonFailed,
        };
    };
    let failed = ended.controller.is_some_and(|status| !status.success());
    match end.kind {
        EndKind::PlantFailure => Word::Failure,
        EndKind::ControllerTimeout => Word::ControllerTimeout,
        _ if end.recording_error.is_some() => Word::DaemonFailed,
        EndKind::DurationReached | EndKind::Stopped if found.whole => Word::Done,
        EndKind::DurationReached | EndKind::Stopped if failed => Word::ControllerEnded,
        _ => Word::DaemonFailed,
    }
}

/// True after a signal that comes from outside, and not from what a program does.
fn is_killed(status: ExitStatus) -> bool {
    let own = [Signal::ABORT, Signal::SEGV, Signal::BUS, Signal::FPE, Signal::ILL, Signal::TRAP];
    status.signal().is_some_and(|n| own.iter().all(|signal| signal.as_raw() != n))
}

/// −N after signal N.
fn code_of(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|n| -n)).unwrap_or(i32::MIN)
}

/// Exit code of a daemon whose controller does not answer.
const TIMEOUT_CODE: i32 = 8;

/// Longest text in the table.
const REASON_CHARS_MAX: usize = 300;
