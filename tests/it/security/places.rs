//! STOP-1: no number of other sessions keeps an operator from the emergency stop.

use rustix::process::Signal;
use zenoh::{Session, Wait};

use super::guarded::{Guarded, counted, password, secret, user_session};
use crate::common::process::serial;

/// Opens sessions of `user` until the daemon lets no more in, at most 20.
fn fill(guarded: &Guarded, user: &str) -> Vec<Session> {
    let open = || user_session(&guarded.scene.endpoint, user, password(user));
    std::iter::from_fn(open).take(20).collect()
}

/// `hardstand ctl ORDER` by a user, which must succeed.
fn order(guarded: &Guarded, user: &str, order: &str) {
    let file = guarded.scene.path(&format!("{user}.password")).display().to_string();
    secret(&guarded.scene, &format!("{user}.password"), password(user));
    let who = ["--connect", &guarded.scene.endpoint, "--user", user, "--password-file", &file];
    let args = [["ctl", order].as_slice(), &who].concat();
    guarded.scene.hardstand(&format!("{user}-{order}"), &args).ends_with(0);
}

#[test]
fn an_operator_stops_the_robot_however_many_sessions_others_have() {
    let _one = serial();
    let mut guarded = Guarded::new(&["--set", "sim.start=now"]);
    let observer = guarded.client("view");
    counted(&observer, "sessions_opened", 1);
    let viewers = fill(&guarded, "view");
    assert_eq!(viewers.len(), 7, "sessions of a viewer beside the observer");
    // who may stop the robot has places beyond these
    order(&guarded, "ctrl", "stop");
    order(&guarded, "op", "arm");
    counted(&observer, "sessions_closed", 2);
    let controllers = fill(&guarded, "ctrl");
    assert_eq!(controllers.len(), 2, "sessions of a controller beyond those of viewers");
    // and an operator, whom no controller can shut out either, more
    order(&guarded, "op", "stop");
    order(&guarded, "op", "arm");
    let after = counted(&observer, "sessions_closed", 4);
    assert!(after.counter("sessions_refused") >= 2, "{after:#?}");
    assert_eq!(after.counter("sessions_denied"), 0, "{after:#?}");

    // a place that a controller leaves is none for a viewer
    controllers.into_iter().for_each(|session| session.close().wait().unwrap());
    counted(&observer, "sessions_closed", 6);
    assert!(fill(&guarded, "view").is_empty(), "a ninth session of a viewer");
    drop((viewers, observer));
    guarded.daemon.signal(Signal::TERM);
    guarded.daemon.ends_with(0);
}
