//! A second opinion on commands: written from `docs/protocol.md`, slow and without any of the
//! crate's decoders.

pub use super::dice::Dice;

use hardstand::ingress::CommandLimits;
use hardstand::simulation::WatchdogSpec;
use hardstand_protocol::{Rejection, Verdict};

/// What a good command says; the set-points as their bits, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    pub session: u64,
    pub seq: u64,
    pub answers_tick: u64,
    pub bits: Vec<u64>,
}

fn number(bytes: &[u8], at: usize, width: usize) -> u64 {
    (0..width).fold(0, |sum, i| sum + (u64::from(bytes[at + i]) << (8 * i)))
}

/// The checks at arrival: what the command says, or the reason of the refusal.
pub fn judge(bytes: &[u8], limits: &CommandLimits) -> Result<Said, Rejection> {
    if bytes.len() < 4 {
        return Err(Rejection::Size);
    }
    if bytes[0] != 0x48 || bytes[1] != 0x53 || bytes[2] != 7 || bytes[3] != 3 {
        return Err(Rejection::Version);
    }
    let set_points = bytes.len().saturating_sub(56);
    let claimed = if bytes.len() < 56 { None } else { Some(number(bytes, 48, 8)) };
    let there = set_points as u64 / 40;
    if !set_points.is_multiple_of(40) || claimed != Some(there) || there > limits.joints as u64 {
        return Err(Rejection::Size);
    }
    if number(bytes, 4, 8) != limits.layout_hash {
        return Err(Rejection::Layout);
    }
    if number(bytes, 12, 4) != u64::from(limits.run_id) {
        return Err(Rejection::RunId);
    }
    if number(bytes, 16, 8) == 0 {
        return Err(Rejection::Session);
    }
    let bits: Vec<u64> = (0..set_points / 8).map(|i| number(bytes, 56 + 8 * i, 8)).collect();
    if bits.iter().any(|b| b & 0x7ff0_0000_0000_0000 == 0x7ff0_0000_0000_0000) {
        return Err(Rejection::NotFinite);
    }
    for (i, &b) in bits.iter().enumerate() {
        // the bits of positive numbers are in the order of the numbers
        let (negative, size) = (b >> 63 == 1, b & !(1 << 63));
        let largest = match i % 5 {
            2 => limits.kp_max,
            3 => limits.kd_max,
            _ => 1e6,
        };
        let gain = matches!(i % 5, 2 | 3);
        if size > largest.to_bits() || (gain && negative && size != 0) {
            return Err(Rejection::OutOfRange);
        }
    }
    let [session, seq, answers_tick] = [16, 24, 32].map(|at| number(bytes, at, 8));
    Ok(Said { session, seq, answers_tick, bits })
}

/// A session that owns the robot or wants to.
#[derive(Clone, Debug)]
struct Rival {
    session: u64,
    seq: u64,
    /// Newest state that it has answered.
    answered: u64,
    /// When its commands came that passed.
    came: Vec<u64>,
}

/// The checks at use: who owns the robot, by the rules of the page and a list of what happened.
#[derive(Clone, Debug)]
pub struct Owners {
    spec: WatchdogSpec,
    joints: usize,
    owner: Option<Rival>,
    candidate: Option<Rival>,
    /// Sessions that have lost the robot, in that order.
    lost: Vec<u64>,
}

impl Owners {
    pub fn new(spec: WatchdogSpec, joints: usize) -> Self {
        Self { spec, joints, owner: None, candidate: None, lost: Vec::new() }
    }

    /// The session that owns the robot, or was the last to; 0 for none, or if it was revoked.
    pub fn session(&self) -> u64 {
        let owner = self.owner.as_ref().map_or(0, |owner| owner.session);
        if self.remembered(owner) { 0 } else { owner }
    }

    /// Whether it must come back under another number, at `tick`.
    pub fn has_lost(&self, session: u64, tick: u64) -> bool {
        self.remembered(session)
            || self.owner.as_ref().is_some_and(|o| o.session == session && !self.in_time(o, tick))
    }

    fn remembered(&self, session: u64) -> bool {
        self.lost.iter().rev().take(8).any(|&s| s == session)
    }

    fn in_time(&self, owner: &Rival, tick: u64) -> bool {
        tick - owner.answered <= self.spec.hold_ticks
    }

    fn revoke_owner(&mut self) {
        if let Some(owner) = self.owner.as_ref().map(|o| o.session)
            && !self.remembered(owner)
        {
            self.lost.push(owner);
        }
    }

    /// The verdict at `tick`, and whether the command leaves a trace: it came into force, proved
    /// life, or made the owner lose the robot.
    pub fn judge(&mut self, tick: u64, said: &Said) -> (Verdict, bool) {
        let refuse = |reason| (Verdict::Rejected(reason), false);
        let hold = self.spec.hold_ticks;
        if said.bits.len() != 5 * self.joints {
            return refuse(Rejection::Size);
        }
        if said.answers_tick > tick {
            return refuse(Rejection::FutureTick);
        }
        if self.has_lost(said.session, tick) {
            let news = !self.remembered(said.session);
            if news {
                self.revoke_owner();
            }
            return (Verdict::Rejected(Rejection::Revoked), news);
        }
        if tick - said.answers_tick > hold {
            return refuse(Rejection::Late);
        }
        if let Some(owner) = self.owner.as_mut().filter(|o| tick - o.answered <= hold) {
            if owner.session != said.session {
                return refuse(Rejection::NotOwner);
            }
            if owner.seq >= said.seq {
                return refuse(Rejection::Sequence);
            }
            owner.seq = said.seq;
            owner.answered = owner.answered.max(said.answers_tick);
            return (Verdict::Accepted, true);
        }
        self.prove(tick, said)
    }

    fn prove(&mut self, tick: u64, said: &Said) -> (Verdict, bool) {
        let refuse = |reason| (Verdict::Rejected(reason), false);
        let Said { session, seq, answers_tick: answered, .. } = *said;
        let hold = self.spec.hold_ticks;
        let alive = |c: &&mut Rival| c.came.last().is_some_and(|&last| tick - last <= hold);
        if let Some(candidate) = self.candidate.as_mut().filter(alive) {
            if candidate.session != session {
                return refuse(Rejection::NotOwner);
            }
            if candidate.seq >= seq {
                return refuse(Rejection::Sequence);
            }
            candidate.came.push(tick);
            (candidate.seq, candidate.answered) = (seq, answered);
        } else {
            self.candidate = Some(Rival { session, seq, answered, came: vec![tick] });
        }
        let proofs = self.candidate.as_ref().map_or(0, |c| c.came.len() as u64);
        if proofs < self.spec.proof_commands {
            return (Verdict::Proving, true);
        }
        self.revoke_owner();
        self.owner = self.candidate.take();
        (Verdict::Accepted, true)
    }
}

const SPECIAL: [f64; 20] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    0.0,
    -0.0,
    f64::MIN_POSITIVE / 8.0,
    -f64::MIN_POSITIVE / 8.0,
    f64::MIN_POSITIVE,
    1e308,
    -1e308,
    1e12,
    1e6,
    -1e6,
    1_000_000.000_000_000_1,
    500.0,
    500.000_000_000_000_1,
    20.0,
    20.000_000_000_000_004,
    -1e-300,
    1.0,
];

/// Up to three changes to the good command in `b`, most of them where they matter. `other` is a
/// good command, too, to be cut and joined with it.
pub fn mutate(b: &mut Vec<u8>, other: &[u8], dice: &mut Dice) {
    for _ in 0..dice.roll(4) {
        if b.is_empty() {
            break;
        }
        let (len, numbers) = (b.len() as u64, (other.len() as u64 - 56) / 8);
        let a_number = |dice: &mut Dice| 56 + 8 * dice.roll(numbers) as usize;
        match dice.roll(13) {
            0 => b[dice.roll(len) as usize] ^= 1 << dice.roll(8),
            1 => b[dice.roll(len.min(56)) as usize] = dice.roll(256) as u8,
            2..=5 => {
                let value = SPECIAL[dice.roll(SPECIAL.len() as u64) as usize];
                let at = a_number(dice);
                write(b, at, &value.to_le_bytes());
            }
            6 => b.truncate(dice.roll(len + 1) as usize),
            7 => b.extend(std::iter::repeat_n(0x40, 1 + dice.roll(80) as usize)),
            8 => {
                // a hash, session, number, tick or count at the ends of its range
                let at = [4, 16, 24, 32, 40, 48][dice.roll(6) as usize];
                let value = [0, 1, 2, 3, u64::MAX, u64::MAX / 8, 1 << 40][dice.roll(7) as usize];
                write(b, at, &value.to_le_bytes());
            }
            9 => {
                // one more or less
                let at = [4, 12, 16, 24, 32, 40, 48][dice.roll(7) as usize];
                if let Some(byte) = b.get_mut(at) {
                    *byte =
                        if dice.roll(2) == 0 { byte.wrapping_add(1) } else { byte.wrapping_sub(1) };
                }
            }
            10 => {
                // the beginning of one and the end of another, of the same length in all or not
                let cut = dice.roll(len + 1) as usize;
                let from =
                    if dice.roll(4) == 0 { dice.roll(other.len() as u64) as usize } else { cut };
                b.truncate(cut);
                b.extend_from_slice(other.get(from..).unwrap_or_default());
            }
            11 => {
                // header: version and kind
                b[dice.roll(len.min(4)) as usize] = dice.roll(10) as u8;
            }
            _ => {
                let at = a_number(dice);
                write(b, at, &dice.roll(u64::MAX).to_le_bytes());
            }
        }
    }
}

fn write(bytes: &mut [u8], at: usize, value: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + value.len()) {
        place.copy_from_slice(value);
    }
}
