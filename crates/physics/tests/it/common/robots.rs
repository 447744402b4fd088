//! Robots and plants that several tests use.
#![allow(dead_code, reason = "the tests of two crates and the benchmarks use parts of it")]

use hardstand_physics::contact::{
    ContactMaterial, ExponentialSpring, Friction, HertzPair, HuntCrossley, Restitution,
    RollingFriction, SpringParameters, StationShape, Surface,
};
use hardstand_physics::dynamics::{Positions, Velocities};
use hardstand_physics::model::{Base, BodySpec, Builder, Joint, JointKind, JointSpec, Model};
use hardstand_physics::plant::{
    CollisionSpec, ContactModel, DriveSet, Foot, Integrator, PlantSpec, SensorSet, Station,
    StopSpec,
};
use hardstand_physics::sensor::{FootSwitchSpec, ImuSpec};
use hardstand_physics::spatial::{Mat3, SpatialInertia, Transform, Vec3};

pub const G: f64 = 9.81;

/// A joint without limits, damping, friction and armature.
pub fn joint(name: &str, kind: JointKind, axis: [f64; 3], X_PJ: Transform) -> Joint {
    Joint {
        name: name.into(),
        kind,
        axis: Vec3::from(axis).normalize(),
        X_PJ,
        q_min: f64::NEG_INFINITY,
        q_max: f64::INFINITY,
        effort_max: f64::INFINITY,
        velocity_max: f64::INFINITY,
        damping: 0.0,
        friction: 0.0,
        armature: 0.0,
    }
}

pub fn add_body(b: &mut Builder, name: &str, inertia: SpatialInertia) {
    b.bodies.push(BodySpec { name: name.into(), inertia });
}

pub fn add_joint(b: &mut Builder, parent: &str, child: &str, joint: Joint) {
    b.joints.push(JointSpec { parent: parent.into(), child: child.into(), joint });
}

pub fn at(x: f64, y: f64, z: f64) -> Transform {
    Transform::new(Mat3::identity(), Vec3::new(x, y, z))
}

pub fn level_floor() -> Surface {
    plane(Transform::identity())
}

/// A plane with this pose.
pub fn plane(X_WP: Transform) -> Surface {
    Surface::plane(&format!("plane {:?}", X_WP.p), X_WP)
}

/// Plain settings: 1 ms ticks, four semi-implicit micro-steps, level floor, no stations.
pub fn plain_spec(model: &Model) -> PlantSpec {
    PlantSpec {
        period_ns: 1_000_000,
        micro_steps: 4,
        integrator: Integrator::SemiImplicitEuler,
        gravity_W: Vec3::new(0.0, 0.0, -G),
        ground: vec![level_floor()],
        regions: vec![],
        stations: vec![],
        feet: vec![],
        collisions: CollisionSpec::none(),
        restitution: Restitution::default(),
        constraints: vec![],
        stops: StopSpec { time_constant_s: 0.005, damping_ratio: 1.0 },
        imu: ImuSpec { body: 0, X_BI: Transform::identity() },
        second_imu: None,
        foot_switch: FootSwitchSpec { on_n: 5.0, off_n: 2.0, debounce_ticks: 3 },
        drives: DriveSet::default(),
        sensors: SensorSet::default(),
        q: Positions::zero(model),
        v: Velocities::zero(model),
    }
}

pub fn station(name: &str, body: usize, p_BS: [f64; 3], mu_static: f64) -> Station {
    Station {
        name: name.into(),
        body,
        p_BS: Vec3::from(p_BS),
        shape: StationShape::Point,
        model: ContactModel::ExponentialSpring(
            ExponentialSpring::new(SpringParameters::default()).unwrap(),
        ),
        friction: Friction::new(mu_static, 0.75 * mu_static),
        rolling: RollingFriction::NONE,
    }
}

/// A 10 kg cube of 0.2 m with a spring in each corner, standing on the floor with four of them.
pub fn box_on_springs(mu_static: f64) -> (Model, PlantSpec) {
    let mut b = Builder::new("box", Base::Floating);
    let I = Mat3::from_diagonal_element(0.0667);
    add_body(&mut b, "box", SpatialInertia::from_com(10.0, &Vec3::zeros(), &I));
    let model = b.build().unwrap();
    let mut spec = plain_spec(&model);
    for (i, z) in [-0.1, 0.1].into_iter().enumerate() {
        for (k, (x, y)) in [(0.1, 0.1), (-0.1, 0.1), (-0.1, -0.1), (0.1, -0.1)].iter().enumerate() {
            spec.stations.push(station(&format!("s{}", 4 * i + k), 0, [*x, *y, z], mu_static));
        }
    }
    spec.feet.push(Foot {
        name: "sole".into(),
        body: 0,
        X_BF: at(0.0, 0.0, -0.1),
        stations: vec![0, 1, 2, 3],
        shapes: vec![],
    });
    spec.q.p_WB.z = 0.1 + 0.003_26;
    (model, spec)
}

/// A trunk with four legs of hip, thigh and a sliding shank: revolute and prismatic joints, limits,
/// damping, friction and armature, two stations per foot.
pub fn walker() -> (Model, PlantSpec) {
    let mut b = Builder::new("walker", Base::Floating);
    let I = Mat3::from_diagonal(&Vec3::new(0.05, 0.11, 0.12));
    add_body(&mut b, "trunk", SpatialInertia::from_com(6.0, &Vec3::new(0.01, 0.0, 0.0), &I));
    for (i, (x, y)) in [(0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1)].iter().enumerate() {
        let name = |part: &str| format!("{part}{i}");
        let small = |m: f64, z: f64| {
            let I = Mat3::from_diagonal(&Vec3::new(2e-3 * m, 2e-3 * m, 1e-3 * m));
            SpatialInertia::from_com(m, &Vec3::new(0.0, 0.0, z), &I)
        };
        add_body(&mut b, &name("hip"), small(0.7, 0.0));
        add_body(&mut b, &name("thigh"), small(1.0, -0.08));
        add_body(&mut b, &name("shank"), small(0.3, -0.05));
        let limited = |mut j: Joint, q_min: f64, q_max: f64| {
            (j.q_min, j.q_max, j.effort_max, j.velocity_max) = (q_min, q_max, 40.0, 30.0);
            (j.damping, j.friction, j.armature) = (0.02, 0.1, 0.01);
            j
        };
        let X = JointKind::Revolute;
        let hip = joint(&name("hip_joint"), X, [1.0, 0.0, 0.0], at(*x, *y, 0.0));
        add_joint(&mut b, "trunk", &name("hip"), limited(hip, -0.5, 0.5));
        let thigh =
            joint(&name("thigh_joint"), X, [0.0, 1.0, 0.0], at(0.0, 0.05 * y.signum(), 0.0));
        add_joint(&mut b, &name("hip"), &name("thigh"), limited(thigh, -1.0, 1.0));
        let kind = JointKind::Prismatic;
        let shank = joint(&name("shank_joint"), kind, [0.0, 0.0, -1.0], at(0.0, 0.0, -0.15));
        let mut shank = limited(shank, -0.02, 0.06);
        shank.effort_max = 200.0;
        add_joint(&mut b, &name("thigh"), &name("shank"), shank);
    }
    let model = b.build().unwrap();
    let mut spec = plain_spec(&model);
    for leg in 0..4 {
        let body = model.frame(&format!("shank{leg}")).unwrap().body;
        for (k, x) in [0.02, -0.02].into_iter().enumerate() {
            spec.stations.push(station(&format!("s{leg}{k}"), body, [x, 0.0, -0.1], 0.8));
        }
        spec.feet.push(Foot {
            name: format!("foot{leg}"),
            body,
            X_BF: at(0.0, 0.0, -0.1),
            stations: vec![2 * leg, 2 * leg + 1],
            shapes: vec![],
        });
    }
    spec.q.p_WB.z = 0.254;
    (model, spec)
}

/// Names for [`set_law`].
pub const LAWS: [&str; 3] = ["spring", "Hunt-Crossley", "rigid"];

/// Gives all stations this contact law.
pub fn set_law(spec: &mut PlantSpec, law: &str) {
    let rubber = ContactMaterial::new(1e6, 0.5, 0.8, 0.6, 0.0).unwrap();
    let pair = HertzPair::new(&rubber, &rubber).unwrap();
    let hunt_crossley = HuntCrossley::new(pair, 0.02).unwrap();
    for station in &mut spec.stations {
        match law {
            "rigid" => {
                (station.model, station.friction) = (ContactModel::Rigid, Friction::new(0.8, 0.6));
            }
            "Hunt-Crossley" => {
                station.model = ContactModel::HuntCrossley(vec![hunt_crossley; spec.ground.len()]);
                station.shape = StationShape::Sphere { radius_m: 0.02 };
            }
            _ => {}
        }
    }
}
