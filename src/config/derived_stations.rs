//! Stations of a foot that gives no points: from the collision shapes of its link.

use std::f64::consts::TAU;

use hardstand_physics::contact::StationShape;
use hardstand_physics::math;
use hardstand_physics::model::Frame;
use hardstand_physics::spatial::{Transform, Vec3};

use super::posture::Posture;
use super::section::Section;
use crate::urdf::{Collision, Shape};

/// A cylinder whose axis is this near to upright in the initial posture stands: cosine.
const UPRIGHT: f64 = 0.9;
/// Points of a round sole: between two of them it ends 13 % earlier than the cylinder does.
const RIM_POINTS: u32 = 6;

/// Stations from the collision shapes of a link: points in the link's frame, m. `round` rounds
/// edges and corners.
pub(super) fn derived(
    s: &Section<'_>,
    frame: &Frame,
    round: &StationShape,
    collisions: &[Collision],
    posture: &Posture,
) -> Vec<(Vec3, StationShape)> {
    if matches!(round, StationShape::Torus { .. }) {
        s.mistake("ring_radius_m", "left out if points_m is not given");
    }
    let of_link = || collisions.iter().filter(|c| c.frame == frame.name);
    let mut out = Vec::new();
    for c in of_link() {
        match c.shape {
            Shape::Sphere { radius_m } => out.push((c.X_FC.p, StationShape::Sphere { radius_m })),
            Shape::Box { size_m } => {
                out.extend(corners(&c.X_FC, size_m, round.round_m()).map(|p| (p, *round)));
            }
            // it is the hull of the balls at its ends
            Shape::Capsule { radius_m, length_m } => {
                let ends = [-0.5, 0.5].map(|side| along(&c.X_FC, side * length_m));
                out.extend(ends.map(|p| (p, StationShape::Sphere { radius_m })));
            }
            Shape::Cylinder { .. } | Shape::Mesh { .. } => {}
        }
    }
    // beside balls, boxes and capsules it is most often what carries them
    if out.is_empty() {
        for c in of_link() {
            if let Shape::Cylinder { radius_m, length_m } = c.shape {
                out.extend(cylinder(&c.X_FC, [radius_m, length_m], round, &posture.up_F(frame)));
            }
        }
    }
    if out.is_empty() {
        let link = &frame.name;
        s.mistake(
            "points_m",
            &format!(
                "given, because link \"{link}\" has no collision sphere, box, capsule or cylinder"
            ),
        );
    }
    out
}

/// The point of a shape's axis at height `z`.
fn along(X_FC: &Transform, z: f64) -> Vec3 {
    X_FC.point(&Vec3::new(0.0, 0.0, z))
}

/// Centres of the balls that round the corners of a box.
fn corners(X_FC: &Transform, size_m: [f64; 3], round_m: f64) -> [Vec3; 8] {
    let half_m = size_m.map(|size| (0.5 * size - round_m).max(0.0));
    std::array::from_fn(|i| {
        let side = |axis: usize| if i >> axis & 1 == 1 { half_m[axis] } else { -half_m[axis] };
        X_FC.point(&Vec3::new(side(0), side(1), side(2)))
    })
}

/// A cylinder that stands touches with points of its lower rim, one that lies with the lowest point
/// of each end, wherever it rolls.
fn cylinder(
    X_FC: &Transform,
    [radius_m, length_m]: [f64; 2],
    round: &StationShape,
    up_F: &Vec3,
) -> Vec<(Vec3, StationShape)> {
    let round_m = round.round_m();
    let [ring_m, half_m] = [radius_m - round_m, 0.5 * length_m - round_m].map(|x| x.max(0.0));
    let axis_F = X_FC.R * Vec3::z();
    let upright = axis_F.dot(up_F);
    if upright.abs() < UPRIGHT {
        let rim =
            StationShape::Torus { axis_B: axis_F, ring_radius_m: ring_m, tube_radius_m: round_m };
        return [-half_m, half_m].map(|z| (along(X_FC, z), rim)).to_vec();
    }
    let z = -half_m.copysign(upright);
    let at = |k: u32| {
        let (sine, cosine) = math::sin_cos(TAU * f64::from(k) / f64::from(RIM_POINTS));
        (X_FC.point(&Vec3::new(ring_m * cosine, ring_m * sine, z)), *round)
    };
    (0..RIM_POINTS).map(at).collect()
}
