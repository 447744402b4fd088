//! Springs on bodies of the trunk: several of one body side by side.

use crate::plant::contact_result::ContactResult;
use crate::plant::contact_state::ContactState;
use crate::plant::contacts::PlaneSpring;
use crate::plant::implicit::Step;
use crate::simd::{SimdReal, Work};
use crate::spatial::simd::{ArticulatedInertia, Force, Motion, Transform};

use super::Task;
use super::segment::Carrier;
use super::springs::{SpringBlock, StepParams};
use super::trunk::Trunk;

/// Contacts of one body of the trunk, one per lane.
#[derive(Clone, Debug)]
pub(super) struct TrunkSprings<Q> {
    pub(super) carrier: usize,
    block: SpringBlock<Q>,
}

impl<Q: SimdReal> TrunkSprings<Q> {
    /// All contacts of the trunk.
    pub(super) fn on_trunk(all: &[PlaneSpring], trunk: &[usize]) -> Vec<Self> {
        let mut blocks = Vec::new();
        for (carrier, &body) in trunk.iter().enumerate() {
            let here: Vec<Option<&PlaneSpring>> =
                all.iter().filter(|c| c.body == body).map(Some).collect();
            for lanes in here.chunks(Q::COUNT) {
                blocks.push(Self { carrier, block: SpringBlock::new(lanes) });
            }
        }
        blocks
    }

    /// Adds the forces, lane by lane.
    #[inline(always)]
    pub(super) fn add_forces(
        &mut self,
        on: &Carrier<'_, f64>,
        params: &StepParams,
        sum: &mut Force<f64>,
    ) {
        let (X_WB, V) = (Transform::splat(on.X_WB), Motion::splat(on.V));
        let forces = self.block.touch(&X_WB, &V, params);
        for lane in 0..Q::COUNT {
            if lane < self.block.count() {
                *sum += forces.lane(lane);
            }
        }
    }

    /// Adds the implicit forces, and the inertias that belong to them.
    pub(super) fn add_implicit(
        &self,
        on: Carrier<'_, f64>,
        step: &Step<f64>,
        sum: (&mut Force<f64>, &mut ArticulatedInertia<f64>),
    ) {
        Q::run(AddImplicit { block: &self.block, on, step, sum });
    }

    /// Evaluates the contacts, for all to see.
    pub(super) fn show(&self, trunk: &Trunk, all: &mut [ContactResult], h: f64) {
        Q::run(ShowSprings { block: &self.block, on: trunk.carrier(self.carrier), h, all });
    }

    /// Does what is asked of the whole robot.
    pub(super) fn perform(&mut self, task: &mut Task<'_>) {
        match task {
            Task::LoadTick(state, _) => Q::run(LoadSprings(&mut self.block, &state.contacts)),
            Task::NeedsSubstep(any) => **any |= self.block.needs_substep(),
            Task::Touched(any) => **any |= Q::run(Touched(&self.block)),
            Task::StoreContacts(contacts, committed_ns) => {
                Q::run(StoreSprings(&self.block, contacts, *committed_ns));
            }
            _ => {}
        }
    }
}

struct LoadSprings<'a, Q>(&'a mut SpringBlock<Q>, &'a [ContactState]);

impl<Q: SimdReal> Work for LoadSprings<'_, Q> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.0.load(self.1);
    }
}

struct Touched<'a, Q>(&'a SpringBlock<Q>);

impl<Q: SimdReal> Work for Touched<'_, Q> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        self.0.touched()
    }
}

struct StoreSprings<'a, Q>(&'a SpringBlock<Q>, &'a mut [ContactState], u64);

impl<Q: SimdReal> Work for StoreSprings<'_, Q> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.0.store(self.1, self.2);
    }
}

/// Adds the implicit forces of one block, and the inertias that belong to them, lane by lane.
struct AddImplicit<'a, Q> {
    block: &'a SpringBlock<Q>,
    on: Carrier<'a, f64>,
    step: &'a Step<f64>,
    sum: (&'a mut Force<f64>, &'a mut ArticulatedInertia<f64>),
}

impl<Q: SimdReal> Work for AddImplicit<'_, Q> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (X_WB, V) = (Transform::splat(self.on.X_WB), Motion::splat(self.on.V));
        let (forces, inertias) = self.block.implicit(&X_WB, &V, &self.step.splat());
        for lane in 0..Q::COUNT {
            if lane < self.block.count() {
                *self.sum.0 += forces.lane(lane);
                *self.sum.1 += inertias.lane(lane);
            }
        }
    }
}

struct ShowSprings<'a, Q> {
    block: &'a SpringBlock<Q>,
    on: Carrier<'a, f64>,
    h: f64,
    all: &'a mut [ContactResult],
}

impl<Q: SimdReal> Work for ShowSprings<'_, Q> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (X_WB, V) = (Transform::splat(self.on.X_WB), Motion::splat(self.on.V));
        self.block.show(&X_WB, &V, self.h, self.all);
    }
}
