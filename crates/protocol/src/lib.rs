//! Payloads, keys and codec of the bus and the log.
//!
//! A message is a four-byte header and a struct in bincode. The header holds the bytes `H`, `S`,
//! the protocol [`VERSION`] and the [`Kind`]. The fields follow in order, fixed-width
//! little-endian, without padding: `u8`, `u32`, `u64`, `f64` as they are, arrays without a length,
//! `Vec` and `String` as a `u64` count and the elements, `Option` as one byte and the value, an
//! enum as a `u32` and its fields. `docs/protocol.md` lists every field with its offset.

mod codec;
mod control;
mod description;
mod event_message;
mod fault_request;
mod join;
mod keys;
mod kind;
pub mod limits;
mod order;
mod status;

pub use codec::{HEADER_BYTES, VERSION, decode, encode};
pub use control::{ControlRequest, PushRequest, SavedState, SpeedRequest};
pub use description::{
    FootDescription, FrameDescription, JointDescription, ModelReply, PoseDescription,
    RegionDescription, StationDescription, SurfaceDescription,
};
pub use event_message::EventReading;
pub use fault_request::{ClearFaultsRequest, FaultRequest};
pub use join::{JoinRequest, LeaveRequest};
pub use keys::{Ask, Keys};
pub use kind::Kind;
pub use order::OrderReply;
pub use status::{
    AGE_EDGES_TICKS, ControllerReading, Counter, Distribution, LATENCY_EDGES_NS, StatusReading,
};
