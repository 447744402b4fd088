//! A simulation with one controller for all joints, without daemon and bus.

use hardstand_controllers::Runner;
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_physics::model::Model;
use hardstand_protocol::{
    Command, CommandSchedule, Event, Grant, JointCommand, Mode, Phase, StateReading, TickInput,
    controller_number, refused_set_point,
};

use super::solo_lease::{EVERY_TICK, all_joints};
use super::{EventSchedule, Outcome, Simulation};

/// Run number of its states, as in a daemon's first run.
const RUN_ID: u32 = 1;

/// A simulation with one controller, which answers every state or those of every so many ticks: the
/// ticks of a daemon in lockstep.
///
/// ```
/// use std::path::Path;
///
/// use hardstand::config::Scenario;
/// use hardstand::simulation::{Solo, describe};
/// use hardstand_controllers::{Runner, Stand};
///
/// let scenario = Scenario::load(Path::new("config/quadruped.toml"), &[])?;
/// let simulation = scenario.simulation();
/// let model = describe(&simulation, 1, scenario.gains_max, &scenario.hold_gains);
/// let mut runner = Runner::new(Box::new(Stand::new(&model, &[], None, None)?), &model);
/// let mut solo = Solo::with_law(simulation, scenario.events, "legs", &runner)?;
/// for _ in 0..1000 {
///     solo.answer(&mut runner, scenario.gains_max)?;
/// }
/// assert!(solo.simulation.state().q.p_WB.to_array()[2] > 0.25);
/// # Ok::<(), hardstand::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Solo {
    /// The simulation.
    pub simulation: Simulation,
    planned: EventSchedule,
    pub(super) grant: Grant,
    pub(super) pending: Vec<Event>,
    input: TickInput,
    /// Its answer, when it is not in the input of the last tick.
    pub(super) answer: Option<Box<Command>>,
    answers: u64,
    state: StateReading,
}

/// Whether set-points are such as the drives may be given; `gains_max` are the largest `kp` and
/// `kd`.
///
/// # Errors
/// [`ErrorKind::Input`] for the first that is not.
pub fn check_set_points(
    model: &Model,
    set_points: &[JointCommand],
    gains_max: [f64; 2],
) -> Result<()> {
    let Some((i, name, value, allowed)) = refused_set_point(set_points, gains_max) else {
        return Ok(());
    };
    let joint = model.joints.get(i).map_or("?", |joint| joint.name.as_str());
    let text = format!("{name} of {joint} is {value}; {allowed}");
    Err(Error::new(ErrorKind::Input, text))
}

impl Solo {
    /// With the events that a scenario has planned. The controller joins as `name` in the first
    /// tick, for all joints, and answers every tick.
    #[must_use]
    pub fn new(simulation: Simulation, planned: Vec<(u64, Event)>, name: &str) -> Self {
        let (count, number) = (simulation.model().joint_count(), controller_number(name));
        let (schedule, joints) = (EVERY_TICK, all_joints(count));
        let grant = Grant { controller: number, session: number, schedule, required: true, joints };
        let command = Command {
            session: number,
            joints: vec![JointCommand::default(); count],
            ..Command::default()
        };
        let mut state = simulation.new_snapshot().state;
        state.run_id = RUN_ID;
        (state.mode, state.phase) = (Mode::Lockstep.code(), Phase::Running.code());
        Self {
            simulation,
            planned: EventSchedule::new(planned),
            grant,
            pending: vec![Event::Grant(grant)],
            input: TickInput { candidates: Vec::with_capacity(1), ..TickInput::default() },
            answer: Some(Box::new(command)),
            answers: 0,
            state,
        }
    }

    /// The same for a control law, with its joints and its period.
    ///
    /// # Errors
    /// As [`join`](Self::join).
    pub fn with_law(
        simulation: Simulation,
        planned: Vec<(u64, Event)>,
        name: &str,
        runner: &Runner,
    ) -> Result<Self> {
        let mut solo = Self::new(simulation, planned, name);
        solo.join(runner)?;
        Ok(solo)
    }

    pub(super) fn take_answer_back(&mut self) {
        self.answer = self.input.candidates.pop().or(self.answer.take());
    }

    /// What the joints are commanded from the next tick that is answered on.
    pub fn set_points(&mut self) -> &mut [JointCommand] {
        let command = self.answer.as_mut().or(self.input.candidates.first_mut());
        command.map_or(&mut [], |command| &mut command.joints)
    }

    /// One tick. If its state is to be answered, `runner` does; `gains_max` are the largest kp and
    /// kd that are allowed.
    ///
    /// # Errors
    /// As [`ask`](Self::ask). The tick is not done then.
    pub fn answer(&mut self, runner: &mut Runner, gains_max: [f64; 2]) -> Result<Outcome> {
        self.ask(runner, gains_max)?;
        Ok(self.step())
    }

    /// Lets `runner` answer the state, if its turn has come.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if a set-point is one that a daemon refuses; as [`Runner::answer`].
    pub fn ask(&mut self, runner: &mut Runner, gains_max: [f64; 2]) -> Result<()> {
        let tick = self.simulation.state().tick;
        if !self.schedule().answers(tick) {
            return Ok(());
        }
        let set_points = runner.answer(self.state())?;
        self.note_set_points(set_points, tick, gains_max)
    }

    /// Lets `runner` answer a state that a faulty link has delayed; an answer that no tick wants is
    /// only counted.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    pub fn show(
        &mut self,
        runner: &mut Runner,
        late: &StateReading,
        is_wanted: bool,
        gains_max: [f64; 2],
    ) -> Result<()> {
        self.answers += u64::from(!is_wanted);
        let set_points = runner.answer(late)?;
        self.note_set_points(set_points, late.tick, gains_max)
    }

    fn note_set_points(
        &mut self,
        set_points: &[JointCommand],
        tick: u64,
        gains_max: [f64; 2],
    ) -> Result<()> {
        check_set_points(self.simulation.model(), set_points, gains_max)
            .map_err(|e| e.within(format!("tick {tick}")))?;
        self.set_points().copy_from_slice(set_points);
        Ok(())
    }

    /// Which states the controller answers, and when its answers apply.
    #[must_use]
    pub const fn schedule(&self) -> CommandSchedule {
        self.grant.schedule
    }

    /// The state, as the daemon publishes it.
    pub fn state(&mut self) -> &StateReading {
        self.simulation.fill_state(&mut self.state);
        &self.state
    }

    /// The inputs of the last tick.
    #[must_use]
    pub const fn input(&self) -> &TickInput {
        &self.input
    }

    /// Something that happens in the next tick.
    pub fn add(&mut self, event: Event) {
        self.pending.push(event);
    }

    /// Goes on from a saved state: what was added and has not happened belonged to the state that
    /// is left. Lease and set-points are those that the new one has for this controller. If it has
    /// no lease there, it joins in the next tick.
    ///
    /// # Errors
    /// As [`Simulation::restore`]; nothing has changed then.
    pub fn restore(&mut self, words: &[u64]) -> Result<()> {
        self.simulation.restore(words)?;
        self.planned.go_to(self.simulation.state().tick);
        self.pending.clear();
        self.take_over();
        Ok(())
    }

    /// Events that are planned from now on.
    pub fn plan(&mut self, planned: Vec<(u64, Event)>) {
        self.planned = EventSchedule::new(planned);
        self.planned.go_to(self.simulation.state().tick);
    }

    /// One tick.
    pub fn step(&mut self) -> Outcome {
        let tick = self.simulation.state().tick;
        let answered = self.schedule().answers(tick).then_some(tick);
        self.step_through(answered, |_, _| None)
    }

    /// One tick, which gets the answer to the state `answered`, if one was answered. Before, `link`
    /// does what it does to the commands on their way. It returns the
    /// box that was there if it keeps it, and takes its own back in [`recycle`](Self::recycle).
    pub fn step_through(
        &mut self,
        answered: Option<u64>,
        link: impl FnOnce(&Simulation, &mut TickInput) -> Option<Box<Command>>,
    ) -> Outcome {
        let tick = self.simulation.state().tick;
        self.take_answer_back();
        self.input.events.clear();
        self.planned.take_due(tick, &mut self.input.events);
        self.input.events.append(&mut self.pending);
        if let Some(state) = answered
            && let Some(mut command) = self.answer.take()
        {
            self.answers += 1;
            (command.seq, command.answers_tick, command.applies_tick) =
                (self.answers, state, state);
            self.input.candidates.push(command);
        }
        let kept = link(&self.simulation, &mut self.input);
        self.answer = kept.or(self.answer.take());
        self.simulation.step(&self.input)
    }

    /// Lets `link` take its boxes out of the input of the last tick; it returns the one that is
    /// none of its own.
    pub fn recycle(&mut self, link: impl FnOnce(&mut Vec<Box<Command>>) -> Option<Box<Command>>) {
        let own = link(&mut self.input.candidates);
        self.answer = own.or(self.answer.take());
    }
}
