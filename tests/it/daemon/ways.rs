//! One control law, over zenoh, over shared memory, and in one process with the robot.

use crate::common::process::{Scene, digest, repository, serial};
use crate::walking::CONTRACT;

const NO_EVENTS: &str = "events=[]";
const SECONDS: &str = "2.5";
const LOCKSTEP: [&str; 6] = ["--mode", "lockstep", "--pace", "free", "--duration", SECONDS];

/// Digests of a run of `law` (words of `hardstand controller`) with these events over zenoh, over
/// shared memory, and in one process.
fn digests(law: &[&str], every_ticks: u64, events: &str) -> [String; 3] {
    let events = ["--set", events];
    let over_zenoh = {
        let scene = Scene::in_memory();
        let mut daemon = scene.daemon(&[&LOCKSTEP[..], &events].concat());
        let connect = ["--connect", &scene.endpoint, "--join", "legs"];
        let mut controller = scene.hardstand("law", &[law, &connect].concat());
        let said = digest(&daemon.ends_with(0));
        controller.kill();
        said
    };
    let over_shared_memory = {
        let scene = Scene::in_memory();
        let memory = scene.path("robot").display().to_string();
        let sets = [
            format!("shared_memory.path={memory}"),
            "shared_memory.controller=legs".into(),
            format!("shared_memory.every_ticks={every_ticks}"),
        ];
        let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set.as_str()]).collect();
        let mut daemon = scene.daemon(&[&LOCKSTEP[..], &events, &sets].concat());
        let connect = ["--connect", &scene.endpoint, "--shared-memory", &memory];
        let mut controller = scene.hardstand("law", &[law, &connect].concat());
        let said = digest(&daemon.ends_with(0));
        controller.kill();
        said
    };
    let scene = Scene::in_memory();
    let scenario = repository("config/quadruped.toml");
    let log = scene.log().display().to_string();
    let way = ["--in-process", &scenario, "--duration", SECONDS, "--log", &log, "--join", "legs"];
    let said = scene.hardstand("law", &[law, &way, &events].concat()).ends_with(0);
    assert_eq!(digest(&scene.replays()), digest(&said), "{said}");
    [over_zenoh, over_shared_memory, digest(&said)]
}

#[test]
fn a_law_has_the_same_digest_over_zenoh_over_shared_memory_and_in_one_process() {
    let _one = serial();
    let [zenoh, memory, process] = digests(&["controller", "trot", "--vx", "0.4"], 1, NO_EVENTS);
    assert_eq!([&zenoh, &memory], [&process, &process]);
}

/// What the link does to states depends on their ticks, not on the way.
#[test]
fn a_law_whose_states_are_late_or_lost_has_the_same_digest_on_each_way() {
    let _one = serial();
    let law = ["controller", "trot", "--vx", "0.4"];
    let events = "events=[{at_s=0.5, kind=\"state_drop\", probability=0.1, length=2, seed=5}, \
                  {at_s=1.0, kind=\"state_delay\", delay_ticks=3}]";
    let [zenoh, memory, process] = digests(&law, 1, events);
    assert_eq!([&zenoh, &memory], [&process, &process]);
    let calm = digests(&law, 1, NO_EVENTS);
    assert_ne!(process, calm[2], "the link does something");
}

#[test]
fn so_has_a_policy_that_answers_every_twentieth_tick() {
    let _one = serial();
    let scene = Scene::new();
    let file = scene.path("calves.toml").display().to_string();
    std::fs::write(&file, CONTRACT).unwrap();
    let network = repository("crates/policy/tests/data/elu.onnx");
    let law = ["controller", "policy", &file, "--policy", &network, "--vx", "0.5"];
    let [zenoh, memory, process] = digests(&law, 20, NO_EVENTS);
    assert_eq!([&zenoh, &memory], [&process, &process]);
}

#[test]
fn a_law_in_one_process_names_what_is_wrong() {
    let scene = Scene::new();
    let scenario = repository("config/quadruped.toml");
    let run = |words: &[&str], code| {
        let way = ["controller", "stand", "--in-process", &scenario];
        let mut process = scene.hardstand("law", &[&way[..], words].concat());
        process.ends_with(code);
        process.err()
    };
    assert!(run(&["--duration", "-1"], 2).contains("sim.duration_s is -1"));
    assert!(run(&["--duration", "0"], 2).contains("--duration is missing"));
    assert!(run(&["--duration", "1", "--kp", "1e9"], 2).contains("kp is 1000000000"));
    assert!(run(&["--duration", "1", "--set", "sim.period_us=0"], 2).contains("sim.period_us"));
    let said = run(&["--duration", "1", "--shared-memory", "/dev/shm/x"], 2);
    assert!(said.contains("cannot be used with"), "{said}");
    // without an end it would run for ever
    assert!(run(&[], 2).contains("--duration is missing"), "{}", run(&[], 2));
}
