//! Faults on demand: what can break, and on which part of the robot.

use serde::{Deserialize, Serialize};

numbered! {
    /// What is to break. The number is that of docs/faults.md, of the log and of the state.
    pub enum FaultKind {
        /// Position and velocity of an encoder stay what they were.
        EncoderStuck = 1, "encoder_stuck";
        /// An encoder's zero has moved.
        EncoderOffset = 2, "encoder_offset";
        /// An encoder's zero moves at random ticks.
        EncoderJumping = 3, "encoder_jumping";
        /// An encoder is off by another amount in every tick.
        EncoderNoise = 4, "encoder_noise";
        /// A motor makes no effort.
        MotorDead = 5, "motor_dead";
        /// A motor makes a share of its largest effort.
        MotorDerated = 6, "motor_derated";
        /// A motor makes no more than so much effort.
        MotorSaturated = 7, "motor_saturated";
        /// All motors have a share of their effort and speed.
        BatterySag = 8, "battery_sag";
        /// The gyroscope is off.
        ImuGyroBias = 9, "imu_gyro_bias";
        /// The accelerometer is off.
        ImuAccelBias = 10, "imu_accel_bias";
        /// The unit shows no more than so much.
        ImuSaturated = 11, "imu_saturated";
        /// The unit's axes are exchanged.
        ImuAxesSwapped = 12, "imu_axes_swapped";
        /// What a foot's sensor shows stays what it was.
        FootSensorStuck = 13, "foot_sensor_stuck";
        /// A mass on a link.
        Payload = 14, "payload";
        /// Other coefficients of friction.
        Friction = 15, "friction";
        /// A force on a link. It is no [`InjectedFault`](InjectedFault), but an event of its own.
        Push = 16, "push";
        /// Commands are lost on their way.
        LinkDrop = 17, "link_drop";
        /// Commands come later.
        LinkDelay = 18, "link_delay";
        /// Commands come later, now more and now less, in their order.
        LinkJitter = 19, "link_jitter";
        /// Commands come after those that were sent after them.
        LinkReorder = 20, "link_reorder";
        /// Commands come twice.
        LinkDuplicate = 21, "link_duplicate";
        /// Commands wait for each other and come together.
        LinkBurst = 22, "link_burst";
        /// Commands have the set-points of one before.
        LinkStale = 23, "link_stale";
        /// One set-point of a command is NaN.
        LinkNan = 24, "link_nan";
        /// One bit of a command is reversed.
        LinkBitFlip = 25, "link_bit_flip";
        /// Frames to a drive on a motor bus are lost.
        BusLoss = 26, "bus_loss";
        /// Transmissions of a drive on a motor bus are destroyed.
        BusError = 27, "bus_error";
        /// A drive on a motor bus has a fault of its hardware.
        DriveError = 28, "drive_error";
        /// States are lost on their way.
        StateDrop = 29, "state_drop";
        /// States come later.
        StateDelay = 30, "state_delay";
        /// States come later, now more and now less, in their order.
        StateJitter = 31, "state_jitter";
        /// States come after those that were sent after them.
        StateReorder = 32, "state_reorder";
        /// States wait for each other and come together.
        StateBurst = 33, "state_burst";
    }
}

impl FaultKind {
    /// True if it affects the commands on their way.
    #[must_use]
    pub const fn is_of_link(self) -> bool {
        let code = self.code();
        Self::LinkDrop.code() <= code && code <= Self::LinkBitFlip.code()
    }

    /// True if it affects the states on their way.
    #[must_use]
    pub const fn is_of_states(self) -> bool {
        let code = self.code();
        Self::StateDrop.code() <= code && code <= Self::StateBurst.code()
    }

    /// True if it affects a drive on a motor bus, and nothing else.
    #[must_use]
    pub const fn is_of_bus(self) -> bool {
        let code = self.code();
        Self::BusLoss.code() <= code && code <= Self::DriveError.code()
    }
}

/// What a fault affects. On the wire: its number, and the index or 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "(u8, u32)", try_from = "(u8, u32)")]
pub enum Part {
    /// Number 0: the robot, all its joints, or all stations.
    #[default]
    Whole,
    /// Number 1: the joint with this index.
    Joint(u32),
    /// Number 2: the foot with this index.
    Foot(u32),
    /// Number 3: the body with this index.
    Body(u32),
    /// Number 4: the station with this index.
    Station(u32),
    /// Number 5: the region of the ground with this index.
    Region(u32),
}

impl Part {
    /// Its number, and the index or 0.
    #[must_use]
    pub const fn code(self) -> (u8, u32) {
        match self {
            Self::Whole => (0, 0),
            Self::Joint(i) => (1, i),
            Self::Foot(i) => (2, i),
            Self::Body(i) => (3, i),
            Self::Station(i) => (4, i),
            Self::Region(i) => (5, i),
        }
    }

    /// The part with this number and index, if there is one.
    #[must_use]
    pub const fn from_code(code: u8, index: u32) -> Option<Self> {
        match (code, index) {
            (0, 0) => Some(Self::Whole),
            (1, i) => Some(Self::Joint(i)),
            (2, i) => Some(Self::Foot(i)),
            (3, i) => Some(Self::Body(i)),
            (4, i) => Some(Self::Station(i)),
            (5, i) => Some(Self::Region(i)),
            _ => None,
        }
    }

    /// True if this is joint `i`, or all of them.
    #[must_use]
    pub const fn has_joint(self, i: usize) -> bool {
        match self {
            Self::Whole => true,
            Self::Joint(joint) => joint as usize == i,
            _ => false,
        }
    }
}

impl From<Part> for (u8, u32) {
    fn from(part: Part) -> Self {
        part.code()
    }
}

impl TryFrom<(u8, u32)> for Part {
    type Error = &'static str;

    fn try_from((code, index): (u8, u32)) -> Result<Self, Self::Error> {
        Self::from_code(code, index).ok_or("unknown number of a part")
    }
}

/// A fault on demand.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct InjectedFault {
    /// What is to break.
    pub kind: FaultKind,
    /// What it affects.
    pub part: Part,
    /// The numbers of its [`parameters`](crate::FaultSpec::parameters), the points of links in the
    /// frame of their body; the rest is 0.
    pub values: [f64; 4],
}

/// Ticks of a fault that lasts until it is cleared.
pub const UNTIL_CLEARED: u64 = u64::MAX;

/// A field of a request for a fault that is not as it must be.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultError {
    /// The field.
    pub field: String,
    /// The number that is not one of those that are allowed, if it is one number.
    pub value: Option<f64>,
    /// What it must be.
    pub allowed: String,
}

impl FaultError {
    /// `field` must be what `allowed` says.
    #[must_use]
    pub fn new(field: &str, allowed: impl Into<String>) -> Self {
        Self { field: field.into(), value: None, allowed: allowed.into() }
    }

    /// The same, and what it is.
    #[must_use]
    pub fn with_value(self, value: f64) -> Self {
        Self { value: Some(value), ..self }
    }
}
