//! The programs of `examples/` and `tests/programs` against daemons.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests fail by panic")]

mod shared;
mod support;

use std::fs::Permissions;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hardstand_client::session::open_client;
use hardstand_client::{Client, JoinRequest};
use hardstand_protocol::{Kind, StateReading, decode};
use shared::lossy::{Loss, Lossy};
use support::{
    Daemon, LOCKSTEP, PATIENCE, can_run, compiled, compiled_from, compiled_with, has, prefix,
    repository, succeeds,
};
use zenoh::Wait as _;

const TICKS: u64 = 1500;

/// The same controller by the Rust client.
fn stand_in_rust() -> String {
    let daemon = Daemon::start(&LOCKSTEP);
    let client = Client::connect(&daemon.endpoint, "quadruped").unwrap();
    let model = client.model(PATIENCE).unwrap();
    let commands = model.hold();
    let mut controller = client.join(JoinRequest::new(&model, "legs"), PATIENCE).unwrap();
    loop {
        let state = controller.next_state(PATIENCE).unwrap().unwrap();
        controller.answer(&state, &commands).unwrap();
        if state.tick >= TICKS {
            return format!("{:016x}", state.digest);
        }
    }
}

/// What `program` says of its last state.
fn runs(program: &Path, daemon: &[&str]) -> String {
    let daemon = Daemon::start(daemon);
    let (code, said) = daemon.with(program, &[&TICKS.to_string()]).end();
    assert_eq!(code, Some(0), "{said}");
    said
}

#[test]
fn stand_in_c_and_in_cpp_comes_to_the_digest_of_rust_in_lockstep() {
    if !can_run("stand in lockstep") {
        return;
    }
    let expected = format!("tick {TICKS}, base at 0.3291 m, digest {}\n", stand_in_rust());
    for example in ["examples/c/stand.c", "examples/cpp/stand.cpp"] {
        let program = compiled(example);
        for _ in 0..2 {
            assert_eq!(runs(&program, &LOCKSTEP), expected, "{example}");
        }
    }
}

/// What a controller in C with this schedule says of its last state, and the messages that were
/// lost on the way.
fn schedule_in_c(program: &Path, schedule: [&str; 3], loss: Loss) -> (String, [u64; 3]) {
    let daemon = Daemon::start(&LOCKSTEP);
    // it listens before a relay can connect
    let client = Client::connect(&daemon.endpoint, "quadruped").unwrap();
    client.model(PATIENCE).unwrap();
    let dir = tempfile::TempDir::new().unwrap();
    let relay = Lossy::start(dir.path(), &daemon.endpoint, loss);
    let args = [&["500"][..], &schedule].concat();
    let (code, said) = Daemon::with_endpoint(&relay.endpoint, program, &args).end();
    assert_eq!(code, Some(0), "{schedule:?}, {:?} lost: {said}", relay.lost());
    (said, relay.lost())
}

/// Lost states, commands and replies.
#[test]
fn lost_messages_change_nothing_for_a_controller_in_c() {
    if !can_run("lost messages") {
        return;
    }
    let program = compiled("crates/capi/tests/programs/schedule.c");
    for schedule in [["1", "0", "0"], ["1", "0", "7"], ["3", "1", "2"], ["5", "0", "12"]] {
        let (whole, none) = schedule_in_c(&program, schedule, Loss::of_all(0, 0));
        assert_eq!(none, [0; 3]);
        let (said, lost) = schedule_in_c(&program, schedule, Loss::of_all(5, 1));
        assert_eq!(said, whole, "{schedule:?}: {lost:?} lost");
        assert!(lost[0] > 0 && lost[1] > 0, "{schedule:?}: {lost:?} lost");
    }
}

#[test]
fn stand_in_c_and_in_cpp_stands_in_real_time() {
    if can_run("stand in real time") {
        for example in ["examples/c/stand.c", "examples/cpp/stand.cpp"] {
            let said = runs(&compiled(example), &[]);
            let (_, tick) = said.split_once("tick ").unwrap();
            let tick: u64 = tick.split(',').next().unwrap().parse().unwrap();
            assert!(tick >= TICKS, "{said}");
        }
    }
}

#[test]
fn trot_walks_more_than_a_metre_the_same_each_time() {
    if !can_run("trot") {
        return;
    }
    let program = compiled("examples/cpp/trot.cpp");
    let walk = || {
        let daemon = Daemon::start(&LOCKSTEP);
        let (code, said) = daemon.with(&program, &["6.5"]).end();
        assert_eq!(code, Some(0), "{said}");
        said
    };
    let said = walk();
    assert!(said.starts_with("walked 1.") && said.contains(" m in 6.5 s"), "{said}");
    assert_eq!(walk(), said);
    // one that is told to stand has not walked
    let daemon = Daemon::start(&LOCKSTEP);
    let (code, said) = daemon.with(&program, &["6.5", "0"]).end();
    assert_eq!(code, Some(1), "{said}");
}

/// Against a stub of hardware_interface: ROS 2 is not in the registries.
#[test]
fn a_plugin_of_ros2_control_comes_to_the_digest_of_rust_in_lockstep() {
    if !can_run("a plugin of ros2_control") {
        return;
    }
    let path = |name: &str| repository(name).display().to_string();
    let folders = ["crates/capi/tests/ros2_control", "examples/ros2_control"];
    let mut more: Vec<String> = folders.iter().map(|f| format!("-I{}", path(f))).collect();
    more.push(path("examples/ros2_control/hardstand_system.cpp"));
    let manager = repository("crates/capi/tests/programs/ros2_control.cpp");
    let program = compiled_with(&manager, &more);
    let ends = |what: &str| {
        let daemon = Daemon::start(&LOCKSTEP);
        let (code, said) = daemon.with(&program, &[&TICKS.to_string(), what]).end();
        assert_eq!(code, Some(0), "{what}: {said}");
        // the refusals that it tries come behind, on standard error
        said.lines().next().unwrap_or_default().to_owned()
    };
    let expected = format!("base at 0.3291 m, digest {}", stand_in_rust());
    // the gains of the scenario, whether claimed or not; and without them it falls
    assert_eq!(ends("gains"), expected);
    assert_eq!(ends("held"), expected);
    let fallen = ends("effort");
    assert!(fallen.starts_with("base at 0.0") || fallen.starts_with("base at 0.1"), "{fallen}");
}

/// Against a stub of zenoh-pico, which is in no registry: the test carries what a link would.
#[test]
fn a_controller_on_zenoh_pico_makes_the_quadruped_stand() {
    if !can_run("zenoh-pico") {
        return;
    }
    let stub = repository("crates/capi/tests/zenoh_pico").display().to_string();
    let source = repository("examples/zenoh_pico/stand.c");
    let mut stand = Command::new(compiled_with(&source, &[format!("-I{stub}")]))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut states, mut commands) = (stand.stdin.take().unwrap(), stand.stdout.take().unwrap());
    // a loaded machine may not decide this test
    let daemon = Daemon::start(&["--set", "command.hold_ticks=1000"]);
    let session = open_client(&daemon.endpoint).unwrap();
    let heard = session.declare_subscriber("hardstand/quadruped/state").wait().unwrap();
    let to_daemon = session.clone();
    let carrier = std::thread::spawn(move || {
        let mut length = [0; 4];
        while commands.read_exact(&mut length).is_ok() {
            let mut command = vec![0; u32::from_le_bytes(length) as usize];
            commands.read_exact(&mut command).unwrap();
            to_daemon.put("hardstand/quadruped/cmd", command).express(true).wait().unwrap();
        }
    });
    let until = Instant::now() + PATIENCE;
    let stands = loop {
        assert!(Instant::now() < until, "it does not stand for two seconds");
        let Ok(Some(sample)) = heard.recv_timeout(PATIENCE) else { panic!("no state") };
        let bytes = sample.payload().to_bytes();
        states.write_all(&(bytes.len() as u32).to_le_bytes()).unwrap();
        states.write_all(&bytes).unwrap();
        let state: StateReading = decode(Kind::State, &bytes).unwrap();
        if state.tick >= 2000 {
            break state;
        }
    };
    // under a command of this tick, or one that holds
    assert!([1, 2].contains(&stands.authority) && stands.command_seq > 500, "{stands:?}");
    let height_m = stands.truth_base_position_m[2];
    assert!((0.30..0.36).contains(&height_m), "{stands:?}");
    drop(states); // the program ends
    assert!(stand.wait().unwrap().success());
    carrier.join().unwrap();
}

#[test]
fn a_killed_daemon_ends_the_examples_with_the_code_of_the_bus() {
    if !can_run("a killed daemon") {
        return;
    }
    for example in ["examples/c/stand.c", "examples/cpp/stand.cpp"] {
        let mut daemon = Daemon::start(&[]);
        let stand = daemon.with(&compiled(example), &[]);
        let client = Client::connect(&daemon.endpoint, "quadruped").unwrap();
        let until = Instant::now() + PATIENCE;
        while client.status(PATIENCE).unwrap().tick < 200 {
            assert!(Instant::now() < until, "the run does not begin");
        }
        daemon.process.kill();
        let killed = Instant::now();
        let (code, said) = stand.end();
        assert_eq!(code, Some(5), "{said}");
        assert!(said.contains("the connection is closed: the daemon has stopped"), "{said}");
        // its patience is 5 s; the rest is for a machine that is busy
        let waited = killed.elapsed();
        assert!((4..20).contains(&waited.as_secs()), "{waited:?}");
    }
}

#[test]
fn a_late_controller_loses_its_joints_and_joins_again() {
    if !can_run("rejoining") {
        return;
    }
    let ladder = ["--set", "command.hold_ticks=100", "--set", "command.damped_ticks=150"];
    let daemon = Daemon::start(&ladder);
    let program = compiled("crates/capi/tests/programs/late.cpp");
    let (code, said) = daemon.with(&program, &[]).end();
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn wrong_arguments_and_refusals_are_errors_with_a_reason() {
    if !can_run("wrong arguments") {
        return;
    }
    let daemon = Daemon::start(&["--mode", "lockstep"]);
    let program = compiled("crates/capi/tests/programs/misuse.c");
    let (code, said) = daemon.with(&program, &[]).end();
    assert_eq!((code, said.as_str()), (Some(0), "ok\n"));
}

#[test]
fn an_operator_steers_and_hears_the_events() {
    if !can_run("orders") {
        return;
    }
    let daemon = Daemon::start(&["--set", "sim.start=\"now\""]);
    let program = compiled("crates/capi/tests/programs/orders.cpp");
    let (code, said) = daemon.with(&program, &[]).end();
    assert_eq!((code, said.as_str()), (Some(0), "ok\n"));
}

#[test]
fn an_operator_injects_faults_and_restores_a_saved_state() {
    if !can_run("saved") {
        return;
    }
    let daemon = Daemon::start(&["--set", "sim.start=\"now\""]);
    let program = compiled("crates/capi/tests/programs/saved.cpp");
    let (code, said) = daemon.with(&program, &[]).end();
    assert_eq!((code, said.as_str()), (Some(0), "ok\n"));
}

/// A file that only its owner may read.
fn secret(dir: &Path, name: &str, text: &str, mode: u32) -> String {
    let file = dir.join(name);
    std::fs::write(&file, text).unwrap();
    std::fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
    file.display().to_string()
}

#[test]
fn a_user_may_do_what_the_role_allows() {
    if !can_run("credentials") {
        return;
    }
    let dir = tempfile::TempDir::new().unwrap();
    let secret = |name, text, mode| secret(dir.path(), name, text, mode);
    let users = secret("users", "ann:apple-1\nbob:pear-2\neve:plum-3\n", 0o600);
    let daemon = Daemon::start(&[
        "--set",
        &format!("bus.users_file={users:?}"),
        "--set",
        "bus.controllers=[\"ann\"]",
        "--set",
        "bus.operators=[\"bob\"]",
        "--set",
        "bus.viewers=[\"eve\"]",
    ]);
    let program = compiled("crates/capi/tests/programs/user.cpp");
    // the codes of an order, of control, and of the whole
    for (user, file, says) in [
        ("ann", secret("ann", "apple-1\n", 0o600), "5 0 0 "),
        ("bob", secret("bob", "pear-2\n", 0o600), "0 0 0 "),
        ("eve", secret("eve", "plum-3\n", 0o600), "5 5 0 "),
        ("ann", secret("wrong", "pear-2\n", 0o600), "5 "),
        ("ann", secret("open", "apple-1\n", 0o644), "2 "),
    ] {
        let (code, said) = daemon.with(&program, &[user, &file]).end();
        assert_eq!((code, said.as_str()), (Some(0), says), "{user}, {file}");
    }
}

#[test]
fn a_client_without_a_daemon_waits_for_its_patience() {
    if !can_run("no daemon") {
        return;
    }
    let program = compiled("crates/capi/tests/programs/nobody.c");
    let begin = Instant::now();
    succeeds(Command::new(program).arg("unixsock-stream//nowhere/z.sock"));
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
}

/// CPU time of this process, s, in steps of 10 ms.
fn cpu_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let times = fields.split_whitespace().skip(11).take(2);
    times.map(|ticks| ticks.parse::<f64>().unwrap() / 100.0).sum()
}

fn exchanges_in_rust(exchanges: u64) -> String {
    let daemon = Daemon::start(&LOCKSTEP);
    let client = Client::connect(&daemon.endpoint, "quadruped").unwrap();
    let model = client.model(PATIENCE).unwrap();
    let commands = model.hold();
    let mut controller = client.join(JoinRequest::new(&model, "legs"), PATIENCE).unwrap();
    let mut begin = (Instant::now(), cpu_s());
    loop {
        let state = controller.next_state(PATIENCE).unwrap().unwrap();
        if state.tick == 100 {
            begin = (Instant::now(), cpu_s());
        }
        controller.answer(&state, &commands).unwrap();
        if state.tick >= exchanges + 100 {
            let n = exchanges as f64;
            let rate = n / begin.0.elapsed().as_secs_f64();
            return format!("{rate:.0} per s, CPU {:.1} us", 1e6 * (cpu_s() - begin.1) / n);
        }
    }
}

/// Of docs/c-and-cpp.md: `cargo test --release -p hardstand-capi --test programs exchanges -- \
/// --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn exchanges_per_second() {
    const EXCHANGES: u64 = 10_000;
    let program = compiled("crates/capi/tests/programs/exchange.c");
    for _ in 0..10 {
        let daemon = Daemon::start(&LOCKSTEP);
        let (code, said) = daemon.with(&program, &[&EXCHANGES.to_string()]).end();
        assert_eq!(code, Some(0), "{said}");
        drop(daemon);
        println!("C {}; Rust {}", said.trim(), exchanges_in_rust(EXCHANGES));
    }
}

#[test]
fn the_programs_of_the_page_run() {
    if !can_run("docs/c-and-cpp.md") {
        return;
    }
    let page = std::fs::read_to_string(repository("docs/c-and-cpp.md")).unwrap();
    let blocks: Vec<&str> = page.split("```cpp\n").skip(1).collect();
    assert_eq!(blocks.len(), 2);
    for (block, says) in blocks.into_iter().zip(["12 joints", "emergency stop"]) {
        let source = prefix().join(format!("page-{}.cpp", says.replace(' ', "-")));
        std::fs::write(&source, block.split("```").next().unwrap()).unwrap();
        let daemon = Daemon::start(&["--set", "sim.start=\"now\""]);
        let (code, said) = daemon.with(&compiled_from(&source), &[]).end();
        assert!(code == Some(0) && said.contains(says), "{said}");
    }
}

#[test]
fn pkg_config_and_cmake_find_the_library() {
    if !can_run("pkg-config") {
        return;
    }
    let source = repository("examples/c/stand.c");
    let program = prefix().join("stand-static");
    if has("pkg-config", "pkg-config") {
        let asked = |args: &[&str]| {
            let path = prefix().join("lib/pkgconfig");
            let mut pkg_config = Command::new("pkg-config");
            let text =
                succeeds(pkg_config.args(args).arg("hardstand").env("PKG_CONFIG_PATH", path));
            text.split_whitespace().map(String::from).collect::<Vec<_>>()
        };
        let mut cc = Command::new("cc");
        cc.arg("-std=c11").arg(&source).arg("-o").arg(&program);
        succeeds(cc.args(asked(&["--cflags", "--libs"])));
        // with everything inside
        let archive = prefix().join("lib/libhardstand.a");
        let private = asked(&["--static", "--libs-only-l"]).split_off(1);
        let mut cc = Command::new("cc");
        cc.arg("-std=c11").arg(&source).arg("-o").arg(&program).args(asked(&["--cflags"]));
        succeeds(cc.arg(archive).args(private));
        assert!(runs(&program, &LOCKSTEP).starts_with("tick 1500"));
    }
    if has("cmake", "cmake") {
        let build = prefix().join("cmake-build");
        let found = format!("-DCMAKE_PREFIX_PATH={}", prefix().display());
        let mut cmake = Command::new("cmake");
        succeeds(cmake.arg("-B").arg(&build).arg("-S").arg(repository("examples/cpp")).arg(found));
        succeeds(Command::new("cmake").arg("--build").arg(&build));
        assert!(runs(&build.join("stand"), &LOCKSTEP).starts_with("tick 1500"));
    }
}

/// The number is in places that no compiler compares.
#[test]
fn the_version_of_the_interface_is_that_of_the_file() {
    let name = format!("libhardstand.so.{}", hardstand_c::HARDSTAND_ABI_VERSION);
    for file in ["build.rs", "install.sh", "hardstandConfig.cmake"] {
        let text = std::fs::read_to_string(repository("crates/capi").join(file)).unwrap();
        let all = text.matches("libhardstand.so.").count();
        assert_eq!(text.matches(&name).count(), all, "{file}");
        assert!(all > 0, "{file}");
    }
}
