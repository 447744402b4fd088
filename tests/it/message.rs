//! Messages: exact bytes, forged lengths, and every way in which a command can be wrong.

use hardstand::ErrorKind;
use hardstand::ingress::{CommandLimits, check_command};
use hardstand_protocol::{
    AGE_EDGES_TICKS, ClaimedCommand, ControllerReading, Counter, Distribution, Keyframe, Kind,
    LATENCY_EDGES_NS, ModelReply, RegionDescription, StatusReading, VERSION, VelocityCommand,
    decode, decode_command, encode, encode_command,
};
use hardstand_protocol::{
    Command, ContactsReading, FootReading, JointCommand, JointReading, Rejection, StateReading,
    StationReading,
};

const LIMITS: CommandLimits = CommandLimits {
    layout_hash: 0x0123_4567_89ab_cdef,
    run_id: 3,
    joints: 2,
    kp_max: 500.0,
    kd_max: 20.0,
};

fn good() -> ClaimedCommand {
    let joint = JointCommand { q: 0.5, dq: -1.0, kp: 100.0, kd: 2.0, tau_ff: 3.0 };
    ClaimedCommand {
        layout_hash: LIMITS.layout_hash,
        run_id: 3,
        session: 0x1122_3344_5566_7788,
        seq: 9,
        answers_tick: 1000,
        applies_tick: 1002,
        joints: vec![joint, JointCommand::default()],
    }
}

fn bytes_of(claim: &ClaimedCommand) -> Vec<u8> {
    let mut out = Vec::new();
    encode_command(claim, &mut out).unwrap();
    out
}

/// What becomes of bytes that arrive.
fn take_in(bytes: &[u8]) -> Result<Command, Rejection> {
    let claim = decode_command(bytes, LIMITS.joints)?;
    let mut out = Command::default();
    check_command(&claim, &LIMITS, &mut out)?;
    Ok(out)
}

#[test]
fn a_command_has_exactly_these_bytes() {
    let expected: Vec<u8> = [
        b"HS\x07\x03".as_slice(),
        &[0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01], // layout hash
        &[3, 0, 0, 0],                                     // run_id
        &[0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11], // session
        &[9, 0, 0, 0, 0, 0, 0, 0],                         // sequence
        &[0xe8, 3, 0, 0, 0, 0, 0, 0],                      // answers tick
        &[0xea, 3, 0, 0, 0, 0, 0, 0],                      // applies tick
        &[2, 0, 0, 0, 0, 0, 0, 0],                         // number of joints
        &[0, 0, 0, 0, 0, 0, 0xe0, 0x3f],                   // q 0.5
        &[0, 0, 0, 0, 0, 0, 0xf0, 0xbf],                   // dq -1
        &[0, 0, 0, 0, 0, 0, 0x59, 0x40],                   // kp 100
        &[0, 0, 0, 0, 0, 0, 0x00, 0x40],                   // kd 2
        &[0, 0, 0, 0, 0, 0, 0x08, 0x40],                   // tau_ff 3
        &[0; 40],
    ]
    .concat();
    assert_eq!(bytes_of(&good()), expected);
    assert_eq!(decode_command(&expected, 2).unwrap(), good());
}

/// Every field of a state at its place, as a controller in C or Python reads it.
#[test]
fn a_state_has_exactly_these_bytes() {
    let mut n = 0.0;
    let mut next = || {
        n += 1.0;
        n
    };
    let mut three = || [next(), next(), next()];
    let (w, p, v, a, b) = (three(), three(), three(), three(), three());
    let state = StateReading {
        layout_hash: 0x0102_0304_0506_0708,
        run_id: 0x0a0b_0c0d,
        tick: 77,
        time_ns: 77_000_000,
        mode: 1,
        phase: 2,
        failure: 3,
        authority: 4,
        command_age_ticks: u32::MAX,
        command_session: 5,
        command_seq: 6,
        digest: u64::MAX - 1,
        imu_quat_wxyz: [1.0, 0.0, 0.25, -0.5],
        imu_angular_velocity_rad_per_s: w,
        imu_specific_force_m_per_s2: p,
        truth_base_position_m: v,
        truth_base_quat_wxyz: [0.5; 4],
        truth_base_velocity_m_per_s: a,
        truth_base_angular_velocity_rad_per_s: b,
        joints: vec![JointReading { q: 0.1, dq: 0.2, tau: 0.3 }],
        foot_contact: vec![1, 0],
        foot_normal_n: vec![-0.0, f64::MIN_POSITIVE / 2.0],
        velocity_command: VelocityCommand::from([0.5, -0.25, 0.125]),
    };
    let mut expected = b"HS\x07\x01".to_vec();
    expected.extend(0x0102_0304_0506_0708_u64.to_le_bytes());
    expected.extend(0x0a0b_0c0d_u32.to_le_bytes());
    expected.extend(77_u64.to_le_bytes());
    expected.extend(77_000_000_u64.to_le_bytes());
    expected.extend([1, 2, 3, 4]);
    expected.extend([0xff; 4]);
    expected.extend([5, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0]);
    expected.extend([0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    let mut floats = |values: &[f64]| {
        for x in values {
            expected.extend(x.to_bits().to_le_bytes());
        }
    };
    floats(&[1.0, 0.0, 0.25, -0.5]);
    floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    floats(&[0.5; 4]);
    floats(&[10.0, 11.0, 12.0, 13.0, 14.0, 15.0]);
    floats(&[0.5, -0.25, 0.125]);
    expected.extend(1_u64.to_le_bytes());
    for x in [0.1_f64, 0.2, 0.3] {
        expected.extend(x.to_le_bytes());
    }
    expected.extend(2_u64.to_le_bytes());
    expected.extend([1, 0]);
    expected.extend(2_u64.to_le_bytes());
    expected.extend(0x8000_0000_0000_0000_u64.to_le_bytes());
    expected.extend(0x0008_0000_0000_0000_u64.to_le_bytes());

    let mut bytes = Vec::new();
    encode(Kind::State, &state, &mut bytes).unwrap();
    assert_eq!(bytes, expected);
    assert_eq!(decode::<StateReading>(Kind::State, &bytes).unwrap(), state);
}

#[test]
fn every_payload_comes_back_as_it_went() {
    fn round<T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug>(
        kind: Kind,
        value: &T,
    ) {
        let mut bytes = vec![1, 2, 3]; // what was there before does not matter
        encode(kind, value, &mut bytes).unwrap();
        assert_eq!(bytes[..4], [b'H', b'S', VERSION, kind as u8]);
        assert_eq!(&decode::<T>(kind, &bytes).unwrap(), value);
        // one byte more or less, another kind, another version: refused
        let refused = |b: &[u8]| {
            assert_eq!(decode::<T>(kind, b).unwrap_err().kind(), ErrorKind::Log, "{kind:?}");
        };
        refused(&[bytes.as_slice(), &[0]].concat());
        for cut in 0..bytes.len() {
            refused(&bytes[..cut]);
        }
        for (at, value) in [(0, b'X'), (1, b'X'), (2, VERSION + 1), (3, 99)] {
            let mut other = bytes.clone();
            other[at] = value;
            refused(&other);
        }
    }
    let contacts = ContactsReading {
        feet: vec![FootReading { normal_n: 35.0, ..Default::default() }; 2],
        stations: vec![StationReading { mu: 0.7, ..Default::default() }; 3],
        ..Default::default()
    };
    round(Kind::Contacts, &contacts);
    round(Kind::Command, &good());
    let counters = vec![Counter { name: "missed_deadlines".into(), value: u64::MAX }];
    let refused = vec!["SCHED_FIFO priority 80 — é".to_string()];
    let ages = Distribution { max: 9, counts: vec![3; 19], ..Default::default() };
    let applied_age_ticks = ages;
    round(
        Kind::Status,
        &StatusReading { applied_age_ticks, counters, refused, ..Default::default() },
    );
    let regions = vec![RegionDescription { name: "ice".into(), ..Default::default() }];
    round(Kind::Model, &ModelReply { version: "0.1".into(), regions, ..Default::default() });
    round(Kind::Keyframe, &Keyframe { run_id: 1, tick: 2, words: vec![0, u64::MAX] });
    assert_eq!(Kind::Command.schema(), "hardstand.Command.v7");
}

/// Every field of a status at its place, and the documented edges.
#[test]
fn a_status_has_exactly_these_bytes() {
    let distribution = |n: u64| Distribution {
        p50: n,
        p99: n + 1,
        p99_9: n + 2,
        p99_99: n + 3,
        max: n + 4,
        counts: vec![n + 5],
    };
    let status = StatusReading {
        run_id: 1,
        tick: 2,
        time_ns: 3,
        period_ns: 4,
        mode: 5,
        phase: 6,
        failure: 7,
        authority: 8,
        command_age_ticks: u32::MAX,
        command_session: 9,
        speed: 0.25,
        real_time_factor: 0.5,
        fifo_priority: 10,
        core: 11,
        memory_locked: 1,
        wakeup_latency_ns: distribution(20),
        tick_cost_ns: distribution(30),
        applied_age_ticks: distribution(40),
        counters: vec![Counter { name: "n".into(), value: 12 }],
        refused: vec!["no".into()],
        controllers: vec![ControllerReading {
            name: "c".into(),
            role: 13,
            session: 14,
            period_ticks: 15,
            phase_ticks: 16,
            offset_ticks: 17,
            joints: 18,
        }],
        missing: vec!["m".into()],
    };
    let mut expected = b"HS\x07\x04\x01\0\0\0".to_vec();
    let word = |n: u64| n.to_le_bytes();
    expected.extend([2, 3, 4].map(word).concat());
    expected.extend([5, 6, 7, 8, 0xff, 0xff, 0xff, 0xff]);
    expected.extend([word(9), 0.25_f64.to_le_bytes(), 0.5_f64.to_le_bytes()].concat());
    expected.extend([10, 11, 0, 0, 0, 1]);
    for n in [20, 30, 40] {
        expected.extend([n, n + 1, n + 2, n + 3, n + 4, 1, n + 5].map(word).concat());
    }
    expected.extend([word(1).as_slice(), &word(1), b"n", &word(12)].concat());
    expected.extend([word(1).as_slice(), &word(2), b"no"].concat());
    expected.extend([word(1).as_slice(), &word(1), b"c", &[13]].concat());
    expected.extend([14, 15, 16, 17].map(word).concat());
    expected.extend(18_u32.to_le_bytes());
    expected.extend([word(1).as_slice(), &word(1), b"m"].concat());
    let mut bytes = Vec::new();
    encode(Kind::Status, &status, &mut bytes).unwrap();
    assert_eq!(bytes, expected);

    assert_eq!(LATENCY_EDGES_NS[..8], [1000, 1500, 2000, 3000, 5000, 7000, 10_000, 15_000]);
    assert_eq!(LATENCY_EDGES_NS[36], 1_000_000_000);
    assert!(
        LATENCY_EDGES_NS.is_sorted_by(|a, b| a < b) && AGE_EDGES_TICKS.is_sorted_by(|a, b| a < b)
    );
}

/// Without a limit a forged length makes the decoder ask for terabytes, and the process dies.
#[test]
fn forged_lengths_are_refused() {
    for claimed in [u64::MAX, u64::MAX / 8, 1 << 40, 1 << 32, 1 << 26] {
        let mut bytes = bytes_of(&good());
        bytes[48..56].copy_from_slice(&claimed.to_le_bytes());
        assert!(decode::<ClaimedCommand>(Kind::Command, &bytes).is_err());
        assert_eq!(decode_command(&bytes, 2), Err(Rejection::Size));

        let mut keyframe = Vec::new();
        encode(Kind::Keyframe, &Keyframe::default(), &mut keyframe).unwrap();
        let at = keyframe.len() - 8;
        keyframe[at..].copy_from_slice(&claimed.to_le_bytes());
        assert!(decode::<Keyframe>(Kind::Keyframe, &keyframe).is_err());

        let mut status = Vec::new();
        encode(Kind::Status, &StatusReading::default(), &mut status).unwrap();
        let at = status.len() - 8;
        status[at..].copy_from_slice(&claimed.to_le_bytes());
        assert!(decode::<StatusReading>(Kind::Status, &status).is_err());

        let one = StatusReading { refused: vec!["x".into()], ..Default::default() };
        encode(Kind::Status, &one, &mut status).unwrap();
        let at = status.len() - 9;
        status[at..at + 8].copy_from_slice(&claimed.to_le_bytes());
        assert!(decode::<StatusReading>(Kind::Status, &status).is_err());
    }
}

/// IN-4: each bad value has its reason.
#[test]
fn each_bad_value_has_its_reason() {
    use Rejection::{Layout, NotFinite, OutOfRange, RunId, Session, Size, Version};
    let with = |change: &dyn Fn(&mut ClaimedCommand)| {
        let mut c = good();
        change(&mut c);
        take_in(&bytes_of(&c)).map(|c| c.joints[0])
    };
    let q = |x: f64| with(&|c| c.joints[0].q = x);
    let kp = |x: f64| with(&|c| c.joints[0].kp = x);
    let kd = |x: f64| with(&|c| c.joints[0].kd = x);
    let tau = |x: f64| with(&|c| c.joints[0].tau_ff = x);
    let dq = |x: f64| with(&|c| c.joints[0].dq = x);

    assert!(take_in(&bytes_of(&good())).is_ok());
    for set in [&q, &dq, &kp, &kd, &tau] as [&dyn Fn(f64) -> Result<JointCommand, Rejection>; 5] {
        for bad in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(set(bad), Err(NotFinite), "{bad}");
        }
        for bad in [1e308, -1e308, f64::MAX, f64::MIN] {
            assert_eq!(set(bad), Err(OutOfRange), "{bad}");
        }
        for fine in [0.0, -0.0, f64::MIN_POSITIVE / 4.0, f64::MIN_POSITIVE] {
            assert!(set(fine).is_ok(), "{fine}");
        }
    }
    // the bits are kept, also of a zero with a sign
    assert_eq!(q(-0.0).unwrap().q.to_bits(), (-0.0_f64).to_bits());
    assert!(q(1e6).is_ok() && q(-1e6).is_ok());
    assert_eq!(q(1_000_000.000_1), Err(OutOfRange));
    assert_eq!([kp(-1e-9), kd(-1e-9)], [Err(OutOfRange), Err(OutOfRange)]);
    assert_eq!([kp(500.01), kd(20.01)], [Err(OutOfRange), Err(OutOfRange)]);
    assert!(kp(500.0).is_ok() && kd(20.0).is_ok());

    assert_eq!(with(&|c| c.layout_hash ^= 1 << 63), Err(Layout));
    assert_eq!(with(&|c| c.run_id = 4), Err(RunId));
    assert_eq!(with(&|c| c.session = 0), Err(Session));
    // who has joined may have some of the joints: the plant knows how many
    assert!(with(&|c| c.joints.truncate(1)).is_ok());
    assert_eq!(with(&|c| c.joints.push(JointCommand::default())), Err(Size));
    // the number of joints says something else than the size
    let mut forged = bytes_of(&good());
    forged[48] = 1;
    assert_eq!(take_in(&forged), Err(Size));
    forged[48] = 3;
    assert_eq!(take_in(&forged), Err(Size));

    let b = bytes_of(&good());
    for cut in 0..b.len() {
        assert_eq!(take_in(&b[..cut]), Err(Size), "{cut} bytes");
    }
    assert_eq!(take_in(&[b.as_slice(), &[0]].concat()), Err(Size));
    for at in 0..4 {
        let mut other = b.clone();
        other[at] ^= 1;
        assert_eq!(take_in(&other), Err(Version));
    }
}
