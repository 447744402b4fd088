//! What the drives obey in a tick.

use std::borrow::Cow;

use hardstand_physics::actuator::Reference;
use hardstand_physics::plant::{Walk, Word};
use hardstand_protocol::{
    Authority, Command, Event, Grant, JointCommand, VelocityCommand, Verdict,
};

use crate::limits::LEASES_MAX;

use super::{Leases, Outcome, Simulation};

/// Who commands, and what: part of the state.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Arbitration {
    pub(super) leases: Leases,
    /// Command in force, one entry for each joint.
    pub(super) command: Vec<JointCommand>,
    /// What controllers that walk are asked for.
    pub(super) velocity: VelocityCommand,
}

impl Arbitration {
    /// No controller commands a robot with `joints` joints.
    pub(super) fn new(joints: usize) -> Self {
        Self {
            leases: Leases::default(),
            command: vec![JointCommand::default(); joints],
            velocity: VelocityCommand::STAND,
        }
    }

    /// True if a run can have left this behind: a restored state may come from anywhere.
    pub(super) fn is_sensible(&self) -> bool {
        !self.leases.is_senseless()
    }
}

impl Walk for Arbitration {
    fn walk(&mut self, visit: &mut impl FnMut(&'static str, usize, Word<'_>)) {
        self.leases.walk(self.command.len(), visit);
        for (i, c) in self.command.iter_mut().enumerate() {
            visit("command.q", i, Word::F64(&mut c.q));
            visit("command.dq", i, Word::F64(&mut c.dq));
            visit("command.kp", i, Word::F64(&mut c.kp));
            visit("command.kd", i, Word::F64(&mut c.kd));
            visit("command.tau_ff", i, Word::F64(&mut c.tau_ff));
        }
        let v = &mut self.velocity;
        let values = [&mut v.vx_m_per_s, &mut v.vy_m_per_s, &mut v.yaw_rate_rad_per_s];
        for (i, value) in values.into_iter().enumerate() {
            visit("velocity_command", i, Word::F64(value));
        }
    }
}

const fn reference(c: &JointCommand) -> Reference {
    Reference { q: c.q, dq: c.dq, kp: c.kp, kd: c.kd, tau_ff: c.tau_ff }
}

impl Simulation {
    /// Judges every candidate; the newest accepted command of each session is in force.
    pub(super) fn take_commands(&mut self, candidates: &[Box<Command>], outcome: &mut Outcome) {
        let (mut fresh, mut fresh_places) = (false, [false; LEASES_MAX]);
        for (candidate, verdict) in candidates.iter().zip(&mut outcome.verdicts) {
            let (tick, spec) = (self.tick(), &self.watchdog);
            let Arbitration { leases, command, .. } = &mut self.arbitration;
            let place = leases.of_session(candidate.session).map(|(place, _)| place);
            *verdict = leases.judge(spec, tick, candidate, (place, command.len()));
            if *verdict != Verdict::Accepted {
                continue;
            }
            match place {
                Some(place) => fresh_places[place] = true,
                None => fresh = true,
            }
            self.put_in_force(candidate, place);
        }
        self.note_fresh(fresh, &fresh_places);
        self.authority = if self.arbitration.leases.stopped {
            Authority::Stopped
        } else if fresh {
            Authority::Fresh
        } else {
            self.weakest(&fresh_places)
        };
        self.refer();
    }

    /// Drives that wait for commands of their own hear which joints have one in this tick.
    fn note_fresh(&mut self, fresh: bool, fresh_places: &[bool; LEASES_MAX]) {
        if self.plant.spec().drives.is_ideal() {
            return;
        }
        for joint in 0..self.references.len() {
            let owner = self.arbitration.leases.owner(joint);
            self.plant.note_fresh(joint, owner.map_or(fresh, |place| fresh_places[place]));
        }
    }

    fn put_in_force(&mut self, candidate: &Command, place: Option<usize>) {
        let leases = &mut self.arbitration.leases;
        if place.is_none() {
            leases.clear(); // of controllers that have gone
        }
        let joints = self.arbitration.command.iter_mut().enumerate();
        let own = joints.filter(|(joint, _)| place.is_none() || leases.owner(*joint) == place);
        for ((_, command), offered) in own.zip(&candidate.joints) {
            *command = *offered;
        }
    }

    /// What the joints obey that obey the least; of a robot without leases, all of them.
    fn weakest(&self, fresh: &[bool; LEASES_MAX]) -> Authority {
        let (tick, spec) = (self.tick(), &self.watchdog);
        let leases = &self.arbitration.leases;
        let of_joint = |joint| {
            let place = leases.owner(joint)?;
            let own = leases.of_joint(joint).authority(spec, tick);
            Some(if fresh[place] { Authority::Fresh } else { own })
        };
        let weakness = |authority: &Authority| match authority {
            Authority::Fresh => 0,
            Authority::Held => 1,
            Authority::Damped | Authority::Stopped => 2,
            Authority::Zero => 3,
        };
        let weakest = (0..self.arbitration.command.len()).filter_map(of_joint).max_by_key(weakness);
        weakest.unwrap_or_else(|| leases.implicit().authority(spec, tick))
    }

    /// What a joint obeys that has no command in this tick.
    fn authority_of(&self, joint: usize) -> Authority {
        let leases = &self.arbitration.leases;
        if leases.stopped {
            return Authority::Stopped;
        }
        leases.of_joint(joint).authority(&self.watchdog, self.tick())
    }

    /// What controllers that walk are asked for.
    #[must_use]
    pub const fn velocity_command(&self) -> VelocityCommand {
        self.arbitration.velocity
    }

    /// What the drives are to do in this tick.
    fn refer(&mut self) {
        for joint in 0..self.references.len() {
            self.references[joint] = match self.authority_of(joint) {
                Authority::Fresh | Authority::Held => reference(&self.arbitration.command[joint]),
                Authority::Damped | Authority::Stopped => self.damper(joint),
                Authority::Zero => Reference::default(),
            };
            let Reference { q, dq, kp, kd, tau_ff } = self.references[joint];
            self.obeyed[joint] = JointCommand { q, dq, kp, kd, tau_ff };
        }
    }

    fn damper(&self, joint: usize) -> Reference {
        self.plant.damper(joint, self.watchdog.damping)
    }

    /// Lets an event of leases happen.
    pub(super) fn change_leases(&mut self, event: &Event) {
        match event {
            Event::Grant(grant) => self.keep_up(grant),
            Event::Stop => {
                self.void_commands();
                self.arbitration.velocity = VelocityCommand::STAND;
            }
            _ => {}
        }
        let tick = self.tick();
        self.arbitration.leases.apply(&self.watchdog, tick, event);
    }

    /// The leases of the coming tick, if these are its events.
    #[must_use]
    pub fn leases_with(&self, events: &[Event]) -> Cow<'_, Leases> {
        self.arbitration.leases.with(&self.watchdog, self.tick(), events)
    }

    /// All controllers are gone: what they commanded last is held as if it were late, until others
    /// come.
    pub fn dismiss(&mut self) {
        self.arbitration.leases.dismiss();
        self.wake();
    }

    /// Joints that get another controller go on as they are until its first command.
    fn keep_up(&mut self, grant: &Grant) {
        let joints = 0..self.arbitration.command.len();
        for joint in joints.filter(|&joint| grant.joints.contains(joint)) {
            match self.authority_of(joint) {
                Authority::Fresh | Authority::Held => {}
                Authority::Damped | Authority::Stopped => self.damp(joint),
                Authority::Zero => self.arbitration.command[joint] = JointCommand::default(),
            }
        }
    }

    /// Emergency stop: all that was commanded is void.
    fn void_commands(&mut self) {
        for joint in 0..self.arbitration.command.len() {
            self.damp(joint);
        }
    }

    fn damp(&mut self, joint: usize) {
        let Reference { kd, .. } = self.damper(joint);
        self.arbitration.command[joint] = JointCommand { kd, ..Default::default() };
    }

    /// The session that commands the robot without having joined, if there is one.
    #[must_use]
    pub fn unjoined_owner(&self) -> Option<u64> {
        self.arbitration.leases.unjoined_owner(&self.watchdog, self.tick())
    }
}
