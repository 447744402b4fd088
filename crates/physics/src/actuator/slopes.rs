//! How fast an effort gives way: what a step that is implicit in the joints needs.

/// What an effort loses per rad (or m), and per rad/s (or m/s), of the joint's motion.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointSlopes<T = f64> {
    /// N·m/rad or N/m.
    pub stiffness: T,
    /// N·m·s/rad or N·s/m.
    pub damping: T,
}
