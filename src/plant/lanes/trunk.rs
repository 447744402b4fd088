//! The base and all bodies that are like nothing else, one after another.

use crate::dynamics::{
    Placed, Positions, Velocities, advance_base, advance_base_by_mean, base_placed, bias_force,
    free_base, held_base,
};
use crate::math::{Lanes, Work};
use crate::model::{Base, Model};
use crate::plant::contact_state::ContactState;
use crate::plant::contacts::PlaneSpring;
use crate::plant::implicit::Step;
use crate::spatial::Vec3;
use crate::spatial::lanes::{ArticulatedInertia, Force, Motion, SpatialInertia, Transform};

use super::segment::{AdvanceOnTrunk, GatherToTrunk, Segment};
use super::springs::{SpringBlock, Surroundings};
use super::{Drive, Parts, Task};

/// The trunk. Index 0 is the base, index `t` its segment `t − 1`.
#[derive(Clone, Debug)]
pub(super) struct Trunk {
    base: Base,
    pub(super) gravity_W: Vec3,
    inertia: SpatialInertia<f64>,
    placed: Placed<f64>,
    p_A: Force<f64>,
    A: Motion<f64>,
    /// What implicit forces add to the base's inertia.
    added: ArticulatedInertia<f64>,
    pub(super) segments: Vec<Segment<f64>>,
    /// Bodies that hang on each body of the trunk, last first: the order in which the model's loop
    /// would add them.
    children: Vec<Vec<usize>>,
    /// What each body of the model hands to its parent.
    pub(super) handed: Vec<Handed>,
}

/// What a body hands to its parent in pass 2, in the parent's frame: `I_A` and `p_A`.
pub(super) type Handed = (ArticulatedInertia<f64>, Force<f64>);

/// What a body is handed by its parent in pass 3.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carrier {
    pub(super) A: Motion<f64>,
    pub(super) X_WB: Transform<f64>,
    pub(super) V: Motion<f64>,
}

impl Carrier {
    /// Pose and velocity, the same in every lane.
    #[inline(always)]
    fn in_lanes<Q: Lanes>(&self) -> (Transform<Q>, Motion<Q>) {
        (Transform::from_lanes(|_| self.X_WB), Motion::from_lanes(|_| self.V))
    }
}

impl Trunk {
    pub(super) fn new(parts: &Parts<'_>, model: &Model, gravity_W: Vec3, trunk: &[usize]) -> Self {
        // the trunk's contacts are taken four at a time
        let parts = Parts { contacts: &[], ..*parts };
        let segment = |&body: &usize| {
            let parent = trunk.iter().position(|&b| b == model.bodies[body].parent);
            Segment::new(&parts, vec![body], parent.unwrap_or(0))
        };
        let on = |&p: &usize| {
            (1..model.bodies.len()).rev().filter(|&b| model.bodies[b].parent == p).collect()
        };
        Self {
            base: model.base,
            gravity_W,
            inertia: model.bodies[0].inertia.into(),
            placed: Placed::default(),
            p_A: Force::default(),
            A: Motion::default(),
            added: ArticulatedInertia::default(),
            segments: trunk[1..].iter().map(segment).collect(),
            children: trunk.iter().map(on).collect(),
            handed: vec![Default::default(); model.bodies.len()],
        }
    }

    /// Body `t` of the trunk, for those that it carries.
    pub(super) fn carrier(&self, t: usize) -> Carrier {
        let (A, placed) = match t.checked_sub(1) {
            None => (self.A, &self.placed),
            Some(k) => (self.segments[k].A, &self.segments[k].placed),
        };
        Carrier { A, X_WB: placed.X_WB, V: placed.V }
    }

    /// Does what is asked of the whole robot.
    pub(super) fn perform(&mut self, task: &mut Task<'_>) {
        match task {
            Task::Load(_, data) => self.placed = data.placed(0),
            Task::LoadForces(data) => self.start(&data.f_ext[0].into()),
            Task::LoadImplicit(data) => {
                self.added = data.added.bodies[0];
                self.start(&data.f_ext[0].into());
            }
            Task::Store(_, data) => data.set_placed(0, &self.placed),
            _ => {}
        }
        for segment in &mut self.segments {
            segment.perform(task.again());
        }
    }

    #[inline(always)]
    fn start(&mut self, f_ext: &Force<f64>) {
        self.p_A = bias_force(&self.inertia, &self.placed.V, f_ext);
    }

    /// Pass 2, and the acceleration of the base, which is added to its velocity and position.
    pub(super) fn gather(
        &mut self,
        drive: Drive,
        around: Surroundings,
        q: &mut Positions,
        v: &mut Velocities,
    ) {
        let h = around.h;
        let handed = &mut self.handed;
        for (k, segment) in self.segments.iter_mut().enumerate().rev() {
            for &child in &self.children[k + 1] {
                let (I_P, p_P) = &handed[child];
                segment.I_A += *I_P;
                segment.p_A += *p_P;
            }
            f64::run(GatherToTrunk { segment, handed, drive, around });
        }
        let (mut I_A, mut p_A) = (self.inertia.articulated(), self.p_A);
        if around.implicit {
            I_A += self.added;
        }
        for &child in &self.children[0] {
            let (I_P, p_P) = &self.handed[child];
            I_A += *I_P;
            p_A += *p_P;
        }
        let (X_WB, V) = (self.placed.X_WB.into(), self.placed.V.into());
        let (A, alpha_W, a_W) = match self.base {
            Base::Floating => free_base(&X_WB, &V, &I_A, &p_A.into(), &self.gravity_W),
            Base::Fixed => (held_base(&X_WB, &self.gravity_W), Vec3::zeros(), Vec3::zeros()),
        };
        self.A = A.into();
        if around.implicit {
            return advance_base_by_mean(q, v, h, &alpha_W, &a_W);
        }
        v.w_WB += alpha_W * h;
        v.v_WB += a_W * h;
        advance_base(q, h, v);
    }

    /// Pass 3 and the motion.
    pub(super) fn advance<Q: Lanes>(
        &mut self,
        q: &Positions,
        v: &Velocities,
        springs: &mut [TrunkSprings<Q>],
        around: &Surroundings,
    ) {
        self.placed = base_placed(q, v);
        if around.contacts && !around.implicit {
            let f_ext = contact_force(springs, 0, &self.placed, around);
            self.start(&f_ext);
        }
        for k in 0..self.segments.len() {
            let carriers = &[self.carrier(self.segments[k].parent)];
            let segment = &mut self.segments[k];
            f64::run(AdvanceOnTrunk { segment, carriers, around: *around });
            if around.contacts && !around.implicit {
                let f_ext = contact_force(springs, k + 1, &segment.placed, around);
                segment.start(&f_ext);
            }
        }
        if around.contacts && around.implicit {
            for four in springs {
                let placed = &self.carrier(four.carrier);
                Q::run(Touch { block: &mut four.block, placed, around });
            }
        }
    }

    /// Starts pass 2 of an implicit step, whose length is now known, from the contacts as
    /// evaluated.
    pub(super) fn restart<Q: Lanes>(&mut self, springs: &[TrunkSprings<Q>], step: &Step<f64>) {
        for t in 0..=self.segments.len() {
            let placed = &self.carrier(t);
            let (mut f_ext, mut added) = (Force::default(), ArticulatedInertia::default());
            for four in springs.iter().filter(|s| s.carrier == t) {
                let sum = (&mut f_ext, &mut added);
                Q::run(AddImplicit { block: &four.block, placed, step, sum });
            }
            match t.checked_sub(1) {
                None => {
                    self.added = added;
                    self.start(&f_ext);
                }
                Some(k) => self.segments[k].start_implicit(&f_ext, &added),
            }
        }
    }
}

/// Up to four contacts of one body of the trunk.
#[derive(Clone, Debug)]
pub(super) struct TrunkSprings<Q> {
    carrier: usize,
    pub(super) block: SpringBlock<Q>,
}

impl<Q: Lanes> TrunkSprings<Q> {
    /// All contacts of the trunk.
    pub(super) fn on_trunk(all: &[PlaneSpring], trunk: &[usize]) -> Vec<Self> {
        let mut blocks = Vec::new();
        for (carrier, &body) in trunk.iter().enumerate() {
            let here: Vec<Option<&PlaneSpring>> =
                all.iter().filter(|c| c.body == body).map(Some).collect();
            for four in here.chunks(Q::COUNT) {
                blocks.push(Self { carrier, block: SpringBlock::new(four) });
            }
        }
        blocks
    }

    /// Does what is asked of the whole robot.
    pub(super) fn perform(&mut self, task: &mut Task<'_>) {
        match task {
            Task::LoadTick(state, _) => Q::run(LoadSprings(&mut self.block, &state.contacts)),
            Task::Commit => self.block.commit(),
            Task::Strikes(any) => **any |= self.block.strikes(),
            Task::StoreContacts(contacts, committed_ns) => {
                Q::run(StoreSprings(&self.block, contacts, *committed_ns));
            }
            _ => {}
        }
    }
}

struct LoadSprings<'a, Q>(&'a mut SpringBlock<Q>, &'a [ContactState]);

impl<Q: Lanes> Work for LoadSprings<'_, Q> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.0.load(self.1);
    }
}

struct StoreSprings<'a, Q>(&'a SpringBlock<Q>, &'a mut [ContactState], u64);

impl<Q: Lanes> Work for StoreSprings<'_, Q> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.0.store(self.1, self.2);
    }
}

/// The sum of the contact forces on one body of the trunk, in the order of the contacts.
fn contact_force<Q: Lanes>(
    springs: &mut [TrunkSprings<Q>],
    carrier: usize,
    placed: &Placed<f64>,
    around: &Surroundings,
) -> Force<f64> {
    let mut sum = Force::default();
    for four in springs.iter_mut().filter(|s| s.carrier == carrier) {
        Q::run(AddForces { block: &mut four.block, placed, around, sum: &mut sum });
    }
    sum
}

/// Adds the forces of one block, lane by lane.
struct AddForces<'a, Q> {
    block: &'a mut SpringBlock<Q>,
    placed: &'a Placed<f64>,
    around: &'a Surroundings,
    sum: &'a mut Force<f64>,
}

impl<Q: Lanes> Work for AddForces<'_, Q> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Placed { X_WB, V, .. } = self.placed;
        let X_WB = Transform::from_lanes(|_| *X_WB);
        let forces = self.block.force(&X_WB, &Motion::from_lanes(|_| *V), self.around);
        for lane in 0..Q::COUNT {
            if lane < self.block.count() {
                *self.sum += forces.lane(lane);
            }
        }
    }
}

/// Evaluates one block for an implicit step.
struct Touch<'a, Q> {
    block: &'a mut SpringBlock<Q>,
    placed: &'a Carrier,
    around: &'a Surroundings,
}

impl<Q: Lanes> Work for Touch<'_, Q> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (X_WB, V) = self.placed.in_lanes();
        self.block.touch(&X_WB, &V, self.around);
    }
}

/// Adds the implicit forces of one block, and the inertias that belong to them, lane by lane.
struct AddImplicit<'a, Q> {
    block: &'a SpringBlock<Q>,
    placed: &'a Carrier,
    step: &'a Step<f64>,
    sum: (&'a mut Force<f64>, &'a mut ArticulatedInertia<f64>),
}

impl<Q: Lanes> Work for AddImplicit<'_, Q> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (X_WB, V) = self.placed.in_lanes();
        let (forces, inertias) = self.block.implicit(&X_WB, &V, &self.step.splat());
        for lane in 0..Q::COUNT {
            if lane < self.block.count() {
                *self.sum.0 += forces.lane(lane);
                *self.sum.1 += inertias.lane(lane);
            }
        }
    }
}
