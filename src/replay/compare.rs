//! Names the published quantity in which two states differ.

use hardstand_protocol::StateReading;

/// The first published quantity in which the states of `log` and replay differ, with both values.
pub(super) fn first_difference(log: &StateReading, here: &StateReading) -> Option<String> {
    let groups: [(&str, &[f64], &[f64]); 7] = [
        ("truth_base_position_m", &log.truth_base_position_m, &here.truth_base_position_m),
        ("truth_base_quat_wxyz", &log.truth_base_quat_wxyz, &here.truth_base_quat_wxyz),
        (
            "truth_base_velocity_m_per_s",
            &log.truth_base_velocity_m_per_s,
            &here.truth_base_velocity_m_per_s,
        ),
        (
            "truth_base_angular_velocity_rad_per_s",
            &log.truth_base_angular_velocity_rad_per_s,
            &here.truth_base_angular_velocity_rad_per_s,
        ),
        (
            "imu_specific_force_m_per_s2",
            &log.imu_specific_force_m_per_s2,
            &here.imu_specific_force_m_per_s2,
        ),
        ("foot_normal_n", &log.foot_normal_n, &here.foot_normal_n),
        ("imu_quat_wxyz", &log.imu_quat_wxyz, &here.imu_quat_wxyz),
    ];
    for (name, a, b) in groups {
        if let Some(text) = differing(name, a, b) {
            return Some(text);
        }
    }
    for (i, (a, b)) in log.joints.iter().zip(&here.joints).enumerate() {
        let name = format!("joint[{i}] (q, dq, tau)");
        if let Some(text) = differing(&name, &[a.q, a.dq, a.tau], &[b.q, b.dq, b.tau]) {
            return Some(text);
        }
    }
    (log.authority != here.authority)
        .then(|| format!("authority: {} and {}", log.authority, here.authority))
}

fn differing(name: &str, a: &[f64], b: &[f64]) -> Option<String> {
    let i = a.iter().zip(b).position(|(x, y)| x.to_bits() != y.to_bits())?;
    Some(format!("{name}[{i}]: {:e} in the log, {:e} in the replay", a[i], b[i]))
}
