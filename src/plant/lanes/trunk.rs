//! The base and all bodies that are like nothing else, one after another.

use crate::dynamics::{
    Placed, Positions, Velocities, advance_base, base_placed, bias_force, free_base, held_base,
};
use crate::math::{Lanes, Work};
use crate::model::{Base, Model};
use crate::plant::contact_state::ContactState;
use crate::plant::contacts::PlaneSpring;
use crate::spatial::Vec3;
use crate::spatial::lanes::{Force, Motion, SpatialInertia, Transform};

use super::felt::{Felt, Fours, add, by_fours, from_fours};
use super::segment::{Carrier, Segment};
use super::springs::{SpringBlock, Surroundings};
use super::{Drive, Parts, Task};

/// The trunk. Index 0 is the base, index `t` its segment `t − 1`.
#[derive(Clone, Debug)]
pub(super) struct Trunk {
    base: Base,
    gravity_W: Vec3,
    inertia: SpatialInertia<f64>,
    placed: Placed<f64>,
    p_A: Force<f64>,
    A: Motion<f64>,
    pub(super) segments: Vec<Segment<f64>>,
    /// Bodies that hang on each body of the trunk, last first: the order in which the model's loop
    /// would add them.
    children: Vec<Vec<usize>>,
    /// What each body of the model hands to its parent.
    pub(super) felt: Vec<Fours>,
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
            segments: trunk[1..].iter().map(segment).collect(),
            children: trunk.iter().map(on).collect(),
            felt: vec![Fours::default(); model.bodies.len()],
        }
    }

    /// How body `t` of the trunk moves.
    #[inline(always)]
    pub(super) fn carrier(&self, t: usize) -> Carrier<'_, f64> {
        match t.checked_sub(1) {
            None => Carrier { A: &self.A, X_WB: &self.placed.X_WB, V: &self.placed.V },
            Some(k) => self.segments[k].carrier(),
        }
    }

    /// Does what is asked of the whole robot.
    pub(super) fn perform(&mut self, task: &mut Task<'_>) {
        match task {
            Task::Load(_, data) => self.placed = data.placed(0),
            Task::LoadForces(data) => self.start(&data.f_ext[0].into()),
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
    #[inline(always)]
    pub(super) fn gather(&mut self, drive: Drive, h: f64, q: &mut Positions, v: &mut Velocities) {
        let felt = &mut self.felt;
        for (k, segment) in self.segments.iter_mut().enumerate().rev() {
            for &child in &self.children[k + 1] {
                let Felt { I_A, p_A } = from_fours(&felt[child]);
                segment.felt().I_A += I_A;
                segment.felt().p_A += p_A;
            }
            let mut onto = Felt::default();
            segment.gather(drive, &mut onto, true);
            felt[segment.bodies[0]] = by_fours(&onto);
        }
        let mut sum = by_fours(&Felt { I_A: self.inertia.articulated(), p_A: self.p_A });
        for &child in &self.children[0] {
            add(&mut sum, &felt[child]);
        }
        let Felt { I_A, p_A } = from_fours(&sum);
        let (A, alpha_W, a_W) = match self.base {
            Base::Floating => free_base(&self.placed, &I_A, &p_A, &self.gravity_W),
            Base::Fixed => (held_base(&self.placed, &self.gravity_W), Vec3::zeros(), Vec3::zeros()),
        };
        self.A = A;
        v.w_WB += alpha_W * h;
        v.v_WB += a_W * h;
        advance_base(q, h, v);
    }

    /// Pass 3 and the motion.
    #[inline(always)]
    pub(super) fn advance<Q: Lanes>(
        &mut self,
        q: &Positions,
        v: &Velocities,
        springs: &mut [TrunkSprings<Q>],
        around: &Surroundings,
    ) {
        self.placed = base_placed(q, v);
        let mut springs = springs.iter_mut().peekable();
        for t in 0..=self.segments.len() {
            if let Some(k) = t.checked_sub(1) {
                let (before, rest) = self.segments.split_at_mut(k);
                let segment = &mut rest[0];
                let parent = match segment.parent.checked_sub(1) {
                    None => Carrier { A: &self.A, X_WB: &self.placed.X_WB, V: &self.placed.V },
                    Some(parent) => before[parent].carrier(),
                };
                segment.advance(&parent, around);
            }
            if around.contacts {
                let mut f_ext = Force::zero();
                let carrier = self.carrier(t);
                while let Some(four) = springs.next_if(|s| s.carrier == t) {
                    four.add_forces(&carrier, around, &mut f_ext);
                }
                match t.checked_sub(1) {
                    None => self.start(&f_ext),
                    Some(k) => self.segments[k].start(&f_ext),
                }
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

    /// Adds the forces, lane by lane.
    #[inline(always)]
    fn add_forces(&mut self, on: &Carrier<'_, f64>, around: &Surroundings, sum: &mut Force<f64>) {
        let X_WB = Transform::from_lanes(|_| *on.X_WB);
        let forces = self.block.force(&X_WB, &Motion::from_lanes(|_| *on.V), around);
        for lane in 0..Q::COUNT {
            if lane < self.block.count() {
                *sum += forces.lane(lane);
            }
        }
    }

    /// Does what is asked of the whole robot.
    pub(super) fn perform(&mut self, task: &mut Task<'_>) {
        match task {
            Task::LoadTick(state, _) => Q::run(LoadSprings(&mut self.block, &state.contacts)),
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
