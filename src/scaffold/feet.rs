//! Feet: the lowest ends of the limbs, and the points with which they can touch the ground.

use std::path::{Path, PathBuf};

use roxmltree::Document;

use crate::mjcf::mesh_corners;
use crate::urdf::{Loaded, Shape};
use hardstand_physics::dynamics::{Data, Positions, Velocities, kinematics};
use hardstand_physics::spatial::{Transform, Vec3};

/// An end is a foot if it lies in the lowest part of the robot, as a share of its height.
const LOWEST_SHARE: f64 = 0.3;
/// Corners of a mesh this far above its lowest one belong to the sole, as a share of its size.
const SOLE_SHARE: f64 = 0.15;
/// Points this far above the lowest one belong to the sole, m.
const SOLE_M: f64 = 0.02;
/// Words in the names of links that are feet.
const WORDS: [&str; 5] = ["foot", "sole", "toe", "ankle", "feet"];

/// A foot.
#[derive(Clone, Debug)]
pub(super) struct FootProposal {
    pub(super) link: String,
    /// Body of the link, and the link's pose on it.
    pub(super) body: usize,
    /// Points that can touch the ground, in the link's frame; their spheres' radius, m.
    pub(super) points_L: Vec<Vec3>,
    pub(super) radius_m: f64,
    /// The points are those of the collision shape: the scenario need not list them.
    pub(super) by_shape: bool,
}

impl FootProposal {
    /// True if it has a sole, which is to lie flat.
    pub(super) const fn is_flat(&self) -> bool {
        self.points_L.len() > 1
    }
}

/// The feet of a robot in the posture `q`, from the left front to the right rear.
pub(super) fn find(
    loaded: &Loaded,
    urdf: &str,
    folder: &Path,
    q: &Positions,
    notes: &mut Vec<String>,
) -> Vec<FootProposal> {
    let model = &loaded.model;
    let mut data = Data::new(model);
    kinematics(model, q, &Velocities::zero(model), &mut data);
    let is_end = |body: usize| body > 0 && model.bodies.iter().skip(1).all(|b| b.parent != body);
    let mut found: Vec<(f64, Vec3, FootProposal)> = Vec::new();
    for body in (0..model.bodies.len()).filter(|&b| is_end(b)) {
        let up_B = data.X_WB[body].R.tr_mul(&Vec3::z());
        let Some(foot) = foot_of(loaded, (body, &up_B), urdf, folder, notes) else { continue };
        let Some(frame) = model.frame(&foot.link) else { continue };
        let X_WL = data.X_WB[body].compose(&frame.X_BF);
        let lowest = foot.points_L.iter().map(|p| (X_WL.R * *p + X_WL.p).z - foot.radius_m);
        found.push((lowest.fold(f64::INFINITY, f64::min), X_WL.p, foot));
    }
    let lowest = found.iter().map(|f| f.0).fold(f64::INFINITY, f64::min);
    let top = data.X_WB.iter().map(|X| X.p.z).fold(f64::NEG_INFINITY, f64::max);
    let limit = lowest + LOWEST_SHARE * (top - lowest);
    found.retain(|f| f.0 <= limit);
    found.sort_by(|a, b| b.1.x.total_cmp(&a.1.x));
    // of each pair the left one first
    found.sort_by(|a, b| {
        let near = (a.1.x - b.1.x).abs() < 0.1 * (top - lowest);
        if near { b.1.y.total_cmp(&a.1.y) } else { std::cmp::Ordering::Equal }
    });
    found.into_iter().map(|(.., foot)| foot).collect()
}

fn foot_of(
    loaded: &Loaded,
    (body, up_B): (usize, &Vec3),
    urdf: &str,
    folder: &Path,
    notes: &mut Vec<String>,
) -> Option<FootProposal> {
    let model = &loaded.model;
    let on_body = |link: &str| model.frame(link).is_some_and(|f| f.body == body);
    let named = |link: &str| WORDS.iter().any(|w| link.to_lowercase().contains(w));
    let mut shapes: Vec<_> = loaded.collisions.iter().filter(|c| on_body(&c.frame)).collect();
    // a sphere or box on a link that is called a foot is the best guess
    shapes.sort_by_key(|c| {
        let simple = matches!(c.shape, Shape::Sphere { .. } | Shape::Box { .. });
        (!named(&c.frame), !simple)
    });
    let best = shapes.first().map(|c| c.frame.clone());
    let own: Vec<_> = shapes.iter().filter(|c| Some(&c.frame) == best.as_ref()).collect();
    let up_L = best.as_ref().and_then(|link| model.frame(link)).map(|f| f.X_BF.R.tr_mul(up_B));
    let mut points = Vec::new();
    for c in &own {
        let all = points_of(&c.shape, &c.X_FC, || sole_of(&c.frame, urdf, folder));
        points.extend(all.unwrap_or_default());
    }
    if let (Some(link), Some(up_L)) = (best, up_L)
        && !points.is_empty()
    {
        let lowest = |(p, r): &(Vec3, f64)| p.dot(&up_L) - r;
        let least = points.iter().map(lowest).fold(f64::INFINITY, f64::min);
        let simple = matches!(own[0].shape, Shape::Sphere { .. } | Shape::Box { .. });
        let by_shape = simple && own.len() == 1;
        if !by_shape {
            points.retain(|p| lowest(p) < least + SOLE_M);
        }
        // a foot has one radius: larger spheres give way to smaller ones with the same lowest point
        let radius_m = points.iter().map(|(_, r)| *r).fold(f64::INFINITY, f64::min);
        let place = |(p, r): &(Vec3, f64)| *p - up_L * (*r - radius_m);
        let points_L = points.iter().map(place).collect();
        return Some(FootProposal { link, body, points_L, radius_m, by_shape });
    }
    let mut links = model.frames.iter().filter(|f| f.body == body);
    let link = links.clone().find(|f| named(&f.name)).or_else(|| links.next())?;
    notes.push(format!(
        "{}: no collision shape that can be read; its origin is the foot",
        link.name
    ));
    Some(FootProposal {
        link: link.name.clone(),
        body,
        points_L: vec![Vec3::zeros()],
        radius_m: 0.0,
        by_shape: false,
    })
}

/// The points of a shape with which it can touch the ground, and the radius of each.
fn points_of(
    shape: &Shape,
    X_FC: &Transform,
    mesh: impl FnOnce() -> Option<Vec<Vec3>>,
) -> Option<Vec<(Vec3, f64)>> {
    let corner = |x: f64, y: f64, z: f64| X_FC.R * Vec3::new(x, y, z) + X_FC.p;
    let sharp = |points: Vec<Vec3>| points.into_iter().map(|p| (p, 0.0)).collect();
    Some(match *shape {
        Shape::Sphere { radius_m } => vec![(X_FC.p, radius_m)],
        Shape::Box { size_m: [x, y, z] } => sharp(corners(x, y, z, corner)),
        Shape::Cylinder { radius_m: r, length_m } => {
            sharp(corners(2.0 * r, 2.0 * r, length_m, corner))
        }
        Shape::Capsule { radius_m, length_m } => {
            let half = 0.5 * length_m;
            vec![(corner(0.0, 0.0, -half), radius_m), (corner(0.0, 0.0, half), radius_m)]
        }
        Shape::Mesh => sharp(mesh()?),
    })
}

fn corners(x: f64, y: f64, z: f64, at: impl Fn(f64, f64, f64) -> Vec3) -> Vec<Vec3> {
    let ends = |size: f64| [-0.5 * size, 0.5 * size];
    let mut out = Vec::new();
    for z in ends(z) {
        for y in ends(y) {
            out.extend(ends(x).map(|x| at(x, y, z)));
        }
    }
    out
}

/// The lower corners of the box around a link's collision mesh.
fn sole_of(link: &str, urdf: &str, folder: &Path) -> Option<Vec<Vec3>> {
    let document = Document::parse(urdf).ok()?;
    let links = document.root_element().children().filter(|n| n.has_tag_name("link"));
    let node = links.into_iter().find(|n| n.attribute("name") == Some(link))?;
    let collision = node.children().find(|n| n.has_tag_name("collision"))?;
    let mesh = collision.descendants().find(|n| n.has_tag_name("mesh"))?;
    let file = file_of(mesh.attribute("filename")?, folder)?;
    let triple = |text: Option<&str>, default: [f64; 3]| {
        let n: Vec<f64> =
            text.unwrap_or_default().split_whitespace().filter_map(|w| w.parse().ok()).collect();
        if let [x, y, z] = n[..] { [x, y, z] } else { default }
    };
    let scale = triple(mesh.attribute("scale"), [1.0; 3]);
    let origin = collision.children().find(|n| n.has_tag_name("origin"));
    let of = |name: &str| triple(origin.and_then(|o| o.attribute(name)), [0.0; 3]);
    let X = Transform::from_xyz_rpy(of("xyz"), of("rpy"));
    let vertices: Vec<Vec3> = mesh_corners(&file)?
        .into_iter()
        .map(|v| {
            let [x, y, z] = v.to_array();
            X.R * Vec3::new(x * scale[0], y * scale[1], z * scale[2]) + X.p
        })
        .collect();
    let extent = |i: usize| {
        let all = vertices.iter().map(|v| v.to_array()[i]);
        all.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], x| [a.min(x), b.max(x)])
    };
    let bottom = extent(2)[0] + SOLE_SHARE * (extent(2)[1] - extent(2)[0]);
    let sole: Vec<&Vec3> = vertices.iter().filter(|v| v.z <= bottom).collect();
    let range = |i: usize| {
        let all = sole.iter().map(|v| v.to_array()[i]);
        all.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], x| [a.min(x), b.max(x)])
    };
    let ([x0, x1], [y0, y1], z) = (range(0), range(1), extent(2)[0]);
    Some([(x1, y1), (x1, y0), (x0, y1), (x0, y0)].map(|(x, y)| Vec3::new(x, y, z)).to_vec())
}

/// A mesh's file: beside the robot, or in the package's folder somewhere above it.
fn file_of(name: &str, folder: &Path) -> Option<PathBuf> {
    let plain = name.trim_start_matches("file://");
    let Some(inside) = plain.strip_prefix("package://") else {
        return Some(folder.join(plain)).filter(|p| p.exists());
    };
    let absolute = folder.canonicalize().ok()?;
    absolute.ancestors().find_map(|above| {
        let whole = above.join(inside);
        let without = inside.split_once('/').map(|(_, rest)| above.join(rest));
        [Some(whole), without].into_iter().flatten().find(|p| p.exists())
    })
}
