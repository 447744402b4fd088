//! The topics of ROS 2 as side channels of a log: the names, types and rates of the bus, written as
//! rosbag2 writes them.

use std::collections::BTreeMap;

use crate::config::Scenario;

use super::{MessageType, Readings, Source, full_name, latched, sources};
use hardstand_log::{SideChannel, SideMessages};
use hardstand_protocol::LogTick;

/// Encoding of all messages.
const CDR: &str = "cdr";
/// Language of all schemas.
const ROS2MSG: &str = "ros2msg";

/// The ROS 2 topics of a scenario, and their messages for a log.
#[derive(Clone, Debug)]
pub struct RosChannels {
    readings: Readings,
    sources: Vec<Source>,
    /// Those that state one thing for good, then those of `sources`.
    channels: Vec<SideChannel>,
    buffer: Vec<u8>,
}

impl RosChannels {
    /// The topics of `scenario`; `None` if its log holds none.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Option<Self> {
        let readings = Readings::of(scenario);
        let sources = sources(scenario);
        let channel = |topic: &str, of: MessageType, first: Option<Vec<u8>>| SideChannel {
            topic: format!("/{}", full_name(&scenario.ros2.namespace, topic)),
            schema_name: of.name.into(),
            schema_encoding: ROS2MSG.into(),
            schema_text: (of.definition)(),
            message_encoding: CDR.into(),
            metadata: BTreeMap::from([
                ("offered_qos_profiles".into(), offered_qos(first.is_some())),
                ("topic_type_hash".into(), of.hash.into()),
            ]),
            first,
        };
        let once = latched(scenario, &readings).map(|l| channel(l.topic, l.of, Some(l.bytes)));
        let often = sources.iter().map(|s| channel(&s.topic, s.of, None));
        let channels = once.into_iter().chain(often).collect();
        scenario.record.ros2.then(|| Self { readings, sources, channels, buffer: Vec::new() })
    }

    /// The channels, for the writer of the log.
    #[must_use]
    pub fn channels(&self) -> Vec<SideChannel> {
        self.channels.clone()
    }

    /// The messages of a tick, into `messages`, which are cleared first.
    pub fn fill(&mut self, tick: &LogTick, messages: &mut SideMessages) {
        messages.clear();
        // a tick that ends in a failure is not done
        let Some(contacts) = tick.contacts.as_ref().filter(|_| tick.failure.is_none()) else {
            return;
        };
        let number = tick.state.tick;
        let first = self.channels.len() - self.sources.len();
        let mut seen = false;
        for (i, source) in self.sources.iter().enumerate() {
            if number.is_multiple_of(source.every) {
                if !std::mem::replace(&mut seen, true) {
                    let LogTick { state, sensors, references, .. } = tick;
                    self.readings.look_at(state, contacts, sensors, references);
                }
                (source.encode)(&mut self.readings, source.which, &mut self.buffer);
                messages.push(first + i, tick.state.time_ns, &self.buffer);
            }
        }
    }
}

/// As rosbag2 writes it since Jazzy, for what the topics have on the bus.
#[must_use]
pub fn offered_qos(latched: bool) -> String {
    let (depth, durability) = if latched { (1, "transient_local") } else { (10, "volatile") };
    let never = "\n    sec: 9223372036\n    nsec: 854775807";
    [
        format!("- history: keep_last\n  depth: {depth}\n  reliability: reliable"),
        format!("\n  durability: {durability}\n  deadline:{never}\n  lifespan:{never}"),
        format!("\n  liveliness: automatic\n  liveliness_lease_duration:{never}"),
        "\n  avoid_ros_namespace_conventions: false\n".into(),
    ]
    .concat()
}
