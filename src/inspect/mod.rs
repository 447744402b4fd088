//! Looks into logs: the quantities of a tick by name, conditions on them, and where two runs part.

mod cause;
mod comparison;
mod condition;
mod fields;
mod parser;
mod quantities;
mod rehearsal;
mod search;

pub use cause::{Cause, scenario_differences};
pub use comparison::{Comparison, Ranked, Trace, compare, trace};
pub use condition::Condition;
pub use quantities::{Quantities, Quantity, Role};
pub use rehearsal::{Answers, Audience, Largest, rehearse};
pub use search::{Found, Verdict, first_bad};
