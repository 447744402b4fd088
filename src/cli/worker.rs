//! `hardstand worker`: runs one scenario after another, for campaigns.

use std::fs::File;
use std::io::Write as _;
use std::sync::atomic::Ordering;

use clap::Parser as _;
use rustix::stdio;

use crate::daemon::{Host, Kept};
use crate::process_harness::Task;
use hardstand_error::{Error, ErrorKind, Result};

use super::arguments::{Arguments, Verb};
use super::{DaemonStop, ExitCode, run, show};

/// Takes tasks from standard input, a line of JSON each, until it ends, or a signal comes during a
/// run. Answers with the exit code of each.
pub(super) fn worker() -> Result<ExitCode> {
    let stop = DaemonStop::on_signal()?;
    let host = Host::Worker(Kept::default());
    let failed = |e: std::io::Error| Error::new(ErrorKind::File, format!("worker: {e}"));
    // what the runs print goes elsewhere
    let mut answers = File::from(rustix::io::dup(stdio::stdout()).map_err(|e| failed(e.into()))?);
    for line in std::io::stdin().lines() {
        let task: Task = serde_json::from_str(&line.map_err(failed)?)
            .map_err(|e| Error::new(ErrorKind::Input, format!("worker: a task: {e}")))?;
        let output = File::create(&task.output).map_err(failed)?;
        stdio::dup2_stdout(&output).map_err(|e| failed(e.into()))?;
        stdio::dup2_stderr(&output).map_err(|e| failed(e.into()))?;
        let code = one(&task, &host, &stop).unwrap_or_else(|e| {
            show::error(&e);
            e.kind().into()
        });
        // in one piece: half a line would be another answer
        answers.write_all(format!("{}\n", code.number()).as_bytes()).map_err(failed)?;
        if stop.asked().load(Ordering::Relaxed) {
            break;
        }
    }
    Ok(ExitCode::Done)
}

fn one(task: &Task, host: &Host, stop: &DaemonStop) -> Result<ExitCode> {
    let words = ["hardstand".into(), "run".into()].into_iter().chain(task.run.iter().cloned());
    let refused = |text: String| Error::new(ErrorKind::Input, format!("worker: {text}"));
    match Arguments::try_parse_from(words).map_err(|e| refused(e.to_string()))?.verb {
        Verb::Run(a) => run::run_in(&a, Some(host), stop),
        _ => Err(refused("the task is no run".into())),
    }
}
