//! The drawing of push limits: a closed line around the robot for each time.

use std::f64::consts::{FRAC_PI_4, TAU};
use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::{
    BLACK, ChartBuilder, Circle, DrawingArea, DrawingBackend, HSLColor, LineSeries,
    SeriesLabelPosition, Text,
};
use plotters::style::Color;

use hardstand_error::Result;
use hardstand_physics::math;

use super::super::picture::{self, Drawing, Drawn, FONT};
use super::pushes::PushesResult;
use crate::hunt::PushLimit;

const SIZE_PX: (u32, u32) = (900, 900);
/// Circles of equal force.
const CIRCLES: usize = 4;
/// Lines of which the legend names each; of more, it names every second, fourth, …
const NAMED_MAX: usize = 12;

/// # Errors
/// [`ErrorKind::File`](crate::ErrorKind::File) if the file cannot be written.
pub(super) fn draw(file: &Path, result: &PushesResult) -> Result<()> {
    picture::write(file, &Polar(result))
}

struct Polar<'a>(&'a PushesResult);

/// Where a push of this force points, N.
fn point(force_n: f64, angle_rad: f64) -> (f64, f64) {
    let (sin, cos) = math::sin_cos(angle_rad);
    (force_n * cos, force_n * sin)
}

fn ring(radius_n: f64) -> impl Iterator<Item = (f64, f64)> {
    (0..=180).map(move |k| point(radius_n, TAU * f64::from(k) / 180.0))
}

/// The limits of a time, closed; gaps where there is none are at the largest force.
fn outline(limits: &[PushLimit], most_n: f64) -> impl Iterator<Item = (f64, f64)> {
    let at = move |l: &PushLimit| point(l.limit_n.unwrap_or(most_n), l.direction_deg.to_radians());
    limits.iter().chain(limits.first()).map(at)
}

impl Drawing for Polar<'_> {
    fn size_px(&self) -> (u32, u32) {
        SIZE_PX
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Drawn
    where
        B::ErrorType: 'static,
    {
        let (result, pushes) = (self.0, &self.0.pushes);
        let known = result.limits.iter().map(|l| l.limit_n.unwrap_or(pushes.most_n));
        let outer_n = known.fold(0.0, f64::max);
        let title = format!(
            "{} pushed for {} s: least force until {}",
            pushes.link, pushes.duration_s, result.until
        );
        let edge_n = 1.12 * outer_n;
        let mut chart = ChartBuilder::on(area)
            .caption(title, (FONT, 20))
            .margin(20)
            .build_cartesian_2d(-edge_n..edge_n, -edge_n..edge_n)?;
        let grid = BLACK.mix(0.2);
        for k in 1..=CIRCLES {
            let radius_n = outer_n * k as f64 / CIRCLES as f64;
            chart.draw_series(LineSeries::new(ring(radius_n), grid))?;
            let label = format!("{radius_n:.0} N");
            let at = point(radius_n, FRAC_PI_4);
            chart.draw_series([Text::new(label, at, (FONT, 15))])?;
        }
        for (name, angle_rad) in [("+x", 0.0), ("+y", TAU / 4.0)] {
            let ends = [point(-outer_n, angle_rad), point(outer_n, angle_rad)];
            chart.draw_series(LineSeries::new(ends, grid))?;
            chart.draw_series([Text::new(name, point(1.05 * outer_n, angle_rad), (FONT, 18))])?;
        }
        let every = pushes.at_s.len().div_ceil(NAMED_MAX);
        for (i, row) in result.limits.chunks(pushes.directions).enumerate() {
            let colour = HSLColor(0.8 * i as f64 / pushes.at_s.len() as f64, 0.8, 0.4);
            let line = outline(row, pushes.most_n);
            let series = chart.draw_series(LineSeries::new(line, colour.stroke_width(2)))?;
            if i % every == 0 {
                let mark = picture::mark(colour.stroke_width(2));
                series.label(format!("at {:.3} s", row[0].at_s)).legend(mark);
            }
            let dots = row.iter().zip(outline(row, pushes.most_n));
            let dots = dots.filter(|(l, _)| l.limit_n.is_some());
            chart.draw_series(dots.map(|(_, at)| Circle::new(at, 3, colour.filled())))?;
        }
        picture::draw_legend(&mut chart, SeriesLabelPosition::UpperRight, 15)
    }
}
