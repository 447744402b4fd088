//! The law of each contact with what it remembers: part of the state.

use crate::contact::{
    ExponentialSpring, Friction, HuntCrossley, Memory, Print, Prints, SoftGround,
};

use super::Word;
use super::contact_result::ContactResult;
use crate::spatial::Vec3;

/// Law, memory and coefficients of one station against one surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ContactState {
    pub(super) law: ContactLaw,
    pub(super) friction: Friction,
    pub(super) place: Place,
}

/// The surface of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Always the same: no word of the state.
    Fixed,
    /// One that is near, by its number, or none.
    Near(Option<u32>),
}

/// A law and its own kind of memory. The law never changes and is no word of the state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ContactLaw {
    Spring {
        spring: ExponentialSpring,
        memory: SpringMemory,
    },
    /// A station on soft ground: the spring gives the friction. Where surfaces take and leave
    /// places it may be firm ground now; the words of a state are always as many.
    Soft {
        ground: Option<SoftGround>,
        spring: ExponentialSpring,
        memory: SpringMemory,
        prints: Prints,
    },
    /// Without memory: its force is a function of positions and velocities.
    HuntCrossley(HuntCrossley),
    Rigid(RigidMemory),
}

/// The memory of an exponential spring, with its anchor in the surface's frame S, so that it
/// travels with a platform and stays put on curved ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SpringMemory {
    pub(super) anchor_S: [f64; 3],
    pub(super) sliding: f64,
    pub(super) committed_ns: Option<u64>,
    /// The body's point that touched at the last commit, in B, m: see
    /// [`RollingMemory`](crate::contact::RollingMemory).
    pub(super) marker_B: [f64; 3],
}

/// What a rigid contact does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RigidPhase {
    Open,
    Sticks,
    Slides,
}

impl RigidPhase {
    /// Of a contact that carries a load or not, and slides if it does.
    #[inline(always)]
    pub(super) const fn of(carries: bool, slides: bool) -> Self {
        match (carries, slides) {
            (false, _) => Self::Open,
            (true, false) => Self::Sticks,
            (true, true) => Self::Slides,
        }
    }
}

/// The memory of a rigid contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RigidMemory {
    pub(super) phase: RigidPhase,
    /// Where it sticks, in S.
    pub(super) anchor_S: [f64; 3],
    /// Mean force of the last micro-step, in C, N: reading, and first guess of the next step.
    pub(super) force_C: [f64; 3],
    /// Mean power that it took from the motion in the last micro-step, W.
    pub(super) power_w: f64,
}

impl SpringMemory {
    /// The memory of no contact at all.
    pub(super) const NONE: Self =
        Self { anchor_S: [0.0; 3], sliding: 0.0, committed_ns: None, marker_B: [0.0; 3] };

    #[inline(always)]
    fn walk(&mut self, i: usize, visit: &mut impl FnMut(&'static str, usize, Word<'_>)) {
        walk3("contact.anchor_S", i, &mut self.anchor_S, visit);
        visit("contact.sliding", i, Word::F64(&mut self.sliding));
        let mut committed = self.committed_ns.unwrap_or(NEVER);
        visit("contact.committed_ns", i, Word::U64(&mut committed));
        self.committed_ns = (committed != NEVER).then_some(committed);
        walk3("contact.marker_B", i, &mut self.marker_B, visit);
    }

    /// The spring's own memory, with the anchor at `anchor_C` of the contact's frame.
    pub(super) const fn in_contact_frame(&self, anchor_C: [f64; 2]) -> Memory {
        Memory { anchor_P: anchor_C, sliding: self.sliding, committed_ns: self.committed_ns }
    }

    /// The spring's own memory, with the anchor in the axes of the surface.
    pub(super) const fn in_surface_frame(&self) -> Memory {
        let [x, y, _] = self.anchor_S;
        self.in_contact_frame([x, y])
    }
}

impl ContactLaw {
    /// Moves the anchor as far as its station was moved.
    pub(super) fn carry(&mut self, before: &ContactResult, after: &ContactResult) {
        let (anchor_S, by_S) = match self {
            Self::Spring { memory, .. } | Self::Soft { memory, .. } => {
                (&mut memory.anchor_S, after.stretched_point_S() - before.stretched_point_S())
            }
            Self::Rigid(memory) => {
                (&mut memory.anchor_S, after.ground_point_S() - before.ground_point_S())
            }
            Self::HuntCrossley(_) => return,
        };
        *anchor_S = (Vec3::from(*anchor_S) + by_S).into();
    }
}

impl RigidMemory {
    pub(super) const NEW: Self =
        Self { phase: RigidPhase::Open, anchor_S: [0.0; 3], force_C: [0.0; 3], power_w: 0.0 };
}

const NEVER: u64 = u64::MAX;

impl ContactState {
    /// Visits every word; `i` is the index of the contact.
    #[inline(always)]
    pub(super) fn walk(&mut self, i: usize, visit: &mut impl FnMut(&'static str, usize, Word<'_>)) {
        if let Place::Near(surface) = &mut self.place {
            let mut number = surface.map_or(NEVER, u64::from);
            visit("contact.surface", i, Word::U64(&mut number));
            *surface = u32::try_from(number).ok();
        }
        match &mut self.law {
            ContactLaw::Spring { memory: m, .. } => {
                m.walk(i, visit);
            }
            ContactLaw::Soft { memory, prints, .. } => {
                memory.walk(i, visit);
                visit("contact.pressed", i, Word::F64(&mut prints.under_m));
                let first = i * prints.all.len();
                for (k, Print { deepest_m, middle_S }) in prints.all.iter_mut().enumerate() {
                    visit("contact.print_depth", first + k, Word::F64(deepest_m));
                    walk3("contact.print_S", first + k, middle_S, visit);
                }
            }
            ContactLaw::HuntCrossley(_) => {}
            ContactLaw::Rigid(m) => {
                let mut phase = m.phase as u64;
                visit("contact.phase", i, Word::U64(&mut phase));
                m.phase = match phase {
                    0 => RigidPhase::Open,
                    1 => RigidPhase::Sticks,
                    _ => RigidPhase::Slides,
                };
                walk3("contact.anchor_S", i, &mut m.anchor_S, visit);
                walk3("contact.force_C", i, &mut m.force_C, visit);
                visit("contact.power", i, Word::F64(&mut m.power_w));
            }
        }
        let (mut mu_s, mut mu_k) = (self.friction.mu_static(), self.friction.mu_kinetic());
        visit("contact.mu_static", i, Word::F64(&mut mu_s));
        visit("contact.mu_kinetic", i, Word::F64(&mut mu_k));
        self.friction = Friction::new(mu_s, mu_k);
    }
}

/// Visits three numbers of entry `group`.
#[inline(always)]
pub(in crate::plant) fn walk3(
    name: &'static str,
    group: usize,
    values: &mut [f64; 3],
    visit: &mut impl FnMut(&'static str, usize, Word<'_>),
) {
    for (i, x) in values.iter_mut().enumerate() {
        visit(name, 3 * group + i, Word::F64(x));
    }
}
