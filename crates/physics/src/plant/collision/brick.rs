//! Boxes that meet planes as Simbody's bricks do: with the corners of one face.

use crate::contact::{BrickContact, SpringForce};
use crate::math;
use crate::spatial::Vec3;

use super::super::contact_result::no_force;
use super::Carrier;
use super::evaluate::{Around, Place};
use super::point::CollisionPoint;
use super::set::CollisionSet;
use super::weights::PairMemory;

impl CollisionSet {
    /// The law of a shape that is a brick on this surface.
    pub(super) fn brick(&self, shape: usize, carrier: Carrier) -> Option<&BrickContact> {
        let Carrier::Surface(surface) = carrier else { return None };
        self.bricks[shape].get(surface)?.as_ref()
    }

    /// Evaluates the corners of a brick that are in a plane.
    pub(super) fn touch_brick(
        &mut self,
        of: &Around<'_>,
        pair: u64,
        (shape, surface): (usize, Carrier),
        brick: &BrickContact,
    ) {
        let of_shape = &self.spec.shapes[shape];
        let carriers = [of_shape.carrier, surface];
        let X_WA = of.pose(carriers[0]).compose(&of_shape.X_BS);
        let X_WS = of.pose(surface);
        let normal_W = X_WS.R * Vec3::z();
        let first = self.points.len();
        for p_A in brick.face(&X_WA.R.tr_mul(&normal_W)) {
            let p_W = X_WA.point(&p_A);
            let depth_m = normal_W.dot(&(X_WS.p - p_W));
            if depth_m <= 0.0 {
                continue;
            }
            let corner = |x: f64, bit: u64| if x > 0.0 { bit } else { 0 };
            let place = Place {
                pair,
                shapes: (shape, None),
                carriers,
                normal_W,
                point_W: brick.contact_point(&p_W, &normal_W, depth_m),
                depth_m,
                weight: 1.0,
                feature: corner(p_A.x, 1) | corner(p_A.y, 2) | corner(p_A.z, 4),
            };
            self.touch(of, &place, None);
        }
        // each corner is a contact of its own, which begins and ends without force
        self.weigh(first, PairMemory::default(), of.now_ns);
    }
}

impl CollisionPoint {
    /// A corner of a brick.
    pub(super) fn corner(&mut self, law: &BrickContact) {
        let (p_C, normal) = (Vec3::new(0.0, 0.0, -self.depth_m), Vec3::z());
        let at = law.vertex(&self.friction, &normal, &p_C, self.depth_m, &-self.v_C);
        let (friction, normal_n) = (at.contact.force - at.normal, at.normal.z);
        let elastic_n = law.elastic_n(self.depth_m);
        self.slopes = law.slopes(&at);
        self.force = SpringForce {
            normal_elastic_n: elastic_n,
            normal_damping_n: normal_n - elastic_n,
            normal_n,
            mu: if normal_n > 0.0 { friction.norm() / normal_n } else { 0.0 },
            friction_limit_n: self.friction.mu_static() * normal_n,
            friction_damping_P: [friction.x, friction.y],
            next_sliding: math::step_up(at.slip.norm() / law.transition_m_per_s()),
            potential_energy_j: at.contact.potential_energy_j,
            power_dissipation_w: at.contact.power_dissipation_w,
            ..no_force(&p_C, &self.v_C)
        };
    }
}
