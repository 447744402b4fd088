//! The drawing of a drive: torque by speed, step, gain and phase, friction.

use std::path::Path;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::{
    ChartBuilder, DrawingArea, DrawingBackend, IntoLogRange, LineSeries, SeriesLabelPosition,
};
use plotters::style::Color;

use hardstand_error::Result;
use hardstand_physics::math;

use super::drive::DriveReport;
use super::picture::{self, Drawing, Drawn, FONT};
use super::plot::{BLUE, RED};

const SIZE_PX: (u32, u32) = (1200, 900);

type Points = Vec<(f64, f64)>;

/// A chart: title, axes, and lines with their names.
struct Chart {
    title: &'static str,
    axes: [&'static str; 2],
    lines: Vec<(&'static str, Points)>,
}

/// # Errors
/// [`ErrorKind::File`](crate::ErrorKind::File) if the file cannot be written.
pub(super) fn draw(file: &Path, report: &DriveReport) -> Result<()> {
    picture::write(file, &Charts(report))
}

struct Charts<'a>(&'a DriveReport);

impl Drawing for Charts<'_> {
    fn size_px(&self) -> (u32, u32) {
        SIZE_PX
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Drawn
    where
        B::ErrorType: 'static,
    {
        let r = self.0;
        let title = match r.supply_v {
            v if v > 0.0 => format!("{}, {v} V", r.drive),
            _ => r.drive.clone(),
        };
        let area = area.titled(&title, (FONT, 28))?;
        let parts = area.split_evenly((2, 2));
        let [map, step, gain, phase, friction] = charts(r);
        for (part, chart) in [(&parts[0], &map), (&parts[1], &step), (&parts[3], &friction)] {
            let x = range(chart, |p| p.0);
            chart.draw(part, x[0]..x[1])?;
        }
        for (part, chart) in parts[2].split_evenly((2, 1)).iter().zip([gain, phase]) {
            let x = range(&chart, |p| p.0);
            chart.draw(part, (x[0]..x[1]).log_scale())?;
        }
        Ok(())
    }
}

/// The charts: torque by speed, step, gain, phase and friction.
fn charts(r: &DriveReport) -> [Chart; 5] {
    let pair = |rows: &[[f64; 3]], k: usize| rows.iter().map(|row| (row[0], row[k])).collect();
    let decibel = |rows: &[[f64; 3]]| -> Points {
        let db = |gain: f64| 20.0 * math::log10(gain.max(1e-6));
        rows.iter().map(|row| (row[0], db(row[1]))).collect()
    };
    let step = r.step_response.iter().map(|[t, nm]| (t * 1e3, *nm)).collect();
    [
        Chart {
            title: "torque by speed",
            axes: ["rad/s", "N·m"],
            lines: vec![
                ("largest", pair(&r.torque_by_speed, 2)),
                ("least", pair(&r.torque_by_speed, 1)),
            ],
        },
        Chart { title: "step of the command", axes: ["ms", "N·m"], lines: vec![("torque", step)] },
        Chart {
            title: "frequency response: gain",
            axes: ["Hz", "dB"],
            lines: vec![("gain", decibel(&r.frequency_response))],
        },
        Chart {
            title: "frequency response: phase",
            axes: ["Hz", "degrees"],
            lines: vec![("phase", pair(&r.frequency_response, 2))],
        },
        Chart {
            title: "friction by speed",
            axes: ["rad/s", "N·m"],
            lines: vec![
                ("without load", pair(&r.friction_by_speed, 1)),
                ("under half the stall torque", pair(&r.friction_by_speed, 2)),
            ],
        },
    ]
}

/// Smallest and largest of a coordinate; a little around one that does not change.
fn range(chart: &Chart, of: impl Fn(&(f64, f64)) -> f64) -> [f64; 2] {
    let all = chart.lines.iter().flat_map(|(_, points)| points.iter().map(&of));
    let [low, high] =
        all.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)]);
    match (low.is_finite(), high > low) {
        (false, _) => [0.0, 1.0],
        (true, false) => [low - 1.0, high + 1.0],
        (true, true) => [low, high],
    }
}

impl Chart {
    fn draw<B: DrawingBackend, X>(&self, area: &DrawingArea<B, Shift>, x: X) -> Drawn
    where
        B::ErrorType: 'static,
        X: AsRangedCoord<Value = f64>,
        X::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let [low, high] = range(self, |p| p.1);
        let room = 0.06 * (high - low);
        let mut chart = ChartBuilder::on(area)
            .caption(self.title, (FONT, 22))
            .margin(14)
            .x_label_area_size(48)
            .y_label_area_size(72)
            .build_cartesian_2d(x, low - room..high + room)?;
        chart
            .configure_mesh()
            .x_desc(self.axes[0])
            .y_desc(self.axes[1])
            .y_labels(if self.lines.len() < 2 { 6 } else { 10 })
            .label_style((FONT, 16))
            .draw()?;
        for ((name, points), colour) in self.lines.iter().zip([BLUE, RED]) {
            chart
                .draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?
                .label(*name)
                .legend(picture::mark(colour.stroke_width(2)));
        }
        if self.lines.len() < 2 {
            return Ok(());
        }
        picture::draw_legend(&mut chart, SeriesLabelPosition::LowerRight, 16)
    }
}
