//! Start-up, run and shut-down of the whole daemon, in the order that real time needs.
//!
//! ```text
//! main thread ── off the physics core
//!      ├── physics thread: pin ── FIFO ── lock memory ── warm up ── … ── no rights ── executive
//!      ├── no rights ── files limited ── open bus ── calls limited ── recorder (I/O cores)
//!      └── monitor: reports ► one line a second, status ► bus
//! ```

mod confinement;
mod event_feed;
mod event_log;
mod front;
mod io;
mod kept;
mod latency_histogram;
mod monitor;
mod physics;
#[cfg(feature = "zenoh")]
mod ports;
#[cfg(not(feature = "zenoh"))]
#[path = "no_ports.rs"]
mod ports;
mod recorder;
mod recording;
mod refusals;
mod report;
mod reported_losses;
mod team;

pub use confinement::Host;
pub use event_log::{EVENT_TOPIC, as_json as event_json};
pub use kept::Kept;
pub use latency_histogram::LatencyHistogram;
pub use monitor::{SecondReport, Stall, Summary};
pub use recorder::Recorder;
pub use recording::{Recording, SideInputs};
pub use report::{
    EndKind, EndReport, ErrorReport, ReadyReport, RejectedController, Report, ReportFile,
    SandboxReport, reports,
};
pub use team::run_all;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crossbeam_channel::{Receiver, bounded};

use crate::buffer_pool::{EmergencyStop, Inbox, bell, command_queue, pool, touched_channel};
use crate::config::{Mode, Pace, Scenario};
use crate::desk::OrderMemory;
use crate::fault_point;
use crate::ingress::{AcceptedOrder, ControllerRegistry, JoinedSessions, restored};
use crate::limits::{EVENT_QUEUE, LOG_QUEUE, OPEN_FILES, REPORT_QUEUE, SNAPSHOT_QUEUE};
use crate::replay::run_info;
use crate::ros2::RosChannels;
use crate::rt::{
    ControllerReplay, Direct, Grants, Links, LoopEvent, RunLimits, TickReport, allow_open_files,
    drop_privileges, empty_log_tick, keep_cores_awake, keep_files_private, keep_off_core,
    pick_core, request_queue,
};
use crate::simulation::{Simulation, describe};
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_log::WrittenLog;
use hardstand_protocol::{Command, EventReading, JointCommand};
use hardstand_protocol::{LogTick, SavedState};

use confinement::Confinement;
use event_feed::EventFeed;
use front::{Counters, Ends};
use io::Io;
use monitor::Monitor;
use physics::PhysicsThread;
use ports::{Cables, OpenPorts, Ports};
use refusals::Refusals;
use reported_losses::ReportedLosses;
use team::Member;

/// Time between two looks of the monitor.
const MONITOR_POLL: Duration = Duration::from_millis(20);

/// Progress of a run, for the caller.
#[derive(Debug)]
pub enum Happening<'a> {
    /// The daemon accepts controllers: what it is, and the grants of the physics thread.
    Ready(&'a ReadyReport, &'a Grants),
    /// The physics thread has missed many deadlines at once.
    Stall(Stall),
    /// A controller was late for too long and has lost its joints.
    ControllerLost(&'a EventReading),
    /// A second of wall time has passed.
    Second(&'a SecondReport),
    /// Something is wrong that the run survives, as with the log: a sentence.
    Log(&'a str),
    /// The loop has ended, or is asked to; what follows writes the rest of the log.
    Ending,
}

/// How a run begins.
#[derive(Debug)]
pub enum Begin<'a> {
    /// In the scenario's initial state.
    Afresh,
    /// In a saved state.
    Saved(&'a SavedState),
    /// Likewise; it is a run that was recorded, which is shown to controllers.
    Shown(&'a SavedState, ControllerReplay),
}

impl<'a> Begin<'a> {
    fn parts(self) -> (Option<&'a SavedState>, Option<ControllerReplay>) {
        match self {
            Self::Afresh => (None, None),
            Self::Saved(saved) => (Some(saved), None),
            Self::Shown(saved, controller_replay) => (Some(saved), Some(controller_replay)),
        }
    }
}

/// Runs `scenario` until its end, a plant failure, or until `stop` is set. `log` names the log
/// file. If the process is the daemon's own, it stays confined afterwards.
///
/// # Errors
/// [`ErrorKind::Input`] if the saved state is not one of this scenario,
/// [`ErrorKind::Bus`] if an endpoint is taken, or too few files or threads
/// are allowed,
/// [`ErrorKind::RealTime`] if grants or a sandbox are required and
/// refused,
/// [`ErrorKind::File`] if the log cannot be created,
/// [`ErrorKind::Internal`] if the physics thread panicked, or threads
/// of the bus again and again; what was logged up to then is kept.
pub fn run(
    scenario: &Scenario,
    begin: Begin<'_>,
    log: Option<PathBuf>,
    host: &Host,
    stop: &Arc<AtomicBool>,
    watch: impl FnMut(Happening<'_>),
) -> Result<Summary> {
    let summary = run_robot(scenario, begin, log, host, None, stop, watch)?;
    summary.ok_or_else(|| Error::new(ErrorKind::Internal, "a robot alone waited for others"))
}

/// The same for a robot that is alone, or a `member` of several; `None` if another robot has not
/// started.
fn run_robot(
    scenario: &Scenario,
    begin: Begin<'_>,
    log: Option<PathBuf>,
    host: &Host,
    mut member: Option<Member>,
    stop: &Arc<AtomicBool>,
    mut watch: impl FnMut(Happening<'_>),
) -> Result<Option<Summary>> {
    let (free, core) = prepare_process(scenario)?;
    let (from, controller_replay) = begin.parts();
    let initial = scenario.simulation();
    let (simulation, run_id) = beginning(scenario, &initial, from, host)?;
    let Wiring { mut links, mut ends, reports, events, accepted } =
        wire(scenario, &initial, run_id, (stop, host, member.as_mut()));
    ends.shows_log = controller_replay.is_some();
    ends.registry.note_all(from);

    let model = describe(&simulation, run_id, scenario.gains_max, &scenario.hold_gains);
    let first_tick = simulation.state().tick;
    let begun = (simulation, controller_replay);
    let physics = PhysicsThread::start(scenario, begun, limits(scenario, run_id), core)?;
    let mut grants = physics.grants()?;
    let awake = if free { None } else { keep_cores_awake() };
    grants.cores_awake = awake.is_some();
    let log = log.or_else(|| scenario.record.path());
    let cables = last_privileges(scenario, ends.shows_log, log.as_deref(), &mut grants)?;
    let open_ports = OpenPorts::open(scenario, &initial, cables, &mut links)?;
    let confinement =
        Confinement::begin(scenario, log.as_deref(), (host, member.as_ref()), &mut grants)?;
    let mut refusals = Refusals::new(&scenario.model, ends.counters.clone());
    let heard = (ends.counters.clone(), ends.registry.clone(), ends.joined_sessions.clone());
    ends.log.clone_from(&log);
    let mut io = Io::open(scenario, &model, ends)?;
    let udp = open_ports.udp_address();
    let ports = open_ports.start(scenario, &model, io.ends())?;
    if !complete(confinement.as_ref(), member.as_ref(), &mut grants)? {
        return Ok(None);
    }
    // only now: a run that is refused must not overwrite an old log
    let (event_log, logged) = bounded(EVENT_QUEUE);
    let (recorder, log_out) = start_recorder(scenario, initial, run_id, log, logged)?;
    links.log = log_out;
    // a log replaces an old one with its first tick: not before all robots have one
    if member.as_ref().is_some_and(|member| !member.all_come()) {
        recorder.into_iter().for_each(Recorder::give_up);
        return Ok(None);
    }
    physics.go(links, confinement, &mut grants)?;
    let ready = ReadyReport::of(scenario, &model, first_tick, udp, &grants);
    watch(Happening::Ready(&ready, &grants));

    let to_log = recorder.as_ref().map(|_| event_log);
    let event_feed = EventFeed::new(scenario, events, accepted, heard.1.clone(), to_log);
    let begin = (run_id, first_tick);
    let mut monitor = Monitor::new(scenario, begin, model.mass_kg, grants, reports, heard);
    io.publish_status(monitor.status());
    let watched = (&mut monitor, &event_feed, &mut refusals);
    let mut reported = ReportedLosses::default();
    let log = recorder.as_ref().map(|recorder| (recorder, &mut reported));
    let broken = attend(&physics, log, (&mut io, &ports), watched, (free, stop), &mut watch);
    drop(awake);
    let summary = finish(physics, recorder, (io, ports), monitor, &event_feed)?;
    host.kept().iter().for_each(|kept| kept.note_end(summary.status.run_id));
    reported.report_rest(&summary.recorded, &mut watch);
    broken.map_or(Ok(Some(summary)), Err)
}

/// Limits the process once all its robots have opened what they need; false if one has not.
fn complete(
    confinement: Option<&Confinement>,
    member: Option<&Member>,
    grants: &mut Grants,
) -> Result<bool> {
    let complete = || confinement.map(Confinement::complete).transpose();
    let applied = match member {
        None => complete()?,
        Some(member) => match member.once_for_all(complete)? {
            Some(applied) => applied,
            None => return Ok(false),
        },
    };
    applied.into_iter().for_each(|applied| grants.sandbox.get_or_insert_default().add(applied));
    Ok(true)
}

/// Opens what needs privileges, which a log that is shown does not, and gives them up: before any
/// thread that reads from the network is started.
fn last_privileges(
    scenario: &Scenario,
    shows_log: bool,
    log: Option<&Path>,
    grants: &mut Grants,
) -> Result<Option<Cables>> {
    let cables = (!shows_log).then(|| Cables::open(&scenario.buses)).transpose()?;
    grants.kept.extend(drop_privileges(log));
    Ok(cables)
}

/// The state in which a run begins, and its number.
fn beginning(
    scenario: &Scenario,
    initial: &Simulation,
    from: Option<&SavedState>,
    host: &Host,
) -> Result<(Simulation, u32)> {
    let Some(saved) = from else { return Ok((initial.clone(), host.first_run())) };
    let simulation = restored(saved, initial.clone(), scenario.physics_hash)?;
    Ok((simulation, saved.run_id.max(host.first_run())))
}

/// Whether the pace is free, and the core of the physics thread. At free pace no thread is
/// real-time, and all cores are wanted.
fn core_of(scenario: &Scenario) -> (bool, Option<usize>) {
    let free = scenario.pace == Pace::Free;
    (free, if free { None } else { pick_core(scenario.realtime.core) })
}

/// What each robot's process needs before anything is opened; returns its [`core_of`].
fn prepare_process(scenario: &Scenario) -> Result<(bool, Option<usize>)> {
    fault_point::arm();
    let robots = scenario.bus.robots.len() as u64;
    allow_open_files(robots * OPEN_FILES + scenario.bus.all_sessions())?;
    let (free, core) = core_of(scenario);
    keep_off_core(core);
    keep_files_private();
    Ok((free, core))
}

fn limits(scenario: &Scenario, run_id: u32) -> RunLimits {
    RunLimits {
        ticks: scenario.ticks,
        start: scenario.start,
        run_id,
        keyframe_every_ticks: scenario.record.keyframe_every_ticks,
        mode: scenario.control.mode,
        overrun: scenario.overrun,
        wall_period_ns: scenario.wall_period_ns,
        patience_ns: scenario.control.patience_ns(),
        expected: scenario.control.expected(),
        gains_max: scenario.gains_max,
    }
}

/// What connects the loop with the threads around it; the log comes later.
struct Wiring {
    links: Links,
    ends: Ends,
    reports: Receiver<TickReport>,
    events: Receiver<LoopEvent>,
    accepted: Receiver<AcceptedOrder>,
}

fn wire(
    scenario: &Scenario,
    simulation: &Simulation,
    run_id: u32,
    (stop, host, mut member): (&Arc<AtomicBool>, &Host, Option<&mut Member>),
) -> Wiring {
    let joints = simulation.model().joint_count();
    let empty = || Command { joints: vec![JointCommand::default(); joints], ..Default::default() };
    let meeting = member.as_mut().and_then(|member| member.take_meeting());
    let (place, (arrived_bell, arrived)) =
        meeting.map_or_else(|| (None, bell()), |(place, bell)| (Some(place), bell));
    let (command_out, commands) = command_queue(empty);
    let emergency_stop = EmergencyStop::default().ringing(arrived_bell.clone());
    let (snapshots, snapshot_in) = pool(SNAPSHOT_QUEUE, || simulation.new_snapshot());
    // in real time the physics thread never waits for the bus
    let direct = (scenario.control.mode != Mode::RealTime).then(Direct::default);
    let (reports, report_in) = touched_channel(REPORT_QUEUE, &TickReport::default());
    let (events, event_in) = touched_channel(EVENT_QUEUE, &LoopEvent::NONE);
    let (request_out, requests) = request_queue();
    let (accepted, accepted_in) = bounded(EVENT_QUEUE);
    let run_id = Arc::new(AtomicU32::new(run_id));
    let ends = Ends {
        commands: command_out.ringing(arrived_bell.clone()),
        emergency_stop: emergency_stop.clone(),
        orders: Arc::new(Mutex::new(OrderMemory::new(request_out.ringing(arrived_bell)))),
        simulation: simulation.clone(),
        run_id: Arc::clone(&run_id),
        snapshots: snapshot_in,
        direct: direct.clone(),
        registry: ControllerRegistry::of(&scenario.control.controllers),
        joined_sessions: JoinedSessions::default(),
        accepted,
        #[cfg(feature = "zenoh")]
        port_orders: crate::ports::BusOrders::default(),
        kept: host.kept(),
        #[cfg(feature = "zenoh")]
        shared: member.map(|member| member.bus()),
        shows_log: false,
        log: None,
        counters: Counters::default(),
    };
    let stop = Arc::clone(stop);
    let links = Links {
        commands,
        emergency_stop,
        requests,
        run_id,
        snapshots,
        ports: Vec::new(),
        buses: Vec::new(),
        direct,
        log: None,
        reports,
        events,
        stop,
        arrived,
        place,
    };
    Wiring { links, ends, reports: report_in, events: event_in, accepted: accepted_in }
}

/// Watches the loop until it ends. A bus that is lost for good ends it with an error.
fn attend(
    physics: &PhysicsThread,
    mut log: Option<(&Recorder, &mut ReportedLosses)>,
    (io, ports): (&mut Io<'_>, &Ports),
    (monitor, event_feed, refusals): (&mut Monitor, &EventFeed, &mut Refusals),
    (free, stop): (bool, &AtomicBool),
    watch: &mut impl FnMut(Happening<'_>),
) -> Option<Error> {
    let (mut broken, mut ending) = (None, false);
    while !physics.is_finished() {
        physics.wait(MONITOR_POLL);
        if !ending && stop.load(Ordering::Relaxed) {
            ending = true;
            watch(Happening::Ending);
        }
        if broken.is_none()
            && let Err(e) = io.tend().and_then(|()| ports.check())
        {
            stop.store(true, Ordering::Relaxed);
            broken = Some(e);
        }
        if monitor.note_io_restarts(io.restarts()) {
            io.publish_status(monitor.status());
        }
        if let Some(text) = io.take_twin() {
            watch(Happening::Log(&text));
        }
        for port in ports.restarted() {
            event_feed.port_restarted(io, monitor.status(), port);
        }
        for text in refusals.look() {
            watch(Happening::Log(&text));
            event_feed.refused(io, monitor.status(), text);
        }
        event_feed.publish(io, refusals.recent(), |event| {
            watch(Happening::ControllerLost(event));
        });
        if let Some((recorder, reported)) = &mut log {
            let written = recorder.written();
            monitor.note_log(&written);
            reported.report(&written, watch);
            // at free pace the loop waits for the recorder
            if free && recorder.has_died() {
                stop.store(true, Ordering::Relaxed);
            }
        }
        let second = monitor.poll();
        if let Some(stall) = monitor.take_stall() {
            watch(Happening::Stall(stall));
        }
        let changed = monitor.note_change();
        if let Some(second) = &second {
            watch(Happening::Second(second));
        }
        if changed || second.is_some() {
            io.publish_status(monitor.status());
        }
    }
    if !ending {
        watch(Happening::Ending);
    }
    broken
}

fn start_recorder(
    scenario: &Scenario,
    mut simulation: Simulation,
    run_id: u32,
    log: Option<PathBuf>,
    events: Receiver<EventReading>,
) -> Result<(Option<Recorder>, Option<crate::buffer_pool::Outbox<LogTick>>)> {
    let Some(path) = log else { return Ok((None, None)) };
    let info = run_info(scenario, &simulation, run_id);
    let snapshot = simulation.new_snapshot();
    let words = simulation.snapshot_words().len();
    let ros2 = RosChannels::of(scenario);
    let (out, inbox): (_, Inbox<LogTick>) =
        pool(LOG_QUEUE, || empty_log_tick(&simulation, &snapshot, words, ros2.is_some()));
    let [drives, sensors] = [!scenario.spec.drives.is_ideal(), !scenario.spec.sensors.is_ideal()];
    let inputs = SideInputs { ros2, drives, sensors, events: Some(events) };
    Ok((Some(Recorder::start(&path, info, scenario.record.limits, inputs, inbox)?), Some(out)))
}

/// The file of one of so many robots: of several each has its name in it, as `run-left.mcap`.
#[must_use]
pub fn file_of(file: &Path, robot: &str, robots: usize) -> PathBuf {
    if robots <= 1 {
        return file.into();
    }
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let extension = file.extension().map_or(String::new(), |e| format!(".{}", e.to_string_lossy()));
    file.with_file_name(format!("{stem}-{robot}{extension}"))
}

/// Ends the physics first, then its consumers, the bus last, so that no message is lost.
fn finish(
    physics: PhysicsThread,
    recorder: Option<Recorder>,
    (io, ports): (Io<'_>, Ports),
    monitor: Monitor,
    event_feed: &EventFeed,
) -> Result<Summary> {
    let end = physics.join();
    ports.finish();
    event_feed.publish(&io, None, |_| {});
    let recorded = recorder.map_or_else(WrittenLog::default, Recorder::finish);
    let summary = match end {
        Some((ending, simulation)) => Ok(monitor.summary(ending, &simulation, recorded)),
        None => Err(monitor.panic_report()),
    };
    if let Ok(summary) = &summary {
        io.publish_status(&summary.status);
    }
    io.close();
    summary
}
