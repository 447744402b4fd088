//! Which file was written, and how long it is: to notice that it was removed, replaced or cut.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// A file as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    path: PathBuf,
    /// Device and inode.
    identity: (u64, u64),
    bytes: u64,
}

impl Stamp {
    /// The file at `path`, following links, as it is now.
    ///
    /// # Errors
    /// The error of the operating system.
    pub fn at(path: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(path)?;
        Ok(Self::of(path, &metadata, metadata.len()))
    }

    /// The file of this metadata, of which `bytes` have been written.
    pub(crate) fn of(path: &Path, metadata: &Metadata, bytes: u64) -> Self {
        Self { path: path.into(), identity: identity(metadata), bytes }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True if both are one file, for instance by a hard link.
    #[must_use]
    pub fn is_same_file(&self, other: &Self) -> bool {
        self.identity == other.identity
    }

    /// What has become of the file, if it is not at its place any more as it was written.
    #[must_use]
    pub fn change(&self) -> Option<String> {
        let now = match Self::at(&self.path) {
            Ok(now) => now,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Some("it was removed or renamed".into());
            }
            Err(e) => return Some(format!("it cannot be looked at: {e}")),
        };
        let (bytes, written) = (now.bytes, self.bytes);
        if !self.is_same_file(&now) {
            Some("another file took its place".into())
        } else if bytes < written {
            Some(format!("it was cut to {bytes} of {written} bytes"))
        } else if bytes > written {
            Some(format!("another program wrote to it ({bytes} bytes, not {written})"))
        } else {
            None
        }
    }
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.dev(), metadata.ino())
}

/// Without an operating system no log is written.
#[cfg(not(unix))]
fn identity(_: &Metadata) -> (u64, u64) {
    (0, 0)
}
