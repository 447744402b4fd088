//! Runs logs again: compares every digest, shows every tick, or goes on from one.
//!
//! - [`replay`], [`replay_run`]: all ticks of a file or a run, on one core or on many.
//! - [`Player`]: tick by tick, for an observer.
//! - [`fork`]: leaves a log at a tick and goes on under other parameters.
//! - [`RunLog`]: the log of ticks that are run without a daemon.

mod batches;
mod compare;
mod fork;
mod parallel;
mod past;
mod player;
mod replayer;
mod report;
mod run;
mod run_log;
mod state_file;
mod tick_view;

pub use fork::{Forked, fork, saved_state};
pub use parallel::replay;
pub use past::past_state;
pub use player::Player;
pub use report::{Difference, Gap, ReplayReport, RunReport};
pub use run::{replay_run, replay_until};
pub use run_log::{RunLog, Stamp, run_info};
pub use state_file::{check_replaced, read_state, write_state};
pub use tick_view::{Look, TickView};
