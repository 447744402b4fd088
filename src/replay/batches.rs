//! Cuts a log into batches of records for the threads of a replay.

use hardstand_log::{LogReader, LogRecord, NextSegment};
use hardstand_protocol::Keyframe;

/// Some records of a log.
pub(super) struct Batch {
    pub(super) records: Vec<LogRecord>,
    pub(super) then: Then,
}

/// What follows after a batch.
#[derive(Clone)]
pub(super) enum Then {
    /// More records.
    More,
    /// A keyframe, and then a tick: a replay can begin here.
    Border(Keyframe),
    /// The end of the log: see [`LogReader::damage`] and [`LogReader::next_segment`].
    End { damage: Option<String>, next_segment: Option<NextSegment> },
}

/// The batches of a log.
pub(super) struct Batches<'a> {
    log: &'a mut LogReader,
    /// Records of a batch.
    size: usize,
    /// Read, but not passed on yet.
    peeked: Option<LogRecord>,
    /// There has been a tick: the keyframes before it say where the replay begins.
    begun: bool,
}

impl<'a> Batches<'a> {
    /// Batches of `size` records.
    pub(super) const fn new(log: &'a mut LogReader, size: usize) -> Self {
        Self { log, size, peeked: None, begun: false }
    }

    /// Bytes read, and bytes in all.
    pub(super) const fn progress(&self) -> (u64, u64) {
        self.log.progress()
    }

    /// The next batch; nothing comes after one with [`Then::End`].
    pub(super) fn next_batch(&mut self) -> Batch {
        let mut records = Vec::with_capacity(self.size);
        while records.len() < self.size {
            let Some(record) = self.peeked.take().or_else(|| self.log.next_record()) else {
                let damage = self.log.damage().map(String::from);
                let next_segment = self.log.next_segment().cloned();
                return Batch { records, then: Then::End { damage, next_segment } };
            };
            let record = match record {
                LogRecord::Keyframe(keyframe) if self.begun => {
                    self.peeked = self.log.next_record();
                    if let Some(LogRecord::Tick(_)) = self.peeked {
                        return Batch { records, then: Then::Border(keyframe) };
                    }
                    LogRecord::Keyframe(keyframe)
                }
                other => other,
            };
            self.begun |= matches!(record, LogRecord::Tick(_));
            records.push(record);
        }
        Batch { records, then: Then::More }
    }
}
