use super::Numbers;
use crate::legs::{Leg, Mat3, Vec3, inverse_kinematics};

/// Knees bent by 0.9 to 2.3 rad: neither as straight nor as folded as a target may not be.
fn postures() -> impl Iterator<Item = (usize, Vec3)> {
    let mut n = Numbers(1);
    (0..400).map(move |i| {
        let q = Vec3::new(0.6 * n.next(), 0.8 + 0.9 * n.next(), -1.6 + 0.7 * n.next());
        (i % 4, q)
    })
}

#[test]
fn inverse_kinematics_undoes_kinematics() {
    for (leg, q) in postures() {
        let foot = Leg::new(leg, &q, &Mat3::identity()).p_BF_W;
        assert!((inverse_kinematics(leg, &foot) - q).norm() < 1e-12, "leg {leg}, q {q}");
    }
}

#[test]
fn a_foot_out_of_reach_gives_the_nearest_length() {
    let far = Vec3::new(0.19, 0.145, -0.7);
    let foot = Leg::new(0, &inverse_kinematics(0, &far), &Mat3::identity()).p_BF_W;
    let expected = Vec3::new(0.19, 0.145, -0.385);
    assert!((foot - expected).norm() < 1e-12, "{foot}");
}

#[test]
fn the_jacobian_is_the_derivative_of_the_foot() {
    let (s, c) = libm::sincos(0.7);
    let R_WB = Mat3::new(c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0);
    for (leg, q) in postures() {
        let foot = |q: &Vec3| Leg::new(leg, q, &R_WB).p_BF_W;
        let here = Leg::new(leg, &q, &R_WB);
        let jacobian = here.jacobian(&here.p_BF_W);
        for joint in 0..3 {
            let mut step = Vec3::zeros();
            step[joint] = 1e-5;
            let difference = (foot(&(q + step)) - foot(&(q - step))) / 2e-5;
            // Central differences: step²/6 of a third derivative below 0.5 m, and rounding.
            let error = (jacobian.column(joint) - difference).norm();
            assert!(error < 1e-10, "leg {leg}, joint {joint}, q {q}: {error}");
        }
    }
}

#[test]
fn torques_that_hold_the_weight_are_the_derivative_of_its_energy() {
    // Hip, thigh and calf with foot hang from the hip; only their centres matter.
    let up = Vec3::new(0.0, 0.0, 9.81);
    for (leg, q) in postures() {
        let torques = Leg::new(leg, &q, &Mat3::identity()).weight_torques(&-up);
        let left = [1.0, -1.0, 1.0, -1.0][leg];
        let energy = |q: &Vec3| {
            let (hip, thigh, calf) = (q[0], q[1], q[1] + q[2]);
            let drop = |pitch: f64| -libm::cos(hip) * libm::cos(pitch);
            let out = left * libm::sin(hip);
            let hip_z = 0.02 * out;
            let thigh_z = 0.095 * out + 0.03195 * drop(thigh);
            let calf_z = 0.095 * out + 0.213 * drop(thigh) + 0.1243 * drop(calf);
            9.81 * (0.65 * hip_z + thigh_z + 0.24 * calf_z)
        };
        for joint in 0..3 {
            let mut step = Vec3::zeros();
            step[joint] = 1e-5;
            let expected = (energy(&(q + step)) - energy(&(q - step))) / 2e-5;
            assert!((torques[joint] - expected).abs() < 1e-9, "leg {leg}, joint {joint}, q {q}");
        }
    }
}
