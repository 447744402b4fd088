//! Tosses of the real acrylic cube (examples/cube_tosses) predicted through a scenario.

use hardstand::config::Scenario;
use hardstand_physics::spatial::Vec3;
use hardstand_protocol::TickInput;

use super::cube::data::{Toss, Tosses};
use super::cube::predict::{Setting, first_state};
use super::fall::Result;

/// Ticks of 1 ms with four micro-steps each.
const TICKS_PER_S: f64 = 1000.0;
/// Rounding of the corners, m, and inertia about any axis, kg·m²: fitted with the preset's law.
const RADIUS_M: f64 = 0.0037;
const INERTIA_KG_M2: f64 = 0.00092;

/// A toss from its first state: times since then, s, with centres of the cube, m.
pub(crate) struct Centres {
    /// As the camera saw them, by its own scale.
    pub(crate) seen: Vec<(f64, Vec3)>,
    pub(crate) predicted: Vec<(f64, Vec3)>,
}

impl Centres {
    /// Mean distance of the two, % of the cube's width.
    pub(crate) fn error_percent(&self, half_width_m: f64) -> f64 {
        let pairs = self.seen.iter().zip(&self.predicted);
        let sum: f64 = pairs.map(|((_, seen), (_, ours))| (seen - ours).norm()).sum();
        100.0 * sum / (2.0 * half_width_m * self.seen.len() as f64)
    }
}

/// Predicts `toss` with the contact that `sets` (`key=value`) choose.
pub(crate) fn predict(sets: &[&str], of: &Tosses, toss: &Toss) -> Result<Centres> {
    let setting = Setting::with(&Setting::shipped_measures().map_err(|e| e.to_string())?);
    let start = first_state(of, toss, &setting);
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_string()).collect();
    let mut scenario = Scenario::from_texts(SCENARIO, &urdf(of, &setting.com_B), &sets)?;
    (scenario.spec.q.p_WB, scenario.spec.q.quat_WB) = (start.p_W, start.q_WB);
    (scenario.spec.v.v_WB, scenario.spec.v.w_WB) = (start.v_W, start.w_W);
    let mut simulation = scenario.simulation();
    let mut before_W = start.p_W;
    let mut out = Centres { seen: Vec::new(), predicted: Vec::new() };
    let mut tick = 0_u32;
    for (sample, seen) in toss.samples[start.sample + 1..].iter().enumerate() {
        let time_s = (sample + 1) as f64 * of.dt_s;
        while f64::from(tick) / TICKS_PER_S < time_s {
            before_W = simulation.state().q.p_WB;
            if let Some(failure) = simulation.step(&TickInput::default()).failure {
                return Err(format!("the cube has stopped itself: {failure:?}").into());
            }
            tick += 1;
        }
        let left = f64::from(tick) - time_s * TICKS_PER_S;
        let p_W = simulation.state().q.p_WB;
        out.predicted.push((time_s, p_W + (before_W - p_W) * left));
        out.seen.push((time_s, seen.p_W * (1.0 / setting.scale)));
    }
    Ok(out)
}

const SCENARIO: &str = "[initial]\nplace = \"as_given\"\nposition_m = [0.0, 0.0, 1.0]\n\
     [sim]\nrate_hz = 1000\nmicro_steps = 4\n[[feet]]\nname = \"corner\"\nlink = \"cube\"\n";

/// The cube with a sphere at each corner, which touches three faces.
fn urdf(of: &Tosses, com_B: &Vec3) -> String {
    let inner_m = of.half_width_m - RADIUS_M;
    let mut corners = String::new();
    for corner in 0..8 {
        let side = |axis: u32| if corner >> axis & 1 == 1 { inner_m } else { -inner_m };
        corners.push_str(&format!(
            r#"<collision><origin xyz="{} {} {}"/><geometry><sphere radius="{RADIUS_M}"/></geometry>
</collision>"#,
            side(0),
            side(1),
            side(2)
        ));
    }
    let (mass_kg, inertia) = (of.mass_kg, INERTIA_KG_M2);
    format!(
        r#"<robot name="cube"><link name="cube"><inertial><origin xyz="{} {} {}"/>
<mass value="{mass_kg}"/><inertia ixx="{inertia}" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0"
iyz="0"/></inertial>{corners}</link></robot>"#,
        com_B.x, com_B.y, com_B.z
    )
}
