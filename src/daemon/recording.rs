//! From the queue of ticks to the log.

use std::path::PathBuf;

use crate::buffer_pool::Inbox;
use crate::ros2::RosChannels;
use hardstand_error::Result;
use hardstand_log::{LogLimits, RunInfo, RunWriter, SideMessages, Storage, WrittenLog};
use hardstand_protocol::LogTick;

/// Takes ticks out of a queue and writes them. It knows no thread and no clock, so that a
/// simulation can run it too. The queue is emptied even after writing has failed.
#[derive(Debug)]
pub struct Recording {
    writer: RunWriter,
    ros2: Option<RosChannels>,
    messages: SideMessages,
    inbox: Inbox<LogTick>,
}

impl Recording {
    /// Creates the first file, see [`RunWriter::start`]. Every file gets the channels of `ros2`;
    /// they need records with contacts.
    ///
    /// # Errors
    /// As [`RunWriter::start`].
    pub fn start(
        storage: Box<dyn Storage>,
        path: PathBuf,
        info: RunInfo,
        limits: LogLimits,
        ros2: Option<RosChannels>,
        inbox: Inbox<LogTick>,
    ) -> Result<Self> {
        let channels = ros2.as_ref().map(RosChannels::channels).unwrap_or_default();
        let writer = RunWriter::start(storage, path, info, limits, channels)?;
        Ok(Self { writer, ros2, messages: SideMessages::default(), inbox })
    }

    /// Writes what is in the queue; once a second puts it on the disk, and looks whether the file
    /// is still there. Call it every few milliseconds.
    pub fn round(&mut self, now_ns: u64) {
        self.drain();
        self.writer.settle(now_ns);
    }

    /// What has been written so far, and what is wrong with it.
    #[must_use]
    pub const fn written(&self) -> &WrittenLog {
        self.writer.written()
    }

    /// Writes what is still in the queue and closes the file.
    #[must_use]
    pub fn finish(mut self) -> WrittenLog {
        self.drain();
        self.writer.finish()
    }

    fn drain(&mut self) {
        while let Some(tick) = self.inbox.take() {
            if let Some(ros2) = &mut self.ros2 {
                ros2.fill(&tick, &mut self.messages);
            }
            self.writer.write(&tick, &self.messages);
            self.inbox.give_back(tick);
        }
    }
}
