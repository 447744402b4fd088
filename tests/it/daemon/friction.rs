//! Friction that is changed over the bus while the daemon runs.

use std::time::Duration;

use hardstand::config::Scenario;
use hardstand::limits::ORDER_QUEUE;
use hardstand::{Error, ErrorKind};
use hardstand_client::session::open_client;
use hardstand_protocol::{ContactsReading, Event, Scope, StationReading, TickInput};
use hardstand_protocol::{
    FrictionRequest, Kind, LogTick, Order, OrderHead, OrderReply, StatusReading, decode,
    encode_order,
};
use rustix::process::Signal;
use zenoh::handlers::{RingChannel, RingChannelHandler};
use zenoh::pubsub::Subscriber;
use zenoh::sample::Sample;
use zenoh::{Session, Wait};

use crate::common::process::{
    Log, Observer, PATIENCE, Process, Scene, digest, repository, serial, wait_for,
};

const KEY: &str = "hardstand/quadruped/friction";
const REGIONS: &str = "regions=[{name=\"aside\", min_m=[5,5], max_m=[6,6]}, \
                       {name=\"here\", min_m=[-5,-5], max_m=[5,5]}]";

/// The newest contacts.
struct Contacts(Subscriber<RingChannelHandler<Sample>>);

impl Contacts {
    fn of(session: &Session) -> Self {
        let key = "hardstand/quadruped/contacts";
        Self(session.declare_subscriber(key).with(RingChannel::new(1)).wait().unwrap())
    }

    /// The first contacts at or after `tick` that satisfy `wanted`.
    fn until(&self, tick: u64, wanted: impl Fn(&ContactsReading) -> bool) -> ContactsReading {
        wait_for("contacts", || {
            let sample = self.0.recv_timeout(Duration::from_millis(500)).unwrap()?;
            let c: ContactsReading = decode(Kind::Contacts, &sample.payload().to_bytes()).unwrap();
            Some(c).filter(|c| c.tick >= tick && wanted(c))
        })
    }
}

fn mu(s: &StationReading) -> [f64; 2] {
    [s.mu_static, s.mu_kinetic]
}

fn set(observer: &Observer, scope: Scope, mu_static: f64, mu_kinetic: f64) -> Result<u64, Error> {
    observer.client.set_friction(&observer.model, scope, mu_static, mu_kinetic, PATIENCE)
}

/// All friction events in a log, with their ticks.
fn changes(log: &Log) -> Vec<(u64, Event)> {
    let of = |t: &LogTick| t.events.iter().map(|&e| (t.tick, e)).collect::<Vec<_>>();
    log.ticks.iter().flat_map(of).collect()
}

fn change(scope: Scope, mu_static: f64, mu_kinetic: f64) -> Event {
    Event::Friction { scope, mu_static, mu_kinetic }
}

/// `hardstand ctl friction` for this scene.
fn ctl(scene: &Scene, arguments: &[&str]) -> Process {
    let fixed = ["ctl", "friction", "--connect", &scene.endpoint];
    let all: Vec<&str> = fixed.into_iter().chain(arguments.iter().copied()).collect();
    scene.hardstand("ctl", &all)
}

/// A foot loses its grip, slides, and gets it back; everything is in the log at the tick that was
/// told, and the log replays.
#[test]
fn a_foot_slips_when_its_friction_goes_and_holds_when_it_comes_back() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&["--set", "command.hold_ticks=500", "--set", REGIONS]);
    let observer = Observer::of(&scene);
    let _controller = scene.controller("controller");
    observer.until("it stands", |s| s.tick >= 1000);
    let session = open_client(&scene.endpoint).unwrap();
    let contacts = Contacts::of(&session);
    let quiet = contacts.until(0, |c| c.tick >= 1000);
    let carried = |s: &StationReading| {
        let [x, y, _] = s.force_world_n;
        (x * x + y * y).sqrt()
    };
    let before = quiet.stations[0];
    assert!(mu(&before) == [0.8, 0.6] && before.sliding < 0.5, "{before:?}");
    assert!(carried(&before) > 2.0, "the foot carries a load along the ground: {before:?}");

    // hardly any friction: less than the foot carries
    let down = set(&observer, Scope::Foot(0), 0.02, 0.01).unwrap();
    let slipping = contacts.until(down + 1, |c| c.stations[0].sliding > 0.9);
    let foot = slipping.stations[0];
    assert_eq!((mu(&foot), mu(&slipping.stations[1])), ([0.02, 0.01], [0.8, 0.6]));
    assert!(foot.mu < 0.02 && carried(&foot) <= 0.02 * foot.normal_n, "{foot:?}");

    let up = set(&observer, Scope::Station(0), 0.8, 0.6).unwrap();
    let held = contacts.until(up + 1, |c| c.stations[0].sliding < 0.1);
    assert!(held.stations[0].mu > 0.75 && carried(&held.stations[0]) > 2.0);
    // the floor beneath all feet, for whoever stands on it
    let here = set(&observer, Scope::Region(1), 0.5, 0.4).unwrap();
    let all = contacts.until(here + 1, |_| true);
    assert!(all.stations.iter().all(|s| mu(s) == [0.5, 0.4]), "{all:#?}");
    let last = set(&observer, Scope::All, 0.9, 0.9).unwrap();
    let regions = contacts.until(last + 1, |_| true);
    assert!(regions.stations.iter().all(|s| mu(s) == [0.5, 0.4]), "regions go before stations");

    observer.until("a little more", |s| s.tick >= last + 100);
    daemon.signal(Signal::TERM);
    let out = daemon.ends_with(0);
    let log = Log::read(&scene.log());
    let expected = [
        (down, change(Scope::Foot(0), 0.02, 0.01)),
        (up, change(Scope::Station(0), 0.8, 0.6)),
        (here, change(Scope::Region(1), 0.5, 0.4)),
        (last, change(Scope::All, 0.9, 0.9)),
    ];
    assert_eq!(changes(&log), expected);
    assert_eq!(digest(&scene.replays()), digest(&out));
}

/// The order `anchors` of the command line, for a foot and for all: both are in the log, which
/// replays.
#[test]
fn anchors_begin_anew_while_the_daemon_runs() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&["--set", "command.hold_ticks=500"]);
    let observer = Observer::of(&scene);
    let _controller = scene.controller("controller");
    observer.until("it stands", |s| s.tick >= 300);
    let order = |more: &[&str]| {
        let fixed = ["ctl", "anchors", "--connect", &scene.endpoint];
        let all: Vec<&str> = fixed.into_iter().chain(more.iter().copied()).collect();
        scene.hardstand("ctl", &all)
    };
    let text = order(&["--foot", "FR"]).ends_with(0);
    assert!(text.contains("anchors of foot FR begin anew at tick"), "{text}");
    let text = order(&[]).ends_with(0);
    assert!(text.contains("anchors of all stations begin anew at tick"), "{text}");
    let text = order(&["--station", "hand"]).ends_with(2);
    assert!(text.contains("--station is hand; it must be one of: FL"), "{text}");
    let last = observer.until("a little more", |s| s.tick >= 500).tick;
    observer.until("and more", |s| s.tick >= last + 50);
    daemon.signal(Signal::TERM);
    let out = daemon.ends_with(0);
    let scopes: Vec<Event> = changes(&Log::read(&scene.log())).iter().map(|c| c.1).collect();
    let reset = |scope| Event::ResetAnchors { scope };
    assert_eq!(scopes, [reset(Scope::Foot(1)), reset(Scope::All)]);
    assert_eq!(digest(&scene.replays()), digest(&out));
}

/// The answer to `payload`, which need not be a request.
fn ask(session: &Session, payload: Option<&[u8]>) -> OrderReply {
    wait_for("an answer", || {
        let query = session.get(KEY).timeout(Duration::from_secs(5));
        let query = if let Some(p) = payload { query.payload(p.to_vec()) } else { query };
        let reply = query.wait().unwrap().recv().ok()?;
        let sample = reply.into_result().unwrap();
        let schema = "application/octet-stream;hardstand.OrderReply.v7";
        assert_eq!(sample.encoding().to_string(), schema);
        Some(decode(Kind::OrderReply, &sample.payload().to_bytes()).unwrap())
    })
}

fn bytes(request: &FrictionRequest) -> Vec<u8> {
    named(request, &|_| {})
}

/// An order with another head.
fn named(request: &FrictionRequest, change: &dyn Fn(&mut OrderHead)) -> Vec<u8> {
    let mut head = OrderHead::new("quadruped", 1, "test");
    change(&mut head);
    let mut out = Vec::new();
    encode_order(Order::Friction, &head, request, &mut out).unwrap();
    out
}

/// Every way to be refused: its counter, words of its answer, the request.
fn table(good: FrictionRequest) -> Vec<(&'static str, &'static str, Option<Vec<u8>>)> {
    let with = |change: &dyn Fn(&mut FrictionRequest)| {
        let mut r = good;
        change(&mut r);
        Some(bytes(&r))
    };
    let header = |at: usize, value: u8| {
        let mut b = bytes(&good);
        b[at] = value;
        Some(b)
    };
    let head = |change: &dyn Fn(&mut OrderHead)| Some(named(&good, change));
    let mus = |s: f64, k: f64| with(&move |r| (r.mu_static, r.mu_kinetic) = (s, k));
    vec![
        ("size", "0 bytes long; it must begin with a header, robot", None),
        ("size", "20 bytes long; it must begin", Some(bytes(&good)[..20].to_vec())),
        ("size", "28 bytes long; it must be 29", {
            let good = bytes(&good);
            Some(good[..good.len() - 1].to_vec())
        }),
        ("size", "30 bytes", Some([bytes(&good), vec![0]].concat())),
        ("version", "protocol version 9; it must be 7", header(2, 9)),
        ("version", "header", header(3, 3)),
        ("layout", "layout_hash is", with(&|r| r.layout_hash ^= 1)),
        ("layout", "robot is \"x\"; it must be \"quadruped\"", head(&|h| h.robot = "x".into())),
        ("run_id", "run_id is 2; it must be 1", head(&|h| h.run_id = 2)),
        ("run_id", "run_id is 0; it must be 1", head(&|h| h.run_id = 0)),
        ("out_of_range", "nonce is 0; it must be a random number", head(&|h| h.nonce = 0)),
        ("out_of_range", "asker is \"\"; it must be 1 to 64", head(&|h| h.asker.clear())),
        ("not_finite", "mu_static is NaN; it must be 0 to 100", mus(f64::NAN, 0.1)),
        ("not_finite", "mu_static is inf; it must be 0 to 100", mus(f64::INFINITY, 0.1)),
        ("not_finite", "mu_kinetic is NaN", mus(0.5, f64::NAN)),
        ("out_of_range", "mu_static is -0.1; it must be 0 to 100", mus(-0.1, 0.0)),
        ("out_of_range", "mu_static is 100.5; it must be 0 to 100", mus(100.5, 0.0)),
        (
            "out_of_range",
            "mu_kinetic is 0.9; it must be 0 to mu_static, which is 0.5",
            mus(0.5, 0.9),
        ),
        ("out_of_range", "index is 4; it must be 0 to 3, the feet", with(&|r| r.index = 4)),
        ("out_of_range", "scope is 3; this scenario has no regions", with(&|r| r.scope = 3)),
        ("out_of_range", "scope is 4; it must be 0 to 3", with(&|r| r.scope = 4)),
    ]
}

/// IN-4 for changes of friction: what is refused is counted under its reason, answered with words,
/// and changes nothing.
#[test]
fn refused_changes_change_nothing() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&["--set", "sim.start=now"]);
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick >= 100);
    let session = open_client(&scene.endpoint).unwrap();
    let (hash, run_id) = (observer.model.layout_hash, observer.model.run_id);
    assert_eq!(run_id, 1);
    let good = FrictionRequest::new(hash, Scope::Foot(0), 0.5, 0.4);
    let table = table(good);
    for (reason, words, payload) in &table {
        let reply = ask(&session, payload.as_deref());
        assert_eq!((reply.verdict, reply.tick), (1, 0), "{reason}: {}", reply.reason);
        assert!(reply.reason.contains(words), "{reason}: \"{}\" has no {words}", reply.reason);
    }
    let refused = set(&observer, Scope::Foot(0), 0.5, 0.9).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Input);

    // the same on the command line
    let exits = |arguments: &[&str], code: i32| ctl(&scene, arguments).ends_with(code);
    let out = exits(&["--foot", "FL", "--static", "0.5", "--kinetic", "0.9"], 2);
    assert!(out.contains("mu_kinetic is 0.9; it must be 0 to mu_static, which is 0.5"), "{out}");
    let out = exits(&["--static", "nan", "--kinetic", "-1"], 2);
    assert!(out.contains("mu_static is NaN"), "{out}");
    let out = exits(&["--foot", "XX", "--static", "0.5", "--kinetic", "0.4"], 2);
    assert!(out.contains("--foot is XX; it must be one of: FL, FR, RL, RR"), "{out}");
    let out = exits(&["--region", "ice", "--static", "0.5", "--kinetic", "0.4"], 2);
    assert!(out.contains("there are none"), "{out}");
    exits(&["--foot", "FL", "--region", "ice", "--static", "0.5", "--kinetic", "0.4"], 2);
    let robot = ["--robot", "nobody", "--static", "0.5", "--kinetic", "0.4"];
    let out = exits(&robot, 5);
    assert!(out.contains("no daemon answers"), "{out}");
    assert!(out.contains("is connected; check that its robot is nobody"), "{out}");

    let count = |s: &StatusReading, reason: &str| s.counter(&format!("orders_rejected_{reason}"));
    let of = |reason: &str| table.iter().filter(|(r, _, _)| *r == reason).count() as u64;
    let status = observer.status_until("all are counted", |s| s.counter("orders_received") >= 24);
    for reason in ["size", "version", "layout", "run_id"] {
        assert_eq!(count(&status, reason), of(reason), "{reason}: {status:#?}");
    }
    // one more of each on the command line, and one of the client
    assert_eq!(count(&status, "not_finite"), of("not_finite") + 1);
    assert_eq!(count(&status, "out_of_range"), of("out_of_range") + 2);
    assert_eq!(status.counter("orders_received"), table.len() as u64 + 3);

    // a good one last: the service is still there
    let out = exits(&["--foot", "RL", "--static", "0.5", "--kinetic", "0.4"], 0);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    let log = Log::read(&scene.log());
    let changes = changes(&log);
    let [(tick, event)] = changes[..] else { panic!("{changes:?}") };
    // up to then the run is that of a plant to which nobody has said anything
    let scenario = Scenario::load(repository("config/quadruped.toml").as_ref(), &[]).unwrap();
    let mut alone = scenario.simulation();
    for _ in 0..tick {
        alone.step(&TickInput::new());
    }
    assert_eq!(log.ticks[tick as usize - 1].digest, alone.state().digest);
    assert_eq!(event, change(Scope::Foot(2), 0.5, 0.4));
    assert!(out.contains(&format!("static 0.5, kinetic 0.4 from tick {tick} on")), "{out}");
    scene.replays();
}

/// Changes that come before the controller apply at the first tick. No more than one tick can
/// apply are kept; the others are told that nothing has changed, and nothing has.
#[test]
fn changes_before_the_first_tick_apply_at_it() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&["--set", "command.hold_ticks=500"]);
    let observer = Observer::of(&scene);
    assert_eq!(observer.state().phase, 0);
    let mu_of = |n: u64| 0.6 + 0.01 * n as f64;
    for n in 0..16 {
        assert_eq!(set(&observer, Scope::Foot(1), mu_of(n), 0.5), Ok(0));
    }
    let late = set(&observer, Scope::Foot(1), 0.1, 0.1).unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Bus);
    assert!(late.to_string().contains("nothing has changed"), "{late}");
    observer.status_until("it is counted", |s| s.counter("orders_rejected_queue_full") == 1);

    let _controller = scene.controller("controller");
    observer.until("it runs", |s| s.tick >= 200);
    let after = set(&observer, Scope::All, 0.7, 0.7).unwrap();
    assert!(after >= 200, "{after}");
    observer.until("a little more", |s| s.tick >= after + 50);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    let first = (0..16).map(|n| (0, change(Scope::Foot(1), mu_of(n), 0.5)));
    let expected: Vec<_> = first.chain([(after, change(Scope::All, 0.7, 0.7))]).collect();
    assert_eq!(changes(&Log::read(&scene.log())), expected);
    scene.replays();
}

/// Many at once: each gets an answer, and the log agrees with every one of them.
#[test]
fn a_burst_of_changes_is_answered_one_by_one() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&["--set", "sim.start=now"]);
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick >= 100);
    let session = open_client(&scene.endpoint).unwrap();
    let hash = observer.model.layout_hash;
    let request = |n: usize| {
        let scope = Scope::Station(n as u32 % 12);
        FrictionRequest::new(hash, scope, 1.0 + n as f64 / 1000.0, 0.5)
    };
    ask(&session, None); // the route is there
    let burst = 3 * ORDER_QUEUE;
    let send = |n: usize| {
        let query = session.get(KEY).payload(bytes(&request(n)));
        query.timeout(Duration::from_secs(20)).wait().unwrap()
    };
    let answers: Vec<_> = (0..burst).map(send).collect();
    let mut accepted = Vec::new();
    for (n, answer) in answers.iter().enumerate() {
        let sample = answer.recv().unwrap().into_result().unwrap();
        let reply: OrderReply = decode(Kind::OrderReply, &sample.payload().to_bytes()).unwrap();
        let r = request(n);
        match reply.verdict {
            0 => accepted.push((reply.tick, change(Scope::Station(r.index), r.mu_static, 0.5))),
            2 => assert!(reply.reason.starts_with("busy"), "{reply:?}"),
            _ => panic!("{reply:?}"),
        }
    }
    assert!(accepted.len() >= ORDER_QUEUE, "{} of {burst} accepted", accepted.len());
    let busy = (burst - accepted.len()) as u64;
    observer.status_until("all is accounted for", |s| {
        s.counter("orders_rejected_queue_full") == busy
            && s.counter("orders_received") == burst as u64 + 1
    });
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    assert_eq!(changes(&Log::read(&scene.log())), accepted);
    scene.replays();
}
