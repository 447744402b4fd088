//! Vectors turned by unit quaternions, w x y z.

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The vector turned by a unit quaternion: v' = v + w t + u × t with t = 2 u × v.
pub(crate) fn rotate([w, x, y, z]: [f64; 4], vector: [f64; 3]) -> [f64; 3] {
    let u = [x, y, z];
    let twice = cross(u, vector).map(|c| 2.0 * c);
    let last = cross(u, twice);
    std::array::from_fn(|i| vector[i] + w * twice[i] + last[i])
}

/// From the world into the frame of the quaternion.
pub(crate) fn unrotate([w, x, y, z]: [f64; 4], vector: [f64; 3]) -> [f64; 3] {
    rotate([w, -x, -y, -z], vector)
}
