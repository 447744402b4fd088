//! The readings of one tick, for the loop to hand over.

use hardstand_protocol::{ContactsReading, StateReading};

/// The readings of one tick, filled in place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// State.
    pub state: StateReading,
    /// Contacts.
    pub contacts: ContactsReading,
    /// `kp` and `kd` that each drive obeyed in this tick: a damped one has only the watchdog's.
    /// N·m/rad and N·m·s/rad, or N/m and N·s/m. In no message of the bus's own.
    pub gains: Vec<[f64; 2]>,
    /// A controller answers this state: it is published, however rarely states are.
    pub asked: bool,
    /// The state has been published before; a controller has not answered it. The rest is void.
    pub again: bool,
}

impl Snapshot {
    /// Copies without allocating; both have been filled by the same plant.
    pub fn copy_from(&mut self, o: &Self) {
        // a derived `clone_from` would allocate; a `Vec`'s own keeps its memory
        self.state.copy_from(&o.state);
        self.contacts.copy_from(&o.contacts);
        self.gains.clone_from(&o.gains);
        (self.asked, self.again) = (o.asked, o.again);
    }
}
