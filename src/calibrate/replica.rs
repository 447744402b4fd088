//! The simulated robot, and what the encoders of its joints show.

use hardstand_physics::dynamics::Positions;
use hardstand_physics::plant::{Plant, PlantFailure, PlantSpec};

use super::commands::Commands;

/// A log that begins later, s, is replayed as if it began here: 100 years, which nanoseconds in
/// 64 bits hold.
const LATEST_S: f64 = 3.2e9;

/// A plant whose drives read their encoders at their own rate: in between, a log has what they have
/// read last. Encoders are read here without their steps, which would make an error a staircase.
pub(super) struct Replica {
    pub(super) plant: Plant,
    micro_step_ns: u64,
    micro_steps: u64,
    /// Of joints whose drive has a rate of its own.
    held: Vec<Held>,
}

/// What a drive has read last.
struct Held {
    joint: usize,
    period_ns: u64,
    /// Position, rad, and speed, rad/s.
    read: [f64; 2],
}

impl Replica {
    /// A plant that is at its start, at the time `begin_s` of a log. Ground that moves, and drives
    /// with a rate of their own, go by the time of the log, as they do where the log is of our run.
    pub(super) fn new(mut plant: Plant, spec: &PlantSpec, begin_s: f64) -> Self {
        let drives = spec.drives.joints.iter().enumerate();
        let held = drives.filter_map(|(joint, drive)| {
            let period_ns = drive.timing.control_period_ns()?;
            Some(Held { joint, period_ns, read: plant.at_encoder(joint) })
        });
        let held: Vec<Held> = held.collect();
        let begin_ns = 1e9 * begin_s.clamp(0.0, LATEST_S);
        plant.state_mut().tick = (begin_ns / spec.period_ns as f64).round() as u64;
        plant.wake();
        let (micro_step_ns, micro_steps) = (spec.micro_step_ns(), u64::from(spec.micro_steps));
        Self { plant, micro_step_ns, micro_steps, held }
    }

    /// A tick with these commands.
    pub(super) fn step(&mut self, commands: &Commands<'_>, fresh: bool) -> Option<PlantFailure> {
        let start_ns = self.plant.time_ns();
        let live = |plant: &Plant, held: &Held| plant.at_encoder(held.joint);
        let before: Vec<[f64; 2]> = self.held.iter().map(|held| live(&self.plant, held)).collect();
        let failure = commands.step(&mut self.plant, fresh);
        let last = self.micro_steps.max(1) - 1;
        let last_ns = start_ns + last * self.micro_step_ns;
        for (held, before) in self.held.iter_mut().zip(before) {
            // the first micro-step that begins at the last multiple of the period or after it
            let due_ns = last_ns / held.period_ns * held.period_ns;
            let Some(into_ns) = (due_ns + self.micro_step_ns).checked_sub(start_ns + 1) else {
                continue;
            };
            let part = (into_ns / self.micro_step_ns) as f64 / (last + 1) as f64;
            let after = live(&self.plant, held);
            held.read = [0, 1].map(|k| before[k] + part * (after[k] - before[k]));
        }
        failure
    }

    /// Changes the plant's state; what was read moves along.
    pub(super) fn moved(&mut self, change: impl FnOnce(&mut Plant)) {
        let live = |plant: &Plant, held: &Held| plant.at_encoder(held.joint);
        let before: Vec<[f64; 2]> = self.held.iter().map(|held| live(&self.plant, held)).collect();
        change(&mut self.plant);
        for (held, before) in self.held.iter_mut().zip(before) {
            let after = live(&self.plant, held);
            held.read = [0, 1].map(|k| held.read[k] + after[k] - before[k]);
        }
    }

    /// Position and velocity of a joint as its drive has read them.
    pub(super) fn shown_of(&self, joint: usize) -> [f64; 2] {
        let held = self.held.iter().find(|held| held.joint == joint);
        held.map_or_else(|| self.plant.at_encoder(joint), |held| held.read)
    }

    /// Where the robot is, its joints as their encoders show them.
    pub(super) fn shown(&self) -> Positions {
        let mut out = self.plant.state().q.clone();
        let joints = out.joints.iter_mut().enumerate();
        joints.for_each(|(i, q)| *q = self.shown_of(i)[0]);
        out
    }
}
