//! Logs of Hardstand.

use std::path::Path;

use hardstand_error::Result;
use hardstand_physics::model::Base;

use super::{BASE_QUANTITIES, Columns, TIME};
use crate::inspect::{Quantities, sample};
use crate::replay::Player;

/// Names of the table and of the log.
const JOINT: [(&str, &str); 8] = [
    ("q", "joint.*.q"),
    ("dq", "joint.*.dq"),
    ("tau", "joint.*.tau"),
    ("q_des", "command.*.q"),
    ("dq_des", "command.*.dq"),
    ("kp", "command.*.kp"),
    ("kd", "command.*.kd"),
    ("tau_ff", "command.*.tau_ff"),
];
const BASE: [&str; 13] = [
    "base.x",
    "base.y",
    "base.z",
    "base.quat.w",
    "base.quat.x",
    "base.quat.y",
    "base.quat.z",
    "base.vx",
    "base.vy",
    "base.vz",
    "base.wx",
    "base.wy",
    "base.wz",
];

/// Reads the states, and the commands in force. The log has them in the row of the state that they
/// led to; in the table they are in the row from whose time on they are in force.
pub(super) fn read(file: &Path) -> Result<Columns> {
    let mut player = Player::open(file)?;
    let known = Quantities::of(&player.scenario().simulation());
    let model = &player.scenario().model;
    let (mut names, mut patterns) = (Vec::new(), Vec::new());
    for joint in &model.joints {
        for (ours, logs) in JOINT {
            names.push(format!("{ours}.{}", joint.name));
            patterns.push(logs.replace('*', &joint.name));
        }
    }
    let joint_columns = names.len();
    if model.base == Base::Floating {
        names.extend(BASE_QUANTITIES.iter().map(|name| format!("base.{name}")));
        patterns.extend(BASE.map(String::from));
    }
    let found = |name: &String| known.select(std::slice::from_ref(name)).map(|q| q[0]);
    let quantities = patterns.iter().map(found).collect::<Result<Vec<_>>>()?;
    let (mut time_s, mut values) = (Vec::new(), vec![Vec::new(); names.len()]);
    sample(&mut player, &quantities, [0.0, f64::INFINITY], 1, |time, row| {
        time_s.push(time);
        for (column, value) in values.iter_mut().zip(row) {
            column.push(*value);
        }
        Ok(())
    })?;
    for (i, column) in values[..joint_columns].iter_mut().enumerate() {
        // the last state has no command after it
        if i % JOINT.len() >= 3 && column.len() > 1 {
            column.rotate_left(1);
            let last = column.len() - 1;
            column[last] = column[last - 1];
        }
    }
    names.insert(0, TIME.into());
    values.insert(0, time_s);
    let rows = (0..values[0].len() as u64).collect();
    let file = file.display().to_string();
    let broken = |damage| format!("{file}: the log breaks off ({damage}); the table ends there");
    let notes = player.damage().map(broken).into_iter().collect();
    Ok(Columns { file, row_word: "tick", rows, names, values, notes, ..Columns::default() })
}
