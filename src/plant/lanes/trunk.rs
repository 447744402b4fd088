//! The base and all bodies that are like nothing else, one after another.

use crate::dynamics::{
    Data, Placed, Positions, Velocities, advance_base, base_placed, bias_force, free_base,
    held_base,
};
use crate::math::Lanes;
use crate::model::{Base, Model};
use crate::plant::contacts::PlaneSpring;
use crate::spatial::Vec3;
use crate::spatial::lanes::{ArticulatedInertia, Force, Motion, SpatialInertia, Transform};

use super::segment::Segment;
use super::springs::{SpringBlock, Surroundings};
use super::{Drive, Parts};

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
    handed: Vec<(ArticulatedInertia<f64>, Force<f64>)>,
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
            handed: vec![Default::default(); model.bodies.len()],
        }
    }

    #[inline(always)]
    pub(super) fn hand_over(&mut self, body: usize, I_P: ArticulatedInertia<f64>, p_P: Force<f64>) {
        self.handed[body] = (I_P, p_P);
    }

    /// Acceleration, pose and velocity of body `t` of the trunk.
    #[inline(always)]
    pub(super) fn at(&self, t: usize) -> (Motion<f64>, Transform<f64>, Motion<f64>) {
        match t.checked_sub(1) {
            None => (self.A, self.placed.X_WB, self.placed.V),
            Some(k) => {
                let segment = &self.segments[k];
                (segment.A, segment.placed.X_WB, segment.placed.V)
            }
        }
    }

    /// Takes over the base's place.
    pub(super) fn load(&mut self, data: &Data) {
        self.placed = data.placed(0);
    }

    /// Takes over the base's external force.
    pub(super) fn load_forces(&mut self, data: &Data) {
        self.start(&data.f_ext[0].into());
    }

    /// Gives back the base's place.
    pub(super) fn store(&self, data: &mut Data) {
        data.set_placed(0, &self.placed);
    }

    #[inline(always)]
    fn start(&mut self, f_ext: &Force<f64>) {
        self.p_A = bias_force(&self.inertia, &self.placed.V, f_ext);
    }

    /// Pass 2, and the acceleration of the base, which is added to its velocity and position.
    #[inline(always)]
    pub(super) fn gather(&mut self, drive: Drive, h: f64, q: &mut Positions, v: &mut Velocities) {
        for k in (0..self.segments.len()).rev() {
            let segment = &mut self.segments[k];
            for &child in &self.children[k + 1] {
                let (I_P, p_P) = &self.handed[child];
                segment.I_A += *I_P;
                segment.p_A += *p_P;
            }
            self.handed[segment.bodies[0]] = segment.gather(drive);
        }
        let (mut I_A, mut p_A) = (self.inertia.articulated(), self.p_A);
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
        if around.contacts {
            let f_ext = contact_force(springs, 0, &self.placed, around);
            self.start(&f_ext);
        }
        for k in 0..self.segments.len() {
            let (A_P, X_WP, V_P) = self.at(self.segments[k].parent);
            let segment = &mut self.segments[k];
            segment.advance(&A_P, &X_WP, &V_P, around);
            if around.contacts {
                let f_ext = contact_force(springs, k + 1, &segment.placed, around);
                segment.start(&f_ext);
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
}

/// The sum of the contact forces on one body of the trunk, in the order of the contacts.
#[inline(always)]
fn contact_force<Q: Lanes>(
    springs: &mut [TrunkSprings<Q>],
    carrier: usize,
    placed: &Placed<f64>,
    around: &Surroundings,
) -> Force<f64> {
    let mut sum = Force::default();
    for four in springs.iter_mut().filter(|s| s.carrier == carrier) {
        let (X_WB, V) = (Transform::from_lanes(|_| placed.X_WB), Motion::from_lanes(|_| placed.V));
        let forces = four.block.force(&X_WB, &V, around);
        for lane in 0..Q::COUNT {
            if lane < four.block.count() {
                sum += forces.lane(lane);
            }
        }
    }
    sum
}
