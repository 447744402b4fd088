//! Looks into logs: the quantities of a tick by name, conditions on them, and where two runs part.

mod cause;
mod comparison;
mod condition;
mod controller_replay;
mod fields;
mod mismatch;
mod parser;
mod quantities;
mod search;
mod selection;
mod watch;

pub use cause::{Cause, scenario_differences};
pub use comparison::{Comparison, Ranked, Trace, compare, trace};
pub use condition::Condition;
pub use controller_replay::{Answers, Largest, ReplayedAnswers, replay_to_controllers};
pub use mismatch::Mismatch;
pub use quantities::{Quantities, Quantity, Role};
pub use search::{Found, Verdict, first_bad};
pub use selection::sample;
pub use watch::{Truth, Watch};
