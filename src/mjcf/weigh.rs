//! Masses and inertias of bodies.

use hardstand_physics::spatial::{Mat3, SpatialInertia, Vec3};

use super::assets::Assets;
use super::body::Body;
use super::compiler::{Compiler, FromGeoms};
use super::report::Report;
use crate::matrix::eigen;

/// The inertia of each body: stated, or that of its geoms.
pub(super) fn weigh(
    bodies: &mut [Body],
    compiler: &Compiler,
    assets: &Assets,
    report: &mut Report,
) {
    for body in bodies.iter_mut().skip(1) {
        let stated = body.inertial.filter(|_| compiler.inertia_from_geoms != FromGeoms::Always);
        let of_geoms = |report: &mut Report| {
            let all = body.geoms.iter().map(|g| g.inertia(compiler.groups, assets, report));
            all.fold(SpatialInertia::zero(), |sum, one| sum.plus(&one))
        };
        let inertia = match stated {
            Some(stated) => stated,
            None if compiler.inertia_from_geoms == FromGeoms::Never => SpatialInertia::zero(),
            None => match of_geoms(report) {
                none if none.mass <= 0.0 => body.inertial.unwrap_or(none),
                found => found,
            },
        };
        body.inertia = adjusted(inertia, compiler);
    }
    let mass: f64 = bodies.iter().map(|b| b.inertia.mass).sum();
    if let Some(total) = compiler.total_mass
        && mass > 0.0
    {
        for body in bodies {
            let (m, c, I) = (body.inertia.mass, body.inertia.com(), body.inertia.about_com());
            body.inertia = SpatialInertia::from_com(m * total / mass, &c, &(I * (total / mass)));
        }
    }
}

/// Bounds, and balance of the principal moments.
fn adjusted(inertia: SpatialInertia, compiler: &Compiler) -> SpatialInertia {
    let (mass, mut I) = (inertia.mass.max(compiler.mass_min), inertia.about_com());
    let c = if inertia.mass > 0.0 { inertia.com() } else { Vec3::zeros() };
    if compiler.inertia_min > 0.0 {
        I = bounded(&I, compiler.inertia_min);
    }
    if compiler.balance && !is_balanced(&I) {
        I = Mat3::from_diagonal_element(I.trace() / 3.0);
    }
    if mass == inertia.mass && I == inertia.about_com() {
        return inertia;
    }
    SpatialInertia::from_com(mass, &c, &I)
}

/// The same axes, with principal moments of at least `least`.
fn bounded(I: &Mat3, least: f64) -> Mat3 {
    let rows = (0..3).map(|i| (0..3).map(|k| I[(i, k)]).collect()).collect();
    let (moments, axes) = eigen(&rows);
    if moments.iter().all(|m| *m >= least) {
        return *I;
    }
    let part = |(m, axis): (&f64, &Vec<f64>)| {
        let axis = Vec3::new(axis[0], axis[1], axis[2]);
        axis.outer(&axis) * m.max(least)
    };
    moments.iter().zip(&axes).map(part).fold(Mat3::zeros(), |sum, one| sum + one)
}

/// By how much of itself a principal moment of a plate may exceed the sum of the others: rounding
/// of a matrix whose axes are turned.
const PLATE: f64 = 1e-12;

/// True if no principal moment exceeds the sum of the others: then half the trace minus the matrix
/// has no negative principal value.
fn is_balanced(I: &Mat3) -> bool {
    let size = I.trace() / 2.0;
    let M = Mat3::from_diagonal_element(size) - I;
    let minor = |a: usize, b: usize| M[(a, a)] * M[(b, b)] - M[(a, b)] * M[(a, b)];
    (0..3).all(|i| M[(i, i)] >= -PLATE * size)
        && [(0, 1), (0, 2), (1, 2)].iter().all(|&(a, b)| minor(a, b) >= -PLATE * size * size)
        && M.determinant() >= -PLATE * size * size * size
}
