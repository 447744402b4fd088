//! `hardstand demo`: walk, push, recover, replay.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use rustix::process::{Resource, geteuid, getrlimit};
use serde::Serialize;

use crate::config::{Mode, Scenario};
use crate::daemon::{self, Begin, EndReport, Happening, Host, Summary};
use crate::doctor::Machine;
use crate::process_harness::{Process, controller_command, this_program};
use crate::rt::Ending;
use hardstand_error::{Error, ErrorKind, Result};

use super::arguments::DemoArguments;
use super::replay::ReplayResult;
use super::{DaemonStop, ExitCode, replay, show};
use hardstand_protocol::Phase;

const SCENARIO: &str = include_str!("../../config/quadruped.toml");
const ROBOT: &str = include_str!("../../config/robots/quadruped.urdf");

/// What the demo changes in the scenario: a drop, 8 s, a walk ahead and a turn, and a push.
const SETS: [&str; 4] = [
    "initial.clearance_m=0.1",
    "sim.duration_s=8.0",
    "events=[{at_s=3.0, kind=\"push\", link=\"trunk\", force_n=[0.0, 60.0, 0.0], duration_s=0.15}]",
    "commands=[{at_s=1.5, vx_m_per_s=0.4}, {at_s=4.5, yaw_rate_rad_per_s=0.8}, {at_s=6.5}]",
];

const WHAT: &str = "\
A quadruped drops from 0.1 m above its stance, walks, is pushed sideways with
60 N at 3 s, recovers, turns, and stands. Its controller is another process, over
zenoh.
";

/// The robot counts as standing below this tilt, above this share of its stance height, and if its
/// feet carry its weight within this share.
const TILT_DEG_MAX: f64 = 10.0;
const HEIGHT_SHARE_MIN: f64 = 0.8;
const WEIGHT_SHARE_MAX: f64 = 0.1;
/// Above this load per core, a controller can come late.
const BUSY_SHARE: f64 = 0.5;

pub(super) fn demo(a: &DemoArguments) -> Result<ExitCode> {
    let stop = DaemonStop::on_signal()?;
    let socket = std::env::temp_dir().join(format!("hardstand-demo-{}.sock", std::process::id()));
    let endpoint = format!("unixsock-stream/{}", socket.display());
    let why_lockstep = why_no_real_time();
    let scenario = scenario(a, &endpoint, why_lockstep.is_some())?;
    let stance_m = scenario.spec.q.p_WB.z - 0.1;
    let text = !a.json;
    if text {
        show::line(WHAT);
        show::scenario(&scenario);
        let why = why_lockstep.filter(|_| scenario.control.mode == Mode::Lockstep);
        why.iter().for_each(|why| show::line(&format!("lockstep   {why}; ticks wait")));
    }

    let mut controller_ended = false;
    let mut controller = controller(&endpoint, &scenario.bus.robot)?;
    #[cfg(feature = "view")]
    let _page =
        a.view.then(|| super::view::beside(&endpoint, &scenario.bus.robots, None)).transpose()?;
    // the log is replayed afterwards
    let (begin, log, host) = (Begin::Afresh, Some(a.log.clone()), Host::Shared);
    let summary = daemon::run(&scenario, begin, log, &host, stop.asked(), |happening| {
        stop.see(&happening);
        match happening {
            Happening::Ready(_, grants) if text => {
                show::ready(&scenario, grants);
                show::line("");
            }
            Happening::Stall(stall) if text => show::stall(&scenario, stall),
            Happening::ControllerLost(event) if text => show::note(&event.text),
            Happening::Ready(..)
            | Happening::Stall(_)
            | Happening::ControllerLost(_)
            | Happening::Ending => {}
            Happening::Log(text) => show::note(text),
            Happening::Second(second) => {
                if text && second.phase != Phase::Waiting {
                    show::second(&scenario, second);
                }
                if !matches!(controller.ended(), Ok(None))
                    && !stop.asked().swap(true, Ordering::Relaxed)
                {
                    controller_ended = true;
                }
            }
        }
    });
    drop(controller);
    let _left_over = std::fs::remove_file(socket_lock(&socket)).is_ok();
    let summary = summary?;
    if text {
        show::summary(&summary);
    }
    if controller_ended {
        return Err(Error::new(ErrorKind::Bus, "the controller process ended too early"));
    }
    if summary.ending == Ending::Stopped {
        return Ok(ExitCode::Negative); // nothing has been shown
    }
    judge(a, &summary, stance_m)
}

/// Whether the robot stands, and its log replays.
fn judge(a: &DemoArguments, summary: &Summary, stance_m: f64) -> Result<ExitCode> {
    let (report, replay) = replay::replay_file(&a.log, &[], None)?;
    let report = report.whole;
    // what was not recorded, as on a full disk, is no difference
    let cut = summary.recorded.problem().is_some();
    let whole =
        report.damage.is_none() && report.ticks == summary.ticks && report.digest == summary.digest;
    let result = DemoResult {
        stands: stands(summary, stance_m),
        replay_identical: report.difference.is_none() && (whole || cut),
        end: EndReport::from(summary),
        replay,
    };
    if a.json {
        show::json(&result)?;
    } else {
        result.show();
    }
    Ok(match (result.stands && result.replay_identical, cut) {
        (false, _) => ExitCode::Negative,
        (true, true) => ExitCode::Incomplete,
        (true, false) => ExitCode::Done,
    })
}

fn scenario(a: &DemoArguments, endpoint: &str, lockstep: bool) -> Result<Scenario> {
    let mode = lockstep.then(|| "control.mode=lockstep".to_string());
    let own = [format!("bus.listen=[{endpoint:?}]")].into_iter().chain(mode);
    let sets = own.chain(SETS.map(String::from)).chain(a.sets.iter().cloned());
    let scenario = Scenario::from_texts(SCENARIO, ROBOT, &sets.collect::<Vec<_>>())?;
    if scenario.bus.listen != [endpoint] {
        let text = "--set bus.listen: the demo has an endpoint of its own, for its controller";
        return Err(Error::new(ErrorKind::Input, text));
    }
    Ok(scenario)
}

/// The result of the demo.
#[derive(Debug, Serialize)]
struct DemoResult {
    stands: bool,
    /// The replay has the same ticks and the same digests as the run, as far as it was recorded.
    replay_identical: bool,
    end: EndReport,
    replay: ReplayResult,
}

impl DemoResult {
    fn show(&self) {
        show::line("");
        self.replay.show();
        show::line(&format!(
            "\nverdict    the robot {}; the replay is {}",
            if self.stands { "stands" } else { "DOES NOT STAND" },
            match (self.replay_identical, &self.end.recording_error) {
                (true, None) => "identical".into(),
                (true, Some(e)) => format!("identical up to the end of the recording: {e}"),
                (false, _) => "NOT IDENTICAL".into(),
            }
        ));
    }
}

fn stands(s: &Summary, stance_m: f64) -> bool {
    let carried = (s.last.foot_normal_sum_n / s.last.weight_n - 1.0).abs();
    s.ending == Ending::Done
        && s.last.tilt_deg < TILT_DEG_MAX
        && s.last.base_height_m > HEIGHT_SHARE_MIN * stance_m
        && carried < WEIGHT_SHARE_MAX
}

/// zenoh leaves its lock file beside a unix socket.
fn socket_lock(socket: &Path) -> PathBuf {
    socket.with_extension("sock.lock")
}

/// Why the controller may come late here, so that real time would show the machine instead of the
/// robot.
fn why_no_real_time() -> Option<String> {
    let limits = getrlimit(Resource::Rtprio);
    if !geteuid().is_root() && limits.current == Some(0) {
        return Some("no right to real-time scheduling (hardstand doctor says how)".into());
    }
    let (load, cores) = Machine::new(Path::new("/"), 0, 0).load()?;
    let busy = load > BUSY_SHARE * cores as f64;
    busy.then(|| format!("the machine is busy (load {load} on {cores} cores)"))
}

/// `hardstand controller trot`, ended when this is dropped.
fn controller(endpoint: &str, robot: &str) -> Result<Process> {
    let words = ["controller", "trot", "--join", "legs"].map(OsString::from);
    let command: Vec<OsString> = [this_program()?.into()].into_iter().chain(words).collect();
    Process::start(controller_command(&command, endpoint, robot)?)
}
