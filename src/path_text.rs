//! Paths in JSON: text is Unicode, and the bytes of a path need not be. What is not Unicode is
//! written as U+FFFD, so that a document about finished work is not lost over a name in it.

use std::path::{Path, PathBuf};

use serde::{Serialize as _, Serializer};

/// For `serialize_with` of a path.
pub(crate) fn one<S: Serializer>(path: impl AsRef<Path>, to: S) -> Result<S::Ok, S::Error> {
    path.as_ref().to_string_lossy().serialize(to)
}

/// For `serialize_with` of a path that may be missing.
pub(crate) fn maybe<S: Serializer>(
    path: &Option<impl AsRef<Path>>,
    to: S,
) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.as_ref().to_string_lossy()).serialize(to)
}

/// For `serialize_with` of several paths.
pub(crate) fn many<S: Serializer>(paths: impl AsRef<[PathBuf]>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(paths.as_ref().iter().map(|path| path.to_string_lossy()))
}
