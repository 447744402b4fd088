//! Shared memory under peers that make mistakes: they die, write at once, or write noise.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use hardstand_port::packet::{PacketCommand, encode_command};
use hardstand_protocol::{JointCommand, StatusReading};
use rustix::process::Signal;

use crate::common::namespace::Namespace;
use crate::common::process::{Dice, Observer, Process, Scene, repository, serial, wait_for};

const MAGIC: u64 = u64::from_le_bytes(*b"HSSHM001");
const OPEN: u64 = 5;
const STATE_COUNTER: u64 = 8;
const COMMAND_COUNTER: u64 = 16;

/// A peer that reads and writes the file.
struct Peer {
    file: File,
    sequence: u64,
}

impl Peer {
    fn of(path: &Path) -> Self {
        let open = || OpenOptions::new().read(true).write(true).open(path).ok();
        let whole = |file: &File| word(file, 0) == Some(MAGIC) && word(file, OPEN) == Some(1);
        let file = wait_for("the shared memory", || open().filter(whole));
        Self { file, sequence: 0 }
    }

    fn word(&self, n: u64) -> u64 {
        word(&self.file, n).unwrap()
    }

    fn set(&self, n: u64, value: u64) {
        self.file.write_all_at(&value.to_le_bytes(), 8 * n).unwrap();
    }

    /// The newest state, once there is one.
    fn state(&self) -> Vec<u8> {
        wait_for("a state", || {
            let counter = self.word(STATE_COUNTER);
            let mut bytes = vec![0; self.word(2) as usize];
            self.file.read_exact_at(&mut bytes, self.word(1)).unwrap();
            let same = counter == self.word(STATE_COUNTER) && counter.is_multiple_of(2);
            (same && counter > 0).then_some(bytes)
        })
    }

    /// The packet of the next command, which answers the newest state.
    fn command(&mut self, joints: &[JointCommand]) -> Vec<u8> {
        let state = self.state();
        let u64_at = |at: usize| u64::from_le_bytes(state[at..at + 8].try_into().unwrap());
        self.sequence += 1;
        let command = PacketCommand {
            run_id: u32::from_le_bytes(state[12..16].try_into().unwrap()),
            layout_hash: u64_at(16),
            sequence: self.sequence,
            tick: u64_at(32),
            joints: joints.to_vec(),
        };
        let mut bytes = Vec::new();
        encode_command(&command, &mut bytes);
        bytes
    }

    fn begin(&self) -> u64 {
        let counter = self.word(COMMAND_COUNTER) & !1;
        self.set(COMMAND_COUNTER, counter + 1);
        counter
    }

    fn put(&self, packet: &[u8]) {
        let counter = self.begin();
        self.file.write_all_at(packet, self.word(3)).unwrap();
        self.set(COMMAND_COUNTER, counter + 2);
    }

    /// Answers states until the daemon has taken `more` further commands.
    fn drive(&mut self, observer: &Observer, more: u64) {
        let hold = observer.model.hold();
        let taken = |s: &StatusReading| s.counter("shared_memory_commands");
        let before = taken(&observer.status());
        wait_for("commands", || {
            for _ in 0..100 {
                let packet = self.command(&hold);
                self.put(&packet);
                std::thread::sleep(Duration::from_millis(1));
            }
            (taken(&observer.status()) >= before + more).then_some(())
        });
    }
}

fn word(file: &File, n: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    file.read_exact_at(&mut bytes, 8 * n).ok()?;
    Some(u64::from_le_bytes(bytes))
}

fn daemon(scene: &Scene) -> (Process, PathBuf) {
    let path = scene.path("robot");
    let set = format!("shared_memory.path={}", path.display());
    let start = "sim.start=\"now\"";
    let daemon = scene.daemon(&["--set", &set, "--set", "ros2.mode=off", "--set", start]);
    (daemon, path)
}

/// A disk of 64 KiB in mounts of our own, and a line that fills it; `None` if it is not allowed.
fn tiny_disk(scene: &Scene) -> Option<(Namespace, PathBuf, String)> {
    let mounts = Namespace::new(scene, "mounts", 'm')?;
    let dir = scene.path("tiny");
    std::fs::create_dir(&dir).unwrap();
    mounts.shell(&format!("mount -t tmpfs -o size=64k none {}", dir.display()));
    let fill = format!("! head -c 100000 /dev/zero > {}/fill", dir.display());
    Some((mounts, dir, fill))
}

fn daemon_on(scene: &Scene, mounts: &Namespace, path: &Path) -> Process {
    let mut command = mounts.command(env!("CARGO_BIN_EXE_hardstand"));
    let set = format!("shared_memory.path={}", path.display());
    command.args(scene.run_args(&["--set", &set, "--set", "sim.start=now"]));
    Process::start(scene.dir.path(), "daemon", command)
}

/// Pages for which the disk has no room would end the daemon by SIGBUS, without a word.
#[test]
fn a_file_for_which_the_disk_has_no_room_is_refused() {
    let _one = serial();
    let scene = Scene::in_memory();
    let Some((mounts, dir, fill)) = tiny_disk(&scene) else { return };
    mounts.shell(&fill);
    let path = dir.join("robot");
    let said = daemon_on(&scene, &mounts, &path).ends_with(2);
    let expected = format!("shared memory {}: No space left on device", path.display());
    assert!(said.contains(&expected), "{said}");
    assert!(!mounts.seen_from_outside(&path).exists(), "the next start would refuse it");
}

/// A peer cuts the file, and there is no room to make it whole until another file is removed.
#[test]
fn a_file_that_is_cut_on_a_full_disk_waits_for_room() {
    let _one = serial();
    let scene = Scene::in_memory();
    let Some((mounts, dir, fill)) = tiny_disk(&scene) else { return };
    let path = dir.join("robot");
    let mut daemon = daemon_on(&scene, &mounts, &path);
    let (observer, seen) = (Observer::of(&scene), mounts.seen_from_outside(&path));
    let bytes = wait_for("the shared memory", || Some(seen.metadata().ok()?.len()));
    let running = observer.until("it runs", |s| s.tick >= 100);
    daemon.signal(Signal::STOP);
    mounts.shell(&format!("truncate -s 0 {}; {fill}", path.display()));
    daemon.signal(Signal::CONT);
    observer.until("the robot goes on", |s| s.tick >= running.tick + 300);
    assert!(seen.metadata().unwrap().len() < bytes, "there is no room");
    mounts.shell(&format!("rm {}/fill", dir.display()));
    let _peer = Peer::of(&seen);
    daemon.signal(Signal::TERM);
    daemon.ends_well();
}

#[test]
fn the_file_is_its_owners_alone_and_belongs_to_one_daemon() {
    let _one = serial();
    let scene = Scene::in_memory();
    let (mut first, path) = daemon(&scene);
    let peer = Peer::of(&path);
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(peer.word(OPEN), 1);
    let other = Scene::in_memory();
    let set = format!("shared_memory.path={}", path.display());
    let said = other.daemon(&["--set", &set]).ends_with(2);
    assert!(said.contains("another daemon uses it"), "{said}");
    first.signal(Signal::TERM);
    first.ends_with(0);
    assert_eq!(peer.word(OPEN), 0, "a peer sees the end");
    // what a dead daemon has left makes room
    let (mut second, _) = daemon(&scene);
    Peer::of(&path).drive(&Observer::of(&scene), 10);
    second.kill();
    let (mut third, _) = daemon(&scene);
    Observer::of(&scene);
    third.signal(Signal::TERM);
    third.ends_with(0);
}

#[test]
fn a_peer_that_dies_while_it_writes_and_one_that_writes_beside_another_are_harmless() {
    let _one = serial();
    let scene = Scene::in_memory();
    let (mut daemon, path) = daemon(&scene);
    let observer = Observer::of(&scene);
    let (mut first, mut second) = (Peer::of(&path), Peer::of(&path));
    first.drive(&observer, 100);
    // dead in the middle: an odd counter, half a packet
    let half = first.command(&observer.model.hold());
    first.begin();
    first.file.write_all_at(&half[..100], first.word(3)).unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    let bad = observer.status().counter("shared_memory_packets_bad_crc");
    assert_eq!(bad, 0, "half a packet is not read");
    second.drive(&observer, 100);
    // two at once: the one whose numbers are behind is not heard
    first.sequence = 10_000;
    let hold = observer.model.hold();
    let until = |s: &StatusReading| s.counter("shared_memory_packets_stale") > 10;
    for _ in 0..50 {
        for peer in [&mut first, &mut second] {
            let packet = peer.command(&hold);
            peer.put(&packet);
            std::thread::sleep(Duration::from_millis(3));
        }
    }
    let status = observer.status_until("the second writer is counted", until);
    // torn between two writers: the CRC shows it
    let mut torn = first.command(&hold);
    torn[200] ^= 4;
    first.put(&torn);
    let bad = |s: &StatusReading| s.counter("shared_memory_packets_bad_crc") > 0;
    observer.status_until("a torn packet is counted", bad);
    assert_eq!(status.counter("shared_memory_packets_malformed"), 0);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

#[test]
fn noise_and_a_file_that_is_cut_do_not_end_the_daemon() {
    let _one = serial();
    let scene = Scene::in_memory();
    let (mut daemon, path) = daemon(&scene);
    let observer = Observer::of(&scene);
    let mut peer = Peer::of(&path);
    peer.drive(&observer, 10);
    let (place, size) = (peer.word(3), path.metadata().unwrap().len());
    let mut dice = Dice(9);
    for n in 0..1000 {
        let count = dice.roll(size) as usize;
        let noise: Vec<u8> = (0..count).map(|_| dice.roll(256) as u8).collect();
        let at = dice.roll(size - count as u64 + 1);
        peer.file.write_all_at(&noise, at).unwrap();
        // a packet that is only nearly one
        let mut packet = vec![0; (size - place) as usize];
        packet[..8].copy_from_slice(b"HSP1\x02\x00\x0c\x00");
        packet[8..12].copy_from_slice(&(dice.roll(2000) as u32).to_le_bytes());
        peer.file.write_all_at(&packet, place).unwrap();
        peer.set(COMMAND_COUNTER, 2 * (n + 5));
        if n % 100 == 7 {
            peer.set(STATE_COUNTER, u64::MAX - dice.roll(3));
        }
        if n % 50 == 0 {
            std::thread::sleep(Duration::from_millis(2));
            peer.file.set_len(dice.roll(size)).unwrap();
            wait_for("a whole file", || (path.metadata().ok()?.len() == size).then_some(()));
        }
    }
    peer.file.set_len(0).unwrap();
    // all of it is there again: a new peer finds its way
    wait_for("a whole file", || (path.metadata().ok()?.len() == size).then_some(()));
    std::thread::sleep(Duration::from_millis(1100));
    Peer::of(&path).drive(&observer, 100);
    let status = observer.status();
    assert!(status.counter("shared_memory_packets_malformed") > 0);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

#[test]
fn the_example_in_c_leaves_the_robot_to_one_peer_even_if_it_is_killed() {
    let _one = serial();
    let scene = Scene::in_memory();
    let (program, source) = (scene.path("hold"), repository("examples/ports/hold.c"));
    let built = Command::new("cc").args(["-O2", &source, "-o"]).arg(&program).status();
    if built.is_err() {
        println!("SKIPPED: no C compiler");
        return;
    }
    assert!(built.unwrap().success());
    let (mut daemon, path) = daemon(&scene);
    let observer = Observer::of(&scene);
    let peer = |name: &str, states: &str| {
        let mut command = Command::new(&program);
        command.arg(&path).arg(states);
        Process::start(scene.dir.path(), name, command)
    };
    let mut first = peer("first", "1000000");
    observer.status_until("commands", |s| s.counter("shared_memory_commands") > 100);
    let said = peer("second", "100").ends_with(5);
    assert!(said.contains("another peer has it"), "{said}");
    first.kill();
    peer("third", "100").ends_with(0);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}
