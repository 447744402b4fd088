//! What an observer of a replay sees.

use crate::rt::LogTick;
use hardstand_physics::plant::{ContactsReading, JointCommand, Leases, StateReading};

/// One tick of a log.
#[derive(Clone, Copy, Debug)]
pub struct TickView<'a> {
    /// What was applied in the tick.
    pub applied: &'a LogTick,
    /// State after it, as the log has it.
    pub state: &'a StateReading,
    /// Contacts after it, from the replay; none where the replay differs from the log.
    pub contacts: Option<&'a ContactsReading>,
    /// `kp` and `kd` that each drive obeyed in it: N·m/rad and N·m·s/rad, or N/m and N·s/m.
    pub gains: &'a [[f64; 2]],
    /// Set-points in force, per joint.
    pub command: &'a [JointCommand],
    /// Who commands which joints, after it.
    pub leases: &'a Leases,
}

/// Sees a tick, and says if that was the one that it has been looking for.
pub type Look<'a> = &'a (dyn Fn(&TickView<'_>) -> bool + Sync);

/// A tick of a log, by the state after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TickId {
    /// Run number.
    pub run_id: u32,
    /// Ticks done: the state after the tick has this number.
    pub tick: u64,
}
