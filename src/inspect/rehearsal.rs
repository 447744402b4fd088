//! A log shown to live controllers, and their answers compared with those in the log.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::model::Model;
use crate::plant::{JointCommand, TickInput};
use crate::record::{Player, input_of};
use crate::rt::{Heard, Rehearsal, SetPoint};

use super::cause::Names;

/// An answer is waited for so many ticks by the one that it is compared with: a log of a run in
/// real time may have it late.
const WAITED_FOR_TICKS: u64 = 10_000;

/// What came of comparing answers. One of a joint to a state counts as one.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// Ticks that were shown.
    pub ticks: u64,
    /// Answers of both.
    pub compared: u64,
    /// Those of them that are equal, bit for bit.
    pub equal: u64,
    /// To states that the log's controllers have answered and these have not.
    pub missing: u64,
    /// The other way round.
    pub new: u64,
    /// The first one that differs: the tick of the state, and what was said in the log and now.
    pub first: Option<(u64, String)>,
    /// The largest difference of each field: q, dq, kp, kd, `tau_ff`; 0 if there is none.
    pub largest: [Largest; 5],
    /// Why it ended before the log did.
    pub cut: Option<String>,
    /// Why the log ended early.
    pub damage: Option<String>,
}

/// The largest difference of a field.
#[derive(Clone, Copy, Debug, Default)]
pub struct Largest {
    /// The difference.
    pub difference: f64,
    /// Tick of the state that was answered.
    pub tick: u64,
    /// Index of the joint.
    pub joint: usize,
}

/// A loop shows the run in which `player` is, from there to its end; what comes of it is in the
/// second one.
#[must_use]
pub fn rehearse(mut player: Player, names: &[String]) -> (Rehearsal, Arc<Mutex<Answers>>) {
    let answers = Arc::new(Mutex::new(Answers::default()));
    let seen = Arc::clone(&answers);
    let mut comparing = Comparing { waiting: BTreeMap::new(), names: Names::of(names), seen };
    let mut epoch = None;
    let prompt = move |heard: &Heard<'_>| comparing.go_on(&mut player, &mut epoch, heard);
    (Rehearsal::new(Box::new(prompt)), answers)
}

struct Comparing {
    /// By state and joint, what the log and who is there now have answered.
    waiting: BTreeMap<(u64, usize), [Option<SetPoint>; 2]>,
    names: Names,
    seen: Arc<Mutex<Answers>>,
}

impl Comparing {
    fn go_on(
        &mut self,
        player: &mut Player,
        epoch: &mut Option<u32>,
        heard: &Heard<'_>,
    ) -> Option<TickInput> {
        let shared = Arc::clone(&self.seen);
        let mut seen = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let (tick, model) = (heard.plant.state().tick, heard.plant.model());
        let input = match next(player, epoch, tick) {
            Ok(next) => next,
            Err(cut) => {
                seen.cut = Some(cut);
                None
            }
        };
        if let (Some(_), Some(moment)) = (&input, player.moment()) {
            let recorded = moment.applied.set_points(moment.leases, model.joint_count());
            // what would apply after the end of the log is not in it
            self.note(1, heard.answers, model, &mut seen);
            self.note(0, &recorded, model, &mut seen);
            seen.ticks += 1;
        } else {
            seen.damage = player.damage().map(String::from);
        }
        let old = if input.is_some() { tick.saturating_sub(WAITED_FOR_TICKS) } else { u64::MAX };
        self.give_up_before(old, &mut seen);
        input
    }

    fn note(&mut self, side: usize, answers: &[SetPoint], model: &Model, seen: &mut Answers) {
        for answer in answers {
            let key = (answer.answers_tick, answer.joint);
            let both = self.waiting.entry(key).or_default();
            both[side] = Some(*answer);
            if let [Some(log), Some(live)] = *both {
                self.waiting.remove(&key);
                seen.compare(&log, &live, model, &self.names);
            }
        }
    }

    /// Counts what has been waited for in vain.
    fn give_up_before(&mut self, tick: u64, seen: &mut Answers) {
        let kept = self.waiting.split_off(&(tick, 0));
        for both in std::mem::replace(&mut self.waiting, kept).into_values() {
            seen.missing += u64::from(both[0].is_some());
            seen.new += u64::from(both[1].is_some());
        }
    }
}

/// What was applied in the tick `tick`; `None` at the end of the run, or why there is no more.
fn next(
    player: &mut Player,
    epoch: &mut Option<u32>,
    tick: u64,
) -> Result<Option<TickInput>, String> {
    if !player.advance().map_err(|e| e.to_string())? {
        return Ok(None);
    }
    if let Some(d) = player.difference() {
        return Err(format!("the replay differs from the log at tick {}: {}", d.tick, d.quantity));
    }
    let Some(moment) = player.moment() else { return Ok(None) };
    let applied = moment.applied;
    if applied.epoch != *epoch.get_or_insert(applied.epoch) {
        return Ok(None); // the next run begins anew
    }
    if applied.tick != tick {
        return Err(format!("the log has lost the ticks from {tick} to {}", applied.tick));
    }
    Ok(Some(input_of(applied)))
}

impl Answers {
    /// True if all answers of the log were given again, bit for bit.
    #[must_use]
    pub const fn agree(&self) -> bool {
        self.equal == self.compared && self.missing == 0
    }

    fn compare(&mut self, log: &SetPoint, live: &SetPoint, model: &Model, names: &Names) {
        self.compared += 1;
        let Some(text) = super::cause::differing_fields(&log.command, &live.command) else {
            self.equal += 1;
            return;
        };
        let (x, y) = (fields(&log.command), fields(&live.command));
        for (largest, (x, y)) in self.largest.iter_mut().zip(x.into_iter().zip(y)) {
            let difference = (x - y).abs();
            if difference > largest.difference {
                *largest = Largest { difference, tick: log.answers_tick, joint: log.joint };
            }
        }
        let joint = model.joints.get(log.joint).map_or("", |joint| &joint.name);
        let who = live.controller.and_then(|n| names.known(n));
        let who = who.map(|name| format!("controller {name}, "));
        let text = format!("{}command.{joint}.{text}", who.unwrap_or_default());
        if self.first.as_ref().is_none_or(|(tick, _)| log.answers_tick < *tick) {
            self.first = Some((log.answers_tick, text));
        }
    }
}

const fn fields(c: &JointCommand) -> [f64; 5] {
    [c.q, c.dq, c.kp, c.kd, c.tau_ff]
}
