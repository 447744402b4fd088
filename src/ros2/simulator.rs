//! Executes the services by requests to the loop.
#![allow(non_snake_case, reason = "monogram notation, see spatial")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::command_subscriber::CommandSubscriber;
use super::frames::{Frames, quaternion, vector};
use super::messages::{
    Accel, ChosenPlaceRequest, Done, Empty, EntityAnswer, EntityRequest, EntityState, Features,
    Header, PlaceRequest, Point, Pose, ResetRequest, SetBoolRequest, SimResult, SimulationState,
    SimulatorFeatures, StateAnswer, StateRequest, StepRequest, Success, Twist,
};
use super::readings::time;
use crate::bus::{Newest, Order, OrderPort, SharedNewest};
use crate::desk::Reply;
use crate::simulation::Simulation;
use hardstand_physics::model::Base;
use hardstand_physics::spatial::{Quaternion, Vec3};
use hardstand_protocol::{ControlRequest, Phase, SavedState};

/// Features by their numbers in `SimulatorFeatures`: state of entities get and set; reset of time
/// and state; simulation state get, set and pause; one step and several.
const FEATURES: [u16; 10] = [10, 11, 20, 21, 22, 24, 25, 26, 31, 32];

/// Scopes of a reset, bits.
const SCOPE_TIME: u8 = 1;
const SCOPE_STATE: u8 = 2;
const SCOPE_ALL: u8 = 255;
/// The asker of orders that come by a service.
const ASKER: &str = "ros2";

/// Tolerance of the length of a quaternion around 1.
const UNIT_WITHIN: f64 = 1e-3;

/// Longest time to wait until the published state shows the effect of a request.
const SHOWN_WITHIN: Duration = Duration::from_millis(500);
/// Longest time until requested ticks begin; after it, the loop was paused first.
const BEGUN_WITHIN: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// The simulation, for the services.
pub(super) struct Simulator {
    orders: OrderPort,
    newest: SharedNewest,
    subscriber: Arc<CommandSubscriber>,
    simulation: Simulation,
    robot: String,
    world: String,
    /// The run that a request stopped at its start, in contrast to a paused run.
    stopped: Option<u32>,
}

/// The parts of an entity's state that a request sets.
#[derive(Clone, Copy, Debug)]
struct Parts {
    pose: bool,
    twist: bool,
}

const ALL_PARTS: Parts = Parts { pose: true, twist: true };

/// Requested ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    run_id: u32,
    from: u64,
    until: u64,
    since: Instant,
    /// When the last of them was seen to be done.
    reached: Option<Instant>,
}

impl Simulator {
    /// Requests go to `orders`; `simulation` is like that of the loop and computes states.
    pub(super) fn new(
        orders: OrderPort,
        (newest, subscriber): (SharedNewest, Arc<CommandSubscriber>),
        simulation: Simulation,
        robot: &str,
    ) -> Self {
        let world = Frames::new(simulation.model(), simulation.spec()).world;
        Self { orders, newest, subscriber, simulation, robot: robot.into(), world, stopped: None }
    }

    pub(super) fn pause(&mut self, r: &SetBoolRequest) -> Success {
        if r.data {
            success(self.pause_now().map(|tick| format!("paused after {tick} ticks")))
        } else {
            success(self.resume_now().map(|tick| format!("runs on after {tick} ticks")))
        }
    }

    /// A node joins with all joints, or leaves.
    pub(super) fn join(&mut self, r: &SetBoolRequest) -> Success {
        if !r.data {
            self.subscriber.leave();
            return success(Ok("left".into()));
        }
        let joined = self.subscriber.join();
        success(joined.map(|()| "joined with all joints".into()).map_err(|e| e.text))
    }

    pub(super) fn reset(&mut self, _: &Empty) -> Success {
        success(self.reset_now(false).map(|()| "the next run has begun".into()))
    }

    pub(super) fn features(&mut self, _: &Empty) -> Features {
        let info = "a reset of the time alone and spawning are not supported: the scenario \
                    defines the robot";
        Features {
            features: SimulatorFeatures {
                features: FEATURES.to_vec(),
                spawn_formats: Vec::new(),
                custom_info: info.into(),
            },
        }
    }

    pub(super) fn state(&mut self, _: &Empty) -> StateAnswer {
        let state = self.state_now();
        StateAnswer { state: SimulationState { state }, result: done(Ok(())) }
    }

    pub(super) fn set_state(&mut self, r: &StateRequest) -> Done {
        let target = r.state.state;
        let result = if target == self.state_now() {
            code(SimResult::ALREADY_IN_TARGET_STATE, "already in this state".into())
        } else {
            match target {
                SimulationState::PLAYING => done(self.resume_now().map(drop)),
                SimulationState::PAUSED => done(self.pause_now().map(drop)),
                SimulationState::STOPPED => {
                    let reset = self.pause_now().and_then(|_tick| self.reset_now(true));
                    if reset.is_ok() {
                        self.stopped = Some(self.newest.get().run_id);
                    }
                    done(reset)
                }
                _ => {
                    let text = format!(
                        "state {target} is not supported; use 0 stopped, 1 playing or 2 paused. \
                         SIGTERM ends the daemon"
                    );
                    code(SimResult::FEATURE_UNSUPPORTED, text)
                }
            }
        };
        Done { result }
    }

    /// Requests ticks; the answer follows when they are done.
    pub(super) fn step(&mut self, r: &StepRequest) -> Result<Steps, Done> {
        let failed = |text: String| Done { result: done(Err(text)) };
        let now = self.newest.get();
        if now.phase != Phase::Paused.code() {
            return Err(failed("the simulation is not paused".into()));
        }
        let request = ControlRequest { number: r.steps, rewind: 0 };
        let until = self.order(Order::Step, &request).map_err(failed)?;
        let from = until.saturating_sub(r.steps);
        Ok(Steps { run_id: now.run_id, from, until, since: Instant::now(), reached: None })
    }

    /// The result of the ticks, once they are done and it shows; or if they are, and the run
    /// `is_over`.
    pub(super) fn stepped(&self, steps: &mut Steps, is_over: bool) -> Option<Done> {
        let Newest { run_id, tick, phase, .. } = self.newest.get();
        let is_paused = phase == Phase::Paused.code();
        let interrupted = if run_id != steps.run_id {
            "another run has begun".into()
        } else if tick >= steps.until {
            // the last tick's state comes before the one that shows the pause; none does if the run
            // ends with it, or goes on and waits for a controller
            let reached = *steps.reached.get_or_insert_with(Instant::now);
            let shows = tick > steps.until || phase != Phase::Running.code();
            return (shows || is_over || reached.elapsed() > SHOWN_WITHIN)
                .then(|| Done { result: done(Ok(())) });
        } else if is_paused && (tick > steps.from || steps.since.elapsed() > BEGUN_WITHIN) {
            format!("paused after {tick} of {} ticks by another request", steps.until)
        } else {
            return None;
        };
        Some(Done { result: done(Err(interrupted)) })
    }

    pub(super) fn reset_simulation(&mut self, r: &ResetRequest) -> Done {
        let scope = if r.scope == 0 { SCOPE_ALL } else { r.scope };
        let result = if scope & SCOPE_STATE == 0 {
            let text = format!(
                "scope {} has no state in it; 2 resets the state, 3 time and state, 0 or 255 all",
                r.scope
            );
            code(SimResult::FEATURE_UNSUPPORTED, text)
        } else {
            done(self.reset_now(scope & SCOPE_TIME != 0))
        };
        Done { result }
    }

    pub(super) fn entity(&mut self, r: &EntityRequest) -> EntityAnswer {
        let found = self.check_entity(&r.entity).and_then(|()| self.load().map_err(failed));
        match found {
            Ok(saved) => EntityAnswer { result: done(Ok(())), state: self.entity_state(&saved) },
            Err(result) => EntityAnswer { result, state: EntityState::default() },
        }
    }

    pub(super) fn set_entity(&mut self, r: &PlaceRequest) -> Done {
        let placed = self.check_entity(&r.entity).and_then(|()| self.place(&r.state, ALL_PARTS));
        Done { result: placed.err().unwrap_or_else(|| done(Ok(()))) }
    }

    /// The acceleration is a result of the forces and is not set, as the definition allows.
    pub(super) fn set_chosen(&mut self, r: &ChosenPlaceRequest) -> Done {
        let parts = Parts { pose: r.set_pose, twist: r.set_twist };
        let placed = self.check_entity(&r.entity).and_then(|()| self.place(&r.state, parts));
        Done { result: placed.err().unwrap_or_else(|| done(Ok(()))) }
    }

    fn check_entity(&self, name: &str) -> Result<(), SimResult> {
        if name == self.robot {
            return Ok(());
        }
        let text = format!("entity {name:?} does not exist; the only one is {:?}", self.robot);
        Err(code(SimResult::NOT_FOUND, text))
    }

    /// Loads the loop's state into the plant of this service.
    fn load(&mut self) -> Result<SavedState, String> {
        match self.orders.ask(Order::Snapshot, ASKER, &ControlRequest::default()) {
            Reply::Order(reply) => Err(reply.reason),
            Reply::Saved(saved) => {
                self.simulation.restore(&saved.words).map_err(|e| e.to_string())?;
                Ok(saved)
            }
            Reply::Joined(joined) => Err(joined.reason),
        }
    }

    /// Ground truth of the base in the loaded state.
    fn entity_state(&self, saved: &SavedState) -> EntityState {
        let (now, period_ns) = (self.newest.get(), self.simulation.spec().period_ns);
        // published time has an offset from the tick count
        let ahead_ns = saved.tick.wrapping_sub(now.tick).wrapping_mul(period_ns);
        let stamp = time(now.time_ns.wrapping_add(ahead_ns));
        let (q, v) = (&self.simulation.state().q, &self.simulation.state().v);
        let [x, y, z] = q.p_WB.into();
        EntityState {
            header: Header { stamp, frame_id: self.world.clone() },
            pose: Pose { position: Point { x, y, z }, orientation: quaternion(q.quat_WB.wxyz()) },
            twist: Twist { linear: vector(&v.v_WB.into()), angular: vector(&v.w_WB.into()) },
            acceleration: Accel::default(),
        }
    }

    /// Starts a new run with the chosen parts of the base's state as requested and everything else
    /// unchanged. Without a part nothing happens.
    fn place(&mut self, wish: &EntityState, parts: Parts) -> Result<(), SimResult> {
        if !parts.pose && !parts.twist {
            return Ok(());
        }
        if self.simulation.model().base == Base::Fixed {
            let text = "the robot is welded to the world".into();
            return Err(code(SimResult::FEATURE_UNSUPPORTED, text));
        }
        let frame = &wish.header.frame_id;
        if !frame.is_empty() && *frame != self.world {
            return Err(failed(format!("frame_id is {frame:?}; it must be {:?}", self.world)));
        }
        let pose = parts.pose.then(|| base_pose(&wish.pose)).transpose().map_err(failed)?;
        let saved = self.load().map_err(failed)?;
        let (q, v) = (&self.simulation.state().q, &self.simulation.state().v);
        let (quat_WB, p_WB) = pose.unwrap_or((q.quat_WB, q.p_WB));
        let twist = [&wish.twist.angular, &wish.twist.linear].map(|v| Vec3::new(v.x, v.y, v.z));
        let [w_WB, v_WB] = if parts.twist { twist } else { [v.w_WB, v.v_WB] };
        self.simulation.place_base(quat_WB, p_WB, w_WB, v_WB);
        if let Some(failure) = self.simulation.failure() {
            let why = failure.advice();
            return Err(failed(format!("the plant cannot continue from this state: {why}")));
        }
        let moved = SavedState { words: self.simulation.snapshot_words(), ..saved }.summed();
        let before = self.newest.get().run_id;
        match self.orders.ask(Order::Restore, ASKER, &moved) {
            Reply::Order(reply) => reply.tick().map_err(|e| failed(e.to_string()))?,
            Reply::Saved(_) | Reply::Joined(_) => 0,
        };
        self.wait_until(|n| n.run_id != before);
        Ok(())
    }

    /// "Stopped" means at the start, until time passes.
    fn state_now(&self) -> u8 {
        let now = self.newest.get();
        match Phase::from_code(now.phase) {
            Some(Phase::Running) => SimulationState::PLAYING,
            Some(Phase::Paused) if self.stopped != Some(now.run_id) || now.tick > 0 => {
                SimulationState::PAUSED
            }
            _ => SimulationState::STOPPED,
        }
    }

    fn pause_now(&mut self) -> Result<u64, String> {
        self.stopped = None;
        let tick = self.order(Order::Pause, &ControlRequest::default())?;
        self.wait_until(|n| n.phase == Phase::Paused.code());
        Ok(tick)
    }

    fn resume_now(&self) -> Result<u64, String> {
        let tick = self.order(Order::Resume, &ControlRequest::default())?;
        self.wait_until(|n| n.phase == Phase::Running.code());
        Ok(tick)
    }

    fn reset_now(&self, rewind: bool) -> Result<(), String> {
        let before = self.newest.get().run_id;
        let request = ControlRequest { rewind: u8::from(rewind), ..Default::default() };
        self.order(Order::Reset, &request)?;
        self.wait_until(|n| n.run_id != before);
        Ok(())
    }

    fn order(&self, order: Order, request: &ControlRequest) -> Result<u64, String> {
        match self.orders.ask(order, ASKER, request) {
            Reply::Order(reply) => reply.tick().map_err(|e| e.to_string()),
            Reply::Saved(saved) => Ok(saved.tick),
            Reply::Joined(joined) => Ok(joined.first_tick),
        }
    }

    /// Waits until the published state shows the effect, so that the next query sees it. Takes a
    /// tick or two.
    fn wait_until(&self, shown: impl Fn(&Newest) -> bool) {
        let begin = Instant::now();
        while !shown(&self.newest.get()) && begin.elapsed() < SHOWN_WITHIN {
            std::thread::sleep(LOOK_AGAIN);
        }
    }
}

fn base_pose(pose: &Pose) -> Result<(Quaternion, Vec3), String> {
    let o = &pose.orientation;
    let quat_WB = Quaternion::from_wxyz([o.w, o.x, o.y, o.z]);
    let length = quat_WB.norm();
    if !(1.0 - UNIT_WITHIN..=1.0 + UNIT_WITHIN).contains(&length) {
        return Err(format!("the length of orientation is {length}; it must be 1"));
    }
    Ok((quat_WB.normalised(), Vec3::new(pose.position.x, pose.position.y, pose.position.z)))
}

fn success(outcome: Result<String, String>) -> Success {
    let success = outcome.is_ok();
    Success { success, message: outcome.unwrap_or_else(|why| why) }
}

const fn code(result: u8, error_message: String) -> SimResult {
    SimResult { result, error_message }
}

fn failed(why: String) -> SimResult {
    code(SimResult::OPERATION_FAILED, why)
}

fn done(outcome: Result<(), String>) -> SimResult {
    outcome.map_or_else(failed, |()| code(SimResult::OK, String::new()))
}
