//! `hardstand compare`.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::calibrate::{Accuracy, JointAccuracy, Playback, Trace};
use crate::config::Scenario;
use crate::robot_log::RobotLog;
use hardstand_error::{Error, ErrorKind, Result};

use super::arguments::CompareArguments;
use super::panels::{self, Line, Panel};
use super::plot::{BLUE, RED};
use super::{ExitCode, show};

/// Points of a line in a drawing.
const COLUMNS: usize = 1000;
const GREY: plotters::prelude::RGBColor = plotters::prelude::RGBColor(150, 150, 150);

#[derive(Serialize)]
struct CompareResult {
    from_s: f64,
    to_s: f64,
    windows: usize,
    within_limits: bool,
    #[serde(flatten)]
    accuracy: Accuracy,
    #[serde(serialize_with = "crate::path_text::many")]
    drawings: Vec<PathBuf>,
}

pub(super) fn compare(a: &CompareArguments) -> Result<ExitCode> {
    check_window(a.window)?;
    check_limits(a)?;
    let scenario = Scenario::load(&a.scenario, &a.sets)?;
    let log = RobotLog::load(&a.real, &scenario.model)?;
    let from = log.time_s.partition_point(|t| a.from.is_some_and(|from| *t < from));
    let to = log.time_s.partition_point(|t| a.to.is_none_or(|to| *t <= to));
    let playback = Playback::new(&log, from..to, a.window)?;
    let traces = playback.run(&scenario);
    let accuracy = Accuracy::of(&playback, &traces, &scenario.model.joints);
    let above =
        |limit: Option<f64>, rms: f64| limit.is_some_and(|limit| rms.is_nan() || rms > limit);
    let within_limits = !above(a.max_rms_rad, accuracy.rms_rad)
        && !accuracy.joints.iter().any(|j| above(a.max_joint_rms_rad, j.rms_rad))
        && accuracy.failures == 0;
    let times_s = [log.time_s[from], log.time_s[to - 1]];
    let drawings = match &a.plot {
        Some(folder) => draw(folder, &log, &traces, &accuracy.joints, times_s)?,
        None => Vec::new(),
    };
    let [from_s, to_s] = times_s;
    let windows = playback.windows().len();
    let result = CompareResult { from_s, to_s, windows, within_limits, accuracy, drawings };
    if a.json {
        show::json(&result)?;
    } else {
        result.show();
    }
    Ok(if within_limits { ExitCode::Done } else { ExitCode::Negative })
}

/// # Errors
/// [`ErrorKind::Input`] if it is not above 0.
pub(super) fn check_window(window_s: Option<f64>) -> Result<()> {
    match window_s {
        Some(w) if !(w.is_finite() && w > 0.0) => {
            let text = format!("--window is {w}; it must be finite and greater than 0");
            Err(Error::new(ErrorKind::Input, text))
        }
        _ => Ok(()),
    }
}

/// Why nothing was compared.
pub(super) const fn none(accuracy: &Accuracy) -> &'static str {
    if accuracy.failures > 0 { "the plant stopped before a sample" } else { "no samples" }
}

/// NaN would be within every limit.
fn check_limits(a: &CompareArguments) -> Result<()> {
    let refused = |option: &str, value: f64, allowed: &str| {
        let text = format!("{option} is {value}; it must be {allowed}");
        Err(Error::new(ErrorKind::Input, text))
    };
    for (option, time) in [("--from", a.from), ("--to", a.to)] {
        if let Some(s) = time.filter(|s| !s.is_finite()) {
            return refused(option, s, "a finite time of the table, s");
        }
    }
    let limits = [("--max-rms-rad", a.max_rms_rad), ("--max-joint-rms-rad", a.max_joint_rms_rad)];
    for (option, limit) in limits {
        if let Some(rad) = limit.filter(|rad| !(rad.is_finite() && *rad >= 0.0)) {
            return refused(option, rad, "finite and at least 0, rad");
        }
    }
    Ok(())
}

impl CompareResult {
    fn show(&self) {
        let Self { from_s, to_s, windows, accuracy, .. } = self;
        let plural = if *windows == 1 { "window" } else { "windows" };
        show::line(&format!("compared   {from_s:.3} to {to_s:.3} s in {windows} {plural}"));
        let unit = accuracy.milli_unit();
        let is_mixed = unit.contains(' ');
        let head = if is_mixed { "rms" } else { &format!("rms, {unit}") };
        show::line(&format!("joint                        {head:>9}      mean       max   at, s"));
        for j in &accuracy.joints {
            if j.rms_rad.is_nan() {
                show::line(&format!("{:28} {}", j.name, none(accuracy)));
                continue;
            }
            let name =
                if is_mixed { format!("{}, {}", j.name, j.milli_unit()) } else { j.name.clone() };
            show::line(&format!(
                "{name:28} {:9.2} {:9.2} {:9.2} {:7.3}",
                1e3 * j.rms_rad,
                1e3 * j.mean_rad,
                1e3 * j.max_rad,
                j.max_at_s
            ));
        }
        let tracking = accuracy.tracking_rms_rad.map_or(String::new(), |t| {
            format!(" (the robot itself is {:.2} from its command)", 1e3 * t)
        });
        match accuracy.rms_rad {
            nothing if nothing.is_nan() => show::line(&format!("all joints {}", none(accuracy))),
            rms => show::line(&format!("all joints {:.2} {unit} rms{tracking}", 1e3 * rms)),
        }
        if let (Some(p), Some(r)) = (accuracy.base_rms_m, accuracy.base_rms_rad) {
            show::line(&format!("base       {:.2} mm, {:.2} mrad rms", 1e3 * p, 1e3 * r));
        }
        if accuracy.failures > 0 {
            show::line(&format!("failed     the plant stopped in {} windows", accuracy.failures));
        }
        for file in &self.drawings {
            show::line(&format!("drawing    {}", file.display()));
        }
    }
}

type Columns = Vec<Option<[f64; 2]>>;

/// Writes positions and errors of all joints over time.
pub(super) fn draw(
    folder: &Path,
    log: &RobotLog,
    traces: &[Trace],
    joints: &[JointAccuracy],
    times_s: [f64; 2],
) -> Result<Vec<PathBuf>> {
    std::fs::create_dir_all(folder)
        .map_err(|e| Error::new(ErrorKind::File, format!("{}: {e}", folder.display())))?;
    let (mut positions, mut errors) = (Vec::new(), Vec::new());
    for (j, track) in log.joints.iter().enumerate() {
        let mut lines: [Columns; 4] = std::array::from_fn(|_| vec![None; COLUMNS]);
        for trace in traces {
            for (q, &row) in trace.q.iter().zip(&trace.rows) {
                let commanded = track.command[0].as_ref().map_or(f64::NAN, |c| c[row]);
                let values = [commanded, track.q[row], q[j], 1e3 * (q[j] - track.q[row])];
                for (line, value) in lines.iter_mut().zip(values) {
                    add(line, (log.time_s[row] - times_s[0]) / (times_s[1] - times_s[0]), value);
                }
            }
        }
        let [commanded, real, ours, error] = lines;
        positions.push([commanded, real, ours]);
        errors.push(error);
    }
    let of_position = |(joint, lines): (&JointAccuracy, &'_ [Columns; 3])| Drawn {
        title: format!("{}, {}", joint.name, joint.unit),
        lines: [("commanded", GREY), ("recorded", BLUE), ("simulated", RED)]
            .into_iter()
            .zip(lines.clone())
            .collect(),
    };
    let of_error = |(joint, line): (&JointAccuracy, &Columns)| Drawn {
        title: format!("{}: simulated − recorded, {}", joint.name, joint.milli_unit()),
        lines: vec![(("error", RED), line.clone())],
    };
    let files = [folder.join("positions.svg"), folder.join("errors.svg")];
    let drawings = [
        joints.iter().zip(&positions).map(of_position).collect::<Vec<_>>(),
        joints.iter().zip(&errors).map(of_error).collect(),
    ];
    for (file, drawing) in files.iter().zip(&drawings) {
        let panels: Vec<Panel<'_>> = drawing.iter().enumerate().map(|(i, d)| d.panel(i)).collect();
        panels::draw(file, &panels, times_s)?;
    }
    Ok(files.into())
}

struct Drawn {
    title: String,
    lines: Vec<((&'static str, plotters::prelude::RGBColor), Columns)>,
}

impl Drawn {
    fn panel(&self, i: usize) -> Panel<'_> {
        Panel {
            title: self.title.clone(),
            lines: self
                .lines
                .iter()
                .map(|((name, colour), columns)| Line {
                    name: (*name).into(),
                    colour: *colour,
                    columns,
                })
                .collect(),
            mark_s: None,
            legend: i == 0 && self.lines.len() > 1,
        }
    }
}

fn add(line: &mut Columns, at: f64, value: f64) {
    let column = ((at * COLUMNS as f64) as usize).min(COLUMNS - 1);
    if value.is_finite() {
        let [low, high] = line[column].unwrap_or([value; 2]);
        line[column] = Some([low.min(value), high.max(value)]);
    }
}
