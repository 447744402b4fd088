//! The sections of a scenario that do not touch the physics: real time, bus, recorder.

use std::path::PathBuf;

use crate::limits::NAME_BYTES_MAX;
use crate::model::Model;
use crate::rt::{OverrunPolicy, RealtimeSettings};

use super::section::Section;

/// Settings of the bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusSettings {
    /// Name in the keys: `hardstand/<robot>/…`.
    pub robot: String,
    /// Endpoints to listen on.
    pub listen: Vec<String>,
    /// Endpoints to connect to.
    pub connect: Vec<String>,
    /// Ticks between two states.
    pub state_every_ticks: u64,
    /// Ticks between two contacts.
    pub contacts_every_ticks: u64,
}

/// Settings of the recorder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordSettings {
    /// Log file; empty for none.
    pub file: String,
    /// Ticks between two keyframes.
    pub keyframe_every_ticks: u64,
    /// A log file of this size ends before the next keyframe, and another one begins, bytes.
    pub segment_bytes_max: u64,
}

impl RecordSettings {
    /// The log file, if there shall be one.
    #[must_use]
    pub fn path(&self) -> Option<PathBuf> {
        (!self.file.is_empty()).then(|| PathBuf::from(&self.file))
    }
}

pub(super) fn realtime(root: &Section<'_>) -> (RealtimeSettings, OverrunPolicy) {
    let s = root.section("realtime");
    let core = s.integer("core", -1, 1023);
    let ticks_max = s.count("catch_up_ticks_max", 1, 1000);
    let policies = [
        ("slip", OverrunPolicy::Slip),
        ("catch_up", OverrunPolicy::CatchUp { ticks_max }),
        ("stop", OverrunPolicy::Stop),
    ];
    let settings = RealtimeSettings {
        priority: s.count("priority", 1, 98) as u8,
        core: usize::try_from(core).ok(),
        lock_memory: s.bool("lock_memory"),
        required: s.bool("required"),
        spin_ns: s.count("spin_us", 0, 1000) * 1000,
    };
    let overrun = s.choice("overrun", &policies).unwrap_or(OverrunPolicy::Slip);
    s.finish();
    (settings, overrun)
}

pub(super) fn bus(root: &Section<'_>, robot_section: &Section<'_>, model: &Model) -> BusSettings {
    let s = root.section("bus");
    let named = robot_section.text("name");
    let robot = if named.is_empty() { model.name.as_str() } else { named };
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if robot.is_empty() || robot.len() > NAME_BYTES_MAX || !robot.chars().all(allowed) {
        robot_section.mistake(
            "name",
            &format!(
                "1 to {NAME_BYTES_MAX} letters, digits, \"-\", \"_\" or \".\" (here: \"{robot}\")"
            ),
        );
    }
    let endpoints = |key: &str| {
        let list = s.texts(key);
        if !list.iter().all(|e| is_endpoint(e)) {
            s.mistake(key, "a list of \"tcp/HOST:PORT\" and \"unixsock-stream/PATH\"");
        }
        list
    };
    let listen = endpoints("listen");
    if listen.iter().any(|e| is_endpoint(e) && !is_local(e)) {
        s.mistake(
            "listen",
            "on this machine only (127.0.0.1, [::1], localhost or a unix socket): whoever reaches \
             the bus commands the robot, and this version cannot ask for a password yet",
        );
    }
    let settings = BusSettings {
        robot: robot.into(),
        listen,
        connect: endpoints("connect"),
        state_every_ticks: s.count("state_every_ticks", 1, 100_000),
        contacts_every_ticks: s.count("contacts_every_ticks", 1, 100_000),
    };
    s.finish();
    settings
}

/// The two kinds of endpoint that this build of zenoh has.
pub(crate) fn is_endpoint(text: &str) -> bool {
    let address = text.split(['?', '#']).next().unwrap_or_default();
    match address.split_once('/') {
        Some(("tcp", host)) => host
            .rsplit_once(':')
            .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok()),
        Some(("unixsock-stream", path)) => !path.is_empty(),
        _ => false,
    }
}

/// True if nobody beyond this machine can reach the endpoint.
fn is_local(endpoint: &str) -> bool {
    let Some(host) = endpoint.strip_prefix("tcp/").and_then(|a| a.rsplit_once(':')) else {
        return true;
    };
    let host = host.0.trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

pub(super) fn record(root: &Section<'_>) -> RecordSettings {
    let s = root.section("record");
    let settings = RecordSettings {
        file: s.text("file").into(),
        keyframe_every_ticks: s.count("keyframe_every_ticks", 1, 1_000_000),
        segment_bytes_max: s.count("segment_mib", 1, 1_000_000) << 20,
    };
    s.finish();
    settings
}
