//! The channel of the truth beside sensors with errors.

use std::collections::BTreeMap;

use hardstand_error::Result;
use hardstand_protocol::{Kind, SensorsReading, encode};

use crate::envelope::{self, ENCODING, SCHEMA, SCHEMA_ENCODING};
use crate::{SideChannel, SideMessages};

/// Topic of the truth beside sensors with errors: the same bytes as on the bus.
pub const SENSORS_TOPIC: &str = "hardstand/sensors";

/// The channel of a log whose scenario gives sensors errors.
#[must_use]
pub fn sensors_channel() -> SideChannel {
    SideChannel {
        topic: SENSORS_TOPIC.into(),
        schema_name: "hardstand_msgs/msg/Sensors".into(),
        schema_encoding: SCHEMA_ENCODING.into(),
        schema_text: String::from_utf8_lossy(SCHEMA).into_owned(),
        message_encoding: ENCODING.into(),
        metadata: BTreeMap::new(),
        first: None,
    }
}

impl SideMessages {
    /// Adds a reading to the `channel`th side channel, which is a [`sensors_channel`].
    ///
    /// # Errors
    /// As [`encode`].
    pub fn push_sensors(&mut self, channel: usize, reading: &SensorsReading) -> Result<()> {
        let (mut payload, mut message) = (Vec::new(), Vec::new());
        encode(Kind::Sensors, reading, &mut payload)?;
        envelope::wrap(&payload, &mut message);
        self.push(channel, reading.time_ns, &message);
        Ok(())
    }
}
