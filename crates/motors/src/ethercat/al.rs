//! The states of a slave (AL): INIT, PREOP, SAFEOP, OP, and the codes of refused changes.

/// A state, as it is in the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum AlState {
    Init = 1,
    PreOp = 2,
    SafeOp = 4,
    Op = 8,
}

/// Why a state is not entered, or was left: the codes of register 0x0134.
pub(super) mod code {
    pub(in crate::ethercat) const INVALID_CHANGE: u16 = 0x0011;
    pub(in crate::ethercat) const UNKNOWN_STATE: u16 = 0x0012;
    pub(in crate::ethercat) const NO_BOOTSTRAP: u16 = 0x0013;
    pub(in crate::ethercat) const INVALID_MAILBOX: u16 = 0x0016;
    pub(in crate::ethercat) const WATCHDOG: u16 = 0x001b;
    pub(in crate::ethercat) const INVALID_OUTPUTS: u16 = 0x001d;
    pub(in crate::ethercat) const INVALID_INPUTS: u16 = 0x001e;
}

/// The state machine. Whether a setting fits is the slave's to say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Al {
    pub(super) state: AlState,
    /// The last change was refused, or an error led here; 0 if not.
    pub(super) code: u16,
    error: bool,
}

impl Al {
    pub(super) const fn new() -> Self {
        Self { state: AlState::Init, code: 0, error: false }
    }

    /// The value of register 0x0130.
    pub(super) fn status(&self) -> u16 {
        u16::from(self.state as u8) | u16::from(self.error) << 4
    }

    /// Leaves for `state` because of an error.
    pub(super) fn fall(&mut self, state: AlState, code: u16) {
        *self = Self { state, code, error: true };
    }

    /// The master has written `control`; `check` says what is wrong with the settings for a state.
    pub(super) fn request(&mut self, control: u16, check: impl Fn(AlState) -> Result<(), u16>) {
        if control & 0x10 != 0 {
            (self.error, self.code) = (false, 0);
        }
        let wanted = match control & 0xf {
            1 => AlState::Init,
            2 => AlState::PreOp,
            4 => AlState::SafeOp,
            8 => AlState::Op,
            3 => return self.fall(self.state, code::NO_BOOTSTRAP),
            _ => return self.fall(self.state, code::UNKNOWN_STATE),
        };
        if self.error && wanted > self.state {
            return; // an error is acknowledged first
        }
        let next_up = match self.state {
            AlState::Init => AlState::PreOp,
            AlState::PreOp => AlState::SafeOp,
            AlState::SafeOp | AlState::Op => AlState::Op,
        };
        if wanted > next_up {
            return self.fall(self.state, code::INVALID_CHANGE);
        }
        // what is held already, or below, needs no check but that it still fits
        match if wanted == AlState::Init { Ok(()) } else { check(wanted) } {
            Ok(()) => self.state = wanted,
            Err(code) => self.fall(self.state.min(wanted), code),
        }
    }
}
