//! The command interfaces of `<ros2_control>`.

use roxmltree::Document;

use super::read::children;

/// Names of the interfaces that a `sensor_msgs/JointState` has lists for.
pub const LISTED_INTERFACES: [&str; 3] = ["position", "velocity", "effort"];

/// For each of the joints, which of [`LISTED_INTERFACES`] a `<ros2_control>` of the URDF lets
/// controllers command; empty if it names none at all.
#[must_use]
pub fn command_interfaces(urdf: &str, joints: &[&str]) -> Vec<[bool; LISTED_INTERFACES.len()]> {
    let Ok(document) = Document::parse(urdf) else { return Vec::new() };
    let mut all = vec![[false; LISTED_INTERFACES.len()]; joints.len()];
    let named = |kind: &'static str, node| children(node).filter(move |n| n.has_tag_name(kind));
    for joint in named("ros2_control", document.root_element()).flat_map(|c| named("joint", c)) {
        let Some(place) = joints.iter().position(|j| joint.attribute("name") == Some(j)) else {
            continue;
        };
        for interface in named("command_interface", joint) {
            let name = interface.attribute("name");
            if let Some(i) = LISTED_INTERFACES.iter().position(|n| name == Some(n)) {
                all[place][i] = true;
            }
        }
    }
    if all.iter().flatten().any(|is_there| *is_there) { all } else { Vec::new() }
}
