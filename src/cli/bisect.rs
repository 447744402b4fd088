//! `hardstand bisect`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use crate::inspect::{Condition, Quantities, Quantity, compare};
use crate::record::{RunIndex, TickId};
use crate::replay::{Player, TickView};
use hardstand_error::Result;

use super::arguments::BisectArguments;
use super::differences::{self, number};
use super::{ExitCode, judge, plot, progress, replay, show};

pub(super) fn bisect(a: &BisectArguments) -> Result<ExitCode> {
    if let Some(condition) = &a.condition {
        search(a, condition)
    } else if let Some(other) = &a.other {
        two_logs(&a.log, other, a.plot.as_deref())
    } else if a.list {
        list(a)
    } else {
        judge::judge(&a.log, &a.command)
    }
}

/// Replays the log up to the first tick at which the condition holds.
fn search(a: &BisectArguments, text: &str) -> Result<ExitCode> {
    let (log, scenario) = replay::open(&a.log, &[])?;
    let condition = Condition::parse(text, &Quantities::of(&scenario.plant()))?;
    let shown = condition.quantities();
    // with several threads, ticks after the first one may be met before it
    let held: Mutex<BTreeMap<TickId, Vec<f64>>> = Mutex::default();
    let look = |m: &TickView<'_>| {
        let holds = condition.holds(m);
        if holds && let Ok(mut held) = held.lock() {
            let at = TickId { run_id: m.applied.run_id, tick: m.state.tick };
            held.insert(at, shown.iter().map(|q| q.of(m)).collect());
        }
        holds
    };
    let run = replay::run(log, &scenario, a.threads, Some(&look))?;
    if run.whole.difference.is_some() {
        return Ok(ExitCode::Negative);
    }
    let Some(seen) = run.whole.seen else {
        show::line(&format!("never      {text}"));
        return Ok(replay::code_of(&run));
    };
    let at = differences::place(seen, scenario.spec.period_ns);
    show::line(&format!("holds      first at {at}: {text}"));
    let held = held.into_inner().unwrap_or_default();
    for (q, value) in shown.iter().zip(held.get(&seen).into_iter().flatten()) {
        show::line(&format!("           {} = {} {}", q.name, number(*value), q.unit));
    }
    Ok(ExitCode::Negative)
}

/// Shows all quantities, and their values if a tick is given.
fn list(a: &BisectArguments) -> Result<ExitCode> {
    let Some(tick) = a.at else {
        let (_, scenario) = replay::open(&a.log, &[])?;
        return Ok(table(&Quantities::of(&scenario.plant()), |q| q.meaning.into()));
    };
    let index = RunIndex::of(&a.log, |_, _| ())?;
    let run_id = a.run_id.unwrap_or_else(|| index.run_id());
    let player = Player::open_after(&a.log, &index, run_id, tick)?;
    if let Some(code) = differences::of_replay(&player) {
        return Ok(code);
    }
    let Some(moment) = player.moment() else { return Ok(ExitCode::Done) };
    let quantities = Quantities::of(&player.scenario().plant());
    Ok(table(&quantities, |q| format!("{:>13}  {}", number(q.of(&moment)), q.meaning)))
}

fn table(quantities: &Quantities, last: impl Fn(&Quantity) -> String) -> ExitCode {
    let width = |text: fn(&Quantity) -> &str| {
        quantities.list().iter().map(|q| text(q).chars().count()).max().unwrap_or(0)
    };
    let (name, unit) = (width(|q| &q.name), width(|q| q.unit));
    for q in quantities.list() {
        show::line(&format!("{:name$}  {:unit$}  {}", q.name, q.unit, last(q)));
    }
    ExitCode::Done
}

fn two_logs(a: &Path, b: &Path, file: Option<&Path>) -> Result<ExitCode> {
    file.map_or(Ok(()), plot::check)?;
    let (mut x, mut y) = (Player::open(a)?, Player::open(b)?);
    let bar = progress::bar(0, "comparing");
    let found = compare(&mut x, &mut y, |ticks, player| {
        let (read, all) = player.progress();
        bar.set_length(all);
        bar.set_position(read);
        bar.set_message(format!("{ticks} ticks"));
    })?;
    bar.finish_and_clear();
    differences::show(&found, [&x, &y], [a, b]);
    if let Some(file) = file {
        differences::draw(file, &found, [a, b], || Ok((Player::open(a)?, Player::open(b)?)))?;
    }
    let lossy = |p: &Player| p.damage().is_some() || !p.gaps().is_empty();
    Ok(match &found.cause {
        Some(_) => ExitCode::Negative,
        None if lossy(&x) || lossy(&y) => ExitCode::Incomplete,
        None => ExitCode::Done,
    })
}
