//! Convex hulls of the robot's collision meshes. They are a part of the complete scenario, so that
//! a log and its replay need no files.

use std::path::{Path, PathBuf};

use hardstand_geometry::{Hull, Shape, Vec3 as Point};
use roxmltree::Document;
use toml::{Table, Value};

use crate::mjcf::{mesh_file, mesh_points};

use super::section::{Range, Section};

/// Puts `robot.hulls` into the scenario: the corners of the hull of each collision mesh of `urdf`,
/// a file in `folder`. Those that it has already stay. Returns a warning if meshes cannot be read.
pub(super) fn add(complete: &mut Table, urdf: &str, folder: &Path) -> Option<String> {
    if !touches(complete) && !urdf.contains("\"floating\"") {
        return None; // nor are there bodies beside the robot
    }
    let Some(Value::Table(robot)) = complete.get_mut("robot") else { return None };
    let mut names = meshes(urdf);
    if names.is_empty() {
        return None;
    }
    let hulls = robot.entry("hulls").or_insert_with(|| Value::Table(Table::new()));
    let Value::Table(hulls) = hulls else { return None };
    names.retain(|name| !hulls.contains_key(name));
    read(names, folder, |name, hull| {
        hulls.insert(name, rows(&hull));
    })
}

/// The files of the meshes whose hulls a scenario has.
pub(super) fn files(complete: &Table, folder: &Path) -> Vec<PathBuf> {
    let hulls = complete.get("robot").and_then(|robot| robot.get("hulls"));
    let names = hulls.and_then(Value::as_table).into_iter().flat_map(Table::keys);
    names.filter_map(|name| mesh_file(name, folder)).collect()
}

/// A warning if collision meshes of `urdf`, files in `folder`, cannot be read.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn unreadable(urdf: &str, folder: &Path) -> Option<String> {
    read(meshes(urdf), folder, |_, _| {})
}

/// Reads the hulls of meshes; a warning if some cannot be read.
fn read(names: Vec<String>, folder: &Path, mut take: impl FnMut(String, Hull)) -> Option<String> {
    let mut missing = Vec::new();
    for name in names {
        let found = match mesh_file(&name, folder) {
            Some(file) => hull_of_file(&file),
            None => Err("no such file".into()),
        };
        match found {
            Ok(hull) => take(name, hull),
            Err(why) => missing.push(format!("{name} ({why})")),
        }
    }
    (!missing.is_empty()).then(|| {
        format!(
            "collision meshes that cannot be read, so that their links do not touch with them: {}",
            missing.join(", ")
        )
    })
}

/// Whether links touch with their shapes at all.
fn touches(complete: &Table) -> bool {
    let bodies = complete.get("contact").and_then(|c| c.get("bodies"));
    let only_feet = bodies.and_then(Value::as_str) == Some("feet");
    let feet = complete.get("feet").and_then(Value::as_array);
    let by_shapes = |foot: &Value| foot.get("contact").and_then(Value::as_str) == Some("shapes");
    !only_feet || feet.is_some_and(|feet| feet.iter().any(by_shapes))
}

/// Names of the meshes of all collision elements, each once.
fn meshes(urdf: &str) -> Vec<String> {
    let mut names = Vec::new();
    let Ok(document) = Document::parse(urdf) else { return names };
    let collisions = document.descendants().filter(|n| n.has_tag_name("collision"));
    let meshes = collisions.flat_map(|n| n.descendants()).filter(|n| n.has_tag_name("mesh"));
    for name in meshes.filter_map(|n| n.attribute("filename")) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_string());
        }
    }
    names
}

fn hull_of_file(file: &Path) -> std::result::Result<Hull, String> {
    let points = mesh_points(file).map_err(|e| e.to_string())?;
    let points: Vec<Point> = points.iter().map(|p| Point::new(p.x, p.y, p.z)).collect();
    Hull::from_points(&points).map_err(|e| e.to_string())
}

fn rows(hull: &Hull) -> Value {
    let row = |p: &Point| Value::Array(p.to_array().map(Value::Float).to_vec());
    Value::Array(hull.vertices().iter().map(row).collect())
}

/// The hull of a mesh of `robot.hulls`, scaled; `None` if it is not there. A mistake in its points
/// is reported.
pub(super) fn scaled(robot: &Section<'_>, file: &str, scale: &[f64; 3]) -> Option<Shape> {
    let hulls = robot.section("hulls");
    if !hulls.has(file) {
        return None;
    }
    // a mesh may be in mm
    let rows = hulls.rows(file, Range::between(-1e7, 1e7));
    let [x, y, z] = *scale;
    let points: Option<Vec<Point>> = rows
        .iter()
        .map(|row| match row[..] {
            [a, b, c] => Some(Point::new(a * x, b * y, c * z)),
            _ => None,
        })
        .collect();
    let Some(points) = points else {
        hulls.mistake(file, "a list of points [[x, y, z], …]");
        return None;
    };
    let shape = Hull::from_points(&points).and_then(|hull| Shape::hull(hull.into(), 0.0));
    match shape {
        Ok(shape) => Some(shape),
        Err(e) => {
            hulls.complain(file, &e.to_string());
            None
        }
    }
}
