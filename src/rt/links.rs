//! The limits of a run, and what the loop is connected to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};

use crossbeam_channel::Sender;

use crate::buffer_pool::{CommandReceiver, EmergencyStop, Outbox, Waiter};
use crate::config::{ControllerNumbers, Mode, OverrunPolicy, StartRule};
use crate::limits::{FIRST_RUN_ID, LEASES_MAX};
use crate::simulation::Snapshot;
use hardstand_protocol::{LogTick, PlantFailure};

use super::Direct;
use super::loop_event::LoopEvent;
use super::meeting::Place;
use super::port_state::PortState;
use super::records::TickReport;
use super::request_queue::RequestReceiver;

/// How far to run, and for which controllers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunLimits {
    /// Ticks to run; `None` for no end.
    pub ticks: Option<u64>,
    /// When to begin.
    pub start: StartRule,
    /// A keyframe goes into the log every so many ticks.
    pub keyframe_every_ticks: u64,
    /// Run number at the start.
    pub run_id: u32,
    /// Whether a tick waits for the commands that are due at it.
    pub mode: Mode,
    /// What a missed deadline leads to, whenever the pace is real time.
    pub overrun: OverrunPolicy,
    /// Wall time of a tick in real time, ns: its period, longer in slow motion.
    pub wall_period_ns: u64,
    /// Wall time after which a missing controller ends the run, ns; `None` for never.
    pub patience_ns: Option<u64>,
    /// The controllers that must have joined before the run begins; 0 for none.
    pub expected: ControllerNumbers,
    /// Largest `kp` and `kd` of a command that a faulty link has spoilt.
    pub gains_max: [f64; 2],
}

impl RunLimits {
    /// A run without end that begins at once, never waits for controllers, and skips deadlines that
    /// it has missed, with a tick of `period_ns`.
    #[must_use]
    pub const fn new(period_ns: u64) -> Self {
        Self {
            ticks: None,
            start: StartRule::Now,
            keyframe_every_ticks: 1000,
            run_id: FIRST_RUN_ID,
            mode: Mode::RealTime,
            overrun: OverrunPolicy::Slip,
            wall_period_ns: period_ns,
            patience_ns: None,
            expected: [0; LEASES_MAX],
            gains_max: [1e4, 1e3],
        }
    }

    /// True if the run waits for controllers by name.
    pub(super) fn expects_controllers(&self) -> bool {
        self.expected != ControllerNumbers::default()
    }
}

/// Everything the loop is connected to.
#[derive(Debug)]
pub struct Links {
    /// Checked commands.
    pub commands: CommandReceiver,
    /// Requests of the emergency stop.
    pub emergency_stop: EmergencyStop,
    /// Checked requests from outside.
    pub requests: RequestReceiver,
    /// The run number, for the threads that check commands.
    pub run_id: Arc<AtomicU32>,
    /// Snapshots for the publisher: dropped and counted if it has not kept up.
    pub snapshots: Outbox<Snapshot>,
    /// States for ports that are not the bus; the newest replace those that were not taken.
    pub ports: Vec<Outbox<PortState>>,
    /// The same for motor buses, which are in the robot: no fault of the link comes between.
    pub buses: Vec<Outbox<PortState>>,
    /// Where the loop publishes snapshots itself instead, if controllers wait for them.
    pub direct: Option<Direct>,
    /// Ticks for the recorder, if there is one.
    pub log: Option<Outbox<LogTick>>,
    /// Reports for the monitor.
    pub reports: Sender<TickReport>,
    /// Events for subscribers; those that find no room are dropped.
    pub events: Sender<LoopEvent>,
    /// Asks the loop to end.
    pub stop: Arc<AtomicBool>,
    /// Notified when a command or a request has been sent.
    pub arrived: Waiter,
    /// Where it meets the other robots of the daemon before each tick.
    pub place: Option<Place>,
}

/// Why the loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All ticks are done.
    Done,
    /// It was asked to stop.
    Stopped,
    /// Another robot of the daemon has ended before its time.
    AnotherEnded,
    /// A deadline was missed under [`OverrunPolicy::Stop`].
    Overrun,
    /// The monotonic clock went back.
    ClockWentBack,
    /// These controllers were missing for too long; 0 for none.
    ControllerTimeout(ControllerNumbers),
    /// The plant stopped itself.
    PlantFailure(PlantFailure),
}
