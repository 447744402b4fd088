//! The recorder's thread.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::buffer_pool::Inbox;
use crate::fault_point;
use crate::ros2::RosChannels;
use crate::rt::{Clock, MonotonicClock};
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_log::{Disk, RunInfo, WrittenLog};
use hardstand_protocol::LogTick;

use super::Recording;

/// Time between two looks into the queue.
const POLL: Duration = Duration::from_millis(5);

/// The recorder's thread: takes ticks from the physics thread and writes them.
#[derive(Debug)]
pub struct Recorder {
    thread: JoinHandle<WrittenLog>,
    stop: Arc<AtomicBool>,
    failed: Arc<AtomicBool>,
}

impl Recorder {
    /// Creates the first file and starts the thread. See [`Recording::start`].
    ///
    /// # Errors
    /// [`ErrorKind::File`] if the file cannot be created or the thread cannot be started.
    pub fn start(
        path: &Path,
        info: RunInfo,
        segment_bytes_max: u64,
        ros2: Option<RosChannels>,
        inbox: Inbox<LogTick>,
    ) -> Result<Self> {
        let disk = Box::new(Disk);
        let recording = Recording::start(disk, path.into(), info, segment_bytes_max, ros2, inbox)?;
        let (stop, failed) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (stopped, fails) = (Arc::clone(&stop), Arc::clone(&failed));
        let thread = std::thread::Builder::new()
            .name("recorder".into())
            .spawn(move || run(recording, &stopped, &fails))
            .map_err(|e| Error::new(ErrorKind::Internal, format!("recorder thread: {e}")))?;
        Ok(Self { thread, stop, failed })
    }

    /// True once recording has ended early; [`finish`](Self::finish) says why.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed) || self.has_died()
    }

    /// True if the thread has panicked: then the queue fills up.
    #[must_use]
    pub fn has_died(&self) -> bool {
        self.thread.is_finished()
    }

    /// Writes what is still in the queue, closes the file and ends the thread.
    #[must_use]
    pub fn finish(self) -> WrittenLog {
        self.stop.store(true, Ordering::Release);
        self.thread.join().unwrap_or_else(|_| WrittenLog {
            error: Some("the recorder thread panicked".into()),
            ..Default::default()
        })
    }
}

fn run(mut recording: Recording, stop: &AtomicBool, failed: &AtomicBool) -> WrittenLog {
    let clock = MonotonicClock::default();
    while !stop.load(Ordering::Acquire) {
        fault_point::visit("recorder");
        recording.round(clock.now_ns());
        if recording.error().is_some() {
            failed.store(true, Ordering::Relaxed);
        }
        std::thread::sleep(POLL);
    }
    // what was sent before the stop is written
    recording.finish()
}
