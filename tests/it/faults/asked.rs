//! How faults are asked for: the table, the scenario, the bus.

use hardstand::ingress::{check_clear_faults, check_fault};
use hardstand_protocol::{ClearFaultsRequest, FaultRequest, HEADER_BYTES, Kind, encode};
use hardstand_protocol::{
    Event, FaultKind, FaultSpec, InjectedFault, Part, Rejection, Scope, UNTIL_CLEARED,
};

use crate::common::bench::quadruped;

/// An entry of `events` from the arguments of a command, as the documentation says.
fn entry(row: &FaultSpec) -> String {
    let mut keys = vec![format!("at_s=0.5, kind=\"{}\"", row.name)];
    let mut words = row.example.split(' ').peekable();
    while let Some(option) = words.next() {
        let name = option.strip_prefix("--").unwrap().replace('-', "_");
        let mut values = Vec::new();
        while let Some(value) = words.next_if(|w| !w.starts_with("--")) {
            values.push(value);
        }
        let key = if name == "duration" { "duration_s".into() } else { name };
        keys.push(match &values[..] {
            [one] if one.parse::<f64>().is_ok() => format!("{key}={one}"),
            [one] => format!("{key}=\"{one}\""),
            several => format!("{key}=[{}]", several.join(",")),
        });
    }
    format!("events=[{{{}}}]", keys.join(", "))
}

/// A motor bus, for faults of its drives.
const BUS: &str = "buses=[{name=\"one\", wire=\"slcan\", port=\"/run/one\", drives=[{motor=\
                   \"mini-cheetah\", id=1, joint=\"FL_calf_joint\"}]}]";

fn planned(events: &str) -> Event {
    let scenario = quadruped(&[BUS, events]);
    let [(500, event)] = scenario.events[..] else { panic!("{:?}", scenario.events) };
    event
}

#[test]
fn every_kind_has_a_name_and_an_example_that_works() {
    let mut names: Vec<&str> = FaultKind::TABLE.iter().map(|row| row.name).collect();
    for row in &FaultKind::TABLE {
        assert_eq!(FaultSpec::named(row.name).unwrap().kind, row.kind);
        assert_eq!(row.kind.row().name, row.name);
        assert_eq!(FaultKind::from_code(row.kind.code()), Some(row.kind));
        let event = planned(&entry(row));
        match row.kind {
            FaultKind::Push => assert!(matches!(event, Event::Push { ticks: 150, .. })),
            kind => {
                assert!(matches!(event, Event::InjectFault { fault, .. } if fault.kind == kind))
            }
        }
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), FaultKind::TABLE.len());
    assert_eq!((FaultKind::from_code(0), FaultKind::from_code(34)), (None, None));
}

#[test]
fn a_scenario_says_what_breaks_and_for_how_long() {
    let fault = |kind, part, values, ticks| Event::InjectFault {
        fault: InjectedFault { kind, part, values },
        ticks,
    };
    let text = "events=[{at_s=0.5, kind=\"motor_derated\", joint=\"FL_calf_joint\", share=0.25, \
                duration_s=0.1}]";
    let expected = fault(FaultKind::MotorDerated, Part::Joint(2), [0.25, 0.0, 0.0, 0.0], 100);
    assert_eq!(planned(text), expected);
    let text = "events=[{at_s=0.5, kind=\"motor_dead\"}]";
    let expected = fault(FaultKind::MotorDead, Part::Whole, [0.0; 4], UNTIL_CLEARED);
    assert_eq!(planned(text), expected, "all joints, for ever");
    // a point of a fixed link is one of the body that carries it
    let text = "events=[{at_s=0.5, kind=\"payload\", link=\"FL_foot\", mass_kg=1}]";
    let Event::InjectFault { fault: carried, .. } = planned(text) else { panic!() };
    assert_eq!((carried.part, carried.values[0]), (Part::Body(3), 1.0));
    assert!(carried.values[3] < -0.1, "the foot is at the calf's end: {carried:?}");
    let slip = "events=[{at_s=0.5, kind=\"friction\", foot=\"FR\", mu_static=0.2, mu_kinetic=0.1";
    let now = Event::Friction { scope: Scope::Foot(1), mu_static: 0.2, mu_kinetic: 0.1 };
    assert_eq!(planned(&format!("{slip}}}]")), now);
    let expected = fault(FaultKind::Friction, Part::Foot(1), [0.2, 0.1, 0.0, 0.0], 30);
    assert_eq!(planned(&format!("{slip}, duration_s=0.03}}]")), expected);
}

#[test]
fn mistakes_are_named_with_value_and_range() {
    use hardstand::config::Scenario;
    let scenario = include_str!("../../../config/quadruped.toml");
    let robot = include_str!("../../../config/robots/quadruped.urdf");
    let refusal = |event: &str| {
        let sets = [format!("events=[{{at_s=0.5, {event}}}]")];
        Scenario::from_texts(scenario, robot, &sets).unwrap_err().to_string()
    };
    for (event, words) in [
        ("kind=\"melted\"", "kind is \"melted\"; it must be \"encoder_stuck\" or"),
        ("kind=\"encoder_stuck\"", "joint is missing; it must be the name of a joint"),
        ("kind=\"encoder_stuck\", joint=\"x\"", "joint is \"x\"; it must be the name of a joint"),
        ("kind=\"motor_derated\", share=1.5", "share is 1.5; it must be 0 to 1"),
        ("kind=\"motor_derated\"", "share is missing; it must be 0 to 1"),
        ("kind=\"bus_loss\", share=1.0", "the fault \"bus_loss\" needs a drive in [[buses]]"),
        ("kind=\"motor_dead\", foot=\"FL\"", "events[0].foot is unknown; known here:"),
        ("kind=\"motor_dead\", duration_s=0.0001", "duration_s is 0.0001; it must be 0.001 to"),
        ("kind=\"encoder_noise\", amplitude=0.1, seed=0.5", "seed is 0.5; it must be a whole"),
        ("kind=\"imu_axes_swapped\", axes=[1,1,2]", "axes is [1, 1, 2]; it must be 1, 2 and 3"),
        ("kind=\"imu_gyro_bias\", bias_rad_per_s=[1]", "it must be three numbers, each -1000 to"),
        ("kind=\"payload\", link=\"trunk\", mass_kg=-1", "mass_kg is -1; it must be 0 to 1000"),
        ("kind=\"push\", link=\"trunk\", force_n=[1,0,0]", "duration_s is missing"),
    ] {
        let text = refusal(event);
        assert!(text.contains(words), "{event}: {text}");
    }
    let nine: String = (0..9)
        .map(|i| {
            format!("{{at_s=1, kind=\"encoder_offset\", joint=\"{}\", offset=0.1}},", JOINTS[i])
        })
        .collect();
    let text = Scenario::from_texts(scenario, robot, &[format!("events=[{nine}]")]);
    let text = text.unwrap_err().to_string();
    assert!(text.contains("more than 8 of the 9 other faults act at the same time"), "{text}");
}

const JOINTS: [&str; 9] = [
    "FL_hip_joint",
    "FL_thigh_joint",
    "FL_calf_joint",
    "FR_hip_joint",
    "FR_thigh_joint",
    "FR_calf_joint",
    "RL_hip_joint",
    "RL_thigh_joint",
    "RL_calf_joint",
];

fn fault_bytes(r: &FaultRequest) -> Vec<u8> {
    let mut out = Vec::new();
    encode(Kind::Fault, r, &mut out).unwrap();
    out.split_off(HEADER_BYTES)
}

fn request(kind: &str, part: &str, name: &str, values: &[f64], ticks: u64) -> FaultRequest {
    let (kind, part, name) = (kind.into(), part.into(), name.into());
    FaultRequest { kind, part, name, values: values.to_vec(), ticks }
}

fn judged(r: &FaultRequest) -> Result<Event, (Rejection, String)> {
    let s = quadruped(&[]);
    check_fault(&fault_bytes(r), &s.model, &s.spec).map_err(|e| (e.reason, e.text))
}

#[test]
fn a_body_has_exactly_these_bytes() {
    let share = 0.5_f64.to_le_bytes();
    let expected: Vec<u8> = [
        [13, 0, 0, 0, 0, 0, 0, 0].as_slice(),
        b"motor_derated",
        &[5, 0, 0, 0, 0, 0, 0, 0],
        b"joint",
        &[12, 0, 0, 0, 0, 0, 0, 0],
        b"FL_hip_joint",
        &[1, 0, 0, 0, 0, 0, 0, 0],
        &share,
        &[250, 0, 0, 0, 0, 0, 0, 0],
    ]
    .concat();
    let r = request("motor_derated", "joint", "FL_hip_joint", &[0.5], 250);
    assert_eq!(fault_bytes(&r), expected);
    let s = quadruped(&[]);
    let event = check_fault(&expected, &s.model, &s.spec).unwrap();
    let values = [0.5, 0.0, 0.0, 0.0];
    let fault = InjectedFault { kind: FaultKind::MotorDerated, part: Part::Joint(0), values };
    assert_eq!(event, Event::InjectFault { fault, ticks: 250 });
    // whatever is cut off or added is refused, and nothing panics
    for n in 0..expected.len() {
        assert_eq!(
            check_fault(&expected[..n], &s.model, &s.spec).unwrap_err().reason,
            Rejection::Size,
            "{n} bytes"
        );
    }
    let more = [expected.as_slice(), &[0]].concat();
    assert!(check_fault(&more, &s.model, &s.spec).is_err());
    let mut huge = expected.clone();
    huge[..8].fill(0xff);
    assert_eq!(check_fault(&huge, &s.model, &s.spec).unwrap_err().reason, Rejection::Size);
}

#[test]
fn requests_are_refused_with_reason_and_words() {
    let range = Rejection::OutOfRange;
    let nan = f64::NAN;
    for (r, reason, words) in [
        (request("x", "", "", &[], 0), range, "kind is \"x\"; it must be one of: encoder_stuck, "),
        (
            request("motor_dead", "", "", &[1.0], 0),
            range,
            "values has 1 numbers; motor_dead needs 0",
        ),
        (request("battery_sag", "", "", &[], 0), range, "battery_sag needs 1"),
        (request("battery_sag", "", "", &[1.1], 0), range, "share is 1.1; it must be 0 to 1"),
        (request("battery_sag", "", "", &[nan], 0), Rejection::NotFinite, "share is NaN"),
        (request("battery_sag", "joint", "a", &[0.5], 0), range, "joint: it must be left out"),
        (
            request("encoder_stuck", "joint", "a", &[], 0),
            range,
            "joint is \"a\": it must be the name",
        ),
        (request("encoder_stuck", "", "", &[], 0), range, "joint is \"\": it must be the name"),
        (request("encoder_stuck", "foot", "FL", &[], 0), range, "foot: it must be left out"),
        (request("motor_dead", "", "", &[], 1 << 54), range, "ticks is 18014398509481984"),
        (
            request("push", "link", "trunk", &[0.0; 6], 0),
            range,
            "duration: it must be at least one",
        ),
        (request("friction", "", "", &[0.1, 0.2], 0), range, "mu_kinetic: it must be at most"),
    ] {
        let (got, text) = judged(&r).unwrap_err();
        assert!(got == reason && text.contains(words), "{r:?}: {got:?} {text}");
    }
    assert!(judged(&request("motor_dead", "", "", &[], 5)).is_ok());
}

#[test]
fn a_mend_names_a_kind_and_a_part_or_neither() {
    let s = quadruped(&[]);
    let judged = |kind: &str, part: &str, name: &str| {
        let (kind, part, name) = (kind.into(), part.into(), name.into());
        let mut out = Vec::new();
        encode(Kind::ClearFaults, &ClearFaultsRequest { kind, part, name }, &mut out).unwrap();
        let out = out.split_off(HEADER_BYTES);
        check_clear_faults(&out, &s.model, &s.spec).map_err(|e| e.text)
    };
    let mend = |kind, part| Ok(Event::ClearFaults { kind, part });
    assert_eq!(judged("", "", ""), mend(None, None));
    assert_eq!(judged("push", "", ""), mend(Some(FaultKind::Push), None));
    let stuck = mend(Some(FaultKind::EncoderStuck), Some(Part::Joint(1)));
    assert_eq!(judged("encoder_stuck", "joint", "FL_thigh_joint"), stuck);
    assert!(judged("", "joint", "FL_thigh_joint").unwrap_err().contains("without kind"));
    assert!(judged("x", "", "").unwrap_err().contains("kind is \"x\""));
    assert!(judged("encoder_stuck", "joint", "x").unwrap_err().contains("joint is \"x\""));
}
