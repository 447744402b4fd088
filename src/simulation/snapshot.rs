//! The readings of one tick, for the loop to hand over.

use hardstand_physics::sensor::ImuReading;
use hardstand_protocol::{
    BodiesReading, ContactsReading, DrivesReading, JointCommand, OwnerReading, PoseDescription,
    SensorsReading, StateReading,
};

/// The readings of one tick, filled in place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// State.
    pub state: StateReading,
    /// Contacts.
    pub contacts: ContactsReading,
    /// Drives; without joints if all are ideal.
    pub drives: DrivesReading,
    /// The truth beside sensors with errors; empty if there are none.
    pub sensors: SensorsReading,
    /// The second inertial measurement unit, if there is one: the truth.
    pub second_imu: Option<ImuReading>,
    /// Free bodies, and points where shapes touch.
    pub bodies: BodiesReading,
    /// What each drive obeyed in this tick: its command, if it is damped only the watchdog's `kd`,
    /// and zeros if it is released.
    pub references: Vec<JointCommand>,
    /// Poses of the surfaces that move, in their order.
    pub surfaces: Vec<PoseDescription>,
    /// Who commands each joint.
    pub owners: Vec<OwnerReading>,
    /// A controller answers this state: it is published, however rarely states are.
    pub asked: bool,
    /// In real time, while no controller has joined, and while a tick waits for one: any state may
    /// be what it needs.
    pub open: bool,
    /// The state has been published before and not been answered, or comes late. The rest is void.
    pub again: bool,
    /// Another state is sent right behind this one.
    pub followed: bool,
    /// A fault of the link keeps the state from the controllers; the rest is for all others.
    pub withheld: bool,
}

impl Snapshot {
    /// Copies without allocating; both have been filled by the same plant.
    pub fn copy_from(&mut self, o: &Self) {
        // a derived `clone_from` would allocate; a `Vec`'s own keeps its memory
        self.state.copy_from(&o.state);
        self.contacts.copy_from(&o.contacts);
        self.drives.copy_from(&o.drives);
        self.sensors.copy_from(&o.sensors);
        self.second_imu = o.second_imu;
        self.bodies.copy_from(&o.bodies);
        self.references.clone_from(&o.references);
        self.surfaces.clone_from(&o.surfaces);
        self.owners.clone_from(&o.owners);
        (self.asked, self.open, self.again) = (o.asked, o.open, o.again);
        (self.withheld, self.followed) = (o.withheld, o.followed);
    }
}
