//! What there is to know of a tick: one row for each published quantity.

use hardstand_physics::math;
use hardstand_protocol::LogTick;
use hardstand_protocol::{
    BodiesReading, BodyReading, ConstraintReading, DriveReading, DrivesReading, FootReading,
    FootSensorReading, JointCommand, JointReading, JointTruth, SensorsReading, StateReading,
    StationReading, TouchReading, Verdict,
};

use super::Role::{self, Detail, Input, Label, Measure};

/// One quantity of something, or one for each of its axes.
pub(super) struct Field<T: 'static> {
    /// Its name; `*` stands for the axis.
    pub(super) name: &'static str,
    pub(super) axes: &'static [&'static str],
    /// Of joints: that of a revolute one, `|`, that of a prismatic one.
    pub(super) unit: &'static str,
    pub(super) meaning: &'static str,
    pub(super) role: Role,
    pub(super) read: fn(&T, usize) -> f64,
}

const ONE: &[&str] = &[""];
const XYZ: &[&str] = &["x", "y", "z"];
const WXYZ: &[&str] = &["w", "x", "y", "z"];

const fn field<T>(
    name: &'static str,
    axes: &'static [&'static str],
    unit: &'static str,
    role: Role,
    read: fn(&T, usize) -> f64,
    meaning: &'static str,
) -> Field<T> {
    Field { name, axes, unit, meaning, role, read }
}

/// Of what was applied in a tick.
#[rustfmt::skip]
pub(super) const APPLIED: [Field<LogTick>; 6] = [
    field("run_id", ONE, "", Label, |t, _| f64::from(t.run_id), "run number"),
    field("candidates", ONE, "", Label, |t, _| t.candidates.len() as f64,
        "commands judged in the tick"),
    field("accepted", ONE, "", Label, |t, _| count(t, |v| *v == Verdict::Accepted),
        "commands accepted in it"),
    field("rejected", ONE, "", Label, |t, _| count(t, |v| matches!(v, Verdict::Rejected(_))),
        "commands refused in it"),
    field("events", ONE, "", Label, |t, _| t.events.len() as f64,
        "events that happened at its beginning"),
    field("missed_deadlines", ONE, "", Label, |t, _| t.missed_deadlines as f64,
        "wall deadlines missed before it, since the start"),
];

fn count(tick: &LogTick, of: fn(&Verdict) -> bool) -> f64 {
    tick.candidates.iter().filter(|o| of(&o.verdict)).count() as f64
}

/// Of the state.
#[rustfmt::skip]
pub(super) const STATE: [Field<StateReading>; 21] = [
    field("tick", ONE, "", Label, |s, _| s.tick as f64, "ticks done"),
    field("time", ONE, "s", Label, |s, _| s.time_ns as f64 / 1e9, "published time"),
    field("mode", ONE, "", Label, |s, _| f64::from(s.mode), "0 real time, 1 lockstep, 2 budgeted"),
    field("phase", ONE, "", Label, |s, _| f64::from(s.phase),
        "0 waiting, 1 running, 2 failed, 3 paused"),
    field("failure", ONE, "", Detail, |s, _| f64::from(s.failure),
        "0 none, 1 not finite, 2 out of range, 3 too many contacts"),
    field("authority", ONE, "", Label, |s, _| f64::from(s.authority),
        "what the drives obeyed: 0 zero effort, 1 fresh command, 2 held, 3 damped, 4 stopped"),
    field("age", ONE, "ticks", Label, |s, _| f64::from(s.command_age_ticks),
        "age of the command in force; 4294967295 for none"),
    field("owned", ONE, "", Label, |s, _| f64::from(u8::from(s.command_session != 0)),
        "1 if a session owns the robot, or was last to own it"),
    field("seq", ONE, "", Label, |s, _| s.command_seq as f64,
        "number of the last accepted command"),
    field("base.*", XYZ, "m", Measure, |s, i| s.truth_base_position_m[i],
        "origin of the base, world"),
    field("base.height", ONE, "m", Detail, |s, _| s.truth_base_position_m[2], "the same as base.z"),
    field("base.quat.*", WXYZ, "", Measure, |s, i| s.truth_base_quat_wxyz[i],
        "orientation of the base in the world"),
    field("base.v*", XYZ, "m/s", Measure, |s, i| s.truth_base_velocity_m_per_s[i],
        "velocity of the base's origin, world"),
    field("base.w*", XYZ, "rad/s", Measure, |s, i| s.truth_base_angular_velocity_rad_per_s[i],
        "angular velocity of the base, world"),
    field("base.tilt", ONE, "rad", Detail, |s, _| tilt_rad(&s.truth_base_quat_wxyz),
        "angle from the base's z-axis to the world's"),
    field("imu.quat.*", WXYZ, "", Detail, |s, i| s.imu_quat_wxyz[i],
        "orientation of the IMU in the world"),
    field("imu.gyro.*", XYZ, "rad/s", Measure, |s, i| s.imu_angular_velocity_rad_per_s[i],
        "angular velocity, IMU's axes"),
    field("imu.accel.*", XYZ, "m/s²", Measure, |s, i| s.imu_specific_force_m_per_s2[i],
        "specific force, IMU's axes, mean over the tick: +9.81 on z at rest"),
    field("cmd_vel.v*", &["x", "y"], "m/s", Detail, |s, i| s.velocity_command.values()[i],
        "velocity that controllers that walk are asked for: ahead, to the left"),
    field("cmd_vel.yaw_rate", ONE, "rad/s", Detail, |s, _| s.velocity_command.yaw_rate_rad_per_s,
        "turn to the left that they are asked for"),
    field("feet.normal", ONE, "N", Measure, |s, _| s.foot_normal_sum_n(),
        "sum of the normal forces of all feet"),
];

/// Of one joint: encoder and motor.
#[rustfmt::skip]
pub(super) const JOINT: [Field<JointReading>; 3] = [
    field("q", ONE, "rad|m", Measure, |j, _| j.q, "position"),
    field("dq", ONE, "rad/s|m/s", Measure, |j, _| j.dq, "velocity"),
    field("tau", ONE, "N·m|N", Measure, |j, _| j.tau, "effort of the motor in the last micro-step"),
];

/// Of one joint: what the drive obeyed.
#[rustfmt::skip]
pub(super) const REFERENCE: [Field<JointCommand>; 2] = [
    field("kp", ONE, "N·m/rad|N/m", Detail, |r, _| r.kp,
        "stiffness that the drive obeyed; 0 when damped or released"),
    field("kd", ONE, "N·m·s/rad|N·s/m", Detail, |r, _| r.kd, "damping that the drive obeyed"),
];

/// Of one joint: the set-points in force.
#[rustfmt::skip]
pub(super) const COMMAND: [Field<JointCommand>; 5] = [
    field("q", ONE, "rad|m", Input, |c, _| c.q, "position set-point of the last accepted command"),
    field("dq", ONE, "rad/s|m/s", Input, |c, _| c.dq, "its velocity set-point"),
    field("kp", ONE, "N·m/rad|N/m", Input, |c, _| c.kp, "its stiffness"),
    field("kd", ONE, "N·m·s/rad|N·s/m", Input, |c, _| c.kd, "its damping"),
    field("tau_ff", ONE, "N·m|N", Input, |c, _| c.tau_ff, "its feed-forward effort"),
];

/// Of one foot. Forces act on the foot by the ground.
#[rustfmt::skip]
pub(super) const FOOT: [Field<FootReading>; 9] = [
    field("contact", ONE, "", Detail, |f, _| f64::from(f.contact), "1 down, 0 up, debounced"),
    field("normal", ONE, "N", Measure, |f, _| f.normal_n, "sum of the normal forces"),
    field("point.*", XYZ, "m", Measure, |f, i| f.point_world_m[i],
        "contact point, world; in flight the mean of its stations"),
    field("force.*", XYZ, "N", Measure, |f, i| f.force_world_n[i], "whole force, world axes"),
    field("moment.*", XYZ, "N·m", Measure, |f, i| f.moment_world_nm[i],
        "moment about the contact point, world axes"),
    field("force_foot.*", XYZ, "N", Detail, |f, i| f.force_foot_n[i],
        "whole force, the foot's axes"),
    field("moment_foot.*", XYZ, "N·m", Detail, |f, i| f.moment_foot_nm[i],
        "moment, the foot's axes"),
    field("energy", ONE, "J", Measure, |f, _| f.potential_energy_j,
        "potential energy stored in the contact"),
    field("dissipation", ONE, "W", Measure, |f, _| f.power_dissipation_w,
        "power that the contact dissipates"),
];

/// Of the contacts of one foot together.
#[rustfmt::skip]
pub(super) const FOOT_CONTACTS: [Field<Vec<StationReading>>; 3] = [
    field("slip", ONE, "m/s", Measure, |c, _| loaded_max(c, |s| s.slip_m_per_s),
        "largest tangential speed of a contact that carries load; 0 in flight"),
    field("sliding", ONE, "", Detail, |c, _| loaded_max(c, |s| s.sliding),
        "largest sliding of a contact that carries load: 0 sticks, 1 slides; 0 in flight"),
    field("height", ONE, "m", Measure, |c, _| lowest_m(c),
        "smallest height of a contact above its ground"),
];

fn loaded_max(contacts: &[StationReading], read: fn(&StationReading) -> f64) -> f64 {
    contacts.iter().filter(|s| s.normal_n > 0.0).map(read).fold(0.0, f64::max)
}

fn lowest_m(contacts: &[StationReading]) -> f64 {
    contacts.iter().map(|s| s.height_m).fold(f64::INFINITY, f64::min)
}

/// Of one station against one surface. Vectors in world axes.
#[rustfmt::skip]
pub(super) const STATION: [Field<StationReading>; 19] = [
    field("position.*", XYZ, "m", Measure, |s, i| s.position_world_m[i],
        "the body's point nearest to the ground"),
    field("velocity.*", XYZ, "m/s", Measure, |s, i| s.velocity_world_m_per_s[i],
        "velocity of that point"),
    field("ground_normal.*", XYZ, "", Detail, |s, i| s.normal_world[i],
        "unit normal of the ground below it"),
    field("force.*", XYZ, "N", Measure, |s, i| s.force_world_n[i], "force on the body"),
    field("friction_elastic.*", XYZ, "N", Detail, |s, i| s.friction_elastic_world_n[i],
        "elastic part of the friction force"),
    field("friction_damping.*", XYZ, "N", Detail, |s, i| s.friction_damping_world_n[i],
        "damping part of the friction force"),
    field("anchor.*", XYZ, "m", Detail, |s, i| s.anchor_world_m[i],
        "anchor of the friction spring"),
    field("height", ONE, "m", Measure, |s, _| s.height_m, "height above the ground"),
    field("normal", ONE, "N", Measure, |s, _| s.normal_n,
        "normal force, elastic plus damping part"),
    field("normal_elastic", ONE, "N", Detail, |s, _| s.normal_elastic_n, "its elastic part"),
    field("normal_damping", ONE, "N", Detail, |s, _| s.normal_damping_n, "its damping part"),
    field("slip", ONE, "m/s", Measure, |s, _| s.slip_m_per_s,
        "tangential speed relative to the ground, loaded or not"),
    field("sliding", ONE, "", Detail, |s, _| s.sliding, "0 sticks, 1 slides"),
    field("mu", ONE, "", Detail, |s, _| s.mu, "coefficient of friction in use"),
    field("mu_static", ONE, "", Detail, |s, _| s.mu_static, "static coefficient of friction"),
    field("mu_kinetic", ONE, "", Detail, |s, _| s.mu_kinetic, "kinetic coefficient of friction"),
    field("friction_limit", ONE, "N", Detail, |s, _| s.friction_limit_n, "largest friction force"),
    field("energy", ONE, "J", Measure, |s, _| s.potential_energy_j, "potential energy"),
    field("dissipation", ONE, "W", Measure, |s, _| s.power_dissipation_w,
        "power that the contact dissipates"),
];

/// Of one station that is a ball with Hertz' contact: `[radius, height]`. Simbody's `a = √(R x)`.
#[rustfmt::skip]
pub(super) const PATCH_RADIUS: Field<[f64; 2]> =
    field("patch_radius", ONE, "m", Detail, |[r, z], _| (r * (-z).max(0.0)).sqrt(),
        "radius of the patch in which the ball and the ground touch");

/// Of one point that is held on a plane. Vectors in world axes.
#[rustfmt::skip]
pub(super) const CONSTRAINT: [Field<ConstraintReading>; 5] = [
    field("active", ONE, "", Detail, |c, _| f64::from(c.active), "1 acts, 0 does not"),
    field("point.*", XYZ, "m", Measure, |c, i| c.point_world_m[i],
        "the link's point that is held, where the force acts"),
    field("force.*", XYZ, "N", Measure, |c, i| c.force_world_n[i],
        "force on the link; the opposite acts on the link of the plane"),
    field("height", ONE, "m", Detail, |c, _| c.height_m,
        "height of the point over its plane: the error; 0 while it does not act"),
    field("speed", ONE, "m/s", Detail, |c, _| c.speed_m_per_s,
        "speed of the point against its plane: the error; 0 while it does not act"),
];

/// Of one joint that follows another. Vectors in world axes.
#[rustfmt::skip]
pub(super) const FOLLOWER: [Field<ConstraintReading>; 5] = [
    field("active", ONE, "", Detail, |c, _| f64::from(c.active), "1: a follower always acts"),
    field("point.*", XYZ, "m", Measure, |c, i| c.point_world_m[i],
        "origin of the link that follows"),
    field("force.*", XYZ, "N·m|N", Measure, |c, i| c.force_world_n[i],
        "effort that makes the joint follow, along its axis"),
    field("height", ONE, "rad|m", Detail, |c, _| c.height_m,
        "position beyond the one that the leader asks for: the error"),
    field("speed", ONE, "rad/s|m/s", Detail, |c, _| c.speed_m_per_s,
        "speed beyond the one that the leader asks for, unsigned: the error"),
];

/// Of all drives together.
#[rustfmt::skip]
pub(super) const BATTERY: [Field<DrivesReading>; 1] = [
    field("battery.voltage", ONE, "V", Measure, |d, _| d.bus_v,
        "voltage at the battery's terminals; 0 without a battery"),
];

/// Of the drive of one joint.
#[rustfmt::skip]
pub(super) const DRIVE: [Field<DriveReading>; 8] = [
    field("motor_q", ONE, "rad|m", Measure, |d, _| d.motor_q,
        "position of the motor's side at the joint"),
    field("motor_dq", ONE, "rad/s|m/s", Measure, |d, _| d.motor_dq, "its velocity"),
    field("truth_q", ONE, "rad|m", Detail, |d, _| d.truth_q,
        "position of the joint, without the errors of the encoder"),
    field("truth_dq", ONE, "rad/s|m/s", Detail, |d, _| d.truth_dq, "its velocity"),
    field("current", ONE, "A", Measure, |d, _| d.current_a,
        "current of the motor; 0 without a torque constant"),
    field("winding", ONE, "°C", Measure, |d, _| d.winding_c, "temperature of the winding"),
    field("housing", ONE, "°C", Measure, |d, _| d.housing_c, "temperature of the housing"),
    field("flags", ONE, "", Detail, |d, _| f64::from(d.flags),
        "1 derated + 2 tripped + 4 watchdog + 8 torque limit + 16 voltage limit"),
];

/// Of one free body.
#[rustfmt::skip]
pub(super) const BODY: [Field<BodyReading>; 7] = [
    field("*", XYZ, "m", Measure, |b, i| b.position_world_m[i], "origin of the body, world"),
    field("height", ONE, "m", Detail, |b, _| b.position_world_m[2], "the same as z"),
    field("quat.*", WXYZ, "", Measure, |b, i| b.quat_wxyz[i], "orientation in the world"),
    field("v*", XYZ, "m/s", Measure, |b, i| b.velocity_world_m_per_s[i],
        "velocity of its origin, world"),
    field("w*", XYZ, "rad/s", Measure, |b, i| b.angular_velocity_world_rad_per_s[i],
        "angular velocity, world"),
    field("speed", ONE, "m/s", Detail, |b, _| length(&b.velocity_world_m_per_s),
        "speed of its origin"),
    field("turn", ONE, "rad/s", Detail, |b, _| length(&b.angular_velocity_world_rad_per_s),
        "how fast it turns"),
];

/// The truth beside an inertial unit with errors.
#[rustfmt::skip]
pub(super) const IMU_TRUTH: [Field<SensorsReading>; 5] = [
    field("truth.imu.quat.*", WXYZ, "", Detail, |s, i| s.truth_imu_quat_wxyz[i],
        "true orientation of the IMU in the world"),
    field("truth.imu.gyro.*", XYZ, "rad/s", Measure,
        |s, i| s.truth_imu_angular_velocity_rad_per_s[i], "true angular velocity, IMU's axes"),
    field("truth.imu.accel.*", XYZ, "m/s²", Measure,
        |s, i| s.truth_imu_specific_force_m_per_s2[i], "true specific force, IMU's axes"),
    field("truth.imu.gyro_bias.*", XYZ, "rad/s", Detail, |s, i| s.truth_gyro_bias_rad_per_s[i],
        "bias of the gyroscope"),
    field("truth.imu.accel_bias.*", XYZ, "m/s²", Detail, |s, i| s.truth_accel_bias_m_per_s2[i],
        "bias of the accelerometer"),
];

/// The truth beside a joint's sensors with errors.
#[rustfmt::skip]
pub(super) const JOINT_TRUTH: [Field<JointTruth>; 3] = [
    field("q", ONE, "rad|m", Measure, |j, _| j.truth_q, "true position"),
    field("dq", ONE, "rad/s|m/s", Measure, |j, _| j.truth_dq, "true velocity"),
    field("tau", ONE, "N·m|N", Measure, |j, _| j.truth_tau, "true effort of the motor"),
];

/// What a foot's sensor with errors shows along all axes; the truth is in the contacts.
#[rustfmt::skip]
pub(super) const FOOT_SENSOR: [Field<FootSensorReading>; 2] = [
    field("sensor.force.*", XYZ, "N", Measure, |f, i| f.force_foot_n[i],
        "force that the sensor shows, the foot's axes"),
    field("sensor.moment.*", XYZ, "N·m", Measure, |f, i| f.moment_foot_nm[i],
        "moment about the foot's origin that the sensor shows"),
];

/// Of the points where shapes touch.
#[rustfmt::skip]
pub(super) const TOUCH: [Field<BodiesReading>; 4] = [
    field("touch.count", ONE, "", Detail,
        |b, _| b.points.len() as f64 + f64::from(b.points_left_out),
        "points where shapes touch the ground or each other"),
    field("touch.force", ONE, "N", Measure, |b, _| most(b, |p| length(&p.force_world_n)),
        "largest force of a point; 0 if nothing touches"),
    field("touch.depth", ONE, "m", Measure, |b, _| most(b, |p| p.depth_m),
        "largest overlap of two shapes that touch; 0 if none do"),
    field("touch.slip", ONE, "m/s", Measure, |b, _| most(b, |p| p.slip_m_per_s),
        "largest tangential speed of two shapes that touch"),
];

/// Of the points of one free body or of one link of the robot; `[count, force]`.
#[rustfmt::skip]
pub(super) const TOUCHED: [Field<[f64; 2]>; 2] = [
    field("touches", ONE, "", Detail, |t, _| t[0], "points where its shapes touch"),
    field("touch_force", ONE, "N", Measure, |t, _| t[1],
        "magnitude of the sum of their forces on it"),
];

fn length([x, y, z]: &[f64; 3]) -> f64 {
    (x * x + y * y + z * z).sqrt()
}

fn most(of: &BodiesReading, read: fn(&TouchReading) -> f64) -> f64 {
    of.points.iter().map(read).fold(0.0, f64::max)
}

/// Points and magnitude of the sum of the forces on the link or body `kind`, `index`.
pub(super) fn touched(of: &BodiesReading, kind: u8, index: u32) -> [f64; 2] {
    let (mut count, mut sum) = (0.0, [0.0; 3]);
    for p in &of.points {
        let sides = [(p.a_kind, p.a_index, 1.0), (p.b_kind, p.b_index, -1.0)];
        for (_, _, sign) in sides.iter().filter(|(k, i, _)| (*k, *i) == (kind, index)) {
            count += 1.0;
            for (sum, force) in sum.iter_mut().zip(p.force_world_n) {
                *sum += sign * force;
            }
        }
    }
    [count, length(&sum)]
}

/// Angle between the z-axes of base and world.
fn tilt_rad(wxyz: &[f64; 4]) -> f64 {
    let [_, x, y, _] = wxyz;
    math::acos_clamped(1.0 - 2.0 * (x * x + y * y))
}
