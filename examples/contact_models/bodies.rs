//! A box that slides to rest, and a ball that bounces.

use hardstand::simulation::Simulation;
use hardstand_physics::plant::ContactModel;
use hardstand_physics::spatial::Vec3;
use hardstand_protocol::TickInput;

use crate::plot::Points;
use crate::scenes::{BALL_M, Kind, Result, ball, cube, quadruped};

/// A box that slides.
pub(crate) struct Slide {
    /// Velocity, m/s, over time, s.
    pub(crate) velocity: Points,
    /// Friction over `μₖ N`; 0 while the box is in the air.
    pub(crate) share: Points,
    /// From when on it is slower than 1 cm/s, s.
    pub(crate) stop_s: f64,
}

/// From 1 m/s to rest on the flat, in micro-steps of 100 µs.
pub(crate) fn slide(kind: &Kind) -> Result<Slide> {
    let of = quadruped(kind, &[])?;
    let mu_kinetic = of.spec.stations[0].friction.mu_kinetic();
    let (model, mut spec) = cube(&of, 100_000)?;
    spec.q.p_WB.z = 0.105;
    // first it comes to rest in height
    let mut simulation = Simulation::new(model.clone(), spec.clone(), of.watchdog);
    run(&mut simulation, 20_000)?;
    spec.q.p_WB.z = simulation.state().q.p_WB.z;
    spec.v.v_WB.x = 1.0;
    let mut simulation = Simulation::new(model, spec, of.watchdog);
    let mut out = Slide { velocity: Points::new(), share: Points::new(), stop_s: f64::NAN };
    for _ in 0..10_000 {
        run(&mut simulation, 1)?;
        let (t, v) = (simulation.time_ns() as f64 / 1e9, simulation.state().v.v_WB.x);
        let (mut friction_n, mut normal_n) = (0.0, 0.0);
        for force in simulation.contacts().forces() {
            friction_n -= force.friction_P().x;
            normal_n += force.normal_n;
        }
        out.velocity.push((t, v));
        let limit_n = mu_kinetic * normal_n;
        out.share.push((t, if limit_n > 0.0 { friction_n / limit_n } else { 0.0 }));
        if v.abs() >= 1e-2 {
            out.stop_s = t;
        }
    }
    Ok(out)
}

fn run(simulation: &mut Simulation, ticks: u32) -> Result<()> {
    for _ in 0..ticks {
        if let Some(fault) = simulation.step(&TickInput::default()).failure {
            return Err(format!("a body has stopped itself: {fault:?}").into());
        }
    }
    Ok(())
}

/// A ball that bounces once.
pub(crate) struct Bounce {
    /// Force, N, over depth, mm.
    pub(crate) force: Points,
    /// Speed of the impact, m/s.
    pub(crate) speed_m_per_s: f64,
    /// Share of it that is kept.
    pub(crate) restitution: f64,
    /// The same from the law alone; NaN for the rigid model.
    pub(crate) closed_form: f64,
}

/// A ball with the speed of a fall from 0.1 m, in micro-steps of 10 µs. Without gravity, which
/// would take its part in a contact that reaches over a centimetre.
pub(crate) fn bounce(kind: &Kind) -> Result<Bounce> {
    let of = quadruped(kind, &[])?;
    // the exponential spring reaches above the plane: 0.01 N at 1 cm
    let (damping_s_per_m, begins_m) = match &of.spec.stations[0].model {
        ContactModel::ExponentialSpring(spring) => (spring.parameters().cz_s_per_m, 0.01),
        ContactModel::HuntCrossley(laws) => (1.5 * laws[0].pair().dissipation_s_per_m(), 0.0),
        ContactModel::Rigid => (f64::NAN, 0.0),
    };
    let (model, mut spec) = ball(&of, 10_000)?;
    spec.gravity_W = Vec3::zeros();
    spec.q.p_WB.z = BALL_M + begins_m + 1e-3;
    spec.v.v_WB.z = -(2.0 * 9.81 * 0.1_f64).sqrt();
    let mut simulation = Simulation::new(model, spec, of.watchdog);
    let (mut force, mut speeds) = (Points::new(), [0.0, 0.0]);
    for _ in 0..10_000 {
        run(&mut simulation, 1)?;
        let (at, v) = (&simulation.contacts().evaluated()[0], simulation.state().v.v_WB.z);
        let height_m = at.touch.p_C.z;
        if v < 0.0 && height_m > begins_m {
            speeds[0] = -v;
        } else if v > 0.0 && height_m >= begins_m {
            speeds[1] = v;
            break;
        }
        force.push((-1e3 * height_m, at.force.normal_n));
    }
    let closed_form = restitution(damping_s_per_m, speeds[0]);
    Ok(Bounce { force, speed_m_per_s: speeds[0], restitution: speeds[1] / speeds[0], closed_form })
}

/// For `f = F(x) (1 + a ẋ)` with any elastic `F`: `a v − ln(1 + a v) = −a e v − ln(1 − a e v)`.
fn restitution(a_s_per_m: f64, v: f64) -> f64 {
    let av = a_s_per_m * v;
    let lost = |e: f64| -av * e - (1.0 - av * e).ln() - (av - (1.0 + av).ln());
    let (mut low, mut high) = (0.0, (1.0 / av).min(1.0));
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if lost(middle) < 0.0 { low = middle } else { high = middle }
    }
    if av.is_nan() { f64::NAN } else { low }
}
