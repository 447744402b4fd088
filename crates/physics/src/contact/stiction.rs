//! Two friction laws for the exponential spring: each turns the normal force, the motion in the
//! plane and the committed memory into friction and the next memory, and returns the power that the
//! slip of the anchor loses, W.
//!
//! They share the friction spring: elasticity `k_xy` between station and anchor, viscosity `c_xy`,
//! the cone `|f| ≤ μ f_z`, and `μ = μₛ − K (μₛ − μₖ)` with the committed sliding `K`. They differ
//! in what the cone limits and in how anchor and sliding follow.

use crate::math;
use crate::simd::SimdReal;

use super::memory::FrictionMemory;
use super::spring_force::{Contact, SpringForce};
use super::{SpringParameters, TINY};

/// Slip under less normal force than this counts in proportion: the exponential never ends, and a
/// foot that swings must land sticking.
const AIRBORNE_N: f64 = 0.1;

/// How a spring sticks and slides.
///
/// ```
/// use hardstand_physics::contact::{SpringParameters, Stiction};
/// let holding = SpringParameters { stiction: Stiction::Holding, ..Default::default() };
/// assert_eq!(SpringParameters::default().stiction, Stiction::Simbody);
/// assert!(holding.check().is_ok());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stiction {
    /// Simbody's law, bit for bit: the memory decays in each step, and a foot that has slid creeps
    /// without end under a load above `c_xy` × settle velocity.
    #[default]
    Simbody,
    /// Elastic–plastic friction that holds every load below `μₛ f_z`, whatever the step length:
    /// see `docs/holding.md`.
    Holding,
}

impl Stiction {
    /// Sliding `K` of a spring that has never been evaluated: Simbody's slides until the first step
    /// says otherwise, a holding one sticks.
    #[must_use]
    pub const fn initial_sliding(self) -> f64 {
        match self {
            Self::Simbody => 1.0,
            Self::Holding => 0.0,
        }
    }
}

/// A vector in the plane.
type Vec2<T> = [T; 2];

/// The friction spring of [`SpringParameters`], one per lane; `per_` marks reciprocals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FrictionSpring<T> {
    pub(super) kxy: T,
    per_kxy: T,
    pub(super) cxy: T,
    per_v_settle: T,
    per_t_settle: T,
    stiction: Stiction,
}

impl<T: SimdReal> FrictionSpring<T> {
    /// One spring per lane. All have the friction law of the first.
    pub(super) fn from_lanes<'a>(f: impl Fn(usize) -> &'a SpringParameters) -> Self {
        Self {
            kxy: T::from_lanes(|i| f(i).kxy_n_per_m),
            per_kxy: T::from_lanes(|i| 1.0 / f(i).kxy_n_per_m),
            cxy: T::from_lanes(|i| f(i).cxy_n_s_per_m),
            per_v_settle: T::from_lanes(|i| 1.0 / f(i).v_settle_m_per_s),
            per_t_settle: T::from_lanes(|i| 1.0 / f(i).t_settle_s),
            stiction: f(0).stiction,
        }
    }

    /// Friction under the normal force in `out`, and the memory that it proposes. Returns the power
    /// that the slip of the anchor loses, W.
    #[inline(always)]
    pub(super) fn evaluate(
        &self,
        at: &Contact<T>,
        memory: &FrictionMemory<T>,
        out: &mut SpringForce<T>,
    ) -> T {
        match self.stiction {
            Stiction::Simbody => simbody(self, at, memory, out),
            Stiction::Holding => holding(self, at, memory, out),
        }
    }
}

/// Simbody's law: blends pure damping (slides) with a damped linear spring (sticks) by the
/// committed sliding; sliding follows the speed of the anchor.
#[inline(always)]
fn simbody<T: SimdReal>(
    spring: &FrictionSpring<T>,
    at: &Contact<T>,
    memory: &FrictionMemory<T>,
    out: &mut SpringForce<T>,
) -> T {
    let (tiny, one) = (T::splat(TINY), T::splat(1.0));
    limit(at, memory.sliding, out);
    let (loose, limit_n) = (tiny.above(out.friction_limit_n), out.friction_limit_n);
    let velocity = [at.v_P.x, at.v_P.y];
    let place = [at.p_P.x, at.p_P.y];
    let viscous = scaled(velocity, -spring.cxy);

    // model 1: damping alone, at most the limit
    let slides = shrink(limit_n, viscous);
    let sliding_damping = scaled(viscous, slides);
    // model 2: damped spring; both parts give way together
    let trial = scaled(difference(place, memory.anchor_P), -spring.kxy);
    let both = shrink(limit_n, [trial[0] + viscous[0], trial[1] + viscous[1]]);
    let (stuck, damping) = (scaled(trial, both), scaled(viscous, both));
    let k = memory.sliding;
    out.friction_share = [both * (one - k), both + (slides - both) * k];
    for i in 0..2 {
        let elastic = stuck[i] * (one - k);
        let damping = damping[i] + (sliding_damping[i] - damping[i]) * k;
        // the anchor always agrees with the elastic force that acts
        let anchor = place[i] + elastic * spring.per_kxy;
        out.friction_elastic_P[i] = T::select(loose, T::splat(0.0), elastic);
        out.friction_damping_P[i] = T::select(loose, T::splat(0.0), damping);
        out.next_anchor_P[i] = T::select(loose, place[i], anchor);
    }
    // written so that a NaN age (never committed) slides
    let speed = norm(difference(out.next_anchor_P, memory.anchor_P)) / at.age_s;
    let settled = math::step_up(speed * spring.per_v_settle);
    let settled = T::select(limit_n.above(tiny), settled, one);
    out.next_sliding = T::select(at.age_s.above(tiny), settled, one);
    // the elastic force falls from that of a stuck spring to what the blend leaves of it
    let half = T::splat(0.5);
    let mut mean = [half; 2];
    for i in 0..2 {
        let stuck = T::select(loose, T::splat(0.0), stuck[i]);
        mean[i] = half * (stuck + out.friction_elastic_P[i]);
    }
    slip_loss_w(mean, memory.anchor_P, at, out)
}

/// The holding spring. With `Π` the nearest point of the disc of radius `μ f_z`, and `S` the smooth
/// step:
///
/// ```text
/// E = Π(−k_xy (p − p₀))      elastic part         p₀′ = p + E / k_xy    moves only at the cone
/// f = Π(E − c_xy v)          friction             u = min(|p₀′ − p₀| / age, |v|)   slip speed
/// K′ = K∞ + (K − K∞) exp(−age max(1, u / v_settle) / t_settle)
/// K∞ = S(u / v_settle) min(1, f_z / 0.1 N)        0 where the foot sticks, and in the air
/// ```
///
/// Nothing is reckoned per step: the anchor of a foot that sticks stays where it is, to the last
/// bit, and `K` relaxes in time, or over a way of `v_settle t_settle` if it slides that far sooner.
///
/// The damping part takes energy out: with `G = E − c_xy v`, `f = Π(G)` and `E` in the disc,
/// `(f − E)·(G − E) = |f − E|² + (f − E)·(G − f) ≥ 0`, since `(E − f)·(G − f) ≤ 0` for the nearest
/// point of any convex set. As `G − E = −c_xy v`, the power `(f − E)·v` is never positive. The
/// elastic part gives back no more than was stored, and `Π` only ever shortens the stretch.
#[inline(always)]
fn holding<T: SimdReal>(
    spring: &FrictionSpring<T>,
    at: &Contact<T>,
    memory: &FrictionMemory<T>,
    out: &mut SpringForce<T>,
) -> T {
    let (place, v) = ([at.p_P.x, at.p_P.y], [at.v_P.x, at.v_P.y]);
    let zero = T::splat(0.0);
    // never committed (a NaN age): no stretch, and it sticks
    let aged = at.age_s.above(T::splat(-1.0));
    let anchor = choose(aged, memory.anchor_P, place);
    let sliding = T::select(aged, memory.sliding, zero);
    limit(at, sliding, out);

    let trial = scaled(difference(place, anchor), -spring.kxy);
    let held = shrink(out.friction_limit_n, trial);
    let elastic = scaled(trial, held);
    let sum = [elastic[0] - spring.cxy * v[0], elastic[1] - spring.cxy * v[1]];
    let inside = shrink(out.friction_limit_n, sum);
    let total = scaled(sum, inside);
    out.friction_share = [held * inside, inside];
    out.friction_elastic_P = elastic;
    out.friction_damping_P = difference(total, elastic);
    // p + E / k would move the anchor of a foot that sticks by rounding
    let slips = T::splat(1.0).above(held);
    let moved = [place[0] + elastic[0] * spring.per_kxy, place[1] + elastic[1] * spring.per_kxy];
    out.next_anchor_P = choose(slips, moved, anchor);
    let slip = if T::any(slips) {
        (norm(difference(out.next_anchor_P, anchor)) / at.age_s).smaller(norm(v))
    } else {
        zero
    };
    let next = relaxed(spring, sliding, slip, out.normal_n, at.age_s);
    out.next_sliding = T::select(at.age_s.above(zero), next, sliding);
    slip_loss_w(elastic, anchor, at, out)
}

/// Power that the elastic force loses because the anchor has slipped since the commit, W.
#[inline(always)]
fn slip_loss_w<T: SimdReal>(
    elastic: Vec2<T>,
    anchor: Vec2<T>,
    at: &Contact<T>,
    out: &SpringForce<T>,
) -> T {
    let slipped = difference(out.next_anchor_P, anchor);
    let loss = -(elastic[0] * slipped[0] + elastic[1] * slipped[1]) / at.age_s;
    // written so that a NaN age (never committed) loses nothing
    T::select(at.age_s.above(T::splat(TINY)), loss, T::splat(0.0))
}

/// `K′` after `age_s` seconds at this slip speed, m/s, and normal force, N.
#[inline(always)]
fn relaxed<T: SimdReal>(
    spring: &FrictionSpring<T>,
    sliding: T,
    slip_m_per_s: T,
    normal_n: T,
    age_s: T,
) -> T {
    let (zero, one, tiny) = (T::splat(0.0), T::splat(1.0), T::splat(TINY));
    let speed = slip_m_per_s * spring.per_v_settle;
    let load = (normal_n * T::splat(1.0 / AIRBORNE_N)).smaller(one);
    let goal = math::step_up(speed) * load;
    // all feet stick or are in the air: no exponential
    let moves = goal.larger(sliding).above(tiny);
    if !T::any(moves) {
        return zero;
    }
    let decay = math::exp(-(speed.larger(one) * age_s * spring.per_t_settle));
    let next = goal + (sliding - goal) * decay;
    // below this it would creep through the subnormal numbers, which are slow
    T::select(tiny.above(next), zero, T::select(moves, next, zero))
}

/// Coefficient in use and radius of the friction disc.
#[inline(always)]
fn limit<T: SimdReal>(at: &Contact<T>, sliding: T, out: &mut SpringForce<T>) {
    out.mu = at.mu_static - sliding * (at.mu_static - at.mu_kinetic);
    out.friction_limit_n = out.mu * out.normal_n;
}

/// What brings `a` into the disc of this radius: exactly 1 if it is inside.
#[inline(always)]
fn shrink<T: SimdReal>(radius: T, a: Vec2<T>) -> T {
    let one = T::splat(1.0);
    let square = a[0] * a[0] + a[1] * a[1];
    let outside = square.above(radius * radius);
    // nothing slides in any lane: no root, no quotient
    if T::any(outside) { T::select(outside, radius / square.sqrt(), one) } else { one }
}

#[inline(always)]
fn choose<T: SimdReal>(mask: T::Mask, yes: Vec2<T>, no: Vec2<T>) -> Vec2<T> {
    [T::select(mask, yes[0], no[0]), T::select(mask, yes[1], no[1])]
}

#[inline(always)]
fn difference<T: SimdReal>(a: Vec2<T>, b: Vec2<T>) -> Vec2<T> {
    [a[0] - b[0], a[1] - b[1]]
}

#[inline(always)]
fn scaled<T: SimdReal>(a: Vec2<T>, k: T) -> Vec2<T> {
    [a[0] * k, a[1] * k]
}

#[inline(always)]
fn norm<T: SimdReal>(a: Vec2<T>) -> T {
    (a[0] * a[0] + a[1] * a[1]).sqrt()
}
