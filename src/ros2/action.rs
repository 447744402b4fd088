//! The action `joint_trajectory_controller/follow_joint_trajectory`: one goal at a time, which the
//! daemon follows as any [`Trajectory`]; a newer goal takes its place.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::command_subscriber::CommandSubscriber;
use super::counters::{RosCounters, RosRejection};
use super::goal::{Goal, Outcome};
use super::messages::{
    CancelAnswer, CancelGoal, CancelRequest, FeedbackMessage, FollowResult, GetResult,
    GetResultAnswer, GetResultRequest, GoalInfo, GoalStatus, GoalStatusArray, Message, SendGoal,
    SendGoalAnswer, SendGoalRequest, Service, Time, read, written,
};
use super::orders::Refused;
use super::readings::time;
use super::topics::{Latched, MessageType};
use super::wires::{Call, LatchedOut, Out, Wires};
use crate::bus::WallClock;
use hardstand_error::Result;
use hardstand_protocol::StateReading;

const SEND_GOAL: &str = "joint_trajectory_controller/follow_joint_trajectory/_action/send_goal";
const CANCEL: &str = "joint_trajectory_controller/follow_joint_trajectory/_action/cancel_goal";
const GET_RESULT: &str = "joint_trajectory_controller/follow_joint_trajectory/_action/get_result";
const FEEDBACK: &str = "joint_trajectory_controller/follow_joint_trajectory/_action/feedback";
const STATUS: &str = "joint_trajectory_controller/follow_joint_trajectory/_action/status";

/// Goals whose results are kept.
const ENDED_MAX: usize = 16;
/// Calls that may wait for the result of a goal.
const WAITING_MAX: usize = 16;
/// Simulated time between two feedbacks, ns.
const FEEDBACK_NS: u64 = 20_000_000;

/// A call and its answer; none if the call waits.
type Answered = std::result::Result<Option<(Call, Vec<u8>)>, Refused>;

/// The server of the action.
#[derive(Debug)]
pub(super) struct FollowAction {
    subscriber: Arc<CommandSubscriber>,
    counters: Arc<RosCounters>,
    clock: Option<WallClock>,
    goals: Mutex<Goals>,
}

#[derive(Debug)]
struct Goals {
    feedback: Out,
    status: LatchedOut,
    active: Option<Active>,
    /// The last ones, with the oldest first.
    ended: VecDeque<(GoalInfo, GetResultAnswer)>,
    wall: WallClock,
    fed_ns: u64,
}

#[derive(Debug)]
struct Active {
    info: GoalInfo,
    goal: Goal,
    canceling: bool,
    waiting: Vec<Call>,
}

impl FollowAction {
    /// Declares its services and topics.
    pub(super) fn serve(
        wires: &mut Wires<'_>,
        subscriber: &Arc<CommandSubscriber>,
        counters: &Arc<RosCounters>,
    ) -> Result<Arc<Self>> {
        let mut bytes = Vec::new();
        GoalStatusArray::default().encode(&mut bytes);
        let none = Latched { topic: STATUS, of: MessageType::of::<GoalStatusArray>(), bytes };
        let goals = Goals {
            feedback: wires.publish(MessageType::of::<FeedbackMessage>(), FEEDBACK)?,
            status: wires.latch(&none)?,
            active: None,
            ended: VecDeque::new(),
            wall: wires.bus().wall_clock(),
            fed_ns: 0,
        };
        let action = Arc::new(Self {
            subscriber: Arc::clone(subscriber),
            counters: Arc::clone(counters),
            clock: wires.attachment_clock(),
            goals: Mutex::new(goals),
        });
        action.take::<SendGoal>(wires, SEND_GOAL, Self::send_goal)?;
        action.take::<CancelGoal>(wires, CANCEL, Self::cancel)?;
        action.take::<GetResult>(wires, GET_RESULT, Self::get_result)?;
        Ok(action)
    }

    /// Answers the calls of a service with `serve`, which may keep a call for later.
    fn take<S: Service>(
        self: &Arc<Self>,
        wires: &mut Wires<'_>,
        name: &'static str,
        serve: fn(&Self, &S::Request, Call) -> Answered,
    ) -> Result<()>
    where
        S::Request: 'static,
    {
        let action = Arc::clone(self);
        wires.serve(name, (S::NAME, S::HASH), move |call: Call| {
            action.counters.count_called();
            let request = read::<S::Request>(&call.payload()).map_err(Refused::from);
            match request.and_then(|request| serve(&action, &request, call)) {
                Ok(Some((call, bytes))) => call.answer(&bytes, action.clock.as_ref()),
                Ok(None) => {}
                Err(refused) => action.counters.count(name, &refused),
            }
        })
    }

    fn goals(&self) -> MutexGuard<'_, Goals> {
        self.goals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send_goal(&self, r: &SendGoalRequest, call: Call) -> Answered {
        let mut goals = self.goals();
        let stamp = time(self.subscriber.now().time_ns);
        let known = goals.stamp_of(&r.goal_id.uuid);
        let started = match known {
            Some(_) => Ok(()),
            None => self.start(&mut goals, r, &stamp),
        };
        let stamp = known.unwrap_or(stamp);
        if let Err(refused) = &started {
            self.counters.count(SEND_GOAL, refused);
        }
        let accepted = started.is_ok();
        Ok(Some((call, written(&SendGoalAnswer { accepted, stamp }))))
    }

    fn start(
        &self,
        goals: &mut Goals,
        r: &SendGoalRequest,
        stamp: &Time,
    ) -> std::result::Result<(), Refused> {
        if !r.goal.multi_dof_trajectory.points.is_empty() {
            let text = "multi_dof_trajectory has points; the robot has no joint for them";
            return Err(Refused::new(RosRejection::Trajectory, text.into()));
        }
        let goal = Goal::new(&r.goal, self.subscriber.joints())?;
        self.subscriber.follow_goal(&r.goal.trajectory)?;
        self.end(goals, Outcome::replaced());
        let info = GoalInfo { goal_id: r.goal_id.clone(), stamp: stamp.clone() };
        goals.active = Some(Active { info, goal, canceling: false, waiting: Vec::new() });
        goals.publish_status();
        Ok(())
    }

    fn cancel(&self, r: &CancelRequest, call: Call) -> Answered {
        let mut goals = self.goals();
        let (id, until) = (r.goal_info.goal_id.uuid, &r.goal_info.stamp);
        let has_stamp = *until != Time::default();
        // as action_msgs/srv/CancelGoal says: with a stamp all that were accepted until then
        let meant = |info: &GoalInfo| {
            let is_old = (info.stamp.sec, info.stamp.nanosec) <= (until.sec, until.nanosec);
            info.goal_id.uuid == id || if has_stamp { is_old } else { id == [0; 16] }
        };
        let (mut return_code, mut goals_canceling) = (CancelAnswer::UNKNOWN_GOAL_ID, Vec::new());
        if goals.ended.iter().any(|(info, _)| info.goal_id.uuid == id) {
            return_code = CancelAnswer::GOAL_TERMINATED;
        }
        if let Some(active) = goals.active.as_mut().filter(|active| meant(&active.info)) {
            active.canceling = true;
            goals_canceling.push(active.info.clone());
        }
        if !goals_canceling.is_empty() || id == [0; 16] {
            return_code = CancelAnswer::NONE;
        }
        goals.publish_status();
        Ok(Some((call, written(&CancelAnswer { return_code, goals_canceling }))))
    }

    fn get_result(&self, r: &GetResultRequest, call: Call) -> Answered {
        let mut goals = self.goals();
        let id = r.goal_id.uuid;
        if let Some(active) = goals.active.as_mut().filter(|a| a.info.goal_id.uuid == id) {
            if active.waiting.len() < WAITING_MAX {
                active.waiting.push(call);
                return Ok(None);
            }
            let text = format!("more than {WAITING_MAX} calls wait for the result of this goal");
            return Err(Refused::new(RosRejection::Busy, text));
        }
        let found = goals.ended.iter().find(|(info, _)| info.goal_id.uuid == id);
        let answer = found.map(|(_, answer)| answer.clone()).unwrap_or_default();
        Ok(Some((call, written(&answer))))
    }

    /// Looks at a state: feedback, and the end of the goal.
    pub(super) fn look(&self, state: &StateReading) {
        let mut goals = self.goals();
        let goals = &mut *goals;
        let Some(active) = &mut goals.active else { return };
        let outcome = if active.canceling {
            self.subscriber.hold(&state.joints);
            Some(Outcome::cancelled())
        } else if self.subscriber.follows_goal() {
            active.goal.begin(|| self.subscriber.begun_goal());
            active.goal.look(state)
        } else {
            Some(Outcome::taken_over(self.subscriber.refused_goal()))
        };
        let due = state.time_ns.abs_diff(goals.fed_ns) >= FEEDBACK_NS || outcome.is_some();
        if due
            && goals.feedback.is_wanted()
            && let Some(feedback) = active.goal.feedback(state, self.subscriber.joints())
        {
            goals.fed_ns = state.time_ns;
            let message = FeedbackMessage { goal_id: active.info.goal_id.clone(), feedback };
            goals.feedback.put(&written(&message), goals.wall.now_ns(), &self.counters);
        }
        if let Some(outcome) = outcome {
            if outcome.stops() && outcome.status == GoalStatus::ABORTED {
                self.subscriber.hold(&state.joints);
            }
            self.end(goals, outcome);
            goals.publish_status();
        }
    }

    /// Ends the goal that is followed, if there is one, and answers those who wait for its result.
    fn end(&self, goals: &mut Goals, outcome: Outcome) {
        let Some(active) = goals.active.take() else { return };
        let Outcome { status, error_code, error_string } = outcome;
        let result = FollowResult { error_code, error_string };
        let answer = GetResultAnswer { status, result };
        let bytes = written(&answer);
        active.waiting.iter().for_each(|call| call.answer(&bytes, self.clock.as_ref()));
        if goals.ended.len() >= ENDED_MAX {
            goals.ended.pop_front();
        }
        goals.ended.push_back((active.info, answer));
    }
}

impl Goals {
    /// When a goal was accepted, if it was.
    fn stamp_of(&self, id: &[u8; 16]) -> Option<Time> {
        let active = self.active.iter().map(|active| &active.info);
        let mut all = self.ended.iter().map(|(info, _)| info).chain(active);
        all.find(|info| info.goal_id.uuid == *id).map(|info| info.stamp.clone())
    }

    fn publish_status(&mut self) {
        let of = |goal_info: &GoalInfo, status| GoalStatus { goal_info: goal_info.clone(), status };
        let ended = self.ended.iter().map(|(info, answer)| of(info, answer.status));
        let active = self.active.iter().map(|active| {
            let canceling = active.canceling;
            of(&active.info, if canceling { GoalStatus::CANCELING } else { GoalStatus::EXECUTING })
        });
        let status_list = ended.chain(active).collect();
        let bytes = written(&GoalStatusArray { status_list });
        self.status.put(&bytes, self.wall.now_ns());
    }
}
