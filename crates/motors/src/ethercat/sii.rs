//! The slave's EEPROM: its image (SII), and the registers through which a master reads it.

use super::esc::{EEPROM_ADDRESS, EEPROM_CONTROL, EEPROM_DATA, Esc};
use super::slave::{Identity, MAILBOX_BYTES, RECEIVE_MAILBOX, SEND_MAILBOX};

/// Words before the first category.
const CATEGORIES: usize = 0x40;
/// KiB of the EEPROM.
const SIZE_BITS: u16 = 16 * 1024 / 1024 - 1;
/// Status: a read gives eight bytes. An unknown command is refused.
const EIGHT_BYTES: u16 = 0x0040;
const REFUSED: u16 = 0x2000;

/// The image of a slave with these process data.
pub(super) fn image(identity: &Identity, outputs: usize, inputs: usize) -> Vec<u8> {
    let mut words = [0_u16; CATEGORIES];
    words[0] = 0x0005; // a microcontroller behind the slave controller
    words[4] = identity.alias;
    let halves = |value: u32| [value as u16, (value >> 16) as u16];
    words[8..10].copy_from_slice(&halves(identity.vendor));
    words[10..12].copy_from_slice(&halves(identity.product));
    words[12..14].copy_from_slice(&halves(identity.revision));
    words[14..16].copy_from_slice(&halves(u32::from(identity.alias)));
    let mailbox = [RECEIVE_MAILBOX, MAILBOX_BYTES, SEND_MAILBOX, MAILBOX_BYTES];
    words[0x18..0x1c].copy_from_slice(&mailbox);
    words[0x1c] = 0x0004; // CoE
    (words[0x3e], words[0x3f]) = (SIZE_BITS, 1);
    let mut image: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    image[14] = checksum(&image[..14]);
    let names = [identity.name, "Hardstand", "CiA 402 outputs", "CiA 402 inputs"];
    category(&mut image, 10, &strings(&names));
    category(&mut image, 30, &general());
    category(&mut image, 40, &[1, 2, 0, 0]); // FMMU 0 for outputs, 1 for inputs
    category(&mut image, 41, &sync_managers(outputs, inputs));
    image.extend([0xff, 0xff]);
    image
}

/// CRC-8 with the polynomial 0x07 from 0xff, over the settings of the slave controller.
fn checksum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0xff, |crc, byte| {
        (0..8).fold(crc ^ byte, |c: u8, _| if c & 0x80 != 0 { c << 1 ^ 0x07 } else { c << 1 })
    })
}

fn category(image: &mut Vec<u8>, kind: u16, data: &[u8]) {
    image.extend(kind.to_le_bytes());
    image.extend((data.len().div_ceil(2) as u16).to_le_bytes());
    image.extend(data);
    image.resize(image.len().next_multiple_of(2), 0);
}

fn strings(texts: &[&str]) -> Vec<u8> {
    let mut out = vec![texts.len() as u8];
    for text in texts {
        out.push(text.len() as u8);
        out.extend(text.bytes());
    }
    out
}

fn general() -> [u8; 32] {
    let mut general = [0; 32];
    general[..4].copy_from_slice(&[2, 0, 1, 1]); // group, image, order and name: numbers of strings
    general[5] = 0x0f; // SDO, SDO information, PDO assignment and configuration
    general[16] = 0x11; // two ports with a PHY
    general
}

fn sync_managers(outputs: usize, inputs: usize) -> Vec<u8> {
    let mailbox = MAILBOX_BYTES;
    let (at_out, at_in) = (super::slave::OUTPUTS_AT, super::slave::INPUTS_AT);
    // start, length, control, use
    let all = [
        (RECEIVE_MAILBOX, mailbox, 0x26, 1),
        (SEND_MAILBOX, mailbox, 0x22, 2),
        (at_out, outputs as u16, 0x64, 3),
        (at_in, inputs as u16, 0x20, 4),
    ];
    let bytes = |(start, length, control, kind): (u16, u16, u8, u8)| {
        let ([a, b], [c, d]) = (start.to_le_bytes(), length.to_le_bytes());
        [a, b, c, d, control, 0, 1, kind]
    };
    all.into_iter().flat_map(bytes).collect()
}

/// Obeys the command that the master has written to the registers.
pub(super) fn obey(esc: &mut Esc, image: &[u8]) {
    let refused = match esc.word(EEPROM_CONTROL) >> 8 & 7 {
        0 => 0,
        1 => {
            let at = (esc.double(EEPROM_ADDRESS) as usize).saturating_mul(2);
            // an empty cell reads as ones
            let cell = |n: usize| image.get(at.saturating_add(n)).copied().unwrap_or(0xff);
            esc.set(EEPROM_DATA, &std::array::from_fn::<u8, 8, _>(cell));
            0
        }
        _ => REFUSED, // the image does not change
    };
    esc.set(EEPROM_CONTROL, &(EIGHT_BYTES | refused).to_le_bytes());
}
