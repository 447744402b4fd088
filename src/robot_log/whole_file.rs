//! Files that are read whole.

use std::path::Path;

use hardstand_error::{Error, ErrorKind, Result};

use super::BYTES_MAX;

/// The bytes of a file.
///
/// # Errors
/// [`ErrorKind::File`] if it cannot be read; [`ErrorKind::Input`] if it is too long.
pub(super) fn bytes_of(file: &Path) -> Result<Vec<u8>> {
    let io = |e: std::io::Error| Error::new(ErrorKind::File, format!("{}: {e}", file.display()));
    let size = std::fs::metadata(file).map_err(io)?.len();
    if size > BYTES_MAX {
        let text = format!("{}: {size} bytes; at most {BYTES_MAX}", file.display());
        return Err(Error::new(ErrorKind::Input, text));
    }
    std::fs::read(file).map_err(io)
}
