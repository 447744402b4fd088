//! Single evaluations of the Hunt–Crossley contact, several contacts at once, and restitution.

use hardstand_physics::contact::{ContactForce, HalfSpace, HertzPair, HuntCrossley, Overlap};
use hardstand_physics::spatial::Vec3;
use serde_json::Value;

use super::files::{GoldenFile, get, list, list_or_empty, num, text, vec3};
use super::material::material;
use super::report::Report;
use super::touch::{Body, compare_relative, compare_wrench, pair, rounding};

pub fn law(one: &Value, two: &Value, transition_velocity: f64) -> HuntCrossley {
    let pair = HertzPair::new(&material(one), &material(two)).expect("materials");
    HuntCrossley::new(pair, transition_velocity).expect("a transition velocity")
}

pub fn check_static(file: &GoldenFile, report: &mut Report) {
    for (i, r) in list_or_empty(&file.json, "records").iter().enumerate() {
        check_record(r, &format!("record {i} ({})", text(r, "kind")), report);
    }
    for (i, r) in list_or_empty(&file.json, "multi_contact_early_return_records").iter().enumerate()
    {
        check_early_return(r, &format!("early-return record {i}"), report);
    }
}

fn check_record(r: &Value, at: &str, report: &mut Report) {
    let out = get(r, "out");
    let expected = list(out, "contacts").first();
    let spheres = text(r, "kind") == "sphere_sphere";
    let pair = pair(r, spheres && expected.is_some_and(|c| num(c, "surface1") == 1.0));
    let exists = if pair.overlap.is_some() == expected.is_some() { 0.0 } else { 1.0 };
    report.add("contact exists", exists, 0.0, at);
    let mut contact = ContactForce::default();
    if let (Some(o), Some(c)) = (&pair.overlap, expected) {
        report.number("depth", o.depth_m, num(c, "depth"), 1.0, 1e-14, at);
        report.vector("raw point", &o.point, &vec3(c, "location_G"), 1.0, 1e-13, at);
        report.vector("normal", &o.normal, &vec3(c, "normal_G"), 1.0, 1e-13, at);
        let radius = num(c, "effective_radius");
        report.number("effective radius", o.radius_m, radius, radius, 1e-14, at);
        let law = law(pair.materials[0], pair.materials[1], num(r, "transition_velocity"));
        let p = law.pair().contact_point(o);
        let v_12 = pair.bodies[0].velocity(&p) - pair.bodies[1].velocity(&p);
        contact = law.evaluate(&law.initial_friction(), o, &v_12).contact;
    }
    let blur = pair.overlap.map_or(1.0, |o| rounding(o.depth_m));
    let sides = [contact.on_surface_1(), contact];
    let keys = pair.wrenches.map(|name| {
        let origin = if name == "ground" { "ground_origin" } else { "body_origin" };
        format!("{name}_force_G_at_{origin}")
    });
    let scale = keys.iter().map(|k| vec3(get(out, k), "force").norm()).fold(0.0, f64::max);
    for (side, (key, body)) in sides.iter().zip(keys.iter().zip(&pair.bodies)) {
        let scale = if scale > 0.0 { scale * blur } else { 1.0 };
        compare_wrench(side, &body.X_GB.p, get(out, key), scale, at, report);
    }
    let (own, expected) = (contact.potential_energy_j, num(out, "potential_energy"));
    compare_relative("potential energy", own, expected, blur, at, report);
}

/// Simbody leaves out all contacts after the first that has no force. Until then the forces are
/// equal; after it each contact here has the force of the closed formula.
fn check_early_return(r: &Value, at: &str, report: &mut Report) {
    let (out, m, radius) = (get(r, "out"), get(r, "material_all"), num(r, "radius"));
    let law = law(m, m, num(r, "transition_velocity"));
    let floor = HalfSpace { point: Vec3::zeros(), normal: Vec3::y() };
    let (mut returned, mut energy) = (false, 0.0);
    for c in list(out, "contacts") {
        let name = if num(c, "surface2") == 1.0 { "A" } else { "B" };
        let body = Body::new(get(r, &format!("body{name}")));
        let o = Overlap::sphere_on_half_space(&floor, &body.X_GB.p, radius).expect("an overlap");
        let v_12 = -body.velocity(&law.pair().contact_point(&o));
        let f = law.evaluate(&law.initial_friction(), &o, &v_12);
        let closed = normal_force(m, num(c, "effective_radius"), num(c, "depth"), v_12.y);
        let scale = closed.max(1.0);
        report.number("closed normal force", f.normal_n, closed.max(0.0), scale, 1e-9, at);
        let expected = get(out, &format!("body{name}_force_G"));
        if returned {
            report.vector(
                "left out by Simbody",
                &vec3(expected, "force"),
                &Vec3::zeros(),
                1.0,
                0.0,
                at,
            );
            let acts = (closed > 0.0) == (f.contact.force.norm() > 0.0);
            report.add("and acts here", if acts { 0.0 } else { 1.0 }, 0.0, at);
        } else {
            compare_wrench(&f.contact, &body.X_GB.p, expected, scale, at, report);
            energy += f.contact.potential_energy_j;
        }
        returned |= f.normal_n == 0.0;
    }
    compare_relative("energy until then", energy, num(out, "potential_energy"), 1.0, at, report);
}

/// `(4/3) √R x^(3/2) E (1 + 1.5 c ẋ)` for two surfaces of one material, `E* = E / 2^(3/2)`: the
/// other way to write it, as the class document does.
fn normal_force(m: &Value, radius: f64, depth: f64, approach: f64) -> f64 {
    let modulus = num(m, "stiffness_E") / 2f64.powf(1.5);
    let elastic = 4.0 / 3.0 * radius.sqrt() * modulus * depth.powf(1.5);
    elastic * (1.0 + 1.5 * num(m, "dissipation_c") * approach)
}

/// How many contacts push here that have no force in the file.
pub fn contacts_left_out(file: &GoldenFile) -> usize {
    let floor = HalfSpace { point: Vec3::zeros(), normal: Vec3::y() };
    let mut count = 0;
    for r in list_or_empty(&file.json, "multi_contact_early_return_records") {
        let m = get(r, "material_all");
        let law = law(m, m, num(r, "transition_velocity"));
        for name in ["A", "B"] {
            let body = Body::new(get(r, &format!("body{name}")));
            let o = Overlap::sphere_on_half_space(&floor, &body.X_GB.p, num(r, "radius")).unwrap();
            let v_12 = -body.velocity(&law.pair().contact_point(&o));
            let own = law.evaluate(&law.initial_friction(), &o, &v_12).contact.force;
            let theirs = vec3(get(get(r, "out"), &format!("body{name}_force_G")), "force");
            count += usize::from(own.y > 1.0 && theirs == Vec3::zeros());
        }
    }
    count
}

pub fn check_restitution(file: &GoldenFile, report: &mut Report) {
    for (i, r) in list(&file.json, "records").iter().enumerate() {
        let (speed, at) = (num(r, "impact_speed"), format!("record {i}"));
        let law = law(get(r, "material_halfspace"), get(r, "material_sphere"), 0.01);
        let c = law.pair().dissipation_s_per_m();
        report.number("dissipation", c, num(r, "c_effective"), 1.0, 1e-12, &at);
        let (e, depth) = bounce(&law, num(r, "sphere_radius"), num(r, "mass"), speed);
        report.number("restitution", e, num(r, "restitution"), 1.0, 1e-6, &at);
        report.number("closed form", e, closed_restitution(1.5 * c * speed), 1.0, 1e-6, &at);
        // the oracle's is the deepest of its steps
        let sampled = num(r, "max_sampled_depth");
        report.number("largest depth", depth, sampled, depth, 1e-2, &at);
    }
}

/// Rebound speed over impact speed, and the largest depth, by steps of 1 µs.
fn bounce(law: &HuntCrossley, radius: f64, mass: f64, speed: f64) -> (f64, f64) {
    let floor = HalfSpace { point: Vec3::zeros(), normal: Vec3::z() };
    let acceleration = |z: f64, v: f64| {
        let centre = Vec3::new(0.0, 0.0, z);
        Overlap::sphere_on_half_space(&floor, &centre, radius).map_or(0.0, |o| {
            law.evaluate(&law.initial_friction(), &o, &Vec3::new(0.0, 0.0, -v)).contact.force.z
                / mass
        })
    };
    let (h, mut z, mut v, mut deepest) = (1e-6, radius, -speed, 0.0f64);
    while v <= 0.0 || z < radius {
        let a1 = acceleration(z, v);
        let (v2, a2) = (v + 0.5 * h * a1, acceleration(z + 0.5 * h * v, v + 0.5 * h * a1));
        let (v3, a3) = (v + 0.5 * h * a2, acceleration(z + 0.5 * h * v2, v + 0.5 * h * a2));
        let (v4, a4) = (v + h * a3, acceleration(z + h * v3, v + h * a3));
        z += h / 6.0 * (v + 2.0 * (v2 + v3) + v4);
        v += h / 6.0 * (a1 + 2.0 * (a2 + a3) + a4);
        deepest = deepest.max(radius - z);
    }
    (v / speed, deepest)
}

/// `a v − ln(1 + a v) = −a e v − ln(1 − a e v)` solved for `e` by bisection; `b` is `a v`.
fn closed_restitution(b: f64) -> f64 {
    if b < 1e-9 {
        return 1.0;
    }
    let excess = |e: f64| (-e * b - (-e * b).ln_1p()) - (b - b.ln_1p());
    let (mut low, mut high) = (0.0, (1.0 / b).min(1.0));
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if excess(middle) < 0.0 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}
