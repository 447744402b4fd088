//! Runs that begin in a saved state: of a daemon, or of a log with another controller.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::common::bench::quadruped;
use crate::common::process::{Log, Observer, Process, Scene, digest, serial};
use hardstand::ingress::save;
use hardstand::replay::{read_state, write_state};
use hardstand_protocol::TickInput;
use rustix::process::Signal;

const HARDSTAND: &str = env!("CARGO_BIN_EXE_hardstand");
const LOCKSTEP: [&str; 4] = ["--mode", "lockstep", "--pace", "free"];

fn stand(scene: &Scene, more: &[&str]) -> Process {
    let fixed = ["controller", "stand", "--connect", &scene.endpoint, "--join", "legs"];
    scene.hardstand("controller", &[&fixed, more].concat())
}

/// `hardstand run` with its log in this file.
fn run(scene: &Scene, log: &str, more: &[&str]) -> Process {
    let args = scene.run_args_with_log(&scene.path(log), more);
    scene.hardstand(log, &args.iter().map(String::as_str).collect::<Vec<_>>())
}

fn hardstand(scene: &Scene, args: &[&str], code: i32) -> String {
    scene.hardstand("tool", args).ends_with(code)
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// A whole run of 200 ticks, and the state in its middle.
fn whole_run(scene: &Scene) -> (String, PathBuf, u64) {
    let mut daemon = run(
        scene,
        "whole.mcap",
        &[&LOCKSTEP[..2], &["--duration", "0.2", "--speed", "0.1"]].concat(),
    );
    let _controller = stand(scene, &[]);
    let observer = Observer::of(scene);
    observer.until("it runs", |s| s.tick > 30);
    let ctl = |words: &[&str]| scene.ctl(words, 0);
    ctl(&["pause"]);
    let tick = observer.until("a pause", |s| s.phase == 3).tick;
    let state = scene.path("state.bin");
    std::fs::write(&state, b"readable by all").unwrap();
    ctl(&["snapshot", &text(&state)]);
    let mode = std::fs::metadata(&state).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    ctl(&["resume"]);
    (digest(&daemon.ends_with(0)), state, tick)
}

/// The rest of the run, by a daemon and a controller that were not there before; then with another
/// controller, by the log alone.
#[test]
fn a_run_goes_on_in_another_process_and_another_controller_may_take_over() {
    let _one = serial();
    let scene = Scene::new();
    let (end, state, tick) = whole_run(&scene);
    assert_eq!(read_state(&state).unwrap().tick, tick);
    let from = ["--from", &text(&state), "--duration", "0.2"];
    let mut daemon = run(&scene, "rest.mcap", &[&LOCKSTEP[..], &from].concat());
    let _controller = stand(&scene, &[]);
    let said = daemon.ends_with(0);
    drop(_controller);
    assert_eq!(digest(&said), end, "{said}");
    assert!(said.contains(&format!("ran        {} ticks", 200 - tick)), "{said}");
    let alone = [&LOCKSTEP[..], &from, &["--set", "control.patience_s=0.3"]].concat();
    let said = run(&scene, "alone.mcap", &alone).ends_with(8);
    assert!(said.contains("legs"), "the controller that is missing, by name: {said}");
    let (whole, rest) = (text(&scene.path("whole.mcap")), text(&scene.path("rest.mcap")));
    let replayed = hardstand(&scene, &["replay", &rest], 0);
    assert!(replayed.contains(&format!("begins at tick {tick}, from its keyframe")), "{replayed}");
    let compared = hardstand(&scene, &["bisect", &whole, &rest], 0);
    assert!(compared.contains("all digests too"), "{compared}");

    let (at, to) = (tick.to_string(), text(&scene.path("other.mcap")));
    let branch = |gain: &str, code: i32| {
        let args = ["branch", &whole, "--at", &at, "--log", &to, "--", HARDSTAND, "controller"];
        let other = ["stand", "--join", "other", "--kp", gain];
        let said = hardstand(&scene, &[&args[..], &other].concat(), code);
        let log = Log::read(&scene.path("other.mcap"));
        assert_eq!((log.ticks[0].tick, log.ticks.len() as u64), (tick, 200 - tick), "{said}");
        assert!(log.ticks.iter().all(|t| !t.joints.is_empty()), "each tick has its command");
        hardstand(&scene, &["replay", &to], 0);
        said
    };
    let same = branch("100", 0);
    assert!(same.contains("identical  what was applied and all quantities except for"), "{same}");
    let said = branch("80", 1);
    assert!(said.contains(&format!("DIFFERENT  first at tick {} (", tick + 1)), "{said}");
    assert!(said.contains("command.FL_hip_joint.kp: 1e2 and 8e1"), "{said}");
    assert!(said.contains("cause      the controller"), "{said}");
    let refused =
        ["branch", &whole, "--at", &at, "--log", &to, "--", "sh", "-c", "echo so; exit 4"];
    let said = hardstand(&scene, &refused, 8);
    assert!(said.contains("exit code 4") && said.contains("so"), "{said}");
}

/// With a latency of two ticks, an answer is under way when the state is saved. It is void: nobody
/// waits for it, and both runs lack it.
#[test]
fn answers_that_were_under_way_are_not_waited_for() {
    let _one = serial();
    let scene = Scene::new();
    let slow = ["--period", "4", "--offset", "2"];
    let mut daemon = run(&scene, "whole.mcap", &[&LOCKSTEP[..2], &["--speed", "0.02"]].concat());
    let first = stand(&scene, &slow);
    Observer::of(&scene).until("it runs", |s| s.tick > 2);
    scene.ctl(&["run-until", "41"], 0);
    let state = text(&scene.path("state.bin"));
    let said = scene.ctl(&["snapshot", &state], 0);
    assert!(said.contains("after tick 41"), "{said}");
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    drop(first);
    let mut digests = Vec::new();
    for log in ["a.mcap", "b.mcap"] {
        let patient = ["--set", "control.patience_s=10.0", "--duration", "0.1"];
        let args = [&LOCKSTEP[..], &["--from", &state], &patient].concat();
        let mut daemon = run(&scene, log, &args);
        let _controller = stand(&scene, &slow);
        digests.push(digest(&daemon.ends_with(0)));
        assert_eq!(Log::read(&scene.path(log)).ticks.len(), 59);
    }
    assert_eq!(digests[0], digests[1]);
}

/// Nobody commands, so a library's state and a daemon's are the same.
#[test]
fn what_is_planned_for_later_happens_and_what_was_before_does_not_again() {
    let _one = serial();
    let scene = Scene::new();
    let events = "events=[{at_s=0.02, kind=\"push\", link=\"trunk\", force_n=[9,30,0], duration_s=0.01}, \
                  {at_s=0.08, kind=\"push\", link=\"trunk\", force_n=[0,40,0], duration_s=0.01}]";
    let scenario = quadruped(&[events]);
    let mut simulation = scenario.simulation();
    let mut schedule = hardstand::simulation::EventSchedule::new(scenario.events.clone());
    let file = scene.path("state.bin");
    for tick in 0..100 {
        if tick == 50 {
            let saved = save(&mut simulation, scenario.physics_hash, 3);
            write_state(&file, &saved).unwrap();
        }
        let mut input = TickInput::new();
        schedule.take_due(tick, &mut input.events);
        simulation.step(&input);
    }
    let end = format!("{:016x}", simulation.state().digest);
    let args = ["--pace", "free", "--duration", "0.1", "--from", &text(&file), "--set", events];
    let said = run(&scene, "run.mcap", &args).ends_with(0);
    assert_eq!(digest(&said), end, "{said}");
    let log = Log::read(&scene.log());
    assert_eq!((log.ticks[0].tick, log.ticks[0].run_id, log.ticks.len()), (50, 3, 50));
    assert!(log.states.iter().all(|s| s.time_ns == s.tick * 1_000_000));
    scene.replays();
}

#[test]
fn a_state_that_does_not_fit_is_refused_before_a_log_is_overwritten() {
    let _one = serial();
    let scene = Scene::new();
    let scenario = quadruped(&[]);
    let mut simulation = scenario.simulation();
    for _ in 0..50 {
        simulation.step(&TickInput::new());
    }
    let (file, bad) = (scene.path("state.bin"), scene.path("bad.bin"));
    write_state(&file, &save(&mut simulation, scenario.physics_hash, 1)).unwrap();
    std::fs::write(&bad, b"no state").unwrap();
    std::fs::write(scene.log(), b"an old log").unwrap();
    let (file, bad) = (text(&file), text(&bad));
    for (file, more, expected) in [
        (&file, &["--set", "contact.mu_static=0.9"][..], "from another robot or scenario"),
        (&file, &["--set", "sim.rate_hz=500"], "layout_hash"),
        (&file, &["--duration", "0.05"], "give a longer --duration"),
        (&bad, &[], "is not a saved state"),
        (&text(&scene.path("none.bin")), &[], "No such file"),
    ] {
        let args = [&["--pace", "free", "--from", file], more].concat();
        let said = run(&scene, "run.mcap", &args).ends_with(2);
        assert!(said.contains(expected), "{expected}: {said}");
        assert_eq!(std::fs::read(scene.log()).unwrap(), b"an old log");
    }
}

/// The robot of a controller that has not joined cannot be joined.
#[test]
fn a_state_of_a_controller_that_has_not_joined_is_not_for_lockstep() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&[]);
    let _controller = scene.controller("controller");
    let observer = Observer::of(&scene);
    observer.until("it obeys", |s| s.tick > 20 && s.command_session != 0);
    let file = text(&scene.path("state.bin"));
    scene.ctl(&["snapshot", &file], 0);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    let said = run(&scene, "b.mcap", &[&LOCKSTEP[..], &["--from", &file]].concat()).ends_with(2);
    assert!(said.contains("without having joined"), "{said}");
    // a branch of its log begins with that robot free for another
    let (log, to) = (text(&scene.log()), text(&scene.path("b.mcap")));
    let args = ["branch", &log, "--at", "10", "--log", &to, "--set", "command.hold_ticks=40", "--"];
    let controller = [HARDSTAND, "controller", "stand", "--join", "legs"];
    let said = hardstand(&scene, &[&args[..], &controller].concat(), 1);
    assert!(said.contains("cause "), "{said}");
    assert!(Log::read(&scene.path("b.mcap")).ticks.iter().all(|t| !t.joints.is_empty()));
}
