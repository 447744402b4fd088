//! A plant with one controller, without Python.

use std::path::Path;

use hardstand::config::Scenario;
use hardstand::ingress::{check_fault, check_origin, save};
use hardstand::simulation::{Simulation, Snapshot, Solo, check_set_points, describe};
use hardstand_controllers::Runner;
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{
    DriveReading, Event, FaultRequest, FaultSpec, HEADER_BYTES, JointCommand, JointReading, Kind,
    ModelReply, SavedState, decode, encode, is_controller_name,
};

/// Run number of the states.
const RUN_ID: u32 = 1;
/// Longest duration of a push or a fault, s.
const DURATION_MAX_S: f64 = 1e9;

/// Set-points of a command; `None` keeps those of the last one.
#[derive(Clone, Debug, Default)]
pub(crate) struct SetPoints {
    pub(crate) q: Option<Vec<f64>>,
    pub(crate) dq: Option<Vec<f64>>,
    pub(crate) kp: Option<Vec<f64>>,
    pub(crate) kd: Option<Vec<f64>>,
    pub(crate) tau: Option<Vec<f64>>,
}

/// A plant with one controller.
#[derive(Clone, Debug)]
pub(crate) struct Core {
    solo: Solo,
    model: ModelReply,
    gains_max: [f64; 2],
    physics_hash: u64,
    controller: String,
    snapshot: Snapshot,
}

/// Faults of the way that states take need that way.
fn check_event(event: &Event) -> Result<()> {
    match event {
        Event::InjectFault { fault, .. } if fault.kind.is_of_states() => {
            let kind = fault.kind.name();
            let text = format!("{kind}: a Plant shows its state at once; run the case in a daemon");
            Err(Error::new(ErrorKind::Input, text))
        }
        _ => Ok(()),
    }
}

/// The numbers of a fault in the order of its parameters, from those that are given by name.
fn values(
    row: &FaultSpec,
    numbers: &[(String, Vec<f64>)],
) -> std::result::Result<Vec<f64>, String> {
    let known = |name: &str| row.parameters.iter().any(|p| p.name == name);
    if let Some((name, _)) = numbers.iter().find(|(name, _)| !known(name)) {
        return Err(format!("{name} is no parameter of it"));
    }
    let mut values = Vec::new();
    for p in row.parameters {
        let given = numbers.iter().find(|(name, _)| name == p.name).map(|(_, n)| n);
        match (given, p.default) {
            (Some(n), _) if n.len() == p.count => values.extend(n),
            (Some(n), _) => {
                return Err(format!("{} has {} numbers; it needs {}", p.name, n.len(), p.count));
            }
            (None, Some(default)) => values.extend(vec![default; p.count]),
            (None, None) => return Err(format!("{} is missing", p.name)),
        }
    }
    Ok(values)
}

impl Core {
    /// Of a scenario file, with `key=value` overrides; commands are given by `controller`.
    pub(crate) fn load(path: &Path, sets: &[String], controller: &str) -> Result<Self> {
        if !is_controller_name(controller) {
            let allowed = "1 to 64 letters, digits, \"-\", \"_\" or \".\"";
            let text = format!("controller is {controller:?}; it must be {allowed}");
            return Err(Error::new(ErrorKind::Input, text));
        }
        let scenario = Scenario::load(path, sets)?;
        scenario.events.iter().try_for_each(|(_, event)| check_event(event))?;
        let simulation = scenario.simulation();
        let snapshot = simulation.new_snapshot();
        let (gains_max, physics_hash) = (scenario.gains_max, scenario.physics_hash);
        let model = describe(&simulation, RUN_ID, gains_max, &scenario.hold_gains);
        let solo = Solo::new(simulation, scenario.events, controller);
        let controller = controller.to_owned();
        let core = Self { solo, model, gains_max, physics_hash, controller, snapshot };
        core.check()?;
        Ok(core)
    }

    pub(crate) const fn simulation(&self) -> &Simulation {
        &self.solo.simulation
    }

    /// Number of joints.
    pub(crate) fn joints(&self) -> usize {
        self.simulation().model().joint_count()
    }

    /// Set-points of all joints from the next tick on. A controller that has others joins again.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if one is not finite or out of range; the old ones stay.
    pub(crate) fn command(&mut self, new: &SetPoints) -> Result<()> {
        let mut joints = self.solo.set_points_by_joint();
        let mut fill = |from: &Option<Vec<f64>>, slot: fn(&mut JointCommand) -> &mut f64| {
            for (joint, value) in joints.iter_mut().zip(from.iter().flatten()) {
                *slot(joint) = *value;
            }
        };
        fill(&new.q, |j| &mut j.q);
        fill(&new.dq, |j| &mut j.dq);
        fill(&new.kp, |j| &mut j.kp);
        fill(&new.kd, |j| &mut j.kd);
        fill(&new.tau, |j| &mut j.tau_ff);
        check_set_points(self.simulation().model(), &joints, self.gains_max)
            .map_err(|e| e.within("command"))?;
        self.solo.join_all();
        self.solo.set_points().clone_from_slice(&joints);
        Ok(())
    }

    /// Advances by `ticks`.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if the plant fails; the state is then the last good one.
    pub(crate) fn run(&mut self, ticks: u64) -> Result<()> {
        for _ in 0..ticks {
            self.solo.step();
            self.check()?;
        }
        Ok(())
    }

    /// Advances by `ticks`, commanded by a control law, which joins as the controller.
    ///
    /// # Errors
    /// As [`Solo::join`] and [`Solo::answer`]; [`ErrorKind::Input`] if the plant fails.
    pub(crate) fn run_law(&mut self, law: &mut Runner, ticks: u64) -> Result<()> {
        self.solo.join(law)?;
        for _ in 0..ticks {
            self.solo.answer(law, self.gains_max)?;
            self.check()?;
        }
        Ok(())
    }

    /// The messages `model` and `state` of a daemon in lockstep.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] if they cannot be encoded.
    pub(crate) fn messages(&mut self) -> Result<[Vec<u8>; 2]> {
        let [mut model, mut state] = [Vec::new(), Vec::new()];
        encode(Kind::Model, &self.model, &mut model)?;
        encode(Kind::State, self.solo.state(), &mut state)?;
        Ok([model, state])
    }

    /// True once the physics has failed: no tick follows.
    pub(crate) fn has_failed(&self) -> bool {
        self.simulation().failure().is_some()
    }

    fn check(&self) -> Result<()> {
        self.simulation().failure().map_or(Ok(()), |failure| {
            let tick = self.simulation().state().tick;
            Err(Error::new(ErrorKind::Input, format!("tick {tick}: {}", failure.advice())))
        })
    }

    /// A fault at the next tick: `numbers` by the names of its parameters, `part` the word and the
    /// name of what it affects.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if it is unknown, or a number is missing, unknown or out of range;
    /// nothing happens then.
    pub(crate) fn fault(
        &mut self,
        kind: &str,
        part: Option<(&str, &str)>,
        duration_s: Option<f64>,
        numbers: &[(String, Vec<f64>)],
    ) -> Result<()> {
        let refuse = |text: String| Error::new(ErrorKind::Input, format!("{kind}: {text}"));
        let row = FaultSpec::named(kind).ok_or_else(|| refuse("no fault of this kind".into()))?;
        let values = values(row, numbers).map_err(refuse)?;
        let ticks = match duration_s {
            Some(s) => self.ticks(s).map_err(refuse)?,
            None => 0,
        };
        let (part, name) = part.unwrap_or_default();
        let (kind, part, name) = (kind.to_owned(), part.to_owned(), name.to_owned());
        let mut body = Vec::new();
        encode(Kind::Fault, &FaultRequest { kind, part, name, values, ticks }, &mut body)?;
        let (model, spec) = (self.simulation().model(), self.simulation().spec());
        let event = check_fault(body.get(HEADER_BYTES..).unwrap_or_default(), model, spec)
            .map_err(|refusal| refuse(refusal.text))?;
        check_event(&event)?;
        self.solo.add(event);
        Ok(())
    }

    /// Ticks of a duration, at least one.
    fn ticks(&self, duration_s: f64) -> std::result::Result<u64, String> {
        if !(duration_s > 0.0 && duration_s < DURATION_MAX_S) {
            return Err(format!(
                "duration is {duration_s} s; it must be more than 0 and below {DURATION_MAX_S:e}"
            ));
        }
        let ticks = duration_s * 1e9 / self.simulation().spec().period_ns as f64;
        Ok((ticks.round() as u64).max(1))
    }

    /// The complete state, as a daemon saves it.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] if it cannot be encoded.
    pub(crate) fn save(&mut self) -> Result<Vec<u8>> {
        let saved = save(&mut self.solo.simulation, self.physics_hash, RUN_ID);
        let saved = SavedState { controllers: vec![self.controller.clone()], ..saved }.summed();
        let mut bytes = Vec::new();
        encode(Kind::SavedState, &saved, &mut bytes)?;
        Ok(bytes)
    }

    /// Goes on from a saved state of a plant or a daemon, or from its words alone.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if it is another robot's or scenario's, or damaged.
    pub(crate) fn restore(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.starts_with(b"HS") {
            let saved: SavedState = decode(Kind::SavedState, bytes)?;
            check_origin(&saved, self.simulation().layout_hash(), self.physics_hash)?;
            return self.solo.restore(&saved.words);
        }
        let (words, rest) = bytes.as_chunks::<8>();
        if !rest.is_empty() {
            let text = format!("a snapshot has a multiple of 8 bytes, not {}", bytes.len());
            return Err(Error::new(ErrorKind::Input, text));
        }
        let words: Vec<u64> = words.iter().map(|w| u64::from_le_bytes(*w)).collect();
        self.solo.restore(&words)
    }

    /// A number of what each joint reports.
    pub(crate) fn reported(&self, number: fn(&JointReading) -> f64) -> Vec<f64> {
        (0..self.joints()).map(|i| number(&self.simulation().shown_joint(i))).collect()
    }

    /// What is true of each joint.
    pub(crate) fn truth(&self) -> Vec<JointReading> {
        let state = self.simulation().state();
        let motion = state.q.joints.iter().zip(&state.v.joints).zip(&state.motor);
        motion.map(|((q, dq), tau)| JointReading { q: *q, dq: *dq, tau: *tau }).collect()
    }

    /// True normal force of each foot, N.
    pub(crate) fn true_normals_n(&self) -> Vec<f64> {
        let feet = &self.simulation().spec().feet;
        feet.iter().map(|foot| self.simulation().plant().foot_normal_n(foot)).collect()
    }

    /// A number of what each drive shows; nothing if all are ideal.
    pub(crate) fn of_drives(&mut self, number: fn(&DriveReading) -> f64) -> Vec<f64> {
        self.readings().drives.joints.iter().map(number).collect()
    }

    /// What sensors, drives and contacts show.
    pub(crate) fn readings(&mut self) -> &Snapshot {
        self.solo.simulation.fill(&mut self.snapshot);
        &self.snapshot
    }
}
