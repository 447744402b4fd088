//! The log of ticks that are run without a daemon.

use std::path::Path;

use crate::config::Scenario;
use crate::ros2::RosChannels;
use crate::rt::{empty_log_tick, fill_log_tick};
use crate::simulation::{Outcome, Simulation, Snapshot};
use hardstand_error::Result;
use hardstand_log::{
    Disk, ReadingChannels, RunInfo, RunWriter, SideMessages, WrittenLog, new_recording_id,
};
use hardstand_protocol::{LogTick, Phase, TickInput};

/// What of a tick's record no simulation knows: run, mode, time of the state and missed deadlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Run number.
    pub run_id: u32,
    /// 0 real time, 1 lockstep, 2 budgeted.
    pub mode: u8,
    /// Simulated time of the state, ns.
    pub time_ns: u64,
    /// Deadlines that were missed.
    pub missed_deadlines: u64,
}

/// A log that grows by a tick at a time, with the channels that a daemon's has.
#[derive(Debug)]
pub struct RunLog {
    snapshot: Snapshot,
    record: LogTick,
    ros2: Option<RosChannels>,
    reading_channels: ReadingChannels,
    messages: SideMessages,
    writer: RunWriter,
    keyframe_every_ticks: u64,
    begun: bool,
    /// The tick that is being run.
    tick: u64,
}

/// What a log says about a run of this scenario.
#[must_use]
pub fn run_info(scenario: &Scenario, simulation: &Simulation, run_id: u32) -> RunInfo {
    RunInfo {
        version: env!("CARGO_PKG_VERSION").into(),
        recording_id: new_recording_id(),
        layout_hash: simulation.layout_hash(),
        physics_hash: scenario.physics_hash,
        run_id,
        period_ns: simulation.spec().period_ns,
        robot: scenario.robot_urdf.clone(),
        scenario: scenario.complete_toml.clone(),
    }
}

impl RunLog {
    /// Makes the file.
    ///
    /// # Errors
    /// As [`RunWriter::start`].
    pub fn start(
        simulation: &mut Simulation,
        scenario: &Scenario,
        info: RunInfo,
        to: &Path,
    ) -> Result<Self> {
        let (snapshot, words) = (simulation.new_snapshot(), simulation.snapshot_words().len());
        let ros2 = RosChannels::of(scenario);
        let record = empty_log_tick(simulation, &snapshot, words, ros2.is_some());
        let (disk, limits) = (Box::new(Disk::default()), scenario.record.limits);
        let mut channels = ros2.as_ref().map(RosChannels::channels).unwrap_or_default();
        let [drives, sensors] =
            [!scenario.spec.drives.is_ideal(), !scenario.spec.sensors.is_ideal()];
        let reading_channels = ReadingChannels::add(drives, sensors, &mut channels);
        let writer = RunWriter::start(disk, to.into(), info, limits, channels)?;
        Ok(Self {
            snapshot,
            record,
            ros2,
            reading_channels,
            messages: SideMessages::default(),
            writer,
            keyframe_every_ticks: scenario.record.keyframe_every_ticks.max(1),
            begun: false,
            tick: 0,
        })
    }

    /// Before a tick: its state, if one is due.
    pub fn before(&mut self, simulation: &mut Simulation) {
        self.record.keyframe.clear();
        self.tick = simulation.state().tick;
        if !self.begun || self.tick.is_multiple_of(self.keyframe_every_ticks) {
            simulation.write_words(&mut self.record.keyframe);
        }
        self.begun = true;
    }

    /// After a tick: what was applied, and the readings.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`](hardstand_error::ErrorKind::Internal) if a reading is too long for
    /// the codec.
    pub fn after(
        &mut self,
        simulation: &Simulation,
        input: &TickInput,
        outcome: &Outcome,
        stamp: Stamp,
    ) -> Result<()> {
        let record = &mut self.record;
        simulation.fill(&mut self.snapshot);
        let phase = if outcome.failure.is_some() { Phase::Failed } else { Phase::Running };
        let Snapshot { state, contacts, drives, sensors, bodies, .. } = &mut self.snapshot;
        (state.mode, state.phase) = (stamp.mode, phase.code());
        let (run_id, time_ns) = (stamp.run_id, stamp.time_ns);
        (state.run_id, state.time_ns) = (run_id, time_ns);
        (contacts.run_id, contacts.time_ns) = (run_id, time_ns);
        (bodies.run_id, bodies.time_ns) = (run_id, time_ns);
        (drives.run_id, drives.time_ns) = (run_id, time_ns);
        (sensors.run_id, sensors.time_ns) = (run_id, time_ns);
        fill_log_tick(record, self.tick, input, outcome, &self.snapshot);
        record.missed_deadlines = stamp.missed_deadlines;
        self.messages.clear();
        if let Some(ros2) = &mut self.ros2 {
            ros2.fill(record, &mut self.messages);
        }
        self.reading_channels.push(record, &mut self.messages)?;
        self.writer.write(record, &self.messages);
        Ok(())
    }

    /// Closes the file.
    #[must_use]
    pub fn finish(self) -> WrittenLog {
        self.writer.finish()
    }
}
