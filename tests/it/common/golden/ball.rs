//! Trajectories of a ball on the half-space `z ≤ 0` with Hunt–Crossley contact.

use hardstand_physics::contact::{HalfSpace, HuntCrossley, HuntCrossleyForce, Overlap};
use hardstand_physics::spatial::{Mat3, Quaternion, Vec3};
use serde_json::Value;

use super::files::{GoldenFile, get, list, num, quat, vec3};
use super::hunt_crossley::law;
use super::report::Report;
use super::run::ticks;
use super::touch::Body;

/// Step in contact, s, and steps that one step in the air may take.
const STEP_S: f64 = 2e-6;
const FLIGHT: u64 = 50;

/// Tolerances of position and velocity, m and m/s, rad and rad/s (PROVENANCE.md).
const POSITION: f64 = 1e-8;
const VELOCITY: f64 = 1e-6;

struct Ball {
    radius: f64,
    mass: f64,
    inertia: Vec3,
    gravity: Vec3,
    law: HuntCrossley,
}

#[derive(Clone)]
struct State {
    q: Quaternion,
    p: Vec3,
    w: Vec3,
    v: Vec3,
}

/// Rates of change of a [`State`].
struct Rate {
    q: Quaternion,
    p: Vec3,
    w: Vec3,
    v: Vec3,
}

pub fn check(file: &GoldenFile, report: &mut Report) {
    let setup = get(&file.json, "setup");
    let materials = [get(setup, "material_halfspace"), get(setup, "material_sphere")];
    let ball = Ball {
        radius: num(setup, "sphere_radius"),
        mass: num(setup, "mass"),
        inertia: vec3(setup, "inertia_diag"),
        gravity: vec3(setup, "gravity_G"),
        law: law(materials[0], materials[1], num(setup, "transition_velocity")),
    };
    let mut s = State {
        q: quat(setup, "quat0"),
        p: vec3(setup, "p0"),
        w: vec3(setup, "omega0"),
        v: vec3(setup, "v0"),
    };
    let mut tick = 0;
    for sample in list(&file.json, "samples") {
        let end = ticks(num(sample, "t") / STEP_S);
        while tick < end {
            let fall = s.v.norm() + ball.gravity.norm() * STEP_S * FLIGHT as f64;
            let airborne = s.p.z - ball.radius > 2.0 * fall * STEP_S * FLIGHT as f64;
            let n = if airborne { FLIGHT.min(end - tick) } else { 1 };
            s = ball.step(&s, STEP_S * n as f64);
            tick += n;
        }
        ball.compare(&s, sample, &format!("t = {}", num(sample, "t")), report);
    }
}

impl Ball {
    fn contact(&self, s: &State) -> Option<HuntCrossleyForce> {
        let floor = HalfSpace { point: Vec3::zeros(), normal: Vec3::z() };
        let o = Overlap::sphere_on_half_space(&floor, &s.p, self.radius)?;
        let body = Body::of(&s.q, s.p, s.w, s.v);
        let v_12 = -body.velocity(&self.law.pair().contact_point(&o));
        Some(self.law.evaluate(&self.law.initial_friction(), &o, &v_12))
    }

    fn rate(&self, s: &State) -> Rate {
        let contact = self.contact(s).unwrap_or_default().contact;
        let (force, moment) = (contact.force, contact.moment_about(&s.p));
        let R = s.q.to_matrix();
        let inertia = R * Mat3::from_diagonal(&self.inertia) * R.transpose();
        let inverse = R * Mat3::from_diagonal(&self.inertia.map(|i| 1.0 / i)) * R.transpose();
        Rate {
            q: s.q.derivative(&s.w),
            p: s.v,
            w: inverse * (moment - s.w.cross(&(inertia * s.w))),
            v: force / self.mass + self.gravity,
        }
    }

    /// One classical Runge–Kutta step.
    fn step(&self, s: &State, h: f64) -> State {
        let k1 = self.rate(s);
        let k2 = self.rate(&s.plus(0.5 * h, &k1));
        let k3 = self.rate(&s.plus(0.5 * h, &k2));
        let k4 = self.rate(&s.plus(h, &k3));
        let mut out = s.plus(h / 6.0, &k1).plus(h / 3.0, &k2).plus(h / 3.0, &k3);
        out = out.plus(h / 6.0, &k4);
        out.q = out.q.normalised();
        out
    }

    fn compare(&self, s: &State, sample: &Value, at: &str, report: &mut Report) {
        report.vector("position", &s.p, &vec3(sample, "p"), 1.0, POSITION, at);
        report.quat("orientation", &s.q, &quat(sample, "quat"), POSITION, at);
        report.vector("velocity", &s.v, &vec3(sample, "v"), 1.0, VELOCITY, at);
        // at the rim of the ball
        let (w, omega) = (s.w * self.radius, vec3(sample, "omega") * self.radius);
        report.vector("angular velocity × radius", &w, &omega, 1.0, VELOCITY, at);
        let stored = self.contact(s).map_or(0.0, |f| f.contact.potential_energy_j);
        let force = self.contact(s).map_or(0.0, |f| f.normal_elastic_n);
        let scale = 1.0 + force;
        report.number("contact's energy", stored, num(sample, "pe_contact"), scale, POSITION, at);
    }
}

impl State {
    fn plus(&self, h: f64, d: &Rate) -> Self {
        Self {
            q: self.q.plus_scaled(h, &d.q),
            p: self.p + d.p * h,
            w: self.w + d.w * h,
            v: self.v + d.v * h,
        }
    }
}
