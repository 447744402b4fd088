//! How messages leave and arrive: keys of zenoh, or topics of DDS.

use super::counters::RosCounters;
#[cfg(feature = "dds")]
use super::dds_wires::{DdsCall, DdsWires};
use super::naming::{End, Naming, answer_attachment, attachment, request_of, sender_of, type_hash};
use super::sessions::Sender;
use super::topics::{Latched, MessageType};
use crate::bus::{
    Bus, LatchedTopic, Listening, ServiceCall, ServiceGuard, Token, Topic, WallClock,
};
use crate::config::Ros2Settings;
use hardstand_error::Result;

/// Receives the bytes of a message, and its sender.
pub(super) type Take = Box<dyn Fn(&[u8], Option<Sender>) + Send + Sync>;

/// A topic to publish.
#[derive(Debug)]
pub(super) enum Out {
    /// A key; with the id that messages are attached to, and the number of the last one.
    Zenoh(Topic, Option<[u8; 16]>, u64),
    #[cfg(feature = "dds")]
    Dds(crate::dds::Writer),
}

/// A topic with one message, kept for late subscribers.
#[derive(Debug)]
pub(super) enum LatchedOut {
    /// A key; with the id that messages are attached to, and the number of the last one.
    Zenoh(LatchedTopic, Option<[u8; 16]>, u64),
    #[cfg(feature = "dds")]
    Dds(crate::dds::Writer),
}

/// A call of a service.
#[derive(Debug)]
pub(super) enum Call {
    Zenoh(ServiceCall),
    #[cfg(feature = "dds")]
    Dds(DdsCall),
}

impl Out {
    /// True if the topic has subscribers.
    pub(super) fn is_wanted(&self) -> bool {
        match self {
            Self::Zenoh(topic, ..) => topic.is_wanted(),
            #[cfg(feature = "dds")]
            Self::Dds(writer) => writer.is_wanted(),
        }
    }

    /// Identifies this publisher as the sender of messages; `None` where they name none.
    fn id(&self) -> Option<[u8; 16]> {
        match self {
            Self::Zenoh(_, gid, _) => *gid,
            #[cfg(feature = "dds")]
            Self::Dds(writer) => Some(writer.guid()),
        }
    }

    /// Publishes the bytes of a message.
    pub(super) fn put(&mut self, bytes: &[u8], unix_ns: u64, counters: &RosCounters) {
        let sent = match self {
            Self::Zenoh(topic, gid, sequence) => {
                *sequence += 1;
                let attached = gid.map(|gid| attachment(*sequence, unix_ns, &gid));
                topic.put(bytes, attached.as_ref().map(<[u8; 33]>::as_slice))
            }
            #[cfg(feature = "dds")]
            Self::Dds(writer) => writer.put(bytes),
        };
        if sent {
            counters.count_published();
        }
    }
}

impl LatchedOut {
    /// Publishes the bytes of a message in place of the one before.
    pub(super) fn put(&mut self, bytes: &[u8], unix_ns: u64) {
        match self {
            Self::Zenoh(topic, gid, sequence) => {
                *sequence += 1;
                let attached = gid.map(|gid| attachment(*sequence, unix_ns, &gid));
                topic.put(bytes, attached.as_ref().map(<[u8; 33]>::as_slice));
            }
            #[cfg(feature = "dds")]
            Self::Dds(writer) => {
                let _sent = writer.put(bytes);
            }
        }
    }
}

impl Call {
    /// The bytes of the request.
    pub(super) fn payload(&self) -> Vec<u8> {
        match self {
            Self::Zenoh(call) => call.payload(),
            #[cfg(feature = "dds")]
            Self::Dds(call) => call.payload(),
        }
    }

    /// Identifies the request among those of its service; `None` if it has no identity.
    pub(super) fn identity(&self) -> Option<Vec<u8>> {
        match self {
            Self::Zenoh(call) => request_of(&call.attachment()),
            #[cfg(feature = "dds")]
            Self::Dds(call) => Some(call.identity()),
        }
    }

    /// The hash of the type that the client has; `None` if it is not known.
    pub(super) fn type_hash(&self) -> Option<&str> {
        match self {
            Self::Zenoh(call) => type_hash(call.key()),
            #[cfg(feature = "dds")]
            Self::Dds(_) => None,
        }
    }

    /// Answers; `clock` where messages have attachments.
    pub(super) fn answer(&self, bytes: &[u8], clock: Option<&WallClock>) {
        match self {
            Self::Zenoh(call) => {
                let of = |clock: &WallClock| answer_attachment(&call.attachment(), clock.now_ns());
                let attachment = clock.and_then(of);
                call.answer(bytes, attachment.as_ref().map(<[u8; 33]>::as_slice));
            }
            #[cfg(feature = "dds")]
            Self::Dds(call) => call.answer(bytes),
        }
    }
}

/// Declares topics and services, and keeps what must not be dropped.
pub(super) struct Wires<'a> {
    bus: &'a Bus,
    naming: Naming,
    held: Held,
    #[cfg(feature = "dds")]
    dds: Option<DdsWires>,
}

/// What undeclares topics and services when it is dropped.
#[derive(Debug, Default)]
pub(super) struct Held {
    tokens: Vec<Token>,
    listening: Vec<Listening>,
    serving: Vec<ServiceGuard>,
    #[cfg(feature = "dds")]
    dds: Option<super::dds_wires::DdsHeld>,
}

impl<'a> Wires<'a> {
    /// # Errors
    /// [`ErrorKind::Bus`](crate::ErrorKind::Bus) if the node cannot be declared.
    pub(super) fn new(bus: &'a Bus, settings: &Ros2Settings) -> Result<Self> {
        let naming = Naming::new(settings, &bus.id());
        let mut held = Held::default();
        #[cfg(feature = "dds")]
        if settings.mode == crate::config::Ros2Mode::Dds {
            let dds = Some(DdsWires::open(settings)?);
            return Ok(Self { bus, naming, held, dds });
        }
        held.tokens.push(bus.token(&naming.node_token())?);
        Ok(Self {
            bus,
            naming,
            held,
            #[cfg(feature = "dds")]
            dds: None,
        })
    }

    /// The session of the daemon.
    pub(super) const fn bus(&self) -> &'a Bus {
        self.bus
    }

    /// The clock for attachments, where messages have them.
    pub(super) fn attachment_clock(&self) -> Option<WallClock> {
        self.naming.has_attachments().then(|| self.bus.wall_clock())
    }

    /// A topic to publish.
    pub(super) fn publish(&mut self, of: MessageType, topic: &str) -> Result<Out> {
        #[cfg(feature = "dds")]
        if let Some(dds) = &self.dds {
            return dds.publish(of.name, topic);
        }
        let wire = self.naming.end_of(of, topic, End::Publisher);
        let topic = self.bus.topic(&wire.key)?;
        self.held.tokens.push(self.bus.token(&wire.token)?);
        Ok(Out::Zenoh(topic, self.naming.has_attachments().then_some(wire.gid), 0))
    }

    /// A topic with one message, which is published now.
    pub(super) fn latch(&mut self, message: &Latched) -> Result<LatchedOut> {
        #[cfg(feature = "dds")]
        if let Some(dds) = &self.dds {
            return dds.latch(message);
        }
        let wire = self.naming.end_of(message.of, message.topic, End::Latched);
        let latched = self.bus.latched_topic(&wire.key)?;
        self.held.tokens.push(self.bus.token(&wire.token)?);
        let gid = self.naming.has_attachments().then_some(wire.gid);
        let mut latched = LatchedOut::Zenoh(latched, gid, 0);
        latched.put(&message.bytes, self.bus.wall_clock().now_ns());
        Ok(latched)
    }

    /// Calls `take` with every message of the topic.
    pub(super) fn listen(
        &mut self,
        of: MessageType,
        topic: &str,
        end: End,
        take: Take,
    ) -> Result<()> {
        #[cfg(feature = "dds")]
        if let Some(dds) = &mut self.dds {
            return dds.listen(of.name, topic, end, take);
        }
        let wire = self.naming.end_of(of, topic, end);
        let listening = self.bus.listen(&wire.key, move |bytes, attachment| {
            take(bytes, attachment.and_then(sender_of));
        })?;
        self.held.listening.push(listening);
        self.held.tokens.push(self.bus.token(&wire.token)?);
        Ok(())
    }

    /// Calls `take` with every message of the topic that is not from `own`. Where messages name no
    /// sender, as over a bridge, `take` is never called.
    pub(super) fn listen_to_others(
        &mut self,
        of: MessageType,
        topic: &str,
        own: &Out,
        take: Take,
    ) -> Result<()> {
        let Some(own) = own.id() else { return Ok(()) };
        let of_others: Take = Box::new(move |bytes, sender| {
            if sender.is_some_and(|sender| sender.id != own) {
                take(bytes, sender);
            }
        });
        self.listen(of, topic, End::Subscriber, of_others)
    }

    /// Calls `take` with every call of the service, whose type has a name and a hash.
    pub(super) fn serve(
        &mut self,
        service: &str,
        of: (&'static str, &'static str),
        take: impl Fn(Call) + Send + Sync + 'static,
    ) -> Result<()> {
        #[cfg(feature = "dds")]
        if let Some(dds) = &mut self.dds {
            return dds.serve(service, of.0, Box::new(move |call| take(Call::Dds(call))));
        }
        let wire = self.naming.server_of(service, of);
        let serving = self.bus.serve(&wire.key, move |call| take(Call::Zenoh(call)))?;
        self.held.serving.push(serving);
        self.held.tokens.push(self.bus.token(&wire.token)?);
        Ok(())
    }

    /// A function that finds out whether another robot publishes `topic`; `bridged` is the key
    /// under which a bridge lists its writers. On DDS, a participant that also writes `unless` is
    /// not a robot.
    pub(super) fn finder(
        &self,
        (topic, unless): (&str, &str),
        bridged: &'static str,
    ) -> Box<dyn Fn() -> bool + Send> {
        #[cfg(feature = "dds")]
        if let Some(dds) = &self.dds {
            return dds.finder(topic, unless);
        }
        #[cfg(not(feature = "dds"))]
        let _ = (topic, unless);
        let probe = self.bus.probe();
        Box::new(move || probe.is_answered(bridged))
    }

    /// Starts to receive, after everything is declared.
    pub(super) fn finish(mut self) -> Result<Held> {
        #[cfg(feature = "dds")]
        {
            let panic_guard = self.bus.panic_guard();
            self.held.dds = self.dds.take().map(|dds| dds.finish(panic_guard)).transpose()?;
        }
        Ok(std::mem::take(&mut self.held))
    }
}
