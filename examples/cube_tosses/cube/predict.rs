//! Predicts a toss from its first state.

use hardstand_physics::contact::Surface;
use hardstand_physics::dynamics::{Positions, Velocities};
use hardstand_physics::model::{Base, BodySpec, Builder, Model};
use hardstand_physics::plant::{
    CollisionSpec, DriveSet, Integrator, OwnerWords, Plant, PlantSpec, SensorSet, StopSpec,
};
use hardstand_physics::sensor::{FootSwitchSpec, ImuSpec};
use hardstand_physics::spatial::{Mat3, Quaternion, SpatialInertia, Transform, Vec3};

use super::Result;
use super::data::{Toss, Tosses};
use super::fitted::{SHIPPED, values};
use super::laws::{Contact, MEASURED};
use super::start::{FirstStates, Flyer, Start, start};

/// Time between two samples, ns: a number with many divisors, for the micro-steps. Files with
/// another period are refused.
pub(crate) const PERIOD_NS: u64 = 6_756_750;
/// Largest relative difference between the file's period and ours: 0.01 ms in 100 samples.
const PERIOD_OFF_MAX: f64 = 1e-5;
/// Gravity, m/s².
pub(crate) const G: f64 = 9.81;

/// What is known of camera and cube, and where a prediction starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) first: FirstStates,
    /// Length in the file of what is 1 m long.
    pub(crate) scale: f64,
    /// Centre of mass in the body's axes, m.
    pub(crate) com_B: Vec3,
    /// Micro-steps of one sample: a divisor of [`PERIOD_NS`].
    pub(crate) micro_steps: u32,
}

impl Setting {
    /// Samples of free flight that the first state is estimated from, unless said otherwise.
    pub(crate) const FIRST: u8 = 6;

    /// Values of [`MEASURED`] in `fitted.toml`.
    ///
    /// # Errors
    /// If one is missing.
    pub(crate) fn shipped_measures() -> Result<[f64; 4]> {
        let measured = values(SHIPPED, "measured", &MEASURED)?;
        Ok([measured[0], measured[1], measured[2], measured[3]])
    }

    /// With these values of [`MEASURED`].
    pub(crate) fn with(measured: &[f64; 4]) -> Self {
        let [scale, x, y, z] = *measured;
        let first = FirstStates::Flight(Self::FIRST.into());
        Self { first, scale, com_B: Vec3::new(x, y, z), micro_steps: 22 }
    }
}

/// A pose: position in m, and body to world.
pub(crate) type Pose = (Vec3, Quaternion);

/// Refuses a file whose samples are not [`PERIOD_NS`] apart.
pub(crate) fn check_period(of: &Tosses) -> Result<()> {
    let period_s = PERIOD_NS as f64 / 1e9;
    if (of.dt_s / period_s - 1.0).abs() <= PERIOD_OFF_MAX {
        return Ok(());
    }
    Err(format!("dt_s is {}; it must be {period_s} within 0.001 %", of.dt_s).into())
}

/// The first state of a toss, in m: the camera's scale is taken out.
pub(crate) fn first_state(of: &Tosses, toss: &Toss, setting: &Setting) -> Start {
    let mut in_m = toss.clone();
    for s in &mut in_m.samples {
        s.p_W *= 1.0 / setting.scale;
        s.v_W *= 1.0 / setting.scale;
    }
    let (half_width_m, com_B, dt_s) = (of.half_width_m, setting.com_B, of.dt_s);
    start(&in_m, setting.first, &Flyer { half_width_m, com_B, g: G, dt_s })
}

/// Poses at `count` samples after the first state.
///
/// # Errors
/// If the physics refuses the cube, or the prediction ends in a plant failure.
pub(crate) fn predict(
    of: &Tosses,
    start: &Start,
    contact: &Contact,
    setting: &Setting,
    count: usize,
) -> Result<Vec<Pose>> {
    let (model, spec) = cube(of, start, contact, setting)?;
    let mut plant = Plant::new(model, spec);
    let mut poses = Vec::with_capacity(count);
    for _ in 0..count {
        if let Some(failure) = plant.step(&[], &OwnerWords::default()) {
            return Err(format!("the plant has stopped itself: {failure:?}").into());
        }
        let q = &plant.state().q;
        poses.push((q.p_WB, q.quat_WB));
    }
    Ok(poses)
}

fn cube(
    of: &Tosses,
    start: &Start,
    contact: &Contact,
    setting: &Setting,
) -> Result<(Model, PlantSpec)> {
    let mut builder = Builder::new("cube", Base::Floating);
    let I = Mat3::from_diagonal_element(contact.inertia_kg_m2);
    let inertia = SpatialInertia::from_com(of.mass_kg, &setting.com_B, &I);
    builder.bodies.push(BodySpec { name: "cube".into(), inertia });
    let model = builder.build()?;
    let (mut q, mut v) = (Positions::zero(&model), Velocities::zero(&model));
    (q.p_WB, q.quat_WB) = (start.p_W, start.q_WB);
    (v.v_WB, v.w_WB) = (start.v_W, start.w_W);
    let spec = PlantSpec {
        period_ns: PERIOD_NS,
        micro_steps: setting.micro_steps,
        integrator: Integrator::SemiImplicitEuler,
        gravity_W: Vec3::z() * -G,
        ground: vec![Surface::plane("table", Transform::identity())],
        regions: Vec::new(),
        stations: contact.stations(of.half_width_m),
        feet: Vec::new(),
        collisions: CollisionSpec::none(),
        restitution: contact.restitution,
        constraints: vec![],
        stops: StopSpec { time_constant_s: 0.005, damping_ratio: 1.0 },
        imu: ImuSpec { body: 0, X_BI: Transform::identity() },
        second_imu: None,
        foot_switch: FootSwitchSpec { on_n: 5.0, off_n: 2.0, debounce_ticks: 3 },
        drives: DriveSet::default(),
        sensors: SensorSet::default(),
        q,
        v,
    };
    Ok((model, spec))
}
