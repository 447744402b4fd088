//! Which state a stamp names. Time continues from run to run, ticks begin again.

use super::counters::RosRejection;
use super::messages::Time;
use super::orders::Refused;
use super::readings::{NS, ns_of, seconds};
use crate::bus::Newest;

/// A stamp that is farther ahead is of another clock.
const AHEAD_MAX_NS: u64 = 10 * NS;

/// Reads the stamps of commands.
#[derive(Clone, Copy, Debug)]
pub struct Stamps {
    /// Length of a tick, ns.
    pub period_ns: u64,
    /// True if a stamp must be that of a state: a tick waits for the answer to it.
    pub exact: bool,
}

impl Stamps {
    /// The tick of the state that a command answers. Without a stamp, which is 0, it is the newest
    /// one where that is allowed.
    ///
    /// # Errors
    /// [`RosRejection::Stamp`].
    pub fn answered(&self, now: &Newest, stamp: &Time) -> Result<u64, Refused> {
        let refuse = |text: String| Err(Refused::new(RosRejection::Stamp, text));
        let since_begin_ns = now.tick.saturating_sub(now.first_tick) * self.period_ns;
        let begin_ns = now.time_ns.saturating_sub(since_begin_ns);
        let shown = format!("{}.{:09}", stamp.sec, stamp.nanosec);
        let Some(ns) = ns_of(stamp.sec, stamp.nanosec) else {
            return refuse(format!("the stamp is {shown} s; it must not be negative"));
        };
        if ns == 0 && !self.exact {
            return Ok(now.tick);
        }
        if ns == 0 && (begin_ns > 0 || now.tick > now.first_tick) {
            return refuse(format!(
                "there is no stamp; where ticks wait for commands, header.stamp must be that of \
                 the state that is answered, now {} s",
                seconds(now.time_ns)
            ));
        }
        if ns < begin_ns {
            return refuse(format!(
                "the stamp is {shown} s, before this run, which began at {} s",
                seconds(begin_ns)
            ));
        }
        let after_ns = ns - begin_ns;
        if self.exact && !after_ns.is_multiple_of(self.period_ns) {
            return refuse(format!(
                "the stamp is {shown} s, between two states; it must be that of a state, now {} s",
                seconds(now.time_ns)
            ));
        }
        if ns > now.time_ns.saturating_add(AHEAD_MAX_NS) {
            return refuse(format!(
                "the stamp is {shown} s, and the simulation is at {} s; nodes must have \
                 use_sim_time",
                seconds(now.time_ns)
            ));
        }
        Ok(now.first_tick.saturating_add(after_ns / self.period_ns))
    }
}
