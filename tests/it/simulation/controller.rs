//! A controller as docs/protocol.md asks for one: newest state in, command out.

use hardstand_protocol::{ClaimedCommand, Kind, decode, encode_command};
use hardstand_protocol::{JointCommand, StateReading};

pub struct SimController {
    q: Vec<f64>,
    session: u64,
    seq: u64,
    owned: bool,
    pub silent_until_ns: u64,
    /// It never takes a new session by itself.
    stubborn: bool,
}

impl SimController {
    pub fn new(q: Vec<f64>, session: u64, stubborn: bool) -> Self {
        Self { q, session, seq: 0, owned: false, silent_until_ns: 0, stubborn }
    }

    /// Begins anew under another session, as a process that was started again.
    pub fn restart(&mut self, session: u64) {
        (self.session, self.seq, self.owned) = (session, 0, false);
    }

    /// The command that answers the state in `bytes`; a damaged state has none.
    pub fn answer(&mut self, bytes: &[u8], fresh_session: u64) -> Option<Vec<u8>> {
        let state: StateReading = decode(Kind::State, bytes).ok()?;
        let ours = state.command_session == self.session;
        let in_force = [1, 2].contains(&state.authority);
        if self.owned && !self.stubborn && !(ours && in_force) {
            self.restart(fresh_session);
        }
        self.owned |= ours && state.phase == 1;
        self.seq += 1;
        let hold = |&q: &f64| JointCommand { q, kp: 100.0, kd: 3.0, ..Default::default() };
        let claim = ClaimedCommand {
            layout_hash: state.layout_hash,
            run_id: state.run_id,
            session: self.session,
            seq: self.seq,
            answers_tick: state.tick,
            applies_tick: 0,
            joints: self.q.iter().map(hold).collect(),
        };
        let mut out = Vec::new();
        encode_command(&claim, &mut out).unwrap();
        Some(out)
    }
}
