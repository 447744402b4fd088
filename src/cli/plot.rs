//! The latency plot: counts over latency, both logarithmic.

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::{
    BLACK, ChartBuilder, DrawingArea, DrawingBackend, IntoLogRange, LineSeries, RGBColor,
    SeriesLabelPosition,
};
use plotters::style::Color;

use crate::daemon::LatencyHistogram;
use crate::doctor::Measured;
use hardstand_error::Result;
use hardstand_physics::math;

use super::output_file::OutputFile;
use super::picture::{self, Drawing, Drawn, FONT};

const SIZE_PX: (u32, u32) = (1000, 600);
pub(super) const BLUE: RGBColor = RGBColor(0, 90, 181);
pub(super) const RED: RGBColor = RGBColor(220, 50, 32);
/// Steps of the line per factor of ten.
const STEPS: u32 = 40;
/// The axis begins here; what is shorter is counted in the first step, ns.
const FIRST_NS: f64 = 1000.0;

/// # Errors
/// As [`picture::check`]; [`ErrorKind::File`](crate::ErrorKind::File) if it cannot be written.
pub(super) fn check<'a>(file: &Path, inputs: impl IntoIterator<Item = &'a Path>) -> Result<()> {
    picture::check("--plot", file, inputs)?;
    // begun, not finished: what is there stays if the measurement fails
    OutputFile::create("plot", file).map(drop)
}

/// Draws wake-up latency and tick cost of a run.
///
/// # Errors
/// [`ErrorKind::File`](crate::ErrorKind::File) if the file cannot be written.
pub(super) fn latency(file: &Path, m: &Measured) -> Result<()> {
    picture::write(file, &Latency(m))
}

struct Latency<'a>(&'a Measured);

impl Drawing for Latency<'_> {
    fn size_px(&self) -> (u32, u32) {
        SIZE_PX
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Drawn
    where
        B::ErrorType: 'static,
    {
        draw(area, self.0)
    }
}

fn draw<B: DrawingBackend>(root: &DrawingArea<B, Shift>, m: &Measured) -> Drawn
where
    B::ErrorType: 'static,
{
    let (wakeup, cost) = (&m.summary.wakeup_latency, &m.summary.tick_cost);
    let period_ns = m.times().period_ns as f64;
    let longest_ns = wakeup.max().max(cost.max()) as f64;
    let x_max = (1.5 * longest_ns.max(period_ns)) / 1e3;
    let y_max = 2.0 * wakeup.count().max(10) as f64;
    let times = m.times();
    let title = format!(
        "{} ticks: {}; wake-up at most {:.1} µs",
        times.ticks,
        times.band().name(),
        times.wakeup_max_ns as f64 / 1e3
    );
    let mut chart = ChartBuilder::on(root)
        .caption(title, (FONT, 24))
        .margin(16)
        .x_label_area_size(56)
        .y_label_area_size(80)
        .build_cartesian_2d((FIRST_NS / 1e3..x_max).log_scale(), (0.5..y_max).log_scale())?;
    chart
        .configure_mesh()
        .x_desc("µs")
        .y_desc("ticks")
        .x_label_formatter(&|x| format!("{x}"))
        .y_label_formatter(&|y| format!("{y:.0}"))
        .label_style((FONT, 18))
        .draw()?;
    for (name, tally, colour) in [("wake-up latency", wakeup, BLUE), ("tick cost", cost, RED)] {
        chart
            .draw_series(LineSeries::new(stairs(tally, x_max * 1e3), colour.stroke_width(2)))?
            .label(name)
            .legend(picture::mark(colour.stroke_width(2)));
    }
    let period = [(period_ns / 1e3, 0.5), (period_ns / 1e3, y_max)];
    chart
        .draw_series(LineSeries::new(period, BLACK.mix(0.5)))?
        .label("period")
        .legend(picture::mark(BLACK.mix(0.5).into()));
    picture::draw_legend(&mut chart, SeriesLabelPosition::UpperRight, 18)
}

/// The corners of the stairs, µs and ticks; an empty step lies below the axis.
fn stairs(tally: &LatencyHistogram, end_ns: f64) -> Vec<(f64, f64)> {
    let edge = |k: u32| FIRST_NS * math::pow(10.0, f64::from(k) / f64::from(STEPS));
    let mut corners = Vec::new();
    let mut k = 0;
    while edge(k) < end_ns {
        let (low, high) = (edge(k), edge(k + 1));
        let from = if k == 0 { 0 } else { low.ceil() as u64 };
        let count = tally.count_between(from, high.ceil() as u64 - 1);
        let y = (count as f64).max(0.5);
        corners.extend([(low / 1e3, y), (high.min(end_ns) / 1e3, y)]);
        k += 1;
    }
    corners
}
