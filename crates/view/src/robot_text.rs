//! The robot's URDF as the page draws it: without the bodies that fly free, which are among the
//! surfaces that move.

use std::collections::BTreeSet;
use std::ops::Range;

use hardstand_protocol::ModelReply;
use roxmltree::{Document, Node};

/// `urdf` without those free bodies of the robot that are below its floating joints, what is fixed
/// to them, and the joints above them.
pub(crate) fn without_bodies(urdf: &str, model: &ModelReply) -> String {
    let bodies = &model.bodies;
    // most robots have none, and a description with meshes inside has megabytes
    let document = (!bodies.is_empty()).then(|| Document::parse(urdf));
    let Some(Ok(document)) = document else { return urdf.into() };
    let of_kind = |kind| document.root_element().children().filter(move |e| e.has_tag_name(kind));
    let floats = |joint: &Node<'_, '_>| joint.attribute("type") == Some("floating");
    let flies = |link: &&str| bodies.iter().any(|body| body.name == **link);
    let below = of_kind("joint").filter(floats).filter_map(|joint| end(joint, "child"));
    let mut gone: BTreeSet<&str> = below.filter(flies).collect();
    let is_gone =
        |gone: &BTreeSet<&str>, link: Option<&str>| link.is_some_and(|l| gone.contains(l));
    // as many rounds as the longest chain has links
    while of_kind("joint").any(|joint| {
        is_gone(&gone, end(joint, "parent"))
            && end(joint, "child").is_some_and(|child| gone.insert(child))
    }) {}
    let joints = of_kind("joint").filter(|joint| is_gone(&gone, end(*joint, "child")));
    let links = of_kind("link").filter(|link| is_gone(&gone, link.attribute("name")));
    let mut cut: Vec<Range<usize>> = joints.chain(links).map(|e| e.range()).collect();
    cut.sort_by_key(|e| e.start);
    let (mut out, mut at) = (String::new(), 0);
    for e in cut {
        out += &urdf[at..e.start];
        at = e.end;
    }
    out + &urdf[at..]
}

/// The link at an end of a joint.
fn end<'a>(joint: Node<'a, '_>, end: &str) -> Option<&'a str> {
    joint.children().find(|e| e.has_tag_name(end))?.attribute("link")
}
