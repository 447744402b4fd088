//! Tests of what is inside: where the legs are, what forces do, and when a trot stops.

mod forces;
mod gait;
mod legs;

/// Numbers between -1 and 1 that look random (PCG), the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        f64::from((self.0 >> 33) as u32) / f64::from(1_u32 << 30) - 1.0
    }
}
