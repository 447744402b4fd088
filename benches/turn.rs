//! Whole turns of the loop, as the daemon's physics thread runs them but for the sleep, and what
//! becomes of the log: `cargo bench --bench turn`. All figures are per turn or tick.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::expect_used)]
#![allow(clippy::print_stdout)]

#[path = "../tests/it/common/bench.rs"]
mod bench;
#[path = "common/standing.rs"]
mod standing;

use std::cell::{Cell, RefCell};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::thread::available_parallelism;

use crossbeam_channel::{Receiver, bounded};
use divan::Bencher;
use divan::counter::ItemsCount;
use hardstand::buffer_pool::{
    CommandSender, EmergencyStop, Inbox, bell, command_queue, pool, touched_channel,
};
use hardstand::config::{OverrunPolicy, Pace, StartRule};
use hardstand::daemon::Recorder;
use hardstand::replay::replay;
use hardstand::ros2::RosChannels;
use hardstand::rt::{
    Clock, Executive, Links, LoopEvent, MonotonicClock, RunLimits, TickReport, empty_log_tick,
    fill_log_tick, request_queue,
};
use hardstand::simulation::{EventSchedule, Simulation, Snapshot};
use hardstand_log::{LogLimits, LogReader, LogRecord, LogWriter, SideMessages};
use hardstand_protocol::LogTick;
use hardstand_protocol::{Command, TickInput};
use standing::{SPRING, hold, scenario, standing};

/// Iterations of one measurement.
const TURNS: u64 = 1000;
/// Ticks between two keyframes: several stretches that can be replayed side by side.
const KEYFRAME_TICKS: u64 = 100;

fn main() {
    divan::main();
}

/// Everybody that the loop talks to. Their work is done while the loop would sleep: a command for
/// every tick, and everything that was handed over is taken.
struct Others {
    commands: CommandSender,
    command: RefCell<Command>,
    snapshots: Inbox<Snapshot>,
    /// Emptied here, unless a recorder does it.
    log: Option<Inbox<LogTick>>,
    reports: Receiver<TickReport>,
}

impl Others {
    fn answer(&self) {
        let Some(snapshot) = self.snapshots.take() else { return };
        let tick = snapshot.state.tick;
        self.snapshots.give_back(snapshot);
        let mut command = self.command.borrow_mut();
        (command.seq, command.answers_tick) = (tick, tick);
        self.commands.send(&command);
        if let Some(log) = &self.log
            && let Some(record) = log.take()
        {
            log.give_back(record);
        }
        let _report = self.reports.try_recv().is_ok();
    }
}

/// The real clock, with a sleep that takes no longer than the work of the other threads: the rest of
/// it is skipped.
struct Sleepless {
    others: Others,
    skipped_ns: Cell<u64>,
}

impl Clock for Sleepless {
    fn now_ns(&self) -> u64 {
        MonotonicClock::default().now_ns() + self.skipped_ns.get()
    }

    fn sleep_until(&self, deadline_ns: u64) {
        self.others.answer();
        let left_ns = deadline_ns.saturating_sub(self.now_ns());
        self.skipped_ns.set(self.skipped_ns.get() + left_ns);
    }
}

/// A loop around `simulation` for [`TURNS`] ticks, and the log's other end.
fn executive(mut simulation: Simulation) -> (Executive<Sleepless>, Inbox<LogTick>) {
    let (snapshot, words) = (simulation.new_snapshot(), simulation.snapshot_words().len());
    let set_points = hold(&simulation);
    let command = Command { run_id: 1, session: 1, joints: set_points, ..Default::default() };
    let (commands, command_in) = command_queue(|| command.clone());
    let (snapshot_out, snapshots) = pool(8, || simulation.new_snapshot());
    let (log_out, log) = pool(64, || empty_log_tick(&simulation, &snapshot, words, true));
    let (report_out, reports) = bounded(64);
    let links = Links {
        commands: command_in,
        emergency_stop: EmergencyStop::default(),
        requests: request_queue().1,
        run_id: Arc::new(AtomicU32::new(1)),
        snapshots: snapshot_out,
        ports: Vec::new(),
        buses: Vec::new(),
        direct: None,
        log: Some(log_out),
        reports: report_out,
        events: touched_channel(64, &LoopEvent::NONE).0,
        stop: Arc::new(AtomicBool::new(false)),
        arrived: bell().1,
        place: None,
    };
    let command = RefCell::new(command);
    let others = Others { commands, command, snapshots, log: Some(log.clone()), reports };
    others.answer();
    let limits = RunLimits {
        ticks: Some(simulation.state().tick + TURNS),
        start: StartRule::Now,
        ..RunLimits::new(simulation.spec().period_ns)
    };
    let pace = Pace::RealTime(OverrunPolicy::Slip);
    let clock = Sleepless { others, skipped_ns: Cell::new(0) };
    (Executive::new(simulation, clock, links, EventSchedule::new(Vec::new()), pace, limits), log)
}

/// Physics and everything around it, with the other threads' share of the channels.
#[divan::bench(args = [1, 10])]
fn turn_of_the_loop(bencher: Bencher<'_, '_>, micro_steps: u32) {
    let simulation = standing(micro_steps, SPRING);
    bencher
        .with_inputs(|| executive(simulation.clone()).0)
        .input_counter(|_| ItemsCount::new(TURNS))
        .bench_local_values(|executive| executive.run());
}

/// The plant alone, with a command in every tick.
#[divan::bench(args = [1, 10])]
fn tick_with_a_command(bencher: Bencher<'_, '_>, micro_steps: u32) {
    let simulation = standing(micro_steps, SPRING);
    let mut input = TickInput::new();
    let joints = hold(&simulation);
    input.candidates.push(Box::new(Command {
        run_id: 1,
        session: 1,
        joints,
        ..Default::default()
    }));
    bencher
        .with_inputs(|| simulation.clone())
        .input_counter(|_| ItemsCount::new(TURNS))
        .bench_local_refs(|simulation| {
            for _ in 0..TURNS {
                let tick = simulation.state().tick;
                (input.candidates[0].seq, input.candidates[0].answers_tick) = (tick, tick);
                simulation.step(&input);
            }
        });
}

/// A log of [`TURNS`] ticks.
fn write_log(path: &Path, micro_steps: u32) {
    let mut scenario = scenario(micro_steps, SPRING);
    scenario.record.keyframe_every_ticks = KEYFRAME_TICKS;
    let mut bench = bench::Bench::new(scenario, bench::ROOMY);
    let hands = bench.hands();
    let between = move |period| hands.candidate(7, period, period - 1);
    let clock = bench::TestClock { clock: Default::default(), late: Vec::new(), between };
    let pace = Pace::RealTime(OverrunPolicy::Slip);
    let (info, inbox) = (bench::info(&bench.scenario), bench.log.clone());
    let ros2 = RosChannels::of(&bench.scenario);
    bench.executive(clock, pace, StartRule::Now, TURNS).run();
    let stats =
        Recorder::start(path, info, LogLimits::default(), ros2.into(), inbox).unwrap().finish();
    assert_eq!((stats.ticks, stats.error), (TURNS, None));
}

/// The recorder's work, without and with the messages of ROS 2: encoding and writing, without
/// putting the file on the disk.
#[divan::bench(args = [false, true])]
fn write_a_log(bencher: Bencher<'_, '_>, ros2: bool) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    let mut simulation = standing(10, SPRING);
    let scenario = scenario(10, SPRING);
    let info = bench::info(&scenario);
    let mut ros2 = RosChannels::of(&scenario).filter(|_| ros2);
    let (words, mut snapshot) = (simulation.snapshot_words(), simulation.new_snapshot());
    let mut input = TickInput::new();
    let (first, joints) = (simulation.state().tick, hold(&simulation));
    input.candidates.push(Box::new(Command {
        run_id: 1,
        session: 1,
        seq: first,
        answers_tick: first,
        applies_tick: 0,
        joints,
    }));
    let outcome = simulation.step(&input);
    simulation.fill(&mut snapshot);
    let mut record = empty_log_tick(&simulation, &snapshot, words.len(), true);
    fill_log_tick(&mut record, first, &input, &outcome, &snapshot);
    let mut messages = SideMessages::default();
    let channels = ros2.as_ref().map(RosChannels::channels).unwrap_or_default();
    bencher
        .with_inputs(|| LogWriter::create(&path, &info, &channels).unwrap())
        .input_counter(|_| ItemsCount::new(TURNS))
        .bench_local_refs(|writer| {
            for tick in first..first + TURNS {
                (record.tick, record.state.tick) = (tick, tick + 1);
                record.keyframe.clear();
                if tick.is_multiple_of(KEYFRAME_TICKS) {
                    record.keyframe.extend_from_slice(&words);
                }
                if let Some(ros2) = &mut ros2 {
                    ros2.fill(&record, &mut messages);
                }
                writer.write(&record, &messages).unwrap();
            }
            writer.flush().unwrap();
        });
    let bytes = std::fs::metadata(&path).unwrap().len();
    assert!(bytes > TURNS * 1000, "{bytes} bytes for {TURNS} ticks");
}

#[divan::bench]
fn read_a_log(bencher: Bencher<'_, '_>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    write_log(&path, 10);
    bencher.counter(ItemsCount::new(TURNS)).bench_local(|| {
        let mut log = LogReader::open(&path).unwrap();
        let ticks = std::iter::from_fn(|| log.next_record());
        let count = ticks.filter(|r| matches!(r, LogRecord::Tick(_))).count();
        assert_eq!((count as u64, log.damage()), (TURNS, None));
    });
}

#[divan::bench(args = [1, 10])]
fn replay_a_log(bencher: Bencher<'_, '_>, micro_steps: u32) {
    bench_replay(bencher, micro_steps, NonZeroUsize::MIN);
}

#[divan::bench]
fn replay_a_log_on_all_cores(bencher: Bencher<'_, '_>) {
    bench_replay(bencher, 10, available_parallelism().unwrap());
}

fn bench_replay(bencher: Bencher<'_, '_>, micro_steps: u32, threads: NonZeroUsize) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    write_log(&path, micro_steps);
    let simulation = scenario(micro_steps, SPRING).simulation();
    bencher.counter(ItemsCount::new(TURNS)).with_inputs(|| simulation.clone()).bench_local_values(
        |simulation| {
            let mut log = LogReader::open(&path).unwrap();
            let report = replay(&mut log, simulation, threads, |_, _, _| {}).unwrap();
            assert_eq!((report.equal, report.difference), (TURNS, None));
        },
    );
}
