//! The plot of docs/evidence.md: how many tosses have at most which error.

use std::path::Path;

use plotters::prelude::{
    BLACK, ChartBuilder, IntoDrawingArea, LineSeries, PathElement, RGBColor, SVGBackend,
    SeriesLabelPosition, WHITE,
};
use plotters::style::{Color, FontStyle, ShapeStyle, register_font};

use crate::cube::Result;
use crate::cube::score::TossError;
use crate::report::Row;

/// One panel: its axis, its range, and the error that it shows.
type Panel = (&'static str, f64, fn(&TossError) -> f64);

const PANELS: [Panel; 2] = [
    ("mean position error, % of the width", 60.0, |e| e.position_percent),
    ("mean rotation error, °", 90.0, |e| e.rotation_deg),
];
const PANEL_PX: (u32, u32) = (800, 560);
const FONT: &str = "sans-serif";
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(86, 180, 233),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(160, 160, 160),
    RGBColor(0, 0, 0),
];

/// Writes `errors.svg` into the folder.
///
/// # Errors
/// If the file cannot be written.
pub(crate) fn draw(folder: &Path, rows: &[Row]) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let font = include_bytes!("../../src/cli/picture/DejaVuSans.ttf");
    register_font(FONT, FontStyle::Normal, font).map_err(|_unknown| "the font is damaged")?;
    let path = folder.join("errors.svg");
    let size = (PANEL_PX.0 * PANELS.len() as u32, PANEL_PX.1);
    let root = SVGBackend::new(&path, size).into_drawing_area();
    root.fill(&WHITE).map_err(|e| e.to_string())?;
    for (area, (title, most, error)) in root.split_evenly((1, PANELS.len())).iter().zip(PANELS) {
        let mut chart = ChartBuilder::on(area)
            .margin(16)
            .x_label_area_size(64)
            .y_label_area_size(90)
            .build_cartesian_2d(0.0..most, 0.0..100.0)
            .map_err(|e| e.to_string())?;
        chart
            .configure_mesh()
            .x_desc(title)
            .y_desc("tosses with at most this error, %")
            .label_style((FONT, 22))
            .max_light_lines(0)
            .draw()
            .map_err(|e| e.to_string())?;
        for (row, colour) in rows.iter().zip(COLOURS) {
            let style: ShapeStyle = colour.stroke_width(3);
            let mark = move |(x, y)| PathElement::new(vec![(x, y), (x + 30, y)], style);
            let line = LineSeries::new(shares(row, error, most), style);
            let drawn = chart.draw_series(line).map_err(|e| e.to_string())?;
            drawn.label(row.law.replace('_', " ")).legend(mark);
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerRight)
            .legend_area_size(40)
            .label_font((FONT, 20))
            .background_style(WHITE.mix(0.85))
            .border_style(BLACK.mix(0.3))
            .draw()
            .map_err(|e| e.to_string())?;
    }
    root.present().map_err(|e| e.to_string())?;
    Ok(())
}

/// Sorted errors up to `most`, each with the share of tosses that have at most as much.
fn shares(row: &Row, error: fn(&TossError) -> f64, most: f64) -> Vec<(f64, f64)> {
    let mut sorted: Vec<f64> = row.errors.iter().map(error).collect();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let share = |(i, x): (usize, &f64)| (*x, 100.0 * (i + 1) as f64 / n);
    sorted.iter().enumerate().map(share).filter(|p| p.0 <= most).collect()
}
