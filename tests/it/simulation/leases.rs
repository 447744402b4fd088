//! Who may command, told from events and accepted commands alone: an oracle of the leases.

use std::collections::BTreeMap;

use hardstand::limits::JOINTS_MAX;
use hardstand_protocol::{CandidateRecord, Event, Grant, JointSet};

/// The leases as a reader of the log knows them.
pub struct LeaseOracle {
    hold_ticks: u64,
    granted: BTreeMap<u64, Granted>,
    /// The session without a lease, and the newest state that it has answered.
    owner: Option<(u64, u64)>,
    /// Its right has ended.
    over: bool,
    pub stopped: bool,
}

#[derive(Clone, Copy)]
struct Granted {
    grant: Grant,
    since: u64,
    next: u64,
    left: bool,
}

impl LeaseOracle {
    pub fn new(hold_ticks: u64) -> Self {
        Self { hold_ticks, granted: BTreeMap::new(), owner: None, over: false, stopped: false }
    }

    /// Another run begins, without any lease; the emergency stop stays.
    pub fn begin(&mut self) {
        *self = Self { stopped: self.stopped, ..Self::new(self.hold_ticks) };
    }

    fn is_held(&self, g: &Granted, tick: u64) -> bool {
        let schedule = g.grant.schedule;
        !g.left && tick - g.since <= self.hold_ticks + schedule.period + schedule.offset
    }

    pub fn apply(&mut self, tick: u64, event: &Event) {
        match event {
            Event::Grant(grant) => {
                let owned =
                    self.owner.is_some_and(|(_, answered)| tick - answered <= self.hold_ticks);
                assert!(self.over || !owned, "tick {tick}: a lease of joints that a session owns");
                for joint in (0..JOINTS_MAX).filter(|&j| grant.joints.contains(j)) {
                    let other = self.granted.values().find(|g| {
                        g.grant.joints.contains(joint) && g.grant.controller != grant.controller
                    });
                    let taken = other.is_some_and(|g| self.is_held(g, tick));
                    assert!(!taken, "tick {tick}: joint {joint} was given away twice");
                }
                self.take_joints(grant.joints);
                let granted = Granted { grant: *grant, since: tick, next: tick, left: false };
                self.granted.insert(grant.session, granted);
            }
            Event::Leave { session } => {
                if let Some(g) = self.granted.get_mut(session) {
                    g.left = true;
                }
            }
            Event::Stop => {
                if !self.stopped {
                    let lost: Vec<u64> = self
                        .granted
                        .iter()
                        .filter(|(_, g)| !self.is_held(g, tick))
                        .map(|(s, _)| *s)
                        .collect();
                    for session in lost {
                        self.granted.get_mut(&session).unwrap().left = true;
                    }
                }
                (self.stopped, self.over) = (true, true);
            }
            Event::Arm if self.stopped => {
                self.stopped = false;
                for g in self.granted.values_mut() {
                    (g.since, g.next) = (tick, g.next.max(tick));
                }
            }
            _ => {}
        }
    }

    fn take_joints(&mut self, joints: JointSet) {
        for g in self.granted.values_mut() {
            let own = g.grant.joints;
            g.grant.joints = JointSet::default();
            for joint in (0..JOINTS_MAX).filter(|&j| own.contains(j) && !joints.contains(j)) {
                g.grant.joints.insert(joint);
            }
            if g.grant.joints != own {
                g.left = true;
            }
        }
    }

    /// A command was accepted at `tick`: was it one that had the right?
    pub fn accept(&mut self, tick: u64, o: &CandidateRecord) {
        assert!(!self.stopped, "tick {tick}: a command was obeyed after the emergency stop");
        assert!(o.answers_tick <= tick, "tick {tick}: an answer to the future: {o:?}");
        if let Some(g) = self.granted.get(&o.session).copied() {
            assert!(self.is_held(&g, tick), "tick {tick}: a lost lease was obeyed: {o:?}");
            let schedule = g.grant.schedule;
            let on_schedule = schedule.answers(o.answers_tick)
                && o.applies_tick == o.answers_tick + schedule.offset
                && o.applies_tick <= tick;
            assert!(on_schedule, "tick {tick}: not on its schedule: {o:?}");
            assert!(o.answers_tick >= g.next, "tick {tick}: an age ran backwards: {o:?}");
            let own = self.granted.get_mut(&o.session).unwrap();
            (own.since, own.next) = (tick, o.answers_tick + 1);
            return;
        }
        let leased = self.granted.values().any(|g| self.is_held(g, tick));
        assert!(!leased, "tick {tick}: a command beside a lease was obeyed: {o:?}");
        let answered = match self.owner {
            Some((session, answered)) if session == o.session && !self.over => {
                answered.max(o.answers_tick)
            }
            Some((_, answered)) => {
                let lost = self.over || tick - answered > self.hold_ticks;
                assert!(lost, "tick {tick}: taken from its owner: {o:?}");
                o.answers_tick
            }
            None => o.answers_tick,
        };
        (self.owner, self.over) = (Some((o.session, answered)), false);
        self.granted.clear();
    }
}
