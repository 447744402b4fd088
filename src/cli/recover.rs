//! `hardstand recover`.

use std::path::Path;

use serde::Serialize;

use hardstand_error::{Error, ErrorKind, Result};

use super::arguments::RecoverArguments;
use super::output_file::OutputFile;
use super::{ExitCode, show};

/// The result of a recovery.
#[derive(Debug, Serialize)]
struct RecoverResult<'a> {
    /// The new file.
    #[serde(serialize_with = "crate::path_text::one")]
    file: &'a Path,
    ticks: u64,
    messages: u64,
    /// How the old log is damaged; `null` if it is whole.
    damage: Option<&'a str>,
}

pub(super) fn recover(a: &RecoverArguments) -> Result<ExitCode> {
    let to = a.to.clone().unwrap_or_else(|| {
        let stem = a.log.file_stem().unwrap_or_default().to_string_lossy();
        a.log.with_file_name(format!("{stem}.recovered.mcap"))
    });
    crate::rt::keep_files_private();
    refuse_existing(&to)?;
    let file = OutputFile::create("log", &to)?;
    let saved = hardstand_log::recover_into(&a.log, file.file(), &to)?;
    if saved.ticks == 0 {
        let (log, why) = (a.log.display(), saved.damage.unwrap_or_else(|| "it is whole".into()));
        let text = format!("log {log} has no whole tick, so there is nothing to replay: {why}");
        return Err(Error::new(ErrorKind::Log, text));
    }
    // it may have come into being in the meantime
    refuse_existing(&to)?;
    file.finish("log")?;
    if a.json {
        let (ticks, messages) = (saved.ticks, saved.messages);
        show::json(&RecoverResult { file: &to, ticks, messages, damage: saved.damage.as_deref() })?;
        return Ok(ExitCode::Done);
    }
    show::line(&match &saved.damage {
        Some(why) => format!("damaged    {}: {why}", a.log.display()),
        None => format!("whole      {}: there is nothing to recover", a.log.display()),
    });
    let (ticks, messages) = (saved.ticks, saved.messages);
    show::line(&format!("recovered  {ticks} ticks, {messages} messages in {}", to.display()));
    Ok(ExitCode::Done)
}

fn refuse_existing(to: &Path) -> Result<()> {
    if to.symlink_metadata().is_err() {
        return Ok(());
    }
    let text = format!("log {}: the file exists; choose another name with --to", to.display());
    Err(Error::new(ErrorKind::File, text))
}
