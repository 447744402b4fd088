//! Checks that masses and inertias let the equations of motion be solved.
//!
//! The checks apply to a body, that is to all links welded together: a dummy link with an invented
//! inertia on a heavy trunk does no harm, and real robots have many. A bad link therefore causes a
//! warning, and a refusal only if its body is bad too.

use urdf_rs::JointType;

use super::base::Held;
use super::merge::Merged;
use super::report::{Report, list};
use super::source::{Source, inertia_about_com};
use super::tree::Tree;
use hardstand_physics::math;
use hardstand_physics::model::Base;
use hardstand_physics::spatial::{Mat3, SpatialInertia, Vec3};

/// Excess of the largest principal moment over the sum of the others, relative to the largest,
/// that needs no warning: three significant digits.
const TRIANGLE_QUIET: f64 = 1e-3;
/// The same, above which rounding cannot be the reason. A flat plate has λ₃ = λ₁ + λ₂; with two
/// significant digits each moment is off by up to 5 %, their balance by 5 % of
/// λ₁ + λ₂ + λ₃ = 2 λ₃.
const TRIANGLE_MAX: f64 = 0.1;
/// How far below 0 a principal moment may be, relative to the largest. Much less than for the
/// triangle: an indefinite inertia has motions of negative energy, which diverge.
const NEGATIVE_MAX: f64 = 1e-6;
/// Smallest inertia that counts, kg·m²: a steel ball of 2 mm diameter has 1.3e-11.
const INERTIA_MIN: f64 = 1e-12;

/// Checks each body that moves and the links on it.
pub(super) fn check(
    source: &Source,
    tree: &Tree,
    merged: &Merged,
    held: &Held,
    armature: &[f64],
    report: &mut Report,
) {
    for (body, links) in merged.links_of.iter().enumerate() {
        let joint = tree.joint_above[body];
        let is_floating_base = held.base == Base::Floating && held.root == Some(body);
        let moves = is_floating_base || joint.is_some() && held.root != Some(body);
        // a bad number is already reported; more messages about its effects would only confuse
        let is_sound = links.iter().all(|&l| source.link_notes[l].is_sound);
        if links.is_empty() || !moves || !is_sound {
            continue;
        }
        let inertia = &merged.inertia[body];
        if inertia.mass <= 0.0 && !is_floating_base && carries(body, source, tree, merged) {
            continue; // a step of a chain: what it carries has the inertia
        }
        if inertia.mass <= 0.0 {
            let mover = match joint.filter(|_| !is_floating_base) {
                Some(j) => format!("{} moves it", source.joint(j)),
                None => String::from("it is the floating base"),
            };
            report.mistake(format!(
                "{} has no mass, but {mover}; give it or a link fixed to it an <inertial>",
                describe(source, body, links)
            ));
            continue;
        }
        if !check_moments(source, body, links, inertia, report) {
            continue;
        }
        let turns_freely = is_floating_base || held.is_free(body);
        let (lacking, what) = match joint.filter(|_| !turns_freely) {
            Some(j) => {
                let what =
                    format!("the axis of {}; or give this joint an armature", source.joint(j));
                (about_axis(source, j, inertia, armature), what)
            }
            None => (principal_moments(&inertia.about_com())[0], "a principal axis".into()),
        };
        if lacking < INERTIA_MIN {
            report.mistake(format!(
                "{} has a rotational inertia of {lacking:.1e} kg·m²; \
                 it needs {INERTIA_MIN:e} or more about {what}",
                describe(source, body, links)
            ));
        }
    }
}

/// True if a joint of this body moves a body with mass, directly or through others without.
fn carries(body: usize, source: &Source, tree: &Tree, merged: &Merged) -> bool {
    let mut stack = vec![body];
    let mut seen = vec![false; merged.links_of.len()];
    while let Some(b) = stack.pop() {
        for &j in merged.links_of[b].iter().flat_map(|&link| &tree.joints_below[link]) {
            let moving = source.robot.joints[j].joint_type != JointType::Fixed;
            let Some((_, child)) = tree.ends[j].filter(|_| moving) else { continue };
            if merged.inertia[child].mass > 0.0 {
                return true;
            }
            if !std::mem::replace(&mut seen[child], true) {
                stack.push(child);
            }
        }
    }
    false
}

/// Inertia that a joint must accelerate, its own rotor included. The mass is already checked.
fn about_axis(source: &Source, j: usize, inertia: &SpatialInertia, armature: &[f64]) -> f64 {
    let joint = &source.robot.joints[j];
    if joint.joint_type == JointType::Prismatic {
        return f64::INFINITY;
    }
    let axis = Vec3::from(joint.axis.xyz.0);
    axis.dot(&(inertia.I * axis)) + armature.get(j).copied().unwrap_or(0.0)
}

/// Reports impossible principal moments of the links and the body; true if the body is accepted.
fn check_moments(
    source: &Source,
    body: usize,
    links: &[usize],
    inertia: &SpatialInertia,
    report: &mut Report,
) -> bool {
    let of_links: Vec<(usize, Flaw)> = links
        .iter()
        .filter_map(|&l| Some((l, flaw(&inertia_about_com(&source.robot.links[l]))?)))
        .collect();
    let of_body = flaw(&inertia.about_com());
    let refused = of_body.as_ref().is_some_and(|f| f.is_grave);
    let mut is_told = false;
    for (l, flaw) in of_links {
        let text = format!("{}: {}", source.link(l), flaw.text);
        if refused && flaw.is_grave {
            report.mistake(text);
            is_told = true;
        } else if flaw.is_grave {
            report.warn(format!("{text}; accepted, because its body with all links is sound"));
        } else {
            report.warn(format!("{text}; accepted as rounding"));
        }
    }
    if let Some(flaw) = of_body.filter(|f| f.is_grave && !is_told) {
        report.mistake(format!("{}: {}", describe(source, body, links), flaw.text));
    }
    !refused
}

/// `link "a" (line 7)`, with the links welded to it.
fn describe(source: &Source, body: usize, links: &[usize]) -> String {
    let others: Vec<&str> = links
        .iter()
        .filter(|&&l| l != body)
        .map(|&l| source.robot.links[l].name.as_str())
        .collect();
    let link = source.link(body);
    if others.is_empty() { link } else { format!("{link} with {} fixed to it", list(&others)) }
}

/// What is wrong with an inertia.
#[derive(Debug)]
struct Flaw {
    /// Larger than rounding explains.
    is_grave: bool,
    text: String,
}

fn flaw(I_com: &Mat3) -> Option<Flaw> {
    let [low, middle, high] = principal_moments(I_com);
    let moments = format!("principal moments {low:.3e}, {middle:.3e}, {high:.3e} kg·m²");
    let largest = high.max(-low);
    if !largest.is_finite() {
        return Some(Flaw { is_grave: true, text: format!("inertia is not finite: {moments}") });
    }
    if largest < INERTIA_MIN {
        return None;
    }
    if low < -NEGATIVE_MAX * largest {
        let text = format!("inertia is not positive semi-definite: {moments}; none may be < 0");
        return Some(Flaw { is_grave: true, text });
    }
    let excess = (high - middle - low) / high;
    let text = format!(
        "inertia breaks the triangle inequality: {moments}; \
         the largest may not exceed the sum of the other two"
    );
    (excess > TRIANGLE_QUIET).then_some(Flaw { is_grave: excess > TRIANGLE_MAX, text })
}

/// Eigenvalues of a symmetric matrix, ascending, by the trigonometric solution of the cubic.
///
/// Absolute error about 1e-8 of the largest where two are nearly equal, far below the tolerances.
fn principal_moments(I: &Mat3) -> [f64; 3] {
    let mean = I.trace() / 3.0;
    let deviator = I - Mat3::from_diagonal_element(mean);
    let p = (deviator.norm_squared() / 6.0).sqrt();
    if p <= 0.0 {
        return [mean; 3];
    }
    let third_of_turn = std::f64::consts::TAU / 3.0;
    let angle = math::acos_clamped((deviator / p).determinant() / 2.0) / 3.0;
    let high = mean + 2.0 * p * math::sin_cos(angle).1;
    let low = mean + 2.0 * p * math::sin_cos(angle + third_of_turn).1;
    // rounding may put the middle one outside
    [low, (3.0 * mean - high - low).max(low).min(high), high]
}
