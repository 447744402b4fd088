//! A writer of one topic.

use std::sync::atomic::{AtomicBool, Ordering};

use rustdds::dds::statusevents::DataWriterStatus;
use rustdds::no_key::DataWriter;
use rustdds::rpc::SampleIdentity;
use rustdds::with_key::WriteOptionsBuilder;
use rustdds::{GUID, RTPSEntity, StatusEvented};

use super::payload::Raw;

/// Publishes messages of one topic.
pub struct Writer {
    writer: DataWriter<Vec<u8>, Raw>,
    wanted: AtomicBool,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("guid", &self.guid()).finish_non_exhaustive()
    }
}

impl Writer {
    pub(super) const fn new(writer: DataWriter<Vec<u8>, Raw>) -> Self {
        Self { writer, wanted: AtomicBool::new(false) }
    }

    /// True if the topic has readers.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        while let Some(status) = self.writer.try_recv_status() {
            if let DataWriterStatus::PublicationMatched { current, .. } = status {
                self.wanted.store(current.count() > 0, Ordering::Release);
            }
        }
        self.wanted.load(Ordering::Acquire)
    }

    /// Publishes a message with its header; false if the send buffer is full. Does not wait.
    pub fn put(&self, message: &[u8]) -> bool {
        self.writer.write(message.to_vec(), None).is_ok()
    }

    /// Publishes the answer to the request `request`.
    pub(super) fn answer(&self, message: &[u8], request: SampleIdentity) -> bool {
        let options = WriteOptionsBuilder::new().related_sample_identity(request).build();
        self.writer.write_with_options(message.to_vec(), options).is_ok()
    }

    /// Identifies the writer in its domain.
    #[must_use]
    pub fn guid(&self) -> [u8; 16] {
        GUID::to_bytes(&self.writer.guid())
    }
}
