//! The objects of a CiA 402 drive: index, type, rights, and what a master reads and writes there.

use super::cia402::Cia402;
use crate::{Condition, JointReading};

/// Type of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    U8,
    U16,
    U32,
    I8,
    I16,
    I32,
    F32,
}

impl Kind {
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
        }
    }

    /// The number of the data type, CiA 301.
    pub(crate) const fn code(self) -> u16 {
        match self {
            Self::I8 => 2,
            Self::I16 => 3,
            Self::I32 => 4,
            Self::U8 => 5,
            Self::U16 => 6,
            Self::U32 => 7,
            Self::F32 => 8,
        }
    }

    /// The value of these bytes, with its sign; a float is its bits.
    pub(crate) fn value(self, bytes: &[u8]) -> i64 {
        let raw = bytes.iter().rev().fold(0_i64, |value, byte| value << 8 | i64::from(*byte));
        match self {
            Self::I8 => i64::from(raw as i8),
            Self::I16 => i64::from(raw as i16),
            Self::I32 => i64::from(raw as i32),
            Self::U8 | Self::U16 | Self::U32 | Self::F32 => raw,
        }
    }
}

/// What a master may do with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rights {
    /// Read, and map to inputs.
    Input,
    /// Read and write, and map to outputs and inputs.
    Output,
    /// Read and write.
    Setting,
    /// Read.
    Constant,
}

/// One entry of the dictionary.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) index: u16,
    pub(crate) sub: u8,
    pub(crate) kind: Kind,
    pub(crate) rights: Rights,
    pub(crate) name: &'static str,
}

const fn entry(index: u16, sub: u8, kind: Kind, rights: Rights, name: &'static str) -> Entry {
    Entry { index, sub, kind, rights, name }
}

/// All objects of the drive, in their order.
pub(crate) const ENTRIES: [Entry; 32] = [
    entry(0x2001, 0, Kind::U8, Rights::Constant, "Gains at the shaft"),
    entry(0x2001, 1, Kind::F32, Rights::Output, "Stiffness in N m/rad"),
    entry(0x2001, 2, Kind::F32, Rights::Output, "Damping in N m s/rad"),
    entry(0x6007, 0, Kind::I16, Rights::Setting, "Abort connection option code"),
    entry(0x603f, 0, Kind::U16, Rights::Input, "Error code"),
    entry(0x6040, 0, Kind::U16, Rights::Output, "Controlword"),
    entry(0x6041, 0, Kind::U16, Rights::Input, "Statusword"),
    entry(0x605a, 0, Kind::I16, Rights::Setting, "Quick stop option code"),
    entry(0x605e, 0, Kind::I16, Rights::Setting, "Fault reaction option code"),
    entry(0x6060, 0, Kind::I8, Rights::Output, "Modes of operation"),
    entry(0x6061, 0, Kind::I8, Rights::Input, "Modes of operation display"),
    entry(0x6064, 0, Kind::I32, Rights::Input, "Position actual value"),
    entry(0x606c, 0, Kind::I32, Rights::Input, "Velocity actual value"),
    entry(0x6071, 0, Kind::I16, Rights::Output, "Target torque"),
    entry(0x6072, 0, Kind::U16, Rights::Output, "Max torque"),
    entry(0x6076, 0, Kind::U32, Rights::Constant, "Motor rated torque"),
    entry(0x6077, 0, Kind::I16, Rights::Input, "Torque actual value"),
    entry(0x6079, 0, Kind::U32, Rights::Input, "DC link circuit voltage"),
    entry(0x607a, 0, Kind::I32, Rights::Output, "Target position"),
    entry(0x608f, 0, Kind::U8, Rights::Constant, "Position encoder resolution"),
    entry(0x608f, 1, Kind::U32, Rights::Constant, "Encoder increments"),
    entry(0x608f, 2, Kind::U32, Rights::Constant, "Motor revolutions"),
    entry(0x60b1, 0, Kind::I32, Rights::Output, "Velocity offset"),
    entry(0x60b2, 0, Kind::I16, Rights::Output, "Torque offset"),
    entry(0x60c2, 0, Kind::U8, Rights::Constant, "Interpolation time period"),
    entry(0x60c2, 1, Kind::U8, Rights::Setting, "Interpolation time period value"),
    entry(0x60c2, 2, Kind::I8, Rights::Setting, "Interpolation time index"),
    entry(0x60f4, 0, Kind::I32, Rights::Input, "Following error actual value"),
    entry(0x60fd, 0, Kind::U32, Rights::Input, "Digital inputs"),
    entry(0x60ff, 0, Kind::I32, Rights::Output, "Target velocity"),
    entry(0x6402, 0, Kind::U16, Rights::Constant, "Motor type"),
    entry(0x6502, 0, Kind::U32, Rights::Constant, "Supported drive modes"),
];

/// The entry of an object of the drive.
pub(crate) fn find(index: u16, sub: u8) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.index == index && entry.sub == sub)
}

/// What a write was refused for.
pub(crate) struct OutOfRange;

impl Cia402 {
    /// The value of an object that [`find`] finds.
    pub(crate) fn get(&self, index: u16, sub: u8, now: &JointReading) -> i64 {
        let config = &self.config;
        // a position beyond 32 bits goes on at the other end
        let position = config.counts(now.q_rad) as i64 as i32;
        match (index, sub) {
            (0x2001 | 0x608f | 0x60c2, 0) => 2,
            (0x2001, 1) => self.stiffness.to_bits().into(),
            (0x2001, 2) => self.damping.to_bits().into(),
            (0x6007, _) => self.abort_option.into(),
            (0x603f, _) => self.error_code.into(),
            (0x6040, _) => self.controlword.into(),
            (0x6041, _) => self.statusword().into(),
            (0x605a, _) => self.quick_stop_option.into(),
            (0x605e, _) => self.fault_option.into(),
            (0x6060 | 0x6061, _) => self.mode.into(),
            (0x6064, _) => position.into(),
            (0x606c, _) => i64::from(config.counts(now.dq_rad_s) as i32),
            (0x6071, _) => self.target_torque.into(),
            (0x6072, _) => self.max_torque.into(),
            (0x6076, _) => (config.rated_torque_nm * 1000.0).round() as i64,
            (0x6077, _) => config.permille(now.tau_nm),
            (0x6079, _) => (self.environment.bus_v * 1000.0).round() as i64,
            (0x607a, _) => self.target_position.into(),
            (0x608f, 1) => config.counts_per_rev.into(),
            (0x60b1, _) => self.velocity_offset.into(),
            (0x60b2, _) => self.torque_offset.into(),
            (0x60c2, n) => self.interpolation[usize::from(n != 1)].into(),
            (0x60f4, _) => self.target_position.wrapping_sub(position).into(),
            (0x60ff, _) => self.target_velocity.into(),
            (0x6402, _) => 0x000a, // a synchronous motor with sinusoidal commutation
            (0x6502, _) => 0b111 << 7,
            (0x608f, _) => 1,
            _ => 0,
        }
    }

    /// Writes an object of [`Rights::Output`] or [`Rights::Setting`].
    pub(crate) fn set(&mut self, index: u16, sub: u8, value: i64) -> Result<(), OutOfRange> {
        let gain = f32::from_bits(value as u32);
        let good = gain.is_finite() && gain >= 0.0;
        match (index, sub) {
            (0x2001, 1) if good => self.stiffness = gain,
            (0x2001, 2) if good => self.damping = gain,
            (0x6007, _) if (0..=3).contains(&value) => self.abort_option = value as i16,
            (0x6040, _) => self.control(value as u16),
            (0x605a, _) if matches!(value, 0 | 2 | 6) => self.quick_stop_option = value as i16,
            (0x605e, _) if matches!(value, 0 | 2) => self.fault_option = value as i16,
            (0x6060, _) if matches!(value, 0 | 8..=10) => self.mode = value as i8,
            (0x6071, _) => self.target_torque = value as i16,
            (0x6072, _) => self.max_torque = value as u16,
            (0x607a, _) => self.target_position = value as i32,
            (0x60b1, _) => self.velocity_offset = value as i32,
            (0x60b2, _) => self.torque_offset = value as i16,
            (0x60c2, n) => self.interpolation[usize::from(n != 1)] = value as i16,
            (0x60ff, _) => self.target_velocity = value as i32,
            _ => return Err(OutOfRange),
        }
        Ok(())
    }

    /// The error code of the first fault of the hardware.
    pub(super) fn hardware_error(&self) -> Option<u16> {
        let codes = [
            (Condition::OverCurrent, 0x2310),
            (Condition::OverVoltage, 0x3210),
            (Condition::UnderVoltage, 0x3220),
            (Condition::OverTemperature, 0x4210),
            (Condition::GateDriver, 0x5400),
            (Condition::Encoder, 0x7300),
        ];
        let found = codes.into_iter().find(|(condition, _)| self.conditions.has(*condition));
        found.map(|(_, code)| code)
    }
}
