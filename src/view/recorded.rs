//! A log, run again and turned into the frames, events and marks of a page.

use std::path::Path;

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_log::TickId;
use hardstand_protocol::limits::TOUCHES_IN_VIEW_MAX;
use hardstand_protocol::{Event, LogTick, Verdict, ViewReading};
use hardstand_view::{Mark, MeshFolders, RunEvent, RunFile, Scene, Source};

use crate::config::Scenario;
use crate::inspect::{Condition, Quantities, Watch, compare};
use crate::replay::{Player, TickView};
use crate::simulation::{PartNames, describe, describe_ground, moving_poses};

/// A run to be looked at.
#[derive(Debug)]
pub(super) struct Recorded {
    /// Its file.
    pub(super) run: RunFile,
    /// Frames per second of simulated time.
    pub(super) frames_per_s: f64,
    /// Why the log ended early, if it did.
    pub(super) damage: Option<String>,
}

/// Frames per simulated second of a page, if its log is not too long.
pub const FRAMES_PER_S: f64 = 60.0;
/// Frames of a page: more would be large, and slow to load.
const FRAMES_MAX: f64 = 20_000.0;
/// A rejection soon after another one has no mark of its own, s.
const MARKS_APART_S: f64 = 0.1;
/// Marks of a page.
const MARKS_MAX: usize = 2_000;

/// Runs the log again and takes up to `frames_per_s` frames of each second; of a long log fewer.
/// `other` is the log that it is laid over: the first difference is marked.
///
/// # Errors
/// As [`Player::open`] and [`Player::advance`]; [`ErrorKind::Log`] if the replay differs from the
/// log, for then contacts are unknown.
pub(super) fn recorded(
    log: &Path,
    other: Option<&Path>,
    frames_per_s: f64,
    meshes: &MeshFolders,
    conditions: &[String],
) -> Result<Recorded> {
    let index = hardstand_log::RunIndex::of(log, |_, _| ())?;
    let mut player = Player::open(log)?;
    let scenario = player.scenario().clone();
    let period_s = scenario.spec.period_ns as f64 * 1e-9;
    let duration_s = index.ticks() as f64 * period_s;
    let frames_per_s = frames_per_s.min(FRAMES_MAX / duration_s.max(period_s));
    let every = ((1.0 / (frames_per_s * period_s)).round() as u64).max(1);
    let title = log.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut run = RunFile::new(scene(&scenario, meshes), title);
    let known = Quantities::of(&scenario.simulation());
    let conditions = conditions.iter().map(|text| Watched::new(text, &known));
    let conditions = conditions.collect::<Result<Vec<_>>>()?;
    let parts = PartNames::of(&scenario.model, &scenario.spec);
    let difference = other.map_or(Ok(None), |other| first_difference(other, log))?;
    let (mut marks, mut count) = (Marks { parts, conditions, ..Marks::default() }, 0_u64);
    let mut ends_with_frame = false;
    while player.advance()? {
        let Some(view) = player.view() else { break };
        marks.add(&view, &scenario, &mut run);
        if let Some((at, text)) = &difference
            && at.run_id == view.applied.run_id
            && at.tick == view.state.tick
        {
            run.first_difference = Some((view.state.time_ns as f64 * 1e-9, text.clone()));
        }
        let is_due = count.is_multiple_of(every) || view.applied.failure.is_some();
        if is_due {
            run.push(frame(&view, &scenario)?);
        }
        ends_with_frame = is_due;
        count += 1;
    }
    if let Some(view) = player.view().filter(|_| !ends_with_frame) {
        run.push(frame(&view, &scenario)?);
    }
    if let Some(difference) = player.difference() {
        let text = format!(
            "the replay differs from the log at tick {}: {}; hardstand replay says more",
            difference.tick, difference.quantity
        );
        return Err(Error::new(ErrorKind::Log, text));
    }
    let damage = player.damage().map(String::from);
    Ok(Recorded { run, frames_per_s: 1.0 / (every as f64 * period_s), damage })
}

fn scene(scenario: &Scenario, meshes: &MeshFolders) -> Scene {
    let model = describe(&scenario.simulation(), 1, scenario.gains_max, &scenario.hold_gains);
    let urdf = meshes.inlined(&scenario.robot_urdf);
    Scene::new(Source::Log, &model, &describe_ground(&scenario.spec), &urdf)
        .named(&scenario.bus.robot)
}

fn frame(view: &TickView<'_>, scenario: &Scenario) -> Result<ViewReading> {
    let unknown = || Error::new(ErrorKind::Log, "the log's contacts cannot be computed again");
    let bodies = view.bodies.ok_or_else(unknown)?;
    let points = bodies.points.iter().take(TOUCHES_IN_VIEW_MAX);
    let time_ns = view.state.tick.wrapping_mul(scenario.spec.period_ns);
    Ok(ViewReading {
        state: view.state.clone(),
        contacts: view.contacts.ok_or_else(unknown)?.clone(),
        references: view.references.to_vec(),
        surfaces: moving_poses(&scenario.spec, time_ns).collect(),
        owners: view.leases.owners(view.state.tick, view.state.joints.len()).collect(),
        bodies: bodies.bodies.clone(),
        points: points.copied().collect(),
    })
}

/// Tick and text of the first difference between two runs.
fn first_difference(a: &Path, b: &Path) -> Result<Option<(TickId, String)>> {
    let found = compare(&mut Player::open(a)?, &mut Player::open(b)?, |_, _| ())?;
    let Some(at) = found.parted() else { return Ok(None) };
    let input = found.inputs.as_ref().filter(|(tick, _)| *tick == at);
    let mismatch = input.and_then(|(_, cause)| cause.mismatch());
    let quantity = mismatch.or_else(|| found.quantity.as_ref().map(|(_, m)| m));
    let text = quantity.map_or_else(|| "digest".into(), |m| m.quantity.clone());
    Ok(Some((at, format!("tick {}: {text}", at.tick))))
}

/// A condition, and whether it held in the tick before.
struct Watched {
    text: String,
    watch: Watch,
    held: bool,
}

impl Watched {
    fn new(text: &str, known: &Quantities) -> Result<Self> {
        Ok(Self { text: text.into(), watch: Condition::parse(text, known)?.watch(), held: false })
    }

    /// True if it begins to hold.
    fn begins(&mut self, view: &TickView<'_>) -> bool {
        let held = std::mem::replace(&mut self.held, self.watch.look(view).holds);
        self.held && !held
    }
}

/// Makes events and marks.
#[derive(Default)]
struct Marks {
    parts: PartNames,
    conditions: Vec<Watched>,
    missed_deadlines: u64,
    last_rejection_s: Option<f64>,
}

impl Marks {
    fn add(&mut self, view: &TickView<'_>, scenario: &Scenario, run: &mut RunFile) {
        let LogTick { tick, events, candidates, failure, missed_deadlines, .. } = view.applied;
        let time_s = view.state.time_ns as f64 * 1e-9;
        // events come at the begin of the tick
        let begin_s = time_s - scenario.spec.period_ns as f64 * 1e-9;
        let name = |number: u64| {
            let mut known = scenario.control.controllers.iter();
            let known = known.find(|n| hardstand_protocol::controller_number(n) == number);
            known.cloned().unwrap_or_else(|| format!("{number:016x}"))
        };
        for event in events {
            let controller = match event {
                Event::Grant(grant) => name(grant.controller),
                Event::Leave { session } => name(*session),
                _ => String::new(),
            };
            let (kind, text) = (event.name().to_string(), self.parts.words(event, name));
            if !matches!(event, Event::Grant(_) | Event::Leave { .. }) {
                mark(run, begin_s, "fault", &text);
                tally(run, "faults_and_pushes", 1);
            }
            run.events.push(RunEvent { tick: *tick, time_s: begin_s, kind, controller, text });
        }
        let mut rejected = None;
        for candidate in candidates {
            match candidate.verdict {
                Verdict::Rejected(reason) => {
                    tally(run, &format!("rejected_{}", reason.name()), 1);
                    rejected = rejected.or(Some(reason));
                }
                _ => tally(run, "commands_accepted", 1),
            }
        }
        if let Some(reason) = rejected
            && self.last_rejection_s.is_none_or(|last| time_s - last > MARKS_APART_S)
        {
            mark(run, time_s, "rejection", &format!("a command was rejected: {}", reason.name()));
            self.last_rejection_s = Some(time_s);
        }
        for watched in &mut self.conditions {
            if watched.begins(view) {
                mark(run, time_s, "condition", &watched.text);
                tally(run, "condition_hits", 1);
            }
        }
        if *missed_deadlines > self.missed_deadlines {
            let missed = missed_deadlines - self.missed_deadlines;
            mark(run, time_s, "deadline", &format!("{missed} deadlines missed"));
            tally(run, "missed_deadlines", missed);
        }
        self.missed_deadlines = *missed_deadlines;
        if let Some(failure) = failure {
            mark(run, time_s, "failure", failure.advice());
            tally(run, "plant_failures", 1);
        }
    }
}

fn tally(run: &mut RunFile, name: &str, more: u64) {
    *run.counts.entry(name.into()).or_default() += more;
}

fn mark(run: &mut RunFile, time_s: f64, kind: &'static str, text: &str) {
    if run.marks.len() < MARKS_MAX {
        run.marks.push(Mark { time_s, kind, text: text.into() });
    }
}
