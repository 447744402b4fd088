//! A port as a controller: it joins, and its commands take the way of every command.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::bus::{Order, OrderPort};
use crate::desk::Reply;
use crate::ingress::CommandIngress;
use crate::rt::{Phase, PortState};
use hardstand_protocol::{
    ClaimedCommand, JoinRequest, JointCommand, LeaveRequest, Rejection, Role, controller_number,
    random_number,
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

    /// Whether the state asks for a command that has not been sent yet.
    #[must_use]
    pub fn owes(&self, now: &PortState) -> bool {
        let (run_id, tick) = (now.state.run_id, now.state.tick);
        let new = self.answered.is_none_or(|(run, last)| run != run_id || tick > last);
        new && self.joined.is_some_and(|(run, _)| run == run_id)
            && tick.is_multiple_of(self.spec.every_ticks)
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
