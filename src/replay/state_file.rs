//! A saved state in a file: what `ctl snapshot` writes, and a run can begin with.

use std::fs::OpenOptions;
use std::io::Write as _;
#[cfg(unix)]
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use hardstand_error::{Error, ErrorKind, Result, read_regular};
use hardstand_protocol::{Kind, SavedState, decode, encode};

/// More than any payload has.
const STATE_BYTES_MAX: u64 = 4 << 20;

/// Reads a saved state.
///
/// # Errors
/// [`ErrorKind::File`] if the file cannot be read, [`ErrorKind::Input`] if it is not a saved state.
pub fn read_state(file: &Path) -> Result<SavedState> {
    let bytes = read_regular(file, STATE_BYTES_MAX).map_err(|e| file_error(file, &e))?;
    decode(Kind::SavedState, &bytes).map_err(|e| {
        Error::new(ErrorKind::Input, format!("{} is not a saved state: {e}", file.display()))
    })
}

/// Endings of files that a state must not replace.
const OTHERS: [&str; 8] = ["toml", "mcap", "urdf", "xml", "csv", "parquet", "json", "html"];

/// Refuses the name of a scenario, a log or another file that by its ending is no saved state, and
/// is none.
///
/// # Errors
/// [`ErrorKind::Input`].
pub fn check_replaced(file: &Path) -> Result<()> {
    let is_other = |ending: &str| OTHERS.iter().any(|other| ending.eq_ignore_ascii_case(other));
    let ending = file.extension().and_then(|ending| ending.to_str());
    if !file.is_file() || !ending.is_some_and(is_other) || read_state(file).is_ok() {
        return Ok(());
    }
    let name = file.display();
    let text = format!("{name} exists and is not a saved state; choose another name");
    Err(Error::new(ErrorKind::Input, text))
}

/// Writes a saved state; its size, bytes. Only its owner can read and write the file (mode 600),
/// for a state decides how a run goes on.
///
/// # Errors
/// [`ErrorKind::File`] if the file cannot be written.
pub fn write_state(file: &Path, saved: &SavedState) -> Result<usize> {
    let mut bytes = Vec::new();
    encode(Kind::SavedState, saved, &mut bytes)?;
    write_private(file, &bytes).map_err(|e| file_error(file, &e))?;
    Ok(bytes.len())
}

fn write_private(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    options.mode(0o600);
    let mut opened = options.open(file)?;
    #[cfg(unix)]
    if opened.metadata()?.is_file() {
        opened.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    }
    opened.write_all(bytes)
}

fn file_error(file: &Path, e: &std::io::Error) -> Error {
    Error::new(ErrorKind::File, format!("state {}: {e}", file.display()))
}
