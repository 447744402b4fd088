//! What must hold at the end of a run.

use std::num::NonZeroUsize;

use hardstand::config::Scenario;
use hardstand::replay::{RunReport, replay_run};
use hardstand::simulation::Simulation;
use hardstand_log::{LogReader, LogRecord};
use hardstand_protocol::LogTick;
use hardstand_protocol::Rejection;

use super::disk::SimDisk;
use super::faults::End;
use super::world::{BEGIN_NS, World};
use crate::common::bench::PERIOD_NS;
use crate::common::ladder::Ladder;

/// Sums over all seeds: what was covered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Covered {
    pub ticks: u64,
    pub missed: u64,
    pub caught_up: u64,
    pub overruns: u64,
    pub accepted: u64,
    pub rejected: u64,
    pub takeovers: usize,
    pub releases: usize,
    pub gaps: usize,
    pub files: usize,
    pub full_disks: u64,
    pub disk_stalls: u64,
    pub friction: u64,
    pub killed: u64,
}

impl Covered {
    pub fn add(&mut self, o: &Self) {
        self.ticks += o.ticks;
        self.missed += o.missed;
        self.caught_up += o.caught_up;
        self.overruns += o.overruns;
        self.accepted += o.accepted;
        self.rejected += o.rejected;
        self.takeovers += o.takeovers;
        self.releases += o.releases;
        self.gaps += o.gaps;
        self.files += o.files;
        self.full_disks += o.full_disks;
        self.disk_stalls += o.disk_stalls;
        self.friction += o.friction;
        self.killed += o.killed;
    }

    /// Many seeds must have met each kind of trouble.
    pub fn is_worth_something(&self) {
        let enough = self.ticks > 50_000
            && self.missed > 1000
            && self.caught_up > 300
            && self.overruns > 10
            && self.accepted > 10_000
            && self.rejected > 1000
            && self.takeovers > 200
            && self.releases > 10
            && self.gaps > 5
            && self.files > 250
            && self.full_disks > 5
            && self.disk_stalls > 50
            && self.friction > 100
            && self.killed > 50;
        assert!(enough, "the seeds cover too little: {self:?}");
    }
}

/// Ends the run, looks at everything that it has left, and returns what it covered.
pub fn judge(mut world: World, simulation: &Simulation) -> Covered {
    check_commands(&mut world);
    let ticks = simulation.state().tick;
    let recording = world.recording.take().unwrap();
    let end = world.faults.end;
    if end == End::Order {
        let stats = recording.finish();
        assert_eq!(stats.error.is_some(), world.disk.state().is_full, "{:?}", stats.error);
    } else {
        // whatever is dropped now, or tries to write once more, comes too late
        world.disk.state().dead = true;
        drop(recording);
    }
    if end == End::Power {
        world.disk.lose_power();
    }
    let (is_full, disk_stalls) = {
        let state = world.disk.state();
        (state.is_full, state.stalls)
    };
    let mut covered = Covered {
        ticks,
        missed: world.pace.missed,
        caught_up: world.pace.caught_up,
        overruns: world.pace.overruns,
        accepted: world.seen.accepted,
        rejected: world.seen.rejected,
        full_disks: u64::from(is_full),
        disk_stalls,
        friction: world.seen.friction_sent,
        killed: u64::from(end != End::Order),
        ..Covered::default()
    };
    check_log(&world, simulation, &mut covered);
    covered
}

/// IN-1, LN-6: every command that was received is accounted for, under one heading.
fn check_commands(world: &mut World) {
    let waiting = world.bench.commands.waiting() as u64;
    let at_arrival: u64 = Rejection::ALL.iter().map(|&r| world.arrivals.rejected(r)).sum();
    let seen = &world.seen;
    let told = seen.accepted + seen.proving + seen.rejected + at_arrival + waiting;
    let received = world.arrivals.received();
    // what proved life before the first tick is judged in it; a run that never began keeps it
    let kept = if seen.ticks == 0 { 16 } else { 0 };
    assert!((told..=told + kept).contains(&received), "{received} received, {told} accounted for");
}

fn check_log(world: &World, simulation: &Simulation, covered: &mut Covered) {
    let dir = tempfile::tempdir().unwrap();
    world.disk.pour_into(dir.path());
    let path = dir.path().join("run.mcap");
    let (seen, ticks) = (&world.seen, simulation.state().tick);
    let run = match replayed(&path) {
        Ok(run) => run,
        Err(e) => {
            // nothing that could be lost less
            let early = world.faults.end != End::Order || world.disk.state().is_full || ticks == 0;
            assert!(early, "no log: {e}");
            return;
        }
    };
    assert_eq!(run.whole.difference, None, "the log replays");
    let lost: u64 = run.gaps.iter().map(|g| g.to_tick - g.from_tick).sum();
    let end_tick = run.whole.ticks + lost;
    assert!(lost <= seen.log_dropped, "{lost} lost, {} dropped", seen.log_dropped);
    (covered.gaps, covered.files) = (run.gaps.len(), run.files.len());
    let full = world.disk.state().is_full;
    match world.faults.end {
        _ if full => {}
        End::Order => {
            // what was dropped at the very end is in no gap
            assert!(end_tick + seen.log_dropped - lost == ticks, "{end_tick} of {ticks}: {run:?}");
            if seen.log_dropped == lost {
                assert_eq!(run.whole.digest, simulation.state().digest);
            }
            assert_eq!(run.whole.damage, None);
        }
        End::Kill => {
            let since = (world.now_ns - world.last_round_ns).div_ceil(PERIOD_NS);
            let limit = 10 + since + world.pace.burst_max() + (seen.log_dropped - lost);
            assert!(end_tick + limit >= ticks, "{end_tick} of {ticks}, {limit} may be lost");
        }
        End::Power => check_power(world, &run, end_tick, ticks),
    }
    climb(world, &run, dir.path(), covered);
}

/// RC-2: no more is lost than since the last time that the disk had all.
fn check_power(world: &World, run: &RunReport, end_tick: u64, ticks: u64) {
    let state = world.disk.state();
    let synced_ns = state.synced_ns.max(BEGIN_NS);
    let since = (world.now_ns.saturating_sub(synced_ns)).div_ceil(PERIOD_NS);
    let limit = 10 + since + world.pace.burst_max() + world.seen.log_dropped;
    assert!(end_tick + limit >= ticks, "{end_tick} of {ticks}, {limit} may be lost: {run:?}");
    let stalled = state.stalls > 0;
    // once a second, and a stall of the loop
    assert!(stalled || since <= 1000 + 500, "no sync for {since} ticks");
}

fn replayed(path: &std::path::Path) -> hardstand::Result<RunReport> {
    let log = LogReader::open(path)?;
    let scenario = Scenario::from_texts(&log.info().scenario, &log.info().robot, &[])?;
    replay_run(log, &scenario.simulation(), NonZeroUsize::MIN, |_, _, _| ())
}

/// LN-1: the age ladder at exact ticks, as far as the log has no gap.
fn climb(world: &World, run: &RunReport, dir: &std::path::Path, covered: &mut Covered) {
    let spec = &world.bench.scenario.watchdog;
    let mut ladder = Ladder::new(spec.hold_ticks, spec.damped_ticks, spec.proof_commands);
    let mut next = 0;
    for file in &run.files {
        let mut log = LogReader::open(&dir.join(file.file_name().unwrap())).unwrap();
        while let Some(record) = log.next_record() {
            if let LogRecord::Tick(tick) = record {
                let tick: LogTick = *tick;
                if tick.tick != next {
                    return;
                }
                next += 1;
                ladder.climb(&tick);
            }
        }
    }
    (covered.takeovers, covered.releases) = (ladder.sessions.len(), ladder.releases);
}

/// Bytes on the disk, to compare two runs of a seed.
pub fn fingerprint(disk: &SimDisk) -> Vec<(String, usize, u64)> {
    let state = disk.state();
    let of = |(path, file): (&std::path::PathBuf, &super::disk::File)| {
        let sum = file.data.iter().fold(0_u64, |s, &b| s.rotate_left(5) ^ u64::from(b));
        (path.display().to_string(), file.data.len(), sum)
    };
    state.files.iter().map(of).collect()
}
