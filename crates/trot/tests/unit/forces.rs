use super::Numbers;
use crate::forces::{Distribution, FORCE_MAX_N, FRICTION};
use crate::legs::{Vec3, Vec6};

/// Where the feet are while the robot stands, from the centre of mass, m.
const FEET: [Vec3; 4] = [
    Vec3::new(0.19, 0.145, -0.28),
    Vec3::new(0.19, -0.145, -0.28),
    Vec3::new(-0.19, 0.145, -0.28),
    Vec3::new(-0.19, -0.145, -0.28),
];

/// What the forces add up to.
fn wrench(forces: &[Vec3; 4]) -> Vec6 {
    let force = forces.iter().sum::<Vec3>();
    let torque = FEET.iter().zip(forces).map(|(foot, force)| foot.cross(force)).sum::<Vec3>();
    Vec6::new(force.x, force.y, force.z, torque.x, torque.y, torque.z)
}

fn random(n: &mut Numbers, force_n: f64, torque_nm: f64) -> Vec6 {
    let [x, y, z] = [n.next(), n.next(), n.next()].map(|x| force_n * x);
    let [a, b, c] = [n.next(), n.next(), n.next()].map(|x| torque_nm * x);
    Vec6::new(x, y, 143.0 + z, a, b, c)
}

#[test]
fn forces_add_up_to_the_wrench_where_no_limit_is_reached() {
    let mut n = Numbers(1);
    for _ in 0..100 {
        let wanted = random(&mut n, 10.0, 2.0);
        let mut distribution = Distribution::default();
        let mut forces = [Vec3::zeros(); 4];
        // Each turn leaves up to a third of the error, and a tick has eight turns.
        for _ in 0..3 {
            forces = distribution.solve(&FEET, &wanted, [1.0; 4]);
        }
        let error = wrench(&forces) - wanted;
        // The weight of the forces themselves gives away 0.002 of up to 143 N.
        assert!(error.norm() < 0.1, "wanted {wanted}, error {error}");
    }
}

#[test]
fn forces_stay_within_friction_and_load() {
    let (mut n, mut limited) = (Numbers(2), 0);
    let mut distribution = Distribution::default();
    for _ in 0..1000 {
        let wanted = random(&mut n, 300.0, 60.0);
        let shares = [0, 1, 2, 3].map(|_| n.next().max(0.0));
        let forces = distribution.solve(&FEET, &wanted, shares);
        for (force, share) in forces.iter().zip(shares) {
            assert!((0.0..=share * FORCE_MAX_N).contains(&force.z), "{force} of {share}");
            // 1 + 1e-12 for the rounding of the norm
            assert!(force.xy().norm() <= FRICTION * force.z * (1.0 + 1e-12), "{force}");
            limited += usize::from(force.z > 0.0 && force.z == share * FORCE_MAX_N);
        }
    }
    assert!(limited > 100, "only {limited} forces reached a limit");
}

#[test]
fn a_wish_beyond_friction_gets_what_friction_gives_and_does_not_lift() {
    let wanted = Vec6::new(100.0, 0.0, 143.0, 0.0, 0.0, 0.0);
    let mut distribution = Distribution::default();
    let mut forces = [Vec3::zeros(); 4];
    for _ in 0..100 {
        forces = distribution.solve(&FEET, &wanted, [1.0; 4]);
    }
    let all = wrench(&forces);
    assert!((all.z - 143.0).abs() < 1.0, "{all}");
    for force in &forces {
        assert!((force.x - FRICTION / 2_f64.sqrt() * force.z).abs() < 1e-9, "{force}");
    }
}
