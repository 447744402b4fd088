//! One cell of a height field: a bicubic Hermite patch, and slopes that keep it from overshooting.

use crate::simd::SimdReal;

use super::range::require;

/// What is known at a node of the grid. Lengths in m, slopes in m/m.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Node {
    pub(super) height_m: f64,
    /// Slopes along x and y.
    pub(super) slope: [f64; 2],
    /// Largest downward and upward bend in the cells around, 1/m: how hilly and how hollow it is.
    pub(super) bend: [f64; 2],
}

/// The surface over one point of the ground plane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surface {
    pub(super) height_m: f64,
    pub(super) slope: [f64; 2],
    /// Interpolated between the nodes, so it is continuous, and nowhere less than the cell's own.
    pub(super) bend: [f64; 2],
}

/// The four nodes of a cell, `[x][y]`.
pub(super) type Cell = [[Node; 2]; 2];

/// Weights of a cubic Hermite interpolation at `u` in `[0, 1]`: of the two values and of the two
/// slopes (times the spacing).
struct Weights {
    value: [f64; 2],
    slope: [f64; 2],
}

impl Weights {
    fn at(u: f64) -> Self {
        let w = 1.0 - u;
        let up = u * u * (3.0 - 2.0 * u);
        Self { value: [1.0 - up, up], slope: [u * w * w, -u * u * w] }
    }

    fn first_derivative(u: f64) -> Self {
        let w = 1.0 - u;
        let up = 6.0 * u * w;
        Self { value: [-up, up], slope: [w * (1.0 - 3.0 * u), u * (3.0 * u - 2.0)] }
    }

    fn second_derivative(u: f64) -> Self {
        let up = 6.0 - 12.0 * u;
        Self { value: [-up, up], slope: [6.0 * u - 4.0, 6.0 * u - 2.0] }
    }
}

/// The tensor product with zero twist. Heights are taken from the first node's, so that a level
/// cell is level to the last bit.
fn product(cell: &Cell, spacing_m: f64, x: &Weights, y: &Weights) -> f64 {
    let mut sum = 0.0;
    for i in 0..2 {
        for j in 0..2 {
            let node = &cell[i][j];
            let rise = node.height_m - cell[0][0].height_m;
            sum += rise * x.value[i] * y.value[j]
                + spacing_m * node.slope[0] * x.slope[i] * y.value[j]
                + spacing_m * node.slope[1] * x.value[i] * y.slope[j];
        }
    }
    sum
}

/// Height, slopes and bends at `(u, v)` in `[0, 1]²` of a cell.
pub(super) fn surface(cell: &Cell, spacing_m: f64, u: f64, v: f64) -> Surface {
    let (x, y) = (Weights::at(u), Weights::at(v));
    let (dx, dy) = (Weights::first_derivative(u), Weights::first_derivative(v));
    let bend = |k: usize| {
        let along = |j: usize| (1.0 - u) * cell[0][j].bend[k] + u * cell[1][j].bend[k];
        (1.0 - v) * along(0) + v * along(1)
    };
    Surface {
        height_m: cell[0][0].height_m + product(cell, spacing_m, &x, &y),
        slope: [
            product(cell, spacing_m, &dx, &y) / spacing_m,
            product(cell, spacing_m, &x, &dy) / spacing_m,
        ],
        bend: [bend(0), bend(1)],
    }
}

/// Largest downward and upward second derivative in any direction, 1/m, over 3 × 3 points of the
/// cell.
pub(super) fn bend(cell: &Cell, spacing_m: f64) -> [f64; 2] {
    let mut most = [0.0_f64; 2];
    for u in [0.0, 0.5, 1.0] {
        for v in [0.0, 0.5, 1.0] {
            let (x, y) = (Weights::at(u), Weights::at(v));
            let (dx, dy) = (Weights::first_derivative(u), Weights::first_derivative(v));
            let (ddx, ddy) = (Weights::second_derivative(u), Weights::second_derivative(v));
            let xx = product(cell, spacing_m, &ddx, &y);
            let yy = product(cell, spacing_m, &x, &ddy);
            let xy = product(cell, spacing_m, &dx, &dy);
            let half = 0.5 * (xx - yy);
            let (mean, radius) = (0.5 * (xx + yy), (half * half + xy * xy).sqrt());
            // not `f64::max`: LLVM 22 vectorises a loop over it into wrong results under AVX
            most = [(radius - mean).larger(most[0]), (radius + mean).larger(most[1])];
        }
    }
    most.map(|m| m / (spacing_m * spacing_m))
}

/// The slope of a node between a rise of `before_m` and one of `after_m`: their mean, limited to
/// 1.5 times the smaller one; 0 at a peak, in a dip and beside level ground.
///
/// Fritsch and Carlson (1980) need a factor of at most 3 for a monotone curve. With 1.5, and no
/// twist, all 16 Bézier points of a patch lie between its lowest and highest corner (both slopes
/// together move the inner point by at most half of either rise each), and so does the patch.
pub(super) fn limited_slope(before_m: f64, after_m: f64, spacing_m: f64) -> f64 {
    if before_m * after_m <= 0.0 {
        return 0.0;
    }
    let most = 1.5 * before_m.abs().min(after_m.abs());
    (0.5 * (before_m + after_m)).clamp(-most, most) / spacing_m
}

/// Names the heights that are out of range: the first few of them.
pub(super) fn require_heights(mistakes: &mut Vec<String>, heights_m: &[f64], most_m: f64) {
    for (i, &h) in heights_m.iter().enumerate() {
        require(mistakes, &format!("heights_m[{i}]"), h, -most_m, most_m);
        if mistakes.len() >= 8 {
            return;
        }
    }
}
