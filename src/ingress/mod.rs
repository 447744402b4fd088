//! From what arrives on the bus to what the loop takes: payloads are checked against the robot, the
//! run and the limits, and become commands, events and orders.

mod arrivals;
mod command;
mod command_ingress;
mod control;
mod controller_registry;
mod fault;
mod friction;
mod join;
mod joined_sessions;
mod order;
mod saved;

pub use arrivals::{ArrivalCounters, RefusedCommand};
pub use command::{CommandLimits, check_command};
pub use command_ingress::CommandIngress;
pub use control::{check_constraint, check_control, check_push, check_velocity};
pub use controller_registry::ControllerRegistry;
pub use fault::{check_clear_faults, check_fault};
pub use friction::{FrictionLimits, check_anchors, check_friction};
pub use join::{CheckedJoin, check_join, check_leave, check_speed};
pub use joined_sessions::{JoinedSessions, RejectedCommands};
pub use order::{AcceptedOrder, OrderLimits, check_head};
pub use saved::{Present, check_origin, check_saved, restored, save};
