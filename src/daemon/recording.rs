//! From the queue of ticks to the log.

use std::path::PathBuf;

use crossbeam_channel::Receiver;

use crate::buffer_pool::Inbox;
use crate::ros2::RosChannels;
use hardstand_error::Result;
use hardstand_log::{
    LogLimits, ReadingChannels, RunInfo, RunWriter, SideMessages, Storage, WrittenLog,
};
use hardstand_protocol::{EventReading, LogTick};

use super::event_log;

/// What the log holds beside its ticks.
#[derive(Clone, Debug, Default)]
pub struct SideInputs {
    /// Topics of ROS 2, made from the ticks.
    pub ros2: Option<RosChannels>,
    /// What drives show, if the scenario has such that are not ideal.
    pub drives: bool,
    /// The truth beside sensors with errors, if the scenario has such.
    pub sensors: bool,
    /// Events, as they are published.
    pub events: Option<Receiver<EventReading>>,
}

impl From<Option<RosChannels>> for SideInputs {
    fn from(ros2: Option<RosChannels>) -> Self {
        Self { ros2, ..Self::default() }
    }
}

/// Takes ticks out of a queue and writes them. It knows no thread and no clock, so that a
/// simulation can run it too. The queue is emptied even after writing has failed.
#[derive(Debug)]
pub struct Recording {
    writer: RunWriter,
    inputs: SideInputs,
    /// The channels of readings and events; those of ROS 2 come before them.
    reading_channels: ReadingChannels,
    event_channel: usize,
    messages: SideMessages,
    inbox: Inbox<LogTick>,
}

impl Recording {
    /// Creates the first file, see [`RunWriter::start`]. Every file gets the channels of
    /// `inputs`; those of ROS 2 need records with contacts.
    ///
    /// # Errors
    /// As [`RunWriter::start`].
    pub fn start(
        storage: Box<dyn Storage>,
        path: PathBuf,
        info: RunInfo,
        limits: LogLimits,
        inputs: SideInputs,
        inbox: Inbox<LogTick>,
    ) -> Result<Self> {
        let mut channels = inputs.ros2.as_ref().map(RosChannels::channels).unwrap_or_default();
        let reading_channels = ReadingChannels::add(inputs.drives, inputs.sensors, &mut channels);
        let event_channel = channels.len();
        channels.extend(inputs.events.as_ref().map(|_| event_log::channel()));
        let writer = RunWriter::start(storage, path, info, limits, channels)?;
        let messages = SideMessages::default();
        Ok(Self { writer, inputs, reading_channels, event_channel, messages, inbox })
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
            self.messages.clear();
            if let Some(ros2) = &mut self.inputs.ros2 {
                ros2.fill(&tick, &mut self.messages);
            }
            // a reading is far below the codec's limit
            let _encoded = self.reading_channels.push(&tick, &mut self.messages).is_ok();
            self.writer.write(&tick, &self.messages);
            self.inbox.give_back(tick);
        }
        self.messages.clear();
        for event in self.inputs.events.iter().flat_map(Receiver::try_iter) {
            event_log::push(&event, self.event_channel, &mut self.messages);
        }
        self.writer.write_beside(&self.messages);
    }
}
