//! From what arrives on the bus to what the loop takes: payloads are checked against the robot, the
//! run and the limits, and become commands, events and orders. The way back is [`describe`].

mod arrivals;
mod command;
mod command_ingress;
mod control;
mod controller_registry;
mod description;
mod fault;
mod friction;
mod join;
mod order;
mod saved;

pub use arrivals::ArrivalCounters;
pub use command::{
    ClaimedCommand, CommandLimits, check_command, decode_command, encode_command, new_session,
};
pub use command_ingress::CommandIngress;
pub use control::{check_control, check_push};
pub use controller_registry::ControllerRegistry;
pub use description::describe;
pub use fault::{check_clear_faults, check_fault};
pub use friction::{FrictionLimits, FrictionRequest, check_friction};
pub use join::{JoinReply, check_join, check_leave, check_speed};
pub use order::Refusal;
pub use saved::{check_saved, restored, save};
