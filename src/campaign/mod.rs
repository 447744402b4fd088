//! Campaigns: scenarios × faults × seeds against a controller, each case with processes of its own,
//! and a table of the outcomes.

mod case;
mod columns;
mod comparison;
mod cost;
mod files;
mod junit;
mod lists;
mod manifest;
mod measurement;
mod outcome;
mod parts;
mod paths;
mod plan;
mod pool;
mod reader;
mod results;
mod statistics;
mod store;
mod workers;

pub use columns::{Cell, Column, Kind, Table};
pub use comparison::{Change, Comparison, Difference, Group, Other};
pub use cost::{Cost, GroupCost};
pub use lists::{Lists, ROBOT, tables, value_of};
pub use manifest::{Maker, Manifest, NamedScenario};
pub use outcome::{First, Held, Outcome, RENAMED, Value, Word};
pub(crate) use paths::relative;
pub use plan::{Case, Common, Keep, MARGIN, Plan, UNTIL, Vary, Way, controller_files, own_key};
pub use pool::run;
pub(crate) use reader::BETWEEN;
pub use results::{Grade, Judgement, Results};
pub use statistics::{PairedMean, sign_test};
pub use store::Store;
pub use workers::{Socket, Workers};
