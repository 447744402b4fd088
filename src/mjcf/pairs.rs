//! Which bodies of a model touch each other: `contype`, `conaffinity`, `<exclude>`, `<pair>`.

use std::collections::BTreeSet;

use super::body::Body;
use super::element::Element;
use super::geom::Geom;

/// The section `contact`.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// Geoms of each `<pair>`: they touch whatever their bits are.
    touching: Vec<[String; 2]>,
    /// Bodies of each `<exclude>`.
    excluded: Vec<[String; 2]>,
}

impl Pairs {
    pub(super) fn of(root: &Element) -> Self {
        let read = |tag: &str, keys: [&str; 2]| {
            let elements = root.all("contact").flat_map(|section| section.all(tag));
            let names = elements.filter_map(|e| {
                let [a, b] = keys.map(|key| e.get(key).map(String::from));
                Some([a?, b?])
            });
            names.collect()
        };
        Self {
            touching: read("pair", ["geom1", "geom2"]),
            excluded: read("exclude", ["body1", "body2"]),
        }
    }

    /// The geoms that a `<pair>` names.
    pub(super) fn named(&self) -> BTreeSet<String> {
        self.touching.iter().flatten().cloned().collect()
    }

    /// Pairs of bodies of the robot that have shapes which never touch: no two of them in MuJoCo.
    /// Bodies without a joint move with those that carry them, and need no pair with them.
    pub(super) fn apart(&self, bodies: &[Body], is_robot: &[bool]) -> Vec<[String; 2]> {
        let mut carrier: Vec<usize> = (0..bodies.len()).collect();
        for b in 1..bodies.len() {
            let parent = bodies[b].parent;
            if bodies[b].joints.is_empty() && is_robot[parent] {
                carrier[b] = carrier[parent];
            }
        }
        let named = self.named();
        let is_solid = |geom: &Geom| geom.collides() || named.contains(&geom.name);
        let solid: Vec<usize> = (1..bodies.len())
            .filter(|&b| is_robot[b] && bodies[b].geoms.iter().any(is_solid))
            .collect();
        let mut out = Vec::new();
        for (i, &a) in solid.iter().enumerate() {
            for &b in solid[i + 1..].iter().filter(|&&b| carrier[a] != carrier[b]) {
                let theirs = &bodies[b].geoms;
                let touch = |x: &Geom| theirs.iter().any(|y| self.touch(bodies, (a, x), (b, y)));
                if !bodies[a].geoms.iter().any(touch) {
                    out.push([bodies[a].name.clone(), bodies[b].name.clone()]);
                }
            }
        }
        out
    }

    fn touch(&self, bodies: &[Body], (a, x): (usize, &Geom), (b, y): (usize, &Geom)) -> bool {
        let is = |pair: &[String; 2], [a, b]: [&str; 2]| {
            let [c, d] = pair.each_ref().map(String::as_str);
            (c, d) == (a, b) || (c, d) == (b, a)
        };
        let named = !x.name.is_empty() && !y.name.is_empty();
        if named && self.touching.iter().any(|pair| is(pair, [&x.name, &y.name])) {
            return true;
        }
        let names = [bodies[a].name.as_str(), bodies[b].name.as_str()];
        x.meets(y) && !self.excluded.iter().any(|pair| is(pair, names))
    }
}
