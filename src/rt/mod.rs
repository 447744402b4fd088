//! Calling the plant on time: the executive, the pacer, the clock, and the thread's rights.
//!
//! On the physics thread there is no allocation, no lock that another thread can hold, and no
//! system call but the one that waits for the next deadline; unless it waits for controllers, which
//! wake it.

mod await_controllers;
mod clock;
mod controller_replay;
mod direct;
mod executive;
mod gate;
mod join;
mod kept;
mod link_faults;
mod links;
mod loop_event;
mod mode;
mod order_line;
mod orders;
mod pacer;
mod privileges;
mod records;
mod schedule;
mod stand_by;
mod thread;

pub use clock::{Clock, ManualClock, MonotonicClock};
pub use controller_replay::{ControllerReplay, Heard, Prompt};
pub use direct::{Direct, Publish};
pub use executive::Executive;
pub use gate::GateCounts;
pub use join::JoinAnswer;
pub use link_faults::{LinkCounts, LinkFaults};
pub use links::{Ending, Links, RunLimits};
pub use loop_event::{Happened, LoopEvent};
pub use order_line::{Answer, Order, OrderInbox, OrderOutbox, StateReset, order_line};
pub use pacer::{Pacer, Wait};
pub use privileges::{drop_privileges, keep_files_private, may_write};
pub(crate) use records::is_in_force;
pub use records::{LogTick, OfferRecord, Phase, SetPoint, TickReport};
pub use schedule::Schedule;
pub use thread::{Grants, enter_realtime, keep_cores_awake, keep_off_core, lock_memory, pick_core};
