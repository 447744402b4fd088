//! What an observer of a replay gets.

use crate::simulation::Leases;
use hardstand_protocol::LogTick;
use hardstand_protocol::{
    BodiesReading, ContactsReading, DrivesReading, JointCommand, SensorsReading, StateReading,
};

/// One tick of a log.
#[derive(Clone, Copy, Debug)]
pub struct TickView<'a> {
    /// What was applied in the tick.
    pub applied: &'a LogTick,
    /// State after it, as the log has it.
    pub state: &'a StateReading,
    /// Contacts after it, from the replay; none where the replay differs from the log.
    pub contacts: Option<&'a ContactsReading>,
    /// Free bodies and points that touch after it, likewise.
    pub bodies: Option<&'a BodiesReading>,
    /// Drives after it, likewise.
    pub drives: Option<&'a DrivesReading>,
    /// The truth beside sensors with errors after it, likewise; empty if there are none.
    pub sensors: Option<&'a SensorsReading>,
    /// `kp` and `kd` that each drive obeyed in it: N·m/rad and N·m·s/rad, or N/m and N·s/m.
    pub references: &'a [JointCommand],
    /// Set-points in force, per joint.
    pub command: &'a [JointCommand],
    /// Which controllers command which joints, after it.
    pub leases: &'a Leases,
}

/// Gets a tick, and returns true if it is the one that is searched for.
pub type Look<'a> = &'a (dyn Fn(&TickView<'_>) -> bool + Sync);
