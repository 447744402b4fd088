//! Shapes of a link, as the points with which they can touch the ground.

use std::f64::consts::TAU;
use std::path::Path;

use roxmltree::{Document, Node};

use crate::mjcf::{mesh_file, mesh_points};
use hardstand_physics::math;
use hardstand_physics::spatial::{Mat3, Transform, Vec3};

/// Corners of a mesh this far above its lowest one belong to the sole, as a share of its size.
const SOLE_SHARE: f64 = 0.15;

/// A cylinder whose axis is this near to upright stands on its end: cosine.
const UPRIGHT: f64 = 0.9;
/// Points of a round sole: between two of them it ends 13 % earlier than the cylinder does.
const RIM_POINTS: u32 = 6;

/// A shape of a link, in the link's frame.
pub(super) enum Part {
    /// Spheres: their centres and radius, m.
    Balls(Vec<Vec3>, f64),
    /// Corners of a box, and its axes.
    Corners(Vec<Vec3>, Mat3),
    /// The middles of a cylinder's ends, and its radius, m.
    Cylinder([Vec3; 2], f64),
    /// Corners of a mesh.
    Mesh(Vec<Vec3>),
}

impl Part {
    /// The points with which it can touch a ground below it, and their radius; `up` has length 1.
    pub(super) fn touching(&self, up: &Vec3) -> Vec<(Vec3, f64)> {
        let sharp = |points: Vec<Vec3>| points.into_iter().map(|p| (p, 0.0)).collect();
        match self {
            Self::Balls(centres, radius_m) => centres.iter().map(|p| (*p, *radius_m)).collect(),
            Self::Corners(points, _) => sharp(points.clone()),
            Self::Cylinder(ends, radius_m) => sharp(rim(ends, *radius_m, up)),
            Self::Mesh(points) => sharp(sole(points, up)),
        }
    }

    /// Directions in which it may have a flat side.
    pub(super) fn normals(&self) -> Vec<Vec3> {
        let of = |R: &Mat3| [Vec3::x(), Vec3::y(), Vec3::z()].map(|axis| *R * axis).to_vec();
        match self {
            Self::Balls(..) => Vec::new(),
            Self::Corners(_, R) => of(R),
            Self::Cylinder([a, b], _) => vec![(*b - *a).normalize()],
            Self::Mesh(_) => of(&Mat3::identity()),
        }
    }
}

/// The shapes of a link that can be read: `tag` is "collision" or "visual".
pub(super) fn of_link(document: &Document<'_>, link: &str, tag: &str, folder: &Path) -> Vec<Part> {
    let links = document.root_element().children().filter(|n| n.has_tag_name("link"));
    let node = links.into_iter().find(|n| n.attribute("name") == Some(link));
    let elements = node.into_iter().flat_map(|n| n.children());
    elements.filter(|n| n.has_tag_name(tag)).filter_map(|n| part(n, folder)).collect()
}

fn numbers(text: Option<&str>) -> Vec<f64> {
    text.unwrap_or_default().split_whitespace().filter_map(|w| w.parse().ok()).collect()
}

fn triple(text: Option<&str>, default: [f64; 3]) -> [f64; 3] {
    if let [x, y, z] = numbers(text)[..] { [x, y, z] } else { default }
}

/// A positive size.
fn size(node: Node<'_, '_>, name: &str) -> Option<f64> {
    numbers(node.attribute(name)).first().copied().filter(|x| x.is_finite() && *x > 0.0)
}

fn part(element: Node<'_, '_>, folder: &Path) -> Option<Part> {
    let geometry = element.children().find(|n| n.has_tag_name("geometry"))?;
    let shape = geometry.children().find(Node::is_element)?;
    let origin = element.children().find(|n| n.has_tag_name("origin"));
    let of = |name: &str| triple(origin.and_then(|o| o.attribute(name)), [0.0; 3]);
    let X = Transform::from_xyz_rpy(of("xyz"), of("rpy"));
    let at = |x: f64, y: f64, z: f64| X.R * Vec3::new(x, y, z) + X.p;
    let around = |x: f64, y: f64, z: f64| {
        let ends = |size: f64| [-0.5 * size, 0.5 * size];
        let mut out = Vec::new();
        for z in ends(z) {
            for y in ends(y) {
                out.extend(ends(x).map(|x| at(x, y, z)));
            }
        }
        Part::Corners(out, X.R)
    };
    Some(match shape.tag_name().name() {
        "sphere" => Part::Balls(vec![X.p], size(shape, "radius")?),
        "capsule" => {
            let half = 0.5 * size(shape, "length")?;
            Part::Balls([-half, half].map(|z| at(0.0, 0.0, z)).to_vec(), size(shape, "radius")?)
        }
        "cylinder" => {
            let half = 0.5 * size(shape, "length")?;
            Part::Cylinder([-half, half].map(|z| at(0.0, 0.0, z)), size(shape, "radius")?)
        }
        "box" => match numbers(shape.attribute("size"))[..] {
            [x, y, z] if x > 0.0 && y > 0.0 && z > 0.0 => around(x, y, z),
            _ => return None,
        },
        "mesh" => {
            let scale = triple(shape.attribute("scale"), [1.0; 3]);
            let corners = mesh_points(&mesh_file(shape.attribute("filename")?, folder)?).ok()?;
            let scaled = corners.into_iter().map(|v| {
                let [x, y, z] = v.to_array();
                at(x * scale[0], y * scale[1], z * scale[2])
            });
            Part::Mesh(scaled.collect())
        }
        _ => return None,
    })
}

/// Points of a cylinder that touch the ground: some of the rim of the end on which it stands, or
/// the lowest one of each end.
fn rim(ends: &[Vec3; 2], radius_m: f64, up: &Vec3) -> Vec<Vec3> {
    let axis = (ends[1] - ends[0]).normalize();
    let along = axis.dot(up);
    if along.abs() < UPRIGHT {
        let out = (*up - axis * along).normalize() * radius_m;
        return ends.map(|end| end - out).to_vec();
    }
    let end = if along > 0.0 { ends[0] } else { ends[1] };
    let side = if axis.x.abs() < 0.9 { Vec3::x() } else { Vec3::y() };
    let first = (side - axis * side.dot(&axis)).normalize() * radius_m;
    let second = axis.cross(&first);
    let at = |k: u32| {
        let (sine, cosine) = math::sin_cos(TAU * f64::from(k) / f64::from(RIM_POINTS));
        end + first * cosine + second * sine
    };
    (0..RIM_POINTS).map(at).collect()
}

/// The corners of the rectangle around the lowest points.
fn sole(points: &[Vec3], up: &Vec3) -> Vec<Vec3> {
    let extent = |points: &[&Vec3], axis: &Vec3| {
        let all = points.iter().map(|v| v.dot(axis));
        all.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], x| [a.min(x), b.max(x)])
    };
    let all: Vec<&Vec3> = points.iter().collect();
    let [low, high] = extent(&all, up);
    let bottom = low + SOLE_SHARE * (high - low);
    let lowest: Vec<&Vec3> = all.into_iter().filter(|v| v.dot(up) <= bottom).collect();
    if lowest.is_empty() {
        return Vec::new();
    }
    let side = if up.x.abs() < 0.9 { Vec3::x() } else { Vec3::y() };
    let first = (side - *up * side.dot(up)).normalize();
    let second = up.cross(&first);
    let ([x0, x1], [y0, y1]) = (extent(&lowest, &first), extent(&lowest, &second));
    [(x1, y1), (x1, y0), (x0, y1), (x0, y0)]
        .map(|(x, y)| first * x + second * y + *up * low)
        .to_vec()
}
