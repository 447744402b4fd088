//! `hardstand bisect`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use serde::Serialize;

use crate::inspect::{Condition, Quantities, Quantity, compare};
use crate::replay::{Player, TickView};
use hardstand_error::Result;
use hardstand_log::{RunIndex, TickId};

use super::arguments::BisectArguments;
use super::differences::{self, ComparisonResult, Place, number};
#[cfg(feature = "zenoh")]
use super::plot_run;
use super::replay::{self, ReplayResult};
use super::{ExitCode, judge_command, plot, progress, show};

pub(super) fn bisect(a: &BisectArguments) -> Result<ExitCode> {
    if let Some(condition) = &a.condition {
        search(a, condition)
    } else if let Some(other) = &a.other {
        two_logs(a, other)
    } else if a.list {
        list(a)
    } else {
        judge_command::search(&a.log, &a.command, a.json)
    }
}

/// The result of a search for a condition.
#[derive(Debug, Serialize)]
struct SearchResult<'a> {
    condition: &'a str,
    /// The first tick at which it holds.
    found: Option<Place>,
    /// Its quantities there.
    values: Vec<Value>,
    replay: ReplayResult,
}

/// A quantity and its value at a tick.
#[derive(Clone, Debug, Serialize)]
struct Value {
    name: String,
    unit: &'static str,
    meaning: &'static str,
    /// `null` if the tick has none, or no tick was given.
    value: Option<f64>,
}

impl Value {
    fn of(q: &Quantity, value: Option<f64>) -> Self {
        Self { name: q.name.clone(), unit: q.unit, meaning: q.meaning, value }
    }
}

/// Replays the log up to the first tick at which the condition holds.
fn search(a: &BisectArguments, text: &str) -> Result<ExitCode> {
    a.plot.as_deref().map_or(Ok(()), |file| plot::check(file, [a.log.as_path()]))?;
    let (log, scenario) = replay::open(&a.log, &[])?;
    let known = Quantities::of(&scenario.simulation());
    let condition = Condition::parse(text, &known)?;
    for hint in condition.hints() {
        show::note(&hint);
    }
    let shown = condition.quantities();
    // with several threads, ticks after the first one may be met before it
    let held: Mutex<BTreeMap<TickId, Vec<f64>>> = Mutex::default();
    // what depends on the ticks before is looked at in their order
    let threads = if condition.remembers() { Some(1) } else { a.threads };
    let watch = Mutex::new(condition.watch());
    let look = |m: &TickView<'_>| {
        let holds = if condition.remembers() {
            watch.lock().is_ok_and(|mut watch| watch.look(m).holds)
        } else {
            condition.at(m).holds
        };
        if holds && let Ok(mut held) = held.lock() {
            let at = TickId { run_id: m.applied.run_id, tick: m.state.tick };
            held.insert(at, shown.iter().map(|q| q.of(m)).collect());
        }
        holds
    };
    let (run, replay) = replay::run(log, &scenario, threads, Some(&look))?;
    let held = held.into_inner().unwrap_or_default();
    let found = run.whole.seen.filter(|_| run.whole.difference.is_none());
    let numbers = found.and_then(|seen| held.get(&seen)).into_iter().flatten();
    let result = SearchResult {
        condition: text,
        found: found.map(|seen| Place::of(seen, scenario.spec.period_ns)),
        values: shown.iter().zip(numbers).map(|(q, x)| Value::of(q, Some(*x))).collect(),
        replay,
    };
    if a.json {
        show::json(&result)?;
    } else {
        result.show();
    }
    #[cfg(feature = "zenoh")]
    if let Some(file) = &a.plot {
        // the time itself would be a straight line
        let names = shown.iter().map(|q| q.name.clone());
        let names: Vec<String> = names.filter(|name| name != "time" && name != "tick").collect();
        let text = match found {
            None => "plot       no tick was found, so nothing is drawn".into(),
            Some(at) => {
                plot_run::around(file, &a.log, &names, at)?;
                format!("plot       {}", file.display())
            }
        };
        if !a.json {
            show::line(&text);
        }
    }
    Ok(if result.found.is_some() { ExitCode::Negative } else { result.replay.code() })
}

impl SearchResult<'_> {
    fn show(&self) {
        self.replay.show();
        match &self.found {
            None if self.replay.code() == ExitCode::Negative => {}
            None => show::line(&format!("never      {}", self.condition)),
            Some(at) => {
                show::line(&format!("holds      first at {at}: {}", self.condition));
                for v in &self.values {
                    let value = number(v.value.unwrap_or(f64::NAN));
                    show::line(&format!("           {} = {value} {}", v.name, v.unit));
                }
            }
        }
    }
}

/// Shows all quantities, and their values if a tick is given.
fn list(a: &BisectArguments) -> Result<ExitCode> {
    let Some(tick) = a.at else {
        let (_, scenario) = replay::open(&a.log, &[])?;
        let quantities = Quantities::of(&scenario.simulation());
        let values: Vec<Value> = quantities.list().iter().map(|q| Value::of(q, None)).collect();
        return table(a.json, &values);
    };
    let index = RunIndex::of(&a.log, |_, _| ())?;
    let run_id = a.run_id.unwrap_or_else(|| index.run_id());
    let player = Player::open_after(&a.log, &index, run_id, tick)?;
    if let Some(code) = differences::of_replay(&player, a.json)? {
        return Ok(code);
    }
    let Some(view) = player.view() else { return Ok(ExitCode::Done) };
    let quantities = Quantities::of(&player.scenario().simulation());
    let values: Vec<Value> =
        quantities.list().iter().map(|q| Value::of(q, Some(q.of(&view)))).collect();
    table(a.json, &values)
}

fn table(json: bool, values: &[Value]) -> Result<ExitCode> {
    if json {
        show::json(&values)?;
        return Ok(ExitCode::Done);
    }
    let width = |text: fn(&Value) -> &str| {
        values.iter().map(|v| text(v).chars().count()).max().unwrap_or(0)
    };
    let (name, unit) = (width(|v| &v.name), width(|v| v.unit));
    for v in values {
        let value = v.value.map_or(String::new(), |x| format!("{:>13}  ", number(x)));
        show::line(&format!("{:name$}  {:unit$}  {value}{}", v.name, v.unit, v.meaning));
    }
    Ok(ExitCode::Done)
}

fn two_logs(args: &BisectArguments, b: &Path) -> Result<ExitCode> {
    let (a, file) = (args.log.as_path(), args.plot.as_deref());
    file.map_or(Ok(()), |file| plot::check(file, [a, b]))?;
    let (mut x, mut y) = (Player::open(a)?, Player::open(b)?);
    let bar = progress::bar(0, "comparing");
    let found = compare(&mut x, &mut y, |ticks, player| {
        let (read, all) = player.progress();
        bar.set_length(all);
        bar.set_position(read);
        bar.set_message(format!("{ticks} ticks"));
    })?;
    bar.finish_and_clear();
    let result = ComparisonResult::of(&found, [&x, &y], [a, b]);
    if args.json {
        show::json(&result)?;
    } else {
        result.show();
    }
    if let Some(file) = file {
        let again = || Ok((Player::open(a)?, Player::open(b)?));
        differences::draw(file, &found, [a, b], args.json, again)?;
    }
    let lossy = |p: &Player| p.damage().is_some() || !p.gaps().is_empty();
    Ok(match &found.cause {
        Some(_) => ExitCode::Negative,
        None if lossy(&x) || lossy(&y) => ExitCode::Incomplete,
        None => ExitCode::Done,
    })
}
