//! The kinds of messages, with their numbers and the names of their schemas.

use crate::codec::{HEADER_BYTES, VERSION};

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `StateReading`.
    State = 1,
    /// `ContactsReading`.
    Contacts = 2,
    /// `Command`, preceded by layout hash and run_id.
    Command = 3,
    /// `StatusReading`.
    Status = 4,
    /// `ModelReply`.
    Model = 5,
    /// One tick of a log.
    LogTick = 6,
    /// A keyframe of a log.
    Keyframe = 7,
    /// `FrictionRequest`.
    Friction = 8,
    /// `OrderReply`.
    OrderReply = 9,
    /// `ControlRequest`.
    Control = 10,
    /// `PushRequest`.
    Push = 11,
    /// `SavedState`.
    SavedState = 12,
    /// `JoinRequest`.
    Join = 13,
    /// `JoinReply`.
    JoinReply = 14,
    /// `LeaveRequest`.
    Leave = 15,
    /// `SpeedRequest`.
    Speed = 16,
    /// `EventReading`.
    Event = 17,
    /// `FaultRequest`.
    Fault = 20,
    /// `ClearFaultsRequest`.
    ClearFaults = 21,
}

impl Kind {
    /// Name of the schema, as the zenoh encoding and the log give it.
    #[must_use]
    pub const fn schema(self) -> &'static str {
        match self {
            Self::State => "hardstand.State.v4",
            Self::Contacts => "hardstand.Contacts.v4",
            Self::Command => "hardstand.Command.v4",
            Self::Status => "hardstand.Status.v4",
            Self::Model => "hardstand.Model.v4",
            Self::LogTick => "hardstand.LogTick.v4",
            Self::Keyframe => "hardstand.Keyframe.v4",
            Self::Friction => "hardstand.Friction.v4",
            Self::OrderReply => "hardstand.OrderReply.v4",
            Self::Control => "hardstand.Control.v4",
            Self::Push => "hardstand.Push.v4",
            Self::SavedState => "hardstand.SavedState.v4",
            Self::Join => "hardstand.Join.v4",
            Self::JoinReply => "hardstand.JoinReply.v4",
            Self::Leave => "hardstand.Leave.v4",
            Self::Speed => "hardstand.Speed.v4",
            Self::Event => "hardstand.Event.v4",
            Self::Fault => "hardstand.Fault.v4",
            Self::ClearFaults => "hardstand.ClearFaults.v4",
        }
    }

    /// The bytes before the payload.
    #[must_use]
    pub const fn header(self) -> [u8; HEADER_BYTES] {
        [b'H', b'S', VERSION, self as u8]
    }
}
