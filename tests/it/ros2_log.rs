//! The messages of ROS 2 in the log. What other programs make of it: tests/it/python.rs.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use crate::common::bench::{
    Bench, PERIOD_NS, ROOMY, TestClock, in_files_of, info, quadruped, write_log,
};
use hardstand::config::{OverrunPolicy, Pace, Scenario, StartRule};
use hardstand::daemon::Recording;
use hardstand::replay::{replay, replay_run};
use hardstand::ros2::RosChannels;
use hardstand::ros2::messages::{DynamicJointState, JointState, Message, RosString};
use hardstand::rt::ManualClock;
use hardstand_log::{CHAIN_TOPIC, Disk, LogReader, recover};
use hardstand_protocol::LogTick;
use hardstand_protocol::PlantFailure;

const TICKS: u64 = 300;

fn ticks_of(scenario: &Scenario) -> Vec<LogTick> {
    let mut bench = Bench::new(scenario.clone(), ROOMY);
    let pace = Pace::RealTime(OverrunPolicy::Slip);
    bench.executive(ManualClock::default(), pace, StartRule::Now, TICKS).run();
    bench.logged()
}

fn write(path: &Path, scenario: &Scenario, ticks: &[LogTick]) {
    write_log(path, scenario, ticks);
}

/// The log of a whole run with these settings.
fn log_of(dir: &Path, sets: &[&str]) -> (PathBuf, Vec<LogTick>) {
    let scenario = quadruped(sets);
    let (path, ticks) = (dir.join("run.mcap"), ticks_of(&scenario));
    write(&path, &scenario, &ticks);
    (path, ticks)
}

/// Topic, time and bytes of the messages in a complete file, in their order, without its chain.
fn messages(path: &Path) -> Vec<(String, u64, Vec<u8>)> {
    let bytes = std::fs::read(path).unwrap();
    let all = mcap::MessageStream::new(&bytes).unwrap().map(Result::unwrap);
    all.filter(|m| m.channel.topic != CHAIN_TOPIC)
        .map(|m| {
            let schema = m.channel.schema.as_ref().unwrap();
            assert_eq!((m.channel.message_encoding.as_str(), schema.encoding.as_str()), CDR);
            (m.channel.topic.clone(), m.log_time, m.data.into_owned())
        })
        .collect()
}

/// `ros2 bag` refuses files with channels of several encodings.
const CDR: (&str, &str) = ("cdr", "ros2msg");

fn counts(messages: &[(String, u64, Vec<u8>)]) -> BTreeMap<&str, u64> {
    let mut counts = BTreeMap::new();
    messages.iter().for_each(|(topic, ..)| *counts.entry(topic.as_str()).or_default() += 1);
    counts
}

#[test]
fn topics_have_the_names_and_rates_of_the_scenario() {
    let dir = tempfile::tempdir().unwrap();
    let sets = ["ros2.namespace=lab/r1", "ros2.mode=off", "ros2.rates_hz.imu=125"];
    let sets = [&sets[..], &["ros2.rates_hz.tf=0", "ros2.rates_hz.joint_states=1000"]].concat();
    let (path, ticks) = log_of(dir.path(), &sets);
    let all = messages(&path);
    let counts = counts(&all);
    for (topic, count) in [
        ("/clock", 300),
        ("/lab/r1/joint_states", 300),
        ("/lab/r1/imu/data", 37),
        ("/lab/r1/feet/RR/wrench", 75),
        ("/lab/r1/feet/RR/contact", 30),
        ("/lab/r1/ground_truth/odom", 30),
        ("/lab/r1/velocity_command", 15),
        ("/lab/r1/robot_description", 1),
        ("/tf_static", 1),
        ("hardstand/state", TICKS),
    ] {
        assert_eq!(counts.get(topic), Some(&count), "{topic} in {counts:?}");
    }
    assert!(!counts.contains_key("/tf"), "{counts:?}");
    assert_eq!(counts.len(), 3 + 7 + 2 * 4 + 2, "{counts:?}");
    let states = all.iter().filter(|(topic, ..)| topic == "/lab/r1/joint_states");
    for ((_, time_ns, bytes), tick) in states.zip(&ticks) {
        let state = JointState::decode(bytes).unwrap();
        let stamp = &state.header.stamp;
        let stamp_ns = u64::try_from(stamp.sec).unwrap() * 1_000_000_000 + u64::from(stamp.nanosec);
        assert_eq!((stamp_ns, *time_ns), (tick.state.time_ns, tick.state.time_ns));
        let [q, dq, tau] = [&state.position, &state.velocity, &state.effort];
        for (i, joint) in tick.state.joints.iter().enumerate() {
            assert_eq!((q[i], dq[i], tau[i]), (joint.q, joint.dq, joint.tau));
        }
    }
}

#[test]
fn off_leaves_what_a_replay_needs() {
    let dir = tempfile::tempdir().unwrap();
    let (path, ticks) = log_of(dir.path(), &["record.ros2=false"]);
    assert!(ticks.iter().all(|t| t.contacts.is_none()), "nobody reads the contacts");
    let all = messages(&path);
    let topics: Vec<&str> = counts(&all).into_keys().collect();
    assert_eq!(topics, ["hardstand/keyframe", "hardstand/state", "hardstand/tick"]);
}

/// The controller's gains while it is obeyed, the watchdog's damping after that, then none.
#[test]
fn gains_are_those_that_the_drives_obey() {
    let dir = tempfile::tempdir().unwrap();
    let rate = "ros2.rates_hz.dynamic_joint_states=1000";
    let scenario = quadruped(&["command.hold_ticks=20", "command.damped_ticks=50", rate]);
    let mut bench = Bench::new(scenario.clone(), ROOMY);
    let hands = bench.hands();
    let between = move |period: u64| {
        if period < 100 {
            hands.candidate(7, period + 1, period.saturating_sub(1));
        }
    };
    let clock = TestClock { clock: ManualClock::default(), late: Vec::new(), between };
    bench.executive(clock, Pace::RealTime(OverrunPolicy::Slip), StartRule::Now, TICKS).run();
    let (path, ticks) = (dir.path().join("run.mcap"), bench.logged());
    write(&path, &scenario, &ticks);
    let all = messages(&path);
    let dynamic = all.iter().filter(|m| m.0 == "/dynamic_joint_states");
    let mut seen = BTreeMap::new();
    for ((.., bytes), tick) in dynamic.zip(&ticks) {
        let message = DynamicJointState::decode(bytes).unwrap();
        let expected = match tick.state.authority {
            1 | 2 => [100.0, 3.0],
            3 => [0.0, 2.0],
            _ => [0.0, 0.0],
        };
        let gains = |v: &hardstand::ros2::messages::InterfaceValue| [v.values[3], v.values[4]];
        assert!(message.interface_values.iter().all(|v| gains(v) == expected), "{message:?}");
        *seen.entry(tick.state.authority).or_insert(0) += 1;
    }
    assert_eq!(seen.values().sum::<u64>(), TICKS);
    assert!(seen.len() == 4 && seen[&3] == 50, "fresh, held, damped, zero: {seen:?}");
}

/// A tick that ends in a fault is not done: its state is the one before, which has been told.
#[test]
fn a_fault_repeats_no_message() {
    let dir = tempfile::tempdir().unwrap();
    let scenario = quadruped(&[]);
    let mut ticks = ticks_of(&scenario);
    let before = ticks[99].state.clone();
    ticks.truncate(101);
    (ticks[100].failure, ticks[100].state) = (Some(PlantFailure::NotFinite), before);
    let path = dir.path().join("run.mcap");
    write(&path, &scenario, &ticks);
    assert_eq!(counts(&messages(&path))["/clock"], 100);
}

/// Whoever opens the third file only learns the robot and its frames, too.
#[test]
fn every_file_of_a_run_is_complete_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let scenario = quadruped(&["record.keyframe_every_ticks=50"]);
    let ticks = ticks_of(&scenario);
    let (out, inbox) = hardstand::buffer_pool::pool(ticks.len(), || ticks[0].clone());
    // ticks 120 to 149 are lost
    for tick in ticks.iter().filter(|t| !(120..150).contains(&t.tick)) {
        let mut record = out.take_free().unwrap();
        (*record).clone_from(tick);
        out.send(record);
    }
    let (path, ros2) = (dir.path().join("run.mcap"), RosChannels::of(&scenario));
    let (disk, limits) = (Box::<Disk>::default(), in_files_of(150_000));
    let recording =
        Recording::start(disk, path.clone(), info(&scenario), limits, ros2.into(), inbox).unwrap();
    let files = recording.finish().segments;
    assert!(files.len() >= 4, "{files:?}");
    let mut clocks = Vec::new();
    for file in &files {
        let all = messages(file);
        let first: Vec<&str> = all.iter().map(|(topic, ..)| topic.as_str()).take(5).collect();
        let latched = ["/robot_description", "/tf_static"];
        assert!(latched.iter().all(|l| first.contains(l)), "{}: {first:?}", file.display());
        let (_, time_ns, bytes) = all.iter().find(|(topic, ..)| topic == latched[0]).unwrap();
        assert_eq!(RosString::decode(bytes).unwrap().data, scenario.robot_urdf);
        assert!(all.iter().all(|(_, other_ns, _)| other_ns >= time_ns), "it comes first");
        clocks.extend(all.iter().filter(|m| m.0 == "/clock").map(|m| m.1 / PERIOD_NS));
    }
    let due = (1..=TICKS).filter(|t| !(121..=150).contains(t));
    assert_eq!(clocks, due.collect::<Vec<_>>());
    let run =
        replay_run(LogReader::open(&path).unwrap(), &scenario.simulation(), ONE, |_, _, _| ());
    let run = run.unwrap();
    assert_eq!((run.files, run.gaps.len(), run.whole.equal), (files, 1, TICKS - 30));
    assert_eq!((run.whole.difference, run.whole.damage), (None, None));
}

const ONE: NonZeroUsize = NonZeroUsize::MIN;

/// Cut anywhere, a log can be made whole: the same ticks as its reader finds, and all readers'
/// index and end.
#[test]
fn a_log_that_was_cut_off_can_be_made_whole() {
    let dir = tempfile::tempdir().unwrap();
    let (path, _) = log_of(dir.path(), &["record.keyframe_every_ticks=50"]);
    let (whole, scenario) = (std::fs::read(&path).unwrap(), quadruped(&[]));
    let [cut, saved] = ["cut.mcap", "saved.mcap"].map(|name| dir.path().join(name));
    for share in [30, 50, 77, 92, 100] {
        std::fs::write(&cut, &whole[..whole.len() * share / 100]).unwrap();
        let recovered = recover(&cut, &saved).unwrap();
        let bytes = std::fs::read(&saved).unwrap();
        let summary = mcap::Summary::read(&bytes).unwrap().expect("an index");
        let chunks = summary.chunk_indexes.len() as u64;
        let (chunks_of_ticks, links) = (recovered.ticks / 10, recovered.ticks / 10 + 2);
        assert_eq!(chunks, 1 + chunks_of_ticks + links, "{share} %: the head, the same chunks");
        let all = messages(&saved);
        assert_eq!(all, messages(&path)[..all.len()], "{share} %");
        assert_eq!(recovered.messages, all.len() as u64);
        let replayed = |path: &Path| {
            let mut log = LogReader::open(path).unwrap();
            replay(&mut log, scenario.simulation(), ONE, |_, _, _| ()).unwrap()
        };
        let (before, after) = (replayed(&cut), replayed(&saved));
        assert_eq!((after.ticks, after.digest), (before.ticks, before.digest), "{share} %");
        assert_eq!((after.equal, recovered.ticks), (before.ticks, before.ticks));
        assert_eq!((after.damage, before.damage), (None, recovered.damage.clone()), "{share} %");
        assert_eq!(recovered.damage.is_none(), share == 100);
        assert!(recovered.ticks > 0 && recovered.ticks.is_multiple_of(10), "{recovered:?}");
        assert!(recover(&cut, &saved).is_err(), "it replaces no file");
        std::fs::remove_file(&saved).unwrap();
    }
    std::fs::write(&cut, &whole[..3000]).unwrap();
    assert!(recover(&cut, &saved).unwrap_err().to_string().contains("not a log"), "no robot");
    assert!(!saved.exists());
}
