//! `hardstand run`.

use std::io::IsTerminal as _;

use signal_hook::consts::{SIGHUP, SIGXFSZ};

use crate::config::Scenario;
use crate::daemon::{self, Happening, Summary};
use crate::error::Result;
use crate::rt::{Ending, Pace, Phase};

use super::arguments::{ModeArgument, PaceArgument, RunArguments};
use super::{exit, progress, show, stop_on_signal, survive};

pub(super) fn run(a: &RunArguments) -> Result<u8> {
    let stop = stop_on_signal()?;
    // a daemon outlives its terminal, and a file that may not grow is no reason to die
    survive(&[SIGHUP, SIGXFSZ])?;
    let scenario = Scenario::load(&a.scenario, &sets(a))?;
    show::scenario(&scenario);
    // at free pace a bar says more than lines that rush by
    let bar = match scenario.ticks {
        Some(n) if scenario.pace == Pace::Free && std::io::stderr().is_terminal() => {
            Some(progress::bar(n, "simulating"))
        }
        _ => None,
    };
    let (mut waited_s, mut paused) = (0_u64, false);
    let summary = daemon::run(&scenario, a.log.clone(), &stop, |happening| match happening {
        Happening::Ready(grants) => show::ready(&scenario, grants),
        Happening::Stall(stall) => show::stall(&scenario, stall),
        Happening::Second(second) if second.phase == Phase::Waiting => {
            // once, and then a reminder every ten seconds
            if waited_s.is_multiple_of(10) {
                show::waiting(&scenario);
            }
            waited_s += 1;
        }
        Happening::Second(second) if second.phase == Phase::Paused => {
            if !paused {
                show::paused(second);
            }
            paused = true;
        }
        Happening::Second(second) => {
            paused = false;
            match &bar {
                Some(bar) => {
                    bar.set_position(second.tick);
                    bar.set_message(format!("{:.0} × real time", second.real_time_factor));
                }
                None => show::second(second),
            }
        }
    })?;
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    show::summary(&summary);
    Ok(code_of(&summary))
}

/// The flags are short for keys of the scenario, so that the log tells them too.
fn sets(a: &RunArguments) -> Vec<String> {
    let mut sets = a.sets.clone();
    sets.extend(a.duration.map(|s| format!("sim.duration_s={s:?}")));
    sets.extend(a.speed.map(|x| format!("sim.speed={x:?}")));
    let mode = a.mode.map(|mode| match mode {
        ModeArgument::Realtime => "realtime",
        ModeArgument::Lockstep => "lockstep",
        ModeArgument::Budgeted => "budgeted",
    });
    sets.extend(mode.map(|word| format!("control.mode=\"{word}\"")));
    match a.pace {
        Some(PaceArgument::Realtime) => sets.push("sim.pace=\"realtime\"".into()),
        Some(PaceArgument::Free) => {
            sets.push("sim.pace=\"free\"".into());
            if !matches!(a.mode, Some(ModeArgument::Lockstep | ModeArgument::Budgeted)) {
                sets.push("sim.start=\"now\"".into());
            }
        }
        None => {}
    }
    sets
}

pub(super) fn code_of(summary: &Summary) -> u8 {
    match summary.ending {
        Ending::Done | Ending::Stopped if summary.recorded.error.is_some() => exit::LOSSY,
        Ending::Done | Ending::Stopped => exit::OK,
        Ending::Overrun | Ending::ClockWentBack => exit::OVERRUN,
        Ending::Fault(_) => exit::FAULT,
        Ending::Deserted(_) => exit::DESERTED,
    }
}
