//! `hardstand plot`: quantities of a log over time, as a drawing.

use std::error::Error as StdError;
use std::path::{Path, PathBuf};

use plotters::prelude::{
    BLACK, ChartBuilder, IntoDrawingArea, LineSeries, PathElement, RGBColor, SVGBackend,
    SeriesLabelPosition, WHITE,
};
use plotters::style::Color;
use serde::Serialize;

use crate::inspect::{Quantities, Quantity, sample};
use crate::replay::Player;
use hardstand_error::{Error, ErrorKind, Result};

use super::arguments::PlotArguments;
use super::plot::{FONT, failed};
use super::{ExitCode, show};

const WIDTH_PX: u32 = 1000;
const PANEL_PX: u32 = 200;
/// More panels would not be looked at.
const PANELS_MAX: usize = 60;
/// Points of a line; between two of them it goes from the smallest to the largest value.
const COLUMNS: usize = 1000;
/// After Okabe and Ito: told apart by people who do not see all colours.
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
struct Line {
    name: String,
    unit: &'static str,
    columns: Vec<Option<[f64; 2]>>,
}

#[derive(Serialize)]
struct PlotResult {
    file: PathBuf,
    panels: usize,
    lines: usize,
    from_s: f64,
    to_s: f64,
}

pub(super) fn plot(a: &PlotArguments) -> Result<ExitCode> {
    if a.output.extension().is_none_or(|extension| extension != "svg") {
        let text = format!("--output is {}; its name must end in .svg", a.output.display());
        return Err(Error::new(ErrorKind::Input, text));
    }
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
    draw(&a.output, &lines, times_s).map_err(|e| failed(&a.output, &*e))?;
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
    Ok(ExitCode::Done)
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
) -> Result<Vec<Vec<Line>>> {
    let all: Vec<&Quantity> = panels.iter().flatten().copied().collect();
    let mut columns = vec![vec![None::<[f64; 2]>; COLUMNS]; all.len()];
    let scale = COLUMNS as f64 / (times_s[1] - times_s[0]);
    sample(player, &all, times_s, 1, |time_s, values| {
        let column = (((time_s - times_s[0]) * scale) as usize).min(COLUMNS - 1);
        for (line, &value) in columns.iter_mut().zip(values).filter(|(_, v)| v.is_finite()) {
            let [low, high] = line[column].unwrap_or([value; 2]);
            line[column] = Some([low.min(value), high.max(value)]);
        }
        Ok(())
    })?;
    let mut columns = columns.into_iter();
    let line = |q: &&Quantity, columns| Line { name: q.name.clone(), unit: q.unit, columns };
    let panel = |panel: &Vec<&Quantity>| {
        panel.iter().zip(columns.by_ref()).map(|(q, c)| line(q, c)).collect()
    };
    Ok(panels.iter().map(panel).collect())
}

fn draw(
    file: &Path,
    panels: &[Vec<Line>],
    times_s: [f64; 2],
) -> std::result::Result<(), Box<dyn StdError>> {
    let count = panels.len().max(1);
    let root = SVGBackend::new(file, (WIDTH_PX, PANEL_PX * count as u32)).into_drawing_area();
    root.fill(&WHITE)?;
    for (i, (area, lines)) in root.split_evenly((count, 1)).iter().zip(panels).enumerate() {
        let last = i + 1 == count;
        let [low, high] = extent(lines);
        let mut chart = ChartBuilder::on(area)
            .caption(title(lines), (FONT, 18))
            .margin(8)
            .x_label_area_size(if last { 44 } else { 24 })
            .y_label_area_size(80)
            .build_cartesian_2d(times_s[0]..times_s[1], low..high)?;
        chart
            .configure_mesh()
            .x_desc(if last { "s" } else { "" })
            .max_light_lines(1)
            .y_labels(5)
            .label_style((FONT, 14))
            .draw()?;
        for (line, colour) in lines.iter().zip(COLOURS.iter().cycle()) {
            let sign =
                move |(x, y)| PathElement::new([(x, y), (x + 24, y)], colour.stroke_width(2));
            chart
                .draw_series(LineSeries::new(points(line, times_s), colour.stroke_width(1)))?
                .label(line.name.clone())
                .legend(sign);
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .legend_area_size(32)
            .label_font((FONT, 13))
            .background_style(WHITE.mix(0.85))
            .border_style(BLACK.mix(0.3))
            .draw()?;
    }
    root.present()?;
    Ok(())
}

/// The unit of a panel, or the name of its only line with the unit.
fn title(lines: &[Line]) -> String {
    match lines {
        [line] if line.unit.is_empty() => line.name.clone(),
        [line] => format!("{}, {}", line.name, line.unit),
        [line, ..] => line.unit.to_string(),
        [] => String::new(),
    }
}

/// From the smallest to the largest value, with a little room.
fn extent(lines: &[Line]) -> [f64; 2] {
    let all = lines.iter().flat_map(|line| line.columns.iter().flatten());
    let [low, high] = all.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], [a, b]| {
        [low.min(*a), high.max(*b)]
    });
    if !(low.is_finite() && high.is_finite()) {
        return [-1.0, 1.0];
    }
    let room = 0.05 * (high - low).max(1e-9 * high.abs()).max(1e-12);
    [low - room, high + room]
}

/// Up and down through each column.
fn points(line: &Line, times_s: [f64; 2]) -> Vec<(f64, f64)> {
    let step_s = (times_s[1] - times_s[0]) / line.columns.len().max(1) as f64;
    let time = |i: usize| times_s[0] + step_s * i as f64;
    let filled = line.columns.iter().enumerate().filter_map(|(i, c)| Some((time(i), (*c)?)));
    filled.flat_map(|(t, [low, high])| [(t, low), (t, high)]).collect()
}
