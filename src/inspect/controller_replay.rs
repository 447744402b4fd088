//! A log shown to live controllers, and their answers compared with those in the log.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::replay::Player;
use crate::rt::{ControllerReplay, SetPoint, TickAnswers, set_points};
use crate::simulation::PartNames;
use crate::simulation::input_of;
use hardstand_physics::model::Model;
use hardstand_protocol::TickInput;

use super::cause::{Names, differing_field, joint_name};
use super::mismatch::Mismatch;

/// The log and the controllers may answer a state this many ticks apart: in a log of a run in real
/// time, answers may be late.
const APART_TICKS_MAX: u64 = 10_000;

/// The result of comparing answers. The set-point of one joint for one state counts as one.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// Ticks that were shown.
    pub ticks: u64,
    /// Answers that both the log and the controllers gave.
    pub compared: u64,
    /// Those of them that are equal, bit for bit.
    pub equal: u64,
    /// Answers of the log that these controllers have not given.
    pub missing: u64,
    /// Answers of these controllers that the log does not have.
    pub new: u64,
    /// The first answer that differs: the tick of the state, and the values in the log and now.
    pub first: Option<(u64, Mismatch)>,
    /// The largest difference of each number of a
    /// [`JointCommand`](hardstand_protocol::JointCommand).
    pub largest: [Largest; 5],
    /// Why the replay ended before the log did.
    pub cut: Option<String>,
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

/// A replay of the run in which `player` is, from there on, and the comparison of the answers.
/// `names` are those of controllers.
#[must_use]
pub fn replay_to_controllers(
    mut player: Player,
    names: &[String],
) -> (ControllerReplay, ReplayedAnswers) {
    let parts = PartNames::of(&player.scenario().model, &player.scenario().spec);
    let names = Names::of(names, parts);
    let comparing = Comparing { noted: BTreeMap::new(), names, answers: Answers::default() };
    let answers = ReplayedAnswers(Arc::new(Mutex::new(comparing)));
    let (shared, mut run_id) = (answers.clone(), None);
    let next_input =
        move |now: &TickAnswers<'_>| shared.lock().next_input(&mut player, &mut run_id, now);
    (ControllerReplay::new(Box::new(next_input)), answers)
}

/// The answers to a log, as they come.
#[derive(Clone, Debug)]
pub struct ReplayedAnswers(Arc<Mutex<Comparing>>);

impl ReplayedAnswers {
    /// The comparison, at the end.
    #[must_use]
    pub fn answers(&self) -> Answers {
        let mut comparing = self.lock();
        comparing.give_up_before(u64::MAX);
        comparing.answers.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Comparing> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct Comparing {
    /// By state and joint, what was answered in the log and now.
    noted: BTreeMap<(u64, usize), [Option<SetPoint>; 2]>,
    names: Names,
    answers: Answers,
}

impl Comparing {
    fn next_input(
        &mut self,
        player: &mut Player,
        run_id: &mut Option<u32>,
        now: &TickAnswers<'_>,
    ) -> Option<TickInput> {
        let (tick, model) = (now.simulation.state().tick, now.simulation.model());
        let input = match next(player, run_id, tick) {
            Ok(next) => next,
            Err(cut) => {
                self.answers.cut = Some(cut);
                None
            }
        };
        if let (Some(_), Some(view)) = (&input, player.view()) {
            let recorded = set_points(view.applied, view.leases, model.joint_count());
            self.note(1, now.answers, model);
            self.note(0, &recorded, model);
            self.answers.ticks += 1;
            self.give_up_before(tick.saturating_sub(APART_TICKS_MAX));
        }
        input
    }

    fn note(&mut self, side: usize, answers: &[SetPoint], model: &Model) {
        for answer in answers {
            let key = (answer.answers_tick, answer.joint);
            let both = self.noted.entry(key).or_default();
            if both[side].replace(*answer).is_some() {
                continue; // a state that was sent again is answered again
            }
            if let [Some(log), Some(live)] = both {
                self.answers.compare(log, live, model, &self.names);
            }
        }
    }

    /// Forgets answers to states before `tick`, and counts those without a counterpart.
    fn give_up_before(&mut self, tick: u64) {
        let kept = self.noted.split_off(&(tick, 0));
        for both in std::mem::replace(&mut self.noted, kept).into_values() {
            self.answers.missing += u64::from(both[1].is_none());
            self.answers.new += u64::from(both[0].is_none());
        }
    }
}

/// What was applied in the tick `tick`; `None` at the end of the run, or why there is no more.
fn next(
    player: &mut Player,
    run_id: &mut Option<u32>,
    tick: u64,
) -> Result<Option<TickInput>, String> {
    if !player.advance().map_err(|e| e.to_string())? {
        return Ok(None);
    }
    if let Some(d) = player.difference() {
        return Err(format!("the replay differs from the log at tick {}: {}", d.tick, d.quantity));
    }
    let Some(view) = player.view() else { return Ok(None) };
    let applied = view.applied;
    if applied.run_id != *run_id.get_or_insert(applied.run_id) {
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
        let command = format!("command.{}", joint_name(log.joint, model));
        let Some(found) = differing_field(&command, &log.command, &live.command) else {
            self.equal += 1;
            return;
        };
        let both = log.command.numbers().into_iter().zip(live.command.numbers());
        for (largest, (x, y)) in self.largest.iter_mut().zip(both) {
            let difference = (x - y).abs();
            if difference > largest.difference {
                *largest = Largest { difference, tick: log.answers_tick, joint: log.joint };
            }
        }
        let name = live.controller.and_then(|number| names.known(number));
        if self.first.as_ref().is_none_or(|(tick, _)| log.answers_tick < *tick) {
            let controller = name.map(|name| format!("controller {name}"));
            self.first = Some((log.answers_tick, found.by(controller)));
        }
    }
}
