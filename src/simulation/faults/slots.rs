//! The faults that act: a fixed number of slots in the state.

use hardstand_protocol::{FaultKind, InjectedFault, Part, UNTIL_CLEARED};

use hardstand_physics::plant::{Walk, Word};

use crate::limits::FAULTS_MAX;

use hardstand_physics::sensor::chance;

/// A slot: a fault that acts, as words, or none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::simulation) struct Slot {
    /// [`FaultKind::code`] in the lowest byte, the part in the rest; 0 for a free slot.
    what: u64,
    values: [f64; 4],
    /// Ticks to come in which it acts.
    ticks_left: u64,
    /// What it has to remember.
    pub(in crate::simulation) memory: [f64; 2],
}

/// All faults that act: part of the state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InjectedFaults {
    slots: [Slot; FAULTS_MAX],
}

impl Slot {
    const fn is_free(&self) -> bool {
        self.what == 0
    }

    const fn code(&self) -> u8 {
        self.what.to_le_bytes()[0]
    }

    fn fault(&self) -> Option<InjectedFault> {
        let part = u8::try_from((self.what as u32) >> 8).ok()?;
        let part = Part::from_code(part, (self.what >> 32) as u32)?;
        Some(InjectedFault { kind: FaultKind::from_code(self.code())?, part, values: self.values })
    }
}

/// The word of a slot with a fault of this kind on this part.
const fn what(kind: FaultKind, part: Part) -> u64 {
    part_word(part) | kind.code() as u64
}

/// The number of the part in the second byte, its index in the upper half.
const fn part_word(part: Part) -> u64 {
    let (number, index) = part.code();
    ((number as u64) << 8) | ((index as u64) << 32)
}

/// What an encoder shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::simulation) enum Encoder {
    /// The truth and this much more, rad or m.
    Off(f64),
    /// This position and velocity.
    Stuck([f64; 2]),
}

impl InjectedFaults {
    /// The faults that act, and how many ticks longer ([`UNTIL_CLEARED`] for no end). During the
    /// last tick of a fault, and in the state after it, that is 0.
    pub fn active(&self) -> impl Iterator<Item = (InjectedFault, u64)> {
        self.slots.iter().filter_map(|s| Some((s.fault()?, s.ticks_left)))
    }

    /// True if none acts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.iter().all(Slot::is_free)
    }

    /// The values of all faults of this kind.
    pub fn of(&self, kind: FaultKind) -> impl Iterator<Item = [f64; 4]> {
        self.slots.iter().filter(move |s| s.code() == kind.code()).map(|s| s.values)
    }

    /// True if one is of the kinds that `is_meant` means.
    #[must_use]
    pub fn any(&self, is_meant: impl Fn(FaultKind) -> bool) -> bool {
        let kind = |s: &Slot| FaultKind::from_code(s.code());
        self.slots.iter().filter_map(kind).any(is_meant)
    }

    /// True if every slot that is taken passes, and is one that a walk gives back as it is.
    pub(in crate::simulation) fn all(&self, passes: impl Fn(&InjectedFault) -> bool) -> bool {
        let is_good = |s: &Slot| {
            let finite = s.memory.iter().chain(&s.values).all(|x| x.is_finite());
            s.is_free() || (finite && s.fault().is_some_and(|d| passes(&d)))
        };
        self.slots.iter().all(is_good)
    }

    /// Takes a slot for a fault: that of an equal one (same kind, same part), or else a free one.
    /// The slot keeps its memory in the first case. `None` if there is none.
    pub(in crate::simulation) fn begin(
        &mut self,
        fault: &InjectedFault,
        ticks: u64,
        memory: [f64; 2],
    ) -> Option<()> {
        let (what, values) = (what(fault.kind, fault.part), fault.values);
        let new = Slot { what, values, ticks_left: ticks, memory };
        if let Some(same) = self.slots.iter_mut().find(|s| s.what == what) {
            *same = Slot { memory: same.memory, ..new };
        } else {
            *self.slots.iter_mut().find(|s| s.is_free())? = new;
        }
        Some(())
    }

    /// Frees the first slot that `ends`, and tells what was in it.
    fn end_one(&mut self, ends: impl Fn(&Slot) -> bool) -> Option<InjectedFault> {
        let taken = self.slots.iter_mut().find(|s| !s.is_free() && ends(s))?;
        let fault = taken.fault();
        *taken = Slot::default();
        fault
    }

    /// Frees the slot of a fault that has had its time; to be called until there is none.
    pub(in crate::simulation) fn end_overdue(&mut self) -> Option<InjectedFault> {
        self.end_one(|s| s.ticks_left == 0)
    }

    /// Frees a slot of this kind and part, or of any; to be called until there is none.
    pub(in crate::simulation) fn clear_one(
        &mut self,
        kind: Option<FaultKind>,
        part: Option<Part>,
    ) -> Option<InjectedFault> {
        self.end_one(|s| {
            let is_part = |p: Part| (s.what & !0xff) == part_word(p);
            kind.is_none_or(|k| s.code() == k.code()) && part.is_none_or(is_part)
        })
    }

    /// Counts a tick.
    pub(in crate::simulation) fn end_tick(&mut self) {
        for slot in &mut self.slots {
            if slot.ticks_left != UNTIL_CLEARED {
                slot.ticks_left = slot.ticks_left.saturating_sub(1);
            }
        }
    }

    /// Draws whatever changes with the tick that begins.
    pub(in crate::simulation) fn draw(&mut self, tick: u64, period_s: f64) {
        let jumping = FaultKind::EncoderJumping.code();
        for slot in self.slots.iter_mut().filter(|s| s.code() == jumping) {
            let [amplitude, rate_hz, seed, _] = slot.values;
            let stream = 2 * (slot.what >> 32);
            if chance(seed as u64, tick, stream) < rate_hz * period_s {
                slot.memory[0] = amplitude * (2.0 * chance(seed as u64, tick, stream + 1) - 1.0);
            }
        }
    }

    /// What the encoder of joint `i` shows in tick `at`, or `None` if it shows the truth.
    pub(in crate::simulation) fn encoder(&self, i: usize, at: u64) -> Option<Encoder> {
        let mut shown = None;
        for slot in self.slots.iter().filter(|s| !s.is_free()) {
            let Some(InjectedFault { kind, part, values }) = slot.fault() else { continue };
            if !part.has_joint(i) {
                continue;
            }
            let more = match kind {
                FaultKind::EncoderStuck => return Some(Encoder::Stuck(slot.memory)),
                FaultKind::EncoderOffset => values[0],
                FaultKind::EncoderJumping => slot.memory[0],
                FaultKind::EncoderNoise => {
                    values[0] * (2.0 * chance(values[1] as u64, at, i as u64) - 1.0)
                }
                _ => continue,
            };
            shown =
                Some(Encoder::Off(more + if let Some(Encoder::Off(x)) = shown { x } else { 0.0 }));
        }
        shown
    }

    /// What a foot's sensor is stuck at: contact, and normal force in N.
    pub(in crate::simulation) fn stuck_foot(&self, foot: usize) -> Option<[f64; 2]> {
        let stuck = what(FaultKind::FootSensorStuck, Part::Foot(foot as u32));
        self.slots.iter().find(|s| s.what == stuck).map(|s| s.memory)
    }
}

impl Walk for InjectedFaults {
    #[inline(always)]
    fn walk(&mut self, visit: &mut impl FnMut(&'static str, usize, Word<'_>)) {
        for (i, slot) in self.slots.iter_mut().enumerate() {
            visit("fault.what", i, Word::U64(&mut slot.what));
            for (k, x) in slot.values.iter_mut().enumerate() {
                visit("fault.value", 4 * i + k, Word::F64(x));
            }
            visit("fault.ticks_left", i, Word::U64(&mut slot.ticks_left));
            for (k, x) in slot.memory.iter_mut().enumerate() {
                visit("fault.memory", 2 * i + k, Word::F64(x));
            }
        }
    }
}
