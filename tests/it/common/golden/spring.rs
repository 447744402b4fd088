//! Single evaluations of one spring.

use hardstand_physics::contact::{
    ContactPlane, ExponentialSpring, Friction, Memory, SpringParameters,
};
use hardstand_physics::dynamics::{Data, Positions, Velocities, kinematics};
use hardstand_physics::model::{Base, BodySpec, Builder, Model};
use hardstand_physics::spatial::{Mat3, SpatialInertia, Vec3};
use serde_json::Value;

use super::files::{GoldenFile, get, list, num, quat, transform, vec3};
use super::report::Report;

pub fn parameters(v: &Value) -> SpringParameters {
    SpringParameters {
        d0_m: num(v, "d0"),
        d1_n: num(v, "d1"),
        d2_per_m: num(v, "d2"),
        cz_s_per_m: num(v, "cz"),
        force_z_max_n: num(v, "max_fz"),
        kxy_n_per_m: num(v, "kxy"),
        cxy_n_s_per_m: num(v, "cxy"),
        v_settle_m_per_s: num(v, "v_settle"),
        ..SpringParameters::default()
    }
}

/// One free body.
pub fn free_body(inertia: SpatialInertia) -> Model {
    let mut builder = Builder::new("body", Base::Floating);
    builder.bodies.push(BodySpec { name: "body".into(), inertia });
    builder.build().unwrap()
}

pub fn check(file: &GoldenFile, report: &mut Report) {
    for (i, record) in list(&file.json, "records").iter().enumerate() {
        check_record(record, &format!("record {i}"), report);
    }
}

fn check_record(r: &Value, at: &str, report: &mut Report) {
    let com = vec3(r, "com_B");
    let model = free_body(SpatialInertia::from_com(num(r, "mass"), &com, &Mat3::identity()));
    let q = Positions { quat_WB: quat(r, "quat_GB"), p_WB: vec3(r, "p_GB"), joints: vec![] };
    let v = Velocities { w_WB: vec3(r, "omega_GB_G"), v_WB: vec3(r, "v_GB_G"), joints: vec![] };
    let mut data = Data::new(&model);
    kinematics(&model, &q, &v, &mut data);
    let plane = ContactPlane { X_WP: transform(get(r, "plane_X_GP")) };
    let station = vec3(r, "station_B");
    let (p_W, v_W) = (data.point_W(0, &station), data.point_velocity_W(0, &station));

    let anchor = vec3(r, "anchor_P_in");
    let memory = Memory {
        anchor_P: [anchor.x, anchor.y],
        sliding: num(r, "sliding_in"),
        committed_ns: None,
    };
    let spring = ExponentialSpring::new(parameters(get(r, "params"))).unwrap();
    let friction = Friction::new(num(r, "mu_s"), num(r, "mu_k"));
    let age_s = num(r, "t") - num(r, "t_last_update");
    let out = get(r, "out");

    // poses and velocities, as this crate's kinematics give them
    let (p_P, v_P) = (plane.position_P(&p_W), plane.vector_P(&v_W));
    let speed = vec3(out, "station_vel_G").norm().max(1.0);
    report.vector("station position", &p_W, &vec3(out, "station_pos_G"), 1.0, 1e-13, at);
    report.vector("station position in P", &p_P, &vec3(out, "station_pos_P"), 1.0, 1e-13, at);
    report.vector("station velocity", &v_W, &vec3(out, "station_vel_G"), speed, 1e-10, at);
    report.vector("station velocity in P", &v_P, &vec3(out, "station_vel_P"), speed, 1e-10, at);

    // the force law for exactly the oracle's position and velocity: the exponential amplifies the
    // rounding of the pose by d2
    let (p, v) = (vec3(out, "station_pos_P"), vec3(out, "station_vel_P"));
    let f = spring.evaluate(&friction, &memory, &p, &v, age_s);
    let own = spring.evaluate(&friction, &memory, &p_P, &v_P, age_s);
    check_forces(&f, spring.simbody_potential_energy_j(&f), out, at, report);
    let par = spring.parameters();
    let scale = f.normal_elastic_n.abs().max(f.normal_damping_n.abs()).max(1.0);
    let amplified = scale * (1.0 + par.d2_per_m) + par.kxy_n_per_m + par.cxy_n_s_per_m;
    report.vector(
        "force from own pose",
        &own.force_P(),
        &vec3(out, "force_P"),
        amplified,
        1e-12,
        at,
    );

    check_wrenches(&f, &plane, &mut data, &station, out, at, report);
}

fn check_forces(
    f: &hardstand_physics::contact::SpringForce,
    simbody_j: f64,
    out: &Value,
    at: &str,
    report: &mut Report,
) {
    let parts = f.normal_elastic_n.abs().max(f.normal_damping_n.abs());
    let scale = num(out, "fz").abs().max(num(out, "friction_limit")).max(parts).max(1.0);
    const TOL: f64 = 1e-12;
    report.number("fz_elastic", f.normal_elastic_n, num(out, "fz_elastic"), scale, TOL, at);
    report.number("fz_damping", f.normal_damping_n, num(out, "fz_damping"), scale, TOL, at);
    report.number("fz", f.normal_n, num(out, "fz"), scale, TOL, at);
    report.number("mu", f.mu, num(out, "mu"), 1.0, TOL, at);
    report.number("friction_limit", f.friction_limit_n, num(out, "friction_limit"), scale, TOL, at);
    let plane = |p: [f64; 2]| Vec3::new(p[0], p[1], 0.0);
    let (elastic, damping) = (plane(f.friction_elastic_P), plane(f.friction_damping_P));
    report.vector("fric_elastic_P", &elastic, &vec3(out, "fric_elastic_P"), scale, TOL, at);
    report.vector("fric_damping_P", &damping, &vec3(out, "fric_damping_P"), scale, TOL, at);
    report.vector("fric_P", &f.friction_P(), &vec3(out, "fric_P"), scale, TOL, at);
    report.vector("force_P", &f.force_P(), &vec3(out, "force_P"), scale, TOL, at);
    report.vector("anchor_P_out", &f.anchor_P(), &vec3(out, "anchor_P_out"), 1.0, 1e-13, at);
    report.number("sliding_out", f.next_sliding, num(out, "sliding_out"), 1.0, 1e-12, at);
    let energy = num(out, "potential_energy");
    let scale = energy.abs().max(1.0);
    report.number("potential_energy", simbody_j, energy, scale, TOL, at);
}

fn check_wrenches(
    f: &hardstand_physics::contact::SpringForce,
    plane: &ContactPlane,
    data: &mut Data,
    station: &Vec3,
    out: &Value,
    at: &str,
    report: &mut Report,
) {
    let force_W = f.force_W(plane);
    let scale = force_W.norm().max(1.0);
    report.vector("force_G", &force_W, &vec3(out, "force_G"), scale, 1e-12, at);
    let anchor_W = plane.position_W(&f.anchor_P());
    report.vector("anchor_G_out", &anchor_W, &vec3(out, "anchor_G_out"), 1.0, 1e-13, at);

    data.clear_forces();
    data.apply_force(0, &force_W, station);
    let R = data.X_WB[0].R;
    let body = get(out, "body_spatial_force_G_at_body_origin");
    let (moment, force) = (R * data.f_ext[0].ang, R * data.f_ext[0].lin);
    report.vector("body moment", &moment, &vec3(body, "moment"), scale, 1e-12, at);
    report.vector("body force", &force, &vec3(body, "force"), scale, 1e-12, at);

    let ground = get(out, "ground_spatial_force_G_at_ground_origin");
    let at_origin = data.point_W(0, station);
    let moment = at_origin.cross(&-force_W);
    let scale = scale * at_origin.norm().max(1.0);
    report.vector("ground moment", &moment, &vec3(ground, "moment"), scale, 1e-12, at);
    report.vector("ground force", &-force_W, &vec3(ground, "force"), scale, 1e-12, at);
}
