//! MCAP files with ROS 2 messages in CDR, as `ros2 bag record -s mcap` writes them.

use std::collections::BTreeMap;
use std::path::Path;

use hardstand_error::{Error, ErrorKind, Result};

use super::{BYTES_MAX, Columns, packed};
use crate::ros2::cdr::CdrError;
use crate::ros2::messages::{
    DynamicJointState, Float64MultiArray, Header, JointState, JointTrajectory, Message,
};
use crate::ros2::unitree::{LowCmd, LowState};

/// Time at which a message was written to the file, s after the first one.
const LOG_TIME: &str = "log_time_s";
/// The message's own stamp, s after the first message was written; the log time if it has none.
const STAMP: &str = "stamp_s";

const TIMES: [&str; 2] = [LOG_TIME, STAMP];
/// Numbers of a message: the end of the column's name, and the value.
type Values = Vec<(String, f64)>;

/// Reads a file as [`parse_rosbag`] does.
///
/// # Errors
/// Those of [`parse_rosbag`]; [`ErrorKind::File`] if it cannot be read.
pub(super) fn read(file: &Path) -> Result<Columns> {
    let name = file.display().to_string();
    let io = |e: std::io::Error| Error::new(ErrorKind::File, format!("{name}: {e}"));
    let refused = |text: String| Error::new(ErrorKind::Input, format!("{name}: {text}"));
    let size = std::fs::metadata(file).map_err(io)?.len();
    if size > BYTES_MAX {
        return Err(refused(format!("{size} bytes; at most {BYTES_MAX}")));
    }
    parse_rosbag(&name, &std::fs::read(file).map_err(io)?)
}

/// Reads the bytes of a file that is called `name`: the messages that hold joint states or
/// commands. A column is called like the topic, a dot, the field and, in brackets, the joint's name
/// or, where the message has none, its index.
///
/// # Errors
/// [`ErrorKind::Input`] for what is no MCAP file, packed in a way that is not read, a chunk whose
/// checksum is another one, what is too large for a table, or a message that its type does not
/// describe, with topic and number.
pub fn parse_rosbag(name: &str, bytes: &[u8]) -> Result<Columns> {
    let refused = |text: String| Error::new(ErrorKind::Input, format!("{name}: {text}"));
    let out = Columns { file: name.into(), row_word: "message", ..Columns::default() };
    let mut rows: Vec<Row> = Vec::new();
    let mut numbers_of_names = BTreeMap::new();
    let bytes = packed::unpacked(bytes).map_err(refused)?;
    let stream = || {
        // a changed byte would be read as another number
        let options = mcap::read::Options::ValidateChunkCrcs.into();
        mcap::MessageStream::new_with_options(&bytes, options).map_err(|e| refused(e.to_string()))
    };
    let broken = |(number, e): (usize, mcap::McapError)| refused(format!("message {number}: {e}"));
    // a chunk's checksum is compared at its end: all of them before any message is read
    for (number, message) in stream()?.enumerate() {
        message.map_err(|e| broken((number, e)))?;
    }
    for (number, message) in stream()?.enumerate() {
        let message = message.map_err(|e| broken((number, e)))?;
        let topic = &message.channel.topic;
        let kind = message.channel.schema.as_ref().map_or("", |s| s.name.as_str());
        let read = numbers(kind, &message.data)
            .map_err(|e| refused(format!("message {number} on {topic} ({kind}): {e}")))?;
        let Some((stamp_ns, values)) = read else { continue };
        let mut numbered = |(end, x): (String, f64)| {
            let next = numbers_of_names.len();
            (*numbers_of_names.entry(format!("{topic}.{end}")).or_insert(next), x)
        };
        let values = values.into_iter().map(&mut numbered).collect();
        rows.push(Row { number: number as u64, log_ns: message.log_time, stamp_ns, values });
        out.check_size(1, numbers_of_names.len() + 2)?;
    }
    table(out, numbers_of_names, rows)
}

struct Row {
    number: u64,
    log_ns: u64,
    stamp_ns: u64,
    /// Numbers of names, in the order in which they came first, and values.
    values: Vec<(usize, f64)>,
}

/// The table of `rows`, whose names have these numbers, in `out`. Its columns are sorted by name.
fn table(
    mut out: Columns,
    numbers_of_names: BTreeMap<String, usize>,
    mut rows: Vec<Row>,
) -> Result<Columns> {
    // stable: messages of one time stay in the order of the file
    rows.sort_by_key(|row| row.log_ns);
    let Some(first_ns) = rows.first().map(|row| row.log_ns) else {
        let text = "no message with joint states or commands: sensor_msgs/JointState, \
                    control_msgs/DynamicJointState, trajectory_msgs/JointTrajectory, \
                    std_msgs/Float64MultiArray, unitree_go/LowState or LowCmd";
        return Err(out.error(text));
    };
    let times = 1 + rows.windows(2).filter(|pair| pair[0].log_ns != pair[1].log_ns).count();
    out.check_size(times, numbers_of_names.len() + 2)?;
    out.begin = Some((&TIMES, first_ns));
    out.names = TIMES.map(String::from).into();
    let mut places = vec![0; numbers_of_names.len()];
    for (name, number) in numbers_of_names {
        places[number] = out.names.len();
        out.names.push(name);
    }
    out.values = vec![Vec::new(); out.names.len()];
    let after_s = |ns: u64| (i128::from(ns) - i128::from(first_ns)) as f64 / 1e9;
    let mut last_ns = None;
    for row in rows {
        if last_ns != Some(row.log_ns) {
            out.rows.push(row.number);
            out.values.iter_mut().for_each(|column| column.push(f64::NAN));
        }
        last_ns = Some(row.log_ns);
        let at = out.rows.len() - 1;
        let stamp_ns = if row.stamp_ns == 0 { row.log_ns } else { row.stamp_ns };
        (out.values[0][at], out.values[1][at]) = (after_s(row.log_ns), after_s(stamp_ns));
        for (number, value) in row.values {
            let place = places[number];
            if !value.is_finite() {
                let name = out.names[place].clone();
                return Err(out.cell_error(at, &name, &format!("{value} is not finite")));
            }
            out.values[place][at] = value;
        }
    }
    Ok(out)
}

/// Stamp (ns; 0 for none) and numbers of a message; `None` for a type that has no joints.
fn numbers(kind: &str, bytes: &[u8]) -> std::result::Result<Option<(u64, Values)>, CdrError> {
    Ok(Some(match kind {
        JointState::NAME => {
            let m = JointState::decode(bytes)?;
            let lists =
                [("position", &m.position), ("velocity", &m.velocity), ("effort", &m.effort)];
            (stamp_ns(&m.header), named(&m.name, &lists))
        }
        JointTrajectory::NAME => {
            let m = JointTrajectory::decode(bytes)?;
            let Some(point) = m.points.first() else { return Ok(None) };
            let lists = [
                ("position", &point.positions),
                ("velocity", &point.velocities),
                ("effort", &point.effort),
            ];
            (stamp_ns(&m.header), named(&m.joint_names, &lists))
        }
        DynamicJointState::NAME => {
            let m = DynamicJointState::decode(bytes)?;
            let mut values = Values::new();
            for (joint, of) in m.joint_names.iter().zip(&m.interface_values) {
                let pairs = of.interface_names.iter().zip(&of.values);
                values.extend(pairs.map(|(field, x)| (format!("{field}[{joint}]"), *x)));
            }
            (stamp_ns(&m.header), values)
        }
        Float64MultiArray::NAME => {
            let m = Float64MultiArray::decode(bytes)?;
            (0, m.data.iter().enumerate().map(|(i, x)| (format!("data[{i}]"), *x)).collect())
        }
        LowState::NAME => {
            let m = LowState::decode(bytes)?;
            let motors = m
                .motor_state
                .iter()
                .map(|s| vec![("q", s.q), ("dq", s.dq), ("tau_est", s.tau_est)]);
            (0, indexed("motor_state", motors))
        }
        LowCmd::NAME => {
            let m = LowCmd::decode(bytes)?;
            let motors = m.motor_cmd.iter().map(|c| {
                vec![("q", c.q), ("dq", c.dq), ("tau", c.tau), ("kp", c.kp), ("kd", c.kd)]
            });
            (0, indexed("motor_cmd", motors))
        }
        _ => return Ok(None),
    }))
}

fn stamp_ns(header: &Header) -> u64 {
    u64::from(header.stamp.sec.unsigned_abs()) * 1_000_000_000 + u64::from(header.stamp.nanosec)
}

fn named(names: &[String], lists: &[(&str, &Vec<f64>)]) -> Values {
    let of = |(field, list): &(&str, &Vec<f64>)| {
        let pairs = names.iter().zip(list.iter());
        pairs.map(|(name, x)| (format!("{field}[{name}]"), *x)).collect::<Values>()
    };
    lists.iter().flat_map(of).collect()
}

fn indexed(list: &str, motors: impl Iterator<Item = Vec<(&'static str, f32)>>) -> Values {
    let of = |(i, fields): (usize, Vec<(&'static str, f32)>)| {
        fields.into_iter().map(move |(field, x)| (format!("{list}[{i}].{field}"), f64::from(x)))
    };
    motors.enumerate().flat_map(of).collect()
}
