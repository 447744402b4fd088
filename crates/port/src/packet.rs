//! The packets, with fixed offsets. `docs/port.md` has them as a table.
//!
//! Little-endian; each packet is a multiple of 8 bytes and ends with the CRC-32 of what is before
//! it and four zeros.

use crc::{CRC_32_ISO_HDLC, Crc};

use hardstand_protocol::{JointCommand, JointReading, StateReading, VelocityCommand};

/// First bytes of each packet.
pub const MAGIC: [u8; 4] = *b"HSP1";
/// Kind of a state.
const STATE: u16 = 1;
/// Kind of a command.
const COMMAND: u16 = 2;
const HEADER_BYTES: usize = 40;
const STATE_FIXED_BYTES: usize = 264;
const TRAILER_BYTES: usize = 8;
/// CRC-32 as zlib, Ethernet and Python's `zlib.crc32` compute it.
const CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// Bytes of a state of a robot with so many joints and feet.
#[must_use]
pub const fn state_bytes(joints: usize, feet: usize) -> usize {
    STATE_FIXED_BYTES + 24 * joints + 16 * feet + TRAILER_BYTES
}

/// Bytes of a command for so many joints.
#[must_use]
pub const fn command_bytes(joints: usize) -> usize {
    HEADER_BYTES + 40 * joints + TRAILER_BYTES
}

/// A command as it arrives.
#[derive(Clone, Debug, PartialEq)]
pub struct PacketCommand {
    /// Run of the state that is answered.
    pub run_id: u32,
    /// Layout hash of the robot that is meant.
    pub layout_hash: u64,
    /// Number of the packet.
    pub sequence: u64,
    /// Tick of the state that is answered.
    pub tick: u64,
    /// Set-points of all joints; none if the sender only wants states.
    pub joints: Vec<JointCommand>,
}

/// Why bytes are no command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadPacket {
    /// Magic, kind or a length is another.
    Form,
    /// The CRC is another.
    Crc,
}

/// Encodes a state.
pub fn encode_state(state: &StateReading, sequence: u64, out: &mut Vec<u8>) {
    let (joints, feet) = (&state.joints, &state.foot_contact);
    header(STATE, joints.len(), state_bytes(joints.len(), feet.len()), out);
    put_head(out, state.run_id, state.layout_hash, sequence, state.tick);
    out.extend_from_slice(&state.time_ns.to_le_bytes());
    out.extend_from_slice(&[state.phase, state.mode, state.authority, state.failure]);
    out.extend_from_slice(&(feet.len() as u16).to_le_bytes());
    out.extend_from_slice(&[0, 0]);
    let v = &state.velocity_command;
    let blocks: [&[f64]; 8] = [
        &state.imu_quat_wxyz,
        &state.imu_angular_velocity_rad_per_s,
        &state.imu_specific_force_m_per_s2,
        &[v.vx_m_per_s, v.vy_m_per_s, v.yaw_rate_rad_per_s],
        &state.truth_base_position_m,
        &state.truth_base_quat_wxyz,
        &state.truth_base_velocity_m_per_s,
        &state.truth_base_angular_velocity_rad_per_s,
    ];
    put_numbers(out, blocks.into_iter().flatten().copied());
    put_numbers(out, joints.iter().flat_map(|j| [j.q, j.dq, j.tau]));
    let shown = feet.iter().zip(&state.foot_normal_n);
    put_numbers(out, shown.flat_map(|(&contact, &normal_n)| [f64::from(contact), normal_n]));
    finish(out);
}

/// Encodes a command, as a peer does.
pub fn encode_command(command: &PacketCommand, out: &mut Vec<u8>) {
    header(COMMAND, command.joints.len(), command_bytes(command.joints.len()), out);
    put_head(out, command.run_id, command.layout_hash, command.sequence, command.tick);
    put_numbers(out, command.joints.iter().flat_map(JointCommand::numbers));
    finish(out);
}

/// The bytes of a packet that begins in a slot: as many as it says, at most all.
#[must_use]
pub fn in_slot(slot: &[u8]) -> &[u8] {
    let length = u32_at(slot, 8).map_or(slot.len(), |length| length as usize);
    slot.get(..length).unwrap_or(slot)
}

/// Decodes a command, which must have as many bytes as it says.
///
/// # Errors
/// [`BadPacket`].
pub fn decode_command(bytes: &[u8]) -> Result<PacketCommand, BadPacket> {
    let count = checked(bytes, COMMAND, command_bytes)?;
    let joint = |n: usize| {
        let [q, dq, kp, kd, tau_ff] = numbers_at(bytes, HEADER_BYTES + 40 * n);
        JointCommand { q, dq, kp, kd, tau_ff }
    };
    Ok(PacketCommand {
        run_id: u32_at(bytes, 12).unwrap_or_default(),
        layout_hash: u64_at(bytes, 16).unwrap_or_default(),
        sequence: u64_at(bytes, 24).unwrap_or_default(),
        tick: u64_at(bytes, 32).unwrap_or_default(),
        joints: (0..count).map(joint).collect(),
    })
}

/// Decodes a state, as a peer does. What a packet does not carry has its default.
///
/// # Errors
/// [`BadPacket`].
pub fn decode_state(bytes: &[u8]) -> Result<StateReading, BadPacket> {
    let feet = usize::from(u16_at(bytes, 52).ok_or(BadPacket::Form)?);
    let count = checked(bytes, STATE, |count| state_bytes(count, feet))?;
    let [phase, mode, authority, failure] = array_at(bytes, 48).unwrap_or_default();
    let joint = |n: usize| {
        let [q, dq, tau] = numbers_at(bytes, STATE_FIXED_BYTES + 24 * n);
        JointReading { q, dq, tau }
    };
    let foot =
        |n: usize| -> [f64; 2] { numbers_at(bytes, STATE_FIXED_BYTES + 24 * count + 16 * n) };
    Ok(StateReading {
        layout_hash: u64_at(bytes, 16).unwrap_or_default(),
        run_id: u32_at(bytes, 12).unwrap_or_default(),
        tick: u64_at(bytes, 32).unwrap_or_default(),
        time_ns: u64_at(bytes, 40).unwrap_or_default(),
        mode,
        phase,
        authority,
        failure,
        imu_quat_wxyz: numbers_at(bytes, 56),
        imu_angular_velocity_rad_per_s: numbers_at(bytes, 88),
        imu_specific_force_m_per_s2: numbers_at(bytes, 112),
        velocity_command: VelocityCommand::from(numbers_at::<3>(bytes, 136)),
        truth_base_position_m: numbers_at(bytes, 160),
        truth_base_quat_wxyz: numbers_at(bytes, 184),
        truth_base_velocity_m_per_s: numbers_at(bytes, 216),
        truth_base_angular_velocity_rad_per_s: numbers_at(bytes, 240),
        joints: (0..count).map(joint).collect(),
        foot_contact: (0..feet).map(|n| u8::from(foot(n)[0] != 0.0)).collect(),
        foot_normal_n: (0..feet).map(|n| foot(n)[1]).collect(),
        ..StateReading::default()
    })
}

/// The number of joints of a packet of this kind, which must have as many bytes as it says and as
/// `length_for` so many joints.
fn checked(
    bytes: &[u8],
    kind: u16,
    length_for: impl Fn(usize) -> usize,
) -> Result<usize, BadPacket> {
    if bytes.get(..4) != Some(&MAGIC) || u16_at(bytes, 4) != Some(kind) {
        return Err(BadPacket::Form);
    }
    let count = usize::from(u16_at(bytes, 6).ok_or(BadPacket::Form)?);
    let length = u32_at(bytes, 8).ok_or(BadPacket::Form)? as usize;
    if length != length_for(count) || length != bytes.len() {
        return Err(BadPacket::Form);
    }
    let covered = length - TRAILER_BYTES;
    if u32_at(bytes, covered) != Some(CRC.checksum(&bytes[..covered])) {
        return Err(BadPacket::Crc);
    }
    Ok(count)
}

fn header(kind: u16, joints: usize, bytes: usize, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&kind.to_le_bytes());
    out.extend_from_slice(&(joints as u16).to_le_bytes());
    out.extend_from_slice(&(bytes as u32).to_le_bytes());
}

fn put_head(out: &mut Vec<u8>, run_id: u32, layout_hash: u64, sequence: u64, tick: u64) {
    out.extend_from_slice(&run_id.to_le_bytes());
    for word in [layout_hash, sequence, tick] {
        out.extend_from_slice(&word.to_le_bytes());
    }
}

fn put_numbers(out: &mut Vec<u8>, numbers: impl Iterator<Item = f64>) {
    numbers.for_each(|x| out.extend_from_slice(&x.to_le_bytes()));
}

fn finish(out: &mut Vec<u8>) {
    let sum = CRC.checksum(out);
    out.extend_from_slice(&sum.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
}

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

fn numbers_at<const N: usize>(bytes: &[u8], at: usize) -> [f64; N] {
    let number = |n: usize| f64::from_bits(u64_at(bytes, at + 8 * n).unwrap_or_default());
    std::array::from_fn(number)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    array_at(bytes, at).map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    array_at(bytes, at).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    array_at(bytes, at).map(u64::from_le_bytes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panic")]
mod tests {
    use super::{
        BadPacket, PacketCommand, command_bytes, decode_command, decode_state, encode_command,
        encode_state, in_slot, state_bytes,
    };
    use hardstand_protocol::{JointCommand, JointReading, StateReading, VelocityCommand};

    fn command() -> PacketCommand {
        let joint = JointCommand { q: 0.1, dq: 0.2, kp: 3.0, kd: 0.4, tau_ff: 5.0 };
        PacketCommand { run_id: 1, layout_hash: 7, sequence: 9, tick: 11, joints: vec![joint; 12] }
    }

    #[test]
    fn a_command_comes_back_and_no_changed_byte_passes() {
        let mut bytes = Vec::new();
        encode_command(&command(), &mut bytes);
        assert_eq!(bytes.len(), command_bytes(12));
        assert_eq!(decode_command(&bytes), Ok(command()));
        for n in 0..bytes.len() - 4 {
            let mut changed = bytes.clone();
            changed[n] ^= 1;
            assert!(decode_command(&changed).is_err(), "byte {n}");
        }
        bytes[40] ^= 1;
        assert_eq!(decode_command(&bytes), Err(BadPacket::Crc));
        for length in 0..bytes.len() {
            assert_eq!(decode_command(&bytes[..length]), Err(BadPacket::Form));
        }
    }

    #[test]
    fn bytes_behind_a_command_are_no_part_of_it() {
        let mut bytes = Vec::new();
        encode_command(&command(), &mut bytes);
        bytes.extend([0; 16]);
        assert_eq!(decode_command(&bytes), Err(BadPacket::Form));
        assert_eq!(decode_command(in_slot(&bytes)), Ok(command()));
        bytes[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(in_slot(&bytes).len(), bytes.len());
        assert_eq!(in_slot(&[0; 3]).len(), 3);
    }

    #[test]
    fn a_state_comes_back_with_all_that_a_packet_carries() {
        let numbers = |from: f64| std::array::from_fn(|n| from + n as f64);
        let state = StateReading {
            layout_hash: 1,
            run_id: 2,
            tick: 3,
            time_ns: 4,
            mode: 1,
            phase: 5,
            failure: 2,
            authority: 3,
            imu_quat_wxyz: [1.0, 2.0, 3.0, 4.0],
            imu_angular_velocity_rad_per_s: numbers(5.0),
            imu_specific_force_m_per_s2: numbers(8.0),
            truth_base_position_m: numbers(11.0),
            truth_base_quat_wxyz: [14.0, 15.0, 16.0, 17.0],
            truth_base_velocity_m_per_s: numbers(18.0),
            truth_base_angular_velocity_rad_per_s: numbers(21.0),
            velocity_command: VelocityCommand::from([0.1, 0.2, 0.3]),
            joints: (0..3).map(|n| JointReading { q: f64::from(n), dq: 0.5, tau: 0.25 }).collect(),
            foot_contact: vec![1, 0],
            foot_normal_n: vec![30.0, 0.0],
            ..Default::default()
        };
        let mut bytes = Vec::new();
        encode_state(&state, 9, &mut bytes);
        assert_eq!(decode_state(&bytes), Ok(state));
        assert_eq!(decode_command(&bytes), Err(BadPacket::Form));
        for n in 0..bytes.len() - 4 {
            let mut changed = bytes.clone();
            changed[n] ^= 1;
            assert!(decode_state(&changed).is_err(), "byte {n}");
        }
        for length in 0..bytes.len() {
            assert_eq!(decode_state(&bytes[..length]), Err(BadPacket::Form));
        }
    }

    #[test]
    fn a_state_has_the_offsets_of_the_document() {
        let state = StateReading {
            run_id: 3,
            tick: 5,
            time_ns: 6,
            phase: 1,
            truth_base_position_m: [1.0, 2.0, 3.0],
            joints: vec![JointReading { q: 0.5, dq: 0.25, tau: 4.0 }; 2],
            foot_contact: vec![1],
            foot_normal_n: vec![8.0],
            ..Default::default()
        };
        let mut bytes = Vec::new();
        encode_state(&state, 77, &mut bytes);
        assert_eq!(bytes.len(), state_bytes(2, 1));
        let f64_at = |at: usize| f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        assert_eq!((u64_at(24), u64_at(32), u64_at(40)), (77, 5, 6));
        assert_eq!((bytes[48], bytes[52]), (1, 1));
        assert_eq!([f64_at(160), f64_at(168), f64_at(176)], [1.0, 2.0, 3.0]);
        assert_eq!([f64_at(264), f64_at(272), f64_at(280)], [0.5, 0.25, 4.0]);
        assert_eq!([f64_at(312), f64_at(320)], [1.0, 8.0]);
    }
}
