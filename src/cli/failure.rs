//! Text for a run of the process harness that did not reach its end.

use crate::process_harness::{Failure, FailureKind};
use hardstand_error::ErrorKind;

use super::exit::ExitCode;

/// The failure as text of one or more lines.
pub(super) fn text(f: &Failure) -> String {
    let output = |name: &str| match f.output.as_str() {
        "" => format!("\n{name} printed nothing"),
        output => format!("\nlast lines of {name}:\n{output}"),
    };
    let waited = match f.missing.as_slice() {
        [] => String::new(),
        names => format!("\nthe daemon was waiting for {}", names.join(", ")),
    };
    let rejected: String = f.rejected.iter().map(|r| format!("\n{r}")).collect();
    let waited = waited + &rejected;
    let status = match (f.exit_code, f.signal) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no exit code".into(),
    };
    match f.kind {
        FailureKind::DaemonFailed => match &f.error {
            Some(e) => format!("the daemon failed ({status}): {}", e.message),
            None => format!("the daemon failed ({status}){}", output("the daemon")),
        },
        FailureKind::ControllerNotJoined => format!(
            "no controller joined in time{waited}. In lockstep a tick waits only for controllers \
             that have joined: query hardstand/ROBOT/join at the start of the controller \
             (docs/protocol.md, Joining; examples/lockstep.py does so in Python). The daemon \
             listens at HARDSTAND_CONNECT, which is bus.listen of the scenario{}",
            output("the controller")
        ),
        FailureKind::ControllerEnded => format!(
            "the controller ended after {} ticks, before the run did ({status}){waited}{}",
            f.ticks,
            output("the controller")
        ),
        FailureKind::ControllerTimeout => format!(
            "timed out waiting for the controller after {} ticks{waited}{}",
            f.ticks,
            output("the controller")
        ),
        FailureKind::Stopped => "stopped by a signal".into(),
    }
}

/// The exit code of a command whose run failed so.
pub(super) fn code_of(f: &Failure) -> ExitCode {
    match f.kind {
        FailureKind::DaemonFailed => {
            let code =
                |code: &i32| ExitCode::ALL.into_iter().find(|c| i32::from(c.number()) == *code);
            let code = f.exit_code.as_ref().and_then(code).filter(|code| *code != ExitCode::Done);
            code.unwrap_or_else(|| ErrorKind::Internal.into())
        }
        FailureKind::ControllerNotJoined
        | FailureKind::ControllerEnded
        | FailureKind::ControllerTimeout => ExitCode::ControllerTimeout,
        FailureKind::Stopped => ExitCode::Negative,
    }
}
