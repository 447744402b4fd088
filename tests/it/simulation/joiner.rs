//! A controller that joins: it answers the states of its schedule under its secret session.

use hardstand_protocol::{ClaimedCommand, JointCommand, StateReading};
use hardstand_protocol::{CommandSchedule, JoinReply, JoinRequest, encode_command};

/// How often it is late before it asks to join again, ns.
const LOST_NS: u64 = 300_000_000;

pub struct SimJoiner {
    pub name: String,
    /// Its joints: names, initial positions, and which ones.
    joints: Vec<(String, f64)>,
    pub schedule: CommandSchedule,
    pub secret: u64,
    /// Whether its connection is announced.
    pub announced: bool,
    pub silent_until_ns: u64,
    pub place: Place,
    sent_ns: u64,
}

/// Where it is on its way into the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It asks at this time, at the earliest.
    Out(u64),
    /// It has asked with this nonce.
    Asking(u64),
    /// It has joined, and has answered the states up to this one.
    In { run_id: u32, next_tick: u64 },
}

impl SimJoiner {
    pub fn new(name: String, joints: Vec<(String, f64)>, schedule: CommandSchedule) -> Self {
        Self {
            name,
            joints,
            schedule,
            secret: 0,
            announced: false,
            silent_until_ns: 0,
            place: Place::Out(0),
            sent_ns: 0,
        }
    }

    /// Begins anew, as a process that was started again.
    pub fn restart(&mut self, secret: u64, announced: bool, at_ns: u64) {
        (self.secret, self.announced, self.place) = (secret, announced, Place::Out(at_ns));
        self.silent_until_ns = at_ns;
    }

    pub fn request(&self, layout_hash: u64) -> JoinRequest {
        JoinRequest {
            layout_hash,
            physics_hash: 0,
            session: self.secret,
            role: 0,
            period_ticks: self.schedule.period,
            phase_ticks: self.schedule.phase,
            offset_ticks: self.schedule.offset,
            controller: self.name.clone(),
            units: "SI".into(),
            joints: self.joints.iter().map(|(name, _)| name.clone()).collect(),
        }
    }

    /// The answer to the order `nonce` has arrived.
    pub fn hear(&mut self, nonce: u64, reply: &JoinReply, now_ns: u64) {
        if self.place != Place::Asking(nonce) {
            return;
        }
        self.sent_ns = now_ns;
        self.place = match reply.verdict {
            0 => Place::In { run_id: reply.run_id, next_tick: reply.first_tick },
            _ => Place::Out(now_ns + 30_000_000),
        };
    }

    /// The command that answers a state, if one is due.
    pub fn answer(&mut self, state: &StateReading, now_ns: u64) -> Option<Vec<u8>> {
        let Place::In { run_id, next_tick } = self.place else { return None };
        if state.run_id != run_id || now_ns.saturating_sub(self.sent_ns) > LOST_NS {
            self.place = Place::Out(now_ns);
            return None;
        }
        if state.phase != 1 || state.tick < next_tick || !self.schedule.answers(state.tick) {
            return None;
        }
        self.place = Place::In { run_id, next_tick: state.tick + 1 };
        self.sent_ns = now_ns;
        let hold =
            |&(_, q): &(String, f64)| JointCommand { q, kp: 100.0, kd: 3.0, ..Default::default() };
        let claim = ClaimedCommand {
            layout_hash: state.layout_hash,
            run_id,
            session: self.secret,
            seq: 0,
            answers_tick: state.tick,
            applies_tick: state.tick + self.schedule.offset,
            joints: self.joints.iter().map(hold).collect(),
        };
        let mut out = Vec::new();
        encode_command(&claim, &mut out).unwrap();
        Some(out)
    }
}
