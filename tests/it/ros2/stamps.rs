//! Which state a stamp names, and how often the states come that nodes answer.

use hardstand::bus::Newest;
use hardstand::config::Scenario;
use hardstand::ros2::messages::Time;
use hardstand::ros2::{RosRejection, Stamps};

const PERIOD_NS: u64 = 1_000_000;

/// 40 ticks after the begin of a run that a restored state began at tick 100 and time 5 s.
const NOW: Newest = Newest {
    run_id: 3,
    tick: 140,
    first_tick: 100,
    time_ns: 5_040_000_000,
    phase: 1,
    authority: 0,
    command_session: 0,
};

fn answered(exact: bool, now: &Newest, ns: i64) -> Result<u64, String> {
    let stamps = Stamps { period_ns: PERIOD_NS, exact };
    let stamp = Time {
        sec: ns.div_euclid(1_000_000_000) as i32,
        nanosec: ns.rem_euclid(1_000_000_000) as u32,
    };
    stamps.answered(now, &stamp).map_err(|refused| {
        assert_eq!(refused.reason, RosRejection::Stamp);
        refused.text
    })
}

#[test]
fn a_stamp_of_the_run_before_answers_no_state_of_this_one() {
    for exact in [false, true] {
        assert_eq!(answered(exact, &NOW, 5_000_000_000), Ok(100), "the first state");
        assert_eq!(answered(exact, &NOW, 5_040_000_000), Ok(140), "the newest one");
        assert_eq!(answered(exact, &NOW, 5_045_000_000), Ok(145), "one that is still to come");
        for before in [4_999_000_000, 4_999_999_999, 1, -3_000_000_000] {
            let text = answered(exact, &NOW, before).unwrap_err();
            assert!(
                text.contains(if before < 0 { "negative" } else { "began at 5.0000" }),
                "{text}"
            );
        }
    }
}

/// A node without use_sim_time has the time of day.
#[test]
fn a_stamp_of_the_wall_clock_is_refused_with_what_to_do() {
    for exact in [false, true] {
        let text = answered(exact, &NOW, 1_780_000_000_000_000_000).unwrap_err();
        let wanted = "the simulation is at 5.040000000 s; nodes must have use_sim_time";
        assert!(text.contains("1780000000.000000000 s") && text.contains(wanted), "{text}");
    }
}

#[test]
fn where_ticks_wait_a_stamp_is_that_of_a_state() {
    assert_eq!(answered(false, &NOW, 5_010_400_000), Ok(110), "the last state then");
    assert_eq!(answered(false, &NOW, 0), Ok(140), "without a stamp: the newest");
    let text = answered(true, &NOW, 5_010_400_000).unwrap_err();
    assert!(text.contains("5.010400000 s, between two states"), "{text}");
    let text = answered(true, &NOW, 0).unwrap_err();
    assert!(text.contains("no stamp") && text.contains("now 5.040000000 s"), "{text}");
    // the first state of the first run has the time 0
    let begin = Newest { tick: 0, first_tick: 0, time_ns: 0, ..NOW };
    assert_eq!(answered(true, &begin, 0), Ok(0));
    let later = Newest { tick: 1, time_ns: PERIOD_NS, ..begin };
    assert!(answered(true, &later, 0).is_err(), "it has its answer already");
}

#[test]
fn states_that_nodes_answer_come_at_the_rate_of_the_loop() {
    let urdf = "<robot name=\"r\"><link name=\"l\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" \
                ixy=\"0\" ixz=\"0\" iyy=\"1\" iyz=\"0\" izz=\"1\"/></inertial></link></robot>";
    let every = |sets: &[&str], topic: &str| {
        let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        let settings = Scenario::from_texts("", urdf, &sets).unwrap().ros2;
        (settings.every(topic).unwrap(), settings.answers_every_ticks)
    };
    let fast = "sim.rate_hz=4000";
    for topic in ["clock", "joint_states", "imu"] {
        let real_time = if topic == "clock" { 1 } else { 8 };
        assert_eq!(every(&[fast], topic), (real_time, 1), "{topic}");
        assert_eq!(every(&[fast, "control.mode=lockstep"], topic), (1, 1), "{topic}");
    }
    let slow = [fast, "control.mode=lockstep", "ros2.answers_hz=500", "ros2.rates_hz.imu=1000"];
    assert_eq!(every(&slow, "imu"), (4, 8));
    for answers_hz in [0, 3000] {
        let set = [format!("ros2.answers_hz={answers_hz}")];
        let text = Scenario::from_texts("", urdf, &set).unwrap_err().to_string();
        assert!(text.contains("answers_hz"), "{text}");
    }
}
