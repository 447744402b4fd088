//! The section `unitree` of a scenario: whether Unitree's messages are spoken.

use super::ros2::rate;
use super::section::Section;
use super::{Ros2Mode, Ros2Settings};
use crate::model::Model;
use crate::plant::PlantSpec;
use crate::unitree::Motors;

/// Most that "auto" takes, as the robot does, Hz.
const RATE_MOST_HZ: u64 = 500;

/// Settings of Unitree's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitreeSettings {
    /// Which joint is which motor.
    pub motors: Motors,
    /// Ticks between two states.
    pub every_ticks: u64,
}

/// Reads the section.
pub(super) fn unitree(
    root: &Section<'_>,
    model: &Model,
    spec: &PlantSpec,
    ros2: &Ros2Settings,
) -> Option<UnitreeSettings> {
    let s = root.section("unitree");
    let enabled = s.bool("enabled");
    let every_ticks = rate(&s, "rate_hz", 1_000_000_000 / spec.period_ns, RATE_MOST_HZ);
    let motors = Motors::of(model, spec);
    if enabled && motors.is_none() {
        s.mistake(
            "enabled",
            "false: Unitree's messages are for robots with feet FR, FL, RR and RL (or FR_… and so \
             on), three joints above each and no others",
        );
    } else if enabled && ros2.mode == Ros2Mode::Off {
        s.mistake("enabled", "false where ros2.mode is \"off\": the messages go over ROS 2");
    }
    s.finish();
    let settings = |motors| UnitreeSettings { motors, every_ticks: every_ticks.unwrap_or(1) };
    motors.filter(|_| enabled).map(settings)
}
