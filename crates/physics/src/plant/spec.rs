//! Everything the physics depends on besides the robot.

use xxhash_rust::xxh3::xxh3_64;

use crate::contact::{
    ExponentialSpring, Friction, HuntCrossley, Restitution, RollingFriction, StationShape, Surface,
};
use crate::dynamics::{Positions, Velocities};
use crate::model::{JointKind, Model};
use crate::sensor::{FootSwitchSpec, ImuSpec};
use crate::spatial::{Transform, Vec3};

use super::near::places;
use super::{CollisionSpec, ConstraintSpec, DriveSet, FrictionRegion, SensorSet};

/// How a micro-step advances the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integrator {
    /// `v ← v + h v̇`, then `q ← q ⊕ h v`: one force evaluation, robust in contact.
    SemiImplicitEuler,
    /// Classical Runge–Kutta of order 4: four evaluations, for reference runs. A plant with rigid
    /// contacts takes the other method: impulses have no place between the stages.
    Rk4,
    /// Stiffness and damping of drives and compliant contacts are taken into the step: one force
    /// evaluation, stable with much longer steps. A step that strikes the ground is taken in two
    /// halves. A plant with rigid contacts takes the first method. See `docs/integrators.md`.
    LinearlyImplicit,
}

/// What pushes a station away from the ground.
#[derive(Clone, Debug, PartialEq)]
pub enum ContactModel {
    /// Exponential spring with an anchored friction spring.
    ExponentialSpring(ExponentialSpring),
    /// Hertz contact of a sphere with Hunt–Crossley damping and Hollars' friction: one law for each
    /// surface, with the ground as its surface 1.
    HuntCrossley(Vec<HuntCrossley>),
    /// Impulses: no penetration, dry friction.
    Rigid,
}

/// A place of a body that touches the ground.
#[derive(Clone, Debug, PartialEq)]
pub struct Station {
    /// Name, unique.
    pub name: String,
    /// The body that carries it.
    pub body: usize,
    /// Position in the body's frame, m: the point, or the centre of a sphere or torus.
    pub p_BS: Vec3,
    /// What is round about it: the force acts at the point nearest to the ground.
    pub shape: StationShape,
    /// Model against every surface.
    pub model: ContactModel,
    /// Initial coefficients of friction. Hunt–Crossley contacts take theirs from the materials.
    pub friction: Friction,
    /// Moments against rolling and spinning; a rigid contact has none.
    pub rolling: RollingFriction,
}

/// A named set of stations whose forces are summed up as one foot's.
#[derive(Clone, Debug, PartialEq)]
pub struct Foot {
    /// Name, unique.
    pub name: String,
    /// The body that carries the foot's frame F.
    pub body: usize,
    /// Pose of F in that body.
    pub X_BF: Transform,
    /// Indices into [`PlantSpec::stations`].
    pub stations: Vec<usize>,
    /// Indices into [`CollisionSpec::shapes`](super::CollisionSpec::shapes) of PlantSpec's shapes
    /// that are parts of this foot.
    pub shapes: Vec<usize>,
}

/// Mechanical end stops: a spring and damper beyond a joint's limits, scaled by the inertia that
/// the joint feels at the initial pose, so that one setting suits a hip and a finger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StopSpec {
    /// Time constant `1/ω`, s.
    pub time_constant_s: f64,
    /// Damping ratio; 1 is critical.
    pub damping_ratio: f64,
}

/// Everything the physics depends on besides the [`Model`].
#[derive(Clone, Debug, PartialEq)]
pub struct PlantSpec {
    /// Length of a tick, ns. A multiple of `micro_steps`.
    pub period_ns: u64,
    /// Integration steps per tick.
    pub micro_steps: u32,
    /// Integration method.
    pub integrator: Integrator,
    /// Gravity in W, m/s².
    pub gravity_W: Vec3,
    /// The ground.
    pub ground: Vec<Surface>,
    /// Parts of the ground with friction of their own; where they overlap, the last one counts.
    pub regions: Vec<FrictionRegion>,
    /// Contact points. Every station meets every surface.
    pub stations: Vec<Station>,
    /// Feet.
    pub feet: Vec<Foot>,
    /// Shapes that touch the ground and each other, and free bodies.
    pub collisions: CollisionSpec,
    /// How rigid contacts bounce.
    pub restitution: Restitution,
    /// Points that are held on planes.
    pub constraints: Vec<ConstraintSpec>,
    /// End stops.
    pub stops: StopSpec,
    /// Inertial measurement unit.
    pub imu: ImuSpec,
    /// A second unit, which shows the truth. It has no words in the state: it is measured anew in
    /// each tick.
    pub second_imu: Option<ImuSpec>,
    /// Debounced contact booleans.
    pub foot_switch: FootSwitchSpec,
    /// Drives of the joints, ideal by default.
    pub drives: DriveSet,
    /// Errors of the sensors, none by default.
    pub sensors: SensorSet,
    /// Initial positions.
    pub q: Positions,
    /// Initial velocities.
    pub v: Velocities,
}

impl PlantSpec {
    /// Contacts of each station: one for each surface, or places for those that are near if
    /// stations times surfaces are more than [`STATIONS_MAX`](crate::limits::STATIONS_MAX).
    #[must_use]
    pub const fn places(&self) -> usize {
        places(self.stations.len(), self.ground.len())
    }

    /// Whether there are moments against rolling and spinning.
    #[must_use]
    pub fn has_rolling_friction(&self) -> bool {
        let of_station = |s: &Station| s.rolling.acts() && s.model != ContactModel::Rigid;
        self.stations.iter().any(of_station)
            || self.collisions.shapes.iter().any(|s| s.rolling.acts())
    }

    /// Length of a micro-step, ns.
    #[must_use]
    pub fn micro_step_ns(&self) -> u64 {
        self.period_ns / u64::from(self.micro_steps.max(1))
    }

    /// Length of part `i` of `n` of a micro-step, ns.
    pub(super) fn part_ns(&self, i: u64, n: u64) -> u64 {
        let step_ns = self.micro_step_ns();
        step_ns * (i + 1) / n - step_ns * i / n
    }
}

/// Hash of what a controller must know to read states and write commands: protocol version, period,
/// names and order of joints, feet, stations, surfaces and regions. It travels in every state and
/// command; a command with another one is refused.
#[must_use]
pub fn layout_hash(model: &Model, spec: &PlantSpec) -> u64 {
    let period_ns = spec.period_ns;
    let mut text = format!("hardstand-layout-2\nperiod_ns {period_ns}\nrobot {}\n", model.name);
    for joint in &model.joints {
        let kind = match joint.kind {
            JointKind::Revolute => "revolute",
            JointKind::Prismatic => "prismatic",
        };
        text.push_str(&format!("joint {} {kind}\n", joint.name));
    }
    for foot in &spec.feet {
        text.push_str(&format!("foot {}\n", foot.name));
    }
    for station in &spec.stations {
        text.push_str(&format!("station {}\n", station.name));
    }
    for surface in &spec.ground {
        text.push_str(&format!("surface {}\n", surface.name));
    }
    for region in &spec.regions {
        text.push_str(&format!("region {}\n", region.name));
    }
    for constraint in &spec.constraints {
        text.push_str(&format!("constraint {}\n", constraint.name));
    }
    for coupling in &model.couplings {
        text.push_str(&format!("coupling {}\n", model.joints[coupling.follower].name));
    }
    for body in &spec.collisions.bodies {
        text.push_str(&format!("body {}\n", body.name));
    }
    xxh3_64(text.as_bytes())
}
