//! Numbers with names. The generator of the header reads literals only, so those of the protocol
//! are compared with it below.

use hardstand_protocol::{Authority, Mode, Phase, Role};

/// The version of this interface. It changes when a program must be compiled again.
pub const HARDSTAND_ABI_VERSION: u32 = 1;

/// Done. The results are those of the exit codes of `hardstand`.
pub const HARDSTAND_OK: i32 = 0;
/// No state or event came within the patience, and the daemon is connected. Not an error.
pub const HARDSTAND_NONE: i32 = 1;
/// An argument, a file of credentials, a join or an order was refused.
pub const HARDSTAND_REFUSED: i32 = 2;
/// A log is incomplete. No function of this version gives it.
pub const HARDSTAND_INCOMPLETE: i32 = 3;
/// Real-time rights were refused. No function of this version gives it.
pub const HARDSTAND_REAL_TIME: i32 = 4;
/// The daemon does not answer, the connection is closed, or the daemon is too busy.
pub const HARDSTAND_BUS: i32 = 5;
/// A defect of this library.
pub const HARDSTAND_INTERNAL: i32 = 70;

/// `mode`: ticks do not wait for controllers.
pub const HARDSTAND_MODE_REAL_TIME: u8 = 0;
/// `mode`: ticks wait for the answers of required controllers.
pub const HARDSTAND_MODE_LOCKSTEP: u8 = 1;
/// `mode`: ticks wait for a limited time.
pub const HARDSTAND_MODE_BUDGETED: u8 = 2;

/// `phase`: the daemon waits for a controller.
pub const HARDSTAND_PHASE_WAITING: u8 = 0;
/// `phase`: ticks run.
pub const HARDSTAND_PHASE_RUNNING: u8 = 1;
/// `phase`: a plant failure has stopped the run.
pub const HARDSTAND_PHASE_FAILED: u8 = 2;
/// `phase`: paused.
pub const HARDSTAND_PHASE_PAUSED: u8 = 3;

/// `authority`: the drives make no effort.
pub const HARDSTAND_AUTHORITY_ZERO: u8 = 0;
/// `authority`: the drives obey a command that came for this tick.
pub const HARDSTAND_AUTHORITY_FRESH: u8 = 1;
/// `authority`: the drives hold the last command.
pub const HARDSTAND_AUTHORITY_HELD: u8 = 2;
/// `authority`: the joints are damped.
pub const HARDSTAND_AUTHORITY_DAMPED: u8 = 3;
/// `authority`: emergency stop.
pub const HARDSTAND_AUTHORITY_STOPPED: u8 = 4;

/// `role`: in lockstep, ticks wait for this controller.
pub const HARDSTAND_ROLE_REQUIRED: u32 = 0;
/// `role`: its commands are used if they are there.
pub const HARDSTAND_ROLE_ADVISORY: u32 = 1;
/// `role`: has no joints, and answers nothing.
pub const HARDSTAND_ROLE_OBSERVER: u32 = 2;

/// `scope` of friction: all stations.
pub const HARDSTAND_SCOPE_ALL: u32 = 0;
/// `scope` of friction: the station with this index.
pub const HARDSTAND_SCOPE_STATION: u32 = 1;
/// `scope` of friction: the foot with this index.
pub const HARDSTAND_SCOPE_FOOT: u32 = 2;
/// `scope` of friction: the region of the ground with this index.
pub const HARDSTAND_SCOPE_REGION: u32 = 3;

/// `answers_tick` of a state without a command in force.
pub const HARDSTAND_NO_TICK: u64 = u64::MAX;

const _: () = {
    assert!(HARDSTAND_MODE_REAL_TIME == Mode::RealTime.code());
    assert!(HARDSTAND_MODE_LOCKSTEP == Mode::Lockstep.code());
    assert!(HARDSTAND_MODE_BUDGETED == Mode::Budgeted.code());
    assert!(HARDSTAND_PHASE_WAITING == Phase::Waiting.code());
    assert!(HARDSTAND_PHASE_RUNNING == Phase::Running.code());
    assert!(HARDSTAND_PHASE_FAILED == Phase::Failed.code());
    assert!(HARDSTAND_PHASE_PAUSED == Phase::Paused.code());
    assert!(HARDSTAND_AUTHORITY_ZERO == Authority::Zero.code());
    assert!(HARDSTAND_AUTHORITY_FRESH == Authority::Fresh.code());
    assert!(HARDSTAND_AUTHORITY_HELD == Authority::Held.code());
    assert!(HARDSTAND_AUTHORITY_DAMPED == Authority::Damped.code());
    assert!(HARDSTAND_AUTHORITY_STOPPED == Authority::Stopped.code());
    assert!(HARDSTAND_ROLE_REQUIRED == Role::Required.code() as u32);
    assert!(HARDSTAND_ROLE_ADVISORY == Role::Advisory.code() as u32);
    assert!(HARDSTAND_ROLE_OBSERVER == Role::Observer.code() as u32);
};
