//! The complete state, as a sequence of words.

use std::fmt::Write as _;

use crate::contact::Friction;
use crate::dynamics::{Positions, Velocities};
use crate::limits::PUSHES_MAX;
use crate::model::Model;
use crate::sensor::FootSwitch;
use crate::spatial::Vec3;
use hardstand_error::{Error, ErrorKind, Result};

use super::contact_state::{ContactState, walk3};
use super::regions::walk_region;
use super::{InjectedFaults, JointCommand, Leases, PlantSpec, Watchdog};

/// A push that is acting.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ActivePush {
    /// Body that is pushed.
    pub body: u64,
    /// Point of attack in the body's frame, m.
    pub point_B: [f64; 3],
    /// Force in W, N.
    pub force_W: [f64; 3],
    /// Ticks left; 0 for a free slot.
    pub ticks_left: u64,
}

/// Everything that a tick depends on besides model, spec and input. Snapshot, restore and continue
/// gives the same bits as never having stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Ticks done.
    pub tick: u64,
    /// Digest chain up to this tick.
    pub digest: u64,
    /// Generalized positions.
    pub q: Positions,
    /// Generalized velocities.
    pub v: Velocities,
    /// Motor efforts of the last micro-step, N·m or N.
    pub motor: Vec<f64>,
    /// Watchdog.
    pub watchdog: Watchdog,
    /// Leases.
    pub leases: Leases,
    /// Command in force.
    pub command: Vec<JointCommand>,
    /// Pushes.
    pub pushes: [ActivePush; PUSHES_MAX],
    /// Velocity of the IMU in W at the end of the tick before, m/s: the IMU's memory.
    pub imu_v_before_W: Vec3,
    /// Foot switches.
    pub switches: Vec<FootSwitch>,
    /// Coefficients of the regions, in the order of the spec.
    pub regions: Vec<Option<Friction>>,
    /// Faults that act.
    pub faults: InjectedFaults,
    pub(super) contacts: Vec<ContactState>,
}

/// One word of the state during a walk: read it or write it.
#[derive(Debug)]
pub enum Word<'a> {
    /// A number.
    F64(&'a mut f64),
    /// A count, flag or index.
    U64(&'a mut u64),
}

impl Word<'_> {
    /// The word's bits.
    #[must_use]
    pub fn bits(&self) -> u64 {
        match self {
            Self::F64(x) => x.to_bits(),
            Self::U64(x) => **x,
        }
    }

    /// Overwrites the word.
    pub fn set_bits(&mut self, bits: u64) {
        match self {
            Self::F64(x) => **x = f64::from_bits(bits),
            Self::U64(x) => **x = bits,
        }
    }
}

impl State {
    /// The initial state.
    #[must_use]
    pub(super) fn new(model: &Model, spec: &PlantSpec, contacts: Vec<ContactState>) -> Self {
        Self {
            tick: 0,
            digest: 0,
            q: spec.q.clone(),
            v: spec.v.clone(),
            motor: vec![0.0; model.joint_count()],
            watchdog: Watchdog::default(),
            leases: Leases::default(),
            command: vec![JointCommand::default(); model.joint_count()],
            pushes: [ActivePush::default(); PUSHES_MAX],
            imu_v_before_W: Vec3::zeros(),
            switches: vec![FootSwitch::default(); spec.feet.len()],
            regions: spec.regions.iter().map(|r| r.friction).collect(),
            faults: InjectedFaults::default(),
            contacts,
        }
    }

    /// Visits every word in a fixed order, with the name of its group and its index in the group.
    /// Digest, snapshot, restore and the naming of differences all go through here, so none of them
    /// can forget a part of the state.
    // inlined with all its parts, so that the visitor's place in its output stays in a register
    #[inline(always)]
    pub fn walk(&mut self, visit: &mut impl FnMut(&'static str, usize, Word<'_>)) {
        visit("tick", 0, Word::U64(&mut self.tick));
        self.walk_motion(visit);
        self.walk_command(visit);
        for (i, push) in self.pushes.iter_mut().enumerate() {
            visit("push.body", i, Word::U64(&mut push.body));
            walk3("push.point_B", i, &mut push.point_B, visit);
            walk3("push.force_W", i, &mut push.force_W, visit);
            visit("push.ticks_left", i, Word::U64(&mut push.ticks_left));
        }
        self.faults.walk(visit);
        for (i, switch) in self.switches.iter_mut().enumerate() {
            let mut closed = u64::from(switch.closed);
            visit("foot_switch.closed", i, Word::U64(&mut closed));
            switch.closed = closed != 0;
            visit("foot_switch.pending_ticks", i, Word::U64(&mut switch.pending_ticks));
        }
        for (i, contact) in self.contacts.iter_mut().enumerate() {
            contact.walk(i, visit);
        }
        for (i, slot) in self.regions.iter_mut().enumerate() {
            walk_region(i, slot, visit);
        }
    }

    #[inline(always)]
    fn walk_motion(&mut self, visit: &mut impl FnMut(&'static str, usize, Word<'_>)) {
        let quat = &mut self.q.quat_WB;
        for (i, x) in [&mut quat.w, &mut quat.x, &mut quat.y, &mut quat.z].into_iter().enumerate() {
            visit("base.quat_WB_wxyz", i, Word::F64(x));
        }
        walk_all("base.p_WB", self.q.p_WB.as_mut_slice(), visit);
        walk_all("joint.q", &mut self.q.joints, visit);
        walk_all("base.w_WB", self.v.w_WB.as_mut_slice(), visit);
        walk_all("base.v_WB", self.v.v_WB.as_mut_slice(), visit);
        walk_all("joint.dq", &mut self.v.joints, visit);
        walk_all("joint.tau", &mut self.motor, visit);
        walk_all("imu.v_before_W", self.imu_v_before_W.as_mut_slice(), visit);
    }

    #[inline(always)]
    fn walk_command(&mut self, visit: &mut impl FnMut(&'static str, usize, Word<'_>)) {
        let w = &mut self.watchdog;
        let words = [
            ("watchdog.owner", &mut w.owner),
            ("watchdog.seq", &mut w.seq),
            ("watchdog.answers_tick", &mut w.answers_tick),
            ("watchdog.candidate", &mut w.candidate),
            ("watchdog.candidate_seq", &mut w.candidate_seq),
            ("watchdog.candidate_count", &mut w.candidate_count),
            ("watchdog.candidate_tick", &mut w.candidate_tick),
        ];
        for (name, word) in words {
            visit(name, 0, Word::U64(word));
        }
        for (i, session) in w.revoked.iter_mut().enumerate() {
            visit("watchdog.revoked", i, Word::U64(session));
        }
        self.leases.walk(self.command.len(), visit);
        for (i, c) in self.command.iter_mut().enumerate() {
            visit("command.q", i, Word::F64(&mut c.q));
            visit("command.dq", i, Word::F64(&mut c.dq));
            visit("command.kp", i, Word::F64(&mut c.kp));
            visit("command.kd", i, Word::F64(&mut c.kd));
            visit("command.tau_ff", i, Word::F64(&mut c.tau_ff));
        }
    }

    /// Number of words of a walk.
    pub fn word_count(&mut self) -> usize {
        let mut n = 0;
        self.walk(&mut |_, _, _| n += 1);
        n
    }

    /// Appends all words, and the digest last: a snapshot.
    pub fn write_words(&mut self, out: &mut Vec<u64>) {
        self.walk(&mut |_, _, word| out.push(word.bits()));
        out.push(self.digest);
    }

    /// Overwrites the state with a snapshot of the same plant.
    ///
    /// # Errors
    /// [`ErrorKind::Log`] if the number of words is another plant's; the state is then unchanged.
    pub fn set_words(&mut self, words: &[u64]) -> Result<()> {
        let expected = self.word_count() + 1;
        if words.len() != expected {
            return Err(Error::new(
                ErrorKind::Log,
                format!("a snapshot has {} words; this robot's has {expected}", words.len()),
            ));
        }
        self.overwrite(words.iter().copied());
        self.digest = words[expected - 1];
        Ok(())
    }

    /// Overwrites everything but the digest with the words of a state of the same plant.
    pub(super) fn overwrite(&mut self, mut words: impl Iterator<Item = u64>) {
        self.walk(&mut |_, _, mut word| word.set_bits(words.next().unwrap_or_default()));
    }

    /// The first word in which two snapshots of this plant differ: its name and both values.
    pub fn first_difference(&mut self, a: &[u64], b: &[u64]) -> Option<String> {
        let mut found = None;
        let mut k = 0;
        self.walk(&mut |group, index, word| {
            if let (None, Some(&x), Some(&y)) = (&found, a.get(k), b.get(k))
                && x != y
            {
                let mut text = format!("{group}[{index}]: ");
                let _ = match word {
                    Word::F64(_) => write!(
                        text,
                        "{:e} and {:e} (bits {x:016x} and {y:016x})",
                        f64::from_bits(x),
                        f64::from_bits(y)
                    ),
                    Word::U64(_) => write!(text, "{x} and {y}"),
                };
                found = Some(text);
            }
            k += 1;
        });
        found
    }
}

#[inline(always)]
fn walk_all(
    name: &'static str,
    values: &mut [f64],
    visit: &mut impl FnMut(&'static str, usize, Word<'_>),
) {
    for (i, x) in values.iter_mut().enumerate() {
        visit(name, i, Word::F64(x));
    }
}
