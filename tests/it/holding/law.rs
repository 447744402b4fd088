//! Single evaluations.

use hardstand_physics::contact::{
    ExponentialSpring, Friction, Memory, SpringForce, SpringParameters, Stiction,
};
use hardstand_physics::math::exp;
use hardstand_physics::spatial::Vec3;
use proptest::prelude::*;

fn spring() -> ExponentialSpring {
    let par = SpringParameters { stiction: Stiction::Holding, ..Default::default() };
    ExponentialSpring::new(par).unwrap()
}

/// Everything that one evaluation depends on; ages in s.
#[derive(Clone, Copy, Debug)]
struct Case {
    mu: [f64; 2],
    anchor: [f64; 2],
    sliding: f64,
    p: [f64; 3],
    v: [f64; 3],
    age_s: f64,
}

impl Case {
    fn evaluate(&self) -> SpringForce {
        let friction = Friction::new(self.mu[0], self.mu[1]);
        let memory = Memory { anchor_P: self.anchor, sliding: self.sliding, committed_ns: Some(0) };
        let (p, v) = (Vec3::from(self.p), Vec3::from(self.v));
        spring().evaluate(&friction, &memory, &p, &v, self.age_s)
    }
}

/// Signed sizes from 1e-7 to 1, so that sticking and sliding, resting and rushing all occur.
fn signed() -> impl Strategy<Value = f64> {
    (prop::bool::ANY, -7.0..0.0_f64).prop_map(|(minus, e)| {
        let size = exp(e * std::f64::consts::LN_10);
        if minus { -size } else { size }
    })
}

fn case() -> impl Strategy<Value = Case> {
    let pair = || [signed(), signed()];
    let (p, v, z) = ((pair(), pair()), pair(), -0.004..0.02_f64);
    let ages = prop::sample::select(vec![2.5e-5, 1e-4, 1e-3]);
    (p, v, z, -1.0..1.0_f64, 0.0..1.5_f64, 0.0..1.0_f64, 0.0..=1.0_f64, ages).prop_map(
        |((p, stretch), v, z, v_z, mu_s, share, sliding, age_s)| Case {
            mu: [mu_s, share * mu_s],
            anchor: [p[0] + 0.01 * stretch[0], p[1] + 0.01 * stretch[1]],
            sliding,
            p: [p[0], p[1], z],
            v: [v[0], v[1], v_z],
            age_s,
        },
    )
}

fn norm(a: [f64; 2]) -> f64 {
    (a[0] * a[0] + a[1] * a[1]).sqrt()
}

fn minus<const N: usize>(a: [f64; N], b: [f64; N]) -> [f64; N] {
    std::array::from_fn(|i| a[i] - b[i])
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn friction_of(f: &SpringForce) -> [f64; 2] {
    [f.friction_P().x, f.friction_P().y]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 4000, failure_persistence: None, ..Default::default()
    })]

    #[test]
    fn the_cone_is_never_left_and_nothing_is_gained(c in case()) {
        let f = c.evaluate();
        let par = *spring().parameters();
        let (limit, total) = (f.friction_limit_n, norm(friction_of(&f)));
        prop_assert!(total <= limit * (1.0 + 1e-12), "{total} beyond {limit}");
        let elastic = norm(f.friction_elastic_P);
        prop_assert!(elastic <= limit * (1.0 + 1e-12), "{elastic} beyond {limit}");
        // neither part gives energy: the damping for every direction of motion, slip, and the limit
        let v = [c.v[0], c.v[1]];
        let rounding = 1e-12 * (limit + par.cxy_n_s_per_m * norm(v)) * norm(v);
        prop_assert!(dot(f.friction_damping_P, v) <= rounding);
        let damping = dot(f.friction_damping_P, v) + f.normal_damping_n * c.v[2];
        let slip_loss = f.power_dissipation_w + damping;
        prop_assert!(slip_loss >= -rounding - 1e-12 * damping.abs(), "slip gives {slip_loss} W");
        let stretch = norm(minus([c.p[0], c.p[1]], c.anchor));
        prop_assert!(elastic <= par.kxy_n_per_m * stretch * (1.0 + 1e-12));
        prop_assert!((0.0..=1.0).contains(&f.next_sliding), "sliding {}", f.next_sliding);
    }

    /// Committing twice is committing once, and a spring that sticks keeps its anchor's bits.
    #[test]
    fn a_commit_is_idempotent(c in case()) {
        let f = c.evaluate();
        let again = Case { anchor: f.next_anchor_P, ..c }.evaluate();
        let moved = norm(minus(again.next_anchor_P, f.next_anchor_P));
        prop_assert!(moved < 4e-15, "the anchor moved by {moved} m");
        let sticks = spring().parameters().kxy_n_per_m
            * norm(minus([c.p[0], c.p[1]], c.anchor)) < 0.999 * f.friction_limit_n;
        if sticks {
            prop_assert_eq!(f.next_anchor_P, c.anchor);
            prop_assert!(f.next_sliding <= c.sliding);
        }
    }

    /// Force, anchor and sliding follow their inputs with the constants of docs/holding.md.
    #[test]
    fn everything_is_continuous(
        c in case(), d in prop::array::uniform9(-1.0..1.0_f64), e in -12.0..-3.0_f64,
    ) {
        let size = exp(e * std::f64::consts::LN_10);
        let near = Case {
            p: std::array::from_fn(|i| c.p[i] + d[i] * size * if i == 2 { 0.01 } else { 1.0 }),
            v: std::array::from_fn(|i| c.v[i] + d[3 + i] * size),
            anchor: std::array::from_fn(|i| c.anchor[i] + d[6 + i] * size),
            sliding: (c.sliding + d[8] * size).clamp(0.0, 1.0),
            ..c
        };
        let (a, b, par) = (c.evaluate(), near.evaluate(), *spring().parameters());
        let (k, vs, t) = (par.kxy_n_per_m, par.v_settle_m_per_s, par.t_settle_s);
        let stretch = |c: &Case| minus([c.p[0], c.p[1]], c.anchor);
        let d_stretch = norm(minus(stretch(&c), stretch(&near)));
        let d_v = norm([c.v[0] - near.v[0], c.v[1] - near.v[1]]);
        let d_limit = (a.friction_limit_n - b.friction_limit_n).abs();
        let (d_anchor, d_normal) =
            (norm(minus(c.anchor, near.anchor)), (a.normal_n - b.normal_n).abs());

        let force = norm(minus(friction_of(&a), friction_of(&b)));
        let bound = k * d_stretch + par.cxy_n_s_per_m * d_v + 2.0 * d_limit;
        prop_assert!(force <= bound * (1.0 + 1e-9) + 1e-9, "force {force} bound {bound}");
        let anchor = norm(minus(a.next_anchor_P, b.next_anchor_P));
        let slip = d_stretch + d_limit / k;
        prop_assert!(anchor <= d_anchor + slip + 1e-13, "anchor {anchor}");
        let sliding = (a.next_sliding - b.next_sliding).abs();
        let bound = (c.sliding - near.sliding).abs()
            + 2.875 / (vs * t) * (slip + c.age_s * d_v) + d_normal / 0.1;
        prop_assert!(sliding <= bound + 1e-9, "sliding {sliding} bound {bound}");
    }
}

#[test]
fn a_fresh_spring_sticks_where_it_is() {
    let c = Case {
        mu: [0.7, 0.5],
        anchor: [3.0, -2.0],
        sliding: 1.0,
        p: [0.1, 0.2, 0.003],
        v: [0.0; 3],
        age_s: f64::NAN,
    };
    let f = c.evaluate();
    assert_eq!((f.mu, f.next_sliding, f.next_anchor_P), (0.7, 0.0, [0.1, 0.2]));
    assert_eq!(norm(friction_of(&f)), 0.0);
    assert_eq!(spring().new_memory().sliding, 0.0);
    assert_eq!(spring().new_memory().committed_ns, None);
}

/// While it slides at a steady speed: kinetic friction after a slip of `v_settle t_settle`, however
/// the way is cut into steps; at rest static friction again after some `t_settle`.
#[test]
fn sliding_relaxes_in_time_not_per_step() {
    let friction = Friction::new(0.7, 0.5);
    let sliding_after = |steps: u64, total_ns: u64, speed: f64, from: f64| {
        let (s, h_ns) = (spring(), total_ns / steps);
        let mut memory = Memory { sliding: from, ..s.new_memory() };
        memory.reset_anchor(&Vec3::new(-0.1, 0.0, 0.0), 0);
        for i in 1..=steps {
            let x = speed * (i * h_ns) as f64 / 1e9;
            let (p, v) = (Vec3::new(x, 0.0, 0.003), Vec3::new(speed, 0.0, 0.0));
            let f = s.evaluate(&friction, &memory, &p, &v, memory.age_s(i * h_ns));
            memory.commit(&f, i * h_ns);
        }
        memory.sliding
    };
    for (speed, total_ns, from, left) in [
        // one settle way at 0.5 m/s, one settle time at the settle velocity, and at rest
        (0.5, 1_000_000, 0.0, 1.0 - exp(-1.0)),
        (0.01, 50_000_000, 0.0, 1.0 - exp(-1.0)),
        (0.0, 50_000_000, 1.0, exp(-1.0)),
    ] {
        for steps in [20, 50, 1000] {
            // the first step of a spring at rest takes up the stretch that it begins with
            let found = sliding_after(steps, total_ns, speed, from);
            assert!((found - left).abs() < 1e-9, "{speed} m/s in {steps} steps: {found}, {left}");
        }
    }
}

/// A foot that swings at 1 m/s, 2 cm above the ground, has forgotten its last slip when it lands.
#[test]
fn in_the_air_static_friction_comes_back() {
    let at = |z: f64| Case {
        mu: [0.7, 0.5],
        anchor: [0.0, 0.0],
        sliding: 1.0,
        p: [1e-3, 0.0, z],
        v: [1.0, 0.0, 0.0],
        age_s: 1e-3,
    };
    let (air, ground) = (at(0.02).evaluate(), at(0.003).evaluate());
    assert!(air.next_sliding < 0.2 && ground.next_sliding == 1.0, "{air:?}");
    assert!((air.next_anchor_P[0] - 1e-3).abs() < 1e-11, "the anchor follows");
}
