//! Lockstep over real links: another speed, load, a debugger, a restart give the same run.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hardstand::config::Scenario;
use hardstand::replay::Player;
use hardstand_log::{LogReader, LogRecord, LogWriter, SideMessages};
use hardstand_protocol::{Authority, Event, JoinRequest, JointCommand};
use rustix::process::Signal;

use crate::common::process::{Log, Observer, PATIENCE, Process, Scene, digest};

const FRONT: [&str; 6] = [
    "FL_hip_joint",
    "FL_thigh_joint",
    "FL_calf_joint",
    "FR_hip_joint",
    "FR_thigh_joint",
    "FR_calf_joint",
];
pub(crate) const REAR: [&str; 6] = [
    "RL_hip_joint",
    "RL_thigh_joint",
    "RL_calf_joint",
    "RR_hip_joint",
    "RR_thigh_joint",
    "RR_calf_joint",
];

/// A controller that joins with these joints.
pub(crate) fn joined(scene: &Scene, name: &str, joints: &[&str], more: &[&str]) -> Process {
    let mut args = vec!["controller", "stand", "--connect", &scene.endpoint, "--join", name];
    args.extend(joints.iter().flat_map(|joint| ["--joint", joint]));
    args.extend(more);
    scene.hardstand(name, &args)
}

/// A daemon in lockstep that waits for `front` and `rear`.
pub(crate) fn lockstep(scene: &Scene, more: &[&str]) -> Process {
    let both = ["--mode", "lockstep", "--set", "control.controllers=[\"front\",\"rear\"]"];
    scene.daemon(&[&both, more].concat())
}

pub(crate) fn front(scene: &Scene) -> Process {
    joined(scene, "front", &FRONT, &["--period", "5", "--offset", "3"])
}

pub(crate) fn rear(scene: &Scene) -> Process {
    joined(scene, "rear", &REAR, &[])
}

/// What is done to a run.
enum Trouble {
    None,
    /// The one, the other or the daemon (0, 1, 2) is stopped for a while.
    Stopped(usize),
    /// Programs that take all cores.
    Load,
}

struct Busy(Vec<Child>);

impl Busy {
    fn start(count: usize) -> Self {
        let spin = |_| {
            let mut sh = Command::new("sh");
            sh.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
            sh.spawn().unwrap()
        };
        Self((0..count).map(spin).collect())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _gone = child.kill().is_ok();
            let _buried = child.wait().is_ok();
        }
    }
}

/// The digest of a run, which replays.
fn run(scene: &Scene, swapped: bool, trouble: &Trouble, more: &[&str]) -> String {
    let mut daemon = lockstep(scene, &[&["--duration", "0.4"], more].concat());
    let mut controllers = if swapped {
        let first = rear(scene);
        std::thread::sleep(Duration::from_millis(300));
        [front(scene), first]
    } else {
        [front(scene), rear(scene)]
    };
    let _busy = Busy::start(if matches!(trouble, Trouble::Load) { 4 } else { 0 });
    if let Trouble::Stopped(whom) = trouble {
        let observer = Observer::of(scene);
        observer.until("it runs", |s| s.tick > 100);
        let victim = if *whom == 2 { &daemon } else { &controllers[*whom] };
        victim.signal(Signal::STOP);
        std::thread::sleep(Duration::from_millis(1500));
        victim.signal(Signal::CONT);
    }
    let said = daemon.ends_with(0);
    controllers.iter_mut().for_each(Process::kill);
    let log = Log::read(&scene.log());
    log.assert_no_tick_is_missing();
    assert_eq!(log.ticks.len(), 400);
    scene.replays();
    digest(&said)
}

/// The two tests of ArduPilot's maintainers: another speed gives exactly the same run, and stopping
/// a side in a debugger does not affect the physics.
#[test]
fn speed_load_order_and_a_debugger_make_no_difference() {
    let calm = run(&Scene::new(), false, &Trouble::None, &["--pace", "free"]);
    let slow = ["--speed", "0.25"];
    let runs = [
        ("the other order, over TCP", run(&Scene::tcp(), true, &Trouble::None, &[])),
        ("0.1 ×", run(&Scene::new(), false, &Trouble::None, &["--speed", "0.1"])),
        ("front stopped", run(&Scene::new(), false, &Trouble::Stopped(0), &slow)),
        ("rear stopped", run(&Scene::new(), true, &Trouble::Stopped(1), &slow)),
        ("daemon stopped", run(&Scene::new(), false, &Trouble::Stopped(2), &slow)),
        ("loaded cores", run(&Scene::new(), true, &Trouble::Load, &["--pace", "free"])),
        (
            "states seldom",
            run(
                &Scene::new(),
                false,
                &Trouble::None,
                &["--pace", "free", "--set", "bus.state_every_ticks=50"],
            ),
        ),
    ];
    for (what, digest) in runs {
        assert_eq!(digest, calm, "{what}");
    }
}

/// Faults of the link are decisions in simulated time: the same numbers fall out, whatever the
/// pace.
#[test]
fn a_bad_link_is_as_bad_each_time() {
    let events = "events=[{at_s=0.05, kind=\"link_drop\", probability=0.03, seed=7}, \
                  {at_s=0.1, kind=\"link_jitter\", delay_ticks=4, seed=7}, \
                  {at_s=0.2, kind=\"link_bit_flip\", probability=0.05, seed=7}, \
                  {at_s=0.15, kind=\"state_reorder\", probability=0.1, delay_ticks=3, seed=7}, \
                  {at_s=0.25, kind=\"state_drop\", probability=0.1, seed=7}]";
    let faulty = |swapped, more: &[&str]| {
        let scene = Scene::new();
        let digest = run(&scene, swapped, &Trouble::None, &[&["--set", events], more].concat());
        let accepted =
            Log::read(&scene.log()).ticks.iter().filter(|t| !t.joints.is_empty()).count();
        (digest, accepted)
    };
    let first = faulty(false, &["--pace", "free"]);
    assert_eq!(faulty(true, &["--speed", "0.3"]), first);
    let calm = run(&Scene::new(), false, &Trouble::None, &["--pace", "free"]);
    assert!(first.0 != calm && (200..399).contains(&first.1), "{first:?}");
}

#[test]
fn a_controller_that_is_killed_is_waited_for_and_goes_on() {
    let scene = Scene::new();
    let mut daemon = lockstep(&scene, &["--duration", "1", "--speed", "0.5"]);
    let (_front, mut killed) = (front(&scene), rear(&scene));
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick > 200);
    killed.kill();
    let waiting = observer.status_until("it waits", |s| !s.missing.is_empty());
    assert_eq!(waiting.missing, ["rear"]);
    let text = scene.hardstand("status", &["status", "--connect", &scene.endpoint]).ends_with(0);
    assert!(text.contains("waits for  rear"), "{text}");
    let tick = observer.state().tick;
    std::thread::sleep(Duration::from_millis(1200));
    assert_eq!(observer.state().tick, tick, "nothing moves meanwhile");
    let _again = rear(&scene);
    daemon.ends_with(0);
    scene.replays();
    let log = Log::read(&scene.log());
    assert_eq!(log.ticks.len(), 1000);
    // every tick has a command of the rear legs, first of one process, then of the other
    let grants: Vec<u64> = log
        .ticks
        .iter()
        .flat_map(|t| t.events.iter().map(move |e| (t.tick, e)))
        .filter(|(_, e)| matches!(e, Event::Grant(_)))
        .map(|(tick, _)| tick)
        .collect();
    // it took its lease over as it was
    assert_eq!(grants, [0, 0]);
    assert!(log.ticks.iter().skip(3).all(|t| {
        t.candidates.iter().any(|o| o.applies_tick == t.tick && o.answers_tick == t.tick)
            && t.authority != Authority::Damped
    }));
}

/// The end says why no answer counted.
#[test]
fn a_controller_that_sends_nan_is_told_the_reason() {
    let scene = Scene::new();
    let mut daemon = scene.daemon(&["--mode", "lockstep", "--set", "control.patience_s=2.0"]);
    let client = scene.client();
    let model = client.model(PATIENCE).unwrap();
    let mut controller = client.join(JoinRequest::new(&model, "noisy"), PATIENCE).unwrap();
    let mut joints = vec![JointCommand::default(); model.joints.len()];
    while !daemon.has_ended() {
        let Some(state) = controller.next_state(Duration::from_millis(50)).unwrap() else {
            continue;
        };
        joints[3].q = if state.tick < 20 { 0.0 } else { f64::NAN };
        controller.answer(&state, &joints).unwrap();
    }
    let said = daemon.ends_with(8);
    let why = "the last, for the state of tick 20, as not_finite";
    assert!(said.contains("timed out waiting for noisy") && said.contains(why), "{said}");
}

#[test]
fn a_controller_that_never_comes_is_named() {
    let scene = Scene::new();
    let mut daemon = lockstep(&scene, &["--set", "control.patience_s=2.0"]);
    let _rear = rear(&scene);
    let said = daemon.ends_with(8);
    assert!(said.contains("timed out waiting for front (control.patience_s)"), "{said}");
}

#[test]
fn who_cannot_join_is_told_what_was_expected_and_what_came() {
    let scene = Scene::new();
    let _daemon = lockstep(&scene, &[]);
    let _front = front(&scene);
    let observer = Observer::of(&scene);
    observer.status_until("it has joined", |s| s.controllers.len() == 1);
    let refused = |name: &str, more: &[&str]| {
        let fixed = ["controller", "stand", "--connect", &scene.endpoint, "--join", name];
        scene.hardstand(name, &[&fixed, more].concat()).ends_with(2)
    };
    let said = refused("thief", &["--joint", "FL_hip_joint"]);
    assert!(said.contains("joint \"FL_hip_joint\" belongs to the controller \"front\""), "{said}");
    let said = refused("blind", &["--joint", "tail"]);
    assert!(said.contains("joint \"tail\" is unknown; the robot has FL_hip_joint, "), "{said}");
    let said = refused("late", &["--joint", "RL_hip_joint", "--offset", "8"]);
    assert!(said.contains("offset_ticks is 8; it must be at most 7"), "{said}");
    let said = refused("odd one", &["--joint", "RL_hip_joint"]);
    assert!(said.contains("controller is \"odd one\"; it must be 1 to 64 letters"), "{said}");
}

#[test]
fn a_run_goes_on_from_a_saved_state_alike_each_time() {
    let scene = Scene::new();
    let ctl = |words: &[&str]| scene.ctl(words, 0);
    let mut daemon = lockstep(&scene, &[]);
    let (_front, _rear) = (front(&scene), rear(&scene));
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick > 100);
    ctl(&["pause"]);
    let tick = observer.until("a pause", |s| s.phase == 3).tick;
    let file = scene.path("state.bin");
    ctl(&["snapshot", file.to_str().unwrap()]);
    let mut digests = Vec::new();
    for run_id in 2..4 {
        ctl(&["restore", file.to_str().unwrap()]);
        ctl(&["run-until", &(tick + 250).to_string()]);
        let end =
            observer.until("the end", |s| (s.run_id, s.tick, s.phase) == (run_id, tick + 250, 3));
        assert!(Authority::is_command(end.authority), "both have come again");
        digests.push(end.digest);
    }
    assert_eq!(digests[0], digests[1]);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    scene.replays();
}

#[test]
fn a_stopped_robot_obeys_nobody_until_it_is_armed() {
    let scene = Scene::new();
    let ctl = |words: &[&str]| scene.ctl(words, 0);
    let mut daemon = lockstep(&scene, &[]);
    let client = scene.client();
    client.model(PATIENCE).unwrap();
    let events = client.events().unwrap();
    let (_front, _rear) = (front(&scene), rear(&scene));
    let observer = Observer::of(&scene);
    observer.until("it obeys", |s| s.tick > 100 && Authority::is_command(s.authority));
    let said = ctl(&["stop"]);
    assert!(said.contains("stopped from tick"), "{said}");
    let stopped = observer.until("it is stopped", |s| s.authority == Authority::Stopped.code());
    observer.until("time goes on", |s| s.tick > stopped.tick + 100);
    ctl(&["arm"]);
    observer.until("it obeys again", |s| Authority::is_command(s.authority));
    assert!(ctl(&["speed", "0.5"]).contains("at 0.5 × real time"));
    observer.status_until("the pace", |s| s.speed == 0.5 && s.counter("rejected_stopped") > 50);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    scene.replays();
    // what was told is what is in the log
    let mut told = Vec::new();
    while let Some(event) = events.next(Duration::from_millis(500)).unwrap() {
        if event.kind != "order" {
            told.push((event.tick, event.kind, event.controller));
        }
    }
    let mut kinds: Vec<&str> = told.iter().map(|(_, kind, _)| kind.as_str()).collect();
    assert_eq!(kinds.split_off(2), ["stop", "arm"]);
    assert_eq!(kinds, ["join", "join"]);
    let mut names = [&told[0].2, &told[1].2];
    names.sort();
    assert_eq!(names, ["front", "rear"]);
    let logged = Log::read(&scene.log()).ticks;
    let logged = logged.iter().flat_map(|t| t.events.iter().map(|e| (t.tick, e.name())));
    assert!(logged.eq(told.iter().map(|(tick, kind, _)| (*tick, kind.as_str()))), "{told:?}");
}

/// A tick has the set-points of several controllers one after the other: whose differs is told, and
/// where a log does not replay they are put to the right joints all the same.
#[test]
fn the_controller_and_the_joint_that_differ_are_named() {
    let scene = Scene::new();
    let run = |log: &str, kp: &str| {
        let args = scene.run_args_with_log(
            &scene.path(log),
            &["--mode", "lockstep", "--pace", "free", "--duration", "0.05"],
        );
        let named = ["--set", "control.controllers=[\"front\",\"rear\"]"];
        let args: Vec<&str> = args.iter().map(String::as_str).chain(named).collect();
        let mut daemon = scene.hardstand("daemon", &args);
        let fixed = ["controller", "stand", "--connect", &scene.endpoint, "--join", "rear"];
        let joints: Vec<&str> = REAR.iter().flat_map(|joint| ["--joint", joint]).collect();
        let rear = scene.hardstand("rear", &[&fixed[..], &joints, &["--kp", kp]].concat());
        let _both = (front(&scene), rear);
        daemon.ends_with(0);
        scene.path(log)
    };
    let (a, b) = (run("a.mcap", "100"), run("b.mcap", "90"));
    let compared = scene.hardstand("bisect", &["bisect", a.to_str().unwrap(), b.to_str().unwrap()]);
    let said = { compared }.ends_with(1);
    assert!(said.contains("controller rear, command.RL_hip_joint.kp: 1e2 and 9e1"), "{said}");

    // the same log as another build would have written it, which differs at the first contact
    let damaged = scene.path("other.mcap");
    let (mut info, mut ticks) = (None, Vec::new());
    let mut reader = LogReader::open(&b).unwrap();
    let mut keyframe = Vec::new();
    while let Some(record) = reader.next_record() {
        info.get_or_insert_with(|| reader.info().clone());
        match record {
            LogRecord::Keyframe(k) => keyframe = k.words,
            LogRecord::Tick(mut tick) => {
                tick.keyframe = std::mem::take(&mut keyframe);
                ticks.push(*tick);
            }
            LogRecord::State(state) => ticks.last_mut().unwrap().state = *state,
        }
    }
    let mut info = info.unwrap();
    let sets = ["contact.cz_s_per_m=0.9".to_string(), "record.ros2=false".into()];
    info.scenario = Scenario::from_texts(&info.scenario, &info.robot, &sets).unwrap().complete_toml;
    let mut writer = LogWriter::create(&damaged, &info, &[]).unwrap();
    ticks.iter().for_each(|tick| writer.write(tick, &SideMessages::default()).unwrap());
    writer.finish().unwrap();
    let mut player = Player::open(&damaged).unwrap();
    let mut seen = 0;
    while player.advance().unwrap() {
        let view = player.view().unwrap();
        if player.difference().is_some() && view.state.tick > 10 {
            seen += 1;
            let gains: Vec<f64> = view.command.iter().map(|c| c.kp).collect();
            assert_eq!(gains[..6], [100.0; 6], "of front, at tick {}", view.state.tick);
            assert_eq!(gains[6..], [90.0; 6], "of rear, at tick {}", view.state.tick);
        }
    }
    assert!(seen > 10, "{:?}", player.difference());
}
