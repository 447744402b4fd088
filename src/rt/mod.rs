//! The loop that runs the robot on time: the executive, its states, the pacer, the clock, and the
//! privileges of the thread.
//!
//! [`LoopState`] names the states of the loop and holds the table of transitions. On the physics
//! thread there is no allocation, no lock that another thread can hold, and no system call but the
//! one that waits for the next deadline; unless the loop waits for controllers, which wake it, or
//! for the [other robots](Place) of the daemon.
//! [`ControllerReplay`] is a loop of its own that is never real-time.

mod arrivals;
mod await_controllers;
mod clock;
mod command_admission;
mod controller_replay;
mod delay_line;
mod direct;
mod executive;
mod inputs;
mod join;
mod link_faults;
mod links;
mod loop_event;
mod lost_controllers;
mod meeting;
mod open_files;
mod outputs;
mod pacer;
mod paused;
mod port_state;
mod privileges;
mod recent_panics;
mod recent_states;
mod records;
mod request_queue;
mod requests;
mod state;
mod state_faults;
mod thread;
mod touching;
mod wait_budget;
mod wait_for_commands;

pub use arrivals::Arrivals;
pub use clock::{Clock, ManualClock, MonotonicClock};
pub use command_admission::AdmissionCounts;
pub use controller_replay::{ControllerReplay, NextInput, TickAnswers};
pub use direct::{Direct, Publish};
pub use executive::Executive;
pub use join::JoinAnswer;
pub use link_faults::{LinkCounts, LinkFaults};
pub use links::{Ending, Links, RunLimits};
pub use loop_event::{Happened, LoopEvent};
pub use meeting::Place;
pub use open_files::allow_open_files;
pub use pacer::{Pacer, Wait};
pub use port_state::{PORT_QUEUE, PortState};
pub use privileges::{drop_privileges, keep_files_private, may_write};
pub use recent_panics::RecentPanics;
pub use records::{SetPoint, TickReport, empty_log_tick, fill_log_tick, set_points};
pub use request_queue::{
    Answer, Request, RequestReceiver, RequestSender, StateReset, request_queue,
};
pub use state::{LoopState, Trigger};
pub use state_faults::{StateCounts, StateFaults};
pub use thread::{Grants, enter_realtime, keep_cores_awake, keep_off_core, lock_memory, pick_core};
pub use touching::{TouchFinder, Touching};
