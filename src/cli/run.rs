//! `hardstand run`.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::Serialize;

use crate::config::{Mode, Pace, Scenario};
use crate::daemon::{
    self, Begin, EndReport, ErrorReport, Happening, Host, Report, ReportFile, SecondReport, Stall,
    Summary,
};
#[cfg(feature = "view")]
use crate::process_harness::Process;
use crate::replay::read_state;
use crate::rt::{Ending, Phase};
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::Authority;
use hardstand_protocol::SavedState;

use super::arguments::{ModeArgument, PaceArgument, RunArguments};
use super::{ExitCode, output_file, progress, show, stop_daemon_on_signal};

pub(super) fn run(a: &RunArguments) -> Result<ExitCode> {
    run_in(a, None, &stop_daemon_on_signal()?)
}

/// The same in a process that may go on to other runs, until `stop` is set.
pub(super) fn run_in(
    a: &RunArguments,
    worker: Option<&Host>,
    stop: &Arc<AtomicBool>,
) -> Result<ExitCode> {
    // before the report, which may not be the file of its log
    let scenario = Scenario::load(&a.scenario, &sets(a));
    let report = open_report(a, scenario.as_ref().ok())?;
    let mut lines = Lines { json: a.json, report, failed: None };
    let summary = scenario.and_then(|scenario| simulate(a, &scenario, worker, stop, &mut lines));
    lines.write(&match &summary {
        Ok(summary) => Report::Ended(EndReport::from(summary)),
        Err(e) => Report::Error(ErrorReport::from(e)),
    });
    let code = code_of(&summary?);
    lines.failed.map_or(Ok(code), Err)
}

/// Opens the file of `--report`. It is emptied, so it must be none that this run reads or writes.
fn open_report(a: &RunArguments, scenario: Option<&Scenario>) -> Result<Option<ReportFile>> {
    let Some(file) = &a.report else { return Ok(None) };
    let inputs = scenario.iter().flat_map(|s| &s.files).chain(&a.from);
    output_file::check("--report", file, inputs.map(PathBuf::as_path))?;
    let log = a.log.clone().or_else(|| scenario.and_then(|s| s.record.path()));
    let check = || log.as_deref().map_or(Ok(()), |log| refuse_log(file, log));
    check()?;
    let report = ReportFile::create(file)?;
    // now that it is there: two names of one new file
    check()?;
    Ok(Some(report))
}

fn refuse_log(report: &Path, log: &Path) -> Result<()> {
    if !output_file::is_same(report, log) {
        return Ok(());
    }
    let (report, log) = (report.display(), log.display());
    let text = format!("--report is {report}, to which the log {log} goes; choose another name");
    Err(Error::new(ErrorKind::Input, text))
}

/// Where the lines for programs go: `--json`, `--report`. One that cannot be written ends no run;
/// the first failure shows at its end.
struct Lines {
    json: bool,
    report: Option<ReportFile>,
    failed: Option<Error>,
}

impl Lines {
    fn write(&mut self, line: &Report) {
        self.print(line);
        if let Some(report) = &mut self.report {
            let written = report.write(line);
            self.note(written);
        }
    }

    /// A line for `--json` alone.
    fn print(&mut self, line: &impl Serialize) {
        if self.json {
            self.note(show::json(line));
        }
    }

    fn note(&mut self, written: Result<()>) {
        self.failed = self.failed.take().or(written.err());
    }
}

/// Runs the scenario to its end.
fn simulate(
    a: &RunArguments,
    scenario: &Scenario,
    worker: Option<&Host>,
    stop: &Arc<AtomicBool>,
    lines: &mut Lines,
) -> Result<Summary> {
    let from = a.from.as_deref().map(|file| saved(file, scenario)).transpose()?;
    if !a.json {
        show::scenario(scenario);
    }
    if let (Some(file), Some(saved), false) = (&a.from, &from, a.json) {
        show::from(file, saved, scenario.spec.period_ns);
    }
    // at free pace a bar is easier to read than a line a second
    let shows_bar = scenario.pace == Pace::Free && std::io::stderr().is_terminal();
    let bar = scenario.ticks.filter(|_| shows_bar).map(|n| progress::bar(n, "simulating"));
    let (mut waited_s, mut paused) = (0_u64, false);
    let begin = from.as_ref().map_or(Begin::Afresh, Begin::Saved);
    let (host, _page) = host_and_page(a, scenario, worker)?;
    let summary =
        daemon::run(scenario, begin, a.log.clone(), &host, stop, |happening| match happening {
            Happening::Ready(ready, grants) => {
                if !a.json {
                    show::ready(scenario, grants);
                }
                lines.write(&Report::Ready(ready.clone()));
            }
            Happening::Log(text) => show::note(text),
            Happening::Stall(stall) if a.json => lines.print(&Progress::of_stall(stall)),
            Happening::ControllerLost(event) => show::note(&event.text),
            Happening::Second(second) if a.json => lines.print(&Progress::of(second)),
            Happening::Stall(stall) => show::stall(scenario, stall),
            Happening::Second(second) if second.phase == Phase::Waiting => {
                // once, and then a reminder every ten seconds
                if waited_s.is_multiple_of(10) {
                    show::waiting(scenario);
                }
                waited_s += 1;
            }
            Happening::Second(second) if second.phase == Phase::Paused => {
                if !paused {
                    show::paused(second);
                }
                paused = true;
            }
            Happening::Second(second) => {
                paused = false;
                match &bar {
                    Some(bar) => {
                        bar.set_position(second.tick);
                        bar.set_message(format!("{:.0} × real time", second.real_time_factor));
                    }
                    None => show::second(second),
                }
            }
        })?;
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    if !a.json {
        show::summary(&summary);
    }
    Ok(summary)
}

/// A line of `--json` while the daemon runs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Progress {
    /// A second of wall time has passed.
    Second {
        phase: &'static str,
        /// Ticks done in this run.
        tick: u64,
        time_s: f64,
        real_time_factor: f64,
        base_height_m: f64,
        tilt_deg: f64,
        foot_normal_sum_n: f64,
        weight_n: f64,
        /// What the drives obey.
        authority: &'static str,
        command_age_ticks: Option<u32>,
        missed_deadlines: u64,
        wakeup_p99_ns: u64,
    },
    /// Many deadlines were missed at once.
    Stall {
        /// Tick before which it happened.
        tick: u64,
        missed_deadlines: u64,
    },
}

impl Progress {
    fn of(s: &SecondReport) -> Self {
        Self::Second {
            phase: show::phase(s.phase.code()),
            tick: s.tick,
            time_s: s.time_s,
            real_time_factor: s.real_time_factor,
            base_height_m: s.base_height_m,
            tilt_deg: s.tilt_deg,
            foot_normal_sum_n: s.foot_normal_sum_n,
            weight_n: s.weight_n,
            authority: Authority::name_of(s.authority.code()),
            command_age_ticks: s.command_age_ticks,
            missed_deadlines: s.missed_deadlines,
            wakeup_p99_ns: s.wakeup_p99_ns,
        }
    }

    const fn of_stall(stall: Stall) -> Self {
        Self::Stall { tick: stall.tick, missed_deadlines: stall.missed }
    }
}

/// Whose process the daemon runs in, and the page, which is a process of its own. The robot's
/// meshes lie beside its URDF.
#[cfg(feature = "view")]
fn host_and_page(
    a: &RunArguments,
    scenario: &Scenario,
    worker: Option<&Host>,
) -> Result<(Host, Option<Process>)> {
    let folder = a.scenario.parent().unwrap_or(Path::new("."));
    let beside = |endpoint| super::view::beside(endpoint, &scenario.bus.robot, Some(folder));
    let page = a.view.then(|| beside(scenario.bus.endpoint()?)).transpose()?;
    let own = Host::Own { child: page.as_ref().map(Process::id) };
    Ok((worker.cloned().unwrap_or(own), page))
}

#[cfg(not(feature = "view"))]
fn host_and_page(
    _a: &RunArguments,
    _scenario: &Scenario,
    worker: Option<&Host>,
) -> Result<(Host, Option<()>)> {
    Ok((worker.cloned().unwrap_or(Host::Own { child: None }), None))
}

/// The state to begin in, if it is one for this scenario: before an old log is overwritten.
fn saved(file: &Path, scenario: &Scenario) -> Result<SavedState> {
    let refuse =
        |text: String| Error::new(ErrorKind::Input, format!("--from {}: {text}", file.display()));
    let saved = read_state(file)?;
    let simulation = crate::ingress::restored(&saved, scenario.simulation(), scenario.physics_hash);
    let simulation = simulation.map_err(|e| e.within(format!("--from {}", file.display())))?;
    let time_s = |ticks: u64| ticks as f64 * scenario.spec.period_ns as f64 * 1e-9;
    if let Some(end) = scenario.ticks.filter(|&end| end <= saved.tick) {
        return Err(refuse(format!(
            "the state is that after {:.3} s, and the run ends after {:.3} s in all; give a longer \
             --duration",
            time_s(saved.tick),
            time_s(end)
        )));
    }
    if let (Some(session), false) =
        (simulation.unjoined_owner(), scenario.control.mode == Mode::RealTime)
    {
        return Err(refuse(format!(
            "session {session:016x} commands the robot in it without having joined, so in \
             this mode no controller could; save a state of a run in lockstep, or use --mode \
             realtime"
        )));
    }
    Ok(saved)
}

/// The flags as keys of the scenario, so that the log has them.
fn sets(a: &RunArguments) -> Vec<String> {
    let mut sets = a.sets.clone();
    sets.extend(a.duration.map(|s| format!("sim.duration_s={s:?}")));
    sets.extend(a.speed.map(|x| format!("sim.speed={x:?}")));
    let mode = a.mode.map(|mode| match mode {
        ModeArgument::Realtime => "realtime",
        ModeArgument::Lockstep => "lockstep",
        ModeArgument::Budgeted => "budgeted",
    });
    sets.extend(mode.map(|word| format!("control.mode=\"{word}\"")));
    match a.pace {
        Some(PaceArgument::Realtime) => sets.push("sim.pace=\"realtime\"".into()),
        Some(PaceArgument::Free) => {
            sets.push("sim.pace=\"free\"".into());
            if !matches!(a.mode, Some(ModeArgument::Lockstep | ModeArgument::Budgeted)) {
                sets.push("sim.start=\"now\"".into());
            }
        }
        None => {}
    }
    sets
}

pub(super) fn code_of(summary: &Summary) -> ExitCode {
    match summary.ending {
        Ending::Done | Ending::Stopped => match summary.recorded.problem() {
            Some(_) => ExitCode::Incomplete,
            None => ExitCode::Done,
        },
        Ending::Overrun | Ending::ClockWentBack => ExitCode::Overrun,
        Ending::PlantFailure(_) => ExitCode::PlantFailure,
        Ending::ControllerTimeout(_) => ExitCode::ControllerTimeout,
    }
}
