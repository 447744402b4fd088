//! Runs to be looked at: a log as the frames of a page.

mod recorded;

use std::path::Path;

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_view::{MeshFolders, page_with_runs};

pub use recorded::{FRAMES_PER_S, Recorded, recorded};

/// Writes the page of a log, or of two laid over each other, without meshes.
///
/// # Errors
/// As [`recorded`]; [`ErrorKind::File`] if the page cannot be written.
pub fn write_page(log: &Path, over: Option<&Path>, page: &Path) -> Result<()> {
    let meshes = MeshFolders::default();
    let mut runs = vec![recorded(log, None, FRAMES_PER_S, &meshes, |_| ())?.run.to_bytes()?];
    if let Some(over) = over {
        runs.push(recorded(over, Some(log), FRAMES_PER_S, &meshes, |_| ())?.run.to_bytes()?);
    }
    std::fs::write(page, page_with_runs(&runs))
        .map_err(|e| Error::new(ErrorKind::File, format!("page {}: {e}", page.display())))
}
