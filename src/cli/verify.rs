//! `hardstand verify`.

use std::path::{Path, PathBuf};

use serde::Serialize;

use hardstand_error::Result;
use hardstand_log::{LogFault, Verdict, Verified, verify};

use super::arguments::VerifyArguments;
use super::{ExitCode, progress, show};

/// The result of a verification.
#[derive(Debug, Serialize)]
struct VerifyResult<'a> {
    /// `complete`, `no_chain`, `cut_off` or `broken`.
    verdict: &'static str,
    /// The files that were read, in order.
    #[serde(serialize_with = "crate::path_text::many")]
    files: &'a [PathBuf],
    bytes: u64,
    links: u64,
    /// Before the first damage.
    ticks: u64,
    run_id: u32,
    end_tick: u64,
    /// Value of the last link, 16 hex digits.
    value: Option<String>,
    /// `hardstand recover` has ended the log.
    recovered: bool,
    /// The first file follows another one, which was not read.
    continues: bool,
    fault: Option<FaultResult<'a>>,
}

/// Where a log cannot be believed any more.
#[derive(Debug, Serialize)]
struct FaultResult<'a> {
    #[serde(serialize_with = "crate::path_text::one")]
    file: &'a Path,
    /// The bytes of the file in which it is.
    from_byte: u64,
    to_byte: u64,
    /// The last tick that is certain.
    run_id: u32,
    tick: u64,
    why: &'a str,
}

impl<'a> From<&'a LogFault> for FaultResult<'a> {
    fn from(fault: &'a LogFault) -> Self {
        let LogFault { file, from_byte, to_byte, run_id, tick, why, .. } = fault;
        let (from_byte, to_byte, run_id, tick) = (*from_byte, *to_byte, *run_id, *tick);
        Self { file, from_byte, to_byte, run_id, tick, why }
    }
}

/// The log in all its files, with a progress bar.
pub(super) fn verify_log(path: &Path) -> Result<Verified> {
    let bar = progress::bar(0, "verifying");
    let found = verify(path, |read, all| {
        bar.set_length(all);
        bar.set_position(read);
    });
    bar.finish_and_clear();
    found
}

pub(super) fn verify_command(a: &VerifyArguments) -> Result<ExitCode> {
    let found = verify_log(&a.log)?;
    let (verdict, fault, code) = match &found.verdict {
        Verdict::Complete => ("complete", None, ExitCode::Done),
        Verdict::NoChain => ("no_chain", None, ExitCode::Negative),
        Verdict::CutOff(fault) => ("cut_off", Some(fault), ExitCode::Incomplete),
        Verdict::Broken(fault) => ("broken", Some(fault), ExitCode::Incomplete),
    };
    if a.json {
        show::json(&VerifyResult {
            verdict,
            files: &found.files,
            bytes: found.bytes,
            links: found.links,
            ticks: found.ticks,
            run_id: found.run_id,
            end_tick: found.end_tick,
            value: found.value.map(|value| format!("{value:016x}")),
            recovered: found.is_recovered,
            continues: found.is_continuation,
            fault: fault.map(FaultResult::from),
        })?;
    } else {
        show_text(&a.log, &found);
    }
    Ok(code)
}

fn show_text(log: &Path, found: &Verified) {
    let Verified { ticks, links, run_id, end_tick, .. } = found;
    let files = match &found.files[..] {
        [one] => one.display().to_string(),
        more => format!("{} and {} further files", log.display(), more.len().saturating_sub(1)),
    };
    let mb = found.bytes as f64 * 1e-6;
    show::line(&format!("read       {files}: {mb:.1} MB, {ticks} ticks, {links} links"));
    if found.is_continuation {
        show::line("begins     in the middle of a recording; the files before were not read");
    }
    match &found.verdict {
        Verdict::Complete => {
            let value = found.value.unwrap_or_default();
            show::line(&format!(
                "complete   every byte is as it was written, to tick {end_tick} of run {run_id}; \
                 the last link is {value:016x}"
            ));
        }
        Verdict::NoChain => show::line(
            "NO CHAIN   an older version wrote this log: only the checksums of MCAP were checked",
        ),
        Verdict::CutOff(fault) => show::line(&format!("cut off    {fault}")),
        Verdict::Broken(fault) => {
            show::line(&format!("BROKEN     {fault}"));
            let file = fault.file.display();
            show::line(&format!(
                "to do      `hardstand recover {file}` writes what is before it to a new file"
            ));
        }
    }
    if found.is_recovered {
        show::line("recovered  by `hardstand recover`: the recording may have gone on");
    }
}
