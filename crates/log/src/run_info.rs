//! What a log says about its run.

use std::collections::BTreeMap;

use mcap::records::Record;

use crate::{ROBOT_ATTACHMENT, SCENARIO_ATTACHMENT};

/// Name of the metadata.
const NOTE: &str = "hardstand";

/// What a log says about its run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunInfo {
    /// Version of the daemon that wrote it.
    pub version: String,
    /// The same in all files of one recording, and in no other: [`new_recording_id`].
    pub recording_id: u64,
    /// Layout hash.
    pub layout_hash: u64,
    /// Hash of robot and scenario as far as they decide the physics.
    pub physics_hash: u64,
    /// Run number of the first tick.
    pub run_id: u32,
    /// Length of a tick, ns.
    pub period_ns: u64,
    /// The robot, URDF.
    pub robot: String,
    /// The complete scenario, TOML.
    pub scenario: String,
}

impl RunInfo {
    /// Robot and scenario are attachments, the rest is this.
    pub(crate) fn to_metadata(&self) -> mcap::records::Metadata {
        let hex = |x: u64| format!("{x:016x}");
        let metadata = BTreeMap::from([
            ("version".into(), self.version.clone()),
            ("recording_id".into(), hex(self.recording_id)),
            ("layout_hash".into(), hex(self.layout_hash)),
            ("physics_hash".into(), hex(self.physics_hash)),
            ("run_id".into(), self.run_id.to_string()),
            ("period_ns".into(), self.period_ns.to_string()),
        ]);
        mcap::records::Metadata { name: NOTE.into(), metadata }
    }

    /// Takes what a record says about the run, if it does.
    pub(crate) fn take(&mut self, record: &Record<'_>) {
        match record {
            Record::Metadata(m) if m.name == NOTE => self.take_map(&m.metadata),
            Record::Attachment { header, data, .. } => {
                let text = String::from_utf8_lossy(data).into_owned();
                match header.name.as_str() {
                    ROBOT_ATTACHMENT => self.robot = text,
                    SCENARIO_ATTACHMENT => self.scenario = text,
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn take_map(&mut self, map: &BTreeMap<String, String>) {
        let text = |key: &str| map.get(key).cloned().unwrap_or_default();
        let hex = |key: &str| u64::from_str_radix(&text(key), 16).unwrap_or_default();
        self.version = text("version");
        self.recording_id = hex("recording_id");
        (self.layout_hash, self.physics_hash) = (hex("layout_hash"), hex("physics_hash"));
        self.run_id = text("run_id").parse().unwrap_or_default();
        self.period_ns = text("period_ns").parse().unwrap_or_default();
    }
}

/// A number that no other recording has: random, from the system.
#[must_use]
pub fn new_recording_id() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    // RandomState is seeded by the system's random numbers
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}
