//! Files that are read whole.

use std::io::ErrorKind as IoErrorKind;
use std::path::Path;

use hardstand_error::{Error, ErrorKind, Result, read_regular};

use super::BYTES_MAX;

/// The bytes of a regular file.
///
/// # Errors
/// [`ErrorKind::File`] if it cannot be read; [`ErrorKind::Input`] if it is too long.
pub(super) fn bytes_of(file: &Path) -> Result<Vec<u8>> {
    read_regular(file, BYTES_MAX).map_err(|e| {
        let too_long = e.kind() == IoErrorKind::FileTooLarge;
        let kind = if too_long { ErrorKind::Input } else { ErrorKind::File };
        Error::new(kind, format!("{}: {e}", file.display()))
    })
}
