//! Goes through a run tick by tick, and shows each.

use std::path::{Path, PathBuf};

use crate::config::Scenario;
use crate::rt::set_points;
use crate::simulation::{Leases, Simulation};
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_log::{LogReader, LogRecord, NextSegment, RunIndex, RunInfo, TickId};
use hardstand_protocol::{JointCommand, StateReading};
use hardstand_protocol::{LogTick, SavedState};

use super::replayer::Replayer;
use super::{Difference, Gap, TickView};

/// Runs a log again, tick by tick, through all files in which the run goes on. Where the replay
/// differs from the log, the log is still read, but nothing is computed any more.
pub struct Player {
    first: PathBuf,
    info: RunInfo,
    scenario: Scenario,
    /// As new.
    simulation: Simulation,
    replayer: Replayer<'static>,
    log: LogReader,
    /// The file that is open follows another one, and has shown no tick yet.
    follows: Option<NextSegment>,
    applied: Option<Box<LogTick>>,
    state: Option<Box<StateReading>>,
    command: Vec<JointCommand>,
    /// After the tick at hand, as `command`.
    leases: Leases,
    /// Run number and tick after the last one.
    end: (u32, u64),
    digest: u64,
    digest_before: u64,
    difference: Option<Difference>,
    damage: Option<String>,
    gaps: Vec<Gap>,
}

impl std::fmt::Debug for Player {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Player").field("log", &self.log).finish_non_exhaustive()
    }
}

impl Player {
    /// A player at the beginning of the run that begins in `path`.
    ///
    /// # Errors
    /// As [`LogReader::open`] and [`Scenario::from_texts`].
    pub fn open(path: &Path) -> Result<Self> {
        let log = LogReader::open(path)?;
        let info = log.info().clone();
        let scenario = Scenario::from_texts(&info.scenario, &info.robot, &[])?;
        let simulation = scenario.simulation();
        Ok(Self {
            first: path.into(),
            info,
            scenario,
            command: simulation.command().to_vec(),
            leases: *simulation.leases(),
            replayer: Replayer::whole(simulation.clone()),
            simulation,
            log,
            follows: None,
            applied: None,
            state: None,
            end: (0, 0),
            digest: 0,
            digest_before: 0,
            difference: None,
            damage: None,
            gaps: Vec::new(),
        })
    }

    /// A player in the state number `tick` of run `run_id`, run on from the keyframe before it: the
    /// next tick to be shown is the one that begins there. `index` is that of the run.
    ///
    /// # Errors
    /// As [`open`](Self::open), [`RunIndex::before`] and [`advance`](Self::advance). If the replay
    /// differs on the way there, it ends there: [`difference`](Self::difference).
    pub fn open_before(path: &Path, index: &RunIndex, run_id: u32, tick: u64) -> Result<Self> {
        let (part, keyframe_tick) = index.before(run_id, tick)?;
        let mut player = Self::open(path)?;
        player.log = LogReader::open(&part.file)?;
        while let Some(record) = player.log.next_record() {
            if let LogRecord::Keyframe(keyframe) = record
                && keyframe.tick == keyframe_tick
            {
                player.replayer.begin_at(&keyframe)?;
                break;
            }
        }
        while player.replayer.simulation().state().tick < tick && player.difference.is_none() {
            if !player.advance()? {
                return Err(Error::new(ErrorKind::Log, format!("it ends before tick {tick}")));
            }
        }
        player.take_command();
        Ok(player)
    }

    /// [`open_before`](Self::open_before), and the tick before `tick` is the one that is shown.
    ///
    /// # Errors
    /// As there.
    pub fn open_after(path: &Path, index: &RunIndex, run_id: u32, tick: u64) -> Result<Self> {
        let text = "the state of tick 0 is before the first tick: ask for tick 1 or a later one";
        let before = tick.checked_sub(1).ok_or_else(|| Error::new(ErrorKind::Input, text))?;
        let no_state = |e: Error| e.within(format!("no state has {tick} ticks done"));
        let mut player = Self::open_before(path, index, run_id, before).map_err(no_state)?;
        if player.difference.is_none() && !player.advance()? {
            return Err(Error::new(ErrorKind::Log, format!("it ends before tick {tick}")));
        }
        Ok(player)
    }

    /// Goes on to the next tick; false at the end of the run.
    ///
    /// # Errors
    /// [`ErrorKind::Log`] if a keyframe does not fit the plant, or the chain of the log breaks.
    pub fn advance(&mut self) -> Result<bool> {
        loop {
            let Some(record) = self.log.next_record() else {
                self.refuse_break()?;
                if self.next_file() {
                    continue;
                }
                return Ok(false);
            };
            if let LogRecord::Tick(tick) = &record
                && !self.begins(tick)
            {
                return Ok(false);
            }
            if self.difference.is_none() {
                self.replayer.take(&record)?;
                self.difference.clone_from(&self.replayer.report().difference);
            }
            match record {
                LogRecord::Keyframe(_) => {}
                LogRecord::Tick(tick) => {
                    self.end = (tick.run_id, tick.tick + 1);
                    let begun = self.applied.is_none();
                    self.digest_before =
                        if begun { self.replayer.report().first_digest } else { self.digest };
                    self.digest = tick.digest;
                    self.applied = Some(tick);
                }
                LogRecord::State(state) => {
                    self.state = Some(state);
                    self.take_command();
                    return Ok(true);
                }
            }
        }
    }

    fn take_command(&mut self) {
        if self.difference.is_none() {
            let simulation = self.replayer.simulation();
            self.command.copy_from_slice(simulation.command());
            self.leases = *simulation.leases();
        } else if let Some(applied) = &self.applied {
            let spec = self.replayer.simulation().watchdog();
            applied.events.iter().for_each(|event| self.leases.apply(spec, applied.tick, event));
            for set_point in set_points(applied, &self.leases, self.command.len()) {
                self.command[set_point.joint] = set_point.command;
            }
        }
    }

    /// Looks at the first tick of a file that follows another one; false if it is not of this run.
    fn begins(&mut self, tick: &LogTick) -> bool {
        let Some(next) = self.follows.take() else { return true };
        if !next.is_reached(self.end, tick.tick) {
            self.damage = Some(next.is_of_another_run().to_string());
            return false;
        }
        if next.run_id > self.end.0 {
            return true;
        }
        if tick.tick > self.end.1 {
            self.gaps.push(Gap { from_tick: self.end.1, to_tick: tick.tick });
        } else if self.simulation().is_some_and(|p| p.state().digest != self.digest) {
            let quantity = format!("digest at the beginning of {}", self.log.path().display());
            self.difference = Some(Difference { tick: tick.tick, quantity });
        }
        true
    }

    /// A log whose chain breaks is not merely cut off: what was shown may be a part of it only.
    fn refuse_break(&self) -> Result<()> {
        match self.log.fault() {
            Some(fault) if fault.is_broken && self.log.has_chain() => Err(fault.refusal()),
            _ => Ok(()),
        }
    }

    /// Opens the file in which the run goes on, if there is one.
    fn next_file(&mut self) -> bool {
        self.damage = self.log.damage().map(String::from);
        if let Some(empty) = self.follows.take() {
            self.damage = Some(empty.is_of_another_run().to_string());
        }
        let Some(next) = self.log.next_segment().cloned().filter(|_| self.damage.is_none()) else {
            return false;
        };
        match next.open(&self.info, &self.first) {
            Ok(log) => {
                self.log = log;
                self.follows = Some(next);
                if self.difference.is_none() {
                    self.replayer = Replayer::whole(self.simulation.clone());
                }
                true
            }
            Err(e) => {
                self.damage = Some(e.to_string());
                false
            }
        }
    }

    /// The tick that was last gone to; `None` before the first.
    #[must_use]
    pub fn view(&self) -> Option<TickView<'_>> {
        let (applied, state) = (self.applied.as_ref()?, self.state.as_ref()?);
        let after = self.replayer.snapshot();
        Some(TickView {
            applied,
            state,
            contacts: self.difference.is_none().then_some(&after.contacts),
            bodies: self.difference.is_none().then_some(&after.bodies),
            drives: self.difference.is_none().then_some(&after.drives),
            sensors: self.difference.is_none().then_some(&after.sensors),
            references: &after.references,
            command: &self.command,
            leases: &self.leases,
        })
    }

    /// Where that is. After a tick in which the plant failed, the state has the number before.
    #[must_use]
    pub fn position(&self) -> Option<TickId> {
        self.applied.as_ref().map(|t| TickId { run_id: t.run_id, tick: t.tick + 1 })
    }

    /// The digest before that tick.
    #[must_use]
    pub const fn digest_before(&self) -> u64 {
        self.digest_before
    }

    /// The plant after that tick, as long as the replay is as the log.
    #[must_use]
    pub fn simulation(&self) -> Option<&Simulation> {
        self.difference.is_none().then(|| self.replayer.simulation())
    }

    /// The state after that tick, for a run to go on from; none if the replay differs before.
    #[must_use]
    pub fn saved_state(&self) -> Option<SavedState> {
        let mut simulation = self.simulation()?.clone();
        let run_id = self.position().map_or(self.info.run_id, |at| at.run_id);
        Some(crate::ingress::save(&mut simulation, self.info.physics_hash, run_id))
    }

    /// What the log says about its run.
    #[must_use]
    pub const fn info(&self) -> &RunInfo {
        &self.info
    }

    /// Its scenario.
    #[must_use]
    pub const fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Where the replay differs from the log, if it does so far.
    #[must_use]
    pub const fn difference(&self) -> Option<&Difference> {
        self.difference.as_ref()
    }

    /// Why the log ended early, if it did.
    #[must_use]
    pub fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// Ticks that were lost between the files so far.
    #[must_use]
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// Bytes read of the file at hand, and bytes in all.
    #[must_use]
    pub const fn progress(&self) -> (u64, u64) {
        self.log.progress()
    }
}
