//! Faults of the link: what happens to commands between their arrival and the tick.
//!
//! The effect on a command depends on the fault's seed, the command's session and its number only.
//! So the same commands in the same ticks have the same effect, however late they are in wall time.
//! For a controller that has joined, the number is that of the state that it answers, counted on
//! its schedule, since the number of times that a lost answer is sent again is random. The plant is
//! given the result, which is what the log holds: a replay does not need this module.

use crate::limits::{CANDIDATES_MAX, LINK_HELD_MAX};
use crate::simulation::{InjectedFaults, Leases, Simulation};
use hardstand_protocol::{Command, FaultKind, JointCommand, Rejection, TickInput, check_joints};

use super::delay_line::{DelayLine, Kinds, Lot, drawn, happens};

/// Counts of the effects on commands since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// Lost, also because too many were delayed.
    pub dropped: u64,
    /// Delayed by a tick or more.
    pub delayed: u64,
    /// Copies that arrived in addition.
    pub duplicated: u64,
    /// With the set-points of another one.
    pub stale: u64,
    /// With a flipped bit or a NaN.
    pub altered: u64,
    /// Of these, refused, by reason in the order of [`Rejection::ALL`].
    pub rejected: [u64; Rejection::ALL.len()],
}

/// The faulty link between the controllers and the plant.
#[derive(Debug)]
pub struct LinkFaults {
    /// Delayed commands.
    line: DelayLine<Box<Command>>,
    #[allow(clippy::vec_box, reason = "they go into the candidates as they are")]
    free: Vec<Box<Command>>,
    /// The last command that arrived with its own set-points.
    last_intact: Command,
    /// True if the candidates of this tick are boxes of the link.
    lent: bool,
    gains_max: [f64; 2],
    counts: LinkCounts,
}

/// Bits of a command's `layout_hash` and `run_id`, which are no part of a checked command.
const BITS_BEFORE: u64 = 64 + 32;
/// Bits of its `session`, `seq`, `answers_tick`, `applies_tick` and of the count of joints.
const BITS_OF_HEAD: u64 = WORDS_OF_HEAD * 64;
const WORDS_OF_HEAD: u64 = 5;
const BITS_OF_JOINT: u64 = 5 * 64;

impl LinkFaults {
    /// A link to a robot with so many joints; commands may ask for gains up to `gains_max`.
    #[must_use]
    pub fn new(joints: usize, gains_max: [f64; 2]) -> Self {
        let empty = Command { joints: vec![JointCommand::default(); joints], ..Command::default() };
        let count = LINK_HELD_MAX + CANDIDATES_MAX;
        Self {
            line: DelayLine::new(Kinds::COMMANDS, count),
            free: (0..count).map(|_| Box::new(empty.clone())).collect(),
            last_intact: empty,
            lent: false,
            gains_max,
            counts: LinkCounts::default(),
        }
    }

    /// Counts since the start.
    #[must_use]
    pub const fn counts(&self) -> &LinkCounts {
        &self.counts
    }

    /// Passes the commands of the coming tick, under the faults that act in it and the leases that
    /// hold in it.
    pub fn apply(
        &mut self,
        simulation: &Simulation,
        input: &mut TickInput,
        give_back: impl FnMut(Box<Command>),
    ) {
        let leases = simulation.leases_with(&input.events);
        let quiet = simulation.faults().is_empty() && input.events.is_empty();
        let faults =
            if quiet { InjectedFaults::default() } else { simulation.faults_with(&input.events) };
        let tick = simulation.state().tick;
        self.pass((&faults, &leases), tick, &mut input.candidates, give_back);
    }

    /// Replaces the commands that have come before `tick` by those that arrive in it. Boxes that
    /// are not needed any more go to `give_back`.
    pub fn pass(
        &mut self,
        (faults, leases): (&InjectedFaults, &Leases),
        tick: u64,
        candidates: &mut Vec<Box<Command>>,
        mut give_back: impl FnMut(Box<Command>),
    ) {
        if self.line.is_empty() && !faults.any(FaultKind::is_of_link) {
            return;
        }
        for candidate in candidates.drain(..) {
            self.take_in(&candidate, lot_of(&candidate, leases), faults, tick);
            give_back(candidate);
        }
        while candidates.len() < CANDIDATES_MAX
            && let Some(command) = self.line.take_due(tick)
        {
            candidates.push(command);
        }
        self.lent = true;
    }

    /// Takes back a candidate of the last tick that is a box of the link; others are given back.
    pub fn take_back(
        &mut self,
        candidates: &mut Vec<Box<Command>>,
        give_back: impl FnMut(Box<Command>),
    ) {
        if std::mem::take(&mut self.lent) {
            self.free.append(candidates);
        } else {
            candidates.drain(..).for_each(give_back);
        }
    }

    /// Drops the delayed commands, when the run is over.
    pub fn clear(&mut self) {
        self.free.extend(self.line.clear());
        self.last_intact.session = 0;
    }

    fn take_in(&mut self, candidate: &Command, lot: Lot, faults: &InjectedFaults, tick: u64) {
        if self.line.loses(lot, faults) {
            self.counts.dropped += 1;
            return;
        }
        let Some(mut command) = self.free.pop() else {
            self.counts.dropped += 1;
            return;
        };
        command.copy_from(candidate);
        self.make_stale(&mut command, lot, faults);
        if let Err(reason) = self.alter(&mut command, lot, faults) {
            self.counts.rejected[reason as usize] += 1;
            self.free.push(command);
            return;
        }
        let due = self.line.due(lot, faults, tick);
        for [probability, ticks, seed, _] in faults.of(FaultKind::LinkDuplicate) {
            if happens(probability, seed, lot, FaultKind::LinkDuplicate)
                && let Some(mut twin) = self.free.pop()
            {
                twin.copy_from(&command);
                self.counts.duplicated += 1;
                self.hold(twin, due + ticks as u64, tick);
            }
        }
        self.hold(command, due, tick);
    }

    /// Gives the command the set-points of the last intact one.
    fn make_stale(&mut self, command: &mut Command, lot: Lot, faults: &InjectedFaults) {
        let kind = FaultKind::LinkStale;
        let is_stale = faults.of(kind).any(|[p, seed, ..]| happens(p, seed, lot, kind));
        if is_stale && self.last_intact.session == command.session {
            command.joints.clone_from(&self.last_intact.joints);
            self.counts.stale += 1;
        } else if !is_stale {
            self.last_intact.copy_from(command);
        }
    }

    /// Alters numbers. The result must pass the checks of any command.
    fn alter(
        &mut self,
        command: &mut Command,
        lot: Lot,
        faults: &InjectedFaults,
    ) -> Result<(), Rejection> {
        let kind = FaultKind::LinkNan;
        for [probability, seed, ..] in faults.of(kind) {
            if happens(probability, seed, lot, kind) && !command.joints.is_empty() {
                self.counts.altered += 1;
                let place = drawn(seed, lot, kind) as usize % (5 * command.joints.len());
                *number(&mut command.joints[place / 5], place % 5) = f64::NAN;
            }
        }
        let kind = FaultKind::LinkBitFlip;
        for [probability, seed, ..] in faults.of(kind) {
            if happens(probability, seed, lot, kind) {
                self.counts.altered += 1;
                let joints = command.joints.len() as u64;
                let bits = BITS_BEFORE + BITS_OF_HEAD + BITS_OF_JOINT * joints;
                flip(command, drawn(seed, lot, kind) % bits)?;
            }
        }
        check_joints(&command.joints, self.gains_max)?;
        if command.session == 0 { Err(Rejection::Session) } else { Ok(()) }
    }

    fn hold(&mut self, command: Box<Command>, due: u64, tick: u64) {
        self.counts.delayed += u64::from(due > tick);
        self.line.hold(command, due);
    }
}

fn lot_of(sent: &Command, leases: &Leases) -> Lot {
    let number = match leases.of_session(sent.session) {
        Some((_, lease)) => sent.answers_tick / lease.schedule.period.max(1),
        None => sent.seq,
    };
    Lot { stream: sent.session, number }
}

/// Number `k` of a joint's set-points, in the order in which they are sent.
const fn number(joint: &mut JointCommand, k: usize) -> &mut f64 {
    match k {
        0 => &mut joint.q,
        1 => &mut joint.dq,
        2 => &mut joint.kp,
        3 => &mut joint.kd,
        _ => &mut joint.tau_ff,
    }
}

/// Reverses a bit of the message, counted from behind its header.
fn flip(command: &mut Command, bit: u64) -> Result<(), Rejection> {
    let Some(bit) = bit.checked_sub(BITS_BEFORE) else {
        return Err(if bit < 64 { Rejection::Layout } else { Rejection::RunId });
    };
    let mask = 1_u64 << (bit % 64);
    match bit / 64 {
        0 => command.session ^= mask,
        1 => command.seq ^= mask,
        2 => command.answers_tick ^= mask,
        3 => command.applies_tick ^= mask,
        4 => return Err(Rejection::Size),
        word => {
            let word = (word - WORDS_OF_HEAD) as usize;
            let x = number(&mut command.joints[word / 5], word % 5);
            *x = f64::from_bits(x.to_bits() ^ mask);
        }
    }
    Ok(())
}
