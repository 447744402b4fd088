//! Scenarios with constraints: points of links that are held on planes.

use std::path::Path;

use crate::common::logs::{Script, hardstand, run_of, write};
use hardstand::config::Scenario;
use hardstand::inspect::Quantities;
use hardstand::replay::Player;
use hardstand::simulation::{Simulation, describe};
use hardstand_protocol::{Event, TickInput};

fn scenario(sets: &[&str]) -> hardstand_error::Result<Scenario> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/quadruped.toml");
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    Scenario::load(&path, &sets)
}

const GANTRY: &str = "constraints=[{name=\"gantry\", link=\"trunk\", point_m=[0.0, 0.0, 0.05], \
                      switch_at_s=[1.0]}]";

fn run(simulation: &mut Simulation, scenario: &Scenario, ticks: u64) {
    for _ in 0..ticks {
        let tick = simulation.state().tick;
        let mut input = TickInput::new();
        let due = scenario.events.iter().filter(|(at, _)| *at == tick);
        input.events.extend(due.map(|(_, event)| *event));
        simulation.step(&input);
        assert_eq!(simulation.failure(), None, "tick {tick}");
    }
}

#[test]
fn a_gantry_holds_a_limp_robot_until_it_lets_go() {
    for model in ["exponential_spring", "hunt_crossley", "rigid"] {
        let scenario = scenario(&[GANTRY, &format!("contact.model={model}")]).unwrap();
        let mut simulation = scenario.simulation();
        let mut snapshot = simulation.new_snapshot();
        let height_m = simulation.state().q.p_WB.z;
        run(&mut simulation, &scenario, 900);
        simulation.fill(&mut snapshot);
        let held = snapshot.contacts.constraints[0];
        assert_eq!(held.active, 1);
        assert!(held.force_world_n[2] > 50.0, "{model}: {held:?}");
        assert!(held.height_m.abs() < 1e-9 && held.speed_m_per_s < 1e-9, "{model}: {held:?}");
        let sum: f64 = snapshot.contacts.feet.iter().map(|f| f.force_world_n[2]).sum();
        assert!(simulation.state().q.p_WB.z > height_m - 0.1, "{model}: {sum}");
        run(&mut simulation, &scenario, 2000);
        simulation.fill(&mut snapshot);
        assert_eq!(snapshot.contacts.constraints[0].active, 0);
        assert!(simulation.state().q.p_WB.z < 0.15, "{model}: {:?}", simulation.state().q.p_WB);
    }
}

#[test]
fn a_foot_is_pinned_and_released_by_events() {
    let pins = ["[0.0, 0.0, 1.0]", "[1.0, 0.0, 0.0]", "[0.0, 1.0, 0.0]"]
        .iter()
        .enumerate()
        .map(|(i, n)| format!("{{name=\"pin{i}\", link=\"FL_foot\", normal={n}, active=false}}"))
        .collect::<Vec<_>>();
    let pins = format!("constraints=[{}]", pins.join(", "));
    let scenario = scenario(&[&pins]).unwrap();
    let mut simulation = scenario.simulation();
    run(&mut simulation, &scenario, 50);
    let mut on = TickInput::new();
    on.events.extend((0..3).map(|index| Event::Constraint { index, active: true }));
    simulation.step(&on);
    let foot = |s: &Simulation| s.plant().constraints().points()[0].p_WF(s.plant().data());
    let place = foot(&simulation);
    run(&mut simulation, &scenario, 2000);
    assert!((foot(&simulation) - place).norm() < 1e-8);
    let mut off = TickInput::new();
    off.events.extend((0..3).map(|index| Event::Constraint { index, active: false }));
    simulation.step(&off);
    assert!(!simulation.plant().constraints().any_active());
}

/// The quadruped whose front knees follow their hips.
fn with_followers(sets: &[&str]) -> hardstand_error::Result<Scenario> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let mut urdf = read("config/robots/quadruped.urdf");
    for leg in ["FL", "FR"] {
        let joint = format!("<joint name=\"{leg}_calf_joint\" type=\"revolute\">");
        let mimic = format!("<mimic joint=\"{leg}_thigh_joint\" multiplier=\"-1.875\"/>");
        assert!(urdf.contains(&joint));
        urdf = urdf.replace(&joint, &format!("{joint}{mimic}"));
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("quadruped.urdf"), urdf).unwrap();
    let toml = read("config/quadruped.toml").replace("robots/quadruped.urdf", "quadruped.urdf");
    std::fs::write(dir.path().join("quadruped.toml"), toml).unwrap();
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    Scenario::load(&dir.path().join("quadruped.toml"), &sets)
}

#[test]
fn followers_of_a_urdf_follow_and_their_efforts_are_published() {
    for model in ["exponential_spring", "hunt_crossley", "rigid"] {
        let scenario = with_followers(&[GANTRY, &format!("contact.model={model}")]).unwrap();
        let mut simulation = scenario.simulation();
        let description = describe(&simulation, 1, [1e3, 1e2], &[]);
        let names: Vec<&str> = description.constraints.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["gantry", "FL_calf_joint", "FR_calf_joint"]);
        assert_eq!(description.constraints[1].plane_body, "FL_thigh");
        let mut snapshot = simulation.new_snapshot();
        let mut most_nm = 0.0_f64;
        for _ in 0..2000 {
            run(&mut simulation, &scenario, 1);
            simulation.fill(&mut snapshot);
            for (c, leg) in snapshot.contacts.constraints[1..].iter().zip([0, 3]) {
                assert_eq!(c.active, 1);
                assert!(c.height_m.abs() < 1e-9 && c.speed_m_per_s < 1e-9, "{model}: {c:?}");
                let q = &simulation.state().q.joints;
                assert!((q[leg + 2] + 1.875 * q[leg + 1]).abs() < 1e-9, "{model}");
                most_nm = most_nm.max(c.force_world_n.iter().map(|f| f * f).sum::<f64>().sqrt());
            }
        }
        assert!(most_nm > 0.5, "{model}: {most_nm}");
    }
}

/// What `contacts` had on the bus is what the log gives: of a gantry that lets go, and of two
/// joints that follow others.
#[test]
fn forces_of_constraints_come_from_a_log_as_published() {
    let gantry = GANTRY.replace("[1.0]", "[0.05]");
    let scenario = with_followers(&[&gantry]).unwrap();
    let ticks = run_of(&scenario, &Script::default(), 100);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    write(&path, &scenario, &ticks);
    let quantities = Quantities::of(&scenario.simulation());
    let unit = |name: &str| quantities.find(name).unwrap_or_else(|| panic!("{name}")).unit;
    assert_eq!(unit("constraint.gantry.force.z"), "N");
    assert_eq!(unit("constraint.FR_calf_joint.force.y"), "N·m");
    assert_eq!(unit("constraint.FR_calf_joint.height"), "rad");
    let mut player = Player::open(&path).unwrap();
    let mut active = 0.0;
    for tick in &ticks {
        assert!(player.advance().unwrap());
        let view = player.view().unwrap();
        let published = &tick.contacts.as_ref().unwrap().constraints;
        for (name, c) in ["gantry", "FL_calf_joint", "FR_calf_joint"].iter().zip(published) {
            let of = |field: &str| quantities.find(&format!("constraint.{name}.{field}")).unwrap();
            for (field, expected) in [
                ("active", f64::from(c.active)),
                ("point.x", c.point_world_m[0]),
                ("force.y", c.force_world_n[1]),
                ("force.z", c.force_world_n[2]),
                ("height", c.height_m),
                ("speed", c.speed_m_per_s),
            ] {
                let found = of(field).of(&view);
                assert_eq!(found.to_bits(), expected.to_bits(), "{name}.{field}: {c:?}");
            }
        }
        active += f64::from(published[0].active);
    }
    assert_eq!(active, 50.0, "switched on and off within the log");

    let plot = dir.path().join("plot.svg");
    let words = ["plot".as_ref(), path.as_os_str(), "constraint.gantry.*".as_ref()];
    let (out, code) = hardstand(&[&words[..], &["-o".as_ref(), plot.as_os_str()]].concat());
    assert!(code == 0, "{out}");
    assert!(std::fs::read_to_string(&plot).unwrap().contains("constraint.gantry.force.z"));
    let table = dir.path().join("run.csv");
    let words = ["export".as_ref(), path.as_os_str(), "--csv".as_ref(), table.as_os_str()];
    let (out, code) = hardstand(&words);
    assert!(code == 0, "{out}");
    let header = std::fs::read_to_string(&table).unwrap();
    assert!(header.lines().next().unwrap().contains("constraint.FL_calf_joint.force.y [N·m]"));
}

#[test]
fn a_follower_is_not_where_its_leader_does_not_want_it() {
    let set = "initial.joints.FL_calf_joint=-1.4";
    let refused = with_followers(&[set]).unwrap_err().to_string();
    assert!(refused.contains("FL_calf_joint") && refused.contains("follows another"), "{refused}");
}

#[test]
fn a_robot_hangs_on_a_rail() {
    let rail = "constraints=[{name=\"side\", link=\"trunk\", normal=[0.0, 1.0, 0.0], slides=true}, \
                {name=\"height\", link=\"trunk\", slides=true}]";
    let fast = "initial.velocity_m_per_s=[0.5, 0.0, 0.0]";
    let scenario = scenario(&[rail, fast, "initial.clearance_m=0.3"]).unwrap();
    let mut simulation = scenario.simulation();
    let start = simulation.state().q.p_WB;
    run(&mut simulation, &scenario, 1000);
    let moved = simulation.state().q.p_WB - start;
    assert!(moved.x > 0.1 && moved.y.abs() < 1e-9 && moved.z.abs() < 1e-9, "{moved:?}");
    // the allowed motion is no error
    let mut snapshot = simulation.new_snapshot();
    simulation.fill(&mut snapshot);
    assert!(simulation.state().v.v_WB.x > 0.1);
    for held in &snapshot.contacts.constraints[..2] {
        assert!(held.speed_m_per_s < 1e-9, "{held:?}");
    }
}

/// The forces of a follower have the name of its joint.
#[test]
fn a_constraint_does_not_take_the_name_of_a_follower() {
    let named = GANTRY.replace("gantry", "FL_calf_joint");
    let refused = with_followers(&[&named]).unwrap_err().to_string();
    assert!(refused.contains("\"FL_calf_joint\" is that of a joint that follows"), "{refused}");
    let free = GANTRY.replace("gantry", "RL_calf_joint");
    with_followers(&[&free]).unwrap();
}

#[test]
fn mistakes_in_constraints_are_named() {
    for (set, named) in [
        ("{name=\"a\", link=\"nothing\"}", "link"),
        ("{name=\"a\", link=\"trunk\", plane_link=\"trunk\"}", "moves with link"),
        ("{name=\"a\", link=\"trunk\", normal=[0.0, 0.0, 0.0]}", "normal"),
        ("{name=\"a\", link=\"trunk\", switch_at_s=1.0}", "list of numbers"),
        ("{name=\"a\", link=\"trunk\"}, {name=\"a\", link=\"trunk\"}", "\"a\""),
        ("{name=\"a\", link=\"trunk\", hook=1}", "unknown"),
        ("{name=\"a\", link=\"trunk\", slides=1}", "slides"),
    ] {
        let refused = scenario(&[&format!("constraints=[{set}]")]).unwrap_err().to_string();
        assert!(refused.contains(named), "{set}: {refused}");
    }
}
