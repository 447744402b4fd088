//! Whether the contact's default values fit the robot's weight.

use super::check::Reader;
use super::feet::FootProposal;
use super::write::Draft;
use hardstand_physics::contact::SpringParameters;
use hardstand_physics::math;
use hardstand_physics::model::Model;

const GRAVITY: f64 = 9.81;
/// Points of a foot that are at most this much higher than its lowest one carry it, m.
const LOWEST_WITHIN_M: f64 = 1e-3;
/// The defaults fit if a foot rests this near to the height of the ground, m, and if half of what
/// it carries, pulling sideways, moves it by less than this.
const OFF_MAX_M: f64 = 3e-3;

/// Why `contact.spring = "by_mass"` is proposed: a line of a comment.
pub(super) fn proposed(draft: &Draft<'_>, reader: &mut Reader<'_>) -> Option<String> {
    let why = misfit(&draft.loaded.model, draft.feet)?;
    let with = Draft { spring: Some(why.clone()), ..draft.clone() };
    // light feet may need shorter micro-steps than the default for it
    reader.read(&with.toml()).is_ok().then_some(why)
}

fn misfit(model: &Model, feet: &[FootProposal]) -> Option<String> {
    let carrying = |foot: &FootProposal| {
        let heights = || foot.points_L.iter().map(|p| p.dot(&foot.up_L));
        let lowest_m = heights().fold(f64::INFINITY, f64::min);
        heights().filter(|&z| z <= lowest_m + LOWEST_WITHIN_M).count()
    };
    let count = feet.iter().map(carrying).sum::<usize>().max(1);
    let load_n = model.total_mass() * GRAVITY / count as f64;
    let simbody = SpringParameters::default();
    let rest_m = rest_height(&simbody, load_n);
    let moved_m = 0.5 * load_n / simbody.kxy_n_per_m;
    if rest_m.abs() > OFF_MAX_M {
        let side = if rest_m > 0.0 { "above" } else { "below" };
        let mm = rest_m.abs() * 1e3;
        return Some(format!(
            "a point that carries {load_n:.2} N rests {mm:.1} mm {side} the ground"
        ));
    }
    let mm = moved_m * 1e3;
    (moved_m > OFF_MAX_M).then(|| {
        format!("half of the {load_n:.0} N that a point carries moves it {mm:.1} mm aside")
    })
}

/// The height at which the spring carries a load, m, within 10 cm.
fn rest_height(spring: &SpringParameters, load_n: f64) -> f64 {
    let [mut low, mut high] = [-0.1, 0.1];
    for _ in 0..50 {
        let z = 0.5 * (low + high);
        let force_n = spring.d1_n * math::exp(-spring.d2_per_m * (z - spring.d0_m));
        *(if force_n > load_n { &mut low } else { &mut high }) = z;
    }
    low
}
