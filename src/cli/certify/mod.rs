//! `hardstand certify`.

mod page;
mod text;

use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use crate::certify::{
    Bench, Certificate, Controller, FinishedRun, JSON_FILE, Machine, Note, PAGE_FILE, Perturbation,
    Problem, Run, Scene, Snapshot, Task, Verdict, attribute, plan, wall_s,
};
use crate::config::Scenario;
use crate::inspect::Comparison;
use crate::process_harness::{Failure, FailureKind};
use crate::replay::Player;
use hardstand_error::{Error, ErrorKind, Result};

use super::arguments::CertifyArguments;
use super::{ExitCode, differences, failure, progress, show, stop_on_signal};

/// Simulated time of a run where neither command nor scenario says it, s.
const DURATION_S: f64 = 2.0;

pub(super) fn certify(a: &CertifyArguments) -> Result<ExitCode> {
    let stop = stop_on_signal()?;
    match runs(a, &stop)? {
        Outcome::Failed(failure) => {
            if a.json {
                show::json(&FailedCertificate { certified: false, failure: &failure })?;
            }
            show::note(&format!("no certificate: {}", failure::text(&failure)));
            Ok(failure::code_of(&failure))
        }
        Outcome::Finished(certificate) => {
            if a.json {
                show::json(&certificate)?;
            } else {
                text::conclude(&certificate);
                for name in [PAGE_FILE, JSON_FILE] {
                    show::line(&format!("written    {}", a.out.join(name).display()));
                }
            }
            Ok(if certificate.certified { ExitCode::Done } else { ExitCode::Negative })
        }
    }
}

/// What a certification led to.
enum Outcome {
    Finished(Box<Certificate>),
    /// The reference failed, or a signal stopped a run: there is no certificate.
    Failed(Failure),
}

/// What `--json` prints if there is no certificate.
#[derive(Serialize)]
struct FailedCertificate<'a> {
    certified: bool,
    failure: &'a Failure,
}

/// Runs all tasks, and writes the certificate.
fn runs(a: &CertifyArguments, stop: &AtomicBool) -> Result<Outcome> {
    let sets = sets(a)?;
    let scenario = Scenario::load(&a.scenario, &sets)?;
    let mut bench = bench(a, &scenario, &sets)?;
    let time_s = |ticks: u64| ticks as f64 * scenario.spec.period_ns as f64 * 1e-9;
    let mut tasks = plan(time_s(bench.ticks), bench.load);
    clear(&a.out)?;
    if !a.json {
        announce(a, &tasks, time_s(bench.ticks));
    }
    let (mut runs, mut finished, mut plots) = (Vec::new(), Vec::<FinishedRun>::new(), Vec::new());
    for i in 0..tasks.len() {
        let task = &tasks[i];
        let this = run(&bench, task, time_s(bench.ticks), stop)?;
        match &this.failure {
            // without a reference there is nothing to compare the others with
            Some(failure) if i == 0 || failure.kind == FailureKind::Stopped => {
                return Ok(Outcome::Failed(failure.clone()));
            }
            _ => {}
        }
        let (judged, found) = compare(&bench, &tasks, task, &this, &finished)?;
        if !a.json {
            text::show_run(&judged);
        }
        if let Some(found) = found {
            plots.extend(draw(&bench, &judged, &found)?);
        }
        runs.push(judged);
        if i == 0 {
            bench.note_reference(&this.log);
            tasks = plan(time_s(this.log.ticks), bench.load);
        }
        finished.push(this);
    }
    let certificate = certificate(a, &scenario, &bench, &sets, runs, &finished)?;
    write(&a.out, &certificate, &plots)?;
    if certificate.certified && !a.keep_logs {
        remove_equal_logs(&bench, &tasks);
    }
    Ok(Outcome::Finished(Box::new(certificate)))
}

fn announce(a: &CertifyArguments, tasks: &[Task], duration_s: f64) {
    let all_s: f64 = tasks.iter().map(|task| wall_s(task, duration_s)).sum();
    show::line(&format!(
        "certify    {} in lockstep, {duration_s:.3} s of simulated time, {} runs: about \
         {all_s:.0} s",
        a.scenario.display(),
        tasks.len()
    ));
}

/// Keys that are set in every run; those of the user are checked against them.
fn sets(a: &CertifyArguments) -> Result<Vec<String>> {
    for set in &a.sets {
        let key = set.split('=').next().unwrap_or_default().trim();
        if ["sim.pace", "sim.speed", "sim.start", "sim.duration_s", "control.mode", "record.file"]
            .contains(&key)
        {
            let text =
                format!("--set {key} is not allowed: certify sets pace, start and mode itself");
            return Err(Error::new(ErrorKind::Input, text));
        }
    }
    let mut sets = a.sets.clone();
    sets.extend(a.duration.map(|s| format!("sim.duration_s={s:?}")));
    sets.push("sim.start=\"on_controller\"".into());
    sets.push("control.mode=\"lockstep\"".into());
    sets.push(format!("control.patience_s={:?}", a.patience));
    // a stop is the point of some runs
    sets.push("realtime.overrun=\"slip\"".into());
    Ok(sets)
}

fn bench(a: &CertifyArguments, scenario: &Scenario, sets: &[String]) -> Result<Bench> {
    let refuse = |text: &str| Err(Error::new(ErrorKind::Input, text));
    if scenario.bus.access.is_some() {
        return refuse(
            "bus: certify watches the runs without a password; set bus.users_file=\"\" and the tls \
             keys to \"\", and bus.listen to an endpoint of this machine",
        );
    }
    let endpoint = scenario.bus.endpoint()?;
    let rate_hz = 1e9 / scenario.spec.period_ns as f64;
    let ticks = scenario.ticks.unwrap_or((DURATION_S * rate_hz).round() as u64);
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let mut run: Vec<OsString> = vec![a.scenario.clone().into()];
    run.extend(sets.iter().flat_map(|set| ["--set".into(), set.into()]));
    // said in so many words, "as fast as possible" waits for a controller all the same
    run.extend(["--mode", "lockstep"].map(OsString::from));
    run.extend(["--duration".into(), (ticks as f64 / rate_hz).to_string().into()]);
    Ok(Bench {
        folder: a.out.clone(),
        run,
        endpoint: endpoint.into(),
        robot: scenario.bus.robot.clone(),
        controller: a.command.clone(),
        ticks,
        stop_at: 0,
        load: 2 * cores,
    })
}

/// An old certificate must not be taken for the new one.
fn clear(out: &Path) -> Result<()> {
    let failed = |e: std::io::Error| Error::new(ErrorKind::File, format!("{}: {e}", out.display()));
    std::fs::create_dir_all(out).map_err(failed)?;
    for name in [JSON_FILE, PAGE_FILE] {
        match std::fs::remove_file(out.join(name)) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(failed(e)),
            _ => {}
        }
    }
    Ok(())
}

fn run(bench: &Bench, task: &Task, duration_s: f64, stop: &AtomicBool) -> Result<FinishedRun> {
    let expected_s = wall_s(task, duration_s);
    let bar = progress::bar((expected_s * 1e3) as u64, task.name);
    let gone = bench.run(task, |seconds| {
        bar.set_position(((seconds * 1e3) as u64).min((expected_s * 1e3) as u64));
        !stop.load(Ordering::Relaxed)
    });
    bar.finish_and_clear();
    gone
}

/// Compares a run with the one that it has to be equal to; if they differ, the comparison is given
/// too.
fn compare(
    bench: &Bench,
    tasks: &[Task],
    task: &Task,
    this: &FinishedRun,
    before: &[FinishedRun],
) -> Result<(Run, Option<Comparison>)> {
    let log = &this.log;
    let other = task.equals.and_then(|i| Some((tasks.get(i)?, before.get(i)?)));
    let mut found = None;
    let verdict = match other {
        _ if this.failure.is_some() => Verdict::Failed,
        Some((_, other)) if other.failure.is_some() => Verdict::Failed,
        None => Verdict::Reference,
        Some((_, other)) if log.equals(&other.log) => Verdict::Equal,
        Some((other, _)) => {
            found = Some(attribute(&bench.log_of(other.name), &bench.log_of(task.name))?);
            Verdict::Different
        }
    };
    let problem = match (&this.failure, other) {
        (Some(failure), _) => Some(Problem::RunFailed(failure.clone())),
        (None, Some((other, finished))) if finished.failure.is_some() => {
            Some(Problem::ReferenceFailed(other.name.into()))
        }
        (None, _) => log.replay.clone().map(Problem::Replay),
    };
    let (difference, found) = found.unzip();
    let run = Run {
        name: task.name.into(),
        what: task.what.clone(),
        perturbation: task.perturbation,
        speed: task.speed,
        stopped_at_tick: this.stop.map(|stop| stop.tick),
        ticks_while_stopped: this.stop.map(|stop| stop.ticks),
        compared_with: other.map(|(other, _)| other.name.into()),
        first_tick: log.first_tick,
        ticks: log.ticks,
        digest: format!("{:016x}", log.digest),
        plant_failure: log.plant_failure,
        replays: log.replay.is_none() && log.ticks > 0,
        wall_s: this.wall_s,
        verdict,
        problem,
        difference,
    };
    Ok((run, found))
}

/// The drawing of a run that differs.
fn draw(bench: &Bench, run: &Run, found: &Comparison) -> Result<Option<(String, String)>> {
    let with = run.compared_with.as_deref().unwrap_or_default();
    let (a, b) = (bench.log_of(with), bench.log_of(&run.name));
    if found.ranked.is_empty() {
        return Ok(None); // the digests differ, and nothing that could be drawn
    }
    let file = bench.folder.join(&run.name).join("differences.svg");
    let named = [with, &run.name].map(Path::new);
    #[cfg(feature = "view")]
    crate::view::write_page(&a, Some(&b), &bench.folder.join(&run.name).join(page::RUN_PAGE))?;
    differences::draw_quietly(&file, found, named, || Ok((Player::open(&a)?, Player::open(&b)?)))?;
    let svg = std::fs::read_to_string(&file);
    let svg = svg.map_err(|e| Error::new(ErrorKind::File, format!("{}: {e}", file.display())))?;
    Ok(Some((run.name.clone(), svg)))
}

fn certificate(
    a: &CertifyArguments,
    scenario: &Scenario,
    bench: &Bench,
    sets: &[String],
    runs: Vec<Run>,
    gone: &[FinishedRun],
) -> Result<Certificate> {
    let equal =
        |run: &Run| run.replays && matches!(run.verdict, Verdict::Reference | Verdict::Equal);
    let of = |name: &str| runs.iter().position(|run| run.name == name).and_then(|i| gone.get(i));
    let snapshot = of("snapshot-1").zip(of("reference")).map(|(half, whole)| {
        let end =
            |g: &FinishedRun| (g.log.first_tick + g.log.ticks, g.log.digest, g.log.plant_failure);
        Snapshot { tick: half.log.first_tick, equals_reference: end(half) == end(whole) }
    });
    let leases = of("reference").map_or(&[][..], |gone| &gone.log.leases);
    let log = bench.log_of("reference");
    let written = std::fs::metadata(&log).and_then(|m| m.modified());
    let written =
        written.map_err(|e| Error::new(ErrorKind::File, format!("log {}: {e}", log.display())))?;
    Ok(Certificate {
        schema: "hardstand.certificate.v2",
        certified: runs.iter().all(equal),
        hardstand: env!("CARGO_PKG_VERSION").into(),
        date: humantime::format_rfc3339_seconds(written).to_string(),
        scenario: Scene {
            file: a.scenario.display().to_string(),
            set: sets.to_vec(),
            robot: scenario.bus.robot.clone(),
            physics_hash: format!("{:016x}", scenario.physics_hash),
            layout_hash: format!("{:016x}", scenario.simulation().layout_hash()),
            period_ns: scenario.spec.period_ns,
            ticks: bench.ticks,
            duration_s: bench.ticks as f64 * scenario.spec.period_ns as f64 * 1e-9,
            mode: "lockstep",
        },
        controller: Controller {
            command: a.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            joined: leases.len(),
        },
        machine: Machine::here(),
        notes: notes(&runs, gone),
        snapshot,
        runs,
    })
}

/// Remarks on the reference.
fn notes(runs: &[Run], finished: &[FinishedRun]) -> Vec<Note> {
    let mut notes = Vec::new();
    let Some((first, log)) = runs.first().zip(finished.first().map(|run| &run.log)) else {
        return notes;
    };
    if first.plant_failure {
        notes.push(Note::PlantFailure { tick: first.first_tick + first.ticks });
    }
    if log.leases.iter().any(|lease| !lease.required) {
        notes.push(Note::Advisory);
    }
    if log.leases.iter().any(|lease| lease.tick > log.first_tick) {
        notes.push(Note::JoinedLate);
    }
    notes
}

/// Both files, whole or not at all.
fn write(out: &Path, certificate: &Certificate, plots: &[(String, String)]) -> Result<()> {
    let json = serde_json::to_string_pretty(certificate)
        .map_err(|e| Error::new(ErrorKind::Internal, format!("certificate: {e}")))?;
    for (name, text) in [(JSON_FILE, json + "\n"), (PAGE_FILE, page::page(certificate, plots))] {
        let (file, new) = (out.join(name), out.join(format!("{name}.new")));
        let written = std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, &file));
        written.map_err(|e| Error::new(ErrorKind::File, format!("{}: {e}", file.display())))?;
    }
    Ok(())
}

/// Removes the logs of runs that are equal to their reference.
fn remove_equal_logs(bench: &Bench, tasks: &[Task]) {
    let more =
        tasks.iter().filter(|t| t.equals.is_some() || t.perturbation == Perturbation::SavedState);
    for task in more {
        let _gone = std::fs::remove_dir_all(bench.folder.join(task.name)).is_ok();
    }
}
