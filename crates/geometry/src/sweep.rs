//! Pairs of moving shapes whose boxes overlap: sort and sweep.

use crate::aabb::Aabb;

/// The order of the shapes along an axis, kept from one step to the next. It decides how long the
/// sort takes, not what it finds.
#[derive(Clone, Debug)]
pub(crate) struct Sweep {
    order: Vec<u32>,
    axis: usize,
}

impl Sweep {
    pub(crate) fn new(count: usize) -> Self {
        Self { order: (0..count as u32).collect(), axis: 0 }
    }

    /// Calls `found` with each pair of shapes that overlap, the smaller number first, in an order
    /// of no meaning.
    pub(crate) fn pairs(&mut self, bounds: &[Aabb], mut found: impl FnMut(u32, u32)) {
        let axis = widest(bounds);
        let low = |i: u32| bounds[i as usize].low[axis];
        let before = |a: u32, b: u32| low(a).total_cmp(&low(b)).then(a.cmp(&b)).is_lt();
        if axis == self.axis {
            // nearly sorted since the last step
            for i in 1..self.order.len() {
                let shape = self.order[i];
                let mut k = i;
                while k > 0 && before(shape, self.order[k - 1]) {
                    self.order[k] = self.order[k - 1];
                    k -= 1;
                }
                self.order[k] = shape;
            }
        } else {
            self.axis = axis;
            self.order.sort_unstable_by(|a, b| low(*a).total_cmp(&low(*b)).then(a.cmp(b)));
        }
        for (i, &a) in self.order.iter().enumerate() {
            let of_a = &bounds[a as usize];
            let end = of_a.high[axis];
            for &b in &self.order[i + 1..] {
                let of_b = &bounds[b as usize];
                if of_b.low[axis] > end {
                    break;
                }
                if of_a.overlaps(of_b) {
                    found(a.min(b), a.max(b));
                }
            }
        }
    }
}

/// The axis along which the centres vary most. Shapes without bounds do not count.
fn widest(bounds: &[Aabb]) -> usize {
    let (mut sum, mut squares, mut count) = ([0.0; 3], [0.0; 3], 0.0);
    for b in bounds.iter().filter(|b| b.low[0] <= b.high[0]) {
        count += 1.0;
        for k in 0..3 {
            let c = b.center(k);
            sum[k] += c;
            squares[k] += c * c;
        }
    }
    let spread = |k: usize| squares[k] * count - sum[k] * sum[k];
    let axis = if spread(1) > spread(0) { 1 } else { 0 };
    if spread(2) > spread(axis) { 2 } else { axis }
}
