//! The order `anchors` on the shipped quadruped.

use std::path::Path;

use hardstand::config::Scenario;
use hardstand::ingress::{FrictionLimits, check_anchors};
use hardstand::simulation::{PartNames, Simulation};
use hardstand_protocol::{AnchorsRequest, Event, HEADER_BYTES, Kind, Scope, TickInput, encode};

fn scenario(sets: &[&str]) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/quadruped.toml");
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    Scenario::load(&path, &sets).unwrap()
}

fn run(simulation: &mut Simulation, ticks: u64, first: &[Event]) {
    for i in 0..ticks {
        let mut input = TickInput::new();
        input.events.extend(first.iter().filter(|_| i == 0));
        simulation.step(&input);
        assert_eq!(simulation.failure(), None);
    }
}

fn stretched_m(simulation: &Simulation, foot: usize) -> f64 {
    let spec = simulation.spec();
    let contacts = simulation.plant().contacts();
    let of = |i: usize| {
        let f = &contacts.evaluated()[i].force;
        (f.p_P[0] - f.next_anchor_P[0]).hypot(f.p_P[1] - f.next_anchor_P[1])
    };
    contacts.of_stations(&spec.feet[foot].stations).map(of).sum()
}

/// A limp robot begins to slide down a slope: the springs of its feet are stretched.
#[test]
fn the_anchors_of_one_foot_begin_anew_and_no_others() {
    let scenario = scenario(&["planes.0.rpy_rad=[0.0,0.1,0.0]"]);
    let mut one = scenario.simulation();
    let mut other = scenario.simulation();
    run(&mut one, 30, &[]);
    run(&mut other, 30, &[]);
    let before: Vec<f64> = (0..4).map(|foot| stretched_m(&one, foot)).collect();
    assert!(before.iter().all(|&s| s > 1e-5), "{before:?}");
    let event = Event::ResetAnchors { scope: Scope::Foot(2) };
    run(&mut one, 1, &[event]);
    run(&mut other, 1, &[event]);
    let after: Vec<f64> = (0..4).map(|foot| stretched_m(&one, foot)).collect();
    assert!(after[2] < 0.2 * before[2], "{before:?} {after:?}");
    assert!([0, 1, 3].iter().all(|&i| after[i] > 0.5 * before[i]), "{before:?} {after:?}");
    run(&mut one, 200, &[]);
    run(&mut other, 200, &[]);
    assert_eq!(one.state().digest, other.state().digest);
    let names = PartNames::of(one.model(), one.spec());
    assert_eq!(names.words(&event, |n| n.to_string()), "anchors of foot RL begin anew");
}

#[test]
fn requests_are_checked() {
    let limits = FrictionLimits { layout_hash: 7, counts: [8, 4, 1] };
    let check = |request: AnchorsRequest| {
        let mut message = Vec::new();
        encode(Kind::Anchors, &request, &mut message).unwrap();
        check_anchors(&message[HEADER_BYTES..], &limits)
    };
    let of = |scope: u8, index: u32| AnchorsRequest { layout_hash: 7, scope, index };
    assert_eq!(check(of(0, 0)).unwrap(), Event::ResetAnchors { scope: Scope::All });
    assert_eq!(check(of(2, 3)).unwrap(), Event::ResetAnchors { scope: Scope::Foot(3) });
    for (request, said) in [
        (of(0, 1), "index is 1; it must be 0 when scope is 0"),
        (of(1, 8), "index is 8; it must be 0 to 7, the stations"),
        (of(3, 0), "scope is 3; it must be 0 to 2"),
        (AnchorsRequest { layout_hash: 8, ..of(0, 0) }, "layout"),
    ] {
        let text = check(request).unwrap_err().text;
        assert!(text.contains(said), "{text}");
    }
}
