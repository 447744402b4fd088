//! The section `control` of a scenario: the controllers that the loop waits for, and how long.

use std::io::IsTerminal as _;

use super::realtime::{Budget, ControllerNumbers, Mode};
use crate::limits::LEASES_MAX;
use hardstand_protocol::{controller_number, is_controller_name};

use super::section::{Range, Section};

/// Settings for the treatment of controllers.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlSettings {
    /// Whether a tick waits for the commands that are due at it.
    pub mode: Mode,
    /// Names of the controllers that must have joined before simulated time begins.
    pub controllers: Vec<String>,
    patience: Patience,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Patience {
    Auto,
    Forever,
    Seconds(f64),
}

/// Patience if the output is not a terminal, s.
const NO_TERMINAL_S: f64 = 60.0;

impl ControlSettings {
    /// Wall time after which a missing controller ends the run, ns; `None`: never.
    #[must_use]
    pub fn patience_ns(&self) -> Option<u64> {
        match self.patience {
            Patience::Auto if std::io::stdout().is_terminal() => None,
            _ => self.patience_without_terminal_ns(),
        }
    }

    /// The same of a process without a terminal, whatever this one has.
    #[must_use]
    pub fn patience_without_terminal_ns(&self) -> Option<u64> {
        let seconds = match self.patience {
            Patience::Forever => return None,
            Patience::Auto => NO_TERMINAL_S,
            Patience::Seconds(seconds) => seconds,
        };
        Some((seconds * 1e9) as u64)
    }

    /// The controller numbers of the expected controllers.
    #[must_use]
    pub fn expected(&self) -> ControllerNumbers {
        let mut numbers = ControllerNumbers::default();
        for (number, name) in numbers.iter_mut().zip(&self.controllers) {
            *number = controller_number(name);
        }
        numbers
    }
}

pub(super) fn control(root: &Section<'_>) -> ControlSettings {
    let s = root.section("control");
    let ms = |key: &str| (s.f64(key, Range::between(0.0, 1e6)) * 1e6).round() as u64;
    let budget = Budget {
        per_tick_ns: ms("budget_ms"),
        per_window_ns: ms("window_budget_ms"),
        window_ticks: s.count("window_ticks", 1, 1_000_000),
    };
    let modes = [
        ("realtime", Mode::RealTime),
        ("lockstep", Mode::Lockstep),
        ("budgeted", Mode::Budgeted(budget)),
    ];
    let controllers = s.texts("controllers");
    if controllers.len() > LEASES_MAX || !controllers.iter().all(|name| is_controller_name(name)) {
        s.mistake(
            "controllers",
            &format!(
                "a list of at most {LEASES_MAX} names, each 1 to 64 letters, digits, \"-\", \"_\" \
                 or \".\""
            ),
        );
    }
    let twin = controllers.iter().enumerate().find(|(i, name)| controllers[..*i].contains(*name));
    if let Some((_, name)) = twin {
        s.complain("controllers", &format!("the name {name:?} is used twice"));
    }
    let patience = if s.choice_or_number("patience_s", "auto") {
        Patience::Auto
    } else if s.choice_or_number("patience_s", "forever") {
        Patience::Forever
    } else {
        Patience::Seconds(s.f64("patience_s", Range::between(0.0, 1e6)))
    };
    let mode = s.choice("mode", &modes).unwrap_or(Mode::RealTime);
    s.finish();
    ControlSettings { mode, controllers, patience }
}
