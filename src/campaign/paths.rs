//! Paths that lead from one folder to another.

use std::path::{Component, Path, PathBuf};

/// `to` as seen from the folder `from`; both are absolute.
pub(crate) fn relative(from: &Path, to: &Path) -> PathBuf {
    let common = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    up.chain(to.components().skip(common)).collect()
}
