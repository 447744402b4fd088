//! Drawings of measures: by scenario and fault, and by each drawn key.

use plotters::coord::Shift;
use plotters::prelude::{
    BLACK, ChartBuilder, Circle, Cross, DrawingArea, DrawingBackend, EmptyElement,
    IntoSegmentedCoord, PathElement, Rectangle, SegmentValue,
};
use plotters::style::Color;

use crate::campaign::{Grade, Results};
use hardstand_error::Result;

use super::super::picture::{self, Drawing, Drawn, FONT, extent};
use super::super::plot::{BLUE, RED};

const WIDTH_PX: u32 = 900;
const ROW_PX: u32 = 26;
/// Margins and axis.
const FRAME_PX: u32 = 60;
const SCATTER_PX: u32 = 300;
/// More points hide one another, and make a page slow.
const POINTS_MAX: usize = 2000;
/// More drawings are not looked at.
const DRAWINGS_MAX: usize = 24;

/// A value, and whether its case passed.
type Point = (f64, bool);

/// All drawings as SVG, with the names of what they show.
///
/// # Errors
/// [`ErrorKind::Internal`](hardstand_error::ErrorKind::Internal) if one cannot be drawn.
pub(super) fn plots(results: &Results) -> Result<Vec<(String, String)>> {
    let mut out = Vec::new();
    for (measure, _) in &results.manifest.measures {
        if out.len() < DRAWINGS_MAX {
            let strips = Strips::of(results, measure);
            if strips.rows.iter().any(|(_, points)| !points.is_empty()) {
                out.push((measure.clone(), picture::svg(&strips)?));
            }
        }
        for vary in &results.manifest.vary {
            let scatter = Scatter::of(results, measure, &vary.key);
            if out.len() < DRAWINGS_MAX && !scatter.points.is_empty() {
                out.push((format!("{measure} by {}", vary.key), picture::svg(&scatter)?));
            }
        }
    }
    Ok(out)
}

/// One measure, in a row for each scenario with each fault.
struct Strips {
    rows: Vec<(String, Vec<Point>)>,
}

impl Strips {
    fn of(results: &Results, measure: &str) -> Self {
        let mut rows: Vec<(String, Vec<Point>)> = Vec::new();
        for (case, outcome) in results.finished() {
            let name = results.manifest.names(case).join(" · ");
            if rows.last().is_none_or(|(last, _)| *last != name) {
                rows.push((name, Vec::new()));
            }
            let value = outcome.measures.get(measure).copied().flatten();
            let passed = results.judge(Some(outcome)).grade == Grade::Passed;
            if let (Some((_, points)), Some(x)) = (rows.last_mut(), value) {
                points.push((x, passed));
            }
        }
        Self { rows }
    }
}

impl Drawing for Strips {
    fn size_px(&self) -> (u32, u32) {
        (WIDTH_PX, FRAME_PX + ROW_PX * self.rows.len() as u32)
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Drawn
    where
        B::ErrorType: 'static,
    {
        let all = self.rows.iter().flat_map(|(_, points)| points.iter().map(|p| p.0));
        let [low, high] = extent(all);
        let last = self.rows.len() as i32 - 1;
        let longest = self.rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .margin_right(24)
            .x_label_area_size(36)
            .y_label_area_size((8 * longest as u32).clamp(40, WIDTH_PX / 2))
            .build_cartesian_2d(low..high, (0..last).into_segmented())?;
        let name = |at: &SegmentValue<i32>| match at {
            SegmentValue::Exact(i) | SegmentValue::CenterOf(i) => {
                let row = usize::try_from(last - i).ok().and_then(|i| self.rows.get(i));
                row.map_or(String::new(), |(name, _)| name.clone())
            }
            SegmentValue::Last => String::new(),
        };
        chart
            .configure_mesh()
            .y_labels(self.rows.len())
            .y_label_formatter(&name)
            .max_light_lines(1)
            .label_style((FONT, 13))
            .draw()?;
        let count: usize = self.rows.iter().map(|(_, points)| points.len()).sum();
        for (i, (_, points)) in self.rows.iter().enumerate() {
            // the first row is the highest
            let y = SegmentValue::CenterOf(last - i as i32);
            let Some([least, q1, median, q3, most]) = quartiles(points) else { continue };
            let line = [(least, y.clone()), (most, y.clone())];
            chart.draw_series([PathElement::new(line, BLACK.mix(0.4))])?;
            let ends = [(q1, y.clone()), (q3, y.clone())];
            chart.draw_series([PathElement::new(ends, BLACK.mix(0.25).stroke_width(9))])?;
            let middle = EmptyElement::at((median, y.clone()))
                + Rectangle::new([(-1, -7), (1, 7)], BLACK.filled());
            chart.draw_series([middle])?;
            for (x, passed) in shown(points, count) {
                if passed {
                    chart.draw_series([Circle::new((x, y.clone()), 3, BLUE.mix(0.6))])?;
                } else {
                    chart.draw_series([Cross::new((x, y.clone()), 5, RED.stroke_width(2))])?;
                }
            }
        }
        Ok(())
    }
}

/// One measure by the values of a drawn key.
struct Scatter {
    axes: [String; 2],
    points: Vec<(f64, f64, bool)>,
}

impl Scatter {
    fn of(results: &Results, measure: &str, key: &str) -> Self {
        let vary = results.manifest.vary.iter().find(|v| v.key == key);
        let points = results.finished().filter_map(|(case, outcome)| {
            let y = outcome.measures.get(measure).copied().flatten()?;
            let passed = results.judge(Some(outcome)).grade == Grade::Passed;
            Some((vary?.draw(case.seed()), y, passed))
        });
        Self { axes: [key.into(), measure.into()], points: points.collect() }
    }
}

impl Drawing for Scatter {
    fn size_px(&self) -> (u32, u32) {
        (WIDTH_PX, SCATTER_PX)
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Drawn
    where
        B::ErrorType: 'static,
    {
        let [left, right] = extent(self.points.iter().map(|p| p.0));
        let [low, high] = extent(self.points.iter().map(|p| p.1));
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .margin_right(24)
            .x_label_area_size(44)
            .y_label_area_size(80)
            .build_cartesian_2d(left..right, low..high)?;
        chart
            .configure_mesh()
            .x_desc(&self.axes[0])
            .y_desc(&self.axes[1])
            .max_light_lines(1)
            .label_style((FONT, 13))
            .draw()?;
        let step = self.points.len().div_ceil(POINTS_MAX).max(1);
        for &(x, y, passed) in self.points.iter().step_by(step) {
            if passed {
                chart.draw_series([Circle::new((x, y), 3, BLUE.mix(0.6))])?;
            } else {
                chart.draw_series([Cross::new((x, y), 5, RED.stroke_width(2))])?;
            }
        }
        Ok(())
    }
}

/// All points, or every n-th if all rows together have too many.
fn shown(points: &[Point], count: usize) -> impl Iterator<Item = Point> {
    points.iter().copied().step_by(count.div_ceil(POINTS_MAX).max(1))
}

/// Least, lower quartile, median, upper quartile, most.
fn quartiles(points: &[Point]) -> Option<[f64; 5]> {
    let mut sorted: Vec<f64> = points.iter().map(|p| p.0).collect();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let at = |k: usize| sorted[(k * last).div_ceil(4)];
    Some([0, 1, 2, 3, 4].map(at))
}
