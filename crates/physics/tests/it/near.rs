//! More stations times surfaces than there is room for: near ones take the places.

use hardstand_physics::contact::{
    ExponentialSpring, SoftGround, SpringParameters, Stiction, Surface, SurfaceShape, stairs,
};
use hardstand_physics::limits::STATIONS_MAX;
use hardstand_physics::model::Model;
use hardstand_physics::plant::{ContactModel, OwnerWords, Plant, PlantSpec, Walk};
use hardstand_physics::spatial::Vec3;

use super::common::robots::{G, box_on_springs};

const STEPS: usize = 24;

/// The box of 10 kg over a flight of stairs beside the plane.
fn on_stairs(steps: usize, x: f64, height_m: f64) -> (Model, PlantSpec) {
    let (model, mut spec) = box_on_springs(0.8);
    let holding =
        SpringParameters { stiction: Stiction::Holding, cz_s_per_m: 2.0, ..Default::default() };
    let spring = ContactModel::ExponentialSpring(ExponentialSpring::new(holding).unwrap());
    spec.stations.iter_mut().for_each(|s| s.model = spring.clone());
    for (i, (X_WS, step)) in stairs(steps, 0.1, 0.4, 2.0, 0.01).unwrap().into_iter().enumerate() {
        let shape = SurfaceShape::Solid(step);
        spec.ground.push(Surface { shape, ..Surface::plane(&format!("step {i}"), X_WS) });
    }
    spec.q.p_WB = Vec3::new(x, 0.0, height_m);
    (model, spec)
}

fn run(plant: &mut Plant, ticks: u32) {
    for _ in 0..ticks {
        assert_eq!(plant.step(&[], &OwnerWords::default()), None, "tick {}", plant.state().tick);
    }
}

fn up_n(plant: &Plant) -> f64 {
    plant.contacts().evaluated().iter().map(|at| at.record_W().force.z).sum()
}

/// A box falls onto the 24th tread, and onto the plane before the flight.
#[test]
fn a_box_rests_on_any_of_many_steps() {
    for (x, ground_m, is_rigid) in
        [(0.4 * 23.5, 2.4, false), (-0.5, 0.0, false), (0.4 * 23.5, 2.4, true)]
    {
        let (model, mut spec) = on_stairs(STEPS, x, ground_m + 0.15);
        if is_rigid {
            spec.stations.iter_mut().for_each(|s| s.model = ContactModel::Rigid);
        }
        assert!(spec.stations.len() * spec.ground.len() > STATIONS_MAX);
        assert_eq!(spec.places(), STATIONS_MAX / 8);
        let mut plant = Plant::new(model, spec);
        run(&mut plant, 4000);
        assert!((up_n(&plant) - 10.0 * G).abs() < 1e-3, "{}", up_n(&plant));
        let z = plant.state().q.p_WB.z - ground_m;
        let hovers_m = if is_rigid { 1e-9 } else { 0.006 };
        assert!((-1e-9..hovers_m).contains(&(z - 0.1)), "{z}");
    }
}

/// A place that no surface has taken holds nothing up, however fast a body falls past it.
#[test]
fn a_rigid_box_far_from_all_surfaces_falls_freely() {
    let (model, mut spec) = on_stairs(STEPS, -20.0, 30.0);
    spec.stations.iter_mut().for_each(|s| s.model = ContactModel::Rigid);
    (spec.micro_steps, spec.v.v_WB) = (1, Vec3::new(0.0, 0.0, -15.0));
    let mut plant = Plant::new(model, spec);
    run(&mut plant, 100);
    let (v, falls) = (plant.state().v.v_WB.z, -15.0 - 0.1 * G);
    assert!((v - falls).abs() < 1e-9, "{v} instead of {falls}");
}

/// With few steps all surfaces have a contact; with many, far ones have none. Both give the same
/// motion where a spring at a distance gives less than a thousandth of d₁.
#[test]
fn near_surfaces_move_a_box_as_all_do() {
    let end = |steps: usize| {
        let (model, mut spec) = on_stairs(steps, 0.75, 0.42);
        spec.v.v_WB = Vec3::new(-0.4, 0.0, 0.0);
        let mut plant = Plant::new(model, spec);
        run(&mut plant, 600);
        (plant.state().q.p_WB, plant.state().q.quat_WB.to_matrix() * Vec3::x())
    };
    // the first three steps of either flight begin alike
    let (few, many) = (end(3), end(STEPS));
    assert!((few.0 - many.0).norm() < 2e-3, "{few:?} {many:?}");
    assert!((few.1 - many.1).norm() < 2e-2, "{few:?} {many:?}");
}

/// A box tumbles down; a snapshot in between goes on to the bit. So it does where every second step
/// is soft and remembers prints.
#[test]
fn places_that_change_hands_are_part_of_the_state() {
    tumble(false);
    tumble(true);
}

fn tumble(on_soft_steps: bool) {
    let (model, mut spec) = on_stairs(STEPS, 6.0, 1.9);
    if on_soft_steps {
        let sand = SoftGround::new(9000.0, 5.0, 0.5, 0.05).unwrap();
        spec.ground.iter_mut().step_by(2).for_each(|s| s.soft = Some(sand));
    }
    spec.v.v_WB = Vec3::new(-1.5, 0.0, 0.0);
    spec.v.w_WB = Vec3::new(0.0, -4.0, 0.0);
    let mut plant = Plant::new(model.clone(), spec.clone());
    let surfaces = |plant: &Plant| -> Vec<Option<usize>> {
        plant.contacts().evaluated().iter().map(|at| at.surface).collect()
    };
    run(&mut plant, 150);
    let count = plant.state_mut().word_count();
    let (mut words, before) = (Vec::new(), surfaces(&plant));
    plant.state_mut().append_words(&mut words);
    let digest = plant.state().digest;
    run(&mut plant, 1500);
    let changed = surfaces(&plant).iter().zip(&before).filter(|(a, b)| a != b).count();
    assert_eq!(plant.state_mut().word_count(), count);
    assert!(changed >= 4 && plant.state().q.p_WB.x < 5.5, "{changed} {:?}", plant.state().q.p_WB);

    let mut other = Plant::new(model, spec);
    run(&mut other, 40);
    other.state_mut().overwrite(words.into_iter());
    other.state_mut().digest = digest;
    other.wake();
    assert_eq!(surfaces(&other), before);
    run(&mut other, 1500);
    assert_eq!(other.state().digest, plant.state().digest);
}

/// 48 stations and 100 steps: 4848 candidates, of which few are near.
#[test]
fn few_of_many_candidates_are_evaluated() {
    let (model, mut spec) = on_stairs(100, 0.4 * 60.5, 6.25);
    let bottom = spec.stations[0].clone();
    spec.stations = (0..48)
        .map(|i| {
            let mut station = bottom.clone();
            station.name = format!("s{i}");
            station.p_BS.x = -0.1 + 0.2 * f64::from(i % 12) / 11.0;
            station.p_BS.y = -0.1 + 0.2 * f64::from(i / 12) / 3.0;
            station
        })
        .collect();
    spec.feet[0].stations = (0..48).collect();
    assert_eq!((spec.stations.len() * spec.ground.len(), spec.places()), (4848, 4));
    let mut plant = Plant::new(model, spec);
    run(&mut plant, 4000);
    let near = plant.contacts().evaluated().iter().filter(|at| at.surface.is_some()).count();
    assert!((48..=96).contains(&near), "{near}");
    assert!((up_n(&plant) - 10.0 * G).abs() < 1e-3, "{}", up_n(&plant));
    let z = plant.state().q.p_WB.z - 6.1;
    assert!((0.1..0.108).contains(&z), "{z}");
}
