//! The thread that publishes topics from snapshots and follows trajectories.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::action::FollowAction;
use super::command_subscriber::CommandSubscriber;
use super::counters::RosCounters;
use super::low_level::LowStates;
use super::readings::Readings;
use super::timed_velocity::TimedVelocity;
use super::topics::Encode;
use super::wires::Out;
use crate::buffer_pool::Inbox;
use crate::bus::{FeedItem, PanicGuard, WallClock};
use crate::fault_point;
use crate::simulation::Snapshot;
use hardstand_protocol::Phase;

/// Time between two checks for subscribers while there are no snapshots.
const LOOK: Duration = Duration::from_millis(20);

/// A topic and its rate.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) topic: Out,
    pub(super) every: u64,
    pub(super) which: usize,
    pub(super) encode: Encode,
    pub(super) is_of_robot: bool,
}

#[derive(Debug)]
pub(super) struct TopicPublisher {
    pub(super) lines: Vec<Line>,
    pub(super) low_states: Option<LowStates>,
    pub(super) readings: Readings,
    pub(super) inbox: Inbox<FeedItem>,
    /// Requested ticks between two snapshots; 0 for none.
    pub(super) every: Arc<AtomicU64>,
    pub(super) subscriber: Arc<CommandSubscriber>,
    pub(super) action: Option<Arc<FollowAction>>,
    pub(super) velocity: Arc<TimedVelocity>,
    pub(super) counters: Arc<RosCounters>,
    pub(super) panic_guard: PanicGuard,
    pub(super) clock: WallClock,
    pub(super) buffer: Vec<u8>,
}

impl TopicPublisher {
    pub(super) fn run(&mut self, stop: &AtomicBool) {
        while !stop.load(Ordering::Acquire) && !self.panic_guard.is_over() {
            self.every.store(self.wanted(), Ordering::Release);
            if let Some(low) = &self.low_states {
                low.look();
            }
            let Some(fed) = self.inbox.take_within(LOOK) else { continue };
            let panic_guard = self.panic_guard.clone();
            panic_guard.guard(|| self.take(&fed));
            self.inbox.give_back(fed);
        }
        self.every.store(0, Ordering::Release);
    }

    /// Ticks between two snapshots that are needed for all topics with subscribers; 0 for none.
    fn wanted(&self) -> u64 {
        if self.subscriber.is_following() || self.velocity.is_pending() {
            return 1;
        }
        let lines = self.lines.iter().filter(|l| l.topic.is_wanted()).map(|l| l.every);
        let low = self.low_states.as_ref().and_then(LowStates::wanted);
        lines.chain(low).fold(0, divisor)
    }

    fn take(&mut self, fed: &FeedItem) {
        fault_point::visit("ros2");
        // first the trajectory, because its command is due soonest
        self.subscriber.follow(&fed.snapshot.state);
        if let Some(action) = &self.action {
            action.look(&fed.snapshot.state);
        }
        self.velocity.look(&fed.snapshot.state);
        let runs = fed.snapshot.state.phase == Phase::Running.code();
        for late in &fed.late {
            self.publish(if runs { late.state.tick } else { fed.number }, late, &[true]);
        }
        let shown: &[bool] = if fed.snapshot.withheld { &[false] } else { &[true, false] };
        self.publish(fed.number, &fed.snapshot, shown);
    }

    /// Publishes what is due of a snapshot on the topics of the robot, of the world, or both: those
    /// whose `is_of_robot` is one of `shown`.
    fn publish(&mut self, number: u64, snapshot: &Snapshot, shown: &[bool]) {
        if let Some(low) = self.low_states.as_mut().filter(|_| shown.contains(&true)) {
            let now_ns = self.clock.now_ns();
            low.publish((number, snapshot), now_ns, &mut self.buffer, &self.counters);
        }
        let due = |l: &Line| {
            shown.contains(&l.is_of_robot) && number.is_multiple_of(l.every) && l.topic.is_wanted()
        };
        if !self.lines.iter().any(due) {
            return;
        }
        self.readings.look(snapshot);
        for line in self.lines.iter_mut().filter(|l| due(l)) {
            (line.encode)(&mut self.readings, line.which, &mut self.buffer);
            line.topic.put(&self.buffer, self.clock.now_ns(), &self.counters);
        }
    }
}

/// The greatest common divisor; of 0 and `b`, `b`.
const fn divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
