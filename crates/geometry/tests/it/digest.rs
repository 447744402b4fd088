//! A digest of 10,000 random contacts, for any machine. It uses nothing of the test harness, so
//! that a program for another machine can include it.

use hardstand_geometry::{Patch, Pose, Vec3, Workspace, contact};

use super::common::{KINDS, Random};

/// What it is on every machine.
pub const DIGEST: u64 = 0xa37e_80fd_540d_73f5;

/// FNV-1a over the bits of all points.
pub fn digest() -> u64 {
    let mut random = Random::new(61);
    let (mut ws, mut patch) = (Workspace::new(), Patch::new());
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut take = |bits: u64| {
        for byte in bits.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    };
    for case in 0..10_000 {
        let [a, b] = [case % KINDS, case / KINDS % KINDS].map(|kind| random.shape(kind));
        let (xa, xb) = (random.pose(0.2), random.pose(0.2));
        // half of them only just touch
        let apart = if case % 2 == 0 { random.direction() * 0.3 } else { Vec3::ZERO };
        let xb = Pose { R: xb.R, p: xb.p + apart };
        contact((&a, &xa), (&b, &xb), 0.02, &mut ws, &mut patch);
        take(patch.points().len() as u64);
        for p in patch.points() {
            let [x, y, z] = p.a_W.to_array();
            for c in [x, y, z, p.b_W.x, p.b_W.y, p.b_W.z, p.depth_m, p.weight] {
                take(c.to_bits());
            }
            take(u64::from(p.feature));
        }
    }
    hash
}
