//! Events in the log: what `events` publishes, as text that every reader of logs can show.

use std::collections::BTreeMap;

use serde_json::json;

use crate::ros2::messages::{Message as _, RosString};
use crate::ros2::{MessageType, offered_qos};
use hardstand_log::{SideChannel, SideMessages};
use hardstand_protocol::EventReading;

/// Topic of the events.
pub const EVENT_TOPIC: &str = "hardstand/events";

/// The channel of events: strings of ROS 2, each with a JSON object.
pub(super) fn channel() -> SideChannel {
    let of = MessageType::of::<RosString>();
    SideChannel {
        topic: EVENT_TOPIC.into(),
        schema_name: of.name.into(),
        schema_encoding: "ros2msg".into(),
        schema_text: (of.definition)(),
        message_encoding: "cdr".into(),
        metadata: BTreeMap::from([
            ("offered_qos_profiles".into(), offered_qos(false)),
            ("topic_type_hash".into(), of.hash.into()),
        ]),
        first: None,
    }
}

/// Adds an event to the messages of `channel`.
pub(super) fn push(event: &EventReading, channel: usize, messages: &mut SideMessages) {
    let mut bytes = Vec::new();
    RosString { data: as_json(event) }.encode(&mut bytes);
    messages.push(channel, event.time_ns, &bytes);
}

/// The event as a JSON object.
#[must_use]
pub fn as_json(event: &EventReading) -> String {
    let EventReading { run_id, tick, time_ns, kind, controller, asker, text } = event;
    json!({
        "run_id": run_id, "tick": tick, "time_ns": time_ns, "kind": kind, "controller": controller,
        "asker": asker, "text": text,
    })
    .to_string()
}
