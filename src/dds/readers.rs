//! Readers of all topics, on one thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustdds::GUID;
use rustdds::mio1::{Events, Interest, Poll, Token};
use rustdds::no_key::SimpleDataReader;
use rustdds::rpc::SampleIdentity;

use super::payload::Raw;
use super::thread_panics;
use super::writer::Writer;
use crate::bus::PanicGuard;
use crate::limits::MESSAGE_BYTES_MAX;
use hardstand_error::{Error, ErrorKind, Result};

/// Time between two checks of the stop flag.
const IDLE: Duration = Duration::from_millis(50);

/// Receives the messages of a topic, on the thread of all readers.
pub(super) type Take = Box<dyn FnMut(&Received) + Send>;

/// A message and its writer.
#[derive(Clone, Debug)]
pub struct Received {
    /// The message with its header.
    pub bytes: Vec<u8>,
    identity: SampleIdentity,
}

impl Received {
    /// Identifies the writer in its domain.
    #[must_use]
    pub fn writer(&self) -> [u8; 16] {
        GUID::to_bytes(&self.identity.writer_guid)
    }

    /// The number of the message among those of its writer.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        i64::from(self.identity.sequence_number).unsigned_abs()
    }

    /// Publishes `answer` with the identity of this message as that of the request.
    pub fn answer(&self, writer: &Writer, answer: &[u8]) -> bool {
        writer.answer(answer, self.identity)
    }
}

/// Readers that are not yet on a thread.
#[derive(Default)]
pub struct Readers {
    all: Vec<(SimpleDataReader<Vec<u8>, Raw>, Take)>,
}

/// The thread of the readers. Dropping it ends the thread.
#[derive(Debug)]
pub struct Receiving {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Readers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Readers").field("topics", &self.all.len()).finish_non_exhaustive()
    }
}

impl Readers {
    pub(super) fn add(&mut self, reader: SimpleDataReader<Vec<u8>, Raw>, take: Take) -> [u8; 16] {
        let guid = GUID::to_bytes(&reader.guid());
        self.all.push((reader, take));
        guid
    }

    /// Starts the thread.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`] if the system refuses to poll the sockets.
    pub fn start(mut self, panic_guard: PanicGuard) -> Result<Receiving> {
        let failed = |e| Error::new(ErrorKind::Bus, format!("DDS readers: {e}"));
        let poll = Poll::new().map_err(failed)?;
        for (i, (reader, _)) in self.all.iter_mut().enumerate() {
            let registry = poll.registry();
            registry.register(reader, Token(i), Interest::READABLE).map_err(failed)?;
        }
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("dds-readers".into())
            .spawn(move || self.run(poll, &seen, &panic_guard))
            .map_err(failed)?;
        Ok(Receiving { stop, thread: Some(thread) })
    }

    fn run(&mut self, mut poll: Poll, stop: &AtomicBool, panic_guard: &PanicGuard) {
        let mut events = Events::with_capacity(self.all.len().max(1));
        let panics = thread_panics::count();
        while !stop.load(Ordering::Acquire) && !panic_guard.is_over() {
            // interrupted by a signal: look again
            let _polled = poll.poll(&mut events, Some(IDLE)).is_ok();
            if thread_panics::count() != panics {
                panic_guard.end();
            }
            for event in &events {
                if let Some((reader, take)) = self.all.get_mut(event.token().0) {
                    panic_guard.guard(|| take_all(reader, take));
                }
            }
        }
    }
}

fn take_all(reader: &SimpleDataReader<Vec<u8>, Raw>, take: &mut Take) {
    // notifications are edges: what arrives after this rings again
    reader.drain_read_notifications();
    loop {
        match reader.try_take_one() {
            Ok(Some(change)) => {
                let identity = SampleIdentity {
                    writer_guid: change.writer_guid,
                    sequence_number: change.sequence_number,
                };
                let mut bytes = change.sample;
                // one that is too long stays so for the decoder, which refuses it by name
                bytes.truncate(MESSAGE_BYTES_MAX + 1);
                take(&Received { bytes, identity });
            }
            Ok(None) => return,
            // bytes of another encoding: the reader has gone on to the next message
            Err(_) => {}
        }
    }
}

impl Drop for Receiving {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join().is_ok();
        }
    }
}
