//! Two panels: limbs at the left, springs at the right. Dots are minima, lines are the fits.

use std::error::Error;
use std::ops::Range;
use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::{
    BLACK, ChartBuilder, Circle, DrawingArea, IntoDrawingArea, LineSeries, RGBColor, SVGBackend,
    SeriesLabelPosition, WHITE,
};
use plotters::style::{Color, FontStyle, register_font};

use crate::line::Line;
use crate::{Measured, ROWS};

const PANEL_PX: (u32, u32) = (800, 560);
const FONT: &str = "sans-serif";
const COLOURS: [RGBColor; 4] =
    [RGBColor(0, 90, 181), RGBColor(120, 120, 120), RGBColor(220, 50, 32), RGBColor(0, 130, 90)];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Result = std::result::Result<(), Box<dyn Error>>;

pub(crate) fn draw(path: &Path, rows: &[Vec<Measured>], lines: &[Line]) -> Result {
    let font = include_bytes!("../../src/cli/picture/DejaVuSans.ttf");
    register_font(FONT, FontStyle::Normal, font).map_err(|_unknown| "the font is damaged")?;
    let root = SVGBackend::new(path, (2 * PANEL_PX.0, PANEL_PX.1)).into_drawing_area();
    root.fill(&WHITE)?;
    let areas = root.split_evenly((1, 2));
    panel(&areas[0], "limbs of three joints, a spring under each", "limbs", 0..3, rows, lines)?;
    panel(&areas[1], "springs under four limbs", "springs", 3..4, rows, lines)?;
    root.present()?;
    Ok(())
}

fn panel(
    area: &Area<'_>,
    title: &str,
    x_title: &str,
    shown: Range<usize>,
    rows: &[Vec<Measured>],
    lines: &[Line],
) -> Result {
    let points = |r: usize| rows[r].iter().map(|m| (m.size as f64, m.min() / 1e3));
    let most = |a: f64, b: f64| a.max(b);
    let x_max = shown.clone().flat_map(points).map(|p| p.0).fold(0.0, most);
    let y_max = shown.clone().flat_map(points).map(|p| p.1).fold(0.0, most);
    let mut chart = ChartBuilder::on(area)
        .caption(title, (FONT, 26))
        .margin(16)
        .x_label_area_size(64)
        .y_label_area_size(80)
        .build_cartesian_2d(0.0..1.05 * x_max, 0.0..1.05 * y_max)?;
    chart
        .configure_mesh()
        .x_desc(x_title)
        .y_desc("µs per micro-step")
        .x_label_formatter(&|x| format!("{x:.0}"))
        .label_style((FONT, 22))
        .max_light_lines(0)
        .draw()?;
    for r in shown {
        let (colour, line) = (COLOURS[r], lines[r]);
        let ends = [0.0, x_max].map(|x| (x, line.at(x) / 1e3));
        chart.draw_series(LineSeries::new(ends, colour.stroke_width(2)))?;
        let dot = move |at| Circle::new(at, 6, colour.filled());
        chart
            .draw_series(points(r).map(dot))?
            .label(ROWS[r].name)
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
