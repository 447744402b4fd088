//! Payloads, keys and codec of Hardstand's bus and log, and the numbers by which they are written.
//!
//! A message is a four-byte header and a struct in bincode. The header holds the bytes `H`, `S`,
//! the protocol [`VERSION`] and the [`Kind`]. The fields follow in order, fixed-width
//! little-endian, without padding: `u8`, `u32`, `u64`, `f64` as they are, arrays without a length,
//! `Vec` and `String` as a `u64` count and the elements, `Option` as one byte and the value, an
//! enum as one byte, its number, and the fields of the variant. `docs/protocol.md` lists every
//! field with its offset.
//!
//! Every enum that is sent, logged or kept in a state has its numbers written down beside its
//! variants. There is one numbering for each notion, and no number depends on the order of a
//! declaration.

#[macro_use]
mod numbered;

mod authority;
mod bodies;
mod claim;
mod codec;
mod command;
mod control;
mod description;
mod drive_reading;
mod endpoint;
mod event;
mod event_message;
mod fault;
mod fault_request;
mod fault_table;
mod friction;
mod join;
mod keys;
mod kind;
mod lease;
pub mod limits;
mod log;
mod order;
mod phase;
mod reading;
mod rejection;
mod sensor_reading;
mod session;
mod status;

pub use authority::{Authority, PlantFailure};
pub use bodies::{BodiesReading, BodyReading, TouchReading};
pub use claim::{ClaimedCommand, decode_command, encode_command};
pub use codec::{
    HEADER_BYTES, VERSION, decode, decode_body, decode_order, encode, encode_order, other_version,
};
pub use command::{Command, JointCommand, TickInput, check_joints, refused_set_point};
pub use control::{
    ConstraintRequest, ControlRequest, PushRequest, SavedState, SpeedRequest, VelocityCommand,
};
pub use description::{
    BodyDescription, ConstraintDescription, FootDescription, FrameDescription, GroundReply,
    HoldGains, JointDescription, MeshDescription, ModelReply, PoseDescription, RegionDescription,
    ShapeDescription, StationDescription, SurfaceDescription,
};
pub use drive_reading::{DriveReading, DrivesReading};
pub use endpoint::{ENDPOINT, is_endpoint, is_user_name};
pub use event::{Event, Scope};
pub use event_message::EventReading;
pub use fault::{FaultError, FaultKind, InjectedFault, Part, UNTIL_CLEARED};
pub use fault_request::{ClearFaultsRequest, FaultRequest};
pub use fault_table::{FaultSpec, Parameter, Place};
pub use friction::{AnchorsRequest, FrictionRequest};
pub use join::{JoinReply, JoinRequest, LeaveRequest};
pub use keys::{Keys, Order, is_exact};
pub use kind::Kind;
pub use lease::{
    CommandSchedule, Grant, Join, JointSet, ROBOT_NAME, Role, SCHEDULE_TICKS_MAX,
    controller_number, is_controller_name, is_name_char, is_robot_name,
};
pub use log::{CandidateRecord, Keyframe, LogLink, LogTick};
pub use order::{OrderHead, OrderReply, Refusal};
pub use phase::{Mode, Phase};
pub use reading::{
    ConstraintReading, ContactsReading, FootReading, JointReading, OwnerReading, StateReading,
    StationReading, ViewReading,
};
pub use rejection::{Rejection, Verdict};
pub use sensor_reading::{FootSensorReading, JointTruth, SensorsReading};
pub use session::{public_session, random_number};
pub use status::{
    AGE_EDGES_TICKS, ControllerReading, Counter, Distribution, LATENCY_EDGES_NS, StatusReading,
};
