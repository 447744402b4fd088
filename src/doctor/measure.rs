//! The measurement: the loop of `hardstand run`, with its plant, without a controller.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use serde::Serialize;

use crate::config::Scenario;
use crate::daemon::{self, Begin, Happening, Host, Summary};
use crate::rt::Grants;
use hardstand_error::Result;

use super::verdict::Times;

/// `/proc/stat` counts in hundredths of a second, on every architecture that is left.
const USER_HZ: f64 = 100.0;

/// What a run has shown.
#[derive(Clone, Debug)]
pub struct Measured {
    /// How the daemon's run went: distributions and counters.
    pub summary: Summary,
    /// What the system granted to the physics thread.
    pub grants: Grants,
    /// Faults and switches of the physics thread, if the run was long enough to see them.
    pub thread: Option<ThreadCounts>,
    /// Time that the host took from the physics core, s; `None` if the system does not report it.
    pub steal_s: Option<f64>,
}

/// What happened to the physics thread between the first and the last second of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ThreadCounts {
    /// Length of that time, s.
    pub seconds: f64,
    /// Page faults without reading from a disk.
    pub minor_faults: u64,
    /// Page faults that read from a disk.
    pub major_faults: u64,
    /// Waits: one a tick.
    pub voluntary_switches: u64,
    /// Times that it had to make room for another thread.
    pub involuntary_switches: u64,
}

impl Measured {
    /// What the verdict is about.
    #[must_use]
    pub fn times(&self) -> Times {
        Times {
            period_ns: self.summary.status.period_ns,
            ticks: self.summary.ticks,
            wakeup_p99_9_ns: self.summary.wakeup_latency.quantile(0.999),
            wakeup_max_ns: self.summary.wakeup_latency.max(),
            missed_deadlines: self.summary.status.counter("missed_deadlines"),
        }
    }
}

/// A scenario as [`measure`] needs it: in real time, at once, on no endpoint, without a log.
///
/// # Errors
/// As [`Scenario::load`].
pub fn scenario(path: Option<&Path>, sets: &[String], seconds: f64) -> Result<Scenario> {
    const SCENARIO: &str = include_str!("../../config/quadruped.toml");
    const ROBOT: &str = include_str!("../../config/robots/quadruped.urdf");
    let mut sets = sets.to_vec();
    sets.push(format!("sim.duration_s={seconds:?}"));
    let fixed = [
        "sim.pace=\"realtime\"",
        "sim.start=\"now\"",
        "realtime.overrun=\"slip\"",
        "bus.listen=[]",
        "bus.connect=[]",
        "record.file=\"\"",
    ];
    sets.extend(fixed.map(String::from));
    match path {
        Some(path) => Scenario::load(path, &sets),
        None => Scenario::from_texts(SCENARIO, ROBOT, &sets),
    }
}

/// Runs the loop; `watch` gets the simulated seconds once a second.
///
/// # Errors
/// As [`daemon::run`].
pub fn measure(
    scenario: &Scenario,
    stop: &Arc<AtomicBool>,
    mut watch: impl FnMut(f64),
) -> Result<Measured> {
    let (mut grants, mut looks) = (Grants::default(), Vec::new());
    let core = crate::rt::pick_core(scenario.realtime.core);
    let stolen = steal_s(core);
    let (begin, host) = (Begin::Afresh, Host::Shared);
    let summary = daemon::run(scenario, begin, None, &host, stop, |happening| match happening {
        Happening::Ready(_, granted) => grants = granted.clone(),
        // stalls are counted in what is measured, and no log is written
        Happening::Stall(_)
        | Happening::ControllerLost(_)
        | Happening::Log(_)
        | Happening::Ending => {}
        Happening::Second(second) => {
            looks.truncate(1); // the first and the last are enough
            looks.extend(ThreadLook::new());
            watch(second.time_s);
        }
    })?;
    let steal_s = stolen.zip(steal_s(core)).map(|(before, after)| after - before);
    let thread = match looks.as_slice() {
        [first, last] => Some(last.since(first)),
        _ => None,
    };
    Ok(Measured { summary, grants, thread, steal_s })
}

fn steal_s(core: Option<usize>) -> Option<f64> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    let name = core.map_or_else(|| "cpu ".into(), |c| format!("cpu{c} "));
    let numbers = text.lines().find_map(|l| l.strip_prefix(&name))?;
    Some(numbers.split_whitespace().nth(7)?.parse::<f64>().ok()? / USER_HZ)
}

/// Counts of the physics thread at one time.
struct ThreadLook {
    at: Instant,
    /// Minor faults, major faults, voluntary and involuntary switches.
    counts: [u64; 4],
}

impl ThreadLook {
    fn new() -> Option<Self> {
        let tasks = std::fs::read_dir("/proc/self/task").ok()?.filter_map(|t| Some(t.ok()?.path()));
        let read = |folder: &Path, name: &str| std::fs::read_to_string(folder.join(name)).ok();
        let is_physics =
            |t: &std::path::PathBuf| read(t, "comm").is_some_and(|name| name.trim() == "physics");
        let folder = tasks.into_iter().find(is_physics)?;
        let (stat, status) = (read(&folder, "stat")?, read(&folder, "status")?);
        let rest = stat.rsplit_once(')')?.1;
        // fields 10 and 12 of proc(5), which counts from 1; two are gone
        let fault = |n: usize| rest.split_whitespace().nth(n - 3)?.parse().ok();
        let switches = |name: &str| {
            status.lines().find_map(|l| l.strip_prefix(name))?.trim().parse::<u64>().ok()
        };
        let counts = [
            fault(10)?,
            fault(12)?,
            switches("voluntary_ctxt_switches:")?,
            switches("nonvoluntary_ctxt_switches:")?,
        ];
        Some(Self { at: Instant::now(), counts })
    }

    fn since(&self, first: &Self) -> ThreadCounts {
        let more = |i: usize| self.counts[i].saturating_sub(first.counts[i]);
        ThreadCounts {
            seconds: (self.at - first.at).as_secs_f64(),
            minor_faults: more(0),
            major_faults: more(1),
            voluntary_switches: more(2),
            involuntary_switches: more(3),
        }
    }
}
