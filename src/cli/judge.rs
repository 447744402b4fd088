//! `hardstand bisect LOG -- COMMAND`: a command that judges ticks.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Map, Value};

use crate::inspect::{Found, Quantities, Verdict, first_bad};
use crate::record::{RunIndex, TickId};
use crate::replay::{Player, TickView};
use hardstand_error::{Error, ErrorKind, Result};

use super::{ExitCode, differences, replay, show};

/// Exit code of a command that cannot judge a tick, as for `git bisect run`.
const UNKNOWN: i32 = 125;

pub(super) fn judge(log: &Path, command: &[OsString]) -> Result<ExitCode> {
    let (reader, scenario) = replay::open(log, &[])?;
    let run = replay::run(reader, &scenario, None, None)?;
    if run.whole.difference.is_some() {
        return Ok(ExitCode::Negative);
    }
    let index = RunIndex::of(log, |_, _| ())?;
    let quantities = Quantities::of(&scenario.plant());
    let period_ns = scenario.spec.period_ns;
    let place = |n: u64| differences::place(index.tick(n).unwrap_or_default(), period_ns);
    let found = first_bad(index.ticks(), |n| {
        let TickId { run_id, tick } = index.tick(n).unwrap_or_default();
        let player = Player::open_after(log, &index, run_id, tick)?;
        let Some(moment) = player.moment().filter(|_| player.difference().is_none()) else {
            // all of it has been replayed
            let text = format!("{} has changed meanwhile", log.display());
            return Err(Error::new(ErrorKind::Log, text));
        };
        let verdict = ask(command, &quantities, &moment)?;
        let word = match verdict {
            Verdict::Good => "good",
            Verdict::Bad => "bad",
            Verdict::Unknown => "cannot be judged",
        };
        show::line(&format!("judged     {}: {word}", place(n)));
        Ok(verdict)
    });
    match found? {
        Found::First(n) => show::line(&format!("bad        first at {}", place(n))),
        Found::Among(from, to) => show::line(&format!(
            "bad        first between {} and {}: those before the last cannot be judged",
            place(from),
            place(to)
        )),
        Found::Nothing => {
            show::line("never      the last tick is good, so all before it are taken as good");
            return Ok(replay::code_of(&run));
        }
        Found::Unjudged => {
            let text = "the command can judge none of the last ticks (exit code 125), so there is \
                        no bad one to begin with";
            return Err(Error::new(ErrorKind::Input, text));
        }
    }
    Ok(ExitCode::Negative)
}

/// Lets the command judge a tick.
fn ask(command: &[OsString], quantities: &Quantities, moment: &TickView<'_>) -> Result<Verdict> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(Error::new(ErrorKind::Input, "there is no command after --"));
    };
    let name = program.to_string_lossy();
    let failed =
        |e: std::io::Error| Error::new(ErrorKind::Input, format!("cannot run {name}: {e}"));
    let value = |x: f64| serde_json::Number::from_f64(x).map_or(Value::Null, Value::Number);
    let all = quantities.list().iter().map(|q| (q.name.clone(), value(q.of(moment))));
    let json = Value::Object(all.collect::<Map<_, _>>()).to_string();
    let mut child = Command::new(program)
        .args(arguments)
        .env("HARDSTAND_TICK", moment.state.tick.to_string())
        .env("HARDSTAND_EPOCH", moment.applied.run_id.to_string())
        .stdin(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // one that knows enough need not read on
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
