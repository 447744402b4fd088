//! SVG plots: panels side by side, one legend, a white ground.

use std::path::Path;

use plotters::prelude::{
    BLACK, ChartBuilder, IntoDrawingArea, LineSeries, PathElement, RGBColor, SVGBackend,
    SeriesLabelPosition, WHITE,
};
use plotters::style::{Color, FontStyle, ShapeStyle, register_font};

use crate::scenes::{Kind, Result};

pub(crate) type Points = Vec<(f64, f64)>;

/// One pair of axes.
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) x_title: &'static str,
    pub(crate) y_title: &'static str,
    pub(crate) x: [f64; 2],
    pub(crate) y: [f64; 2],
    /// The ordinate is a power of ten.
    pub(crate) log: bool,
}

const PANEL_PX: (u32, u32) = (800, 560);
const FONT: &str = "sans-serif";
/// Chunks of a curve, of which each leaves its lowest and highest point.
const CHUNKS: usize = 250;

/// Draws every curve into every panel, as far as it is inside.
pub(crate) fn draw(path: &Path, panels: &[Panel], curves: &[Vec<(&Kind, &Points)>]) -> Result<()> {
    let font = include_bytes!("../../src/cli/picture/DejaVuSans.ttf");
    register_font(FONT, FontStyle::Normal, font).map_err(|_unknown| "the font is damaged")?;
    let size = (PANEL_PX.0 * panels.len() as u32, PANEL_PX.1);
    let root = SVGBackend::new(path, size).into_drawing_area();
    root.fill(&WHITE)?;
    let areas = root.split_evenly((1, panels.len()));
    for ((area, panel), curves) in areas.iter().zip(panels).zip(curves) {
        let mut chart = ChartBuilder::on(area)
            .caption(&panel.title, (FONT, 26))
            .margin(16)
            .x_label_area_size(64)
            .y_label_area_size(100)
            .build_cartesian_2d(panel.x[0]..panel.x[1], panel.y[0]..panel.y[1])?;
        let label = |y: &f64| if panel.log { format!("1e{y}") } else { number(*y) };
        chart
            .configure_mesh()
            .x_desc(panel.x_title)
            .y_desc(panel.y_title)
            .x_labels(7)
            .y_labels(7)
            .x_label_formatter(&|x| number(*x))
            .y_label_formatter(&label)
            .label_style((FONT, 22))
            .max_light_lines(0)
            .draw()?;
        for (kind, points) in curves {
            let (r, g, b) = kind.colour;
            let style: ShapeStyle = RGBColor(r, g, b).stroke_width(3);
            let shown = decimated(panel, points);
            let mark = move |(x, y)| PathElement::new(vec![(x, y), (x + 30, y)], style);
            chart.draw_series(LineSeries::new(shown, style))?.label(kind.name).legend(mark);
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .legend_area_size(40)
            .label_font((FONT, 22))
            .background_style(WHITE.mix(0.85))
            .border_style(BLACK.mix(0.3))
            .draw()?;
    }
    root.present()?;
    Ok(())
}

/// A tick's label without the noise of its last digits.
fn number(x: f64) -> String {
    format!("{}", (x * 1e6).round() / 1e6 + 0.0)
}

/// The part of a curve between the panel's abscissas, cut at its ordinates, with all its peaks.
fn decimated(panel: &Panel, points: &Points) -> Points {
    let inside = |p: &&(f64, f64)| p.0 >= panel.x[0] && p.0 <= panel.x[1];
    let shown: Points = points.iter().filter(inside).copied().collect();
    let mut out = Points::new();
    for chunk in shown.chunks(shown.len().div_ceil(CHUNKS).max(1)) {
        let by = |i: &usize, k: &usize| chunk[*i].1.total_cmp(&chunk[*k].1);
        let low = (0..chunk.len()).min_by(by).unwrap_or(0);
        let high = (0..chunk.len()).max_by(by).unwrap_or(0);
        for i in [low.min(high), low.max(high)] {
            let (x, y) = chunk[i];
            out.push((x, y.clamp(panel.y[0], panel.y[1])));
        }
    }
    out.dedup();
    out
}
