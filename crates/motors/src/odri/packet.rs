//! The packets between the computer and the master board.

use crate::drives::udriver::{BYTES, fixed};

/// EtherType for local experiments, IEEE 802.
pub const ETHER_TYPE: u16 = 0x88b5;
/// µDrivers of a board.
pub(super) const BOARDS: usize = 6;
const PROTOCOL: u16 = 3;
/// Ethernet header and length.
const HEADER: usize = 14 + 2;
const FRAME_MIN_BYTES: usize = 60;
const INIT: usize = 4;
const COMMAND: usize = 2 + BOARDS * BYTES + 2;
/// The board's own address, locally administered.
const ADDRESS: [u8; 6] = [0x02, 0x4f, 0x44, 0x52, 0x49, 0x00];
const STANDARD_GRAVITY: f64 = 9.80665;

/// What the board's IMU measures, in its own axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ImuReading {
    /// Roll, pitch and yaw in the world.
    pub attitude_rad: [f64; 3],
    /// Angular velocity.
    pub angular_velocity_rad_per_s: [f64; 3],
    /// Specific force: +9.81 on z at rest.
    pub specific_force_m_per_s2: [f64; 3],
    /// Acceleration without gravity: 0 at rest.
    pub linear_acceleration_m_per_s2: [f64; 3],
}

/// A packet of the computer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// It begins a session.
    Init { session: u16 },
    /// Commands for all µDrivers, with a number that counts them.
    Command { session: u16, boards: Vec<[u8; BYTES]>, index: u16 },
}

impl Request {
    /// The packet in a frame; `None` if it is another one, or of another protocol.
    pub(super) fn of(frame: &[u8]) -> Option<Self> {
        let length = usize::from(word(frame.get(..HEADER)?, HEADER - 2));
        if frame[12..14] != ETHER_TYPE.to_be_bytes() {
            return None;
        }
        let data = frame.get(HEADER..HEADER + length)?;
        match length {
            INIT if word(data, 0) == PROTOCOL => Some(Self::Init { session: word(data, 2) }),
            COMMAND => Some(Self::Command {
                session: word(data, 0),
                boards: data[2..COMMAND - 2].as_chunks().0.to_vec(),
                index: word(data, COMMAND - 2),
            }),
            _ => None,
        }
    }
}

fn word(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]))
}

fn frame(data: &[u8]) -> Vec<u8> {
    let mut out = vec![0xff; 6];
    out.extend(ADDRESS);
    out.extend(ETHER_TYPE.to_be_bytes());
    out.extend((data.len() as u16).to_le_bytes());
    out.extend(data);
    out.resize(out.len().max(FRAME_MIN_BYTES), 0);
    out
}

/// The answer to an [`Request::Init`]: which µDrivers there are, a bit each.
pub(super) fn acknowledgement(session: u16, connected: u8) -> Vec<u8> {
    let [low, high] = session.to_le_bytes();
    frame(&[low, high, connected])
}

/// What a packet of sensors has at its end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) sensor_index: u16,
    pub(super) commands_lost: u16,
    pub(super) last_command: u16,
}

/// A packet of sensors.
pub(super) fn sensors(
    session: u16,
    boards: &[[u8; BYTES]; BOARDS],
    imu: &ImuReading,
    counts: Counts,
) -> Vec<u8> {
    let mut data = session.to_le_bytes().to_vec();
    data.extend(boards.as_flattened());
    let in_g = |force: [f64; 3]| force.map(|f| f / STANDARD_GRAVITY);
    let (force, linear) =
        (in_g(imu.specific_force_m_per_s2), in_g(imu.linear_acceleration_m_per_s2));
    let parts =
        [(force, 11), (imu.angular_velocity_rad_per_s, 11), (imu.attitude_rad, 13), (linear, 11)];
    for (values, bits) in parts {
        data.extend(values.into_iter().flat_map(|value| fixed(value, bits)));
    }
    for number in [counts.sensor_index, counts.commands_lost, counts.last_command] {
        data.extend(number.to_le_bytes());
    }
    frame(&data)
}
