//! What a log says was applied, as the input of a tick.

use hardstand_protocol::{CandidateRecord, Command, JointCommand, LogTick, TickInput};

use crate::limits::JOINTS_MAX;

/// The input of a tick, as it was applied. Only the commands in force need their set-points; of the
/// others no more than their size is looked at.
#[must_use]
pub fn input_of(log: &LogTick) -> TickInput {
    let mut candidates: Vec<Box<Command>> = Vec::with_capacity(log.candidates.len());
    let mut set_points = log.joints.iter().copied();
    for (i, o) in log.candidates.iter().enumerate() {
        // as long as a robot can make it, whatever the log claims
        let size = (o.size as usize).min(JOINTS_MAX + 1);
        let mut joints = vec![JointCommand::default(); size];
        if log.is_in_force(i) {
            for (joint, set_point) in joints.iter_mut().zip(&mut set_points) {
                *joint = set_point;
            }
        }
        let CandidateRecord { session, seq, answers_tick, applies_tick, .. } = *o;
        let run_id = log.run_id;
        candidates.push(Box::new(Command {
            run_id,
            session,
            seq,
            answers_tick,
            applies_tick,
            joints,
        }));
    }
    TickInput { candidates, events: log.events.clone() }
}
