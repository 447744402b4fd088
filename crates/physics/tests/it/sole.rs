//! Rigid contacts that share a body: the corners of a plate.

use hardstand_physics::contact::{Convergence, RigidContact, solve_rigid};
use hardstand_physics::spatial::{Mat3, Vec3};

use crate::common::dice::Dice;

const MU: f64 = 0.6;
const MASS_KG: f64 = 5.0;
/// Of the plate about its centre of mass, kg·m²: as of a robot above it.
const INERTIA_KG_M2: f64 = 0.8;

/// The corners from the centre of mass, m.
fn corners() -> [Vec3; 4] {
    [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)]
        .map(|(x, y)| Vec3::new(0.1 * x, 0.03 * y, -0.4))
}

/// How the corners answer to impulses at each other.
fn responses() -> Vec<Mat3> {
    let corners = corners();
    let mut W = Vec::new();
    for at in &corners {
        for by in &corners {
            let column = |c: usize| {
                let impulse = Vec3::from_fn(|r| f64::from(u8::from(r == c)));
                impulse / MASS_KG + (by.cross(&impulse) / INERTIA_KG_M2).cross(at)
            };
            W.push(Mat3::from_columns(&[column(0), column(1), column(2)]));
        }
    }
    W
}

/// A plate that would move with this velocity of its centre, m/s, and this rate, rad/s.
fn solved(v: &Vec3, w: &Vec3) -> (Convergence, [RigidContact; 4]) {
    let mut contacts = corners().map(|p| RigidContact::new(v + w.cross(&p), MU));
    let convergence = solve_rigid(&responses(), &mut contacts);
    (convergence, contacts)
}

fn assert_meets_conditions(contact: &RigidContact) {
    let RigidContact { impulse, velocity, .. } = contact;
    assert!(impulse.z >= 0.0 && velocity.z > -1e-8, "{contact:?}");
    assert!((impulse.z * velocity.z).abs() < 1e-8, "{contact:?}");
    let (friction, slip) = (impulse.xy(), velocity.xy());
    assert!(friction.norm() <= MU * impulse.z * (1.0 + 1e-9) + 1e-12, "{contact:?}");
    if impulse.z > 1e-9 && slip.norm() > 1e-5 {
        // on the edge of the cone, against the slip
        let opposed = friction.dot(&slip) + MU * impulse.z * slip.norm();
        assert!(opposed.abs() < 1e-6 * MU * impulse.z * slip.norm() + 1e-10, "{contact:?}");
    }
}

#[test]
fn a_plate_is_solved_after_few_sweeps() {
    let (convergence, contacts) = solved(&Vec3::new(0.01, -0.02, -0.3), &Vec3::new(0.1, 0.2, 0.05));
    // 83 without steps for all contacts at once
    assert!(convergence.sweeps <= 6 && convergence.steps > 0, "{convergence:?}");
    assert!(convergence.change_m_per_s < 1e-10, "{convergence:?}");
    contacts.iter().for_each(assert_meets_conditions);
}

#[test]
fn a_plate_rocks_and_slides_by_the_same_conditions() {
    let mut dice = Dice(11);
    let (mut open, mut slide, mut sweeps) = (0, 0, Vec::new());
    for _ in 0..2000 {
        let mut draw = |size: f64| size * (dice.roll(2001) as f64 / 1000.0 - 1.0);
        let v = Vec3::new(draw(0.3), draw(0.3), draw(0.1) - 0.2);
        let w = Vec3::new(draw(0.5), draw(0.5), draw(1.0));
        let (convergence, contacts) = solved(&v, &w);
        open += contacts.iter().filter(|c| c.impulse.z == 0.0).count();
        slide += contacts.iter().filter(|c| c.slides).count();
        sweeps.push(convergence.sweeps);
        if convergence.change_m_per_s < 1e-10 {
            contacts.iter().for_each(assert_meets_conditions);
        }
    }
    assert!(open > 500 && slide > 500, "{open} open, {slide} slide");
    sweeps.sort_unstable();
    // 19 without steps for all contacts at once
    assert!(sweeps[1000] <= 6, "half of the plates need up to {} sweeps", sweeps[1000]);
}
