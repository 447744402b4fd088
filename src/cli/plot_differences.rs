//! The plot of two runs: each quantity that differs most over time, one panel above the other.

use std::error::Error as StdError;
use std::path::Path;

use plotters::prelude::{
    BLACK, ChartBuilder, IntoDrawingArea, LineSeries, PathElement, SVGBackend, SeriesLabelPosition,
    WHITE,
};
use plotters::style::Color;

use crate::inspect::Trace;
use hardstand_error::Result;

use super::plot::{BLUE, FONT, RED, failed};

const WIDTH_PX: u32 = 1000;
const PANEL_PX: u32 = 200;

/// Draws `traces` from `times_s[0]` to `times_s[1]`, with a mark where the runs part.
///
/// # Errors
/// [`ErrorKind::File`](crate::ErrorKind::File) if the file cannot be written.
pub(super) fn draw(
    file: &Path,
    traces: &[Trace],
    times_s: [f64; 2],
    parted_s: f64,
    paths: [&Path; 2],
) -> Result<()> {
    panels(file, traces, times_s, parted_s, paths).map_err(|e| failed(file, &*e))
}

fn panels(
    file: &Path,
    traces: &[Trace],
    times_s: [f64; 2],
    parted_s: f64,
    paths: [&Path; 2],
) -> std::result::Result<(), Box<dyn StdError>> {
    let count = traces.len().max(1);
    let root = SVGBackend::new(file, (WIDTH_PX, PANEL_PX * count as u32)).into_drawing_area();
    root.fill(&WHITE)?;
    for (i, (area, trace)) in root.split_evenly((count, 1)).iter().zip(traces).enumerate() {
        let [low, high] = extent(trace);
        let title = match trace.unit {
            "" => trace.name.clone(),
            unit => format!("{}, {unit}", trace.name),
        };
        let mut chart = ChartBuilder::on(area)
            .caption(title, (FONT, 18))
            .margin(8)
            .x_label_area_size(if i + 1 == count { 44 } else { 24 })
            .y_label_area_size(80)
            .build_cartesian_2d(times_s[0]..times_s[1], low..high)?;
        chart
            .configure_mesh()
            .x_desc(if i + 1 == count { "s" } else { "" })
            .max_light_lines(1)
            .y_labels(5)
            .label_style((FONT, 14))
            .draw()?;
        let names = paths.map(|p| p.file_name().unwrap_or_default().to_string_lossy());
        for (side, colour) in [BLUE, RED].into_iter().enumerate() {
            let sign =
                move |(x, y)| PathElement::new([(x, y), (x + 24, y)], colour.stroke_width(2));
            let line = line(&trace.columns[side], times_s);
            chart
                .draw_series(LineSeries::new(line, colour.stroke_width(1)))?
                .label(names[side].to_string())
                .legend(sign);
        }
        let parted = [(parted_s, low), (parted_s, high)];
        chart.draw_series(LineSeries::new(parted, BLACK.mix(0.5)))?;
        if i == 0 {
            chart
                .configure_series_labels()
                .position(SeriesLabelPosition::UpperRight)
                .legend_area_size(32)
                .label_font((FONT, 14))
                .background_style(WHITE.mix(0.85))
                .border_style(BLACK.mix(0.3))
                .draw()?;
        }
    }
    root.present()?;
    Ok(())
}

/// From the smallest to the largest value, with a little room.
fn extent(trace: &Trace) -> [f64; 2] {
    let all = trace.columns.iter().flatten().flatten();
    let [low, high] = all.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], [a, b]| {
        [low.min(*a), high.max(*b)]
    });
    if !(low.is_finite() && high.is_finite()) {
        return [-1.0, 1.0];
    }
    let room = 0.05 * (high - low).max(1e-9 * high.abs()).max(f64::MIN_POSITIVE);
    [low - room, high + room]
}

/// Up and down through each column.
fn line(columns: &[Option<[f64; 2]>], times_s: [f64; 2]) -> Vec<(f64, f64)> {
    let step_s = (times_s[1] - times_s[0]) / columns.len().max(1) as f64;
    let time = |i: usize| times_s[0] + step_s * i as f64;
    let filled = columns.iter().enumerate().filter_map(|(i, c)| Some((time(i), (*c)?)));
    filled.flat_map(|(t, [low, high])| [(t, low), (t, high)]).collect()
}
