//! Bounds: eight faults at a time, and nothing bad gets in by an event or a saved state.

use hardstand::limits::FAULTS_MAX;
use hardstand_physics::plant::Walk;
use hardstand_physics::plant::Word;
use hardstand_protocol::{Event, FaultKind, InjectedFault, Part, TickInput, UNTIL_CLEARED};

use super::{MEND_ALL, broken, lasting, motion, quadruped, stand};

fn offset(joint: u32, by: f64) -> Event {
    broken(FaultKind::EncoderOffset, Part::Joint(joint), &[by])
}

/// Faults that were refused in a tick with these events.
fn refused(simulation: &mut hardstand::simulation::Simulation, events: &[Event]) -> u32 {
    let mut input = TickInput::new();
    input.events.extend_from_slice(events);
    let outcome = simulation.step(&input);
    assert_eq!(outcome.failure, None);
    outcome.faults_refused
}

#[test]
fn eight_faults_act_at_a_time_and_an_equal_one_takes_no_more_room() {
    let mut simulation = quadruped();
    let all: Vec<Event> = (0..FAULTS_MAX as u32).map(|i| offset(i, 0.01)).collect();
    assert_eq!(refused(&mut simulation, &all), 0);
    assert_eq!(refused(&mut simulation, &[offset(8, 0.01)]), 1);
    assert_eq!(refused(&mut simulation, &[offset(3, 0.02)]), 0, "in the place of the other");
    let active: Vec<(InjectedFault, u64)> = simulation.faults().active().collect();
    assert_eq!(active.len(), FAULTS_MAX);
    assert_eq!((active[3].0.values[0], active[3].1), (0.02, UNTIL_CLEARED));
    let one =
        Event::ClearFaults { kind: Some(FaultKind::EncoderOffset), part: Some(Part::Joint(5)) };
    assert_eq!(refused(&mut simulation, &[one, offset(8, 0.01), offset(9, 0.01)]), 1);
    let others = Event::ClearFaults { kind: Some(FaultKind::MotorDead), part: None };
    assert_eq!(refused(&mut simulation, &[others, offset(9, 0.01)]), 1);
    assert_eq!(refused(&mut simulation, &[MEND_ALL]), 0);
    assert!(simulation.faults().is_empty());
    // the room of one that is over is free in the tick after its last
    let short: Vec<Event> =
        (0..8).map(|i| lasting(FaultKind::MotorDead, Part::Joint(i), &[], 2)).collect();
    assert_eq!(refused(&mut simulation, &short), 0);
    assert_eq!(refused(&mut simulation, &[offset(1, 0.1)]), 1);
    assert_eq!(refused(&mut simulation, &[offset(1, 0.1)]), 0);
}

#[test]
fn what_a_plant_cannot_have_is_refused_and_changes_nothing() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let bad = [
        broken(FaultKind::EncoderOffset, Part::Joint(12), &[0.1]),
        broken(FaultKind::EncoderOffset, Part::Foot(0), &[0.1]),
        broken(FaultKind::EncoderOffset, Part::Joint(0), &[nan]),
        broken(FaultKind::EncoderOffset, Part::Joint(0), &[inf]),
        broken(FaultKind::EncoderOffset, Part::Joint(0), &[1001.0]),
        broken(FaultKind::EncoderOffset, Part::Joint(0), &[0.1, 0.0, nan]),
        broken(FaultKind::EncoderStuck, Part::Whole, &[]),
        broken(FaultKind::EncoderNoise, Part::Whole, &[0.1, 0.5]),
        lasting(FaultKind::EncoderStuck, Part::Joint(0), &[], 0),
        broken(FaultKind::MotorDerated, Part::Whole, &[1.5]),
        broken(FaultKind::MotorDerated, Part::Whole, &[-0.1]),
        broken(FaultKind::BatterySag, Part::Joint(0), &[0.5]),
        broken(FaultKind::ImuAxesSwapped, Part::Whole, &[1.0, 1.0, 3.0]),
        broken(FaultKind::ImuAxesSwapped, Part::Whole, &[1.0, 2.5, 3.0]),
        broken(FaultKind::ImuAxesSwapped, Part::Whole, &[1.0, 2.0, 0.0]),
        broken(FaultKind::ImuSaturated, Part::Whole, &[-1.0, 1.0]),
        broken(FaultKind::ImuSaturated, Part::Whole, &[nan, 1.0]),
        broken(FaultKind::FootSensorStuck, Part::Foot(4), &[]),
        broken(FaultKind::Payload, Part::Body(13), &[1.0]),
        broken(FaultKind::Payload, Part::Body(0), &[-1.0]),
        broken(FaultKind::Payload, Part::Body(0), &[1.0, nan]),
        broken(FaultKind::Payload, Part::Body(0), &[1.0, 0.0, 1e5]),
        broken(FaultKind::Friction, Part::Region(0), &[0.5, 0.4]),
        broken(FaultKind::Friction, Part::Whole, &[0.5, 0.6]),
        broken(FaultKind::Push, Part::Body(0), &[0.5]),
    ];
    let (mut simulation, mut quiet) = (quadruped(), quadruped());
    for event in bad {
        assert_eq!(refused(&mut simulation, &[event]), 1, "{event:?}");
        assert_eq!(refused(&mut quiet, &[]), 0);
        assert_eq!(simulation.state().digest, quiet.state().digest, "{event:?}");
    }
}

#[test]
fn a_saved_state_with_a_fault_that_cannot_be_is_refused() {
    let mut simulation = quadruped();
    stand(&mut simulation, &[broken(FaultKind::MotorDerated, Part::Joint(3), &[0.5])]);
    let words = simulation.snapshot_words();
    let place = |wanted: &str| {
        let (mut k, mut found) = (0, None);
        simulation.clone().walk(&mut |name, _, _: Word<'_>| {
            if name == wanted && found.is_none() {
                found = Some(k);
            }
            k += 1;
        });
        found.unwrap()
    };
    let huge = f64::to_bits(1e300);
    for (word, bits) in [
        ("fault.what", 99),
        ("fault.what", u64::MAX),
        ("fault.what", 6 + (9 << 8)),
        ("fault.what", 6 + (1 << 8) + (12 << 32)),
        ("fault.what", 6 + (1 << 24) + (3 << 32)),
        ("fault.what", 6 + (1 << 8) + (u64::from(u32::MAX) << 32)),
        ("fault.value", f64::to_bits(f64::NAN)),
        ("fault.value", huge),
        ("fault.memory", f64::to_bits(f64::INFINITY)),
    ] {
        let mut bad = words.clone();
        bad[place(word)] = bits;
        let mut other = quadruped();
        let before = motion(&other);
        assert!(other.restore(&bad).is_err(), "{word} {bits:x}");
        assert_eq!(motion(&other), before);
    }
    quadruped().restore(&words).unwrap();
}
