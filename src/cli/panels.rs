//! Drawings of quantities over time: panels, one above the other.

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::{
    BLACK, ChartBuilder, DrawingArea, DrawingBackend, LineSeries, RGBColor, SeriesLabelPosition,
};
use plotters::style::Color;

use hardstand_error::Result;

use super::picture::{self, Drawing, Drawn, FONT};

const WIDTH_PX: u32 = 1000;
const PANEL_PX: u32 = 200;

/// A panel.
pub(super) struct Panel<'a> {
    pub(super) title: String,
    pub(super) lines: Vec<Line<'a>>,
    /// Where a vertical line is drawn, s.
    pub(super) mark_s: Option<f64>,
    /// The lines are named.
    pub(super) legend: bool,
}

/// A line.
pub(super) struct Line<'a> {
    pub(super) name: String,
    pub(super) colour: RGBColor,
    /// Smallest and largest value in each of the columns that the time is divided into.
    pub(super) columns: &'a [Option<[f64; 2]>],
}

/// Draws `panels` from `times_s[0]` to `times_s[1]`.
///
/// # Errors
/// [`ErrorKind::File`](crate::ErrorKind::File) if the file cannot be written.
pub(super) fn draw(file: &Path, panels: &[Panel<'_>], times_s: [f64; 2]) -> Result<()> {
    picture::write(file, &Panels { panels, times_s })
}

struct Panels<'a> {
    panels: &'a [Panel<'a>],
    times_s: [f64; 2],
}

impl Drawing for Panels<'_> {
    fn size_px(&self) -> (u32, u32) {
        (WIDTH_PX, PANEL_PX * self.panels.len().max(1) as u32)
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Drawn
    where
        B::ErrorType: 'static,
    {
        let count = self.panels.len();
        let areas = area.split_evenly((count.max(1), 1));
        for (i, (area, panel)) in areas.iter().zip(self.panels).enumerate() {
            draw_panel(area, panel, self.times_s, i + 1 == count)?;
        }
        Ok(())
    }
}

/// The last panel names the axis of time.
fn draw_panel<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    panel: &Panel<'_>,
    times_s: [f64; 2],
    last: bool,
) -> Drawn
where
    B::ErrorType: 'static,
{
    let columns = panel.lines.iter().flat_map(|line| line.columns).flatten();
    let [low, high] = picture::extent(columns.flatten().copied());
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, (FONT, 18))
        .margin(8)
        .margin_right(28)
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
    for Line { name, colour, columns } in &panel.lines {
        chart
            .draw_series(LineSeries::new(points(columns, times_s), colour.stroke_width(1)))?
            .label(name)
            .legend(picture::mark(colour.stroke_width(2)));
    }
    if let Some(mark_s) = panel.mark_s {
        let mark = [(mark_s, low), (mark_s, high)];
        chart.draw_series(LineSeries::new(mark, BLACK.mix(0.5)))?;
    }
    if panel.legend {
        picture::draw_legend(&mut chart, SeriesLabelPosition::UpperRight, 14)?;
    }
    Ok(())
}

/// Up and down through each column.
fn points(columns: &[Option<[f64; 2]>], times_s: [f64; 2]) -> Vec<(f64, f64)> {
    let step_s = (times_s[1] - times_s[0]) / columns.len().max(1) as f64;
    let time = |i: usize| times_s[0] + step_s * i as f64;
    let filled = columns.iter().enumerate().filter_map(|(i, c)| Some((time(i), (*c)?)));
    filled.flat_map(|(t, [low, high])| [(t, low), (t, high)]).collect()
}
