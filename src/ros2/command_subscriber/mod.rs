//! Receives messages with commands, and follows a trajectory.

mod motions;
mod state;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::state::{State, owner};
use super::counters::{RosCounters, RosRejection};
use super::joined::Joined;
use super::messages::{
    DynamicJointState, Float64MultiArray, JointState, JointTrajectory, Message, Time,
};
use super::orders::{Orders, Refused};
use super::sessions::{Publisher, Sender};
use super::stamps::Stamps;
use crate::bus::Newest;
use crate::ingress::CommandIngress;
use hardstand_protocol::{ClaimedCommand, JointCommand, Rejection};

/// Topics of commands, in the order of their numbers.
pub const COMMAND_TOPICS: [&str; 5] = [
    "dynamic_joint_commands",
    "joint_commands",
    "forward_effort_controller/commands",
    "forward_position_controller/commands",
    "joint_trajectory_controller/joint_trajectory",
];
pub(in crate::ros2) const DYNAMIC: usize = 0;
pub(in crate::ros2) const JOINTS: usize = 1;
pub(in crate::ros2) const EFFORT: usize = 2;
pub(in crate::ros2) const POSITION: usize = 3;
pub(in crate::ros2) const TRAJECTORY: usize = 4;
/// Number of the topic of Unitree's commands.
pub(in crate::ros2) const LOW_CMD: usize = 5;
/// Number of the daemon's own postures, as if they came by a topic.
const POSTURE: usize = 6;
/// Number of the goals of the action.
const GOAL: usize = 7;
/// The answer to the first state comes again as often as that state was sent before the run began;
/// one that comes more often is a command without a stamp.
const FIRST_AGAIN_MAX: u32 = 20;

/// Decodes commands, maps them to the robot's joints and passes them to the command ingress. Shared
/// by all threads that receive messages.
pub struct CommandSubscriber {
    orders: Orders,
    stamps: Stamps,
    layout_hash: u64,
    ingress: CommandIngress,
    now: Box<dyn Fn() -> Newest + Send + Sync>,
    counters: Arc<RosCounters>,
    state: Mutex<State>,
}

impl std::fmt::Debug for CommandSubscriber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CommandSubscriber").field("orders", &self.orders).finish_non_exhaustive()
    }
}

impl CommandSubscriber {
    /// Passes commands of the robot with `layout_hash` to `ingress`, or if they are those of a
    /// controller that joins, to that; `now` returns the newest state.
    pub fn new(
        orders: Orders,
        (layout_hash, stamps): (u64, Stamps),
        (ingress, joined): (CommandIngress, Option<Joined>),
        now: impl Fn() -> Newest + Send + Sync + 'static,
        counters: Arc<RosCounters>,
    ) -> Self {
        let state = Mutex::new(State { joined, ..State::default() });
        Self { orders, stamps, layout_hash, ingress, now: Box::new(now), counters, state }
    }

    /// Lets commands join by `standby` once a node asks for it.
    #[must_use]
    pub(in crate::ros2) fn with_standby(self, standby: Option<Joined>) -> Self {
        self.lock().standby = standby;
        self
    }

    /// Joins for all nodes that command, before a command does.
    ///
    /// # Errors
    /// [`RosRejection::Join`] if it may not join now, or never.
    pub(in crate::ros2) fn join(&self) -> Result<(), Refused> {
        let mut guard = self.lock();
        let state = &mut *guard;
        let from_standby = state.joined.is_none();
        let Some(joined) = state.joined.as_mut().or(state.standby.as_mut()) else {
            let text = "ros2.join is \"off\"; it must be \"auto\" or \"required\"";
            return Err(Refused::new(RosRejection::Join, text.into()));
        };
        joined.join_now()?;
        if from_standby {
            state.joined = state.standby.take();
            state.by_request = true;
        }
        Ok(())
    }

    /// Gives the joints back. Where commands join by themselves, the next one joins again.
    pub(in crate::ros2) fn leave(&self) {
        let mut state = self.lock();
        state.following = None;
        if let Some(joined) = &mut state.joined {
            joined.leave();
        }
        if std::mem::take(&mut state.by_request) {
            state.standby = state.joined.take();
        }
    }

    /// Receives the bytes of a message of the topic with the number `topic`. Counts a message that
    /// is not a valid command.
    pub fn receive(&self, topic: usize, sender: Option<Sender>, bytes: &[u8]) {
        self.counters.count_received();
        let sent = self.publisher(topic, sender).and_then(|from| self.decode_and_send(from, bytes));
        if let Err(refused) = sent {
            self.counters.count(COMMAND_TOPICS.get(topic).unwrap_or(&""), &refused);
        }
    }

    /// The publisher of a message.
    ///
    /// # Errors
    /// [`RosRejection::Sender`] if the message does not continue those of its publisher.
    fn publisher(&self, topic: usize, sender: Option<Sender>) -> Result<Publisher, Refused> {
        let publisher = (topic, sender.map(|s| s.id));
        let Some(Sender { sequence, .. }) = sender else { return Ok(publisher) };
        let now = (self.now)();
        if self.lock().sessions.continues(publisher, sequence, &owner(&now)) {
            return Ok(publisher);
        }
        let text = format!(
            "message {sequence} does not continue those of its publisher: there are two senders \
             under one id; restart one of the nodes"
        );
        Err(Refused::new(RosRejection::Sender, text))
    }

    fn decode_and_send(&self, publisher: Publisher, bytes: &[u8]) -> Result<(), Refused> {
        let (stamp, joints) = match publisher.0 {
            DYNAMIC => {
                let m = DynamicJointState::decode(bytes)?;
                (Some(m.header.stamp.clone()), self.orders.dynamic(&m)?)
            }
            JOINTS => {
                let m = JointState::decode(bytes)?;
                (Some(m.header.stamp.clone()), self.orders.joints(&m)?)
            }
            EFFORT => (None, self.orders.efforts(&Float64MultiArray::decode(bytes)?)?),
            POSITION => (None, self.orders.positions(&Float64MultiArray::decode(bytes)?)?),
            _ => return self.begin(publisher, &JointTrajectory::decode(bytes)?),
        };
        self.command(publisher, stamp, joints).map(drop)
    }

    /// Receives set-points that `read` reads from a message of a topic, without a stamp, in the
    /// order of the joints, or the reason why the message has none. It is given the last ones of
    /// the same publisher that were accepted, none if that has lost the robot since. True if they
    /// are in force.
    pub(in crate::ros2) fn receive_set_points(
        &self,
        (name, topic): (&str, usize),
        sender: Option<Sender>,
        read: impl FnOnce(&[JointCommand]) -> Result<Vec<JointCommand>, Refused>,
    ) -> bool {
        self.counters.count_received();
        let sent = self.publisher(topic, sender).and_then(|from| {
            let before = self.lock().sessions.accepted(from, &owner(&(self.now)()));
            self.command(from, None, read(&before)?)
        });
        sent.unwrap_or_else(|refused| {
            self.counters.count(name, &refused);
            false
        })
    }

    /// Passes on a command with this stamp, `None` for a topic without. True if it is accepted, and
    /// no other publisher has the robot.
    fn command(
        &self,
        publisher: Publisher,
        stamp: Option<Time>,
        joints: Vec<JointCommand>,
    ) -> Result<bool, Refused> {
        let now = (self.now)();
        if stamp.is_none() && self.stamps.exact {
            let text = "messages of this topic have no stamp; where ticks wait for commands \
                        (control.mode), they are refused";
            return Err(Refused::new(RosRejection::Stamp, text.into()));
        }
        let stamp = stamp.unwrap_or_default();
        let mut state = self.lock();
        state.enter(now.run_id);
        if stamp == Time::default()
            && let Some((run_id, first, again)) = &mut state.first
            && (*run_id, &*first) == (now.run_id, &joints)
            && now.tick > now.first_tick
            && *again < FIRST_AGAIN_MAX
        {
            *again += 1;
            return Ok(true); // the state was sent again before the run began
        }
        let answers_tick = self.stamps.answered(&now, &stamp)?;
        if stamp == Time::default() && self.stamps.exact {
            state.first = Some((now.run_id, joints.clone(), 0));
        }
        if state.gives_way(publisher, &now) {
            state.following = None;
        }
        let blended = state.with_arms(now.time_ns, joints.clone());
        let sent = self.send(&mut state, publisher, &now, answers_tick, blended)?;
        let accepted = sent.is_ok();
        if accepted {
            state.sessions.keep(publisher, joints);
        }
        Ok(accepted && !state.is_taken(publisher, &now))
    }

    /// Receives a message that is no command of joints, and counts one that `take` refuses.
    pub(in crate::ros2) fn receive_other(
        &self,
        topic: &str,
        take: impl FnOnce() -> Result<(), Refused>,
    ) {
        self.counters.count_received();
        if let Err(refused) = take() {
            self.counters.count(topic, &refused);
        }
    }

    /// The newest state.
    pub(in crate::ros2) fn now(&self) -> Newest {
        (self.now)()
    }

    /// Names of the joints, in their order.
    pub(in crate::ros2) fn joints(&self) -> &[String] {
        self.orders.names()
    }

    /// True if a controller that is none of these topics' owns the robot.
    pub(in crate::ros2) fn is_taken(&self) -> bool {
        let (now, state) = (owner(&(self.now)()), self.lock());
        state.sessions.is_taken((POSTURE, None), &now) && !state.sessions.is_ours(&now)
    }

    /// Sends a command; why, if the ingress rejects it for good. The ingress counts each outcome.
    fn send(
        &self,
        state: &mut State,
        publisher: Publisher,
        now: &Newest,
        answers_tick: u64,
        joints: Vec<JointCommand>,
    ) -> Result<Result<(), Rejection>, Refused> {
        let sent = if let Some(joined) = &mut state.joined {
            joined.send((now.run_id, answers_tick), joints)?
        } else {
            let (session, seq) = state.sessions.next(publisher, &owner(now));
            self.ingress.take_in_claim(&ClaimedCommand {
                layout_hash: self.layout_hash,
                run_id: now.run_id,
                session,
                seq,
                answers_tick,
                applies_tick: 0,
                joints,
            })
        };
        Ok(sent.map(drop).or_else(|reason| match reason {
            Rejection::QueueFull => Ok(()),
            _ => Err(reason),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
