//! The Rust client of a Hardstand daemon, for controllers, which command the robot, and operators,
//! which change the run.
//!
//! A controller joins, and answers states. In lockstep it gets each state of its schedule, and the
//! daemon waits for the answer, so a run does not depend on the speed of the machine. In real time
//! it gets the newest state. After a reset or a loss it joins again by itself. This one holds the
//! initial joint positions, in a daemon started with `hardstand run config/quadruped.toml`, with or
//! without `--mode lockstep --pace free`:
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use hardstand_client::{Client, JoinRequest};
//!
//! fn main() -> hardstand_client::Result<()> {
//!     let client = Client::connect("tcp/127.0.0.1:7447", "quadruped")?;
//!     let model = client.model(Duration::from_secs(30))?;
//!     let mut controller = client.join(JoinRequest::new(&model, "legs"), Duration::from_secs(5))?;
//!     let commands = model.hold(); // effort: tau_ff + kp (q − q_now) + kd (dq − dq_now)
//!     while let Some(state) = controller.next_state(Duration::from_secs(5))? {
//!         controller.answer(&state, &commands)?;
//!     }
//!     Ok(())
//! }
//! ```
//!
//! Without joining, [`Client::control`] gives a [`Controller`], which takes the newest state and
//! sends commands that apply as soon as they arrive. Operators use the methods of [`Client`]:
//! [`steer`](Client::steer) for pause, step and reset, [`push`](Client::push),
//! [`fault`](Client::fault), [`snapshot`](Client::snapshot) and others. [`Client::status`] and
//! [`Client::events`] report on a run.

mod client;
mod controller;
mod credentials;
mod joined;
mod operator;
pub mod secrets;
pub mod session;

pub use client::{Client, Events, Views};
pub use controller::Controller;
pub use credentials::{Credentials, TlsFiles};
pub use joined::JoinedController;

pub use hardstand_error::{Error, ErrorKind, Result};
pub use hardstand_protocol::{
    ClearFaultsRequest, ControlRequest, EventReading, FaultRequest, JoinReply, JoinRequest,
    JointCommand, JointDescription, ModelReply, Order, PushRequest, SavedState, Scope,
    StateReading, StatusReading, VelocityCommand,
};
