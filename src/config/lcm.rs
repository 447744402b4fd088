//! The section `lcm` of a scenario: whether the daemon speaks LCM.

use std::net::SocketAddrV4;

use super::Motors;
use super::ros2::rate;
use super::section::Section;
use hardstand_physics::model::Model;
use hardstand_physics::plant::PlantSpec;

/// Highest rate that "auto" chooses, Hz: that of the program on the robot.
const RATE_MOST_HZ: u64 = 500;

/// Whose messages are spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LcmTypes {
    /// walk-these-ways and programs made from it.
    WalkTheseWays,
    /// The MIT Mini Cheetah.
    MiniCheetah,
}

/// Settings of LCM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LcmSettings {
    /// The multicast group, on the loopback interface.
    pub group: SocketAddrV4,
    /// The messages.
    pub types: LcmTypes,
    /// Ticks between two states.
    pub every_ticks: u64,
    /// The order of motors and feet.
    pub motors: Motors,
}

/// Reads the section.
pub(super) fn lcm(root: &Section<'_>, model: &Model, spec: &PlantSpec) -> Option<LcmSettings> {
    let s = root.section("lcm");
    let text = s.text("group");
    let group = text.parse::<SocketAddrV4>().ok();
    let group = group.filter(|group| group.ip().is_multicast() && group.port() > 0);
    if group.is_none() && !text.is_empty() {
        s.mistake(
            "group",
            "\"\" or a multicast group with its port, 1 to 65535, as \"239.255.76.67:7667\"",
        );
    }
    let words =
        [("walk_these_ways", LcmTypes::WalkTheseWays), ("mini_cheetah", LcmTypes::MiniCheetah)];
    let types = s.choice("types", &words).unwrap_or(LcmTypes::WalkTheseWays);
    let every_ticks = rate(&s, "rate_hz", 1_000_000_000 / spec.period_ns, RATE_MOST_HZ);
    let motors = Motors::of(model, spec);
    if group.is_some() && motors.is_none() {
        let rule = "\"\": LCM's messages are for robots with feet FR, FL, RR and RL (or FR_… and \
                    so on), three joints above each and no others";
        s.mistake("group", rule);
    }
    s.finish();
    let every_ticks = every_ticks.unwrap_or(1);
    Some(LcmSettings { group: group?, types, every_ticks, motors: motors? })
}
