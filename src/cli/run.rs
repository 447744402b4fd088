//! `hardstand run`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::{Mode, Scenario};
use crate::daemon::{
    self, Begin, EndReport, ErrorReport, Host, Report, ReportFile, Summary, file_of,
};
#[cfg(feature = "view")]
use crate::process_harness::Process;
use crate::replay::read_state;
use crate::rt::Ending;
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::SavedState;

use super::arguments::{ModeArgument, PaceArgument, RunArguments};
use super::run_watch::{Lines, Watch};
use super::{DaemonStop, ExitCode, output_file, show};

pub(super) fn run(a: &RunArguments) -> Result<ExitCode> {
    run_in(a, None, &DaemonStop::on_signal()?)
}

/// The same in a process that may go on to other runs, until `stop` is asked.
pub(super) fn run_in(
    a: &RunArguments,
    worker: Option<&Host>,
    stop: &DaemonStop,
) -> Result<ExitCode> {
    // before the report, which may not be the file of its log
    let robots = Scenario::load_all(&a.scenario, &sets(a));
    let report = open_report(a, robots.as_deref().unwrap_or_default())?;
    let mut lines = Lines::new(a.json, report);
    let summaries = robots.and_then(|robots| simulate(a, robots, worker, stop, &mut lines));
    match &summaries {
        Ok(all) => all.iter().for_each(|s| lines.write(&Report::Ended(EndReport::from(s)))),
        Err(e) => lines.write(&Report::Error(ErrorReport::from(e))),
    }
    let mut codes = summaries?.iter().map(code_of).collect::<Vec<_>>().into_iter();
    let code = codes.find(|code| *code != ExitCode::Done).unwrap_or(ExitCode::Done);
    lines.end().map(|()| code)
}

/// Opens the file of `--report`. It is emptied, so it must be none that this run reads or writes.
fn open_report(a: &RunArguments, robots: &[Scenario]) -> Result<Option<ReportFile>> {
    let Some(file) = &a.report else { return Ok(None) };
    let inputs = robots.iter().flat_map(|s| &s.files).chain(&a.from);
    output_file::check("--report", file, inputs.map(PathBuf::as_path))?;
    let logs: Vec<PathBuf> = match robots {
        [] => a.log.clone().into_iter().collect(),
        robots => robots.iter().filter_map(|robot| log_of(a, robot)).collect(),
    };
    let check = || logs.iter().try_for_each(|log| refuse_log(file, log));
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

/// Refuses a log where the shared memory of the robot is to be.
fn refuse_memory(log: Option<PathBuf>, robot: &Scenario) -> Result<()> {
    let Some((log, memory)) = log.zip(robot.ports.shared_memory.as_ref()) else { return Ok(()) };
    if log != memory.path && !output_file::is_same(&log, &memory.path) {
        return Ok(());
    }
    let text = format!(
        "--log or record.file is {}, which is also shared_memory.path; choose another name for one \
         of them",
        log.display()
    );
    Err(Error::new(ErrorKind::Input, text))
}

/// The log of a robot: of several, each has its name in it, as `run-left.mcap`.
fn log_of(a: &RunArguments, robot: &Scenario) -> Option<PathBuf> {
    let log = a.log.clone().or_else(|| robot.record.path())?;
    Some(file_of(&log, &robot.bus.robot, robot.bus.robots.len()))
}

/// Runs the robots to their ends.
fn simulate(
    a: &RunArguments,
    robots: Vec<Scenario>,
    worker: Option<&Host>,
    stop: &DaemonStop,
    lines: &mut Lines,
) -> Result<Vec<Summary>> {
    robots.iter().try_for_each(|robot| refuse_memory(log_of(a, robot), robot))?;
    let summaries = match robots.as_slice() {
        [scenario] => vec![simulate_one(a, scenario, worker, stop, lines)?],
        _ => simulate_several(a, robots, worker, stop, lines)?,
    };
    if !a.json {
        for summary in &summaries {
            if summaries.len() > 1 {
                show::end_of(summary);
            }
            show::summary(summary);
        }
    }
    Ok(summaries)
}

fn simulate_several(
    a: &RunArguments,
    robots: Vec<Scenario>,
    worker: Option<&Host>,
    stop: &DaemonStop,
    lines: &mut Lines,
) -> Result<Vec<Summary>> {
    refuse_for_several(a, worker)?;
    let (host, _page) = host_and_page(a, &robots[0], None)?;
    let logs: Vec<_> = robots.iter().map(|robot| log_of(a, robot)).collect();
    let all: Arc<[_]> = robots.into_iter().zip(logs).collect();
    if !a.json {
        all.iter().for_each(|(robot, _)| show::scenario(robot));
    }
    let mut watches: Vec<Watch<'_>> = all.iter().map(|(robot, _)| Watch::new(robot)).collect();
    let robots = Arc::clone(&all);
    daemon::run_all(robots, &host, stop.asked(), |k, happening| {
        stop.see(&happening);
        watches[k].see(&happening, lines);
    })
}

/// Refuses `what`, with its verb, which only a robot alone can do.
pub(super) fn for_one_robot(what: &str) -> Error {
    let text = format!("{what} for one robot; the scenario has several [[robots]]");
    Error::new(ErrorKind::Input, text)
}

/// # Errors
/// [`ErrorKind::Input`] for what only a robot alone can do.
fn refuse_for_several(a: &RunArguments, worker: Option<&Host>) -> Result<()> {
    if let Some(folder) = a.log.as_deref().filter(|log| log.is_dir()) {
        let text =
            format!("--log is {}, a folder; it must be the name of a file", folder.display());
        return Err(Error::new(ErrorKind::Input, text));
    }
    let alone = [("--from", a.from.is_some()), ("worker", worker.is_some())];
    match alone.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((what, _)) => Err(for_one_robot(&format!("{what} is"))),
    }
}

/// Runs the scenario to its end.
fn simulate_one(
    a: &RunArguments,
    scenario: &Scenario,
    worker: Option<&Host>,
    stop: &DaemonStop,
    lines: &mut Lines,
) -> Result<Summary> {
    let from = a.from.as_deref().map(|file| saved(file, scenario)).transpose()?;
    if !a.json {
        show::scenario(scenario);
    }
    if let (Some(file), Some(saved), false) = (&a.from, &from, a.json) {
        show::from(file, saved, scenario.spec.period_ns);
    }
    let begin = from.as_ref().map_or(Begin::Afresh, Begin::Saved);
    let (host, _page) = host_and_page(a, scenario, worker)?;
    let mut watch = Watch::new(scenario);
    daemon::run(scenario, begin, a.log.clone(), &host, stop.asked(), |happening| {
        stop.see(&happening);
        watch.see(&happening, lines);
    })
}

/// Whose process the daemon runs in, and the page, which is a process of its own: that of this
/// robot, with all others of the daemon beside it. Their meshes lie beside the scenario.
#[cfg(feature = "view")]
fn host_and_page(
    a: &RunArguments,
    scenario: &Scenario,
    worker: Option<&Host>,
) -> Result<(Host, Option<Process>)> {
    let folder = output_file::folder_of(&a.scenario);
    let beside = |endpoint| super::view::beside(endpoint, &scenario.bus.robots, Some(folder));
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
        Ending::Done | Ending::Stopped | Ending::AnotherEnded => match summary.recorded.problem() {
            Some(_) => ExitCode::Incomplete,
            None => ExitCode::Done,
        },
        Ending::Overrun | Ending::ClockWentBack => ExitCode::Overrun,
        Ending::PlantFailure(_) => ExitCode::PlantFailure,
        Ending::ControllerTimeout(_) => ExitCode::ControllerTimeout,
    }
}

#[cfg(all(test, feature = "view"))]
mod tests {
    use std::path::Path;

    /// `--meshes ""` would be refused, and there would be no page.
    #[test]
    fn a_scenario_in_the_current_folder_has_its_meshes_there() {
        let folder = |file: &str| super::output_file::folder_of(Path::new(file)).to_path_buf();
        assert_eq!(folder("my.toml"), Path::new("."));
        assert_eq!(folder("robots/my.toml"), Path::new("robots"));
        assert_eq!(folder("/my.toml"), Path::new("/"));
    }
}
