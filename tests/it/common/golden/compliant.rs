//! Records of the compliant contacts: sphere on half-space, sphere on sphere, brick on half-space.

use hardstand_physics::contact::{
    BrickContact, BrickForce, CompliantContact, ContactForce, HertzPair, HuntCrossley, Overlap,
    SlipCurve,
};
use hardstand_physics::spatial::Vec3;
use serde_json::Value;

use super::files::{GoldenFile, get, list, list_or_empty, num, text, vec3};
use super::material::material;
use super::report::Report;
use super::touch::{Body, compare_relative, compare_wrench, half_space, pair, rounding};

const TOL: f64 = 1e-9;

pub fn check(file: &GoldenFile, report: &mut Report) {
    for (i, r) in list(&file.json, "records").iter().enumerate() {
        let at = format!("record {i} ({})", text(r, "kind"));
        if text(r, "kind") == "brick_halfspace" {
            check_brick(r, &at, report);
        } else {
            check_round(r, &at, report);
        }
    }
}

fn check_round(r: &Value, at: &str, report: &mut Report) {
    let expected = list(get(r, "out"), "contact_forces").first();
    let spheres = text(r, "kind") == "sphere_sphere";
    let pair = pair(r, spheres && expected.is_some_and(|c| num(c, "surface1_body") == 2.0));
    let hertz = HertzPair::new(&material(pair.materials[0]), &material(pair.materials[1])).unwrap();
    let law = CompliantContact::new(hertz, num(r, "transition_velocity")).unwrap();
    let own = pair.overlap.map(|o| {
        let p = hertz.contact_point(&o);
        let v_12 = pair.bodies[0].velocity(&p) - pair.bodies[1].velocity(&p);
        law.evaluate(&law.initial_friction(), &o, &v_12)
    });
    let blur = pair.overlap.map_or(1.0, |o| rounding(o.depth_m));
    compare_record(own.as_ref(), expected, blur, at, report);
    if let (Some(o), Some(c)) = (pair.overlap, expected) {
        let velocity = |p: &Vec3| pair.bodies[0].velocity(p) - pair.bodies[1].velocity(p);
        compare_live(&hertz, num(r, "transition_velocity"), &o, velocity, c, at, report);
    }
    let names = if spheres { pair.wrenches } else { ["ground", "body"] };
    let bodies = Bodies { bodies: pair.bodies, names, blur };
    bodies.compare(&own.unwrap_or_default(), get(r, "out"), at, report);
}

/// The law of scenarios with `contact.slip_curve = "stribeck"`.
fn compare_live(
    hertz: &HertzPair,
    transition_m_per_s: f64,
    overlap: &Overlap,
    velocity: impl Fn(&Vec3) -> Vec3,
    expected: &Value,
    at: &str,
    report: &mut Report,
) {
    let law = HuntCrossley::new(*hertz, transition_m_per_s).unwrap();
    let law = law.with_curve(SlipCurve::Stribeck);
    let v_12 = velocity(&hertz.contact_point(overlap));
    let live = law.evaluate(&law.initial_friction(), overlap, &v_12).contact;
    let blur = rounding(overlap.depth_m);
    let force = vec3(expected, "force_on_surface2_G");
    report.vector("live law's force", &live.force, &force, force_scale(&[force]) * blur, TOL, at);
    let point = vec3(expected, "contact_point_G");
    report.vector("live law's point", &live.point, &point, blur, TOL, at);
}

fn check_brick(r: &Value, at: &str, report: &mut Report) {
    let brick = BrickContact::new(
        &material(get(r, "material_halfspace")),
        &material(get(r, "material_brick")),
        vec3(r, "brick_half_lengths"),
        num(r, "transition_velocity"),
    )
    .unwrap();
    let (body, ground) = (Body::new(get(r, "body")), half_space(r));
    let own = brick.evaluate(&brick.initial_friction(), &ground, &body.X_GB, &body.motion());
    let expected = list(get(r, "out"), "contact_forces").first();
    let deepest = |b: &BrickForce| b.vertices().iter().map(|v| v.depth_m).fold(0.0, f64::max);
    let blur = own.as_ref().map_or(1.0, |b| rounding(deepest(b)));
    compare_record(own.as_ref().map(|b| &b.contact), expected, blur, at, report);
    if let (Some(own), Some(expected)) = (&own, expected) {
        compare_vertices(own, expected, blur, at, report);
    }
    let contact = own.map_or_else(ContactForce::default, |b| b.contact);
    let bodies = Bodies { bodies: [Body::ground(), body], names: ["ground", "body"], blur };
    bodies.compare(&contact, get(r, "out"), at, report);
}

fn force_scale(forces: &[Vec3]) -> f64 {
    let largest = forces.iter().map(Vec3::norm).fold(0.0, f64::max);
    if largest > 0.0 { largest } else { 1.0 }
}

fn compare_record(
    own: Option<&ContactForce>,
    expected: Option<&Value>,
    blur: f64,
    at: &str,
    report: &mut Report,
) {
    let exists = if own.is_some() == expected.is_some() { 0.0 } else { 1.0 };
    report.add("record exists", exists, 0.0, at);
    let (Some(own), Some(c)) = (own, expected) else { return };
    let force = vec3(c, "force_on_surface2_G");
    let scale = force_scale(&[force]) * blur;
    report.vector("contact point", &own.point, &vec3(c, "contact_point_G"), blur, TOL, at);
    report.vector("force", &own.force, &force, scale, TOL, at);
    report.vector("moment", &own.moment, &vec3(c, "moment_on_surface2_G"), scale, TOL, at);
    let energy = num(c, "potential_energy");
    compare_relative("potential energy", own.potential_energy_j, energy, blur, at, report);
    let power = num(c, "power_dissipation");
    compare_relative("power dissipation", own.power_dissipation_w, power, blur, at, report);
}

/// The corners of the brick; each is compared with the oracle's nearest.
fn compare_vertices(own: &BrickForce, expected: &Value, blur: f64, at: &str, report: &mut Report) {
    let details = list_or_empty(expected, "details");
    let missing = details.len().abs_diff(own.vertices().len());
    report.add("corners", missing as f64, 0.0, at);
    let forces: Vec<_> = details.iter().map(|d| vec3(d, "force_on_surface2_G")).collect();
    let scale = force_scale(&forces) * blur;
    for v in own.vertices() {
        let far = |d: &&Value| (vec3(d, "contact_point_G") - v.contact.point).norm();
        let Some(d) = details.iter().min_by(|a, b| far(a).total_cmp(&far(b))) else { return };
        let p = vec3(d, "contact_point_G");
        report.vector("corner's point", &v.contact.point, &p, 1.0, 1e-12, at);
        let force = vec3(d, "force_on_surface2_G");
        report.vector("corner's force", &v.contact.force, &force, scale, TOL, at);
        let normal_n = force.dot(&vec3(d, "normal_G"));
        let own_n = v.normal.dot(&vec3(d, "normal_G"));
        report.number("corner's normal force", own_n, normal_n, scale, TOL, at);
        report.vector("corner's slip", &v.slip, &vec3(d, "slip_velocity_G"), 1.0, 1e-12, at);
        report.number("corner's depth", v.depth_m, num(d, "deformation"), 1.0, 1e-13, at);
        let rate = num(d, "deformation_rate");
        report.number("corner's rate", v.depth_rate_m_per_s, rate, 1.0, 1e-12, at);
        let blur = rounding(v.depth_m);
        let (energy, power) = (num(d, "potential_energy"), num(d, "power_loss"));
        compare_relative("corner's energy", v.contact.potential_energy_j, energy, blur, at, report);
        compare_relative("corner's power", v.contact.power_dissipation_w, power, blur, at, report);
    }
}

/// The two bodies of a record and what the file calls them.
struct Bodies {
    bodies: [Body; 2],
    names: [&'static str; 2],
    blur: f64,
}

impl Bodies {
    fn compare(&self, contact: &ContactForce, out: &Value, at: &str, report: &mut Report) {
        let scale = force_scale(&[contact.force]) * self.blur;
        for (k, side) in [contact.on_surface_1(), *contact].iter().enumerate() {
            let name = self.names[k];
            let origin = if name == "ground" { "ground_origin" } else { "body_origin" };
            let expected = get(out, &format!("{name}_force_G_at_{origin}"));
            compare_wrench(side, &self.bodies[k].X_GB.p, expected, scale, at, report);
        }
        let (own, total) = (contact.potential_energy_j, num(out, "total_potential_energy"));
        compare_relative("total energy", own, total, self.blur, at, report);
    }
}
