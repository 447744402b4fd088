//! A run that leaves a log at a tick and goes on under other parameters.

use std::path::{Path, PathBuf};

use crate::config::Scenario;
use crate::limits::EVENTS_MAX;
use crate::simulation::{EventSchedule, Outcome, Simulation};
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_log::{RunInfo, TickId};
use hardstand_physics::plant::Walk as _;
use hardstand_protocol::{Event, PlantFailure, SavedState, TickInput, Verdict};

use super::{Player, RunLog, Stamp, TickView, run_info};
use crate::simulation::input_of;

/// Ticks between two reports of progress.
const PROGRESS_TICKS: u64 = 32;

/// Result of a fork.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Forked {
    /// Ticks that were run.
    pub ticks: u64,
    /// The files of the new log.
    pub files: Vec<PathBuf>,
    /// Set if the plant has stopped.
    pub failure: Option<PlantFailure>,
    /// Why it ended before the log's run did, if it did.
    pub cut: Option<String>,
}

/// Goes on from the state `at`, in which `player` is, under `scenario`, with the commands of the
/// log as they were applied, and records that in `to`. With `events` those of the log do not
/// happen, but these, each at its tick. It ends with the log's run, before ticks that the log has
/// lost, or with a command that the log does not have.
///
/// # Errors
/// [`ErrorKind::Input`] if `scenario` changes the layout of the state; [`ErrorKind::File`] if `to`
/// cannot be written; as [`Player::advance`].
pub fn fork(
    player: &mut Player,
    at: TickId,
    scenario: &Scenario,
    events: Option<Vec<(u64, Event)>>,
    to: &Path,
    mut progress: impl FnMut(u64),
) -> Result<Forked> {
    let simulation = simulation_in_state(player, scenario)?;
    let mut fork = Fork::start(simulation, scenario, player.info(), at.run_id, to)?;
    let mut schedule = events.map(EventSchedule::new);
    let mut forked = Forked::default();
    while forked.failure.is_none() && player.advance()? {
        let Some(log) = player.view() else { break };
        if log.applied.run_id != at.run_id {
            break; // the next run begins anew, whatever was changed in this one
        }
        let here = fork.simulation.state().tick;
        if log.applied.tick != here {
            forked.cut = Some(format!("the log has lost the ticks from {here} on"));
            break;
        }
        let mut input = input_of(log.applied);
        if let Some(schedule) = &mut schedule {
            // the sessions are those of the log
            input.events.retain(Event::is_of_leases);
            input.events.reserve(EVENTS_MAX);
            schedule.take_due(here, &mut input.events);
        }
        match fork.step(&input, &log) {
            Ok(outcome) => forked.failure = outcome.failure,
            Err(cut) => forked.cut = Some(cut),
        }
        if forked.cut.is_some() {
            break;
        }
        forked.ticks += 1;
        if forked.ticks.is_multiple_of(PROGRESS_TICKS) {
            progress(forked.ticks);
        }
    }
    if let Some(difference) = player.difference() {
        let (tick, quantity) = (difference.tick, &difference.quantity);
        // the log's own replay: what is applied is still what the log says
        forked.cut.get_or_insert(format!("the log's replay differs at tick {tick}: {quantity}"));
    }
    let stats = fork.log.finish();
    let problem = stats.problem();
    forked.files = stats.segments;
    match problem {
        Some(e) => Err(Error::new(ErrorKind::File, e)),
        None => Ok(forked),
    }
}

/// The state in which `player` is, under `scenario`, for a run of the number `run_id` with other
/// controllers: those of the log leave, and their joints keep their last set-points until other
/// controllers join.
///
/// # Errors
/// As [`fork`].
pub fn saved_state(player: &Player, scenario: &Scenario, run_id: u32) -> Result<SavedState> {
    let mut simulation = simulation_in_state(player, scenario)?;
    simulation.dismiss();
    Ok(crate::ingress::save(&mut simulation, scenario.physics_hash, run_id))
}

/// A plant of `scenario` in the state of the player's.
fn simulation_in_state(player: &Player, scenario: &Scenario) -> Result<Simulation> {
    let differs = Error::new(ErrorKind::Log, "the replay differs from the log before the fork");
    let mut from = player.simulation().ok_or(differs)?.clone();
    let mut simulation = scenario.simulation();
    if simulation.layout_hash() != from.layout_hash()
        || names_of_all_ticks(&mut simulation) != names_of_all_ticks(&mut from)
    {
        let text = "--set changes the layout of the state, so the state of the log does not fit: \
                    robot, period, joints, feet, stations, surfaces, regions and contact models \
                    must stay. Simulate the changed scenario from its beginning instead";
        return Err(Error::new(ErrorKind::Input, text));
    }
    let (old, new) = (player.scenario().simulation().snapshot_words(), simulation.snapshot_words());
    let mut words = from.snapshot_words();
    for (i, (name, _)) in simulation.word_names().into_iter().enumerate() {
        // coefficients of friction are state, for events change them; here --set does
        if COEFFICIENTS.contains(&name) && old[i] != new[i] {
            words[i] = new[i];
        }
    }
    simulation.restore(&words)?;
    Ok(simulation)
}

/// Names of the words that every tick has: the last ones are those of the points that touch.
fn names_of_all_ticks(simulation: &mut Simulation) -> Vec<(&'static str, usize)> {
    let mut names = simulation.word_names();
    names.retain(|(name, _)| !name.starts_with("touch."));
    names
}

/// What of the state comes from the scenario.
const COEFFICIENTS: [&str; 5] = [
    "contact.mu_static",
    "contact.mu_kinetic",
    "region.set",
    "region.mu_static",
    "region.mu_kinetic",
];

/// A plant that goes on, and its log. The inputs may come from anywhere.
struct Fork {
    simulation: Simulation,
    log: RunLog,
}

impl Fork {
    fn start(
        mut simulation: Simulation,
        scenario: &Scenario,
        of: &RunInfo,
        run_id: u32,
        to: &Path,
    ) -> Result<Self> {
        let info = RunInfo {
            // the robot is that of the log, whose file need not be there any more
            robot: of.robot.clone(),
            ..run_info(scenario, &simulation, run_id)
        };
        let log = RunLog::start(&mut simulation, scenario, info, to)?;
        Ok(Self { simulation, log })
    }

    /// Runs a tick with `input`. RunId, pace, published time and missed deadlines are those of the
    /// log: no clock has a part in it.
    fn step(
        &mut self,
        input: &TickInput,
        log: &TickView<'_>,
    ) -> std::result::Result<Outcome, String> {
        let tick = self.simulation.state().tick;
        self.log.before(&mut self.simulation);
        let outcome = self.simulation.step(input);
        let accepted = |verdict: &Verdict| *verdict == Verdict::Accepted;
        let now = outcome.verdicts[..outcome.candidates].iter().rposition(accepted);
        let then = log.applied.candidates.iter().rposition(|o| accepted(&o.verdict));
        if now.is_some() && now != then {
            return Err(format!(
                "in tick {tick} a command would be obeyed that was not obeyed in the log's run: \
                 its set-points are not in the log"
            ));
        }
        let stamp = Stamp {
            run_id: log.state.run_id,
            mode: log.state.mode,
            time_ns: log.state.time_ns,
            missed_deadlines: log.applied.missed_deadlines,
        };
        let written = self.log.after(&self.simulation, input, &outcome, stamp);
        written.map_err(|e| e.to_string()).map(|()| outcome)
    }
}
