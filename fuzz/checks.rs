//! Properties that hold for any bytes, shared by the fuzz targets and `tests/it/corpus.rs`.
#![allow(dead_code, reason = "each target uses one of them")]
#![allow(clippy::unwrap_used, clippy::panic, unreachable_pub, missing_docs)]

#[path = "../crates/physics/tests/it/common/dice.rs"]
mod dice;
#[path = "../tests/it/common/oracle.rs"]
mod oracle;

use std::path::Path;
use std::sync::OnceLock;

use hardstand::config::Scenario;
use hardstand::ingress::{
    CommandLimits, FrictionLimits, OrderLimits, check_command, check_control, check_friction,
    check_head, check_saved,
};
use hardstand::limits::MESSAGE_BYTES_MAX;
use hardstand::mjcf::convert;
use hardstand::robot_log::{parse_npz, parse_rosbag, parse_sqlite_bag};
use hardstand::ros2::messages::{
    DynamicJointState, Float64MultiArray, JointState, JointTrajectory, Message,
};
use hardstand::ros2::unitree::{LowCmd, LowState};
use hardstand::urdf::{BaseChoice, parse_urdf};
use hardstand_log::{LogReader, LogRecord};
use hardstand_motors::wires::{Adapter, Fdcanusb, Slcan, Socketcand, from_socketcan};
pub use hardstand_port::packet;
use hardstand_protocol::{Command, Event, TickInput};
use hardstand_protocol::{
    FrictionRequest, Kind, Order, decode_command, encode, encode_command, encode_order,
};

const HASH: u64 = 0x0123_4567_89ab_cdef;
pub const COMMANDS: CommandLimits =
    CommandLimits { layout_hash: HASH, run_id: 3, joints: 2, kp_max: 500.0, kd_max: 20.0 };
pub const FRICTION: FrictionLimits =
    FrictionLimits { layout_hash: HASH, counts: [12, 4, 2], feet_of_shapes: 0 };
/// What an order must name.
pub const ORDERS: OrderLimits<'_> = OrderLimits { robot: "quadruped", run_id: 3 };
/// The robot of the scenarios.
pub const ROBOT: &str = include_str!("../config/robots/quadruped.urdf");

/// Packets of UDP and shared memory: what decodes has the length that it says, and encodes to a
/// packet with the same numbers.
pub fn port_packets(data: &[u8]) {
    let Ok(command) = packet::decode_command(packet::in_slot(data)) else { return };
    let (mut first, mut second) = (Vec::new(), Vec::new());
    packet::encode_command(&command, &mut first);
    assert_eq!(first.len(), packet::command_bytes(command.joints.len()));
    packet::encode_command(&packet::decode_command(&first).unwrap(), &mut second);
    assert_eq!(first, second);
}

/// Adapters of motor buses: the frames do not depend on how the bytes come in pieces. The first
/// byte chooses the adapter, the second one the pieces.
pub fn motor_wires(data: &[u8]) {
    let [wire, piece, bytes @ ..] = data else { return };
    let adapter = || -> Box<dyn Adapter> {
        match wire % 3 {
            0 => Box::new(Slcan::default()),
            1 => Box::new(Socketcand::default()),
            _ => Box::new(Fdcanusb::default()),
        }
    };
    let fed = |pieces: &mut dyn Iterator<Item = &[u8]>| {
        let (mut adapter, mut frames, mut answers) = (adapter(), Vec::new(), Vec::new());
        adapter.greet(&mut answers);
        for piece in pieces {
            adapter.feed(piece, &mut frames, &mut answers);
        }
        (frames, answers)
    };
    let whole = fed(&mut std::iter::once(bytes));
    assert_eq!(whole, fed(&mut bytes.chunks(usize::from(*piece).max(1))));
    assert!(from_socketcan(bytes).is_none_or(|frame| frame.data().len() <= 64));
}

/// A message of ROS 2 or of Unitree: what decodes encodes to bytes that mean the same. The first
/// byte chooses the type.
pub fn cdr(data: &[u8]) {
    fn check<M: Message>(bytes: &[u8]) {
        let Ok(message) = M::decode(bytes) else { return };
        let (mut first, mut second) = (Vec::new(), Vec::new());
        message.encode(&mut first);
        M::decode(&first).unwrap().encode(&mut second);
        assert_eq!(first, second, "{}", M::NAME);
    }
    let Some((kind, bytes)) = data.split_first() else { return };
    match kind % 6 {
        0 => check::<JointState>(bytes),
        1 => check::<JointTrajectory>(bytes),
        2 => check::<DynamicJointState>(bytes),
        3 => check::<Float64MultiArray>(bytes),
        4 => check::<LowState>(bytes),
        _ => check::<LowCmd>(bytes),
    }
}

/// A model of MuJoCo: a robot that can be read, or an error.
pub fn mjcf(data: &[u8]) {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().unwrap());
    let file = folder.path().join(format!("{:?}.xml", std::thread::current().id()));
    std::fs::write(&file, data).unwrap();
    if let Ok(robot) = convert(&file) {
        // the limits of a URDF are stricter than those of a model
        _ = parse_urdf(&robot.urdf, "converted", BaseChoice::Auto).is_ok();
    }
}

/// Logs of robots: a table of finite numbers and empty cells, or an error. The first byte chooses
/// the format.
pub fn robot_logs(data: &[u8]) {
    let Some((format, bytes)) = data.split_first() else { return };
    let parse = [parse_npz, parse_rosbag, parse_sqlite_bag][usize::from(format % 3)];
    let Ok(table) = parse("log", bytes) else { return };
    assert_eq!(table.names.len(), table.values.len());
    for column in &table.values {
        assert_eq!(column.len(), table.len());
        assert!(!column.iter().any(|x| x.is_infinite()));
    }
}

/// The checks at arrival agree with an independent check; accepted bytes encode to the same bytes.
pub fn command_bytes(data: &[u8]) {
    let mut command = Command::default();
    let claim = decode_command(data, COMMANDS.joints);
    let found = claim.as_ref().map_err(|&reason| reason).and_then(|claim| {
        check_command(claim, &COMMANDS, &mut command)?;
        Ok(claim)
    });
    let expected = oracle::judge(data, &COMMANDS);
    assert_eq!(found.err(), expected.as_ref().err().copied());
    let (Ok(claim), Ok(said)) = (found, expected) else { return };
    assert_eq!(
        [command.session, command.seq, command.answers_tick],
        [said.session, said.seq, said.answers_tick]
    );
    let numbers = command.joints.iter().flat_map(|j| [j.q, j.dq, j.kp, j.kd, j.tau_ff]);
    assert!(numbers.map(f64::to_bits).eq(said.bits));
    let mut again = Vec::new();
    encode_command(claim, &mut again).unwrap();
    assert_eq!(again, data);
}

/// An accepted order is within the limits and encodes to the same bytes. The other bodies are tried
/// with the same bytes.
pub fn friction_bytes(data: &[u8]) {
    if let Ok(control) = check_control(data) {
        assert!(control.rewind <= 1 && control.number <= 1 << 53);
    }
    if let Ok(saved) = check_saved(data, HASH, HASH) {
        assert!(8 * saved.words.len() <= data.len());
    }
    let (head, body) = match check_head(Order::Friction, data, &ORDERS) {
        Ok(checked) => checked,
        Err(refusal) => return assert!(!refusal.text.is_empty()),
    };
    match check_friction(body, &FRICTION) {
        Ok(Event::Friction { scope, mu_static, mu_kinetic }) => {
            assert!((0.0..=100.0).contains(&mu_static) && (0.0..=mu_static).contains(&mu_kinetic));
            let same = FrictionRequest::new(HASH, scope, mu_static, mu_kinetic);
            let mut again = Vec::new();
            encode_order(Order::Friction, &head, &same, &mut again).unwrap();
            assert_eq!(again, data);
        }
        Ok(other) => panic!("{other:?}"),
        Err(refusal) => assert!(!refusal.text.is_empty()),
    }
}

/// The records of a log, and the reader's message at its end.
fn records(data: &[u8]) -> hardstand::Result<(Vec<LogRecord>, Option<String>)> {
    let mut log = LogReader::from_bytes(Path::new("bytes"), data.to_vec())?;
    let found = std::iter::from_fn(|| log.next_record()).collect();
    Ok((found, log.damage().map(String::from)))
}

/// A truncated log gives a prefix of the records of the whole log, and an error if records are
/// missing; its ticks follow one another.
pub fn log_bytes(data: &[u8]) {
    let Ok((whole, damage)) = records(data) else { return };
    let ticks: Vec<u64> = whole
        .iter()
        .filter_map(|r| if let LogRecord::Tick(t) = r { Some(t.tick) } else { None })
        .collect();
    assert!(ticks.windows(2).all(|t| t[1] == t[0].saturating_add(1)), "{ticks:?}");
    for share in [3, 6, 7] {
        let cut = &data[..data.len() * share / 8];
        if let Ok((part, said)) = records(cut) {
            // as text, because NaN equals NaN there
            let (whole, part) = (texts(&whole), texts(&part));
            assert!(whole.starts_with(&part), "not a prefix: {} of {}", part.len(), whole.len());
            assert!(part.len() == whole.len() || said.is_some(), "{damage:?}");
        }
    }
}

fn texts(records: &[LogRecord]) -> Vec<String> {
    records.iter().map(|r| format!("{r:?}")).collect()
}

/// A robot that loads can be simulated.
pub fn urdf(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let loaded = parse_urdf(&text, "robot", BaseChoice::Auto);
    if let Err(e) = &loaded {
        assert!(e.to_string().starts_with("robot"), "{e}");
    }
    match Scenario::from_texts("", &text, &[]) {
        Ok(scenario) => {
            assert!(loaded.is_ok());
            simulate(&scenario);
        }
        Err(e) => assert!(e.to_string().len() > 10, "{e}"),
    }
}

/// An accepted scenario is complete: its written form loads to the same scenario.
pub fn config(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match Scenario::from_texts(&text, ROBOT, &[]) {
        Ok(scenario) => {
            let again = Scenario::from_texts(&scenario.complete_toml, ROBOT, &[]).unwrap();
            assert_eq!(again.physics_hash, scenario.physics_hash);
            assert_eq!(again.complete_toml, scenario.complete_toml);
            assert_eq!(again.events, scenario.events);
            simulate(&scenario);
        }
        Err(e) => assert!(e.to_string().len() > 10, "{e}"),
    }
}

/// Three ticks: all numbers are finite, and every message fits the bus.
fn simulate(scenario: &Scenario) {
    let mut simulation = scenario.simulation();
    let mut snapshot = simulation.new_snapshot();
    let mut bytes = Vec::new();
    for _ in 0..3 {
        let before = simulation.state().digest;
        let outcome = simulation.step(&TickInput::new());
        simulation.fill(&mut snapshot);
        let (q, v, state) = (&simulation.state().q, &simulation.state().v, &snapshot.state);
        let numbers = q.p_WB.iter().chain(&q.joints).chain(v.w_WB.iter()).chain(v.v_WB.iter());
        assert!(numbers.chain(&v.joints).chain(&state.foot_normal_n).all(|x| x.is_finite()));
        assert!(snapshot.contacts.stations.iter().all(|s| s.normal_n.is_finite()));
        assert!(outcome.failure.is_none() || simulation.state().digest == before, "frozen");
        encode(Kind::State, state, &mut bytes).unwrap();
        assert!(bytes.len() <= MESSAGE_BYTES_MAX);
        encode(Kind::Contacts, &snapshot.contacts, &mut bytes).unwrap();
        assert!(bytes.len() <= MESSAGE_BYTES_MAX);
    }
}
