//! Sentences for the typed results of a certificate.

use crate::certify::{
    Attribution, Certificate, Check, Difference, InputDifference, Note, Problem, Reason,
    ReplayProblem, Run, Verdict,
};

use crate::cli::{failure, show};

/// Prints the line of a run, and what is wrong with it.
pub(super) fn show_run(run: &Run) {
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
    if let Some(problem) = &run.problem {
        show::line(&format!(
            "           {}",
            self::problem(problem).replace('\n', "\n           ")
        ));
    }
    if let Some(d) = &run.difference {
        show::line(&format!("           first at tick {} ({:.3} s)", d.tick, d.time_s));
        show::line(&format!("quantity   {}: {}", quantity(d), values(&d.values).join(" and ")));
        if let Some(state) = state(d).filter(|_| d.cause != Attribution::Plant) {
            show::line(&format!("robot      {state}"));
        }
        show::line(&format!("cause      {}", explanation(d)));
    }
}

/// Why a run counts as bad.
pub(super) fn problem(problem: &Problem) -> String {
    match problem {
        Problem::RunFailed(failed) => failure::text(failed),
        Problem::ReferenceFailed(name) => {
            format!("there is nothing to compare it with: {name} failed")
        }
        Problem::Replay(ReplayProblem::Differs { tick, quantity }) => {
            format!("the replay differs from the log at tick {tick}: {quantity}")
        }
        Problem::Replay(ReplayProblem::TicksLost { from_tick }) => {
            format!("the log has lost ticks from tick {from_tick} on")
        }
        Problem::Replay(ReplayProblem::Damaged(how)) => format!("the log is damaged: {how}"),
    }
}

/// The quantity that differs, with its controller.
pub(super) fn quantity(d: &Difference) -> String {
    let controller = d.controller.as_ref().map_or(String::new(), |name| format!("{name}, "));
    format!("{controller}{}", d.quantity)
}

/// Both values.
pub(super) fn values(values: &[Option<String>; 2]) -> [&str; 2] {
    values.each_ref().map(|value| value.as_deref().unwrap_or("none"))
}

/// The first quantity of the robot that differs.
pub(super) fn state(d: &Difference) -> Option<String> {
    let state = d.state.as_ref()?;
    let values = values(&state.values).join(" and ");
    Some(format!("tick {}: {}: {values}", state.tick, state.quantity))
}

/// The cause of a difference, with what to look for.
pub(super) fn explanation(d: &Difference) -> String {
    let tick = d.tick;
    match d.reason {
        Reason::CommandDiffers => format!(
            "the controller gave another command for tick {tick} after the same states: it depends \
             on an input other than the states, such as wall time, threads, random numbers, the \
             number of repeats of a state, or uninitialised memory"
        ),
        Reason::CommandMissing => format!(
            "one run has a command for tick {tick}, the other has none: the controller is \
             advisory, \
             so ticks do not wait for it, or it joins, leaves or joins again at another tick"
        ),
        Reason::CommandTiming => format!(
            "the same commands arrived at another time before tick {tick}: the controller is \
             advisory, so ticks do not wait for it, or it sends commands for which no tick waits"
        ),
        Reason::LeasesDiffer => format!(
            "controllers joined or left differently at tick {tick}: where several join, name them \
             in control.controllers, so that the run begins when all are there"
        ),
        Reason::EventsDiffer => {
            format!("other events happened to the robot at tick {tick}: an operator is connected")
        }
        Reason::BeginningDiffers => "the runs begin in different states".into(),
        Reason::StateDiffers => format!(
            "the plant: in tick {tick} the same inputs to the same state gave another state. This \
             is a defect of Hardstand, or two builds of it ran: please report it with both logs"
        ),
        Reason::LengthDiffers => {
            format!("one run ends after tick {tick}; up to there the runs are the same")
        }
    }
}

/// A remark on a certificate.
pub(super) fn note(note: Note) -> String {
    match note {
        Note::PlantFailure { tick } => format!(
            "The plant stopped itself in tick {tick} of the reference. The run is reproducible, \
             but probably not what you intended."
        ),
        Note::Advisory => "A controller is advisory: ticks do not wait for it, so its commands \
             arrive at any tick. Let it join as required."
            .into(),
        Note::JoinedLate => "A controller joined after the first tick. Where several join, name \
             them in control.controllers: then the run begins when all are there."
            .into(),
        Note::HashOrderFixed => {
            "PYTHONHASHSEED was set: a controller whose commands depend on the \
             order of a set repeats only with the same value."
                .into()
        }
    }
}

/// The comparison with the certificate that was repeated, as lines.
pub(super) fn checked(check: &Check) -> Vec<String> {
    let mut lines: Vec<String> = match &check.differences {
        None => vec!["inputs     the certificate does not say what its inputs were".into()],
        Some(all) => all.iter().map(input).collect(),
    };
    if !check.same_physics {
        lines.push("scenario   describes another robot, ground or contact than there".into());
    }
    if !check.certified_then {
        lines.push("there      it was not certified".into());
    }
    let end = |(ticks, digest): &(u64, String)| format!("{ticks} ticks, digest {digest}");
    let (then, now) = (end(&check.then), end(&check.now));
    let signed = if check.signature_checked { "; its signature is valid" } else { "" };
    lines.push(if check.confirmed {
        format!("CONFIRMED: {}: {now}{signed}", check.of)
    } else {
        format!("NOT CONFIRMED: {}: there {then}, here {now}{signed}", check.of)
    });
    lines
}

fn input(d: &InputDifference) -> String {
    // of a hash, its beginning is enough
    let short = |value: &Option<String>| match value.as_deref() {
        None => "none".to_string(),
        Some(hash) if hash.len() == 64 => hash.chars().take(12).collect(),
        Some(value) => value.to_string(),
    };
    format!("{:<10} {}: there {}, here {}", d.what, d.name, short(&d.then), short(&d.now))
}

/// Prints the result.
pub(super) fn conclude(certificate: &Certificate) {
    for note in &certificate.notes {
        show::line(&format!("note       {}", self::note(*note)));
    }
    if let Some(snapshot) = certificate.snapshot {
        let equal = if snapshot.equals_reference { "also" } else { "not" };
        show::line(&format!(
            "snapshot   the runs from tick {} on are {equal} equal to the rest of the reference",
            snapshot.tick
        ));
    }
    let count = certificate.runs.len();
    if certificate.certified {
        show::line(&format!("\nCERTIFIED: {count} runs; every run matches its reference"));
    } else {
        let bad = certificate.bad().count();
        show::line(&format!("\nNOT CERTIFIED: {bad} of {count} runs differ or failed"));
    }
    if let Some(check) = &certificate.check {
        checked(check).iter().for_each(|line| show::line(line));
    }
}
