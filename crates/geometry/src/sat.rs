//! Separating axes of two boxes (Gottschalk, Lin & Manocha 1996). A segment is a box without width.

use crate::vector::{Pose, Vec3};

/// Edges whose directions have a smaller sine between them add no axis of their own.
const PARALLEL: f64 = 1e-5;

/// The axis along which two boxes are farthest apart, or overlap least.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    /// Unit vector from B to A, in the world.
    pub(crate) normal: Vec3,
    /// Gap along the axis, m; negative if the boxes overlap, and then it is minus the depth. Where
    /// they are apart, it is at most their distance.
    pub(crate) gap_m: f64,
}

/// `None` if some axis keeps the boxes more than `max_m` apart.
pub(crate) fn boxes(
    (half_a, x_a): (Vec3, &Pose),
    (half_b, x_b): (Vec3, &Pose),
    max_m: f64,
) -> Option<Axis> {
    let r = x_a.R.transpose().product(&x_b.R);
    let (ra, rb) = (half_a.to_array(), half_b.to_array());
    let from_b = x_a.R.tr_mul(x_a.p - x_b.p);
    let t = from_b.to_array();
    let mut best = (f64::NEG_INFINITY, 0, 0, 1.0);
    // faces of A
    let reach_b = r.abs_mul(half_b).to_array();
    for i in 0..3 {
        let gap = t[i].abs() - ra[i] - reach_b[i];
        if gap > best.0 {
            best = (gap, 0, i, t[i]);
        }
    }
    // faces of B, unless they are the same
    let tie = 1e-10 * (half_a.x + half_a.y + half_a.z + half_b.x + half_b.y + half_b.z);
    let t_b = r.tr_mul(from_b).to_array();
    let reach_a = r.transpose().abs_mul(half_a).to_array();
    for j in 0..3 {
        let gap = t_b[j].abs() - rb[j] - reach_a[j];
        if gap > best.0 + tie {
            best = (gap, 1, j, t_b[j]);
        }
    }
    if best.0 > max_m {
        return None;
    }
    let face = best.0;
    let edges = Edges { rows: [r.x, r.y, r.z].map(Vec3::to_array), t, ra, rb };
    let (gap_m, axis) = edges.largest(face + tie);
    if axis != Vec3::ZERO {
        return (gap_m <= max_m).then(|| Axis { normal: x_a.R.mul(axis), gap_m });
    }
    let pose = if best.1 == 0 { x_a } else { x_b };
    let columns = pose.R.transpose();
    let axis = [columns.x, columns.y, columns.z][best.2];
    Some(Axis { normal: if best.3 < 0.0 { -axis } else { axis }, gap_m: face })
}

/// What the axes across an edge of each box need.
struct Edges {
    /// Rotation from B to A.
    rows: [[f64; 3]; 3],
    /// From B's centre to A's, in A.
    t: [f64; 3],
    /// Half edges.
    ra: [f64; 3],
    rb: [f64; 3],
}

impl Edges {
    /// The axis with the largest gap, if that is above `least_m`, and its direction in A; otherwise
    /// a zero vector.
    #[inline(always)]
    fn largest(&self, least_m: f64) -> (f64, Vec3) {
        let Self { rows, t, ra, rb } = self;
        let mut best = (least_m, Vec3::ZERO);
        for (i, row) in rows.iter().enumerate() {
            let (i1, i2) = NEXT[i];
            for j in 0..3 {
                let (j1, j2) = NEXT[j];
                // axis i of A × axis j of B, in A's frame
                let square = rows[i1][j] * rows[i1][j] + rows[i2][j] * rows[i2][j];
                if square < PARALLEL * PARALLEL {
                    continue;
                }
                let along = t[i2] * rows[i1][j] - t[i1] * rows[i2][j];
                let reach = ra[i1] * rows[i2][j].abs()
                    + ra[i2] * rows[i1][j].abs()
                    + rb[j1] * row[j2].abs()
                    + rb[j2] * row[j1].abs();
                let gap = along.abs() - reach;
                if gap <= 0.0 && best.0 >= 0.0 {
                    continue; // the sign decides, without the root
                }
                let length = square.sqrt();
                if gap / length > best.0 {
                    let mut axis = [0.0; 3];
                    axis[i1] = -rows[i2][j] / length;
                    axis[i2] = rows[i1][j] / length;
                    let axis = Vec3::from(axis);
                    best = (gap / length, if along < 0.0 { -axis } else { axis });
                }
            }
        }
        best
    }
}

const NEXT: [(usize, usize); 3] = [(1, 2), (2, 0), (0, 1)];
