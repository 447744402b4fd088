//! Errors of the sensors: `[sensors]`.

use toml::{Table, Value};

use hardstand_physics::actuator::drive::Key;
use hardstand_physics::model::Model;
use hardstand_physics::plant::SensorSet;
use hardstand_physics::sensor::{FootSensor, ImuErrors, JointSensor};

use super::drives::{expand_one, numbers_given};
use super::section::Section;

/// The shipped sensors: what they are of, name, text; each file says where its numbers come from.
pub const PRESETS: [(&str, &str, &str); 11] = [
    ("imu", "none", ""),
    ("imu", "analog_adis16470", include_str!("../../config/sensors/analog_adis16470.toml")),
    ("imu", "bosch_bmi088", include_str!("../../config/sensors/bosch_bmi088.toml")),
    ("imu", "tdk_icm42688p", include_str!("../../config/sensors/tdk_icm42688p.toml")),
    ("imu", "vectornav_vn100", include_str!("../../config/sensors/vectornav_vn100.toml")),
    ("imu", "xsens_mti1", include_str!("../../config/sensors/xsens_mti1.toml")),
    ("joints", "none", ""),
    ("joints", "ams_as5045", include_str!("../../config/sensors/ams_as5045.toml")),
    ("joints", "ams_as5600", include_str!("../../config/sensors/ams_as5600.toml")),
    ("feet", "none", ""),
    ("feet", "interlink_fsr400", include_str!("../../config/sensors/interlink_fsr400.toml")),
];

/// The text of the shipped sensor `name` of `group`: `imu`, `joints` or `feet`.
#[must_use]
pub fn preset(group: &str, name: &str) -> Option<&'static str> {
    let found = PRESETS.iter().find(|(of, known, _)| *of == group && *known == name);
    found.map(|(_, _, text)| *text)
}

fn names(group: &str) -> String {
    let of_group = PRESETS.iter().filter(|(of, _, _)| *of == group);
    of_group.map(|(_, name, _)| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

/// Puts the numbers of shipped sensors in place of their names, so that a log holds them.
pub(super) fn expand(table: &mut Table) {
    let Some(Value::Table(sensors)) = table.get_mut("sensors") else { return };
    if let Some(imu) = sensors.get_mut("imu") {
        expand_one(imu, |name| preset("imu", name));
    }
    if let Some(feet) = sensors.get_mut("feet") {
        expand_one(feet, |name| preset("feet", name));
    }
    if let Some(Value::Table(joints)) = sensors.get_mut("joints") {
        joints.iter_mut().for_each(|(_, joint)| expand_one(joint, |name| preset("joints", name)));
    }
}

/// True if the section says nothing about any sensor: then no digest depends on it.
pub(super) fn is_silent(section: &Value) -> bool {
    let has = |group: &str| section.get(group).is_some_and(|v| v.as_table() != Some(&Table::new()));
    !["imu", "joints", "feet"].into_iter().any(has)
}

/// The errors of all sensors: of joints "*" first and then those by name.
pub(super) fn sensors(root: &Section<'_>, model: &Model) -> SensorSet {
    let section = root.section("sensors");
    let set = SensorSet {
        seed: section.count("seed", 0, u32::MAX),
        imu: of_robot(
            &section,
            "imu",
            ImuErrors::NONE,
            ImuErrors::keys(),
            ImuErrors::contradiction,
        ),
        joints: of_joints(&section, model),
        feet: of_robot(
            &section,
            "feet",
            FootSensor::default(),
            FootSensor::keys(),
            FootSensor::contradiction,
        ),
    };
    section.finish();
    set
}

/// The numbers of the group, if they differ from those without errors.
fn of_robot<T: Copy + PartialEq + 'static>(
    section: &Section<'_>,
    group: &str,
    none: T,
    keys: impl Iterator<Item = &'static Key<T>>,
    contradiction: fn(&T) -> Option<(&'static str, String)>,
) -> Option<T> {
    let (mut sensor, table) = (none, known(section, group, group)?);
    let keys: Vec<_> = keys.collect();
    for (key, value) in numbers_given(&table, keys.iter().copied()) {
        key.set(&mut sensor, value);
    }
    if let Some((name, allowed)) = contradiction(&sensor) {
        let value = keys.iter().find(|key| key.name == name).map_or(0.0, |k| k.get(&sensor));
        table.complain(name, &format!("{value} is not allowed; it must be {allowed}"));
    }
    table.finish();
    (sensor != none).then_some(sensor)
}

/// The table of a sensor, if there is one and it names no preset that does not exist.
fn known<'a>(section: &Section<'a>, key: &str, group: &str) -> Option<Section<'a>> {
    if !section.has(key) {
        return None;
    }
    if !matches!(section.get(key), Some(Value::Table(_))) {
        let allowed = ["a table of numbers, or the name of a sensor:", &names(group)].join(" ");
        section.mistake(key, &allowed);
        return None;
    }
    let table = section.section(key);
    if let Some(name) = table.text_if_given("preset")
        && preset(group, name).is_none()
    {
        table.mistake("preset", &format!("one of {}", names(group)));
    }
    Some(table)
}

fn of_joints(section: &Section<'_>, model: &Model) -> Vec<JointSensor> {
    let joints = section.section("joints");
    let mut sensors = vec![JointSensor::default(); model.joint_count()];
    let mut names = joints.keys();
    names.sort_by_key(|&name| name != "*");
    for name in names {
        if name != "*" && model.joint_index(name).is_none() {
            let all: Vec<&str> = model.joints.iter().map(|j| j.name.as_str()).collect();
            let all = all.join(", ");
            joints.complain(name, &format!("no joint has this name; the joints are {all}"));
            continue;
        }
        let Some(table) = known(&joints, name, "joints") else { continue };
        let given = numbers_given(&table, JointSensor::keys());
        for (sensor, joint) in sensors.iter_mut().zip(&model.joints) {
            if name != "*" && joint.name != name {
                continue;
            }
            if table.has("preset") {
                *sensor = JointSensor::default();
            }
            given.iter().for_each(|(key, value)| key.set(sensor, *value));
        }
        table.finish();
    }
    if sensors.iter().all(|sensor| *sensor == JointSensor::default()) {
        sensors.clear();
    }
    sensors
}
