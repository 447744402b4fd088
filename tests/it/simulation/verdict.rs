//! What must hold at the end of a run.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;

use hardstand::config::Scenario;
use hardstand::daemon::Recording;
use hardstand::replay::{RunReport, replay_run};
use hardstand::simulation::Simulation;
use hardstand_log::Verdict::{Broken, Complete};
use hardstand_log::{LogReader, LogRecord, WrittenLog, verify};
use hardstand_protocol::{LogTick, Order, Rejection};

use super::book::Asked;
use super::disk::SimDisk;
use super::faults::{Company, End};
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
    pub takeovers: u64,
    pub releases: u64,
    pub gaps: u64,
    pub files: u64,
    pub full_disks: u64,
    pub disk_errors: u64,
    pub removals: u64,
    pub disk_stalls: u64,
    pub killed: u64,
    pub answers: u64,
    pub refused: u64,
    pub joins: u64,
    pub joined_commands: u64,
    pub runs: u64,
    pub stops: u64,
    pub armed: u64,
    pub marks: u64,
    pub of_owner: u64,
    pub lost_of_owner: u64,
    pub snapshots_dropped: u64,
}

impl Covered {
    fn numbers(&mut self) -> [&mut u64; 26] {
        [
            &mut self.ticks,
            &mut self.missed,
            &mut self.caught_up,
            &mut self.overruns,
            &mut self.accepted,
            &mut self.rejected,
            &mut self.takeovers,
            &mut self.releases,
            &mut self.gaps,
            &mut self.files,
            &mut self.full_disks,
            &mut self.disk_errors,
            &mut self.removals,
            &mut self.disk_stalls,
            &mut self.killed,
            &mut self.answers,
            &mut self.refused,
            &mut self.joins,
            &mut self.joined_commands,
            &mut self.runs,
            &mut self.stops,
            &mut self.armed,
            &mut self.marks,
            &mut self.of_owner,
            &mut self.lost_of_owner,
            &mut self.snapshots_dropped,
        ]
    }

    pub fn add(&mut self, mut o: Self) {
        for (sum, number) in self.numbers().into_iter().zip(o.numbers()) {
            *sum += *number;
        }
    }

    /// Many seeds must have met each kind of trouble.
    pub fn is_worth_something(&mut self) {
        let text = format!("{self:?}");
        let least = [
            50_000, 1000, 100, 3, 10_000, 1000, 50, 5, 3, 250, 5, 3, 2, 50, 50, 300, 50, 30, 1000,
            200, 20, 10, 200, 1000, 0, 100,
        ];
        for (number, least) in self.numbers().into_iter().zip(least) {
            assert!(*number >= least, "the seeds cover too little ({number} of {least}): {text}");
        }
    }
}

/// Ends the run, looks at everything that it has left, and returns what it covered.
pub fn judge(mut world: World, simulation: &Simulation) -> Covered {
    check_commands(&mut world);
    let end = world.faults.end;
    let (mut said, recording) = (None, world.recording.take().unwrap());
    if end == End::Order {
        said = Some(finish(&mut world, recording));
    } else {
        // whatever is dropped now, or tries to write once more, comes too late
        world.disk.state().dead = true;
        drop(recording);
    }
    if end == End::Power {
        world.disk.lose_power();
    }
    check_orders(&world);
    check_unmarked(&world);
    check_arms(&world);
    let (book, watch, seen) = (&world.bus.book, &world.watch, &world.seen);
    let mut covered = Covered {
        ticks: seen.ticks_run,
        missed: world.pace.missed,
        caught_up: world.pace.caught_up,
        overruns: world.pace.overruns,
        accepted: seen.accepted,
        rejected: seen.rejected,
        killed: u64::from(end != End::Order),
        answers: book.answers,
        refused: book.refused,
        joins: book.joins,
        joined_commands: watch.joined_commands,
        runs: watch.runs,
        stops: world.bus.stops_taken.len() as u64,
        armed: watch.armed,
        marks: watch.executed.len() as u64,
        snapshots_dropped: seen.snapshots_dropped,
        ..Covered::default()
    };
    {
        let disk = world.disk.state();
        covered.full_disks = u64::from(disk.is_full);
        covered.disk_errors = u64::from(disk.has_failed);
        covered.removals = u64::from(disk.removed.is_some());
        covered.disk_stalls = disk.stalls;
    }
    check_flood(&world, &mut covered);
    check_log(&world, simulation, said.as_ref(), &mut covered);
    covered
}

/// Ends the recording. A log that is not whole is said not to be: the exit code follows from this.
fn finish(world: &mut World, mut recording: Recording) -> WrittenLog {
    while world.pass_ticks() > 0 {
        recording.round(world.now_ns);
    }
    let mut said = recording.finish();
    said.note_run(world.seen.ticks_run);
    let disk = world.disk.state();
    let failed = disk.is_full || disk.has_failed;
    let lost = world.seen.ticks_run - said.ticks;
    let incomplete = failed || disk.removed.is_some() || said.is_full || lost > 0;
    assert_eq!(said.problem().is_some(), incomplete, "{lost} ticks lost: {said:?}");
    assert_eq!(said.error.is_some(), failed || said.is_full, "{said:?}");
    let files_max = world.faults.files_max.unwrap_or(usize::MAX);
    assert!(said.segments.len() <= files_max && disk.files.len() <= files_max, "{said:?}");
    said
}

/// IN-1, LN-6: every command that was received is accounted for, under one heading.
fn check_commands(world: &mut World) {
    if world.faults.company == Company::Busy || world.faults.joiners > 0 {
        return; // controllers that join have counters of their own
    }
    let waiting = world.bench.commands.waiting() as u64;
    let at_arrival: u64 = Rejection::ALL.iter().map(|&r| world.arrivals.rejected(r)).sum();
    let seen = &world.seen;
    let told = seen.accepted + seen.proving + seen.rejected + at_arrival + waiting;
    let received = world.arrivals.received();
    // what proved life before the first tick is judged in it; a run that never began keeps it
    let kept = if seen.ticks == 0 { 16 } else { 0 };
    assert!((told..=told + kept).contains(&received), "{received} received, {told} accounted for");
}

/// Name of the event of an order that has no number of its own.
fn unmarked(order: Order) -> Option<&'static str> {
    match order {
        Order::ClearFaults => Some("clear"),
        Order::Constraint => Some("constraint"),
        Order::Anchors => Some("anchors"),
        _ => None,
    }
}

/// Each of them that was accepted has its effect at its tick, and there are no others.
fn check_unmarked(world: &World) {
    let mut asked_for = BTreeMap::new();
    let (mut all, mut refused) = (0, 0);
    for asked in world.bus.book.asked.values() {
        let Some(name) = unmarked(asked.order) else { continue };
        for at in &asked.holds {
            *asked_for.entry((name, *at)).or_insert(0) += 1;
        }
        all += 1;
        let accepted = asked.reply.as_ref().is_some_and(|r| r.accepted().is_some());
        refused += usize::from(asked.reply.is_some() && !accepted && !asked.open);
    }
    let done = &world.watch.unmarked;
    for (what @ (_, at), count) in &asked_for {
        let there = done.get(what).copied().unwrap_or_default();
        assert!(there >= *count || !world.watch.seen.contains(at), "{what:?}: {there} of {count}");
    }
    let there: usize = done.values().sum();
    assert!(there <= all - refused, "{there} events for {all} orders, {refused} of them refused");
}

/// Each order that was accepted holds from the tick that its answer names, once; one that was
/// refused never does.
fn check_orders(world: &World) {
    let watch = &world.watch;
    for asked in world.bus.book.asked.values() {
        let Some(mark) = asked.mark else { continue };
        let executed = watch.executed.get(&mark).map(Vec::as_slice).unwrap_or_default();
        assert!(executed.len() <= 1, "an order had its effect twice: {executed:?}, {asked:?}");
        let accepted = asked.reply.as_ref().is_some_and(|r| r.accepted().is_some());
        let refused = asked.reply.is_some() && !accepted && !asked.open;
        assert!(!refused || executed.is_empty(), "refused, and done at {executed:?}: {asked:?}");
        for holds in &asked.holds {
            let done = executed.first() == Some(holds);
            assert!(done || !watch.seen.contains(holds), "not done: {executed:?}, {asked:?}");
        }
    }
    for stopped in &world.bus.stops_taken {
        let held = watch.stopped.contains(stopped) || !watch.seen.contains(stopped);
        assert!(held, "a stop was answered, and does not hold in run and tick {stopped:?}");
    }
}

/// Only `arm` ends an emergency stop, also if the run ends before the next tick.
fn check_arms(world: &World) {
    let arms = || world.bus.book.asked.values().filter(|a| a.order == Order::Arm);
    for (stopped, next) in &world.watch.armed_before {
        let in_time = |a: &Asked| a.open || a.holds.iter().any(|h| stopped < h && h < next);
        assert!(arms().any(in_time), "stopped in {stopped:?}, and not any more in {next:?}");
    }
}

/// A flood costs the owner of the robot at most 1 command in 50.
fn check_flood(world: &World, covered: &mut Covered) {
    if world.faults.company != Company::Flood || world.watch.missing {
        return;
    }
    // what arrived at the very end was not taken any more
    let last = world.seen.ticks.saturating_sub(3);
    let taken = world.seen.of_owner.iter().filter(|(_, _, at)| *at < last);
    let (mut sent, mut lost) = (0, 0);
    for (session, answers, _) in taken {
        sent += 1;
        lost += u64::from(!world.watch.judged.contains(&(*session, *answers)));
    }
    (covered.of_owner, covered.lost_of_owner) = (sent, lost);
    assert!(sent < 100 || lost * 50 <= sent, "the owner has lost {lost} of {sent} commands");
}

fn check_log(
    world: &World,
    simulation: &Simulation,
    said: Option<&WrittenLog>,
    covered: &mut Covered,
) {
    let dir = tempfile::tempdir().unwrap();
    world.disk.pour_into(dir.path());
    let path = dir.path().join("run.mcap");
    let (seen, ticks) = (&world.seen, simulation.state().tick);
    let failed = {
        let disk = world.disk.state();
        disk.is_full || disk.has_failed || disk.removed.is_some()
    } || said.is_some_and(|said| said.is_full);
    let run = match replayed(&path) {
        Ok(run) => run,
        Err(e) => {
            // nothing that could be lost less
            let early = world.faults.end != End::Order || failed || seen.ticks_run == 0;
            assert!(early, "no log: {e}");
            return;
        }
    };
    assert_eq!(run.whole.difference, None, "the log replays");
    (covered.gaps, covered.files) = (run.gaps.len() as u64, run.files.len() as u64);
    let removed = world.disk.state().removed.is_some();
    check_chain(&path, &run, said.filter(|_| !failed), removed);
    if world.faults.company != Company::Busy {
        let lost: u64 = run.gaps.iter().map(|g| g.to_tick - g.from_tick).sum();
        let end_tick = run.whole.ticks + lost;
        assert!(lost <= seen.log_dropped, "{lost} lost, {} dropped", seen.log_dropped);
        match world.faults.end {
            _ if failed => {}
            End::Order => {
                // what was dropped at the very end is in no gap
                assert!(end_tick + seen.log_dropped - lost == ticks, "{end_tick} of {ticks}");
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
    } else if world.faults.end == End::Order && !failed {
        assert_eq!(run.whole.ticks + seen.log_dropped, seen.ticks_run, "{run:?}");
        assert_eq!(run.whole.damage, None);
    }
    if world.faults.company != Company::Busy && world.faults.joiners == 0 {
        climb(world, &run, dir.path(), covered);
    }
}

/// The chain of checksums holds as far as the log replays; to its end, if the log is whole.
fn check_chain(path: &Path, run: &RunReport, said: Option<&WrittenLog>, removed: bool) {
    let verified = verify(path, |_, _| ()).unwrap();
    if let Some(said) = said {
        assert_eq!(verified.verdict, Complete, "{verified:?}");
        assert_eq!(verified.ticks, said.ticks, "{verified:?}");
    }
    // a chunk whose link is missing is read, but not believed
    assert!(verified.ticks <= run.whole.ticks, "{verified:?}, {run:?}");
    assert!(removed || !matches!(verified.verdict, Broken(_)), "{verified:?}");
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

fn replayed(path: &Path) -> hardstand::Result<RunReport> {
    let log = LogReader::open(path)?;
    let scenario = Scenario::from_texts(&log.info().scenario, &log.info().robot, &[])?;
    replay_run(log, &scenario.simulation(), NonZeroUsize::MIN, |_, _, _| ())
}

/// LN-1: the age ladder at exact ticks, as far as the log has no gap.
fn climb(world: &World, run: &RunReport, dir: &Path, covered: &mut Covered) {
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
    (covered.takeovers, covered.releases) = (ladder.sessions.len() as u64, ladder.releases as u64);
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
