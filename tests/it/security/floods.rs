//! SEC-3: sizes and numbers are bounded, and what is beyond is refused and counted.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use hardstand_protocol::StatusReading;
use zenoh::qos::CongestionControl;
use zenoh::{Session, Wait};

use super::guarded::raw_session;
use crate::common::process::{Dice, Observer, Process, Scene, serial, wait_for};

/// More memory than this must not be kept by a daemon that was flooded, KiB.
const GROWTH_KIB: i64 = 8 << 10;

/// A daemon on loopback without credentials, whose robot a good controller holds.
struct Flooded {
    scene: Scene,
    daemon: Process,
    observer: Observer,
    _controller: Process,
    session: u64,
}

impl Flooded {
    fn new() -> Self {
        let scene = Scene::tcp();
        let sets = ["--set", "command.hold_ticks=1000", "--set", "bus.sessions_max=8"];
        let daemon = scene.daemon(&sets);
        let observer = Observer::of(&scene);
        let controller = scene.controller("controller");
        let session = observer.until("it stands", |s| s.tick >= 500).command_session;
        assert_ne!(session, 0);
        Self { scene, daemon, observer, _controller: controller, session }
    }

    fn address(&self) -> &str {
        self.scene.endpoint.strip_prefix("tcp/").unwrap()
    }

    fn counted(&self, name: &str, count: u64) -> StatusReading {
        self.observer.status_until(name, |s| s.counter(name) >= count)
    }

    /// The same controller still has the robot, and ticks go on.
    fn is_healthy(&self) {
        let now = self.observer.state();
        let later = self.observer.until("it goes on", |s| s.tick > now.tick + 1000);
        assert_eq!((later.command_session, later.failure), (self.session, 0));
    }
}

fn put(session: &Session, bytes: usize) {
    let put = session.put("hardstand/quadruped/cmd", vec![b'H'; bytes]);
    put.congestion_control(CongestionControl::Block).wait().unwrap();
}

#[test]
fn messages_that_are_too_large_are_refused_and_cost_no_memory() {
    let _one = serial();
    let flooded = Flooded::new();
    let stranger = raw_session(&flooded.scene.endpoint, &[]).unwrap();
    // what is no command gets to the first check of commands, and no further; the route of a new
    // session takes a moment
    let before = wait_for("a first command arrives", || {
        put(&stranger, 10_000);
        std::thread::sleep(Duration::from_millis(1500));
        Some(flooded.observer.status()).filter(|s| s.counter("rejected_version") > 0)
    });
    let refused = before.counter("rejected_version");
    assert_eq!(before.counter("messages_too_large"), 0, "{before:#?}");
    let memory = flooded.daemon.resident_kib();
    for (n, bytes) in [(64 << 10) + 1, 1 << 20, 100 << 20].into_iter().enumerate() {
        put(&stranger, bytes);
        let status = flooded.counted("messages_too_large", n as u64 + 1);
        assert_eq!(status.counter("messages_too_large"), n as u64 + 1, "{bytes} bytes");
        assert_eq!(status.counter("rejected_version"), refused, "{bytes} bytes reach the commands");
    }
    let growth = flooded.daemon.resident_kib() - memory;
    assert!(growth <= GROWTH_KIB, "{growth} KiB more");
    // the link has survived: the next command arrives
    put(&stranger, 10_000);
    flooded.counted("rejected_version", refused + 1);
    flooded.is_healthy();
}

#[test]
fn the_ninth_session_is_refused_until_one_has_gone() {
    let _one = serial();
    let flooded = Flooded::new();
    // the observer and the controller are two
    let mut guests: Vec<Session> =
        (0..6).map(|_| raw_session(&flooded.scene.endpoint, &[]).unwrap()).collect();
    assert!(raw_session(&flooded.scene.endpoint, &[]).is_none(), "a ninth session");
    let status = flooded.counted("sessions_refused", 1);
    let opened = status.counter("sessions_opened");
    assert_eq!((opened, status.counter("sessions_closed")), (8, 0), "{status:#?}");
    guests.pop().unwrap().close().wait().unwrap();
    flooded.counted("sessions_closed", 1);
    guests.push(raw_session(&flooded.scene.endpoint, &[]).unwrap());
    let status = flooded.counted("sessions_opened", 9);
    assert_eq!(status.counter("sessions_denied"), 0, "{status:#?}");
    flooded.is_healthy();
}

#[test]
fn silent_and_garbled_connections_are_dropped() {
    let _one = serial();
    let flooded = Flooded::new();
    let memory = flooded.daemon.resident_kib();
    let connect = || TcpStream::connect(flooded.address()).unwrap();

    // 8 may be silent for 2 s, the others are closed at once
    let mut silent: Vec<TcpStream> = (0..100).map(|_| connect()).collect();
    for stream in &mut silent {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let end = stream.read(&mut [0; 64]);
        assert!(!matches!(end, Ok(1..)), "an answer to silence");
        assert!(!matches!(&end, Err(e) if e.kind() == std::io::ErrorKind::WouldBlock), "kept open");
    }
    flooded.counted("handshakes_failed", 100);

    let mut dice = Dice(0x5eed_0004);
    for n in 0..200_usize {
        let mut bytes: Vec<u8> = (0..1 + dice.roll(300)).map(|_| dice.roll(256) as u8).collect();
        if n % 2 == 0 {
            // a frame of the right length whose first byte says InitSyn
            let len = bytes.len() as u16;
            bytes[0] = 0x01;
            bytes.splice(0..0, len.to_le_bytes());
        }
        // one after the other, or the bound of 8 refuses them unread
        let mut stream = connect();
        let _refused = stream.write_all(&bytes).is_ok();
        drop(stream);
        std::thread::sleep(Duration::from_millis(2));
    }
    let status = flooded.counted("handshakes_failed", 300);
    assert_eq!(status.counter("sessions_opened"), 2, "{status:#?}");
    let growth = flooded.daemon.resident_kib() - memory;
    assert!(growth <= GROWTH_KIB, "{growth} KiB more");
    flooded.is_healthy();
    let guest = wait_for("the next good session", || raw_session(&flooded.scene.endpoint, &[]));
    drop(guest);
}
