//! The files of a certificate.

use std::ffi::OsString;
use std::path::Path;

use hardstand_error::{Error, ErrorKind, Result};

use crate::certify::{
    Bench, Certificate, Controller, FinishedRun, Inputs, JSON_FILE, Machine, Note, PAGE_FILE, Run,
    SCHEMA, Scene, Snapshot, Verdict, sets_hash_order,
};
use crate::config::Scenario;

use super::{Order, page};

/// The certificate of all runs.
pub(super) fn certificate(
    order: &Order<'_>,
    scenario: &Scenario,
    bench: &Bench,
    runs: Vec<Run>,
    gone: &[FinishedRun],
    inputs: Inputs,
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
    let mut certificate = Certificate {
        schema: SCHEMA,
        certified: runs.iter().all(equal),
        hardstand: env!("CARGO_PKG_VERSION").into(),
        date: humantime::format_rfc3339_seconds(written).to_string(),
        scenario: Scene {
            file: order.scenario.display().to_string(),
            set: order.sets.clone(),
            robot: scenario.bus.robot.clone(),
            physics_hash: format!("{:016x}", scenario.physics_hash),
            layout_hash: format!("{:016x}", scenario.simulation().layout_hash()),
            period_ns: scenario.spec.period_ns,
            ticks: bench.ticks,
            duration_s: bench.ticks as f64 * scenario.spec.period_ns as f64 / 1e9,
            mode: "lockstep",
        },
        controller: Controller {
            command: order.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            joined: leases.len(),
        },
        machine: Machine::here(),
        notes: notes(&runs, gone, &inputs, &order.command),
        inputs,
        check: None,
        snapshot,
        runs,
    };
    if let Some((file, claim)) = &order.claim {
        certificate.check = Some(claim.check(file, order.a.key.is_some(), &certificate));
    }
    Ok(certificate)
}

/// Remarks on the reference.
fn notes(
    runs: &[Run],
    finished: &[FinishedRun],
    inputs: &Inputs,
    command: &[OsString],
) -> Vec<Note> {
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
    if inputs.hash_order_is_fixed() || sets_hash_order(command) {
        notes.push(Note::HashOrderFixed);
    }
    notes
}

/// Both files, whole or not at all.
pub(super) fn write(
    out: &Path,
    certificate: &Certificate,
    plots: &[(String, String)],
) -> Result<()> {
    let json = serde_json::to_string_pretty(certificate)
        .map_err(|e| Error::new(ErrorKind::Internal, format!("certificate: {e}")))?;
    for (name, text) in [(JSON_FILE, json + "\n"), (PAGE_FILE, page::page(certificate, plots))] {
        let (file, new) = (out.join(name), out.join(format!("{name}.new")));
        let written = std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, &file));
        written.map_err(|e| Error::new(ErrorKind::File, format!("{}: {e}", file.display())))?;
    }
    Ok(())
}
