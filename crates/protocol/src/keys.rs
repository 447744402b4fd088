//! Names of the keys.

use crate::Kind;

/// What a running daemon can be asked to do; each has a key of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Change coefficients of friction.
    Friction,
    /// Push a link.
    Push,
    /// Run no further tick.
    Pause,
    /// Run on.
    Resume,
    /// Run some ticks, then pause.
    Step,
    /// Run until a tick, then pause.
    RunUntil,
    /// Begin again, as the next run.
    Reset,
    /// Give the complete state.
    Snapshot,
    /// Go on from a state, as the next run.
    Restore,
    /// Pass more or less time per second.
    Speed,
    /// Emergency stop.
    Stop,
    /// End of the emergency stop.
    Arm,
    /// Let a controller in.
    Join,
    /// Let a controller go.
    Leave,
    /// Break something.
    Fault,
    /// End faults.
    ClearFaults,
    /// Ask controllers that walk for another velocity.
    Velocity,
    /// Let a constraint act, or not.
    Constraint,
    /// Put the anchors of friction springs under their stations.
    Anchors,
}

impl Order {
    /// True if the motion after it is another than the one recorded without it.
    #[must_use]
    pub const fn changes_the_run(self) -> bool {
        match self {
            Self::Pause
            | Self::Resume
            | Self::Step
            | Self::RunUntil
            | Self::Snapshot
            | Self::Speed
            | Self::Join
            | Self::Leave => false,
            Self::Friction
            | Self::Push
            | Self::Reset
            | Self::Restore
            | Self::Stop
            | Self::Arm
            | Self::Fault
            | Self::ClearFaults
            | Self::Velocity
            | Self::Constraint
            | Self::Anchors => true,
        }
    }

    /// All of them.
    pub const ALL: [Self; 19] = [
        Self::Friction,
        Self::Push,
        Self::Pause,
        Self::Resume,
        Self::Step,
        Self::RunUntil,
        Self::Reset,
        Self::Snapshot,
        Self::Restore,
        Self::Speed,
        Self::Stop,
        Self::Arm,
        Self::Join,
        Self::Leave,
        Self::Fault,
        Self::ClearFaults,
        Self::Velocity,
        Self::Constraint,
        Self::Anchors,
    ];

    /// Of these, what a controller may ask for.
    pub const OF_CONTROLLERS: [Self; 4] = [Self::Stop, Self::Join, Self::Leave, Self::Velocity];

    /// The kind of its message.
    #[must_use]
    pub const fn kind(self) -> Kind {
        match self {
            Self::Friction => Kind::Friction,
            Self::Push => Kind::Push,
            Self::Pause
            | Self::Resume
            | Self::Step
            | Self::RunUntil
            | Self::Reset
            | Self::Snapshot
            | Self::Stop
            | Self::Arm => Kind::Control,
            Self::Restore => Kind::SavedState,
            Self::Speed => Kind::Speed,
            Self::Join => Kind::Join,
            Self::Leave => Kind::Leave,
            Self::Fault => Kind::Fault,
            Self::ClearFaults => Kind::ClearFaults,
            Self::Velocity => Kind::Velocity,
            Self::Constraint => Kind::Constraint,
            Self::Anchors => Kind::Anchors,
        }
    }

    /// The last part of its key.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Friction => "friction",
            Self::Push => "push",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Step => "step",
            Self::RunUntil => "run_until",
            Self::Reset => "reset",
            Self::Snapshot => "snapshot",
            Self::Restore => "restore",
            Self::Speed => "speed",
            Self::Stop => "stop",
            Self::Arm => "arm",
            Self::Join => "join",
            Self::Leave => "leave",
            Self::Fault => "fault",
            Self::ClearFaults => "clear",
            Self::Velocity => "cmd_vel",
            Self::Constraint => "constraint",
            Self::Anchors => "anchors",
        }
    }
}

/// True if a key expression names one key, and is no pattern of keys. Only such a message is an
/// order or a command: tools send patterns to find out what there is.
///
/// ```
/// use hardstand_protocol::is_exact;
/// assert!(is_exact("hardstand/robot/pause"));
/// assert!(!is_exact("hardstand/*/pause") && !is_exact("**") && !is_exact("hardstand/s$*"));
/// ```
#[must_use]
pub fn is_exact(key_expression: &str) -> bool {
    !key_expression.contains('*')
}

/// The keys of one robot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    /// What all of them begin with.
    pub root: String,
    /// States.
    pub state: String,
    /// Of the states, those that a controller may have to answer.
    pub due_state: String,
    /// Contacts.
    pub contacts: String,
    /// Drives that are not ideal.
    pub drives: String,
    /// The truth beside sensors with errors.
    pub sensors: String,
    /// Free bodies, and points where shapes touch.
    pub bodies: String,
    /// Views, for people to look at.
    pub view: String,
    /// Orders, in the order of [`Order::ALL`].
    pub orders: [String; Order::ALL.len()],
    /// Commands.
    pub cmd: String,
    /// Status.
    pub status: String,
    /// What happens.
    pub events: String,
    /// Description.
    pub model: String,
    /// Robot description file.
    pub urdf: String,
    /// Triangles of the ground.
    pub ground: String,
}

impl Keys {
    /// Keys under `hardstand/<robot>/`.
    #[must_use]
    pub fn of(robot: &str) -> Self {
        let key = |name: &str| format!("hardstand/{robot}/{name}");
        Self {
            root: format!("hardstand/{robot}"),
            state: key("state"),
            due_state: key("state/due"),
            contacts: key("contacts"),
            drives: key("drives"),
            sensors: key("sensors"),
            bodies: key("bodies"),
            view: key("view"),
            orders: Order::ALL.map(|ask| key(ask.name())),
            cmd: key("cmd"),
            status: key("status"),
            events: key("events"),
            model: key("model"),
            urdf: key("model/urdf"),
            ground: key("model/ground"),
        }
    }

    /// The key of [`Order::ClearFaults`] before version 5 of the protocol.
    #[must_use]
    pub fn clear_before_v5(&self) -> String {
        format!("{}/mend", self.root)
    }

    /// The key of a controller's liveliness token; `session` is the public number of its session,
    /// 16 hexadecimal digits.
    #[must_use]
    pub fn alive(&self, session: &str) -> String {
        format!("{}/alive/{session}", self.root)
    }

    /// The key of an order.
    #[must_use]
    pub fn order(&self, ask: Order) -> &str {
        &self.orders[ask as usize]
    }
}
