//! ROS 2 messages in CDR as rows of a table.

use std::collections::BTreeMap;

use hardstand_error::Result;

use super::Columns;
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

/// A message of a bag.
pub(super) struct Recorded<'a> {
    /// Its number in the file.
    pub(super) number: u64,
    pub(super) topic: &'a str,
    /// Its type, as ROS names it.
    pub(super) kind: &'a str,
    /// When it was written, ns.
    pub(super) log_ns: u64,
    /// In CDR.
    pub(super) data: &'a [u8],
}

/// Messages that become rows. A column is called like the topic, a dot, the field and, in
/// brackets, the joint's name or, where the message has none, its index.
pub(super) struct Messages {
    out: Columns,
    rows: Vec<Row>,
    numbers_of_names: BTreeMap<String, usize>,
    doubtful: Doubtful,
}

/// Topics that give no columns, and why: their numbers could be read in more than one way.
type Doubtful = BTreeMap<String, String>;

impl Messages {
    /// Of the file `name`.
    pub(super) fn of(name: &str) -> Self {
        let out = Columns { file: name.into(), row_word: "message", ..Columns::default() };
        Self { out, rows: Vec::new(), numbers_of_names: BTreeMap::new(), doubtful: Doubtful::new() }
    }

    /// Takes a message, if it holds joint states or commands.
    ///
    /// # Errors
    /// [`ErrorKind::Input`](hardstand_error::ErrorKind::Input) for a message that its type does not
    /// describe, and more columns than a table can have.
    pub(super) fn take(&mut self, message: &Recorded<'_>) -> Result<()> {
        let Recorded { number, topic, kind, log_ns, data } = *message;
        let read = match numbers(kind, data) {
            Ok(read) => read,
            Err(Unread::Damaged(e)) => {
                return Err(self.out.error(&format!("message {number} on {topic} ({kind}): {e}")));
            }
            Err(Unread::Doubtful(why)) => {
                let why = format!("in message {number}, {why}");
                self.doubtful.entry(topic.into()).or_insert(why);
                return Ok(());
            }
        };
        let Some((stamp_ns, values)) = read else { return Ok(()) };
        let names = &mut self.numbers_of_names;
        let numbered = |(end, x): (String, f64)| {
            let next = names.len();
            (*names.entry(format!("{topic}.{end}")).or_insert(next), x)
        };
        let values = values.into_iter().map(numbered).collect();
        self.rows.push(Row { number, log_ns, stamp_ns, values });
        self.out.check_size(1, self.numbers_of_names.len() + 2)
    }

    /// The table.
    ///
    /// # Errors
    /// [`ErrorKind::Input`](hardstand_error::ErrorKind::Input) if there was no such message, for a
    /// number that is not finite, and a table that is too large.
    pub(super) fn table(self) -> Result<Columns> {
        let Self { mut out, mut rows, mut numbers_of_names, mut doubtful } = self;
        // stable: messages of one time stay in the order of the file
        rows.sort_by_key(|row| row.log_ns);
        find_twins(&rows, &numbers_of_names, &mut doubtful);
        let is_doubtful = |name: &str| doubtful.contains_key(topic_of(name));
        let mut dropped = vec![false; numbers_of_names.len()];
        numbers_of_names.iter().for_each(|(name, n)| dropped[*n] = is_doubtful(name));
        // a message is of one topic
        rows.retain(|row| row.values.first().is_none_or(|(n, _)| !dropped[*n]));
        numbers_of_names.retain(|name, _| !is_doubtful(name));
        out.skipped.extend(doubtful.iter().map(|(topic, why)| format!("{topic}: {why}")));
        table(out, numbers_of_names, dropped.len(), rows)
    }
}

/// A topic has no dot.
fn topic_of(column: &str) -> &str {
    column.split_once('.').map_or(column, |(topic, _)| topic)
}

/// Notes topics with two numbers for one column at one time.
fn find_twins(rows: &[Row], numbers_of_names: &BTreeMap<String, usize>, doubtful: &mut Doubtful) {
    let mut names = vec![""; numbers_of_names.len()];
    numbers_of_names.iter().for_each(|(name, n)| names[*n] = name);
    let mut last_ns = vec![None; names.len()];
    for row in rows {
        for (n, _) in &row.values {
            if last_ns[*n].replace(row.log_ns) == Some(row.log_ns) {
                let name = names[*n];
                let why = format!(
                    "message {} has a second number for {name} at the same log time: a joint is \
                     named twice, or two messages were written at one time",
                    row.number
                );
                doubtful.entry(topic_of(name).into()).or_insert(why);
            }
        }
    }
}

struct Row {
    number: u64,
    log_ns: u64,
    stamp_ns: u64,
    /// Numbers of names, in the order in which they came first, and values.
    values: Vec<(usize, f64)>,
}

/// The table of `rows`, which are sorted by time and whose names have these numbers below `count`,
/// in `out`. Its columns are sorted by name.
fn table(
    mut out: Columns,
    numbers_of_names: BTreeMap<String, usize>,
    count: usize,
    rows: Vec<Row>,
) -> Result<Columns> {
    let Some(first_ns) = rows.first().map(|row| row.log_ns) else {
        let text = "no message with joint states or commands: sensor_msgs/JointState, \
                    control_msgs/DynamicJointState, trajectory_msgs/JointTrajectory, \
                    std_msgs/Float64MultiArray, unitree_go/LowState or LowCmd";
        return Err(out.error(&[&[text.to_owned()], &out.skipped[..]].concat().join("; ")));
    };
    let times = 1 + rows.windows(2).filter(|pair| pair[0].log_ns != pair[1].log_ns).count();
    out.check_size(times, numbers_of_names.len() + 2)?;
    out.begin = Some((&TIMES, first_ns));
    out.names = TIMES.map(String::from).into();
    let mut places = vec![0; count];
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

/// Why a message gives no numbers.
enum Unread {
    /// Its type does not describe it.
    Damaged(CdrError),
    /// Which joints its numbers are of is not known.
    Doubtful(String),
}

/// Stamp (ns; 0 for none) and numbers of a message; `None` for a type that has no joints.
fn numbers(kind: &str, bytes: &[u8]) -> std::result::Result<Option<(u64, Values)>, Unread> {
    let damaged = Unread::Damaged;
    Ok(Some(match kind {
        JointState::NAME => {
            let m = JointState::decode(bytes).map_err(damaged)?;
            let lists =
                [("position", &m.position), ("velocity", &m.velocity), ("effort", &m.effort)];
            (stamp_ns(&m.header), named(&m.name, &lists)?)
        }
        JointTrajectory::NAME => {
            let m = JointTrajectory::decode(bytes).map_err(damaged)?;
            let Some(point) = m.points.first() else { return Ok(None) };
            let lists = [
                ("position", &point.positions),
                ("velocity", &point.velocities),
                ("effort", &point.effort),
            ];
            (stamp_ns(&m.header), named(&m.joint_names, &lists)?)
        }
        DynamicJointState::NAME => {
            let m = DynamicJointState::decode(bytes).map_err(damaged)?;
            let mut values = Values::new();
            check_length("interface_values", m.interface_values.len(), m.joint_names.len())?;
            for (joint, of) in m.joint_names.iter().zip(&m.interface_values) {
                let what = format!("the values of {joint}");
                check_length(&what, of.values.len(), of.interface_names.len())?;
                let pairs = of.interface_names.iter().zip(&of.values);
                values.extend(pairs.map(|(field, x)| (format!("{field}[{joint}]"), *x)));
            }
            (stamp_ns(&m.header), values)
        }
        Float64MultiArray::NAME => {
            let m = Float64MultiArray::decode(bytes).map_err(damaged)?;
            (0, m.data.iter().enumerate().map(|(i, x)| (format!("data[{i}]"), *x)).collect())
        }
        LowState::NAME => {
            let m = LowState::decode(bytes).map_err(damaged)?;
            let motors = m
                .motor_state
                .iter()
                .map(|s| vec![("q", s.q), ("dq", s.dq), ("tau_est", s.tau_est)]);
            (0, indexed("motor_state", motors))
        }
        LowCmd::NAME => {
            let m = LowCmd::decode(bytes).map_err(damaged)?;
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

/// A list is empty if its quantity is not known.
fn named(names: &[String], lists: &[(&str, &Vec<f64>)]) -> std::result::Result<Values, Unread> {
    let mut values = Values::new();
    for (field, list) in lists.iter().filter(|(_, list)| !list.is_empty()) {
        check_length(field, list.len(), names.len())?;
        let pairs = names.iter().zip(list.iter());
        values.extend(pairs.map(|(name, x)| (format!("{field}[{name}]"), *x)));
    }
    Ok(values)
}

fn check_length(list: &str, found: usize, names: usize) -> std::result::Result<(), Unread> {
    if found == names {
        return Ok(());
    }
    Err(Unread::Doubtful(format!("{list} has {found} numbers for {names} names")))
}

fn indexed(list: &str, motors: impl Iterator<Item = Vec<(&'static str, f32)>>) -> Values {
    let of = |(i, fields): (usize, Vec<(&'static str, f32)>)| {
        fields.into_iter().map(move |(field, x)| (format!("{list}[{i}].{field}"), f64::from(x)))
    };
    motors.enumerate().flat_map(of).collect()
}
