//! Geoms: shape, place and mass.

use hardstand_physics::spatial::{Mat3, SpatialInertia, Transform, Vec3};

use super::assets::Assets;
use super::compiler::{Compiler, from_z};
use super::defaults::Resolved;
use super::mesh::Measure;
use super::report::Report;

/// Density of a geom that states no mass, kg/m³.
const DENSITY: f64 = 1000.0;

/// A shape, centred on its frame; a long axis is z. Half extents, as in MJCF.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum GeomShape {
    Sphere(f64),
    Capsule {
        radius: f64,
        half: f64,
    },
    Cylinder {
        radius: f64,
        half: f64,
    },
    Box([f64; 3]),
    Ellipsoid([f64; 3]),
    /// The name of the mesh.
    Mesh(String),
    /// A plane, a height field or a signed distance function.
    Ground(String),
}

/// A geom of a body.
#[derive(Clone, Debug)]
pub(super) struct Geom {
    pub(super) shape: GeomShape,
    /// Pose in the body.
    pub(super) X_BG: Transform,
    mass: Option<f64>,
    density: f64,
    is_shell: bool,
    group: f64,
    pub(super) name: String,
    contype: u32,
    conaffinity: u32,
    pub(super) rgba: Option<[f64; 4]>,
    pub(super) material: Option<String>,
    pub(super) place: String,
}

impl Geom {
    /// Reads a geom whose frame is `X_BF`.
    pub(super) fn read(
        of: &Resolved<'_>,
        X_BF: &Transform,
        compiler: &Compiler,
        report: &mut Report,
    ) -> Option<Self> {
        let place = of.element().place.clone();
        let mesh = of.text("mesh");
        let kind = of.text("type").unwrap_or("sphere");
        let size = of.numbers("size", 1..=3, report).unwrap_or_default();
        let (X_FG, half) = match of.numbers("fromto", 6..=6, report) {
            Some(ends) if matches!(kind, "capsule" | "cylinder" | "box" | "ellipsoid") => {
                let (X, half) = between(&ends);
                (X, Some(half))
            }
            _ => (compiler.pose(of, report), None),
        };
        let mut length = |i: usize| {
            let found = size.get(i).copied().filter(|x| *x > 0.0);
            found.unwrap_or_else(|| {
                report.mistake(match mesh {
                    Some(mesh) => {
                        format!("{place}: a {kind} is not fitted to mesh {mesh}; give it size")
                    }
                    None => format!("{place}: size of a {kind} needs number {}, > 0", i + 1),
                });
                1.0
            })
        };
        let shape = match (kind, mesh) {
            ("sphere", _) => GeomShape::Sphere(length(0)),
            ("capsule", _) => {
                GeomShape::Capsule { radius: length(0), half: half.unwrap_or_else(|| length(1)) }
            }
            ("cylinder", _) => {
                GeomShape::Cylinder { radius: length(0), half: half.unwrap_or_else(|| length(1)) }
            }
            ("box", _) => GeomShape::Box(extents(half, length)),
            ("ellipsoid", _) => GeomShape::Ellipsoid(extents(half, length)),
            ("mesh", Some(mesh)) => GeomShape::Mesh(mesh.into()),
            ("plane" | "hfield" | "sdf", _) => GeomShape::Ground(kind.into()),
            _ => {
                report.mistake(format!("{place}: a geom of type \"{kind}\" is not known"));
                return None;
            }
        };
        for name in ["mass", "density"] {
            if of.number(name, 0.0, report) < 0.0 {
                report.mistake(format!("{place}: {name} of a geom must not be negative"));
            }
        }
        // MuJoCo has them as a C int, of which each bit counts
        let bits = |name: &str, report: &mut Report| of.number(name, 1.0, report) as i32 as u32;
        Some(Self {
            shape,
            X_BG: X_BF.compose(&X_FG),
            mass: of.text("mass").map(|_| of.number("mass", 0.0, report)),
            density: of.number("density", DENSITY, report),
            is_shell: of.text("shellinertia") == Some("true"),
            group: of.number("group", 0.0, report),
            name: of.element().get("name").unwrap_or_default().into(),
            contype: bits("contype", report),
            conaffinity: bits("conaffinity", report),
            rgba: of.numbers("rgba", 4..=4, report).map(|c| [c[0], c[1], c[2], c[3]]),
            material: of.text("material").map(String::from),
            place,
        })
    }

    /// True if it touches others.
    pub(super) const fn collides(&self) -> bool {
        (self.contype | self.conaffinity) != 0
    }

    /// True if it touches that one, by the bits of both.
    pub(super) const fn meets(&self, other: &Self) -> bool {
        (self.contype & other.conaffinity) | (other.contype & self.conaffinity) != 0
    }

    /// True if it is to be drawn: MuJoCo shows groups 0 to 2; shapes for contact are often in 3.
    pub(super) fn is_shown(&self) -> bool {
        self.group <= 2.0
    }

    /// Its inertia about the body's origin; zero if it has no mass, or its group does not count.
    pub(super) fn inertia(
        &self,
        groups: [f64; 2],
        assets: &Assets,
        report: &mut Report,
    ) -> SpatialInertia {
        let none = SpatialInertia::zero();
        let massless = self.mass == Some(0.0) || self.mass.is_none() && self.density == 0.0;
        if massless || !(groups[0]..=groups[1]).contains(&self.group) {
            return none;
        }
        if self.is_shell {
            let text = "shellinertia is not supported; give the body an <inertial>";
            report.mistake(format!("{}: {text}", self.place));
            return none;
        }
        let (amount, centre, per_mass) = match (&self.shape, self.unit()) {
            (_, Some((volume, per_mass))) => (volume, Vec3::zeros(), per_mass),
            (GeomShape::Mesh(name), _) => match weighed(name, assets) {
                Ok(Measure { amount, centre, per_mass }) => (amount, centre, per_mass),
                Err(why) => {
                    let advice = "the mass of the body comes from it; give the body an <inertial>";
                    report.mistake(format!("{}: mesh {name}: {why}; {advice}", self.place));
                    return none;
                }
            },
            _ => return none,
        };
        let mass = self.mass.unwrap_or(self.density * amount);
        SpatialInertia::from_com(mass, &centre, &(per_mass * mass)).to_parent(&self.X_BG)
    }

    /// Volume (m³) and inertia about the centre per mass (m²).
    fn unit(&self) -> Option<(f64, Mat3)> {
        use std::f64::consts::PI;
        let diagonal = |x, y, z| Mat3::from_diagonal(&Vec3::new(x, y, z));
        Some(match self.shape {
            GeomShape::Sphere(r) => (4.0 / 3.0 * PI * r * r * r, diagonal_of(0.4 * r * r)),
            GeomShape::Capsule { radius: r, half } => {
                let (tube, ball) = (PI * r * r * 2.0 * half, 4.0 / 3.0 * PI * r * r * r);
                let (t, b) = (tube / (tube + ball), ball / (tube + ball));
                let across = t * (3.0 * r * r + 4.0 * half * half) / 12.0
                    + b * (0.4 * r * r + half * half + 0.75 * half * r);
                let along = t * r * r / 2.0 + b * 0.4 * r * r;
                (tube + ball, diagonal(across, across, along))
            }
            GeomShape::Cylinder { radius: r, half } => {
                let across = (3.0 * r * r + 4.0 * half * half) / 12.0;
                (PI * r * r * 2.0 * half, diagonal(across, across, r * r / 2.0))
            }
            GeomShape::Box([a, b, c]) => {
                let third = |x: f64, y: f64| (x * x + y * y) / 3.0;
                (8.0 * a * b * c, diagonal(third(b, c), third(a, c), third(a, b)))
            }
            GeomShape::Ellipsoid([a, b, c]) => {
                let fifth = |x: f64, y: f64| (x * x + y * y) / 5.0;
                (4.0 / 3.0 * PI * a * b * c, diagonal(fifth(b, c), fifth(a, c), fifth(a, b)))
            }
            GeomShape::Mesh(_) | GeomShape::Ground(_) => return None,
        })
    }
}

fn weighed(name: &str, assets: &Assets) -> Result<Measure, String> {
    assets.meshes.get(name).ok_or_else(|| "no file of it in <asset>".to_string())?.measure()
}

fn diagonal_of(x: f64) -> Mat3 {
    Mat3::from_diagonal_element(x)
}

/// Half extents; with `fromto`, the first size is that of both other axes.
fn extents(half: Option<f64>, mut length: impl FnMut(usize) -> f64) -> [f64; 3] {
    match half {
        Some(half) => {
            let width = length(0);
            [width, width, half]
        }
        None => [length(0), length(1), length(2)],
    }
}

/// The frame in the middle of two points, z from the second to the first, and half their distance.
pub(super) fn between(ends: &[f64]) -> (Transform, f64) {
    let (a, b) = (Vec3::new(ends[0], ends[1], ends[2]), Vec3::new(ends[3], ends[4], ends[5]));
    let along = a - b;
    let length = along.norm();
    let R = if length > 0.0 { from_z(&(along * (1.0 / length))) } else { Mat3::identity() };
    (Transform { R, p: (a + b) * 0.5 }, 0.5 * length)
}
