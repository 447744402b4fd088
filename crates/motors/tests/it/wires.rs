//! Adapters: their lines, and structures that python-can builds.

use super::{bytes, text};
use hardstand_motors::wires::{
    Adapter, DamiaoUsb, Fdcanusb, SOCKETCAN_FD_BYTES, Slcan, Socketcan, Socketcand,
    first_socketcan, from_socketcan, to_socketcan,
};
use hardstand_motors::{CanFrame, CanId};

fn feed(adapter: &mut dyn Adapter, input: &str) -> (Vec<CanFrame>, String) {
    let (mut frames, mut out) = (Vec::new(), Vec::new());
    adapter.feed(input.as_bytes(), &mut frames, &mut out);
    (frames, text(&out))
}

fn deliver(adapter: &mut dyn Adapter, frame: &CanFrame) -> String {
    let mut out = Vec::new();
    adapter.deliver(1_500_000_000, frame, &mut out);
    text(&out)
}

#[test]
fn fdcanusb_answers_with_a_checksum_once_it_has_seen_one() {
    let mut adapter = Fdcanusb::default();
    let (frames, out) = feed(&mut adapter, "can send 8001 1001\n");
    assert_eq!((frames.len(), out.as_str()), (1, "OK\r\n"));
    // lines with the CRC-8 of PyPI moteus 1.1.1
    let (frames, out) = feed(&mut adapter, "can send 8001 1001 *0E\n");
    assert_eq!((frames.len(), out.as_str()), (1, "OK *BD\r\n"));
    let (frames, out) = feed(&mut adapter, "can send 8001 1002 *0E\n");
    assert!(frames.is_empty() && out.starts_with("ERR checksum"), "{out}");
    let data = bytes("2404000a005000000170ff230d181400");
    let frame = CanFrame::fd(CanId::standard(0x100), true, &data, 0x50).unwrap();
    let line = "rcv 100 2404000A005000000170FF230D181400 e B F r *D7\r\n";
    assert_eq!(deliver(&mut adapter, &frame), line);
}

#[test]
fn fdcanusb_knows_flags_and_pads() {
    let mut adapter = Fdcanusb::default();
    let (frames, _) = feed(&mut adapter, "can send 1 010203040506070809 bF\ncan send 123 01 f\n");
    assert_eq!(frames[0].data(), bytes("010203040506070809505050"));
    assert!(frames[0].fd && !frames[0].bit_rate_switch);
    assert_eq!(frames[1], CanFrame::classic(CanId::standard(0x123), &[1]).unwrap());
    let (frames, _) = feed(&mut adapter, "can ext 123 01 B\r\ncan std 8001 01\ncan off\n");
    assert_eq!(frames.len(), 1);
    assert!(frames[0].id.is_extended() && frames[0].bit_rate_switch);
    let (frames, out) = feed(&mut adapter, "can send 1 01\nnonsense\ncan on\n");
    assert_eq!(
        (frames.len(), out.as_str()),
        (0, "ERR bus not open\r\nERR unknown command\r\nOK\r\n")
    );
}

#[test]
fn slcan_is_closed_at_first_and_knows_every_kind_of_frame() {
    let mut adapter = Slcan::default();
    assert_eq!(feed(&mut adapter, "t1230\r"), (vec![], "\x07".into()));
    assert_eq!(feed(&mut adapter, "C\rS8\rO\r").1, "\r\r\r");
    assert_eq!(adapter.bit_rate_bps, Some(1_000_000));
    let input = "t12321122\rT1234567803AABBCC\rr0218\rb0019000102030405060708090A0B\r";
    let input = input.replace("03AABBCC", "3AABBCC");
    let (frames, out) = feed(&mut adapter, &input);
    assert_eq!(out, "z\rZ\rz\rz\r");
    assert_eq!(frames[0], CanFrame::classic(CanId::standard(0x123), &[0x11, 0x22]).unwrap());
    assert_eq!(frames[1].id, CanId::Extended(0x1234_5678));
    assert_eq!(frames[2], CanFrame::request(CanId::standard(0x21), 8).unwrap());
    assert_eq!((frames[3].len(), frames[3].bit_rate_switch), (12, true));
    for frame in &frames {
        // what is delivered is what another adapter would take
        let line = deliver(&mut adapter, frame);
        assert_eq!(feed(&mut adapter, &line).0, [*frame], "{line}");
    }
    // wrong lengths and letters
    let (frames, out) = feed(&mut adapter, "t12331122\rt12311122\rt12x0\rt8001AA\rq\r");
    assert_eq!((frames.len(), out.as_str()), (0, "\x07\x07\x07\x07\x07"));
    assert_eq!(feed(&mut adapter, "C\rL\rt1230\r").1, "\r\r\x07", "it only listens");
}

#[test]
fn damiaos_adapter_takes_frames_of_thirty_bytes_and_finds_them_in_noise() {
    let mut adapter = DamiaoUsb::default();
    // PyPI pydamiao 0.1.4: DamiaoProtocol.encode_basic_command(2, 0xfc), encode_read_param(1, 10)
    let enable = bytes("55aa1e03010000000a000000000200000000080000fffffffffffffffc00");
    let read = bytes("55aa1e03010000000a00000000ff070000000800000100330a0000000000");
    let (mut frames, mut out) = (Vec::new(), Vec::new());
    let noise = bytes("55aa55aa1e5555aa1e04aa");
    for byte in [&noise[..], &enable, &noise, &read].concat() {
        adapter.feed(&[byte], &mut frames, &mut out);
    }
    let data = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfc];
    assert_eq!(frames[0], CanFrame::classic(CanId::standard(2), &data).unwrap());
    let data = [1, 0, 0x33, 10, 0, 0, 0, 0];
    assert_eq!(frames[1], CanFrame::classic(CanId::standard(0x7ff), &data).unwrap());
    assert_eq!((frames.len(), out.len()), (2, 0));
    // as DamiaoProtocol.parse_frame reads it
    let answer = CanFrame::classic(CanId::standard(0x11), &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    adapter.deliver(0, &answer, &mut out);
    assert_eq!(out, bytes("aa110811000000010203040506070855"));
    // lengths and identifiers that CAN has not
    for (at, value) in [(18, 9), (12, 2), (14, 0x80), (17, 2)] {
        let mut wrong = enable.clone();
        wrong[at] = value;
        let (mut frames, mut out) = (Vec::new(), Vec::new());
        adapter.feed(&[wrong, enable.clone()].concat(), &mut frames, &mut out);
        assert_eq!(frames.len(), 1, "byte {at}");
    }
}

#[test]
fn socketcand_wants_its_handshake() {
    let mut adapter = Socketcand::default();
    let mut greeting = Vec::new();
    adapter.greet(&mut greeting);
    assert_eq!(text(&greeting), "< hi >");
    assert!(feed(&mut adapter, "< send 123 1 ff >").0.is_empty());
    assert_eq!(feed(&mut adapter, "< open can0 >").1, "< ok >");
    assert_eq!(feed(&mut adapter, "< rawmode >").1, "< ok >");
    let (frames, out) = feed(&mut adapter, "< send 123 2 1 ff >< send 00000123 0 >");
    assert_eq!(out, "");
    assert_eq!(frames[0], CanFrame::classic(CanId::standard(0x123), &[1, 0xff]).unwrap());
    assert_eq!(frames[1].id, CanId::Extended(0x123));
    assert_eq!(deliver(&mut adapter, &frames[0]), "< frame 123 1.500000 01FF >");
}

#[test]
fn socketcan_structures_are_those_of_python_can() {
    // python-can 4.6.1: can.interfaces.socketcan.socketcan.build_can_frame
    let mut fd = bytes("785634920c05000c000102030405060708090a0b");
    fd[7] = 0; // reserved: python-can repeats the length there
    fd.resize(72, 0);
    let data: Vec<u8> = (0..12).collect();
    let cases = [
        (
            CanFrame::classic(CanId::standard(0x123), &[1, 2, 3]).unwrap(),
            bytes("23010000030000000102030000000000"),
        ),
        (CanFrame::fd(CanId::extended(0x1234_5678), true, &data, 0).unwrap(), fd),
        (
            CanFrame::request(CanId::standard(0x21), 8).unwrap(),
            bytes("21000040080000000000000000000000"),
        ),
    ];
    for (frame, expected) in cases {
        let (found, len) = to_socketcan(&frame);
        assert_eq!(found[..len], expected, "{frame:?}");
        assert_eq!(from_socketcan(&expected), Some(frame));
    }
    let mut error = [0; 16];
    error[3] = 0x20;
    assert_eq!(from_socketcan(&error), None);
    let mut long = [0; 16];
    long[4] = 9;
    assert_eq!(from_socketcan(&long), None);
    let mut between = [7; SOCKETCAN_FD_BYTES];
    between[..8].copy_from_slice(&[1, 0, 0, 0, 13, 0, 0, 0]);
    let padded = from_socketcan(&between).unwrap();
    assert_eq!((padded.data(), padded.fd), (&[[7; 13].as_slice(), &[0; 3]].concat()[..], true));
    between[4] = 65;
    assert_eq!(from_socketcan(&between), None);
}

#[test]
fn a_raw_socket_gives_and_takes_one_structure_for_each_frame() {
    let classic = CanFrame::classic(CanId::standard(0x123), &[1, 2, 3]).unwrap();
    let fd = CanFrame::fd(CanId::extended(0x8001), true, &[4; 12], 0).unwrap();
    let mut out = Vec::new();
    for frame in [&classic, &fd, &classic] {
        Socketcan.deliver(0, frame, &mut out);
    }
    let (mut rest, mut frames) = (&out[..], Vec::new());
    while let Some((structure, behind)) = first_socketcan(rest) {
        Socketcan.feed(structure, &mut frames, &mut Vec::new());
        rest = behind;
    }
    assert_eq!(frames, [classic, fd, classic]);
    assert!(rest.is_empty());
    // a part of one is none
    assert!(first_socketcan(&out[..15]).is_none() && first_socketcan(&out[16..87]).is_none());
}
