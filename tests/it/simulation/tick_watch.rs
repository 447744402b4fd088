//! What must hold of every tick that the loop hands to the recorder.

use std::collections::{BTreeMap, BTreeSet};

use hardstand_protocol::{Authority, Event, LogTick, Verdict};

use super::leases::LeaseOracle;
use super::strangers::STRANGE_KP;

pub struct TickWatch {
    leases: LeaseOracle,
    /// Run, tick and age of the last tick.
    last: Option<(u32, u64, u32)>,
    /// The leases of this run are known: it began without any, and no tick is missing.
    strict: bool,
    pub ticks: u64,
    pub missing: bool,
    /// Ticks from which the marked events hold, by mark.
    pub executed: BTreeMap<u64, Vec<(u32, u64)>>,
    /// How many events without a mark there were at a tick, by name.
    pub unmarked: BTreeMap<(&'static str, (u32, u64)), usize>,
    pub seen: BTreeSet<(u32, u64)>,
    /// Ticks that were stopped, or would have been but for `arm`.
    pub stopped: BTreeSet<(u32, u64)>,
    pub armed: u64,
    /// The last tick of a run that was stopped, and the first of the next, which was not.
    pub armed_before: Vec<((u32, u64), (u32, u64))>,
    pub runs: u64,
    pub grants: u64,
    pub joined_commands: u64,
    /// Commands that were judged, by session and the state that they answer.
    pub judged: BTreeSet<(u64, u64)>,
    /// Sessions of controllers that mean well.
    pub own_sessions: BTreeSet<u64>,
}

impl TickWatch {
    pub fn new(hold_ticks: u64) -> Self {
        Self {
            leases: LeaseOracle::new(hold_ticks),
            last: None,
            strict: true,
            ticks: 0,
            missing: false,
            executed: BTreeMap::new(),
            unmarked: BTreeMap::new(),
            seen: BTreeSet::new(),
            stopped: BTreeSet::new(),
            armed: 0,
            armed_before: Vec::new(),
            runs: 0,
            grants: 0,
            joined_commands: 0,
            judged: BTreeSet::new(),
            own_sessions: BTreeSet::new(),
        }
    }

    pub fn see(&mut self, t: &LogTick) {
        let (run_id, n) = (t.run_id, t.tick);
        self.ticks += 1;
        self.begin_run_if_new(t);
        assert!(self.seen.insert((run_id, n)), "run {run_id} has tick {n} twice");
        for event in &t.events {
            self.note_event((run_id, n), event);
            if self.strict || matches!(event, Event::Stop | Event::Arm) {
                self.leases.apply(n, event);
            }
        }
        let stopped = t.authority == Authority::Stopped;
        if self.missing {
            self.leases.stopped = stopped;
        }
        assert_eq!(self.leases.stopped, stopped, "run {run_id}, tick {n}");
        // it may have been armed again before the tick
        let armed = t.events.contains(&Event::Arm);
        if stopped || armed || t.events.contains(&Event::Stop) {
            self.stopped.insert((run_id, n));
        }
        for o in &t.candidates {
            self.judged.insert((o.session, o.answers_tick));
            if o.verdict == Verdict::Accepted {
                self.joined_commands += u64::from(o.seq == 0);
                assert_ne!(t.authority, Authority::Stopped, "run {run_id}, tick {n}: obeyed");
                if self.strict {
                    self.leases.accept(n, o);
                }
            }
        }
        self.check_in_force(t);
        self.check_age(t);
        self.last = Some((run_id, n, t.state.command_age_ticks));
    }

    fn begin_run_if_new(&mut self, t: &LogTick) {
        let same = self.last.filter(|(run_id, ..)| *run_id == t.run_id);
        match same {
            Some((_, last, _)) if t.tick == last + 1 => {}
            Some((_, last, _)) => {
                assert!(t.tick > last, "tick {} after {last}", t.tick);
                (self.strict, self.missing) = (false, true);
            }
            None => {
                if let Some((run_id, ..)) = self.last {
                    assert!(t.run_id > run_id, "run {} after {run_id}", t.run_id);
                }
                self.runs += 1;
                self.leases.begin();
                self.strict = t.tick == 0 && !self.missing;
                let begins_stopped = t.authority == Authority::Stopped;
                let by_event = t.events.contains(&Event::Stop);
                if !begins_stopped && self.leases.stopped && !t.events.contains(&Event::Arm) {
                    // armed in the run before, which had no tick after that
                    let here = (t.run_id, t.tick);
                    self.armed_before.extend(self.last.map(|(run, last, _)| ((run, last), here)));
                }
                // the saved state was
                self.leases.stopped = begins_stopped && !by_event;
            }
        }
    }

    fn note_event(&mut self, at: (u32, u64), event: &Event) {
        let mark = match event {
            Event::Push { force_W, .. } => force_W[0],
            Event::Friction { mu_static, .. } => *mu_static,
            Event::Velocity(v) => v.vx_m_per_s,
            Event::InjectFault { fault, .. } => fault.values[0],
            Event::ClearFaults { .. } | Event::Constraint { .. } | Event::ResetAnchors { .. } => {
                return *self.unmarked.entry((event.name(), at)).or_default() += 1;
            }
            Event::Grant(_) => return self.grants += 1,
            Event::Arm => return self.armed += 1,
            _ => return,
        };
        self.executed.entry(mark.to_bits()).or_default().push(at);
    }

    /// No joint obeys two sessions, and no controller's session obeys a stranger.
    fn check_in_force(&self, t: &LogTick) {
        let mut whole = 0;
        for (o, set_points) in t.in_force() {
            whole += usize::from(set_points.len() == t.state.joints.len());
            let strange = set_points.iter().any(|c| c.kp == STRANGE_KP);
            let own = self.own_sessions.contains(&o.session);
            assert!(!strange || !own, "a stranger speaks for {:016x}: {o:?}", o.session);
        }
        let sum: usize = t.in_force().map(|(_, set_points)| set_points.len()).sum();
        let joints = t.state.joints.len();
        assert!(whole <= 1 && sum <= joints, "tick {}: two owners: {:?}", t.tick, t.candidates);
    }

    /// An age grows by one in every tick, unless a command was obeyed.
    fn check_age(&self, t: &LogTick) {
        let Some((run_id, last, before)) = self.last else { return };
        let of_leases = t.events.iter().any(Event::is_of_leases);
        if run_id != t.run_id || t.tick != last + 1 || of_leases {
            return;
        }
        let age = t.state.command_age_ticks;
        let older = if before == u32::MAX { before } else { before + 1 };
        // the first command of a controller that has just joined may answer an older state than
        // those of the others
        let accepted = t.candidates.iter().filter(|o| o.verdict == Verdict::Accepted);
        let answered = accepted.map(|o| t.tick + 1 - o.answers_tick).max();
        if let Some(answered) = answered {
            let most = answered.max(older.into());
            assert!(u64::from(age) <= most, "tick {}: age {age} after {before}", t.tick);
        } else {
            assert_eq!(age, older, "tick {}: the age ran backwards", t.tick);
        }
    }
}
