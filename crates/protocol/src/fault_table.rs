//! All faults that can be asked for, in one table: the list, the scenario, the command line and the
//! bus are made from it.

use crate::FaultKind;

/// What a fault can affect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// One joint.
    Joint,
    /// One joint, or all of them.
    Joints,
    /// One foot.
    Foot,
    /// One link.
    Link,
    /// A foot, a station, a region of the ground, or all stations.
    Ground,
    /// The robot as a whole.
    Robot,
    /// All commands on their way to the robot.
    Commands,
    /// All states on their way to the controllers.
    States,
}

impl Place {
    /// The words of which one can stand before a name.
    #[must_use]
    pub const fn words(self) -> &'static [&'static str] {
        match self {
            Self::Joint | Self::Joints => &["joint"],
            Self::Foot => &["foot"],
            Self::Link => &["link"],
            Self::Ground => &["foot", "station", "region"],
            Self::Robot | Self::Commands | Self::States => &[],
        }
    }

    /// True if a name must be given.
    #[must_use]
    pub const fn is_needed(self) -> bool {
        matches!(self, Self::Joint | Self::Foot | Self::Link)
    }
}

/// One number, or three, that a fault has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Key in a scenario; on the command line with dashes.
    pub name: &'static str,
    /// Unit, as the user reads it.
    pub unit: &'static str,
    /// How many numbers: 1 or 3.
    pub count: usize,
    /// Smallest and largest allowed.
    pub range: [f64; 2],
    /// True if only whole numbers are allowed.
    pub whole: bool,
    /// What it is if it is not given; without that, it must be.
    pub default: Option<f64>,
}

/// A kind of fault and what it needs.
#[derive(Clone, Copy, Debug)]
pub struct FaultSpec {
    /// The kind.
    pub kind: FaultKind,
    /// Its name in scenarios, on the command line and on the bus.
    pub name: &'static str,
    /// What it can affect.
    pub place: Place,
    /// Its numbers, in the order in which they are sent.
    pub parameters: &'static [Parameter],
    /// True if it must end after a given time; others may, or last until they are cleared.
    pub needs_duration: bool,
    /// What it does, in one line.
    pub what: &'static str,
    /// Arguments of a command that would work for the shipped quadruped.
    pub example: &'static str,
}

const fn number(name: &'static str, unit: &'static str, range: [f64; 2]) -> Parameter {
    Parameter { name, unit, count: 1, range, whole: false, default: None }
}

const fn vector(name: &'static str, unit: &'static str, range: [f64; 2]) -> Parameter {
    Parameter { count: 3, ..number(name, unit, range) }
}

/// What a double holds exactly.
const SEED_MAX: f64 = 9_007_199_254_740_992.0;
const SEED: Parameter =
    Parameter { whole: true, default: Some(0.0), ..number("seed", "", [0.0, SEED_MAX]) };
const AMPLITUDE: Parameter = number("amplitude", "rad or m", [0.0, 1e3]);
const SHARE: Parameter = number("share", "", [0.0, 1.0]);
const LENGTH: Parameter =
    Parameter { whole: true, default: Some(1.0), ..number("length", "commands", [1.0, 1e6]) };
const STATES: Parameter = Parameter { unit: "states", ..LENGTH };
const PROBABILITY: Parameter = number("probability", "", [0.0, 1.0]);
const TICKS_MAX: f64 = crate::limits::LINK_DELAY_TICKS_MAX as f64;
const DELAY: Parameter =
    Parameter { whole: true, ..number("delay_ticks", "ticks", [1.0, TICKS_MAX]) };
const CONDITION: Parameter = Parameter { whole: true, ..number("condition", "", [1.0, 6.0]) };
const MU: [f64; 2] = [0.0, crate::limits::FRICTION_MAX];
const POINT: Parameter = Parameter { default: Some(0.0), ..vector("point_m", "m", [-1e3, 1e3]) };

const fn row(
    kind: FaultKind,
    place: Place,
    parameters: &'static [Parameter],
    what: &'static str,
    example: &'static str,
) -> FaultSpec {
    FaultSpec { kind, name: kind.name(), place, parameters, needs_duration: false, what, example }
}

impl FaultKind {
    /// All of them with their parameters, in the order of their numbers.
    pub const TABLE: [FaultSpec; 33] = [
        row(
            Self::EncoderStuck,
            Place::Joint,
            &[],
            "position and velocity stay as last shown",
            "--joint FL_calf_joint --duration 0.5",
        ),
        row(
            Self::EncoderOffset,
            Place::Joints,
            &[number("offset", "rad or m", [-1e3, 1e3])],
            "shows this much more than there is: a jump",
            "--joint FL_calf_joint --offset 0.1",
        ),
        row(
            Self::EncoderJumping,
            Place::Joint,
            &[AMPLITUDE, number("rate_hz", "1/s", [0.0, 1e4]), SEED],
            "jumps at random ticks, on average rate_hz, to an offset within ± amplitude",
            "--joint FL_calf_joint --amplitude 0.1 --rate-hz 5 --seed 7",
        ),
        row(
            Self::EncoderNoise,
            Place::Joints,
            &[AMPLITUDE, SEED],
            "another error within ± amplitude in every tick, all equally likely",
            "--amplitude 0.002 --seed 7",
        ),
        row(
            Self::MotorDead,
            Place::Joints,
            &[],
            "makes no effort; the joint's own damping and friction stay",
            "--joint FR_thigh_joint --duration 0.2",
        ),
        row(
            Self::MotorDerated,
            Place::Joints,
            &[SHARE],
            "this share of its largest effort",
            "--joint FR_thigh_joint --share 0.5",
        ),
        row(
            Self::MotorSaturated,
            Place::Joints,
            &[number("effort_max", "N·m or N", [0.0, 1e6])],
            "makes at most this effort",
            "--joint FR_thigh_joint --effort-max 10",
        ),
        row(
            Self::BatterySag,
            Place::Robot,
            &[SHARE],
            "this share of largest effort and speed of all motors",
            "--share 0.8 --duration 3",
        ),
        row(
            Self::ImuGyroBias,
            Place::Robot,
            &[vector("bias_rad_per_s", "rad/s", [-1e3, 1e3])],
            "added to the angular velocity, in axes of the unit",
            "--bias-rad-per-s 0 0.05 0",
        ),
        row(
            Self::ImuAccelBias,
            Place::Robot,
            &[vector("bias_m_per_s2", "m/s²", [-1e4, 1e4])],
            "added to the specific force, in axes of the unit",
            "--bias-m-per-s2 0.3 0 0",
        ),
        row(
            Self::ImuSaturated,
            Place::Robot,
            &[
                number("gyro_max_rad_per_s", "rad/s", [0.0, 1e6]),
                number("accel_max_m_per_s2", "m/s²", [0.0, 1e6]),
            ],
            "no component beyond these",
            "--gyro-max-rad-per-s 4.4 --accel-max-m-per-s2 19.6",
        ),
        row(
            Self::ImuAxesSwapped,
            Place::Robot,
            &[Parameter { whole: true, ..vector("axes", "", [-3.0, 3.0]) }],
            "which axis (1 x, 2 y, 3 z, with a minus reversed) is shown as x, y and z",
            "--axes 2 1 3",
        ),
        row(
            Self::FootSensorStuck,
            Place::Foot,
            &[],
            "contact and normal force stay as last shown",
            "--foot FL --duration 1",
        ),
        row(
            Self::Payload,
            Place::Link,
            &[number("mass_kg", "kg", [0.0, 1e3]), POINT],
            "a mass at a point of a link, moving with it from the start",
            "--link trunk --mass-kg 3 --point-m 0 0 0.08",
        ),
        row(
            Self::Friction,
            Place::Ground,
            &[number("mu_static", "", MU), number("mu_kinetic", "", MU)],
            "other coefficients of friction; then the scenario's again",
            "--foot FL --mu-static 0.1 --mu-kinetic 0.05 --duration 0.5",
        ),
        FaultSpec {
            needs_duration: true,
            ..row(
                Self::Push,
                Place::Link,
                &[vector("force_n", "N", [-1e6, 1e6]), POINT],
                "a constant force in world axes at a point of a link",
                "--link trunk --force-n 0 60 0 --duration 0.15",
            )
        },
        row(
            Self::LinkDrop,
            Place::Commands,
            &[PROBABILITY, LENGTH, SEED],
            "commands are lost, `length` in a row",
            "--probability 0.03 --seed 7",
        ),
        row(
            Self::LinkDelay,
            Place::Commands,
            &[DELAY],
            "commands come so many ticks later",
            "--delay-ticks 5",
        ),
        row(
            Self::LinkJitter,
            Place::Commands,
            &[DELAY, SEED],
            "commands come 0 to delay_ticks ticks later, in their order",
            "--delay-ticks 4 --seed 7",
        ),
        row(
            Self::LinkReorder,
            Place::Commands,
            &[PROBABILITY, DELAY, SEED],
            "commands come so many ticks later, after those behind them",
            "--probability 0.1 --delay-ticks 2 --seed 7",
        ),
        row(
            Self::LinkDuplicate,
            Place::Commands,
            &[PROBABILITY, DELAY, SEED],
            "commands come, and so many ticks later once more",
            "--probability 0.1 --delay-ticks 1 --seed 7",
        ),
        row(
            Self::LinkBurst,
            Place::Commands,
            &[Parameter { name: "every_ticks", ..DELAY }],
            "commands wait, and come together every so many ticks",
            "--every-ticks 10",
        ),
        row(
            Self::LinkStale,
            Place::Commands,
            &[PROBABILITY, SEED],
            "commands have the set-points of the last one that was right",
            "--probability 0.2 --seed 7",
        ),
        row(
            Self::LinkNan,
            Place::Commands,
            &[PROBABILITY, SEED],
            "one number of a command is NaN",
            "--probability 0.01 --seed 7",
        ),
        row(
            Self::LinkBitFlip,
            Place::Commands,
            &[PROBABILITY, SEED],
            "one bit of a command is reversed",
            "--probability 0.01 --seed 7",
        ),
        row(
            Self::BusLoss,
            Place::Joints,
            &[SHARE],
            "this share of the frames to the drive is lost; at 1 its watchdog expires",
            "--joint FL_calf_joint --share 0.2",
        ),
        row(
            Self::BusError,
            Place::Joints,
            &[SHARE],
            "this share of the drive's frames is destroyed and repeated; many lead to bus-off",
            "--joint FL_calf_joint --share 0.2",
        ),
        row(
            Self::DriveError,
            Place::Joints,
            &[CONDITION],
            "the drive reports 1 over-voltage, 2 under-voltage, 3 over-current, 4 \
             over-temperature, 5 encoder, 6 gate driver",
            "--joint FL_calf_joint --condition 4",
        ),
        row(
            Self::StateDrop,
            Place::States,
            &[PROBABILITY, STATES, SEED],
            "states are lost, `length` in a row",
            "--probability 0.03 --seed 7",
        ),
        row(
            Self::StateDelay,
            Place::States,
            &[DELAY],
            "states come so many ticks later",
            "--delay-ticks 5",
        ),
        row(
            Self::StateJitter,
            Place::States,
            &[DELAY, SEED],
            "states come 0 to delay_ticks ticks later, in their order",
            "--delay-ticks 4 --seed 7",
        ),
        row(
            Self::StateReorder,
            Place::States,
            &[PROBABILITY, DELAY, SEED],
            "states come so many ticks later, after those behind them",
            "--probability 0.1 --delay-ticks 2 --seed 7",
        ),
        row(
            Self::StateBurst,
            Place::States,
            &[Parameter { name: "every_ticks", ..DELAY }],
            "states wait, and come together every so many ticks",
            "--every-ticks 10",
        ),
    ];

    /// Its row in the table.
    #[must_use]
    pub const fn row(self) -> &'static FaultSpec {
        const TABLE: &[FaultSpec] = &FaultKind::TABLE;
        &TABLE[self as usize - 1]
    }
}

impl FaultSpec {
    /// The row of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        const TABLE: &[FaultSpec] = &FaultKind::TABLE;
        TABLE.iter().find(|row| row.name == name)
    }

    /// How many numbers its parameters have in all.
    #[must_use]
    pub fn number_count(&self) -> usize {
        self.parameters.iter().map(|p| p.count).sum()
    }
}

impl Parameter {
    /// True if this may be one of its numbers. NaN fails every comparison.
    #[must_use]
    pub fn allows(&self, x: f64) -> bool {
        (self.range[0]..=self.range[1]).contains(&x) && !(self.whole && x != x.trunc())
    }

    /// What is allowed, in words.
    #[must_use]
    pub fn describe(&self) -> String {
        let [min, max] = self.range;
        let whole = if self.whole { "a whole number, " } else { "" };
        format!("{whole}{min} to {max}")
    }
}

const _: () = {
    let mut i = 0;
    while i < FaultKind::TABLE.len() {
        assert!(FaultKind::TABLE[i].kind as usize == i + 1);
        i += 1;
    }
};
