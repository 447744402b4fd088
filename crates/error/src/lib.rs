//! The one error type, with a kind that decides the exit code; and how input files are opened.

mod regular_file;

use std::fmt;

pub use regular_file::{irregular, open_regular, read_regular, read_text};

/// Category of an error, as far as a caller may want to handle it differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A scenario, a `--set` value or a robot model is invalid.
    Input,
    /// A file could not be read or written.
    File,
    /// A log is damaged, truncated or not a Hardstand log.
    Log,
    /// The system refused the real-time grants, or the sandbox, that the scenario requires.
    RealTime,
    /// The bus could not be opened or a peer did not answer.
    Bus,
    /// A state that should not be possible.
    Internal,
}

/// An error: a kind and a message that names the thing, its value, what is allowed and what to do.
///
/// ```
/// use hardstand_error::{Error, ErrorKind};
/// let e = Error::new(ErrorKind::Input, "sim.rate_hz is 0; it must be 100 to 8000");
/// assert_eq!(e.kind(), ErrorKind::Input);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

/// A result with this crate's error.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of the given kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// Several mistakes found in one place, as one error: `head`, then a line each.
    #[must_use]
    pub fn list(kind: ErrorKind, head: &str, mistakes: &[String]) -> Self {
        let mut message = String::from(head);
        for m in mistakes {
            message.push_str("\n  - ");
            message.push_str(m);
        }
        Self { kind, message }
    }

    /// The kind.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The same error with `context: ` put before its message.
    #[must_use]
    pub fn within(self, context: impl fmt::Display) -> Self {
        Self { kind: self.kind, message: format!("{context}: {}", self.message) }
    }
}

/// A thread that the system did not start: a limit of the machine, like that of open files.
#[must_use]
pub fn no_thread(name: &str, e: &std::io::Error) -> Error {
    let text = format!(
        "the system starts no thread ({name}): {e}; raise the limits of threads and memory \
         (`ulimit -u`, `ulimit -v`, TasksMax= of systemd), or end other programs of this user"
    );
    Error::new(ErrorKind::Bus, text)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
