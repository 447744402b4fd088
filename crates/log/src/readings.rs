//! The channels of readings beside the state: what drives show, and the truth beside sensors.

use std::collections::BTreeMap;

use hardstand_error::Result;
use hardstand_protocol::{Kind, LogTick, encode};

use crate::envelope::{self, ENCODING, SCHEMA, SCHEMA_ENCODING};
use crate::{SideChannel, SideMessages};

/// Topic of what drives show that are not ideal: the same bytes as on the bus.
pub const DRIVES_TOPIC: &str = "hardstand/drives";
/// Topic of the truth beside sensors with errors: the same bytes as on the bus.
pub const SENSORS_TOPIC: &str = "hardstand/sensors";

/// Which of these channels a log has, by their places among its side channels.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadingChannels {
    drives: Option<usize>,
    sensors: Option<usize>,
}

impl ReadingChannels {
    /// Adds those of a scenario with drives that are not ideal, and of one whose sensors have
    /// errors, to the side channels of a log.
    pub fn add(drives: bool, sensors: bool, channels: &mut Vec<SideChannel>) -> Self {
        let mut add = |topic, schema| {
            channels.push(channel(topic, schema));
            channels.len() - 1
        };
        Self {
            drives: drives.then(|| add(DRIVES_TOPIC, "hardstand_msgs/msg/Drives")),
            sensors: sensors.then(|| add(SENSORS_TOPIC, "hardstand_msgs/msg/Sensors")),
        }
    }

    /// Adds the readings of a tick to `messages`. A tick that ended in a failure has none.
    ///
    /// # Errors
    /// As [`encode`].
    pub fn push(&self, tick: &LogTick, messages: &mut SideMessages) -> Result<()> {
        let (mut payload, mut message) = (Vec::new(), Vec::new());
        if let Some(channel) = self.drives.filter(|_| tick.failure.is_none()) {
            encode(Kind::Drives, &tick.drives, &mut payload)?;
            envelope::wrap(&payload, &mut message);
            messages.push(channel, tick.drives.time_ns, &message);
        }
        if let Some(channel) = self.sensors.filter(|_| tick.failure.is_none()) {
            encode(Kind::Sensors, &tick.sensors, &mut payload)?;
            envelope::wrap(&payload, &mut message);
            messages.push(channel, tick.sensors.time_ns, &message);
        }
        Ok(())
    }
}

fn channel(topic: &str, schema: &str) -> SideChannel {
    SideChannel {
        topic: topic.into(),
        schema_name: schema.into(),
        schema_encoding: SCHEMA_ENCODING.into(),
        schema_text: String::from_utf8_lossy(SCHEMA).into_owned(),
        message_encoding: ENCODING.into(),
        metadata: BTreeMap::new(),
        first: None,
    }
}
