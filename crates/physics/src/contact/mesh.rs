//! Triangles of pieces of ground, to be looked at. Contact does not use them.

use crate::spatial::Vec3;

use super::polytope::{corners, face};
use super::{ConvexSolid, Heightfield, Surface, SurfaceShape};

/// Triangles, counter-clockwise seen from outside or above.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Corners in the frame S of the surface, m.
    pub vertices_S: Vec<Vec3>,
    /// Three indices each.
    pub triangles: Vec<[u32; 3]>,
}

/// Nodes along a side of a height field that a mesh has at most.
const SIDE_MAX: usize = 100;

impl Surface {
    /// Its triangles; none for a plane. Rounded edges are shown sharp, and of a height field with
    /// more than 100 nodes along a side not all are.
    ///
    /// ```
    /// use hardstand_physics::contact::{ConvexSolid, Surface, SurfaceShape};
    /// use hardstand_physics::spatial::Transform;
    /// let step = SurfaceShape::Solid(ConvexSolid::cuboid([0.4, 1.0, 0.2], 0.01)?);
    /// let step = Surface { shape: step, ..Surface::plane("step", Transform::identity()) };
    /// let mesh = step.mesh();
    /// assert_eq!((mesh.vertices_S.len(), mesh.triangles.len()), (24, 12));
    /// let top = mesh.vertices_S.iter().map(|p| p.z).fold(0.0, f64::max);
    /// assert!((top - 0.1).abs() < 1e-12);
    /// # Ok::<(), hardstand_error::Error>(())
    /// ```
    #[must_use]
    pub fn mesh(&self) -> Mesh {
        match &self.shape {
            SurfaceShape::Plane => Mesh::default(),
            SurfaceShape::Heightfield(field) => field.mesh(),
            SurfaceShape::Solid(solid) => solid.mesh(),
        }
    }
}

impl ConvexSolid {
    fn mesh(&self) -> Mesh {
        let planes: Vec<(Vec3, f64)> = self.half_spaces().collect();
        let all = corners(&planes);
        let mut mesh = Mesh::default();
        for (normal, offset_m) in planes {
            let first = mesh.vertices_S.len() as u32;
            let polygon = face(normal, offset_m, &all).corners;
            let fan = 2..polygon.len() as u32;
            mesh.triangles.extend(fan.map(|k| [first, first + k - 1, first + k]));
            mesh.vertices_S.extend(polygon);
        }
        mesh
    }
}

impl Heightfield {
    fn mesh(&self) -> Mesh {
        let ([x, y], [width, depth]) = (self.origin_m(), self.size_m());
        let [columns, rows] = self.nodes_along().map(|n| n.min(SIDE_MAX));
        let at = |i: usize, n: usize, from: f64, length: f64| {
            from + length * i as f64 / n.saturating_sub(1).max(1) as f64
        };
        let node = |row: usize, column: usize| {
            let (x, y) = (at(column, columns, x, width), at(row, rows, y, depth));
            Vec3::new(x, y, self.height_m(x, y))
        };
        let vertices = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        let cell = |row: usize, column: usize| {
            let a = (row * columns + column) as u32;
            let b = a + columns as u32;
            [[a, a + 1, b + 1], [a, b + 1, b]]
        };
        let cells = (1..rows).flat_map(|row| (1..columns).map(move |column| (row - 1, column - 1)));
        Mesh {
            vertices_S: vertices.map(|(row, column)| node(row, column)).collect(),
            triangles: cells.flat_map(|(row, column)| cell(row, column)).collect(),
        }
    }
}
