//! Triangles of the shapes of free bodies, to be looked at.

use hardstand_protocol::{PoseDescription, ShapeDescription};

/// Sides of a circle.
const SIDES: usize = 24;
/// Cosine and sine of 15°, a side of a circle.
const STEP: [f64; 2] = [0.965_925_826_289_068_3, 0.258_819_045_102_520_76];

/// Corners, three numbers each, and triangles, three indices each.
#[derive(Debug, Default)]
pub(crate) struct ShapeMesh {
    pub(crate) vertices: Vec<f64>,
    pub(crate) triangles: Vec<u32>,
}

impl ShapeMesh {
    /// Adds a shape in the frame of its carrier.
    pub(crate) fn add(&mut self, shape: &ShapeDescription) {
        let [a, b, _] = shape.size_m;
        let first = self.vertices.len() / 3;
        match shape.kind {
            0 => self.turned(&arc(a, 0.0)),
            1 => self.turned(&arc(a, 0.5 * b)),
            2 => self.cuboid(shape.size_m),
            3 => self.turned(&[[0.0, -0.5 * b], [a, -0.5 * b], [a, 0.5 * b], [0.0, 0.5 * b]]),
            _ => self.hull(&shape.vertices_m),
        }
        for p in self.vertices[3 * first..].chunks_exact_mut(3) {
            let [x, y, z] = placed(&shape.pose, [p[0], p[1], p[2]]);
            p.copy_from_slice(&[x, y, z]);
        }
    }

    /// A body of revolution about z, from radii and heights from below to above.
    fn turned(&mut self, profile: &[[f64; 2]]) {
        let first = (self.vertices.len() / 3) as u32;
        for [r, z] in profile {
            let [mut c, mut s] = [1.0, 0.0];
            for _ in 0..SIDES {
                self.vertices.extend([r * c, r * s, *z]);
                [c, s] = [c * STEP[0] - s * STEP[1], s * STEP[0] + c * STEP[1]];
            }
        }
        let sides = SIDES as u32;
        for ring in 0..profile.len() as u32 - 1 {
            for k in 0..sides {
                let at = |ring: u32, k: u32| first + ring * sides + k % sides;
                let (a, b) = (at(ring, k), at(ring, k + 1));
                let (c, d) = (at(ring + 1, k), at(ring + 1, k + 1));
                self.triangles.extend([a, b, d, a, d, c]);
            }
        }
    }

    fn cuboid(&mut self, size_m: [f64; 3]) {
        let first = (self.vertices.len() / 3) as u32;
        for i in 0..8_usize {
            let side = |axis: usize| if i >> axis & 1 == 1 { 0.5 } else { -0.5 };
            self.vertices.extend((0..3).map(|axis| side(axis) * size_m[axis]));
        }
        // corners of each face, counter-clockwise seen from outside
        for [a, b, c, d] in
            [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
        {
            self.triangles.extend([a, b, c, a, c, d].map(|i| first + i));
        }
    }

    /// The triangles of corners of a hull that have no other corner in front of them.
    fn hull(&mut self, corners: &[f64]) {
        let first = (self.vertices.len() / 3) as u32;
        self.vertices.extend(corners);
        let p: Vec<[f64; 3]> = corners.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect();
        let size = p.iter().flatten().fold(0.0_f64, |most, x| most.max(x.abs()));
        for i in 0..p.len() {
            for j in i + 1..p.len() {
                for k in j + 1..p.len() {
                    let n = cross(less(p[j], p[i]), less(p[k], p[i]));
                    let norm = dot(n, n).sqrt();
                    if norm <= 1e-12 * size * size {
                        continue;
                    }
                    let heights = p.iter().map(|q| dot(n, less(*q, p[i])) / norm);
                    let (low, high) =
                        heights.fold((0.0_f64, 0.0_f64), |(l, h), x| (l.min(x), h.max(x)));
                    let thin = 1e-6 * size;
                    let (i, j, k) = (i as u32, j as u32, k as u32);
                    if high <= thin {
                        self.triangles.extend([i, j, k].map(|v| first + v));
                    } else if low >= -thin {
                        self.triangles.extend([i, k, j].map(|v| first + v));
                    }
                }
            }
        }
    }
}

/// Radii and heights of a ball that is cut in half, the halves `half_m` from the middle.
fn arc(radius_m: f64, half_m: f64) -> Vec<[f64; 2]> {
    let mut out = Vec::new();
    let [mut c, mut s] = [0.0, -1.0];
    for i in 0..=SIDES / 2 {
        if i <= SIDES / 4 {
            out.push([radius_m * f64::max(c, 0.0), radius_m * s - half_m]);
        }
        if i >= SIDES / 4 {
            out.push([radius_m * f64::max(c, 0.0), radius_m * s + half_m]);
        }
        [c, s] = [c * STEP[0] - s * STEP[1], s * STEP[0] + c * STEP[1]];
    }
    out
}

/// A point of a frame with this pose, in the frame around it.
pub(crate) fn placed(pose: &PoseDescription, p: [f64; 3]) -> [f64; 3] {
    let [w, x, y, z] = pose.quat_wxyz;
    let u = [x, y, z];
    let t = cross(u, p).map(|c| 2.0 * c);
    let far = cross(u, t);
    [0, 1, 2].map(|i| p[i] + w * t[i] + far[i] + pose.position_m[i])
}

fn less(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six times the volume within the triangles: positive if they are seen from outside.
    fn volume(mesh: &ShapeMesh) -> f64 {
        let corner = |i: u32| {
            let at = 3 * i as usize;
            [mesh.vertices[at], mesh.vertices[at + 1], mesh.vertices[at + 2]]
        };
        let triangles = mesh.triangles.chunks_exact(3);
        let six = triangles.map(|t| dot(corner(t[0]), cross(corner(t[1]), corner(t[2]))));
        six.sum::<f64>() / 6.0
    }

    #[test]
    fn meshes_have_the_volume_of_their_shapes_and_face_outward() {
        let pose =
            PoseDescription { position_m: [0.3, -0.2, 0.1], quat_wxyz: [0.5, 0.5, -0.5, 0.5] };
        let corners = vec![0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0., 1.];
        let pi = std::f64::consts::PI;
        for (kind, size_m, vertices_m, expected) in [
            (0, [0.5, 0.0, 0.0], Vec::new(), pi / 6.0),
            (1, [0.5, 1.0, 0.0], Vec::new(), pi / 6.0 + 0.25 * pi),
            (2, [1.0, 2.0, 3.0], Vec::new(), 6.0),
            (3, [0.5, 2.0, 0.0], Vec::new(), 0.5 * pi),
            (4, [0.0; 3], corners, 1.0 / 6.0),
        ] {
            let mut mesh = ShapeMesh::default();
            let shape = ShapeDescription { kind, size_m, pose, vertices_m, ..Default::default() };
            mesh.add(&shape);
            // 24 sides of a circle leave out 1.1 %, and of a ball twice that
            let found = volume(&mesh);
            assert!((found - expected).abs() < 0.03 * expected, "{kind}: {found} {expected}");
        }
    }
}
