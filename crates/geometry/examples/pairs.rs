//! Random pairs of shapes with their depths, for tests/python/geometry_compare.py.
//!
//! ```sh
//! cargo run --release -p hardstand-geometry --example pairs -- 10000 > pairs.txt
//! ```
//!
//! A line for each pair: kind, sizes and pose of A, the same of B, then depth, normal and a point
//! of A. Kinds: `sphere r`, `capsule r l`, `box x y z`, `cylinder r l`, `hull n x y z …`; a pose is
//! nine numbers of the rotation, by rows, and three of the position. Lengths in m.
#![allow(clippy::print_stdout, missing_docs, reason = "a program that prints a table")]
#![allow(non_snake_case, reason = "monogram notation")]

use std::fmt::Write as _;
use std::sync::Arc;

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_geometry::{Hull, Patch, Pose, Shape, Vec3, Workspace, contact};

#[path = "../tests/it/common/random.rs"]
#[allow(dead_code, unreachable_pub, missing_debug_implementations)]
mod random;

use random::Random;

/// A shape and the words for it.
fn shape(random: &mut Random) -> Result<(Shape, String)> {
    let mut size = || random.between(0.1, 0.6);
    let (x, y, z) = (size(), size(), size());
    Ok(match random.index(5) {
        0 => (Shape::sphere(x)?, format!("sphere {x:?}")),
        1 => (Shape::capsule(x, y)?, format!("capsule {x:?} {y:?}")),
        2 => (Shape::cuboid([x, y, z], 0.0)?, format!("box {x:?} {y:?} {z:?}")),
        3 => (Shape::cylinder(x, y, 0.0)?, format!("cylinder {x:?} {y:?}")),
        _ => {
            let count = 4 + random.index(29);
            let points: Vec<Vec3> = (0..count).map(|_| random.direction() * x).collect();
            let hull = Arc::new(Hull::from_points(&points)?);
            let mut words = format!("hull {}", hull.vertices().len());
            hull.vertices().iter().for_each(|p| words.push_str(&numbers(&p.to_array())));
            (Shape::hull(hull, 0.0)?, words)
        }
    })
}

fn numbers(values: &[f64]) -> String {
    values.iter().fold(String::new(), |mut out, v| {
        // writing to a string cannot fail
        let _ = write!(out, " {v:?}");
        out
    })
}

fn pose_words(pose: &Pose) -> String {
    let rows = [pose.R.x, pose.R.y, pose.R.z, pose.p];
    rows.iter().map(|r| numbers(&r.to_array())).collect()
}

fn main() -> Result<()> {
    let count = std::env::args().nth(1).unwrap_or_else(|| String::from("10000"));
    let count: usize = count
        .parse()
        .map_err(|e| Error::new(ErrorKind::Input, format!("{count} is not a number: {e}")))?;
    let mut random = Random::new(71);
    let (mut ws, mut patch) = (Workspace::new(), Patch::new());
    for _ in 0..count {
        let ((a, words_a), (b, words_b)) = (shape(&mut random)?, shape(&mut random)?);
        let (xa, xb) = (random.pose(0.2), random.pose(1.0));
        contact((&a, &xa), (&b, &xb), 100.0, &mut ws, &mut patch);
        let points = patch.points().iter();
        let Some(p) = points.max_by(|p, q| p.depth_m.total_cmp(&q.depth_m)) else { continue };
        let result = [&[p.depth_m][..], &patch.normal_W.to_array(), &p.a_W.to_array()].concat();
        let (xa, xb) = (pose_words(&xa), pose_words(&xb));
        println!("{words_a}{xa} {words_b}{xb}{}", numbers(&result));
    }
    Ok(())
}
