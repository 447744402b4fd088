//! Makes requests to the loop of orders.

use crate::buffer_pool::EmergencyStop;
use crate::config::{Mode, wall_period_ns};
use crate::ingress::{
    CheckedJoin, ControllerRegistry, FrictionLimits, JoinedSessions, Present, check_anchors,
    check_clear_faults, check_constraint, check_control, check_fault, check_friction, check_join,
    check_leave, check_push, check_saved, check_speed, check_velocity,
};
use crate::limits::LEASES_MAX;
use crate::rt::{JoinAnswer, Request, StateReset};
use crate::simulation::{Denied, Simulation};
use hardstand_protocol::{ControlRequest, ControllerReading, JoinReply, Refusal, SavedState};
use hardstand_protocol::{Join, Order, Rejection};

use super::past_search::{Past, PastSearch};

/// Knows what orders the loop can be given: it has a plant of its own to try states on.
#[derive(Debug)]
pub struct RequestValidator {
    simulation: Simulation,
    initial: Vec<u64>,
    physics_hash: u64,
    mode: Mode,
    registry: ControllerRegistry,
    joined_sessions: JoinedSessions,
    emergency_stop: EmergencyStop,
    shows_log: bool,
    past: Option<Past>,
}

/// What the loop is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedOrder {
    /// The request.
    pub request: Request,
    /// Secret session of a controller that joins; otherwise 0.
    pub session: u64,
}

impl From<Request> for CheckedOrder {
    fn from(request: Request) -> Self {
        Self { request, session: 0 }
    }
}

impl RequestValidator {
    /// A validator for loops around simulations like `simulation`, which is in its initial state.
    /// `registry` gets the names of controllers that join, `joined_sessions` their secrets.
    #[must_use]
    pub fn new(
        mut simulation: Simulation,
        physics_hash: u64,
        mode: Mode,
        (registry, joined_sessions): (ControllerRegistry, JoinedSessions),
        emergency_stop: EmergencyStop,
    ) -> Self {
        let initial = simulation.snapshot_words();
        Self {
            simulation,
            initial,
            physics_hash,
            mode,
            registry,
            joined_sessions,
            emergency_stop,
            shows_log: false,
            past: None,
        }
    }

    /// The same for a run that is recorded.
    #[must_use]
    pub fn with_past(self, past: Option<Past>) -> Self {
        Self { past, ..self }
    }

    /// The same for a loop that shows a log: what happens in the run is in the log.
    #[must_use]
    pub fn of_a_log(self) -> Self {
        Self { shows_log: true, ..self }
    }

    /// The request that an order with this body makes.
    ///
    /// # Errors
    /// Why the order is refused.
    pub fn request(&mut self, order: Order, body: &[u8]) -> Result<CheckedOrder, Refusal> {
        if self.shows_log && order.changes_the_run() {
            return Err(of_a_log());
        }
        let control = || check_control(body);
        let request = match order {
            Order::Friction => Request::Event(check_friction(body, &self.friction_limits())?),
            Order::Push => Request::Event(check_push(body, self.simulation.model())?),
            Order::Pause => control().map(|_| Request::Pause)?,
            Order::Resume => control().map(|_| Request::Resume)?,
            Order::Step => Request::Step(control()?.number),
            Order::RunUntil => Request::RunUntil(control()?.number),
            Order::Reset => self.reset(control()?),
            Order::Snapshot => {
                self.check_past(control()?)?;
                Request::Snapshot(Box::new(Vec::with_capacity(self.initial.len())))
            }
            Order::Restore => self.restore(body)?,
            Order::Speed => {
                let (speed, period_ns) = (check_speed(body)?, self.simulation.spec().period_ns);
                Request::Speed(if speed > 0.0 { wall_period_ns(period_ns, speed) } else { 0 })
            }
            Order::Stop => return Err(own_way()),
            Order::Arm => {
                control()?;
                Request::Arm { stops: self.emergency_stop.requests(), void: false }
            }
            Order::Join => return self.join(body),
            Order::Leave => self.leave(body)?,
            Order::Fault => {
                let (model, spec) = (self.simulation.model(), self.simulation.spec());
                Request::Event(check_fault(body, model, spec)?)
            }
            Order::ClearFaults => {
                let (model, spec) = (self.simulation.model(), self.simulation.spec());
                Request::Event(check_clear_faults(body, model, spec)?)
            }
            Order::Velocity => Request::Event(check_velocity(body)?),
            Order::Constraint => Request::Event(check_constraint(body, self.simulation.spec())?),
            Order::Anchors => Request::Event(check_anchors(body, &self.friction_limits())?),
        };
        Ok(CheckedOrder::from(request))
    }

    fn check_past(&self, request: ControlRequest) -> Result<(), Refusal> {
        if request.rewind == 1 && self.past.is_none() {
            let text = "there is no log to go back in; start the daemon with --log";
            return Err(Refusal { reason: Rejection::OutOfRange, text: text.into() });
        }
        Ok(())
    }

    /// The search for the state `ticks` ticks before the one that the loop has given.
    ///
    /// # Errors
    /// Why there is none.
    pub fn past_search(&self, now: Present, ticks: u64) -> Result<PastSearch, Refusal> {
        let refuse = |text: String| Refusal { reason: Rejection::OutOfRange, text };
        let tick = now.tick.checked_sub(ticks).ok_or_else(|| {
            refuse(format!("number is {ticks}; there are {} ticks to go back", now.tick))
        })?;
        let past = self.past.clone();
        let past = past.ok_or_else(|| refuse("there is no log to go back in".into()))?;
        Ok(PastSearch::new(past, now, tick))
    }

    /// The state that a search has found.
    #[must_use]
    pub fn found(&self, mut saved: SavedState) -> SavedState {
        saved.controllers = self.registry.present().into_iter().map(|c| c.name).collect();
        saved.summed()
    }

    /// The state that the loop has written.
    #[must_use]
    pub fn saved(&self, words: Vec<u64>, run_id: u32, tick: u64) -> SavedState {
        let (layout_hash, physics_hash) = (self.simulation.layout_hash(), self.physics_hash);
        let controllers = self.registry.present().into_iter().map(|c| c.name).collect();
        SavedState { layout_hash, physics_hash, run_id, tick, checksum: 0, controllers, words }
            .summed()
    }

    fn join(&self, body: &[u8]) -> Result<CheckedOrder, Refusal> {
        let hashes = (self.simulation.layout_hash(), self.physics_hash);
        let CheckedJoin { join, name, session } =
            check_join(body, self.simulation.model(), hashes)?;
        if !self.joined_sessions.may_join(join.controller, session) {
            let text = format!(
                "the controller {name:?} has joined in another session, whose connection is \
                 there; stop it, or join under another name"
            );
            return Err(Refusal { reason: Rejection::NotOwner, text });
        }
        self.registry.note_asker(&name);
        let in_force = Vec::with_capacity(self.simulation.model().joint_count());
        let answer = JoinAnswer { in_force, ..Default::default() };
        Ok(CheckedOrder { request: Request::Join(Box::new((join, answer))), session })
    }

    /// What the loop has said to a controller that asked to join with the secret `session`.
    ///
    /// # Errors
    /// Why it may not join.
    pub fn joined(
        &self,
        join: &Join,
        session: u64,
        answer: JoinAnswer,
        run_id: u32,
    ) -> Result<JoinReply, Refusal> {
        let refuse = |text| Err(Refusal { reason: Rejection::NotOwner, text });
        match answer.denied {
            None => {}
            Some(Denied::Taken { joint, controller }) => {
                let (joint, other) =
                    (&self.simulation.model().joints[joint].name, self.registry.name(controller));
                return refuse(format!("joint {joint:?} belongs to the controller {other:?}"));
            }
            Some(Denied::Full) => {
                return refuse(format!("{LEASES_MAX} controllers have joined already"));
            }
            Some(Denied::Owned { session }) => {
                return refuse(format!(
                    "session {session:016x} commands the robot, which has not joined"
                ));
            }
        }
        self.joined_sessions.enter(join.controller, session);
        self.registry.enter(ControllerReading {
            name: self.registry.name(join.controller),
            role: join.role.code(),
            session: answer.session,
            period_ticks: join.schedule.period,
            phase_ticks: join.schedule.phase,
            offset_ticks: join.schedule.offset,
            joints: answer.in_force.len() as u32,
        });
        Ok(JoinReply {
            verdict: 0,
            mode: self.mode.code(),
            run_id,
            session: answer.session,
            first_tick: answer.first_tick,
            in_force: answer.in_force,
            reason: String::new(),
        })
    }

    fn leave(&self, body: &[u8]) -> Result<Request, Refusal> {
        let session = check_leave(body)?;
        let controller = self.joined_sessions.controller(session).ok_or_else(|| {
            let text = "session is not that of a controller that has joined; it is the secret \
                        number of its request to join, not the one that is published";
            Refusal { reason: Rejection::Session, text: text.into() }
        })?;
        Ok(Request::Leave(controller))
    }

    /// A controller has left.
    pub fn left(&self, session: u64) {
        self.joined_sessions.leave(session);
        self.registry.leave(session);
    }

    /// Another run has begun.
    pub fn all_left(&self) {
        self.joined_sessions.clear();
        self.registry.begin_again();
    }

    /// True if the run is recorded.
    #[must_use]
    pub const fn is_recorded(&self) -> bool {
        self.past.is_some()
    }

    /// True if it is [of a log](Self::of_a_log).
    #[must_use]
    pub const fn shows_log(&self) -> bool {
        self.shows_log
    }

    fn reset(&self, request: ControlRequest) -> Request {
        let (words, rewind) = (self.initial.clone(), request.rewind == 1);
        Request::StateReset(Box::new(StateReset { words, rewind, afresh: true }))
    }

    fn restore(&mut self, body: &[u8]) -> Result<Request, Refusal> {
        let saved = check_saved(body, self.simulation.layout_hash(), self.physics_hash)?;
        let refuse = |text| Err(Refusal { reason: Rejection::OutOfRange, text });
        if let Err(e) = self.simulation.restore(&saved.words) {
            return refuse(e.to_string());
        }
        if let Some(failure) = self.simulation.failure() {
            let why = failure.words();
            return refuse(format!("the state is not one to go on from: {why}"));
        }
        self.registry.note_all(Some(&saved));
        Ok(Request::StateReset(Box::new(StateReset {
            words: saved.words,
            rewind: false,
            afresh: false,
        })))
    }

    fn friction_limits(&self) -> FrictionLimits {
        let spec = self.simulation.spec();
        let counts = [spec.stations.len(), spec.feet.len(), spec.regions.len()];
        let counts = counts.map(|n| n as u32);
        let of_shapes = spec.feet.iter().enumerate().filter(|(_, foot)| foot.stations.is_empty());
        let feet_of_shapes = of_shapes.fold(0, |bits, (i, _)| bits | 1 << i);
        FrictionLimits { layout_hash: self.simulation.layout_hash(), counts, feet_of_shapes }
    }
}

/// Why a log that is shown takes no order that would change it.
pub(super) fn of_a_log() -> Refusal {
    let text = "this is a log that is shown: what happens in it happened then".into();
    Refusal { reason: Rejection::NotOwner, text }
}

/// The emergency stop never comes here.
fn own_way() -> Refusal {
    Refusal { reason: Rejection::QueueFull, text: "the emergency stop has a way of its own".into() }
}
