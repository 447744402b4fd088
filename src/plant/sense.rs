//! Fills a snapshot from the state after a tick.

use crate::contact::SpringForce;
use crate::spatial::Vec3;

use super::{FootReading, JointReading, Plant, Snapshot, StationReading};

/// Normal forces below this are shown as no force at all: the exponential never quite ends, a
/// sensor's resolution does.
const NORMAL_SHOWN_MIN_N: f64 = 1e-6;

impl Plant {
    /// An empty snapshot with all the room that [`fill`](Self::fill) needs.
    #[must_use]
    pub fn new_snapshot(&self) -> Snapshot {
        let mut s = Snapshot::default();
        s.state.joints.resize(self.model().joint_count(), JointReading::default());
        s.state.foot_contact.resize(self.spec().feet.len(), 0);
        s.state.foot_normal_n.resize(self.spec().feet.len(), 0.0);
        s.contacts.feet.resize(self.spec().feet.len(), FootReading::default());
        s.contacts.stations.resize(self.contacts().forces().len(), StationReading::default());
        s
    }

    /// Fills `out` with the readings of the current state: everything belongs to the same instant.
    /// `epoch`, `mode` and `phase` are left to the caller. Does not allocate.
    pub fn fill(&self, out: &mut Snapshot) {
        self.fill_state(out);
        let c = &mut out.contacts;
        (c.layout_hash, c.tick, c.time_ns) =
            (self.layout_hash(), self.state().tick, self.time_ns());
        self.fill_stations(&mut c.stations);
        for (f, foot) in c.feet.iter_mut().enumerate() {
            *foot = self.foot_reading(f, &c.stations);
            foot.contact = u8::from(self.state().switches[f].closed);
            out.state.foot_contact[f] = foot.contact;
            out.state.foot_normal_n[f] = foot.normal_n;
        }
    }

    fn fill_state(&self, out: &mut Snapshot) {
        let (state, s) = (self.state(), &mut out.state);
        s.layout_hash = self.layout_hash();
        (s.tick, s.time_ns, s.digest) = (state.tick, self.time_ns(), state.digest);
        s.fault = self.fault().map_or(0, super::Fault::code);
        s.authority = self.authority().code();
        s.command_age_ticks = match state.watchdog.age_ticks(state.tick.saturating_sub(1)) {
            Some(age) => u32::try_from(age).unwrap_or(u32::MAX - 1),
            None => u32::MAX,
        };
        (s.command_session, s.command_seq) = (state.watchdog.owner, state.watchdog.seq);
        let imu = self.imu();
        s.imu_quat_wxyz = imu.quat_WI.wxyz();
        s.imu_angular_velocity_rad_per_s = imu.angular_velocity_I.into();
        s.imu_specific_force_m_per_s2 = imu.specific_force_I.into();
        s.truth_base_position_m = state.q.p_WB.into();
        s.truth_base_quat_wxyz = state.q.quat_WB.wxyz();
        s.truth_base_velocity_m_per_s = state.v.v_WB.into();
        s.truth_base_angular_velocity_rad_per_s = state.v.w_WB.into();
        for (i, joint) in s.joints.iter_mut().enumerate() {
            *joint =
                JointReading { q: state.q.joints[i], dq: state.v.joints[i], tau: state.motor[i] };
        }
    }

    fn fill_stations(&self, out: &mut [StationReading]) {
        let planes = self.contacts().plane_count();
        for (i, force) in self.contacts().forces().iter().enumerate() {
            let station = &self.spec().stations[i / planes];
            out[i] = self.station_reading(i, force);
            let plane = self.contacts().plane(i % planes);
            let lowest_W = self.data().point_W(station.body, &station.p_BS)
                - plane.vector_W(&Vec3::z()) * station.radius_m;
            out[i].position_world_m = lowest_W.into();
            out[i].velocity_world_m_per_s =
                self.data().point_velocity_W(station.body, &station.p_BS).into();
        }
    }

    fn station_reading(&self, i: usize, f: &SpringForce) -> StationReading {
        let plane = self.contacts().plane(i % self.contacts().plane_count());
        let friction = self.state().contacts[i].friction;
        let mut out = StationReading {
            height_m: f.p_P[2],
            anchor_plane_m: f.next_anchor_P,
            sliding: f.next_sliding,
            mu: f.mu,
            mu_static: friction.mu_static(),
            mu_kinetic: friction.mu_kinetic(),
            ..Default::default()
        };
        if f.normal_elastic_n.abs() < NORMAL_SHOWN_MIN_N && f.normal_n < NORMAL_SHOWN_MIN_N {
            return out;
        }
        out.force_world_n = f.force_W(plane).into();
        out.normal_n = f.normal_n;
        out.normal_elastic_n = f.normal_elastic_n;
        out.normal_damping_n = f.normal_damping_n;
        out.friction_plane_n = [f.friction_P().x, f.friction_P().y];
        out.friction_elastic_plane_n = f.friction_elastic_P;
        out.friction_damping_plane_n = f.friction_damping_P;
        out.friction_limit_n = f.friction_limit_n;
        out.potential_energy_j = f.potential_energy_j;
        out
    }

    /// Sums up the stations of foot `f`.
    fn foot_reading(&self, f: usize, stations: &[StationReading]) -> FootReading {
        let (foot, planes) = (&self.spec().feet[f], self.contacts().plane_count());
        let contacts = || foot.stations.iter().flat_map(|&s| s * planes..(s + 1) * planes);
        let mut out = FootReading::default();
        let (mut force, mut weighted, mut middle) = (Vec3::zeros(), Vec3::zeros(), Vec3::zeros());
        for i in contacts() {
            let s = &stations[i];
            let p = Vec3::from(s.position_world_m);
            middle += p;
            weighted += p * s.normal_n;
            force += Vec3::from(s.force_world_n);
            out.normal_n += s.normal_n;
            out.potential_energy_j += s.potential_energy_j;
            out.power_dissipation_w += dissipation(s, &self.contacts().forces()[i]);
        }
        let count = contacts().count();
        let point = if out.normal_n > 0.0 {
            weighted / out.normal_n
        } else if count > 0 {
            middle / count as f64
        } else {
            middle
        };
        let mut moment = Vec3::zeros();
        for i in contacts() {
            let arm = Vec3::from(stations[i].position_world_m) - point;
            moment += arm.cross(&Vec3::from(stations[i].force_world_n));
        }
        let R_WF = self.data().X_WB[foot.body].R * foot.X_BF.R;
        out.point_world_m = point.into();
        out.force_world_n = force.into();
        out.moment_world_nm = moment.into();
        out.force_foot_n = R_WF.tr_mul(&force).into();
        out.moment_foot_nm = R_WF.tr_mul(&moment).into();
        out
    }
}

fn dissipation(shown: &StationReading, force: &SpringForce) -> f64 {
    if shown.normal_n > 0.0 { -force.damping_power_w() } else { 0.0 }
}
