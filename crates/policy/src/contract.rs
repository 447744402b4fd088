//! Contracts as files: what a policy was trained to see and to command.

use crate::form::Form;
use crate::numbers::Numbers;
use hardstand_error::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use toml::de::DeTable;

const SCHEMA: &str = "hardstand.contract.v1";

/// What a policy was trained to see and to command.
///
/// `docs/python.md` describes each key. It is checked against a robot and a network by
/// [`Policy::new`](crate::Policy::new).
///
/// ```
/// let contract = hardstand_policy::Contract::parse(r#"
///     schema = "hardstand.contract.v1"
///     name = "knee"
///     policy_hz = 50.0
///     joints = ["knee"]
///     default_q = [0.4]
///     kp = 25.0
///     kd = 0.5
///     [[observation]]
///     term = "q"
/// "#, "knee.toml")?;
/// assert_eq!(contract.name(), "knee");
/// # Ok::<(), hardstand_error::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Contract {
    pub(crate) name: String,
    pub(crate) policy_hz: f64,
    pub(crate) joints: Vec<String>,
    pub(crate) default_q: Vec<f64>,
    /// None: in the metadata of the network.
    pub(crate) kp: Option<Numbers>,
    pub(crate) kd: Option<Numbers>,
    pub(crate) observation: Vec<Term>,
    pub(crate) action_scale: Numbers,
    pub(crate) action_clip: Option<f64>,
    pub(crate) commands: Vec<(String, [f64; 2])>,
    pub(crate) clock: Option<Clock>,
    pub(crate) hold: Vec<Hold>,
    pub(crate) history_layout: String,
    pub(crate) history_order: String,
    pub(crate) history_fill: String,
    pub(crate) policy: Option<String>,
    pub(crate) input: Option<String>,
    pub(crate) output: Option<String>,
    pub(crate) source: String,
    folder: PathBuf,
}

/// A part of the observation, multiplied with `scale`, then limited to ± `clip`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    pub term: String,
    pub scale: Numbers,
    pub frame: String,
    pub history: i64,
    pub decimation: i64,
    pub clip: Option<f64>,
    /// Of `q` and `dq`: by default those of the contract.
    pub joints: Option<Vec<String>>,
    /// Subtracted from `q`, by default the default pose.
    pub offset: Option<Numbers>,
    pub names: Vec<String>,
    pub value: Vec<f64>,
    pub truth: bool,
}

/// A gait clock with one phase for each of `offsets`, shares of a period.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Clock {
    pub period_s: f64,
    pub offsets: Vec<f64>,
    /// Count of policy steps that the first observation shows.
    pub first_step: i64,
    /// The phase while all commands are below `standing_below`.
    pub standing: Option<f64>,
    pub standing_below: f64,
}

/// Joints that the policy does not command, held at `q`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Hold {
    pub joints: Vec<String>,
    pub q: Numbers,
    pub kp: Numbers,
    pub kd: Numbers,
}

impl Contract {
    /// The contract in a file.
    ///
    /// # Errors
    /// If the file cannot be read, and as [`Contract::parse`].
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|e| {
            Error::new(ErrorKind::File, format!("contract {}: {e}", path.display()))
        })?;
        Self::parse(&text, path)
    }

    /// The contract in a text; `file` is used in errors, and to find the policy beside it.
    ///
    /// # Errors
    /// If the text is not TOML or has keys that are unknown, missing or of the wrong type. One
    /// error names all mistakes.
    pub fn parse(text: &str, file: impl AsRef<Path>) -> Result<Self> {
        let file = file.as_ref();
        let table = DeTable::parse(text).map_err(|e| {
            Error::new(ErrorKind::Input, format!("contract {}: {e}", file.display()))
        })?;
        let mut mistakes = Vec::new();
        let folder = file.parent().unwrap_or(Path::new(""));
        let made = contract(table.get_ref(), folder.to_path_buf(), &mut mistakes);
        if mistakes.is_empty() { Ok(made) } else { Err(violated(file.display(), &mistakes)) }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// From which sources it was written; may be empty.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The file of the policy, beside that of the contract, if the contract names one.
    #[must_use]
    pub fn policy_path(&self) -> Option<PathBuf> {
        self.policy.as_ref().map(|policy| self.folder.join(policy))
    }

    /// The commands with their least and greatest value, in the order of the file.
    pub fn commands(&self) -> impl Iterator<Item = (&str, [f64; 2])> {
        self.commands.iter().map(|(name, range)| (name.as_str(), *range))
    }
}

/// The error for clauses that are violated, a line for each.
pub(crate) fn violated(name: impl std::fmt::Display, clauses: &[String]) -> Error {
    let head = format!("contract {name}: {} clauses are violated", clauses.len());
    Error::list(ErrorKind::Input, &head, clauses)
}

const CONTRACT: [&str; 20] = [
    "name",
    "policy_hz",
    "joints",
    "default_q",
    "kp",
    "kd",
    "observation",
    "action_scale",
    "action_clip",
    "commands",
    "clock",
    "hold",
    "history_layout",
    "history_order",
    "history_fill",
    "policy",
    "input",
    "output",
    "source",
    "schema",
];

fn contract(table: &DeTable<'_>, folder: PathBuf, mistakes: &mut Vec<String>) -> Contract {
    let mut form = Form::new(table, "", &CONTRACT, mistakes);
    if form.text("schema").as_deref() != Some(SCHEMA) {
        form.refuse(format!("schema must be \"{SCHEMA}\""));
    }
    let terms = form.tables("observation").into_iter().enumerate();
    let observation = terms.map(|(i, t)| term(t, i, form.mistakes())).collect();
    let holds = form.tables("hold").into_iter().enumerate();
    let hold = holds.map(|(i, t)| self::hold(t, i, form.mistakes())).collect();
    let clock = form.table("clock").map(|t| self::clock(t, form.mistakes()));
    macro_rules! need {
        ($read:ident, $name:literal) => {{
            let read = form.$read($name);
            form.need($name, read)
        }};
    }
    let made = Contract {
        name: need!(text, "name"),
        policy_hz: need!(number, "policy_hz"),
        joints: need!(names, "joints"),
        default_q: need!(list, "default_q"),
        kp: need!(gains, "kp"),
        kd: need!(gains, "kd"),
        observation,
        action_scale: form.numbers("action_scale").unwrap_or(Numbers::One(1.0)),
        action_clip: form.number("action_clip"),
        commands: form.ranges("commands"),
        clock,
        hold,
        history_layout: form.text("history_layout").unwrap_or("term".into()),
        history_order: form.text("history_order").unwrap_or("oldest_first".into()),
        history_fill: form.text("history_fill").unwrap_or("zero".into()),
        policy: form.text("policy"),
        input: form.text("input"),
        output: form.text("output"),
        source: form.text("source").unwrap_or_default(),
        folder,
    };
    form.finish();
    made
}

fn term(table: &DeTable<'_>, i: usize, mistakes: &mut Vec<String>) -> Term {
    let known = [
        "term",
        "scale",
        "frame",
        "history",
        "decimation",
        "clip",
        "joints",
        "offset",
        "names",
        "value",
        "truth",
    ];
    let mut form = Form::new(table, &format!("observation[{i}]"), &known, mistakes);
    let name = form.text("term");
    let made = Term {
        term: form.need("term", name),
        scale: form.numbers("scale").unwrap_or(Numbers::One(1.0)),
        frame: form.text("frame").unwrap_or("imu".into()),
        history: form.integer("history").unwrap_or(1),
        decimation: form.integer("decimation").unwrap_or(1),
        clip: form.number("clip"),
        joints: form.names("joints"),
        offset: form.numbers("offset"),
        names: form.names("names").unwrap_or_default(),
        value: form.list("value").unwrap_or_default(),
        truth: form.boolean("truth").unwrap_or(false),
    };
    form.finish();
    made
}

fn hold(table: &DeTable<'_>, i: usize, mistakes: &mut Vec<String>) -> Hold {
    let known = ["joints", "q", "kp", "kd"];
    let mut form = Form::new(table, &format!("hold[{i}]"), &known, mistakes);
    let names = form.names("joints");
    let joints = form.need("joints", names);
    let [q, kp, kd] = ["q", "kp", "kd"].map(|name| {
        let read = form.numbers(name);
        form.need(name, read)
    });
    form.finish();
    Hold { joints, q, kp, kd }
}

fn clock(table: &DeTable<'_>, mistakes: &mut Vec<String>) -> Clock {
    let known = ["period_s", "offsets", "first_step", "standing", "standing_below"];
    let mut form = Form::new(table, "clock", &known, mistakes);
    let period = form.number("period_s");
    let made = Clock {
        period_s: form.need("period_s", period),
        offsets: form.list("offsets").unwrap_or_else(|| vec![0.0]),
        first_step: form.integer("first_step").unwrap_or(0),
        standing: form.number("standing"),
        standing_below: form.number("standing_below").unwrap_or(0.01),
    };
    form.finish();
    made
}
