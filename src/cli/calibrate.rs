//! `hardstand calibrate`.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Serialize;

use crate::calibrate::{
    Accuracy, Calibration, Finding, FitSettings, Job, calibrate as fit, overlay, parse_list,
};
use crate::config::Scenario;
use crate::robot_log::RobotLog;
use hardstand_error::{Error, ErrorKind, Result};

use super::arguments::CalibrateArguments;
use super::calibration_page::{milli, page};
use super::compare::check_window;
use super::{ExitCode, output_file, progress, show};

#[derive(Serialize)]
struct CalibrateResult {
    #[serde(serialize_with = "crate::path_text::one")]
    overlay: PathBuf,
    #[serde(serialize_with = "crate::path_text::one")]
    page: PathBuf,
    wall_s: f64,
    #[serde(flatten)]
    calibration: Calibration,
}

pub(super) fn calibrate(a: &CalibrateArguments) -> Result<ExitCode> {
    if !(0.0..=0.9).contains(&a.hold_back) {
        let text = format!("--hold-back is {}; it must be 0 to 0.9", a.hold_back);
        return Err(Error::new(ErrorKind::Input, text));
    }
    check_window(a.window)?;
    check_output(&a.output)?;
    let begin = Instant::now();
    let scenario = Scenario::load(&a.scenario, &a.sets)?;
    let files = [".toml", ".html"].map(|end| PathBuf::from(format!("{}{end}", a.output.display())));
    for file in &files {
        let inputs = scenario.files.iter().chain([&a.real]).map(PathBuf::as_path);
        output_file::check("--output", file, inputs)?;
    }
    let log = RobotLog::load(&a.real, &scenario.model)?;
    let parameters = parse_list(&a.fit, &scenario)?;
    let settings = FitSettings {
        hold_back: a.hold_back,
        window_s: a.window,
        threads: threads(a.threads),
        iterations_max: a.iterations,
    };
    let job = Job { log: &log, scenario: &scenario, parameters: &parameters, settings: &settings };
    let bar = progress::bar(a.iterations as u64, "calibrate");
    let calibration = fit(&job, |sentence| {
        bar.inc(1);
        bar.set_message(sentence.to_string());
    });
    bar.finish_and_clear();
    let calibration = calibration?;
    let complete = scenario.complete_toml.parse().map_err(|e| internal(&e))?;
    output_file::write_text("overlay", &files[0], &overlay(&calibration, &parameters, &complete)?)?;
    let title = format!("{} and {}", a.real.display(), a.scenario.display());
    output_file::write_text("page", &files[1], &page(&title, &a.fit.join(","), &calibration))?;
    let [overlay, page] = files;
    let wall_s = begin.elapsed().as_secs_f64();
    let result = CalibrateResult { overlay, page, wall_s, calibration };
    if a.json {
        show::json(&result)?;
    } else {
        result.show();
    }
    Ok(ExitCode::Done)
}

/// A folder alone would give hidden files without a name.
fn check_output(output: &Path) -> Result<()> {
    let text = output.to_string_lossy();
    if output.file_name().is_some() && !text.ends_with(std::path::is_separator) {
        return Ok(());
    }
    let text = format!("--output is {text:?}; it must end in a name, to which .toml is added");
    Err(Error::new(ErrorKind::Input, text))
}

fn internal(e: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Internal, format!("the complete scenario: {e}"))
}

impl CalibrateResult {
    fn show(&self) {
        let c = &self.calibration;
        show::line("parameter                           before      after   ± (95 %)");
        for e in &c.estimates {
            let found = match &e.finding {
                Finding::Determined { value, half_width, at_bound } => {
                    let bound = if *at_bound { "  at its bound" } else { "" };
                    format!("{value:10.5} {half_width:10.5}{bound}")
                }
                Finding::NotDetermined { why, .. } => format!("not determined: {why}"),
            };
            show::line(&format!("{:32} {:9.4} {found}", e.name, e.start));
        }
        let parts = [("fitted", Some(&c.fit)), ("held back", c.held_back.as_ref())];
        for (name, [before, after]) in parts.into_iter().filter_map(|(n, p)| Some((n, p?))) {
            let worst = |a: &Accuracy| a.joints.iter().map(|j| j.rms_rad).fold(0.0, f64::max);
            show::line(&format!(
                "{name:10} {} → {} {} rms; worst joint {} → {}",
                milli(before.rms_rad),
                milli(after.rms_rad),
                after.milli_unit(),
                milli(worst(before)),
                milli(worst(after))
            ));
        }
        let Self { overlay, page, wall_s, .. } = self;
        show::line(&format!("written    {}\n           {}", overlay.display(), page.display()));
        show::line(&format!("took       {wall_s:.1} s, {} iterations", c.iterations));
    }
}

pub(super) fn threads(asked: Option<NonZeroUsize>) -> NonZeroUsize {
    asked.or(std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
}
