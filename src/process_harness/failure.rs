//! Why a trial has not come to its end.

use std::path::Path;

use super::{CONTROLLER_WORDS, DAEMON_WORDS, Ended, last_words, why_ended};

/// Why a run did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The daemon ended with this exit code, or by a signal; its last words.
    Daemon(Option<i32>, String),
    /// No controller has joined in time; the controller's last words.
    NobodyJoined(String),
    /// The controller has ended, and how; after so many ticks; its last words.
    ControllerEnded(String, u64, String),
    /// The controller was silent for too long, after so many ticks; its last words.
    ControllerSilent(u64, String),
    /// It was asked to end.
    Stopped,
}

/// Exit code of a daemon whose controller did not come, or was silent for too long.
const CONTROLLER_TIMEOUT: i32 = 8;

impl Ended {
    /// Why the run was over before its end, if its log has `ticks` ticks; `folder` is that of the
    /// trial.
    #[must_use]
    pub fn failure(&self, ticks: u64, folder: &Path) -> Failure {
        let mut words = last_words(&folder.join(CONTROLLER_WORDS));
        // whom the daemon has waited for
        let daemon_words = last_words(&folder.join(DAEMON_WORDS));
        if let Some(ended) = why_ended(&daemon_words) {
            let controller = if words.is_empty() { "nothing" } else { &words };
            words = format!("{controller}\nand the daemon: {ended}");
        }
        match (self.daemon.code(), self.controller) {
            (Some(0 | CONTROLLER_TIMEOUT), Some(status)) => {
                Failure::ControllerEnded(status.to_string(), ticks, words)
            }
            (Some(CONTROLLER_TIMEOUT), None) if ticks == 0 => Failure::NobodyJoined(words),
            (Some(CONTROLLER_TIMEOUT), None) => Failure::ControllerSilent(ticks, words),
            (code, _) => Failure::Daemon(code, daemon_words),
        }
    }
}

impl Failure {
    /// In words.
    #[must_use]
    pub fn words(&self) -> String {
        let said = |who: &str, words: &str| match words {
            "" => format!("\n{who} said nothing"),
            words => format!("\n{who} said last:\n{words}"),
        };
        match self {
            Self::Daemon(code, words) => {
                let code = code.map_or("by a signal".into(), |code| format!("with code {code}"));
                format!("the daemon ended {code}{}", said("it", words))
            }
            Self::NobodyJoined(words) => format!(
                "no controller joined in time. In lockstep ticks wait for controllers that have \
                 joined, and for no others: query hardstand/ROBOT/join at its start \
                 (docs/protocol.md, Joining; examples/lockstep.py does so in Python). It finds the \
                 daemon at HARDSTAND_CONNECT, or where bus.listen of the scenario says{}",
                said("the controller", words)
            ),
            Self::ControllerEnded(how, ticks, words) => format!(
                "the controller ended after {ticks} ticks, before the run was over ({how}){}",
                said("it", words)
            ),
            Self::ControllerSilent(ticks, words) => format!(
                "the controller gave no answer in time after {ticks} ticks{}",
                said("it", words)
            ),
            Self::Stopped => "it was asked to end".into(),
        }
    }
}
