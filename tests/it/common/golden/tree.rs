//! Forward dynamics of a tree: accelerations, inertia, bias, kinematics, energies.

use hardstand_physics::dynamics::{
    Data, GeneralizedForces, MassMatrix, Positions, Velocities, aba, center_of_mass, crba,
    kinematics, kinetic_energy, momentum, potential_energy, rnea,
};
use hardstand_physics::model::Model;
use hardstand_physics::spatial::{Quaternion, Vec3};
use serde_json::Value;

use super::files::{GoldenFile, get, list, num, nums, quat, text, urdf_text, vec3, vector};
use super::report::Report;
use super::urdf::load_model;

const TOL: f64 = 1e-10;

struct Tree {
    model: Model,
    /// The model's index of each joint of the file.
    joints: Vec<usize>,
    foot_station: Vec3,
    data: Data,
    gravity_W: Vec3,
}

pub fn check(file: &GoldenFile, report: &mut Report) {
    let json = &file.json;
    let urdf = json.get("urdf").and_then(Value::as_str).unwrap_or("refquad.urdf");
    let model = load_model(&urdf_text(urdf));
    let index = |n: &Value| model.joint_index(n.as_str().expect("a name")).expect("a joint");
    let mut tree = Tree {
        joints: list(json, "joint_order").iter().map(index).collect(),
        foot_station: json.get("feet_station_in_calf").map_or_else(Vec3::zeros, vector),
        data: Data::new(&model),
        gravity_W: Vec3::zeros(),
        model,
    };
    for (i, record) in list(json, "records").iter().enumerate() {
        tree.check(record, &format!("record {i}"), report);
    }
}

fn max(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().map(f64::abs).fold(1.0, f64::max)
}

impl Tree {
    fn model_order(&self, values: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.joints.len()];
        self.joints.iter().zip(values).for_each(|(&j, &x)| out[j] = x);
        out
    }

    fn check(&mut self, r: &Value, at: &str, report: &mut Report) {
        let (q, u, out) = (get(r, "q"), get(r, "u"), get(r, "out"));
        self.gravity_W = vec3(r, "gravity_G");
        let positions = Positions {
            quat_WB: quat(q, "base_quat_GB"),
            p_WB: vec3(q, "base_p_G"),
            joints: self.model_order(&nums(get(q, "joint_q"))),
        };
        let velocities = Velocities {
            w_WB: vec3(u, "base_omega_G"),
            v_WB: vec3(u, "base_v_G"),
            joints: self.model_order(&nums(get(u, "joint_u"))),
        };
        kinematics(&self.model, &positions, &velocities, &mut self.data);
        self.check_bias(out, at, report);
        self.check_mass_matrix(out, at, report);
        self.check_energies(&velocities, out, at, report);

        self.data.clear_forces();
        if let Some(wrench) = r.get("external_wrench").filter(|w| w.is_object()) {
            let frame = self.model.frame(text(wrench, "link")).expect("a link");
            let (body, p) = (frame.body, frame.X_BF.p);
            self.data.apply_force(body, &vec3(wrench, "force_G"), &p);
            self.data.apply_moment(body, &vec3(wrench, "moment_G"));
        }
        let tau = self.model_order(&nums(get(r, "tau")));
        let mut vdot = Velocities::zero(&self.model);
        aba(&self.model, &mut self.data, &tau, &self.gravity_W, &mut vdot);
        self.check_accelerations(&vdot, out, at, report);
        self.check_links(out, at, report);
        self.check_feet(out, at, report);
    }

    fn check_accelerations(&self, vdot: &Velocities, out: &Value, at: &str, report: &mut Report) {
        let udot = get(out, "udot");
        let (alpha, a) = (vec3(udot, "base_alpha_G"), vec3(udot, "base_a_G"));
        let joints = nums(get(udot, "joint_udot"));
        let scale = max(joints.iter().copied().chain([alpha.norm(), a.norm()]));
        report.vector("base angular acceleration", &vdot.w_WB, &alpha, scale, TOL, at);
        report.vector("base acceleration", &vdot.v_WB, &a, scale, TOL, at);
        for (i, &j) in self.joints.iter().enumerate() {
            report.number("joint acceleration", vdot.joints[j], joints[i], scale, TOL, at);
        }
    }

    /// `bias_C` of `M u̇ + C = f`: inverse dynamics without acceleration and applied force.
    fn check_bias(&mut self, out: &Value, at: &str, report: &mut Report) {
        self.data.clear_forces();
        let rest = Velocities::zero(&self.model);
        let mut bias = GeneralizedForces::zero(&self.model);
        rnea(&self.model, &mut self.data, &rest, &self.gravity_W, &mut bias);
        let theirs = nums(get(out, "bias_C"));
        let scale = max(theirs.iter().copied());
        for k in 0..3 {
            report.number("bias", bias.base_W.ang[k], theirs[k], scale, TOL, at);
            report.number("bias", bias.base_W.lin[k], theirs[3 + k], scale, TOL, at);
        }
        for (i, &j) in self.joints.iter().enumerate() {
            report.number("bias", bias.joints[j], theirs[6 + i], scale, TOL, at);
        }
    }

    fn check_mass_matrix(&mut self, out: &Value, at: &str, report: &mut Report) {
        let mut H = MassMatrix::zero(&self.model);
        crba(&self.model, &mut self.data, &mut H);
        let theirs = nums(get(out, "mass_matrix_upper"));
        let n = H.size();
        assert_eq!(theirs.len(), n * (n + 1) / 2);
        let scale = max(theirs.iter().copied());
        let place = |k: usize| if k < 6 { k } else { 6 + self.joints[k - 6] };
        let mut upper = theirs.iter();
        for r in 0..n {
            for c in r..n {
                let theirs = *upper.next().expect("an element");
                report.number("mass matrix", H.at(place(r), place(c)), theirs, scale, TOL, at);
            }
        }
    }

    fn check_energies(&self, v: &Velocities, out: &Value, at: &str, report: &mut Report) {
        let (model, data) = (&self.model, &self.data);
        let energy = num(out, "kinetic_energy");
        let scale = max([energy]);
        report.number("kinetic energy", kinetic_energy(model, data, v), energy, scale, TOL, at);
        let energy = num(out, "potential_energy_gravity");
        let ours = potential_energy(model, data, &self.gravity_W);
        report.number("potential energy", ours, energy, max([energy]), TOL, at);
        report.number("total mass", model.total_mass(), num(out, "total_mass"), 1.0, TOL, at);
        let com = vec3(out, "com_G");
        report.vector("centre of mass", &center_of_mass(model, data), &com, 1.0, TOL, at);
        let (ours, theirs) = (momentum(model, data), get(out, "momentum_about_ground_origin"));
        let (angular, linear) = (vec3(theirs, "angular"), vec3(theirs, "linear"));
        let scale = max([angular.norm(), linear.norm()]);
        report.vector("angular momentum", &ours.angular, &angular, scale, TOL, at);
        report.vector("linear momentum", &ours.linear, &linear, scale, TOL, at);
    }

    fn check_links(&self, out: &Value, at: &str, report: &mut Report) {
        for link in list(out, "links") {
            let frame = self.model.frame(text(link, "link")).expect("a link");
            let (body, p_B) = (frame.body, frame.X_BF.p);
            let R = self.data.X_WB[body].R * frame.X_BF.R;
            let orientation = Quaternion::from_matrix(&R);
            report.quat("link orientation", &orientation, &quat(link, "quat_GB"), TOL, at);
            let w = self.data.X_WB[body].R * self.data.V[body].ang;
            let omega = vec3(link, "omega_G");
            report.vector("link angular velocity", &w, &omega, max([omega.norm()]), TOL, at);
            let (alpha, _) = self.data.acceleration_W(body, &p_B, &self.gravity_W);
            let theirs = vec3(link, "alpha_G");
            report.vector("link angular acc.", &alpha, &theirs, max([theirs.norm()]), TOL, at);
            self.check_point(
                ["link position", "link velocity", "link acceleration"],
                (body, p_B),
                link,
                at,
                report,
            );
        }
    }

    fn check_feet(&self, out: &Value, at: &str, report: &mut Report) {
        for foot in list(out, "feet") {
            let frame = self.model.frame(text(foot, "link")).expect("a link");
            let p_B = frame.X_BF.point(&self.foot_station);
            let names = ["foot position", "foot velocity", "foot acceleration"];
            self.check_point(names, (frame.body, p_B), foot, at, report);
        }
    }

    fn check_point(
        &self,
        names: [&'static str; 3],
        (body, p_B): (usize, Vec3),
        theirs: &Value,
        at: &str,
        report: &mut Report,
    ) {
        let p = self.data.point_W(body, &p_B);
        report.vector(names[0], &p, &vec3(theirs, "p_G"), 1.0, TOL, at);
        let (v, expected) = (self.data.point_velocity_W(body, &p_B), vec3(theirs, "v_G"));
        report.vector(names[1], &v, &expected, max([expected.norm()]), TOL, at);
        let (_, a) = self.data.acceleration_W(body, &p_B, &self.gravity_W);
        let expected = vec3(theirs, "a_G");
        // cancellation of centripetal terms scales with the square of the speed
        let scale = max([expected.norm(), v.norm_squared()]);
        report.vector(names[2], &a, &expected, scale, TOL, at);
    }
}
