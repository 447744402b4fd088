//! Runs a stretch of a log again and compares every digest.

use crate::limits::FIRST_RUN_ID;
use crate::simulation::{Simulation, Snapshot, input_of};
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_log::{LogRecord, TickId};
use hardstand_physics::plant::Walk as _;
use hardstand_protocol::StateReading;
use hardstand_protocol::{Keyframe, LogTick};

use super::batches::{Batch, Then};
use super::compare::first_difference;
use super::{Difference, Look, ReplayReport, TickView};

/// Runs one stretch of a log again, from its first record to the first difference.
#[derive(Clone)]
pub(super) struct Replayer<'a> {
    simulation: Simulation,
    snapshot: Snapshot,
    /// Contacts and gains are filled in, too.
    whole: bool,
    look: Option<Look<'a>>,
    /// What was applied in the last tick, for an observer.
    applied: Option<Box<LogTick>>,
    /// The last tick's digest differs, and its state record has not named a quantity yet.
    unnamed: bool,
    report: ReplayReport,
    /// All of the stretch has been run.
    complete: bool,
}

impl<'a> Replayer<'a> {
    /// A stretch that begins with the log. `look` sees every tick that is as in the log, and ends
    /// the stretch when it returns true.
    pub(super) fn new(simulation: Simulation, look: Option<Look<'a>>) -> Self {
        Self {
            snapshot: simulation.new_snapshot(),
            simulation,
            whole: look.is_some(),
            look,
            applied: None,
            unnamed: false,
            report: ReplayReport::default(),
            complete: false,
        }
    }

    /// The same for a caller that reads the [`snapshot`](Self::snapshot) after each tick.
    pub(super) fn whole(simulation: Simulation) -> Self {
        Self { whole: true, ..Self::new(simulation, None) }
    }

    /// The plant after the last tick.
    pub(super) const fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// Everything that it showed then.
    pub(super) const fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Begins another stretch, at a keyframe within the log.
    ///
    /// # Errors
    /// [`ErrorKind::Log`] if the keyframe does not fit the plant.
    pub(super) fn begin_at(&mut self, keyframe: &Keyframe) -> Result<()> {
        self.simulation.restore(&keyframe.words)?;
        self.report = ReplayReport::default();
        (self.unnamed, self.complete) = (false, false);
        Ok(())
    }

    /// What has been found so far.
    pub(super) const fn report(&self) -> &ReplayReport {
        &self.report
    }

    /// True at the end of the stretch, at a difference, or when the observer has found its tick.
    pub(super) const fn is_over(&self) -> bool {
        self.complete || self.report.is_settled()
    }

    /// Runs a part of the stretch, up to the first difference.
    ///
    /// # Errors
    /// [`ErrorKind::Log`] if a keyframe does not fit the plant.
    pub(super) fn feed(&mut self, batch: &Batch) -> Result<()> {
        for record in &batch.records {
            self.take(record)?;
            if self.report.is_settled() {
                return Ok(());
            }
        }
        match &batch.then {
            Then::More => return Ok(()),
            Then::Border(keyframe) => self.keyframe(keyframe)?,
            Then::End { damage, next_segment } => {
                self.report.damage.clone_from(damage);
                self.report.next_segment.clone_from(next_segment);
            }
        }
        self.name_difference();
        self.complete = true;
        Ok(())
    }

    /// Runs a single record.
    ///
    /// # Errors
    /// [`ErrorKind::Log`] if a keyframe does not fit the plant.
    pub(super) fn take(&mut self, record: &LogRecord) -> Result<()> {
        match record {
            LogRecord::Keyframe(keyframe) => self.keyframe(keyframe)?,
            LogRecord::Tick(tick) => {
                self.name_difference();
                if self.report.difference.is_none() {
                    self.tick(tick);
                }
            }
            LogRecord::State(state) => self.state(state),
        }
        Ok(())
    }

    /// The first keyframe of a log that begins later, or with another run, is where the replay
    /// begins; every other one must equal the state of the replay.
    fn keyframe(&mut self, keyframe: &Keyframe) -> Result<()> {
        let elsewhere =
            keyframe.run_id > FIRST_RUN_ID || keyframe.tick != self.simulation.state().tick;
        if self.report.ticks == 0 && elsewhere {
            self.simulation.restore(&keyframe.words)?;
            if self.simulation.state().tick != keyframe.tick {
                return Err(Error::new(
                    ErrorKind::Log,
                    format!("the keyframe of tick {} holds another tick", keyframe.tick),
                ));
            }
            return Ok(());
        }
        let here = self.simulation.snapshot_words();
        if here.len() != keyframe.words.len() {
            return self.simulation.restore(&keyframe.words); // its error names both sizes
        }
        let found = self.simulation.first_difference(&keyframe.words, &here);
        // the digest is the last word and no part of the walk
        let digests = (keyframe.words.last(), here.last());
        if found.is_some() || digests.0 != digests.1 {
            self.differs(found.unwrap_or_else(|| "digest of the keyframe".into()));
        }
        Ok(())
    }

    /// Runs one tick again.
    fn tick(&mut self, log: &LogTick) {
        if self.report.ticks == 0 {
            self.report.first_tick = log.tick;
            self.report.first_digest = self.simulation.state().digest;
        }
        if log.tick != self.simulation.state().tick {
            let here = self.simulation.state().tick;
            self.differs(format!("tick number: {} in the log, {here} in the replay", log.tick));
            return;
        }
        let outcome = self.simulation.step(&input_of(log));
        self.report.ticks += 1;
        self.report.digest = self.simulation.state().digest;
        for (i, candidate) in log.candidates.iter().enumerate() {
            if outcome.verdicts.get(i) != Some(&candidate.verdict) {
                self.differs(format!(
                    "verdict on command {} of session {:016x}: {:?} in the log, {:?} in the replay",
                    candidate.seq,
                    candidate.session,
                    candidate.verdict,
                    outcome.verdicts.get(i)
                ));
                return;
            }
        }
        if outcome.failure != log.failure {
            let failures =
                format!("{:?} in the log, {:?} in the replay", log.failure, outcome.failure);
            self.differs(format!("plant failure: {failures}"));
        } else if self.simulation.state().digest == log.digest {
            self.report.equal += 1;
        } else {
            self.unnamed = true; // the state record that follows names the quantity
        }
        if self.whole {
            self.simulation.fill(&mut self.snapshot);
        } else {
            self.simulation.fill_state(&mut self.snapshot.state);
        }
        self.applied = self.look.map(|_| Box::new(log.clone()));
    }

    /// The state after the tick: its digest is the verdict, its fields name the difference.
    fn state(&mut self, log: &StateReading) {
        let here = &mut self.snapshot.state;
        // how the run was paced, and what was before it, is the log's own affair
        (here.run_id, here.mode, here.phase) = (log.run_id, log.mode, log.phase);
        here.time_ns = log.time_ns;
        if here == log {
            if !self.unnamed {
                self.look();
            }
            return;
        }
        let named = first_difference(log, here).unwrap_or_else(|| {
            "state record (a field without influence on the digest), or digest".into()
        });
        self.differs(named);
    }

    /// Shows the tick to the observer.
    fn look(&mut self) {
        let (Some(look), Some(applied)) = (self.look, self.applied.take()) else { return };
        let Snapshot { state, contacts, bodies, drives, sensors, references, .. } = &self.snapshot;
        let (command, leases) = (self.simulation.command(), self.simulation.leases());
        let (contacts, bodies) = (Some(contacts), Some(bodies));
        let (drives, sensors) = (Some(drives), Some(sensors));
        let applied = &*applied;
        let view = TickView {
            applied,
            state,
            contacts,
            bodies,
            drives,
            sensors,
            references,
            command,
            leases,
        };
        if look(&view) {
            self.report.seen = Some(TickId { run_id: applied.run_id, tick: state.tick });
        }
    }

    /// A digest that differed without any published quantity.
    fn name_difference(&mut self) {
        if std::mem::take(&mut self.unnamed) {
            self.differs(
                "digest (contact memory, watchdog or command; no published quantity differs yet)"
                    .into(),
            );
        }
    }

    fn differs(&mut self, quantity: String) {
        let tick = self.simulation.state().tick;
        self.report.difference.get_or_insert(Difference { tick, quantity });
    }
}
