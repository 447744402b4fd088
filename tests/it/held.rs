//! Scenarios with constraints: points of links that are held on planes.

use std::path::Path;

use hardstand::config::Scenario;
use hardstand::simulation::Simulation;
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

#[test]
fn mistakes_in_constraints_are_named() {
    for (set, named) in [
        ("{name=\"a\", link=\"nothing\"}", "link"),
        ("{name=\"a\", link=\"trunk\", plane_link=\"trunk\"}", "moves with link"),
        ("{name=\"a\", link=\"trunk\", normal=[0.0, 0.0, 0.0]}", "normal"),
        ("{name=\"a\", link=\"trunk\", switch_at_s=1.0}", "list of numbers"),
        ("{name=\"a\", link=\"trunk\"}, {name=\"a\", link=\"trunk\"}", "\"a\""),
        ("{name=\"a\", link=\"trunk\", hook=1}", "unknown"),
    ] {
        let refused = scenario(&[&format!("constraints=[{set}]")]).unwrap_err().to_string();
        assert!(refused.contains(named), "{set}: {refused}");
    }
}
