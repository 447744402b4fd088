//! LN-5: the network between daemon and controller is gone for a while.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use hardstand_client::{Client, Credentials};
use rustix::process::Signal;

use crate::common::ladder::Ladder;
use crate::common::namespace::{Namespace, networks};
use crate::common::process::{Log, Observer, PATIENCE, Process, Scene, serial};

const HOLD: u64 = 40;
const DAMPED: u64 = 150;
const ADDRESS: &str = "10.77.0.1:7447";

fn secret(scene: &Scene, name: &str, text: &str) -> PathBuf {
    let path = scene.path(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    path
}

/// A daemon that listens on its end of the cable, and on a unix socket for the test.
fn daemon(scene: &Scene, near: &Namespace) -> Process {
    let users = secret(scene, "users.txt", "ctrl:one\nview:two\n");
    let sets = [
        format!("bus.listen=[\"tcp/{ADDRESS}\", {:?}]", scene.endpoint),
        format!("bus.users_file={:?}", users.display().to_string()),
        "bus.controllers=[\"ctrl\"]".into(),
        "bus.viewers=[\"view\"]".into(),
        format!("command.hold_ticks={HOLD}"),
        format!("command.damped_ticks={DAMPED}"),
    ];
    let mut command = near.command(env!("CARGO_BIN_EXE_hardstand"));
    command.args(scene.run_args(&[])).args(sets.iter().flat_map(|set| ["--set", set]));
    Process::start(scene.dir.path(), "daemon", command)
}

fn controller(scene: &Scene, far: &Namespace) -> Process {
    let password = secret(scene, "ctrl.txt", "one");
    let mut command = far.command(env!("CARGO_BIN_EXE_hardstand"));
    command.args(["controller", "stand", "--connect", &format!("tcp/{ADDRESS}")]);
    command.args(["--user", "ctrl", "--patience", "120", "--password-file"]).arg(password);
    Process::start(scene.dir.path(), "controller", command)
}

fn observer(scene: &Scene) -> Observer {
    let password = secret(scene, "view.txt", "two");
    let credentials = Credentials { user: Some(("view".into(), password)), tls: None };
    let client = Client::connect_as(&scene.endpoint, "quadruped", &credentials).unwrap();
    let model = client.model(PATIENCE).unwrap();
    let states = client.control(&model).unwrap();
    Observer { client, model, states }
}

/// The link is down for so long; commands must flow again within `back_s` without anybody's help.
fn cut_off(seconds: u64, back_s: u64) {
    let scene = Scene::in_memory();
    let Some([near, far]) = networks(&scene) else { return };
    let mut daemon = daemon(&scene, &near);
    let observer = observer(&scene);
    let mut controller = controller(&scene, &far);
    let up = observer.until("commands over the cable", |s| s.tick >= 500 && s.authority == 1);
    near.shell("ip link set near0 down");
    let cut = Instant::now();
    let released =
        observer.until("the robot is released", |s| s.tick > up.tick && s.authority == 0);
    std::thread::sleep(Duration::from_secs(seconds).saturating_sub(cut.elapsed()));
    assert_eq!(observer.state().authority, 0, "nobody can reach it");
    near.shell("ip link set near0 up");
    let mended = observer.state().tick;
    let again = observer.until("commands again", |s| s.authority == 1);
    let back = again.tick - mended;
    eprintln!("cut off for {seconds} s: commands {:.2} s after the link", back as f64 / 1000.0);
    assert!(back <= 1000 * back_s, "{back} ticks until commands flow again");
    assert!(!controller.has_ended(), "{}", controller.err());
    let on = observer.until("a second more", |s| s.tick >= again.tick + 1000);
    assert_eq!(on.failure, 0);
    daemon.signal(Signal::TERM);
    let out = daemon.ends_with(0);

    let log = Log::read(&scene.log());
    let mut ladder = Ladder::new(HOLD, DAMPED, 3);
    log.ticks.iter().for_each(|t| ladder.climb(t));
    assert!(log.ticks.len() as u64 >= on.tick, "the log ends at {}: {out}", log.ticks.len());
    assert!(ladder.releases >= 1 && ladder.sessions.len() >= 2, "{} releases", ladder.releases);
    let alone = log.ticks.iter().filter(|t| (released.tick..mended).contains(&t.tick));
    let heard: usize = alone.map(|t| t.candidates.len()).sum();
    assert_eq!(heard, 0, "commands while the link was down");
    scene.replays();
}

#[test]
fn a_partition_of_five_seconds_mends_itself() {
    let _one = serial();
    cut_off(5, 10);
}

#[test]
#[ignore = "more than half a minute"]
fn a_partition_of_thirty_seconds_mends_itself() {
    let _one = serial();
    cut_off(30, 20);
}
