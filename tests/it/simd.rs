//! Equal limbs side by side give the bits of one body after another.

use crate::common::WATCHDOG;
use crate::common::dice::Dice;
use crate::common::robots::{
    add_body, add_joint, at, box_on_springs, joint, plain_spec, plane, station, walker,
};
use hardstand::simulation::Simulation;
use hardstand_physics::contact::{ExponentialSpring, SpringParameters, StationShape, Stiction};
use hardstand_physics::dynamics::{LimbGroup, Limbs};
use hardstand_physics::model::{Base, Builder, JointKind, Model};
use hardstand_physics::plant::{ComputePath, ContactModel, ContactResult, Integrator, PlantSpec};
use hardstand_physics::spatial::{Mat3, SpatialInertia, Transform, Vec3, rotation};
use hardstand_protocol::{Command, Event, JointCommand, Scope, TickInput};

/// What happens to a robot beside its commands.
fn events(tick: u64, bodies: usize, stations: usize) -> Vec<Event> {
    let push = |body: usize, ticks: u64| {
        let (point_B, force_W) = ([0.01, 0.0, 0.02], [5.0, -3.0, 1.0]);
        Event::Push { body: body as u32, point_B, force_W, ticks }
    };
    match tick {
        20 => vec![push(0, 7)],
        22 => vec![push(bodies - 1, 3), push(bodies / 2, 9)],
        61 => vec![push(bodies / 2, 1)],
        33 | 64 if stations > 0 => {
            let (scope, mu_static) =
                (Scope::Station(stations as u32 / 2), 0.2 + tick as f64 / 1000.0);
            vec![Event::Friction { scope, mu_static, mu_kinetic: 0.15 }]
        }
        _ => vec![],
    }
}

/// Digest and contacts after every tick of a robot under a swinging command, which is pushed about,
/// set back to an earlier state, and cloned.
fn run(model: &Model, spec: &PlantSpec, path: ComputePath, ticks: u64) -> Vec<(u64, Vec<u64>)> {
    let mut simulation = Simulation::new(model.clone(), spec.clone(), WATCHDOG);
    simulation.set_path(path);
    let mut saved = Vec::new();
    let tick = |n: u64| {
        match n {
            40 => saved = simulation.snapshot_words(),
            47 | 141 => simulation.restore(&saved).unwrap(),
            70 => simulation = simulation.clone(),
            _ => {}
        }
        let tick = simulation.state().tick;
        let mut input = TickInput::new();
        let swing = 0.2 * ((tick % 40) as f64 / 20.0 - 1.0);
        let hold = |q: &f64| JointCommand { q: q + swing, kp: 60.0, kd: 2.0, ..Default::default() };
        let joints: Vec<JointCommand> = spec.q.joints.iter().map(hold).collect();
        // every third command is missing, and for a while all are: held, damped, no effort
        if !tick.is_multiple_of(3) && !(30..130).contains(&tick) {
            let command = Command {
                run_id: 1,
                session: 1,
                seq: tick + 1,
                answers_tick: tick,
                applies_tick: 0,
                joints,
            };
            input.candidates.push(Box::new(command));
        }
        input.events = events(n, model.bodies.len(), spec.stations.len());
        simulation.step(&input);
        assert_eq!(simulation.failure(), None, "tick {n}");
        (
            simulation.state().digest,
            simulation.contacts().evaluated().iter().flat_map(bits).collect(),
        )
    };
    (0..ticks).map(tick).collect()
}

/// What can be seen of a contact.
fn bits(at: &ContactResult) -> Vec<u64> {
    let (f, t) = (&at.force, &at.touch);
    let vectors = [t.p_C, t.point_W, at.point_B, at.v_C, f.p_P.into(), f.v_P.into()];
    let mut all: Vec<f64> = vectors.iter().flat_map(|v| [v.x, v.y, v.z]).collect();
    let pairs = [f.friction_elastic_P, f.friction_damping_P, f.friction_share, f.next_anchor_P];
    all.extend(pairs.as_flattened());
    all.extend([f.normal_elastic_n, f.normal_damping_n, f.normal_n, f.mu, f.friction_limit_n]);
    all.extend([f.next_sliding, f.potential_energy_j, f.power_dissipation_w]);
    all.extend([at.friction.mu_static(), at.friction.mu_kinetic()]);
    all.into_iter().map(f64::to_bits).collect()
}

/// Checks that all paths give the digests of the definition.
fn assert_same_bits(what: &str, model: &Model, spec: &PlantSpec, ticks: u64) {
    let definition = run(model, spec, ComputePath::OneByOne, ticks);
    for path in [ComputePath::Fastest, ComputePath::Portable] {
        let other = run(model, spec, path, ticks);
        let first = definition.iter().zip(&other).position(|(a, b)| a != b);
        assert_eq!(first, None, "{what}: {path:?} differs from this tick on");
    }
}

struct Draw(Dice);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0.roll(n)
    }

    fn number(&mut self, size: f64) -> f64 {
        (self.0.roll(2_000_001) as f64 / 1e6 - 1.0) * size
    }

    fn vector(&mut self, size: f64) -> Vec3 {
        Vec3::new(self.number(size), self.number(size), self.number(size))
    }

    fn turn(&mut self) -> Mat3 {
        let axis = self.vector(1.0) + Vec3::new(1.5, 0.0, 0.0);
        rotation(&axis.normalize(), self.number(3.0))
    }

    fn inertia(&mut self) -> SpatialInertia {
        let (m, R) = (0.5 + self.number(0.3), self.turn());
        let d = Vec3::new(0.011, 0.013, 0.009) * m;
        let I = R * Mat3::from_diagonal(&d) * R.transpose();
        SpatialInertia::from_com(m, &self.vector(0.05), &((I + I.transpose()) * 0.5))
    }
}

/// What a joint looks like, whatever its numbers: along which coordinate axis, if any; sliding.
type Look = (Option<usize>, bool);

fn add_limb(b: &mut Builder, d: &mut Draw, looks: &[Look], root: &str, name: &str) {
    let mut parent = root.to_owned();
    for (k, (axis, slides)) in looks.iter().enumerate() {
        let body = format!("{name}_{k}");
        let kind = if *slides { JointKind::Prismatic } else { JointKind::Revolute };
        let (along, X) = match axis {
            Some(i) => {
                let mut along = [0.0; 3];
                along[*i] = 1.0;
                (along, Transform::new(Mat3::identity(), d.vector(0.2)))
            }
            None => {
                let any = d.vector(1.0) + Vec3::new(0.0, 2.0, 0.0);
                (any.into(), Transform::new(d.turn(), d.vector(0.2)))
            }
        };
        let mut j = joint(&format!("{body}_joint"), kind, along, X);
        (j.q_min, j.q_max, j.effort_max, j.velocity_max) = (-0.3, 0.25, 30.0, 20.0);
        (j.damping, j.friction, j.armature) = (0.02, 0.05, 0.02);
        add_body(b, &body, d.inertia());
        add_joint(b, &parent, &body, j);
        // a limb may branch
        if k != 1 || looks.len() < 4 {
            parent = body;
        }
    }
}

/// One to eight limbs, equal and unequal, on a trunk of one or two bodies, with stations here and
/// there, on one or two planes.
fn robot(seed: u64) -> (Model, PlantSpec) {
    let mut d = Draw(Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1));
    (0..8).for_each(|_| _ = d.below(2));
    let base = if d.below(5) == 0 { Base::Fixed } else { Base::Floating };
    let mut b = Builder::new("random", base);
    add_body(&mut b, "trunk", d.inertia());
    add_limb(&mut b, &mut d, &[(Some(2), false)], "trunk", "waist");
    let look = |d: &mut Draw| {
        let axis = d.below(4) as usize;
        ((axis < 3).then_some(axis), d.below(4) == 0)
    };
    let kinds: Vec<Vec<Look>> =
        (0..2).map(|_| (0..=d.below(4)).map(|_| look(&mut d)).collect()).collect();
    for i in 0..=d.below(8) {
        let looks = kinds[usize::from(d.below(3) == 0)].clone();
        let root = if d.below(2) == 0 { "trunk" } else { "waist_0" };
        add_limb(&mut b, &mut d, &looks, root, &format!("limb{i}"));
    }
    let model = b.build().unwrap();
    let mut spec = plain_spec(&model);
    let tilted = Transform::new(rotation(&Vec3::x(), 0.3), Vec3::new(0.0, 0.2, -0.1));
    if d.below(2) == 0 {
        spec.ground.push(plane(tilted));
    }
    let (round, holding) = (d.below(2) == 0, d.below(2) == 0);
    let stiction = if holding { Stiction::Holding } else { Stiction::Simbody };
    for i in 0..d.below(12) {
        let body = d.below(model.bodies.len() as u64) as usize;
        let mut s = station(&format!("s{i}"), body, d.vector(0.1).into(), 0.7);
        let cz_s_per_m = 0.5 + d.number(0.3);
        let soft = SpringParameters { stiction, cz_s_per_m, ..Default::default() };
        s.model = ContactModel::ExponentialSpring(ExponentialSpring::new(soft).unwrap());
        if round {
            s.shape = StationShape::Sphere { radius_m: 0.03 + d.number(0.02) };
        }
        spec.stations.push(s);
    }
    spec.q.p_WB.z = 0.5;
    if base == Base::Floating {
        (spec.v.w_WB, spec.v.v_WB) = (d.vector(1.0), d.vector(0.5));
    }
    spec.micro_steps = 8;
    if seed.is_multiple_of(3) {
        (spec.integrator, spec.micro_steps) = (Integrator::LinearlyImplicit, 5);
    }
    (model, spec)
}

#[test]
fn random_robots_have_the_same_bits_on_every_path() {
    let (mut groups, mut trunks, mut contacts) = ([0; 5], 0, 0);
    let (mut ragged, mut unlike) = (0, 0);
    for seed in 1..=60 {
        let (model, spec) = robot(seed);
        let limbs = Limbs::find(&model);
        limbs.groups.iter().for_each(|g| groups[g.limbs.len()] += 1);
        let is_ragged = |g: &&LimbGroup| g.limbs.iter().any(|limb| limb.len() < g.size());
        ragged += limbs.groups.iter().filter(is_ragged).count();
        let kinds = |k: usize, g: &LimbGroup| -> Vec<JointKind> {
            g.bodies(k).iter().map(|body| model.joints[body - 1].kind).collect()
        };
        let differs =
            |g: &&LimbGroup| (0..g.size()).any(|k| kinds(k, g).windows(2).any(|w| w[0] != w[1]));
        unlike += limbs.groups.iter().filter(differs).count();
        trunks += usize::from(limbs.trunk.len() > 2);
        contacts += spec.stations.len();
        assert_same_bits(&format!("robot {seed}"), &model, &spec, 160);
    }
    // the robots are what this test needs
    assert!(groups[2..].iter().all(|&n| n > 5) && trunks > 5 && contacts > 100, "{groups:?}");
    assert!(
        ragged > 5 && unlike > 5,
        "{ragged} with limbs of two lengths, {unlike} that also slide"
    );
}

#[test]
fn robots_on_rigid_contacts_have_the_same_bits_on_every_path() {
    let mut contacts = 0;
    for seed in (1..=60).filter(|seed| seed % 2 == 0) {
        let (model, mut spec) = robot(seed);
        if model.base == Base::Fixed {
            continue; // what the ground cannot move would jam
        }
        // every third robot has springs, too
        for s in spec.stations.iter_mut().skip(usize::from(seed % 3 == 0)) {
            s.model = ContactModel::Rigid;
            contacts += 1;
        }
        assert_same_bits(&format!("rigid robot {seed}"), &model, &spec, 160);
    }
    assert!(contacts > 50, "{contacts}");
    let (model, mut spec) = walker();
    spec.stations.iter_mut().for_each(|s| s.model = ContactModel::Rigid);
    assert_same_bits("rigid walker", &model, &spec, 400);
    // with rigid contacts a step is semi-implicit whatever was asked for
    spec.integrator = Integrator::Rk4;
    assert_same_bits("rigid walker, Runge-Kutta", &model, &spec, 100);
}

#[test]
fn walkers_boxes_and_rolling_feet_have_the_same_bits_on_every_path() {
    let (model, spec) = walker();
    assert_same_bits("walker", &model, &spec, 400);
    let (model, mut spec) = box_on_springs(0.7);
    spec.v.v_WB = Vec3::new(0.5, 0.2, 0.0);
    assert_same_bits("box", &model, &spec, 400);
    let (model, mut spec) = walker();
    for (i, s) in spec.stations.iter_mut().enumerate() {
        // some stations without a radius: then the lanes leave the contacts to the plain loop
        s.shape = StationShape::Sphere { radius_m: 0.01 * (i % 3) as f64 + 0.005 };
    }
    assert_same_bits("round walker", &model, &spec, 400);
    spec.stations[3].shape = StationShape::Point;
    assert_same_bits("mixed walker", &model, &spec, 400);
}

#[test]
fn one_or_two_micro_steps_have_the_same_bits_on_every_path() {
    for (micro_steps, integrator) in [
        (1, Integrator::SemiImplicitEuler),
        (2, Integrator::SemiImplicitEuler),
        (1, Integrator::LinearlyImplicit),
        (2, Integrator::LinearlyImplicit),
    ] {
        let (model, mut spec) = walker();
        (spec.micro_steps, spec.integrator) = (micro_steps, integrator);
        spec.period_ns = 250_000 * u64::from(micro_steps);
        assert_same_bits(&format!("{micro_steps} by {integrator:?}"), &model, &spec, 300);
    }
}

/// A limb without a station shares its lanes with one that has: what it would feel there is no
/// force, however deep it is in the ground.
#[test]
fn a_limb_without_a_station_may_hang_below_the_ground() {
    for integrator in [Integrator::SemiImplicitEuler, Integrator::LinearlyImplicit] {
        let mut b = Builder::new("three arms", Base::Fixed);
        let inertia = SpatialInertia::from_com(1.0, &Vec3::new(0.3, 0.0, 0.0), &Mat3::identity());
        add_body(&mut b, "base", inertia);
        for (name, z) in [("above", 0.3), ("below", -2.0), ("far below", -3.0)] {
            add_body(&mut b, name, inertia);
            let j = joint(name, JointKind::Revolute, [0.0, 1.0, 0.0], at(0.0, 0.0, z));
            add_joint(&mut b, "base", name, j);
        }
        let model = b.build().unwrap();
        let mut spec = plain_spec(&model);
        spec.stations.push(station("tip", 1, [0.6, 0.0, 0.0], 0.7));
        spec.integrator = integrator;
        assert_eq!(Limbs::find(&model).groups.len(), 1);
        assert_same_bits("three arms", &model, &spec, 300);
    }
}

/// Two of four limbs have contacts, then one: the free lanes take further contacts of the same limb.
#[test]
fn many_contacts_under_few_limbs_have_the_same_bits_on_every_path() {
    let model = robot_with_limbs(&[2, 3, 2, 3]);
    let tips = [2, 5, 7, 10];
    for (counts, height_m) in [([5, 0, 3, 0], 0.3), ([0, 7, 0, 0], 0.4), ([2, 4, 1, 0], 0.4)] {
        for integrator in [Integrator::SemiImplicitEuler, Integrator::LinearlyImplicit] {
            let mut spec = plain_spec(&model);
            (spec.integrator, spec.q.p_WB.z) = (integrator, height_m + 0.005);
            spec.v.v_WB = Vec3::new(0.4, -0.2, 0.0);
            for (tip, count) in tips.into_iter().zip(counts) {
                for k in 0..count {
                    let at = [0.03 * f64::from(k) - 0.05, 0.01 * f64::from(k), -0.1];
                    spec.stations.push(station(&format!("{tip}_{k}"), tip, at, 0.7));
                }
            }
            assert_same_bits(&format!("{counts:?}, {integrator:?}"), &model, &spec, 250);
            assert!(most_at_once(&model, &spec) > 2, "{counts:?}: few contacts carry");
        }
    }
}

/// Most contacts that carry load at one time while a robot falls.
fn most_at_once(model: &Model, spec: &PlantSpec) -> usize {
    let mut simulation = Simulation::new(model.clone(), spec.clone(), WATCHDOG);
    let carrying = |_| {
        simulation.step(&TickInput::new());
        let contacts = simulation.contacts().evaluated();
        contacts.iter().filter(|at| at.force.normal_n > 1.0).count()
    };
    (0..100).map(carrying).max().unwrap()
}

/// Limbs of these numbers of joints about y on one base.
fn robot_with_limbs(lengths: &[usize]) -> Model {
    let mut b = Builder::new("limbs", Base::Floating);
    let inertia = SpatialInertia::from_com(1.0, &Vec3::zeros(), &Mat3::identity());
    add_body(&mut b, "base", inertia);
    for (i, &length) in lengths.iter().enumerate() {
        let mut parent = "base".to_owned();
        for k in 0..length {
            let body = format!("{i}_{k}");
            add_body(&mut b, &body, inertia);
            let j = joint(&body, JointKind::Revolute, [0.0, 1.0, 0.0], at(0.0, 0.0, -0.1));
            add_joint(&mut b, &parent, &body, j);
            parent = body;
        }
    }
    b.build().unwrap()
}

fn limbs_of(lengths: &[usize]) -> Limbs {
    Limbs::find(&robot_with_limbs(lengths))
}

#[test]
fn limbs_are_found() {
    let roots = |l: &Limbs| {
        let of_group = |g: &LimbGroup| g.limbs.iter().map(|limb| limb.start).collect();
        l.groups.iter().map(of_group).collect::<Vec<Vec<usize>>>()
    };
    let six = limbs_of(&[2; 6]);
    assert_eq!((roots(&six), six.trunk), (vec![vec![1, 3, 5, 7], vec![9, 11]], vec![0]));
    // the fifth of five is alone
    let five = limbs_of(&[2; 5]);
    assert_eq!((roots(&five), five.trunk), (vec![vec![1, 3, 5, 7]], vec![0, 9, 10]));
    // the last link of the longer limb is like the short ones
    let three = limbs_of(&[1, 3, 1, 1]);
    assert_eq!((roots(&three), three.trunk), (vec![vec![1, 4, 5, 6]], vec![0, 2, 3]));
    // the lane of a limb may wait for another's last link
    let two = limbs_of(&[1, 2, 3]);
    assert_eq!((roots(&two), two.trunk), (vec![vec![4, 2]], vec![0, 1]));
    let none = limbs_of(&[3]);
    assert_eq!((roots(&none), none.trunk.len()), (vec![], 4));
    // legs go beside arms, and the longest come first
    let humanoid = limbs_of(&[6, 7, 6, 7]);
    assert_eq!((roots(&humanoid), humanoid.trunk), (vec![vec![7, 20, 1, 14]], vec![0]));
    assert_eq!(humanoid.groups[0].bodies(5), [12, 25, 6, 19]);
    assert_eq!(humanoid.groups[0].bodies(6), [13, 26]);
    // lanes would wait for limbs that are more than twice as long
    let unlike = limbs_of(&[2, 5, 2, 5]);
    assert_eq!((roots(&unlike), unlike.trunk), (vec![vec![3, 10], vec![1, 8]], vec![0]));
}
