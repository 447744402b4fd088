//! Stations that follow from the collision shapes of a foot: capsules and cylinders.

use hardstand::config::Scenario;
use hardstand_physics::contact::StationShape;
use hardstand_physics::spatial::Vec3;
use hardstand_protocol::TickInput;

use crate::common::logs;

const LYING: &str = "<origin xyz=\"0.02 0 0\" rpy=\"0 1.5707963267948966 0\"/>";
const RADIUS_M: f64 = 0.03;
const LENGTH_M: f64 = 0.16;

/// A block on one foot, whose link has these collision elements 0.2 m below it.
fn on_foot(shapes: &[(&str, &str)]) -> String {
    let inertial = "<inertial><mass value=\"2\"/><inertia ixx=\"0.02\" ixy=\"0\" ixz=\"0\" \
                    iyy=\"0.02\" iyz=\"0\" izz=\"0.02\"/></inertial>";
    let element = |(origin, shape): &(&str, &str)| {
        let size = format!("radius=\"{RADIUS_M}\" length=\"{LENGTH_M}\"");
        let shape = shape.replace("SIZE", &size);
        format!("<collision>{origin}<geometry>{shape}</geometry></collision>")
    };
    let shapes: String = shapes.iter().map(element).collect();
    format!(
        "<robot name=\"r\"><link name=\"block\">{inertial}</link><link name=\"foot\">{shapes}\
         </link><joint name=\"ankle\" type=\"fixed\"><parent link=\"block\"/>\
         <child link=\"foot\"/><origin xyz=\"0 0 -0.2\"/></joint></robot>"
    )
}

fn scenario(robot: &str, more: &str) -> hardstand::Result<Scenario> {
    // the springs are those of the weight, so that it rests 1 mm deep
    let text =
        format!("[contact]\nspring = \"by_mass\"\n[[feet]]\nname = \"f\"\nlink = \"foot\"\n{more}");
    Scenario::from_texts(&text, robot, &[])
}

/// Places and shapes of the stations of a foot.
fn stations(robot: &str, more: &str) -> Vec<(Vec3, StationShape)> {
    let stations = scenario(robot, more).unwrap().spec.stations;
    stations.iter().map(|s| (s.p_BS, s.shape)).collect()
}

fn assert_at(found: &Vec3, [x, y, z]: [f64; 3]) {
    assert!((*found - Vec3::new(x, y, z)).norm() < 1e-12, "{found:?}, not {x} {y} {z}");
}

/// A capsule is the hull of the balls at its ends, however it lies.
#[test]
fn a_capsule_gives_the_balls_at_its_ends() {
    let half_m = 0.5 * LENGTH_M;
    let lying = stations(&on_foot(&[(LYING, "<capsule SIZE/>")]), "");
    assert_eq!(lying.len(), 2);
    for ((place, shape), x) in lying.iter().zip([-half_m, half_m]) {
        assert_at(place, [0.02 + x, 0.0, -0.2]);
        assert_eq!(*shape, StationShape::Sphere { radius_m: RADIUS_M });
    }
    let standing = stations(&on_foot(&[("", "<capsule SIZE/>")]), "");
    assert_at(&standing[0].0, [0.0, 0.0, -0.2 - half_m]);
    let left = LYING.replace("0.02 0 0", "0.02 0.04 0");
    let right = LYING.replace("0.02 0 0", "0.02 -0.04 0");
    let two = on_foot(&[(&left, "<capsule SIZE/>"), (&right, "<capsule SIZE/>")]);
    assert_eq!(stations(&two, "").len(), 4);
    // Hunt–Crossley takes balls alone
    assert_eq!(stations(&two, "model = \"hunt_crossley\"\n").len(), 4);
}

/// The lowest point of each end, wherever the cylinder has rolled to.
#[test]
fn a_lying_cylinder_gives_the_rims_of_its_ends() {
    let lying = stations(&on_foot(&[(LYING, "<cylinder SIZE/>")]), "");
    assert_eq!(lying.len(), 2);
    for ((place, shape), x) in lying.iter().zip([-0.5 * LENGTH_M, 0.5 * LENGTH_M]) {
        assert_at(place, [0.02 + x, 0.0, -0.2]);
        for (y, z) in [(0.0, 1.0), (0.6, 0.8), (-0.28, -0.96)] {
            let up = Vec3::new(0.0, y, z);
            assert_at(&(*place + shape.lowest(&up)), (*place - up * RADIUS_M).to_array());
        }
    }
    let round = stations(&on_foot(&[(LYING, "<cylinder SIZE/>")]), "radius_m = 0.005\n");
    assert_at(&round[1].0, [0.02 + 0.5 * LENGTH_M - 0.005, 0.0, -0.2]);
    assert_at(&round[1].1.lowest(&Vec3::z()), [0.0, 0.0, -RADIUS_M]);
}

#[test]
fn a_standing_cylinder_gives_six_points_of_its_lower_rim() {
    // whichever end is down
    for turn in ["", "<origin rpy=\"3.141592653589793 0 0\"/>"] {
        let standing = stations(&on_foot(&[(turn, "<cylinder SIZE/>")]), "");
        assert_eq!(standing.len(), 6);
        for (place, shape) in &standing {
            assert_eq!(*shape, StationShape::Point);
            assert!((place.z + 0.2 + 0.5 * LENGTH_M).abs() < 1e-12, "{place:?}");
            assert!(((place.x * place.x + place.y * place.y).sqrt() - RADIUS_M).abs() < 1e-12);
        }
    }
    // the posture counts, not the axes of the file
    let fallen = "[initial]\nrpy_rad = [0.0, 1.5707963267948966, 0.0]\n";
    assert_eq!(stations(&on_foot(&[("", "<cylinder SIZE/>")]), fallen).len(), 2);
}

/// A shank beside the ball of a foot is no sole.
#[test]
fn a_cylinder_beside_other_shapes_gives_no_stations() {
    let both = on_foot(&[("", "<cylinder SIZE/>"), ("", "<sphere radius=\"0.02\"/>")]);
    let found = stations(&both, "");
    assert_eq!(found, [(Vec3::new(0.0, 0.0, -0.2), StationShape::Sphere { radius_m: 0.02 })]);
    let mesh = on_foot(&[("", "<mesh filename=\"sole.stl\"/>")]);
    let text = scenario(&mesh, "").unwrap_err().to_string();
    assert!(text.contains("has no collision sphere, box, capsule or cylinder"), "{text}");
}

/// Two soles as of a G1: the block lands on them and rests 1 mm deep.
#[test]
fn a_block_rests_on_soles_of_capsules_and_of_cylinders() {
    for shape in ["<capsule SIZE/>", "<cylinder SIZE/>"] {
        let left = LYING.replace("0.02 0 0", "0 0.06 0");
        let right = LYING.replace("0.02 0 0", "0 -0.06 0");
        let scenario = scenario(&on_foot(&[(&left, shape), (&right, shape)]), "").unwrap();
        let mut simulation = scenario.simulation();
        for _ in 0..1500 {
            simulation.step(&TickInput::new());
        }
        let q = &simulation.state().q;
        let deep_m = 0.2 + RADIUS_M - q.p_WB.z;
        assert!((deep_m - 1e-3).abs() < 2e-5, "{shape}: {deep_m} m deep");
        assert!(q.quat_WB.to_rpy().iter().all(|angle| angle.abs() < 1e-3), "{shape}: tilted");
    }
}

#[test]
fn the_model_command_says_which_stations_a_shape_gives() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.urdf");
    for (shape, said) in [
        ("<capsule SIZE/>", "capsule, radius 0.03 m, length 0.16 m: 2 stations"),
        ("<cylinder SIZE/>", "6 stations if it stands, 2 if it lies"),
        ("<mesh filename=\"sole.stl\"/>", "a mesh: give points_m"),
    ] {
        std::fs::write(&file, on_foot(&[("", shape)])).unwrap();
        let (text, _) = logs::hardstand(&["model".as_ref(), file.as_os_str()]);
        assert!(text.contains(said), "{said}: {text}");
    }
}
