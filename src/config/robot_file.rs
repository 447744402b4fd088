//! The robot's file: URDF, or a MuJoCo model that becomes one.

#![allow(non_snake_case, reason = "monogram notation, see spatial")]

use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::mjcf::{self, Connection, Converted, Keyframe};
use crate::urdf::read_urdf_text;
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_physics::dynamics::Data;
use hardstand_physics::model::Model;
use hardstand_physics::spatial::{Quaternion, Vec3};

use super::Scenario;
use super::hulls;
use super::section::number;

/// The points of a connection may be this far apart at the start without a warning, m.
const OPEN_MAX_M: f64 = 1e-3;

/// A robot, and where it was read from.
pub(super) struct RobotFile {
    pub(super) converted: Converted,
    path: PathBuf,
    is_mjcf: bool,
}

impl RobotFile {
    /// Its file, for messages.
    pub(super) fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// A refusal of the scenario: of a MuJoCo model, whose URDF the user does not see, without
    /// lines.
    pub(super) fn refusal(&self, e: Error) -> Error {
        if self.is_mjcf { mjcf::without_lines(e) } else { e }
    }

    /// Its meshes lie here.
    pub(super) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }
}

/// Reads the robot that the scenario at `path` names.
///
/// # Errors
/// As [`read_urdf_text`] and [`mjcf::convert`]; [`ErrorKind::Input`] if no robot or two are named.
pub(super) fn robot_file(complete: &Table, path: &Path) -> Result<RobotFile> {
    let file = path.display();
    let refuse = |text: &str| Err(Error::new(ErrorKind::Input, format!("{file}: {text}")));
    let (urdf, mjcf) = (text(complete, "robot", "urdf"), text(complete, "robot", "mjcf"));
    let beside = |name: &str| path.parent().unwrap_or(Path::new("")).join(name);
    match (urdf.is_empty(), mjcf.is_empty()) {
        (true, true) => refuse("robot.urdf is missing; name the robot's URDF file, or robot.mjcf"),
        (false, false) => refuse("robot.urdf and robot.mjcf are both given; name one file"),
        (false, true) => {
            let path = beside(urdf);
            let converted = Converted { urdf: read_urdf_text(&path)?, ..Converted::default() };
            Ok(RobotFile { converted, path, is_mjcf: false })
        }
        (true, false) => {
            let path = beside(mjcf);
            Ok(RobotFile { converted: mjcf::convert(&path)?, path, is_mjcf: true })
        }
    }
}

/// Puts what a robot's file has beside the robot into the scenario: the keyframe that its section
/// `initial` names, where joints that it gives itself stay; connections; pairs that do not touch;
/// hulls of meshes, which lie in `folder`. Returns warnings.
///
/// # Errors
/// [`ErrorKind::Input`] if there is no such keyframe.
pub(super) fn adopt(complete: &mut Table, robot: &Converted, folder: &Path) -> Result<Vec<String>> {
    let keyframe = text(complete, "initial", "keyframe");
    if !keyframe.is_empty() {
        let Some(found) = robot.keyframes.iter().find(|k| k.name == keyframe) else {
            return Err(no_keyframe(keyframe, &robot.keyframes));
        };
        apply(found, complete);
    }
    connect(&robot.connections, complete);
    keep_apart(&robot.apart, complete);
    let mut warnings = robot.warnings.clone();
    warnings.extend(other_gravity(robot.gravity_m_per_s2, complete));
    warnings.extend(hulls::add(complete, &robot.urdf, folder));
    Ok(warnings)
}

/// From the point of the other body to that of the first one, in world axes, m; `None` where the
/// other is the world.
pub(crate) fn gap_W(connection: &Connection, model: &Model, data: &Data) -> Option<Vec3> {
    let Connection { body, other, point_m, other_point_m } = connection;
    let place = |link: &str, point_m: &[f64; 3]| {
        let frame = model.frame(link)?;
        Some(data.X_WB[frame.body].compose(&frame.X_BF).point(&Vec3::from(*point_m)))
    };
    Some(place(body, point_m)? - place(other.as_deref()?, other_point_m)?)
}

/// A warning for each connection whose points are apart at the start.
pub(super) fn open_connections(connections: &[Connection], scenario: &Scenario) -> Vec<String> {
    if connections.is_empty() {
        return Vec::new();
    }
    let simulation = scenario.simulation();
    let gap_m = |c: &Connection| Some(gap_W(c, simulation.model(), simulation.data())?.norm());
    let open = |(i, c): (usize, &Connection)| {
        let (gap_m, body) = (gap_m(c).filter(|gap_m| *gap_m > OPEN_MAX_M)?, &c.body);
        Some(format!(
            "connect{i} of the model holds two points together that are {gap_m:.4} m apart at the \
             start: body {body} is held where it is then; close the linkage with initial.joints"
        ))
    };
    connections.iter().enumerate().filter_map(open).collect()
}

fn text<'a>(table: &'a Table, section: &str, key: &str) -> &'a str {
    let value = table.get(section).and_then(|s| s.get(key)).and_then(Value::as_str);
    value.unwrap_or_default()
}

fn no_keyframe(named: &str, keyframes: &[Keyframe]) -> Error {
    let names = keyframes.iter().map(|k| k.name.as_str()).filter(|name| !name.is_empty());
    let names: Vec<&str> = names.collect();
    let there_are = match (keyframes.is_empty(), names.is_empty()) {
        (true, _) => "a URDF has no keyframes".into(),
        (_, true) => "the model has none with a name".into(),
        _ => format!("the model has: {}", names.join(", ")),
    };
    Error::new(ErrorKind::Input, format!("initial.keyframe is \"{named}\"; {there_are}"))
}

/// A warning if the scenario's gravity is not the one that the model has.
fn other_gravity(of_model: Option<[f64; 3]>, complete: &Table) -> Option<String> {
    let of_model = of_model?;
    let gravity = complete.get("sim")?.get("gravity_m_per_s2")?.as_array()?;
    let gravity: Vec<f64> = gravity.iter().filter_map(number).collect();
    (gravity != of_model).then(|| {
        format!(
            "the model's gravity is {of_model:?} m/s²; sim.gravity_m_per_s2 is {gravity:?}, which \
             counts"
        )
    })
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
fn keep_apart(pairs: &[[String; 2]], complete: &mut Table) {
    let Some(contact) = complete.get_mut("contact").and_then(Value::as_table_mut) else { return };
    let pair = |pair: &[String; 2]| Value::Array(pair.clone().map(Value::String).to_vec());
    append(contact, "disable", pairs.iter().map(pair).collect());
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
