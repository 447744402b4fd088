//! The readings of a simulation after a tick.

use std::ops::AddAssign;

use hardstand_physics::contact::{ContactForce, SpringForce};
use hardstand_physics::plant::{Carrier, CollisionPoint, ContactResult, PlantSpec};
use hardstand_physics::sensor::FootSensed;
use hardstand_physics::spatial::{Quaternion, Transform, Vec3};
use hardstand_protocol::{
    ConstraintReading, DriveReading, DrivesReading, FootReading, JointCommand, JointReading,
    OwnerReading, PlantFailure, PoseDescription, StateReading, StationReading,
};

use super::{Simulation, Snapshot};

/// Normal forces below this are shown as no force at all: the exponential never quite ends, a
/// sensor's resolution does.
const NORMAL_SHOWN_MIN_N: f64 = 1e-6;

/// Joints at a limit of their motors, summed over ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitedJoints {
    /// Those that make the largest effort.
    pub by_effort: u64,
    /// Those that are so fast that they make less than they are asked for.
    pub by_speed: u64,
}

impl AddAssign for LimitedJoints {
    fn add_assign(&mut self, more: Self) {
        self.by_effort += more.by_effort;
        self.by_speed += more.by_speed;
    }
}

impl Simulation {
    /// An empty snapshot with all the room that [`fill`](Self::fill) needs.
    #[must_use]
    pub fn new_snapshot(&self) -> Snapshot {
        let mut s = Snapshot::default();
        s.state.joints.resize(self.model().joint_count(), JointReading::default());
        s.references.resize(self.model().joint_count(), JointCommand::default());
        s.drives.joints.resize(self.state().drives.joints.len(), DriveReading::default());
        s.sensors = self.new_sensors_reading();
        s.surfaces = moving_poses(self.spec(), 0).collect();
        s.owners.resize(self.model().joint_count(), OwnerReading::default());
        s.state.foot_contact.resize(self.spec().feet.len(), 0);
        s.state.foot_normal_n.resize(self.spec().feet.len(), 0.0);
        s.contacts.feet.resize(self.spec().feet.len(), FootReading::default());
        let couplings = self.model().couplings.len();
        let constraints = self.spec().constraints.len() + couplings;
        s.contacts.constraints.resize(constraints, ConstraintReading::default());
        s.contacts.stations.resize(self.contacts().evaluated().len(), StationReading::default());
        s.bodies = self.new_bodies_reading();
        s
    }

    /// Fills `out` with the readings of the current state: everything belongs to the same instant.
    /// `run_id`, `mode` and `phase` are left to the caller. Does not allocate.
    pub fn fill(&self, out: &mut Snapshot) {
        self.fill_state(&mut out.state);
        let c = &mut out.contacts;
        (c.layout_hash, c.tick, c.time_ns) =
            (self.layout_hash(), self.state().tick, self.time_ns());
        self.fill_stations(&mut c.stations);
        self.fill_constraints(&mut c.constraints);
        for (f, foot) in c.feet.iter_mut().enumerate() {
            *foot = self.foot_reading(f);
            foot.contact = out.state.foot_contact[f];
        }
        self.fill_drives(&mut out.drives);
        self.fill_sensors(&mut out.sensors);
        out.second_imu = self.plant.second_imu().copied();
        self.fill_bodies(&mut out.bodies);
        out.references.clone_from(&self.obeyed);
        let poses = moving_poses(self.spec(), self.plant.time_ns());
        out.surfaces.iter_mut().zip(poses).for_each(|(out, pose)| *out = pose);
        let owners = self.leases().owners(self.tick(), out.owners.len());
        out.owners.iter_mut().zip(owners).for_each(|(out, owner)| *out = owner);
    }

    /// [`fill`](Self::fill), but for the contacts.
    pub fn fill_state(&self, s: &mut StateReading) {
        let state = self.state();
        s.layout_hash = self.layout_hash();
        (s.tick, s.time_ns, s.digest) = (state.tick, self.time_ns(), state.digest);
        s.failure = self.failure().map_or(0, PlantFailure::code);
        s.authority = self.authority().code();
        s.command_age_ticks = match self.leases().command_age_ticks(self.tick()) {
            Some(age) => u32::try_from(age).unwrap_or(u32::MAX - 1),
            None => u32::MAX,
        };
        let (joined, implicit) = (&self.leases().places()[0], self.leases().implicit());
        s.command_session = if joined.session != 0 { joined.session } else { implicit.session };
        s.command_seq = implicit.seq;
        let imu = self.imu();
        s.imu_quat_wxyz = imu.quat_WI.wxyz();
        s.imu_angular_velocity_rad_per_s = imu.angular_velocity_I.into();
        s.imu_specific_force_m_per_s2 = imu.specific_force_I.into();
        s.truth_base_position_m = state.q.p_WB.into();
        s.truth_base_quat_wxyz = state.q.quat_WB.wxyz();
        s.truth_base_velocity_m_per_s = state.v.v_WB.into();
        s.truth_base_angular_velocity_rad_per_s = state.v.w_WB.into();
        s.velocity_command = self.arbitration.velocity;
        for (i, joint) in s.joints.iter_mut().enumerate() {
            *joint = self.shown_joint(i);
        }
        for f in 0..state.switches.len() {
            let (contact, normal_n) = self.shown_by_foot(f);
            (s.foot_contact[f], s.foot_normal_n[f]) = (u8::from(contact), normal_n);
        }
    }

    /// What joint `i` reports: its encoder and its effort, with their errors and faults.
    #[must_use]
    pub fn shown_joint(&self, i: usize) -> JointReading {
        let [mut q, mut dq, tau] = self.plant.reported_joint(i);
        if !self.faults.is_empty() {
            [q, dq] = self.shown_by_encoder(i);
        }
        JointReading { q, dq, tau }
    }

    /// What drives show that are not ideal.
    fn fill_drives(&self, out: &mut DrivesReading) {
        let (state, drives) = (self.state(), &self.spec().drives.joints);
        (out.layout_hash, out.tick, out.time_ns) = (self.layout_hash(), state.tick, self.time_ns());
        out.bus_v = state.drives.bus_v;
        let joints = out.joints.iter_mut().zip(&state.drives.joints).zip(drives);
        for (i, ((out, own), drive)) in joints.enumerate() {
            *out = DriveReading {
                motor_q: own.rotor.q,
                motor_dq: own.rotor.dq,
                truth_q: state.q.joints[i],
                truth_dq: state.v.joints[i],
                current_a: drive.motor.current_a(&drive.gear, own.torque_nm),
                winding_c: own.temperatures.winding_c,
                housing_c: own.temperatures.housing_c,
                flags: own.flags as u32,
            };
        }
    }

    /// Joints whose motor is at a limit at this instant.
    #[must_use]
    pub fn limited_joints(&self) -> LimitedJoints {
        let state = self.state();
        let mut limited = LimitedJoints::default();
        for (i, joint) in self.model().joints.iter().enumerate() {
            let (q, dq, tau) = (state.q.joints[i], state.v.joints[i], state.motor[i]);
            if tau.abs() >= joint.effort_max && tau != 0.0 {
                limited.by_effort += 1;
            }
            // beyond the limit the effort in the direction of motion fades
            if dq.abs() > joint.velocity_max && self.references[i].pd_effort(q, dq) * dq > 0.0 {
                limited.by_speed += 1;
            }
        }
        limited
    }

    /// Contact and normal force (N) as the sensor of foot `f` shows them.
    pub(super) fn shown_by_foot(&self, f: usize) -> (bool, f64) {
        match self.faults.stuck_foot(f) {
            Some([closed, normal_n]) => (closed != 0.0, normal_n),
            None => {
                let sensed = self.state().sensors.feet.get(f);
                let normal_n = sensed.map_or_else(|| self.shown_normal_n(f), FootSensed::normal_n);
                (self.state().switches[f].closed, normal_n)
            }
        }
    }

    /// Sum of the normal forces of foot `f` that can be seen, N.
    fn shown_normal_n(&self, f: usize) -> f64 {
        let all = self.contacts().of_stations(&self.spec().feet[f].stations);
        let shown = all.map(|i| &self.contacts().evaluated()[i]).filter(|at| is_shown(&at.force));
        let shapes = self.shapes_shown(f).map(CollisionPoint::normal_n);
        // the sum of nothing is −0
        shown.map(|at| at.normal_W().norm()).chain(shapes).sum::<f64>() + 0.0
    }

    /// Points of the shapes of foot `f` whose forces can be seen.
    fn shapes_shown(&self, f: usize) -> impl Iterator<Item = &CollisionPoint> + Clone {
        let all = self.plant.collisions().of_shapes(&self.spec().feet[f].shapes);
        all.filter(|at| is_shown(at.spring_force()))
    }

    fn fill_constraints(&self, out: &mut [ConstraintReading]) {
        let (all, data) = (self.plant.constraints(), self.data());
        for (i, (out, point)) in out.iter_mut().zip(all.points()).enumerate() {
            let point_world_m = point.p_WF(data).into();
            *out = ConstraintReading { point_world_m, ..ConstraintReading::default() };
            if all.is_active(i) {
                out.active = 1;
                out.force_world_n = all.force_on_follower_W(i, data).into();
                out.height_m = point.position_error(data);
                let error = point.velocity_errors(data);
                out.speed_m_per_s = if point.slides { error.z.abs() } else { error.norm() };
            }
        }
        let (of_couplings, state) = (&mut out[all.points().len()..], self.state());
        for (i, (out, coupling)) in of_couplings.iter_mut().zip(all.couplings()).enumerate() {
            let body = coupling.follower + 1;
            let axis_W = data.X_WB[body].R * self.model().joints[coupling.follower].axis;
            *out = ConstraintReading {
                active: 1,
                point_world_m: data.X_WB[body].p.into(),
                force_world_n: (axis_W * all.effort_on_follower(i)).into(),
                height_m: coupling.position_error(&state.q.joints),
                speed_m_per_s: coupling.excess(&state.v.joints).abs(),
            };
        }
    }

    fn fill_stations(&self, out: &mut [StationReading]) {
        for (out, at) in out.iter_mut().zip(self.contacts().evaluated()) {
            let v_W = self.data().point_velocity_W(at.body, &at.point_B);
            read_station(at, v_W, out);
        }
    }

    /// Sums up the stations of foot `f`. The reference of its centre of pressure is the mean of the
    /// contact points.
    fn foot_reading(&self, f: usize) -> FootReading {
        let foot = &self.spec().feet[f];
        let evaluated = self.contacts().evaluated();
        let all = self.contacts().of_stations(&foot.stations).map(|i| &evaluated[i]);
        let shown = all.clone().filter(|at| is_shown(&at.force));
        let shapes = self.shapes_shown(f);
        let points = shown.clone().map(|at| at.touch.point_W);
        let points = points.chain(shapes.clone().map(|at| at.point_W));
        let reference = mean_of(points).or_else(|| mean_of(all.map(|at| at.touch.point_W)));
        let parts = shown.map(|at| (at.record_W(), at.normal_W()));
        let parts = parts.chain(shapes.map(|at| on_link(at, foot.body)));
        let record = ContactForce::resultant(parts, &reference.unwrap_or_default());
        let R_WF = self.data().X_WB[foot.body].R * foot.X_BF.R;
        FootReading {
            contact: 0,
            normal_n: self.shown_normal_n(f),
            point_world_m: record.point.into(),
            force_world_n: record.force.into(),
            moment_world_nm: record.moment.into(),
            force_foot_n: R_WF.tr_mul(&record.force).into(),
            moment_foot_nm: R_WF.tr_mul(&record.moment).into(),
            potential_energy_j: record.potential_energy_j,
            power_dissipation_w: record.power_dissipation_w,
        }
    }
}

/// Force and normal force on this link of a point of which it is one side.
fn on_link(at: &CollisionPoint, link: usize) -> (ContactForce, Vec3) {
    let (record, normal_W) = (at.record_W(), at.normal_W());
    if at.carriers[0] == Carrier::Link(link) {
        return (record, normal_W);
    }
    (record.on_surface_1(), -normal_W)
}

/// `None` without any point.
fn mean_of(points: impl Iterator<Item = Vec3>) -> Option<Vec3> {
    let (mut sum, mut count) = (Vec3::zeros(), 0.0);
    points.for_each(|point| {
        sum += point;
        count += 1.0;
    });
    (count > 0.0).then(|| sum / count)
}

pub(super) fn is_shown(f: &SpringForce) -> bool {
    f.normal_elastic_n.abs() >= NORMAL_SHOWN_MIN_N || f.normal_n >= NORMAL_SHOWN_MIN_N
}

/// Writes field by field: a reading is large, and there are many in a tick.
#[inline]
fn read_station(at: &ContactResult, v_W: Vec3, out: &mut StationReading) {
    let (f, R_WC) = (&at.force, &at.touch.R_WC);
    out.position_world_m = at.touch.point_W.into();
    out.velocity_world_m_per_s = v_W.into();
    out.normal_world = (R_WC * Vec3::z()).into();
    out.anchor_world_m = (at.touch.point_W + R_WC * (f.anchor_P() - at.touch.p_C)).into();
    out.height_m = at.touch.p_C.z;
    out.slip_m_per_s = at.v_C.xy().norm();
    out.sliding = f.next_sliding;
    out.mu = f.mu;
    out.mu_static = at.friction.mu_static();
    out.mu_kinetic = at.friction.mu_kinetic();
    let (shown, none) = (is_shown(f), SpringForce::default());
    // not R·0, which may be −0
    let in_world = |force_C: Vec3| if shown { (R_WC * force_C).into() } else { [0.0; 3] };
    out.force_world_n = in_world(f.force_P());
    out.friction_elastic_world_n = in_world(f.friction_elastic());
    out.friction_damping_world_n = in_world(f.friction_damping());
    let f = if shown { f } else { &none };
    out.normal_n = f.normal_n;
    out.normal_elastic_n = f.normal_elastic_n;
    out.normal_damping_n = f.normal_damping_n;
    out.friction_limit_n = f.friction_limit_n;
    out.potential_energy_j = f.potential_energy_j;
    out.power_dissipation_w = f.power_dissipation_w;
}

/// The poses of the surfaces that move, in their order, after `time_ns` of simulated time.
pub fn moving_poses(spec: &PlantSpec, time_ns: u64) -> impl Iterator<Item = PoseDescription> {
    let moving = spec.ground.iter().filter(|surface| surface.platform.is_some());
    moving.map(move |surface| pose_of(&surface.pose(time_ns).X_WS))
}

/// A pose as it is published.
#[must_use]
pub fn pose_of(x: &Transform) -> PoseDescription {
    PoseDescription { position_m: x.p.into(), quat_wxyz: Quaternion::from_matrix(&x.R).wxyz() }
}
