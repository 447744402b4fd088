//! What a node hears: names, stamps, frames, units, latched messages, and what it costs.

use std::collections::BTreeMap;
use std::time::Duration;

use index::diagnostic_msgs::msg::DiagnosticArray;
use index::geometry_msgs::msg::{TransformStamped, WrenchStamped};
use index::nav_msgs::msg::Odometry;
use index::ros_gz_interfaces::msg::Contacts;
use index::rosgraph_msgs::msg::Clock;
use index::sensor_msgs::msg::{Imu, JointState};
use index::std_msgs::msg::{Bool, String as RosString};
use index::tf2_msgs::msg::TFMessage;
use ros2_interfaces_jazzy_serde as index;
use zenoh::Wait;
use zenoh_ext::{AdvancedSubscriberBuilderExt, HistoryConfig};

use super::peer::{self, Peer, Way, decode, newest, next};
use crate::common::process;
use crate::common::process::{Observer, PATIENCE, Scene, serial, wait_for};

fn ns(t: &index::builtin_interfaces::msg::Time) -> i64 {
    i64::from(t.sec) * 1_000_000_000 + i64::from(t.nanosec)
}

const FEET: [&str; 4] = ["FL", "FR", "RL", "RR"];

/// A robot that stands, held by the example controller: everything that a node may ask of it.
#[test]
fn a_standing_robot_is_described_in_ros_terms() {
    let _one = serial();
    for (mode, way) in [("rmw_zenoh", Way::RmwZenoh), ("bridge", Way::Bridge)] {
        let scene = Scene::new();
        let set = format!("ros2.mode={mode}");
        // a loaded machine may not decide this test
        let _daemon = scene.daemon(&["--set", &set, "--set", "command.hold_ticks=2000"]);
        let observer = Observer::of(&scene);
        let peer = Peer::connect(&scene.endpoint, way);
        let clock = peer.subscribe("clock", &peer::CLOCK);
        let _controller = scene.controller("controller");
        observer.until("2 s of standing", |s| s.tick >= 2000);

        check_joints(&peer, &observer);
        check_imu(&peer);
        check_feet(&peer, observer.model.mass_kg * 9.81);
        check_frames(&peer, &observer);
        check_diagnostics(&peer);
        check_late_joiners(&peer, &scene);

        // every tick: every stamp is a multiple of 1 ms and later than the one before
        let (mut stamps, mut sequence) = (Vec::new(), 0);
        while let Ok(Some(sample)) = clock.try_recv() {
            let attached = sample.attachment().map(|a| a.to_bytes().into_owned());
            assert_eq!(attached.is_some(), way == Way::RmwZenoh);
            if let Some(a) = attached {
                // sequence from 1 on, wall time, length of the id, the id
                let number = i64::from_le_bytes(a[..8].try_into().unwrap());
                let sent_ns = i64::from_le_bytes(a[8..16].try_into().unwrap());
                assert_eq!((a.len(), a[16]), (33, 16));
                assert!(number > sequence && number - sequence < 1000, "{sequence}, {number}");
                assert!(sent_ns > 1_700_000_000_000_000_000, "{sent_ns}");
                sequence = number;
            }
            stamps.push(ns(&decode::<Clock>(&sample).clock));
        }
        let begun = stamps.iter().position(|t| *t > 0).unwrap();
        let running = &stamps[begun..];
        assert!(running.len() > 1500, "{} messages of /clock", running.len());
        assert!(running.iter().all(|t| t % 1_000_000 == 0), "{running:?}");
        assert!(running.windows(2).all(|w| w[0] < w[1]), "{running:?}");
        let expected = (running[running.len() - 1] - running[0]) / 1_000_000 + 1;
        assert!(running.len() as i64 * 10 > expected * 9, "{} of {expected}", running.len());
    }
}

fn check_joints(peer: &Peer, observer: &Observer) {
    let m: JointState = peer.first("joint_states", &peer::JOINT_STATE);
    let names: Vec<&str> = observer.model.joints.iter().map(|j| j.name.as_str()).collect();
    assert_eq!(m.name, names);
    assert_eq!([m.position.len(), m.velocity.len(), m.effort.len()], [names.len(); 3]);
    assert_eq!(ns(&m.header.stamp) % 2_000_000, 0, "500 Hz");
    let q = |name: &str| m.position[m.name.iter().position(|n| n == name).unwrap()];
    assert!((q("FL_thigh_joint") - 0.8).abs() < 0.3 && (q("FL_calf_joint") + 1.5).abs() < 0.3);
    let dynamic: peer::DynamicJointState = peer.first("dynamic_joint_states", &peer::DYNAMIC);
    assert_eq!(dynamic.joint_names, names);
    let thigh = &dynamic.interface_values[1];
    assert_eq!(thigh.interface_names, hardstand::ros2::STATE_INTERFACES);
    assert!((thigh.values[0] - q("FL_thigh_joint")).abs() < 0.05);
    // the set-point of `controller stand`
    assert_eq!(thigh.values[3..7], [100.0, 3.0, 0.8, 0.0]);
}

fn check_imu(peer: &Peer) {
    let m: Imu = peer.first("imu/data", &peer::IMU);
    let (a, o) = (&m.linear_acceleration, &m.orientation);
    assert!((a.z - 9.81).abs() < 0.3 && a.x.abs() < 0.7 && a.y.abs() < 0.7, "{a:?}");
    assert!(o.w > 0.99, "level, and the scalar in its place: {o:?}");
    assert!(m.orientation_covariance[0] > 0.0 && m.orientation_covariance[1] == 0.0);
    assert_eq!(m.header.frame_id, "trunk");
}

fn check_feet(peer: &Peer, weight_n: f64) {
    let mut sum_n = 0.0;
    for foot in FEET {
        let m: WrenchStamped = peer.first(&format!("feet/{foot}/wrench"), &peer::WRENCH);
        assert_eq!(m.header.frame_id, format!("{foot}_foot"));
        let f = &m.wrench.force;
        sum_n += (f.x * f.x + f.y * f.y + f.z * f.z).sqrt();
        // about the centre of a ball the force of a point on it makes |torque| <= r f
        let t = &m.wrench.torque;
        let torque_nm = (t.x * t.x + t.y * t.y + t.z * t.z).sqrt();
        assert!(torque_nm < 1.5, "{torque_nm} N·m about the foot's centre");
        let down: Bool = peer.first(&format!("feet/{foot}/contact"), &peer::BOOL);
        assert!(down.data, "{foot}");
    }
    assert!((sum_n / weight_n - 1.0).abs() < 0.15, "feet {sum_n} N, weight {weight_n} N");
    let m: Contacts = peer.first("contacts", &peer::CONTACTS);
    assert_eq!((m.header.frame_id.as_str(), m.contacts.len()), ("odom", 4));
    let up_n: f64 = m.contacts.iter().map(|c| c.wrenches[0].body_1_wrench.force.z).sum();
    assert!((up_n / weight_n - 1.0).abs() < 0.1, "{up_n} N of {weight_n} N");
    let c = &m.contacts[0];
    assert!(c.collision1.name.starts_with("quadruped::FL_calf::"), "{}", c.collision1.name);
    assert_eq!((c.collision1.type_, c.collision2.name.as_str()), (5, "ground::plane.0"));
    assert!(c.normals[0].z > 0.999 && c.positions[0].z.abs() < 0.02, "{c:?}");
}

/// Every link has one parent; the feet are on the ground.
fn check_frames(peer: &Peer, observer: &Observer) {
    let odometry: Odometry = peer.first("ground_truth/odom", &peer::ODOMETRY);
    assert_eq!(odometry.header.frame_id, "odom");
    assert_eq!(odometry.child_frame_id, observer.model.base_link);
    assert!((0.25..0.4).contains(&odometry.pose.pose.position.z), "{odometry:?}");
    let moving: TFMessage = peer.first("tf", &peer::TF);
    let fixed: TFMessage = latched(peer, "tf_static", &peer::TF);
    let edges: Vec<&TransformStamped> = moving.transforms.iter().chain(&fixed.transforms).collect();
    let mut parents = BTreeMap::new();
    for edge in &edges {
        let before = parents.insert(edge.child_frame_id.as_str(), edge.header.frame_id.as_str());
        assert_eq!(before, None, "{} has two parents", edge.child_frame_id);
    }
    for (child, mut at) in [("FL_foot", "FL_foot"), ("RR_foot", "RR_foot")] {
        let mut steps = 0;
        while let Some(parent) = parents.get(at) {
            (at, steps) = (parent, steps + 1);
        }
        assert!(at == "odom" && steps >= 4, "{child} hangs on {at} after {steps} edges");
        let height_m = height(&edges, child);
        assert!((0.0..0.05).contains(&height_m), "{child} is {height_m} m high");
    }
    let base = moving.transforms.iter().find(|t| t.header.frame_id == "odom").unwrap();
    assert!((base.transform.translation.z - odometry.pose.pose.position.z).abs() < 0.01);
}

/// Height of a frame, as tf2 would compute it.
fn height(edges: &[&TransformStamped], frame: &str) -> f64 {
    let (mut p, mut at) = ([0.0; 3], frame);
    while let Some(edge) = edges.iter().find(|e| e.child_frame_id == at) {
        let (r, t) = (&edge.transform.rotation, &edge.transform.translation);
        let (u, w) = ([r.x, r.y, r.z], r.w);
        let cross = |a: [f64; 3], b: [f64; 3]| {
            [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        };
        let c = cross(u, p);
        let cc = cross(u, c);
        let turned: [f64; 3] = std::array::from_fn(|i| p[i] + 2.0 * (w * c[i] + cc[i]));
        p = [turned[0] + t.x, turned[1] + t.y, turned[2] + t.z];
        at = &edge.header.frame_id;
    }
    p[2]
}

fn check_diagnostics(peer: &Peer) {
    let m: DiagnosticArray = peer.first("diagnostics", &peer::DIAGNOSTICS);
    let names: Vec<&str> = m.status.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["hardstand: loop", "hardstand: commands"]);
    assert!(ns(&m.header.stamp) > 0);
    let value = |key: &str| {
        let found = m.status[1].values.iter().find(|v| v.key == key);
        found.unwrap_or_else(|| panic!("no {key}")).value.clone()
    };
    assert!(["fresh", "held"].contains(&value("authority").as_str()), "{}", value("authority"));
    assert!(value("commands_accepted").parse::<u64>().unwrap() > 100);
}

/// As a subscription with durability transient local.
fn latched<T: for<'a> serde::Deserialize<'a>>(peer: &Peer, topic: &str, t: &peer::Type) -> T {
    let key = match peer.way {
        Way::RmwZenoh => format!("0/{topic}/{}/{}", t.dds, t.hash),
        Way::Bridge => topic.to_string(),
    };
    let subscriber = peer
        .session
        .declare_subscriber(key)
        .history(HistoryConfig::default().detect_late_publishers().max_samples(1))
        .wait()
        .unwrap();
    let sample = subscriber.recv_timeout(PATIENCE).unwrap().expect("a latched message");
    decode(&sample)
}

fn check_late_joiners(peer: &Peer, scene: &Scene) {
    let said: RosString = latched(peer, "robot_description", &peer::STRING);
    let urdf = std::fs::read_to_string(process::repository("config/robots/quadruped.urdf"));
    assert_eq!(said.data, urdf.unwrap());
    let later = Peer::connect(&scene.endpoint, peer.way);
    let again: RosString = latched(&later, "robot_description", &peer::STRING);
    assert_eq!(said.data, again.data);
}

/// The graph: a node and its topics, before any other node is there.
#[test]
fn topics_are_listed_before_anybody_listens() {
    let _one = serial();
    for (mode, asked, expected) in [
        ("rmw_zenoh", "@ros2_lv/0/**", "/MP/%/%/hardstand/%joint_states/sensor_msgs::msg::dds_::"),
        ("bridge", "@/*/@ros2_lv/**", "/MP/joint_states/sensor_msgs§msg§JointState/:1:0:0,10"),
    ] {
        let scene = Scene::new();
        let _daemon = scene.daemon(&["--set", &format!("ros2.mode={mode}")]);
        let _ready = Observer::of(&scene);
        let peer = Peer::connect(&scene.endpoint, Way::RmwZenoh);
        let listed = wait_for("tokens", || {
            let replies = peer.session.liveliness().get(asked).wait().unwrap();
            let tokens: Vec<String> = replies
                .iter()
                .filter_map(|r| Some(r.result().ok()?.key_expr().to_string()))
                .collect();
            (tokens.len() >= 24).then_some(tokens)
        });
        assert!(listed.iter().any(|t| t.contains(expected)), "{listed:#?}");
        assert_eq!(listed.iter().filter(|t| t.contains("/MS/")).count(), 6, "{listed:#?}");
    }
}

/// Nothing is published that nobody listens to, and what one listens to costs no other topic.
#[test]
fn nobody_pays_for_topics_without_listeners() {
    let _one = serial();
    let scene = Scene::new();
    let _daemon = scene.daemon(&["--set", "sim.start=now"]);
    let observer = Observer::of(&scene);
    observer.until("a second", |s| s.tick >= 1000);
    assert_eq!(observer.status_until("ticks", |s| s.tick >= 1000).counter("ros2_published"), 0);
    let peer = Peer::connect(&scene.endpoint, Way::RmwZenoh);
    {
        let clock = peer.subscribe("clock", &peer::CLOCK);
        for _ in 0..50 {
            wait_for("/clock", || next::<Clock>(&clock));
        }
    }
    std::thread::sleep(Duration::from_millis(200));
    let after = observer.state().tick;
    let status = observer.status_until("a later status", |s| s.tick > after);
    let published = status.counter("ros2_published");
    assert!((50..1500).contains(&published), "{published}");
    // and with the subscription it ended
    let later = observer.status_until("yet a later one", |s| s.tick > status.tick);
    assert_eq!(later.counter("ros2_published"), published);
}

/// Their time is one, so one of them has the clock; their frames have the same names.
#[test]
fn several_robots_have_one_clock_and_frames_of_their_own() {
    let _one = serial();
    let scene = Scene::new();
    let robots = "robots=[{name=\"left\", initial={position_m=[0, 0.5, 0]}}, \
                  {name=\"right\", initial={position_m=[0, -0.5, 0]}}]";
    let _daemon = scene.daemon(&["--set", robots, "--set", "sim.start=now"]);
    let observer = Observer::of_robot(&scene, "right");
    let peer = Peer::connect(&scene.endpoint, Way::RmwZenoh);
    let clock = peer.subscribe("clock", &peer::CLOCK);
    let frames = peer.session.declare_subscriber("0/tf/**").wait().unwrap();
    let of_robots = ["left/tf", "right/tf"].map(|topic| peer.subscribe(topic, &peer::TF));
    let y = |m: &TFMessage| m.transforms[0].transform.translation.y;
    let [left, right]: [TFMessage; 2] = of_robots.each_ref().map(newest);
    assert!((y(&left) - 0.5).abs() < 0.1 && (y(&right) + 0.5).abs() < 0.1, "{left:?} {right:?}");
    observer.until("it runs", |s| s.tick >= 200);
    scene.ctl(&["reset", "--rewind", "--robot", "right"], 0);
    let diagnostics = peer.subscribe("diagnostics", &peer::DIAGNOSTICS);
    let mut names = std::collections::BTreeSet::new();
    wait_for("diagnostics of both", || {
        let message: DiagnosticArray = next(&diagnostics)?;
        names.extend(message.status.into_iter().map(|status| status.name));
        (names.len() > 2).then_some(())
    });
    let of_both = ["left: commands", "left: loop", "right: commands", "right: loop"];
    assert_eq!(Vec::from_iter(names), of_both.map(|name| format!("hardstand: {name}")));
    let mut last = 0;
    for _ in 0..500 {
        let now: Clock = next(&clock).expect("a tick");
        assert!(ns(&now.clock) > last, "{} ns after {last} ns", ns(&now.clock));
        last = ns(&now.clock);
    }
    assert!(frames.try_recv().unwrap().is_none(), "whose frames are they?");
}

/// Off is off: no key, no token, no router.
#[test]
fn off_says_nothing() {
    let _one = serial();
    let scene = Scene::new();
    let _daemon = scene.daemon(&["--set", "ros2.mode=off", "--set", "sim.start=now"]);
    let _ready = Observer::of(&scene);
    let peer = Peer::connect(&scene.endpoint, Way::RmwZenoh);
    let all = peer.session.declare_subscriber("0/**").wait().unwrap();
    let native = peer.session.declare_subscriber("hardstand/*/state").wait().unwrap();
    assert!(native.recv_timeout(PATIENCE).unwrap().is_some());
    let tokens = peer.session.liveliness().get("@ros2_lv/**").wait().unwrap();
    assert_eq!(tokens.iter().count(), 0);
    assert!(all.try_recv().unwrap().is_none());
}

/// While the robot waits for its first controller, time stands and states are there to begin from.
#[test]
fn a_waiting_robot_can_be_seen() {
    let _one = serial();
    let scene = Scene::new();
    let _daemon = scene.daemon(&[]);
    let _ready = Observer::of(&scene);
    let peer = Peer::connect(&scene.endpoint, Way::RmwZenoh);
    let states = peer.subscribe("joint_states", &peer::JOINT_STATE);
    for _ in 0..5 {
        let m: JointState = newest(&states);
        assert_eq!((ns(&m.header.stamp), m.name.len()), (0, 12));
    }
}

/// No router but the daemon: it tells nodes of each other, so that they connect, and what they say
/// need not fit its own bounds. Clients, who connect to nobody else, reach each other through it.
#[test]
fn nodes_reach_each_other_by_way_of_the_daemon() {
    let _one = serial();
    let scene = Scene::tcp();
    let _daemon = scene.daemon(&[]);
    let _ready = Observer::of(&scene);
    let listening = [("listen/endpoints", "[\"tcp/127.0.0.1:0\"]")];
    let client = [("mode", "\"client\"")];
    for (more, bytes) in [(&client[..], 1000), (&listening[..], 1_000_000)] {
        let (a, b) = (
            Peer::open(&scene.endpoint, Way::RmwZenoh, more),
            Peer::open(&scene.endpoint, Way::RmwZenoh, more),
        );
        let heard = a.session.declare_subscriber("0/chatter/**").wait().unwrap();
        let text = RosString { data: "x".repeat(bytes) };
        let got: RosString = wait_for("a message from node to node", || {
            b.publish("chatter", &peer::STRING, &text);
            next(&heard)
        });
        assert_eq!(got.data.len(), bytes);
    }
}

/// A snapshot fills all topics at once; those that come last must not be the ones that get lost.
#[test]
fn all_topics_at_once_keep_their_rates() {
    let _one = serial();
    let scene = Scene::new();
    let _daemon = scene.daemon(&["--set", "sim.start=now"]);
    let _ready = Observer::of(&scene);
    let peer = Peer::connect(&scene.endpoint, Way::RmwZenoh);
    let everything = zenoh::handlers::FifoChannel::new(65_536);
    let all = peer.session.declare_subscriber("0/**").with(everything).wait().unwrap();
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    while counts.get("clock").is_none_or(|n| *n < 2000) {
        let sample = all.recv_timeout(PATIENCE).unwrap().expect("a message");
        let topic = sample.key_expr().as_str().rsplitn(3, '/').nth(2).unwrap();
        *counts.entry(topic.trim_start_matches("0/").into()).or_default() += 1;
    }
    for (topic, expected) in [("tf", 200), ("dynamic_joint_states", 200), ("joint_states", 1000)] {
        assert!(counts[topic] * 10 > expected * 9, "{topic}: {} of {expected}", counts[topic]);
    }
}
