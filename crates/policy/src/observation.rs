//! The observation of a policy, built from sensors as its contract says.
//!
//! Terms are computed in f64 and rounded to f32 once, after scale and clip; histories keep f32.

use crate::clock::Phases;
use crate::contract::{Contract, Term};
use crate::numbers::Numbers;
use crate::robot::{RobotFacts, Sensors};
use crate::rotation::{rotate, unrotate};

const DOWN: [f64; 3] = [0.0, 0.0, -1.0];

/// Builds the observations of one robot.
#[derive(Clone, Debug)]
pub(crate) struct Observer {
    terms: Vec<TermReader>,
    phases: Option<Phases>,
    /// Whether the next observation is the first after a reset.
    is_fresh: bool,
    layout: Layout,
    /// Space for the value of one term.
    value: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Layout {
    /// All terms of a step side by side, in place of the history of each term.
    by_frame: bool,
    newest_first: bool,
    fill_with_first: bool,
}

#[derive(Clone, Debug)]
struct TermReader {
    reading: Reading,
    scale: Numbers,
    clip: Option<f64>,
    size: usize,
    history: usize,
    decimation: usize,
    /// The last values, oldest first.
    kept: Vec<f32>,
}

/// What a term reads. `turn` is the orientation of the IMU on the base, if it has to be applied.
#[derive(Clone, Debug)]
enum Reading {
    Gyro { turn: Option<[f64; 4]> },
    Acc { turn: Option<[f64; 4]> },
    Gravity { turn: Option<[f64; 4]> },
    Q { places: Vec<usize>, offset: Numbers },
    Dq { places: Vec<usize> },
    LastAction,
    Command { places: Vec<usize> },
    ClockSin,
    ClockCos,
    FootContact,
    Constant(Vec<f64>),
    BaseVelocity { in_base: bool },
    BaseHeight,
}

impl Observer {
    /// For a contract that has been checked against the robot.
    pub(crate) fn new(contract: &Contract, robot: &RobotFacts) -> Self {
        let reader = |term: &Term| {
            let size = term_size(contract, term, robot.feet);
            let (history, decimation) = (at_least_one(term.history), at_least_one(term.decimation));
            TermReader {
                reading: reading(contract, term, robot),
                scale: term.scale.clone(),
                clip: term.clip,
                size,
                history,
                decimation,
                kept: vec![0.0; size * ((history - 1) * decimation + 1)],
            }
        };
        let terms: Vec<TermReader> = contract.observation.iter().map(reader).collect();
        let largest = terms.iter().map(|term| term.size).max().unwrap_or(0);
        Self {
            terms,
            phases: contract.clock.as_ref().map(|clock| Phases::new(clock, contract.policy_hz)),
            is_fresh: true,
            layout: Layout {
                by_frame: contract.history_layout == "frame",
                newest_first: contract.history_order == "newest_first",
                fill_with_first: contract.history_fill == "first",
            },
            value: vec![0.0; largest],
        }
    }

    /// Forgets histories and starts the gait clock.
    pub(crate) fn reset(&mut self) {
        self.is_fresh = true;
        if let Some(phases) = &mut self.phases {
            phases.reset();
        }
    }

    /// Writes the observation to `out`.
    pub(crate) fn observe(
        &mut self,
        sensors: &Sensors<'_>,
        last_action: &[f64],
        command: &[f64],
        out: &mut [f32],
    ) {
        if let Some(phases) = &mut self.phases {
            phases.advance(command);
        }
        let phases = self.phases.as_ref().map_or(&[][..], |phases| &phases.phases_rad);
        let frame: usize = self.terms.iter().map(|term| term.size).sum();
        let fill_with_first = self.is_fresh.then_some(self.layout.fill_with_first);
        let mut begin = 0;
        for term in &mut self.terms {
            let value = &mut self.value[..term.size];
            term.reading.read(sensors, last_action, command, phases, value);
            term.keep(value, fill_with_first);
            let apart = if self.layout.by_frame { frame } else { term.size };
            for (i, past) in term.history().enumerate() {
                let i = if self.layout.newest_first { term.history - 1 - i } else { i };
                out[begin + i * apart..][..term.size].copy_from_slice(past);
            }
            begin += if self.layout.by_frame { term.size } else { term.size * term.history };
        }
        self.is_fresh = false;
    }
}

impl TermReader {
    /// Scales, clips and rounds the value and appends it. `fill_with_first`: the history begins,
    /// with this value or with zeros.
    fn keep(&mut self, value: &mut [f64], fill_with_first: Option<bool>) {
        for (i, value) in value.iter_mut().enumerate() {
            *value *= self.scale.at(i);
            if let Some(clip) = self.clip {
                *value = clipped(*value, clip);
            }
        }
        let last = self.kept.len() - self.size;
        self.kept.copy_within(self.size.., 0);
        let rounded = |value: &f64| rounded(*value);
        for (kept, value) in self.kept[last..].iter_mut().zip(value.iter().map(rounded)) {
            *kept = value;
        }
        let (past, now) = self.kept.split_at_mut(last);
        match fill_with_first {
            None => {}
            Some(false) => past.fill(0.0),
            Some(true) => {
                past.chunks_exact_mut(self.size.max(1)).for_each(|p| p.copy_from_slice(now))
            }
        }
    }

    /// The values of the observation, oldest first.
    fn history(&self) -> impl Iterator<Item = &[f32]> {
        self.kept.chunks_exact(self.size.max(1)).step_by(self.decimation)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "policies take f32")]
fn rounded(value: f64) -> f32 {
    value as f32
}

/// Within ± `limit`; NaN stays.
pub(crate) fn clipped(value: f64, limit: f64) -> f64 {
    let raised = if value < -limit { -limit } else { value };
    if raised > limit { limit } else { raised }
}

fn at_least_one(count: i64) -> usize {
    usize::try_from(count).unwrap_or(1).max(1)
}

impl Reading {
    fn read(
        &self,
        sensors: &Sensors<'_>,
        last_action: &[f64],
        command: &[f64],
        phases_rad: &[f64],
        out: &mut [f64],
    ) {
        let truth = sensors.truth.as_ref();
        match self {
            Self::Gyro { turn } => out.copy_from_slice(&turned(*turn, sensors.gyro_rad_per_s)),
            Self::Acc { turn } => out.copy_from_slice(&turned(*turn, sensors.acc_m_per_s2)),
            Self::Gravity { turn } => {
                let down = unrotate(sensors.imu_quat_wxyz, DOWN);
                out.copy_from_slice(&turned(*turn, down));
            }
            Self::Q { places, offset } => {
                for (i, place) in places.iter().enumerate() {
                    out[i] = reading_at(sensors.q_rad, *place) - offset.at(i);
                }
            }
            Self::Dq { places } => pick(sensors.dq_rad_per_s, places, out),
            Self::LastAction => out.copy_from_slice(last_action),
            Self::Command { places } => pick(command, places, out),
            Self::ClockSin => each(phases_rad, out, libm::sin),
            Self::ClockCos => each(phases_rad, out, libm::cos),
            Self::FootContact => {
                for (i, out) in out.iter_mut().enumerate() {
                    let contact = sensors.foot_contact.get(i);
                    *out = contact.map_or(f64::NAN, |touches| f64::from(u8::from(*touches)));
                }
            }
            Self::Constant(value) => out.copy_from_slice(value),
            Self::BaseVelocity { in_base } => {
                let velocity = truth.map_or([f64::NAN; 3], |truth| match in_base {
                    true => unrotate(truth.base_quat_wxyz, truth.base_velocity_m_per_s),
                    false => truth.base_velocity_m_per_s,
                });
                out.copy_from_slice(&velocity);
            }
            Self::BaseHeight => out[0] = truth.map_or(f64::NAN, |truth| truth.base_position_m[2]),
        }
    }
}

fn reading_at(readings: &[f64], place: usize) -> f64 {
    readings.get(place).copied().unwrap_or(f64::NAN)
}

fn pick(readings: &[f64], places: &[usize], out: &mut [f64]) {
    for (out, place) in out.iter_mut().zip(places) {
        *out = reading_at(readings, *place);
    }
}

fn each(x: &[f64], out: &mut [f64], f: impl Fn(f64) -> f64) {
    for (out, x) in out.iter_mut().zip(x) {
        *out = f(*x);
    }
}

/// The reading of a term; names have been checked.
fn reading(contract: &Contract, term: &Term, robot: &RobotFacts) -> Reading {
    let identity = [1.0, 0.0, 0.0, 0.0];
    let turn =
        (term.frame == "base" && robot.imu_quat_wxyz != identity).then_some(robot.imu_quat_wxyz);
    let names = term.joints.as_ref().unwrap_or(&contract.joints);
    let joint = |name: &String| robot.joints.iter().position(|joint| joint == name);
    match term.term.as_str() {
        "gyro" => Reading::Gyro { turn },
        "acc" => Reading::Acc { turn },
        "gravity" => Reading::Gravity { turn },
        "q" => {
            let usual = names.iter().map(|name| default_q(contract, name)).collect();
            let offset = term.offset.clone().unwrap_or(Numbers::Each(usual));
            Reading::Q { places: names.iter().filter_map(joint).collect(), offset }
        }
        "dq" => Reading::Dq { places: names.iter().filter_map(joint).collect() },
        "last_action" => Reading::LastAction,
        "command" if term.names.is_empty() => {
            Reading::Command { places: (0..contract.commands.len()).collect() }
        }
        "command" => {
            let place = |name| contract.commands.iter().position(|(known, _)| known == name);
            Reading::Command { places: term.names.iter().filter_map(place).collect() }
        }
        "clock_sin" => Reading::ClockSin,
        "clock_cos" => Reading::ClockCos,
        "foot_contact" => Reading::FootContact,
        "base_velocity" => Reading::BaseVelocity { in_base: term.frame == "base" },
        "base_height" => Reading::BaseHeight,
        _ => Reading::Constant(term.value.clone()),
    }
}

/// 0 for a joint that the policy does not command.
fn default_q(contract: &Contract, name: &str) -> f64 {
    let place = contract.joints.iter().position(|joint| joint == name);
    place.map_or(0.0, |i| contract.default_q[i])
}

/// The count of numbers in one value of a term.
pub(crate) fn term_size(contract: &Contract, term: &Term, feet: usize) -> usize {
    match term.term.as_str() {
        "q" | "dq" => term.joints.as_ref().map_or(contract.joints.len(), Vec::len),
        "last_action" => contract.joints.len(),
        "command" if term.names.is_empty() => contract.commands.len(),
        "command" => term.names.len(),
        "clock_sin" | "clock_cos" => contract.clock.as_ref().map_or(0, |c| c.offsets.len()),
        "foot_contact" => feet,
        "constant" => term.value.len(),
        "base_height" => 1,
        _ => 3,
    }
}

fn turned(turn: Option<[f64; 4]>, vector: [f64; 3]) -> [f64; 3] {
    turn.map_or(vector, |quat| rotate(quat, vector))
}
