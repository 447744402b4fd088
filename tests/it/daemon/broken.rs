//! Faults of a running daemon: `ctl fault` and `ctl clear`, in the log and in its replay.

use hardstand_protocol::{Event, FaultKind, Part, UNTIL_CLEARED};
use hardstand_protocol::{FaultRequest, Kind, Order, OrderHead, OrderReply, decode, encode_order};
use rustix::process::Signal;
use zenoh::Wait;

use crate::common::process::{Log, Observer, PATIENCE, Scene, digest, serial};

/// The tick in "… from tick N on".
fn tick_of(said: &str) -> u64 {
    let words: Vec<&str> = said.split_whitespace().collect();
    let at = words.iter().rposition(|w| *w == "tick").unwrap();
    words[at + 1].parse().unwrap()
}

/// An encoder sticks, a motor dies and is mended; the log has each at the tick that was told.
#[test]
fn a_fault_is_shown_logged_mended_and_replayed() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&["--set", "command.hold_ticks=500"]);
    let observer = Observer::of(&scene);
    let _controller = scene.controller("controller");
    observer.until("it stands", |s| s.tick >= 500);
    let ctl = |words: &[&str], code: i32| scene.ctl(words, code);
    let said = ctl(&["fault", "encoder_offset", "--joint", "FL_calf_joint", "--offset", "0.05"], 0);
    assert!(
        said.contains("encoder_offset of joint FL_calf_joint until it is cleared from"),
        "{said}"
    );
    let off = tick_of(&said);
    let said = ctl(&["fault", "encoder_stuck", "--joint", "FR_hip_joint", "--duration", "0.3"], 0);
    assert!(said.contains("for 300 ticks"), "{said}");
    let stuck = tick_of(&said);
    let first = observer.until("it is stuck", |s| s.tick > stuck && s.tick < stuck + 250);
    let second = observer.until("still", |s| s.tick > first.tick && s.tick <= stuck + 300);
    let [a, b] = [&first, &second].map(|s| (s.joints[3].q, s.joints[3].dq));
    assert_eq!(a, b, "ticks {} and {}", first.tick, second.tick);
    let other = ctl(&["mend", "encoder_offset", "--joint", "FL_calf_joint"], 0);
    let mended = tick_of(&other);

    // what is refused changes nothing, and says why
    for (words, why) in [
        (&["fault", "encoder_stuck", "--joint", "x"][..], "joint is \"x\": it must be the name"),
        (&["fault", "motor_derated", "--share", "1.5"], "share is 1.5; it must be 0 to 1"),
        (&["fault", "motor_dead", "--duration", "0.0001"], "at least one tick, which is 0.001 s"),
        (&["mend", "x"], "kind is \"x\"; it must be one of: encoder_stuck"),
        (&["fault", "melted"], "unrecognized subcommand 'melted'"),
        (&["fault", "payload", "--link", "trunk"], "--mass-kg"),
    ] {
        let text = ctl(words, 2);
        assert!(text.contains(why), "{words:?}: {text}");
    }
    let client = hardstand_client::session::open_client(&scene.endpoint).unwrap();
    let ask = |payload: Vec<u8>| {
        let query = client.get("hardstand/quadruped/fault").payload(payload).timeout(PATIENCE);
        let sample = query.wait().unwrap().recv().unwrap().into_result().unwrap();
        decode::<OrderReply>(Kind::OrderReply, &sample.payload().to_bytes()).unwrap()
    };
    assert_eq!(ask(b"HS".to_vec()).verdict, 1);
    let mut bytes = Vec::new();
    let request = FaultRequest { kind: "motor_dead".into(), ..Default::default() };
    let head = OrderHead::new("quadruped", 99, "test");
    encode_order(Order::Fault, &head, &request, &mut bytes).unwrap();
    assert!(ask(bytes).reason.contains("run_id is 99"));
    let status = observer.status_until("they are counted", |s| {
        s.counter("orders_rejected_out_of_range") >= 3 && s.counter("orders_rejected_run_id") == 1
    });
    assert_eq!(status.counter("faults_refused"), 0);

    observer.until("a little more", |s| s.tick >= stuck + 400);
    daemon.signal(Signal::TERM);
    let out = daemon.ends_with(0);
    let log = Log::read(&scene.log());
    let events: Vec<(u64, Event)> =
        log.ticks.iter().flat_map(|t| t.events.iter().map(|&e| (t.tick, e))).collect();
    let [
        (t0, Event::InjectFault { fault: d0, ticks: n0 }),
        (t1, Event::InjectFault { fault: d1, ticks: n1 }),
        (t2, last),
    ] = events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(
        (t0, d0.kind, d0.part, n0),
        (off, FaultKind::EncoderOffset, Part::Joint(2), UNTIL_CLEARED)
    );
    assert_eq!((t1, d1.kind, d1.part, n1), (stuck, FaultKind::EncoderStuck, Part::Joint(3), 300));
    let (kind, part) = (Some(FaultKind::EncoderOffset), Some(Part::Joint(2)));
    assert_eq!((t2, last), (mended, Event::ClearFaults { kind, part }));
    assert_eq!(digest(&scene.replays()), digest(&out));
}

/// A script that relies on the exit code does not test without the fault.
#[test]
fn a_ninth_fault_or_push_is_refused_where_eight_act() {
    let _one = serial();
    let scene = Scene::in_memory();
    let _daemon = scene.daemon(&["--set", "sim.start=now"]);
    let observer = Observer::of(&scene);
    for paused in [false, true] {
        let joint = |i: usize| observer.model.joints[i].name.clone();
        let fault = |i: usize, code| {
            scene.ctl(&["fault", "encoder_offset", "--joint", &joint(i), "--offset", "0"], code)
        };
        let push = |code| {
            let force = ["--force", "0", "0", "1", "--duration", "60"];
            scene.ctl(&[&["push", "--link", "trunk"][..], &force].concat(), code)
        };
        if paused {
            scene.ctl(&["pause"], 0);
        }
        (0..8).for_each(|i| drop(fault(i, 0)));
        let said = fault(8, 5);
        assert!(said.contains("as many act already as can, 8 pushes and 8 faults"), "{said}");
        // what is ordered in a pause waits for one tick, which has no room for the pushes as well
        scene.ctl(&["clear"], 0);
        if paused {
            scene.ctl(&["resume"], 0);
        }
        (0..8).for_each(|_| drop(push(0)));
        assert!(push(5).contains("end one of them (hardstand ctl clear)"));
        (0..8).for_each(|i| drop(fault(i, 0)));
        fault(0, 0); // in the place of the same one
        scene.ctl(&["clear"], 0);
        fault(8, 0);
        push(0);
        scene.ctl(&["clear"], 0);
        observer.status_until("they are counted", |s| {
            (s.counter("faults_refused"), s.counter("pushes_refused")) >= (1, 1)
        });
    }
}

#[test]
fn the_list_has_every_kind_with_an_example() {
    let scene = Scene::new();
    let said = scene.hardstand("faults", &["faults"]).ends_with(0);
    for row in &FaultKind::TABLE {
        assert!(said.contains(&format!("{}: {}", row.name, row.what)), "{said}");
        assert!(said.contains(&format!("hardstand ctl fault {} {}", row.name, row.example)));
        let help = scene.hardstand("help", &["ctl", "fault", row.name, "--help"]).ends_with(0);
        assert!(help.contains(row.what.split([' ', ',']).next().unwrap()), "{help}");
        assert!(row.parameters.iter().all(|p| help.contains(&p.name.replace('_', "-"))), "{help}");
    }
}
