//! Springs with parameters of their own: of a station, of a surface.

use hardstand_physics::contact::{ExponentialSpring, SpringChanges, SpringParameters, Stiction};
use hardstand_physics::math;
use hardstand_physics::plant::{
    CollisionSpec, ComputePath, ContactModel, OwnerWords, Plant, PlantSpec,
};
use hardstand_physics::spatial::Vec3;

use super::common::bodies::{bystander, cuboid, put};
use super::common::robots::{G, box_on_springs};

const SOFT: SpringChanges = SpringChanges {
    d0_m: Some(0.002),
    d1_n: Some(2.0),
    d2_per_m: Some(400.0),
    cz_s_per_m: Some(2.0),
    force_z_max_n: None,
    kxy_n_per_m: Some(5000.0),
    cxy_n_s_per_m: Some(100.0),
    v_settle_m_per_s: None,
    t_settle_s: None,
};

/// Height of a point at which a spring carries `load_n`, m.
fn rest_height_m(p: &SpringParameters, load_n: f64) -> f64 {
    p.d0_m - math::ln(load_n / p.d1_n) / p.d2_per_m
}

fn holding() -> SpringParameters {
    SpringParameters { stiction: Stiction::Holding, cz_s_per_m: 2.0, ..Default::default() }
}

/// What [`SOFT`] makes of [`holding`].
fn changed() -> SpringParameters {
    SpringParameters {
        d0_m: 0.002,
        d1_n: 2.0,
        d2_per_m: 400.0,
        cz_s_per_m: 2.0,
        kxy_n_per_m: 5000.0,
        cxy_n_s_per_m: 100.0,
        ..holding()
    }
}

fn settled(model: &hardstand_physics::model::Model, spec: &PlantSpec, path: ComputePath) -> Plant {
    let mut plant = Plant::new(model.clone(), spec.clone());
    plant.set_path(path);
    for _ in 0..6000 {
        assert_eq!(plant.step(&[], &OwnerWords::default()), None);
    }
    plant
}

#[test]
fn a_surface_gives_stations_and_shapes_its_springs() {
    let (model, mut spec) = box_on_springs(0.8);
    spec.ground[0].spring = SOFT;
    for station in &mut spec.stations {
        station.model = ContactModel::ExponentialSpring(ExponentialSpring::new(holding()).unwrap());
    }
    let plant = settled(&model, &spec, ComputePath::Fastest);
    let z = rest_height_m(&changed(), 10.0 * G / 4.0);
    assert!((plant.state().q.p_WB.z - (0.1 + z)).abs() < 1e-7, "{} {z}", plant.state().q.p_WB.z);
    // and in the same bits one after another
    let slow = settled(&model, &spec, ComputePath::OneByOne);
    assert_eq!(plant.state().digest, slow.state().digest);

    let (model, mut spec) = bystander();
    spec.ground[0].spring = SOFT;
    spec.collisions.margin_m = 0.04;
    let law = ContactModel::ExponentialSpring(ExponentialSpring::new(holding()).unwrap());
    put(&mut spec, cuboid([0.4, 0.3, 0.2], 6.0, [0.0, 0.0, 0.1]), &law);
    let plant = settled(&model, &spec, ComputePath::Fastest);
    let z = rest_height_m(&changed(), 6.0 * G);
    assert!((plant.state().bodies[0].p_WB.z - (0.1 + z)).abs() < 1e-7, "{z}");
}

/// The left corners have springs of their own: the box tilts to where each carries its load.
#[test]
fn stations_with_different_springs_share_lanes() {
    let (model, mut spec) = box_on_springs(0.8);
    let soft = ExponentialSpring::new(changed()).unwrap();
    let stiff = ExponentialSpring::new(holding()).unwrap();
    for station in &mut spec.stations {
        let is_left = station.p_BS.x < 0.0;
        station.model = ContactModel::ExponentialSpring(if is_left { soft } else { stiff });
    }
    let plant = settled(&model, &spec, ComputePath::Fastest);
    let slow = settled(&model, &spec, ComputePath::OneByOne);
    assert_eq!(plant.state().digest, slow.state().digest);
    let pose = &plant.data().X_WB[0];
    for (x, p) in [(-0.1, changed()), (0.1, holding())] {
        let corner = pose.point(&Vec3::new(x, 0.1, -0.1));
        // the tilt moves 0.6 % of the load from one side to the other
        let z = rest_height_m(&p, 10.0 * G / 4.0);
        assert!((corner.z - z).abs() < 2e-4, "{x}: {} {z}", corner.z);
    }
}

/// Gravity pulls sideways: friction holds stations and shapes until their anchors begin anew, and
/// then again, a stretch farther.
#[test]
fn anchors_that_begin_anew_stretch_nothing() {
    let side_n = 1.0 * 10.0;
    let (model, mut spec) = box_on_springs(0.8);
    spec.gravity_W.x = 1.0;
    let spring = ExponentialSpring::new(holding()).unwrap();
    for station in &mut spec.stations {
        station.model = ContactModel::ExponentialSpring(spring);
    }
    let law = ContactModel::ExponentialSpring(spring);
    let post = bystander().1.collisions;
    spec.collisions = CollisionSpec { shapes: vec![], bodies: vec![], ..post };
    put(&mut spec, cuboid([0.4, 0.3, 0.2], 10.0, [1.0, 0.0, 0.1]), &law);
    let mut plant = settled(&model, &spec, ComputePath::Fastest);
    let elastic_x = |plant: &Plant| {
        let of_stations: f64 = plant.contacts().forces().map(|f| f.friction_elastic_P[0]).sum();
        let points = plant.collisions().points().iter();
        let of_shapes: Vec3 =
            points.map(|p| p.R_WC * (p.spring_force().friction_elastic() * p.weight)).sum();
        (of_stations, of_shapes.x)
    };
    let places = |plant: &Plant| (plant.state().q.p_WB.x, plant.state().bodies[0].p_WB.x);
    let before = places(&plant);
    let (stations_n, shapes_n) = elastic_x(&plant);
    assert!((stations_n + side_n).abs() < 1e-6 && (shapes_n + side_n).abs() < 1e-6);

    (0..plant.contacts().evaluated().len()).for_each(|i| plant.reset_anchor(i));
    plant.reset_shape_anchors(None);
    plant.refresh_contacts();
    let (stations_n, shapes_n) = elastic_x(&plant);
    assert!(stations_n.abs() < 1e-9 && shapes_n.abs() < 1e-9, "{stations_n} {shapes_n}");

    for _ in 0..6000 {
        assert_eq!(plant.step(&[], &OwnerWords::default()), None);
    }
    let (stations_n, shapes_n) = elastic_x(&plant);
    assert!((stations_n + side_n).abs() < 1e-6 && (shapes_n + side_n).abs() < 1e-6);
    // four springs of a station each, or one of a patch, are stretched by the load once more
    let after = places(&plant);
    let kxy = holding().kxy_n_per_m;
    for (moved, stretch) in
        [(after.0 - before.0, side_n / (4.0 * kxy)), (after.1 - before.1, side_n / kxy)]
    {
        assert!((moved / stretch - 1.0).abs() < 1e-4, "{moved} {stretch}");
    }
}
