//! Keys, tokens and attachments: the name of a topic for `rmw_zenoh` and for the bridge.
//!
//! `rmw_zenoh` (0.2.4 and later): `<domain>/<topic>/<DDS type>/<hash>`, messages with 33 bytes of
//! attachment, tokens `@ros2_lv/…`. Source: rmw_zenoh's `docs/design.md` and `rmw_zenoh_cpp`.
//! `zenoh-bridge-ros2dds` 1.10: the topic's name alone, no attachment, tokens `@/<zid>/@ros2_lv/…`.
//! Source: its `zenoh-plugin-ros2dds/src/liveliness_mgt.rs`.

use xxhash_rust::xxh3::xxh3_128;

use super::messages::{Message, Service};
use super::sessions::Sender;
use super::topics::{MessageType, full_name};
use crate::config::{Ros2Mode, Ros2Settings};

/// Name of the node that has all topics.
const NODE: &str = "hardstand";
/// Bytes of an attachment.
pub(super) const ATTACHMENT_BYTES: usize = 33;

/// Role of an end of a topic or service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Publishes: reliable, volatile, the last 10.
    Publisher,
    /// Publishes and keeps the last message for late subscribers: reliable, transient local, 1.
    Latched,
    /// Subscribes to a stream: volatile, the last one. Best effort, so that it matches publishers
    /// of either reliability.
    Subscriber,
    /// Subscribes to single messages: reliable, volatile, the last one.
    ReliableSubscriber,
    /// Serves a service.
    Server,
}

/// Key and token of an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wire {
    /// Key to publish or subscribe.
    pub key: String,
    /// Key of the liveliness token that announces it.
    pub token: String,
    /// Identifies this end to `rmw_zenoh`.
    pub gid: [u8; 16],
}

/// Names topics and services.
#[derive(Clone, Debug)]
pub struct Naming {
    bridge: bool,
    domain: u32,
    namespace: String,
    session: String,
    /// Number of the node in its session.
    node: usize,
    ends: u32,
}

impl Naming {
    /// Names for the session with the id `session`.
    #[must_use]
    pub fn new(settings: &Ros2Settings, session: &str) -> Self {
        Self {
            bridge: settings.mode == Ros2Mode::Bridge,
            domain: settings.domain,
            namespace: settings.namespace.clone(),
            session: session.into(),
            node: settings.node,
            ends: 0,
        }
    }

    /// The token of the node, which must be declared before those of the topics.
    #[must_use]
    pub fn node_token(&self) -> String {
        let zid = &self.session;
        if self.bridge {
            return format!("@/{zid}/@ros2_lv");
        }
        let (domain, node, namespace) = (self.domain, self.node, self.mangled_namespace());
        format!("@ros2_lv/{domain}/{zid}/{node}/{node}/NN/%/{namespace}/{NODE}")
    }

    /// The full name of a topic, see [`full_name`].
    #[must_use]
    pub fn full(&self, topic: &str) -> String {
        full_name(&self.namespace, topic)
    }

    /// The next end of a topic of the type `T`.
    pub fn end<T: Message>(&mut self, topic: &str, end: End) -> Wire {
        self.end_of(MessageType::of::<T>(), topic, end)
    }

    /// The same with the type as a value.
    pub fn end_of(&mut self, of: MessageType, topic: &str, end: End) -> Wire {
        self.wire(topic, (of.name, of.hash), end)
    }

    /// The server of a service of the type `S`.
    pub fn server<S: Service>(&mut self, service: &str) -> Wire {
        self.server_of(service, (S::NAME, S::HASH))
    }

    /// The same with name and hash of the type as values.
    pub(super) fn server_of(&mut self, service: &str, of: (&str, &str)) -> Wire {
        self.wire(service, of, End::Server)
    }

    fn wire(&mut self, name: &str, (type_name, hash): (&str, &str), end: End) -> Wire {
        self.ends += 1;
        let name = self.full(name);
        let (key, token) = if self.bridge {
            let (word, qos) = match end {
                End::Publisher => ("MP", "/:1:0:0,10"),
                End::Latched => ("MP", "/:1:1:0,1"),
                // a subscriber that requires reliability does not match a best-effort publisher
                End::Subscriber => ("MS", "/:0:0:0,1"),
                End::ReliableSubscriber => ("MS", "/:1:0:0,1"),
                End::Server => ("SS", ""),
            };
            // the user data of the bridge's own end, which nodes search for the type's hash
            let hash = if end == End::Server { "" } else { &format!(":typehash={hash};") };
            let [escaped, type_name] = [&name, type_name].map(|n| n.replace('/', "§"));
            let session = &self.session;
            let token = format!("@/{session}/@ros2_lv/{word}/{escaped}/{type_name}{qos}{hash}");
            (name, token)
        } else {
            let dds = dds_type(type_name, "");
            let (word, qos) = match end {
                End::Publisher => ("MP", "::,10:,:,:,,"),
                End::Latched => ("MP", ":1:,1:,:,:,,"),
                End::Subscriber | End::ReliableSubscriber => ("MS", "::,1:,:,:,,"),
                End::Server => ("SS", "::,10:,:,:,,"),
            };
            // a sender may use another ROS release, with another hash or without one
            let sent_here = matches!(end, End::Publisher | End::Latched);
            let token = format!(
                "@ros2_lv/{}/{}/{}/{}/{word}/%/{}/{NODE}/%{}/{dds}/{hash}/{qos}",
                self.domain,
                self.session,
                self.node,
                self.ends,
                self.mangled_namespace(),
                name.replace('/', "%"),
            );
            let hash = if sent_here { hash } else { "*" };
            (format!("{}/{name}/{dds}/{hash}", self.domain), token)
        };
        let gid = xxh3_128(token.as_bytes()).to_le_bytes();
        Wire { key, token, gid }
    }

    /// True if messages carry an attachment.
    #[must_use]
    pub const fn has_attachments(&self) -> bool {
        !self.bridge
    }

    fn mangled_namespace(&self) -> String {
        let slash = if self.namespace.is_empty() { "%" } else { "" };
        if slash.is_empty() {
            format!("%{}", self.namespace.replace('/', "%"))
        } else {
            slash.into()
        }
    }
}

/// `package/msg/Type` as DDS names it, with `suffix` after the type.
pub(crate) fn dds_type(name: &str, suffix: &str) -> String {
    match name.rsplit_once('/') {
        Some((package, kind)) => {
            format!("{}::dds_::{kind}{suffix}_", package.replace('/', "::"))
        }
        None => name.into(),
    }
}

/// The type hash in the key of a call; `None` over a bridge and from a release of ROS 2 without
/// hashes, which sends another word or zeros.
#[must_use]
pub(super) fn type_hash(key: &str) -> Option<&str> {
    let (_, last) = key.rsplit_once('/')?;
    let digits = last.strip_prefix("RIHS01_")?;
    digits.contains(|digit| digit != '0').then_some(last)
}

/// The attachment of message number `sequence`, which counts from 1, sent at `unix_ns`.
#[must_use]
pub(super) fn attachment(sequence: u64, unix_ns: u64, gid: &[u8; 16]) -> [u8; ATTACHMENT_BYTES] {
    let mut bytes = [0; ATTACHMENT_BYTES];
    bytes[..8].copy_from_slice(&sequence.to_le_bytes());
    bytes[8..16].copy_from_slice(&unix_ns.to_le_bytes());
    // the length of the gid that follows
    bytes[16] = 16;
    bytes[17..].copy_from_slice(gid);
    bytes
}

/// Identifies a request by its attachment: the bridge's whole attachment, or sequence number and
/// gid of a client. `None` without an attachment.
#[must_use]
pub(super) fn request_of(attachment: &[u8]) -> Option<Vec<u8>> {
    if attachment.is_empty() {
        return None;
    }
    match gid_of(attachment) {
        Some(gid) => Some([&attachment[..8], &gid].concat()),
        None => Some(attachment.into()),
    }
}

/// The attachment of the answer to the request with the attachment `request`, sent at `unix_ns`:
/// the request's sequence number and gid.
#[must_use]
pub(super) fn answer_attachment(request: &[u8], unix_ns: u64) -> Option<[u8; ATTACHMENT_BYTES]> {
    let sequence = request.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))?;
    Some(attachment(sequence, unix_ns, &gid_of(request)?))
}

/// The gid of the publisher and the number of the message in an attachment of `rmw_zenoh`.
#[must_use]
pub(super) fn sender_of(attachment: &[u8]) -> Option<Sender> {
    let sequence = attachment.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))?;
    Some(Sender { id: gid_of(attachment)?, sequence })
}

/// The gid in an attachment of `rmw_zenoh`.
#[must_use]
fn gid_of(attachment: &[u8]) -> Option<[u8; 16]> {
    attachment.get(17..ATTACHMENT_BYTES)?.try_into().ok()
}
