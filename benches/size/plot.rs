//! A panel each for limbs, springs, plants and robots. Dots are minima, lines are the fits.

use std::error::Error;
use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::{
    BLACK, ChartBuilder, Circle, DrawingArea, IntoDrawingArea, LineSeries, RGBColor, SVGBackend,
    SeriesLabelPosition, WHITE,
};
use plotters::style::{Color, FontStyle, register_font};

use crate::line::Line;

const PANEL_PX: (u32, u32) = (800, 560);
const FONT: &str = "sans-serif";
const COLOURS: [RGBColor; 3] =
    [RGBColor(0, 90, 181), RGBColor(120, 120, 120), RGBColor(220, 50, 32)];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Result = std::result::Result<(), Box<dyn Error>>;

/// What is measured against one number.
pub(crate) struct Panel<'a> {
    pub(crate) title: &'a str,
    pub(crate) x_title: &'a str,
    pub(crate) y_title: &'a str,
    pub(crate) rows: Vec<Plotted<'a>>,
}

/// Dots, and the line through them.
pub(crate) struct Plotted<'a> {
    pub(crate) name: &'a str,
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) line: Line,
}

/// Draws four panels.
pub(crate) fn draw(path: &Path, panels: &[Panel<'_>]) -> Result {
    let font = include_bytes!("../../src/cli/picture/DejaVuSans.ttf");
    register_font(FONT, FontStyle::Normal, font).map_err(|_unknown| "the font is damaged")?;
    let rows = panels.len().div_ceil(2);
    let size_px = (2 * PANEL_PX.0, rows as u32 * PANEL_PX.1);
    let root = SVGBackend::new(path, size_px).into_drawing_area();
    root.fill(&WHITE)?;
    for (area, panel) in root.split_evenly((rows, 2)).iter().zip(panels) {
        draw_panel(area, panel)?;
    }
    root.present()?;
    Ok(())
}

fn draw_panel(area: &Area<'_>, panel: &Panel<'_>) -> Result {
    let points = || panel.rows.iter().flat_map(|row| &row.points);
    let x_max = points().map(|p| p.0).fold(0.0, f64::max);
    let y_max = points().map(|p| p.1).fold(0.0, f64::max);
    let mut chart = ChartBuilder::on(area)
        .caption(panel.title, (FONT, 26))
        .margin(16)
        .x_label_area_size(64)
        .y_label_area_size(80)
        .build_cartesian_2d(0.0..1.05 * x_max, 0.0..1.05 * y_max)?;
    chart
        .configure_mesh()
        .x_desc(panel.x_title)
        .y_desc(panel.y_title)
        .x_label_formatter(&|x| format!("{x:.0}"))
        .label_style((FONT, 22))
        .max_light_lines(0)
        .draw()?;
    for (row, colour) in panel.rows.iter().zip(COLOURS) {
        let ends = [0.0, x_max].map(|x| (x, row.line.at(x)));
        chart.draw_series(LineSeries::new(ends, colour.stroke_width(2)))?;
        let dot = move |&at| Circle::new(at, 6, colour.filled());
        chart
            .draw_series(row.points.iter().map(dot))?
            .label(row.name)
            .legend(move |(x, y)| Circle::new((x + 14, y), 6, colour.filled()));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .legend_area_size(30)
        .label_font((FONT, 22))
        .background_style(WHITE.mix(0.85))
        .border_style(BLACK.mix(0.3))
        .draw()?;
    Ok(())
}
