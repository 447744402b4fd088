//! A simulation with one controller for all joints, without daemon and bus.

use hardstand_error::Result;
use hardstand_protocol::{
    Command, CommandSchedule, Event, Grant, JointCommand, JointSet, TickInput, controller_number,
};

use super::{EventSchedule, Outcome, Simulation};

/// A simulation whose only controller answers every state: the ticks of a daemon in lockstep.
#[derive(Clone, Debug)]
pub struct Solo {
    /// The simulation.
    pub simulation: Simulation,
    planned: EventSchedule,
    grant: Grant,
    pending: Vec<Event>,
    input: TickInput,
}

impl Solo {
    /// With the events that a scenario has planned; the controller joins as `name` in the first
    /// tick.
    #[must_use]
    pub fn new(simulation: Simulation, planned: Vec<(u64, Event)>, name: &str) -> Self {
        let joints = simulation.model().joint_count();
        let number = controller_number(name);
        let command = Command {
            session: number,
            joints: vec![JointCommand::default(); joints],
            ..Command::default()
        };
        let mut all = JointSet::default();
        for joint in 0..joints {
            all.insert(joint);
        }
        let schedule = CommandSchedule { period: 1, phase: 0, offset: 0 };
        let (required, session) = (true, number);
        let grant = Grant { controller: number, session, schedule, required, joints: all };
        Self {
            simulation,
            planned: EventSchedule::new(planned),
            grant,
            pending: vec![Event::Grant(grant)],
            input: TickInput { candidates: vec![Box::new(command)], ..TickInput::default() },
        }
    }

    /// What the joints are commanded from the next tick on.
    pub fn set_points(&mut self) -> &mut [JointCommand] {
        self.input.candidates.first_mut().map_or(&mut [], |c| &mut c.joints)
    }

    /// Something that happens in the next tick.
    pub fn add(&mut self, event: Event) {
        self.pending.push(event);
    }

    /// Goes on from a saved state: what was added and has not happened belonged to the state that
    /// is left. If the controller has no lease in the new one, it joins in the next tick.
    ///
    /// # Errors
    /// As [`Simulation::restore`]; nothing has changed then.
    pub fn restore(&mut self, words: &[u64]) -> Result<()> {
        self.simulation.restore(words)?;
        self.planned.go_to(self.simulation.state().tick);
        self.pending.clear();
        if self.simulation.leases().of_controller(self.grant.controller).is_none() {
            self.pending.push(Event::Grant(self.grant));
        }
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
        self.input.events.clear();
        self.planned.take_due(tick, &mut self.input.events);
        self.input.events.append(&mut self.pending);
        if let Some(command) = self.input.candidates.first_mut() {
            (command.seq, command.answers_tick, command.applies_tick) = (tick + 1, tick, tick);
        }
        self.simulation.step(&self.input)
    }
}
