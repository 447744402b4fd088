//! Makes orders of requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::config::{Mode, wall_period_ns};
use crate::ingress::{
    ControllerRegistry, FrictionLimits, check_clear_faults, check_control, check_fault,
    check_friction, check_join, check_leave, check_push, check_saved, check_speed,
};
use crate::limits::LEASES_MAX;
use crate::rt::{JoinAnswer, Request, StateReset};
use crate::simulation::{Denied, Simulation};
use hardstand_protocol::{ControlRequest, ControllerReading, JoinReply, Refusal, SavedState};
use hardstand_protocol::{Join, Rejection};

use super::Order;

/// Knows what orders the loop can be given: it has a plant of its own to try states on.
#[derive(Debug)]
pub struct RequestValidator {
    simulation: Simulation,
    initial: Vec<u64>,
    physics_hash: u64,
    run_id: Arc<AtomicU32>,
    mode: Mode,
    directory: ControllerRegistry,
    shows_log: bool,
}

impl RequestValidator {
    /// A validator for loops around simulations like `simulation`, which is in its initial state.
    /// `run_id` is the number of the run; `directory` gets the names of controllers that join.
    #[must_use]
    pub fn new(
        mut simulation: Simulation,
        physics_hash: u64,
        run_id: Arc<AtomicU32>,
        mode: Mode,
        directory: ControllerRegistry,
    ) -> Self {
        let initial = simulation.snapshot_words();
        Self { simulation, initial, physics_hash, run_id, mode, directory, shows_log: false }
    }

    /// The same for a loop that shows a log: what happens in the run is in the log.
    #[must_use]
    pub fn of_a_log(self) -> Self {
        Self { shows_log: true, ..self }
    }

    /// The order that the bytes of a request ask for.
    ///
    /// # Errors
    /// Why they do not.
    pub fn request(&mut self, order: Order, bytes: &[u8]) -> Result<Request, Refusal> {
        if self.shows_log && order.changes_the_run() {
            let text = "this is a log that is shown: what happens in it happened then".into();
            return Err(Refusal { reason: Rejection::NotOwner, text });
        }
        let run_id = self.run_id.load(Ordering::Relaxed);
        let control = || check_control(bytes, run_id).map(Option::unwrap_or_default);
        Ok(match order {
            Order::Friction => {
                Request::Event(check_friction(bytes, &self.friction_limits(run_id))?)
            }
            Order::Push => Request::Event(check_push(bytes, self.simulation.model(), run_id)?),
            Order::Pause => control().map(|_| Request::Pause)?,
            Order::Resume => control().map(|_| Request::Resume)?,
            Order::Step => Request::Step(check_control(bytes, run_id)?.map_or(1, |r| r.number)),
            Order::RunUntil => match check_control(bytes, run_id)? {
                Some(r) => Request::RunUntil(r.number),
                None => {
                    let text = "run_until needs a payload that names the tick".into();
                    return Err(Refusal { reason: Rejection::Size, text });
                }
            },
            Order::Reset => self.reset(control()?),
            Order::Snapshot => {
                control()?;
                Request::Snapshot(Box::new(Vec::with_capacity(self.initial.len())))
            }
            Order::Restore => self.restore(bytes)?,
            Order::Speed => {
                let (speed, period_ns) = (check_speed(bytes)?, self.simulation.spec().period_ns);
                Request::Speed(if speed > 0.0 { wall_period_ns(period_ns, speed) } else { 0 })
            }
            Order::Stop => control().map(|_| Request::Stop)?,
            Order::Arm => control().map(|_| Request::Arm)?,
            Order::Join => self.join(bytes)?,
            Order::Leave => Request::Leave(check_leave(bytes, run_id)?),
            Order::Fault => Request::Event(check_fault(
                bytes,
                self.simulation.model(),
                self.simulation.spec(),
                run_id,
            )?),
            Order::ClearFaults => Request::Event(check_clear_faults(
                bytes,
                self.simulation.model(),
                self.simulation.spec(),
                run_id,
            )?),
        })
    }

    /// The state that the loop has written.
    #[must_use]
    pub const fn saved(&self, words: Vec<u64>, run_id: u32, tick: u64) -> SavedState {
        let (layout_hash, physics_hash) = (self.simulation.layout_hash(), self.physics_hash);
        SavedState { layout_hash, physics_hash, run_id, tick, words }
    }

    fn join(&self, bytes: &[u8]) -> Result<Request, Refusal> {
        let hashes = (self.simulation.layout_hash(), self.physics_hash);
        let (join, name) = check_join(bytes, self.simulation.model(), hashes)?;
        self.directory.note(&name);
        let in_force = Vec::with_capacity(self.simulation.model().joint_count());
        Ok(Request::Join(Box::new((join, JoinAnswer { in_force, ..Default::default() }))))
    }

    /// What the loop has said to a controller.
    ///
    /// # Errors
    /// Why it may not join.
    pub fn joined(
        &self,
        join: &Join,
        answer: JoinAnswer,
        run_id: u32,
    ) -> Result<JoinReply, Refusal> {
        let refuse = |text| Err(Refusal { reason: Rejection::NotOwner, text });
        match answer.denied {
            None => {}
            Some(Denied::Taken { joint, controller }) => {
                let (joint, other) =
                    (&self.simulation.model().joints[joint].name, self.directory.name(controller));
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
        self.directory.enter(ControllerReading {
            name: self.directory.name(join.controller),
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

    /// A controller has left.
    pub fn left(&self, session: u64) {
        self.directory.leave(session);
    }

    /// Another run has begun.
    pub fn all_left(&self) {
        self.directory.begin_again();
    }

    fn reset(&self, request: ControlRequest) -> Request {
        let (words, rewind) = (self.initial.clone(), request.rewind == 1);
        Request::StateReset(Box::new(StateReset { words, rewind, afresh: true }))
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<Request, Refusal> {
        let saved = check_saved(bytes, self.simulation.layout_hash(), self.physics_hash)?;
        let refuse = |text| Err(Refusal { reason: Rejection::OutOfRange, text });
        if let Err(e) = self.simulation.restore(&saved.words) {
            return refuse(e.to_string());
        }
        if let Some(fault) = self.simulation.failure() {
            return refuse(format!("the state is not one to go on from: {fault:?}"));
        }
        Ok(Request::StateReset(Box::new(StateReset {
            words: saved.words,
            rewind: false,
            afresh: false,
        })))
    }

    fn friction_limits(&self, run_id: u32) -> FrictionLimits {
        let spec = self.simulation.spec();
        let counts = [spec.stations.len(), spec.feet.len(), spec.regions.len()];
        let counts = counts.map(|n| n as u32);
        FrictionLimits { layout_hash: self.simulation.layout_hash(), run_id, counts }
    }
}
