//! A ball or a box that falls onto the plane, on any preset; and the references.

use hardstand::config::Scenario;
use hardstand_protocol::TickInput;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Times, s, with heights of the lowest point over the plane, m.
pub(crate) type Points = Vec<(f64, f64)>;

/// A body of even density, with stations that are those of its shape.
pub(crate) struct Body {
    pub(crate) mass_kg: f64,
    /// Radius of the ball, or half of the edge of the box, m.
    pub(crate) size_m: f64,
    pub(crate) is_box: bool,
}

/// The bodies of benches/contact_presets/mujoco_reference.py.
pub(crate) const BALL: Body = Body { mass_kg: 1.0, size_m: 0.05, is_box: false };
pub(crate) const BOX: Body = Body { is_box: true, ..BALL };
/// In the middle of the ranges of the ITF.
pub(crate) const TENNIS_BALL: Body = Body { mass_kg: 0.0577, size_m: 0.0335, is_box: false };

/// Ticks of 200 µs with two micro-steps each.
const TICKS_PER_S: f64 = 5000.0;

/// `ticks` of a fall from `drop_m`, from rest; `sets` are `key=value`.
pub(crate) fn fall(sets: &[&str], body: &Body, drop_m: f64, end_s: f64) -> Result<Points> {
    let Body { mass_kg, size_m, is_box } = body;
    let edge_m = 2.0 * size_m;
    let (shape, factor) = match is_box {
        true => (format!(r#"<box size="{edge_m} {edge_m} {edge_m}"/>"#), 2.0 / 3.0),
        false => (format!(r#"<sphere radius="{size_m}"/>"#), 0.4),
    };
    let inertia = factor * mass_kg * size_m * size_m;
    let robot = format!(
        r#"<robot name="body"><link name="body"><inertial><mass value="{mass_kg}"/>
<inertia ixx="{inertia}" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry>{shape}</geometry></collision></link></robot>"#
    );
    let scenario = format!(
        "[initial]\nplace = \"as_given\"\nposition_m = [0.0, 0.0, {}]\n\
         [sim]\nrate_hz = 5000\nmicro_steps = 2\n[[feet]]\nname = \"foot\"\nlink = \"body\"\n",
        size_m + drop_m
    );
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_string()).collect();
    let mut simulation = Scenario::from_texts(&scenario, &robot, &sets)?.simulation();
    let mut out = vec![(0.0, drop_m)];
    for tick in 1..=(end_s * TICKS_PER_S).round() as u32 {
        if let Some(failure) = simulation.step(&TickInput::default()).failure {
            return Err(format!("the body has stopped itself: {failure:?}").into());
        }
        out.push((f64::from(tick) / TICKS_PER_S, simulation.state().q.p_WB.z - size_m));
    }
    Ok(out)
}

/// What MuJoCo computed: a file of benches/contact_presets.
pub(crate) struct Reference {
    pub(crate) points: Points,
    pub(crate) rest_m: f64,
    /// See [`extremes_m`].
    pub(crate) extremes_m: [f64; 2],
}

impl Reference {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let value = |key: &str| -> Result<f64> {
            let found = text.lines().find_map(|line| line.strip_prefix(key));
            Ok(found.ok_or_else(|| format!("no \"{key}\""))?.trim().parse()?)
        };
        let extremes_m = [value("# lowest_m")?, value("# highest_after_it_m")?];
        let rest_m = value("# rest_m")?;
        let mut points = Points::new();
        for line in text.lines().filter(|l| l.starts_with(|c: char| c.is_ascii_digit())) {
            let (t, z) = line.split_once(',').ok_or("not two columns")?;
            points.push((t.parse()?, z.parse()?));
        }
        Ok(Self { points, rest_m, extremes_m })
    }
}

/// Lowest height, and the highest one after it, m.
pub(crate) fn extremes_m(points: &Points) -> [f64; 2] {
    let lowest = (0..points.len()).min_by(|&a, &b| points[a].1.total_cmp(&points[b].1));
    let after = points.get(lowest.unwrap_or(0)..).unwrap_or_default();
    let highest = after.iter().map(|p| p.1).fold(f64::MIN, f64::max);
    [after.first().map_or(f64::NAN, |p| p.1), highest]
}

/// Root of the mean square, and the greatest, difference of the heights at the reference's times, m.
pub(crate) fn differences_m(ours: &Points, reference: &Points) -> [f64; 2] {
    let at = |t: f64| ours.get((t * TICKS_PER_S).round() as usize).map_or(f64::NAN, |p| p.1);
    let differences = || reference.iter().map(|&(t, z)| at(t) - z);
    let sum: f64 = differences().map(|d| d * d).sum();
    let greatest = differences().map(f64::abs).fold(0.0, f64::max);
    [(sum / reference.len() as f64).sqrt(), greatest]
}
