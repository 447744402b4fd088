//! The recorder's thread.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::buffer_pool::Inbox;
use crate::fault_point;
use crate::rt::{Clock, MonotonicClock};
use hardstand_error::{Result, no_thread};
use hardstand_log::{Disk, LogLimits, RunInfo, WrittenLog};
use hardstand_protocol::LogTick;

use super::{Recording, SideInputs};

/// Time between two looks into the queue.
const POLL: Duration = Duration::from_millis(5);

/// The recorder's thread: takes ticks from the physics thread and writes them.
#[derive(Debug)]
pub struct Recorder {
    thread: JoinHandle<WrittenLog>,
    stop: Arc<AtomicBool>,
    /// The run does not begin.
    given_up: Arc<AtomicBool>,
    written: Arc<Mutex<WrittenLog>>,
}

impl Recorder {
    /// Creates the first file and starts the thread. See [`Recording::start`].
    ///
    /// # Errors
    /// [`ErrorKind::File`](hardstand_error::ErrorKind::File) if the file cannot be created,
    /// [`ErrorKind::Bus`](hardstand_error::ErrorKind::Bus) if the thread cannot be started.
    pub fn start(
        path: &Path,
        info: RunInfo,
        limits: LogLimits,
        inputs: SideInputs,
        inbox: Inbox<LogTick>,
    ) -> Result<Self> {
        let disk = Box::new(Disk::default());
        let recording = Recording::start(disk, path.into(), info, limits, inputs, inbox)?;
        let (stop, given_up) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let written = Arc::<Mutex<WrittenLog>>::default();
        let ends = [&stop, &given_up].map(Arc::clone);
        let told = Arc::clone(&written);
        let thread = std::thread::Builder::new()
            .name("recorder".into())
            .spawn(move || run(recording, &ends, &told))
            .map_err(|e| no_thread("recorder", &e))?;
        Ok(Self { thread, stop, given_up, written })
    }

    /// What had been written when something last went wrong; nothing before that.
    #[must_use]
    pub fn written(&self) -> WrittenLog {
        if self.has_died() {
            return WrittenLog { error: Some(DIED.into()), ..lock(&self.written).clone() };
        }
        lock(&self.written).clone()
    }

    /// True if the thread has panicked: then the queue fills up.
    #[must_use]
    pub fn has_died(&self) -> bool {
        self.thread.is_finished()
    }

    /// Leaves the files as they were before: this recording has no tick yet.
    pub fn give_up(self) {
        self.given_up.store(true, Ordering::Release);
        let _nothing_written = self.finish();
    }

    /// Writes what is still in the queue, closes the file and ends the thread.
    #[must_use]
    pub fn finish(self) -> WrittenLog {
        self.stop.store(true, Ordering::Release);
        self.thread.thread().unpark();
        self.thread
            .join()
            .unwrap_or_else(|_| WrittenLog { error: Some(DIED.into()), ..Default::default() })
    }
}

/// The error of a recording whose thread is gone.
const DIED: &str = "the recorder thread panicked";

fn lock(written: &Mutex<WrittenLog>) -> MutexGuard<'_, WrittenLog> {
    written.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run(
    mut recording: Recording,
    [stop, given_up]: &[Arc<AtomicBool>; 2],
    told: &Mutex<WrittenLog>,
) -> WrittenLog {
    let clock = MonotonicClock::default();
    let troubles = |written: &WrittenLog| (written.losses.len(), written.error.is_some());
    while !stop.load(Ordering::Acquire) {
        fault_point::visit("recorder");
        recording.round(clock.now_ns());
        if troubles(recording.written()) != troubles(&lock(told)) {
            lock(told).clone_from(recording.written());
        }
        std::thread::park_timeout(POLL);
    }
    if given_up.load(Ordering::Acquire) {
        return WrittenLog::default();
    }
    // what was sent before the stop is written
    recording.finish()
}
