//! Calls of Unitree's services over zenoh: what is refused has no effect, and is named.

use std::cell::Cell;
use std::time::Duration;

use hardstand::ros2::messages::Message;
use hardstand::ros2::unitree::{HgLowCmd, LowState, Request, Response, SportModeState, set_crc};
use hardstand_protocol::{Authority, StateReading, VelocityCommand};
use rustix::process::Signal;
use zenoh::handlers::FifoChannelHandler;
use zenoh::pubsub::Subscriber;
use zenoh::sample::Sample;

use super::LOW_STATE;
use crate::common::process::{Observer, Process, Scene, repository, serial, wait_for};
use crate::ros2::peer::{Peer, Type, Way};

const REQUEST: Type = Type { dds: "unitree_api::msg::dds_::Request_", hash: Request::HASH };
const RESPONSE: Type = Type { dds: "unitree_api::msg::dds_::Response_", hash: Response::HASH };
const BODY: Type =
    Type { dds: "unitree_go::msg::dds_::SportModeState_", hash: SportModeState::HASH };
const HG_LOW_CMD: Type = Type { dds: "unitree_hg::msg::dds_::LowCmd_", hash: HgLowCmd::HASH };

fn begin(scenario: &str, more: &[&str]) -> (Scene, Process, Observer, Peer) {
    let scene = Scene::new();
    let sets = ["ros2.mode=rmw_zenoh", "unitree.enabled=true", "command.hold_ticks=2000"];
    let sets: Vec<&str> = sets.iter().chain(more).flat_map(|set| ["--set", set]).collect();
    let mut args = scene.run_args(&sets);
    args[1] = repository(scenario);
    let daemon = scene.hardstand("daemon", &args.iter().map(String::as_str).collect::<Vec<_>>());
    let observer = Observer::of(&scene);
    let peer = Peer::connect(&scene.endpoint, Way::RmwZenoh);
    (scene, daemon, observer, peer)
}

fn encoded<T: Message>(message: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    bytes
}

/// A client of one service. It sends each call once: some mean another thing the second time.
struct Service<'a> {
    peer: &'a Peer,
    request: String,
    answers: Subscriber<FifoChannelHandler<Sample>>,
    last: Cell<i64>,
}

impl<'a> Service<'a> {
    /// One whose calls are answered: the guard has listened.
    fn of(peer: &'a Peer, name: &str) -> Self {
        let answers = peer.subscribe(&format!("api/{name}/response"), &RESPONSE);
        let service =
            Self { peer, request: format!("api/{name}/request"), answers, last: Cell::new(0) };
        wait_for("the service answers", || {
            service.put(&encoded(&service.next(1, "")));
            service.answer()
        });
        service
    }

    /// The next call.
    fn next(&self, api_id: i64, parameter: &str) -> Request {
        let mut call = Request { parameter: parameter.into(), ..Default::default() };
        self.last.set(self.last.get() + 1);
        (call.header.identity.id, call.header.identity.api_id) = (self.last.get(), api_id);
        call
    }

    fn put(&self, bytes: &[u8]) {
        self.peer.put(&self.request, &REQUEST, bytes);
    }

    /// Code and data of the answer to the last call, if it comes within a moment.
    fn answer(&self) -> Option<(i32, String)> {
        let sample = self.answers.recv_timeout(Duration::from_millis(200)).unwrap()?;
        let answer = Response::decode(&sample.payload().to_bytes()).unwrap();
        let of_last = answer.header.identity.id == self.last.get();
        of_last.then_some((answer.header.status.code, answer.data))
    }

    fn call(&self, api_id: i64, parameter: &str) -> (i32, String) {
        self.put(&encoded(&self.next(api_id, parameter)));
        wait_for("an answer", || self.answer())
    }

    fn code(&self, api_id: i64, parameter: &str) -> i32 {
        self.call(api_id, parameter).0
    }

    /// `SetFsmId`, and then `GetFsmId`.
    fn set_state(&self, id: i64) -> (i32, String) {
        let code = self.code(7101, &format!("{{\"data\":{id}}}"));
        (code, self.call(7001, "").1)
    }
}

fn state(id: i64) -> String {
    format!("{{\"data\":{id}}}")
}

fn is_stopped(s: &StateReading) -> bool {
    s.authority == Authority::Stopped.code()
}

fn height(s: &StateReading) -> f64 {
    s.truth_base_position_m[2]
}

#[test]
fn a_velocity_that_is_refused_is_not_in_force_once_the_robot_is_armed() {
    let _one = serial();
    let walker = ["unitree.walker=trot"];
    let (scene, mut daemon, observer, peer) = begin("config/quadruped.toml", &walker);
    let sport = Service::of(&peer, "sport");
    assert_eq!(sport.code(1004, ""), 0);
    observer.until("it stands", |s| s.tick > 1000 && height(s) > 0.3);
    // beyond what the trot can do
    for parameter in [
        r#"{"x":3,"y":0,"z":0}"#,
        r#"{"x":-1.1,"y":0,"z":0}"#,
        r#"{"x":0,"y":0.6,"z":0}"#,
        r#"{"x":0,"y":0,"z":-2}"#,
    ] {
        assert_eq!(sport.code(1008, parameter), 3204, "{parameter}");
    }
    let status = observer.status_until("all are counted", |s| s.counter("ros2_rejected_call") >= 4);
    assert_eq!(status.counter("ros2_rejected_call"), 4);
    assert_eq!(observer.state().velocity_command, VelocityCommand::STAND);
    assert_eq!(sport.code(1008, r#"{"x":0.3,"y":0,"z":0}"#), 0);
    observer.until("it walks", |s| s.velocity_command.vx_m_per_s == 0.3);

    scene.ctl(&["stop"], 0);
    observer.until("it is stopped", is_stopped);
    assert_eq!(sport.code(1008, r#"{"x":0.4,"y":0,"z":0}"#), 3204);
    assert_eq!(sport.code(7105, r#"{"velocity":[0.4,0,0]}"#), 3204);
    scene.ctl(&["arm"], 0);
    let armed = observer.until("it is armed", |s| !is_stopped(s));
    observer.until("what was refused stays refused", |s| {
        assert_eq!(s.velocity_command, VelocityCommand::STAND);
        s.tick > armed.tick + 300
    });
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    let told = "vx is 3 m/s; it must be -1 to 1 m/s, the range of the trot";
    assert!(daemon.err().contains(told), "{}", daemon.err());
    scene.replays();
}

/// `Squat2StandUp` damps a robot that stands by the call before, and no other one.
#[test]
fn the_state_of_a_humanoid_ends_with_its_posture_and_its_run() {
    let _one = serial();
    let (scene, _daemon, observer, peer) = begin("config/quadruped.toml", &[]);
    let sport = Service::of(&peer, "sport");
    let switcher = Service::of(&peer, "motion_switcher");
    assert_eq!(sport.set_state(702), (0, state(702)));
    observer.until("it stands", |s| s.tick > 1000 && height(s) > 0.3);
    scene.ctl(&["reset"], 0);
    observer.until("the next run", |s| s.run_id == 2);
    let is_forgotten = |what: &str| {
        wait_for(what, || (sport.call(7001, "").1 == state(0)).then_some(()));
    };
    is_forgotten("the state of the run before");
    assert_eq!(sport.set_state(706), (0, state(706)), "it stands up");
    let later = observer.until("it stands for a while", |s| s.run_id == 2 && s.tick > 1500);
    assert!(height(&later) > 0.3, "{later:?}");

    assert_eq!(switcher.code(1003, ""), 0);
    assert_eq!(sport.call(7001, "").1, state(0), "released");
    assert_eq!(sport.set_state(706), (0, state(706)), "it stands up again");
    assert_eq!(sport.set_state(706), (0, state(2)), "from standing to squatting");
    scene.ctl(&["stop"], 0);
    observer.until("it is stopped", is_stopped);
    is_forgotten("the state before the stop");
}

#[test]
fn a_parameter_of_another_form_is_refused_and_a_call_that_is_cut_off_is_answered() {
    let _one = serial();
    let (_scene, _daemon, observer, peer) = begin("config/quadruped.toml", &[]);
    let sport = Service::of(&peer, "sport");
    assert_eq!(sport.code(1008, "[0.1,0.2,0.3]"), 3204);
    assert_eq!(sport.code(1008, r#"{"x":5,"y":0,"z":0}"#), 3204, "faster than a Go2");
    assert_eq!(sport.code(7105, "[[0.1,0,0],1]"), 3204);
    for data in ["702.9", "1e20", "true"] {
        assert_eq!(sport.code(7101, &format!("{{\"data\":{data}}}")), 3204, "{data}");
    }
    assert_eq!(sport.call(7001, "").1, state(0));
    let status = observer.status_until("all are counted", |s| s.counter("ros2_rejected_call") >= 6);
    assert_eq!(status.counter("ros2_rejected_call"), 6);
    assert_eq!(observer.state().velocity_command, VelocityCommand::STAND);
    for getter in [7002, 7004, 7005, 7006] {
        assert_eq!(sport.code(getter, ""), 3203, "{getter}");
    }

    let call = encoded(&sport.next(1004, "{}"));
    sport.put(&call[..call.len() - 8]);
    assert_eq!(wait_for("an answer", || sport.answer()).0, 3204);
    // one of more bytes than are read, which only DDS brings
    let long = sport.next(1008, &" ".repeat(70_000));
    let bytes = encoded(&long);
    assert!(Request::decode(&bytes).is_err());
    assert_eq!(Request::head(&bytes), Some(long.header));
    assert_eq!(Request::head(&bytes[..20]), None);
}

/// Many programs for a Go2 read the slow topic alone.
#[test]
fn the_state_of_the_body_is_on_slow_topics_too() {
    let _one = serial();
    let (_scene, _daemon, _observer, peer) = begin("config/quadruped.toml", &[]);
    let topics = ["sportmodestate", "lf/sportmodestate", "lf/odommodestate"];
    let heard = topics.map(|topic| peer.subscribe(topic, &BODY));
    let sport = Service::of(&peer, "sport");
    assert_eq!(sport.code(1004, ""), 0);
    let mut counts = [0_usize; 3];
    let mut last = SportModeState::default();
    wait_for("two seconds of states", || {
        std::thread::sleep(Duration::from_millis(20));
        for (count, of) in counts.iter_mut().zip(&heard) {
            while let Some(sample) = of.try_recv().unwrap() {
                last = SportModeState::decode(&sample.payload().to_bytes()).unwrap();
                *count += 1;
            }
        }
        (counts[0] > 1000).then_some(())
    });
    let [fast, sport_slow, odometry_slow] = counts;
    for slow in [sport_slow, odometry_slow] {
        // every tenth, of which a full machine loses some
        assert!(slow > 0 && slow * 5 < fast, "{counts:?}");
    }
    assert!(last.body_height > 0.1, "{last:?}");
}

#[test]
fn what_is_wrong_with_a_humanoids_command_is_told_with_its_field_and_its_joint() {
    let _one = serial();
    let hangs = [
        "robot.name=quadruped",
        "robot.base=fixed",
        "initial.position_m=[0,0,1.5]",
        "initial.place=as_given",
    ];
    let (_scene, mut daemon, observer, peer) = begin("benches/robots/g1_8.toml", &hangs);
    let mut wrong = HgLowCmd { mode_pr: 7, mode_machine: 5, ..Default::default() };
    wrong.motor_cmd.iter_mut().for_each(|motor| motor.mode = 1);
    let mut bytes = encoded(&wrong);
    set_crc::<HgLowCmd>(&mut bytes);
    observer.status_until("the mode is refused", |s| {
        peer.put("lowcmd", &HG_LOW_CMD, &bytes);
        s.counter("ros2_rejected_machine") > 0
    });
    let mut arms = HgLowCmd::default();
    (arms.motor_cmd[15].q, arms.motor_cmd[29].q) = (f32::NAN, 1.0);
    observer.status_until("the set-point is refused", |s| {
        peer.put("arm_sdk", &HG_LOW_CMD, &encoded(&arms));
        s.counter("rejected_not_finite") > 0
    });
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    let said = daemon.err();
    for told in ["mode_pr is 7; it must be 0 or 1", "q of left_shoulder_pitch_joint is NaN"] {
        assert!(said.contains(told), "{told}: {said}");
    }
}

#[test]
fn the_guard_names_the_domain_to_change() {
    let _one = serial();
    let ways = [(Way::RmwZenoh, "set another ros2.domain"), (Way::Bridge, "for the bridge")];
    for (way, told) in ways {
        let (_scene, daemon, _observer, peer) = super::begin(way);
        let robot = encoded(&LowState { sn: [1, 2], ..Default::default() });
        wait_for("the guard", || {
            peer.put("lowstate", &LOW_STATE, &robot);
            std::thread::sleep(Duration::from_millis(50));
            daemon.err().contains("another robot's rt/lowstate").then_some(())
        });
        assert!(daemon.err().contains(told), "{}", daemon.err());
    }
}

#[test]
fn a_walker_that_is_no_file_is_refused_with_its_key() {
    let _one = serial();
    let scene = Scene::new();
    let sets = ["--set", "unitree.enabled=true", "--set", "unitree.walker=foo"];
    let said = scene.daemon(&sets).ends_with(2);
    let told = "unitree.walker is \"foo\"; it must be \"trot\", \"\" or the file of a contract";
    assert!(said.contains(told), "{said}");
}
