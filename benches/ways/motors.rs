//! Masters of motors on two buses of the daemon: moteus over fdcanusb, MIT mode over slcan.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hardstand_client::Client;
use hardstand_protocol::{JointCommand, ModelReply};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;

use super::PATIENCE;
use super::mark::offset_rad;
use super::run::Exchange;

/// The marked drive turns so many times as often as its joint: marks are above its resolution.
const GEAR: f64 = 10.0;
/// A frame was lost: ask again.
const SILENT: Duration = Duration::from_millis(50);

/// Which frames, over which adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    Fdcanusb,
    Slcan,
}

pub const BUSES: [&str; 2] = ["front", "rear"];

/// The keys of a scenario for two buses with six drives each, at these ports.
pub fn settings(wire: Wire, ports: &[PathBuf; 2]) -> [String; 2] {
    let bus = |(n, name): (usize, &str)| {
        let legs = if n == 0 { ["FL", "FR"] } else { ["RL", "RR"] };
        let joints = legs
            .iter()
            .flat_map(|leg| ["hip", "thigh", "calf"].map(|part| format!("{leg}_{part}_joint")));
        let drive = |(i, joint): (usize, String)| {
            let motor = match wire {
                Wire::Fdcanusb => {
                    "motor = \"moteus\", kp_nm_per_rev = 628.3, \
                     kd_nm_s_per_rev = 18.8, torque_max_nm = 40.0, timeout_s = 1.0"
                }
                Wire::Slcan if n + i == 0 => "motor = \"mini-cheetah\", gear = 10.0",
                Wire::Slcan => "motor = \"mini-cheetah\"",
            };
            format!("{{ id = {}, joint = \"{joint}\", {motor} }}", i + 1)
        };
        let drives = joints.enumerate().map(drive).collect::<Vec<_>>().join(", ");
        let kind = if wire == Wire::Fdcanusb { "fdcanusb" } else { "slcan" };
        let port = ports[n].display();
        format!(
            "{{ name = \"{name}\", wire = \"{kind}\", port = \"{port}\", drives = [{drives}] }}"
        )
    };
    let buses: Vec<String> = BUSES.into_iter().enumerate().map(bus).collect();
    let names = BUSES.map(|name| format!("\"bus.{name}\"")).join(", ");
    [format!("buses=[{}]", buses.join(", ")), format!("control.controllers=[{names}]")]
}

/// A master of both buses. In each exchange every drive gets a set-point and answers with what it
/// measures; the next set-points answer that.
pub struct Master {
    wire: Wire,
    ports: [File; 2],
    hold: Vec<JointCommand>,
    tick: Tick,
    /// The newest tick when the last readings were asked for.
    asked: u64,
}

impl Master {
    pub fn of(wire: Wire, ports: &[PathBuf; 2], endpoint: &str, model: &ModelReply) -> Self {
        let ports = ports.each_ref().map(|port| open(port));
        let tick = Tick::of(endpoint, model);
        let mut master = Self { wire, ports, hold: model.hold(), tick, asked: 0 };
        if wire == Wire::Slcan {
            let enable = "FFFFFFFFFFFFFFFC";
            let enables: String = (1..=6).map(|id| format!("t{id:03X}8{enable}\r")).collect();
            (0..2).for_each(|n| master.write(n, &format!("S8\rO\r{enables}")));
            master.answers();
        }
        master
    }

    fn write(&mut self, n: usize, text: &str) {
        let (mut rest, begin) = (text.as_bytes(), Instant::now());
        while !rest.is_empty() {
            rest = &rest[self.ports[n].write(rest).unwrap_or(0)..];
            assert!(begin.elapsed() < PATIENCE, "the daemon does not read its port");
        }
    }

    /// Waits for six answers on each bus.
    fn answers(&mut self) {
        // a line of a drive: "rcv …\n", or "t…\r"
        let first = if self.wire == Wire::Fdcanusb { b'r' } else { b't' };
        let (mut heard, begin, mut buffer) = ([0; 2], Instant::now(), [0; 4096]);
        let mut at_start = [true; 2];
        while heard.iter().any(|heard| *heard < 6) && begin.elapsed() < SILENT {
            let mut waits = self.ports.each_ref().map(|port| PollFd::new(port, PollFlags::IN));
            let _looked =
                poll(&mut waits, Some(&Timespec { tv_sec: 0, tv_nsec: 1_000_000 })).is_ok();
            for (n, port) in self.ports.iter_mut().enumerate() {
                let count = port.read(&mut buffer).unwrap_or(0);
                for byte in &buffer[..count] {
                    heard[n] += usize::from(at_start[n] && *byte == first);
                    at_start[n] = matches!(byte, b'\r' | b'\n');
                }
            }
        }
    }
}

impl Exchange for Master {
    fn exchange(&mut self) {
        let (answered, now) = (self.asked, self.tick.newest.load(Ordering::Acquire));
        for n in 0..2 {
            let mut text = String::new();
            for i in 0..6 {
                let mut command = self.hold[6 * n + i];
                let marked = n + i == 0;
                command.q += if marked { offset_rad(answered) } else { 0.0 };
                let gear = if marked { GEAR } else { 1.0 };
                match self.wire {
                    Wire::Fdcanusb => moteus(i + 1, command.q, &mut text),
                    Wire::Slcan => mit(i + 1, &command, gear, &mut text),
                }
            }
            self.write(n, &text);
        }
        self.asked = now;
        self.answers();
    }
}

/// Position mode, and the question for position, velocity and torque, all as floats.
fn moteus(id: usize, q_rad: f64, text: &mut String) {
    let position = (q_rad / std::f64::consts::TAU) as f32;
    let data: String = position.to_le_bytes().map(|byte| format!("{byte:02x}")).concat();
    writeln!(text, "can send 80{id:02x} 01000a0d20{data}1f015050").unwrap();
}

/// A command in MIT mode to a drive with a gear behind it.
fn mit(id: usize, c: &JointCommand, gear: f64, text: &mut String) {
    let raw = |x: f64, from: f64, to: f64, bits: u32| {
        ((x - from) / (to - from) * f64::from((1_u32 << bits) - 1)).round() as u64
    };
    let bits = raw(c.q * gear, -12.5, 12.5, 16) << 48
        | raw(0.0, -65.0, 65.0, 12) << 36
        | raw(c.kp / (gear * gear), 0.0, 500.0, 12) << 24
        | raw(c.kd / (gear * gear), 0.0, 5.0, 12) << 12
        | raw(0.0, -18.0, 18.0, 12);
    write!(text, "t{id:03X}8{bits:016X}\r").unwrap();
}

fn open(port: &Path) -> File {
    let begin = Instant::now();
    while !port.exists() {
        assert!(begin.elapsed() < PATIENCE, "no port {}", port.display());
        std::thread::sleep(Duration::from_millis(5));
    }
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    OpenOptions::new().read(true).write(true).custom_flags(flags as i32).open(port).unwrap()
}

/// The newest tick, as a subscriber hears it.
struct Tick {
    newest: Arc<AtomicU64>,
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Tick {
    fn of(endpoint: &str, model: &ModelReply) -> Self {
        let client = Client::connect(endpoint, "quadruped").unwrap();
        let states = client.control(model).unwrap();
        let (newest, end) = (Arc::<AtomicU64>::default(), Arc::<AtomicBool>::default());
        let (tick, ended) = (Arc::clone(&newest), Arc::clone(&end));
        let thread = std::thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                if let Some(state) = states.next_state(Duration::from_millis(100)).unwrap() {
                    tick.store(state.tick, Ordering::Release);
                }
            }
            drop(client);
        });
        Self { newest, end, thread: Some(thread) }
    }
}

impl Drop for Tick {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        let _ended = self.thread.take().map(JoinHandle::join);
    }
}
