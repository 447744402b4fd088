//! Set-points that carry the tick which they answer, for wires that have no place for it.
//!
//! The position of the first joint lies above the posture that is held: one [`STEP_RAD`] for each
//! tick modulo [`TICKS`], and [`FIRST`] more, so that an unmarked set-point is known that a wire has
//! rounded. A step is large enough for 16 bits on the wire, and all steps move the hip by 1.5°.

use hardstand_log::{LogReader, LogRecord};
use hardstand_protocol::JointCommand;
use std::path::Path;

/// An age of so many ticks looks like 0.
const TICKS: u64 = 128;
const STEP_RAD: f64 = 2e-4;
const FIRST: u64 = 10;
/// A controller that begins is not measured.
const WARM_UP_TICKS: usize = 200;

/// Radians above the posture for an answer to the state of `tick`.
pub fn offset_rad(tick: u64) -> f64 {
    (tick % TICKS + FIRST) as f64 * STEP_RAD
}

/// What holds the robot, as an answer to the state of `tick`.
pub fn marked(hold: &[JointCommand], tick: u64) -> Vec<JointCommand> {
    let mut joints = hold.to_vec();
    joints[0].q += offset_rad(tick);
    joints
}

/// The tick modulo [`TICKS`] of a marked set-point.
fn read(offset_rad: f64) -> Option<u64> {
    let steps = (offset_rad / STEP_RAD).round();
    let marks = (FIRST as f64..(FIRST + TICKS) as f64).contains(&steps);
    marks.then(|| steps as u64 - FIRST)
}

/// The sorted ages of what was in force in each tick, from the first marked set-point, after a
/// while, to the last one.
pub fn ages(log: &Path, hold: &[JointCommand]) -> Vec<u64> {
    let mut reader = LogReader::open(log).unwrap();
    let (mut mark, mut ages, mut renewed) = (None, Vec::new(), 0);
    while let Some(record) = reader.next_record() {
        let LogRecord::Tick(tick) = record else { continue };
        let mut at = 0;
        for candidate in &tick.candidates {
            let new = tick.joints.get(at).and_then(|joint| read(joint.q - hold[0].q));
            at += candidate.size as usize;
            if new.is_some() && new != mark {
                (mark, renewed) = (new, ages.len() + 1);
            }
        }
        if let Some(mark) = mark {
            ages.push((tick.tick + TICKS - mark) % TICKS);
        }
    }
    // nobody answers any more
    ages.truncate(renewed);
    ages.drain(..WARM_UP_TICKS.min(ages.len() / 2));
    assert!(!ages.is_empty(), "no set-point carries a tick");
    ages.sort_unstable();
    ages
}
