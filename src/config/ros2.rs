//! The section `ros2` of a scenario: ROS 2 mode, names and rates.

use super::section::Section;
use super::{BusSettings, Mode};
use crate::urdf::LISTED_INTERFACES;

/// How the daemon connects to ROS 2 nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ros2Mode {
    /// Off.
    Off,
    /// With nodes of `rmw_zenoh`; the daemon's session is their router.
    RmwZenoh,
    /// With a zenoh-bridge-ros2dds.
    Bridge,
    /// With nodes of any DDS, as a participant of the domain.
    Dds,
}

/// Edges of the frame tree that the daemon publishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TfEdges {
    /// World to base, and all links.
    All,
    /// World to base: another node publishes the links.
    Base,
    /// The links: another node publishes the base.
    Links,
}

/// Whether commands over ROS 2 are those of a controller that joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ros2Join {
    /// Outside real time, where the commands of no other are taken.
    Auto,
    /// In real time as well.
    Required,
    /// Never.
    Off,
}

/// Settings of ROS 2.
#[derive(Clone, Debug, PartialEq)]
pub struct Ros2Settings {
    /// Mode.
    pub mode: Ros2Mode,
    /// `ROS_DOMAIN_ID` of the nodes.
    pub domain: u32,
    /// Network interface of DDS: a name or an address.
    pub interface: String,
    /// Prefix of all topics of the robot; empty or `a/b`, without outer slashes.
    pub namespace: String,
    /// Number of the robot's node in the daemon's session.
    pub node: usize,
    /// Edges under `/tf`.
    pub tf: TfEdges,
    /// Whether commands join.
    pub join: Ros2Join,
    /// Ticks between two states that a controller that has joined answers.
    pub answers_every_ticks: u64,
    /// For each joint, whether the robot's `<ros2_control>` lets controllers command its position,
    /// velocity and effort; empty if it names none.
    pub command_interfaces: Vec<[bool; LISTED_INTERFACES.len()]>,
    /// Ticks between two messages of each topic, by the names in [`RATES`]; `None`: never.
    pub every_ticks: [Option<u64>; RATES.len()],
}

impl Ros2Settings {
    /// Ticks between two messages of the topic with the name `name` in [`RATES`]; `None`: never.
    #[must_use]
    pub fn every(&self, name: &str) -> Option<u64> {
        let of = |(i, _): (usize, &(&str, u64))| self.every_ticks[i];
        RATES.iter().enumerate().find(|(_, rate)| rate.0 == name).and_then(of)
    }
}

/// Keys under `ros2.rates_hz`, and the highest rate that "auto" chooses, Hz. Where a tick waits for
/// the answers of a node, it chooses the loop's rate for those that nodes answer.
pub const RATES: [(&str, u64); 10] = [
    ("clock", u64::MAX),
    ("joint_states", 500),
    ("imu", 500),
    ("foot_wrench", 250),
    ("foot_contact", 100),
    ("contacts", 100),
    ("odometry", 100),
    ("tf", 100),
    ("dynamic_joint_states", 100),
    ("velocity_command", 50),
];

/// Largest domain: ROS 2 derives UDP ports from it.
const DOMAIN_MAX: u32 = 232;

/// Reads the section and sets the ROS 2 mode in `bus`.
pub(super) fn ros2(
    root: &Section<'_>,
    period_ns: u64,
    control: &Mode,
    bus: &mut BusSettings,
) -> Ros2Settings {
    let s = root.section("ros2");
    let rate_hz = 1_000_000_000 / period_ns;
    let join = [("auto", Ros2Join::Auto), ("required", Ros2Join::Required), ("off", Ros2Join::Off)];
    let join = s.choice("join", &join).unwrap_or(Ros2Join::Auto);
    let mode = mode(&s, bus);
    let waits = *control != Mode::RealTime && join != Ros2Join::Off && mode != Ros2Mode::Off;
    let tf_edges = [("all", TfEdges::All), ("base", TfEdges::Base), ("links", TfEdges::Links)];
    let settings = Ros2Settings {
        mode,
        domain: s.count("domain", 0, DOMAIN_MAX) as u32,
        interface: s.text("interface").into(),
        namespace: namespace(&s),
        node: 0,
        tf: s.choice("tf", &tf_edges).unwrap_or(TfEdges::All),
        join,
        answers_every_ticks: answers(&s, rate_hz),
        command_interfaces: Vec::new(),
        every_ticks: rates(&s, rate_hz, waits),
    };
    (bus.ros2, bus.ros2_domain) = (settings.mode, settings.domain);
    s.finish();
    settings
}

/// With access control, ROS 2 needs a role of its own, which covers the keys of `rmw_zenoh`.
fn mode(s: &Section<'_>, bus: &BusSettings) -> Ros2Mode {
    let denied = bus.access.as_ref().is_some_and(|access| access.ros2_nodes.is_empty());
    let auto = if denied { Ros2Mode::Off } else { Ros2Mode::RmwZenoh };
    let words = [
        ("auto", auto),
        ("rmw_zenoh", Ros2Mode::RmwZenoh),
        ("bridge", Ros2Mode::Bridge),
        ("dds", Ros2Mode::Dds),
        ("off", Ros2Mode::Off),
    ];
    let mode = s.choice("mode", &words).unwrap_or(Ros2Mode::Off);
    if denied && mode == Ros2Mode::RmwZenoh {
        s.mistake(
            "mode",
            "\"auto\" or \"off\" with users_file or the tls keys, unless bus.ros2_nodes names \
             users",
        );
    }
    if bus.access.is_some() && [Ros2Mode::Bridge, Ros2Mode::Dds].contains(&mode) {
        s.mistake(
            "mode",
            "\"auto\" or \"off\" with users_file or the tls keys: a bridge's keys are the \
             bare names of topics, which no role can tell apart, and DDS has no access control",
        );
    }
    if mode == Ros2Mode::Dds && !cfg!(feature = "dds") {
        s.mistake("mode", "another one: this build has no DDS; build it with --features dds");
    }
    mode
}

fn namespace(s: &Section<'_>) -> String {
    let text = s.text("namespace").trim_matches('/');
    let is_name = |part: &str| {
        !part.starts_with(|c: char| c.is_ascii_digit())
            && !part.is_empty()
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    if text.len() > 200 || !(text.is_empty() || text.split('/').all(is_name)) {
        s.mistake("namespace", "\"\" or names of letters, digits and \"_\", as in \"lab/robot_1\"");
    }
    text.into()
}

/// Topics with the states that nodes answer.
const ANSWERED: [&str; 3] = ["clock", "joint_states", "imu"];

fn rates(s: &Section<'_>, rate_hz: u64, waits: bool) -> [Option<u64>; RATES.len()] {
    let s = s.section("rates_hz");
    let every = RATES.map(|(key, most_hz)| {
        let all = waits && ANSWERED.contains(&key);
        rate(&s, key, rate_hz, if all { u64::MAX } else { most_hz })
    });
    s.finish();
    every
}

/// Ticks between two states that are answered.
fn answers(s: &Section<'_>, rate_hz: u64) -> u64 {
    if s.choice_or_number("answers_hz", "auto") {
        return 1;
    }
    let rule = ["\"auto\"", "; join = \"off\" lets no command join"];
    divisor(s, "answers_hz", rate_hz, 1, rule).map_or(1, |hz| rate_hz / hz)
}

/// Ticks between two messages, for a rate that divides `rate_hz`, or for "auto" the largest such
/// rate up to `most_hz`; `None`: never.
pub(super) fn rate(s: &Section<'_>, key: &str, rate_hz: u64, most_hz: u64) -> Option<u64> {
    if s.choice_or_number(key, "auto") {
        return divisor_up_to(rate_hz, most_hz).map(|hz| rate_hz / hz);
    }
    let rule = ["\"auto\", 0 for never,", ""];
    divisor(s, key, rate_hz, 0, rule).and_then(|hz| rate_hz.checked_div(hz))
}

/// A number from `least` on that divides `rate_hz`, or 0. The rule for others is in words: what
/// comes before the divisors, and what after them.
fn divisor(
    s: &Section<'_>,
    key: &str,
    rate_hz: u64,
    least: i64,
    [before, after]: [&str; 2],
) -> Option<u64> {
    let divides = |hz: i64| hz == 0 || rate_hz.is_multiple_of(hz.unsigned_abs());
    let hz = s.integer_if(key, |hz| hz >= least && divides(hz));
    if hz.is_none() {
        let asked = s.integer_if(key, |hz| hz >= least);
        s.mistake(key, &format!("{}{after}", neighbours(before, asked, rate_hz)));
    }
    hz.map(i64::unsigned_abs)
}

/// The largest divisor of `rate_hz` that is at most `most`.
fn divisor_up_to(rate_hz: u64, most: u64) -> Option<u64> {
    (1..=most.min(rate_hz)).rev().find(|hz| rate_hz.is_multiple_of(*hz))
}

/// The rule for a rate, with the allowed rates nearest to the requested one.
fn neighbours(others: &str, asked: Option<i64>, rate_hz: u64) -> String {
    let rule = format!("{others} or a divisor of sim.rate_hz, which is {rate_hz}");
    let Some(asked) = asked.and_then(|hz| u64::try_from(hz).ok()) else { return rule };
    let below = divisor_up_to(rate_hz, asked);
    let above = (asked..=rate_hz).find(|hz| *hz > 0 && rate_hz.is_multiple_of(*hz));
    let near: Vec<String> = below.into_iter().chain(above).map(|hz| hz.to_string()).collect();
    format!("{rule}: {} next to it", near.join(" or "))
}
