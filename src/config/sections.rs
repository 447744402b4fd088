//! The sections of a scenario that affect the physics.

use super::by_mass::{BY_MASS, SwitchKeys};
use super::realtime::StartRule;
use crate::limits::{SPEED_MAX, SPEED_MIN};
use crate::simulation::WatchdogSpec;
use hardstand_physics::model::Model;
use hardstand_physics::plant::{Integrator, StopSpec};
use hardstand_physics::sensor::ImuSpec;
use hardstand_physics::spatial::{Transform, Vec3};
use hardstand_protocol::limits::GAIN_MAX;

use super::section::{Mistakes, Range, Section};

pub(super) struct Sim {
    pub(super) period_ns: u64,
    pub(super) micro_steps: u32,
    pub(super) integrator: Integrator,
    pub(super) gravity_W: Vec3,
    pub(super) free: bool,
    pub(super) speed: f64,
    pub(super) start: StartRule,
    pub(super) ticks: Option<u64>,
}

impl Sim {
    pub(super) fn read(root: &Section<'_>, mistakes: &Mistakes) -> Self {
        let s = root.section("sim");
        let before = mistakes.count();
        let rate_hz = s.count("rate_hz", 10, 8000);
        if !1_000_000_000_u64.is_multiple_of(rate_hz) {
            s.mistake("rate_hz", "a divisor of 1e9, so that a tick is a whole number of ns");
        }
        let period_ns = 1_000_000_000 / rate_hz;
        let micro_steps = s.count("micro_steps", 1, 1000);
        // after a wrong rate, a message about the period would only confuse
        if mistakes.count() == before && !period_ns.is_multiple_of(micro_steps) {
            s.mistake("micro_steps", &format!("a divisor of the period, {period_ns} ns"));
        }
        let integrators = [
            ("semi_implicit_euler", Integrator::SemiImplicitEuler),
            ("rk4", Integrator::Rk4),
            ("linearly_implicit", Integrator::LinearlyImplicit),
        ];
        let integrator = s.choice("integrator", &integrators);
        let gravity = s.vec3("gravity_m_per_s2", Range::between(-100.0, 100.0));
        let free = s.choice("pace", &[("realtime", false), ("free", true)]).unwrap_or(false);
        let speed = s.f64("speed", Range::between(SPEED_MIN, SPEED_MAX));
        let starts = [("on_controller", StartRule::OnController), ("now", StartRule::Now)];
        let start = s.choice("start", &starts).unwrap_or(StartRule::Now);
        let duration_s = s.f64("duration_s", Range::between(0.0, 1e9));
        let ticks = (duration_s * rate_hz as f64).round() as u64;
        if duration_s > 0.0 && ticks == 0 {
            s.mistake("duration_s", &format!("0, for no end, or at least one tick, 1/{rate_hz} s"));
        }
        s.finish();
        Self {
            period_ns,
            micro_steps: micro_steps as u32,
            integrator: integrator.unwrap_or(Integrator::SemiImplicitEuler),
            gravity_W: Vec3::from(gravity),
            free,
            speed,
            start,
            ticks: (duration_s > 0.0).then_some(ticks),
        }
    }
}

pub(super) fn stops(root: &Section<'_>) -> StopSpec {
    let s = root.section("end_stops");
    let spec = StopSpec {
        time_constant_s: s.f64("time_constant_s", Range::between(1e-5, 1.0)),
        damping_ratio: s.f64("damping_ratio", Range::between(0.0, 10.0)),
    };
    s.finish();
    spec
}

/// Watchdog, and the largest gains of a command.
pub(super) fn command(root: &Section<'_>) -> (WatchdogSpec, [f64; 2]) {
    let s = root.section("command");
    let watchdog = WatchdogSpec {
        hold_ticks: s.count("hold_ticks", 1, 100_000),
        damped_ticks: s.count("damped_ticks", 0, 10_000_000),
        proof_commands: s.count("proof_commands", 1, 16),
        damping: s.f64("damping", Range::between(0.0, 1000.0)),
    };
    let range = Range::between(0.0, GAIN_MAX);
    let gains_max = [s.f64("kp_max", range), s.f64("kd_max", range)];
    s.finish();
    (watchdog, gains_max)
}

pub(super) fn imu(root: &Section<'_>, model: &Model) -> ImuSpec {
    let s = root.section("imu");
    let p = s.vec3("position_m", Range::between(-1e3, 1e3));
    let X_FI = Transform::from_xyz_rpy(p, s.vec3("rpy_rad", Range::between(-10.0, 10.0)));
    let link = s.text("link");
    let spec = match model.frame(link) {
        Some(frame) => ImuSpec { body: frame.body, X_BI: frame.X_BF.compose(&X_FI) },
        None => {
            if !link.is_empty() {
                s.mistake("link", "the name of a link of the robot, or \"\" for the base");
            }
            ImuSpec { body: 0, X_BI: X_FI }
        }
    };
    s.finish();
    spec
}

pub(super) fn foot_switch(root: &Section<'_>) -> SwitchKeys {
    let s = root.section("foot_switch");
    let keys = SwitchKeys {
        on_n: s.f64_or_word("on_n", Range::at_least(0.0), BY_MASS),
        off_n: s.f64_or_word("off_n", Range::at_least(0.0), BY_MASS),
        debounce_ticks: s.count("debounce_ticks", 1, 1000),
    };
    if let (Some(on_n), Some(off_n)) = (keys.on_n, keys.off_n)
        && off_n > on_n
    {
        s.mistake("off_n", &format!("at most foot_switch.on_n, which is {on_n}"));
    }
    s.finish();
    keys
}
