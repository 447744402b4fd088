//! Topics and services of ROS 2 on DDS: names, types, identities of requests.
//!
//! Names: `rt/<topic>`, `rq/<service>Request`, `rr/<service>Reply`; types
//! `package::msg::dds_::Type_`. Source: design.ros2.org, "Topic and Service name mapping to DDS".
//!
//! A request has an identity that its answer repeats. CycloneDDS's `rmw` writes it before the
//! request, 16 bytes; others use the identity of the sample (DDS-RPC, "enhanced").

use std::sync::Arc;

use super::naming::{End, dds_type};
use super::sessions::Sender;
use super::topics::{Latched, full_name};
use super::wires::{LatchedOut, Out, Take};
use crate::bus::PanicGuard;
use crate::config::Ros2Settings;
use crate::dds::{Participant, Quality, Readers, Received, Receiving, Writer};
use crate::fault_point;
use hardstand_error::Result;

use super::cdr::CDR_HEADER_BYTES;

/// The first two bytes of the ids of CycloneDDS.
const CYCLONE: [u8; 2] = [0x01, 0x10];
/// The identity before a request of CycloneDDS.
const IDENTITY_BYTES: usize = 16;

/// Declares topics and services.
pub(super) struct DdsWires {
    participant: Arc<Participant>,
    readers: Readers,
    namespace: String,
}

/// What ends them when it is dropped. The thread first: it uses the others.
#[derive(Debug)]
pub(super) struct DdsHeld {
    _receiving: Receiving,
    _participant: Arc<Participant>,
}

/// A call of a service.
#[derive(Debug)]
pub(super) struct DdsCall {
    request: Received,
    replies: Arc<Writer>,
}

impl DdsWires {
    pub(super) fn open(settings: &Ros2Settings) -> Result<Self> {
        let domain = u16::try_from(settings.domain).unwrap_or(u16::MAX);
        let participant = Arc::new(Participant::open(domain, &settings.interface)?);
        let namespace = settings.namespace.clone();
        Ok(Self { participant, readers: Readers::default(), namespace })
    }

    fn topic(&self, topic: &str) -> String {
        format!("rt/{}", full_name(&self.namespace, topic))
    }

    pub(super) fn publish(&self, type_name: &str, topic: &str) -> Result<Out> {
        let name = self.topic(topic);
        Ok(Out::Dds(self.participant.writer(&name, &dds_type(type_name, ""), Quality::Reliable)?))
    }

    pub(super) fn latch(&self, message: &Latched) -> Result<LatchedOut> {
        let (name, of) = (self.topic(message.topic), dds_type(message.of.name, ""));
        let writer = self.participant.writer(&name, &of, Quality::Latched)?;
        writer.put(&message.bytes);
        Ok(LatchedOut::Dds(writer))
    }

    pub(super) fn listen(
        &mut self,
        type_name: &str,
        topic: &str,
        end: End,
        take: Take,
    ) -> Result<()> {
        let single = end == End::ReliableSubscriber;
        let quality = if single { Quality::Reliable } else { Quality::BestEffort };
        let (name, of) = (self.topic(topic), dds_type(type_name, ""));
        let take = Box::new(move |message: &Received| {
            fault_point::visit("ros2_command");
            let sender = Sender { id: message.writer(), sequence: message.sequence() };
            take(&message.bytes, Some(sender));
        });
        self.participant.read(&mut self.readers, (&name, &of), quality, take)?;
        Ok(())
    }

    pub(super) fn serve(
        &mut self,
        service: &str,
        type_name: &str,
        take: Box<dyn Fn(DdsCall) + Send>,
    ) -> Result<()> {
        let name = full_name(&self.namespace, service);
        let of = dds_type(type_name, "_Response");
        let reply = format!("rr/{name}Reply");
        let replies = Arc::new(self.participant.writer(&reply, &of, Quality::Reliable)?);
        let take = Box::new(move |request: &Received| {
            take(DdsCall { request: request.clone(), replies: Arc::clone(&replies) });
        });
        let (topic, of) = (format!("rq/{name}Request"), dds_type(type_name, "_Request"));
        self.participant.read(&mut self.readers, (&topic, &of), Quality::Reliable, take)?;
        Ok(())
    }

    pub(super) fn finder(&self, topic: &str, unless: &str) -> Box<dyn Fn() -> bool + Send> {
        let participant = Arc::clone(&self.participant);
        let (topic, unless) = (self.topic(topic), self.topic(unless));
        Box::new(move || participant.has_other_writer(&topic, &unless))
    }

    pub(super) fn finish(self, panic_guard: PanicGuard) -> Result<DdsHeld> {
        let receiving = self.readers.start(panic_guard)?;
        Ok(DdsHeld { _receiving: receiving, _participant: self.participant })
    }
}

impl DdsCall {
    /// True if the identity is before the request.
    fn is_prefixed(&self) -> bool {
        self.request.writer()[..2] == CYCLONE
    }

    pub(super) fn payload(&self) -> Vec<u8> {
        let bytes = &self.request.bytes;
        if !self.is_prefixed() {
            return bytes.clone();
        }
        let header = bytes.get(..CDR_HEADER_BYTES).unwrap_or_default();
        let body = bytes.get(CDR_HEADER_BYTES + IDENTITY_BYTES..).unwrap_or_default();
        [header, body].concat()
    }

    pub(super) fn identity(&self) -> Vec<u8> {
        [&self.request.writer()[..], &self.request.sequence().to_le_bytes()].concat()
    }

    pub(super) fn answer(&self, bytes: &[u8]) {
        if !self.is_prefixed() {
            let _sent = self.request.answer(&self.replies, bytes);
            return;
        }
        let given = &self.request.bytes;
        let mut identity = given.get(CDR_HEADER_BYTES..).unwrap_or_default().to_vec();
        identity.resize(IDENTITY_BYTES, 0);
        // the answer is little-endian: two numbers of eight bytes
        if given.get(1) == Some(&0) {
            identity.chunks_mut(8).for_each(<[u8]>::reverse);
        }
        let (header, body) = bytes.split_at(CDR_HEADER_BYTES.min(bytes.len()));
        let _sent = self.request.answer(&self.replies, &[header, &identity, body].concat());
    }
}
