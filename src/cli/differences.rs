//! What `bisect` and `branch` say about two runs.

use std::path::Path;

use crate::inspect::{Cause, Comparison, Ranked, scenario_differences, trace};
use crate::record::TickId;
use crate::replay::Player;
use hardstand_error::Result;

use super::{ExitCode, plot_differences, show};

/// Quantities that are shown of those that differ.
const SHOWN: usize = 5;
/// Keys that are shown of those that differ.
const KEYS: usize = 10;
/// Columns of a plot.
const COLUMNS: usize = 600;

/// A tick, in words.
pub(super) fn place(at: TickId, period_ns: u64) -> String {
    let run = if at.run_id > 1 { format!(" of run {}", at.run_id) } else { String::new() };
    let time_s = at.tick as f64 * period_ns as f64 * 1e-9;
    format!("tick {}{run} ({time_s:.3} s)", at.tick)
}

/// A number with six digits.
pub(super) fn number(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 || (size < 1e15 && x.fract() == 0.0) {
        return format!("{x}");
    }
    if !(1e-3..1e6).contains(&size) {
        return format!("{x:.5e}");
    }
    let places = [1.0, 10.0, 100.0, 1e3, 1e4, 1e5].iter().filter(|p| size >= **p).count();
    format!("{x:.*}", 6 - places)
}

/// Says where a replay differs from its log, if it does: the exit code for that.
pub(super) fn of_replay(player: &Player) -> Option<ExitCode> {
    let d = player.difference()?;
    show::line(&format!("DIFFERENT  first at tick {}: {}", d.tick, d.quantity));
    show::line("           the replay differs from the log, so nothing else can be said of it");
    Some(ExitCode::Negative)
}

/// Says where two runs part, who caused it, and what differs most.
pub(super) fn show(found: &Comparison, players: [&Player; 2], paths: [&Path; 2]) {
    let period_ns = players[0].info().period_ns;
    let at = |seen: TickId| place(seen, period_ns);
    for (side, path) in ["a", "b"].iter().zip(paths) {
        show::line(&format!("{side}          {}", path.display()));
    }
    let (Some(first), Some(last)) = (found.first, found.last) else {
        show::line("compared   nothing: the logs have no tick in common");
        return;
    };
    let ticks = found.ticks;
    show::line(&format!("compared   {ticks} ticks, {} to {}", at(first), at(last)));
    for (side, player) in ["a", "b"].iter().zip(players) {
        lasting(side, player);
    }
    if let Some(side) = found.goes_on {
        let name = if side == 0 { "a" } else { "b" };
        show::line(&format!("longer     {name} goes on after that"));
    }
    let Some(cause) = &found.cause else {
        let but = match found.digest {
            Some(_) => " but for the numbers of sessions, which are random",
            None => ", all digests too",
        };
        show::line(&format!("identical  what was applied and all quantities{but}"));
        return;
    };
    parting(found, cause, &at);
    reasons(cause, players);
    most(&found.ranked, &at);
}

/// How good a log is.
fn lasting(side: &str, player: &Player) {
    if let Some(d) = player.difference() {
        show::line(&format!(
            "replay     {side} does not replay identically: at tick {}, {}; so its contacts are \
             left out",
            d.tick, d.quantity
        ));
    }
    for gap in player.gaps() {
        let to = gap.to_tick.saturating_sub(1);
        show::line(&format!("gap        {side} has lost the ticks {} to {to}", gap.from_tick));
    }
    if let Some(damage) = player.damage() {
        show::line(&format!("damaged    {side}: {damage}"));
    }
}

fn parting(found: &Comparison, cause: &Cause, at: &impl Fn(TickId) -> String) {
    let Some(parted) = found.parted() else { return };
    show::line(&format!("DIFFERENT  first at {}", at(parted)));
    let mut lines = Vec::new();
    if let Some((seen, inputs)) = &found.inputs {
        let text = match inputs {
            Cause::Controller(text) | Cause::Events(text) | Cause::Verdicts(text) => text.as_str(),
            Cause::Beginning | Cause::Plant => "",
        };
        lines.push((*seen, format!("applied    {}: {text}", at(*seen))));
    }
    if let Some((seen, text)) = &found.quantity {
        lines.push((*seen, format!("quantity   {}: {text}", at(*seen))));
    }
    if let Some(seen) = found.digest.filter(|_| !found.sessions) {
        lines.push((seen, format!("digest     {}", at(seen))));
    }
    lines.sort_by_key(|(seen, _)| *seen);
    lines.iter().for_each(|(_, text)| show::line(text));
    if found.quantity.is_none() {
        show::line("quantity   none differs: the robot did the same");
    }
    show::line(&format!(
        "cause      {}",
        match cause {
            Cause::Controller(_) => "the controller: other commands were applied first",
            Cause::Events(_) => "the events: other ones happened first, planned or by an operator",
            Cause::Verdicts(_) => "the scenario: the same commands were judged in another way",
            Cause::Beginning =>
                "before: the runs are in different states at the first tick of both",
            Cause::Plant => "the plant: the same was applied, and gave another state",
        }
    ));
}

/// What of scenario, robot and version could be behind it.
fn reasons(cause: &Cause, players: [&Player; 2]) {
    if matches!(cause, Cause::Controller(_)) {
        return;
    }
    let [a, b] = players.map(Player::info);
    let keys = scenario_differences(&a.scenario, &b.scenario);
    for key in keys.iter().take(KEYS) {
        show::line(&format!("scenario   {key}"));
    }
    if keys.len() > KEYS {
        show::line(&format!("scenario   … and {} keys more", keys.len() - KEYS));
    }
    if a.robot != b.robot {
        show::line("robot      the URDFs differ");
    }
    if a.version != b.version {
        show::line(&format!("version    {} and {}", a.version, b.version));
    }
    let equal = keys.is_empty() && a.robot == b.robot && a.version == b.version;
    if equal && *cause == Cause::Plant {
        let which = match players.map(|p| p.difference().is_some()) {
            [true, true] => "neither log is of this build",
            [true, false] => "a is not of this build",
            [false, true] => "b is not of this build",
            [false, false] => "this build gives both",
        };
        show::line(&format!("build      scenario, robot and version are the same; {which}"));
    }
}

fn most(ranked: &[Ranked], at: &impl Fn(TickId) -> String) {
    let shown = &ranked[..ranked.len().min(SHOWN)];
    if shown.is_empty() {
        return;
    }
    show::line(
        "\nshare: root mean square of the difference, from there on, of the quantity's range",
    );
    let unit = |r: &Ranked| {
        if r.unit.is_empty() { r.name.clone() } else { format!("{}, {}", r.name, r.unit) }
    };
    let name = shown.iter().map(|r| unit(r).chars().count()).max().unwrap_or(0);
    show::line(&format!(
        "{:name$}  {:>8}  {:>13}  {:>13}  {:>13}  {:<24}  first differs at",
        "quantity", "share", "largest", "a there", "b there", "at"
    ));
    for r in shown {
        let [a, b] = r.values.map(number);
        show::line(&format!(
            "{:name$}  {:>6.1} %  {:>13}  {a:>13}  {b:>13}  {:<24}  {}",
            unit(r),
            100.0 * r.share,
            number(r.largest),
            at(r.largest_at),
            at(r.first)
        ));
    }
}

/// Draws what differs most; `again` opens both runs once more.
pub(super) fn draw(
    file: &Path,
    found: &Comparison,
    paths: [&Path; 2],
    again: impl FnOnce() -> Result<(Player, Player)>,
) -> Result<()> {
    if found.parted().is_none() {
        show::line("plot       nothing differs, so nothing is drawn");
        return Ok(());
    }
    draw_quietly(file, found, paths, again)?;
    show::line(&format!("\nplot       {}", file.display()));
    Ok(())
}

/// The same, and nothing is said.
pub(super) fn draw_quietly(
    file: &Path,
    found: &Comparison,
    paths: [&Path; 2],
    again: impl FnOnce() -> Result<(Player, Player)>,
) -> Result<()> {
    let (Some(parted), Some(last)) = (found.parted(), found.last) else { return Ok(()) };
    let names: Vec<String> = found.ranked.iter().take(SHOWN).map(|r| r.name.clone()).collect();
    let (mut a, mut b) = again()?;
    let period_s = a.info().period_ns as f64 * 1e-9;
    let after = last.tick.saturating_sub(parted.tick).max(20);
    // a little of what was before
    let from = TickId { tick: parted.tick.saturating_sub(after / 20), ..parted };
    let from = found.first.map_or(from, |first| from.max(first));
    let count = last.tick.saturating_sub(from.tick) + 1;
    let traces = trace(&mut a, &mut b, &names, from, count, COLUMNS)?;
    let times_s = [from.tick, from.tick + count].map(|tick| tick as f64 * period_s);
    let parted_s = parted.tick as f64 * period_s;
    plot_differences::draw(file, &traces, times_s, parted_s, paths)
}
