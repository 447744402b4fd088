//! What the plant shows after a tick: the payloads of the bus and the log, field by field.
//!
//! The structs are encoded in field order by bincode with fixed-width little-endian integers:
//! `u8`, `u32`, `u64`, `f64` as they are, arrays without a length, `Vec` as a `u64` length and the
//! elements. `docs/protocol.md` lists the offsets.

use std::mem::take;

use serde::{Deserialize, Serialize};

use crate::{BodyReading, JointCommand, PoseDescription, TouchReading, VelocityCommand};

/// State of the robot after `tick` ticks. What a real robot could measure comes first; what only
/// a simulator knows has `truth` in its name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StateReading {
    /// Layout hash: names, order and period, see `model`.
    pub layout_hash: u64,
    /// Run number; a reset starts the next one.
    pub run_id: u32,
    /// Ticks done. A command answers this number.
    pub tick: u64,
    /// Simulated time, ns: `tick × period`, plus what has passed in the runs before this one.
    pub time_ns: u64,
    /// 0 real time, 1 lockstep, 2 budgeted.
    pub mode: u8,
    /// 0 waiting for a controller, 1 running, 2 stopped by a plant failure, 3 paused.
    pub phase: u8,
    /// Plant failure: 0 none, 1 not finite, 2 out of range.
    pub failure: u8,
    /// What the drives obeyed in this tick: 0 zero effort, 1 fresh command, 2 held, 3 damped.
    pub authority: u8,
    /// Age of the command in force, ticks from the state that it answers; `u32::MAX` for none.
    pub command_age_ticks: u32,
    /// Session that owns the robot; 0 for none.
    pub command_session: u64,
    /// Sequence number of the command in force.
    pub command_seq: u64,
    /// Digest chained over all ticks so far.
    pub digest: u64,
    /// Orientation of the IMU in the world, order w, x, y, z.
    pub imu_quat_wxyz: [f64; 4],
    /// Angular velocity in IMU axes, rad/s.
    pub imu_angular_velocity_rad_per_s: [f64; 3],
    /// Specific force in IMU axes, m/s²: +9.81 on z at rest. Mean over the tick.
    pub imu_specific_force_m_per_s2: [f64; 3],
    /// Ground truth: position of the base origin in the world, m.
    pub truth_base_position_m: [f64; 3],
    /// Ground truth: orientation of the base in the world, order w, x, y, z.
    pub truth_base_quat_wxyz: [f64; 4],
    /// Ground truth: velocity of the base origin in world axes, m/s.
    pub truth_base_velocity_m_per_s: [f64; 3],
    /// Ground truth: angular velocity of the base in world axes, rad/s.
    pub truth_base_angular_velocity_rad_per_s: [f64; 3],
    /// Velocity that a controller that walks is asked for, at the start of the coming tick.
    pub velocity_command: VelocityCommand,
    /// One entry per joint, in the order of `model`.
    pub joints: Vec<JointReading>,
    /// One entry per foot, in the order of `model`: 1 if it is down (debounced).
    pub foot_contact: Vec<u8>,
    /// One entry per foot: normal force, N.
    pub foot_normal_n: Vec<f64>,
}

/// One joint's encoder and motor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JointReading {
    /// Position, rad or m.
    pub q: f64,
    /// Velocity, rad/s or m/s.
    pub dq: f64,
    /// Effort that the motor made in the last micro-step, N·m or N.
    pub tau: f64,
}

/// Contact forces after `tick` ticks. Forces act *on the foot by the ground*.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ContactsReading {
    /// Layout hash, as in the state.
    pub layout_hash: u64,
    /// Run number.
    pub run_id: u32,
    /// Ticks done.
    pub tick: u64,
    /// Simulated time, ns.
    pub time_ns: u64,
    /// One entry per foot, in the order of `model`.
    pub feet: Vec<FootReading>,
    /// One entry per contact: stations in the order of `model`, for each all surfaces, or places
    /// for those that are near, see [`places`](Self::places).
    pub stations: Vec<StationReading>,
    /// One entry per constraint, in the order of `model`.
    pub constraints: Vec<ConstraintReading>,
}

/// One point that is held on a plane. All vectors are in world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ConstraintReading {
    /// 1 if it acts.
    pub active: u8,
    /// The point, m. The force acts here.
    pub point_world_m: [f64; 3],
    /// Force on the link in the last micro-step, N; the opposite acts on the link of the plane.
    pub force_world_n: [f64; 3],
    /// Height of the point over the plane, m; 0 while it does not act.
    pub height_m: f64,
    /// Speed of the point relative to the plane, m/s; 0 while it does not act.
    pub speed_m_per_s: f64,
}

/// Resultant contact of one foot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FootReading {
    /// 1 if the foot is down (debounced).
    pub contact: u8,
    /// Sum of the normal forces, N.
    pub normal_n: f64,
    /// Contact point in the world, m: Simbody's centre of pressure, with the mean of the loaded
    /// contact points as reference; in flight, the mean of all contact points.
    pub point_world_m: [f64; 3],
    /// Force on the foot in world axes, N.
    pub force_world_n: [f64; 3],
    /// Moment on the foot about the contact point in world axes, N·m.
    pub moment_world_nm: [f64; 3],
    /// Force on the foot in the foot's own axes, N.
    pub force_foot_n: [f64; 3],
    /// Moment about the contact point in the foot's own axes, N·m.
    pub moment_foot_nm: [f64; 3],
    /// Potential energy stored in the contact, J.
    pub potential_energy_j: f64,
    /// Power that the contact dissipates, W.
    pub power_dissipation_w: f64,
}

/// One station against one surface. All vectors are in world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StationReading {
    /// The body's point nearest to the ground, m. The force acts here.
    pub position_world_m: [f64; 3],
    /// Velocity of that point, m/s.
    pub velocity_world_m_per_s: [f64; 3],
    /// Unit normal of the ground below it.
    pub normal_world: [f64; 3],
    /// Force on the body, N.
    pub force_world_n: [f64; 3],
    /// Elastic part of the friction force, N.
    pub friction_elastic_world_n: [f64; 3],
    /// Damping part of the friction force, N.
    pub friction_damping_world_n: [f64; 3],
    /// Anchor of the friction spring, m.
    pub anchor_world_m: [f64; 3],
    /// Height above the ground, m.
    pub height_m: f64,
    /// Normal force, N: elastic plus damping part.
    pub normal_n: f64,
    /// Elastic part of the normal force, N.
    pub normal_elastic_n: f64,
    /// Damping part of the normal force, N.
    pub normal_damping_n: f64,
    /// Tangential speed relative to the ground, m/s.
    pub slip_m_per_s: f64,
    /// Sliding: 0 sticks, 1 slides.
    pub sliding: f64,
    /// Coefficient of friction in use.
    pub mu: f64,
    /// Static coefficient of friction: the station's, or that of the region it stands in.
    pub mu_static: f64,
    /// Kinetic coefficient of friction, likewise.
    pub mu_kinetic: f64,
    /// Friction limit, N.
    pub friction_limit_n: f64,
    /// Potential energy, J.
    pub potential_energy_j: f64,
    /// Power that the contact dissipates, W.
    pub power_dissipation_w: f64,
}

impl StateReading {
    /// Sum of the normal forces of all feet, N.
    #[must_use]
    pub fn foot_normal_sum_n(&self) -> f64 {
        // the sum of no feet is −0
        0.0 + self.foot_normal_n.iter().sum::<f64>()
    }

    /// Copies without allocating; both have been filled by the same plant.
    pub fn copy_from(&mut self, o: &Self) {
        let mut joints = take(&mut self.joints);
        let mut foot_contact = take(&mut self.foot_contact);
        let mut foot_normal_n = take(&mut self.foot_normal_n);
        joints.clone_from(&o.joints);
        foot_contact.clone_from(&o.foot_contact);
        foot_normal_n.clone_from(&o.foot_normal_n);
        *self = Self { joints, foot_contact, foot_normal_n, ..*o };
    }
}

impl ContactsReading {
    /// Entries of `stations` for each of so many stations: one for each surface, or, if stations
    /// times surfaces are too many for a message, places for those that are near.
    #[must_use]
    pub fn places(&self, stations: usize) -> usize {
        self.stations.len().checked_div(stations).unwrap_or(0)
    }

    /// Copies without allocating; both have been filled by the same plant.
    pub fn copy_from(&mut self, o: &Self) {
        let (mut feet, mut stations) = (take(&mut self.feet), take(&mut self.stations));
        let mut constraints = take(&mut self.constraints);
        feet.clone_from(&o.feet);
        stations.clone_from(&o.stations);
        constraints.clone_from(&o.constraints);
        *self = Self { feet, stations, constraints, ..*o };
    }
}

/// Everything that a viewer shows of one instant. Published at most
/// [`VIEWS_PER_S_MAX`](crate::limits::VIEWS_PER_S_MAX) times a second of wall time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ViewReading {
    /// State.
    pub state: StateReading,
    /// Contacts.
    pub contacts: ContactsReading,
    /// What each drive obeyed: its command, if it is damped only a `kd`, zeros if it is released.
    pub references: Vec<JointCommand>,
    /// Poses of the surfaces that move, in their order.
    pub surfaces: Vec<PoseDescription>,
    /// Who commands each joint.
    pub owners: Vec<OwnerReading>,
    /// Free bodies, in the order of `model`.
    pub bodies: Vec<BodyReading>,
    /// Points where shapes touch: the first
    /// [`TOUCHES_IN_VIEW_MAX`](crate::limits::TOUCHES_IN_VIEW_MAX) of them.
    pub points: Vec<TouchReading>,
}

/// Who commands a joint, and how old the command in force is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnerReading {
    /// [Number](crate::controller_number) of the name under which the controller has joined; 0 if
    /// none has joined for this joint.
    pub controller: u64,
    /// Age of its command, ticks; [`u32::MAX`] for none.
    pub age_ticks: u32,
}
