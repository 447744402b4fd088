//! Exponential springs on planes at rest, side by side.

use crate::contact::{
    Contact, ContactSlopes, Friction, FrictionMemory, RollingMemory, SpringForce, SpringLaw,
    StationShape, stretched,
};
use crate::plant::contact_result::ContactResult;
use crate::plant::contact_state::{ContactLaw, ContactState, SpringMemory};
use crate::plant::contacts::PlaneSpring;
use crate::plant::flight::TOUCHES_N;
use crate::plant::implicit::{Step, Touching};
use crate::simd::{SimdReal, by_lanes};
use crate::spatial;
use crate::spatial::simd::{ArticulatedInertia, Force, Mat3, Motion, Transform, Vec3};

/// What all contacts of a micro-step share.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepParams {
    /// Length of the step, s: of a micro-step, or of its half.
    pub(super) h: f64,
    /// Length of a micro-step, s.
    pub(super) micro_step_s: f64,
    /// True if the step is linearly implicit.
    pub(super) implicit: bool,
    /// False if other code computes the contacts.
    pub(super) contacts: bool,
}

/// One contact per lane: a point or sphere against a plane. An empty lane has no force.
#[derive(Clone, Debug)]
pub(super) struct SpringBlock<T> {
    /// Index of the contact in each lane.
    contacts: Vec<Option<usize>>,
    round: bool,
    p_BS: Vec3<T>,
    radius: T,
    /// Axes and origin of the plane's frame S in W.
    R_WS: Mat3<T>,
    level: Level,
    /// 1 in the lanes of level planes, else 0.
    flat: T,
    p_WS: Vec3<T>,
    law: SpringLaw<T>,
    mu_static: T,
    mu_kinetic: T,
    memory: RollingMemory<T>,
    /// The last evaluation, for implicit steps.
    touching: Touching<T>,
    slopes: ContactSlopes<T>,
    needs_substep: bool,
    /// Largest normal force since the tick began, N.
    most_n: T,
}

/// Which of a block's planes have the axes of W: there is nothing to turn then.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Level {
    All,
    Some,
    None,
}

impl<T: SimdReal> SpringBlock<T> {
    /// Contacts in lanes; one of them at least is there. All are round or all are points, and all
    /// have one law of friction: see [`same_topology`].
    pub(super) fn new(lanes: &[Option<&PlaneSpring>]) -> Self {
        let some: Vec<&PlaneSpring> = lanes.iter().flatten().copied().collect();
        let at = |i: usize| lanes.get(i).copied().flatten().unwrap_or(some[0]);
        let empty = |i: usize| lanes.get(i).copied().flatten().is_none();
        let law = SpringLaw::from_lanes(|i| at(i).spring.parameters());
        let is_flat = |i: usize| at(i).X_WS.R == spatial::Mat3::identity();
        let level = match by_lanes::<T, _>(is_flat) {
            [true, true, true, true] => Level::All,
            [false, false, false, false] => Level::None,
            _ => Level::Some,
        };
        let zero = T::splat(0.0);
        let friction = FrictionMemory { anchor_P: [zero; 2], sliding: zero };
        Self {
            contacts: lanes.iter().map(|c| c.map(|c| c.contact)).collect(),
            round: some[0].shape != StationShape::Point,
            p_BS: Vec3::from_lanes(|i| at(i).p_BS),
            radius: T::from_lanes(|i| at(i).shape.round_m()),
            R_WS: Mat3::from_lanes(|i| at(i).X_WS.R),
            level,
            flat: T::from_lanes(|i| f64::from(is_flat(i))),
            p_WS: Vec3::from_lanes(|i| at(i).X_WS.p),
            law: law.without_force(empty),
            mu_static: zero,
            mu_kinetic: zero,
            memory: RollingMemory { friction, marker_B: Vec3::zeros() },
            touching: Touching::default(),
            slopes: ContactSlopes::default(),
            needs_substep: false,
            most_n: zero,
        }
    }

    /// Number of lanes in use.
    #[inline(always)]
    pub(super) fn count(&self) -> usize {
        self.contacts.len()
    }

    #[inline(always)]
    fn state(&self, states: &[ContactState], lane: usize) -> (Friction, SpringMemory) {
        let state = self.contacts.get(lane).copied().flatten().map(|i| &states[i]);
        match state.map(|s| (s.friction, &s.law)) {
            Some((friction, ContactLaw::Spring { memory, .. })) => (friction, *memory),
            _ => (Friction::NONE, SpringMemory::NONE),
        }
    }

    /// Takes over coefficients and committed memory.
    #[inline(always)]
    pub(super) fn load(&mut self, states: &[ContactState]) {
        let memory = |i: usize| self.state(states, i).1;
        let loaded = RollingMemory {
            friction: FrictionMemory {
                anchor_P: [0, 1].map(|k| T::from_lanes(|i| memory(i).anchor_S[k])),
                sliding: T::from_lanes(|i| memory(i).sliding),
            },
            marker_B: Vec3::from_lanes(|i| {
                let [x, y, z] = memory(i).marker_B;
                Vec3 { x, y, z }
            }),
        };
        let mu_static = T::from_lanes(|i| self.state(states, i).0.mu_static());
        let mu_kinetic = T::from_lanes(|i| self.state(states, i).0.mu_kinetic());
        (self.memory, self.mu_static, self.mu_kinetic) = (loaded, mu_static, mu_kinetic);
        self.most_n = T::splat(0.0);
    }

    /// Gives back the committed memory.
    #[inline(always)]
    pub(super) fn store(&self, states: &mut [ContactState], committed_ns: u64) {
        let FrictionMemory { anchor_P: [x, y], sliding } = self.memory.friction;
        for (lane, contact) in self.contacts.iter().enumerate() {
            let Some(i) = *contact else { continue };
            let ContactLaw::Spring { memory, .. } = &mut states[i].law else { continue };
            let marker = self.memory.marker_B.lane(lane);
            *memory = SpringMemory {
                anchor_S: [x.lane(lane), y.lane(lane), 0.0],
                sliding: sliding.lane(lane),
                committed_ns: Some(committed_ns),
                marker_B: [marker.x, marker.y, marker.z],
            };
        }
    }

    /// Evaluates the contacts and commits the memory that they propose. Gives the force on the
    /// bodies, about their origins in their axes, one lane each; for an implicit step nothing yet:
    /// see [`implicit`](Self::implicit). The same operations as in
    /// [`ContactSet`](crate::plant::ContactSet).
    #[inline(always)]
    pub(super) fn touch(
        &mut self,
        X_WB: &Transform<T>,
        V: &Motion<T>,
        params: &StepParams,
    ) -> Force<T> {
        let at = self.evaluate(X_WB, V, params.h);
        let force = &at.force;
        self.most_n = force.normal_n.larger(self.most_n);
        let marker_B = self.memory.marker_B;
        self.memory = if self.round {
            RollingMemory::rolled(marker_B, force, &at.p_S, &at.point_B)
        } else {
            RollingMemory::fixed(marker_B, force)
        };
        let [ex, ey] = force.friction_elastic_P;
        let [dx, dy] = force.friction_damping_P;
        let f_C = Vec3::new(ex + dx, ey + dy, force.normal_n);
        if params.implicit {
            self.touching = Touching { f_C, v_C: at.v_S, R_WC: self.R_WS, point_B: at.point_B };
            self.slopes = self.law.slopes(force);
            let h = T::splat(params.micro_step_s);
            self.needs_substep = T::any(self.law.needs_substep(force.p_P[2], force.v_P[2], h));
            return Force::zero();
        }
        let f_W = self.in_world(&f_C);
        Force::at_point(X_WB.R.tr_mul(&f_W), &at.point_B)
    }

    /// Evaluates the contacts `h` seconds after their memory was committed, and commits nothing.
    #[inline(always)]
    pub(super) fn show(
        &self,
        X_WB: &Transform<T>,
        V: &Motion<T>,
        h: f64,
        all: &mut [ContactResult],
    ) {
        let at = self.evaluate(X_WB, V, h);
        for (lane, contact) in self.contacts.iter().enumerate() {
            let Some(i) = *contact else { continue };
            let shown = &mut all[i];
            shown.touch.p_C = at.p_S.lane(lane);
            shown.touch.point_W = at.point_W.lane(lane);
            shown.point_B = at.point_B.lane(lane);
            shown.v_C = at.v_S.lane(lane);
            shown.force = at.force.lane(lane);
        }
    }

    /// True if one of the contacts struck the ground when they were evaluated.
    pub(super) fn needs_substep(&self) -> bool {
        self.needs_substep
    }

    /// True if a contact had a force in this tick.
    #[inline(always)]
    pub(super) fn touched(&self) -> bool {
        let most_n = self.most_n;
        (0..self.count()).any(|lane| most_n.lane(lane) >= TOUCHES_N)
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
        step.contact(&self.touching, &self.slopes, X_WB, V)
    }

    /// From W to S axes.
    #[inline(always)]
    fn in_plane(&self, v_W: &Vec3<T>) -> Vec3<T> {
        match self.level {
            Level::All => *v_W,
            Level::Some => self.where_flat(v_W, &self.R_WS.tr_mul(v_W)),
            Level::None => self.R_WS.tr_mul(v_W),
        }
    }

    /// From S to W axes.
    #[inline(always)]
    fn in_world(&self, v_S: &Vec3<T>) -> Vec3<T> {
        match self.level {
            Level::All => *v_S,
            Level::Some => self.where_flat(v_S, &self.R_WS.mul(v_S)),
            Level::None => self.R_WS.mul(v_S),
        }
    }

    #[inline(always)]
    fn where_flat(&self, v: &Vec3<T>, else_: &Vec3<T>) -> Vec3<T> {
        Vec3::select(self.flat.above(T::splat(0.0)), v, else_)
    }

    #[inline(always)]
    fn evaluate(&self, X_WB: &Transform<T>, V: &Motion<T>, age_s: f64) -> Evaluation<T> {
        let n_W = Vec3::new(self.R_WS.x.z, self.R_WS.y.z, self.R_WS.z.z);
        let center_W = X_WB.point(&self.p_BS) + Vec3::zeros();
        let point_W = center_W - n_W.scaled(self.radius);
        let p_S = self.in_plane(&(point_W - self.p_WS));
        let point_B = if self.round { X_WB.point_inverse(&point_W) } else { self.p_BS };
        let v_S = self.in_plane(&X_WB.R.mul(&V.at_point(&point_B)));
        let mut stretched_S = p_S;
        if self.round {
            let marker_W = X_WB.point(&self.memory.marker_B);
            let slip_S = self.in_plane(&(marker_W - point_W));
            stretched_S = stretched(&p_S, &slip_S);
        }
        let contact = Contact {
            p_P: stretched_S,
            v_P: v_S,
            age_s: T::splat(age_s),
            mu_static: self.mu_static,
            mu_kinetic: self.mu_kinetic,
        };
        let force = self.law.evaluate(&contact, &self.memory.friction);
        Evaluation { force, p_S, v_S, point_W, point_B }
    }
}

/// One evaluation; frame C is the plane's own, S.
struct Evaluation<T> {
    force: SpringForce<T>,
    /// The touching point, without what the body has rolled, and its velocity.
    p_S: Vec3<T>,
    v_S: Vec3<T>,
    point_W: Vec3<T>,
    point_B: Vec3<T>,
}

/// True if all lanes of every block would be of one kind: then this path may be taken.
pub(in crate::plant) fn same_topology(springs: &[PlaneSpring]) -> bool {
    let kind = |s: &PlaneSpring| (s.shape != StationShape::Point, s.spring.parameters().stiction);
    springs.windows(2).all(|w| kind(&w[0]) == kind(&w[1]))
}
