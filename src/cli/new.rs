//! `hardstand new`.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::scaffold::propose;
use hardstand_error::{Error, ErrorKind, Result};

use super::arguments::NewArguments;
use super::shell::quoted;
use super::{ExitCode, output_file, show};

#[derive(Serialize)]
struct NewResult {
    /// `null` if it was printed.
    #[serde(serialize_with = "crate::path_text::maybe")]
    file: Option<PathBuf>,
    /// The robot's name on the bus.
    robot: String,
    feet: Vec<String>,
    posture: String,
    stands: Option<bool>,
    notes: Vec<String>,
}

pub(super) fn new(a: &NewArguments) -> Result<ExitCode> {
    if let Some(file) = &a.output {
        output_file::check("--output", file, [a.robot.as_path()])?;
        refuse_existing(file, a.force)?;
    }
    let proposal = propose(&a.robot, &named(&a.robot, a.output.as_deref())?)?;
    if let Some(file) = &a.output {
        // it may have come into being in the meantime
        refuse_existing(file, a.force)?;
        output_file::write_text("scenario", file, &proposal.toml)?;
    } else if !a.json {
        show::line(proposal.toml.trim_end());
    }
    let code = if proposal.stands == Some(false) { ExitCode::Negative } else { ExitCode::Done };
    let result = NewResult {
        file: a.output.clone(),
        robot: proposal.robot,
        feet: proposal.feet,
        posture: proposal.posture,
        stands: proposal.stands,
        notes: proposal.notes,
    };
    if a.json {
        show::json(&result)?;
    } else {
        describe(&result);
    }
    Ok(code)
}

fn refuse_existing(file: &Path, force: bool) -> Result<()> {
    if force || !file.exists() {
        return Ok(());
    }
    let text = format!("{} exists; choose another name, or --force", file.display());
    Err(Error::new(ErrorKind::Input, text))
}

/// The robot's file as seen from the scenario's folder; the whole path if they share none.
///
/// # Errors
/// [`ErrorKind::Input`] if that is no text, as a scenario must be.
fn named(robot: &Path, scenario: Option<&Path>) -> Result<String> {
    let folder = scenario.and_then(Path::parent).unwrap_or(Path::new(""));
    let whole = |p: &Path| std::path::absolute(p).unwrap_or_else(|_| p.to_path_buf());
    let (file, folder) = (whole(robot), whole(folder));
    let name = file.strip_prefix(&folder).unwrap_or(&file);
    name.to_str().map(Into::into).ok_or_else(|| {
        let text = format!(
            "robot {}: the path is not UTF-8, so no scenario can name the file; rename the file or \
             its folder, or write the scenario beside the robot with -o",
            name.display()
        );
        Error::new(ErrorKind::Input, text)
    })
}

/// On standard error if the scenario is printed, so that it can be redirected.
fn describe(r: &NewResult) {
    let say = |text: &str| if r.file.is_some() { show::line(text) } else { show::note(text) };
    for note in &r.notes {
        show::note(&format!("note       {note}"));
    }
    let feet = if r.feet.is_empty() { "none".into() } else { r.feet.join(", ") };
    say(&format!("feet       {feet}"));
    say(&format!("posture    {}", r.posture));
    match r.stands {
        Some(true) => say("stands     yes: 10 s with these gains, without a controller's help"),
        Some(false) => say("stands     NO: change posture, gains or feet, and try again"),
        None => {}
    }
    if let Some(file) = &r.file {
        say(&format!("scenario   {}", file.display()));
        say(&format!("next       hardstand run {} --view", quoted(&file.to_string_lossy())));
        say(&format!("           hardstand controller stand --robot {}", quoted(&r.robot)));
    }
}
