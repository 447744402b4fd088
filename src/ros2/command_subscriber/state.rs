//! What the receiver of commands knows: its sessions, and the motion that it follows.

use super::super::counters::RosRejection;
use super::super::joined::Joined;
use super::super::orders::Refused;
use super::super::sessions::{Owner, Publisher, Sessions};
use super::super::trajectory::Trajectory;
use super::super::unitree::Arms;
use super::super::walk::Walk;
use super::POSTURE;
use crate::bus::Newest;
use hardstand_protocol::{Authority, JointCommand, Phase, Rejection, StateReading};

/// What is kept from message to message.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) sessions: Sessions,
    /// The run that the motions and the arms belong to.
    pub(super) run_id: u32,
    /// Where commands are those of one controller that has joined.
    pub(super) joined: Option<Joined>,
    /// Likewise, where commands join only after [`join`](CommandSubscriber::join).
    pub(super) standby: Option<Joined>,
    /// It is in `joined` because a node has asked for it.
    pub(super) by_request: bool,
    /// Run, the answer to its first state, if the stamp of that is 0, and how often it came again.
    pub(super) first: Option<(u32, Vec<JointCommand>, u32)>,
    pub(super) following: Option<(Publisher, Motion)>,
    /// Why the set-points of the motion that was followed last were refused, if they were.
    pub(super) refused: Option<(Publisher, Rejection)>,
    /// What walks, if it is asked to.
    pub(super) walk: Option<Walk>,
    /// Set-points for the arms, and the simulated time until which they hold, ns.
    pub(super) arms: Option<(Arms, u64)>,
}

/// What the daemon does with the joints by itself.
#[derive(Debug)]
pub(super) enum Motion {
    Trajectory(Trajectory),
    /// [`State::walk`].
    Walk,
}

impl State {
    /// A new run begins without motions of the one before.
    pub(super) fn enter(&mut self, run_id: u32) {
        if run_id > self.run_id {
            (self.run_id, self.following, self.arms) = (run_id, None, None);
        }
    }

    /// Checks that a motion of this publisher may begin.
    pub(super) fn may_begin(&self, publisher: Publisher, now: &Newest) -> Result<(), Refused> {
        if now.authority == Authority::Stopped.code() {
            let text = "the robot was stopped; arm it first (hardstand ctl arm)";
            return Err(Refused::new(RosRejection::Trajectory, text.into()));
        }
        if self.is_taken(publisher, now) { Err(taken()) } else { Ok(()) }
    }

    /// What walks, if it may begin: none if another controller has the robot.
    pub(super) fn walker(&mut self, now: &Newest) -> Result<Option<&mut Walk>, Refused> {
        self.enter(now.run_id);
        if self.is_taken((POSTURE, None), now) {
            return Ok(None);
        }
        self.may_begin((POSTURE, None), now)?;
        Ok(self.walk.as_mut())
    }

    /// Blends the arms into a command for all joints.
    pub(super) fn with_arms(
        &mut self,
        time_ns: u64,
        mut joints: Vec<JointCommand>,
    ) -> Vec<JointCommand> {
        self.arms.take_if(|(_, until_ns)| time_ns > *until_ns);
        if let Some((arms, _)) = &self.arms {
            arms.blend(&mut joints);
        }
        joints
    }

    /// What the joints are to do in the tick after a state.
    pub(super) fn set_points(
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
    pub(super) fn is_taken(&self, publisher: Publisher, now: &Newest) -> bool {
        match &self.joined {
            Some(joined) => joined.is_taken(now.authority, now.command_session),
            None => self.sessions.is_taken(publisher, &owner(now)),
        }
    }

    /// True if a command of this publisher ends the trajectory that is followed: its own, one of
    /// the same controller, or one that does not have the robot.
    pub(super) fn gives_way(&self, publisher: Publisher, now: &Newest) -> bool {
        let ends = |(of, _): &(Publisher, Motion)| {
            *of == publisher || !self.sessions.is_in_force(*of, &owner(now))
        };
        self.joined.is_some() || self.following.as_ref().is_some_and(ends)
    }

    /// Whether the state asks for a command.
    pub(super) fn owes(&self, now: &Newest) -> bool {
        self.joined.as_ref().is_none_or(|joined| joined.owes((now.run_id, now.tick)))
    }
}

fn taken() -> Refused {
    Refused::new(RosRejection::Trajectory, "another controller commands the robot".into())
}

pub(super) const fn owner(now: &Newest) -> Owner {
    let running = now.phase == Phase::Running.code();
    Owner { running, authority: now.authority, session: now.command_session }
}
