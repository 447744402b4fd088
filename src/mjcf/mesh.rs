//! Triangles of a mesh, and its mass.

use std::io;
use std::path::{Path, PathBuf};

use hardstand_error::{Error, ErrorKind, Result, read_regular};
use hardstand_physics::spatial::{Mat3, Vec3};

use super::collada;

/// Largest file of a mesh, bytes.
const BYTES_MAX: u64 = 256 << 20;
/// Length of the head of an STL file, and of a triangle in it.
const STL_HEAD: usize = 84;
const STL_TRIANGLE: usize = 50;

/// How mass is spread over a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spread {
    /// Volume, by tetrahedra to the origin.
    Exact,
    /// Volume, by tetrahedra to the middle, all counted as positive: MuJoCo's default.
    Legacy,
    /// Surface.
    Shell,
}

type Triangle = [Vec3; 3];

/// What density multiplies (m³ or m²), centre (m), and inertia about it per unit of mass (m²).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measure {
    pub(super) amount: f64,
    pub(super) centre: Vec3,
    pub(super) per_mass: Mat3,
}

/// Reads a mesh (binary STL, OBJ). Vertices have 32 bits, as in MuJoCo.
///
/// # Errors
/// [`ErrorKind::File`] if it cannot be read, [`ErrorKind::Input`] if it is not such a file.
pub(super) fn read(path: &Path) -> Result<Vec<Triangle>> {
    let name = path.display();
    let refuse = |why: &str| Error::new(ErrorKind::Input, format!("{name}: {why}"));
    let bytes = bytes_of(path)?;
    let found = match ending(path).as_str() {
        "stl" => stl(&bytes),
        "obj" => std::str::from_utf8(&bytes).ok().and_then(obj),
        _ => return Err(refuse("only STL and OBJ can be weighed")),
    };
    found.filter(|t| !t.is_empty()).ok_or_else(|| refuse("not a binary STL or an OBJ with faces"))
}

fn ending(path: &Path) -> String {
    path.extension().unwrap_or_default().to_ascii_lowercase().to_string_lossy().into_owned()
}

fn bytes_of(path: &Path) -> Result<Vec<u8>> {
    let name = path.display();
    read_regular(path, BYTES_MAX).map_err(|e| match e.kind() {
        io::ErrorKind::FileTooLarge => {
            Error::new(ErrorKind::Input, format!("{name}: the mesh is larger than 256 MiB"))
        }
        _ => Error::new(ErrorKind::File, format!("{name}: cannot read the mesh: {e}")),
    })
}

/// All corners of a mesh (STL, OBJ, Collada), in m.
///
/// # Errors
/// As [`read`].
pub(crate) fn points(path: &Path) -> Result<Vec<Vec3>> {
    let bytes = bytes_of(path)?;
    let text = || std::str::from_utf8(&bytes).ok();
    let found = match ending(path).as_str() {
        "stl" => stl(&bytes).map(|t| t.concat()).or_else(|| text().and_then(stl_text)),
        "obj" => text().and_then(obj).map(|t| t.concat()),
        "dae" => text().and_then(collada::corners),
        _ => None,
    };
    found.filter(|points| !points.is_empty()).ok_or_else(|| {
        let text = format!("{}: not an STL, OBJ or DAE with faces", path.display());
        Error::new(ErrorKind::Input, text)
    })
}

/// A mesh's file: beside the robot, or in the package's folder somewhere above it.
pub(crate) fn file_of(name: &str, folder: &Path) -> Option<PathBuf> {
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

fn stl(bytes: &[u8]) -> Option<Vec<Triangle>> {
    let count = u32::from_le_bytes(bytes.get(80..STL_HEAD)?.try_into().ok()?) as usize;
    let body = bytes.get(STL_HEAD..)?;
    if body.len() < count.checked_mul(STL_TRIANGLE)? {
        return None;
    }
    let number = |at: &[u8]| Some(f64::from(f32::from_le_bytes(at.try_into().ok()?)));
    let corner =
        |at: &[u8]| Some(Vec3::new(number(&at[0..4])?, number(&at[4..8])?, number(&at[8..12])?));
    let triangle = |t: &[u8]| Some([corner(&t[12..24])?, corner(&t[24..36])?, corner(&t[36..48])?]);
    body.chunks_exact(STL_TRIANGLE).take(count).map(triangle).collect()
}

/// The corners of an STL file in words.
fn stl_text(text: &str) -> Option<Vec<Vec3>> {
    let mut words = text.trim_start().strip_prefix("solid")?.split_whitespace();
    let mut corners = Vec::new();
    while let Some(word) = words.next() {
        if word == "vertex" {
            let mut number = || Some(f64::from(words.next()?.parse::<f32>().ok()?));
            corners.push(Vec3::new(number()?, number()?, number()?));
        }
    }
    Some(corners)
}

fn obj(text: &str) -> Option<Vec<Triangle>> {
    let (mut corners, mut triangles) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let mut number = || Some(f64::from(words.next()?.parse::<f32>().ok()?));
                corners.push(Vec3::new(number()?, number()?, number()?));
            }
            Some("f") => {
                let index = |word: &str| -> Option<usize> {
                    let i: i64 = word.split('/').next()?.parse().ok()?;
                    let back = usize::try_from(-i).ok().filter(|_| i < 0);
                    match back {
                        Some(back) => corners.len().checked_sub(back),
                        None => usize::try_from(i).ok()?.checked_sub(1),
                    }
                };
                let face: Vec<Vec3> =
                    words.map(|w| corners.get(index(w)?).copied()).collect::<Option<Vec<_>>>()?;
                for pair in face.get(1..)?.windows(2) {
                    triangles.push([face[0], pair[0], pair[1]]);
                }
            }
            _ => {}
        }
    }
    Some(triangles)
}

/// Weighs a mesh; nothing if it has no extent.
pub(super) fn measure(triangles: &[Triangle], spread: Spread) -> Option<Measure> {
    let area = |[a, b, c]: &Triangle| 0.5 * (*b - *a).cross(&(*c - *a)).norm();
    let third = |[a, b, c]: &Triangle| (*a + *b + *c) * (1.0 / 3.0);
    let all_area: f64 = triangles.iter().map(area).sum();
    if all_area <= 0.0 {
        return None;
    }
    let middle = triangles.iter().fold(Vec3::zeros(), |sum, t| sum + third(t) * area(t));
    let middle = middle * (1.0 / all_area);
    match spread {
        Spread::Shell => {
            let mut second = Mat3::zeros();
            for t in triangles {
                second += second_of(&[t[0], t[1], t[2]], &middle, area(t), 12.0);
            }
            finish(all_area, middle, second)
        }
        Spread::Exact => tetrahedra(triangles, &Vec3::zeros(), false, None),
        Spread::Legacy => {
            let first = tetrahedra(triangles, &middle, true, None)?;
            tetrahedra(triangles, &first.centre, true, Some(first.centre))
        }
    }
}

/// The tetrahedra from `apex` to the triangles; about their centre, or about `about`.
fn tetrahedra(
    triangles: &[Triangle],
    apex: &Vec3,
    positive: bool,
    about: Option<Vec3>,
) -> Option<Measure> {
    let volume = |[a, b, c]: &Triangle| {
        let v = (*a - *apex).dot(&(*b - *apex).cross(&(*c - *apex))) / 6.0;
        if positive { v.abs() } else { v }
    };
    let all: f64 = triangles.iter().map(volume).sum();
    if all <= 0.0 {
        return None;
    }
    let sum = triangles
        .iter()
        .fold(Vec3::zeros(), |sum, t| sum + (t[0] + t[1] + t[2] + *apex) * (0.25 * volume(t)));
    let centre = about.unwrap_or(sum * (1.0 / all));
    let mut second = Mat3::zeros();
    for t in triangles {
        second += second_of(&[t[0], t[1], t[2], *apex], &centre, volume(t), 20.0);
    }
    finish(all, centre, second)
}

/// The second moments of a simplex about `centre`: ∫ x xᵀ, from its corners. A triangle has the
/// divisor 12, a tetrahedron 20.
fn second_of(corners: &[Vec3], centre: &Vec3, amount: f64, divisor: f64) -> Mat3 {
    let own: Vec<Vec3> = corners.iter().map(|c| *c - *centre).collect();
    let sum = own.iter().fold(Vec3::zeros(), |sum, c| sum + *c);
    let squares = own.iter().fold(sum.outer(&sum), |m, c| m + c.outer(c));
    squares * (amount / divisor)
}

fn finish(amount: f64, centre: Vec3, second: Mat3) -> Option<Measure> {
    let inertia = Mat3::from_diagonal_element(second.trace()) - second;
    Some(Measure { amount, centre, per_mass: inertia * (1.0 / amount) })
}
