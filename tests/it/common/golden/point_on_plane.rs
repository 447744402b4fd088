//! Points held on planes: errors, accelerations and multipliers of single states.

use hardstand_physics::dynamics::{
    Constraints, Data, PointOnPlane, Positions, Velocities, kinematics,
};
use hardstand_physics::model::{Base, BodySpec, Builder, Joint, JointKind, JointSpec, Model};
use hardstand_physics::spatial::{Force, Mat3, SpatialInertia, Transform, Vec3};
use serde_json::Value;

use super::files::{
    GoldenFile, get, list, list_or_empty, num, nums, quat, text, transform, urdf_text, vec3, vector,
};
use super::report::Report;
use super::urdf::load_model;

const TOL: f64 = 1e-11;

/// Whether the file holds single states (and not a trajectory).
pub fn holds_states(json: &Value) -> bool {
    json.get("records").is_some() || json.get("tree_records").is_some()
}

/// A robot, its state, and what acts on it.
pub struct Case {
    pub model: Model,
    pub q: Positions,
    pub v: Velocities,
    pub tau: Vec<f64>,
    pub gravity_W: Vec3,
    pub points: Vec<PointOnPlane>,
    /// The free body that feels the wrench of the record.
    loaded: Option<usize>,
}

/// A state with the solved constraints.
struct Solved {
    constraints: Constraints,
    data: Data,
    vdot: Velocities,
}

pub fn check(file: &GoldenFile, report: &mut Report) {
    for (i, r) in list_or_empty(&file.json, "records").iter().enumerate() {
        check_free(r, &format!("record {i}"), report);
    }
    let records = list_or_empty(&file.json, "tree_records");
    if !records.is_empty() {
        let urdf = file.json.get("urdf").and_then(Value::as_str).unwrap_or("refquad.urdf");
        let model = load_model(&urdf_text(urdf));
        let order: Vec<&str> = list(&file.json, "tree_joint_order")
            .iter()
            .map(|n| n.as_str().expect("a name"))
            .collect();
        for (i, r) in records.iter().enumerate() {
            check_tree(&model, &order, r, &format!("tree record {i}"), report);
        }
    }
}

/// The model's index of each joint of `order`.
pub fn joint_indices(model: &Model, order: &[&str]) -> Vec<usize> {
    order.iter().map(|n| model.joint_index(n).expect("a joint of the URDF")).collect()
}

/// Values of the file's joints in the model's order.
pub fn in_model_order(joints: &[usize], values: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; joints.len()];
    joints.iter().zip(values).for_each(|(&j, &x)| out[j] = x);
    out
}

/// `q` and `u` of the robot.
pub fn tree_state(joints: &[usize], record: &Value) -> (Positions, Velocities) {
    let (q, u) = (get(record, "q"), get(record, "u"));
    let positions = Positions {
        quat_WB: quat(q, "base_quat_GB"),
        p_WB: vec3(q, "base_p_G"),
        joints: in_model_order(joints, &nums(get(q, "joint_q"))),
    };
    let velocities = Velocities {
        w_WB: vec3(u, "base_omega_G"),
        v_WB: vec3(u, "base_v_G"),
        joints: in_model_order(joints, &nums(get(u, "joint_u"))),
    };
    (positions, velocities)
}

fn solve(case: &Case, record: &Value) -> Solved {
    let mut data = Data::new(&case.model);
    let mut vdot = Velocities::zero(&case.model);
    kinematics(&case.model, &case.q, &case.v, &mut data);
    if let Some(body) = case.loaded {
        let wrench = get(record, "applied_wrench");
        data.apply_force(body, &vec3(wrench, "force_G"), &Vec3::zeros());
        data.apply_moment(body, &vec3(wrench, "moment_G"));
    }
    let mut constraints = Constraints::new(&case.model, case.points.clone()).expect("constraints");
    constraints.accelerate(&case.model, &mut data, &case.tau, &case.gravity_W, &mut vdot);
    Solved { constraints, data, vdot }
}

fn check_tree(model: &Model, order: &[&str], r: &Value, at: &str, report: &mut Report) {
    let joints = joint_indices(model, order);
    let (q, v) = tree_state(&joints, r);
    let station = vec3(r, "follower_station_in_link");
    let point = |link: &Value| {
        let frame = model.frame(link.as_str().expect("a name")).expect("a link");
        PointOnPlane {
            plane_body: None,
            X_SP: transform(get(r, "X_SP")),
            follower_body: frame.body,
            p_BF: frame.X_BF.point(&station),
            slides: false,
        }
    };
    let case = Case {
        q,
        v,
        tau: in_model_order(&joints, &nums(get(r, "tau"))),
        gravity_W: vec3(r, "gravity_G"),
        points: list(r, "follower_links").iter().map(point).collect(),
        loaded: None,
        model: model.clone(),
    };
    let solved = solve(&case, r);
    let udot = get(get(r, "out"), "udot");
    let (alpha, a) = (vec3(udot, "base_alpha_G"), vec3(udot, "base_a_G"));
    let joint_udot = nums(get(udot, "joint_udot"));
    let scale = largest(joint_udot.iter().copied().chain([alpha.norm(), a.norm()]));
    report.vector("tree acceleration", &solved.vdot.w_WB, &alpha, scale, TOL, at);
    report.vector("tree acceleration", &solved.vdot.v_WB, &a, scale, TOL, at);
    for (&j, theirs) in joints.iter().zip(&joint_udot) {
        report.number("tree acceleration", solved.vdot.joints[j], *theirs, scale, TOL, at);
    }
    check_contacts(&case, &solved, r, scale, at, report);
}

fn check_free(r: &Value, at: &str, report: &mut Report) {
    let case = free_case(r);
    let body = case.model.bodies.len() - 1;
    let solved = solve(&case, r);
    let out = get(r, "out");
    let mut bodies = vec![(body, get(out, "body_acc"))];
    if case.points[0].plane_body.is_some() {
        bodies.push((0, get(out, "plane_body_acc")));
    }
    let acceleration = |theirs| (vec3(theirs, "alpha_G"), vec3(theirs, "a_G"));
    let norms = bodies.iter().map(|(_, theirs)| acceleration(theirs));
    let scale = largest(norms.flat_map(|(alpha, a)| [alpha.norm(), a.norm()]));
    for (i, theirs) in bodies {
        let (alpha, a) = solved.data.acceleration_W(i, &Vec3::zeros(), &case.gravity_W);
        let (their_alpha, their_a) = acceleration(theirs);
        report.vector("body acceleration", &alpha, &their_alpha, scale, TOL, at);
        report.vector("body acceleration", &a, &their_a, scale, TOL, at);
    }
    check_contacts(&case, &solved, r, scale, at, report);

    let mut forces_B = vec![Force::zero(); body + 1];
    for (i, point) in case.points.iter().enumerate() {
        let f_P = solved.constraints.force_on_follower_P(i);
        point.add_force(&solved.data, &f_P, &mut forces_B);
    }
    let (R, wrench) = (&solved.data.X_WB[body].R, get(out, WRENCH));
    let (moment, force) = (vec3(wrench, "moment_G"), vec3(wrench, "force_G"));
    let scale = largest([moment.norm(), force.norm()]);
    report.vector("total wrench", &(R * forces_B[body].ang), &moment, scale, TOL, at);
    report.vector("total wrench", &(R * forces_B[body].lin), &force, scale, TOL, at);
}

const WRENCH: &str = "total_contact_wrench_on_body_at_body_origin";

fn check_contacts(
    case: &Case,
    solved: &Solved,
    r: &Value,
    acceleration: f64,
    at: &str,
    report: &mut Report,
) {
    let contacts = list(get(r, "out"), "contacts");
    assert_eq!(contacts.len(), case.points.len(), "contacts");
    let flag = |key: &str| r.get(key).and_then(Value::as_bool).unwrap_or(true);
    let names = match (flag("multipliers_unique"), flag("acc_errors_consistent")) {
        (true, true) => ["acceleration error", "multiplier"],
        (false, true) => ["acceleration error, redundant", "multiplier, redundant"],
        (_, false) => ["acceleration error, impossible", "multiplier, impossible"],
    };
    let forces = contacts.iter().map(|c| vec3(c, "multipliers_xyz").norm());
    let scale = largest(forces);
    for (i, (point, theirs)) in case.points.iter().zip(contacts).enumerate() {
        let (data, held) = (&solved.data, &solved.constraints);
        let position = point.position_error(data);
        report.number("position error", position, num(theirs, "pos_err"), 1.0, TOL, at);
        let velocity = vec3(theirs, "vel_err_xyz");
        let ours = point.velocity_errors(data);
        report.vector("velocity error", &ours, &velocity, largest([velocity.norm()]), TOL, at);
        let ours = point.acceleration_errors(data, &case.gravity_W);
        report.vector(names[0], &ours, &vec3(theirs, "acc_err_xyz"), acceleration, TOL, at);
        let ours = held.multipliers()[i];
        report.vector(names[1], &ours, &vec3(theirs, "multipliers_xyz"), scale, TOL, at);
        let ours = held.force_on_follower_P(i);
        report.vector("force", &ours, &vec3(theirs, "force_on_follower_xyz_P"), scale, TOL, at);
        let ours = held.force_on_follower_W(i, data);
        report.vector("force", &ours, &vec3(theirs, "force_on_follower_G"), scale, TOL, at);
        let p_G = vec3(theirs, "follower_p_G");
        report.vector("follower position", &point.p_WF(data), &p_G, 1.0, TOL, at);
    }
}

fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().map(f64::abs).fold(1.0, f64::max)
}

/// The inertia of a body that is given by mass, centre of mass and principal inertias.
pub fn inertia(mass: f64, com: &Vec3, diagonal: &Vec3) -> SpatialInertia {
    SpatialInertia::from_com(mass, com, &Mat3::from_diagonal(diagonal))
}

/// One free body, or two of them: see [`pair`].
fn free_case(r: &Value) -> Case {
    let body = get(r, "body");
    let com = vec3(r, "com_B");
    let inertia_B = inertia(num(r, "mass"), &com, &vec3(r, "inertia_diag_about_com_B"));
    let on_moving = r.get("plane_body").is_some();
    assert_eq!(on_moving, text(r, "kind").contains("moving"), "kind of record");
    let (model, q, v) = if on_moving { pair(r, inertia_B) } else { single(body, inertia_B) };
    let b = model.bodies.len() - 1;
    let point = |station: &Value| PointOnPlane {
        plane_body: on_moving.then_some(0),
        X_SP: transform(get(r, "X_SP")),
        follower_body: b,
        p_BF: vector(station),
        slides: false,
    };
    Case {
        q,
        v,
        tau: vec![0.0; model.joint_count()],
        gravity_W: vec3(r, "gravity_G"),
        points: list(r, "follower_stations_B").iter().map(point).collect(),
        loaded: Some(b),
        model,
    }
}

/// A floating body with the state `body`.
pub fn single(body: &Value, inertia: SpatialInertia) -> (Model, Positions, Velocities) {
    let mut b = Builder::new("body", Base::Floating);
    b.bodies.push(BodySpec { name: "b0".into(), inertia });
    let model = b.build().expect("a model");
    let (q, v) = floating_state(body);
    (model, q, v)
}

/// State of a floating base without joints.
pub fn floating_state(body: &Value) -> (Positions, Velocities) {
    let q = Positions { quat_WB: quat(body, "quat_GB"), p_WB: vec3(body, "p_G"), joints: vec![] };
    let v = Velocities { w_WB: vec3(body, "omega_G"), v_WB: vec3(body, "v_G"), joints: vec![] };
    (q, v)
}

/// Two free bodies as one tree: the plane's body floats, six joints through massless bodies let the
/// follower's body move freely. The joints are all at zero, where their axes are those of the
/// follower's body: no two revolute axes coincide.
fn pair(r: &Value, inertia_B: SpatialInertia) -> (Model, Positions, Velocities) {
    let ((qs, mut v), (qb, vb)) =
        (floating_state(get(r, "plane_body")), floating_state(get(r, "body")));
    let X_WS = Transform::new(qs.quat_WB.to_matrix(), qs.p_WB);
    let X_WB = Transform::new(qb.quat_WB.to_matrix(), qb.p_WB);
    let inertia_S = inertia(
        num(r, "plane_body_mass"),
        &vec3(r, "plane_body_com"),
        &vec3(r, "plane_body_inertia_diag"),
    );
    let mut b = Builder::new("pair", Base::Floating);
    b.bodies.push(BodySpec { name: "b0".into(), inertia: inertia_S });
    for i in 0..6 {
        let inertia = if i == 5 { inertia_B } else { SpatialInertia::zero() };
        let name = format!("b{}", i + 1);
        b.bodies.push(BodySpec { name: name.clone(), inertia });
        let kind = if i < 3 { JointKind::Prismatic } else { JointKind::Revolute };
        let X_PJ = if i == 0 { X_WS.inverse().compose(&X_WB) } else { Transform::identity() };
        let joint = free_joint(&name, kind, Vec3::ith(i % 3, 1.0), X_PJ);
        b.joints.push(JointSpec { parent: format!("b{i}"), child: name, joint });
    }
    // velocity of B in S, in B
    let lever = v.w_WB.cross(&(X_WB.p - X_WS.p));
    let linear = X_WB.R.tr_mul(&(vb.v_WB - v.v_WB - lever));
    let angular = X_WB.R.tr_mul(&(vb.w_WB - v.w_WB));
    v.joints = linear.iter().chain(angular.iter()).copied().collect();
    let q = Positions { joints: vec![0.0; 6], ..qs };
    (b.build().expect("a model"), q, v)
}

fn free_joint(name: &str, kind: JointKind, axis: Vec3, X_PJ: Transform) -> Joint {
    Joint {
        name: name.into(),
        kind,
        axis,
        X_PJ,
        q_min: f64::NEG_INFINITY,
        q_max: f64::INFINITY,
        effort_max: f64::INFINITY,
        velocity_max: f64::INFINITY,
        damping: 0.0,
        friction: 0.0,
        armature: 0.0,
    }
}
