//! Convex solids with rounded edges: boxes, ramps, stairs.

use crate::limits::{SOLID_FACES_MAX, STAIRS_MAX};
use crate::simd::SimdReal;
use crate::spatial::{Mat3, Transform, Vec3};
use hardstand_error::{Error, ErrorKind, Result};

use super::nearest::Nearest;
use super::polytope::{Face, REACH_M, corners, face, outside};
use super::range::{refuse, require};

/// A solid without its rounding is at least so thick, m, in every direction.
const CORE_MIN_M: f64 = 1e-5;

/// A convex solid with flat faces and edges rounded by `edge_radius_m`, in its frame S.
///
/// It is the *core*, a polytope with every face moved inward by the edge radius, and everything
/// within the edge radius of the core. So its faces lie where they were given, and over an edge or
/// a corner the normal turns continuously.
///
/// ```
/// use hardstand_physics::contact::ConvexSolid;
/// use hardstand_physics::spatial::Vec3;
/// let step = ConvexSolid::cuboid([0.4, 1.0, 0.2], 0.01)?;
/// let edge = step.nearest(&Vec3::new(0.21, 0.0, 0.11)); // over the edge at x = 0.2, z = 0.1
/// assert!((edge.distance_m - (0.02 * 2.0_f64.sqrt() - 0.01)).abs() < 1e-15);
/// assert!((edge.normal_S.x - edge.normal_S.z).abs() < 1e-12);
/// # Ok::<(), hardstand_error::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ConvexSolid {
    /// Of the core; all have corners.
    faces: Vec<Face>,
    edge_radius_m: f64,
}

impl ConvexSolid {
    /// The solid between half-spaces `normal · x ≤ offset`, each given as (outward normal, offset).
    /// If a normal is a unit vector, its offset is the distance of the plane from S's origin, m;
    /// otherwise both are scaled. Half-spaces that touch nowhere in an area are left out.
    ///
    /// # Errors
    /// [`Input`](ErrorKind::Input) if there are fewer than 4 or more than 32 half-spaces, a number
    /// is not finite, the solid is empty, unbounded or reaches farther than 1000 m, or
    /// `edge_radius_m` is negative or so large that a face would vanish.
    pub fn from_faces(half_spaces: &[(Vec3, f64)], edge_radius_m: f64) -> Result<Self> {
        let planes = checked(half_spaces, edge_radius_m)?;
        if corners(&planes).iter().any(|p| p.amax() > REACH_M * (1.0 - 1e-9)) {
            return Err(input(format!(
                "half_spaces leave the solid open or too long; it must end within {REACH_M} m"
            )));
        }
        let sharp = polytope(&planes, 0.0);
        if core_depth_m(&sharp) < CORE_MIN_M {
            return Err(input("half_spaces enclose nothing; the solid must have a volume".into()));
        }
        let faces = polytope(&planes, edge_radius_m);
        if faces.len() != sharp.len() || core_depth_m(&faces) < CORE_MIN_M {
            return Err(input(format!(
                "edge_radius_m is {edge_radius_m}; it must be so small that a core with all \
                 faces is left, e.g. less than half the shortest side of a box"
            )));
        }
        Ok(Self { faces, edge_radius_m })
    }

    /// Its half-spaces (outward unit normal, offset in m), rounded edges included.
    pub(super) fn half_spaces(&self) -> impl Iterator<Item = (Vec3, f64)> {
        self.faces.iter().map(|f| (f.normal, f.offset_m + self.edge_radius_m))
    }

    /// Centre and edges of a box along the axes of S, rounded edges included; `None` if it is none.
    pub(crate) fn as_box(&self) -> Option<(Vec3, [f64; 3])> {
        let (mut low, mut high) = ([None; 3], [None; 3]);
        for (normal, offset_m) in self.half_spaces() {
            let axis = (0..3).find(|&k| normal[k].abs() == 1.0)?;
            let side = if normal[axis] > 0.0 { &mut high } else { &mut low };
            if side[axis].replace(normal[axis] * offset_m).is_some() {
                return None;
            }
        }
        let (mut center, mut size_m) = (Vec3::zeros(), [0.0; 3]);
        for k in 0..3 {
            let (low, high) = (low[k]?, high[k]?);
            (center[k], size_m[k]) = (0.5 * (low + high), high - low);
        }
        Some((center, size_m))
    }

    /// Corners of the core; one that several faces share comes several times.
    pub(crate) fn core_corners(&self) -> impl Iterator<Item = Vec3> + '_ {
        self.faces.iter().flat_map(|f| f.corners.iter().copied())
    }

    /// A box centred on S's origin.
    ///
    /// # Errors
    /// See [`from_faces`](Self::from_faces).
    pub fn cuboid(size_m: [f64; 3], edge_radius_m: f64) -> Result<Self> {
        let mut m = Vec::new();
        for (i, s) in size_m.into_iter().enumerate() {
            require(&mut m, &format!("size_m[{i}]"), s, 1e-3, REACH_M);
        }
        refuse("cuboid", &m)?;
        let [x, y, z] = size_m.map(|s| 0.5 * s);
        Self::from_faces(
            &[
                (Vec3::x(), x),
                (-Vec3::x(), x),
                (Vec3::y(), y),
                (-Vec3::y(), y),
                (Vec3::z(), z),
                (-Vec3::z(), z),
            ],
            edge_radius_m,
        )
    }

    /// A wedge: it rises along x from height 0 at S's origin to `height_m` at `length_m`, where it
    /// ends upright; it is `width_m` wide, half of that to either side of the origin.
    ///
    /// The solid goes on below, to `height_m + 2 edge_radius_m` under S's origin. So its rounded
    /// toe is in the floor, where the slope begins without a bump, and a foot that sinks in there
    /// is nearer to the slope than to the underside.
    ///
    /// # Errors
    /// See [`from_faces`](Self::from_faces).
    pub fn ramp(length_m: f64, width_m: f64, height_m: f64, edge_radius_m: f64) -> Result<Self> {
        let mut m = Vec::new();
        for (name, s) in [("length_m", length_m), ("width_m", width_m), ("height_m", height_m)] {
            require(&mut m, name, s, 1e-3, REACH_M);
        }
        refuse("ramp", &m)?;
        Self::from_faces(
            &[
                (Vec3::new(-height_m, 0.0, length_m), 0.0),
                (-Vec3::z(), height_m + 2.0 * edge_radius_m),
                (Vec3::x(), length_m),
                (Vec3::y(), 0.5 * width_m),
                (-Vec3::y(), 0.5 * width_m),
            ],
            edge_radius_m,
        )
    }

    /// Radius of the edges, m.
    #[must_use]
    pub const fn edge_radius_m(&self) -> f64 {
        self.edge_radius_m
    }

    /// The point of the surface nearest to `p_S`: exact outside, and inside down to the core.
    ///
    /// Outside the core the distance is continuously differentiable and its gradient is the
    /// normal. Inside the core, deeper than the edge radius, the answer is the face whose plane is
    /// nearest: the distance is still continuous, but the normal jumps from face to face. So
    /// choose an edge radius larger than feet sink in; with 0 the edges are sharp.
    #[must_use]
    pub fn nearest(&self, p_S: &Vec3) -> Nearest {
        if let Some(o) = outside(&self.faces, p_S) {
            return Nearest {
                distance_m: o.distance_m - self.edge_radius_m,
                normal_S: o.normal,
                point_S: o.point + o.normal * self.edge_radius_m,
            };
        }
        let mut highest = (f64::NEG_INFINITY, Vec3::z());
        for face in &self.faces {
            let height = face.height_m(p_S);
            if height > highest.0 {
                highest = (height, face.normal);
            }
        }
        let distance_m = highest.0 - self.edge_radius_m;
        Nearest { distance_m, normal_S: highest.1, point_S: p_S - highest.1 * distance_m }
    }
}

/// A flight of `count` stairs as boxes, each with the pose `X_FS` of its centre in the flight's
/// frame F: F's origin is at the foot of the first riser, in the middle of the width; x leads up
/// the flight and z is up. `run_m` is the depth of a tread.
///
/// Each box stands on the floor and reaches from its own riser to the end of the flight, so every
/// tread goes on without a seam below the next riser. Sides and back of the boxes lie in common
/// planes: a body that leans there touches several boxes at once.
///
/// # Errors
/// [`Input`](ErrorKind::Input) if `count` is not 1 to 100, or as [`ConvexSolid::cuboid`].
///
/// ```
/// let flight = hardstand_physics::contact::stairs(3, 0.17, 0.29, 1.0, 0.01)?;
/// let (X_FS, top_step) = &flight[2];
/// let p_F = hardstand_physics::spatial::Vec3::new(0.7, 0.0, 0.54);
/// let n = top_step.nearest(&X_FS.point_inverse(&p_F));
/// assert!((n.distance_m - 0.03).abs() < 1e-12);
/// # Ok::<(), hardstand_error::Error>(())
/// ```
pub fn stairs(
    count: usize,
    rise_m: f64,
    run_m: f64,
    width_m: f64,
    edge_radius_m: f64,
) -> Result<Vec<(Transform, ConvexSolid)>> {
    let mut m = Vec::new();
    if !(1..=STAIRS_MAX).contains(&count) {
        m.push(format!("count is {count}; it must be 1 to {STAIRS_MAX}"));
    }
    for (name, s) in [("rise_m", rise_m), ("run_m", run_m), ("width_m", width_m)] {
        require(&mut m, name, s, 1e-3, 10.0);
    }
    refuse("stairs", &m)?;
    let end = count as f64 * run_m;
    let step = |k: usize| {
        let (front, top) = (k as f64 * run_m, (k + 1) as f64 * rise_m);
        let solid = ConvexSolid::cuboid([end - front, width_m, top], edge_radius_m)?;
        let center = Vec3::new(0.5 * (front + end), 0.0, 0.5 * top);
        Ok((Transform::new(Mat3::identity(), center), solid))
    };
    (0..count).map(step).collect()
}

/// Half-spaces with unit normals.
fn checked(half_spaces: &[(Vec3, f64)], edge_radius_m: f64) -> Result<Vec<(Vec3, f64)>> {
    let mut m = Vec::new();
    let count = half_spaces.len();
    if !(4..=SOLID_FACES_MAX).contains(&count) {
        m.push(format!("half_spaces has {count} entries; it must have 4 to {SOLID_FACES_MAX}"));
    }
    require(&mut m, "edge_radius_m", edge_radius_m, 0.0, REACH_M);
    let mut planes = Vec::with_capacity(count);
    for (i, (normal, offset)) in half_spaces.iter().enumerate() {
        let length = normal.norm();
        require(&mut m, &format!("length of normal {i}"), length, 1e-6, 1e6);
        require(&mut m, &format!("offset of half-space {i}"), *offset, -1e9, 1e9);
        planes.push((normal / length, offset / length));
    }
    refuse("convex solid", &m)?;
    Ok(planes)
}

/// The faces that have an area, with all planes moved inward.
fn polytope(planes: &[(Vec3, f64)], inward_m: f64) -> Vec<Face> {
    let moved: Vec<(Vec3, f64)> = planes.iter().map(|&(n, o)| (n, o - inward_m)).collect();
    let corners = corners(&moved);
    let faces = moved.iter().map(|&(n, o)| face(n, o, &corners));
    faces.filter(|f| !f.corners.is_empty()).collect()
}

/// How deep the middle of all corners is inside; not positive for what has no volume.
fn core_depth_m(faces: &[Face]) -> f64 {
    let (mut sum, mut count) = (Vec3::zeros(), 0.0);
    for corner in faces.iter().flat_map(|f| &f.corners) {
        sum += corner;
        count += 1.0;
    }
    if count == 0.0 {
        return 0.0;
    }
    let middle = sum / count;
    faces.iter().map(|f| -f.height_m(&middle)).fold(f64::INFINITY, |low, h| h.smaller(low))
}

fn input(message: String) -> Error {
    Error::new(ErrorKind::Input, message)
}
