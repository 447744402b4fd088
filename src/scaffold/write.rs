//! The scenario file of a proposal.

use std::fmt::Write as _;

use super::feet::FootProposal;
use crate::limits::NAME_BYTES_MAX;
use crate::mjcf::Converted;
use crate::urdf::{Loaded, Shape};
use hardstand_physics::dynamics::Positions;
use hardstand_protocol::{HoldGains, is_name_char};

/// What is assumed of all joints, because the file says nothing.
#[derive(Clone, Copy)]
pub(super) struct OfAllJoints {
    /// kg·m².
    pub(super) armature: Option<f64>,
    /// N·m.
    pub(super) effort_max: Option<f64>,
}

/// What a scenario is written from.
#[derive(Clone)]
pub(super) struct Draft<'a> {
    /// The robot's file, as the scenario names it.
    pub(super) named: &'a str,
    pub(super) is_mjcf: bool,
    pub(super) loaded: &'a Loaded,
    pub(super) feet: &'a [FootProposal],
    pub(super) q: Positions,
    pub(super) gains: Vec<HoldGains>,
    pub(super) of_all: OfAllJoints,
    pub(super) keyframe: Option<&'a str>,
    pub(super) converted: &'a Converted,
    /// Why the contact follows from the weight, if it does.
    pub(super) spring: Option<String>,
}

impl Draft<'_> {
    /// The file.
    pub(super) fn toml(&self) -> String {
        let model = &self.loaded.model;
        let mut out = String::new();
        // writing to a String cannot fail
        let key = if self.is_mjcf { "mjcf" } else { "urdf" };
        let (name, joints, mass) = (&model.name, model.joint_count(), model.total_mass());
        let _ =
            writeln!(out, "# {name}: {joints} joints, {mass:.3} kg. Proposed by `hardstand new`.");
        out.push_str("# All keys are in docs/scenarios.md and config/default.toml.\n");
        let _ = writeln!(out, "\n[robot]\n{key} = {}", quoted(self.named));
        let key = key_of(name);
        if key != *name {
            let _ = writeln!(out, "name = {key:?}");
        }
        if let Some(gravity) = self.converted.gravity_m_per_s2 {
            let _ = writeln!(out, "\n[sim]\ngravity_m_per_s2 = {gravity:?}");
        }
        self.write_initial(&mut out);
        out.push_str(
            "\n# hold_kp, hold_kd: gains of `hardstand controller stand`, N·m/rad, N·m·s/rad.\n",
        );
        let OfAllJoints { armature, effort_max } = self.of_all;
        if armature.is_some() || effort_max.is_some() {
            out.push_str("[joints.\"*\"]\n");
        }
        if let Some(armature) = armature {
            let _ = writeln!(out, "# The file has no rotor inertia; this one, kg·m², is assumed.");
            let _ = writeln!(out, "armature = {armature}");
        }
        if let Some(effort_max) = effort_max {
            let _ =
                writeln!(out, "# The file gives no joint a motor; this limit, N·m, is assumed.");
            let _ = writeln!(out, "effort_max = {effort_max:?}");
        }
        out.push('\n');
        for (joint, g) in model.joints.iter().zip(&self.gains) {
            let _ = writeln!(
                out,
                "[joints.{}]\nhold_kp = {}\nhold_kd = {}",
                quoted(&joint.name),
                plain(g.kp),
                plain(g.kd)
            );
        }
        out.push_str(
            "\n[contact]\n# A foot that stands does not creep, as with Simbody's own law.\n",
        );
        out.push_str("stiction = \"holding\"\n");
        if let Some(why) = &self.spring {
            let _ = writeln!(out, "# With \"simbody\", the default, {why}.");
            out.push_str("spring = \"by_mass\"\n");
        }
        self.write_feet(&mut out);
        self.write_rest(&mut out);
        out
    }

    fn write_initial(&self, out: &mut String) {
        out.push_str("\n[initial]\nplace = \"above_ground\"\n");
        if let Some(keyframe) = self.keyframe {
            let _ = writeln!(
                out,
                "# The posture below is this keyframe's of the model.\nkeyframe = {}",
                quoted(keyframe)
            );
        }
        let rpy = self.q.quat_WB.to_rpy();
        if rpy.iter().any(|x| x.abs() > 1e-9) {
            let _ = writeln!(out, "rpy_rad = [{:?}, {:?}, {:?}]", rpy[0], rpy[1], rpy[2]);
        }
        out.push_str("\n[initial.joints]\n");
        let model = &self.loaded.model;
        let follows = |i: usize| model.couplings.iter().any(|c| c.follower == i);
        let own = model.joints.iter().zip(&self.q.joints).enumerate().filter(|(i, _)| !follows(*i));
        for (_, (joint, q)) in own {
            let q = q.clamp(joint.q_min, joint.q_max.max(joint.q_min));
            let short = (q * 1e4).round() / 1e4;
            let inside = (joint.q_min..=joint.q_max).contains(&short);
            let q = if inside { short } else { q };
            let _ = writeln!(out, "{} = {q:?}", quoted(&joint.name));
        }
    }

    fn write_feet(&self, out: &mut String) {
        for foot in self.feet {
            let link = quoted(&foot.link);
            let _ = writeln!(out, "\n[[feet]]\nname = {link}\nlink = {link}");
            if !foot.by_shape {
                let points = foot.points_L.iter().map(|p| {
                    let [x, y, z] = p.to_array().map(|x| (x * 1e5).round() / 1e5 + 0.0);
                    format!("[{x:?}, {y:?}, {z:?}]")
                });
                let points: Vec<String> = points.collect();
                let _ = writeln!(out, "points_m = [{}]", points.join(", "));
                if foot.radius_m > 0.0 {
                    let _ = writeln!(out, "radius_m = {:?}", foot.radius_m);
                }
            }
        }
    }

    fn write_rest(&self, out: &mut String) {
        let model = &self.loaded.model;
        let base = &model.bodies[0].name;
        let boxed =
            |c: &&crate::urdf::Collision| c.frame == *base && matches!(c.shape, Shape::Box { .. });
        if self.loaded.collisions.iter().filter(boxed).count() == 1
            && self.loaded.collisions.iter().filter(|c| c.frame == *base).count() == 1
            && !self.feet.is_empty()
        {
            out.push_str(
                "\n# The corners of the trunk, so that a robot that falls lies on the ground.\n",
            );
            let link = quoted(base);
            let _ = writeln!(out, "[[stations]]\nname = {link}\nlink = {link}\nradius_m = 0.01");
        }
        let frame = |name: &str| model.frames.iter().find(|f| f.name == name);
        // a site that has the name of a link has a name of its own
        let of_site = |site: &String| frame(&format!("{site}_site")).or_else(|| frame(site));
        let named = || model.frames.iter().find(|f| f.name.to_lowercase().contains("imu"));
        let imu = self.converted.sensors.imu.as_ref().and_then(of_site).or_else(named);
        if let Some(imu) = imu {
            let _ = writeln!(out, "\n[imu]\nlink = {}", quoted(&imu.name));
        }
    }
}

/// A text as TOML reads it, also as a key. The escapes of JSON are a part of those of TOML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

/// A number that TOML reads as one.
fn plain(x: f64) -> String {
    format!("{x:?}")
}

/// The name with which keys of the bus can be made of it.
pub(super) fn key_of(name: &str) -> String {
    let letter = |c: char| if is_name_char(c) { c } else { '_' };
    let all: String = name.chars().take(NAME_BYTES_MAX).map(letter).collect();
    if all.is_empty() { "robot".into() } else { all }
}
