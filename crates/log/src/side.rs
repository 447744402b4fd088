//! Channels beside the log's own: messages that are ready, in an encoding that the log need not
//! know.

use std::collections::BTreeMap;
use std::ops::Range;

/// A channel beside the log's own. Every file of the run gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideChannel {
    /// Topic.
    pub topic: String,
    /// Name of the schema of its messages.
    pub schema_name: String,
    /// Language of the schema's text, for instance `ros2msg`.
    pub schema_encoding: String,
    /// The schema.
    pub schema_text: String,
    /// Encoding of its messages, for instance `cdr`.
    pub message_encoding: String,
    /// Metadata of the channel.
    pub metadata: BTreeMap<String, String>,
    /// A message that every file begins with.
    pub first: Option<Vec<u8>>,
}

/// The side messages of one tick, in the order in which they are written. The buffers are used
/// again for the next tick.
#[derive(Clone, Debug, Default)]
pub struct SideMessages {
    messages: Vec<(usize, u64, Range<usize>)>,
    bytes: Vec<u8>,
}

impl SideMessages {
    /// Removes all messages.
    pub fn clear(&mut self) {
        self.messages.clear();
        self.bytes.clear();
    }

    /// Adds a message to the `channel`th [`SideChannel`], at a simulated time in ns.
    pub fn push(&mut self, channel: usize, time_ns: u64, message: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(message);
        self.messages.push((channel, time_ns, start..self.bytes.len()));
    }

    /// Channel, time and bytes of every message.
    pub fn iter(&self) -> impl Iterator<Item = (usize, u64, &[u8])> {
        self.messages.iter().map(|(channel, ns, at)| (*channel, *ns, &self.bytes[at.clone()]))
    }
}
