//! The kinds of messages, with their numbers and the names of their schemas.

use crate::codec::{HEADER_BYTES, VERSION};

numbered! {
    /// What a message is.
    pub enum Kind {
        /// `StateReading`.
        State = 1, "State";
        /// `ContactsReading`.
        Contacts = 2, "Contacts";
        /// `Command`, preceded by layout hash and run id.
        Command = 3, "Command";
        /// `StatusReading`.
        Status = 4, "Status";
        /// `ModelReply`.
        Model = 5, "Model";
        /// One tick of a log.
        LogTick = 6, "LogTick";
        /// A keyframe of a log.
        Keyframe = 7, "Keyframe";
        /// `FrictionRequest`.
        Friction = 8, "Friction";
        /// `OrderReply`.
        OrderReply = 9, "OrderReply";
        /// `ControlRequest`.
        Control = 10, "Control";
        /// `PushRequest`.
        Push = 11, "Push";
        /// `SavedState`.
        SavedState = 12, "SavedState";
        /// `JoinRequest`.
        Join = 13, "Join";
        /// `JoinReply`.
        JoinReply = 14, "JoinReply";
        /// `LeaveRequest`.
        Leave = 15, "Leave";
        /// `SpeedRequest`.
        Speed = 16, "Speed";
        /// `EventReading`.
        Event = 17, "Event";
        /// `ViewReading`.
        View = 18, "View";
        /// `GroundReply`.
        Ground = 19, "Ground";
        /// `FaultRequest`.
        Fault = 20, "Fault";
        /// `ClearFaultsRequest`.
        ClearFaults = 21, "Clear";
        /// `VelocityCommand`.
        Velocity = 22, "Velocity";
        /// A link of a log's chain.
        LogLink = 23, "LogLink";
        /// `DrivesReading`.
        Drives = 24, "Drives";
        /// `BodiesReading`.
        Bodies = 25, "Bodies";
        /// `ConstraintRequest`.
        Constraint = 26, "Constraint";
        /// `SensorsReading`.
        Sensors = 27, "Sensors";
        /// `AnchorsRequest`.
        Anchors = 28, "Anchors";
    }
}

impl Kind {
    /// Name of the schema, as the zenoh encoding and the log give it.
    #[must_use]
    pub const fn schema(self) -> &'static str {
        match self {
            Self::State => "hardstand.State.v7",
            Self::Contacts => "hardstand.Contacts.v7",
            Self::Command => "hardstand.Command.v7",
            Self::Status => "hardstand.Status.v7",
            Self::Model => "hardstand.Model.v7",
            Self::LogTick => "hardstand.LogTick.v7",
            Self::Keyframe => "hardstand.Keyframe.v7",
            Self::Friction => "hardstand.Friction.v7",
            Self::OrderReply => "hardstand.OrderReply.v7",
            Self::Control => "hardstand.Control.v7",
            Self::Push => "hardstand.Push.v7",
            Self::SavedState => "hardstand.SavedState.v7",
            Self::Join => "hardstand.Join.v7",
            Self::JoinReply => "hardstand.JoinReply.v7",
            Self::Leave => "hardstand.Leave.v7",
            Self::Speed => "hardstand.Speed.v7",
            Self::Event => "hardstand.Event.v7",
            Self::View => "hardstand.View.v7",
            Self::Ground => "hardstand.Ground.v7",
            Self::Fault => "hardstand.Fault.v7",
            Self::ClearFaults => "hardstand.Clear.v7",
            Self::Velocity => "hardstand.Velocity.v7",
            Self::LogLink => "hardstand.LogLink.v7",
            Self::Drives => "hardstand.Drives.v7",
            Self::Constraint => "hardstand.Constraint.v7",
            Self::Bodies => "hardstand.Bodies.v7",
            Self::Sensors => "hardstand.Sensors.v7",
            Self::Anchors => "hardstand.Anchors.v7",
        }
    }

    /// The bytes before the payload.
    #[must_use]
    pub const fn header(self) -> [u8; HEADER_BYTES] {
        [b'H', b'S', VERSION, self.code()]
    }
}
