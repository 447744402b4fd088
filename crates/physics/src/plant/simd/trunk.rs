//! The base and all bodies that are like nothing else, one after another.

use crate::dynamics::{
    BodyKinematics, Data, LimbGroup, Positions, Velocities, advance_base, advance_base_by_mean,
    base_jump, base_kinematics, base_velocity, bias_force, free_base, held_base, turn_and_move,
};
use crate::model::Base;
use crate::plant::implicit::Step;
use crate::plant::rigid::Jumps;
use crate::simd::SimdReal;
use crate::spatial::Vec3;
use crate::spatial::simd::{ArticulatedInertia, Force, InertiaFactor, Motion, SpatialInertia};

use super::child_contribution::{ChildContribution, Fours, add, by_fours, from_fours};
use super::segment::{Carrier, Onto, Segment, with_parent};
use super::springs::StepParams;
use super::trunk_springs::TrunkSprings;
use super::{Parts, Task};

/// The trunk. Index 0 is the base, index `t` its segment `t − 1`.
#[derive(Clone, Debug)]
pub(super) struct Trunk {
    base: Base,
    pub(super) gravity_W: Vec3,
    inertia: SpatialInertia<f64>,
    /// The same, as what children add to.
    I_A: ArticulatedInertia<f64>,
    kin: BodyKinematics<f64>,
    p_A: Force<f64>,
    A: Motion<f64>,
    /// What implicit forces add to the base's inertia.
    added: ArticulatedInertia<f64>,
    /// The base's articulated inertia, ready to be solved; zero for a base that is fixed.
    articulated: InertiaFactor<f64>,
    /// Jumps of velocity and position under impulses.
    jumps: [Motion<f64>; 2],
    pub(super) segments: Vec<Segment<f64>>,
    /// For each body of the trunk what it adds, by place and lane in `contribution`: the children's
    /// shares, last first, the order in which the model's loop would add them.
    children: Vec<Vec<(usize, usize)>>,
    /// True for segments that add to their parent at once: it has no limbs.
    at_once: Vec<bool>,
    /// What is handed to the trunk: by the groups, in their order, then by each of its segments, in
    /// lane 0.
    pub(super) contribution: Vec<[Fours; 4]>,
    groups: usize,
}

impl Trunk {
    /// `groups` are the limbs on the trunk in the order of their groups.
    pub(super) fn new(
        parts: &Parts<'_>,
        gravity_W: Vec3,
        trunk: &[usize],
        groups: &[LimbGroup],
    ) -> Self {
        let model = parts.model;
        // the trunk's contacts are taken several at a time
        let parts = Parts { contacts: &[], ..*parts };
        let parent_of = |body: usize| model.bodies[body].parent;
        let segment = |&body: &usize| {
            let parent = trunk[1..].iter().position(|&b| b == parent_of(body));
            Segment::new(&parts, vec![body], parent).resetting()
        };
        let on = |p: usize| (1..model.bodies.len()).rev().filter(move |&b| parent_of(b) == p);
        let place = |body: usize| {
            let lane = |l: &LimbGroup| l.limbs.iter().position(|limb| limb.start == body);
            let in_group = groups.iter().enumerate().find_map(|(g, l)| Some((g, lane(l)?)));
            let k = || trunk.iter().position(|&b| b == body).map_or(0, |t| t - 1);
            in_group.unwrap_or_else(|| (groups.len() + k(), 0))
        };
        let inertia: SpatialInertia<f64> = model.bodies[0].inertia.into();
        let no_limbs = |p: usize| p != trunk[0] && on(p).all(|b| trunk.contains(&b));
        let added = |&p: &usize| match no_limbs(p) {
            true => Vec::new(),
            false => on(p).map(place).collect(),
        };
        Self {
            base: model.base,
            gravity_W,
            inertia,
            I_A: inertia.articulated(),
            kin: BodyKinematics::default(),
            p_A: Force::default(),
            A: Motion::default(),
            added: ArticulatedInertia::default(),
            articulated: InertiaFactor::default(),
            jumps: [Motion::default(); 2],
            segments: trunk[1..].iter().map(segment).collect(),
            children: trunk.iter().map(added).collect(),
            at_once: trunk[1..].iter().map(|&b| no_limbs(parent_of(b))).collect(),
            contribution: vec![Default::default(); groups.len() + trunk.len() - 1],
            groups: groups.len(),
        }
    }

    /// How body `t` of the trunk moves.
    #[inline(always)]
    pub(super) fn carrier(&self, t: usize) -> Carrier<'_, f64> {
        match t.checked_sub(1) {
            None => Carrier { A: &self.A, X_WB: &self.kin.X_WB, V: &self.kin.V },
            Some(k) => self.segments[k].carrier(),
        }
    }

    /// Does what is asked of the whole robot.
    pub(super) fn perform(&mut self, task: &mut Task<'_>) {
        match task {
            Task::Load(_, data) => self.kin = data.kin(0),
            Task::Equip(_, model) => {
                self.inertia = model.bodies[0].inertia.into();
                self.I_A = self.inertia.articulated();
            }
            Task::LoadForces(data) => self.start(&data.f_ext[0]),
            Task::LoadImplicit(data) => {
                self.added = data.added.bodies[0];
                self.start(&data.f_ext[0]);
            }
            Task::Store(_, data) => data.set_placed(0, &self.kin),
            _ => {}
        }
        for segment in &mut self.segments {
            segment.perform(task.reborrow());
        }
    }

    #[inline(always)]
    fn start(&mut self, f_ext: &Force<f64>) {
        self.p_A = bias_force(&self.inertia, &self.kin.V, f_ext);
    }

    /// Pass 2, and the acceleration of the base, which is added to its velocity and position.
    #[inline(always)]
    pub(super) fn inward_pass(
        &mut self,
        params: &StepParams,
        q: &mut Positions,
        v: &mut Velocities,
    ) {
        let (alpha_W, a_W) = self.inward_pass_to_base(params);
        let h = params.h;
        if params.implicit {
            return advance_base_by_mean(q, v, h, &alpha_W, &a_W);
        }
        v.w_WB += alpha_W * h;
        v.v_WB += a_W * h;
        advance_base(q, h, v);
    }

    /// Pass 2, and the angular and linear acceleration of the base in W.
    #[inline(always)]
    fn inward_pass_to_base(&mut self, params: &StepParams) -> (Vec3, Vec3) {
        let Self { segments, children, at_once, contribution, groups, .. } = self;
        for k in (0..segments.len()).rev() {
            let (parent, segment) = with_parent(segments, k);
            for &(place, lane) in &children[k + 1] {
                let ChildContribution { I_A, p_A } = from_fours(&contribution[place][lane]);
                segment.contribution().I_A += I_A;
                segment.contribution().p_A += p_A;
            }
            let mut share = ChildContribution::default();
            let onto = match parent {
                Some(parent) if at_once[k] => Onto::More(parent.contribution()),
                _ => Onto::Nothing(&mut share),
            };
            segment.inward_pass(params, onto);
            if !at_once[k] {
                contribution[*groups + k][0] = by_fours(&share);
            }
        }
        let mut own = ChildContribution { I_A: self.I_A, p_A: self.p_A };
        if params.implicit {
            own.I_A += self.added;
        }
        let mut sum = by_fours(&own);
        for &(place, lane) in &children[0] {
            add(&mut sum, &contribution[place][lane]);
        }
        let ChildContribution { I_A, p_A } = from_fours(&sum);
        let (A, alpha_W, a_W) = match self.base {
            Base::Floating => {
                self.articulated = I_A.factor();
                free_base(&self.kin, &self.articulated, &p_A, &self.gravity_W)
            }
            Base::Fixed => (held_base(&self.kin, &self.gravity_W), Vec3::zeros(), Vec3::zeros()),
        };
        self.A = A;
        (alpha_W, a_W)
    }

    /// Pass 3 and the motion of the joints.
    #[inline(always)]
    pub(super) fn outward_pass(&mut self, params: &StepParams) {
        for k in 0..self.segments.len() {
            let (parent, segment) = with_parent(&mut self.segments, k);
            segment.outward_pass(parent.map_or(&self.A, |p| &p.A), params);
        }
        for segment in &mut self.segments {
            segment.turn();
        }
    }

    /// Places all bodies where the motion has led them, and evaluates their contacts.
    #[inline(always)]
    pub(super) fn place<Q: SimdReal>(
        &mut self,
        q: &Positions,
        v: &Velocities,
        springs: &mut [TrunkSprings<Q>],
        params: &StepParams,
    ) {
        self.kin = base_kinematics(q, v);
        let mut springs = springs.iter_mut().peekable();
        for t in 0..=self.segments.len() {
            if let Some(k) = t.checked_sub(1) {
                let base = Carrier { A: &self.A, X_WB: &self.kin.X_WB, V: &self.kin.V };
                let (parent, segment) = with_parent(&mut self.segments, k);
                segment.place(&parent.map_or(base, |p| p.carrier()));
            }
            if params.contacts {
                let mut f_ext = Force::zero();
                let carrier = self.carrier(t);
                while let Some(four) = springs.next_if(|s| s.carrier == t) {
                    four.add_forces(&carrier, params, &mut f_ext);
                }
                match t.checked_sub(1) {
                    _ if params.implicit => {}
                    None => self.start(&f_ext),
                    Some(k) => self.segments[k].start(&f_ext),
                }
            }
        }
    }

    /// Starts pass 2 of an implicit step, whose length is now known, from the contacts as
    /// evaluated.
    pub(super) fn restart<Q: SimdReal>(&mut self, springs: &[TrunkSprings<Q>], step: &Step<f64>) {
        for t in 0..=self.segments.len() {
            let on = self.carrier(t);
            let (mut f_ext, mut added) = (Force::default(), ArticulatedInertia::default());
            for four in springs.iter().filter(|s| s.carrier == t) {
                four.add_implicit(on, step, (&mut f_ext, &mut added));
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

    /// Passes 2 and 3, and the velocities that they lead to, before impulses and in the same
    /// place.
    #[inline(always)]
    pub(super) fn start_jump(&mut self, params: &StepParams, v: &mut Velocities) {
        let (h, (alpha_W, a_W)) = (params.h, self.inward_pass_to_base(params));
        v.w_WB += alpha_W * h;
        v.v_WB += a_W * h;
        self.kin.V = base_velocity(&self.kin.X_WB.R, v);
        let base = Carrier { A: &self.A, X_WB: &self.kin.X_WB, V: &self.kin.V };
        for k in 0..self.segments.len() {
            let (parent, segment) = with_parent(&mut self.segments, k);
            segment.start_jump(&parent.map_or(base, |p| p.carrier()), h);
        }
    }

    /// Gives back what impulses need to know.
    #[inline(always)]
    pub(super) fn store_response(&self, data: &mut Data) {
        data.set_base_response(&self.kin.V, &self.articulated);
        for segment in &self.segments {
            segment.store_response(data);
        }
    }

    /// The rest of a micro-step after impulses.
    #[inline(always)]
    pub(super) fn jump(&mut self, jumps: Jumps<'_>, h: f64, q: &mut Positions, v: &mut Velocities) {
        let R_WB = self.kin.X_WB.R;
        if let Some(jump) = jumps.velocities {
            let (dw, dv) = base_jump(&R_WB, &jump.dV_base);
            self.jumps[0] = jump.dV_base;
            v.w_WB += dw;
            v.v_WB += dv;
        }
        advance_base(q, h, v);
        if let Some(shift) = jumps.positions {
            let (turn_W, shift_W) = base_jump(&R_WB, &shift.dV_base);
            self.jumps[1] = shift.dV_base;
            turn_and_move(q, 1.0, &turn_W, &shift_W);
        }
        self.kin = base_kinematics(q, v);
        let base = Carrier { A: &self.A, X_WB: &self.kin.X_WB, V: &self.kin.V };
        for k in 0..self.segments.len() {
            let (parent, segment) = with_parent(&mut self.segments, k);
            let (jumps_P, parent) =
                parent.map_or((self.jumps, base), |p| (*p.jumps(), p.carrier()));
            segment.jump(jumps, &jumps_P, &parent, h);
        }
    }

    /// How body `t` of the trunk jumps.
    #[inline(always)]
    pub(super) fn jumps(&self, t: usize) -> &[Motion<f64>; 2] {
        t.checked_sub(1).map_or(&self.jumps, |k| self.segments[k].jumps())
    }
}
