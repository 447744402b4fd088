//! CDR and message types against `cdr-encoding`, the interfaces of the ROS index, and `rosbags`.

use std::collections::BTreeMap;

use byteorder::{BigEndian, LittleEndian};
use hardstand::ros2::cdr::CdrError;
use hardstand::ros2::messages::{
    Bool, Clock, Contacts, DiagnosticArray, DynamicJointState, Float64MultiArray, Header, Imu,
    JointState, JointTrajectory, Message, Odometry, RosString, TfMessage, Time, WrenchStamped,
    catalogue,
};
use proptest::prelude::*;
use ros2_interfaces_jazzy_serde as index;
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
struct Vector {
    hash: String,
    definition: String,
    messages: Vec<String>,
}

/// What `tests/ros2/vectors.py` wrote.
fn vectors() -> BTreeMap<String, Vector> {
    serde_json::from_str(include_str!("../../ros2/vectors.json")).unwrap()
}

pub fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

/// Types and names as a definition's text, whatever the order of the types that it uses.
pub fn parts(definition: &str) -> BTreeMap<String, Vec<String>> {
    let mut all = BTreeMap::new();
    let mut name = String::new();
    // neither separators nor constants, which have a value
    for line in definition.lines().filter(|l| !l.contains('=') && !l.trim().is_empty()) {
        match line.strip_prefix("MSG: ") {
            Some(next) => name = next.replace("/msg/", "/"),
            None => all.entry(name.clone()).or_insert_with(Vec::new).push(line.to_string()),
        }
    }
    all
}

#[test]
fn names_hashes_and_definitions_are_those_of_rosbags() {
    let vectors = vectors();
    let catalogue = catalogue();
    assert_eq!(catalogue.len(), vectors.len());
    for (name, hash, definition) in catalogue {
        let theirs = &vectors[name];
        assert_eq!(hash, theirs.hash, "{name}");
        assert_eq!(parts(&definition), parts(&theirs.definition), "{name}");
    }
}

/// The message that the bytes of rosbags hold, after its own bytes were found to be the same.
fn ours<T: Message + PartialEq + std::fmt::Debug>() -> Vec<Vec<u8>> {
    let messages: Vec<Vec<u8>> = vectors()[T::NAME].messages.iter().map(|m| bytes(m)).collect();
    let mut again = Vec::new();
    for theirs in &messages {
        let decoded = T::decode(theirs).unwrap();
        decoded.encode(&mut again);
        assert_eq!(&again, theirs, "{}", T::NAME);
    }
    messages
}

/// The same through an encoder and a type that others have written.
fn check<T, U>()
where
    T: Message + PartialEq + std::fmt::Debug,
    U: Serialize + for<'a> Deserialize<'a>,
{
    for message in ours::<T>() {
        let (theirs, read) = cdr_encoding::from_bytes::<U, LittleEndian>(&message[4..]).unwrap();
        assert_eq!(read, message.len() - 4, "{}", T::NAME);
        let little = cdr_encoding::to_vec::<U, LittleEndian>(&theirs).unwrap();
        assert_eq!(little, message[4..], "{}", T::NAME);
        // the other endianness holds the same values
        let big = cdr_encoding::to_vec::<U, BigEndian>(&theirs).unwrap();
        let big: Vec<u8> = [0, 0, 0, 0].into_iter().chain(big).collect();
        assert_eq!(T::decode(&big).unwrap(), T::decode(&message).unwrap(), "{}", T::NAME);
    }
}

/// `control_msgs` is not in the index's crate.
#[derive(Serialize, Deserialize)]
struct TheirDynamicJointState {
    header: index::std_msgs::msg::Header,
    joint_names: Vec<String>,
    interface_values: Vec<TheirInterfaceValue>,
}

#[derive(Serialize, Deserialize)]
struct TheirInterfaceValue {
    interface_names: Vec<String>,
    values: Vec<f64>,
}

#[test]
fn bytes_are_those_of_other_encoders() {
    check::<Clock, index::rosgraph_msgs::msg::Clock>();
    check::<JointState, index::sensor_msgs::msg::JointState>();
    check::<Imu, index::sensor_msgs::msg::Imu>();
    check::<WrenchStamped, index::geometry_msgs::msg::WrenchStamped>();
    check::<Contacts, index::ros_gz_interfaces::msg::Contacts>();
    check::<Bool, index::std_msgs::msg::Bool>();
    check::<Odometry, index::nav_msgs::msg::Odometry>();
    check::<TfMessage, index::tf2_msgs::msg::TFMessage>();
    check::<RosString, index::std_msgs::msg::String>();
    check::<DiagnosticArray, index::diagnostic_msgs::msg::DiagnosticArray>();
    check::<DynamicJointState, TheirDynamicJointState>();
    check::<Float64MultiArray, index::std_msgs::msg::Float64MultiArray>();
    check::<JointTrajectory, index::trajectory_msgs::msg::JointTrajectory>();
}

/// Values that one can read off the bytes: an empty sequence of f64 has no padding after its count.
#[test]
fn a_joint_state_has_the_bytes_that_dds_gives_it() {
    let state = JointState {
        header: Header { stamp: Time { sec: 1, nanosec: 2 }, frame_id: "base".into() },
        name: vec!["a".into(), "bb".into()],
        position: vec![1.0, 2.0],
        velocity: vec![],
        effort: vec![3.0],
    };
    let mut out = Vec::new();
    state.encode(&mut out);
    let expected = "00010000 01000000 02000000 05000000 6261736500 000000 02000000 02000000 6100 \
                    0000 03000000 626200 00 02000000 00000000 000000000000f03f 0000000000000040 \
                    00000000 01000000 0000000000000840";
    assert_eq!(out, bytes(&expected.replace(char::is_whitespace, "")));
    assert_eq!(JointState::decode(&out).unwrap(), state);
}

#[test]
fn what_is_wrong_with_bytes_is_named() {
    let refused = |bytes: &[u8]| Float64MultiArray::decode(bytes).unwrap_err();
    assert_eq!(refused(&[]), CdrError::Header);
    assert_eq!(refused(&[0, 3, 0, 0]), CdrError::Header);
    assert_eq!(refused(&[0, 1, 0, 0, 1]), CdrError::Truncated { needed: 4, left: 1 });
    assert_eq!(refused(&vec![0; 65_536]), CdrError::TooLong);
    // 0xfffffff0 dimensions, 0xfffffff0 numbers, 5000 numbers where they would fit
    let hostile = [&[0, 1, 0, 0][..], &0xffff_fff0_u32.to_le_bytes()].concat();
    assert_eq!(refused(&hostile), CdrError::Count { claimed: 0xffff_fff0, possible: 0 });
    let hostile = [&[0, 1, 0, 0][..], &[0; 8], &0xffff_fff0_u32.to_le_bytes()].concat();
    assert_eq!(refused(&hostile), CdrError::Count { claimed: 0xffff_fff0, possible: 0 });
    let many = [&[0, 1, 0, 0][..], &[0; 8], &5000_u32.to_le_bytes(), &[0; 40_004]].concat();
    assert_eq!(refused(&many), CdrError::Count { claimed: 5000, possible: 4096 });
    // a text of 2 GiB, one without NUL, one that is no UTF-8
    let text = |bytes: &[u8]| RosString::decode(&[&[0, 1, 0, 0], bytes].concat()).map(|s| s.data);
    assert_eq!(text(b"\0\0\0\x80a\0"), Err(CdrError::Truncated { needed: 1 << 31, left: 2 }));
    assert_eq!(text(b"\x01\0\0\0a"), Err(CdrError::Text));
    assert_eq!(text(b"\x02\0\0\0\xff\0"), Err(CdrError::Text));
    assert_eq!(text(b"\x02\0\0\0a\0").as_deref(), Ok("a"));
    assert_eq!(text(b"\0\0\0\0").as_deref(), Ok(""));
    assert_eq!(Bool::decode(&[0, 1, 0, 0, 2]), Err(CdrError::Bool(2)));
    // Cyclone pads a boolean to four bytes; what is longer is another message
    for padding in 0..4 {
        let padded = [&[0, 1, 0, 0, 1][..], &vec![0; padding]].concat();
        assert_eq!(Bool::decode(&padded), Ok(Bool { data: true }));
    }
    assert_eq!(Bool::decode(&[0, 1, 0, 0, 1, 0, 0, 0, 0]), Err(CdrError::Trailing(4)));
    assert_eq!(refused(&[0; 17]), CdrError::Trailing(1));
    let said = CdrError::Count { claimed: 5000, possible: 4096 }.to_string();
    assert_eq!(said, "a sequence of 5000 elements, where 4096 are possible");
}

/// Whatever the bytes are, decoding returns, and what it returns is no larger than they allow.
fn survives<T: Message>(bytes: &[u8]) {
    if let Ok(message) = T::decode(bytes) {
        let mut again = Vec::new();
        message.encode(&mut again);
        // padding at most doubles the shortest elements
        assert!(again.len() <= 8 * bytes.len() + 64, "{} from {}", again.len(), bytes.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..Default::default() })]

    #[test]
    fn no_bytes_make_the_reader_panic(body in proptest::collection::vec(any::<u8>(), 0..600), big: bool) {
        let bytes = [&[0, u8::from(!big), 0, 0], body.as_slice()].concat();
        survives::<DynamicJointState>(&bytes);
        survives::<JointTrajectory>(&bytes);
        survives::<Float64MultiArray>(&bytes);
        survives::<Contacts>(&bytes);
    }

    #[test]
    fn a_true_message_with_one_wrong_word_is_refused_or_read(
        which in 0_usize..13, message in 0_usize..3, at: proptest::sample::Index, word: u32
    ) {
        let vectors = vectors();
        let (name, vector) = vectors.iter().nth(which).unwrap();
        let mut bytes = bytes(&vector.messages[message]);
        let place = 4 + 4 * at.index((bytes.len() - 4).div_ceil(4));
        let end = bytes.len().min(place + 4);
        let patch = word.to_le_bytes();
        bytes[place..end].copy_from_slice(&patch[..end - place]);
        match name.as_str() {
            "control_msgs/msg/DynamicJointState" => survives::<DynamicJointState>(&bytes),
            "trajectory_msgs/msg/JointTrajectory" => survives::<JointTrajectory>(&bytes),
            "diagnostic_msgs/msg/DiagnosticArray" => survives::<DiagnosticArray>(&bytes),
            "ros_gz_interfaces/msg/Contacts" => survives::<Contacts>(&bytes),
            "sensor_msgs/msg/JointState" => survives::<JointState>(&bytes),
            _ => survives::<Float64MultiArray>(&bytes),
        }
    }
}
