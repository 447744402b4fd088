//! Corners of a Collada file (DAE).

use hardstand_physics::spatial::{Mat3, Quaternion, Vec3};
use roxmltree::{Document, Node};

/// Nodes within nodes; deeper ones are left out.
const DEPTH_MAX: usize = 64;
/// Corners of all meshes with their copies.
const CORNERS_MAX: usize = 4_000_000;

/// A map of points: p ↦ M p + t.
#[derive(Clone, Copy)]
struct Map {
    M: Mat3,
    t: Vec3,
}

impl Map {
    fn after(&self, first: &Self) -> Self {
        Self { M: self.M * first.M, t: self.M * first.t + self.t }
    }
}

/// All corners of the scene in m; `None` if the text is no such file. As ROS does, it follows the
/// unit of the file but not its `up_axis`.
pub(super) fn corners(text: &str) -> Option<Vec<Vec3>> {
    let document = Document::parse(text).ok()?;
    let root = document.root_element();
    if !root.has_tag_name("COLLADA") {
        return None;
    }
    let unit = root.descendants().find(|n| n.has_tag_name("unit"));
    let unit: f64 = unit.and_then(|n| n.attribute("meter")?.parse().ok()).unwrap_or(1.0);
    let scale = Map { M: Mat3::from_diagonal(&Vec3::repeat(unit)), t: Vec3::zeros() };
    let mut out = Vec::new();
    let scene = root.descendants().find(|n| n.has_tag_name("visual_scene"));
    let nodes = scene.into_iter().flat_map(|s| s.children()).filter(|n| n.has_tag_name("node"));
    for node in nodes {
        add(root, node, &scale, DEPTH_MAX, &mut out)?;
    }
    Some(out)
}

/// Adds what a node of the scene shows.
fn add(
    root: Node<'_, '_>,
    node: Node<'_, '_>,
    above: &Map,
    depth: usize,
    out: &mut Vec<Vec3>,
) -> Option<()> {
    let mut map = *above;
    for child in node.children().filter(Node::is_element) {
        match child.tag_name().name() {
            "matrix" => {
                let m = numbers(child)?;
                let row = |i: usize| m.get(4 * i..4 * i + 4);
                let (x, y, z) = (row(0)?, row(1)?, row(2)?);
                let column = |i: usize| Vec3::new(x[i], y[i], z[i]);
                let M = Mat3::from_columns(&[column(0), column(1), column(2)]);
                map = map.after(&Map { M, t: column(3) });
            }
            "translate" => {
                let t = three(&numbers(child)?)?;
                map = map.after(&Map { M: Mat3::identity(), t });
            }
            "rotate" => {
                let n = numbers(child)?;
                let axis = three(&n)?;
                let turn = axis.normalize() * n.get(3)?.to_radians();
                let M = Quaternion::from_rotation_vector(&turn).to_matrix();
                map = map.after(&Map { M, t: Vec3::zeros() });
            }
            "scale" => {
                let M = Mat3::from_diagonal(&three(&numbers(child)?)?);
                map = map.after(&Map { M, t: Vec3::zeros() });
            }
            "instance_geometry" => {
                let id = child.attribute("url")?.strip_prefix('#')?;
                for p in positions(root, id)? {
                    out.push(map.M * p + map.t);
                }
                if out.len() > CORNERS_MAX {
                    return None;
                }
            }
            "node" if depth > 0 => add(root, child, &map, depth - 1, out)?,
            _ => {}
        }
    }
    Some(())
}

/// The positions of a geometry's vertices.
fn positions(root: Node<'_, '_>, id: &str) -> Option<Vec<Vec3>> {
    let by_id = |within: Node<'_, '_>, id: &str| {
        within.descendants().find(|n| n.attribute("id") == Some(id)).map(|n| n.id())
    };
    let geometry = root.document().get_node(by_id(root, id)?)?;
    let vertices = geometry.descendants().find(|n| n.has_tag_name("vertices"))?;
    let input = vertices.children().find(|n| n.attribute("semantic") == Some("POSITION"))?;
    let source = by_id(geometry, input.attribute("source")?.strip_prefix('#')?)?;
    let source = root.document().get_node(source)?;
    let array = source.children().find(|n| n.has_tag_name("float_array"))?;
    let accessor = source.descendants().find(|n| n.has_tag_name("accessor"));
    let stride = accessor.and_then(|n| n.attribute("stride")?.parse().ok()).unwrap_or(3_usize);
    numbers(array)?.chunks_exact(stride.max(3)).map(three).collect()
}

fn numbers(node: Node<'_, '_>) -> Option<Vec<f64>> {
    node.text()?.split_whitespace().map(|word| word.parse().ok()).collect()
}

fn three(n: &[f64]) -> Option<Vec3> {
    let [x, y, z, ..] = n else { return None };
    Some(Vec3::new(*x, *y, *z))
}
