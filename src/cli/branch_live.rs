//! `hardstand branch LOG --at N -- COMMAND`: another controller from a tick on.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use crate::campaign::Socket;
use crate::config::{Scenario, key_of};
use crate::process_harness::{Failure, Harness};
use crate::replay::{Forked, Player, saved_state, write_state};
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_log::RunIndex;

use super::arguments::BranchArguments;
use super::{ExitCode, failure, show, stop_on_signal};

/// Runs daemon and controller from the state in which `player` is, in lockstep, up to the end of
/// the log's run; an exit code if that did not succeed.
pub(super) fn run(
    a: &BranchArguments,
    index: &RunIndex,
    run_id: u32,
    player: &Player,
    scenario: &Scenario,
) -> Result<std::result::Result<Forked, ExitCode>> {
    let stop = stop_on_signal()?;
    let endpoint = scenario.bus.endpoint()?;
    let folder = Folder::new()?;
    let state = folder.0.join("state.bin");
    write_state(&state, &saved_state(player, scenario, run_id)?)?;
    let end = index.end_tick(run_id);
    let mut harness = Harness {
        folder: folder.0.clone(),
        log: Some(a.to.clone()),
        run: arguments(&folder, scenario, &state, end.unwrap_or_default())?,
        endpoint: endpoint.into(),
        robots: vec![scenario.bus.robot.clone()],
        controller: a.command.clone(),
        ..Harness::default()
    };
    let socket = socket_instead(scenario, &a.sets)?;
    socket.iter().for_each(|socket| socket.connect(&mut harness));
    let ended = harness.start()?.wait(|_| Ok(!stop.load(Ordering::Relaxed)))?;
    // a daemon that was refused, or killed at its beginning, left an old log of that name
    let replaced = ended.was_ready && ended.report.is_some();
    let forked = if replaced { forked(&a.to)? } else { Forked::default() };
    let complete = forked.failure.is_some() || Some(a.at + forked.ticks) >= end;
    if complete && forked.ticks > 0 {
        return Ok(Ok(forked));
    }
    let stopped = stop.load(Ordering::Relaxed);
    let failure = if stopped {
        Failure::stopped(forked.ticks)
    } else {
        ended.failure(forked.ticks, &folder.0)
    };
    show::note(&failure::text(&failure));
    Ok(Err(failure::code_of(&failure)))
}

/// Where daemon and controller meet if the place that the log names is gone, and none of the
/// changes names another.
pub(super) fn socket_instead(scenario: &Scenario, sets: &[String]) -> Result<Option<Socket>> {
    match scenario.bus.listen.first() {
        Some(endpoint) if sets.iter().all(|set| key_of(set) != "bus.listen") => {
            Socket::in_place_of(endpoint)
        }
        _ => Ok(None),
    }
}

/// Arguments of `hardstand run`: the scenario of the log with the changes.
fn arguments(
    folder: &Folder,
    scenario: &Scenario,
    state: &Path,
    end: u64,
) -> Result<Vec<OsString>> {
    let file = folder.write("scenario.toml", &scenario.complete_toml)?;
    folder.write("robot.urdf", &scenario.robot_urdf)?;
    let duration_s = end as f64 * scenario.spec.period_ns as f64 * 1e-9;
    let mut run: Vec<OsString> = vec![file.into(), "--from".into(), state.into()];
    run.extend(["--duration".into(), duration_s.to_string().into()]);
    let rest = ["--mode", "lockstep", "--pace", "free"];
    let sets = [
        "robot.urdf=\"robot.urdf\"",
        "robot.mjcf=\"\"",
        "initial.keyframe=\"\"",
        "sim.start=\"on_controller\"",
    ];
    run.extend(
        rest.into_iter().chain(sets.into_iter().flat_map(|set| ["--set", set])).map(Into::into),
    );
    Ok(run)
}

/// What the new log holds.
fn forked(log: &Path) -> Result<Forked> {
    let mut forked = Forked::default();
    let Ok(index) = RunIndex::of(log, |_, _| ()) else { return Ok(forked) };
    forked.files = index.files();
    let mut player = Player::open(log)?;
    while player.advance()? {
        forked.ticks += 1;
        forked.failure = player.view().and_then(|view| view.applied.failure);
    }
    Ok(forked)
}

/// A temporary folder; dropping it removes it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self> {
        let folder = std::env::temp_dir().join(format!("hardstand-branch-{}", std::process::id()));
        std::fs::create_dir(&folder).map_err(|e| failed(&folder, &e))?;
        Ok(Self(folder))
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf> {
        let file = self.0.join(name);
        std::fs::write(&file, text).map_err(|e| failed(&file, &e))?;
        Ok(file)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _gone = std::fs::remove_dir_all(&self.0).is_ok();
    }
}

fn failed(file: &Path, e: &std::io::Error) -> Error {
    Error::new(ErrorKind::File, format!("{}: {e}", file.display()))
}
