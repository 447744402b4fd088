//! MIT mode: position, velocity, two gains and torque as unsigned integers over fixed ranges.

/// Ranges of the five numbers. Position, velocity and torque are ±, gains start at 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MitRanges {
    /// ± rad.
    pub q_rad: f64,
    /// ± rad/s.
    pub dq_rad_s: f64,
    /// ± N·m.
    pub tau_nm: f64,
    /// Up to, in N·m/rad.
    pub kp: f64,
    /// Up to, in N·m·s/rad.
    pub kd: f64,
}

impl MitRanges {
    /// Damiao DM-J4310-2EC, MIT mini-cheetah-like gains.
    pub const DAMIAO_4310: Self =
        Self { q_rad: 12.5, dq_rad_s: 30.0, tau_nm: 10.0, kp: 500.0, kd: 5.0 };
    /// Damiao DM-J4340-2EC.
    pub const DAMIAO_4340: Self =
        Self { q_rad: 12.5, dq_rad_s: 10.0, tau_nm: 28.0, kp: 500.0, kd: 5.0 };
    /// Ben Katz's controller in the MIT mini cheetah.
    pub const MINI_CHEETAH: Self =
        Self { q_rad: 12.5, dq_rad_s: 65.0, tau_nm: 18.0, kp: 500.0, kd: 5.0 };
    /// Xiaomi CyberGear. Its manual says ±4π, the maker's example computes with 12.5.
    pub const CYBERGEAR: Self =
        Self { q_rad: 12.5, dq_rad_s: 30.0, tau_nm: 12.0, kp: 500.0, kd: 5.0 };
    /// RobStride 01 and 02.
    pub const ROBSTRIDE_02: Self = Self {
        q_rad: 4.0 * std::f64::consts::PI,
        dq_rad_s: 44.0,
        tau_nm: 17.0,
        kp: 500.0,
        kd: 5.0,
    };

    /// The command of mini cheetah and Damiao: 16, 12, 12, 12, 12 bits, most significant first.
    pub(super) fn unpack_12(&self, data: &[u8; 8]) -> Impedance {
        let bits = u64::from_be_bytes(*data);
        let field = |shift: u32, bits_n: u32| bits >> shift & ((1 << bits_n) - 1);
        Impedance {
            q_rad: signed(field(48, 16), self.q_rad, 16),
            dq_rad_s: signed(field(36, 12), self.dq_rad_s, 12),
            kp: unsigned(field(24, 12), self.kp, 12),
            kd: unsigned(field(12, 12), self.kd, 12),
            tau_nm: signed(field(0, 12), self.tau_nm, 12),
        }
    }

    /// Position in 16, velocity in 12, torque in 12 bits: the five bytes of their feedback.
    pub(super) fn pack_feedback_12(&self, q_rad: f64, dq_rad_s: f64, tau_nm: f64) -> [u8; 5] {
        let q = raw(q_rad, self.q_rad, 16) << 24;
        let bits = q | raw(dq_rad_s, self.dq_rad_s, 12) << 12 | raw(tau_nm, self.tau_nm, 12);
        let [_, _, _, bytes @ ..] = bits.to_be_bytes();
        bytes
    }
}

/// What a command asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Impedance {
    pub(super) q_rad: f64,
    pub(super) dq_rad_s: f64,
    pub(super) kp: f64,
    pub(super) kd: f64,
    pub(super) tau_nm: f64,
}

impl Impedance {
    pub(super) fn set_point(&self, zero_rad: f64, tau_max_nm: f64) -> crate::SetPoint {
        crate::SetPoint::Follow {
            q_rad: self.q_rad + zero_rad,
            dq_rad_s: self.dq_rad_s,
            kp: self.kp,
            kd: self.kd,
            tau_ff_nm: self.tau_nm,
            tau_max_nm,
        }
    }
}

/// The integer of a number in ±`range`; rounded down, as the makers' firmware does.
pub(super) fn raw(value: f64, range: f64, bits: u32) -> u64 {
    let steps = ((1_u64 << bits) - 1) as f64;
    ((value.clamp(-range, range) + range) * steps / (2.0 * range)) as u64
}

pub(super) fn signed(raw: u64, range: f64, bits: u32) -> f64 {
    raw as f64 * (2.0 * range) / ((1_u64 << bits) - 1) as f64 - range
}

pub(super) fn unsigned(raw: u64, range: f64, bits: u32) -> f64 {
    raw as f64 * range / ((1_u64 << bits) - 1) as f64
}
