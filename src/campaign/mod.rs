//! Campaigns: scenarios × faults × seeds against a controller, each case with processes of its own,
//! and a table of the outcomes.

mod case;
mod columns;
mod files;
mod measurement;
mod outcome;
mod plan;
mod pool;
mod reader;
mod store;

pub use columns::{Cell, Column, Kind, Table};
pub use outcome::{Held, Outcome, RENAMED, Word};
pub use plan::{Case, Common, Keep, MARGIN, Plan, UNTIL};
pub use pool::run;
pub use store::Store;
