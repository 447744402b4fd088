//! Control laws that do not know where they run.
//!
//! A [`ControlLaw`] turns a state into set-points. A [`Runner`] holds one and answers the states of
//! a run: those of a [`Link`], which is a connection over zenoh (`hardstand_client`'s
//! `JoinedController`, with the feature `bus`) or shared memory (`hardstand_port`), those of a
//! simulation in this process (`hardstand::simulation::Solo`), or those that Python passes
//! (`hardstand.Law`). In lockstep all four give the same digests.
//!
//! ```
//! use hardstand_controllers::{ControlLaw, Runner};
//! use hardstand_error::Result;
//! use hardstand_protocol::{JointCommand, JointDescription, ModelReply, StateReading};
//!
//! /// Damps the joints.
//! struct Damp {
//!     joints: Vec<String>,
//! }
//!
//! impl ControlLaw for Damp {
//!     fn joints(&self) -> &[String] {
//!         &self.joints
//!     }
//!     fn begin(&mut self, _first: &StateReading) {}
//!     fn step(&mut self, _state: &StateReading, commands: &mut [JointCommand]) -> Result<()> {
//!         commands.fill(JointCommand { kd: 2.0, ..JointCommand::default() });
//!         Ok(())
//!     }
//! }
//!
//! let knee = JointDescription { name: "knee".into(), ..JointDescription::default() };
//! let model = ModelReply { joints: vec![knee], ..ModelReply::default() };
//! let damp = Damp { joints: vec!["knee".into()] };
//! let mut runner = Runner::new(Box::new(damp), &model);
//! assert_eq!(runner.answer(&StateReading::default())?[0].kd, 2.0);
//! # Ok::<(), hardstand_error::Error>(())
//! ```

mod link;
mod policy_law;
mod rise;
mod runner;
mod stand;
mod trot_law;

pub use link::Link;
pub use policy_law::{PolicyLaw, read_policy, robot_facts};
pub use runner::Runner;
pub use stand::Stand;
pub use trot_law::TrotLaw;

use hardstand_error::Result;
use hardstand_protocol::{JointCommand, StateReading};

/// What turns states into set-points, without a clock, a thread or a connection. With the same
/// states it must write the same set-points.
///
/// It should read of a state what all ways carry: time, IMU, joints, feet, the velocity that is
/// asked for, and the truth about the base (docs/port.md).
pub trait ControlLaw: Send {
    /// Joints that it commands, in the model's order.
    fn joints(&self) -> &[String];

    /// Ticks between two states that it answers.
    fn period_ticks(&self) -> u64 {
        1
    }

    /// A run begins with this state, or the robot stands again after an emergency stop: what was
    /// remembered is forgotten.
    fn begin(&mut self, first: &StateReading);

    /// Writes the set-points of its joints.
    ///
    /// # Errors
    /// `ErrorKind::Input` or `Bus` with what makes an answer impossible. The run ends.
    fn step(&mut self, state: &StateReading, commands: &mut [JointCommand]) -> Result<()>;
}
