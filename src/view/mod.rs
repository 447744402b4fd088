//! Runs to be looked at: a log as the frames of a page.

mod recorded;

use std::path::Path;

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_view::{MeshFolders, page_with_runs};

use recorded::{Recorded, recorded};

pub use recorded::FRAMES_PER_S;

/// Run files of a log, and of another one that is laid over it.
#[derive(Debug)]
pub struct PageRuns {
    /// One file or two.
    pub files: Vec<Vec<u8>>,
    /// Frames of the first.
    pub frames: usize,
    /// Its frames per second of simulated time.
    pub frames_per_s: f64,
    /// Why its log ended early, if it did.
    pub damage: Option<String>,
}

/// Replays `log` and the log `over` that is laid over it. Where one of `conditions` begins to hold
/// in `log`, there is a mark.
///
/// # Errors
/// As [`Condition::parse`](crate::inspect::Condition::parse),
/// [`Player::open`](crate::replay::Player::open) and
/// [`Player::advance`](crate::replay::Player::advance); [`ErrorKind::Log`] if a replay differs from
/// its log, for then contacts are unknown.
pub fn page_runs(
    log: &Path,
    over: Option<&Path>,
    frames_per_s: f64,
    meshes: &MeshFolders,
    conditions: &[String],
) -> Result<PageRuns> {
    let Recorded { run, frames_per_s: taken, damage } =
        recorded(log, None, frames_per_s, meshes, conditions)?;
    let mut files = vec![run.to_bytes()?];
    if let Some(over) = over {
        files.push(recorded(over, Some(log), frames_per_s, meshes, &[])?.run.to_bytes()?);
    }
    Ok(PageRuns { files, frames: run.frames(), frames_per_s: taken, damage })
}

/// Writes the page of a log, or of two laid over each other, without meshes.
///
/// # Errors
/// As [`page_runs`]; [`ErrorKind::File`] if the page cannot be written.
pub fn write_page(log: &Path, over: Option<&Path>, page: &Path) -> Result<()> {
    let runs = page_runs(log, over, FRAMES_PER_S, &MeshFolders::default(), &[])?;
    std::fs::write(page, page_with_runs(&runs.files))
        .map_err(|e| Error::new(ErrorKind::File, format!("page {}: {e}", page.display())))
}
