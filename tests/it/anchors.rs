//! The order `anchors` on the shipped quadruped.

use std::path::Path;

use hardstand::config::Scenario;
use hardstand::ingress::{FrictionLimits, check_anchors};
use hardstand::simulation::{PartNames, Simulation, Solo};
use hardstand_protocol::{AnchorsRequest, Event, HEADER_BYTES, JointCommand, Kind, Scope, encode};

fn scenario(sets: &[&str]) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/quadruped.toml");
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    Scenario::load(&path, &sets).unwrap()
}

/// Stands on a slope with held joints; `after` sees each tick's number and robot.
fn stand(events: Vec<(u64, Event)>, ticks: u64, mut after: impl FnMut(u64, &Simulation)) -> Solo {
    let scenario = scenario(&["planes.0.rpy_rad=[0.0,0.1,0.0]"]);
    let initial_q = scenario.spec.q.joints.clone();
    let mut solo = Solo::new(scenario.simulation(), events, "legs");
    for tick in 0..ticks {
        for (c, &q) in solo.set_points().iter_mut().zip(&initial_q) {
            *c = JointCommand { q, kp: 100.0, kd: 3.0, ..JointCommand::default() };
        }
        solo.step();
        after(tick, &solo.simulation);
    }
    solo
}

fn stretched_m(simulation: &Simulation) -> [f64; 4] {
    let contacts = simulation.plant().contacts();
    let of = |i: usize| {
        let f = &contacts.evaluated()[i].force;
        let (x, y) = (f.p_P[0] - f.next_anchor_P[0], f.p_P[1] - f.next_anchor_P[1]);
        (x * x + y * y).sqrt()
    };
    [0, 1, 2, 3].map(|f| contacts.of_stations(&simulation.spec().feet[f].stations).map(of).sum())
}

/// The weight stretches the springs of all feet.
#[test]
fn the_anchors_of_one_foot_begin_anew_and_no_others() {
    let event = Event::ResetAnchors { scope: Scope::Foot(2) };
    let mut seen = Vec::new();
    let solo = stand(vec![(1000, event)], 1300, |_, simulation| seen.push(stretched_m(simulation)));
    let (before, after) = (seen[999], seen[1000]);
    assert!(before.iter().all(|&s| s > 1e-5), "{before:?}");
    assert!(after[2] < 0.2 * before[2], "{before:?} {after:?}");
    assert!([0, 1, 3].iter().all(|&i| after[i] > 0.5 * before[i]), "{before:?} {after:?}");
    let again = stand(vec![(1000, event)], 1300, |_, _| {});
    assert_eq!(again.simulation.state().digest, solo.simulation.state().digest);
    let without = stand(vec![], 1300, |_, _| {});
    assert_ne!(without.simulation.state().digest, solo.simulation.state().digest);
    let names = PartNames::of(solo.simulation.model(), solo.simulation.spec());
    assert_eq!(names.words(&event, |n| n.to_string()), "anchors of foot RL begin anew");
}

#[test]
fn requests_are_checked() {
    let limits = FrictionLimits { layout_hash: 7, counts: [8, 4, 1], feet_of_shapes: 0 };
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
