//! Every state of the loop, with every trigger, beside a count of ticks.

use hardstand::rt::{Ending, LoopState, Trigger};

use super::explorer::{System, explore};

/// Ticks of a run.
const TICKS_MAX: u64 = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
struct State {
    state: LoopState,
    ticks: u64,
    /// Ticks after which a request has asked to pause, if it was the last.
    until: Option<u64>,
    /// No tick may run until a request asks for one.
    paused: bool,
    /// No tick may run until the controllers are there, or a request asks for one.
    awaits_controllers: bool,
    /// No tick may run until its commands are there, or a request ends that.
    waits_for_commands: bool,
}

struct Loop;

fn is_request(trigger: Trigger) -> bool {
    matches!(
        trigger,
        Trigger::Pause | Trigger::Resume | Trigger::StepUntil(_) | Trigger::Reset { .. }
    )
}

impl State {
    /// What `trigger` means, whatever the table says.
    fn note(&mut self, trigger: Trigger) {
        match trigger {
            Trigger::Pause => {
                (self.until, self.paused) = (None, true);
                (self.awaits_controllers, self.waits_for_commands) = (false, false);
            }
            Trigger::Resume => {
                (self.until, self.paused, self.awaits_controllers) = (None, false, false);
            }
            Trigger::StepUntil(until) => {
                (self.until, self.paused, self.awaits_controllers) = (Some(until), false, false);
            }
            Trigger::Reset { await_controllers } => {
                (self.until, self.ticks) = (None, 0);
                self.awaits_controllers = await_controllers && !self.paused;
                self.waits_for_commands = false;
            }
            Trigger::TickDone(ticks) => {
                self.ticks = ticks;
                if self.until.is_some_and(|until| ticks >= until) {
                    (self.until, self.paused) = (None, true);
                }
            }
            Trigger::ControllersReady => self.awaits_controllers = false,
            Trigger::CommandsMissing => self.waits_for_commands = true,
            Trigger::WaitOver => self.waits_for_commands = false,
            Trigger::End(_) => {}
        }
    }

    /// The first thing that is wrong.
    fn fault(&self) -> Option<String> {
        let until = match self.state {
            LoopState::Stepping { until } => Some(until),
            LoopState::WaitingForCommands { until } => until,
            _ => None,
        };
        let waits = matches!(self.state, LoopState::WaitingForCommands { .. });
        if matches!(self.state, LoopState::Ended(_)) {
            None
        } else if until != self.until {
            Some(format!("{:?} steps until {until:?} instead of {:?}", self.state, self.until))
        } else if self.paused != (self.state == LoopState::Paused) {
            Some(format!("{:?}, but paused is {}", self.state, self.paused))
        } else if self.awaits_controllers != (self.state == LoopState::AwaitingControllers) {
            Some(format!("{:?}: awaits_controllers {}", self.state, self.awaits_controllers))
        } else if self.waits_for_commands != waits {
            Some(format!("{:?}: waits_for_commands {}", self.state, self.waits_for_commands))
        } else if until.is_some_and(|until| until <= self.ticks) {
            Some(format!("{:?} after {} ticks", self.state, self.ticks))
        } else {
            None
        }
    }
}

impl System for Loop {
    type State = State;
    type Action = Trigger;

    fn first(&self) -> State {
        let state = LoopState::at_start(true);
        State {
            state,
            ticks: 0,
            until: None,
            paused: false,
            awaits_controllers: true,
            waits_for_commands: false,
        }
    }

    fn actions(&self, state: &State) -> Vec<Trigger> {
        let mut triggers = vec![
            Trigger::End(Ending::Stopped),
            Trigger::End(Ending::Done),
            Trigger::Pause,
            Trigger::Resume,
            Trigger::ControllersReady,
            Trigger::CommandsMissing,
            Trigger::WaitOver,
            Trigger::TickDone((state.ticks + 1).min(TICKS_MAX)),
            Trigger::Reset { await_controllers: true },
            Trigger::Reset { await_controllers: false },
        ];
        triggers.extend((state.ticks + 1..=TICKS_MAX).map(Trigger::StepUntil));
        triggers
    }

    fn next(&self, before: &State, trigger: Trigger) -> Result<State, String> {
        let over = matches!(before.state, LoopState::Ended(_));
        let waits = matches!(before.state, LoopState::WaitingForCommands { .. });
        let is_possible = match trigger {
            _ if over => false,
            Trigger::End(_) => true,
            _ if is_request(trigger) => true,
            Trigger::TickDone(_) | Trigger::CommandsMissing => before.state.runs_ticks(),
            Trigger::WaitOver => waits,
            _ => before.state == LoopState::AwaitingControllers,
        };
        let Some(state) = before.state.next(trigger) else {
            let refused = || format!("{:?} refuses {trigger:?}", before.state);
            return if is_possible { Err(refused()) } else { Ok(*before) };
        };
        if !is_possible {
            return Err(format!("{:?} takes {trigger:?}", before.state));
        }
        if let Trigger::End(ending) = trigger
            && state != LoopState::Ended(ending)
        {
            return Err(format!("{state:?} after {trigger:?}"));
        }
        let mut after = State { state, ..*before };
        after.note(trigger);
        after.fault().map_or(Ok(after), Err)
    }

    fn key(&self, state: &State) -> Vec<u8> {
        let State { state, ticks, until, paused, awaits_controllers, waits_for_commands } = state;
        format!("{state:?} {ticks} {until:?} {paused} {awaits_controllers} {waits_for_commands}")
            .into_bytes()
    }

    /// The run has ended: the first action ends it.
    fn is_at_rest(&self, state: &State) -> bool {
        matches!(state.state, LoopState::Ended(_))
    }
}

#[test]
fn no_state_of_the_loop_is_dead_and_each_can_be_ended() {
    let visited = explore(&Loop, 1000).unwrap_or_else(|broken| panic!("{broken}"));
    println!("states of the loop: {visited:?}");
    assert_eq!(visited.quiet_steps_max, 1);
}
