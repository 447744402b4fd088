//! Random numbers, directions and poses with a fixed seed.

use hardstand_geometry::{Mat3, Pose, Vec3};

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn bits(&mut self) -> u64 {
        // xorshift64*, Vigna 2016
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// 0 to 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    pub fn index(&mut self, count: usize) -> usize {
        (self.bits() >> 33) as usize % count
    }

    pub fn in_ball(&mut self) -> Vec3 {
        loop {
            let mut c = || self.between(-1.0, 1.0);
            let v = Vec3::new(c(), c(), c());
            if v.norm_squared() <= 1.0 && v.norm_squared() > 1e-6 {
                return v;
            }
        }
    }

    pub fn direction(&mut self) -> Vec3 {
        let v = self.in_ball();
        v * (1.0 / v.norm())
    }

    pub fn rotation(&mut self) -> Mat3 {
        let mut c = || self.between(-1.0, 1.0);
        Mat3::from_quaternion([c(), c(), c(), c()])
    }

    pub fn pose(&mut self, reach_m: f64) -> Pose {
        Pose { R: self.rotation(), p: self.in_ball() * reach_m }
    }
}
