//! Several robots in one scenario, and how they touch.

use std::fs;
use std::path::Path;

use hardstand::ErrorKind;
use hardstand::config::Scenario;
use hardstand::rt::{TouchFinder, Touching};
use hardstand::simulation::Simulation;
use hardstand_protocol::{Event, TickInput};

/// Two robots of a link each, boxes of 0.2 m, without gravity unless a set says otherwise.
const BOXES: &str = r#"
[robot]
urdf = "box.urdf"
[contact]
bodies = "all"
cz_s_per_m = 5.0
[sim]
gravity_m_per_s2 = [0.0, 0.0, 0.0]
"#;
const URDF: &str = "<robot name='box'><link name='b'><inertial><mass value='2'/>\
    <inertia ixx='0.0133' ixy='0' ixz='0' iyy='0.0133' iyz='0' izz='0.0133'/></inertial>\
    <collision><geometry><box size='0.2 0.2 0.2'/></geometry></collision></link></robot>";

fn load(sets: &[&str]) -> hardstand::Result<Vec<Scenario>> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("box.urdf"), URDF).unwrap();
    let file = folder.path().join("boxes.toml");
    fs::write(&file, BOXES).unwrap();
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    Scenario::load_all(&file, &sets)
}

fn mistakes(robots: &str) -> String {
    let error = load(&[robots]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input);
    error.to_string()
}

#[test]
fn each_robot_has_what_is_common_and_its_own_keys() {
    let robots = "robots=[{name=\"a\", initial={position_m=[1.0, 2.0, 3.0], place=\"as_given\"}}, \
                  {name=\"b\", command={hold_ticks=7}}]";
    let all = load(&[robots, "sim.rate_hz=500", "ros2.namespace=\"lab\""]).unwrap();
    let names: Vec<&str> = all.iter().map(|robot| robot.bus.robot.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(all[0].spec.q.p_WB.to_array(), [1.0, 2.0, 3.0]);
    assert_eq!([all[0].watchdog.hold_ticks, all[1].watchdog.hold_ticks], [50, 7]);
    assert!(all.iter().all(|robot| robot.spec.period_ns == 2_000_000));
    assert!(all.iter().all(|robot| robot.bus.robots == ["a", "b"]));
    let namespaces: Vec<&str> = all.iter().map(|robot| robot.ros2.namespace.as_str()).collect();
    assert_eq!(namespaces, ["lab/a", "lab/b"]);
    // what a log holds is the scenario of one robot
    let again = Scenario::from_texts(&all[1].complete_toml, &all[1].robot_urdf, &[]).unwrap();
    assert_eq!((again.bus.robot.as_str(), again.physics_hash), ("b", all[1].physics_hash));
}

#[test]
fn a_scenario_without_the_section_has_one_robot() {
    let all = load(&[]).unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].bus.robots, ["box"]);
}

#[test]
fn all_mistakes_of_robots_are_named() {
    let said = mistakes("robots=[{name=\"a\", sim={rate_hz=1}}, {}, {name=\"a\"}, 5]");
    for part in [
        "robots.0.sim: a robot may have for itself battery, bodies",
        "robots.1.name is missing",
        "robots.3 is 5; it must be a table",
    ] {
        assert!(said.contains(part), "{said}");
    }
    let said = mistakes("robots=[{name=\"a\"}, {name=\"a\"}]");
    assert!(said.contains("robots.1.name is \"a\"; another robot has it"), "{said}");
    let said = mistakes("robots=[{name=\"a\", control={mode=\"lockstep\"}}]");
    assert!(said.contains("robots.0.control.mode: it holds for all"), "{said}");
    let said = mistakes("robots=[{name=\"a\", initial={place=7}}]");
    assert!(said.contains("robot a: the scenario was refused"), "{said}");
    assert!(mistakes("robots=7").contains("it must be a list of tables"));
    assert!(mistakes("robots=[]").contains("robots has 0 entries"));
    let said = mistakes("robots=[{name=\"\"}, {name=\"quadruped\"}]");
    assert!(said.contains("robots.0.name is \"\"; it must be the robot's name"), "{said}");
    let said = mistakes("robots=[{name=\"a-b\"}, {name=\"a_b\"}]");
    assert!(said.contains("robots.1.name is \"a_b\": its topics of ROS 2"), "{said}");
    let said = mistakes("robots=[{name=\"a.part2\"}, {name=\"a\"}]");
    assert!(said.contains("robots.0.name is \"a.part2\": its log"), "{said}");
    // those of each robot
    let said = mistakes("robots=[{name=\"a\", initial={place=7}}, {name=\"b\", links={nope={}}}]");
    assert!(said.contains("robot a") && said.contains("robot b"), "{said}");
    let digit = load(&["robots=[{name=\"1\"}, {name=\"2\"}]"]).unwrap();
    assert_eq!(digit[0].ros2.namespace, "robot_1");
}

#[test]
fn what_is_for_one_robot_refuses_several() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/quadruped.toml");
    let two = "robots=[{name=\"a\"}, {name=\"b\"}]".to_string();
    let error = Scenario::load(&path, std::slice::from_ref(&two)).unwrap_err();
    assert!(error.to_string().contains("has 2 [[robots]]"), "{error}");
    let lcm = "lcm.group=\"239.255.76.67:7667\"".to_string();
    let error = Scenario::load_all(&path, &[two, lcm]);
    assert!(error.is_err_and(|e| e.to_string().contains("lcm: a, b have it")));
}

/// Robots whose loops meet before each tick.
struct Together {
    all: Vec<Simulation>,
    touching: Touching,
    finder: TouchFinder,
    /// The touches of each robot in the last tick.
    touches: Vec<Vec<Event>>,
    ticks: u64,
}

impl Together {
    fn new(sets: &[&str]) -> Self {
        let all: Vec<_> = load(sets).unwrap().iter().map(Scenario::simulation).collect();
        let touching = Touching::of(&all).unwrap();
        let touches = vec![Vec::new(); all.len()];
        Self { all, touching, finder: TouchFinder::default(), touches, ticks: 0 }
    }

    fn tick(&mut self) {
        self.ticks += 1;
        for (k, robot) in self.all.iter().enumerate() {
            self.touching.show(k, self.ticks, robot);
        }
        for (k, robot) in self.all.iter_mut().enumerate() {
            let mut input = TickInput::new();
            self.touching.pushes(k, self.ticks, &mut self.finder, &mut input.events);
            self.touches[k].clone_from(&input.events);
            let outcome = robot.step(&input);
            assert_eq!((outcome.failure, outcome.pushes_refused), (None, 0));
        }
    }

    /// Sum of the forces on robot `k` in the last tick.
    fn force_n(&self, k: usize) -> [f64; 3] {
        let mut sum = [0.0; 3];
        for event in &self.touches[k] {
            let Event::Touch { force_W, .. } = event else { panic!("{event:?}") };
            sum.iter_mut().zip(force_W).for_each(|(sum, f)| *sum += f);
        }
        sum
    }

    fn velocity(&self, k: usize) -> [f64; 3] {
        self.all[k].state().v.v_WB.to_array()
    }
}

/// A robot at rest high above the ground, and one that comes from above at a slant.
const HIT: &str = "robots=[{name=\"a\", \
    initial={place=\"as_given\", position_m=[0.0, 0.0, 5.0]}}, {name=\"b\", \
    initial={place=\"as_given\", position_m=[0.0, 0.0, 5.25], velocity_m_per_s=[0.3, 0.0, -1.0]}}]";

#[test]
fn robots_that_hit_each_other_keep_their_momentum() {
    let mut boxes = Together::new(&[HIT]);
    let (mut touched, before) = (0, boxes.velocity(1));
    for _ in 0..300 {
        boxes.tick();
        let [a, b] = [boxes.force_n(0), boxes.force_n(1)];
        assert_eq!(a, b.map(|f| 0.0 - f), "equal and opposite, to the bit");
        touched += usize::from(a != [0.0; 3]);
    }
    assert!((5..100).contains(&touched), "{touched} ticks of contact");
    let [a, b] = [boxes.velocity(0), boxes.velocity(1)];
    for i in 0..3 {
        assert!((a[i] + b[i] - before[i]).abs() < 1e-9, "{a:?} + {b:?}, before {before:?}");
    }
    assert!(b[2] > a[2], "they part: {a:?}, {b:?}");
    assert!(a[0] > 0.01, "friction takes the one along: {a:?}");
    let energy = |v: [f64; 3]| v.iter().map(|v| v * v).sum::<f64>();
    assert!(energy(a) + energy(b) < energy(before));
}

#[test]
fn a_robot_lies_on_another_one() {
    let mut boxes = Together::new(&[
        "sim.gravity_m_per_s2=[0.0, 0.0, -9.81]",
        "robots=[{name=\"a\", initial={place=\"as_given\", position_m=[0.0, 0.0, 0.1]}}, \
         {name=\"b\", initial={place=\"as_given\", position_m=[0.02, 0.0, 0.31]}}]",
    ]);
    for _ in 0..3000 {
        boxes.tick();
    }
    let weight_n = 2.0 * 9.81;
    let [x, y, z] = boxes.force_n(1);
    assert!((z / weight_n - 1.0).abs() < 0.01 && x.abs() + y.abs() < 0.1, "{x} {y} {z} N");
    let height_m = boxes.all[1].state().q.p_WB.z - boxes.all[0].state().q.p_WB.z;
    // k = 0.05 m / T² = 100 kN/m
    assert!((0.2 - height_m - weight_n / 1e5).abs() < 1e-4, "{height_m} m");
}

/// The other one goes on, after a reset say: what it meets is where the first was at its end, at rest,
/// in each of the ticks that follow.
#[test]
fn a_robot_that_has_ended_stands_where_it_was() {
    let mut boxes = Together::new(&[HIT]);
    while boxes.touches[0].is_empty() {
        boxes.tick();
    }
    boxes.tick();
    let Together { all, touching, mut finder, ticks, .. } = boxes;
    touching.stand(1, ticks + 1, &all[1]);
    let mut pushes = |tick: u64| {
        let mut events = Vec::new();
        touching.show(0, tick, &all[0]);
        touching.pushes(0, tick, &mut finder, &mut events);
        events
    };
    let later = [1, 2, 3].map(|n| pushes(ticks + n));
    assert!(!later[0].is_empty());
    assert_eq!([&later[1], &later[2]], [&later[0]; 2]);
    let normal_n = |events: &[Event]| -> f64 {
        let force_n =
            |e: &Event| if let Event::Touch { force_W, .. } = e { -force_W[2] } else { 0.0 };
        events.iter().map(force_n).sum()
    };
    // what comes to meet it is damped, what stands is not
    touching.show(1, ticks + 1, &all[1]);
    assert!(normal_n(&pushes(ticks + 1)) > normal_n(&later[0]));
}

#[test]
fn robots_far_apart_or_without_shapes_touch_nothing() {
    let far = HIT.replace("5.25]", "5.5]").replace("-1.0]", "1.0]");
    let mut boxes = Together::new(&[&far]);
    for _ in 0..100 {
        boxes.tick();
        assert!(boxes.touches.iter().all(Vec::is_empty));
    }
    let all = load(&[HIT, "contact.bodies=\"feet\""]).unwrap();
    let all: Vec<_> = all.iter().map(Scenario::simulation).collect();
    assert!(Touching::of(&all).is_none());
}
