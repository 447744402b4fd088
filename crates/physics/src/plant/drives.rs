//! The drives of all joints, and the battery that they share.

use crate::actuator::drive::{Battery, Drive, DriveJoint, DriveState, Instant, to_ns};
use crate::actuator::{MotorLimits, Reference};
use crate::dynamics::{Data, Positions, Velocities};
use crate::model::Model;

use super::failure::{NUMBER_MAX, REACH_MAX_M, SPEED_MAX};
use super::{PlantSpec, State, Word};

/// The drives of a robot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DriveSet {
    /// One drive for each joint; empty: all are ideal.
    pub joints: Vec<Drive>,
    /// The battery that feeds them.
    pub battery: Battery,
}

impl DriveSet {
    /// True if no drive differs from the ideal one.
    #[must_use]
    pub fn is_ideal(&self) -> bool {
        self.joints.is_empty()
    }

    /// Commands of the past that some drive has not acted on yet, in ticks of `period_ns`, with
    /// that of this tick; 0 if none is delayed.
    fn slots(&self, period_ns: u64) -> usize {
        let longest_ns = self.joints.iter().map(|d| to_ns(d.timing.delay_us)).max().unwrap_or(0);
        if longest_ns == 0 { 0 } else { longest_ns.div_ceil(period_ns.max(1)) as usize + 1 }
    }
}

/// A command under way to a drive.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sent {
    reference: Reference,
    /// 1 if a controller sent it in its tick, 0 if it was held or made up.
    is_fresh: u64,
}

/// The state of all drives; nothing if they are ideal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DriveStates {
    /// One for each joint.
    pub joints: Vec<DriveState>,
    /// Voltage at the battery's terminals, V; 0 without a battery.
    pub bus_v: f64,
    /// Commands under way: all joints of a tick, then those of another; a ring.
    sent: Vec<Sent>,
}

impl DriveStates {
    /// At the start of a run.
    pub(super) fn new(spec: &PlantSpec) -> Self {
        let DriveSet { joints, battery } = &spec.drives;
        let (q, dq) = (&spec.q.joints, &spec.v.joints);
        let state = |(i, drive): (usize, &Drive)| DriveState::new(drive, q[i], dq[i]);
        Self {
            joints: joints.iter().enumerate().map(state).collect(),
            bus_v: if battery.is_there() { battery.terminal_v(0.0) } else { 0.0 },
            sent: vec![Sent::default(); spec.drives.slots(spec.period_ns) * joints.len()],
        }
    }

    /// True if a state with these numbers can be shown and continued.
    pub(super) fn is_usable(&self) -> bool {
        let usable = |x: &f64| x.abs() <= NUMBER_MAX;
        self.joints.iter().all(|joint| joint.numbers().iter().all(usable)) && usable(&self.bus_v)
    }

    /// True if no motor has left the range of positions and speeds.
    pub(super) fn is_in_range(&self) -> bool {
        let near = |joint: &DriveState| joint.rotor.q.abs() <= REACH_MAX_M;
        let slow = |joint: &DriveState| joint.rotor.dq.abs() <= SPEED_MAX;
        self.joints.iter().all(|joint| near(joint) && slow(joint))
    }

    /// Visits every word.
    #[inline(always)]
    pub(super) fn walk(&mut self, visit: &mut impl FnMut(&'static str, usize, Word<'_>)) {
        if self.joints.is_empty() {
            return;
        }
        visit("drive.bus_v", 0, Word::F64(&mut self.bus_v));
        for (i, joint) in self.joints.iter_mut().enumerate() {
            joint.walk(&mut |group, x| visit(group, i, Word::F64(x)));
            visit("drive.flags", i, Word::U64(&mut joint.flags));
        }
        for (i, Sent { reference, is_fresh }) in self.sent.iter_mut().enumerate() {
            let Reference { q, dq, kp, kd, tau_ff } = reference;
            for x in [q, dq, tau_ff] {
                visit("drive.sent", i, Word::F64(x));
            }
            for x in [kp, kd] {
                visit("drive.sent_gain", i, Word::F64(x));
            }
            visit("drive.sent_fresh", i, Word::U64(is_fresh));
        }
    }
}

/// Constants of the drives.
#[derive(Clone, Debug, Default)]
pub(super) struct Drives {
    joints: Vec<DriveJoint>,
    delays_ns: Vec<u64>,
    battery: Battery,
    period_ns: u64,
    h_ns: u64,
    /// Largest effort of each joint, N·m, and share of the supply, as faults leave them.
    limits: Vec<[f64; 2]>,
    /// True for joints whose controller has sent a command in this tick.
    fresh: Vec<bool>,
    /// What the drives are asked for in this tick.
    asked: Vec<Reference>,
    /// Limits that do nothing: a drive's effort is within its own.
    pub(super) unlimited: Vec<MotorLimits>,
}

impl Drives {
    /// The drives of `spec`; `data` holds the articulated inertias of the initial state.
    pub(super) fn new(model: &Model, spec: &PlantSpec, data: &Data) -> Self {
        let DriveSet { joints, battery } = &spec.drives;
        let h_ns = spec.micro_step_ns();
        let joint = |(i, drive): (usize, &Drive)| DriveJoint::new(drive, data.D[i + 1], h_ns);
        Self {
            delays_ns: joints.iter().map(|d| to_ns(d.timing.delay_us)).collect(),
            joints: joints.iter().enumerate().map(joint).collect(),
            battery: *battery,
            period_ns: spec.period_ns,
            h_ns,
            limits: model.joints.iter().map(|j| [j.effort_max, 1.0]).collect(),
            fresh: vec![false; joints.len()],
            asked: vec![Reference::default(); joints.len()],
            unlimited: vec![MotorLimits::of(f64::INFINITY, f64::INFINITY); joints.len()],
        }
    }

    /// True if all drives are ideal: then nothing here acts.
    #[inline(always)]
    pub(super) fn is_ideal(&self) -> bool {
        self.joints.is_empty()
    }

    /// Limits of joint `i` as faults leave them: its effort, N·m, and the share of its speed.
    pub(super) fn limit(&mut self, i: usize, effort_max_nm: f64, speed_share: f64) {
        if let Some(limits) = self.limits.get_mut(i) {
            *limits = [effort_max_nm, speed_share];
        }
    }

    /// Says for each joint whether its controller has sent a command for the coming tick.
    pub(super) fn note_fresh(&mut self, i: usize, is_fresh: bool) {
        if let Some(fresh) = self.fresh.get_mut(i) {
            *fresh = is_fresh;
        }
    }

    /// Sends the commands of `tick` on their way.
    pub(super) fn send(&mut self, states: &mut DriveStates, tick: u64, given: &[Reference]) {
        for (own, given) in self.asked.iter_mut().zip(given) {
            *own = *given;
        }
        let slots = states.sent.len() / self.joints.len().max(1);
        if slots == 0 {
            return;
        }
        let first = (tick % slots as u64) as usize * self.joints.len();
        let slot = states.sent.iter_mut().skip(first);
        for ((sent, reference), is_fresh) in slot.zip(given).zip(&self.fresh) {
            *sent = Sent { reference: *reference, is_fresh: u64::from(*is_fresh) };
        }
    }

    /// What joint `i` has received at `t_ns`, and whether it has come since the micro-step before.
    fn received(&self, states: &DriveStates, i: usize, t_ns: u64) -> (Reference, bool) {
        let delay_ns = self.delays_ns[i];
        if delay_ns == 0 {
            return (self.asked[i], self.fresh[i] && t_ns.is_multiple_of(self.period_ns));
        }
        let Some(sent_ns) = t_ns.checked_sub(delay_ns) else {
            return (Reference::default(), false); // the first command is still under way
        };
        let joints = self.joints.len();
        let tick = sent_ns / self.period_ns;
        let slot = (tick % (states.sent.len() / joints) as u64) as usize;
        let Sent { reference, is_fresh } = states.sent[slot * joints + i];
        let is_new = sent_ns.checked_sub(self.h_ns).is_none_or(|ns| ns / self.period_ns != tick);
        (reference, is_new && is_fresh != 0)
    }

    /// Efforts on the joints during the micro-step that starts at `t_ns`, as references that are
    /// nothing but an effort.
    pub(super) fn step(
        &self,
        states: &mut DriveStates,
        (q, v): (&Positions, &Velocities),
        motors: &[MotorLimits],
        t_ns: u64,
        efforts: &mut [Reference],
    ) {
        let mut power_w = 0.0;
        for (i, joint) in self.joints.iter().enumerate() {
            let (reference, is_fresh) = self.received(states, i, t_ns);
            let [effort_max_nm, supply_share] = self.limits[i];
            let at = Instant {
                t_ns,
                q: q.joints[i],
                dq: v.joints[i],
                bus_v: states.bus_v,
                limits: motors[i],
                effort_max_nm,
                supply_share,
                is_fresh,
            };
            let made = joint.step(&mut states.joints[i], &reference, &at);
            efforts[i] = Reference { tau_ff: made.effort_nm, ..Reference::default() };
            power_w += made.power_w;
        }
        if self.battery.is_there() {
            states.bus_v = self.battery.terminal_v(power_w);
        }
    }

    /// Ends a tick: shows the motors' torques in place of the efforts on the joints, and what the
    /// encoders have seen.
    pub(super) fn end_tick(&self, state: &mut State) {
        let State { q, v, motor, drives, .. } = state;
        let motion = q.joints.iter().zip(&v.joints).zip(motor);
        let joints = self.joints.iter().zip(&mut drives.joints);
        for ((joint, own), ((q, dq), shown)) in joints.zip(motion) {
            joint.refresh(own, *q, *dq);
            if !joint.drive().elastic.acts() {
                (own.rotor.q, own.rotor.dq) = (*q, *dq);
            }
            *shown = own.torque_nm;
        }
    }
}
