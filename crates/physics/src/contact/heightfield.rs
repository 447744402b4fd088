//! Smooth uneven ground over a grid of heights.

use std::sync::Arc;

use crate::limits::HEIGHTFIELD_SIDE_MAX;
use crate::simd::SimdReal;
use crate::spatial::Vec3;
use hardstand_error::Result;

use super::hermite::{Cell, Node, Surface, bend, limited_slope, require_heights, surface};
use super::nearest::Nearest;
use super::range::{PLACE_MAX_M, refuse, require};

/// Steps of the search for the nearest point. Fixed, so that the result is a continuous function.
const STEPS: usize = 8;
/// A step shorter than this, m, changes nothing that matters: the rest of them is left out.
const DONE_M: f64 = 1e-12;

/// A node that is higher than the mean of its neighbours by less than this is on a slope, m.
const SUMMIT_M: f64 = 1e-6;

/// A surface `z = h(x, y)` over a grid of square cells, in its frame S.
///
/// Each cell is a bicubic Hermite patch; neighbours share the heights and slopes of their nodes, so
/// the surface is smooth (C¹). A node's slope is the mean of the two rises beside it, limited so
/// that no patch leaves the range of its four corners: nothing overshoots, steps stay monotone,
/// peaks and dips are at nodes. A plane is reproduced exactly. (After Fritsch & Carlson 1980.)
///
/// Beyond the grid the ground goes on with the height of the border. The slope across the border
/// is 0, so that stays smooth too; a slope that reaches the border levels out within the last cell.
///
/// Copies share the memory.
///
/// ```
/// use hardstand_physics::contact::Heightfield;
/// use hardstand_physics::spatial::Vec3;
/// // 4 columns along x, 2 rows along y, 0.1 m apart: a step 5 cm high
/// let heights_m = [0.0, 0.0, 0.05, 0.05, 0.0, 0.0, 0.05, 0.05];
/// let ground = Heightfield::new([0.0, 0.0], 0.1, 4, 2, &heights_m)?;
/// let n = ground.nearest(&Vec3::new(0.25, 0.05, 0.07));
/// assert!((n.distance_m - 0.02).abs() < 1e-15);
/// assert_eq!(n.normal_S, Vec3::z());
/// # Ok::<(), hardstand_error::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Heightfield {
    origin_m: [f64; 2],
    spacing_m: f64,
    columns: usize,
    rows: usize,
    nodes: Arc<[Node]>,
}

impl Heightfield {
    /// A field of `columns` nodes along x and `rows` along y, `spacing_m` apart (1 mm to 100 m),
    /// the first at `origin_m` (x, y). `heights_m[row * columns + column]` is the height of a node.
    /// Heights and places are within ±100 km. Does all the preparation, so it is not quick.
    ///
    /// # Errors
    /// [`Input`](hardstand_error::ErrorKind::Input) with what is out of range.
    pub fn new(
        origin_m: [f64; 2],
        spacing_m: f64,
        columns: usize,
        rows: usize,
        heights_m: &[f64],
    ) -> Result<Self> {
        let mut m = Vec::new();
        for (i, o) in origin_m.into_iter().enumerate() {
            require(&mut m, &format!("origin_m[{i}]"), o, -PLACE_MAX_M, PLACE_MAX_M);
        }
        require(&mut m, "spacing_m", spacing_m, 1e-3, 100.0);
        for (name, count) in [("columns", columns), ("rows", rows)] {
            if !(2..=HEIGHTFIELD_SIDE_MAX).contains(&count) {
                m.push(format!("{name} is {count}; it must be 2 to {HEIGHTFIELD_SIDE_MAX}"));
            }
        }
        if Some(heights_m.len()) != columns.checked_mul(rows) {
            let count = heights_m.len();
            m.push(format!("heights_m has {count} entries; it must have {columns} × {rows}"));
        }
        require_heights(&mut m, heights_m, PLACE_MAX_M);
        refuse("height field", &m)?;
        let mut nodes = with_slopes(heights_m, columns, rows, spacing_m);
        add_bends(&mut nodes, columns, spacing_m);
        Ok(Self { origin_m, spacing_m, columns, rows, nodes: nodes.into() })
    }

    /// Height of the highest point, m: peaks are at nodes.
    pub(crate) fn highest_m(&self) -> f64 {
        self.nodes.iter().map(|n| n.height_m).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The nodes of a rectangle of S that stand out, by their number, with their places: a line of
    /// nodes along x or y bends down there.
    pub(crate) fn summits(
        &self,
        low_m: [f64; 2],
        high_m: [f64; 2],
    ) -> impl Iterator<Item = (usize, Vec3)> + '_ {
        let place = |axis: usize, x: f64| (x - self.origin_m[axis]) / self.spacing_m;
        let range = |axis: usize, count: usize| {
            let (first, last) =
                (place(axis, low_m[axis]).ceil(), place(axis, high_m[axis]).floor());
            // conversions of what is out of range end at the range
            let end = if last < 0.0 { 0 } else { (last as usize).saturating_add(1).min(count) };
            first as usize..end
        };
        let columns = range(0, self.columns);
        range(1, self.rows).flat_map(move |j| columns.clone().map(move |i| (i, j))).filter_map(
            move |(i, j)| {
                let n = j * self.columns + i;
                let stands_out = self.rise_m(n, i, self.columns, 1) > SUMMIT_M
                    || self.rise_m(n, j, self.rows, self.columns) > SUMMIT_M;
                let at = |axis: usize, k: usize| self.origin_m[axis] + self.spacing_m * k as f64;
                let height_m = self.nodes[n].height_m;
                stands_out.then(|| (n, Vec3::new(at(0, i), at(1, j), height_m)))
            },
        )
    }

    /// By how much node `n` is above the mean of the two beside it, m.
    fn rise_m(&self, n: usize, place: usize, count: usize, stride: usize) -> f64 {
        let height_m = |n: usize| self.nodes[n].height_m;
        let before = if place == 0 { n } else { n - stride };
        let after = if place + 1 == count { n } else { n + stride };
        height_m(n) - 0.5 * (height_m(before) + height_m(after))
    }

    /// Place of the first node, x and y in S, m.
    pub(super) const fn origin_m(&self) -> [f64; 2] {
        self.origin_m
    }

    /// Nodes along x and y.
    pub(super) const fn nodes_along(&self) -> [usize; 2] {
        [self.columns, self.rows]
    }

    /// From the first node to the last, along x and y, m.
    pub(super) fn size_m(&self) -> [f64; 2] {
        self.nodes_along().map(|n| (n - 1) as f64 * self.spacing_m)
    }

    /// Height of the surface above the point `(x, y)` of S, m.
    #[must_use]
    pub fn height_m(&self, x_m: f64, y_m: f64) -> f64 {
        self.surface([x_m, y_m]).height_m
    }

    /// The point of the surface nearest to `p_S`.
    ///
    /// Found in at most 8 damped Gauss–Newton steps from the point straight below or above `p_S`:
    /// each projects `p_S` onto the tangent plane and goes the less of the way the more the ground
    /// bends there, times the distance. All of this is continuous in place and the number of steps
    /// is fixed (but for those below 1 pm), so distance and normal are continuous in `p_S`.
    /// `distance_m` is measured to a point on the surface, so its amount is never too small; its
    /// sign is exact.
    ///
    /// How far the normal is from the gradient of the distance, measured
    /// (`crates/physics/tests/it/terrain.rs`): on
    /// waves 0.8 m long and 8 cm high 2·10⁻⁷ at 2 cm and 10⁻⁵ at 10 cm; on rubble that bends with
    /// radii down to 1 cm 4·10⁻⁶ at 5 mm, at 2 cm 2·10⁻⁴ in the mean and 0.03 at worst. On a plane
    /// it is exact, two cells from where the plane ends.
    ///
    /// A hollow narrower than the distance has several nearest points; then this is one close to
    /// the vertical, `distance_m` may be too large, and changes up to 3 times as fast as `p_S`. So
    /// keep hollows wider than feet are round; sharp edges are for
    /// [`ConvexSolid`](super::ConvexSolid).
    #[must_use]
    pub fn nearest(&self, p_S: &Vec3) -> Nearest {
        let mut q = [p_S.x, p_S.y];
        let mut s = self.surface(q);
        let sign = if p_S.z < s.height_m { -1.0 } else { 1.0 };
        for _ in 0..STEPS {
            // minimise ½|q − p_xy|² + ½ gap²: solve (k + m mᵀ) step = gradient, where k bounds what
            // a hill adds to the Hessian; the square keeps deep hollows from being overshot
            let gap = s.height_m - p_S.z;
            let [down, up] = s.bend.map(|b| gap.abs() * b);
            let (hill, hollow) = if gap < 0.0 { (down, up) } else { (up, down) };
            let k = 1.0 + hill + hollow * hollow;
            let g = [q[0] - p_S.x + gap * s.slope[0], q[1] - p_S.y + gap * s.slope[1]];
            let steep = s.slope[0] * s.slope[0] + s.slope[1] * s.slope[1];
            let along = (s.slope[0] * g[0] + s.slope[1] * g[1]) / (k + steep);
            let step = [(g[0] - s.slope[0] * along) / k, (g[1] - s.slope[1] * along) / k];
            if step[0].abs() + step[1].abs() < DONE_M {
                break;
            }
            q = [q[0] - step[0], q[1] - step[1]];
            s = self.surface(q);
        }
        let point_S = Vec3::new(q[0], q[1], s.height_m);
        Nearest {
            distance_m: sign * (p_S - point_S).norm(),
            normal_S: Vec3::new(-s.slope[0], -s.slope[1], 1.0).normalize(),
            point_S,
        }
    }

    /// The surface above any point; beyond the grid that of the nearest point of the border.
    fn surface(&self, q_m: [f64; 2]) -> Surface {
        let place = |axis: usize, count: usize| {
            let last = (count - 1) as f64;
            let x = ((q_m[axis] - self.origin_m[axis]) / self.spacing_m).clamp(0.0, last);
            let first = (x as usize).min(count - 2);
            (first, x - first as f64)
        };
        let ((i, u), (j, v)) = (place(0, self.columns), place(1, self.rows));
        surface(&cell(&self.nodes, self.columns, i, j), self.spacing_m, u, v)
    }
}

fn cell(nodes: &[Node], columns: usize, i: usize, j: usize) -> Cell {
    let at = |i: usize, j: usize| nodes[j * columns + i];
    [[at(i, j), at(i, j + 1)], [at(i + 1, j), at(i + 1, j + 1)]]
}

fn with_slopes(heights_m: &[f64], columns: usize, rows: usize, spacing_m: f64) -> Vec<Node> {
    let mut nodes = Vec::with_capacity(heights_m.len());
    for j in 0..rows {
        for i in 0..columns {
            let n = j * columns + i;
            let h = heights_m[n];
            let slope = |place: usize, count: usize, stride: usize| {
                if place == 0 || place + 1 == count {
                    return 0.0; // level beyond the border
                }
                limited_slope(h - heights_m[n - stride], heights_m[n + stride] - h, spacing_m)
            };
            let slope = [slope(i, columns, 1), slope(j, rows, columns)];
            nodes.push(Node { height_m: h, slope, bend: [0.0; 2] });
        }
    }
    nodes
}

/// Gives each node the largest bends of the cells around it.
fn add_bends(nodes: &mut [Node], columns: usize, spacing_m: f64) {
    let rows = nodes.len() / columns;
    for j in 0..rows - 1 {
        for i in 0..columns - 1 {
            let most = bend(&cell(nodes, columns, i, j), spacing_m);
            for n in [j * columns + i, (j + 1) * columns + i] {
                for node in &mut nodes[n..n + 2] {
                    node.bend = [most[0].larger(node.bend[0]), most[1].larger(node.bend[1])];
                }
            }
        }
    }
}
