//! The sensors of a robot that are not perfect, and what they show.

use crate::sensor::{
    DelayLine, Dice, FootLoad, FootSensed, FootSensor, FootUnit, ImuErrors, ImuReading, ImuState,
    ImuUnit, JointSensed, JointSensor, JointUnit, LOAD_NUMBERS,
};
use crate::spatial::{Quaternion, Vec3};

use super::failure::NUMBER_MAX;
use super::{PlantSpec, Word};

/// The sensors of a robot; by default all show the truth.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SensorSet {
    /// Which specimens they are, and what chance gives them.
    pub seed: u64,
    /// Inertial measurement unit.
    pub imu: Option<ImuErrors>,
    /// One for each joint; empty: joints report what their drives see.
    pub joints: Vec<JointSensor>,
    /// All feet.
    pub feet: Option<FootSensor>,
}

impl SensorSet {
    /// True if every reading is the truth.
    #[must_use]
    pub const fn is_ideal(&self) -> bool {
        self.imu.is_none() && self.joints.is_empty() && self.feet.is_none()
    }
}

/// Numbers of a reading of the unit: orientation, angular velocity, specific force.
const IMU_NUMBERS: usize = 10;
/// Position, velocity, torque.
const JOINT_NUMBERS: usize = 3;

/// What all sensors show and remember; nothing of those that show the truth.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SensorStates {
    /// Inertial measurement unit, and its samples that are on their way.
    pub imu: Option<ImuState>,
    imu_sent: DelayLine,
    /// Normal force of each foot a tick before, N, where impacts let the unit vibrate.
    normals_n: Vec<f64>,
    /// Joints, and what was true of them in the last ticks.
    pub joints: Vec<JointSensed>,
    joints_before: DelayLine,
    /// Feet, and what was true of them in the last ticks.
    pub feet: Vec<FootSensed>,
    feet_before: DelayLine,
}

impl SensorStates {
    /// Room for what `spec` asks for.
    pub(super) fn new(spec: &PlantSpec) -> Self {
        let sensors = Sensors::new(spec);
        let feet = sensors.feet.len();
        let slots = |of: usize, slots: Option<usize>| DelayLine::new(of, slots.unwrap_or(0));
        let imu_slots = sensors.imu.map(|imu| imu.delay.slots());
        let joint_slots = sensors.joints.iter().map(|j| j.delay.slots()).max();
        let foot_slots = sensors.feet.first().map(|f| f.delay.slots());
        let rings = sensors.imu.is_some_and(|imu| imu.rings());
        Self {
            imu: sensors.imu.map(|_| ImuState::zero()),
            imu_sent: slots(IMU_NUMBERS, imu_slots),
            normals_n: vec![0.0; if rings { spec.feet.len() } else { 0 }],
            joints: vec![JointSensed::default(); sensors.joints.len()],
            joints_before: slots(JOINT_NUMBERS * sensors.joints.len(), joint_slots),
            feet: vec![FootSensed::default(); feet],
            feet_before: slots(LOAD_NUMBERS * feet, foot_slots),
        }
    }

    /// True if a state with these numbers can be shown and continued.
    pub(super) fn is_usable(&self) -> bool {
        let usable = |x: f64| x.abs() <= NUMBER_MAX;
        let joint = |j: &JointSensed| [j.measured.q, j.measured.dq, j.torque_nm];
        let foot = |f: &FootSensed| f.force_F().into_iter().chain(f.moment_F()).all(usable);
        self.imu.iter().all(|imu| numbers_of(&imu.sample).all(usable))
            && self.joints.iter().flat_map(joint).all(usable)
            && self.feet.iter().all(|f| foot(f) && usable(f.normal_n()))
    }

    /// Visits every word.
    #[inline(always)]
    pub(super) fn walk(&mut self, visit: &mut impl FnMut(&'static str, usize, Word<'_>)) {
        let mut index = 0;
        let mut number = |group: &'static str, x: &mut f64| {
            visit(group, index, Word::F64(x));
            index += 1;
        };
        if let Some(imu) = &mut self.imu {
            imu.walk(&mut number);
            self.imu_sent.walk(&mut |x| number("sensor.imu_sent", x));
            self.normals_n.iter_mut().for_each(|x| number("sensor.foot_normal_before", x));
        }
        self.joints.iter_mut().for_each(|joint| joint.walk(&mut number));
        self.joints_before.walk(&mut |x| number("sensor.joint_before", x));
        self.feet.iter_mut().for_each(|foot| foot.walk(&mut number));
        self.feet_before.walk(&mut |x| number("sensor.foot_before", x));
        if let Some(imu) = &mut self.imu {
            visit("sensor.imu_ticks", 0, Word::U64(imu.ticks_mut()));
        }
    }
}

/// What is true at the end of a tick.
pub(super) struct Truth<'a> {
    pub(super) imu: &'a ImuReading,
    /// Position, velocity and torque of a joint, as its drive sees them.
    pub(super) joint: &'a dyn Fn(usize) -> [f64; 3],
    /// What acts on each foot.
    pub(super) feet: &'a [FootLoad],
}

/// The specimens.
#[derive(Clone, Debug)]
pub(super) struct Sensors {
    seed: u64,
    pub(super) imu: Option<ImuUnit>,
    joints: Vec<JointUnit>,
    feet: Vec<FootUnit>,
    /// Room for what acts on the feet; none if no sensor asks for it.
    pub(super) loads: Vec<FootLoad>,
}

impl Sensors {
    pub(super) fn new(spec: &PlantSpec) -> Self {
        let (of, period_ns) = (&spec.sensors, spec.period_ns);
        let joint = |(i, sensor)| JointUnit::new(sensor, i, of.seed, period_ns);
        let foot = |sensor: &FootSensor| -> Vec<FootUnit> {
            (0..spec.feet.len()).map(|i| FootUnit::new(sensor, i, of.seed, period_ns)).collect()
        };
        let imu = of.imu.as_ref().map(|imu| ImuUnit::new(imu, of.seed, period_ns));
        let asks = of.feet.is_some() || imu.is_some_and(|imu| imu.rings());
        Self {
            seed: of.seed,
            imu,
            loads: vec![FootLoad::default(); if asks { spec.feet.len() } else { 0 }],
            joints: of.joints.iter().enumerate().map(joint).collect(),
            feet: of.feet.as_ref().map(foot).unwrap_or_default(),
        }
    }

    /// True if every reading is the truth: then nothing here acts.
    #[inline(always)]
    pub(super) fn is_ideal(&self) -> bool {
        self.imu.is_none() && self.joints.is_empty() && self.feet.is_empty()
    }

    /// Switches all on after `tick` ticks.
    pub(super) fn start(&self, states: &mut SensorStates, tick: u64, truth: &Truth<'_>) {
        let dice = Dice::new(self.seed, tick);
        if let (Some(unit), Some(state)) = (&self.imu, &mut states.imu) {
            *state = unit.start(truth.imu);
            states.imu_sent.push(tick, numbers_of(&state.sample));
            states.imu_sent.settle(tick);
        }
        for (before, load) in states.normals_n.iter_mut().zip(truth.feet) {
            *before = load.normal_n;
        }
        for (i, unit) in self.joints.iter().enumerate() {
            states.joints[i] = unit.start((truth.joint)(i), &dice);
        }
        for ((unit, load), sensed) in self.feet.iter().zip(truth.feet).zip(&mut states.feet) {
            *sensed = unit.start(load, &dice);
        }
        self.keep(states, tick, truth);
        states.joints_before.settle(tick);
        states.feet_before.settle(tick);
    }

    /// Keeps what will be read later.
    fn keep(&self, states: &mut SensorStates, tick: u64, truth: &Truth<'_>) {
        if !states.joints_before.is_empty() {
            let joints = (0..self.joints.len()).flat_map(|i| (truth.joint)(i));
            states.joints_before.push(tick, joints);
        }
        if !states.feet_before.is_empty() {
            let numbers = truth.feet.iter().flat_map(FootLoad::numbers);
            states.feet_before.push(tick, numbers);
        }
    }

    /// Reads all after `tick` ticks.
    pub(super) fn step(&self, states: &mut SensorStates, tick: u64, truth: &Truth<'_>) {
        let dice = Dice::new(self.seed, tick);
        if let (Some(unit), Some(state)) = (&self.imu, &mut states.imu) {
            let mut impact_n = 0.0;
            for (before, load) in states.normals_n.iter_mut().zip(truth.feet) {
                impact_n += (load.normal_n - *before).max(0.0);
                *before = load.normal_n;
            }
            unit.step(state, truth.imu, impact_n, tick);
            states.imu_sent.push(tick, numbers_of(&state.sample));
        }
        self.keep(states, tick, truth);
        let SensorStates { joints, joints_before, feet, feet_before, .. } = states;
        for (i, (unit, sensed)) in self.joints.iter().zip(joints).enumerate() {
            let past = |k| joints_before.line(tick, unit.delay, JOINT_NUMBERS * i + k);
            let now = unit.delay.slots() == 0;
            let at = if now { (truth.joint)(i) } else { core::array::from_fn(past) };
            unit.step(sensed, at, &dice);
        }
        for (i, (unit, sensed)) in self.feet.iter().zip(feet).enumerate() {
            let past = |k| feet_before.line(tick, unit.delay, LOAD_NUMBERS * i + k);
            let load = match (unit.delay.slots(), truth.feet.get(i)) {
                (0, Some(load)) => *load,
                _ => FootLoad::from_numbers(core::array::from_fn(past)),
            };
            unit.step(sensed, &load, &dice);
        }
    }

    /// What the unit shows after `tick` ticks; `None` if that is the truth.
    pub(super) fn imu(&self, states: &SensorStates, tick: u64) -> Option<ImuReading> {
        let (unit, state) = (self.imu.as_ref()?, states.imu.as_ref()?);
        if states.imu_sent.is_empty() {
            return Some(state.sample);
        }
        let [w, x, y, z, a, b, c, d, e, f] =
            core::array::from_fn(|i| states.imu_sent.held(tick, unit.delay, i));
        Some(ImuReading {
            quat_WI: Quaternion { w, x, y, z },
            angular_velocity_I: Vec3::new(a, b, c),
            specific_force_I: Vec3::new(d, e, f),
        })
    }
}

fn numbers_of(reading: &ImuReading) -> impl Iterator<Item = f64> {
    let (w, f) = (reading.angular_velocity_I.to_array(), reading.specific_force_I.to_array());
    reading.quat_WI.wxyz().into_iter().chain(w).chain(f)
}
