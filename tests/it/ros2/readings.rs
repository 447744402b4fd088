//! From a snapshot to messages, without a daemon: numbers that one can compute by hand.

use std::path::Path;

use hardstand::config::{Scenario, TfEdges};
use hardstand::ros2::{Readings, VARIANCE, time};
use hardstand::simulation::Snapshot;
use hardstand_protocol::JointCommand;

use crate::common::process::repository;

const HALF: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// The quadruped with all joints at 0, its base turned by 90° about z, 2 m up, at 1.25 s.
fn turned() -> (Scenario, Snapshot) {
    let scenario = Scenario::load(Path::new(&repository("config/quadruped.toml")), &[]).unwrap();
    let simulation = scenario.simulation();
    let mut s = simulation.new_snapshot();
    simulation.fill(&mut s);
    s.state.time_ns = 1_250_000_000;
    s.state.truth_base_quat_wxyz = [HALF, 0.0, 0.0, HALF];
    s.state.truth_base_position_m = [0.0, 0.0, 2.0];
    s.state.truth_base_velocity_m_per_s = [1.0, 0.0, 0.0];
    s.state.truth_base_angular_velocity_rad_per_s = [0.0, 1.0, 0.0];
    s.state.imu_quat_wxyz = [HALF, 0.0, 0.0, HALF];
    s.state.imu_specific_force_m_per_s2 = [0.1, 0.2, 9.81];
    s.state.joints.iter_mut().for_each(|j| (j.q, j.dq, j.tau) = (0.0, 1.0, 2.0));
    s.references.fill(JointCommand { q: 5.0, dq: 6.0, kp: 3.0, kd: 4.0, tau_ff: 7.0 });
    (scenario, s)
}

fn readings(scenario: &Scenario, tf: TfEdges) -> Readings {
    Readings::new(&scenario.model, &scenario.spec, "robot", tf)
}

fn near(a: [f64; 3], b: [f64; 3]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12)
}

#[test]
fn velocities_are_in_the_bases_axes_and_scalars_last() {
    let (scenario, s) = turned();
    let mut r = readings(&scenario, TfEdges::All);
    r.look(&s);
    let m = r.odometry();
    assert_eq!((m.header.stamp.sec, m.header.stamp.nanosec), (1, 250_000_000));
    assert_eq!((m.pose.pose.orientation.z, m.pose.pose.orientation.w), (HALF, HALF));
    assert_eq!((m.pose.pose.orientation.x, m.pose.pose.position.z), (0.0, 2.0));
    let (v, w) = (&m.twist.twist.linear, &m.twist.twist.angular);
    assert!(near([v.x, v.y, v.z], [0.0, -1.0, 0.0]) && near([w.x, w.y, w.z], [1.0, 0.0, 0.0]));
    assert_eq!([m.pose.covariance[0], m.pose.covariance[1]], [VARIANCE, 0.0]);
    assert!((0..6).all(|i| m.twist.covariance[7 * i] == VARIANCE));

    let m = r.imu();
    assert_eq!((m.orientation.w, m.linear_acceleration.z), (HALF, 9.81));
    assert_eq!([m.orientation_covariance[4], m.orientation_covariance[5]], [VARIANCE, 0.0]);
    let m = r.joint_states();
    assert_eq!((m.position[3], m.velocity[3], m.effort[3]), (0.0, 1.0, 2.0));
    assert_eq!(m.name[0], scenario.model.joints[0].name);
    assert_eq!(
        r.dynamic_joint_states().interface_values[3].values,
        [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    );
    assert_eq!((time(u64::MAX).sec, time(999_999_999).nanosec), (i32::MAX, 999_999_999));
}

/// The leg hangs straight, so the foot's axes are the base's: turned by 90° about z.
#[test]
fn a_wrench_is_about_the_foots_origin_in_its_axes() {
    let (scenario, mut s) = turned();
    let mut r = readings(&scenario, TfEdges::All);
    r.look(&s);
    let tf = r.tf().clone();
    let edge = |child: &str| {
        let found = tf.transforms.iter().find(|t| t.child_frame_id == child);
        found.unwrap_or_else(|| panic!("no {child}")).transform.translation.clone()
    };
    // base, hip, thigh, calf and the welded foot, all turned with the base: (x, y) → (−y, x)
    let fixed = r.tf_static();
    let foot = fixed.transforms.iter().find(|t| t.child_frame_id == "FL_foot").unwrap();
    assert_eq!(foot.header.frame_id, "FL_calf");
    let parts =
        [edge("FL_hip"), edge("FL_thigh"), edge("FL_calf"), foot.transform.translation.clone()];
    let sum = parts.iter().fold([0.0; 3], |p, t| [p[0] + t.x, p[1] + t.y, p[2] + t.z]);
    let origin = [-sum[1], sum[0], sum[2] + 2.0];
    let reading = &mut s.contacts.feet[0];
    // 0.1 m from the origin along the world's x, which is −y of the foot
    reading.point_world_m = [origin[0] + 0.1, origin[1], origin[2]];
    (reading.force_foot_n, reading.moment_foot_nm) = ([0.0, 0.0, 10.0], [0.0, 0.0, 0.5]);
    r.look(&s);
    let w = r.foot_wrench(0).clone();
    assert_eq!((w.header.frame_id.as_str(), w.wrench.force.z), ("FL_foot", 10.0));
    let t = &w.wrench.torque;
    assert!(near([t.x, t.y, t.z], [-1.0, 0.0, 0.5]), "{t:?}");
}

#[test]
fn only_loaded_contacts_are_told() {
    let (scenario, mut s) = turned();
    let mut r = readings(&scenario, TfEdges::All);
    s.contacts.stations.iter_mut().for_each(|c| c.normal_n = 0.0);
    let loaded = &mut s.contacts.stations[2];
    (loaded.normal_n, loaded.height_m) = (5.0, -0.001);
    (loaded.force_world_n, loaded.position_world_m) = ([1.0, 2.0, 5.0], [0.1, 0.2, 0.3]);
    r.look(&s);
    let m = r.contacts();
    assert_eq!(m.contacts.len(), 1);
    let c = &m.contacts[0];
    assert_eq!((c.depths[0], c.positions[0].y), (0.001, 0.2));
    let (on, by) = (&c.wrenches[0].body_1_wrench.force, &c.wrenches[0].body_2_wrench.force);
    assert_eq!(([on.x, on.y, on.z], [by.x, by.y, by.z]), ([1.0, 2.0, 5.0], [-1.0, -2.0, -5.0]));
    assert_eq!(c.wrenches[0].body_1_name.data, "RL_calf");
    s.state.foot_contact = vec![0, 1, 0, 0];
    r.look(&s);
    assert_eq!([0, 1].map(|i| r.foot_contact(i).data), [false, true]);
}

#[test]
fn edges_are_those_that_were_asked_for() {
    let (scenario, s) = turned();
    let count = |tf: TfEdges| {
        let mut r = readings(&scenario, tf);
        r.look(&s);
        let edges = &r.tf().transforms;
        (edges.len(), edges[0].header.frame_id.clone(), edges[0].transform.translation.z)
    };
    assert_eq!(count(TfEdges::All), (13, "odom".into(), 2.0));
    assert_eq!(count(TfEdges::Base), (1, "odom".into(), 2.0));
    let (links, parent, z) = count(TfEdges::Links);
    assert_eq!((links, parent.as_str()), (12, scenario.model.bodies[0].name.as_str()));
    assert!(z.abs() < 0.5, "the first joint's own edge, not the base's: {z}");
}
