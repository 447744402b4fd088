//! The simulation, what has been done to it, and the way back.

use hardstand::config::Scenario;
use hardstand::simulation::{PartNames, Snapshot, Solo, describe, describe_ground};
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::limits::TOUCHES_IN_VIEW_MAX;
use hardstand_protocol::{
    Event, FaultKind, Mode, ModelReply, Phase, Place, ViewReading, controller_number,
};
use hardstand_view::{Scene, Source};
use serde_json::Value;
use toml::Table;

/// Name under which `hardstand controller stand --join legs` joins.
const CONTROLLER: &str = "legs";
const RUN_ID: u32 = 1;
/// Simulated time between two kept states, ns.
const KEPT_EVERY_NS: u64 = 1_000_000_000;

/// A simulation in a page.
///
/// ```
/// # fn main() -> hardstand_error::Result<()> {
/// let scenario = include_str!("../../../config/quadruped.toml");
/// let robot = include_str!("../../../config/robots/quadruped.urdf");
/// let mut playground = hardstand_playground::Playground::new(scenario, robot, &[])?;
/// playground.order("push", &serde_json::json!({
///     "link": "trunk", "force_n": [0.0, 60.0, 0.0], "duration_s": 0.1
/// }))?;
/// playground.run_to(100)?;
/// let after = playground.digest();
/// playground.run_to(50)?;
/// playground.run_to(100)?;
/// assert_eq!(playground.digest(), after);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Playground {
    scenario: Scenario,
    /// The complete scenario, without what was done to it.
    table: Table,
    model: ModelReply,
    /// What was done, each with its tick, as in the scenario's `events` and as the tick takes it.
    done: Vec<(u64, Table, Event)>,
    solo: Solo,
    /// States to go back to, by tick; the first is the initial one.
    kept: Vec<Solo>,
    snapshot: Snapshot,
}

impl Playground {
    /// A plant in its initial state, from the texts of a scenario and a robot; `sets` are
    /// `key=value` overrides.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] with all mistakes, or if the initial state is bad.
    pub fn new(scenario: &str, robot: &str, sets: &[String]) -> Result<Self> {
        let scenario = Scenario::from_texts(scenario, robot, sets)?;
        let table = parse(&scenario.complete_toml)?;
        let simulation = scenario.simulation();
        let model = describe(&simulation, RUN_ID, scenario.gains_max, &scenario.hold_gains);
        let snapshot = simulation.new_snapshot();
        let mut solo = Solo::new(simulation, scenario.events.clone(), CONTROLLER);
        solo.set_points().copy_from_slice(&model.hold());
        let kept = vec![solo.clone()];
        let new = Self { scenario, table, model, done: Vec::new(), solo, kept, snapshot };
        new.check()?;
        Ok(new)
    }

    /// Robot, ground and faults, as the page reads them.
    #[must_use]
    pub fn scene(&self) -> Scene {
        let ground = describe_ground(&self.scenario.spec);
        Scene::new(Source::Plant, &self.model, &ground, &self.scenario.robot_urdf)
    }

    /// The state as the page reads it.
    pub fn frame(&mut self) -> Value {
        self.solo.simulation.fill(&mut self.snapshot);
        let s = &self.snapshot;
        let mut view = ViewReading {
            state: s.state.clone(),
            contacts: s.contacts.clone(),
            references: s.references.clone(),
            surfaces: s.surfaces.clone(),
            owners: s.owners.clone(),
            bodies: s.bodies.bodies.clone(),
            points: s.bodies.points.iter().take(TOUCHES_IN_VIEW_MAX).copied().collect(),
        };
        view.state.run_id = RUN_ID;
        (view.state.mode, view.state.phase) = (Mode::Lockstep.code(), Phase::Running.code());
        let name = (controller_number(CONTROLLER), CONTROLLER.to_string());
        hardstand_view::frame(&view, &self.model, &[name])
    }

    /// Ticks since the initial state.
    #[must_use]
    pub fn tick(&self) -> u64 {
        self.solo.simulation.state().tick
    }

    /// Digest of the state.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.solo.simulation.state().digest
    }

    /// Makes the state at `tick` the current one. Going back forgets what was done at that tick or
    /// later.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if the plant fails on the way; the state is then the last good one.
    pub fn run_to(&mut self, tick: u64) -> Result<()> {
        if tick < self.tick() {
            self.done.retain(|(at, ..)| *at < tick);
            self.kept.retain(|s| s.simulation.state().tick <= tick);
            if let Some(last) = self.kept.last() {
                self.solo.clone_from(last);
            }
            self.solo.plan(self.planned());
        }
        while self.tick() < tick {
            self.solo.step();
            self.check()?;
            if self.solo.simulation.time_ns().is_multiple_of(KEPT_EVERY_NS) {
                self.keep();
            }
        }
        Ok(())
    }

    /// Does something to the robot or the ground at the current tick: `push`, `friction` or
    /// `fault`, with the parameters of `hardstand ctl`. The answer is a sentence.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if it is unknown or a parameter is wrong.
    pub fn order(&mut self, order: &str, request: &Value) -> Result<String> {
        let mut event: Table = serde_json::from_value(request.clone())
            .map_err(|e| Error::new(ErrorKind::Input, format!("{order}: {e}")))?;
        match order {
            "push" | "friction" => event.insert("kind".into(), order.into()),
            "fault" => None,
            _ => {
                let text = format!(
                    "{order}: the simulation in the page takes push, friction and fault; reset \
                     it to begin again"
                );
                return Err(Error::new(ErrorKind::Input, text));
            }
        };
        check_place(&event)?;
        let tick = self.tick();
        let at_s = tick as f64 * self.scenario.spec.period_ns as f64 / 1e9;
        event.insert("at_s".into(), at_s.into());
        let text = self.text_with(Some(&event));
        let checked = Scenario::from_texts(&text, &self.scenario.robot_urdf, &[]);
        let events = checked.map_err(|e| refusal(order, &e))?.events;
        let Some(&(_, now)) = events.last().filter(|(at, _)| *at == tick) else {
            return Err(Error::new(ErrorKind::Internal, format!("{order}: no event at {tick}")));
        };
        let parts = PartNames::of(&self.scenario.model, &self.scenario.spec);
        let words = parts.words(&now, |_controller| String::new());
        self.done.push((tick, event, now));
        self.solo.plan(self.planned());
        Ok(words)
    }

    /// A scenario in which all that was done so far happens again, as TOML.
    #[must_use]
    pub fn scenario(&self) -> String {
        self.text_with(None)
    }

    /// What the scenario has planned, and what was done.
    fn planned(&self) -> Vec<(u64, Event)> {
        let done = self.done.iter().map(|&(tick, _, event)| (tick, event));
        self.scenario.events.iter().copied().chain(done).collect()
    }

    fn text_with(&self, new: Option<&Table>) -> String {
        let mut table = self.table.clone();
        let planned = table.get("events").and_then(|e| e.as_array()).cloned().unwrap_or_default();
        let done = self.done.iter().map(|(_, event, _)| event).chain(new).cloned();
        let all: Vec<toml::Value> =
            planned.into_iter().chain(done.map(toml::Value::Table)).collect();
        table.insert("events".into(), all.into());
        table.to_string()
    }

    fn keep(&mut self) {
        let last = self.kept.last().map_or(0, |s| s.simulation.state().tick);
        if last < self.tick() {
            self.kept.push(self.solo.clone());
        }
    }

    fn check(&self) -> Result<()> {
        match self.solo.simulation.failure() {
            None => Ok(()),
            Some(failure) => {
                let text = format!("tick {}: {}", self.tick(), failure.advice());
                Err(Error::new(ErrorKind::Input, text))
            }
        }
    }
}

/// Faults of the way that commands or states take need that way.
fn check_place(event: &Table) -> Result<()> {
    let kind = event.get("kind").and_then(|k| k.as_str()).unwrap_or_default();
    let row = FaultKind::TABLE.iter().find(|row| row.name == kind);
    match row {
        Some(row) if matches!(row.place, Place::Commands | Place::States) => {
            let what = if row.place == Place::States { "states" } else { "commands" };
            let text = format!("{kind}: in the page, {what} take no way that could be disturbed");
            Err(Error::new(ErrorKind::Input, text))
        }
        _ => Ok(()),
    }
}

/// The mistakes in an event, without the scenario around it.
fn refusal(order: &str, e: &Error) -> Error {
    let text = e.to_string();
    let mistakes = text.lines().filter_map(|line| line.trim().strip_prefix("- "));
    let mistakes: Vec<&str> = mistakes
        .map(|m| m.split_once("].").filter(|_| m.starts_with("events[")).map_or(m, |(_, m)| m))
        .collect();
    if mistakes.is_empty() {
        return Error::new(ErrorKind::Input, format!("{order}: {text}"));
    }
    Error::new(ErrorKind::Input, format!("{order}: {}", mistakes.join("; ")))
}

fn parse(text: &str) -> Result<Table> {
    text.parse().map_err(|e| Error::new(ErrorKind::Internal, format!("the scenario: {e}")))
}
