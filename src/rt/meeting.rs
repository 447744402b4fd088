//! Where the loops of several robots meet: no tick begins before all of them are ready for theirs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::buffer_pool::Notifier;
use crate::simulation::Simulation;
use hardstand_protocol::Event;

use super::touching::{TouchFinder, Touching};

/// A robot that has run all of its ticks is ready for every tick.
const GONE: u64 = u64::MAX;

/// The robots of a daemon.
#[derive(Debug)]
struct Meeting {
    /// Of each robot, the number of ticks for which it has been ready.
    ready: Vec<AtomicU64>,
    /// Wake the loops.
    bells: Vec<Notifier>,
    /// One of them has ended before its time: so do the others.
    broken: AtomicBool,
    /// How they touch, if they have shapes.
    touching: Option<Touching>,
}

/// A robot's place in the meeting. No call allocates or waits.
#[derive(Debug)]
pub struct Place {
    meeting: Arc<Meeting>,
    own: usize,
    /// Ticks that it has run.
    run: u64,
    /// It has run all of its ticks.
    in_time: bool,
    finder: TouchFinder,
}

impl Place {
    /// The places of as many robots as there are `bells`, which wake their loops.
    #[must_use]
    pub fn all(bells: Vec<Notifier>, touching: Option<Touching>) -> Vec<Self> {
        let ready = bells.iter().map(|_| AtomicU64::new(0)).collect();
        let meeting = Arc::new(Meeting { ready, bells, broken: AtomicBool::new(false), touching });
        let place = |own| Self {
            meeting: Arc::clone(&meeting),
            own,
            run: 0,
            in_time: false,
            finder: TouchFinder::default(),
        };
        (0..meeting.bells.len()).map(place).collect()
    }

    /// This robot, which is in this state, is ready for its next tick; true if all others are.
    pub(super) fn meets(&self, simulation: &Simulation) -> bool {
        let own = self.run + 1;
        let Meeting { ready, touching, .. } = &*self.meeting;
        if ready[self.own].load(Ordering::Relaxed) < own {
            touching.iter().for_each(|all| all.show(self.own, own, simulation));
            ready[self.own].store(own, Ordering::Release);
            self.wake_others();
        }
        ready.iter().all(|other| other.load(Ordering::Acquire) >= own)
    }

    /// The tick that all were ready for has been run.
    pub(super) const fn tick_done(&mut self) {
        self.run += 1;
    }

    /// Adds how the others touch this robot in the tick that all are ready for.
    pub(super) fn add_touches(&mut self, events: &mut Vec<Event>) {
        let Self { meeting, own, run, finder, .. } = self;
        meeting.touching.iter().for_each(|all| all.pushes(*own, *run + 1, finder, events));
    }

    /// True if another robot has ended before its time.
    pub(super) fn is_broken(&self) -> bool {
        self.meeting.broken.load(Ordering::Relaxed)
    }

    /// This robot has run all of its ticks: its end is none of the others. It stays where it is.
    pub(super) fn end_in_time(&mut self, simulation: &Simulation) {
        self.in_time = true;
        let touching = self.meeting.touching.iter();
        touching.for_each(|all| all.stand(self.own, self.run + 1, simulation));
    }

    fn wake_others(&self) {
        let others = self.meeting.bells.iter().enumerate().filter(|(i, _)| *i != self.own);
        others.for_each(|(_, bell)| bell.ring());
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // one that ends before its time is ready for the tick in which it did, and for none after
        // it: so the others end in the same tick, however fast they are
        let Meeting { broken, ready, .. } = &*self.meeting;
        if self.in_time {
            ready[self.own].store(GONE, Ordering::Release);
        } else {
            broken.store(true, Ordering::Relaxed);
        }
        self.wake_others();
    }
}

#[cfg(test)]
mod tests {
    use super::Place;
    use crate::buffer_pool::bell;
    use crate::config::Scenario;
    use crate::simulation::Simulation;
    use hardstand_error::Result;

    const BOX: &str = "<robot name='box'><link name='b'><inertial><mass value='1'/>\
        <inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link></robot>";

    /// Two places, and a robot for both.
    fn places() -> Result<(Vec<Place>, Simulation)> {
        let places = Place::all(vec![bell().0, bell().0], None);
        Ok((places, Scenario::from_texts("", BOX, &[])?.simulation()))
    }

    #[test]
    fn no_robot_is_a_tick_ahead() -> Result<()> {
        let (mut all, robot) = places()?;
        let meets = |all: &[Place], k: usize| all[k].meets(&robot);
        for _ in 0..3 {
            assert!(!meets(&all, 0) && !meets(&all, 0));
            assert!(meets(&all, 1) && meets(&all, 0));
            all[1].tick_done();
            assert!(!meets(&all, 1), "the other has not run the tick");
            all[0].tick_done();
            assert!(meets(&all, 0) && meets(&all, 1));
            all.iter_mut().for_each(Place::tick_done);
        }
        Ok(())
    }

    #[test]
    fn who_has_ended_in_time_holds_up_nobody() -> Result<()> {
        let (mut all, robot) = places()?;
        assert!(!all[0].meets(&robot));
        all[1].end_in_time(&robot);
        drop(all.pop());
        assert!(all[0].meets(&robot) && !all[0].is_broken());
        Ok(())
    }

    /// Both have run the tick in which one of them failed, and none after it.
    #[test]
    fn all_end_in_the_tick_of_the_first() -> Result<()> {
        let (mut all, robot) = places()?;
        assert!(!all[0].meets(&robot) && all[1].meets(&robot));
        drop(all.pop());
        assert!(all[0].is_broken());
        assert!(all[0].meets(&robot), "the other has run this tick");
        all[0].tick_done();
        assert!(!all[0].meets(&robot), "and never will the next");
        Ok(())
    }
}
