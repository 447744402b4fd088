//! Where a station has pressed soft ground down.

use crate::spatial::Vec3;

use super::SoftGround;

/// Prints that a station remembers on one surface.
pub(crate) const PRINTS: usize = 4;
/// A print this near to a deeper one, as a share of the radius, is part of it.
const SAME_PRINT: f64 = 0.5;

/// The ground as one station has left it: its prints, and how far it has pressed down what is under
/// it.
///
/// While the ground carries a station, what is under it stays as deep as it was pressed, wherever
/// the station moves: sideways, no force rises. A station that carries nothing and is dragged
/// through the side of a print pushes that aside. Only where it comes down again it meets the
/// prints, each as a bowl, the deepest one where several overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Prints {
    /// How deep what is under the station has been pressed, m.
    pub(crate) under_m: f64,
    pub(crate) all: [Print; PRINTS],
}

/// One print.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Print {
    /// Its deepest point, below the level surface, m; 0 for none.
    pub(crate) deepest_m: f64,
    /// Where that is, in S, m.
    pub(crate) middle_S: [f64; 3],
}

impl Print {
    fn distance_m(&self, point_S: &Vec3) -> f64 {
        (Vec3::from(self.middle_S) - point_S).norm()
    }
}

impl Prints {
    /// How deep the prints are at a point of the level surface, m.
    #[must_use]
    pub fn depth_m(&self, ground: &SoftGround, point_S: &Vec3) -> f64 {
        let depths = self.all.iter().map(|p| ground.print_m(p.deepest_m, p.distance_m(point_S)));
        depths.fold(0.0, |most, depth_m| if depth_m > most { depth_m } else { most })
    }

    /// How deep the ground has been pressed under a station at `depth_m` below this point of the
    /// level surface, m.
    pub(crate) fn under_m(&self, ground: &SoftGround, depth_m: f64, point_S: &Vec3) -> f64 {
        if ground.evaluate(depth_m, 0.0, self.under_m).elastic_n > 0.0 {
            return self.under_m;
        }
        let (here_m, pushed_m) = (self.depth_m(ground, point_S), ground.pressed_m(depth_m));
        let pushed_m = if pushed_m < self.under_m { pushed_m } else { self.under_m };
        if pushed_m > here_m { pushed_m } else { here_m }
    }

    /// Takes in that the ground is now pressed to `depth_m` at a point of the level surface.
    pub(crate) fn stand(&mut self, ground: &SoftGround, depth_m: f64, point_S: &Vec3) {
        self.under_m = depth_m;
        if depth_m > self.depth_m(ground, point_S) {
            self.press(ground, depth_m, point_S);
        }
    }

    /// Makes a print. It takes the place of the nearest one, if that is part of it; it is lost in
    /// one that is near and deeper; else it takes the place of the farthest.
    pub fn press(&mut self, ground: &SoftGround, depth_m: f64, point_S: &Vec3) {
        let (mut nearest, mut farthest) = ((f64::INFINITY, 0), (-1.0, 0));
        for (i, print) in self.all.iter().enumerate() {
            let is_free = print.deepest_m == 0.0;
            let distance_m = if is_free { f64::INFINITY } else { print.distance_m(point_S) };
            if distance_m < nearest.0 {
                nearest = (distance_m, i);
            }
            if distance_m > farthest.0 {
                farthest = (distance_m, i);
            }
        }
        let is_part = nearest.0 < SAME_PRINT * ground.print_radius_m();
        let place = &mut self.all[if is_part { nearest.1 } else { farthest.1 }];
        if !is_part || depth_m >= place.deepest_m {
            *place = Print { deepest_m: depth_m, middle_S: (*point_S).into() };
        }
    }
}
