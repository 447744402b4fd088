//! Subscribers that do not read: stopped ones, and one that takes a byte a second.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hardstand_client::session::open_client;
use rustix::process::Signal;
use zenoh::{Session, Wait};

use crate::common::process::{Log, Observer, Process, Scene, serial, wait_for};

const KEY: &str = "hardstand/quadruped/state";
const CHILD: &str = "daemon::subscribers::a_subscriber_in_a_child";
const ENDPOINT: &str = "HARDSTAND_TEST_ENDPOINT";

/// A session that counts the states that it hears.
struct Listener {
    heard: Arc<AtomicU64>,
    _session: Session,
}

impl Listener {
    fn new(endpoint: &str) -> Self {
        let heard = Arc::new(AtomicU64::new(0));
        let session = open_client(endpoint).unwrap();
        let count = Arc::clone(&heard);
        session
            .declare_subscriber(KEY)
            .callback(move |_| _ = count.fetch_add(1, Ordering::Relaxed))
            .background()
            .wait()
            .unwrap();
        Self { heard, _session: session }
    }

    fn heard(&self) -> u64 {
        self.heard.load(Ordering::Relaxed)
    }

    fn hears(&self) {
        let before = self.heard();
        wait_for("states", || (self.heard() >= before + 100).then_some(()));
    }
}

/// The other process: not a test by itself. It writes a line every 100 states.
#[test]
fn a_subscriber_in_a_child() {
    let Ok(endpoint) = std::env::var(ENDPOINT) else { return };
    let listener = Listener::new(&endpoint);
    loop {
        let before = listener.heard();
        // without an end: it may be stopped for longer than anybody's patience
        while listener.heard() < before + 100 {
            std::thread::sleep(Duration::from_millis(5));
        }
        #[allow(clippy::print_stdout, reason = "read by the other process")]
        {
            println!("hears");
        }
    }
}

fn child(scene: &Scene, n: usize) -> Process {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", CHILD, "--nocapture", "--test-threads=1"]);
    command.env(ENDPOINT, &scene.endpoint);
    Process::start(scene.dir.path(), &format!("subscriber{n}"), command)
}

fn lines(process: &Process) -> usize {
    process.out().lines().filter(|l| l.ends_with("hears")).count()
}

/// A stretch of the run: its ticks, and the states that the listener heard in it.
struct Stretch {
    from: u64,
    to: u64,
    heard: u64,
}

impl Stretch {
    fn watch(observer: &Observer, listener: &Listener, ticks: u64) -> Self {
        let (from, before) = (observer.state().tick, listener.heard());
        let (end, mut to) = (from + ticks, from);
        // in pieces that fit into everybody's patience
        while to < end {
            let next = (to + 10_000).min(end);
            to = observer.until("ticks to pass", |s| s.tick >= next).tick;
        }
        Self { from, to, heard: listener.heard() - before }
    }

    fn ticks(&self) -> u64 {
        self.to - self.from
    }

    /// Of its states, so many were heard.
    fn share(&self) -> f64 {
        self.heard as f64 / self.ticks() as f64
    }

    /// Deadlines missed in it, per tick.
    fn missed(&self, log: &Log) -> f64 {
        let at = |tick: u64| log.ticks[tick as usize].missed_deadlines;
        (at(self.to) - at(self.from)) as f64 / self.ticks() as f64
    }
}

/// LN-3: five, beside a controller, who reads on, and two who watch.
fn stopped(seconds: u64) {
    let scene = Scene::in_memory();
    // a busy machine may keep the controller waiting for longer than the usual 50 ticks
    let mut daemon = scene.daemon(&["--set", "command.hold_ticks=500"]);
    let observer = Observer::of(&scene);
    let _controller = scene.controller("controller");
    let listener = Listener::new(&scene.endpoint);
    let stopped: Vec<Process> = (0..5).map(|n| child(&scene, n)).collect();
    stopped.iter().for_each(|s| wait_for("states", || (lines(s) > 0).then_some(())));
    listener.hears();

    let count = |name| observer.status().counter(name);
    let dropped = || count("snapshots_dropped");
    let unsent = count("messages_unsent");
    let before = Stretch::watch(&observer, &listener, 2000);
    let dropped_before = dropped();
    stopped.iter().for_each(|s| s.signal(Signal::STOP));
    let heard_by_them: Vec<usize> = stopped.iter().map(lines).collect();
    let during = Stretch::watch(&observer, &listener, 1000 * seconds);
    let dropped = dropped() - dropped_before;
    // a socket holds some of them; the rest is counted
    let unsent = count("messages_unsent") - unsent;
    assert!(unsent > 500 * seconds, "{unsent} messages unsent to five for {seconds} s");
    stopped.iter().for_each(|s| s.signal(Signal::CONT));
    // a session that was silent for too long is closed, and they come again
    for (s, before) in stopped.iter().zip(heard_by_them) {
        wait_for("states for who was stopped", || (lines(s) > before + 3).then_some(()));
    }
    let after = Stretch::watch(&observer, &listener, 2000);

    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    let log = Log::read(&scene.log());
    log.assert_no_tick_is_missing();
    scene.replays();
    eprintln!("{dropped} snapshots dropped");
    undisturbed(&during, &[before, after], &log);
}

/// Compared with the rest of the same run: on a machine without a core to spare, a subscriber that
/// reads may be late, too.
fn undisturbed(during: &Stretch, quiet: &[Stretch], log: &Log) {
    let missed: Vec<f64> = quiet.iter().map(|s| s.missed(log)).collect();
    let shares: Vec<f64> = quiet.iter().map(Stretch::share).collect();
    eprintln!("heard {:.4}, quiet {shares:.4?}", during.share());
    eprintln!("missed deadlines per tick {:.4}, quiet {missed:.4?}", during.missed(log));
    let lowest = shares.into_iter().fold(1.0, f64::min);
    // 99.9 % as a rule; on an overloaded machine two quiet stretches differ by some percent
    assert!(during.share() >= 0.9 * lowest, "heard {:.4}, else {lowest:.4}", during.share());
    let most = missed.into_iter().fold(0.0, f64::max);
    assert!(during.missed(log) <= 3.0 * most + 0.02, "missed {:.4}", during.missed(log));
}

/// A controller in a debugger: the log is complete, and what it would not read is not waited for.
#[test]
fn a_stopped_controller_does_not_hold_up_the_end() {
    let _one = serial();
    let scene = Scene::tcp();
    let mut daemon = scene.daemon(&[]);
    let observer = Observer::of(&scene);
    let controller = scene.controller("controller");
    observer.until("300 ticks", |s| s.tick >= 300);
    controller.signal(Signal::STOP);
    // its link takes no more
    let until = observer.state().tick + 3000;
    observer.until("ticks to pass", |s| s.tick >= until);
    let begin = Instant::now();
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    // zenoh waits for ten seconds
    assert!(begin.elapsed() < Duration::from_secs(8), "{:?}", begin.elapsed());
}

#[test]
fn five_stopped_subscribers_hold_up_nobody() {
    let _one = serial();
    stopped(10);
}

#[test]
#[ignore = "more than a minute"]
fn five_subscribers_stopped_for_a_minute_hold_up_nobody() {
    let _one = serial();
    stopped(60);
}

/// Their links are closed after ten seconds, and closing one may wait for as long. Over TCP, where
/// it would.
#[test]
fn sessions_come_and_go_beside_stopped_subscribers() {
    let _one = serial();
    let scene = Scene::tcp();
    let mut daemon = scene.daemon(&["--set", "command.hold_ticks=1000"]);
    let observer = Observer::of(&scene);
    let _controller = scene.controller("controller");
    let stopped: Vec<Process> = (0..4).map(|n| child(&scene, n)).collect();
    stopped.iter().for_each(|s| wait_for("states", || (lines(s) > 0).then_some(())));
    stopped.iter().for_each(|s| s.signal(Signal::STOP));
    let begin = observer.state().tick;
    let mut sessions = 0;
    while observer.state().tick < begin + 16_000 {
        let come = Observer::of(&scene);
        assert!(come.state().tick > begin, "it hears");
        sessions += 1;
        observer.until("ticks to pass", |s| s.tick >= begin + 500 * sessions);
    }
    assert_eq!(observer.status().counter("io_restarts"), 0);
    assert!(!daemon.err().contains("has lost the robot"), "{}", daemon.err());
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

/// Between a client and the daemon. Once it is slow, a byte a second goes to the client. Over unix
/// sockets, for those of TCP hold some seconds of states before anybody notices.
struct Proxy {
    endpoint: String,
    slow: Arc<AtomicBool>,
    over: Arc<AtomicBool>,
}

impl Proxy {
    fn new(scene: &Scene) -> Self {
        let path = scene.path("proxy.sock");
        let listener = UnixListener::bind(&path).unwrap();
        let endpoint = format!("unixsock-stream/{}", path.display());
        let daemon = scene.path("z.sock");
        let (slow, over) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let flags = [Arc::clone(&slow), Arc::clone(&over)];
        std::thread::spawn(move || {
            let (client, _) = listener.accept().unwrap();
            let daemon = UnixStream::connect(daemon).unwrap();
            let (mut from, mut to) = (client.try_clone().unwrap(), daemon.try_clone().unwrap());
            std::thread::spawn(move || std::io::copy(&mut from, &mut to));
            pass(daemon, client, &flags);
        });
        Self { endpoint, slow, over }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

fn pass(mut from: UnixStream, mut to: UnixStream, [slow, over]: &[Arc<AtomicBool>; 2]) {
    let mut buffer = [0; 4096];
    while !over.load(Ordering::Relaxed) {
        let is_slow = slow.load(Ordering::Relaxed);
        let room = if is_slow { &mut buffer[..1] } else { &mut buffer[..] };
        let Ok(n @ 1..) = from.read(room) else { break };
        if to.write_all(&room[..n]).is_err() {
            break;
        }
        if is_slow {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    let _gone = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

/// LN-3: unlike one that is stopped it is alive to zenoh, so its session stays, and stays full.
#[test]
fn a_subscriber_that_takes_a_byte_a_second_holds_up_nobody() {
    let _one = serial();
    let scene = Scene::in_memory();
    let mut daemon = scene.daemon(&["--set", "sim.start=now"]);
    let observer = Observer::of(&scene);
    let listener = Listener::new(&scene.endpoint);
    let proxy = Proxy::new(&scene);
    let slow = Listener::new(&proxy.endpoint);
    listener.hears();
    slow.hears();
    let before = Stretch::watch(&observer, &listener, 2000);
    proxy.slow.store(true, Ordering::Relaxed);
    // what is on its way to it still comes
    std::thread::sleep(Duration::from_secs(1));
    let heard_slowly = slow.heard();
    let during = Stretch::watch(&observer, &listener, 5000);
    let heard_slowly = slow.heard() - heard_slowly;
    let sessions = observer.status();

    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    drop(proxy);
    let log = Log::read(&scene.log());
    log.assert_no_tick_is_missing();
    scene.replays();
    assert_eq!(sessions.counter("sessions_closed"), 0, "the slow one is still there");
    assert!(heard_slowly <= 10, "the slow one heard {heard_slowly} states");
    undisturbed(&during, &[before], &log);
}
