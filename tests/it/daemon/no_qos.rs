//! A client without zenoh's QoS, as each one of zenoh-pico is.

use std::process::Command;

use rustix::process::Signal;

use crate::common::process::{Observer, Process, Scene, repository, serial, wait_for};

/// States that one line of the client stands for.
const STATES_PER_LINE: usize = 100;

/// A Python with zenoh, or a word why the test is left out.
fn python() -> Option<String> {
    let python = std::env::var("HARDSTAND_PYTHON").unwrap_or_else(|_| "python3".into());
    let tried = Command::new(&python).args(["-c", "import zenoh"]).output();
    if tried.is_ok_and(|tried| tried.status.success()) {
        return Some(python);
    }
    eprintln!("SKIPPED: {python} cannot import zenoh; see tests/it/python.rs");
    None
}

/// zenoh-transport 1.10.2 drops every state to such a session after one congestion, without an end:
/// docs/upstream/zenoh-congested-flag.md.
#[test]
fn a_stopped_client_without_qos_hears_states_again() {
    let _one = serial();
    let Some(python) = python() else { return };
    let scene = Scene::in_memory();
    let mut daemon = scene.daemon(&["--set", "sim.start=now"]);
    let observer = Observer::of(&scene);
    let mut command = Command::new(python);
    command.arg(repository("tests/it/daemon/no_qos.py")).arg(&scene.endpoint);
    let client = Process::start(scene.dir.path(), "client", command);
    let heard = || client.out().lines().count() * STATES_PER_LINE;
    wait_for("states", || (heard() > 500).then_some(()));

    client.signal(Signal::STOP);
    let stopped = observer.state().tick;
    observer.until("6 s", |s| s.tick >= stopped + 6000);
    let before = heard();
    client.signal(Signal::CONT);
    // the socket holds a few hundred states of the time before
    wait_for("states after the stop", || (heard() > before + 3000).then_some(()));
    // in the same session: observer and client
    let status = observer.status();
    assert_eq!((status.counter("sessions_opened"), status.counter("sessions_closed")), (2, 0));
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

/// What a client with zenoh-pico is in its form for microcontrollers, `docs/zenoh-pico.md`.
#[test]
fn a_client_without_qos_and_with_short_batches_commands_again_after_a_stop() {
    let _one = serial();
    let Some(python) = python() else { return };
    let scene = Scene::in_memory();
    // a loaded machine may not decide this test
    let mut daemon = scene.daemon(&["--set", "command.hold_ticks=1000"]);
    let observer = Observer::of(&scene);
    let mut command = Command::new(python);
    command.arg(repository("examples/stand_protocol.py"));
    command.args(["--small", "--seconds", "600", "--connect", &scene.endpoint]);
    let client = Process::start(scene.dir.path(), "client", command);
    let stands = observer.until("it stands for two seconds", |s| s.tick >= 2000);
    let height_m = stands.truth_base_position_m[2];
    assert!((0.30..0.36).contains(&height_m), "{stands:?}");

    client.signal(Signal::STOP);
    observer.until("6 s", |s| s.tick >= stands.tick + 6000);
    assert_ne!(observer.state().authority, 1, "nobody commands");
    client.signal(Signal::CONT);
    let again = observer.until("a command is obeyed", |s| s.authority == 1);
    assert_ne!(again.command_session, stands.command_session, "under a new number");
    // in the same session of zenoh: observer and client
    let status = observer.status();
    assert_eq!((status.counter("sessions_opened"), status.counter("sessions_closed")), (2, 0));
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    scene.replays();
}
