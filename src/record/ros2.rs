//! The messages of ROS 2 in a log: the topics, names and rates of the bus, as rosbag2 writes them.

use std::collections::BTreeMap;
use std::io::Write;

use mcap::{McapResult, Writer};

use crate::config::Scenario;
use crate::ros2::{Latched, MessageType, Readings, Source, full_name, latched, sources};
use crate::rt::LogTick;
use hardstand_error::Result;

/// Encoding of all channels: rosbag2 opens no file that has two.
pub(super) const CDR: &str = "cdr";
/// Encoding of all schemas.
pub(super) const ROS2MSG: &str = "ros2msg";

/// The channels of ROS 2 in one log file.
#[derive(Clone, Debug)]
pub struct RosChannels {
    readings: Readings,
    namespace: String,
    sources: Vec<Source>,
    latched: Vec<Latched>,
    /// Of the latched topics, then of the others.
    ids: Vec<u16>,
    begun: bool,
    buffer: Vec<u8>,
}

impl RosChannels {
    /// The topics of `scenario`, if it wants them in its log.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Option<Self> {
        let readings = Readings::of(scenario);
        scenario.record.ros2.then(|| Self {
            namespace: scenario.ros2.namespace.clone(),
            sources: sources(scenario),
            latched: latched(scenario, &readings).into(),
            readings,
            ids: Vec::new(),
            begun: false,
            buffer: Vec::new(),
        })
    }

    /// Adds schemas and channels to a file that has none of them yet.
    pub(super) fn declare<W: Write + std::io::Seek>(
        &mut self,
        mcap: &mut Writer<W>,
    ) -> McapResult<()> {
        let mut add = |topic: &str, of: MessageType, latched: bool| {
            let definition = (of.definition)();
            let schema = mcap.add_schema(of.name, ROS2MSG, definition.as_bytes())?;
            let topic = format!("/{}", full_name(&self.namespace, topic));
            let metadata = BTreeMap::from([
                ("offered_qos_profiles".into(), offered_qos(latched)),
                ("topic_type_hash".into(), of.hash.into()),
            ]);
            mcap.add_channel(schema, &topic, CDR, &metadata)
        };
        let once = self.latched.iter().map(|l| add(l.topic, l.of, true)).collect::<Vec<_>>();
        let often = self.sources.iter().map(|s| add(&s.topic, s.of, false)).collect::<Vec<_>>();
        (self.ids, self.begun) = (once.into_iter().chain(often).collect::<McapResult<_>>()?, false);
        Ok(())
    }

    /// Gives what the tick has to say to `put`: channel, simulated time in ns, message. Whatever
    /// file one opens, it begins with what latched topics hold.
    pub(super) fn write(
        &mut self,
        tick: &LogTick,
        before_ns: u64,
        mut put: impl FnMut(u16, u64, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let (once, often) = self.ids.split_at(self.latched.len());
        if !std::mem::replace(&mut self.begun, true) {
            for (latched, id) in self.latched.iter().zip(once) {
                put(*id, before_ns, &latched.bytes)?;
            }
        }
        let number = tick.state.tick;
        // a tick that ends in a fault is not done
        let Some(contacts) = tick.contacts.as_ref().filter(|_| tick.fault.is_none()) else {
            return Ok(());
        };
        let mut seen = false;
        for (source, id) in self.sources.iter().zip(often) {
            if number.is_multiple_of(source.every) {
                if !std::mem::replace(&mut seen, true) {
                    self.readings.look_at(&tick.state, contacts, &tick.gains);
                }
                (source.encode)(&mut self.readings, source.which, &mut self.buffer);
                put(*id, tick.state.time_ns, &self.buffer)?;
            }
        }
        Ok(())
    }
}

/// As rosbag2 writes it since Jazzy, for what the topics have on the bus.
fn offered_qos(latched: bool) -> String {
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
