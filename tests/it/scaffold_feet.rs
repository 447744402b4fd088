//! What `hardstand new` takes for feet, and when a robot stands on them.

use crate::common::process::Scene;
use crate::scaffold::new;

const INERTIA: &str = "ixx=\"0.001\" ixy=\"0\" ixz=\"0\" iyy=\"0.001\" iyz=\"0\" izz=\"0.001\"";

fn link(name: &str, mass_kg: f64, at: [f64; 3], shape: &str) -> String {
    let [x, y, z] = at;
    format!(
        "<link name=\"{name}\"><inertial><mass value=\"{mass_kg}\"/><inertia {INERTIA}/></inertial>\
         <collision><origin xyz=\"{x} {y} {z}\"/><geometry>{shape}</geometry></collision></link>"
    )
}

/// Four legs of one joint on a box: the leg's shape and its middle, its end, and where that is; all
/// legs of the rear are turned round.
fn on_four_legs(
    (leg, middle): (&str, [f64; 3]),
    (end, shape, tip): (&str, &str, [f64; 3]),
) -> String {
    let mut out = link("trunk", 8.0, [0.0; 3], "<box size=\"0.4 0.2 0.1\"/>");
    for (name, x, y) in [("FL", 1.0, 1.0), ("FR", 1.0, -1.0), ("RL", -1.0, 1.0), ("RR", -1.0, -1.0)]
    {
        let round = |[a, b, c]: [f64; 3]| [x * a, b, c];
        let ([hip_x, hip_y], [tip_x, tip_y, tip_z]) = ([0.2 * x, 0.1 * y], round(tip));
        out += &link(&format!("{name}_leg"), 0.3, round(middle), leg);
        out += &link(&format!("{name}_{end}"), 0.03, [0.0; 3], shape);
        out += &format!(
            "<joint name=\"{name}\" type=\"revolute\"><parent link=\"trunk\"/>\
             <child link=\"{name}_leg\"/><origin xyz=\"{hip_x} {hip_y} 0\"/><axis xyz=\"0 1 0\"/>\
             <limit lower=\"-0.3\" upper=\"0.3\" effort=\"50\" velocity=\"9\"/></joint>\
             <joint name=\"{name}_end\" type=\"fixed\"><parent link=\"{name}_leg\"/>\
             <child link=\"{name}_{end}\"/><origin xyz=\"{tip_x} {tip_y} {tip_z}\"/></joint>"
        );
    }
    format!("<robot name=\"four\">{out}</robot>")
}

/// Its legs stick out to the sides: what carries it is the trunk.
#[test]
fn a_robot_that_lies_on_its_belly_does_not_stand() {
    let scene = Scene::new();
    let leg = ("<box size=\"0.15 0.02 0.02\"/>", [0.075, 0.0, 0.0]);
    let urdf = on_four_legs(leg, ("foot", "<sphere radius=\"0.012\"/>", [0.15, 0.0, 0.0]));
    std::fs::write(scene.dir.path().join("belly.urdf"), urdf).unwrap();
    let result = new(scene.dir.path(), &["belly.urdf"], 1);
    assert_eq!(result["stands"], false, "{result}");
}

/// No link is called a foot, and the shank is a box, but the pad below it reaches lower.
#[test]
fn the_lowest_of_the_links_on_a_body_is_its_foot() {
    let scene = Scene::new();
    let leg = ("<box size=\"0.02 0.02 0.2\"/>", [0.0, 0.0, -0.1]);
    let pad = "<cylinder radius=\"0.02\" length=\"0.02\"/>";
    let urdf = on_four_legs(leg, ("pad", pad, [0.0, 0.0, -0.2]));
    std::fs::write(scene.dir.path().join("pads.urdf"), urdf).unwrap();
    let result = new(scene.dir.path(), &["pads.urdf", "-o", "pads.toml"], 0);
    assert_eq!(result["stands"], true, "{result}");
    let names: Vec<&str> =
        result["feet"].as_array().unwrap().iter().map(|f| f.as_str().unwrap()).collect();
    assert_eq!(names, ["FL_pad", "FR_pad", "RL_pad", "RR_pad"]);
    let scenario = std::fs::read_to_string(scene.dir.path().join("pads.toml")).unwrap();
    let table: toml::Table = scenario.parse().unwrap();
    for foot in table["feet"].as_array().unwrap() {
        assert_eq!(foot["points_m"].as_array().unwrap().len(), 6, "{foot}");
    }
}

/// The capsule of a calf ends within the ball of its foot: that is one ball, and no sole that the
/// posture would have to lay flat.
#[test]
fn a_ball_around_the_end_of_a_capsule_is_the_foot() {
    let leg = |name: &str, x: f64, y: f64| {
        let joint = |part: &str, axis: &str, range: &str| {
            format!("<joint name=\"{name}_{part}\" axis=\"{axis}\" range=\"{range}\"/>")
        };
        let rod = |radius: f64, mass: f64| {
            format!(
                "<geom type=\"capsule\" fromto=\"0 0 0 0 0 -0.2\" size=\"{radius}\" mass=\"{mass}\"/>"
            )
        };
        format!(
            "<body name=\"{name}_hip\" pos=\"{x} {y} 0\">{}\
             <geom type=\"sphere\" size=\"0.03\" mass=\"0.4\"/>\
             <body name=\"{name}_thigh\">{}{}<body name=\"{name}_calf\" pos=\"0 0 -0.2\">{}{}\
             <geom type=\"sphere\" pos=\"0 0 -0.2\" size=\"0.02\" mass=\"0.03\"/>\
             </body></body></body>",
            joint("hip", "1 0 0", "-45 45"),
            joint("thigh", "0 1 0", "-90 90"),
            rod(0.02, 0.7),
            joint("knee", "0 1 0", "-150 -20"),
            rod(0.015, 0.2),
        )
    };
    let legs = [("FL", 0.18, 0.1), ("FR", 0.18, -0.1), ("RL", -0.18, 0.1), ("RR", -0.18, -0.1)];
    let legs = legs.map(|(name, x, y)| leg(name, x, y)).concat();
    let model = format!(
        "<mujoco model=\"dog\"><compiler angle=\"degree\"/>\
         <default><joint armature=\"0.01\" damping=\"0.2\" limited=\"true\"/></default><worldbody>\
         <body name=\"trunk\" pos=\"0 0 0.4\"><freejoint/>\
         <geom type=\"box\" size=\"0.2 0.1 0.05\" mass=\"6\"/>{legs}</body></worldbody></mujoco>"
    );
    let scene = Scene::new();
    std::fs::write(scene.dir.path().join("dog.xml"), model).unwrap();
    let result = new(scene.dir.path(), &["dog.xml", "-o", "dog.toml"], 0);
    assert_eq!(result["posture"], "solved", "{result}");
    assert_eq!(result["stands"], true, "{result}");
    let scenario = std::fs::read_to_string(scene.dir.path().join("dog.toml")).unwrap();
    let table: toml::Table = scenario.parse().unwrap();
    for foot in table["feet"].as_array().unwrap() {
        assert_eq!(foot["radius_m"].as_float(), Some(0.02), "{foot}");
        assert_eq!(foot["points_m"].as_array().unwrap().len(), 1, "{foot}");
    }
}
