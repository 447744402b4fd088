//! Regions of the ground with friction of their own: physics, events, state.

use crate::common::WATCHDOG;
use crate::common::robots::{G, box_on_springs, plane};
use hardstand::simulation::Simulation;
use hardstand_physics::contact::{
    ContactMaterial, Friction, HertzPair, HuntCrossley, StationShape,
};
use hardstand_physics::plant::{ContactModel, FrictionRegion, Integrator, PlantSpec, Walk as _};
use hardstand_physics::spatial::{Transform, Vec3};
use hardstand_protocol::{Event, Scope, TickInput};

fn region(name: &str, x_m: [f64; 2], friction: Option<Friction>) -> FrictionRegion {
    let (min_m, max_m) = ([x_m[0], -0.5], [x_m[1], 0.5]);
    FrictionRegion { name: name.into(), surface: 0, min_m, max_m, friction }
}

/// A box of μ 0.4 / 0.3 that slides along x from `x_m` with 3 m/s.
fn sliding_box(x_m: f64, regions: Vec<FrictionRegion>) -> Simulation {
    let (model, mut spec) = box_on_springs(0.4);
    spec.regions = regions;
    spec.q.p_WB.x = x_m;
    spec.v.v_WB.x = 3.0;
    Simulation::new(model, spec, WATCHDOG)
}

fn change(scope: Scope, mu_static: f64, mu_kinetic: f64) -> TickInput {
    let events = vec![Event::Friction { scope, mu_static, mu_kinetic }];
    TickInput { events, ..TickInput::new() }
}

/// Runs until the box has come to `x_m`; its velocity along x and z there, m/s, and the time, s.
fn pass(simulation: &mut Simulation, x_m: f64) -> [f64; 3] {
    while simulation.state().q.p_WB.x < x_m {
        simulation.step(&TickInput::new());
        assert!(
            simulation.failure().is_none() && simulation.state().v.v_WB.x > 0.5,
            "it slides on"
        );
    }
    let v = simulation.state().v.v_WB;
    [v.x, v.z, simulation.state().tick as f64 * 1e-3]
}

/// Kinetic coefficient between two places. Coulomb's law over time, exact even while the box
/// bounces on its springs: `−Δvx = μ (g Δt + Δvz)`.
fn mu_between(simulation: &mut Simulation, from_m: f64, to_m: f64) -> f64 {
    let ([x0, z0, t0], [x1, z1, t1]) = (pass(simulation, from_m), pass(simulation, to_m));
    (x0 - x1) / (G * (t1 - t0) + z1 - z0)
}

fn assert_near(what: &str, mu: f64, expected: f64) {
    assert!((mu - expected).abs() < 1e-9 * expected, "{what}: μ {mu}, expected {expected}");
}

#[test]
fn a_box_is_braked_by_the_friction_of_the_region_that_it_is_on() {
    for integrator in [Integrator::SemiImplicitEuler, Integrator::Rk4] {
        let ice = region("ice", [0.6, 7.5], Some(Friction::new(0.2, 0.1)));
        let (model, mut spec) = box_on_springs(0.4);
        (spec.regions, spec.integrator) = (vec![ice], integrator);
        spec.q.p_WB.x = -2.0;
        spec.v.v_WB.x = 8.0;
        let mut simulation = Simulation::new(model, spec, WATCHDOG);
        assert_near("before", mu_between(&mut simulation, -1.0, 0.49), 0.3);
        assert_near("on the ice", mu_between(&mut simulation, 1.0, 2.5), 0.1);
        // the patch is switched while the box is on it, and again
        simulation.step(&change(Scope::Region(0), 0.6, 0.5));
        assert_near("switched", mu_between(&mut simulation, 2.8, 4.3), 0.5);
        simulation.step(&change(Scope::Region(0), 0.06, 0.05));
        assert_near("switched again", mu_between(&mut simulation, 4.8, 7.3), 0.05);
        assert_near("behind", mu_between(&mut simulation, 7.7, 9.0), 0.3);
    }
}

/// Position and velocity, as bits.
fn motion(simulation: &Simulation) -> [u64; 6] {
    let (p, v) = (simulation.state().q.p_WB, simulation.state().v.v_WB);
    [p.x, p.y, p.z, v.x, v.y, v.z].map(f64::to_bits)
}

#[test]
fn a_region_without_coefficients_changes_nothing_until_it_gets_some() {
    let mut bare = sliding_box(0.0, vec![]);
    let mut with = sliding_box(0.0, vec![region("later", [-9.0, 9.0], None)]);
    for _ in 0..100 {
        bare.step(&TickInput::new());
        with.step(&TickInput::new());
        assert_eq!(motion(&bare), motion(&with));
    }
    with.step(&change(Scope::Region(0), 0.0, 0.0));
    // no such region, no such station: nothing happens
    bare.step(&change(Scope::Region(0), 0.0, 0.0));
    bare.step(&change(Scope::Station(99), 0.0, 0.0));
    assert_near("without", mu_between(&mut bare, 0.4, 0.8), 0.3);
    assert!(mu_between(&mut with, 0.4, 2.0).abs() < 1e-12, "nothing brakes it");
}

/// Shown coefficients of the station `s` against plane `p`.
fn shown(simulation: &Simulation, s: usize, p: usize) -> [f64; 2] {
    let mut snapshot = simulation.new_snapshot();
    simulation.fill(&mut snapshot);
    let contact = &snapshot.contacts.stations[s * simulation.spec().ground.len() + p];
    [contact.mu_static, contact.mu_kinetic]
}

#[test]
fn the_last_region_with_coefficients_counts_and_only_on_its_plane() {
    let (model, mut spec) = box_on_springs(0.4);
    let high =
        Transform::new(hardstand_physics::spatial::Mat3::identity(), Vec3::new(0.0, 0.0, -5.0));
    spec.ground.push(plane(high));
    let other = FrictionRegion {
        surface: 1,
        ..region("below", [-1.0, 1.0], Some(Friction::new(0.9, 0.8)))
    };
    spec.regions = vec![
        region("wide", [-1.0, 1.0], Some(Friction::new(0.2, 0.1))),
        // the stations stand at x = ±0.1: both ends belong to a region
        region("from here", [0.1, 0.2], Some(Friction::new(0.5, 0.25))),
        region("to here", [-0.2, -0.1], Some(Friction::new(0.3, 0.15))),
        region("none", [-1.0, 1.0], None),
        other,
        region("beside", [0.11, 0.2], Some(Friction::new(1.0, 1.0))),
    ];
    let simulation = Simulation::new(model, spec, WATCHDOG);
    assert_eq!([shown(&simulation, 0, 0), shown(&simulation, 1, 0)], [[0.5, 0.25], [0.3, 0.15]]);
    assert_eq!([shown(&simulation, 0, 1), shown(&simulation, 1, 1)], [[0.9, 0.8], [0.9, 0.8]]);
}

#[test]
fn all_stations_are_not_the_regions() {
    let ice = region("ice", [-1.0, 0.0], Some(Friction::new(0.2, 0.1)));
    let mut simulation = sliding_box(0.0, vec![ice]);
    simulation.step(&change(Scope::All, 0.7, 0.6));
    // the corners at x = 0.1 stand beside it, those at −0.1 on it
    let expected = [[0.7, 0.6], [0.2, 0.1], [0.2, 0.1], [0.7, 0.6]];
    assert_eq!([0, 1, 2, 3].map(|s| shown(&simulation, s, 0)), expected);
}

fn two_regions() -> Simulation {
    let ice = region("ice", [-9.0, 9.0], Some(Friction::new(0.2, 0.1)));
    sliding_box(0.0, vec![region("later", [-9.0, 9.0], None), ice])
}

#[test]
fn a_snapshot_keeps_the_regions() {
    let mut whole = two_regions();
    for tick in 0..60 {
        let input = if tick == 30 { change(Scope::Region(1), 0.5, 0.4) } else { TickInput::new() };
        whole.step(&input);
    }
    let words = whole.snapshot_words();
    let mut resumed = two_regions();
    resumed.step(&change(Scope::Region(0), 0.9, 0.9));
    let fresh = resumed.snapshot_words();
    resumed.restore(&words).unwrap();
    assert_eq!(resumed.state(), whole.state());
    assert_eq!(resumed.state().regions, [None, Some(Friction::new(0.5, 0.4))]);
    for tick in 0..100 {
        let later = change(Scope::Region(0), 0.3, 0.3);
        let input = if tick == 50 { later } else { TickInput::new() };
        whole.step(&input);
        resumed.step(&input);
        assert_eq!(resumed.state().digest, whole.state().digest, "tick {tick}");
    }
    // the words are walked under their names: only the coefficients differ
    let mut changed = words.clone();
    let names = whole.word_names();
    let place = |name: &str, i: usize| names.iter().position(|n| *n == (name, i)).unwrap();
    changed[place("region.mu_kinetic", 1)] = 0.45_f64.to_bits();
    let difference = whole.first_difference(&words, &changed).unwrap();
    assert!(difference.starts_with("region.mu_kinetic[1]: 4e-1 and 4.5e-1"), "{difference}");
    let first = place("region.set", 0);
    let kept = &fresh[first..first + 6];
    assert_eq!(
        kept,
        [1, 0.9_f64.to_bits(), 0.9_f64.to_bits(), 1, 0.2_f64.to_bits(), 0.1_f64.to_bits()]
    );
}

#[test]
fn after_a_fault_the_regions_are_those_of_the_last_good_state() {
    let mut simulation = two_regions();
    simulation.step(&change(Scope::Region(1), 0.5, 0.4));
    let mut bad = change(Scope::Region(1), 0.9, 0.8);
    let force_W = [f64::NAN, 0.0, 0.0];
    bad.events.push(Event::Push { body: 0, point_B: [0.0; 3], force_W, ticks: 1 });
    simulation.step(&bad);
    assert!(simulation.failure().is_some());
    assert_eq!(simulation.state().regions, [None, Some(Friction::new(0.5, 0.4))]);
}

#[test]
fn a_changed_region_shows_in_the_digest_at_once() {
    let far = || region("far", [80.0, 90.0], Some(Friction::new(0.2, 0.1)));
    let (mut a, mut b) = (sliding_box(0.0, vec![far()]), sliding_box(0.0, vec![far()]));
    a.step(&TickInput::new());
    b.step(&change(Scope::Region(0), 0.2, 0.1));
    assert_eq!(a.state().digest, b.state().digest, "the same coefficients");
    a.step(&TickInput::new());
    b.step(&change(Scope::Region(0), 0.3, 0.1));
    assert_eq!(motion(&a), motion(&b));
    assert_ne!(a.state().digest, b.state().digest);
}

#[test]
fn names_of_regions_are_part_of_the_layout() {
    let (model, spec) = box_on_springs(0.4);
    let hash = |names: &[&str]| {
        let regions = names.iter().map(|n| region(n, [0.0, 1.0], None)).collect();
        Simulation::new(model.clone(), PlantSpec { regions, ..spec.clone() }, WATCHDOG)
            .layout_hash()
    };
    assert_ne!(hash(&["a"]), hash(&[]));
    assert_ne!(hash(&["a", "b"]), hash(&["b", "a"]));
    assert_eq!(hash(&["a"]), hash(&["a"]));
}

/// The other contact models look at the region, too.
#[test]
fn rigid_and_hertz_feet_feel_the_region() {
    let rubber = ContactMaterial::new(1e8, 0.5, 0.4, 0.3, 0.0).unwrap();
    let pair = HertzPair::new(&rubber, &rubber).unwrap();
    let hertz = ContactModel::HuntCrossley(vec![HuntCrossley::new(pair, 0.01).unwrap()]);
    for (model, tolerance) in [(ContactModel::Rigid, 1e-6), (hertz, 2e-3)] {
        let ice = region("ice", [0.6, 7.5], Some(Friction::new(0.2, 0.1)));
        let (robot, mut spec) = box_on_springs(0.4);
        spec.regions = vec![ice];
        for s in &mut spec.stations {
            if model != ContactModel::Rigid {
                s.shape = StationShape::Sphere { radius_m: 0.02 };
                s.p_BS *= 0.8;
            }
            s.model = model.clone();
        }
        spec.q.p_WB = Vec3::new(-2.0, 0.0, 0.1);
        spec.v.v_WB.x = 8.0;
        let mut simulation = Simulation::new(robot, spec, WATCHDOG);
        let mut near = |from_m: f64, to_m: f64, mu: f64| {
            let found = mu_between(&mut simulation, from_m, to_m);
            assert!((found - mu).abs() < tolerance, "{model:?}: {found}, expected {mu}");
        };
        near(-1.0, 0.45, 0.3);
        near(1.0, 2.5, 0.1);
        simulation.step(&change(Scope::Region(0), 0.6, 0.5));
        let found = mu_between(&mut simulation, 2.8, 4.3);
        assert!((found - 0.5).abs() < tolerance, "{model:?}: {found} after the change");
    }
}
