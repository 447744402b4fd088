//! Motions that the daemon makes by itself: trajectories, goals, postures, arms, walks.

use super::super::counters::RosRejection;
use super::super::messages::JointTrajectory;
use super::super::orders::Refused;
use super::super::sessions::Publisher;
use super::super::trajectory::Trajectory;
use super::super::unitree::Arms;
use super::super::walk::{RANGES_OF_MOVE, Walk};
use super::state::{Motion, owner};
use super::{COMMAND_TOPICS, CommandSubscriber, GOAL, POSTURE, TRAJECTORY};
use crate::bus::Newest;
use hardstand_protocol::{
    Authority, JointCommand, JointReading, Rejection, StateReading, VelocityCommand,
};

impl CommandSubscriber {
    /// Follows a trajectory of the daemon's own.
    pub(in crate::ros2) fn follow_own(
        &self,
        trajectory: Result<Trajectory, Refused>,
    ) -> Result<(), Refused> {
        self.follow_from((POSTURE, None), trajectory?)
    }

    /// Receives set-points for the arms, which hold for `lasts_ns` of simulated time. They are
    /// blended into the commands of these topics. Where the robot has none, it follows `stand`.
    pub(in crate::ros2) fn receive_arms(
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
        // of all joints, so that a refusal names the one that it is about
        let mut set_points = vec![JointCommand::default(); self.joints().len()];
        for &(joint, set_point) in &arms.joints {
            if let Some(slot) = set_points.get_mut(joint) {
                *slot = set_point;
            }
        }
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
    pub(in crate::ros2) fn end_following(&self) {
        self.lock().following.take_if(|(publisher, _)| publisher.0 == POSTURE);
    }

    /// Follows the trajectory of a goal.
    pub(in crate::ros2) fn follow_goal(&self, m: &JointTrajectory) -> Result<(), Refused> {
        self.follow_from((GOAL, None), self.orders.trajectory(m)?)
    }

    /// The trajectory of a goal, with its start, once the robot follows it.
    pub(in crate::ros2) fn begun_goal(&self) -> Option<Trajectory> {
        match &self.lock().following {
            Some((publisher, Motion::Trajectory(t))) if publisher.0 == GOAL && t.has_begun() => {
                Some(t.clone())
            }
            _ => None,
        }
    }

    /// Why the set-points of the goal that was followed last were refused, if they were.
    pub(in crate::ros2) fn refused_goal(&self) -> Option<Rejection> {
        self.lock().refused.filter(|(publisher, _)| publisher.0 == GOAL).map(|(_, reason)| reason)
    }

    /// True while it follows the trajectory of a goal or holds its end.
    pub(in crate::ros2) fn follows_goal(&self) -> bool {
        self.lock().following.as_ref().is_some_and(|(publisher, _)| publisher.0 == GOAL)
    }

    /// Holds the joints where they are, in place of the trajectory of a goal.
    pub(in crate::ros2) fn hold(&self, joints: &[JointReading]) {
        let mut state = self.lock();
        if let Some((_, motion)) = state.following.as_mut().filter(|(p, _)| p.0 == GOAL) {
            *motion = Motion::Trajectory(self.orders.still(joints));
        }
    }

    /// Follows a trajectory. One without points ends that of the same publisher.
    pub(super) fn begin(&self, publisher: Publisher, m: &JointTrajectory) -> Result<(), Refused> {
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
        state.refused = None;
        Ok(())
    }

    /// Sets what walks.
    pub(in crate::ros2) fn set_walk(&self, walk: Walk) {
        self.lock().walk = Some(walk);
    }

    /// Asks for a velocity by `order`, and walks, if there is what does, and the robot is not
    /// another controller's. A velocity that is refused is not ordered.
    ///
    /// # Errors
    /// [`RosRejection::Trajectory`] if the robot was stopped, [`RosRejection::Call`] if the
    /// velocity is out of range; those of `order`.
    pub(in crate::ros2) fn walk(
        &self,
        velocity: &VelocityCommand,
        order: impl FnOnce() -> Result<(), Refused>,
    ) -> Result<(), Refused> {
        let ranges = self.lock().walker(&(self.now)())?.map_or(RANGES_OF_MOVE, |w| *w.ranges());
        ranges.check(velocity)?;
        // not locked: the loop may wait for the set-points of the motion that is followed
        order()?;
        let mut state = self.lock();
        let walks = matches!(state.following, Some((_, Motion::Walk)));
        if let Some(walk) = state.walker(&(self.now)())?.filter(|_| !walks) {
            walk.begin();
            state.following = Some(((POSTURE, None), Motion::Walk));
        }
        Ok(())
    }

    /// True while the robot follows a trajectory of the daemon's own or holds its end.
    pub(in crate::ros2) fn is_following_own(&self) -> bool {
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
        let now = Newest::of(state, 0);
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
                Ok(Ok(())) => own.following = Some((publisher, motion)),
                Ok(Err(reason @ (Rejection::NotFinite | Rejection::OutOfRange))) => {
                    own.refused = Some((publisher, reason));
                }
                Ok(Err(_)) => {}
                Err(refused) => self.counters.count(COMMAND_TOPICS[TRAJECTORY], &refused),
            }
        }
    }
}
