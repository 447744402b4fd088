//! Reads a campaign's file; all mistakes are reported at once.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use toml::Value;

use crate::config::{Mistakes, Range, Scenario, Section, number, parse};
use crate::inspect::{Condition, Quantities};
use crate::limits::{CASES_MAX, SCENARIO_BYTES_MAX, SPEED_MAX, SPEED_MIN};
use hardstand_error::{Error, ErrorKind, Result, read_text};
use hardstand_protocol::is_name_char;

use super::columns::FIXED;
use super::lists::{Lists, tables, value_of};
use super::outcome::{RENAMED, Word};
use super::plan::{
    Break, Ground, Keep, Measure, Of, Plan, Take, Vary, WITHOUT_ROS2, Way, hash_of, names_of,
    own_key, patience_of,
};

impl Plan {
    /// Reads a file. The paths in it start where it lies.
    ///
    /// # Errors
    /// [`ErrorKind::File`] if it cannot be read; [`ErrorKind::Input`] with all mistakes, also those
    /// of the scenarios that it names.
    pub fn load(path: &Path) -> Result<Self> {
        let file = path.display().to_string();
        let failed = |e| Error::new(ErrorKind::File, format!("campaign {file}: {e}"));
        let table = parse(&read_text(path, SCENARIO_BYTES_MAX).map_err(failed)?, &file)?;
        let folder = std::path::absolute(path).map_err(failed)?;
        let folder = folder.parent().unwrap_or(Path::new("/"));
        let mistakes = Mistakes::default();
        let root = Section::new(String::new(), Some(&table), &mistakes);
        let plan = read(&root, folder, &mistakes);
        root.finish();
        let list = mistakes.into_list();
        if list.is_empty() {
            return Ok(plan);
        }
        Err(Error::list(ErrorKind::Input, &format!("{file}: the campaign was refused"), &list))
    }
}

fn read(root: &Section<'_>, folder: &Path, mistakes: &Mistakes) -> Plan {
    let listed = |key: &str| if root.has(key) { root.texts(key) } else { Vec::new() };
    let (mode, speed) = pace(root);
    let mut plan = Plan {
        controller: listed("controller").into_iter().map(OsString::from).collect(),
        controller_folder: folder.join(root.text_if_given("controller_folder").unwrap_or("")),
        way: way(root),
        controller_files: String::new(),
        keep: if root.has("keep_logs") { keep(root) } else { Keep::Failed },
        fail_if: listed("fail_if"),
        renamed: Vec::new(),
        duration_s: root.f64("duration_s", Range::above(0.0)),
        mode,
        speed,
        scenarios: Vec::new(),
        faults: faults(root),
        seeds: seeds(root),
        vary: vary(root),
        conditions: conditions(root),
        measures: Vec::new(),
    };
    plan.measures = measures(root, &plan.conditions);
    accept_old_outcomes(&mut plan);
    if plan.mode != "lockstep" || plan.speed.is_some() {
        for key in [IN_PROCESS, RESETS].into_iter().filter(|key| is_true(root, key)) {
            root.mistake(key, "false unless mode is \"lockstep\" and there is no speed");
        }
    }
    let sets = sets(root, mistakes);
    for s in root.sections("scenarios") {
        plan.scenarios.extend(scenario(&s, folder, &sets, &plan, mistakes));
        s.finish();
    }
    for (key, count) in [("scenarios", plan.scenarios.len()), ("faults", plan.faults.len())] {
        let is_empty = root.get(key).is_none_or(|v| v.as_array().is_some_and(Vec::is_empty));
        if is_empty && count == 0 {
            root.mistake(key, &format!("at least one [[{key}]] table"));
        }
    }
    mistakes.refuse_twins("scenarios", plan.scenarios.iter().map(|s| s.name.as_str()));
    mistakes.refuse_twins("faults", plan.faults.iter().map(|f| f.name.as_str()));
    mistakes.refuse_twins("vary", plan.vary.iter().map(|v| v.key.as_str()));
    let count = plan.scenarios.len() * plan.faults.len() * plan.seeds.len();
    if count > CASES_MAX {
        mistakes.add(format!("these are {count} cases; at most {CASES_MAX}"));
    } else {
        let cases = plan.cases();
        mistakes.refuse_twins("cases", cases.iter().map(|c| c.id.as_str()));
    }
    refuse_columns(&plan, mistakes);
    let known = |name: &&String| {
        Word::ALL.iter().any(|w| w.word() == *name)
            || plan.conditions.iter().any(|(condition, _)| condition == *name)
    };
    for name in plan.fail_if.iter().filter(|name| !known(name)) {
        let words = Word::ALL.map(Word::word).join(", ");
        mistakes.add(format!("fail_if has \"{name}\"; it must be a condition, or of {words}"));
    }
    plan
}

/// Keys that choose how the controller runs.
const IN_PROCESS: &str = "in_process";
const RESETS: &str = "controller_resets";

fn is_true(root: &Section<'_>, key: &str) -> bool {
    root.has(key) && root.bool(key)
}

fn way(root: &Section<'_>) -> Way {
    match [IN_PROCESS, RESETS].map(|key| is_true(root, key)) {
        [false, false] => Way::OwnProcess,
        [false, true] => Way::StaysUp,
        [true, false] => Way::InProcess,
        [true, true] => {
            root.mistake(RESETS, "false with in_process");
            Way::InProcess
        }
    }
}

fn pace(root: &Section<'_>) -> (&'static str, Option<f64>) {
    let modes = ["lockstep", "budgeted", "realtime"].map(|word| (word, word));
    let mode = if root.has("mode") { root.choice("mode", &modes) } else { Some("lockstep") };
    let mode = mode.unwrap_or("lockstep");
    let speed = root.f64_if_given("speed", Range::between(SPEED_MIN, SPEED_MAX));
    // whose ticks do not wait would be over before a controller is there
    (mode, speed.or_else(|| (mode != "lockstep").then_some(1.0)))
}

/// Replaces outcomes in `fail_if` that have another name now.
fn accept_old_outcomes(plan: &mut Plan) {
    for (old, new) in RENAMED {
        let is_condition = plan.conditions.iter().any(|(name, _)| name == old);
        for name in plan.fail_if.iter_mut().filter(|name| **name == old && !is_condition) {
            *name = new.into();
            plan.renamed.push((old, new));
        }
    }
}

fn keep(root: &Section<'_>) -> Keep {
    let words = [("failed", Keep::Failed), ("all", Keep::All), ("none", Keep::None)];
    root.choice("keep_logs", &words).unwrap_or(Keep::Failed)
}

/// Names of scenarios and faults are parts of names of files.
fn name(s: &Section<'_>) -> String {
    let text = s.text("name");
    let first = |c: char| c.is_alphanumeric() || c == '_';
    let is_name = text.len() <= 64 && text.starts_with(first) && text.chars().all(is_name_char);
    if !text.is_empty() && !is_name {
        let allowed = "1 to 64 letters, digits, \"-\", \"_\" or \".\", no \"-\" or \".\" first";
        s.mistake("name", allowed);
    } else if text.is_empty() && s.has("name") {
        s.mistake("name", "not empty");
    }
    text.into()
}

fn faults(root: &Section<'_>) -> Vec<Break> {
    let mut all = Vec::new();
    for s in root.sections("faults") {
        let events = match s.get("events") {
            None => Vec::new(),
            Some(Value::Array(list)) if list.iter().all(Value::is_table) => list.clone(),
            Some(_) => {
                s.mistake("events", "a list of events as in a scenario");
                Vec::new()
            }
        };
        all.push(Break { name: name(&s), events });
        s.finish();
    }
    if !root.has("faults") {
        all.push(Break { name: "none".into(), events: Vec::new() });
    }
    all
}

fn seeds(root: &Section<'_>) -> Vec<u32> {
    let seed = |v: &Value| v.as_integer().and_then(|i| u32::try_from(i).ok());
    let most = u32::try_from(CASES_MAX).unwrap_or(u32::MAX);
    let found: Option<Vec<u32>> = match root.get("seeds") {
        None => Some(vec![1]),
        Some(Value::Integer(_)) => root
            .integer_if("seeds", |i| (1..=i64::from(most)).contains(&i))
            .map(|n| (1..=n as u32).collect()),
        Some(Value::Array(list)) => list.iter().map(seed).collect(),
        Some(Value::Table(t)) => {
            let ends = t.get("from").and_then(seed).zip(t.get("to").and_then(seed));
            ends.filter(|&(from, to)| t.len() == 2 && from <= to && to - from < most)
                .map(|(from, to)| (from..=to).collect())
        }
        Some(_) => None,
    };
    let mut found = found.unwrap_or_default();
    let (count, mut seen) = (found.len(), BTreeSet::new());
    found.retain(|seed| seen.insert(*seed));
    if found.len() < count {
        root.mistake("seeds", "a list without a seed twice");
    }
    if found.is_empty() {
        let allowed = "a number of seeds, a list of them, or { from = 1, to = 20 }; a seed is a \
                       whole number, 0 to 4294967295, and a campaign has at most";
        root.mistake("seeds", &format!("{allowed} {CASES_MAX} of them"));
    }
    found
}

fn vary(root: &Section<'_>) -> Vec<Vary> {
    let mut all = Vec::new();
    for s in root.sections("vary") {
        let (key, between) = (s.text("key").to_string(), s.vec2("between", Range::finite()));
        if between[0] > between[1] || !(between[1] - between[0]).is_finite() {
            s.mistake("between", BETWEEN);
        }
        if own_key(&key).is_some() {
            s.complain("key", &format!("{key} {OWN}"));
        }
        all.push(Vary { key, between });
        s.finish();
    }
    all
}

/// What a range must be: a value is drawn by its width.
pub(crate) const BETWEEN: &str =
    "two finite numbers, the smaller first, at most 1.7976931348623157e308 apart";

/// Why a key cannot be changed by a case.
const OWN: &str = "is not allowed: a campaign sets pace, start, mode, length, log and endpoint of \
                   its cases itself; it has keys for mode, speed and duration_s";

/// Changes in the form of `--set`.
fn sets(s: &Section<'_>, mistakes: &Mistakes) -> Vec<String> {
    let all = if s.has("set") { s.texts("set") } else { Vec::new() };
    for key in all.iter().filter_map(|set| own_key(set)) {
        mistakes.add(format!("{}: {key} {OWN}", s.name("set")));
    }
    all
}

/// Names of conditions and measures are names of columns.
fn named(s: &Section<'_>) -> Vec<String> {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut all = Vec::new();
    for key in s.keys() {
        if key.len() > 64 || !key.starts_with(first) || !key.chars().all(allowed) {
            s.complain(key, "a name must be 1 to 64 letters, digits or \"_\", no digit first");
        }
        all.push(key.to_string());
    }
    all
}

fn conditions(root: &Section<'_>) -> Vec<(String, String)> {
    let s = root.section("conditions");
    let all = named(&s).into_iter().map(|key| (key.clone(), s.text(&key).to_string())).collect();
    s.finish();
    all
}

/// A margin names one of `own`, the campaign's conditions, or is a condition itself.
fn measures(root: &Section<'_>, own: &[(String, String)]) -> Vec<Measure> {
    let takes =
        [("max", Take::Max), ("min", Take::Min), ("mean", Take::Mean), ("last", Take::Last)];
    let s = root.section("measures");
    let mut all = Vec::new();
    for name in named(&s) {
        let m = s.section(&name);
        let of = match m.text_if_given("margin") {
            Some(condition) => {
                let named = own.iter().find(|(name, _)| name == condition);
                Of::Margin(named.map_or(condition, |(_, text)| text).into())
            }
            None => {
                let quantity = m.text("quantity").to_string();
                Of::Quantity(quantity, m.choice("take", &takes).unwrap_or(Take::Last))
            }
        };
        all.push(Measure { name, of });
        m.finish();
    }
    s.finish();
    all
}

/// Reads a scenario and tries on it whatever the plan does with it.
fn scenario(
    s: &Section<'_>,
    folder: &Path,
    common: &[String],
    plan: &Plan,
    mistakes: &Mistakes,
) -> Option<Ground> {
    let (name, file) = (name(s), s.text("file"));
    let own = sets(s, mistakes);
    if file.is_empty() {
        return None;
    }
    let file = folder.join(file);
    let sets: Vec<String> =
        [String::from(WITHOUT_ROS2)].iter().chain(common).chain(&own).cloned().collect();
    let of = format!("scenario \"{name}\"");
    let robots = heard(Scenario::load_all(&file, &sets), &of, mistakes)?;
    let tables = heard(tables(&robots), &of, mistakes)?;
    let events = Lists::of(&tables, "events");
    let with = |more: Vec<String>, what: &str| {
        let all: Vec<String> = sets.iter().cloned().chain(more).collect();
        heard(Scenario::load_all(&file, &all), &format!("{of}, {what}"), mistakes);
    };
    for fault in plan.faults.iter().filter(|f| !f.events.is_empty()) {
        let what = match events.len() {
            0 => format!("fault \"{}\"", fault.name),
            n => format!("fault \"{}\" (its events come after {n} of the scenario)", fault.name),
        };
        for refusal in fault.events.iter().filter_map(|event| events.refusal(event)) {
            mistakes.add(format!("{of}, {what}: {refusal}"));
        }
        with(events.with(&fault.seeded(0)), &what);
        let at_s = |event: &Value| event.get("at_s").and_then(number);
        for at_s in fault.events.iter().filter_map(at_s).filter(|at_s| *at_s >= plan.duration_s) {
            let end_s = plan.duration_s;
            mistakes.add(format!("{of}, {what}: at_s is {at_s}; a case ends at {end_s} s"));
        }
    }
    let value = |v: &Vary| Some((v.key.clone(), value_of(&tables, &v.key)?));
    let values = plan.vary.iter().filter_map(value);
    let words: Vec<_> = values.filter(|(_, value)| number(value).is_none()).collect();
    for (key, value) in &words {
        mistakes.add(format!("{of}, vary: {key} is {value}; it must be a key that has a number"));
    }
    for (end, what) in [(0, "lower"), (1, "upper")] {
        if !plan.vary.is_empty() && words.is_empty() {
            let set = |v: &Vary| format!("{}={:?}", v.key, v.between[end]);
            let what = format!("all of vary at their {what} ends");
            with(plan.vary.iter().map(set).collect(), &what);
        }
    }
    quantities(plan, &Quantities::of_all(&robots), &of, mistakes);
    let needs_own_process = match &*robots {
        [robot] => (!robot.buses.is_empty()).then_some("[[buses]]"),
        _ => Some("several [[robots]]"),
    };
    let key = match plan.way {
        Way::OwnProcess => None,
        Way::StaysUp => Some(RESETS),
        // of one robot, the process that simulates refuses buses
        Way::InProcess => Some(IN_PROCESS).filter(|_| robots.len() > 1),
    };
    if let Some((what, key)) = needs_own_process.zip(key) {
        mistakes.add(format!("{of} has {what}, which need {key} = false"));
    }
    let (names, hash, patience) = (names_of(&robots), hash_of(&robots), patience_of(&robots));
    let files = robots.into_iter().flat_map(|robot| robot.files).collect();
    Some(Ground { name, file, files, sets, robots: names, events, hash, patience })
}

/// What was read; if it was refused, its mistakes are.
fn heard<T>(read: Result<T>, of: &str, mistakes: &Mistakes) -> Option<T> {
    match read {
        Ok(read) => Some(read),
        Err(e) => {
            let text = e.to_string();
            let mut lines: Vec<&str> = text.lines().collect();
            if lines.len() > 1 {
                lines.remove(0);
            }
            for line in lines {
                mistakes.add(format!("{of}: {}", line.trim_start_matches([' ', '-'])));
            }
            None
        }
    }
}

fn quantities(plan: &Plan, known: &Quantities, of: &str, mistakes: &Mistakes) {
    for (name, text) in &plan.conditions {
        heard(Condition::parse(text, known), &format!("{of}, condition \"{name}\""), mistakes);
    }
    for m in &plan.measures {
        let of = format!("{of}, measure \"{}\"", m.name);
        match &m.of {
            Of::Margin(condition) => {
                heard(Condition::parse(condition, known), &of, mistakes);
            }
            Of::Quantity(quantity, _) if known.find(quantity).is_none() => {
                let near = known.nearest(quantity).join(", ");
                mistakes.add(format!("{of}: there is no quantity {quantity}; near to it: {near}"));
            }
            Of::Quantity(..) => {}
        }
    }
}

fn refuse_columns(plan: &Plan, mistakes: &Mistakes) {
    let mut taken: BTreeSet<String> = FIXED.iter().map(|(name, _)| (*name).to_string()).collect();
    let conditions =
        plan.conditions.iter().flat_map(|(name, _)| [name.clone(), format!("{name}_at_s")]);
    let others =
        plan.vary.iter().map(|v| v.column()).chain(plan.measures.iter().map(|m| m.name.clone()));
    for name in conditions.chain(others) {
        if Word::ALL.iter().any(|w| w.word() == name) || !taken.insert(name.clone()) {
            mistakes.add(format!("\"{name}\" is another column, or an outcome, already"));
        }
    }
}
