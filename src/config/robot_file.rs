//! The robot's file: URDF, or a MuJoCo model that becomes one.

use std::path::Path;

use toml::{Table, Value};

use crate::mjcf::{self, Connection, Keyframe};
use crate::urdf::read_urdf_text;
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_physics::spatial::Quaternion;

use super::hulls;

/// A robot as URDF.
pub(super) struct RobotFile {
    pub(super) urdf: String,
    /// Its file, for messages.
    pub(super) name: String,
    pub(super) warnings: Vec<String>,
}

/// Reads the robot that the scenario at `path` names. A keyframe that it names is put into its
/// `initial` section, where joints that the scenario gives itself stay.
///
/// # Errors
/// As [`read_urdf_text`] and [`mjcf::convert`]; [`ErrorKind::Input`] if no robot or two are named,
/// or the keyframe is not there.
pub(super) fn robot_file(complete: &mut Table, path: &Path) -> Result<RobotFile> {
    let file = path.display();
    let refuse = |text: String| Err(Error::new(ErrorKind::Input, format!("{file}: {text}")));
    let text = |section: &str, key: &str| {
        let value = complete.get(section).and_then(|s| s.get(key)).and_then(Value::as_str);
        value.unwrap_or_default().to_string()
    };
    let (urdf, mjcf) = (text("robot", "urdf"), text("robot", "mjcf"));
    let keyframe = text("initial", "keyframe");
    let beside = |name: &str| path.parent().unwrap_or(Path::new("")).join(name);
    match (urdf.is_empty(), mjcf.is_empty()) {
        (true, true) => {
            refuse("robot.urdf is missing; name the robot's URDF file, or robot.mjcf".into())
        }
        (false, false) => refuse("robot.urdf and robot.mjcf are both given; name one file".into()),
        (false, true) if !keyframe.is_empty() => {
            refuse(format!("initial.keyframe is \"{keyframe}\"; a URDF has no keyframes"))
        }
        (false, true) => {
            let path = beside(&urdf);
            let (urdf, name) = (read_urdf_text(&path)?, path.display().to_string());
            let warnings = hulls::add(complete, &urdf, folder(&path)).into_iter().collect();
            Ok(RobotFile { urdf, name, warnings })
        }
        (true, false) => {
            let path = beside(&mjcf);
            let name = path.display().to_string();
            let robot = mjcf::convert(&path)?;
            if !keyframe.is_empty() {
                let Some(found) = robot.keyframes.iter().find(|k| k.name == keyframe) else {
                    let names = robot.keyframes.iter().map(|k| k.name.as_str());
                    let names: Vec<&str> = names.filter(|n| !n.is_empty()).collect();
                    let names = names.join(", ");
                    return refuse(format!(
                        "initial.keyframe is \"{keyframe}\"; {name} has: {names}"
                    ));
                };
                apply(found, complete);
            }
            connect(&robot.connections, complete);
            keep_apart(robot.apart, complete);
            let mut warnings = robot.warnings;
            warnings.extend(hulls::add(complete, &robot.urdf, folder(&path)));
            Ok(RobotFile { urdf: robot.urdf, name, warnings })
        }
    }
}

fn folder(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new(""))
}

/// Puts the connections of a model into `constraints`: three planes through each point.
fn connect(connections: &[Connection], complete: &mut Table) {
    const NORMALS: [(&str, [f64; 3]); 3] =
        [("x", [1.0, 0.0, 0.0]), ("y", [0.0, 1.0, 0.0]), ("z", [0.0, 0.0, 1.0])];
    let numbers = |v: [f64; 3]| Value::Array(v.map(Value::Float).to_vec());
    let mut added = Vec::new();
    for (i, connection) in connections.iter().enumerate() {
        for (axis, normal) in NORMALS {
            let mut table = Table::new();
            table.insert("name".into(), Value::String(format!("connect{i}.{axis}")));
            table.insert("link".into(), Value::String(connection.body.clone()));
            table.insert("point_m".into(), numbers(connection.point_m));
            if let Some(other) = &connection.other {
                table.insert("plane_link".into(), Value::String(other.clone()));
            }
            table.insert("normal".into(), numbers(normal));
            table.insert("slides".into(), Value::Boolean(true));
            added.push(Value::Table(table));
        }
    }
    append(complete, "constraints", added);
}

/// Adds values to the list `key`.
fn append(table: &mut Table, key: &str, new: Vec<Value>) {
    if new.is_empty() {
        return;
    }
    let all = table.entry(key).or_insert_with(|| Value::Array(Vec::new()));
    if let Some(all) = all.as_array_mut() {
        all.extend(new);
    }
}

/// Adds the pairs of links that do not touch in a model to `contact.disable`.
fn keep_apart(pairs: Vec<[String; 2]>, complete: &mut Table) {
    let Some(contact) = complete.get_mut("contact").and_then(Value::as_table_mut) else { return };
    let pair = |pair: [String; 2]| Value::Array(pair.map(Value::String).to_vec());
    append(contact, "disable", pairs.into_iter().map(pair).collect());
}

/// Puts a keyframe into `initial`: joints that are not given, and position and orientation if both
/// are as in the defaults.
fn apply(keyframe: &Keyframe, complete: &mut Table) {
    let Some(initial) = complete.get_mut("initial").and_then(Value::as_table_mut) else { return };
    if let Some((p, quat)) = keyframe.base {
        let [roll, pitch, yaw] = Quaternion::from_wxyz(quat).normalised().to_rpy();
        for (key, new) in [("position_m", p), ("rpy_rad", [roll, pitch, yaw])] {
            let zero = |x: &Value| x.as_float() == Some(0.0) || x.as_integer() == Some(0);
            let given = initial.get(key).and_then(Value::as_array);
            if given.is_none_or(|numbers| numbers.iter().all(zero)) {
                initial.insert(key.into(), Value::Array(new.map(Value::Float).to_vec()));
            }
        }
    }
    let joints = initial.entry("joints").or_insert_with(|| Value::Table(Table::new()));
    if let Some(joints) = joints.as_table_mut() {
        for (name, q) in &keyframe.joints {
            joints.entry(name.clone()).or_insert(Value::Float(*q));
        }
    }
}
