//! A tree of boxes over shapes that never move.

use crate::aabb::Aabb;
use crate::vector::{larger, smaller};

/// Shapes in a leaf.
const LEAF: usize = 4;

#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: Aabb,
    /// Where to go on if the bounds are not met: nodes lie in depth-first order.
    skip: u32,
    /// Place of the leaf's shapes in `order`; none for an inner node.
    first: u32,
    count: u32,
}

/// The tree, built once. A query visits the nodes in a fixed order and needs no memory.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    /// Number and bounds of each shape, leaf after leaf.
    order: Vec<(u32, Aabb)>,
}

impl Tree {
    pub(crate) fn new(mut shapes: Vec<(u32, Aabb)>) -> Self {
        let mut nodes = Vec::new();
        if !shapes.is_empty() {
            split(&mut shapes, 0, &mut nodes);
        }
        Self { nodes, order: shapes }
    }

    /// Calls `found` with the number of each shape whose bounds overlap `bounds`.
    #[inline]
    pub(crate) fn query(&self, bounds: &Aabb, mut found: impl FnMut(u32)) {
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            if !node.bounds.overlaps(bounds) {
                at = node.skip as usize;
                continue;
            }
            let leaf = node.first as usize..(node.first + node.count) as usize;
            for (shape, of) in &self.order[leaf] {
                if of.overlaps(bounds) {
                    found(*shape);
                }
            }
            at += 1;
        }
    }
}

/// Halves the shapes at the median of the axis along which their centres spread most.
fn split(shapes: &mut [(u32, Aabb)], first: usize, nodes: &mut Vec<Node>) {
    let bounds = shapes.iter().fold(Aabb::EMPTY, |all, (_, b)| all.union(b));
    let here = nodes.len();
    let is_leaf = shapes.len() <= LEAF;
    let count = if is_leaf { shapes.len() as u32 } else { 0 };
    nodes.push(Node { bounds, skip: 0, first: first as u32, count });
    if !is_leaf {
        let mut axis = (f64::NEG_INFINITY, 0);
        for k in 0..3 {
            let centers = shapes.iter().map(|(_, b)| b.center(k));
            let (low, high) = centers.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), c| {
                (smaller(c, l), larger(c, h))
            });
            if high - low > axis.0 {
                axis = (high - low, k);
            }
        }
        let key = |s: &(u32, Aabb)| s.1.center(axis.1);
        shapes.sort_by(|a, b| key(a).total_cmp(&key(b)).then(a.0.cmp(&b.0)));
        let middle = shapes.len() / 2;
        let (low, high) = shapes.split_at_mut(middle);
        split(low, first, nodes);
        split(high, first + middle, nodes);
    }
    nodes[here].skip = nodes.len() as u32;
}
