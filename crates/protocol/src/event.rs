//! What happens to the robot, the ground and the leases at the start of a tick.
#![allow(non_snake_case, reason = "a name says the frame of a vector: B the body, W the world")]

use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{FaultKind, Grant, InjectedFault, Part, VelocityCommand};

/// What a friction change is for: the own coefficients of stations, or those of a region. On the
/// wire: its number, and the index or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "(u8, u32)", try_from = "(u8, u32)")]
pub enum Scope {
    /// Number 0: all stations. Regions that have coefficients keep theirs.
    All,
    /// Number 1: all contacts of the station with this index.
    Station(u32),
    /// Number 2: all contacts of the foot with this index.
    Foot(u32),
    /// Number 3: the region of the ground with this index, whatever touches it.
    Region(u32),
}

impl Scope {
    /// Its number and its index, or 0.
    #[must_use]
    pub const fn numbers(self) -> (u8, u32) {
        match self {
            Self::All => (0, 0),
            Self::Station(i) => (1, i),
            Self::Foot(i) => (2, i),
            Self::Region(i) => (3, i),
        }
    }
}

impl From<Scope> for (u8, u32) {
    fn from(scope: Scope) -> Self {
        scope.numbers()
    }
}

impl TryFrom<(u8, u32)> for Scope {
    type Error = &'static str;

    fn try_from(numbers: (u8, u32)) -> Result<Self, Self::Error> {
        match numbers {
            (0, 0) => Ok(Self::All),
            (1, i) => Ok(Self::Station(i)),
            (2, i) => Ok(Self::Foot(i)),
            (3, i) => Ok(Self::Region(i)),
            _ => Err("unknown number of a friction scope"),
        }
    }
}

/// Something that happens at the start of a tick. Events are part of the tick's input, so they are
/// logged and replayed like commands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// A constant force for some ticks.
    Push {
        /// Body that is pushed.
        body: u32,
        /// Point of attack in the body's frame, m.
        point_B: [f64; 3],
        /// Force in world axes, N.
        force_W: [f64; 3],
        /// Duration in ticks.
        ticks: u64,
    },
    /// New coefficients of friction.
    Friction {
        /// Whose coefficients.
        scope: Scope,
        /// Static coefficient, at least 0.
        mu_static: f64,
        /// Kinetic coefficient, at least 0.
        mu_kinetic: f64,
    },
    /// A controller joins.
    Grant(Grant),
    /// The controller with this session leaves.
    Leave {
        /// Session.
        session: u64,
    },
    /// Emergency stop: all joints are damped, and no command is obeyed.
    Stop,
    /// The emergency stop ends.
    Arm,
    /// A fault begins; one of the same kind on the same part gives way.
    InjectFault {
        /// The fault.
        fault: InjectedFault,
        /// Ticks in which it acts, at least 1; [`UNTIL_CLEARED`](crate::UNTIL_CLEARED) for no end.
        ticks: u64,
    },
    /// Faults end, pushes among them; of friction, the scenario's coefficients are back.
    ClearFaults {
        /// Faults of which kind; `None` for all.
        kind: Option<FaultKind>,
        /// Those of which part; `None` for all.
        part: Option<Part>,
    },
    /// Controllers that walk are asked for another velocity.
    Velocity(VelocityCommand),
    /// A constraint begins to act, or ends.
    Constraint {
        /// Its index in `model`.
        index: u32,
        /// Whether it acts from now on.
        active: bool,
    },
    /// The friction springs of stations begin anew where they touch now: their anchors are put
    /// under them.
    ResetAnchors {
        /// Which stations; a region means none.
        scope: Scope,
    },
    /// Another robot of the daemon touches this one: a force for one tick.
    Touch {
        /// Body that is touched.
        body: u32,
        /// Point of attack in the body's frame, m.
        point_B: [f64; 3],
        /// Force in world axes, N.
        force_W: [f64; 3],
    },
}

impl Event {
    /// Its number.
    #[must_use]
    pub const fn code(&self) -> u8 {
        match self {
            Self::Push { .. } => 0,
            Self::Friction { .. } => 1,
            Self::Grant(_) => 2,
            Self::Leave { .. } => 3,
            Self::Stop => 4,
            Self::Arm => 5,
            Self::InjectFault { .. } => 6,
            Self::ClearFaults { .. } => 7,
            Self::Velocity(_) => 8,
            Self::Constraint { .. } => 9,
            Self::ResetAnchors { .. } => 10,
            Self::Touch { .. } => 11,
        }
    }

    /// Its kind in a word.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Push { .. } => "push",
            Self::Friction { .. } => "friction",
            Self::Grant(_) => "join",
            Self::Leave { .. } => "leave",
            Self::Stop => "stop",
            Self::Arm => "arm",
            Self::InjectFault { .. } => "fault",
            Self::ClearFaults { .. } => "clear",
            Self::Velocity(_) => "cmd_vel",
            Self::Constraint { .. } => "constraint",
            Self::ResetAnchors { .. } => "anchors",
            Self::Touch { .. } => "touch",
        }
    }

    /// True if it is about who commands, and not about robot or ground.
    #[must_use]
    pub const fn is_of_leases(&self) -> bool {
        matches!(self, Self::Grant(_) | Self::Leave { .. } | Self::Stop | Self::Arm)
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let code = self.code();
        match *self {
            Self::Push { body, point_B, force_W, ticks } => {
                (code, (body, point_B, force_W, ticks)).serialize(s)
            }
            Self::Friction { scope, mu_static, mu_kinetic } => {
                (code, (scope, mu_static, mu_kinetic)).serialize(s)
            }
            Self::Grant(grant) => (code, grant).serialize(s),
            Self::Leave { session } => (code, session).serialize(s),
            Self::Stop | Self::Arm => (code, ()).serialize(s),
            Self::InjectFault { fault, ticks } => (code, (fault, ticks)).serialize(s),
            Self::ClearFaults { kind, part } => (code, (kind, part)).serialize(s),
            Self::Velocity(command) => (code, command).serialize(s),
            Self::Constraint { index, active } => (code, (index, active)).serialize(s),
            Self::ResetAnchors { scope } => (code, scope).serialize(s),
            Self::Touch { body, point_B, force_W } => (code, (body, point_B, force_W)).serialize(s),
        }
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_tuple(2, EventVisitor)
    }
}

struct EventVisitor;

impl<'de> Visitor<'de> for EventVisitor {
    type Value = Event;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the number of an event and its fields")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Event, A::Error> {
        fn fields<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(seq: &mut A) -> Result<T, A::Error> {
            seq.next_element()?.ok_or_else(|| Error::custom("an event ends early"))
        }
        let code: u8 = fields(&mut seq)?;
        match code {
            0 => {
                let (body, point_B, force_W, ticks) = fields(&mut seq)?;
                Ok(Event::Push { body, point_B, force_W, ticks })
            }
            1 => {
                let (scope, mu_static, mu_kinetic) = fields(&mut seq)?;
                Ok(Event::Friction { scope, mu_static, mu_kinetic })
            }
            2 => Ok(Event::Grant(fields(&mut seq)?)),
            3 => Ok(Event::Leave { session: fields(&mut seq)? }),
            4 => fields(&mut seq).map(|()| Event::Stop),
            5 => fields(&mut seq).map(|()| Event::Arm),
            6 => {
                let (fault, ticks) = fields(&mut seq)?;
                Ok(Event::InjectFault { fault, ticks })
            }
            7 => {
                let (kind, part) = fields(&mut seq)?;
                Ok(Event::ClearFaults { kind, part })
            }
            8 => Ok(Event::Velocity(fields(&mut seq)?)),
            9 => {
                let (index, active) = fields(&mut seq)?;
                Ok(Event::Constraint { index, active })
            }
            10 => Ok(Event::ResetAnchors { scope: fields(&mut seq)? }),
            11 => {
                let (body, point_B, force_W) = fields(&mut seq)?;
                Ok(Event::Touch { body, point_B, force_W })
            }
            other => Err(Error::custom(format_args!("{other} is no number of an event"))),
        }
    }
}
