//! Arbitrary bytes and frames: no panic, no number that is not finite reaches the joint.

use super::bits::Numbers;
use super::{ask, at};
use hardstand_motors::buses::CanDrive;
use hardstand_motors::drives::{
    CyberGear, Damiao, GoM8010, MiniCheetah, MitRanges, Moteus, ODrive, ODriveConfig,
    split_requests,
};
use hardstand_motors::wires::{Adapter, DamiaoUsb, Fdcanusb, Slcan, Socketcand, from_socketcan};
use hardstand_motors::{CanFrame, CanId, Drive, FD_LENGTHS};

#[test]
fn adapters_take_any_bytes() {
    let mut numbers = Numbers(3);
    let words: [&[u8]; 12] = [
        b"can send ",
        b"8001 ",
        b"01000a",
        b" *00",
        b"\n",
        b"\r",
        b"t123",
        b"B1FFFFFFFF",
        b"F",
        b"< send 123 8 ",
        b" >",
        b"O\r",
    ];
    let adapters: [Box<dyn Adapter>; 4] = [
        Box::new(Fdcanusb::default()),
        Box::new(Slcan::default()),
        Box::new(DamiaoUsb::default()),
        Box::new(Socketcand::default()),
    ];
    for mut adapter in adapters {
        let (mut frames, mut out) = (Vec::new(), Vec::new());
        for _ in 0..50_000 {
            let number = numbers.next();
            if number.is_multiple_of(3) {
                adapter.feed(&number.to_le_bytes(), &mut frames, &mut out);
            } else {
                adapter.feed(words[(number >> 8) as usize % 12], &mut frames, &mut out);
            }
            for frame in frames.drain(..) {
                adapter.deliver(number, &frame, &mut out);
            }
            out.clear();
        }
    }
    for _ in 0..10_000 {
        let length = if numbers.next().is_multiple_of(2) { 16 } else { 72 };
        let _any = from_socketcan(&numbers.bytes(length));
    }
}

#[test]
fn drives_take_any_frame() {
    let mut numbers = Numbers(4);
    let drives: Vec<(u32, CanDrive)> = vec![
        (0x8001, Box::new(Moteus::new(1))),
        (1, Box::new(Damiao::new(1, 17, MitRanges::DAMIAO_4310))),
        (0x7ff, Box::new(Damiao::new(1, 17, MitRanges::DAMIAO_4310))),
        (1, Box::new(MiniCheetah::new(1, MitRanges::MINI_CHEETAH, None))),
        (0x0100_0001, Box::new(CyberGear::new(1, MitRanges::CYBERGEAR, [0; 8]))),
        (0x20, Box::new(ODrive::new(1, ODriveConfig::default()))),
    ];
    for (id, mut drive) in drives {
        let mut answered = 0;
        for n in 0..40_000 {
            let number = numbers.next();
            let id = match id {
                // any type but 7, which changes the id
                0x0100_0001 => {
                    let kind = [0, 1, 1, 3, 3, 4, 6, 17, 18][(number >> 50) as usize % 9];
                    CanId::extended(kind << 24 | number as u32 & 0xff_ff00 | 1)
                }
                0x20 => CanId::standard(id | number as u32 & 0x1f),
                0x8001 => CanId::extended(id),
                _ => CanId::standard(id),
            };
            let length = FD_LENGTHS[(number >> 32) as usize % 16];
            let mut data = numbers.bytes(length);
            if id == CanId::Standard(0x7ff) && length >= 3 {
                data[..3].copy_from_slice(&[1, 0, [0x33, 0x55, 0xaa, 0xcc][n as usize % 4]]);
            }
            let frame = match number >> 40 & 3 {
                0 => CanFrame::fd(id, true, &data, 0),
                1 => CanFrame::request(id, length.min(8)),
                _ => CanFrame::classic(id, &data[..length.min(8)]),
            };
            answered += ask(&mut *drive, n * 10_000, &frame.unwrap(), &at(0.3)).len();
            let torque = drive.set_point(n * 10_000, &at(0.3)).torque_nm(&at(0.3));
            assert!(torque.is_finite(), "{frame:?}");
        }
        assert!(answered > 100, "{id:x}: {answered}");
    }
}

#[test]
fn a_serial_drive_takes_any_packet() {
    let mut numbers = Numbers(5);
    let (mut drive, mut stream) = (GoM8010::new(1), Vec::new());
    for n in 0..20_000 {
        stream.extend(numbers.next().to_le_bytes());
        stream.extend([0xfe, 0xee]);
        while let Some(packet) = split_requests(&mut stream) {
            ask(&mut drive, n, &packet, &at(0.0));
        }
        assert!(stream.len() < 32, "what is not a request is dropped");
        let length = numbers.next() as usize % 20;
        ask(&mut drive, n, &numbers.bytes(length), &at(0.0));
        assert!(drive.set_point(n, &at(0.3)).torque_nm(&at(0.3)).is_finite());
    }
}
