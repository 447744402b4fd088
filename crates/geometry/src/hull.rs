//! Convex hulls with few vertices, built at start-up.

use std::sync::Arc;

use hardstand_error::{Error, ErrorKind, Result};

use crate::gjk::{Distance, gjk};
use crate::merge::merged_faces;
use crate::quickhull::{Triangles, triangles};
use crate::shape::Core;
use crate::vector::{Pose, Vec3, larger, smaller};

/// Vertices of a hull.
pub const HULL_VERTICES_MAX: usize = 64;

/// A polygon of the surface of a [`Hull`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Face {
    /// Unit normal, outward.
    pub(crate) normal: Vec3,
    /// `normal · p` of the vertex farthest along the normal, m.
    pub(crate) offset_m: f64,
    first: u16,
    count: u16,
}

/// The convex hull of a cloud of points: of a link's mesh, say.
///
/// It has at most [`HULL_VERTICES_MAX`] vertices. Vertices are chosen farthest first, so what is
/// left out is what matters least; [`shrink_m`](Self::shrink_m) says how much that is at most.
/// Points within 2·10⁻⁶ of the extent of one plane are in one face: the noise of a mesh in single
/// precision does not split it.
///
/// ```
/// use hardstand_geometry::{Hull, Vec3};
/// let corner = |i: usize| Vec3::new((i & 1) as f64, (i >> 1 & 1) as f64, (i >> 2) as f64);
/// let cube = Hull::from_points(&(0..8).map(corner).collect::<Vec<_>>())?;
/// assert_eq!((cube.vertices().len(), cube.face_count()), (8, 6));
/// assert_eq!(cube.shrink_m(), 0.0);
/// # Ok::<(), hardstand_error::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Hull {
    vertices: Vec<Vec3>,
    /// The same by component, four at a time; the last is repeated.
    lanes: Vec<[[f64; 4]; 3]>,
    faces: Vec<Face>,
    /// Vertices of the faces, counter-clockwise seen from outside.
    face_vertices: Vec<u8>,
    /// Edge from each of these vertices to the next of its face.
    face_edges: Vec<u8>,
    /// Faces at each vertex.
    vertex_faces: Vec<Vec<u8>>,
    center: Vec3,
    half: Vec3,
    shrink_m: f64,
}

impl Hull {
    /// The hull of points, m. Their order does not matter, except that equal hulls may number
    /// their vertices differently; duplicates and points inside or in a face do not matter either.
    /// Points in one plane give a polygon with two faces.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if a coordinate is not finite or beyond 10 km, or if all points lie on
    /// one line or so close to it that no face is left.
    pub fn from_points(points: &[Vec3]) -> Result<Self> {
        if let Some(p) = points.iter().find(|p| !p.to_array().iter().all(|c| c.abs() <= 1e4)) {
            let [x, y, z] = p.to_array();
            let text = format!("hull has the point [{x}, {y}, {z}]; each must be within 10 km");
            return Err(Error::new(ErrorKind::Input, text));
        }
        let Some(Triangles { vertices, triangles, extent_m }) = triangles(points) else {
            let text = "hull has all points on one line; at least three must span a triangle";
            return Err(Error::new(ErrorKind::Input, text));
        };
        let polygons = merged_faces(&vertices, &triangles, 2e-6 * extent_m);
        if polygons.len() < 2 {
            let text =
                "hull is too thin: its points span no face at the accuracy of 2e-6 of its size";
            return Err(Error::new(ErrorKind::Input, text));
        }
        let mut hull = Self::from_polygons(&vertices, &polygons);
        hull.shrink_m = hull.shrink_of(points);
        Ok(hull)
    }

    /// Keeps the vertices that faces use.
    fn from_polygons(all: &[Vec3], polygons: &[Vec<usize>]) -> Self {
        let mut number = vec![None; all.len()];
        let mut vertices = Vec::new();
        for &v in polygons.iter().flatten() {
            if number[v].is_none() {
                number[v] = Some(vertices.len());
                vertices.push(all[v]);
            }
        }
        let mut hull = Self {
            lanes: lanes(&vertices),
            faces: Vec::new(),
            face_vertices: Vec::new(),
            face_edges: Vec::new(),
            vertex_faces: vec![Vec::new(); vertices.len()],
            center: Vec3::ZERO,
            half: Vec3::ZERO,
            shrink_m: 0.0,
            vertices,
        };
        let mut edges: Vec<(usize, usize)> = Vec::new();
        for polygon in polygons {
            let round: Vec<usize> = polygon.iter().filter_map(|&v| number[v]).collect();
            hull.add_face(&round, &mut edges);
        }
        hull.measure();
        hull
    }

    fn add_face(&mut self, round: &[usize], edges: &mut Vec<(usize, usize)>) {
        // Newell's normal: right for polygons that are not quite plane
        let mut area = Vec3::ZERO;
        for (i, &v) in round.iter().enumerate() {
            let next = round[(i + 1) % round.len()];
            let from = self.vertices[round[0]];
            area += (self.vertices[v] - from).cross(self.vertices[next] - from);
        }
        let normal = area.unit_or(Vec3::Z);
        let heights = self.vertices.iter().map(|p| p.dot(normal));
        let offset_m = heights.fold(f64::NEG_INFINITY, larger);
        let first = self.face_vertices.len() as u16;
        let face = self.faces.len() as u8;
        for (i, &v) in round.iter().enumerate() {
            let next = round[(i + 1) % round.len()];
            let edge = (v.min(next), v.max(next));
            let known = edges.iter().position(|e| *e == edge);
            let number = known.unwrap_or(edges.len());
            if known.is_none() {
                edges.push(edge);
            }
            self.face_vertices.push(v as u8);
            self.face_edges.push(number as u8);
            self.vertex_faces[v].push(face);
        }
        self.faces.push(Face { normal, offset_m, first, count: round.len() as u16 });
    }

    fn measure(&mut self) {
        let fold = |f: fn(f64, f64) -> f64, start: f64| {
            let all = |c: fn(&Vec3) -> f64| self.vertices.iter().map(c).fold(start, f);
            Vec3::new(all(|p| p.x), all(|p| p.y), all(|p| p.z))
        };
        let (low, high) = (fold(smaller, f64::INFINITY), fold(larger, f64::NEG_INFINITY));
        self.center = (low + high) * 0.5;
        self.half = (high - low) * 0.5;
    }

    /// How far the farthest of the points is outside.
    fn shrink_of(&self, points: &[Vec3]) -> f64 {
        let core = Core::Hull(Arc::new(self.clone()));
        let mut farthest = 0.0;
        for p in points {
            // no nearer than the highest plane under it: most points need no search
            let height = self.deepest_face(*p).1;
            if height <= 1e-12 * self.extent_m() {
                continue;
            }
            let at = Pose::at(*p);
            if let Distance::Apart(d) = gjk(&core, &Core::Point, &at, f64::INFINITY) {
                farthest = larger(farthest, d.distance_m);
            }
        }
        farthest
    }

    /// Its corners, m.
    #[must_use]
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// Number of polygons of its surface.
    #[must_use]
    pub const fn face_count(&self) -> usize {
        self.faces.len()
    }

    /// Number of edges.
    #[must_use]
    pub const fn edge_count(&self) -> usize {
        self.face_edges.len() / 2
    }

    /// The corners of face `i`, counter-clockwise seen from outside; none beyond the last face.
    #[must_use]
    pub fn face(&self, i: usize) -> Vec<Vec3> {
        let Some(face) = self.faces.get(i) else { return Vec::new() };
        self.face_corners(face).map(|(v, _)| self.vertices[v]).collect()
    }

    /// Every point that the hull was made of is within this distance of the hull, m. Measured, not
    /// estimated. To hold all points for certain, add it as the radius of
    /// [`Shape::hull`](crate::Shape::hull).
    #[must_use]
    pub const fn shrink_m(&self) -> f64 {
        self.shrink_m
    }

    /// Half the box along the axes: its longest edge, m.
    pub(crate) fn extent_m(&self) -> f64 {
        larger(self.half.x, larger(self.half.y, self.half.z))
    }

    pub(crate) const fn bounds(&self) -> (Vec3, Vec3) {
        (self.center, self.half)
    }

    /// Vertices of a face and the edges that begin there.
    pub(crate) fn face_corners(&self, face: &Face) -> impl Iterator<Item = (usize, u16)> {
        let range = usize::from(face.first)..usize::from(face.first + face.count);
        let vertices = self.face_vertices[range.clone()].iter();
        vertices.zip(&self.face_edges[range]).map(|(v, e)| (usize::from(*v), u16::from(*e)))
    }

    /// The vertex farthest along `d`; of equals one of fixed choice.
    #[inline(always)]
    pub(crate) fn support(&self, d: Vec3) -> usize {
        // first all heights and the largest, four at a time, then where it is
        let mut heights = [[0.0; 4]; HULL_VERTICES_MAX / 4];
        let mut best = [f64::NEG_INFINITY; 4];
        for (height, [x, y, z]) in heights.iter_mut().zip(&self.lanes) {
            for k in 0..4 {
                height[k] = d.x * x[k] + d.y * y[k] + d.z * z[k];
            }
            for k in 0..4 {
                best[k] = larger(height[k], best[k]);
            }
        }
        let top = larger(larger(best[0], best[1]), larger(best[2], best[3]));
        let at = heights.as_flattened().iter().position(|h| *h == top);
        at.unwrap_or(0).min(self.vertices.len() - 1)
    }

    /// Of the faces at the vertices farthest along the unit vector `d`, the one that faces `d`
    /// most, and preferably one with most of these vertices.
    pub(crate) fn support_face(&self, d: Vec3) -> &Face {
        let top = self.support(d);
        let limit = self.vertices[top].dot(d) - 1e-9 * self.extent_m();
        let mut best = (0, f64::NEG_INFINITY, usize::from(self.vertex_faces[top][0]));
        for &f in &self.vertex_faces[top] {
            let face = &self.faces[usize::from(f)];
            let corners = self.face_corners(face);
            let touching = corners.filter(|(v, _)| self.vertices[*v].dot(d) >= limit).count();
            let along = face.normal.dot(d);
            // an edge of two faces is enough: what a face has more decides only with three
            let touching = touching.min(3);
            if touching > best.0 || (touching == best.0 && along > best.1) {
                best = (touching, along, usize::from(f));
            }
        }
        &self.faces[best.2]
    }

    /// The face whose plane is highest under `p`, and the height of `p` over it, m.
    pub(crate) fn deepest_face(&self, p: Vec3) -> (&Face, f64) {
        let mut best = (&self.faces[0], f64::NEG_INFINITY);
        for face in &self.faces {
            let height = face.normal.dot(p) - face.offset_m;
            if height > best.1 {
                best = (face, height);
            }
        }
        best
    }
}

fn lanes(vertices: &[Vec3]) -> Vec<[[f64; 4]; 3]> {
    let group = |four: &[Vec3]| {
        let at = |k: usize| four[k.min(four.len() - 1)];
        let by = |c: fn(Vec3) -> f64| [c(at(0)), c(at(1)), c(at(2)), c(at(3))];
        [by(|p| p.x), by(|p| p.y), by(|p| p.z)]
    };
    vertices.chunks(4).map(group).collect()
}
