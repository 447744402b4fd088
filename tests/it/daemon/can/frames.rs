//! Frames of masters in the words of can-utils, written from the makers' documents.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// What the shipped quadruped holds: hip, thigh, calf.
const POSTURE: [f64; 3] = [0.0, 0.8, -1.5];

/// Frames of a master without `(time) can0 ` in front.
pub struct Frames {
    /// Once, and then again and again.
    pub begin: Vec<String>,
    pub hold: Vec<String>,
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02X}").unwrap();
        text
    })
}

/// All drives of the robot: their ids and what they hold.
fn drives() -> impl Iterator<Item = (u32, f64)> {
    (1..=12).map(|id| (id, POSTURE[(id as usize - 1) % 3]))
}

/// 100 N·m/rad and 3 N·m·s/rad in MIT mode.
pub fn mit() -> Frames {
    let raw = |x: f64, from: f64, to: f64, bits: u32| {
        ((x - from) / (to - from) * f64::from((1_u32 << bits) - 1)).round() as u64
    };
    let command = |(id, q): (u32, f64)| {
        let bits = raw(q, -12.5, 12.5, 16) << 48
            | raw(0.0, -65.0, 65.0, 12) << 36
            | raw(100.0, 0.0, 500.0, 12) << 24
            | raw(3.0, 0.0, 5.0, 12) << 12
            | raw(0.0, -18.0, 18.0, 12);
        format!("{id:03X}#{bits:016X}")
    };
    let begin = drives().map(|(id, _)| format!("{id:03X}#FFFFFFFFFFFFFFFC")).collect();
    Frames { begin, hold: drives().map(command).collect() }
}

/// Position mode with a float, and the question for position, velocity and torque, in CAN FD.
pub fn moteus() -> Frames {
    let command = |(id, q): (u32, f64)| {
        let position = (q / std::f64::consts::TAU) as f32;
        format!("{:08X}##101000A0D20{}1F0150", 0x8000 | id, hex(&position.to_le_bytes()))
    };
    Frames { begin: Vec::new(), hold: drives().map(command).collect() }
}

/// Position control in closed loop, with gains of the same stiffness.
pub fn odrive() -> Frames {
    let floats = |id: u32, command: u32, values: [f32; 2]| {
        let bytes = values.map(f32::to_le_bytes).concat();
        format!("{:03X}#{}", id << 5 | command, hex(&bytes))
    };
    let setup = |(id, _): (u32, f64)| {
        [
            floats(id, 0x0f, [10.0, 1000.0]), // limits: rev/s, A
            format!("{:03X}#{}", id << 5 | 0x1a, hex(&30_f32.to_le_bytes())), // position gain
            floats(id, 0x1b, [20.0, 0.0]),    // velocity gains
            format!("{:03X}#0300000001000000", id << 5 | 0x0b), // position, passed through
        ]
    };
    // the run begins with the first one: the others follow at once
    let close = |(id, _): (u32, f64)| format!("{:03X}#08000000", id << 5 | 0x07);
    let hold = |(id, q): (u32, f64)| floats(id, 0x0c, [(q / std::f64::consts::TAU) as f32, 0.0]);
    let begin = drives().flat_map(setup).chain(drives().map(close)).collect();
    Frames { begin, hold: drives().map(hold).collect() }
}

/// A file for canplayer, with a millisecond from frame to frame.
pub fn file(interface: &str, frames: &[String]) -> String {
    let line = |(ms, frame): (usize, &String)| {
        format!("({}.{:03}000) {interface} {frame}\n", ms / 1000, ms % 1000)
    };
    frames.iter().enumerate().map(line).collect()
}

/// Frames that others than the master have sent, of all that candump has written.
pub fn answers(dump: &str, frames: &Frames) -> usize {
    let id = |frame: &str| frame.split('#').next().unwrap_or_default().to_string();
    let sent: BTreeSet<String> =
        frames.begin.iter().chain(&frames.hold).map(|frame| id(frame)).collect();
    let others = dump.lines().filter_map(|line| line.split_whitespace().nth(2));
    others.filter(|frame| !sent.contains(&id(frame))).count()
}
