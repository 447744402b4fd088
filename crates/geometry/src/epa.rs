//! Depth of overlapping cores: the expanding polytope algorithm (van den Bergen 2001), in bounded
//! memory and a bounded number of steps.

use crate::gjk::{Difference, Simplex, Vertex};
use crate::vector::Vec3;

/// Points of the polytope. What is not exact by then is a round rim.
const VERTICES_MAX: usize = 72;
const FACES_MAX: usize = 2 * VERTICES_MAX;

#[derive(Clone, Copy, Debug)]
struct Face {
    v: [u8; 3],
    normal: Vec3,
    distance_m: f64,
}

/// Buffers of the search, allocated once.
#[derive(Clone, Debug)]
pub(crate) struct Polytope {
    vertices: Vec<Vertex>,
    faces: Vec<Face>,
    horizon: Vec<[u8; 2]>,
}

/// How far B has to move out of A, in A's frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Depth {
    /// Unit vector from B to A.
    pub(crate) normal: Vec3,
    /// Not negative.
    pub(crate) depth_m: f64,
    pub(crate) a: Vec3,
}

impl Polytope {
    pub(crate) fn new() -> Self {
        Self {
            vertices: Vec::with_capacity(VERTICES_MAX),
            faces: Vec::with_capacity(FACES_MAX + 8),
            horizon: Vec::with_capacity(3 * FACES_MAX),
        }
    }

    /// The shortest way out. Exact for polytopes; for round rims to 10⁻⁶ of the extent, or to what
    /// 72 points reach.
    pub(crate) fn depth(&mut self, d: &Difference<'_>, start: &Simplex) -> Depth {
        self.vertices.clear();
        self.faces.clear();
        let tiny_m = d.tiny_m();
        if !self.begin(d, start, tiny_m) {
            return self.flat(d);
        }
        let exact_m = 1e-6 * (d.a.extent() + d.b.extent());
        let mut best = self.nearest_face();
        while self.vertices.len() < VERTICES_MAX {
            let next = d.support(best.normal);
            let gain = next.w.dot(best.normal) - best.distance_m;
            let is_known = self.vertices.iter().any(|v| v.w == next.w);
            let is_round = gain <= exact_m && !is_exact(d);
            if is_known || gain <= tiny_m || is_round || !self.add(next, tiny_m) {
                break;
            }
            best = self.nearest_face();
        }
        self.answer(&best)
    }

    /// A tetrahedron that holds the origin.
    fn begin(&mut self, d: &Difference<'_>, start: &Simplex, tiny_m: f64) -> bool {
        self.vertices.extend(&start.v[..start.count]);
        let away = |this: &Self, v: &Vertex| {
            let o = this.vertices[0].w;
            match this.vertices.len() {
                1 => (v.w - o).norm(),
                2 => (v.w - o).cross((this.vertices[1].w - o).unit_or(Vec3::X)).norm(),
                _ => {
                    let n = (this.vertices[1].w - o).cross(this.vertices[2].w - o);
                    (v.w - o).dot(n.unit_or(Vec3::Z)).abs()
                }
            }
        };
        while self.vertices.len() < 4 {
            let o = self.vertices[0].w;
            let (x, y) = match self.vertices.len() {
                1 => (Vec3::X, Vec3::Y),
                2 => {
                    let along = (self.vertices[1].w - o).unit_or(Vec3::X);
                    (along.across(), along.cross(along.across()))
                }
                _ => {
                    let n = (self.vertices[1].w - o).cross(self.vertices[2].w - o);
                    (n.unit_or(Vec3::Z), n.unit_or(Vec3::Z))
                }
            };
            let found = [x, -x, y, -y, Vec3::Z, -Vec3::Z].map(|way| d.support(way));
            let Some(v) = found.iter().find(|v| away(self, v) > 10.0 * tiny_m) else {
                return false;
            };
            self.vertices.push(*v);
        }
        let [a, b, c, e] = [0, 1, 2, 3].map(|i: usize| self.vertices[i].w);
        let volume = (b - a).cross(c - a).dot(e - a);
        let sides: [[u8; 3]; 4] = if volume > 0.0 {
            [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
        } else {
            [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]]
        };
        sides.into_iter().all(|v| self.push_face(v))
    }

    /// False if the triangle has no area.
    fn push_face(&mut self, v: [u8; 3]) -> bool {
        let [a, b, c] = v.map(|i| self.vertices[usize::from(i)].w);
        let across = (b - a).cross(c - a);
        let longest = (b - a).norm_squared() + (c - a).norm_squared();
        if across.norm_squared() <= 1e-26 * longest * longest {
            return false;
        }
        let normal = across.unit_or(Vec3::Z);
        self.faces.push(Face { v, normal, distance_m: normal.dot(a) });
        true
    }

    fn nearest_face(&self) -> Face {
        let mut best = self.faces[0];
        for face in &self.faces[1..] {
            if face.distance_m < best.distance_m {
                best = *face;
            }
        }
        best
    }

    /// Takes in a point. False, and nothing changed that matters, if rounding broke the surface.
    fn add(&mut self, next: Vertex, tiny_m: f64) -> bool {
        self.horizon.clear();
        let (vertices, horizon) = (&self.vertices, &mut self.horizon);
        let mut seen = 0;
        for i in 0..self.faces.len() {
            let face = self.faces[i];
            let at = vertices[usize::from(face.v[0])].w;
            if face.normal.dot(next.w - at) <= 0.1 * tiny_m {
                self.faces[i - seen] = face;
                continue;
            }
            seen += 1;
            let [a, b, c] = face.v;
            for [from, to] in [[a, b], [b, c], [c, a]] {
                // an edge of two seen faces is not on the horizon
                if let Some(k) = horizon.iter().position(|e| *e == [to, from]) {
                    horizon.swap_remove(k);
                } else {
                    horizon.push([from, to]);
                }
            }
        }
        self.faces.truncate(self.faces.len() - seen);
        if seen == 0 || self.faces.len() + self.horizon.len() > FACES_MAX {
            return false;
        }
        let number = self.vertices.len() as u8;
        self.vertices.push(next);
        for i in 0..self.horizon.len() {
            let [from, to] = self.horizon[i];
            if !self.push_face([from, to, number]) {
                return false;
            }
        }
        true
    }

    /// The point of A's core at the foot of the origin on a face.
    fn answer(&self, face: &Face) -> Depth {
        let [a, b, c] = face.v.map(|i| self.vertices[usize::from(i)]);
        let foot = face.normal * face.distance_m;
        let (ab, ac, af) = (b.w - a.w, c.w - a.w, foot - a.w);
        let n = ab.cross(ac);
        let square = n.norm_squared();
        let v = af.cross(ac).dot(n) / square;
        let w = ab.cross(af).dot(n) / square;
        let u = 1.0 - v - w;
        Depth {
            normal: -face.normal,
            depth_m: if face.distance_m > 0.0 { face.distance_m } else { 0.0 },
            a: a.a * u + b.a * v + c.a * w,
        }
    }

    /// The difference has no volume: out across it, with no depth.
    fn flat(&self, d: &Difference<'_>) -> Depth {
        let o = self.vertices[0];
        let side = |i: usize| self.vertices.get(i).map_or(Vec3::ZERO, |v| v.w - o.w);
        let from = (d.a.center() - d.x_ab.point(d.b.center())).unit_or(Vec3::Z);
        let across = match self.vertices.len() {
            1 => from,
            2 => side(1).unit_or(Vec3::X).across(),
            _ => side(1).cross(side(2)).unit_or(from),
        };
        let normal = if across.dot(from) < 0.0 { -across } else { across };
        Depth { normal, depth_m: 0.0, a: o.a }
    }
}

fn is_exact(d: &Difference<'_>) -> bool {
    use crate::shape::Core::Cylinder;
    !matches!(d.a, Cylinder(..)) && !matches!(d.b, Cylinder(..))
}
