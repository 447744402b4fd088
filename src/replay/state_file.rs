//! A saved state in a file: what `ctl snapshot` writes, and a run can begin with.

use std::path::Path;

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{Kind, SavedState, decode, encode};

/// Reads a saved state.
///
/// # Errors
/// [`ErrorKind::File`] if the file cannot be read, [`ErrorKind::Input`] if it is not a saved state.
pub fn read_state(file: &Path) -> Result<SavedState> {
    let bytes = std::fs::read(file).map_err(|e| file_error(file, &e))?;
    decode(Kind::SavedState, &bytes).map_err(|e| {
        Error::new(ErrorKind::Input, format!("{} is not a saved state: {e}", file.display()))
    })
}

/// Writes a saved state; its size, bytes.
///
/// # Errors
/// [`ErrorKind::File`] if the file cannot be written.
pub fn write_state(file: &Path, saved: &SavedState) -> Result<usize> {
    let mut bytes = Vec::new();
    encode(Kind::SavedState, saved, &mut bytes)?;
    std::fs::write(file, &bytes).map_err(|e| file_error(file, &e))?;
    Ok(bytes.len())
}

fn file_error(file: &Path, e: &std::io::Error) -> Error {
    Error::new(ErrorKind::File, format!("state {}: {e}", file.display()))
}
