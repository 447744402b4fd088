//! Velocity commands: of the scenario, of an operator, of a joystick; into states, log and replay.

use std::time::Duration;

use hardstand_client::session::open_client;
use hardstand_physics::math;
use hardstand_protocol::{
    Event, Order, OrderHead, StateReading, StatusReading, VelocityCommand, encode_order,
};
use rustix::process::Signal;
use zenoh::Wait;
use zenoh::qos::CongestionControl;

use crate::common::process::{Log, Observer, Scene, serial};

fn velocity(vx: f64, vy: f64, yaw_rate: f64) -> VelocityCommand {
    VelocityCommand::from([vx, vy, yaw_rate])
}

/// Ticks and velocities of the log's events.
fn asked(log: &Log) -> Vec<(u64, VelocityCommand)> {
    let velocity = |event: &Event| match event {
        Event::Velocity(v) => Some(*v),
        _ => None,
    };
    let of = |t: &hardstand_protocol::LogTick| {
        let tick = t.tick;
        t.events.iter().filter_map(velocity).map(move |v| (tick, v)).collect::<Vec<_>>()
    };
    log.ticks.iter().flat_map(of).collect()
}

#[test]
fn the_trot_follows_the_scenario() {
    let _one = serial();
    let scene = Scene::new();
    let commands = "commands=[{at_s=4.5}, {at_s=1.0, vx_m_per_s=0.4}, \
                    {at_s=3.5, vy_m_per_s=0.1, yaw_rate_rad_per_s=0.5}]";
    let lockstep = ["--mode", "lockstep", "--pace", "free", "--duration", "5.5"];
    let mut daemon = scene.daemon(&[&lockstep[..], &["--set", commands]].concat());
    let words = ["controller", "trot", "--connect", &scene.endpoint];
    let mut controller = scene.hardstand("trot", &words);
    daemon.ends_with(0);
    controller.kill();
    let log = Log::read(&scene.log());
    let expected = [
        (1000, velocity(0.4, 0.0, 0.0)),
        (3500, velocity(0.0, 0.1, 0.5)),
        (4500, VelocityCommand::STAND),
    ];
    assert_eq!(asked(&log), expected);
    // a state shows what holds in its last tick, and so what its answer is asked for
    for state in &log.states {
        let holds = expected.iter().rfind(|(tick, _)| tick < &state.tick);
        let holds = holds.map_or(VelocityCommand::STAND, |(_, v)| *v);
        assert_eq!(state.velocity_command, holds, "tick {}", state.tick);
    }
    let at = |tick: u64| log.states.iter().find(|s| s.tick == tick).unwrap();
    let yaw = |s: &StateReading| 2.0 * math::asin_clamped(s.truth_base_quat_wxyz[3]);
    let ahead = at(3500).truth_base_position_m[0] - at(2500).truth_base_position_m[0];
    assert!((ahead - 0.4).abs() < 0.1, "{ahead} m in 1 s");
    let turned = yaw(at(4500)) - yaw(at(3500));
    assert!((turned - 0.5).abs() < 0.15, "{turned} rad in 1 s");
    let [x, y, z] = at(5500).truth_base_velocity_m_per_s;
    let moving = (x * x + y * y + z * z).sqrt();
    assert!(moving < 0.03, "{moving} m/s");
    scene.replays();
}

fn message(run_id: u32, v: VelocityCommand) -> Vec<u8> {
    let mut out = Vec::new();
    let head = OrderHead::new("quadruped", run_id, "joystick");
    encode_order(Order::Velocity, &head, &v, &mut out).unwrap();
    out
}

#[test]
fn operators_and_joysticks_change_it_and_what_is_wrong_changes_nothing() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&["--set", "sim.start=now"]);
    let observer = Observer::of(&scene);
    let shows = |what: &str, v| observer.until(what, |s| s.velocity_command == v);
    shows("a robot that stands", VelocityCommand::STAND);

    let order = |words: &[&str], code| scene.ctl(&[&["cmd-vel"], words].concat(), code);
    let out = order(&["0.3", "-0.1", "0.2"], 0);
    assert!(out.contains("(0.3, -0.1) m/s, 0.2 rad/s from tick "), "{out}");
    shows("the operator's", velocity(0.3, -0.1, 0.2));
    let out = order(&["200"], 2);
    assert!(out.contains("vx_m_per_s is 200; it must be -100 to 100"), "{out}");
    assert!(order(&["0.1", "0", "nan"], 2).contains("yaw_rate_rad_per_s is NaN"));

    let session = open_client(&scene.endpoint).unwrap();
    let put = |key: &str, payload: &[u8]| {
        let put = session.put(key, payload).congestion_control(CongestionControl::Block);
        put.wait().unwrap();
    };
    let key = "hardstand/quadruped/cmd_vel";
    let run_id = observer.model.run_id;
    let received = |s: &StatusReading| s.counter("orders_received");
    for i in 0..200 {
        // a stream of one velocity is one event
        put(key, &message(run_id, velocity(0.0, 0.0, if i < 150 { 0.5 } else { 0.25 })));
        if i % 20 == 0 {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    shows("the joystick's", velocity(0.0, 0.0, 0.25));
    for wrong in [&b""[..], b"no velocity", &message(run_id + 1, velocity(1.0, 0.0, 0.0))] {
        put(key, wrong);
    }
    put(key, &message(run_id, velocity(f64::INFINITY, 0.0, 0.0)));
    put("hardstand/*/cmd_vel", &message(run_id, velocity(2.0, 0.0, 0.0)));
    put("hardstand/quadruped/**", &message(run_id, velocity(2.0, 0.0, 0.0)));
    let all = observer.status_until("all are counted", |s| received(s) >= 207);
    assert_eq!(received(&all), 207); // three of ctl
    let rejected = |reason: &str| all.counter(&format!("orders_rejected_{reason}"));
    // with that of ctl: NaN and infinity
    assert_eq!((rejected("run_id"), rejected("not_finite")), (1, 2));
    assert_eq!(observer.state().velocity_command, velocity(0.0, 0.0, 0.25));

    // an emergency stop ends it, and its end does not bring it back
    scene.ctl(&["stop"], 0);
    shows("a stop", VelocityCommand::STAND);
    scene.ctl(&["arm"], 0);
    assert_eq!(observer.state().velocity_command, VelocityCommand::STAND);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    let log = Log::read(&scene.log());
    let events: Vec<_> = asked(&log).into_iter().map(|(_, v)| v).collect();
    let yaw = |rate| velocity(0.0, 0.0, rate);
    assert_eq!(events, [velocity(0.3, -0.1, 0.2), yaw(0.5), yaw(0.25)]);
    scene.replays();
}
