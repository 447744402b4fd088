//! The bytes of every kind of message are those that an independent encoder makes.
//!
//! `golden/payloads.hex` is the output of `golden/encode.py`, which packs the same values with
//! Python's `struct` from field tables of its own.

use std::fmt::{Debug, Write as _};
use std::path::PathBuf;
use std::process::Command;

use hardstand_protocol::{
    AnchorsRequest, Authority, BodiesReading, CandidateRecord, ClaimedCommand, ClearFaultsRequest,
    CommandSchedule, ConstraintRequest, ContactsReading, ControlRequest, DrivesReading, Event,
    EventReading, FaultKind, FaultRequest, FrictionRequest, Grant, GroundReply, InjectedFault,
    JoinReply, JoinRequest, JointCommand, JointSet, Keyframe, Kind, LeaveRequest, LogLink, LogTick,
    ModelReply, OrderHead, OrderReply, Part, PlantFailure, PushRequest, Rejection, SavedState,
    Scope, SensorsReading, SpeedRequest, StateReading, StatusReading, UNTIL_CLEARED, VERSION,
    VelocityCommand, Verdict, ViewReading, decode, encode,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::probe::probe;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn line(kind: Kind, bytes: &[u8]) -> String {
    let hex = bytes.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    });
    format!("{} {} {hex}\n", kind.code(), kind.name())
}

fn encoded<T: Serialize + DeserializeOwned + PartialEq + Debug>(kind: Kind, value: &T) -> String {
    let mut bytes = Vec::new();
    encode(kind, value, &mut bytes).unwrap();
    assert_eq!(decode::<T>(kind, &bytes).unwrap(), *value, "{kind:?}");
    line(kind, &bytes)
}

fn probed<T: Serialize + DeserializeOwned + PartialEq + Debug>(kind: Kind) -> String {
    encoded(kind, &probe::<T>().0)
}

fn of_kind(kind: Kind) -> String {
    match kind {
        Kind::State => probed::<StateReading>(kind),
        Kind::Contacts => probed::<ContactsReading>(kind),
        Kind::Command => probed::<ClaimedCommand>(kind),
        Kind::Status => probed::<StatusReading>(kind),
        Kind::Model => probed::<ModelReply>(kind),
        Kind::LogTick => encoded(kind, &log_tick()),
        Kind::Keyframe => probed::<Keyframe>(kind),
        Kind::Friction => probed::<(OrderHead, FrictionRequest)>(kind),
        Kind::OrderReply => probed::<OrderReply>(kind),
        Kind::Control => probed::<(OrderHead, ControlRequest)>(kind),
        Kind::Push => probed::<(OrderHead, PushRequest)>(kind),
        Kind::SavedState => probed::<SavedState>(kind),
        Kind::Join => probed::<(OrderHead, JoinRequest)>(kind),
        Kind::JoinReply => probed::<JoinReply>(kind),
        Kind::Leave => probed::<(OrderHead, LeaveRequest)>(kind),
        Kind::Speed => probed::<(OrderHead, SpeedRequest)>(kind),
        Kind::View => probed::<ViewReading>(kind),
        Kind::Ground => probed::<GroundReply>(kind),
        Kind::Event => probed::<EventReading>(kind),
        Kind::Fault => probed::<(OrderHead, FaultRequest)>(kind),
        Kind::ClearFaults => probed::<(OrderHead, ClearFaultsRequest)>(kind),
        Kind::Velocity => probed::<(OrderHead, VelocityCommand)>(kind),
        Kind::Constraint => probed::<(OrderHead, ConstraintRequest)>(kind),
        Kind::Anchors => probed::<(OrderHead, AnchorsRequest)>(kind),
        Kind::LogLink => probed::<LogLink>(kind),
        Kind::Drives => probed::<DrivesReading>(kind),
        Kind::Bodies => probed::<BodiesReading>(kind),
        Kind::Sensors => probed::<SensorsReading>(kind),
    }
}

/// Every event, and commands with every verdict.
fn log_tick() -> LogTick {
    let verdicts = [Verdict::Accepted, Verdict::Proving, Verdict::Rejected(Rejection::Conflict)];
    let candidates = (0..).zip(verdicts).map(|(i, verdict)| CandidateRecord {
        session: 3 + i,
        seq: 4 + i,
        answers_tick: 5 + i,
        applies_tick: 6 + i,
        size: 1,
        verdict,
    });
    LogTick {
        run_id: 1001,
        tick: 1002,
        candidates: candidates.collect(),
        joints: vec![JointCommand { q: 0.5, dq: 1.5, kp: 2.5, kd: 3.5, tau_ff: 4.5 }],
        events: events(),
        authority: Authority::Damped,
        failure: Some(PlantFailure::OutOfRange),
        digest: 17,
        missed_deadlines: 18,
        state: StateReading::default(),
        contacts: None,
        drives: DrivesReading::default(),
        sensors: SensorsReading::default(),
        references: Vec::new(),
        keyframe: Vec::new(),
    }
}

fn events() -> Vec<Event> {
    let mut joints = JointSet::default();
    assert!(joints.insert(5) && joints.insert(255));
    let schedule = CommandSchedule { period: 13, phase: 14, offset: 15 };
    let (kind, part) = (FaultKind::MotorDerated, Part::Joint(8));
    let fault = InjectedFault { kind, part, values: [0.5, 0.0, 0.0, 0.0] };
    let (point_B, force_W) = ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]);
    vec![
        Event::Push { body: 3, point_B, force_W, ticks: 7 },
        Event::Friction { scope: Scope::Foot(7), mu_static: 0.5, mu_kinetic: 0.25 },
        Event::Grant(Grant { controller: 11, session: 12, schedule, required: true, joints }),
        Event::Leave { session: 16 },
        Event::Stop,
        Event::Arm,
        Event::InjectFault { fault, ticks: UNTIL_CLEARED },
        Event::ClearFaults { kind: Some(FaultKind::LinkBitFlip), part: None },
        Event::ClearFaults { kind: None, part: Some(Part::Region(9)) },
        Event::Velocity(VelocityCommand::from([0.5, -0.25, 0.125])),
        Event::Constraint { index: 2, active: true },
        Event::ResetAnchors { scope: Scope::Station(21) },
        Event::Touch { body: 22, point_B, force_W },
    ]
}

#[test]
fn every_kind_of_message_has_the_bytes_of_the_file() {
    let found: String = Kind::ALL.into_iter().map(of_kind).collect();
    let expected = std::fs::read_to_string(folder().join("payloads.hex")).unwrap();
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected, "a layout has changed: raise VERSION");
    }
    assert_eq!(found.lines().count(), expected.lines().count());
}

#[test]
fn python_makes_the_file() {
    let Ok(out) = Command::new("python3").arg(folder().join("encode.py")).output() else {
        println!("skipped: python3 is not installed");
        return;
    };
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let expected = std::fs::read_to_string(folder().join("payloads.hex")).unwrap();
    assert_eq!(String::from_utf8(out.stdout).unwrap(), expected);
}

#[test]
fn a_schema_names_kind_and_version() {
    for kind in Kind::ALL {
        assert_eq!(kind.schema(), format!("hardstand.{}.v{VERSION}", kind.name()));
    }
}

#[test]
fn a_message_of_another_version_is_refused_with_both_versions() {
    let mut bytes = Vec::new();
    encode(Kind::Speed, &SpeedRequest { speed: 1.0 }, &mut bytes).unwrap();
    bytes[2] = 6;
    let e = decode::<SpeedRequest>(Kind::Speed, &bytes).unwrap_err().to_string();
    assert!(e.contains("protocol version 6") && e.contains("version 7"), "{e}");
}
