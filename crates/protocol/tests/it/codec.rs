//! What a decoder takes and what it refuses, byte by byte.

use hardstand_protocol::{
    ClaimedCommand, ControlRequest, HEADER_BYTES, JointCommand, Kind, Order, OrderHead, Rejection,
    VERSION, decode, decode_body, decode_command, decode_order, encode, encode_command,
    encode_order, other_version,
};

/// A command with so many set-points, and its bytes.
fn command(joints: usize) -> (ClaimedCommand, Vec<u8>) {
    let set_point = JointCommand { q: 0.5, kp: 3.0, ..JointCommand::default() };
    let claim = ClaimedCommand {
        layout_hash: 1,
        run_id: 2,
        session: 3,
        seq: 4,
        answers_tick: 5,
        applies_tick: 6,
        joints: vec![set_point; joints],
    };
    let mut bytes = vec![7; 3];
    encode_command(&claim, &mut bytes).unwrap();
    (claim, bytes)
}

#[test]
fn a_command_has_whole_set_points_and_no_more_than_the_robot_has_joints() {
    for joints in [0, 1, 2, 12] {
        let (claim, bytes) = command(joints);
        assert_eq!(bytes.len(), 56 + 40 * joints);
        assert_eq!(decode_command(&bytes, joints), Ok(claim.clone()));
        assert_eq!(decode_command(&bytes, joints + 1), Ok(claim));
        if joints > 0 {
            assert_eq!(decode_command(&bytes, joints - 1), Err(Rejection::Size));
        }
        for end in 0..bytes.len() {
            assert_eq!(decode_command(&bytes[..end], joints), Err(Rejection::Size), "{end}");
        }
        let more = [&bytes[..], &[0; 40]].concat();
        for end in bytes.len() + 1..=more.len() {
            assert_eq!(decode_command(&more[..end], joints + 1), Err(Rejection::Size), "{end}");
        }
    }
}

#[test]
fn a_command_begins_with_its_header() {
    let (_, bytes) = command(1);
    for at in 0..HEADER_BYTES {
        let mut other = bytes.clone();
        other[at] ^= 1;
        assert_eq!(decode_command(&other, 1), Err(Rejection::Version));
        assert_eq!(decode_command(&other[..HEADER_BYTES], 1), Err(Rejection::Version));
        assert_eq!(decode_command(&other[..HEADER_BYTES - 1], 1), Err(Rejection::Size));
    }
}

#[test]
fn a_message_is_decoded_to_its_last_byte() {
    let request = ControlRequest { number: 7, rewind: 1 };
    let mut bytes = vec![9; 100];
    encode(Kind::Control, &request, &mut bytes).unwrap();
    assert_eq!(decode::<ControlRequest>(Kind::Control, &bytes).unwrap(), request);
    let body = bytes[HEADER_BYTES..].to_vec();
    assert_eq!(decode_body::<ControlRequest>(Kind::Control, &body).unwrap(), request);
    let refusal = |bytes: &[u8]| {
        let refusal = decode::<ControlRequest>(Kind::Control, bytes).unwrap_err().to_string();
        assert!(refusal.contains(Kind::Control.schema()), "{refusal}");
        refusal
    };
    assert!(refusal(&bytes[..bytes.len() - 1]).contains("does not decode"));
    assert!(refusal(&[&bytes[..], &[0, 0]].concat()).contains("has 2 bytes after its end"));
    assert!(refusal(&bytes[..2]).contains("header is [48, 53]"));
    let mut other = bytes.clone();
    other[3] ^= 0x55;
    assert!(refusal(&other).contains("; expected ["));
    other = bytes.clone();
    other[2] = VERSION + 1;
    let version = other_version(&other).unwrap();
    assert_eq!(version, format!("the message has protocol version {}", VERSION + 1));
    assert!(refusal(&other).contains(&version));
    assert_eq!(other_version(&bytes), None);
    other[0] = b'X';
    assert_eq!(other_version(&other), None);
}

#[test]
fn an_order_has_a_head_and_a_body() {
    let head = OrderHead { robot: "dog".into(), run_id: 3, nonce: 4, asker: "me".into() };
    let request = ControlRequest { number: 7, rewind: 1 };
    let mut bytes = Vec::new();
    encode_order(Order::Step, &head, &request, &mut bytes).unwrap();
    let (got, body) = decode_order(Order::Step, &bytes).unwrap();
    assert_eq!(got, head);
    assert_eq!(decode_body::<ControlRequest>(Order::Step.kind(), body).unwrap(), request);
    assert_eq!(body.len(), 9);
    let in_the_head = &bytes[..bytes.len() - body.len() - 1];
    let refusal = decode_order(Order::Step, in_the_head).unwrap_err().to_string();
    assert!(refusal.contains("the head does not decode"), "{refusal}");
}
