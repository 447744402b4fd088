//! Drives of the joints and their battery: `joints.*.drive` and `[battery]`.

use toml::{Table, Value};

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_physics::actuator::drive::{Battery, Drive, Key};
use hardstand_physics::model::Model;
use hardstand_physics::plant::DriveSet;

use super::merge;
use super::section::{Mistakes, Range, Section};

/// The shipped drives by name: "ideal", and the files of `config/drives`, which `build.rs` lists.
/// Each file begins with a comment that says where its numbers come from.
pub const PRESETS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/drives.rs"));

/// The text of the shipped drive `name`.
#[must_use]
pub fn preset(name: &str) -> Option<&'static str> {
    PRESETS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Puts the numbers of shipped drives in place of their names, so that a log holds them: a name
/// becomes a table, and a table with `preset` gets what it does not give itself.
pub(super) fn expand(table: &mut Table) {
    let Some(Value::Table(joints)) = table.get_mut("joints") else { return };
    for joint in joints.iter_mut().filter_map(|(_, joint)| joint.as_table_mut()) {
        if let Some(drive) = joint.get_mut("drive") {
            expand_one(drive, preset);
        }
    }
}

/// Puts the numbers of a preset in place of its name.
pub(super) fn expand_one(value: &mut Value, preset: fn(&str) -> Option<&'static str>) {
    let (name, own) = match value {
        Value::String(name) => (name.clone(), Table::new()),
        Value::Table(own) => match own.get("preset") {
            Some(Value::String(name)) => (name.clone(), own.clone()),
            _ => return,
        },
        _ => return,
    };
    let Some(mut numbers) = preset(&name).and_then(|text| text.parse::<Table>().ok()) else {
        return; // refused when it is read
    };
    numbers.insert("preset".into(), Value::String(name));
    merge::overwrite(&mut numbers, own);
    *value = Value::Table(numbers);
}

/// The drives of all joints, "*" first and then those by name, and the battery. The armature of a
/// joint whose drive has the rotor's inertia changes with it.
pub(super) fn drives(root: &Section<'_>, model: &mut Model) -> DriveSet {
    let section = root.section("joints");
    let mut drives = vec![Drive::IDEAL; model.joint_count()];
    let mut names = section.keys();
    names.sort_by_key(|&name| name != "*");
    for name in names {
        let joint = section.section(name);
        if !joint.has("drive") {
            continue;
        }
        let known = ["a table of numbers, or the name of a drive:", &preset_names()].join(" ");
        if !matches!(joint.get("drive"), Some(Value::Table(_))) {
            joint.mistake("drive", &known);
            continue;
        }
        let table = joint.section("drive");
        let given = given(&table);
        for (i, drive) in drives.iter_mut().enumerate() {
            if name != "*" && model.joints[i].name != name {
                continue;
            }
            if table.has("preset") {
                *drive = Drive::IDEAL;
            }
            for (key, value) in &given {
                key.set(drive, *value);
            }
        }
        table.finish();
    }
    refuse_contradictions(&section, &drives, model);
    for (drive, joint) in drives.iter_mut().zip(&mut model.joints) {
        joint.armature = drive.settle_armature(joint.armature);
    }
    let battery = battery(root);
    if drives.iter().all(|drive| *drive == Drive::IDEAL) {
        drives.clear();
    }
    DriveSet { joints: drives, battery }
}

/// Checks each joint's drive with all its numbers, those of "*" and its own.
fn refuse_contradictions(section: &Section<'_>, drives: &[Drive], model: &Model) {
    let mut told = Vec::new();
    for (drive, joint) in drives.iter().zip(&model.joints) {
        let Some((key, text)) = contradiction(drive, joint.armature) else { continue };
        let is_own = section.section(&joint.name).has("drive");
        let name = if is_own { joint.name.as_str() } else { "*" };
        // what "*" says is wrong for many joints alike
        if !told.contains(&(name, text.clone())) {
            let joint = if is_own { String::new() } else { format!(" (joint {})", joint.name) };
            section.section(name).section("drive").complain(key, &format!("{text}{joint}"));
            told.push((name, text));
        }
    }
}

/// A drive from the text of a file, or of a shipped one; with `preset` it begins with that one.
///
/// # Errors
/// [`ErrorKind::Input`] with all mistakes.
pub fn drive_of(text: &str, file: &str) -> Result<Drive> {
    let mut value = Value::Table(merge::parse(text, file)?);
    expand_one(&mut value, preset);
    let mistakes = Mistakes::default();
    let section = Section::new(String::new(), value.as_table(), &mistakes);
    let mut drive = Drive::IDEAL;
    for (key, value) in given(&section) {
        key.set(&mut drive, value);
    }
    if let Some((key, text)) = contradiction(&drive, 0.0) {
        section.complain(key, &text);
    }
    section.finish();
    let list = mistakes.into_list();
    if list.is_empty() {
        return Ok(drive);
    }
    Err(Error::list(ErrorKind::Input, &format!("{file}: the drive was refused"), &list))
}

/// The numbers that a table gives, each in its range.
fn given(table: &Section<'_>) -> Vec<(&'static Key, f64)> {
    if let Some(name) = table.text_if_given("preset")
        && preset(name).is_none()
    {
        table.mistake("preset", &format!("one of {}", preset_names()));
    }
    numbers_given(table, Drive::keys())
}

/// Those of `keys` that a table gives, each in its range.
pub(super) fn numbers_given<T: Copy + 'static>(
    table: &Section<'_>,
    keys: impl Iterator<Item = &'static Key<T>>,
) -> Vec<(&'static Key<T>, f64)> {
    let mut found = Vec::new();
    let mut groups: Vec<(&str, Section<'_>)> = Vec::new();
    for key in keys {
        let range = Range::between(key.min, key.max);
        let value = match key.name.split_once('.') {
            None => table.f64_if_given(key.name, range),
            Some((group, name)) => {
                if groups.last().is_none_or(|(last, _)| *last != group) {
                    groups.push((group, table.section(group)));
                }
                groups.last().and_then(|(_, group)| group.f64_if_given(name, range))
            }
        };
        found.extend(value.map(|value| (key, value)));
    }
    for (_, group) in groups {
        group.finish();
    }
    found
}

/// The key of numbers that contradict each other, and what is wrong.
fn contradiction(drive: &Drive, armature: f64) -> Option<(&'static str, String)> {
    let mut settled = *drive;
    let _of_joint = settled.settle_armature(armature);
    let (key, allowed) = settled.contradiction()?;
    let value = Drive::keys().find(|k| k.name == key).map_or(0.0, |k| k.get(drive));
    Some((key, format!("{value} is not allowed; it must be {allowed}")))
}

fn preset_names() -> String {
    PRESETS.iter().map(|(name, _)| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

fn battery(root: &Section<'_>) -> Battery {
    let s = root.section("battery");
    let before = s.mistake_count();
    let battery = Battery {
        voltage_v: s.f64("voltage_v", Range::between(0.0, 1e5)),
        resistance_ohm: s.f64("resistance_ohm", Range::between(0.0, 1e3)),
        idle_w: s.f64("idle_w", Range::between(0.0, 1e6)),
        voltage_max_v: s.f64("voltage_max_v", Range::between(0.0, 1e5)),
    };
    let Battery { voltage_v, resistance_ohm, idle_w, voltage_max_v } = battery;
    let others =
        [("resistance_ohm", resistance_ohm), ("idle_w", idle_w), ("voltage_max_v", voltage_max_v)];
    // after a mistake the voltage may be 0
    let idle = others.into_iter().filter(|_| !battery.is_there() && s.mistake_count() == before);
    for (key, value) in idle.filter(|(_, value)| *value > 0.0) {
        let text = format!("{value} is not allowed; it must be 0 without battery.voltage_v");
        s.complain(key, &text);
    }
    if voltage_max_v > 0.0 && voltage_max_v < voltage_v {
        let allowed = format!("at least battery.voltage_v, {voltage_v}, or 0 for no limit");
        s.complain(
            "voltage_max_v",
            &format!("{voltage_max_v} is not allowed; it must be {allowed}"),
        );
    }
    s.finish();
    battery
}
