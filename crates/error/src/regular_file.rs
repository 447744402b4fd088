//! Opens input files: regular ones only, for a named pipe can block and a device need not end.

use std::fs::{self, File, FileType};
use std::io::{self, Read as _};
use std::path::Path;

/// Opens the regular file `path` to read it.
///
/// # Errors
/// The error of the operating system; [`io::ErrorKind::InvalidInput`] for anything else.
pub fn open_regular(path: &Path) -> io::Result<File> {
    // before opening it: opening a named pipe would wait for its writer
    match irregular(fs::metadata(path)?.file_type()) {
        Some(kind) => {
            let text = format!("it is {kind}, not a regular file; name a regular file");
            Err(io::Error::new(io::ErrorKind::InvalidInput, text))
        }
        None => File::open(path),
    }
}

/// Reads the regular file `path` whole, if it has at most so many bytes.
///
/// # Errors
/// As [`open_regular`]; [`io::ErrorKind::FileTooLarge`].
pub fn read_regular(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // the file may grow meanwhile, and files in /proc state a length of 0
    open_regular(path)?.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        let text = format!("it has more than {bytes_max} bytes; at most {bytes_max} are read");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    Ok(bytes)
}

/// Reads the regular file `path` whole, as text.
///
/// # Errors
/// As [`read_regular`]; [`io::ErrorKind::InvalidData`] if it is not UTF-8.
pub fn read_text(path: &Path, bytes_max: u64) -> io::Result<String> {
    String::from_utf8(read_regular(path, bytes_max)?).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        let text = format!("byte {at} is not UTF-8; save it as UTF-8 text");
        io::Error::new(io::ErrorKind::InvalidData, text)
    })
}

/// What a file is, if it is no regular one.
#[must_use]
pub fn irregular(of: FileType) -> Option<&'static str> {
    if of.is_file() {
        return None;
    }
    if of.is_dir() {
        return Some("a folder");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if of.is_fifo() {
            return Some("a named pipe");
        }
        if of.is_socket() {
            return Some("a socket");
        }
    }
    Some("a device")
}
