//! Momentum of a robot that flies, with joints that move.

use hardstand_geometry::Shape;
use hardstand_physics::actuator::Reference;
use hardstand_physics::contact::{
    ExponentialSpring, Friction, Restitution, RollingFriction, SpringParameters,
};
use hardstand_physics::plant::{
    Carrier, CollisionShape, ComputePath, ContactModel, Integrator, OwnerWords, Plant,
};
use hardstand_physics::spatial::{Motion, Transform, Vec3};

use super::common::bodies::bystander;
use super::common::robots::{box_on_springs, walker};

fn momenta(plant: &Plant) -> (Vec3, Vec3) {
    let (model, data) = (plant.model(), plant.data());
    let (mut p, mut L, mut first, mut mass) = (Vec3::zeros(), Vec3::zeros(), Vec3::zeros(), 0.0);
    for (i, body) in model.bodies.iter().enumerate() {
        let (X, V): (_, &Motion) = (&data.X_WB[i], &data.V[i]);
        let h = body.inertia.mul(V);
        let p_W = X.R * h.lin;
        p += p_W;
        L += X.R * h.ang + X.p.cross(&p_W);
        first += X.point(&body.inertia.com()) * body.inertia.mass;
        mass += body.inertia.mass;
    }
    (p, L - (first / mass).cross(&p))
}

fn tumbling(integrator: Integrator, micro_steps: u32, gravity: bool) -> Plant {
    let (model, mut spec) = walker();
    (spec.integrator, spec.micro_steps) = (integrator, micro_steps);
    if !gravity {
        spec.gravity_W = Vec3::zeros();
    }
    spec.q.p_WB.z += 600.0;
    spec.v.w_WB = Vec3::new(1.0, 2.0, -1.5);
    spec.v.v_WB = Vec3::new(0.5, 0.2, 0.1);
    for (i, v) in spec.v.joints.iter_mut().enumerate() {
        *v = 3.0 * if i % 2 == 0 { 1.0 } else { -1.0 };
    }
    Plant::new(model, spec)
}

#[test]
fn ten_seconds_of_flight_keep_both_momenta() {
    // the shares that momentum and angular momentum may be off on the way, also where a joint hits
    // its stop between two corrections
    for (integrator, micro_steps, way) in [
        (Integrator::SemiImplicitEuler, 10, [1e-5, 2e-5]),
        (Integrator::SemiImplicitEuler, 1, [1e-14, 1e-11]),
        (Integrator::LinearlyImplicit, 1, [1e-14, 1e-11]),
    ] {
        let mut plant = tumbling(integrator, micro_steps, false);
        let (p0, L0) = momenta(&plant);
        let still = vec![Reference::default(); plant.model().joint_count()];
        let (mut dp, mut dL) = (0.0_f64, 0.0_f64);
        for _ in 0..10_000 {
            assert_eq!(plant.step(&still, &OwnerWords::default()), None);
            let (p, L) = momenta(&plant);
            (dp, dL) = (dp.max((p - p0).norm() / p0.norm()), dL.max((L - L0).norm() / L0.norm()));
        }
        let (p, L) = momenta(&plant);
        println!(
            "{integrator:?} {micro_steps}: at most {dp:.1e}, {dL:.1e}; at the end {:.1e} {:.1e}",
            (p - p0).norm() / p0.norm(),
            (L - L0).norm() / L0.norm()
        );
        assert!(dp < way[0] && dL < way[1], "{integrator:?} {micro_steps}: {dp} {dL}");
        let (dp, dL) = ((p - p0).norm() / p0.norm(), (L - L0).norm() / L0.norm());
        assert!(dp < 1e-6 && dL < 1e-6, "{integrator:?} {micro_steps}: {dp} {dL}");
    }
}

#[test]
fn a_fall_has_gravity_s_momentum_on_every_path() {
    let mut found = Vec::new();
    for path in [ComputePath::OneByOne, ComputePath::Portable, ComputePath::Fastest] {
        let mut plant = tumbling(Integrator::SemiImplicitEuler, 4, true);
        plant.set_path(path);
        let (p0, L0) = momenta(&plant);
        let still = vec![Reference::default(); plant.model().joint_count()];
        for _ in 0..2401 {
            assert_eq!(plant.step(&still, &OwnerWords::default()), None);
        }
        let (p, L) = momenta(&plant);
        let fallen = plant.spec().gravity_W * (plant.model().total_mass() * 2.401);
        assert!((p - p0 - fallen).norm() < 1e-7 * fallen.norm(), "{p} {p0} {fallen}");
        assert!((L - L0).norm() < 1e-6 * L0.norm(), "{L} {L0}");
        found.push(plant.state().clone());
    }
    assert_eq!(found[0], found[1]);
    assert_eq!(found[0], found[2]);
}

/// What a tumbling cube touches the floor with.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Touching {
    Springs(Integrator),
    RigidStations,
    RigidShape,
}

/// A cube that strikes the floor about 9 ms after its start, in ticks of so many micro-steps.
fn tossed(touching: Touching, micro_steps: u32) -> Plant {
    let (model, mut spec) = box_on_springs(0.5);
    (spec.period_ns, spec.micro_steps) = (100_000 * u64::from(micro_steps), micro_steps);
    if let Touching::Springs(integrator) = touching {
        spec.integrator = integrator;
        let parameters = SpringParameters { cz_s_per_m: 0.05, ..SpringParameters::default() };
        let spring = ExponentialSpring::new(parameters).unwrap();
        for station in &mut spec.stations {
            station.model = ContactModel::ExponentialSpring(spring);
        }
    } else {
        spec.restitution = Restitution::new(0.6, 0.01, 0.1).unwrap();
    }
    if touching == Touching::RigidStations {
        for station in &mut spec.stations {
            station.model = ContactModel::Rigid;
        }
    }
    if touching == Touching::RigidShape {
        spec.stations.clear();
        spec.feet.clear();
        spec.collisions = bystander().1.collisions;
        spec.collisions.shapes.push(CollisionShape {
            carrier: Carrier::Link(0),
            X_BS: Transform::identity(),
            shape: Shape::cuboid([0.2; 3], 0.001).unwrap(),
            meets_ground: true,
            model: ContactModel::Rigid,
            friction: Friction::new(0.5, 0.4),
            rolling: RollingFriction::NONE,
        });
    }
    spec.q.p_WB.z = 0.1265;
    spec.v.v_WB = Vec3::new(0.7, 0.2, -3.0);
    spec.v.w_WB = Vec3::new(4.0, 5.0, -3.0);
    Plant::new(model, spec)
}

/// A contact that begins and ends within one tick, and a flight that is watched before and after
/// it: the length of a tick is that of a report, and no force depends on it.
#[test]
fn a_contact_shorter_than_a_tick_is_a_contact() {
    for touching in [
        Touching::RigidStations,
        Touching::RigidShape,
        Touching::Springs(Integrator::SemiImplicitEuler),
        Touching::Springs(Integrator::LinearlyImplicit),
    ] {
        for path in [ComputePath::Fastest, ComputePath::OneByOne] {
            let [mut short, mut long] = [1, 500].map(|micro_steps| tossed(touching, micro_steps));
            short.set_path(path);
            long.set_path(path);
            let (mut bounced, mut flew) = (false, 0);
            for _ in 0..4 {
                for _ in 0..500 {
                    assert_eq!(short.step(&[], &OwnerWords::default()), None);
                }
                assert_eq!(long.step(&[], &OwnerWords::default()), None);
                let [one, other] = [&short, &long].map(|p| [p.state().v.v_WB, p.state().v.w_WB]);
                bounced |= one[0].z > 0.1;
                flew += usize::from(long.contacts().forces().all(|f| f.normal_n < 1e-9));
                let apart = (one[0] - other[0]).norm() + (one[1] - other[1]).norm();
                println!("{touching:?} {path:?} {apart:.1e} {one:?} {other:?}");
                assert!(apart < 1e-9, "{touching:?} {path:?}: {one:?} {other:?}");
            }
            assert!(bounced && flew > 2, "{touching:?} {path:?} {flew}");
        }
    }
}

/// Within a tick little is asked about a rigid point high above the ground; not too little for one
/// that falls fast.
#[test]
fn a_fast_rigid_point_meets_the_ground_within_a_tick_as_in_many() {
    for path in [ComputePath::Fastest, ComputePath::OneByOne] {
        for (speed_m_per_s, above_m) in [(3.0, 0.021), (60.0, 0.03), (300.0, 0.055), (900.0, 0.2)] {
            let [mut short, mut long] = [1, 20].map(|micro_steps| {
                let (model, mut spec) = box_on_springs(0.5);
                (spec.period_ns, spec.micro_steps) =
                    (100_000 * u64::from(micro_steps), micro_steps);
                for station in &mut spec.stations {
                    station.model = ContactModel::Rigid;
                }
                spec.q.p_WB.z = 0.1 + above_m;
                spec.v.v_WB.z = -speed_m_per_s;
                let mut plant = Plant::new(model, spec);
                plant.set_path(path);
                plant
            });
            for tick in 1..=5 {
                for _ in 0..20 {
                    assert_eq!(short.step(&[], &OwnerWords::default()), None);
                }
                assert_eq!(long.step(&[], &OwnerWords::default()), None);
                let [one, many] = [&short, &long].map(|plant| (&plant.state().q, &plant.state().v));
                let apart = (one.0.p_WB - many.0.p_WB).norm() + (one.1.v_WB - many.1.v_WB).norm();
                assert!(apart < 1e-9, "{path:?} {speed_m_per_s} m/s {tick}: {one:?} {many:?}");
            }
            assert!(short.state().v.v_WB.z.abs() < 1e-9, "{path:?}: it has landed");
        }
    }
}

/// A box that lands on eight points of one face, slides, rocks and comes to rest: what its momenta
/// change by in a step is what the forces of its points say.
#[test]
fn a_box_on_many_rigid_points_gets_the_momenta_of_their_forces() {
    let (model, mut spec) = box_on_springs(0.5);
    (spec.period_ns, spec.micro_steps) = (100_000, 1);
    for (i, station) in spec.stations.iter_mut().enumerate() {
        station.model = ContactModel::Rigid;
        if i >= 4 {
            (station.p_BS.z, station.p_BS.x, station.p_BS.y) =
                (-0.1, 0.5 * station.p_BS.x, 0.3 * station.p_BS.y);
        }
    }
    spec.q.p_WB.z = 0.1005;
    (spec.v.v_WB, spec.v.w_WB) = (Vec3::new(0.3, 0.1, -0.5), Vec3::new(0.3, -0.4, 1.0));
    let (h, weight) = (1e-4, spec.gravity_W * 10.0);
    let mut plant = Plant::new(model, spec);
    let (mut most, mut turned) = (0, 0.0_f64);
    for tick in 0..3000 {
        let (p0, L0) = momenta(&plant);
        let com = plant.data().X_WB[0].p;
        let points: Vec<Vec3> =
            plant.contacts().evaluated().iter().map(|at| at.touch.point_W).collect();
        assert_eq!(plant.step(&[], &OwnerWords::default()), None);
        let forces: Vec<Vec3> = plant.contacts().forces().map(|f| f.force_P()).collect();
        let force = forces.iter().fold(weight, |sum, f| sum + f);
        let arms = points.iter().zip(&forces).map(|(p, f)| (p - com).cross(f));
        let moment = arms.fold(Vec3::zeros(), |sum, m| sum + m);
        let (p, L) = momenta(&plant);
        assert!((p - p0 - force * h).norm() < 1e-9, "tick {tick}: {p:?} {p0:?} {force:?}");
        let off = (L - L0 - moment * h).norm();
        assert!(off < 1e-6 + 1e-3 * moment.norm() * h, "tick {tick}: {off} of {moment:?}");
        most = most.max(forces.iter().filter(|f| f.z > 0.0).count());
        turned = turned.max(moment.norm());
    }
    assert!(most >= 5 && turned > 1.0, "{most} points carry at once, {turned} N·m");
    let (p, L) = momenta(&plant);
    assert!(p.norm() < 1e-6 && L.norm() < 1e-6, "it rests: {p:?} {L:?}");
}
