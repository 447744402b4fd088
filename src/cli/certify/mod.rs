//! `hardstand certify`.

mod document;
mod folder;
mod page;
mod text;

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use crate::certify::{
    Bench, Certificate, Claim, FinishedRun, Inputs, JSON_FILE, PAGE_FILE, Perturbation, Problem,
    Run, STOPPED_S, Task, Verdict, attribute, own_key, plan, sign, signing_key, verify, wall_s,
};
use crate::config::{Scenario, key_of};
use crate::inspect::Comparison;
use crate::process_harness::{Failure, FailureKind};
use crate::replay::Player;
use hardstand_error::{Error, ErrorKind, Result};

use super::arguments::CertifyArguments;
use super::{ExitCode, differences, failure, progress, show, stop_on_signal};

/// Where a certificate goes if nothing else is given, and where one that repeats another does.
const OUT: [&str; 2] = ["hardstand-certificate", "hardstand-check"];
/// Least wait for a controller, s.
const PATIENCE_MIN_S: f64 = 2.0 * STOPPED_S;
/// Simulated time of a run where neither command nor scenario says it, s.
const DURATION_S: f64 = 2.0;

pub(super) fn certify(a: &CertifyArguments) -> Result<ExitCode> {
    let stop = stop_on_signal()?;
    let key = a.sign.as_deref().map(signing_key).transpose()?;
    let order = Order::of(a)?;
    match runs(&order, &stop)? {
        Outcome::Failed(failure) => {
            if a.json {
                show::json(&FailedCertificate { certified: false, failure: &failure })?;
            }
            show::note(&format!("no certificate: {}", failure::text(&failure)));
            Ok(failure::code_of(&failure))
        }
        Outcome::Finished(certificate, _lock) => {
            let signature = key.map(|key| sign(&order.out.join(JSON_FILE), &key)).transpose()?;
            if a.json {
                show::json(&certificate)?;
            } else {
                text::conclude(&certificate);
                for file in
                    [PAGE_FILE, JSON_FILE].map(|name| order.out.join(name)).iter().chain(&signature)
                {
                    show::line(&format!("written    {}", file.display()));
                }
            }
            let confirmed = certificate.check.as_ref().is_none_or(|check| check.confirmed);
            let good = certificate.certified && confirmed;
            Ok(if good { ExitCode::Done } else { ExitCode::Negative })
        }
    }
}

/// What a certification led to.
enum Outcome {
    /// The folder of the certificate stays locked until it is signed.
    Finished(Box<Certificate>, File),
    /// The reference failed, or a signal stopped a run: there is no certificate.
    Failed(Failure),
}

/// What `--json` prints if there is no certificate.
#[derive(Serialize)]
struct FailedCertificate<'a> {
    certified: bool,
    failure: &'a Failure,
}

/// What is to be run: as the command line says, or as another certificate does.
struct Order<'a> {
    scenario: PathBuf,
    sets: Vec<String>,
    command: Vec<OsString>,
    /// The certificate that is repeated.
    claim: Option<(&'a Path, Claim)>,
    /// Files and folders that the controller reads.
    files: Vec<PathBuf>,
    /// Where the certificate and the logs go.
    out: PathBuf,
    a: &'a CertifyArguments,
}

impl<'a> Order<'a> {
    fn of(a: &'a CertifyArguments) -> Result<Self> {
        let mut order = Self {
            scenario: a.scenario.clone().unwrap_or_default(),
            sets: a.sets.clone(),
            command: a.command.clone(),
            claim: None,
            files: a.files.clone(),
            out: a.out.clone().unwrap_or_else(|| OUT[usize::from(a.check.is_some())].into()),
            a,
        };
        let mut duration_s = a.duration;
        if let Some(file) = a.check.as_deref() {
            a.key.as_deref().map_or(Ok(()), |key| verify(file, key))?;
            let claim = Claim::read(file)?;
            claim.refuse_other_log(file)?;
            folder::refuse_own(file, &order.out)?;
            order.files.extend(claim.files_here());
            order.scenario = claim.scenario.file.clone().into();
            let own = claim.scenario.set.iter().filter(|set| !OWN_KEYS.contains(&key_of(set)));
            order.sets = own.chain(&a.sets).cloned().collect();
            if order.command.is_empty() {
                order.command = claim.controller.command.iter().map(OsString::from).collect();
            }
            duration_s = Some(claim.scenario.duration_s);
            order.claim = Some((file, claim));
        } else if a.key.is_some() {
            // what a conflict forbids, clap does not require
            let text = "--key is of a certificate that --check names; to sign one, give --sign";
            return Err(Error::new(ErrorKind::Input, text));
        }
        order.sets = sets(&order.sets, duration_s, a.patience)?;
        Ok(order)
    }
}

/// Runs all tasks, and writes the certificate.
fn runs(order: &Order<'_>, stop: &AtomicBool) -> Result<Outcome> {
    let a = order.a;
    let scenario = Scenario::load(&order.scenario, &order.sets)?;
    let mut bench = bench(order, &scenario)?;
    let time_s = |ticks: u64| ticks as f64 * scenario.spec.period_ns as f64 * 1e-9;
    let mut tasks = plan(time_s(bench.ticks), bench.load);
    let mut inputs = Inputs::here(&scenario.files, &order.command, &order.files)?;
    let lock = folder::lock(&order.out)?;
    folder::set_aside(&order.out)?;
    if !a.json {
        announce(order, &tasks, time_s(bench.ticks));
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
    inputs.refuse_changed()?;
    let mapped = finished.first().map(|run| run.mapped.clone()).unwrap_or_default();
    inputs.add_of_reference(&mapped, &bench.log_of("reference"))?;
    let certificate = document::certificate(order, &scenario, &bench, runs, &finished, inputs)?;
    document::write(&order.out, &certificate, &plots)?;
    if certificate.certified && !a.keep_logs {
        remove_equal_logs(&bench, &tasks);
    }
    Ok(Outcome::Finished(Box::new(certificate), lock))
}

fn announce(order: &Order<'_>, tasks: &[Task], duration_s: f64) {
    let all_s: f64 = tasks.iter().map(|task| wall_s(task, duration_s)).sum();
    show::line(&format!(
        "certify    {} in lockstep, {duration_s:.3} s of simulated time, {} runs: about \
         {all_s:.0} s",
        order.scenario.display(),
        tasks.len()
    ));
}

/// The keys that `sets` adds.
const OWN_KEYS: [&str; 5] =
    ["sim.duration_s", "sim.start", "control.mode", "control.patience_s", "realtime.overrun"];

/// Keys that are set in every run; those of the user are checked against them.
fn sets(wanted: &[String], duration_s: Option<f64>, patience_s: f64) -> Result<Vec<String>> {
    for set in wanted {
        if let Some(key) = own_key(set, &[]) {
            let text =
                format!("--set {key} is not allowed: certify sets pace, start and mode itself");
            return Err(Error::new(ErrorKind::Input, text));
        }
    }
    if patience_s < PATIENCE_MIN_S {
        let text = format!(
            "--patience is {patience_s}; it must be at least {PATIENCE_MIN_S} s, for some runs \
             stop a side for {STOPPED_S} s"
        );
        return Err(Error::new(ErrorKind::Input, text));
    }
    let mut sets = wanted.to_vec();
    sets.extend(duration_s.map(|s| format!("sim.duration_s={s:?}")));
    sets.push("sim.start=\"on_controller\"".into());
    sets.push("control.mode=\"lockstep\"".into());
    sets.push(format!("control.patience_s={patience_s:?}"));
    // a stop is the point of some runs
    sets.push("realtime.overrun=\"slip\"".into());
    Ok(sets)
}

fn bench(order: &Order<'_>, scenario: &Scenario) -> Result<Bench> {
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
    let mut run: Vec<OsString> = vec![order.scenario.clone().into()];
    run.extend(order.sets.iter().flat_map(|set| ["--set".into(), set.into()]));
    // said in so many words, "as fast as possible" waits for a controller all the same
    run.extend(["--mode", "lockstep"].map(OsString::from));
    run.extend(["--duration".into(), (ticks as f64 / rate_hz).to_string().into()]);
    Ok(Bench {
        folder: order.out.clone(),
        run,
        endpoint: endpoint.into(),
        robot: scenario.bus.robot.clone(),
        controller: order.command.clone(),
        ticks,
        stop_at: 0,
        load: 2 * cores,
    })
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

/// Removes the logs of runs that are equal to their reference.
fn remove_equal_logs(bench: &Bench, tasks: &[Task]) {
    let more =
        tasks.iter().filter(|t| t.equals.is_some() || t.perturbation == Perturbation::SavedState);
    for task in more {
        let _gone = std::fs::remove_dir_all(bench.folder.join(task.name)).is_ok();
    }
}
