//! Controllers that join a run, and leave it.

use serde::{Deserialize, Serialize};

use crate::{JointCommand, ModelReply, Refusal, Rejection, random_number};

/// What a controller wants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinRequest {
    /// Layout hash of the robot that is meant.
    pub layout_hash: u64,
    /// Hash of robot and scenario as far as they decide the physics; 0 for whichever there is.
    pub physics_hash: u64,
    /// The controller's session: a secret number that it draws when it starts, never 0. Every
    /// command carries it.
    pub session: u64,
    /// 0 required, 1 advisory, 2 observer.
    pub role: u8,
    /// Ticks between two states that it answers.
    pub period_ticks: u64,
    /// Remainder of their ticks by the period.
    pub phase_ticks: u64,
    /// From the state that it answers to the tick at which the answer applies.
    pub offset_ticks: u64,
    /// Its name: the same when it comes again.
    pub controller: String,
    /// Units that it reckons in: `SI`.
    pub units: String,
    /// Joints that it wants for itself, in any order.
    pub joints: Vec<String>,
}

impl JoinRequest {
    /// The request of a required controller that commands all joints of `model` and answers the
    /// state of every tick at that tick.
    #[must_use]
    pub fn new(model: &ModelReply, controller: &str) -> Self {
        Self {
            layout_hash: model.layout_hash,
            session: random_number(),
            period_ticks: 1,
            controller: controller.into(),
            units: "SI".into(),
            joints: model.joints.iter().map(|joint| joint.name.clone()).collect(),
            ..Self::default()
        }
    }
}

/// The answer: what it got.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JoinReply {
    /// 0 accepted, 1 refused, 2 busy: the same request may be accepted later.
    pub verdict: u8,
    /// 0 real time, 1 lockstep, 2 budgeted.
    pub mode: u8,
    /// Run number; every command carries it.
    pub run_id: u32,
    /// The number by which its session is published; 0 for an observer.
    pub session: u64,
    /// The first state that it answers.
    pub first_tick: u64,
    /// Set-points in force until its first command applies, in the model's order, which is that of
    /// its commands.
    pub in_force: Vec<JointCommand>,
    /// Otherwise: what is wrong, with what was expected and what came.
    pub reason: String,
}

impl From<Refusal> for JoinReply {
    /// The answer that changes nothing.
    fn from(refusal: Refusal) -> Self {
        let verdict = if refusal.reason == Rejection::QueueFull { 2 } else { 1 };
        Self { verdict, reason: refusal.text, ..Self::default() }
    }
}

/// What `leave` is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaveRequest {
    /// The secret session of the controller that leaves.
    pub session: u64,
}
