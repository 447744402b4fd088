//! Fills messages from a snapshot.
#![allow(non_snake_case, reason = "monogram notation, see spatial")]

use super::frames::{Frames, quaternion, vector};
use super::messages::{
    Bool, Clock, Contact, Contacts, DynamicJointState, Entity, Header, Imu, InterfaceValue,
    JointState, JointWrench, Odometry, Point, Pose, RosString, TfMessage, Time, Twist, UInt32,
    Wrench, WrenchStamped,
};
use crate::config::{Scenario, TfEdges};
use crate::simulation::Snapshot;
use hardstand_physics::model::Model;
use hardstand_physics::plant::PlantSpec;
use hardstand_physics::sensor::{Triaxial, white_noise};
use hardstand_physics::spatial::{Quaternion, Vec3};
use hardstand_protocol::{
    ContactsReading, JointCommand, SensorsReading, StateReading, StationReading,
};

/// All variances without errors, in the square of their unit. The ground truth has none, but a
/// filter reads zeros as "unknown".
pub const VARIANCE: f64 = 1e-9;

/// State interfaces of every joint under `dynamic_joint_states`.
pub const STATE_INTERFACES: [&str; 8] = [
    "position",
    "velocity",
    "effort",
    "proportional",
    "derivative",
    "command_position",
    "command_velocity",
    "command_effort",
];

/// The messages of one robot, filled in place, with the values of the last snapshot passed to
/// [`look`](Self::look).
#[derive(Clone, Debug)]
pub struct Readings {
    frames: Frames,
    tf_edges: TfEdges,
    /// One entry per possible contact: its message while it is loaded.
    possible: Vec<Contact>,
    placed: bool,
    snapshot: Snapshot,
    stamp: Time,
    clock: Clock,
    joint_states: JointState,
    imu: Imu,
    wrench: Vec<WrenchStamped>,
    contact: Bool,
    contacts: Contacts,
    odometry: Odometry,
    tf: TfMessage,
    dynamic: DynamicJointState,
}

/// Nanoseconds in a second.
pub(super) const NS: u64 = 1_000_000_000;

/// `ns` after the start.
#[must_use]
pub fn time(ns: u64) -> Time {
    // 68 years
    let sec = i32::try_from(ns / NS).unwrap_or(i32::MAX);
    Time { sec, nanosec: (ns % NS) as u32 }
}

/// A time in words, s.
#[cfg(feature = "zenoh")]
pub(super) fn seconds(ns: u64) -> String {
    format!("{}.{:09}", ns / NS, ns % NS)
}

/// A time or duration of a message, ns; `None` of a negative one.
pub(super) fn ns_of(sec: i32, nanosec: u32) -> Option<u64> {
    Some(u64::try_from(sec).ok()? * NS + u64::from(nanosec))
}

/// A diagonal of [`VARIANCE`].
fn sure<const N: usize>(side: usize) -> [f64; N] {
    std::array::from_fn(|i| if i.is_multiple_of(side + 1) { VARIANCE } else { 0.0 })
}

/// A message of the unit with the variances of one sample: white noise and the errors that stay for
/// a while, each about its own axis.
fn imu_message(spec: &PlantSpec, header: Header) -> Imu {
    let errors = spec.sensors.imu.unwrap_or_default();
    let rate_hz = errors.rate_hz.min(1e9 / spec.period_ns as f64);
    let dt_s = if rate_hz > 0.0 { 1.0 / rate_hz } else { spec.period_ns as f64 / 1e9 };
    let of = |deviations: [f64; 3]| {
        let mut covariance: [f64; 9] = sure(3);
        for (i, deviation) in deviations.into_iter().enumerate() {
            covariance[4 * i] = covariance[4 * i].max(deviation * deviation);
        }
        covariance
    };
    let triad = |t: &Triaxial| {
        let (white, bias) = (white_noise(t.noise_density, dt_s), t.bias);
        of([(white * white + bias * bias).sqrt(); 3])
    };
    let turned = &errors.orientation;
    Imu {
        header,
        orientation_covariance: of([turned.tilt_rad, turned.tilt_rad, turned.heading_rad]),
        angular_velocity_covariance: triad(&errors.gyro),
        linear_acceleration_covariance: triad(&errors.accel),
        ..Default::default()
    }
}

impl Readings {
    /// Messages of the scenario's robot.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Self {
        Self::new(&scenario.model, &scenario.spec, &scenario.bus.robot, scenario.ros2.tf)
    }

    /// Messages of the robot `model` with the equipment `spec`; `robot` is its name in entity
    /// names.
    #[must_use]
    pub fn new(model: &Model, spec: &PlantSpec, robot: &str, tf_edges: TfEdges) -> Self {
        let frames = Frames::new(model, spec);
        let names: Vec<String> = model.joints.iter().map(|j| j.name.clone()).collect();
        let zeros = vec![0.0; names.len()];
        let framed = |frame: &str| Header { frame_id: frame.into(), ..Default::default() };
        let wrench = |f: &super::frames::Fixed| WrenchStamped {
            header: framed(&f.name),
            wrench: Wrench::default(),
        };
        let values = InterfaceValue {
            interface_names: STATE_INTERFACES.map(String::from).to_vec(),
            values: vec![0.0; STATE_INTERFACES.len()],
        };
        let mut odometry = Odometry {
            header: framed(&frames.world),
            child_frame_id: frames.base().into(),
            ..Default::default()
        };
        (odometry.pose.covariance, odometry.twist.covariance) = (sure(6), sure(6));
        Self {
            joint_states: JointState {
                header: Header::default(),
                name: names.clone(),
                position: zeros.clone(),
                velocity: zeros.clone(),
                effort: zeros,
            },
            imu: imu_message(spec, framed(&frames.imu.name)),
            wrench: frames.feet.iter().map(wrench).collect(),
            contact: Bool::default(),
            contacts: Contacts { header: framed(&frames.world), contacts: Vec::new() },
            odometry,
            tf: TfMessage { transforms: frames.moving_edges(tf_edges) },
            dynamic: DynamicJointState {
                interface_values: vec![values; names.len()],
                joint_names: names,
                header: Header::default(),
            },
            possible: possible_contacts(model, spec, robot, &frames.world),
            clock: Clock::default(),
            stamp: Time::default(),
            snapshot: Snapshot::default(),
            placed: false,
            frames,
            tf_edges,
        }
    }

    /// Sets the snapshot.
    pub fn look(&mut self, snapshot: &Snapshot) {
        let Snapshot { state, contacts, sensors, references, .. } = snapshot;
        self.look_at(state, contacts, sensors, references);
    }

    /// Sets the parts of a snapshot.
    pub fn look_at(
        &mut self,
        state: &StateReading,
        contacts: &ContactsReading,
        sensors: &SensorsReading,
        references: &[JointCommand],
    ) {
        self.snapshot.state.copy_from(state);
        self.snapshot.contacts.copy_from(contacts);
        self.snapshot.sensors.copy_from(sensors);
        self.snapshot.references.clear();
        self.snapshot.references.extend_from_slice(references);
        self.stamp = time(state.time_ns);
        self.placed = false;
    }

    /// Simulated time.
    pub fn clock(&mut self) -> &Clock {
        self.clock.clock = self.stamp.clone();
        &self.clock
    }

    /// Position, velocity and effort of all joints.
    pub fn joint_states(&mut self) -> &JointState {
        let m = &mut self.joint_states;
        m.header.stamp = self.stamp.clone();
        for (i, joint) in self.snapshot.state.joints.iter().enumerate() {
            (m.position[i], m.velocity[i], m.effort[i]) = (joint.q, joint.dq, joint.tau);
        }
        m
    }

    /// The same as named interfaces, and what the drives obey: gains and set-points.
    pub fn dynamic_joint_states(&mut self) -> &DynamicJointState {
        let m = &mut self.dynamic;
        m.header.stamp = self.stamp.clone();
        let joints = self.snapshot.state.joints.iter().zip(&self.snapshot.references);
        for (values, (joint, r)) in m.interface_values.iter_mut().zip(joints) {
            let all = [joint.q, joint.dq, joint.tau, r.kp, r.kd, r.q, r.dq, r.tau_ff];
            values.values.copy_from_slice(&all);
        }
        m
    }

    /// REP-145: orientation in the world, angular velocity and specific force in the unit's axes:
    /// +9.81 m/s² on z at rest.
    pub fn imu(&mut self) -> &Imu {
        let (m, s) = (&mut self.imu, &self.snapshot.state);
        m.header.stamp = self.stamp.clone();
        m.orientation = quaternion(s.imu_quat_wxyz);
        m.angular_velocity = vector(&s.imu_angular_velocity_rad_per_s);
        m.linear_acceleration = vector(&s.imu_specific_force_m_per_s2);
        m
    }

    /// Number of feet.
    #[must_use]
    pub const fn feet(&self) -> usize {
        self.frames.feet.len()
    }

    /// The force of the ground on foot `i`, in the foot's axes, about the foot's origin, as a
    /// sensor at that place measures it: with its errors, if the scenario gives it some.
    pub fn foot_wrench(&mut self, i: usize) -> &WrenchStamped {
        if let Some(shown) = self.snapshot.sensors.feet.get(i) {
            let m = &mut self.wrench[i];
            m.header.stamp = self.stamp.clone();
            let (force, torque) = (vector(&shown.force_foot_n), vector(&shown.moment_foot_nm));
            m.wrench = Wrench { force, torque };
            return m;
        }
        self.place();
        let foot = &self.snapshot.contacts.feet[i];
        let X_WF = self.frames.X_WF(&self.frames.feet[i]);
        let p_FP_F = X_WF.point_inverse(&Vec3::from(foot.point_world_m));
        let force_F = Vec3::from(foot.force_foot_n);
        let moment_F = Vec3::from(foot.moment_foot_nm) + p_FP_F.cross(&force_F);
        let m = &mut self.wrench[i];
        m.header.stamp = self.stamp.clone();
        m.wrench = Wrench { force: vector(&force_F.into()), torque: vector(&moment_F.into()) };
        m
    }

    /// Whether foot `i` is in contact (debounced, with hysteresis).
    pub fn foot_contact(&mut self, i: usize) -> &Bool {
        self.contact.data = self.snapshot.state.foot_contact[i] != 0;
        &self.contact
    }

    /// Every loaded contact, in the world.
    pub fn contacts(&mut self) -> &Contacts {
        self.contacts.header.stamp = self.stamp.clone();
        self.contacts.contacts.clear();
        let loaded = self.possible.iter().zip(&self.snapshot.contacts.stations);
        for (contact, reading) in loaded.filter(|(_, r)| r.normal_n > 0.0) {
            let mut contact = contact.clone();
            fill_contact(&mut contact, reading, &self.stamp);
            self.contacts.contacts.push(contact);
        }
        &self.contacts
    }

    /// Ground truth of the base: pose in the world, velocity in the base's axes.
    pub fn odometry(&mut self) -> &Odometry {
        let (m, s) = (&mut self.odometry, &self.snapshot.state);
        m.header.stamp = self.stamp.clone();
        let [x, y, z] = s.truth_base_position_m;
        let orientation = quaternion(s.truth_base_quat_wxyz);
        m.pose.pose = Pose { position: Point { x, y, z }, orientation };
        let R_WB = Quaternion::from_wxyz(s.truth_base_quat_wxyz).to_matrix();
        let in_base = |v: [f64; 3]| vector(&R_WB.tr_mul(&Vec3::from(v)).into());
        m.twist.twist.linear = in_base(s.truth_base_velocity_m_per_s);
        m.twist.twist.angular = in_base(s.truth_base_angular_velocity_rad_per_s);
        m
    }

    /// What controllers that walk are asked for.
    #[must_use]
    pub fn velocity_command(&self) -> Twist {
        let [x, y, yaw_rate] = self.snapshot.state.velocity_command.values();
        Twist { linear: vector(&[x, y, 0.0]), angular: vector(&[0.0, 0.0, yaw_rate]) }
    }

    /// Moving edges of the frame tree.
    pub fn tf(&mut self) -> &TfMessage {
        self.place();
        self.frames.fill(self.tf_edges, &self.stamp, &mut self.tf.transforms);
        &self.tf
    }

    /// Fixed edges of the frame tree.
    #[must_use]
    pub fn tf_static(&self) -> TfMessage {
        TfMessage { transforms: self.frames.fixed_edges() }
    }

    fn place(&mut self) {
        if !self.placed {
            self.frames.place(&self.snapshot.state);
            self.placed = true;
        }
    }
}

/// Entity type of a collision shape.
const COLLISION: u8 = 5;

/// All stations in order, each with all surfaces, or with places for those that are near, which
/// have no name.
fn possible_contacts(model: &Model, spec: &PlantSpec, robot: &str, world: &str) -> Vec<Contact> {
    let places = spec.places();
    let mut all = Vec::with_capacity(spec.stations.len() * places);
    for (s, station) in spec.stations.iter().enumerate() {
        let link = &model.bodies[station.body].name;
        for g in 0..places {
            let fixed = places == spec.ground.len();
            let surface = if fixed { spec.ground[g].name.as_str() } else { "" };
            let entity =
                |id: usize, name: String| Entity { id: id as u64, name, r#type: COLLISION };
            let named = |name: &str| RosString { data: name.into() };
            let ids = [s + 1, spec.stations.len() + g + 1];
            all.push(Contact {
                collision1: entity(ids[0], format!("{robot}::{link}::{}", station.name)),
                collision2: entity(ids[1], format!("ground::{surface}")),
                positions: vec![vector(&[0.0; 3])],
                normals: vec![vector(&[0.0; 3])],
                depths: vec![0.0],
                wrenches: vec![JointWrench {
                    header: Header { frame_id: world.into(), ..Default::default() },
                    body_1_name: named(link),
                    body_1_id: UInt32 { data: ids[0] as u32 },
                    body_2_name: named(surface),
                    body_2_id: UInt32 { data: ids[1] as u32 },
                    ..Default::default()
                }],
            });
        }
    }
    all
}

/// The force acts at the contact's position, so its torque about it is zero.
fn fill_contact(contact: &mut Contact, reading: &StationReading, stamp: &Time) {
    contact.positions[0] = vector(&reading.position_world_m);
    contact.normals[0] = vector(&reading.normal_world);
    contact.depths[0] = (-reading.height_m).max(0.0);
    let wrench = &mut contact.wrenches[0];
    wrench.header.stamp = stamp.clone();
    wrench.body_1_wrench.force = vector(&reading.force_world_n);
    wrench.body_2_wrench.force = vector(&reading.force_world_n.map(|f| -f));
}
