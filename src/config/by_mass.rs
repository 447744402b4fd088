//! Contact parameters that follow from the robot's weight: the word `"by_mass"`.

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_physics::contact::{ExponentialSpring, SpringParameters};
use hardstand_physics::dynamics::{
    Data, ImpulseWorkspace, Velocities, articulated_inertias, impulse_response, kinematics,
};
use hardstand_physics::model::Model;
use hardstand_physics::plant::{
    Carrier, CollisionSpec, ContactModel, Integrator, Plant, PlantSpec,
};
use hardstand_physics::sensor::FootSwitchSpec;
use hardstand_physics::spatial::{Force, Vec3};

use super::contact_law::DISSIPATION;
use super::rest::place_above;
use super::robot::up_W;
use super::section::Mistakes;

/// The value of a key that follows from the weight.
pub(super) const BY_MASS: &str = "by_mass";

/// Stations of a foot that are at most this much higher than its lowest one carry it, m.
const LOWEST_WITHIN_M: f64 = 1e-3;
/// Largest normal force over the share of the weight. For the shipped quadruped it is about the
/// ratio that the default has.
const FORCE_MAX_SHARES: f64 = 3000.0;
/// Elasticity of the friction spring over the share of the weight, 1/m: as stiff as the normal
/// spring of contact.spring = "by_mass", also where the normal spring is softer.
const FRICTION_PER_M: f64 = 3000.0;
/// Mass that the friction spring damps critically over the mass that a station carries. With 1, the
/// damper would be too stiff for the small mass of a foot.
const CRITICAL_SHARE: f64 = 0.1;
/// A foot must be stable under this many times its share of the weight.
const LOAD_FACTOR: f64 = 4.0;
/// Thresholds of the foot switch over the weight that a foot carries.
const SWITCH_SHARES: [f64; 2] = [0.14, 0.056];

/// The keys of an exponential spring as given; `None` stands for "by_mass".
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SpringKeys {
    pub(super) d0_m: f64,
    pub(super) d1_n: Option<f64>,
    pub(super) d2_per_m: f64,
    pub(super) cz_s_per_m: Option<f64>,
    pub(super) damping_ratio: f64,
    pub(super) force_z_max_n: Option<f64>,
    pub(super) kxy_n_per_m: Option<f64>,
    /// `None` stands for "critical".
    pub(super) cxy_n_s_per_m: Option<f64>,
    pub(super) critical_mass_kg: Option<f64>,
    pub(super) v_settle_m_per_s: f64,
    pub(super) t_settle_s: f64,
}

/// The keys of the springs of all stations and all collision shapes, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct FittedKeys {
    pub(super) stations: Vec<SpringKeys>,
    pub(super) shapes: Vec<SpringKeys>,
}

impl FittedKeys {
    fn need_mass(&self) -> bool {
        self.stations.iter().chain(&self.shapes).any(SpringKeys::needs_mass)
    }
}

/// The weight that one station carries.
#[derive(Clone, Copy, Debug)]
struct Share {
    force_n: f64,
    /// Gravity against the normal of the ground, m/s².
    gravity_m_per_s2: f64,
}

impl SpringKeys {
    fn needs_mass(&self) -> bool {
        let of_spring = [self.d1_n, self.cz_s_per_m, self.force_z_max_n, self.kxy_n_per_m];
        let needs_critical = self.cxy_n_s_per_m.is_none() && self.critical_mass_kg.is_none();
        needs_critical || of_spring.contains(&None)
    }

    /// The parameters if no key needs the weight, or else some that [`fit`] replaces.
    pub(super) fn parameters(&self) -> Result<SpringParameters> {
        self.at(Share { force_n: 1.0, gravity_m_per_s2: 1.0 })
    }

    fn at(&self, share: Share) -> Result<SpringParameters> {
        let Share { force_n, gravity_m_per_s2 } = share;
        // m ω² = F d₂ with m = F / g; the damper F c_z is 2 ζ m ω
        let critical = (self.d2_per_m / gravity_m_per_s2).sqrt();
        let mut out = SpringParameters {
            d0_m: self.d0_m,
            d1_n: self.d1_n.unwrap_or(force_n),
            d2_per_m: self.d2_per_m,
            cz_s_per_m: self.cz_s_per_m.unwrap_or(2.0 * self.damping_ratio * critical),
            force_z_max_n: self.force_z_max_n.unwrap_or(FORCE_MAX_SHARES * force_n),
            kxy_n_per_m: self.kxy_n_per_m.unwrap_or(FRICTION_PER_M * force_n),
            v_settle_m_per_s: self.v_settle_m_per_s,
            t_settle_s: self.t_settle_s,
            ..SpringParameters::default()
        };
        match self.cxy_n_s_per_m {
            Some(cxy) => out.cxy_n_s_per_m = cxy,
            None => {
                let share_kg = CRITICAL_SHARE * force_n / gravity_m_per_s2;
                let mass_kg = self.critical_mass_kg.unwrap_or(share_kg);
                out.set_critical_damping(out.kxy_n_per_m, mass_kg)?;
            }
        }
        Ok(out)
    }
}

/// Thresholds of the foot switches as given; `None` stands for "by_mass".
#[derive(Clone, Copy, Debug)]
pub(super) struct SwitchKeys {
    pub(super) on_n: Option<f64>,
    pub(super) off_n: Option<f64>,
    pub(super) debounce_ticks: u64,
}

impl SwitchKeys {
    /// The thresholds if no key needs the weight, or else some that [`fit`] replaces.
    pub(super) fn spec(&self) -> FootSwitchSpec {
        self.at(1.0)
    }

    fn at(&self, per_foot_n: f64) -> FootSwitchSpec {
        FootSwitchSpec {
            on_n: self.on_n.unwrap_or(SWITCH_SHARES[0] * per_foot_n),
            off_n: self.off_n.unwrap_or(SWITCH_SHARES[1] * per_foot_n),
            debounce_ticks: self.debounce_ticks,
        }
    }
}

/// Replaces every value "by_mass" in `spec`. `places` is true if the robot is placed above the
/// ground later.
pub(super) fn fit(
    model: &Model,
    spec: &mut PlantSpec,
    keys: &FittedKeys,
    switch: &SwitchKeys,
    places: bool,
    mistakes: &Mistakes,
) {
    let switches = switch.on_n.is_none() || switch.off_n.is_none();
    let springs = keys.need_mass();
    if !springs && !switches {
        return;
    }
    let along = -spec.gravity_W.dot(&up_W(spec));
    let weight_n = model.total_mass() * along;
    if weight_n <= 0.0 || weight_n.is_nan() {
        mistakes.add(format!(
            "a value of [contact] or [foot_switch] is \"{BY_MASS}\"; it must be a number (with \
             contact.spring = \"simbody\" all are) where gravity does not press the robot to the \
             ground: sim.gravity_m_per_s2 is {:?}",
            <[f64; 3]>::from(spec.gravity_W)
        ));
        return;
    }
    let per_foot_n = weight_n / spec.feet.len().max(1) as f64;
    spec.foot_switch = switch.at(per_foot_n);
    if spec.foot_switch.off_n > spec.foot_switch.on_n {
        let FootSwitchSpec { on_n, off_n, .. } = spec.foot_switch;
        mistakes.add(format!("foot_switch.off_n is {off_n}; it must be at most on_n, {on_n}"));
    }
    if !springs {
        return;
    }
    let share =
        |count: usize| Share { force_n: weight_n / count.max(1) as f64, gravity_m_per_s2: along };
    let count = {
        // near the ground, where the heights of stations are those of the pose at rest
        let mut near = spec.clone();
        let fitted = set_springs(&mut near, keys, share(spec.stations.len()));
        if fitted.is_ok() && places {
            place_above(model, &mut near, 0.0);
        }
        carrying(model, &near)
    };
    if let Err(e) = set_springs(spec, keys, share(count)) {
        mistakes.add(format!("contact.spring: {e}"));
    } else if spec.integrator != Integrator::LinearlyImplicit {
        check_micro_steps(model, spec, share(count), mistakes);
    }
}

/// The parameters that the keys give for a share of the weight.
fn fitted(keys: &SpringKeys, share: Share) -> Result<SpringParameters> {
    let fitted = keys.at(share)?;
    if !DISSIPATION.contains(fitted.cz_s_per_m) {
        let text = format!(
            "contact.cz_s_per_m is {} s/m with contact.damping_ratio = {} and contact.d2_per_m = \
             {}; it must be at most 1000",
            fitted.cz_s_per_m, keys.damping_ratio, keys.d2_per_m
        );
        return Err(Error::new(ErrorKind::Input, text));
    }
    Ok(fitted)
}

fn set_springs(spec: &mut PlantSpec, keys: &FittedKeys, share: Share) -> Result<()> {
    for (station, keys) in spec.stations.iter_mut().zip(&keys.stations) {
        let fitted = fitted(keys, share)?;
        if let ContactModel::ExponentialSpring(spring) = &mut station.model {
            let stiction = spring.parameters().stiction;
            *spring = ExponentialSpring::new(SpringParameters { stiction, ..fitted })?;
        }
    }
    let CollisionSpec { shapes, bodies, .. } = &mut spec.collisions;
    for (shape, keys) in shapes.iter_mut().zip(&keys.shapes) {
        let ContactModel::ExponentialSpring(spring) = &mut shape.model else { continue };
        let fitted = match shape.carrier {
            // a body of its own carries its own weight
            Carrier::Body(k) => {
                let force_n = bodies[k].inertia.mass * share.gravity_m_per_s2;
                keys.at(Share { force_n, ..share })?
            }
            _ => fitted(keys, share)?,
        };
        let stiction = spring.parameters().stiction;
        *spring = ExponentialSpring::new(SpringParameters { stiction, ..fitted })?;
    }
    Ok(())
}

/// Number of stations that carry the robot in its initial pose: of every foot (or, without feet, of
/// all stations together) those that are nearest to the ground.
fn carrying(model: &Model, spec: &PlantSpec) -> usize {
    let plant = Plant::new(model.clone(), spec.clone());
    let surfaces = plant.contacts().places().max(1);
    let heights_m: Vec<f64> = plant
        .contacts()
        .evaluated()
        .chunks(surfaces)
        .map(|of_station| of_station.iter().map(|at| at.touch.p_C.z).fold(f64::MAX, f64::min))
        .collect();
    let all: Vec<usize> = (0..spec.stations.len()).collect();
    let lowest = |stations: &[usize]| {
        let heights = || stations.iter().filter_map(|&s| heights_m.get(s));
        let least_m = heights().copied().fold(f64::MAX, f64::min);
        heights().filter(|&&z| z <= least_m + LOWEST_WITHIN_M).count()
    };
    if spec.feet.is_empty() {
        return lowest(&all);
    }
    spec.feet.iter().map(|foot| lowest(&foot.stations)).sum()
}

/// Refuses springs that are too stiff for the micro-step and the mass of a foot.
fn check_micro_steps(model: &Model, spec: &PlantSpec, share: Share, mistakes: &Mistakes) {
    let up = up_W(spec);
    let masses = masses_along(model, spec, &up);
    let h_s = spec.period_ns as f64 / f64::from(spec.micro_steps) / 1e9;
    let mut worst: Option<(f64, &str, f64)> = None;
    for (station, masses_kg) in spec.stations.iter().zip(masses) {
        let ContactModel::ExponentialSpring(spring) = &station.model else { continue };
        for surface in &spec.ground {
            let Ok(spring) = surface.spring.applied_to(spring) else { continue };
            let p = spring.parameters();
            let load_n = LOAD_FACTOR * share.force_n;
            let normal = (load_n * p.d2_per_m, load_n * p.cz_s_per_m);
            let friction = (p.kxy_n_per_m, p.cxy_n_s_per_m);
            for (mass_kg, (k, c)) in masses_kg.into_iter().zip([normal, friction, friction]) {
                // semi-implicit Euler is stable for k h² + 2 c h < 4 m
                let longest_s = 4.0 * mass_kg / (c + (c * c + 4.0 * k * mass_kg).sqrt());
                if longest_s < h_s && worst.is_none_or(|(s, ..)| longest_s < s) {
                    worst = Some((longest_s, &station.name, mass_kg));
                }
            }
        }
    }
    let Some((longest_s, name, mass_kg)) = worst else { return };
    let least = spec.period_ns as f64 / 1e9 / longest_s;
    let steps = (1..=1000_u32)
        .find(|&n| f64::from(n) > least && spec.period_ns.is_multiple_of(u64::from(n)));
    let remedy = steps.map_or_else(String::new, |n| format!("at least {n}, with "));
    mistakes.add(format!(
        "sim.micro_steps is {}; it must be {remedy}a smaller contact.damping_ratio or \
         contact.d2_per_m, because contact.spring = \"by_mass\" gives {name} springs for {:.3} kg, \
         and its own mass is only {mass_kg:.3} kg",
        spec.micro_steps,
        share.force_n / share.gravity_m_per_s2
    ));
}

/// Mass of each station along the normal and two tangents, kg: of a force there over the
/// acceleration that it adds, with joints that move freely.
fn masses_along(model: &Model, spec: &PlantSpec, up: &Vec3) -> Vec<[f64; 3]> {
    let mut data = Data::new(model);
    let rest = Velocities::zero(model);
    kinematics(model, &spec.q, &rest, &mut data);
    articulated_inertias(model, &mut data);
    let (mut work, mut dv) = (ImpulseWorkspace::new(model), rest.clone());
    let side = if up.x.abs() < 0.9 { Vec3::x() } else { Vec3::y() };
    let first = side.cross(up).normalize();
    let axes_W = [*up, first, up.cross(&first)];
    let mut mass = |body: usize, p_B: &Vec3, axis_W: &Vec3| {
        let axis_B = data.X_WB[body].R.tr_mul(axis_W);
        let mut impulses = vec![Force::zero(); model.bodies.len()];
        impulses[body] = Force::at_point(axis_B, p_B);
        impulse_response(model, &data, &impulses, &mut work, &mut dv);
        1.0 / axis_B.dot(&work.dV[body].at_point(p_B)).max(1e-12)
    };
    spec.stations.iter().map(|s| axes_W.map(|axis_W| mass(s.body, &s.p_BS, &axis_W))).collect()
}
