//! The payloads of bus and log: a four-byte header, then a struct in bincode.
//!
//! Header: the bytes `H`, `S`, the protocol [`VERSION`], the [`Kind`]. Then the fields in order,
//! fixed-width little-endian, nothing padded: `u8`, `u32`, `u64`, `f64` as they are, arrays without
//! a length, `Vec` and `String` as a `u64` count and the elements, `Option` as one byte and the
//! value, an enum as one byte, its number, and its fields. `docs/protocol.md` lists every field
//! with its offset.

mod arrivals;
mod command;
mod control;
mod controller_registry;
mod description;
mod event;
mod fault;
mod friction;
mod ingress;
mod join;
mod order;
mod status;

pub use arrivals::ArrivalCounters;
pub use command::{
    ClaimedCommand, CommandLimits, check_command, decode_command, encode_command, new_session,
};
pub use control::{
    ControlRequest, PushRequest, SavedState, check_control, check_push, check_saved,
};
pub use controller_registry::{ControllerReading, ControllerRegistry};
pub use description::{
    FootDescription, FrameDescription, JointDescription, ModelReply, PoseDescription,
    RegionDescription, StationDescription, SurfaceDescription,
};
pub use event::EventReading;
pub use fault::{ClearFaultsRequest, FaultRequest, check_fault, check_mend};
pub use friction::{FrictionLimits, FrictionRequest, check_friction};
pub use ingress::CommandIngress;
pub use join::{
    JoinReply, JoinRequest, LeaveRequest, SpeedRequest, check_join, check_leave, check_speed,
};
pub use order::{OrderReply, Refusal};
pub use status::{AGE_EDGES_TICKS, Counter, Distribution, LATENCY_EDGES_NS, StatusReading};

use bincode::config::{Configuration, Fixint, Limit, LittleEndian};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::limits::MESSAGE_BYTES_MAX;
use hardstand_error::{Error, ErrorKind, Result};

/// Version of the protocol: changes when the layout of any payload changes.
pub const VERSION: u8 = 4;
/// Bytes before the payload.
pub const HEADER_BYTES: usize = 4;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// [`StateReading`](hardstand_physics::plant::StateReading).
    State = 1,
    /// [`ContactsReading`](hardstand_physics::plant::ContactsReading).
    Contacts = 2,
    /// [`Command`](hardstand_physics::plant::Command), preceded by layout hash and run_id.
    Command = 3,
    /// [`StatusReading`].
    Status = 4,
    /// [`ModelReply`].
    Model = 5,
    /// One tick of a log.
    LogTick = 6,
    /// A keyframe of a log.
    Keyframe = 7,
    /// [`FrictionRequest`].
    Friction = 8,
    /// [`OrderReply`].
    OrderReply = 9,
    /// [`ControlRequest`].
    Control = 10,
    /// [`PushRequest`].
    Push = 11,
    /// [`SavedState`].
    SavedState = 12,
    /// [`JoinRequest`].
    Join = 13,
    /// [`JoinReply`].
    JoinReply = 14,
    /// [`LeaveRequest`].
    Leave = 15,
    /// [`SpeedRequest`].
    Speed = 16,
    /// [`EventReading`].
    Event = 17,
    /// [`FaultRequest`].
    Fault = 20,
    /// [`ClearFaultsRequest`].
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

    const fn header(self) -> [u8; HEADER_BYTES] {
        [b'H', b'S', VERSION, self as u8]
    }
}

/// Without the limit a forged length would make the decoder ask for terabytes and abort.
type Wire = Configuration<LittleEndian, Fixint, Limit<DECODE_BYTES_MAX>>;
/// Keyframes are larger than bus messages, but bounded too.
const DECODE_BYTES_MAX: usize = 4 << 20;
const WIRE: Wire = bincode::config::standard()
    .with_little_endian()
    .with_fixed_int_encoding()
    .with_limit::<DECODE_BYTES_MAX>();

/// Encodes a message into `out`, which is cleared first. It does not allocate once `out` is large
/// enough.
///
/// # Errors
/// [`ErrorKind::Internal`] if the value cannot be encoded; none of this crate's payloads do that.
pub fn encode<T: Serialize>(kind: Kind, value: &T, out: &mut Vec<u8>) -> Result<()> {
    out.clear();
    out.extend_from_slice(&kind.header());
    bincode::serde::encode_into_std_write(value, out, WIRE)
        .map_err(|e| Error::new(ErrorKind::Internal, format!("encoding {}: {e}", kind.schema())))?;
    Ok(())
}

/// Decodes a message of the given kind, all of it.
///
/// # Errors
/// [`ErrorKind::Log`] if header, size or contents are wrong. Nothing large is allocated before the
/// lengths are checked.
pub fn decode<T: DeserializeOwned>(kind: Kind, bytes: &[u8]) -> Result<T> {
    let wrong = |what: String| Error::new(ErrorKind::Log, format!("{}: {what}", kind.schema()));
    let Some(body) = bytes.strip_prefix(&kind.header()) else {
        let got = bytes.get(..HEADER_BYTES).unwrap_or(bytes);
        return Err(wrong(format!("header is {got:02x?}; expected {:02x?}", kind.header())));
    };
    let (value, used) = bincode::serde::decode_from_slice(body, WIRE)
        .map_err(|e| wrong(format!("does not decode ({e})")))?;
    if used != body.len() {
        return Err(wrong(format!("has {} bytes after its end", body.len() - used)));
    }
    Ok(value)
}

const _: () = assert!(MESSAGE_BYTES_MAX <= DECODE_BYTES_MAX);
