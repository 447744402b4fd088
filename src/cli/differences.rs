//! The comparison of two runs, for `bisect` and `branch`.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::inspect::{Cause, Comparison, Mismatch, Ranked, scenario_differences, trace};
use crate::replay::{Difference, Player};
use hardstand_error::Result;
use hardstand_log::TickId;

use super::replay::LostTicks;
use super::{ExitCode, plot_differences, show};

/// Quantities that are shown of those that differ.
const SHOWN: usize = 5;
/// Keys that are shown of those that differ.
const KEYS: usize = 10;
/// Columns of a plot.
const COLUMNS: usize = 600;

/// A tick of a run.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Place {
    run_id: u32,
    tick: u64,
    time_s: f64,
}

impl Place {
    pub(super) fn of(at: TickId, period_ns: u64) -> Self {
        let time_s = at.tick as f64 * period_ns as f64 * 1e-9;
        Self { run_id: at.run_id, tick: at.tick, time_s }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tick {}", self.tick)?;
        if self.run_id > 1 {
            write!(f, " of run {}", self.run_id)?;
        }
        write!(f, " ({:.3} s)", self.time_s)
    }
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

/// Prints where a replay differs from its log, if it does; the exit code for that.
pub(super) fn of_replay(player: &Player, json: bool) -> Result<Option<ExitCode>> {
    let Some(d) = player.difference() else { return Ok(None) };
    if json {
        show::json(&FailedReplay { replay_difference: d })?;
    } else {
        show::line(&format!("DIFFERENT  first at tick {}: {}", d.tick, d.quantity));
        show::line("           the replay differs from the log, so the command stops here");
    }
    Ok(Some(ExitCode::Negative))
}

#[derive(Serialize)]
struct FailedReplay<'a> {
    replay_difference: &'a Difference,
}

/// The comparison of two logs, a and b.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ComparisonResult {
    /// No input and no quantity differs.
    identical: bool,
    #[serde(serialize_with = "crate::path_text::many")]
    files: [PathBuf; 2],
    /// Ticks that both logs have.
    ticks: u64,
    first: Option<Place>,
    last: Option<Place>,
    /// `"a"` or `"b"`: the log that has more ticks after the last common one.
    longer: Option<&'static str>,
    logs: [LogCondition; 2],
    /// The first tick that differs.
    parted: Option<Place>,
    /// `"controller"`, `"events"`, `"verdicts"`, `"beginning"`, `"scenario"`, `"robot"` or
    /// `"plant"`.
    cause: Option<&'static str>,
    /// The first difference in what was applied.
    inputs: Option<DifferenceAt>,
    /// The first quantity of the robot that differs.
    quantity: Option<DifferenceAt>,
    /// The first tick whose digests differ.
    digest: Option<Place>,
    /// Session numbers differ; they alone make digests differ.
    sessions_differ: bool,
    /// Keys of the scenario that differ, with both values.
    scenario_differences: Vec<String>,
    robot_differs: bool,
    versions: [String; 2],
    /// Quantities that differ, the most different one first.
    ranked: Vec<RankedResult>,
}

/// How good a log is.
#[derive(Clone, Debug, Serialize)]
struct LogCondition {
    replay_difference: Option<Difference>,
    gaps: Vec<LostTicks>,
    damage: Option<String>,
}

/// A difference and its tick.
#[derive(Clone, Debug, Serialize)]
struct DifferenceAt {
    at: Place,
    /// `null` if all quantities differ from the first tick on.
    #[serde(flatten)]
    mismatch: Option<Mismatch>,
}

/// A quantity that differs.
#[derive(Clone, Debug, Serialize)]
struct RankedResult {
    quantity: String,
    unit: &'static str,
    /// Root mean square of the difference as a share of the quantity's range.
    share: f64,
    first: Place,
    largest: f64,
    largest_at: Place,
    /// Both values there.
    values: [f64; 2],
}

impl ComparisonResult {
    pub(super) fn of(found: &Comparison, players: [&Player; 2], paths: [&Path; 2]) -> Self {
        let [x, y] = players.map(Player::info);
        let at = |seen: TickId| Place::of(seen, x.period_ns);
        let scenario_differences = scenario_differences(&x.scenario, &y.scenario);
        let cause = found.cause.as_ref().map(|cause| match cause {
            // the plant cannot be blamed for what it was told to be
            Cause::Plant if x.robot != y.robot => "robot",
            Cause::Plant if !scenario_differences.is_empty() => "scenario",
            _ => cause_name(cause),
        });
        Self {
            identical: found.cause.is_none(),
            files: paths.map(PathBuf::from),
            ticks: found.ticks,
            first: found.first.map(at),
            last: found.last.map(at),
            longer: found.goes_on.map(|side| SIDES[side.min(1)]),
            logs: players.map(|player| LogCondition {
                replay_difference: player.difference().cloned(),
                gaps: player.gaps().iter().map(LostTicks::from).collect(),
                damage: player.damage().map(Into::into),
            }),
            parted: found.parted().map(at),
            cause,
            inputs: found.inputs.as_ref().map(|(seen, cause)| DifferenceAt {
                at: at(*seen),
                mismatch: cause.mismatch().cloned(),
            }),
            quantity: found
                .quantity
                .as_ref()
                .map(|(seen, m)| DifferenceAt { at: at(*seen), mismatch: Some(m.clone()) }),
            digest: found.digest.map(at),
            sessions_differ: found.sessions,
            scenario_differences,
            robot_differs: x.robot != y.robot,
            versions: [x.version.clone(), y.version.clone()],
            ranked: found.ranked.iter().map(|r| RankedResult::of(r, &at)).collect(),
        }
    }

    /// Prints the comparison.
    pub(super) fn show(&self) {
        for (side, path) in SIDES.iter().zip(&self.files) {
            show::line(&format!("{side}          {}", path.display()));
        }
        let (Some(first), Some(last)) = (self.first, self.last) else {
            show::line("compared   nothing: the logs have no tick in common");
            return;
        };
        show::line(&format!("compared   {} ticks, {first} to {last}", self.ticks));
        for (side, log) in SIDES.iter().zip(&self.logs) {
            log.show(side);
        }
        if let Some(side) = self.longer {
            show::line(&format!("longer     {side} goes on after that"));
        }
        let Some(cause) = self.cause else {
            let but = match self.digest {
                Some(_) => " except for the numbers of sessions",
                None => ", all digests too",
            };
            show::line(&format!("identical  what was applied and all quantities{but}"));
            return;
        };
        self.show_first(cause);
        if cause != "controller" {
            self.show_reasons(cause);
        }
        self.show_ranked();
    }

    fn show_first(&self, cause: &str) {
        let Some(parted) = self.parted else { return };
        show::line(&format!("DIFFERENT  first at {parted}"));
        let mut lines = Vec::new();
        for (name, difference) in [("applied", &self.inputs), ("quantity", &self.quantity)] {
            if let Some(DifferenceAt { at, mismatch }) = difference {
                let text = mismatch.as_ref().map_or(String::new(), ToString::to_string);
                lines.push(((at.run_id, at.tick), format!("{name:<10} {at}: {text}")));
            }
        }
        if let Some(at) = self.digest.filter(|_| !self.sessions_differ) {
            lines.push(((at.run_id, at.tick), format!("digest     {at}")));
        }
        lines.sort_by_key(|(seen, _)| *seen);
        lines.iter().for_each(|(_, text)| show::line(text));
        if self.quantity.is_none() {
            show::line("quantity   none differs: the robot did the same");
        }
        show::line(&format!(
            "cause      {}",
            match cause {
                "controller" => "the controller: other commands were applied first",
                "events" => "the events: other events happened first, planned or by an operator",
                "verdicts" => "the scenario: the same commands had other verdicts",
                "robot" => "the robots differ: the same inputs gave another state",
                "scenario" => "the scenarios differ: the same inputs gave another state",
                "beginning" => "the runs are in different states before the first common tick",
                _ => "the plant: the same inputs gave another state",
            }
        ));
    }

    /// Prints differences of scenario, robot and version that may be the reason.
    fn show_reasons(&self, cause: &str) {
        let keys = &self.scenario_differences;
        for key in keys.iter().take(KEYS) {
            show::line(&format!("scenario   {key}"));
        }
        if keys.len() > KEYS {
            show::line(&format!("scenario   … and {} more keys", keys.len() - KEYS));
        }
        if self.robot_differs {
            show::line("robot      the URDFs differ");
        }
        let [a, b] = &self.versions;
        if a != b {
            show::line(&format!("version    {a} and {b}"));
        }
        if keys.is_empty() && !self.robot_differs && a == b && cause == "plant" {
            let other = self.logs.each_ref().map(|log| log.replay_difference.is_some());
            let which = match other {
                [true, true] => "neither log is of this build",
                [true, false] => "a is not of this build",
                [false, true] => "b is not of this build",
                [false, false] => "this build gives both",
            };
            show::line(&format!("build      scenario, robot and version are the same; {which}"));
        }
    }

    fn show_ranked(&self) {
        let shown = &self.ranked[..self.ranked.len().min(SHOWN)];
        if shown.is_empty() {
            return;
        }
        show::line(
            "\nshare: root mean square of the difference as a share of the quantity's range",
        );
        let title = |r: &RankedResult| match r.unit {
            "" => r.quantity.clone(),
            unit => format!("{}, {unit}", r.quantity),
        };
        let name = shown.iter().map(|r| title(r).chars().count()).max().unwrap_or(0);
        show::line(&format!(
            "{:name$}  {:>8}  {:>13}  {:>13}  {:>13}  {:<24}  first differs at",
            "quantity", "share", "largest", "a there", "b there", "at"
        ));
        for r in shown {
            let [a, b] = r.values.map(number);
            show::line(&format!(
                "{:name$}  {:>6.1} %  {:>13}  {a:>13}  {b:>13}  {:<24}  {}",
                title(r),
                100.0 * r.share,
                number(r.largest),
                r.largest_at.to_string(),
                r.first
            ));
        }
    }
}

impl LogCondition {
    fn show(&self, side: &str) {
        if let Some(d) = &self.replay_difference {
            show::line(&format!(
                "replay     {side} does not replay identically: at tick {}, {}; so its contacts \
                 are \
                 left out",
                d.tick, d.quantity
            ));
        }
        for gap in &self.gaps {
            let (from, to) = (gap.from_tick, gap.to_tick);
            show::line(&format!("gap        {side} has lost the ticks {from} to {to}"));
        }
        if let Some(damage) = &self.damage {
            show::line(&format!("damaged    {side}: {damage}"));
        }
    }
}

impl RankedResult {
    fn of(r: &Ranked, at: &impl Fn(TickId) -> Place) -> Self {
        Self {
            quantity: r.name.clone(),
            unit: r.unit,
            share: r.share,
            first: at(r.first),
            largest: r.largest,
            largest_at: at(r.largest_at),
            values: r.values,
        }
    }
}

const SIDES: [&str; 2] = ["a", "b"];

const fn cause_name(cause: &Cause) -> &'static str {
    match cause {
        Cause::Controller(_) => "controller",
        Cause::Events(_) => "events",
        Cause::Verdicts(_) => "verdicts",
        Cause::Beginning => "beginning",
        Cause::Plant => "plant",
    }
}

/// Draws what differs most; `again` opens both runs once more.
pub(super) fn draw(
    file: &Path,
    found: &Comparison,
    paths: [&Path; 2],
    quiet: bool,
    again: impl FnOnce() -> Result<(Player, Player)>,
) -> Result<()> {
    let text = if found.parted().is_none() {
        "plot       nothing differs, so nothing is drawn".into()
    } else {
        draw_quietly(file, found, paths, again)?;
        format!("\nplot       {}", file.display())
    };
    if !quiet {
        show::line(&text);
    }
    Ok(())
}

/// Draws the quantities that differ most, and prints nothing.
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
