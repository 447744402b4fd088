//! Finds and reads golden files, and digs numbers out of them.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use hardstand_physics::spatial::{Mat3, Quaternion, Transform, Vec3};
use serde_json::Value;

/// Beginnings of the names of files that are understood.
pub const KNOWN: [&str; 12] = [
    "exp_spring_static",
    "exp_spring_block_",
    "quad_exp_spring_",
    "tree_dynamics",
    "contact_material",
    "hunt_crossley_static",
    "hunt_crossley_restitution",
    "hunt_crossley_bounce",
    "hunt_crossley_slide_roll",
    "compliant_contact_force",
    "point_on_plane",
    "rigid_impacts",
];

pub struct GoldenFile {
    pub name: String,
    pub json: Value,
}

pub fn own_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

pub fn folder() -> PathBuf {
    std::env::var_os("HARDSTAND_GOLDEN").map_or_else(own_folder, PathBuf::from)
}

/// All files whose name starts with `prefix` and ends in `.json` or `.json.gz`, in order of name.
pub fn golden_files(prefix: &str) -> Vec<GoldenFile> {
    let folder = folder();
    let listing = std::fs::read_dir(&folder)
        .unwrap_or_else(|e| panic!("cannot read the folder {}: {e}", folder.display()));
    let mut names: Vec<String> = listing
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|n| n.starts_with(prefix) && (n.ends_with(".json") || n.ends_with(".json.gz")))
        .collect();
    names.sort();
    names.into_iter().map(|name| read(&folder.join(&name), name)).collect()
}

/// One of our own files.
pub fn own_file(name: &str) -> GoldenFile {
    read(&own_folder().join(name), name.into())
}

fn read(path: &Path, name: String) -> GoldenFile {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut text = String::new();
    if name.ends_with(".gz") {
        flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).expect("gzip");
    } else {
        text = String::from_utf8(bytes).expect("UTF-8");
    }
    let json = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
    GoldenFile { name, json }
}

/// The text of a URDF next to the golden files, or else of ours.
pub fn urdf_text(name: &str) -> String {
    std::fs::read_to_string(folder().join(name))
        .or_else(|_| std::fs::read_to_string(own_folder().join("refquad.urdf")))
        .expect("a URDF")
}

pub fn get<'a>(v: &'a Value, key: &str) -> &'a Value {
    v.get(key).unwrap_or_else(|| panic!("no key \"{key}\" in {:.200}", v.to_string()))
}

pub fn list<'a>(v: &'a Value, key: &str) -> &'a [Value] {
    get(v, key).as_array().unwrap_or_else(|| panic!("\"{key}\" is not a list"))
}

/// A list that may be missing.
pub fn list_or_empty<'a>(v: &'a Value, key: &str) -> &'a [Value] {
    v.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub fn text<'a>(v: &'a Value, key: &str) -> &'a str {
    get(v, key).as_str().unwrap_or_else(|| panic!("\"{key}\" is not a text"))
}

/// A number; `null` and texts like "nan" and "inf" count as such.
pub fn number(v: &Value) -> f64 {
    match v {
        Value::Null => f64::NAN,
        Value::String(s) => s.parse().unwrap_or_else(|_| panic!("\"{s}\" is not a number")),
        _ => v.as_f64().unwrap_or_else(|| panic!("{v} is not a number")),
    }
}

pub fn num(v: &Value, key: &str) -> f64 {
    number(get(v, key))
}

pub fn nums(v: &Value) -> Vec<f64> {
    v.as_array().unwrap_or_else(|| panic!("{v} is not a list")).iter().map(number).collect()
}

pub fn vector(v: &Value) -> Vec3 {
    let x = nums(v);
    assert_eq!(x.len(), 3, "{v} is not a 3-vector");
    Vec3::new(x[0], x[1], x[2])
}

pub fn vec3(v: &Value, key: &str) -> Vec3 {
    vector(get(v, key))
}

pub fn quat(v: &Value, key: &str) -> Quaternion {
    let x = nums(get(v, key));
    Quaternion::from_wxyz([x[0], x[1], x[2], x[3]])
}

pub fn matrix(v: &Value) -> Mat3 {
    let r: Vec<Vec<f64>> = v.as_array().expect("a matrix").iter().map(nums).collect();
    Mat3::from_fn(|i, j| r[i][j])
}

/// A pose, from its rotation matrix (the form the oracle computes with) or quaternion.
pub fn transform(v: &Value) -> Transform {
    let R = v.get("R").map_or_else(|| quat(v, "quat").to_matrix(), matrix);
    Transform::new(R, vec3(v, "p"))
}
