//! The participant: its domain and interface, its topics, and the endpoints of others.

use std::net::IpAddr;

use rustdds::policy::{Durability, History, Reliability};
use rustdds::{
    DomainParticipant, DomainParticipantBuilder, Duration, GUID, Publisher, QosPolicies,
    QosPolicyBuilder, Subscriber, Topic, TopicKind,
};

use super::payload::Raw;
use super::readers::{Readers, Take};
use super::thread_panics;
use super::{Quality, Writer};
use hardstand_error::{Error, ErrorKind, Result};

/// Messages that a writer keeps.
const KEPT: i32 = 10;

/// A participant of a domain.
pub struct Participant {
    participant: DomainParticipant,
    publisher: Publisher,
    subscriber: Subscriber,
}

impl std::fmt::Debug for Participant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Participant").field("guid", &self.guid()).finish_non_exhaustive()
    }
}

impl Participant {
    /// Joins `domain` on one network interface, given by its name or by an address that it has. Its
    /// sockets receive what is sent to that address, or to DDS's multicast group there.
    ///
    /// RustDDS's threads inherit affinity and scheduling policy of the caller.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`] if there is no such interface, or its ports cannot be used.
    pub fn open(domain: u16, interface: &str) -> Result<Self> {
        // one address: RustDDS has one socket for all of them
        let address = address(interface)?;
        thread_panics::watch();
        let participant = DomainParticipantBuilder::new(domain)
            .with_only_networks([address])
            .build()
            .map_err(|e| failed(&format!("domain {domain} on {interface}"), &e))?;
        let qos = QosPolicyBuilder::new().build();
        let publisher = participant.create_publisher(&qos).map_err(|e| failed("publisher", &e))?;
        let subscriber =
            participant.create_subscriber(&qos).map_err(|e| failed("subscriber", &e))?;
        Ok(Self { participant, publisher, subscriber })
    }

    /// Identifies the participant in its domain.
    #[must_use]
    pub fn guid(&self) -> [u8; 16] {
        GUID::to_bytes(&rustdds::RTPSEntity::guid(&self.participant))
    }

    /// A writer of the topic `topic`, whose messages are of the type `dds_type`.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`].
    pub fn writer(&self, topic: &str, dds_type: &str, quality: Quality) -> Result<Writer> {
        let qos = qos(quality);
        let declared = self.topic(topic, dds_type, &qos)?;
        let writer = self.publisher.create_datawriter_no_key(&declared, Some(qos));
        Ok(Writer::new(writer.map_err(|e| failed(topic, &e))?))
    }

    /// Adds a reader of the topic `topic` to `readers`, and returns the id of the reader.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`].
    pub fn read(
        &self,
        readers: &mut Readers,
        (topic, dds_type): (&str, &str),
        quality: Quality,
        take: Take,
    ) -> Result<[u8; 16]> {
        let qos = qos(quality);
        let declared = self.topic(topic, dds_type, &qos)?;
        let subscriber = &self.subscriber;
        let reader =
            subscriber.create_simple_datareader_no_key::<Vec<u8>, Raw>(&declared, Some(qos));
        Ok(readers.add(reader.map_err(|e| failed(topic, &e))?, take))
    }

    /// True if another participant has a writer of `topic` and none of `unless`.
    #[must_use]
    pub fn has_other_writer(&self, topic: &str, unless: &str) -> bool {
        let all = self.participant.discovered_writers();
        let of = |topic: &str| {
            let named = all.iter().map(|w| &w.publication_topic_data);
            let named = named.filter(|data| data.topic_name == topic);
            named.map(|data| data.key.prefix).collect::<Vec<_>>()
        };
        let excepted = of(unless);
        let own = rustdds::RTPSEntity::guid(&self.participant).prefix;
        of(topic).iter().any(|p| *p != own && !excepted.contains(p))
    }

    fn topic(&self, name: &str, dds_type: &str, qos: &QosPolicies) -> Result<Topic> {
        let (named, of) = (name.to_string(), dds_type.to_string());
        let topic = self.participant.create_topic(named, of, qos, TopicKind::NoKey);
        topic.map_err(|e| failed(name, &e))
    }
}

fn qos(quality: Quality) -> QosPolicies {
    // a reader that is stuck must not stop the writer
    let reliable = Reliability::Reliable { max_blocking_time: Duration::ZERO };
    let (reliability, durability, depth) = match quality {
        Quality::Reliable => (reliable, Durability::Volatile, KEPT),
        Quality::Latched => (reliable, Durability::TransientLocal, 1),
        Quality::BestEffort => (Reliability::BestEffort, Durability::Volatile, 1),
    };
    QosPolicyBuilder::new()
        .reliability(reliability)
        .durability(durability)
        .history(History::KeepLast { depth })
        .build()
}

/// The address of the interface that is meant, the first one if it has several.
fn address(interface: &str) -> Result<IpAddr> {
    let all = netdev::get_interfaces();
    let refuse = |what: &str| {
        let names: Vec<&str> = all.iter().map(|i| i.name.as_str()).collect();
        let names = names.join(", ");
        let text = format!("ros2.interface is {interface:?}, {what}; the interfaces are {names}");
        Err(Error::new(ErrorKind::Bus, text))
    };
    if let Ok(address) = interface.parse::<IpAddr>() {
        let mut own = all.iter().flat_map(netdev::Interface::ip_addrs);
        // a loopback interface has all of them, and says one
        if address.is_loopback() || own.any(|own| own == address) {
            return Ok(address);
        }
        return refuse("an address that no interface has here");
    }
    let named = all.iter().find(|i| i.name == interface);
    if let Some(net) = named.and_then(|i| i.ipv4.first()) {
        return Ok(IpAddr::V4(net.addr()));
    }
    refuse("which has no IPv4 address here")
}

fn failed(what: &str, e: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Bus, format!("DDS: {what}: {e}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panic")]
mod tests {
    use super::address;

    #[test]
    fn an_address_that_no_interface_has_is_refused_with_the_interfaces() {
        for (interface, what) in [
            ("192.0.2.1", "an address that no interface has here"),
            ("nowhere0", "which has no IPv4 address here"),
        ] {
            let said = address(interface).map(|_| ()).map_err(|e| e.to_string());
            let said = said.expect_err("there is no such interface");
            let wanted = format!("ros2.interface is {interface:?}, {what}; the interfaces are ");
            assert!(said.contains(&wanted), "{said}");
        }
        assert!(address("127.0.0.1").is_ok());
    }
}
