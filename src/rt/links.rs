//! What the loop is told and what it is connected to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};

use crossbeam_channel::Sender;

use crate::handover::{Inbox, Outbox};
use crate::plant::{Command, Fault, Snapshot};

use super::OverrunPolicy;
use super::order_line::OrderInbox;
use super::records::{LogTick, TickReport};

/// How time passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// One tick per period of wall time.
    RealTime(OverrunPolicy),
    /// As fast as the machine allows. Nothing is dropped: the loop waits for the recorder.
    Free,
}

impl Pace {
    /// Number on the wire: 0 real time, 1 free.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::RealTime(_) => 0,
            Self::Free => 1,
        }
    }
}

/// When simulated time begins to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartRule {
    /// When a controller has proved that it lives; until then the initial state is published.
    OnController,
    /// At once.
    Now,
}

/// How far to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLimits {
    /// Ticks to run; `None` for no end.
    pub ticks: Option<u64>,
    /// When to begin.
    pub start: StartRule,
    /// A keyframe goes into the log every so many ticks.
    pub keyframe_every_ticks: u64,
    /// Run number at the start.
    pub epoch: u32,
}

/// Everything the loop is connected to.
#[derive(Debug)]
pub struct Links {
    /// Checked commands.
    pub commands: Inbox<Command>,
    /// Checked orders from outside.
    pub orders: OrderInbox,
    /// The run number, for those who check commands.
    pub epoch: Arc<AtomicU32>,
    /// Snapshots for the publisher: dropped and counted if it has not kept up.
    pub snapshots: Outbox<Snapshot>,
    /// Ticks for the recorder, if there is one.
    pub log: Option<Outbox<LogTick>>,
    /// Reports for the monitor.
    pub reports: Sender<TickReport>,
    /// Asks the loop to end.
    pub stop: Arc<AtomicBool>,
}

/// Why the loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All ticks are done.
    Done,
    /// It was asked to stop.
    Stopped,
    /// A deadline was missed under [`OverrunPolicy::Stop`].
    Overrun,
    /// The monotonic clock went back.
    ClockWentBack,
    /// The plant stopped itself.
    Fault(Fault),
}
