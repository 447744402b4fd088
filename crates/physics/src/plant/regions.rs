//! Regions of the ground with friction of their own.

use crate::contact::Friction;
use crate::spatial::Vec3;

use super::Word;

/// A rectangle of a surface whose coefficients, once it has any, are used instead of those of
/// the stations that touch it. Coefficients that change are in [`State`](super::State).
///
/// ```
/// use hardstand_physics::contact::Friction;
/// use hardstand_physics::plant::FrictionRegion;
///
/// let ice = FrictionRegion {
///     name: "ice".into(),
///     surface: 0,
///     min_m: [1.0, -0.5],
///     max_m: [2.0, 0.5],
///     friction: Some(Friction::new(0.1, 0.05)),
/// };
/// assert!(ice.contains(0, 1.0, 0.5) && !ice.contains(0, 2.001, 0.0));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FrictionRegion {
    /// Name, unique.
    pub name: String,
    /// Index into [`PlantSpec::ground`](super::PlantSpec::ground).
    pub surface: usize,
    /// Smallest x and y in the surface's axes, m; they belong to the region.
    pub min_m: [f64; 2],
    /// Largest x and y in the surface's axes, m; they belong to the region.
    pub max_m: [f64; 2],
    /// Initial coefficients; `None` leaves the stations theirs until an event gives it some.
    pub friction: Option<Friction>,
}

impl FrictionRegion {
    /// True if the point (`x_m`, `y_m`) of surface `surface` lies in the region.
    #[must_use]
    pub fn contains(&self, surface: usize, x_m: f64, y_m: f64) -> bool {
        let within = |i: usize, x: f64| x >= self.min_m[i] && x <= self.max_m[i];
        surface == self.surface && within(0, x_m) && within(1, y_m)
    }
}

/// Coefficients of a contact with surface `surface` at `p_S`: those of the last region that
/// contains it and has some (`now`, one entry per region), or else the body's `own`.
pub(super) fn friction_at(
    regions: &[FrictionRegion],
    now: &[Option<Friction>],
    surface: usize,
    p_S: impl FnOnce() -> Vec3,
    own: Friction,
) -> Friction {
    if regions.is_empty() {
        return own;
    }
    let p_S = p_S();
    let mut last_first = regions.iter().zip(now).rev();
    let found = last_first.find_map(|(r, f)| f.filter(|_| r.contains(surface, p_S.x, p_S.y)));
    found.unwrap_or(own)
}

/// The words of one region's coefficients; without any, the two after `region.set` are 0.
#[inline(always)]
pub(super) fn walk_region(
    i: usize,
    slot: &mut Option<Friction>,
    visit: &mut impl FnMut(&'static str, usize, Word<'_>),
) {
    let mut set = u64::from(slot.is_some());
    let friction = slot.unwrap_or(Friction::NONE);
    let (mut mu_s, mut mu_k) = (friction.mu_static(), friction.mu_kinetic());
    visit("region.set", i, Word::U64(&mut set));
    visit("region.mu_static", i, Word::F64(&mut mu_s));
    visit("region.mu_kinetic", i, Word::F64(&mut mu_k));
    *slot = (set != 0).then(|| Friction::new(mu_s, mu_k));
}
