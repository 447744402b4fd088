//! Two friction laws for the exponential spring: each turns the normal force, the motion in the
//! plane and the committed memory into friction and the next memory, and returns the power that the
//! slip of the anchor loses, W.
//!
//! They share the friction spring: elasticity `k_xy` between station and anchor, viscosity `c_xy`,
//! the cone `|f| ≤ μ f_z`, and `μ = μₛ − K (μₛ − μₖ)` with the committed sliding `K`. They differ
//! in what the cone limits and in how anchor and sliding follow.

use crate::math;

use super::{Friction, Memory, SpringForce, SpringParameters, TINY};

/// Slip under less normal force than this counts in proportion: the exponential never ends, and a
/// foot that swings must land sticking.
const AIRBORNE_N: f64 = 0.1;

/// How a spring sticks and slides.
///
/// ```
/// use hardstand::contact::{SpringParameters, Stiction};
/// let holding = SpringParameters { stiction: Stiction::Holding, ..Default::default() };
/// assert_eq!(SpringParameters::default().stiction, Stiction::Simbody);
/// assert!(holding.check().is_ok());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stiction {
    /// Simbody's law, bit for bit: the memory decays in each step, and a foot that has slid creeps
    /// for ever under a load above `c_xy` × settle velocity.
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

/// Position and velocity of the station in the plane, m and m/s, and the time since the commit, s
/// (NaN if there was none).
#[derive(Clone, Copy, Debug)]
pub(super) struct Motion {
    pub(super) p: [f64; 2],
    pub(super) v: [f64; 2],
    pub(super) age_s: f64,
}

/// Simbody's law: blends pure damping (slides) with a damped linear spring (sticks) by the
/// committed sliding; sliding follows the speed of the anchor.
pub(super) fn simbody(
    par: &SpringParameters,
    friction: &Friction,
    memory: &Memory,
    motion: &Motion,
    out: &mut SpringForce,
) -> f64 {
    limit(friction, memory.sliding, out);
    let stuck = if out.friction_limit_n < TINY {
        out.next_anchor_P = motion.p;
        [0.0; 2]
    } else {
        blend(par, memory, motion, out)
    };
    // written so that a NaN age (never committed) slides
    out.next_sliding = if motion.age_s > TINY && out.friction_limit_n > TINY {
        let speed = norm(difference(out.next_anchor_P, memory.anchor_P)) / motion.age_s;
        math::step_up(speed / par.v_settle_m_per_s)
    } else {
        1.0
    };
    // the elastic force falls from that of a stuck spring to what the blend leaves of it
    let mean = [0, 1].map(|i| 0.5 * (stuck[i] + out.friction_elastic_P[i]));
    slip_loss_w(mean, memory.anchor_P, motion, out)
}

/// Returns the elastic force of the spring that sticks, N.
fn blend(
    par: &SpringParameters,
    memory: &Memory,
    motion: &Motion,
    out: &mut SpringForce,
) -> [f64; 2] {
    let limit = out.friction_limit_n;
    let viscous = scaled(motion.v, -par.cxy_n_s_per_m);

    // model 1: damping alone, at most the limit
    let mut sliding_damping = viscous;
    let length = norm(sliding_damping);
    if length > limit {
        sliding_damping = scaled(sliding_damping, limit / length);
    }
    // model 2: damped spring; both parts give way together
    let mut elastic = scaled(difference(motion.p, memory.anchor_P), -par.kxy_n_per_m);
    let mut damping = viscous;
    let length = norm([elastic[0] + damping[0], elastic[1] + damping[1]]);
    if length > limit {
        elastic = scaled(elastic, limit / length);
        damping = scaled(damping, limit / length);
    }
    let k = memory.sliding;
    for i in 0..2 {
        out.friction_elastic_P[i] = elastic[i] * (1.0 - k);
        out.friction_damping_P[i] = damping[i] + (sliding_damping[i] - damping[i]) * k;
        // the anchor always agrees with the elastic force that acts
        out.next_anchor_P[i] = motion.p[i] + out.friction_elastic_P[i] / par.kxy_n_per_m;
    }
    elastic
}

/// The holding law. With `Π` the nearest point of the disc of radius `μ f_z`, and `S` the smooth
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
pub(super) fn holding(
    par: &SpringParameters,
    friction: &Friction,
    memory: &Memory,
    motion: &Motion,
    out: &mut SpringForce,
) -> f64 {
    let (p, v, age_s) = (motion.p, motion.v, motion.age_s);
    // never committed: no stretch, and it sticks
    let fresh = age_s.is_nan();
    let (anchor, sliding) = if fresh { (p, 0.0) } else { (memory.anchor_P, memory.sliding) };
    limit(friction, sliding, out);

    let trial = scaled(difference(p, anchor), -par.kxy_n_per_m);
    let elastic = nearest_within(out.friction_limit_n, trial);
    let sum = [elastic[0] - par.cxy_n_s_per_m * v[0], elastic[1] - par.cxy_n_s_per_m * v[1]];
    let total = nearest_within(out.friction_limit_n, sum);
    out.friction_elastic_P = elastic;
    out.friction_damping_P = difference(total, elastic);
    out.next_anchor_P = anchor;
    // p + E / k would move the anchor of a foot that sticks by rounding
    if elastic != trial {
        for i in 0..2 {
            out.next_anchor_P[i] = p[i] + elastic[i] / par.kxy_n_per_m;
        }
    }
    out.next_sliding = sliding;
    if age_s > 0.0 {
        let slip = norm(difference(out.next_anchor_P, anchor)) / age_s;
        out.next_sliding = relaxed(par, sliding, slip.min(norm(v)), out.normal_n, age_s);
    }
    slip_loss_w(elastic, anchor, motion, out)
}

/// Power that the elastic force loses because the anchor has slipped since the commit, W.
fn slip_loss_w(elastic: [f64; 2], anchor: [f64; 2], motion: &Motion, out: &SpringForce) -> f64 {
    // written so that a NaN age (never committed) loses nothing
    if motion.age_s > TINY {
        let slipped = difference(out.next_anchor_P, anchor);
        -(elastic[0] * slipped[0] + elastic[1] * slipped[1]) / motion.age_s
    } else {
        0.0
    }
}

/// `K′` after `age_s` seconds at this slip speed, m/s, and normal force, N.
fn relaxed(
    par: &SpringParameters,
    sliding: f64,
    slip_m_per_s: f64,
    normal_n: f64,
    age_s: f64,
) -> f64 {
    let speed = slip_m_per_s / par.v_settle_m_per_s;
    let goal = math::step_up(speed) * (normal_n / AIRBORNE_N).min(1.0);
    // a foot that sticks, or is in the air: no exponential
    if sliding == 0.0 && goal < TINY {
        return 0.0;
    }
    let next = goal + (sliding - goal) * math::exp(-speed.max(1.0) * age_s / par.t_settle_s);
    // below this it would creep through the subnormal numbers, which are slow
    if next < TINY { 0.0 } else { next }
}

/// Coefficient in use and radius of the friction disc.
fn limit(friction: &Friction, sliding: f64, out: &mut SpringForce) {
    let (mu_s, mu_k) = (friction.mu_static(), friction.mu_kinetic());
    out.mu = mu_s - sliding * (mu_s - mu_k);
    out.friction_limit_n = out.mu * out.normal_n;
}

/// `Π`: the point of the disc of this radius that is nearest to `a`; `a` itself, to the last bit,
/// if it is inside.
fn nearest_within(radius: f64, a: [f64; 2]) -> [f64; 2] {
    let length = norm(a);
    if length > radius { scaled(a, radius / length) } else { a }
}

fn difference(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

fn scaled(a: [f64; 2], k: f64) -> [f64; 2] {
    [a[0] * k, a[1] * k]
}

fn norm(a: [f64; 2]) -> f64 {
    (a[0] * a[0] + a[1] * a[1]).sqrt()
}
