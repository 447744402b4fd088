//! `hardstand replay`.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use serde::Serialize;

use crate::config::Scenario;
use crate::replay::{self, Difference, Look, RunReport};
use hardstand_error::Result;
use hardstand_log::{LogReader, Verdict};

use super::arguments::ReplayArguments;
use super::verify::verify_log;
use super::{ExitCode, progress, show};

pub(super) fn replay(a: &ReplayArguments) -> Result<ExitCode> {
    #[cfg(feature = "zenoh")]
    if a.to_controller {
        return super::replay_live::show_to_controllers(a);
    }
    let (log, scenario) =
        if a.until_break { open_unverified(&a.log, &a.sets)? } else { open(&a.log, &a.sets)? };
    let (_, result) = run(log, &scenario, a.threads, None)?;
    if a.json {
        show::json(&result)?;
    } else {
        result.show();
    }
    Ok(result.code())
}

/// The result of a replay.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ReplayResult {
    /// All digests are equal, as far as the log goes.
    identical: bool,
    /// Number of the state with which the log begins.
    first_tick: u64,
    ticks: u64,
    equal_ticks: u64,
    simulated_s: f64,
    wall_s: f64,
    /// After the last tick, 16 hex digits.
    digest: String,
    difference: Option<Difference>,
    /// Files of the run, in order.
    #[serde(serialize_with = "crate::path_text::many")]
    files: Vec<PathBuf>,
    /// Ticks that the log has lost.
    gaps: Vec<LostTicks>,
    /// How the log is damaged or cut short.
    damage: Option<String>,
}

/// Ticks that a log has lost.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct LostTicks {
    pub(super) from_tick: u64,
    /// The last of them.
    pub(super) to_tick: u64,
}

impl From<&crate::replay::Gap> for LostTicks {
    fn from(gap: &crate::replay::Gap) -> Self {
        Self { from_tick: gap.from_tick, to_tick: gap.to_tick.saturating_sub(1) }
    }
}

impl ReplayResult {
    fn of(run: &RunReport, wall_s: f64, period_ns: u64) -> Self {
        let r = &run.whole;
        Self {
            identical: r.difference.is_none(),
            first_tick: r.first_tick,
            ticks: r.ticks,
            equal_ticks: r.equal,
            simulated_s: r.ticks as f64 * period_ns as f64 * 1e-9,
            wall_s,
            digest: format!("{:016x}", r.digest),
            difference: r.difference.clone(),
            files: run.files.clone(),
            gaps: run.gaps.iter().map(LostTicks::from).collect(),
            damage: r.damage.clone(),
        }
    }

    pub(super) fn code(&self) -> ExitCode {
        match (self.identical, self.damage.is_some() || !self.gaps.is_empty()) {
            (false, _) => ExitCode::Negative,
            (true, true) => ExitCode::Incomplete,
            (true, false) => ExitCode::Done,
        }
    }

    pub(super) fn show(&self) {
        let (ticks, simulated_s, wall_s) = (self.ticks, self.simulated_s, self.wall_s);
        show::line(&format!(
            "replayed   {ticks} ticks ({simulated_s:.3} s) in {wall_s:.3} s, {:.0} × real time",
            simulated_s / wall_s.max(1e-9)
        ));
        show::line(&match &self.difference {
            None => {
                format!("identical  all {} digests; the last is {}", self.equal_ticks, self.digest)
            }
            Some(d) => format!("DIFFERENT  first at tick {}: {}", d.tick, d.quantity),
        });
        if self.first_tick > 0 {
            let first = self.first_tick;
            show::line(&format!("segment    begins at tick {first}, from its keyframe"));
        }
        if let [_, more @ ..] = &self.files[..]
            && !more.is_empty()
        {
            let names: Vec<String> = more.iter().map(|f| f.display().to_string()).collect();
            show::line(&format!("files      continues in {}", names.join(", ")));
        }
        for gap in &self.gaps {
            show::line(&format!("gap        ticks {} to {} were lost", gap.from_tick, gap.to_tick));
        }
        if let Some(damage) = &self.damage {
            let lost: u64 = self.gaps.iter().map(|g| g.to_tick + 1 - g.from_tick).sum();
            let end = self.first_tick + ticks + lost;
            show::line(&format!("damaged    {damage}; everything up to tick {end} was replayed"));
        }
    }
}

/// Replays a log, with all files in which its run goes on; on all cores unless `threads` gives a
/// number.
#[cfg(feature = "zenoh")]
pub(super) fn replay_file(
    path: &Path,
    sets: &[String],
    threads: Option<u8>,
) -> Result<(RunReport, ReplayResult)> {
    let (log, scenario) = open(path, sets)?;
    run(log, &scenario, threads, None)
}

/// A log and its scenario, with `sets` changed; prints a note if the log does not fit this build,
/// or has no chain.
///
/// # Errors
/// [`ErrorKind::Log`](hardstand_error::ErrorKind::Log) also if the chain of the log breaks.
pub(super) fn open(path: &Path, sets: &[String]) -> Result<(LogReader, Scenario)> {
    match verify_log(path)?.verdict {
        Verdict::Broken(fault) => return Err(fault.refusal()),
        Verdict::NoChain => show::note(
            "the log has no chain of checksums: a changed or missing byte may not be noticed",
        ),
        Verdict::Complete | Verdict::CutOff(_) => {}
    }
    open_unverified(path, sets)
}

/// [`open`] of a log that is read up to its first damage.
fn open_unverified(path: &Path, sets: &[String]) -> Result<(LogReader, Scenario)> {
    let log = LogReader::open(path)?;
    let info = log.info();
    let version = env!("CARGO_PKG_VERSION");
    if info.version != version {
        show::note(&format!(
            "the log was written by version {}, this is {version}: digests may differ",
            info.version
        ));
    }
    let scenario = Scenario::from_texts(&info.scenario, &info.robot, sets)?;
    if sets.is_empty() && scenario.physics_hash != info.physics_hash {
        show::note("the physics hash of the log does not match its own robot and scenario");
    }
    Ok((log, scenario))
}

/// Replays a log that has been opened; `look` may end it.
pub(super) fn run(
    log: LogReader,
    scenario: &Scenario,
    threads: Option<u8>,
    look: Option<Look<'_>>,
) -> Result<(RunReport, ReplayResult)> {
    let period_ns = log.info().period_ns;
    let bar = progress::bar(0, "replaying");
    let threads = threads.and_then(|n| NonZeroUsize::new(n.into()));
    let threads = threads.or_else(|| thread::available_parallelism().ok());
    let threads = threads.unwrap_or(NonZeroUsize::MIN);
    let progress = |ticks, read, all| {
        bar.set_length(all);
        bar.set_position(read);
        bar.set_message(format!("{ticks} ticks"));
    };
    let (simulation, begin) = (scenario.simulation(), Instant::now());
    let run = match look {
        Some(look) => replay::replay_until(log, &simulation, threads, look, progress)?,
        None => replay::replay_run(log, &simulation, threads, progress)?,
    };
    bar.finish_and_clear();
    let result = ReplayResult::of(&run, begin.elapsed().as_secs_f64(), period_ns);
    Ok((run, result))
}
