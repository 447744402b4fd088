//! What faults do to motors, masses and sensors.

use hardstand_physics::actuator::Reference;
use hardstand_physics::model::Joint;
use hardstand_physics::sensor::ImuReading;
use hardstand_physics::spatial::{Mat3, SpatialInertia, Vec3};

use hardstand_protocol::{FaultKind, InjectedFault, Part};

use crate::simulation::Simulation;

use super::Encoder;

impl Simulation {
    /// Motors and masses as the faults leave them; to be called when a fault has come or gone.
    pub(in crate::simulation) fn equip(&mut self) {
        let Self { plant, faults, .. } = self;
        let limits = |i: usize, joint: &Joint| {
            let mut limits = [joint.effort_max, joint.velocity_max];
            for (fault, _) in faults.active() {
                weaken(&mut limits, &fault, i);
            }
            limits
        };
        let payload = |fault: InjectedFault| {
            let (FaultKind::Payload, Part::Body(b)) = (fault.kind, fault.part) else { return None };
            let [mass_kg, x, y, z] = fault.values;
            let load = SpatialInertia::from_com(mass_kg, &Vec3::new(x, y, z), &Mat3::zeros());
            Some((b as usize, load))
        };
        plant.equip(limits, faults.active().filter_map(|(fault, _)| payload(fault)));
    }

    /// What the drives are to do, as the encoders mislead them: an offset moves the reference, a
    /// stuck encoder leaves an effort that nothing changes.
    pub(in crate::simulation) fn mislead(&mut self) {
        let Self { references, plant, faults, .. } = self;
        for (i, reference) in references.iter_mut().enumerate() {
            match faults.encoder(i, plant.state().tick) {
                None => {}
                Some(Encoder::Off(by)) => reference.q -= by,
                Some(Encoder::Stuck([q, dq])) => {
                    let tau_ff = reference.pd_effort(q, dq);
                    *reference = Reference { tau_ff, ..Reference::default() };
                }
            }
        }
    }

    /// Position and velocity that the encoder of joint `i` shows after the last tick.
    pub(in crate::simulation) fn shown_by_encoder(&self, i: usize) -> [f64; 2] {
        let state = self.plant.state();
        let [q, dq, _] = self.plant.reported_joint(i);
        match self.faults.encoder(i, state.tick.wrapping_sub(1)) {
            None => [q, dq],
            Some(Encoder::Off(by)) => [q + by, dq],
            Some(Encoder::Stuck(shown)) => shown,
        }
    }

    /// What the unit shows with faults of what it would show: axes first, then errors, then limits.
    pub(in crate::simulation) fn shown_by_imu(&self, sound: ImuReading) -> ImuReading {
        if self.faults.is_empty() {
            return sound;
        }
        let mut shown = sound;
        let (w, f) = (&mut shown.angular_velocity_I, &mut shown.specific_force_I);
        let of = |kind: FaultKind| self.faults.of(kind);
        for axes in of(FaultKind::ImuAxesSwapped) {
            (*w, *f) = (exchanged(w, &axes), exchanged(f, &axes));
        }
        for [x, y, z, _] in of(FaultKind::ImuGyroBias) {
            *w += Vec3::new(x, y, z);
        }
        for [x, y, z, _] in of(FaultKind::ImuAccelBias) {
            *f += Vec3::new(x, y, z);
        }
        for [w_max, f_max, ..] in of(FaultKind::ImuSaturated) {
            *w = w.map(|x| x.clamp(-w_max, w_max));
            *f = f.map(|x| x.clamp(-f_max, f_max));
        }
        shown
    }
}

/// Limits of effort and velocity of the motor in joint `i`.
fn weaken([effort, velocity]: &mut [f64; 2], fault: &InjectedFault, i: usize) {
    // a share of 0 is nothing, also of a limit that is infinite
    let share = |x: f64, of: f64| if of == 0.0 { 0.0 } else { x * of };
    let value = fault.values[0];
    match fault.kind {
        FaultKind::MotorDead if fault.part.has_joint(i) => *effort = 0.0,
        FaultKind::MotorDerated if fault.part.has_joint(i) => *effort = share(*effort, value),
        FaultKind::MotorSaturated if fault.part.has_joint(i) => *effort = effort.min(value),
        FaultKind::BatterySag => {
            (*effort, *velocity) = (share(*effort, value), share(*velocity, value));
        }
        _ => {}
    }
}

/// The components that `axes` name, from 1 on, reversed where it has a minus.
fn exchanged(v: &Vec3, axes: &[f64; 4]) -> Vec3 {
    let component = |axis: f64| {
        let i = (axis.abs() as usize).wrapping_sub(1);
        let x = v.to_array().get(i).copied().unwrap_or_default();
        if axis < 0.0 { -x } else { x }
    };
    Vec3::new(component(axes[0]), component(axes[1]), component(axes[2]))
}
