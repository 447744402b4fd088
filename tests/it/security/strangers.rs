//! Out, and counted: wrong user, wrong password, nothing to show. And secrets stay secret.

use hardstand_protocol::StateReading;
use rustix::process::Signal;

use super::guarded::{Guarded, USERS, counted, password, raw_session, status, user_session};
use crate::common::process::{PATIENCE, serial, wait_for};

/// Passwords that are tried and wrong; they must not turn up anywhere either.
const WRONG: [&str; 2] = ["Zq7-wrong-4", "Zq7-guess-5"];

/// SEC-2 and SEC-5: nobody gets in without a right password, and no password gets out.
#[test]
fn strangers_are_out_and_counted_and_no_secret_is_told() {
    let _one = serial();
    let mut guarded = Guarded::new(&["--set", "command.hold_ticks=500"]);
    let mut controller = guarded.controller();
    let viewer = guarded.client("view");
    let model = viewer.model(PATIENCE).unwrap();
    let states = viewer.control(&model).unwrap();
    let next = || states.next_state(PATIENCE).unwrap().expect("a state");
    let owned = |s: &StateReading| s.tick > 500 && s.command_session != 0;
    let start = wait_for("a controller has the robot", || Some(next()).filter(owned));
    let before = status(&viewer);
    assert_eq!(before.counter("sessions_denied"), 0, "{before:#?}");

    let endpoint = &guarded.scene.endpoint;
    let attempts = [
        ("nothing to show", raw_session(endpoint, &[])),
        ("an unknown user", user_session(endpoint, "nobody", WRONG[0])),
        ("a wrong password", user_session(endpoint, "ctrl", WRONG[1])),
        ("somebody else's password", user_session(endpoint, "ctrl", password("view"))),
    ];
    for (what, session) in attempts {
        assert!(session.is_none(), "{what} is let in");
    }
    let after = counted(&viewer, "sessions_denied", 4);
    assert_eq!(after.counter("sessions_denied"), 4, "{after:#?}");
    assert_eq!(after.counter("sessions_opened"), 2, "{after:#?}");

    // the project's own client, from the command line
    let file = guarded.scene.path("wrong.password");
    let file = file.display().to_string();
    super::guarded::secret(&guarded.scene, "wrong.password", WRONG[0]);
    let stand = ["controller", "stand", "--connect", endpoint, "--patience", "1"];
    let who = ["--user", "ctrl", "--password-file", &file];
    let mut wrong = guarded.scene.hardstand("wrong", &[stand.as_slice(), &who].concat());
    let text = wrong.ends_with(5);
    assert!(text.contains("check the credentials"), "{text}");

    let end = next();
    assert_eq!((end.command_session, end.failure), (start.command_session, 0));
    drop((states, viewer));
    controller.kill();
    guarded.daemon.signal(Signal::TERM);
    guarded.daemon.ends_with(0);
    no_secret_in(&guarded);
}

/// No file that was written holds a password: outputs, errors, the log with its attachments.
fn no_secret_in(guarded: &Guarded) {
    let secrets: Vec<&str> = USERS.iter().map(|(_, p)| *p).chain(WRONG).collect();
    let mut looked_at = 0;
    for entry in std::fs::read_dir(guarded.scene.dir.path()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name == "users.txt" || name.ends_with(".password") {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        for secret in &secrets {
            let found = bytes.windows(secret.len()).any(|w| w == secret.as_bytes());
            assert!(!found, "{name} holds a password");
        }
        looked_at += 1;
    }
    assert!(looked_at >= 7, "{looked_at} files: two of each process, and the log");
}
