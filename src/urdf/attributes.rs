//! Numbers and poses in attributes. Each mistake names the element and its line.

use roxmltree::Node;

use super::read::{Reader, child};
use super::reduced::spaced;
use super::report::shown;
use hardstand_physics::math;
use hardstand_physics::spatial::{Mat3, Quaternion};

/// Largest magnitude of a length, mass, inertia or angle: products of larger ones can overflow.
const NUMBER_MAX: f64 = 1e9;

impl Reader<'_> {
    /// Copies the `<origin>` of a node and converts `quat_xyzw` to `rpy`. urdf-rs would convert it
    /// too, but with the system's `atan2`, which differs from machine to machine.
    pub(super) fn origin(&mut self, node: Node<'_, '_>, owner: &str) {
        let Some(origin) = child(node, "origin") else { return };
        let xyz = self.triple(owner, origin, "xyz", Some([0.0; 3]));
        let mut rpy = self.triple(owner, origin, "rpy", Some([0.0; 3]));
        if let Some(text) = origin.attribute("quat_xyzw") {
            let quaternion = numbers::<4>(text).filter(|q| q.iter().any(|c| c.abs() > 1e-6));
            match quaternion {
                Some([x, y, z, w]) if origin.attribute("rpy").is_none() => {
                    rpy = rpy_of(&Quaternion { w, x, y, z }.to_matrix());
                }
                _ => {
                    let reason = "must be four numbers, not all 0, and not stand beside rpy";
                    self.bad(owner, origin, "quat_xyzw", reason);
                }
            }
        }
        let (xyz, rpy) = (spaced(xyz), spaced(rpy));
        self.xml.open("origin", &[("xyz", &xyz), ("rpy", &rpy)]);
        self.xml.close("origin");
    }

    /// A finite number. If it is missing, the default; without a default a mistake.
    pub(super) fn number(
        &mut self,
        owner: &str,
        node: Node<'_, '_>,
        attribute: &str,
        default: Option<f64>,
    ) -> f64 {
        let value = match (node.attribute(attribute), default) {
            (None, Some(default)) => return default,
            (text, _) => text.and_then(numbers::<1>),
        };
        let Some([value]) = value else {
            self.bad(owner, node, attribute, "must be a finite number of at most 1e9");
            return default.unwrap_or_default();
        };
        value
    }

    /// Three finite numbers, as [`number`](Self::number).
    pub(super) fn triple(
        &mut self,
        owner: &str,
        node: Node<'_, '_>,
        attribute: &str,
        default: Option<[f64; 3]>,
    ) -> [f64; 3] {
        let value = match (node.attribute(attribute), default) {
            (None, Some(default)) => return default,
            (text, _) => text.and_then(numbers::<3>),
        };
        let Some(value) = value else {
            self.bad(owner, node, attribute, "must be three finite numbers of at most 1e9");
            return default.unwrap_or_default();
        };
        value
    }

    /// Reports an attribute with its line and value.
    pub(super) fn bad(&mut self, owner: &str, node: Node<'_, '_>, attribute: &str, reason: &str) {
        let element = node.tag_name().name();
        let line = self.report.line(node);
        let found = match node.attribute(attribute) {
            Some(value) => format!("{attribute}=\"{}\"", shown(value)),
            None => format!("{attribute} is missing"),
        };
        self.mistake(format!("{owner}: <{element}> (line {line}) {found}; it {reason}"));
    }
}

/// Exactly `N` finite numbers of at most `NUMBER_MAX`, separated by white space.
pub(super) fn numbers<const N: usize>(text: &str) -> Option<[f64; N]> {
    let mut out = [0.0; N];
    let mut words = text.split_whitespace();
    for slot in &mut out {
        *slot = words.next()?.parse().ok().filter(|v: &f64| v.abs() <= NUMBER_MAX)?;
    }
    words.next().is_none().then_some(out)
}

/// Roll, pitch, yaw of a rotation, exact also at pitch ±90°: there yaw is arbitrary, and roll comes
/// from the rotation that remains after yaw is removed.
fn rpy_of(R: &Mat3) -> [f64; 3] {
    let yaw = math::atan2(R[(1, 0)], R[(0, 0)]);
    let cos_pitch = (R[(0, 0)] * R[(0, 0)] + R[(1, 0)] * R[(1, 0)]).sqrt();
    let (s, c) = math::sin_cos(yaw);
    let row = |k: usize| c * R[(1, k)] - s * R[(0, k)];
    [math::atan2(-row(2), row(1)), math::atan2(-R[(2, 0)], cos_pitch), yaw]
}
