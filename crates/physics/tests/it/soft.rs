//! Soft ground, against closed forms.

use hardstand_physics::contact::{
    ExponentialSpring, Friction, Prints, SoftGround, SpringParameters, Stiction,
};
use hardstand_physics::dynamics::{Velocities, kinetic_energy, potential_energy};
use hardstand_physics::plant::{ContactModel, Integrator, OwnerWords, Plant, PlantSpec, Walk};
use hardstand_physics::spatial::Vec3;

use super::common::robots::{G, box_on_springs};

const SINK: f64 = 3000.0;
const REBOUND: f64 = 8.0;
const MASS_KG: f64 = 10.0;
/// Of the four stations under the box, N/m.
const SUM: f64 = 4.0 * SINK;

/// The box of 10 kg on its four lower stations, `height_m` above soft ground.
fn above_sand(height_m: f64, dissipation: f64) -> (hardstand_physics::model::Model, PlantSpec) {
    let (model, mut spec) = box_on_springs(0.8);
    let holding = SpringParameters { stiction: Stiction::Holding, ..Default::default() };
    let spring = ContactModel::ExponentialSpring(ExponentialSpring::new(holding).unwrap());
    spec.stations.iter_mut().for_each(|s| s.model = spring.clone());
    spec.ground[0].soft = Some(SoftGround::new(SINK, REBOUND, dissipation, 0.05).unwrap());
    spec.micro_steps = 20;
    spec.q.p_WB.z = 0.1 + height_m;
    (model, spec)
}

fn run(plant: &mut Plant, ticks: u32) {
    for _ in 0..ticks {
        assert_eq!(plant.step(&[], &OwnerWords::default()), None, "tick {}", plant.state().tick);
    }
}

fn depth_m(plant: &Plant) -> f64 {
    0.1 - plant.state().q.p_WB.z
}

/// Overdamped, so that it does not go deeper than its weight presses it.
#[test]
fn a_box_sinks_in_until_the_ground_carries_it() {
    let (model, spec) = above_sand(0.0, 50.0);
    let mut plant = Plant::new(model, spec);
    run(&mut plant, 8000);
    let sunk_m = MASS_KG * G / SUM;
    assert!((depth_m(&plant) / sunk_m - 1.0).abs() < 1e-4, "{} {sunk_m}", depth_m(&plant));
}

/// m g (h + s) = k s² / 2, and the rest is on the steep branch.
#[test]
fn a_falling_box_digs_as_deep_as_its_energy() {
    for integrator in [Integrator::SemiImplicitEuler, Integrator::LinearlyImplicit] {
        let height_m = 0.05;
        let (model, mut spec) = above_sand(height_m, 0.0);
        spec.integrator = integrator;
        let weight_n = MASS_KG * G;
        let deepest_m =
            (weight_n + (weight_n * weight_n + 2.0 * SUM * weight_n * height_m).sqrt()) / SUM;
        let mut plant = Plant::new(model, spec);
        let mut most_m = 0.0_f64;
        for _ in 0..2000 {
            run(&mut plant, 1);
            most_m = most_m.max(depth_m(&plant));
        }
        assert!((most_m / deepest_m - 1.0).abs() < 1e-3, "{most_m} {deepest_m}");
        // undamped, it goes on bouncing in its print: the mean is where the print carries it
        let bottom_m = deepest_m * (1.0 - 1.0 / REBOUND);
        let (mut sum, mut least_m) = (0.0, f64::MAX);
        for _ in 0..2000 {
            run(&mut plant, 1);
            sum += depth_m(&plant) / 2000.0;
            least_m = least_m.min(depth_m(&plant));
        }
        let rest_m = bottom_m + weight_n / (REBOUND * SUM);
        assert!(sum < rest_m + 1e-4 && sum > bottom_m - height_m / REBOUND, "{sum} {rest_m}");
        // of the work of the way in, the share 1 / ρ lifts it: m g (s − x) = k s² / 2 ρ
        let lifted_m = 0.5 * SUM * deepest_m * deepest_m / REBOUND / weight_n;
        assert!((deepest_m - least_m) / lifted_m < 1.001, "{least_m} {lifted_m}");
    }
}

/// It is lifted, and put down in its print, beside it and far away.
#[test]
fn a_print_stays_where_it_was_made() {
    let (model, mut spec) = above_sand(0.02, 5.0);
    spec.gravity_W.z = -3.0 * G;
    let mut plant = Plant::new(model.clone(), spec.clone());
    run(&mut plant, 1500);
    let deepest_m = depth_m(&plant);
    let lightest = {
        spec.gravity_W.z = -0.1 * G;
        spec
    };
    let again = |x: f64| {
        let mut lighter = Plant::new(model.clone(), lightest.clone());
        let mut words = Vec::new();
        plant.clone().state_mut().append_words(&mut words);
        lighter.state_mut().overwrite(words.into_iter());
        let state = lighter.state_mut();
        (state.q.p_WB.x, state.q.p_WB.z) = (state.q.p_WB.x + x, 0.1 + 1e-3);
        state.v = Velocities::zero(&model);
        lighter.wake();
        run(&mut lighter, 6000);
        depth_m(&lighter)
    };
    let weight_n = 0.1 * MASS_KG * G;
    let bowl = 1.0 - (0.02 / 0.05) * (0.02 / 0.05);
    let (here, beside, far) = (again(0.0), again(0.02), again(0.2));
    let bottom_m = |deepest_m: f64| deepest_m * (1.0 - 1.0 / REBOUND);
    // where the print was left by the heavier box it was a little deeper than at rest
    let carried_m = weight_n / (REBOUND * SUM);
    assert!(here - carried_m >= bottom_m(deepest_m) - 1e-4, "{here} {deepest_m}");
    assert!(here < deepest_m, "{here} {deepest_m}");
    let expected_m = (here - carried_m) * bowl + carried_m;
    assert!((beside - expected_m).abs() < 2e-4, "{beside} {expected_m}");
    assert!(far < 0.3 * here && far >= weight_n / SUM - 1e-6, "{far} {here}");
}

/// What is lost is what the ground says that it takes.
#[test]
fn the_ground_takes_energy_and_gives_none() {
    let (model, mut spec) = above_sand(0.1, 1.0);
    spec.v.v_WB = Vec3::new(0.5, 0.0, -1.0);
    spec.v.w_WB = Vec3::new(0.0, 3.0, 1.0);
    (spec.period_ns, spec.micro_steps) = (50_000, 1);
    let mut plant = Plant::new(model, spec);
    let energy_j = |plant: &Plant| {
        kinetic_energy(plant.model(), plant.data(), &plant.state().v)
            + potential_energy(plant.model(), plant.data(), &plant.spec().gravity_W)
            + plant.contacts().potential_energy()
    };
    let (start_j, mut taken_j, mut least_j) = (energy_j(&plant), 0.0, f64::MAX);
    let power_w =
        |plant: &Plant| plant.contacts().forces().map(|f| f.power_dissipation_w).sum::<f64>();
    for _ in 0..30_000 {
        let before_w = power_w(&plant);
        run(&mut plant, 1);
        taken_j += 0.5 * (before_w + power_w(&plant)) * 5e-5;
        let now_j = energy_j(&plant);
        assert!(now_j <= least_j + 1e-2, "{now_j} {least_j}");
        least_j = least_j.min(now_j);
    }
    let lost_j = start_j - energy_j(&plant);
    assert!((taken_j / lost_j - 1.0).abs() < 0.02, "{taken_j} {lost_j}");
}

/// A box that three times its weight has pressed into the ground, without gravity and friction, at
/// this depth and with this velocity.
fn pressed(x_m: f64, depth_m: impl Fn(f64) -> f64, v: Vec3) -> Plant {
    let (model, mut spec) = above_sand(0.02, 5.0);
    spec.stations.iter_mut().for_each(|s| s.friction = Friction::NONE);
    spec.gravity_W.z = -3.0 * G;
    let mut plant = Plant::new(model.clone(), spec.clone());
    run(&mut plant, 1500);
    let mut words = Vec::new();
    plant.state_mut().append_words(&mut words);
    spec.gravity_W.z = 0.0;
    let mut weightless = Plant::new(model.clone(), spec);
    weightless.state_mut().overwrite(words.into_iter());
    let state = weightless.state_mut();
    state.q.p_WB.x += x_m;
    state.q.p_WB.z = 0.1 - depth_m(0.1 - state.q.p_WB.z);
    state.v = Velocities::zero(&model);
    state.v.v_WB = v;
    weightless.wake();
    weightless
}

/// An unloaded foot that is dragged out of its print ploughs, and is not pushed up.
#[test]
fn a_print_does_not_push_a_foot_that_is_dragged_out_of_it() {
    // at the bottom of a print, less than its depth, and at half of it
    for share in [1.0 - 1.0 / REBOUND - 1e-3, 0.5] {
        let mut plant = pressed(0.0, |deepest_m| share * deepest_m, Vec3::x());
        for _ in 0..200 {
            run(&mut plant, 1);
            let stored_j = plant.contacts().potential_energy();
            let v = plant.state().v.v_WB;
            assert!(stored_j < 1e-9 && v.z.abs() < 1e-9, "{share}: {stored_j} J {v:?}");
        }
    }
}

/// Dragged sideways under load, in its print and out of it, a foot gains nothing from the ground.
#[test]
fn no_energy_comes_from_dragging_a_loaded_foot() {
    for x_m in [0.0, 0.01, -0.03] {
        let mut plant = pressed(x_m, |deepest_m| 0.95 * deepest_m, Vec3::x());
        let energy_j = |plant: &Plant| {
            kinetic_energy(plant.model(), plant.data(), &plant.state().v)
                + plant.contacts().potential_energy()
        };
        let mut least_j = energy_j(&plant);
        for _ in 0..200 {
            run(&mut plant, 1);
            let now_j = energy_j(&plant);
            assert!(now_j < least_j + 1e-5, "{x_m}: {now_j} {least_j}");
            least_j = least_j.min(now_j);
        }
    }
}

/// A foot that steps beside its print and a little less deep leaves the print as it was.
#[test]
fn a_shallow_print_does_not_fill_a_deep_one() {
    let ground = SoftGround::new(SINK, REBOUND, 0.0, 0.05).unwrap();
    let depth_m = |prints: &Prints, x: f64| prints.depth_m(&ground, &Vec3::new(x, 0.0, 0.0));
    let mut prints = Prints::default();
    prints.press(&ground, 0.02, &Vec3::zeros());
    for (beside_m, deep_m) in [(0.015, 0.0195), (0.03, 0.015), (0.045, 0.01), (0.2, 0.005)] {
        prints.press(&ground, deep_m, &(Vec3::x() * beside_m));
        assert_eq!(depth_m(&prints, 0.0), 0.02, "{beside_m}");
    }
    assert_eq!((depth_m(&prints, 0.03), depth_m(&prints, 0.2)), (0.015, 0.005));
    // a deeper one at the same place takes its place
    prints.press(&ground, 0.03, &Vec3::zeros());
    assert_eq!(depth_m(&prints, 0.0), 0.03);
}
