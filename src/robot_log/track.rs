//! A table that is matched to a model: what each joint did, and what it was commanded.

#[cfg(not(target_family = "wasm"))]
use std::path::Path;

use hardstand_error::Result;
use hardstand_physics::model::{Base, Model};
use hardstand_protocol::limits::GAIN_MAX;

#[cfg(not(target_family = "wasm"))]
use super::read_csv;
use super::{BASE_QUANTITIES, Columns, TIME};

/// What a robot did and was commanded. NaN stands for what was not sampled.
#[derive(Clone, Debug)]
pub struct RobotLog {
    /// The file, for messages.
    pub file: String,
    /// Time of each row, s, increasing.
    pub time_s: Vec<f64>,
    /// In the order of the model.
    pub joints: Vec<JointTrack>,
    /// Of a robot whose base is free.
    pub base: Option<BaseTrack>,
}

/// One joint over time; rad, m, N·m, N.
#[derive(Clone, Debug)]
pub struct JointTrack {
    /// Position.
    pub q: Vec<f64>,
    /// Velocity.
    pub dq: Option<Vec<f64>>,
    /// Commands: position, velocity, stiffness, damping, effort on top.
    pub command: [Option<Vec<f64>>; 5],
}

/// The base over time, in the world.
#[derive(Clone, Debug)]
pub struct BaseTrack {
    /// Position (m), orientation (w, x, y, z), velocity (m/s), angular velocity (rad/s): one column
    /// each.
    pub columns: Vec<Vec<f64>>,
}

/// Largest difference of the length of a quaternion from 1.
const UNIT_TOLERANCE: f64 = 1e-2;

impl RobotLog {
    /// Reads a table and matches it to `model`.
    ///
    /// # Errors
    /// As [`read_csv`] and [`of`](Self::of).
    #[cfg(not(target_family = "wasm"))]
    pub fn load(file: &Path, model: &Model) -> Result<Self> {
        Self::of(&read_csv(file)?, model)
    }

    /// Matches a table to `model`.
    ///
    /// # Errors
    /// `ErrorKind::Input` if a column is missing or unknown, a gain is out of its range, or time
    /// does not increase.
    pub fn of(table: &Columns, model: &Model) -> Result<Self> {
        check_names(table, model)?;
        let time_s = table.need(TIME)?.to_vec();
        // `hardstand import` has judged gaps, with the limit of the mapping
        table.check_time(TIME, &time_s)?;
        check_gains(table)?;
        let joint = |name: &String| -> Result<JointTrack> {
            let column = |quantity: &str| table.get(&format!("{quantity}.{name}"));
            let owned = |quantity: &str| column(quantity).map(<[f64]>::to_vec);
            if column("q_des").is_none() && column("tau_ff").is_none() {
                let text = format!("joint {name} has no command: neither q_des.{name} nor tau_ff");
                return Err(table.error(&format!("{text}.{name}")));
            }
            Ok(JointTrack {
                q: table.need(&format!("q.{name}"))?.to_vec(),
                dq: owned("dq"),
                command: ["q_des", "dq_des", "kp", "kd", "tau_ff"].map(owned),
            })
        };
        let joints = model.joints.iter().map(|j| joint(&j.name)).collect::<Result<Vec<_>>>()?;
        let base = if model.base == Base::Floating { Some(base(table)?) } else { None };
        Ok(Self { file: table.file.clone(), time_s, joints, base })
    }
}

/// A column that nothing reads is likely to be a name that is misspelt.
fn check_names(table: &Columns, model: &Model) -> Result<()> {
    for name in table.names.iter().filter(|name| *name != TIME) {
        let (quantity, of) = name.split_once('.').unwrap_or((name, ""));
        let known = match quantity {
            "base" => BASE_QUANTITIES.contains(&of),
            _ => super::JOINT_QUANTITIES.contains(&quantity) && model.joint_index(of).is_some(),
        };
        if !known {
            let joints: Vec<&str> = model.joints.iter().map(|j| j.name.as_str()).collect();
            return Err(table.error(&format!(
                "column {name:?} is not one of the table's (docs/calibration.md): a quantity, a \
                 dot and a joint of the model ({}); `hardstand import` makes a table of a log",
                joints.join(", ")
            )));
        }
    }
    Ok(())
}

/// A gain below 0 drives away from what was commanded.
fn check_gains(table: &Columns) -> Result<()> {
    for (name, column) in table.names.iter().zip(&table.values) {
        if !name.starts_with("kp.") && !name.starts_with("kd.") {
            continue;
        }
        let wrong = |x: &f64| !x.is_nan() && !(0.0..=GAIN_MAX).contains(x);
        if let Some(row) = column.iter().position(wrong) {
            let text = format!(
                "the gain is {}; it must be 0 to {GAIN_MAX:e}. Without this column the scenario's \
                 hold_kp and hold_kd count",
                column[row]
            );
            return Err(table.cell_error(row, name, &text));
        }
    }
    Ok(())
}

fn base(table: &Columns) -> Result<BaseTrack> {
    if table.get("base.x").is_none() {
        return Err(table.error(
            "the base of the scenario's robot is free, and the log does not say where it is \
             (base.x, …); if the robot was hung or clamped, set robot.base = \"fixed\"",
        ));
    }
    let column = |name: &&str| table.need(&format!("base.{name}")).map(<[f64]>::to_vec);
    let columns = BASE_QUANTITIES.iter().map(column).collect::<Result<Vec<_>>>()?;
    for row in 0..table.len() {
        if let Some(i) = columns.iter().position(|c| c[row].is_nan()) {
            let text = "the cell is empty; the base must be known in every row";
            return Err(table.cell_error(row, &format!("base.{}", BASE_QUANTITIES[i]), text));
        }
        let square: f64 = columns[3..7].iter().map(|c| c[row] * c[row]).sum();
        if (square - 1.0).abs() > UNIT_TOLERANCE {
            let text = format!("the quaternion's length is {:.3}; it must be 1", square.sqrt());
            return Err(table.cell_error(row, "base.qw", &text));
        }
    }
    Ok(BaseTrack { columns })
}
