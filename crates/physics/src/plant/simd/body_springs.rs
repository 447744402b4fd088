//! All springs on one body of each limb.

use crate::plant::contact_result::ContactResult;
use crate::plant::contact_state::ContactState;
use crate::plant::contacts::PlaneSpring;
use crate::plant::implicit::Step;
use crate::simd::SimdReal;
use crate::spatial::simd::{ArticulatedInertia, Force, Motion, Transform};

use super::child_contribution::ChildContribution;
use super::springs::{SpringBlock, StepParams};

/// The contacts of the bodies of a segment: the first of each body, then the second of each. Where
/// few of the bodies have contacts, several of one body are side by side.
#[derive(Clone, Debug)]
pub(super) struct BodySprings<T> {
    blocks: Vec<SpringBlock<T>>,
    spread: Option<Spread<T>>,
}

/// Which lanes of a block belong to which body.
#[derive(Clone, Copy, Debug)]
struct Spread<T> {
    /// The lane of the body for each lane of a block.
    bodies: [usize; 4],
    /// The lane of a block for each body: of the first contact that it has there, the second …
    contacts: [[usize; 4]; 4],
    /// Contacts of one body in a block.
    at_once: usize,
    /// 1 in the lanes of bodies with contacts, else 0.
    touching: T,
}

impl<T: SimdReal> BodySprings<T> {
    /// The contacts of these bodies, one body per lane.
    pub(super) fn new(all: &[PlaneSpring], bodies: &[usize]) -> Self {
        let of =
            |body: usize| -> Vec<&PlaneSpring> { all.iter().filter(|c| c.body == body).collect() };
        let columns: Vec<Vec<&PlaneSpring>> = bodies.iter().map(|&b| of(b)).collect();
        let most = columns.iter().map(Vec::len).max().unwrap_or(0);
        let touching: Vec<usize> = (0..columns.len()).filter(|&l| !columns[l].is_empty()).collect();
        let at_once = if most > 1 { T::COUNT / touching.len() } else { 1 };
        let spread = (at_once > 1).then(|| Spread::new(&touching, at_once));
        let slots: Vec<(usize, usize)> = match &spread {
            None => (0..columns.len()).map(|lane| (lane, 0)).collect(),
            Some(_) => (0..at_once).flat_map(|r| touching.iter().map(move |&l| (l, r))).collect(),
        };
        let block = |first: usize| {
            let contact = |&(lane, r): &(usize, usize)| columns[lane].get(first + r).copied();
            SpringBlock::new(&slots.iter().map(contact).collect::<Vec<_>>())
        };
        Self { blocks: (0..most).step_by(at_once).map(block).collect(), spread }
    }

    /// Evaluates the contacts and commits the memory that they propose: see
    /// [`SpringBlock::touch`].
    #[inline(always)]
    pub(super) fn touch(
        &mut self,
        X_WB: &Transform<T>,
        V: &Motion<T>,
        params: &StepParams,
    ) -> Force<T> {
        let mut f_ext = Force::zero();
        let Some(spread) = &self.spread else {
            for block in &mut self.blocks {
                f_ext += block.touch(X_WB, V, params);
            }
            return f_ext;
        };
        let (X_WB, V) = (X_WB.reordered(spread.bodies), V.reordered(spread.bodies));
        for block in &mut self.blocks {
            let forces = block.touch(&X_WB, &V, params);
            for order in &spread.contacts[..spread.at_once] {
                let sum = f_ext + forces.reordered(*order);
                f_ext = Force::select(spread.touching.above(T::splat(0.0)), &sum, &f_ext);
            }
        }
        f_ext
    }

    /// The force on the bodies in an implicit step from where they were evaluated, and the inertia
    /// that belongs to it.
    #[inline(always)]
    pub(super) fn implicit(
        &self,
        X_WB: &Transform<T>,
        V: &Motion<T>,
        step: &Step<T>,
    ) -> (Force<T>, ArticulatedInertia<T>) {
        let mut sum = ChildContribution::default();
        let (mut X_WB, mut V) = (*X_WB, *V);
        if let Some(spread) = &self.spread {
            (X_WB, V) = (X_WB.reordered(spread.bodies), V.reordered(spread.bodies));
        }
        for block in &self.blocks {
            let (p_A, I_A) = block.implicit(&X_WB, &V, step);
            let added = ChildContribution { I_A, p_A };
            let Some(spread) = &self.spread else {
                sum.p_A += added.p_A;
                sum.I_A += added.I_A;
                continue;
            };
            for order in &spread.contacts[..spread.at_once] {
                sum.add_where(spread.touching.above(T::splat(0.0)), &added.reordered(*order));
            }
        }
        (sum.p_A, sum.I_A)
    }

    /// Evaluates the contacts, for all to see.
    #[inline(always)]
    pub(super) fn show(
        &self,
        X_WB: &Transform<T>,
        V: &Motion<T>,
        h: f64,
        all: &mut [ContactResult],
    ) {
        let (mut X_WB, mut V) = (*X_WB, *V);
        if let Some(spread) = &self.spread {
            (X_WB, V) = (X_WB.reordered(spread.bodies), V.reordered(spread.bodies));
        }
        for block in &self.blocks {
            block.show(&X_WB, &V, h, all);
        }
    }

    /// Takes over coefficients and committed memories.
    #[inline(always)]
    pub(super) fn load(&mut self, states: &[ContactState]) {
        for block in &mut self.blocks {
            block.load(states);
        }
    }

    /// Gives back the committed memories.
    #[inline(always)]
    pub(super) fn store(&self, states: &mut [ContactState], committed_ns: u64) {
        for block in &self.blocks {
            block.store(states, committed_ns);
        }
    }

    /// True if a contact strikes the ground.
    pub(super) fn needs_substep(&self) -> bool {
        self.blocks.iter().any(SpringBlock::needs_substep)
    }

    /// True if a contact had a force in this tick.
    #[inline(always)]
    pub(super) fn touched(&self) -> bool {
        self.blocks.iter().any(SpringBlock::touched)
    }
}

impl<T: SimdReal> Spread<T> {
    /// `touching` are the lanes of the bodies with contacts, of each of which so many are taken
    /// `at_once`.
    fn new(touching: &[usize], at_once: usize) -> Self {
        let (mut bodies, mut contacts) = ([touching[0]; 4], [[0; 4]; 4]);
        for (r, contact) in contacts.iter_mut().enumerate().take(at_once) {
            for (i, &lane) in touching.iter().enumerate() {
                let of_block = r * touching.len() + i;
                (bodies[of_block], contact[lane]) = (lane, of_block);
            }
        }
        let touching = T::from_lanes(|i| f64::from(touching.contains(&i)));
        Self { bodies, contacts, at_once, touching }
    }
}
