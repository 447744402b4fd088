//! Which pages are served: those whose connections the front door has opened.
//!
//! The WebSocket server behind the front door has a port of its own on this machine, which any
//! program, and through a browser any site, can reach. So the front door introduces each connection
//! with a word that only it knows. A client without it sees nothing and orders nothing.

use std::sync::{Mutex, MutexGuard, PoisonError};

use foxglove::websocket::{Client as Page, ClientId};
use foxglove::{Channel, Encode, RawChannel, SinkId};
use hardstand_protocol::random_number;
use serde_json::json;

/// The pages that have been introduced.
pub(crate) struct Pages {
    word: String,
    known: Mutex<Vec<(ClientId, SinkId)>>,
}

/// A text frame of a client, masked, with a length of two bytes.
const TEXT_FRAME: [u8; 2] = [0x81, 0x80 | 126];
/// A mask that changes nothing.
const NO_MASK: [u8; 4] = [0; 4];

impl Pages {
    pub(crate) fn new() -> Self {
        let word = format!("/{:016x}{:016x}", random_number(), random_number());
        Self { word, known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, Vec<(ClientId, SinkId)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What introduces a connection, as bytes of a client's WebSocket: the word is the topic of a
    /// channel that the client would publish on.
    pub(crate) fn introduction(&self) -> Vec<u8> {
        let channel =
            json!({ "id": u32::MAX, "topic": self.word, "encoding": "json", "schemaName": "" });
        let text = json!({ "op": "advertise", "channels": [channel] }).to_string();
        let length = (text.len() as u16).to_be_bytes();
        [&TEXT_FRAME[..], &length, &NO_MASK, text.as_bytes()].concat()
    }

    /// A client says on which topic it would publish.
    pub(crate) fn hear(&self, page: &Page, topic: &str) {
        if let (true, Some(sink)) = (topic == self.word, page.sink_id()) {
            self.known().push((page.id(), sink));
        }
    }

    /// A client takes that back, or has gone.
    pub(crate) fn forget(&self, page: &Page, topic: &str) {
        if topic == self.word {
            self.known().retain(|(id, _)| *id != page.id());
        }
    }

    pub(crate) fn knows(&self, page: ClientId) -> bool {
        self.known().iter().any(|(id, _)| *id == page)
    }

    /// Not with the list at hand, which the server takes in calls of its own.
    fn sinks(&self) -> Vec<SinkId> {
        self.known().iter().map(|(_, sink)| *sink).collect()
    }

    /// Sends a message to all of them that have subscribed.
    pub(crate) fn show(&self, channel: &RawChannel, message: &[u8]) {
        self.sinks().into_iter().for_each(|sink| channel.log_to_sink(message, Some(sink)));
    }

    /// The same in one of Foxglove's types.
    pub(crate) fn show_as<T: Encode>(&self, channel: &Channel<T>, message: &T) {
        self.sinks().into_iter().for_each(|sink| channel.log_to_sink(message, Some(sink)));
    }
}
