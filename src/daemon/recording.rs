//! From the queue of ticks to the log.

use std::path::PathBuf;

use crate::buffer_pool::Inbox;
use crate::ros2::RosChannels;
use hardstand_error::Result;
use hardstand_log::{RunInfo, RunWriter, SideMessages, Storage, WrittenLog};
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
        segment_bytes_max: u64,
        ros2: Option<RosChannels>,
        inbox: Inbox<LogTick>,
    ) -> Result<Self> {
        let channels = ros2.as_ref().map(RosChannels::channels).unwrap_or_default();
        let writer = RunWriter::start(storage, path, info, segment_bytes_max, channels)?;
        Ok(Self { writer, ros2, messages: SideMessages::default(), inbox })
    }

    /// Writes what is in the queue, and puts it on the disk once a second. Call it every few
    /// milliseconds.
    pub fn round(&mut self, now_ns: u64) {
        self.drain();
        self.writer.settle(now_ns);
    }

    /// Why recording has ended early, if it has.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        self.writer.error()
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
