//! Tests of drives, wires and buses against makers' documents and independent programs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panic")]
#![allow(clippy::print_stdout, reason = "what is skipped is printed")]
#![allow(missing_docs, unreachable_pub, missing_debug_implementations, reason = "tests")]

mod bits;
mod bus;
mod ethercat;
mod go_m8010;
mod hostile;
mod masters;
mod mit;
mod moteus;
mod odri;
mod odrive;
mod serial;
mod wires;

use hardstand_motors::{CanFrame, Drive, JointReading};

/// Answers of a drive to one frame.
fn ask<D: Drive + ?Sized>(
    drive: &mut D,
    now_ns: u64,
    frame: &D::Frame,
    now: &JointReading,
) -> Vec<D::Frame> {
    let mut answers = Vec::new();
    drive.on_frame(now_ns, frame, now, &mut answers);
    answers
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|n| u8::from_str_radix(&hex[n..n + 2], 16).unwrap()).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn at(q_rad: f64) -> JointReading {
    JointReading { q_rad, ..JointReading::default() }
}

/// Frame that two ids tell apart.
fn numbered(id: u32) -> CanFrame {
    CanFrame::eight(hardstand_motors::CanId::standard(id), [0x55; 8])
}
