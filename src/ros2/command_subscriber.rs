//! Receives messages with commands, and follows a trajectory.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::counters::{RosCounters, RosRejection};
use super::joined::Joined;
use super::messages::{
    DynamicJointState, Float64MultiArray, JointState, JointTrajectory, Message, Time,
};
use super::orders::{Orders, Refused};
use super::sessions::{Owner, Publisher, Sender, Sessions};
use super::stamps::Stamps;
use super::trajectory::Trajectory;
use super::unitree::Arms;
use super::walk::Walk;
use crate::ingress::CommandIngress;
use hardstand_protocol::{
    Authority, ClaimedCommand, JointCommand, JointReading, Phase, Rejection, StateReading,
};

/// Topics of commands, in the order of their numbers.
pub const COMMAND_TOPICS: [&str; 5] = [
    "dynamic_joint_commands",
    "joint_commands",
    "forward_effort_controller/commands",
    "forward_position_controller/commands",
    "joint_trajectory_controller/joint_trajectory",
];
pub(super) const DYNAMIC: usize = 0;
pub(super) const JOINTS: usize = 1;
pub(super) const EFFORT: usize = 2;
pub(super) const POSITION: usize = 3;
pub(super) const TRAJECTORY: usize = 4;
/// Number of the topic of Unitree's commands.
pub(super) const LOW_CMD: usize = 5;
/// Number of the daemon's own postures, as if they came by a topic.
const POSTURE: usize = 6;
/// Number of the goals of the action.
const GOAL: usize = 7;
/// The answer to the first state comes again as often as that state was sent before the run began;
/// one that comes more often is a command without a stamp.
const FIRST_AGAIN_MAX: u32 = 20;

/// The fields of the newest state that a command needs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Now {
    /// Run id.
    pub run_id: u32,
    /// Ticks done.
    pub tick: u64,
    /// Ticks done in the first state of this run.
    pub first_tick: u64,
    /// Simulated time, as published, ns.
    pub time_ns: u64,
    /// What the loop is doing, see [`Phase::code`].
    pub phase: u8,
    /// Authority over the drives, see [`Authority::code`].
    pub authority: u8,
    /// Session that owns the robot.
    pub session: u64,
}

/// Decodes commands, maps them to the robot's joints and passes them to the command ingress. Shared
/// by all threads that receive messages.
pub struct CommandSubscriber {
    orders: Orders,
    stamps: Stamps,
    layout_hash: u64,
    ingress: CommandIngress,
    now: Box<dyn Fn() -> Now + Send + Sync>,
    counters: Arc<RosCounters>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    sessions: Sessions,
    /// The run that the motions and the arms belong to.
    run_id: u32,
    /// Where commands are those of one controller that has joined.
    joined: Option<Joined>,
    /// Likewise, where commands join only after [`join`](CommandSubscriber::join).
    standby: Option<Joined>,
    /// It is in `joined` because a node has asked for it.
    by_request: bool,
    /// Run, the answer to its first state, if the stamp of that is 0, and how often it came again.
    first: Option<(u32, Vec<JointCommand>, u32)>,
    following: Option<(Publisher, Motion)>,
    /// What walks, if it is asked to.
    walk: Option<Walk>,
    /// Set-points for the arms, and the simulated time until which they hold, ns.
    arms: Option<(Arms, u64)>,
}

/// What the daemon does with the joints by itself.
#[derive(Debug)]
enum Motion {
    Trajectory(Trajectory),
    /// [`State::walk`].
    Walk,
}

impl State {
    /// A new run begins without motions of the one before.
    fn enter(&mut self, run_id: u32) {
        if run_id > self.run_id {
            (self.run_id, self.following, self.arms) = (run_id, None, None);
        }
    }

    /// Checks that a motion of this publisher may begin.
    fn may_begin(&self, publisher: Publisher, now: &Now) -> Result<(), Refused> {
        if now.authority == Authority::Stopped.code() {
            let text = "the robot was stopped; arm it first (hardstand ctl arm)";
            return Err(Refused::new(RosRejection::Trajectory, text.into()));
        }
        if self.is_taken(publisher, now) { Err(taken()) } else { Ok(()) }
    }

    /// Blends the arms into a command for all joints.
    fn with_arms(&mut self, time_ns: u64, mut joints: Vec<JointCommand>) -> Vec<JointCommand> {
        self.arms.take_if(|(_, until_ns)| time_ns > *until_ns);
        if let Some((arms, _)) = &self.arms {
            arms.blend(&mut joints);
        }
        joints
    }

    /// What the joints are to do in the tick after a state.
    fn set_points(
        &mut self,
        motion: &mut Motion,
        state: &StateReading,
    ) -> Result<Vec<JointCommand>, Refused> {
        match (motion, &mut self.walk) {
            (Motion::Trajectory(trajectory), _) => Ok(trajectory.at(state.time_ns, &state.joints)),
            (Motion::Walk, Some(walk)) => walk
                .at(state)
                .map_err(|e| Refused::new(RosRejection::Trajectory, format!("the walker: {e}"))),
            (Motion::Walk, None) => Ok(vec![JointCommand::default(); state.joints.len()]),
        }
    }

    /// True if another controller commands the robot.
    fn is_taken(&self, publisher: Publisher, now: &Now) -> bool {
        match &self.joined {
            Some(joined) => joined.is_taken(now.authority, now.session),
            None => self.sessions.is_taken(publisher, &owner(now)),
        }
    }

    /// True if a command of this publisher ends the trajectory that is followed: its own, one of
    /// the same controller, or one that does not have the robot.
    fn gives_way(&self, publisher: Publisher, now: &Now) -> bool {
        let ends = |(of, _): &(Publisher, Motion)| {
            *of == publisher || !self.sessions.is_in_force(*of, &owner(now))
        };
        self.joined.is_some() || self.following.as_ref().is_some_and(ends)
    }

    /// Whether the state asks for a command.
    fn owes(&self, now: &Now) -> bool {
        self.joined.as_ref().is_none_or(|joined| joined.owes((now.run_id, now.tick)))
    }
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
        now: impl Fn() -> Now + Send + Sync + 'static,
        counters: Arc<RosCounters>,
    ) -> Self {
        let state = Mutex::new(State { joined, ..State::default() });
        Self { orders, stamps, layout_hash, ingress, now: Box::new(now), counters, state }
    }

    /// Lets commands join by `standby` once a node asks for it.
    #[must_use]
    pub(super) fn with_standby(self, standby: Option<Joined>) -> Self {
        self.lock().standby = standby;
        self
    }

    /// Joins for all nodes that command, before a command does.
    ///
    /// # Errors
    /// [`RosRejection::Join`] if it may not join now, or never.
    pub(super) fn join(&self) -> Result<(), Refused> {
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
    pub(super) fn leave(&self) {
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
    pub(super) fn receive_set_points(
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
        let accepted = self.send(&mut state, publisher, &now, answers_tick, blended)?;
        if accepted {
            state.sessions.keep(publisher, joints);
        }
        Ok(accepted && !state.is_taken(publisher, &now))
    }

    /// Receives a message that is no command of joints, and counts one that `take` refuses.
    pub(super) fn receive_other(&self, topic: &str, take: impl FnOnce() -> Result<(), Refused>) {
        self.counters.count_received();
        if let Err(refused) = take() {
            self.counters.count(topic, &refused);
        }
    }

    /// Follows a trajectory of the daemon's own.
    pub(super) fn follow_own(
        &self,
        trajectory: Result<Trajectory, Refused>,
    ) -> Result<(), Refused> {
        self.follow_from((POSTURE, None), trajectory?)
    }

    /// Receives set-points for the arms, which hold for `lasts_ns` of simulated time. They are
    /// blended into the commands of these topics. Where the robot has none, it follows `stand`.
    pub(super) fn receive_arms(
        &self,
        topic: &str,
        read: Result<Arms, Refused>,
        lasts_ns: u64,
        stand: impl FnOnce() -> Result<Trajectory, Refused>,
    ) {
        self.counters.count_received();
        let placed = read.and_then(|arms| self.place_arms(arms, lasts_ns, stand));
        if let Err(refused) = placed {
            self.counters.count(topic, &refused);
        }
    }

    fn place_arms(
        &self,
        arms: Arms,
        lasts_ns: u64,
        stand: impl FnOnce() -> Result<Trajectory, Refused>,
    ) -> Result<(), Refused> {
        let set_points: Vec<JointCommand> = arms.joints.iter().map(|(_, c)| *c).collect();
        if self.ingress.check(&set_points).is_err() {
            // counted there, as of every command
            return Ok(());
        }
        let now = (self.now)();
        let mut state = self.lock();
        state.enter(now.run_id);
        let is_ours = state.joined.is_none() && state.sessions.is_ours(&owner(&now));
        if !is_ours {
            state.may_begin((POSTURE, None), &now)?;
        }
        if !state.is_taken((POSTURE, None), &now) && state.following.is_none() && arms.weight > 0.0
        {
            state.following = Some(((POSTURE, None), Motion::Trajectory(stand()?)));
        }
        state.arms = Some((arms, now.time_ns.saturating_add(lasts_ns)));
        Ok(())
    }

    /// Ends a trajectory of the daemon's own.
    pub(super) fn end_following(&self) {
        self.lock().following.take_if(|(publisher, _)| publisher.0 == POSTURE);
    }

    /// The newest state.
    pub(super) fn now(&self) -> Now {
        (self.now)()
    }

    /// Names of the joints, in their order.
    pub(super) fn joints(&self) -> &[String] {
        self.orders.names()
    }

    /// Follows the trajectory of a goal.
    pub(super) fn follow_goal(&self, m: &JointTrajectory) -> Result<(), Refused> {
        self.follow_from((GOAL, None), self.orders.trajectory(m)?)
    }

    /// The trajectory of a goal, with its start, once the robot follows it.
    pub(super) fn begun_goal(&self) -> Option<Trajectory> {
        match &self.lock().following {
            Some((publisher, Motion::Trajectory(t))) if publisher.0 == GOAL && t.has_begun() => {
                Some(t.clone())
            }
            _ => None,
        }
    }

    /// True while it follows the trajectory of a goal or holds its end.
    pub(super) fn follows_goal(&self) -> bool {
        self.lock().following.as_ref().is_some_and(|(publisher, _)| publisher.0 == GOAL)
    }

    /// Holds the joints where they are, in place of the trajectory of a goal.
    pub(super) fn hold(&self, joints: &[JointReading]) {
        let mut state = self.lock();
        if let Some((_, motion)) = state.following.as_mut().filter(|(p, _)| p.0 == GOAL) {
            *motion = Motion::Trajectory(self.orders.still(joints));
        }
    }

    /// True if a controller that is none of these topics' owns the robot.
    pub(super) fn is_taken(&self) -> bool {
        let (now, state) = (owner(&(self.now)()), self.lock());
        state.sessions.is_taken((POSTURE, None), &now) && !state.sessions.is_ours(&now)
    }

    /// Follows a trajectory. One without points ends that of the same publisher.
    fn begin(&self, publisher: Publisher, m: &JointTrajectory) -> Result<(), Refused> {
        let ends = m.points.is_empty()
            && self.lock().following.take_if(|(of, _)| *of == publisher).is_some();
        if ends {
            return Ok(());
        }
        self.follow_from(publisher, self.orders.trajectory(m)?)
    }

    fn follow_from(&self, publisher: Publisher, trajectory: Trajectory) -> Result<(), Refused> {
        let now = (self.now)();
        let refused = |text: &str| Err(Refused::new(RosRejection::Trajectory, text.into()));
        trajectory.refuse_other_clock(now.time_ns)?;
        let mut state = self.lock();
        state.enter(now.run_id);
        state.may_begin(publisher, &now)?;
        if self.stamps.exact && !trajectory.has_stamp() && state.following.is_some() {
            return refused(
                "there is no stamp; where ticks wait for commands, one that replaces another must \
                 say when it begins",
            );
        }
        state.following = Some((publisher, Motion::Trajectory(trajectory)));
        Ok(())
    }

    /// Sets what walks.
    pub(super) fn set_walk(&self, walk: Walk) {
        self.lock().walk = Some(walk);
    }

    /// Walks, if there is what does, and the robot is not another controller's.
    ///
    /// # Errors
    /// [`RosRejection::Trajectory`] if the robot was stopped.
    pub(super) fn walk(&self) -> Result<(), Refused> {
        let now = (self.now)();
        let mut state = self.lock();
        state.enter(now.run_id);
        let walks = matches!(state.following, Some((_, Motion::Walk)));
        if walks || state.is_taken((POSTURE, None), &now) {
            return Ok(());
        }
        state.may_begin((POSTURE, None), &now)?;
        if let Some(walk) = &mut state.walk {
            walk.begin();
            state.following = Some(((POSTURE, None), Motion::Walk));
        }
        Ok(())
    }

    /// True while the robot follows a trajectory of the daemon's own or holds its end.
    pub(super) fn is_following_own(&self) -> bool {
        self.lock().following.as_ref().is_some_and(|(publisher, _)| publisher.0 == POSTURE)
    }

    /// True while the robot follows a trajectory or holds its end.
    pub fn is_following(&self) -> bool {
        self.lock().following.is_some()
    }

    /// Sends the set-points of the trajectory at the time of `state`.
    pub fn follow(&self, state: &StateReading) {
        let mut own = self.lock();
        own.enter(state.run_id);
        let now = Now {
            run_id: state.run_id,
            tick: state.tick,
            first_tick: 0,
            time_ns: state.time_ns,
            phase: state.phase,
            authority: state.authority,
            session: state.command_session,
        };
        // a trajectory that lost the robot to another controller ends, as all do in a stop
        let stopped = state.authority == Authority::Stopped.code();
        let lost = |(publisher, _): &(Publisher, Motion)| stopped || own.is_taken(*publisher, &now);
        if own.following.as_ref().is_some_and(lost) {
            own.following = None;
        }
        if own.owes(&now)
            && let Some((publisher, mut motion)) = own.following.take()
        {
            let sent = own.set_points(&mut motion, state).and_then(|joints| {
                let joints = own.with_arms(state.time_ns, joints);
                self.send(&mut own, publisher, &now, state.tick, joints)
            });
            match sent {
                Ok(true) => own.following = Some((publisher, motion)),
                Ok(false) => {}
                Err(refused) => self.counters.count(COMMAND_TOPICS[TRAJECTORY], &refused),
            }
        }
    }

    /// Sends a command; false if the ingress rejects it for good. The ingress counts each outcome.
    fn send(
        &self,
        state: &mut State,
        publisher: Publisher,
        now: &Now,
        answers_tick: u64,
        joints: Vec<JointCommand>,
    ) -> Result<bool, Refused> {
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
        Ok(!matches!(sent, Err(reason) if reason != Rejection::QueueFull))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn taken() -> Refused {
    Refused::new(RosRejection::Trajectory, "another controller commands the robot".into())
}

const fn owner(now: &Now) -> Owner {
    let running = now.phase == Phase::Running.code();
    Owner { running, authority: now.authority, session: now.session }
}
