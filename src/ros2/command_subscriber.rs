//! Receives messages with commands, and follows a trajectory.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::counters::{RosCounters, RosRejection};
use super::messages::{
    DynamicJointState, Float64MultiArray, JointState, JointTrajectory, Message, Time,
};
use super::orders::{Orders, Refused};
use super::sessions::{Owner, Publisher, Sessions};
use super::trajectory::{Trajectory, stamp_ns};
use super::unitree::Arms;
use crate::ingress::CommandIngress;
use hardstand_protocol::ClaimedCommand;
use hardstand_protocol::{JointCommand, Rejection, StateReading};

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

/// The fields of the newest state that a command needs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Now {
    /// Run id.
    pub run_id: u32,
    /// Ticks done.
    pub tick: u64,
    /// Simulated time, as published, ns.
    pub time_ns: u64,
    /// 0 waiting, 1 running, 2 stopped, 3 paused.
    pub phase: u8,
    /// Authority over the drives, see [`Authority::code`](hardstand_protocol::Authority::code).
    pub authority: u8,
    /// Session that owns the robot.
    pub session: u64,
}

/// Decodes commands, maps them to the robot's joints and passes them to the command ingress. Shared
/// by all threads that receive messages.
pub struct CommandSubscriber {
    orders: Orders,
    period_ns: u64,
    layout_hash: u64,
    ingress: CommandIngress,
    now: Box<dyn Fn() -> Now + Send + Sync>,
    counters: Arc<RosCounters>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    sessions: Sessions,
    following: Option<(Publisher, Trajectory)>,
    /// Set-points for the arms, and the simulated time until which they hold, ns.
    arms: Option<(Arms, u64)>,
}

impl State {
    /// Blends the arms into a command for all joints.
    fn with_arms(&mut self, time_ns: u64, mut joints: Vec<JointCommand>) -> Vec<JointCommand> {
        self.arms.take_if(|(_, until_ns)| time_ns > *until_ns);
        if let Some((arms, _)) = &self.arms {
            arms.blend(&mut joints);
        }
        joints
    }
}

impl std::fmt::Debug for CommandSubscriber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CommandSubscriber").field("orders", &self.orders).finish_non_exhaustive()
    }
}

impl CommandSubscriber {
    /// Passes commands of the robot with `layout_hash` and ticks of `period_ns` to `ingress`; `now`
    /// returns the newest state.
    pub fn new(
        orders: Orders,
        (layout_hash, period_ns): (u64, u64),
        ingress: CommandIngress,
        now: impl Fn() -> Now + Send + Sync + 'static,
        counters: Arc<RosCounters>,
    ) -> Self {
        let (now, state) = (Box::new(now), Mutex::default());
        Self { orders, period_ns, layout_hash, ingress, now, counters, state }
    }

    /// Receives the bytes of a message of the topic with the number `topic`, from the publisher
    /// with the id `gid`. Counts a message that is not a valid command.
    pub fn receive(&self, topic: usize, gid: Option<[u8; 16]>, bytes: &[u8]) {
        self.counters.count_received();
        let publisher = (topic, gid);
        if let Err(refused) = self.decode_and_send(publisher, bytes) {
            self.counters.count(COMMAND_TOPICS.get(topic).unwrap_or(&""), &refused);
        }
    }

    fn decode_and_send(&self, publisher: Publisher, bytes: &[u8]) -> Result<(), Refused> {
        let (stamp, joints) = match publisher.0 {
            DYNAMIC => {
                let m = DynamicJointState::decode(bytes)?;
                (m.header.stamp.clone(), self.orders.dynamic(&m)?)
            }
            JOINTS => {
                let m = JointState::decode(bytes)?;
                (m.header.stamp.clone(), self.orders.joints(&m)?)
            }
            EFFORT => (Time::default(), self.orders.efforts(&Float64MultiArray::decode(bytes)?)?),
            POSITION => {
                (Time::default(), self.orders.positions(&Float64MultiArray::decode(bytes)?)?)
            }
            _ => return self.begin(publisher, &JointTrajectory::decode(bytes)?),
        };
        self.command(publisher, &stamp, joints);
        Ok(())
    }

    /// Receives set-points that the caller has read from a message of `topic` without a stamp, in
    /// the order of the joints, or the reason why the message has none.
    pub(super) fn receive_set_points(
        &self,
        topic: &str,
        publisher: Publisher,
        read: Result<Vec<JointCommand>, Refused>,
    ) {
        self.counters.count_received();
        match read {
            Ok(joints) => self.command(publisher, &Time::default(), joints),
            Err(refused) => self.counters.count(topic, &refused),
        }
    }

    fn command(&self, publisher: Publisher, stamp: &Time, joints: Vec<JointCommand>) {
        let now = (self.now)();
        let answers_tick = stamp_ns(stamp).map_or(now.tick, |ns| self.tick_at(&now, ns));
        let mut state = self.lock();
        // a newer command ends the trajectory
        state.following = None;
        let joints = state.with_arms(now.time_ns, joints);
        let _counted = self.send(&mut state.sessions, publisher, &now, answers_tick, joints);
    }

    /// The last tick of this run that was done at the time `ns`. Time continues from run to run,
    /// ticks restart at 0.
    const fn tick_at(&self, now: &Now, ns: u64) -> u64 {
        if ns > now.time_ns {
            return now.tick.saturating_add((ns - now.time_ns) / self.period_ns);
        }
        now.tick.saturating_sub((now.time_ns - ns) / self.period_ns)
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
        if state.sessions.is_taken((POSTURE, None), &owner(&now)) {
            if !state.sessions.is_ours(&owner(&now)) {
                return Err(taken());
            }
        } else if state.following.is_none() && arms.weight > 0.0 {
            state.following = Some(((POSTURE, None), stand()?));
        }
        state.arms = Some((arms, now.time_ns.saturating_add(lasts_ns)));
        Ok(())
    }

    /// Ends a trajectory of the daemon's own.
    pub(super) fn end_following(&self) {
        self.lock().following.take_if(|(publisher, _)| publisher.0 == POSTURE);
    }

    fn begin(&self, publisher: Publisher, m: &JointTrajectory) -> Result<(), Refused> {
        self.follow_from(publisher, self.orders.trajectory(m)?)
    }

    fn follow_from(&self, publisher: Publisher, trajectory: Trajectory) -> Result<(), Refused> {
        let now = (self.now)();
        let refused = |text: &str| Err(Refused::new(RosRejection::Trajectory, text.into()));
        if trajectory.is_over(now.time_ns) {
            return refused(
                "the trajectory ended in the past; its stamp must be in simulated time",
            );
        }
        let mut state = self.lock();
        if state.sessions.is_taken(publisher, &owner(&now)) {
            return Err(taken());
        }
        state.following = Some((publisher, trajectory));
        Ok(())
    }

    /// True while the robot follows a trajectory or holds its end.
    pub fn is_following(&self) -> bool {
        self.lock().following.is_some()
    }

    /// Sends the set-points of the trajectory at the time of `state`.
    pub fn follow(&self, state: &StateReading) {
        let mut own = self.lock();
        let own = &mut *own;
        let Some((publisher, trajectory)) = &mut own.following else { return };
        let now = Now {
            run_id: state.run_id,
            tick: state.tick,
            time_ns: state.time_ns,
            phase: state.phase,
            authority: state.authority,
            session: state.command_session,
        };
        // a trajectory that lost the robot to another controller ends
        if own.sessions.is_taken(*publisher, &owner(&now)) {
            own.following = None;
            return;
        }
        let (publisher, joints) = (*publisher, trajectory.at(state.time_ns, &state.joints));
        let joints = own.with_arms(state.time_ns, joints);
        if !self.send(&mut own.sessions, publisher, &now, state.tick, joints) {
            own.following = None;
        }
    }

    /// Sends a command; false if the ingress rejects it for good. The ingress counts each outcome.
    fn send(
        &self,
        sessions: &mut Sessions,
        publisher: Publisher,
        now: &Now,
        answers_tick: u64,
        joints: Vec<JointCommand>,
    ) -> bool {
        let (session, seq) = sessions.next(publisher, &owner(now));
        let claim = ClaimedCommand {
            layout_hash: self.layout_hash,
            run_id: now.run_id,
            session,
            seq,
            answers_tick,
            applies_tick: 0,
            joints,
        };
        !matches!(self.ingress.take_in_claim(&claim), Err(reason) if reason != Rejection::QueueFull)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn taken() -> Refused {
    Refused::new(RosRejection::Trajectory, "another controller commands the robot".into())
}

const fn owner(now: &Now) -> Owner {
    Owner { running: now.phase == 1, authority: now.authority, session: now.session }
}
