//! The states of the loop, and the one table of transitions between them.
//!
//! ```text
//!            ControllersReady             Pause
//! AwaitingControllers ──► Running ◄──────────────► Paused ◄──┐
//!                          │   ▲          Resume     │       │ TickDone, if it was the last
//!         CommandsMissing  ▼   │ WaitOver            ▼ StepUntil
//!                   WaitingForCommands ◄──────────► Stepping
//!                               CommandsMissing, WaitOver
//! ```
//!
//! | Trigger | AwaitingControllers | Running | Stepping | WaitingForCommands | Paused |
//! | --- | --- | --- | --- | --- | --- |
//! | Pause | Paused | Paused | Paused | Paused | Paused |
//! | Resume | Running | Running | Running | waits, then Running | Running |
//! | StepUntil | Stepping | Stepping | Stepping | waits, then Stepping | Stepping |
//! | ControllersReady | Running | | | | |
//! | CommandsMissing | | WaitingForCommands | WaitingForCommands | | |
//! | WaitOver | | | | Running or Stepping | |
//! | TickDone | | Running | Stepping or Paused | | |
//! | Reset | start | start | start | start | Paused |
//! | End | Ended | Ended | Ended | Ended | Ended |
//!
//! An empty cell is a transition that the table refuses; `Ended` refuses every one. "start" is
//! `AwaitingControllers` if the reset waits for controllers, else `Running`.

use super::links::Ending;

/// What the loop does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopState {
    /// No tick runs until the controllers are there with which the run begins.
    AwaitingControllers,
    /// Ticks run.
    Running,
    /// Ticks run until so many are done; then the loop pauses.
    Stepping {
        /// The number of ticks done at which the loop pauses.
        until: u64,
    },
    /// The next tick waits for commands that are due at it.
    WaitingForCommands {
        /// As in [`Stepping`](Self::Stepping), if the loop was stepping; `None` if it was running.
        until: Option<u64>,
    },
    /// No tick runs until a request comes.
    Paused,
    /// The run is over.
    Ended(Ending),
}

/// What can change the state of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// A request to pause.
    Pause,
    /// A request to run.
    Resume,
    /// A request to run until so many ticks are done, more than now.
    StepUntil(u64),
    /// The controllers are there with which the run begins.
    ControllersReady,
    /// A command is missing that is due at the next tick.
    CommandsMissing,
    /// Every command is there that is due at the next tick, or the budget for waiting is spent.
    WaitOver,
    /// So many ticks are done.
    TickDone(u64),
    /// The state of the robot was replaced.
    Reset {
        /// Wait for controllers, as at the start.
        await_controllers: bool,
    },
    /// The run ends.
    End(Ending),
}

impl LoopState {
    /// The first state of a run.
    #[must_use]
    pub const fn at_start(await_controllers: bool) -> Self {
        if await_controllers { Self::AwaitingControllers } else { Self::Running }
    }

    /// The state after `trigger`; `None` if the trigger cannot come in this state.
    #[must_use]
    pub fn next(self, trigger: Trigger) -> Option<Self> {
        use LoopState::{
            AwaitingControllers, Ended, Paused, Running, Stepping, WaitingForCommands,
        };
        Some(match (self, trigger) {
            (Ended(_), _) => return None,
            (_, Trigger::End(ending)) => Ended(ending),
            (_, Trigger::Pause) => Paused,

            (WaitingForCommands { .. }, Trigger::Resume) => WaitingForCommands { until: None },
            (_, Trigger::Resume) => Running,
            (WaitingForCommands { .. }, Trigger::StepUntil(until)) => {
                WaitingForCommands { until: Some(until) }
            }
            (_, Trigger::StepUntil(until)) => Stepping { until },

            (Paused, Trigger::Reset { .. }) => Paused,
            (_, Trigger::Reset { await_controllers }) => Self::at_start(await_controllers),

            (AwaitingControllers, Trigger::ControllersReady) => Running,

            (Running, Trigger::CommandsMissing) => WaitingForCommands { until: None },
            (Stepping { until }, Trigger::CommandsMissing) => {
                WaitingForCommands { until: Some(until) }
            }
            (WaitingForCommands { until: None }, Trigger::WaitOver) => Running,
            (WaitingForCommands { until: Some(until) }, Trigger::WaitOver) => Stepping { until },

            (Running, Trigger::TickDone(_)) => Running,
            (Stepping { until }, Trigger::TickDone(ticks)) if ticks >= until => Paused,
            (Stepping { until }, Trigger::TickDone(_)) => Stepping { until },

            _ => return None,
        })
    }

    /// True if the next tick may run now.
    #[must_use]
    pub const fn runs_ticks(self) -> bool {
        matches!(self, Self::Running | Self::Stepping { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::{Ending, LoopState, Trigger};

    const RUNNING_WAIT: LoopState = LoopState::WaitingForCommands { until: None };
    const STEPPING_WAIT: LoopState = LoopState::WaitingForCommands { until: Some(7) };
    const ENDED: LoopState = LoopState::Ended(Ending::Done);

    /// A state and its letter in [`TABLE`].
    const STATES: [(char, LoopState); 7] = [
        ('A', LoopState::AwaitingControllers),
        ('R', LoopState::Running),
        ('S', LoopState::Stepping { until: 7 }),
        ('w', RUNNING_WAIT),
        ('W', STEPPING_WAIT),
        ('P', LoopState::Paused),
        ('E', ENDED),
    ];
    const TRIGGERS: [Trigger; 11] = [
        Trigger::Pause,
        Trigger::Resume,
        Trigger::StepUntil(7),
        Trigger::ControllersReady,
        Trigger::CommandsMissing,
        Trigger::WaitOver,
        Trigger::TickDone(6),
        Trigger::TickDone(7),
        Trigger::Reset { await_controllers: true },
        Trigger::Reset { await_controllers: false },
        Trigger::End(Ending::Done),
    ];
    /// A row for each state, a column for each trigger: the letter of the next state, `-` for a
    /// transition that is refused.
    const TABLE: [&str; 7] = [
        "PRSR----ARE", // awaiting controllers
        "PRS-w-RRARE", // running
        "PRS-W-SPARE", // stepping
        "PwW--R--ARE", // waiting for commands, was running
        "PwW--S--ARE", // waiting for commands, was stepping
        "PRS-----PPE", // paused
        "-----------", // ended
    ];

    #[test]
    fn every_pair_of_state_and_trigger_is_in_the_table() {
        for ((_, state), row) in STATES.into_iter().zip(TABLE) {
            assert_eq!(row.len(), TRIGGERS.len());
            for (trigger, letter) in TRIGGERS.into_iter().zip(row.chars()) {
                let next = STATES.into_iter().find(|(l, _)| *l == letter).map(|(_, s)| s);
                assert_eq!(state.next(trigger), next, "{state:?} and {trigger:?}");
            }
        }
    }

    #[test]
    fn every_state_can_be_reached_and_only_the_end_is_final() {
        let mut reached = vec![LoopState::AwaitingControllers];
        let mut looked_at = 0;
        while let Some(state) = reached.get(looked_at).copied() {
            looked_at += 1;
            let next: Vec<_> = TRIGGERS.into_iter().filter_map(|t| state.next(t)).collect();
            assert_eq!(next.is_empty(), state == ENDED, "{state:?}");
            for state in next {
                if !reached.contains(&state) {
                    reached.push(state);
                }
            }
        }
        assert_eq!(reached.len(), STATES.len());
    }

    #[test]
    fn ticks_run_in_two_states_only() {
        let running: Vec<_> = STATES.into_iter().filter(|(_, s)| s.runs_ticks()).collect();
        assert_eq!(running.iter().map(|(l, _)| *l).collect::<String>(), "RS");
    }
}
