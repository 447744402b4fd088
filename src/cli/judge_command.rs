//! `hardstand bisect LOG -- COMMAND`: a command that judges ticks.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::Serialize;
use serde_json::{Map, Value};

use crate::inspect::{Found, Quantities, Verdict, first_bad};
use crate::replay::{Player, TickView};
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_log::{RunIndex, TickId};

use super::differences::Place;
use super::replay::{self, ReplayResult};
use super::{ExitCode, show};

/// Exit code of a command that cannot judge a tick, as for `git bisect run`.
const UNKNOWN: i32 = 125;

/// The result of a search by a command.
#[derive(Debug, Serialize)]
struct JudgedResult {
    /// The first bad tick.
    first_bad: Option<Place>,
    /// First and last tick of the range that has the first bad one, if the command could judge none
    /// that it was asked for but the last.
    first_bad_among: Option<[Place; 2]>,
    /// The ticks that were judged, in order.
    judged: Vec<Judged>,
    replay: ReplayResult,
}

/// A tick and its verdict.
#[derive(Clone, Debug, Serialize)]
struct Judged {
    #[serde(flatten)]
    at: Place,
    /// `"good"`, `"bad"` or `"unknown"`.
    verdict: &'static str,
}

/// Searches for the first tick that the command calls bad.
pub(super) fn search(log: &Path, command: &[OsString], json: bool) -> Result<ExitCode> {
    let (reader, scenario) = replay::open(log, &[])?;
    let (run, replay) = replay::run(reader, &scenario, None, None)?;
    if !json {
        replay.show();
    }
    let mut result =
        JudgedResult { first_bad: None, first_bad_among: None, judged: Vec::new(), replay };
    if run.whole.difference.is_some() {
        return finish(&result, json);
    }
    let index = RunIndex::of(log, |_, _| ())?;
    let quantities = Quantities::of(&scenario.simulation());
    let period_ns = scenario.spec.period_ns;
    let place = |n: u64| Place::of(index.tick(n).unwrap_or_default(), period_ns);
    let found = first_bad(index.ticks(), |n| {
        let TickId { run_id, tick } = index.tick(n).unwrap_or_default();
        let player = Player::open_after(log, &index, run_id, tick)?;
        let Some(view) = player.view().filter(|_| player.difference().is_none()) else {
            // all of it has been replayed
            let text = format!("{} has changed meanwhile", log.display());
            return Err(Error::new(ErrorKind::Log, text));
        };
        let verdict = ask(command, &quantities, &view)?;
        let (word, text) = match verdict {
            Verdict::Good => ("good", "good"),
            Verdict::Bad => ("bad", "bad"),
            Verdict::Unknown => ("unknown", "cannot be judged"),
        };
        if !json {
            show::line(&format!("judged     {}: {text}", place(n)));
        }
        result.judged.push(Judged { at: place(n), verdict: word });
        Ok(verdict)
    });
    match found? {
        Found::First(n) => result.first_bad = Some(place(n)),
        Found::Among(from, to) => result.first_bad_among = Some([place(from), place(to)]),
        Found::Nothing => {}
        Found::Unjudged => {
            let text = "the command can judge none of the last ticks (exit code 125), so the \
                        search has no bad tick to begin with";
            return Err(Error::new(ErrorKind::Input, text));
        }
    }
    finish(&result, json)
}

fn finish(result: &JudgedResult, json: bool) -> Result<ExitCode> {
    let replay = result.replay.code();
    let bad = result.first_bad.is_some() || result.first_bad_among.is_some();
    if json {
        show::json(result)?;
    } else if let Some(at) = &result.first_bad {
        show::line(&format!("bad        first at {at}"));
    } else if let Some([from, to]) = &result.first_bad_among {
        show::line(&format!(
            "bad        first between {from} and {to}, which is bad: none before it that was \
             tried can be judged"
        ));
    } else if replay != ExitCode::Negative {
        show::line("never      the last tick is good, so all before it are taken as good");
    }
    Ok(if bad { ExitCode::Negative } else { replay })
}

/// Lets the command judge a tick.
fn ask(command: &[OsString], quantities: &Quantities, view: &TickView<'_>) -> Result<Verdict> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(Error::new(ErrorKind::Input, "there is no command after --"));
    };
    let name = program.to_string_lossy();
    let failed =
        |e: std::io::Error| Error::new(ErrorKind::Input, format!("cannot run {name}: {e}"));
    let value = |x: f64| serde_json::Number::from_f64(x).map_or(Value::Null, Value::Number);
    let all = quantities.list().iter().map(|q| (q.name.clone(), value(q.of(view))));
    let json = Value::Object(all.collect::<Map<_, _>>()).to_string();
    let mut child = Command::new(program)
        .args(arguments)
        .env("HARDSTAND_TICK", view.state.tick.to_string())
        .env("HARDSTAND_RUN_ID", view.applied.run_id.to_string())
        // the name of earlier versions
        .env("HARDSTAND_EPOCH", view.applied.run_id.to_string())
        .stdin(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // the command need not read everything
        let _read = stdin.write_all(json.as_bytes()).is_ok();
    }
    let status = child.wait().map_err(failed)?;
    match status.code() {
        Some(0) => Ok(Verdict::Good),
        Some(UNKNOWN) => Ok(Verdict::Unknown),
        Some(1..=127) => Ok(Verdict::Bad),
        _ => {
            let text = format!("{name} ended with {status}; 0 is good, 1 to 127 bad, 125 neither");
            Err(Error::new(ErrorKind::Input, text))
        }
    }
}
