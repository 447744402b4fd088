//! `hardstand plot`: quantities of a log over time, as a drawing.

use std::path::{Path, PathBuf};

use plotters::prelude::RGBColor;
use serde::Serialize;

use crate::inspect::{Quantities, Quantity, sample};
use crate::replay::Player;
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_log::TickId;

use super::arguments::PlotArguments;
use super::{ExitCode, panels, picture, show};

/// More panels would not be looked at.
const PANELS_MAX: usize = 60;
/// Points of a line; between two of them it goes from the smallest to the largest value.
const COLUMNS: usize = 1000;
/// So long before and after a tick is drawn around it, s.
const AROUND_S: f64 = 1.0;
/// After Okabe and Ito: they differ for people with colour blindness too.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 90, 181),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(80, 80, 80),
    RGBColor(160, 140, 0),
];

/// Patterns that are drawn in one panel.
type Panel = Vec<String>;

/// A line: its name, and smallest and largest value in each column.
struct Trace {
    name: String,
    unit: &'static str,
    columns: Vec<Option<[f64; 2]>>,
}

#[derive(Serialize)]
struct PlotResult {
    #[serde(serialize_with = "crate::path_text::one")]
    file: PathBuf,
    panels: usize,
    lines: usize,
    from_s: f64,
    to_s: f64,
}

pub(super) fn plot(a: &PlotArguments) -> Result<ExitCode> {
    picture::check("--output", &a.output, [a.log.as_path()])?;
    let mut player = Player::open(&a.log)?;
    let period_s = player.info().period_ns as f64 * 1e-9;
    let known = Quantities::of(&player.scenario().simulation());
    let panels: Vec<Panel> = a.what.iter().flat_map(|what| panels_of(what, &player)).collect();
    let panels = panels.iter().map(|panel| known.select(panel)).collect::<Result<Vec<_>>>()?;
    if panels.len() > PANELS_MAX {
        let text = format!("{} panels; at most {PANELS_MAX} are drawn", panels.len());
        return Err(Error::new(ErrorKind::Input, text));
    }
    let end_s = hardstand_log::RunIndex::of(&a.log, |_, _| ())?.ticks() as f64 * period_s;
    let times_s = [a.from, a.to.unwrap_or(end_s)];
    if times_s[0] >= times_s[1] || times_s.iter().any(|t| t.is_nan()) {
        let [from, to] = times_s;
        let text = format!("from {from} s to {to} s there is nothing to draw");
        return Err(Error::new(ErrorKind::Input, text));
    }
    let lines = lines(&mut player, &panels, times_s)?;
    draw(&a.output, &lines, times_s, None)?;
    let result = PlotResult {
        file: a.output.clone(),
        panels: panels.len(),
        lines: lines.iter().map(Vec::len).sum(),
        from_s: times_s[0],
        to_s: times_s[1],
    };
    if a.json {
        show::json(&result)?;
    } else {
        let PlotResult { file, panels, lines, .. } = &result;
        show::line(&format!("plot       {}: {lines} lines in {panels} panels", file.display()));
    }
    Ok(show::how_whole(player.damage(), "drawing"))
}

/// What a word stands for; a name of quantities stands for itself.
fn panels_of(what: &str, player: &Player) -> Vec<Panel> {
    let one = |names: &[&str]| -> Panel { names.iter().map(ToString::to_string).collect() };
    match what {
        "base" => vec![one(&["base.x", "base.y", "base.z"]), one(&["base.tilt"])],
        "feet" => vec![one(&["foot.*.normal"])],
        "joints" => {
            let joints = &player.scenario().model.joints;
            let of = |name: &String| vec![format!("joint.{name}.q"), format!("command.{name}.q")];
            joints.iter().map(|joint| of(&joint.name)).collect()
        }
        "efforts" => vec![one(&["joint.*.tau"])],
        "friction" => vec![one(&["foot.*.slip"]), one(&["foot.*.sliding"])],
        "imu" => vec![one(&["imu.accel.*"]), one(&["imu.gyro.*"])],
        "latency" => vec![one(&["age"]), one(&["missed_deadlines"])],
        name => vec![one(&[name])],
    }
}

/// The lines of each panel.
fn lines(
    player: &mut Player,
    panels: &[Vec<&Quantity>],
    times_s: [f64; 2],
) -> Result<Vec<Vec<Trace>>> {
    let all: Vec<&Quantity> = panels.iter().flatten().copied().collect();
    let mut columns = Columns::new(all.len(), times_s);
    sample(player, &all, times_s, 1, |time_s, values| {
        columns.add(time_s, values);
        Ok(())
    })?;
    Ok(traces(panels, columns))
}

/// Draws quantities around a tick of a run, one panel each, with a mark at the tick.
///
/// # Errors
/// As [`Player::open`] and [`Player::advance`]; [`ErrorKind::File`] if the file cannot be written.
pub(super) fn around(file: &Path, log: &Path, names: &[String], at: TickId) -> Result<()> {
    let mut player = Player::open(log)?;
    let mark_s = at.tick as f64 * player.info().period_ns as f64 * 1e-9;
    let known = Quantities::of(&player.scenario().simulation());
    let panels = names.iter().map(|name| known.select(std::slice::from_ref(name)));
    let panels = panels.collect::<Result<Vec<_>>>()?;
    let all: Vec<&Quantity> = panels.iter().flatten().copied().collect();
    let wanted = (mark_s - AROUND_S).max(0.0)..=mark_s + AROUND_S;
    let mut seen: Vec<(f64, Vec<f64>)> = Vec::new();
    while player.advance()? {
        let Some(view) = player.view() else { break };
        let time_s = view.state.time_ns as f64 * 1e-9;
        if view.applied.run_id > at.run_id || time_s > *wanted.end() {
            break;
        }
        if view.applied.run_id == at.run_id && wanted.contains(&time_s) {
            seen.push((time_s, all.iter().map(|q| q.of(&view)).collect()));
        }
    }
    let (Some(first), Some(last)) = (seen.first(), seen.last()) else { return Ok(()) };
    // a run of one tick has a width too
    let times_s = [first.0, last.0.max(first.0 + 1e-3)];
    let mut columns = Columns::new(all.len(), times_s);
    seen.iter().for_each(|(time_s, values)| columns.add(*time_s, values));
    draw(file, &traces(&panels, columns), times_s, Some(mark_s))
}

/// Smallest and largest value of each line in each of its columns.
struct Columns {
    lines: Vec<Vec<Option<[f64; 2]>>>,
    from_s: f64,
    per_s: f64,
}

impl Columns {
    fn new(lines: usize, [from_s, to_s]: [f64; 2]) -> Self {
        let per_s = COLUMNS as f64 / (to_s - from_s);
        Self { lines: vec![vec![None; COLUMNS]; lines], from_s, per_s }
    }

    fn add(&mut self, time_s: f64, values: &[f64]) {
        let column = (((time_s - self.from_s) * self.per_s) as usize).min(COLUMNS - 1);
        for (line, &value) in self.lines.iter_mut().zip(values).filter(|(_, v)| v.is_finite()) {
            let [low, high] = line[column].unwrap_or([value; 2]);
            line[column] = Some([low.min(value), high.max(value)]);
        }
    }
}

fn traces(panels: &[Vec<&Quantity>], columns: Columns) -> Vec<Vec<Trace>> {
    let mut columns = columns.lines.into_iter();
    let line = |q: &&Quantity, columns| Trace { name: q.name.clone(), unit: q.unit, columns };
    let panel = |panel: &Vec<&Quantity>| {
        panel.iter().zip(columns.by_ref()).map(|(q, c)| line(q, c)).collect()
    };
    panels.iter().map(panel).collect()
}

fn draw(file: &Path, panels: &[Vec<Trace>], times_s: [f64; 2], mark_s: Option<f64>) -> Result<()> {
    let panels: Vec<_> = panels
        .iter()
        .map(|traces| panels::Panel {
            title: title(traces),
            lines: traces.iter().zip(COLOURS.into_iter().cycle()).map(Trace::line).collect(),
            mark_s,
            legend: true,
        })
        .collect();
    panels::draw(file, &panels, times_s)
}

impl Trace {
    fn line((trace, colour): (&Self, RGBColor)) -> panels::Line<'_> {
        panels::Line { name: trace.name.clone(), colour, columns: &trace.columns }
    }
}

/// The unit of a panel, or the name of its only line with the unit.
fn title(lines: &[Trace]) -> String {
    match lines {
        [line] if line.unit.is_empty() => line.name.clone(),
        [line] => format!("{}, {}", line.name, line.unit),
        [line, ..] => line.unit.into(),
        [] => String::new(),
    }
}
