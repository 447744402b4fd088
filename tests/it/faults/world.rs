//! Payload, friction and pushes.

use crate::common::{AT_ONCE, WATCHDOG};
use hardstand::simulation::Simulation;
use hardstand_physics::contact::Friction;
use hardstand_physics::dynamics::Limbs;
use hardstand_physics::plant::Walk;
use hardstand_physics::plant::{ComputePath, Integrator};
use hardstand_physics::spatial::Vec3;
use hardstand_protocol::{Event, FaultKind, JointCommand, Part};

use super::{
    LENGTH_M, MASS_KG, MEND_ALL, PERIOD_S, broken, lasting, motion, once, pendulum_plant,
    quadruped, shown, stand, tick,
};
use crate::common::bench;
use crate::common::robots::{G, walker};

fn load(body: u32, mass_kg: f64, [x, y, z]: [f64; 3]) -> Event {
    broken(FaultKind::Payload, Part::Body(body), &[mass_kg, x, y, z])
}

#[test]
fn feet_carry_the_payload() {
    let mut simulation = quadruped();
    let feet = |simulation: &Simulation| shown(simulation).state.foot_normal_n.iter().sum::<f64>();
    let own = simulation.model().total_mass() * G;
    let settle = |simulation: &mut Simulation, events: &[Event]| {
        for n in 0..2000 {
            stand(simulation, once(n == 0, events));
        }
    };
    settle(&mut simulation, &[]);
    assert!((feet(&simulation) - own).abs() < 0.1, "{}", feet(&simulation));
    settle(&mut simulation, &[load(0, 3.0, [0.05, 0.0, 0.08])]);
    assert!((feet(&simulation) - own - 3.0 * G).abs() < 0.1, "{} {own}", feet(&simulation));
    let front: f64 = shown(&simulation).state.foot_normal_n[..2].iter().sum();
    settle(&mut simulation, &[load(0, 3.0, [-0.05, 0.0, 0.08])]);
    let behind: f64 = shown(&simulation).state.foot_normal_n[..2].iter().sum();
    assert!((feet(&simulation) - own - 3.0 * G).abs() < 0.1, "it has given way to the new one");
    assert!(front > behind + 1.0, "{front} {behind}");
    settle(&mut simulation, &[MEND_ALL]);
    assert!((feet(&simulation) - own).abs() < 0.1, "{}", feet(&simulation));
}

#[test]
fn a_payload_is_inert() {
    let effort = [JointCommand { tau_ff: 5.0, ..Default::default() }];
    let inertia = MASS_KG * LENGTH_M * LENGTH_M;
    for path in [ComputePath::Fastest, ComputePath::OneByOne] {
        let mut simulation = pendulum_plant(0.0);
        simulation.set_path(path);
        let far = [0.3, 0.7, -0.4]; // 0.5 m from the axis
        tick(&mut simulation, &effort, &[load(1, 4.0, far)]);
        let expected = 5.0 / (inertia + 4.0 * 0.25) * PERIOD_S;
        let got = simulation.state().v.joints[0];
        assert!((got - expected).abs() < 1e-9 * expected, "{got} {expected}");
        // what is taken away takes its momentum along: the speed stays
        tick(&mut simulation, &effort, &[MEND_ALL]);
        let more = simulation.state().v.joints[0] - got;
        assert!((more - 5.0 / inertia * PERIOD_S).abs() < 1e-9, "{more}");
    }
}

#[test]
fn what_falls_freely_falls_the_same_with_a_payload_on_its_trunk() {
    let (model, mut spec) = walker();
    spec.q.p_WB.z = 5.0;
    let mut simulation = Simulation::new(model, spec, WATCHDOG);
    let (m, p) = (simulation.model().total_mass(), [0.1, -0.2, 0.05]);
    let idle = vec![JointCommand::default(); simulation.model().joint_count()];
    tick(&mut simulation, &idle, &[load(0, 2.0, p)]);
    for _ in 1..100 {
        tick(&mut simulation, &idle, &[]);
    }
    assert!((simulation.model().total_mass() - m - 2.0).abs() < 1e-12);
    let v = simulation.state().v.v_WB;
    assert!((v - Vec3::new(0.0, 0.0, -0.1 * G)).norm() < 1e-9, "{v}");
    assert!(simulation.state().v.w_WB.norm() < 1e-9, "and it does not turn");
}

/// Loads on trunk and limbs, weak motors and bad encoders on equal limbs: all ways of computing
/// give the same bits, with every integrator and contact law.
#[test]
fn faults_are_the_same_side_by_side_and_one_by_one() {
    let (model, spec) = walker();
    assert!(!Limbs::find(&model).groups.is_empty(), "there are limbs to be taken side by side");
    let scene = |n: u64| match n {
        5 => vec![load(0, 2.0, [0.1, 0.0, 0.1]), load(2, 0.5, [0.0, 0.02, -0.1])],
        20 => vec![load(6, 0.3, [0.0, 0.0, -0.1])],
        30 => vec![lasting(FaultKind::MotorDerated, Part::Joint(4), &[0.3], 40)],
        40 => vec![broken(FaultKind::EncoderStuck, Part::Joint(2), &[])],
        50 => vec![broken(FaultKind::EncoderNoise, Part::Whole, &[0.01, 5.0])],
        60 => vec![lasting(FaultKind::BatterySag, Part::Whole, &[0.6], 50)],
        130 => {
            vec![Event::ClearFaults { kind: Some(FaultKind::Payload), part: Some(Part::Body(2)) }]
        }
        150 => vec![MEND_ALL],
        _ => vec![],
    };
    let sway = |t: u64| 0.05 * ((t % 40) as f64 / 20.0 - 1.0);
    for integrator in [Integrator::SemiImplicitEuler, Integrator::LinearlyImplicit] {
        let run = |path: ComputePath| {
            let mut spec = spec.clone();
            spec.integrator = integrator;
            let mut simulation = Simulation::new(model.clone(), spec, AT_ONCE);
            simulation.set_path(path);
            let digest = |n: u64| {
                let hold = |i: usize| JointCommand {
                    q: if i % 3 == 2 { 0.0 } else { sway(n) },
                    kp: if i % 3 == 2 { 4000.0 } else { 60.0 },
                    kd: if i % 3 == 2 { 100.0 } else { 1.5 },
                    ..Default::default()
                };
                let joints: Vec<JointCommand> =
                    (0..simulation.model().joint_count()).map(hold).collect();
                tick(&mut simulation, &joints, &scene(n));
                simulation.state().digest
            };
            (0..200).map(digest).collect::<Vec<u64>>()
        };
        let one = run(ComputePath::OneByOne);
        assert!(run(ComputePath::Fastest) == one, "{integrator:?}");
        assert!(run(ComputePath::Portable) == one, "{integrator:?}");
    }
}

#[test]
fn rigid_feet_carry_the_payload_too() {
    let mut simulation =
        bench::quadruped(&["contact.model=rigid", "command.proof_commands=1"]).simulation();
    let own = simulation.model().total_mass() * G;
    for n in 0..1500 {
        stand(&mut simulation, once(n == 0, &[load(0, 5.0, [0.0; 3])]));
    }
    let feet: f64 = shown(&simulation).state.foot_normal_n.iter().sum();
    assert!((feet - own - 5.0 * G).abs() < 0.02 * own, "{feet} {own}");
}

fn coefficients(simulation: &Simulation) -> Vec<Friction> {
    simulation.contacts().evaluated().iter().map(|at| at.friction).collect()
}

#[test]
fn friction_comes_back_when_the_fault_is_over() {
    let mut simulation = quadruped();
    let before = coefficients(&simulation);
    let slippery = lasting(FaultKind::Friction, Part::Foot(2), &[0.1, 0.05], 20);
    let icy = lasting(FaultKind::Friction, Part::Whole, &[0.3, 0.2], 10);
    stand(&mut simulation, &[icy, slippery]);
    let foot = simulation.spec().feet[2].stations[0];
    let during = coefficients(&simulation);
    assert_eq!(during[foot], Friction::new(0.1, 0.05));
    assert_eq!(during.iter().filter(|f| **f == Friction::new(0.3, 0.2)).count(), before.len() - 1);
    for _ in 0..10 {
        stand(&mut simulation, &[]);
    }
    let later = coefficients(&simulation);
    assert_eq!(later[foot], Friction::new(0.1, 0.05), "that one goes on");
    assert_eq!(later[..foot], before[..foot]);
    for _ in 0..10 {
        stand(&mut simulation, &[]);
    }
    assert_eq!(coefficients(&simulation), before);
}

#[test]
fn a_mend_ends_pushes_and_all_changes_of_friction() {
    let (mut mended, mut quiet) = (quadruped(), quadruped());
    let before = coefficients(&mended);
    let scope = hardstand_protocol::Scope::All;
    let ice = Event::Friction { scope, mu_static: 0.05, mu_kinetic: 0.02 };
    let shove = Event::Push { body: 0, point_B: [0.0; 3], force_W: [0.0, 90.0, 0.0], ticks: 999 };
    stand(&mut mended, &[ice, shove, MEND_ALL]);
    stand(&mut quiet, &[]);
    assert_eq!(coefficients(&mended), before);
    let push = |name: &str| name.starts_with("push.");
    let bits = |simulation: &Simulation| {
        let mut bits = Vec::new();
        simulation.clone().walk(&mut |name, _, word| {
            if !push(name) {
                bits.push(word.bits());
            }
        });
        bits
    };
    assert_eq!(bits(&mended), bits(&quiet));
    assert_ne!(motion(&mended), motion(&quiet), "the slot remembers, and acts no more");
}

#[test]
fn a_region_of_the_ground_gets_its_own_friction_back() {
    let regions = "regions=[{name=\"here\", min_m=[-5,-5], max_m=[5,5]}]";
    let mut simulation = bench::quadruped(&[regions, "command.proof_commands=1"]).simulation();
    let before = coefficients(&simulation);
    stand(&mut simulation, &[lasting(FaultKind::Friction, Part::Region(0), &[0.2, 0.1], 5)]);
    assert!(coefficients(&simulation).iter().all(|f| *f == Friction::new(0.2, 0.1)));
    for _ in 0..5 {
        stand(&mut simulation, &[]);
    }
    assert_eq!(coefficients(&simulation), before);
    assert_eq!(simulation.state().regions, [None]);
}
