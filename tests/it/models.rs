//! The same robot and controller on every contact model, and on a mix of them.

use crate::common::scene::{Standing, quadruped};
use hardstand_physics::plant::ContactModel;
use hardstand_physics::spatial::Vec3;
use hardstand_protocol::Event;

const SPRING: &str = "contact.model=exponential_spring";
const HERTZ: &str = "contact.model=hunt_crossley";
const RIGID: &str = "contact.model=rigid";
const ALL: [&[&str]; 4] =
    [&[SPRING], &[HERTZ], &[RIGID], &[SPRING, "feet.0.model=rigid", "feet.3.model=hunt_crossley"]];

/// Drops the robot from 2 cm.
fn dropped(sets: &[&str]) -> Standing {
    let mut all = vec!["initial.clearance_m=0.02"];
    all.extend(sets);
    Standing::new(&quadruped(&all))
}

/// 60 N sideways for 0.15 s.
fn push(standing: &mut Standing) {
    let (point_B, force_W) = ([0.0; 3], [0.0, 60.0, 0.0]);
    standing.events.push(Event::Push { body: 0, point_B, force_W, ticks: 150 });
}

#[test]
fn it_stands_is_pushed_and_recovers_on_every_model() {
    for sets in ALL {
        let mut s = dropped(sets);
        s.run(2_000);
        let before = s.simulation.state().q.p_WB;
        push(&mut s);
        s.run(100);
        assert!(s.simulation.state().v.v_WB.y > 0.03, "{sets:?}: the push moves it");
        s.run(3_000);
        let (q, v) = (&s.simulation.state().q, &s.simulation.state().v);
        let up = q.quat_WB.to_matrix()[(2, 2)];
        println!("{sets:?}: height {:.4} m, tilt cos {up:.6}", q.p_WB.z);
        assert!(up > 0.999 && (q.p_WB.z - before.z).abs() < 5e-3, "{sets:?}: {q:?}");
        assert!(v.v_WB.norm() < 0.02, "{sets:?}: still moving {}", v.v_WB);
    }
}

#[test]
fn every_foot_has_a_record_that_carries_its_share() {
    for sets in ALL {
        let mut s = dropped(sets);
        s.run(8_000);
        let mut snapshot = s.simulation.new_snapshot();
        s.simulation.fill(&mut snapshot);
        let weight_n = 9.81 * s.simulation.model().total_mass();
        let feet = &snapshot.contacts.feet;
        let carried: f64 = feet.iter().map(|f| f.force_world_n[2]).sum();
        assert!((carried / weight_n - 1.0).abs() < 2e-3, "{sets:?}: {carried} N of {weight_n}");
        for (foot, at) in feet.iter().zip(s.foot_contacts()) {
            assert_eq!(foot.contact, 1);
            // one contact: its own point, no moment left
            let point = Vec3::from(foot.point_world_m);
            assert!((point - at.touch.point_W).norm() < 1e-12);
            assert_eq!(foot.moment_world_nm, [0.0; 3]);
            let force = Vec3::from(foot.force_world_n);
            assert!((force - at.record_W().force).norm() < 1e-12);
            // world and foot axes show one force
            assert!((Vec3::from(foot.force_foot_n).norm() - force.norm()).abs() < 1e-9);
        }
    }
}

#[test]
fn runs_repeat_and_snapshots_continue_with_the_same_bits() {
    for sets in ALL {
        let (mut a, mut b) = (dropped(sets), dropped(sets));
        push(&mut a);
        push(&mut b);
        a.run(400);
        b.run(400);
        assert_eq!(a.simulation.state().digest, b.simulation.state().digest, "{sets:?}");
        let words = a.simulation.snapshot_words();
        let mut c = dropped(sets);
        c.simulation.restore(&words).unwrap();
        let readings = |s: &Standing| {
            let mut out = s.simulation.new_snapshot();
            s.simulation.fill(&mut out);
            out.contacts
        };
        assert_eq!(readings(&a), readings(&c), "{sets:?}: forces are shown as they were");
        a.run(400);
        c.run(400);
        assert_eq!(a.simulation.state().digest, c.simulation.state().digest, "{sets:?}");
    }
}

/// A clone has all the room that the loop needs, whenever it is taken.
#[test]
fn a_clone_takes_the_same_steps() {
    for sets in ALL {
        for ticks in [1, 600] {
            let mut a = dropped(sets);
            a.run(ticks);
            let mut b = dropped(sets);
            b.run(ticks);
            b.simulation = b.simulation.clone();
            a.run(300);
            b.run(300);
            assert_eq!(
                a.simulation.state().digest,
                b.simulation.state().digest,
                "{sets:?}, {ticks}"
            );
        }
    }
}

/// Before the first tick the robot that was put on the ground stands there, and says so.
#[test]
fn a_robot_that_is_put_on_the_ground_is_not_in_flight() {
    for sets in &ALL[..3] {
        let simulation = quadruped(sets).simulation();
        let mut snapshot = simulation.new_snapshot();
        simulation.fill(&mut snapshot);
        let carried: f64 = snapshot.state.foot_normal_n.iter().sum();
        let weight_n = 9.81 * simulation.model().total_mass();
        assert!((carried / weight_n - 1.0).abs() < 1e-3, "{sets:?}: {carried} N of {weight_n}");
        assert_eq!(snapshot.state.foot_contact, [1; 4], "{sets:?}");
    }
}

#[test]
fn each_foot_has_the_model_that_it_asks_for() {
    let s = quadruped(&["contact.model=hunt_crossley", "feet.1.model=rigid"]);
    let model = |foot: usize| &s.spec.stations[s.spec.feet[foot].stations[0]].model;
    assert!(matches!(model(0), ContactModel::HuntCrossley(laws) if laws.len() == 1));
    assert_eq!(*model(1), ContactModel::Rigid);
}

/// The energy that contacts say they store and dissipate is the energy that the robot loses.
#[test]
fn the_record_of_power_balances_the_energy() {
    for sets in ALL {
        // a limp robot falls and lies down: joint damping is the only other loss
        let mut all = vec![
            "initial.clearance_m=0.02",
            "joints.*={friction=0.0, damping=0.0}",
            "end_stops.time_constant_s=0.05",
        ];
        all.extend(sets);
        // every step is seen: a rigid impact is over in one
        let mut scenario = quadruped(&all);
        (scenario.spec.period_ns, scenario.spec.micro_steps) = (10_000, 1);
        let mut s = Standing::new(&scenario);
        s.gains = [0.0, 0.0];
        let (start_j, mut lost_j) = (energy(&s), 0.0);
        for _ in 0..15_000 {
            s.run(1);
            let power: f64 = s.simulation.contacts().forces().map(|f| f.power_dissipation_w).sum();
            lost_j += power * 1e-5;
        }
        let missing = start_j - energy(&s) - lost_j;
        println!("{sets:?}: {start_j} J at the start, {lost_j} J lost, {missing} J unexplained");
        assert!(lost_j > 0.1, "{sets:?}: it must land: {lost_j} J");
        assert!(missing.abs() < 0.02 * lost_j, "{sets:?}: {missing} of {lost_j} J unexplained");
    }
}

fn energy(s: &Standing) -> f64 {
    use hardstand_physics::dynamics::{kinetic_energy, potential_energy};
    let (simulation, spec) = (&s.simulation, s.simulation.spec());
    kinetic_energy(simulation.model(), simulation.data(), &simulation.state().v)
        + potential_energy(simulation.model(), simulation.data(), &spec.gravity_W)
        + simulation.contacts().potential_energy()
}
