//! A port as a controller: it joins, and its commands take the way of every command.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::bus::{Order, OrderPort};
use crate::desk::Reply;
use crate::ingress::CommandIngress;
use crate::rt::PortState;
use hardstand_protocol::{
    ClaimedCommand, JoinRequest, JointCommand, LeaveRequest, Phase, Rejection, Role,
    controller_number, random_number,
};

/// A join that was refused is repeated after this.
const JOIN_AGAIN: Duration = Duration::from_millis(100);

/// Where ports ask to join: the bus, which can be closed and opened again during a run.
#[derive(Clone, Debug, Default)]
pub struct BusOrders(Arc<Mutex<Option<OrderPort>>>);

impl BusOrders {
    /// The bus has been opened, or closed.
    pub fn set(&self, port: Option<OrderPort>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = port;
    }

    fn get(&self) -> Option<OrderPort> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What a port wants to command, and when.
#[derive(Clone, Debug)]
pub struct SourceSpec {
    /// Name as a controller.
    pub name: String,
    /// Joints, by index, ascending.
    pub joints: Vec<usize>,
    /// Their names.
    pub joint_names: Vec<String>,
    /// Whether a tick waits for its commands outside real time.
    pub role: Role,
    /// Ticks between two states that it answers.
    pub every_ticks: u64,
    /// Ticks for which a command is held.
    pub hold_ticks: u64,
    /// Layout hash of the robot.
    pub layout_hash: u64,
}

/// A source of commands.
#[derive(Debug)]
pub struct Source {
    spec: SourceSpec,
    number: u64,
    session: u64,
    seq: u64,
    /// Run and tick of the join.
    joined: Option<(u32, u64)>,
    /// Run and tick of the state that was answered last.
    answered: Option<(u32, u64)>,
    asked: Option<Instant>,
    orders: BusOrders,
    ingress: CommandIngress,
    /// Joins that were refused.
    pub joins_refused: u64,
    /// Commands that were passed on.
    pub commands: u64,
}

impl Source {
    /// A source that has not joined.
    #[must_use]
    pub fn new(spec: SourceSpec, orders: BusOrders, ingress: CommandIngress) -> Self {
        Self {
            number: controller_number(&spec.name),
            spec,
            session: random_number(),
            seq: 0,
            joined: None,
            answered: None,
            asked: None,
            orders,
            ingress,
            joins_refused: 0,
            commands: 0,
        }
    }

    /// What it commands.
    #[must_use]
    pub const fn spec(&self) -> &SourceSpec {
        &self.spec
    }

    /// True if the joints are its own in this state. A lease ends with the run, with an emergency
    /// stop, and when its commands were missing for too long.
    #[must_use]
    pub fn holds(&self, now: &PortState) -> bool {
        let Some((run_id, tick)) = self.joined else { return false };
        if run_id != now.state.run_id {
            return false;
        }
        let patience = self.spec.hold_ticks + 2 * self.spec.every_ticks;
        if now.state.tick <= tick + patience || now.state.phase != Phase::Running.code() {
            return true;
        }
        let own = |&joint: &usize| {
            let owner = now.owners.get(joint);
            owner.is_some_and(|o| o.controller == self.number && u64::from(o.age_ticks) <= patience)
        };
        self.spec.joints.iter().all(own)
    }

    /// Asks for the joints, not more often than `JOIN_AGAIN`; true if it has them. Waits for the
    /// answer of the loop, which takes a tick.
    pub fn join(&mut self, now: &PortState) -> bool {
        if self.asked.is_some_and(|at| at.elapsed() < JOIN_AGAIN) {
            return false;
        }
        let Some(orders) = self.orders.get() else { return false };
        let request = JoinRequest {
            layout_hash: self.spec.layout_hash,
            session: self.session,
            role: self.spec.role.code(),
            period_ticks: self.spec.every_ticks,
            controller: self.spec.name.clone(),
            units: "SI".into(),
            joints: self.spec.joint_names.clone(),
            ..JoinRequest::default()
        };
        let reply = orders.ask(Order::Join, &self.spec.name, &request);
        self.asked = Some(Instant::now());
        // what was answered before counts no more: the lease is another
        self.answered = None;
        self.joined = match reply {
            Reply::Joined(joined) if joined.verdict == 0 => {
                Some((joined.run_id, joined.first_tick.max(now.state.tick)))
            }
            _ => {
                self.joins_refused += 1;
                None
            }
        };
        self.joined.is_some()
    }

    /// Has to join again before its next command.
    pub fn forget(&mut self) {
        (self.asked, self.joined) = (None, None);
    }

    /// The same, and gives the joints back, if it has them.
    pub fn leave(&mut self) {
        let joined = self.joined.is_some();
        self.forget();
        if let Some(orders) = self.orders.get().filter(|_| joined) {
            let request = LeaveRequest { session: self.session };
            let _lease_may_have_ended = orders.ask(Order::Leave, &self.spec.name, &request);
        }
    }

    /// Run and tick of the last state that asked for a command, if none has been sent yet. The
    /// state itself may have been overtaken by newer ones.
    #[must_use]
    pub fn owed(&self, now: &PortState) -> Option<(u32, u64)> {
        let now = (now.state.run_id, now.state.tick);
        owed(now, self.spec.every_ticks, self.joined?, self.answered)
    }

    /// Whether the state of this run and tick, or a later one, has its answer.
    #[must_use]
    pub fn has_answered(&self, (run_id, tick): (u32, u64)) -> bool {
        self.answered.is_some_and(|(run, last)| run == run_id && tick <= last)
    }

    /// Refuses a command that answers the state of `answers_tick`, as the ingress would.
    pub fn refuse(&self, reason: Rejection, answers_tick: u64) {
        self.ingress.refuse(self.session, reason, answers_tick);
    }

    /// Checks set-points for all joints.
    ///
    /// # Errors
    /// Why they are refused; the ingress has counted it.
    pub fn check(&self, joints: &[JointCommand]) -> Result<(), Rejection> {
        self.ingress.check(joints)
    }

    /// Sends set-points for its joints as the answer to the state of a tick.
    ///
    /// # Errors
    /// Why they were refused at arrival; the ingress has counted it.
    pub fn send(
        &mut self,
        (run_id, answers_tick): (u32, u64),
        joints: Vec<JointCommand>,
    ) -> Result<(), Rejection> {
        self.seq += 1;
        self.commands += 1;
        let sent = self.ingress.take_in_claim(&ClaimedCommand {
            layout_hash: self.spec.layout_hash,
            run_id,
            session: self.session,
            seq: self.seq,
            answers_tick,
            applies_tick: answers_tick,
            joints,
        });
        if sent.is_ok() {
            self.answered = Some((run_id, answers_tick));
        }
        sent
    }
}

/// The state to answer at `now`, of those every so many ticks: the last one since the join that has
/// no answer yet. Runs and ticks.
fn owed(
    (run_id, tick): (u32, u64),
    every_ticks: u64,
    (run_joined, first): (u32, u64),
    answered: Option<(u32, u64)>,
) -> Option<(u32, u64)> {
    let asked = tick - tick % every_ticks.max(1);
    let new = answered.is_none_or(|(run, last)| run != run_id || asked > last);
    (new && run_joined == run_id && asked >= first).then_some((run_id, asked))
}

#[cfg(test)]
mod tests {
    use super::owed;

    /// The ticks that are answered if the thread sees only the states `seen` of run 1.
    fn answers(seen: impl IntoIterator<Item = u64>, every_ticks: u64, first: u64) -> Vec<u64> {
        let mut answered = None;
        let mut all = Vec::new();
        for tick in seen {
            if let Some(at) = owed((1, tick), every_ticks, (1, first), answered) {
                answered = Some(at);
                all.push(at.1);
            }
        }
        all
    }

    #[test]
    fn each_state_that_asks_is_answered_once_also_if_the_thread_sees_only_later_ones() {
        assert_eq!(answers(0..13, 4, 0), [0, 4, 8, 12]);
        // it wakes one tick too late each time
        assert_eq!(answers([1, 5, 9, 13], 4, 0), [0, 4, 8, 12]);
        // one late wake
        assert_eq!(answers((0..=99).chain(103..=300), 100, 0), [0, 100, 200, 300]);
        // it slept over a whole one: the newest counts
        assert_eq!(answers([0, 9, 10], 4, 0), [0, 8]);
    }

    #[test]
    fn what_was_before_the_join_or_in_another_run_is_not_answered() {
        assert_eq!(answers(5..13, 4, 8), [8, 12]);
        assert_eq!(owed((2, 8), 4, (1, 0), None), None);
        assert_eq!(owed((2, 8), 4, (2, 0), Some((1, 100))), Some((2, 8)));
    }
}
