//! A control law and its robot in one process.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::config::Scenario;
use crate::daemon::{EndKind, EndReport, ErrorReport, Report, ReportFile};
use crate::replay::{RunLog, Stamp, run_info};
use crate::rt::{Arrivals, LinkFaults, StateFaults};
use crate::simulation::{Simulation, Solo, describe};
use hardstand_controllers::{ControlLaw, Runner};
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_log::WrittenLog;
use hardstand_protocol::{CommandSchedule, Mode, ModelReply, PlantFailure};

use super::super::arguments::InProcessArguments;
use super::super::{ExitCode, progress, show, stop_on_signal};

/// Run number of the only run.
const RUN_ID: u32 = 1;
/// Ticks between two looks at signals, and reports of progress.
const TURN_TICKS: u64 = 256;

/// Runs the scenario with a law until its duration is over, the plant fails or a signal comes.
pub(super) fn run(
    a: &InProcessArguments,
    scenario: &Path,
    name: &str,
    law: impl FnOnce(&ModelReply) -> Result<Option<Box<dyn ControlLaw>>>,
) -> Result<ExitCode> {
    let mut report = a.report.as_deref().map(ReportFile::create).transpose()?;
    let ended = simulate(a, scenario, name, law);
    let line = match &ended {
        Ok(None) => return Ok(ExitCode::Done),
        Ok(Some((_, end))) => Report::Ended(end.clone()),
        Err(e) => Report::Error(ErrorReport::from(e)),
    };
    report.as_mut().map_or(Ok(()), |report| report.write(&line))?;
    if a.json {
        show::json(&line)?;
    }
    let Some((simulation, end)) = ended? else { return Ok(ExitCode::Done) };
    if !a.json {
        describe_end(&simulation, &end);
    }
    Ok(match (end.kind, &end.recording_error) {
        (EndKind::PlantFailure, _) => ExitCode::PlantFailure,
        (_, Some(_)) => ExitCode::Incomplete,
        _ => ExitCode::Done,
    })
}

/// What is left at the end, and how it came; `None` if there is no law to run.
fn simulate(
    a: &InProcessArguments,
    scenario: &Path,
    name: &str,
    law: impl FnOnce(&ModelReply) -> Result<Option<Box<dyn ControlLaw>>>,
) -> Result<Option<(Simulation, EndReport)>> {
    let stop = stop_on_signal()?;
    let mut sets = a.sets.clone();
    sets.extend(a.duration.map(|s| format!("sim.duration_s={s:?}")));
    let scenario = Scenario::load(scenario, &sets)?;
    if !scenario.buses.is_empty() {
        let text = "[[buses]] need a daemon, and a master on their wire: --in-process has neither";
        return Err(Error::new(ErrorKind::Input, text));
    }
    for warning in &scenario.warnings {
        show::note(&format!("warning: {warning}"));
    }
    let simulation = scenario.simulation();
    let model = describe(&simulation, RUN_ID, scenario.gains_max, &scenario.hold_gains);
    let Some(law) = law(&model)? else { return Ok(None) };
    let ticks = scenario.ticks.ok_or_else(|| {
        let text = "--duration is missing: without it, or sim.duration_s in the scenario, the run \
                    would never end";
        Error::new(ErrorKind::Input, text)
    })?;
    crate::rt::keep_files_private();
    let mut runner = Runner::new(law, &model);
    let mut solo = Solo::with_law(simulation, scenario.events.clone(), name, &runner)?;
    let mut log = log(a, &scenario, &mut solo)?;
    let begin = Instant::now();
    let failure = advance(&mut solo, &mut runner, &scenario, log.as_mut(), (ticks, &stop))?;
    let wall_s = begin.elapsed().as_secs_f64();
    let written = log.map(RunLog::finish);
    let robot = scenario.bus.robot.clone();
    let end = end(robot, &solo.simulation, failure, (ticks, wall_s), written);
    Ok(Some((solo.simulation, end)))
}

fn log(a: &InProcessArguments, scenario: &Scenario, solo: &mut Solo) -> Result<Option<RunLog>> {
    let Some(path) = &a.log else { return Ok(None) };
    let info = run_info(scenario, &solo.simulation, RUN_ID);
    RunLog::start(&mut solo.simulation, scenario, info, path).map(Some)
}

/// Runs until `ticks` ticks are done or `stop` is set; the plant's failure, if it failed.
fn advance(
    solo: &mut Solo,
    runner: &mut Runner,
    scenario: &Scenario,
    mut log: Option<&mut RunLog>,
    (ticks, stop): (u64, &AtomicBool),
) -> Result<Option<PlantFailure>> {
    let bar = progress::bar(ticks, "simulating");
    let mut link = LinkFaults::new(solo.simulation.model().joint_count(), scenario.gains_max);
    let mut states = States::new(solo);
    let mut failure = None;
    while failure.is_none() && solo.simulation.state().tick < ticks {
        let tick = solo.simulation.state().tick;
        if tick.is_multiple_of(TURN_TICKS) {
            bar.set_position(tick);
            if stop.load(Ordering::Relaxed) {
                break;
            }
        }
        if let Some(log) = &mut log {
            log.before(&mut solo.simulation);
        }
        let answered = states.ask(solo, runner, scenario.gains_max)?;
        let outcome = solo.step_through(answered, |simulation, input| {
            let mut kept = None;
            link.apply(simulation, input, |command| kept = Some(command));
            kept
        });
        failure = outcome.failure;
        if let Some(log) = &mut log {
            let time_ns = solo.simulation.time_ns();
            let mode = Mode::Lockstep.code();
            let stamp = Stamp { run_id: RUN_ID, mode, time_ns, missed_deadlines: 0 };
            log.after(&solo.simulation, solo.input(), &outcome, stamp)?;
        }
        solo.recycle(|candidates| {
            let mut own = None;
            link.take_back(candidates, |command| own = Some(command));
            own
        });
        states.pass(&solo.simulation);
    }
    bar.finish_and_clear();
    Ok(failure)
}

/// The states on their way to the law.
struct States {
    link: StateFaults,
    arrivals: Arrivals,
    schedule: CommandSchedule,
}

impl States {
    fn new(solo: &mut Solo) -> Self {
        let (link, schedule) = (StateFaults::new(solo.state()), solo.schedule());
        Self { link, arrivals: Arrivals::default(), schedule }
    }

    /// Lets the law answer the states of its schedule that come now; the one whose answer applies.
    fn ask(&mut self, solo: &mut Solo, law: &mut Runner, max: [f64; 2]) -> Result<Option<u64>> {
        let tick = solo.simulation.tick();
        let wanted = self.arrivals.wanted(&self.schedule, tick);
        while let Some(late) = self.link.take_late(tick) {
            if self.schedule.answers(late.tick) {
                solo.show(law, &late, wanted == Some(late.tick), max)?;
            }
            self.link.give_back(late);
        }
        if !self.link.withholds() {
            solo.ask(law, max)?;
        }
        Ok(wanted)
    }

    /// Lets faults of the link act on the state after a tick.
    fn pass(&mut self, simulation: &Simulation) {
        let tick = simulation.tick();
        let at = self.link.pass(simulation.faults(), tick, |held| simulation.fill_state(held));
        if self.link.withholds() {
            self.arrivals.note(tick, at, &[self.schedule]);
        }
    }
}

fn end(
    robot: String,
    simulation: &Simulation,
    plant_failure: Option<PlantFailure>,
    (ticks, wall_s): (u64, f64),
    written: Option<WrittenLog>,
) -> EndReport {
    let tick = simulation.state().tick;
    let kind = match plant_failure {
        Some(_) => EndKind::PlantFailure,
        None if tick < ticks => EndKind::Stopped,
        None => EndKind::DurationReached,
    };
    EndReport {
        robot,
        kind,
        missing: Vec::new(),
        rejected: Vec::new(),
        plant_failure,
        run_id: RUN_ID,
        tick,
        ticks: tick,
        time_s: simulation.time_ns() as f64 * 1e-9,
        wall_s,
        digest: format!("{:016x}", simulation.state().digest),
        recording_error: written.as_ref().and_then(WrittenLog::problem),
        log_files: written.map(|written| written.segments).unwrap_or_default(),
    }
}

fn describe_end(simulation: &Simulation, end: &EndReport) {
    let EndReport { ticks, time_s, wall_s, digest, .. } = end;
    let speed = time_s / wall_s;
    show::line(&format!(
        "ran        {ticks} ticks, {time_s:.3} s simulated in {wall_s:.3} s of wall time, \
         {speed:.0} × real time"
    ));
    show::line(&format!("ended      {end}"));
    let height_m = simulation.state().q.p_WB.z;
    let tilt_rad = hardstand_physics::math::acos_clamped(simulation.data().X_WB[0].R[(2, 2)]);
    let tilt_deg = tilt_rad.to_degrees();
    show::line(&format!("robot      height {height_m:.3} m, tilt {tilt_deg:.1}°"));
    show::line(&format!("digest     {digest}"));
    for path in &end.log_files {
        show::line(&format!("log        {}", path.display()));
    }
    if let Some(problem) = &end.recording_error {
        show::line(&format!("log        recording ended early: {problem}"));
    }
}
