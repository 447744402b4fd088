//! Whether a controller that simulates the robot itself goes on.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{CONTROLLER_OUTPUT, DAEMON_OUTPUT};

/// Watches the files of a run. A log grows at least every ten ticks; of a run whose files do not
/// grow for the patience, the controller hangs, or the log cannot be written.
#[derive(Debug)]
pub(super) struct Progress {
    folder: PathBuf,
    patience: Duration,
    bytes: u64,
    /// When they had grown.
    since: Instant,
    looked: Instant,
}

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(200);
/// Who looks no more often has not seen whether files grow.
const AWAY: Duration = Duration::from_secs(1);

impl Progress {
    /// Of a run that begins now with its log and its report in `folder`.
    pub(super) fn new(folder: &Path, patience: Duration) -> Self {
        let now = Instant::now();
        Self { folder: folder.into(), patience, bytes: 0, since: now, looked: now }
    }

    /// True if they have not grown for the patience. To be called often: looks now and then.
    pub(super) fn has_ceased(&mut self) -> bool {
        if self.looked.elapsed() < LOOK.min(self.patience) {
            return false;
        }
        // both may have been stopped, as containers are
        let was_away = self.looked.elapsed() > AWAY;
        self.looked = Instant::now();
        let bytes = self.bytes();
        if bytes != self.bytes || was_away {
            self.bytes = bytes;
            self.since = self.looked;
        }
        self.since.elapsed() >= self.patience
    }

    /// All bytes but those that the controller prints.
    fn bytes(&self) -> u64 {
        let files = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let printed = [DAEMON_OUTPUT, CONTROLLER_OUTPUT];
        let files = files.filter(|file| printed.iter().all(|name| file.file_name() != *name));
        files.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum()
    }
}
