//! `hardstand certify`.

use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::certify::{
    Bench, Certificate, Controller, FinishedRun, JSON_FILE, Machine, PAGE_FILE, Perturbation, Run,
    Scene, Snapshot, Task, Verdict, attribute, page, plan, wall_s,
};
use crate::config::Scenario;
use crate::process_harness::FailureKind;
use crate::replay::Player;
use hardstand_error::{Error, ErrorKind, Result};

use super::arguments::CertifyArguments;
use super::{ExitCode, differences, failure, progress, show, stop_on_signal};

/// Simulated time of a run where neither command nor scenario says it, s.
const DURATION_S: f64 = 2.0;

pub(super) fn certify(a: &CertifyArguments) -> Result<ExitCode> {
    let stop = stop_on_signal()?;
    let sets = sets(a)?;
    let scenario = Scenario::load(&a.scenario, &sets)?;
    let mut bench = bench(a, &scenario, &sets)?;
    let time_s = |ticks: u64| ticks as f64 * scenario.spec.period_ns as f64 * 1e-9;
    let duration_s = time_s(bench.ticks);
    let mut tasks = plan(duration_s, bench.load);
    clear(&a.out)?;
    let all_s: f64 = tasks.iter().map(|task| wall_s(task, duration_s)).sum();
    show::line(&format!(
        "certify    {} in lockstep, {duration_s:.3} s of simulated time, {} runs: about \
         {all_s:.0} s",
        a.scenario.display(),
        tasks.len()
    ));
    let (mut runs, mut gone, mut plots) = (Vec::new(), Vec::<FinishedRun>::new(), Vec::new());
    for i in 0..tasks.len() {
        let task = &tasks[i];
        let this = run(&bench, task, duration_s, &stop)?;
        if this.failure.as_ref().is_some_and(|f| f.kind == FailureKind::Stopped) {
            show::line("ended      before all runs were done: no certificate");
            return Ok(ExitCode::Negative);
        }
        if let (Some(failure), true) = (&this.failure, gone.is_empty()) {
            // there is nothing to compare the others with
            show::note(&format!("run {}: {}", task.name, failure::text(failure)));
            return Ok(failure::code_of(failure));
        }
        let judged = judge(&bench, &tasks, task, &this, &gone)?;
        told(&judged);
        if judged.verdict == Verdict::Different {
            plots.extend(draw(&bench, &judged)?);
        }
        runs.push(judged);
        if i == 0 {
            bench.note_reference(&this.told);
            tasks = plan(time_s(this.told.ticks), bench.load);
        }
        gone.push(this);
    }
    let certificate = certificate(a, &scenario, &bench, &sets, runs, &gone)?;
    write(&a.out, &certificate, &plots)?;
    if certificate.certified && !a.keep_logs {
        tidy_up(&bench, &tasks);
    }
    conclude(a, &certificate);
    Ok(if certificate.certified { ExitCode::Done } else { ExitCode::Negative })
}

/// Keys that are set in every run; those of the user are checked against them.
fn sets(a: &CertifyArguments) -> Result<Vec<String>> {
    for set in &a.sets {
        let key = set.split('=').next().unwrap_or_default().trim();
        if ["sim.pace", "sim.speed", "sim.start", "sim.duration_s", "control.mode", "record.file"]
            .contains(&key)
        {
            let text =
                format!("--set {key} has no part in it: certify sets pace, start and mode itself");
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

/// What is to be said of a run, and of the one that it has to be equal to.
fn judge(
    bench: &Bench,
    tasks: &[Task],
    task: &Task,
    this: &FinishedRun,
    before: &[FinishedRun],
) -> Result<Run> {
    let told = &this.told;
    let other = task.equals.and_then(|i| Some((tasks.get(i)?, before.get(i)?)));
    let mut difference = None;
    let verdict = match other {
        _ if this.failure.is_some() => Verdict::Failed,
        Some((_, other)) if other.failure.is_some() => Verdict::Failed,
        None => Verdict::Reference,
        Some((_, other)) if told.equals(&other.told) => Verdict::Equal,
        Some((other, _)) => {
            difference = Some(attribute(&bench.log_of(other.name), &bench.log_of(task.name))?.0);
            Verdict::Different
        }
    };
    let failure = match (&this.failure, other) {
        (None, Some((other, gone))) if gone.failure.is_some() => {
            Some(format!("there is nothing to compare it with: {} failed", other.name))
        }
        (failure, _) => failure.as_ref().map(failure::text),
    };
    Ok(Run {
        name: task.name.into(),
        what: task.what.clone(),
        speed: task.speed,
        stopped_at_tick: this.stop.map(|stop| stop.tick),
        ticks_while_stopped: this.stop.map(|stop| stop.ticks),
        compared_with: other.map(|(other, _)| other.name.into()),
        first_tick: told.first_tick,
        ticks: told.ticks,
        digest: format!("{:016x}", told.digest),
        plant_fault: told.fault,
        replays: told.replay.is_none() && told.ticks > 0,
        wall_s: this.wall_s,
        verdict,
        perturbation: failure.or_else(|| told.replay.clone()),
        difference,
    })
}

fn told(run: &Run) {
    let word = match (run.verdict, run.replays) {
        (Verdict::Failed, _) => "FAILED",
        (_, false) => "DAMAGED",
        (Verdict::Different, _) => "DIFFERENT",
        (Verdict::Equal, _) => "equal",
        (Verdict::Reference, _) => "ran",
    };
    let stopped = run.stopped_at_tick.map_or(String::new(), |t| format!(", after tick {t}"));
    show::line(&format!(
        "{word:<10} {}: {}{stopped}: {} ticks in {:.2} s, digest {}",
        run.name, run.what, run.ticks, run.wall_s, run.digest
    ));
    if let Some(text) = &run.perturbation {
        show::line(&format!("           {}", text.replace('\n', "\n           ")));
    }
    if let Some(d) = &run.difference {
        let [x, y] = &d.values;
        show::line(&format!("           first at tick {} ({:.3} s)", d.tick, d.time_s));
        show::line(&format!("quantity   {}: {x} and {y}", d.quantity));
        if let Some(state) = d.state.as_ref().filter(|_| d.cause != "plant") {
            show::line(&format!("robot      {state}"));
        }
        show::line(&format!("cause      {}", d.words));
    }
}

/// The drawing of a run that differs.
fn draw(bench: &Bench, run: &Run) -> Result<Option<(String, String)>> {
    let with = run.compared_with.as_deref().unwrap_or_default();
    let (a, b) = (bench.log_of(with), bench.log_of(&run.name));
    let (_, found) = attribute(&a, &b)?;
    if found.ranked.is_empty() {
        return Ok(None); // the digests differ, and nothing that could be drawn
    }
    let file = bench.folder.join(&run.name).join("differences.svg");
    let named = [with, &run.name].map(Path::new);
    differences::draw_quietly(&file, &found, named, || Ok((Player::open(&a)?, Player::open(&b)?)))?;
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
        let end = |g: &FinishedRun| (g.told.first_tick + g.told.ticks, g.told.digest, g.told.fault);
        Snapshot { tick: half.told.first_tick, equals_reference: end(half) == end(whole) }
    });
    let leases = of("reference").map_or(&[][..], |gone| &gone.told.leases);
    let log = bench.log_of("reference");
    let written = std::fs::metadata(&log).and_then(|m| m.modified());
    let written =
        written.map_err(|e| Error::new(ErrorKind::File, format!("log {}: {e}", log.display())))?;
    Ok(Certificate {
        schema: "hardstand.certificate.v1",
        certified: runs.iter().all(equal),
        hardstand: env!("CARGO_PKG_VERSION").into(),
        date: humantime::format_rfc3339_seconds(written).to_string(),
        scenario: Scene {
            file: a.scenario.display().to_string(),
            set: sets.to_vec(),
            robot: scenario.bus.robot.clone(),
            physics_hash: format!("{:016x}", scenario.physics_hash),
            layout_hash: format!("{:016x}", scenario.plant().layout_hash()),
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

/// What a reader should know besides.
fn notes(runs: &[Run], gone: &[FinishedRun]) -> Vec<String> {
    let mut notes = Vec::new();
    let Some((first, told)) = runs.first().zip(gone.first().map(|gone| &gone.told)) else {
        return notes;
    };
    if first.plant_fault {
        notes.push(format!(
            "The plant stopped itself in tick {} of the reference. That is reproducible, but \
             hardly what was meant.",
            first.first_tick + first.ticks
        ));
    }
    if told.leases.iter().any(|lease| !lease.required) {
        notes.push(
            "A controller is advisory: ticks do not wait for it, so its commands come when they \
             come. Let it join as required."
                .into(),
        );
    }
    if told.leases.iter().any(|lease| lease.tick > told.first_tick) {
        notes.push(
            "A controller joined after the first tick. Where several join, name them in \
             control.controllers: then the run begins when all are there."
                .into(),
        );
    }
    notes
}

/// Both files, whole or not at all.
fn write(out: &Path, certificate: &Certificate, plots: &[(String, String)]) -> Result<()> {
    let json = serde_json::to_string_pretty(certificate)
        .map_err(|e| Error::new(ErrorKind::Internal, format!("certificate: {e}")))?;
    for (name, text) in [(JSON_FILE, json + "\n"), (PAGE_FILE, page(certificate, plots))] {
        let (file, new) = (out.join(name), out.join(format!("{name}.new")));
        let written = std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, &file));
        written.map_err(|e| Error::new(ErrorKind::File, format!("{}: {e}", file.display())))?;
    }
    Ok(())
}

/// The logs of runs that are equal to the reference say nothing more.
fn tidy_up(bench: &Bench, tasks: &[Task]) {
    let more =
        tasks.iter().filter(|t| t.equals.is_some() || t.perturbation == Perturbation::FromSnapshot);
    for task in more {
        let _nobody_needs_it = std::fs::remove_dir_all(bench.folder.join(task.name)).is_ok();
    }
}

fn conclude(a: &CertifyArguments, certificate: &Certificate) {
    certificate.notes.iter().for_each(|note| show::line(&format!("note       {note}")));
    if let Some(snapshot) = certificate.snapshot {
        let equal = if snapshot.equals_reference { "also" } else { "not" };
        show::line(&format!(
            "snapshot   the runs from tick {} on are {equal} equal to the rest of the reference",
            snapshot.tick
        ));
    }
    let count = certificate.runs.len();
    if certificate.certified {
        show::line(&format!("\nCERTIFIED: {count} runs are equal wherever they have to be"));
    } else {
        let bad = certificate.bad().count();
        show::line(&format!("\nNOT CERTIFIED: {bad} of {count} runs differ or failed"));
    }
    for name in [PAGE_FILE, JSON_FILE] {
        show::line(&format!("written    {}", a.out.join(name).display()));
    }
}
