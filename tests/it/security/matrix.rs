//! SEC-2: who may do what.

use std::time::Duration;

use hardstand_client::Client;
use hardstand_protocol::Order;
use hardstand_protocol::Scope;
use zenoh::handlers::FifoChannel;
use zenoh::qos::CongestionControl;
use zenoh::{Session, Wait};

use super::guarded::{Guarded, counted, password, status, user_session};
use crate::common::process::{PATIENCE, repository, serial, wait_for};

fn key(name: &str) -> String {
    format!("hardstand/quadruped/{name}")
}

/// True if a subscription is given something within `patience`.
fn hears(session: &Session, name: &str, patience: Duration) -> bool {
    let subscriber =
        session.declare_subscriber(key(name)).with(FifoChannel::new(64)).wait().unwrap();
    subscriber.recv_timeout(patience).unwrap().is_some()
}

/// True if a query is answered.
fn answered(session: &Session, name: &str) -> bool {
    let query = session.get(key(name)).payload("x").timeout(Duration::from_secs(5));
    query.wait().unwrap().iter().any(|r| r.result().is_ok())
}

fn put(session: &Session, name: &str, payload: &[u8]) {
    let put = session.put(key(name), payload).congestion_control(CongestionControl::Block);
    put.wait().unwrap();
}

/// What a role may do, as the table of docs/security.md lists it.
struct Rights {
    page: String,
    column: usize,
}

impl Rights {
    fn of(role: &str) -> Self {
        let page = std::fs::read_to_string(repository("docs/security.md")).unwrap();
        let head = page.lines().find(|l| l.starts_with("| operation |")).unwrap();
        let column = head.split('|').position(|cell| cell.trim() == format!("`{role}`")).unwrap();
        Self { page, column }
    }

    fn has(&self, verb: &str, key: &str) -> bool {
        let row = self.page.lines().map(|l| l.split('|').collect::<Vec<_>>()).find(|row| {
            row.len() > self.column
                && row[1].trim().starts_with(verb)
                && row[1].contains(&format!("`{key}`"))
        });
        row.is_some_and(|row| row[self.column].trim() == "yes")
    }
}

/// Everything that `user` may do works, all else does not, and each piece of it is counted.
fn check(guarded: &Guarded, observer: &Client, user: &str, rights: &Rights) {
    let session = user_session(&guarded.scene.endpoint, user, password(user)).unwrap();
    let commands = rights.has("put", "cmd");
    for name in ["state", "state/due", "contacts", "view", "status"] {
        assert!(rights.has("subscribe", name), "{user} and {name}");
        assert!(hears(&session, name, PATIENCE), "{user} may watch {name}");
    }
    for name in ["model", "model/urdf", "model/ground", "status", "view"] {
        assert!(rights.has("query", name), "{user} and {name}");
        assert!(answered(&session, name), "{user} may ask for {name}");
    }
    // the status is a second old at most; what others have done must be in it
    std::thread::sleep(Duration::from_millis(1500));
    let before = status(observer);
    let mut denied = 0;
    for ask in Order::ALL {
        let name = ask.name();
        let may = rights.has("query", name);
        let query = session.get(key(name)).payload("x");
        let patience = if may { PATIENCE } else { Duration::from_millis(500) };
        let replies = query.timeout(patience).wait().unwrap();
        let heard = replies.iter().any(|r| r.result().is_ok());
        assert_eq!(heard, may, "{user} and {name}");
        denied += u64::from(!may);
    }

    // the key of `clear` before protocol version 5
    if rights.has("query", "clear") {
        assert!(answered(&session, "mend"), "{user} and mend");
    }

    // a malformed command: what is let in is counted as received, and moves nothing
    for _ in 0..5 {
        put(&session, "cmd", b"no command");
    }
    if commands {
        counted(observer, "commands_received", before.counter("commands_received") + 5);
    } else {
        denied += 5;
    }
    let orders = |s: &hardstand_protocol::StatusReading| s.counter("orders_received");
    let (may, asked) = (rights.has("put", "cmd_vel"), orders(&status(observer)));
    put(&session, "cmd_vel", b"no velocity");
    if may {
        counted(observer, "orders_received", asked + 1);
    }
    denied += u64::from(!may);
    for name in ["state", "contacts", "status", "model", "friction", "cmd/x", "x"] {
        put(&session, name, b"forged");
        denied += 1;
    }
    for name in ["state", "cmd"] {
        session.delete(key(name)).wait().unwrap();
        denied += 1;
    }
    for name in ["*", "**", "cmd", "friction", "x"] {
        assert!(!hears(&session, name, Duration::from_millis(100)), "{user} hears {name}");
        denied += 1;
    }
    for name in ["*", "**", "x"] {
        assert!(!answered(&session, name), "{user} is answered on {name}");
        denied += 1;
    }
    let forged = session.declare_queryable(key("model")).wait().unwrap();
    let token = session.liveliness().declare_token(key("alive")).wait().unwrap();
    denied += 2;
    let after = counted(observer, "messages_denied", before.counter("messages_denied") + denied);
    if !commands {
        let received = |s: &hardstand_protocol::StatusReading| s.counter("commands_received");
        assert_eq!(received(&after), received(&before), "{user} commands");
    }
    drop((forged, token));
}

/// Each user × key × verb: only what the role lists succeeds.
#[test]
fn each_role_can_do_what_is_listed_and_nothing_else() {
    let _one = serial();
    let guarded = Guarded::new(&["--set", "sim.start=now"]);
    let observer = guarded.client("view");
    let model = observer.model(PATIENCE).unwrap();
    let states = observer.control(&model).unwrap();
    assert!(states.next_state(PATIENCE).unwrap().is_some());

    check(&guarded, &observer, "view", &Rights::of("viewers"));
    check(&guarded, &observer, "op", &Rights::of("operators"));
    check(&guarded, &observer, "ctrl", &Rights::of("controllers"));

    // the project's own client: an operator changes friction, a viewer gets no answer
    let change = |user: &str, patience| {
        guarded.client(user).set_friction(&model, Scope::All, 0.5, 0.4, patience)
    };
    assert!(change("op", PATIENCE).unwrap() > 0);
    change("view", Duration::from_secs(1)).unwrap_err();
    // nothing forged has come through: all of it still decodes
    for _ in 0..20 {
        assert!(states.next_state(PATIENCE).unwrap().is_some());
    }
}

/// A controller with its password has the robot, from the command line to the state.
#[test]
fn a_controller_with_its_password_holds_the_robot() {
    let _one = serial();
    let mut guarded = Guarded::new(&["--set", "command.hold_ticks=500"]);
    let _controller = guarded.controller();
    let viewer = guarded.client("view");
    let model = viewer.model(PATIENCE).unwrap();
    let states = viewer.control(&model).unwrap();
    wait_for("a controller has the robot", || {
        states.next_state(PATIENCE).unwrap().filter(|s| s.tick > 1000 && s.authority == 1)
    });
    let now = status(&viewer);
    assert!(now.counter("sessions_opened") >= 2, "{now:#?}");
    guarded.daemon.signal(rustix::process::Signal::TERM);
    guarded.daemon.ends_with(0);
    guarded.scene.replays();
}
