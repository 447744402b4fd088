//! How the columns of a log become those of the table: names, units, signs, time.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use hardstand_error::{Error, ErrorKind, Result, read_text};

use super::{BASE_QUANTITIES, Columns, JOINT_QUANTITIES, TIME};

/// A mapping, as TOML. `docs/calibration.md` has examples.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// Time.
    pub time: TimeMapping,
    /// By quantity of the table; `{joint}` stands for the log's name of a joint, `{index}` for its
    /// place in `order`.
    pub quantities: BTreeMap<String, Source>,
    /// By joint of the model.
    pub joints: BTreeMap<String, JointMapping>,
    /// By quantity of the base.
    #[serde(default)]
    pub base: BTreeMap<String, Source>,
    /// The log's names of the joints, in the order of its arrays.
    #[serde(default)]
    pub order: Vec<String>,
}

/// How the log says time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeMapping {
    /// Its column.
    pub column: String,
    /// "s", "ms", "us" or "ns".
    #[serde(default = "seconds")]
    pub unit: String,
    /// Longest step, s.
    pub gap_max_s: Option<f64>,
    /// What an empty cell is.
    #[serde(default)]
    pub empty: Empty,
}

/// What an empty cell is.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Empty {
    /// A mistake.
    #[default]
    Refused,
    /// The quantity was not sampled at that time.
    NotSampled,
}

/// Where a quantity comes from: the name of a column, or more.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Source {
    /// A column in the unit of the table.
    Column(String),
    /// A column that is converted.
    Converted(Converted),
    /// A number that is not in the log.
    Constant(Constant),
}

/// A column that is converted: `sign · factor of the unit · value + offset`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Converted {
    column: String,
    #[serde(default = "plain")]
    unit: String,
    #[serde(default = "one")]
    sign: f64,
    #[serde(default)]
    offset: f64,
}

/// A number that is not in the log.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    value: f64,
}

/// What the log calls a joint, and how its direction and zero differ.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum JointMapping {
    /// Only another name.
    Name(String),
    /// More.
    Turned(Turned),
}

/// A joint of the log that turns the other way, or whose zero is elsewhere:
/// `q = sign · q_log + offset`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turned {
    name: String,
    #[serde(default = "one")]
    sign: f64,
    #[serde(default)]
    offset: f64,
}

fn seconds() -> String {
    "s".into()
}

fn plain() -> String {
    String::new()
}

const fn one() -> f64 {
    1.0
}

/// Bytes of a mapping.
const MAPPING_BYTES_MAX: u64 = 1 << 24;
/// Units of a column, and what they are in the table's unit.
const UNITS: [(&str, f64); 12] = [
    ("", 1.0),
    ("rad", 1.0),
    ("deg", std::f64::consts::PI / 180.0),
    ("rad/s", 1.0),
    ("deg/s", std::f64::consts::PI / 180.0),
    ("rpm", std::f64::consts::PI / 30.0),
    ("turn", 2.0 * std::f64::consts::PI),
    ("turn/s", 2.0 * std::f64::consts::PI),
    ("m", 1.0),
    ("mm", 1e-3),
    ("N·m", 1.0),
    ("mN·m", 1e-3),
];
const TIME_UNITS: [(&str, f64); 4] = [("s", 1.0), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)];

fn factor(units: &[(&str, f64)], key: &str, unit: &str) -> Result<f64> {
    let found = units.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
    found.ok_or_else(|| {
        let all: Vec<String> = units.iter().map(|(name, _)| format!("{name:?}")).collect();
        refused(&format!("{key} is {unit:?}; it must be one of {}", all.join(", ")))
    })
}

fn refused(text: &str) -> Error {
    Error::new(ErrorKind::Input, format!("the mapping was refused: {text}"))
}

impl Mapping {
    /// Reads a mapping.
    ///
    /// # Errors
    /// [`ErrorKind::File`] if it cannot be read; [`ErrorKind::Input`] for an unknown key, quantity
    /// or unit, and for a sign that is neither 1 nor -1.
    pub fn load(file: &Path) -> Result<Self> {
        let name = file.display();
        let text = read_text(file, MAPPING_BYTES_MAX)
            .map_err(|e| Error::new(ErrorKind::File, format!("mapping {name}: {e}")))?;
        let out: Self = toml::from_str(&text)
            .map_err(|e| Error::new(ErrorKind::Input, format!("mapping {name}: {e}")))?;
        out.check()?;
        Ok(out)
    }

    fn check(&self) -> Result<()> {
        let groups = [
            ("quantities", &self.quantities, &JOINT_QUANTITIES[..]),
            ("base", &self.base, &BASE_QUANTITIES[..]),
        ];
        for (section, sources, known) in groups {
            for (name, source) in sources {
                if !known.contains(&name.as_str()) {
                    let known = known.join(", ");
                    return Err(refused(&format!("{section}.{name}; known are {known}")));
                }
                if let Source::Constant(c) = source {
                    check_finite(&format!("{section}.{name}.value"), c.value)?;
                }
                let Source::Converted(c) = source else { continue };
                factor(&UNITS, &format!("{section}.{name}.unit"), &c.unit)?;
                check_sign(&format!("{section}.{name}.sign"), c.sign)?;
                check_finite(&format!("{section}.{name}.offset"), c.offset)?;
            }
        }
        if self.joints.is_empty() {
            let text =
                "joints is empty; it must name at least one joint: MODEL_NAME = \"LOG_NAME\"";
            return Err(refused(text));
        }
        let mut named: BTreeMap<&str, &str> = BTreeMap::new();
        for (name, joint) in &self.joints {
            let (in_log, sign, offset) = joint.turned();
            if let Some(other) = named.insert(in_log, name) {
                let text = format!(
                    "joints.{other} and joints.{name} are both {in_log:?}; each joint of the log \
                     is one of the model"
                );
                return Err(refused(&text));
            }
            check_sign(&format!("joints.{name}.sign"), sign)?;
            check_finite(&format!("joints.{name}.offset"), offset)?;
        }
        if let Some(gap) = self.time.gap_max_s.filter(|gap| !(gap.is_finite() && *gap > 0.0)) {
            let text = format!("time.gap_max_s is {gap}; it must be finite and greater than 0");
            return Err(refused(&text));
        }
        factor(&TIME_UNITS, "time.unit", &self.time.unit).map(|_| ())
    }

    /// The table of a log.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if a column is missing, a cell is empty that may not be, or time has
    /// gaps or does not increase, with the place.
    pub fn apply(&self, log: &Columns) -> Result<Columns> {
        let per_s = factor(&TIME_UNITS, "time.unit", &self.time.unit)?;
        let raw = log.need(&self.time.column)?;
        if let Some(row) = raw.iter().position(|t| t.is_nan()) {
            return Err(log.cell_error(row, &self.time.column, "the time is missing"));
        }
        // a difference first: ns since 1970 have no room for the fraction of a s
        let time_s: Vec<f64> = raw.iter().map(|t| (t - raw[0]) / per_s).collect();
        log.check_time(&self.time.column, &time_s)?;
        let mut out = Columns {
            file: log.file.clone(),
            row_word: log.row_word,
            rows: log.rows.clone(),
            names: vec![TIME.into()],
            values: vec![time_s],
            ..Columns::default()
        };
        for (joint, mapping) in &self.joints {
            let (name, sign, offset) = mapping.turned();
            for (quantity, source) in &self.quantities {
                let gain = matches!(quantity.as_str(), "kp" | "kd");
                let position = matches!(quantity.as_str(), "q" | "q_des");
                let turn = [if gain { 1.0 } else { sign }, if position { offset } else { 0.0 }];
                let values = self.values(log, source, name, turn)?;
                out.names.push(format!("{quantity}.{joint}"));
                out.values.push(values);
            }
        }
        for (quantity, source) in &self.base {
            out.names.push(format!("base.{quantity}"));
            out.values.push(self.values(log, source, "", [1.0, 0.0])?);
        }
        // states and commands that come in messages of their own have no common step; a command is
        // held, so gaps are those of states
        let (name, gap_max_s) = (&self.time.column, self.time.gap_max_s);
        out.check_gaps(name, &out.values[0], gap_max_s, &out.states())?;
        Ok(out)
    }

    fn values(
        &self,
        log: &Columns,
        source: &Source,
        joint: &str,
        [turn, zero]: [f64; 2],
    ) -> Result<Vec<f64>> {
        let (column, unit, sign, offset) = match source {
            Source::Constant(c) => return Ok(vec![c.value; log.len()]),
            Source::Column(column) => (column, "", 1.0, 0.0),
            Source::Converted(c) => (&c.column, c.unit.as_str(), c.sign, c.offset),
        };
        let column = column.replace("{joint}", joint);
        let column = if column.contains("{index}") {
            let index = self.order.iter().position(|name| name == joint).ok_or_else(|| {
                refused(&format!("{column} needs the place of {joint:?} in `order`"))
            })?;
            column.replace("{index}", &index.to_string())
        } else {
            column
        };
        let values = log.need(&column)?;
        if self.time.empty == Empty::Refused
            && let Some(row) = values.iter().position(|x| x.is_nan())
        {
            let text = "the cell is empty; if this quantity is not sampled in every row, set \
                        time.empty = \"not_sampled\" in the mapping";
            return Err(log.cell_error(row, &column, text));
        }
        let factor = factor(&UNITS, "unit", unit)?;
        let convert = |(row, x): (usize, &f64)| {
            let y = turn * (sign * factor * x + offset) + zero;
            // an empty cell stays one
            if y.is_finite() || x.is_nan() {
                return Ok(y);
            }
            let text = format!("{x} becomes {y} in the table's unit; is its unit {unit:?}?");
            Err(log.cell_error(row, &column, &text))
        };
        values.iter().enumerate().map(convert).collect()
    }
}

fn check_finite(key: &str, value: f64) -> Result<()> {
    if value.is_finite() {
        return Ok(());
    }
    Err(refused(&format!("{key} is {value}; it must be a finite number")))
}

fn check_sign(key: &str, sign: f64) -> Result<()> {
    if sign.abs() == 1.0 {
        return Ok(());
    }
    Err(refused(&format!("{key} is {sign}; it must be 1 or -1")))
}

impl JointMapping {
    fn turned(&self) -> (&str, f64, f64) {
        match self {
            Self::Name(name) => (name, 1.0, 0.0),
            Self::Turned(t) => (&t.name, t.sign, t.offset),
        }
    }
}
