//! The recorded commands, as they are in force.

use hardstand_physics::actuator::Reference;
use hardstand_physics::plant::{OwnerWords, Plant, PlantFailure};

use super::playback::ROUNDING_S;
use crate::config::Scenario;
use crate::robot_log::{JointTrack, RobotLog};

/// The commands in force.
#[derive(Clone)]
pub(super) struct Commands<'a> {
    log: &'a RobotLog,
    next: usize,
    /// Of the ticks that take them.
    pub(super) period_s: f64,
    references: Vec<Reference>,
}

impl<'a> Commands<'a> {
    /// Those in force in row `row`; gains that the log does not have are the scenario's.
    pub(super) fn new(log: &'a RobotLog, scenario: &Scenario, row: usize) -> Self {
        let reference = |(joint, gains): (&JointTrack, &hardstand_protocol::HoldGains)| {
            let last = |column: &Option<Vec<f64>>, else_: f64| {
                let column = column.as_deref().unwrap_or_default();
                let known = column.get(..=row).unwrap_or_default();
                let first = column.iter().find(|x| !x.is_nan());
                known.iter().rev().find(|x| !x.is_nan()).or(first).copied().unwrap_or(else_)
            };
            let [q, dq, kp, kd, tau_ff] = &joint.command;
            let gain = |own: f64| if q.is_some() { own } else { 0.0 };
            Reference {
                q: last(q, 0.0),
                dq: last(dq, 0.0),
                kp: last(kp, gain(gains.kp)),
                kd: last(kd, gain(gains.kd)),
                tau_ff: last(tau_ff, 0.0),
            }
        };
        let references = log.joints.iter().zip(&scenario.hold_gains).map(reference).collect();
        let period_s = scenario.spec.period_ns as f64 * 1e-9;
        Self { log, next: row + 1, period_s, references }
    }

    /// A tick of `plant` with them.
    pub(super) fn step(&self, plant: &mut Plant, fresh: bool) -> Option<PlantFailure> {
        for joint in 0..self.references.len() {
            plant.note_fresh(joint, fresh);
        }
        plant.step(&self.references, &OwnerWords::default())
    }

    /// Takes the rows up to `time_s`; true if there was a command in one.
    pub(super) fn advance(&mut self, time_s: f64) -> bool {
        let mut is_fresh = false;
        while self.log.time_s.get(self.next).is_some_and(|t| *t <= time_s + ROUNDING_S) {
            for (reference, joint) in self.references.iter_mut().zip(&self.log.joints) {
                let Reference { q, dq, kp, kd, tau_ff } = reference;
                for (slot, column) in [q, dq, kp, kd, tau_ff].into_iter().zip(&joint.command) {
                    if let Some(column) = column
                        && !column[self.next].is_nan()
                    {
                        *slot = column[self.next];
                        is_fresh = true;
                    }
                }
            }
            self.next += 1;
        }
        is_fresh
    }
}
