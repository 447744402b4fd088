//! Files that hold secrets: only the user of this process may read or write them. No message
//! contains any of their content.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use hardstand_error::{Error, ErrorKind, Result};

/// Largest file of secrets, bytes.
const BYTES_MAX: u64 = 65_536;
/// Longest password.
const PASSWORD_BYTES_MAX: usize = 256;

/// The text of the file at `path`; `what` is its name in messages.
///
/// # Errors
/// `ErrorKind::File` if it cannot be read, `ErrorKind::Input` if other users can access it, or
/// if it is empty, too large or not text.
pub fn read_secret(what: &str, path: &Path) -> Result<String> {
    let name = path.display();
    let failed = |e: std::io::Error| unreadable(what, path, &e);
    let refused = |why: String| Error::new(ErrorKind::Input, format!("{what} {name}: {why}"));
    // opening a pipe would block
    let meta = std::fs::metadata(path).map_err(failed)?;
    if !meta.is_file() {
        return Err(refused("it is not a file".into()));
    }
    let (mode, user) = (meta.mode() & 0o7777, rustix::process::geteuid().as_raw());
    if mode & 0o077 != 0 {
        return Err(refused(format!(
            "its mode is {mode:03o}, so others may use it; it must be 600: chmod 600 {name}"
        )));
    }
    if meta.uid() != user {
        return Err(refused(format!(
            "it belongs to user {}, and this process runs as {user}: chown {user} {name}",
            meta.uid()
        )));
    }
    let file = File::open(path).map_err(failed)?;
    let mut text = String::new();
    if file.take(BYTES_MAX + 1).read_to_string(&mut text).is_err() {
        return Err(refused("it cannot be read as UTF-8 text".into()));
    }
    match text.len() as u64 {
        n if n > BYTES_MAX => Err(refused(format!("it is larger than {BYTES_MAX} bytes"))),
        _ if text.trim().is_empty() => Err(refused("it is empty".into())),
        _ => Ok(text),
    }
}

/// The error of a file that cannot be read.
#[must_use]
pub fn unreadable(what: &str, path: &Path, e: &std::io::Error) -> Error {
    let mut text = format!("{what} {}: {e}", path.display());
    if e.kind() == std::io::ErrorKind::PermissionDenied {
        let user = rustix::process::geteuid().as_raw();
        text += &format!(
            "; user {user} must be able to read it and to enter its folders without root's rights, \
             which are given up at the start: see `namei -l {}`",
            path.display()
        );
    }
    Error::new(ErrorKind::File, text)
}

/// The password in a file that holds only a password.
///
/// # Errors
/// As [`read_secret`]; `ErrorKind::Input` if the file is not one line with a password.
pub fn read_password(path: &Path) -> Result<String> {
    let text = read_secret("password file", path)?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    if is_password(line) {
        return Ok(line.into());
    }
    let text = format!("password file {}: it must be one line; {PASSWORD}", path.display());
    Err(Error::new(ErrorKind::Input, text))
}

/// The form of a password, for messages.
pub const PASSWORD: &str = "a password is 1 to 256 printable ASCII characters without spaces";

/// True for a valid password.
#[must_use]
pub fn is_password(text: &str) -> bool {
    (1..=PASSWORD_BYTES_MAX).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic())
}

/// The path of a file as a JSON string.
///
/// # Errors
/// `ErrorKind::Input` if it is not UTF-8 or has control characters.
pub fn path_text(path: &Path) -> Result<String> {
    match path.to_str().filter(|t| !t.chars().any(char::is_control)) {
        Some(text) => Ok(format!("{text:?}")),
        None => Err(Error::new(
            ErrorKind::Input,
            format!("{}: a path must be UTF-8 without control characters", path.display()),
        )),
    }
}
