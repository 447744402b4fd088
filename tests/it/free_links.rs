//! Floating joints inside a robot: what is below them is a free body beside it.

use hardstand::ErrorKind;
use hardstand::config::Scenario;
use hardstand::mjcf;
use hardstand::simulation::Simulation;
use hardstand::urdf::{BaseChoice, Loaded, parse_urdf};
use hardstand_physics::model::Base;
use hardstand_physics::plant::{Carrier, Mobility};
use hardstand_physics::spatial::{Transform, Vec3};
use hardstand_protocol::TickInput;

use crate::common::logs;

/// A trunk of 10 kg with a tray, on a joint above it a mast; on the tray lies a parcel that is made
/// of two links, 2 and 1 kg, 0.2 m apart.
fn robot(kind: &str) -> String {
    let inertial = |mass: f64, moments: [f64; 3]| {
        let [xx, yy, zz] = moments;
        format!(
            "<inertial><mass value=\"{mass}\"/><inertia ixx=\"{xx}\" ixy=\"0\" ixz=\"0\" \
             iyy=\"{yy}\" iyz=\"0\" izz=\"{zz}\"/></inertial>"
        )
    };
    let boxed =
        |size: &str| format!("<collision><geometry><box size=\"{size}\"/></geometry></collision>");
    let joint = |kind: &str, parent: &str, child: &str, xyz: &str| {
        format!(
            "<joint name=\"{child}_joint\" type=\"{kind}\"><parent link=\"{parent}\"/>\
             <child link=\"{child}\"/><origin xyz=\"{xyz}\"/></joint>"
        )
    };
    [
        "<robot name=\"r\">".to_string(),
        format!("<link name=\"trunk\">{}{}</link>", inertial(10.0, [0.2; 3]), boxed("0.6 0.4 0.2")),
        format!("<link name=\"mast\">{}</link>", inertial(1.0, [0.01; 3])),
        joint("continuous", "trunk", "mast", "0 0.15 0.2"),
        "<link name=\"tray\"/>".into(),
        joint("fixed", "trunk", "tray", "0.1 0 0.1"),
        format!(
            "<link name=\"parcel\">{}{}</link>",
            inertial(2.0, [0.02; 3]),
            boxed("0.1 0.1 0.1")
        ),
        joint(kind, "tray", "parcel", "0 0 0.05"),
        format!("<link name=\"lid\">{}{}</link>", inertial(1.0, [0.01; 3]), boxed("0.1 0.1 0.1")),
        joint("fixed", "parcel", "lid", "0 0 0.2"),
        "</robot>".into(),
    ]
    .concat()
}

fn loaded(text: &str, base: BaseChoice) -> Loaded {
    parse_urdf(text, "r.urdf", base).unwrap()
}

fn scenario(text: &str, sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    Scenario::from_texts("", text, &sets).unwrap()
}

fn run(simulation: &mut Simulation, ticks: u32) {
    for _ in 0..ticks {
        simulation.step(&TickInput::new());
        assert_eq!(simulation.failure(), None, "tick {}", simulation.state().tick);
    }
}

#[test]
fn a_part_below_an_inner_floating_joint_is_a_body_beside_the_robot() {
    let of = loaded(&robot("floating"), BaseChoice::Auto);
    assert_eq!((of.model.base, of.model.joint_count()), (Base::Floating, 1));
    assert_eq!(of.model.total_mass(), 11.0);
    assert!(of.model.frame("parcel").is_none() && of.model.frame("lid").is_none());
    assert_eq!(of.collisions.len(), 1);
    let [free] = &of.free[..] else { panic!("{:?}", of.free) };
    assert_eq!((&free.name[..], free.parent.as_deref()), ("parcel", Some("tray")));
    assert_eq!((free.inertia.mass, free.collisions.len()), (3.0, 2));
    // the centre of mass of both links, and Steiner's theorem about it
    assert!((free.inertia.com() - Vec3::new(0.0, 0.0, 0.2 / 3.0)).norm() < 1e-15);
    let [near_m, far_m] = [0.2 / 3.0, 0.4 / 3.0];
    let across = 0.03 + 2.0 * near_m * near_m + 1.0 * far_m * far_m;
    assert!((free.inertia.about_com()[(0, 0)] - across).abs() < 1e-12);
    assert_eq!(free.collisions[1].X_FC.p, Vec3::new(0.0, 0.0, 0.2));
}

/// The tray is in the air, so the parcel and the robot fall together and stay together.
#[test]
fn it_starts_where_the_joint_has_it_and_moves_with_the_robot() {
    let sets = [
        "initial.place=as_given",
        "initial.position_m=[1.0, 2.0, 3.0]",
        "initial.rpy_rad=[0.0, 0.0, 0.5]",
        "initial.velocity_m_per_s=[0.4, 0.0, 0.0]",
        "initial.angular_velocity_rad_per_s=[0.0, 0.0, 2.0]",
    ];
    let s = scenario(&robot("floating"), &sets);
    let body = &s.spec.collisions.bodies[0];
    assert_eq!((&body.name[..], body.mobility), ("parcel", Mobility::Free));
    let X_WB = Transform::from_xyz_rpy([1.0, 2.0, 3.0], [0.0, 0.0, 0.5]);
    let place = X_WB.point(&Vec3::new(0.1, 0.0, 0.15 + 0.2 / 3.0));
    assert!((body.X_WB.p - place).norm() < 1e-12, "{:?}", body.X_WB.p);
    assert!((body.X_WB.R - X_WB.R).norm_squared() < 1e-24);
    assert_eq!(body.V_W.ang, Vec3::new(0.0, 0.0, 2.0));
    let arm = place - X_WB.p;
    let velocity = Vec3::new(0.4 - 2.0 * arm.y, 2.0 * arm.x, 0.0);
    assert!((body.V_W.lin - velocity).norm() < 1e-12, "{:?}", body.V_W.lin);
    // both shapes are where the links are
    let shapes = s.spec.collisions.shapes.iter().filter(|c| c.carrier == Carrier::Body(0));
    let heights: Vec<f64> = shapes.map(|c| body.X_WB.compose(&c.X_BS).p.z).collect();
    assert!((heights[0] - 3.15).abs() < 1e-12 && (heights[1] - 3.35).abs() < 1e-12);
}

#[test]
fn a_parcel_lies_on_its_tray_and_falls_off_when_the_robot_is_pulled_away() {
    let sets = ["contact.spring=by_mass", "contact.stiction=holding"];
    let s = scenario(&robot("floating"), &sets);
    // the robot was put on the ground, and the parcel with it
    let mut simulation = s.simulation();
    let above = |simulation: &Simulation| {
        let state = simulation.state();
        state.bodies[0].p_WB - state.q.p_WB
    };
    assert!((above(&simulation).z - (0.15 + 0.2 / 3.0)).abs() < 1e-12);
    run(&mut simulation, 2000);
    let rests = above(&simulation);
    assert!((rests.z - (0.15 + 0.2 / 3.0)).abs() < 3e-3, "{rests:?}");
    assert!(simulation.state().bodies[0].v_WB.norm() < 1e-2);
    let mut input = TickInput::new();
    input.events.push(hardstand_protocol::Event::Push {
        body: 0,
        point_B: [0.0; 3],
        force_W: [2000.0, 0.0, 0.0],
        ticks: 100,
    });
    simulation.step(&input);
    run(&mut simulation, 3000);
    let height_m = simulation.state().bodies[0].p_WB.z;
    assert!(height_m < 0.2, "it lies on the ground: {height_m} m");
}

#[test]
fn a_part_with_joints_of_its_own_is_refused_with_a_reason() {
    let arm = "<link name=\"arm\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" ixy=\"0\" \
               ixz=\"0\" iyy=\"1\" iyz=\"0\" izz=\"1\"/></inertial></link>\
               <joint name=\"elbow\" type=\"continuous\"><parent link=\"lid\"/>\
               <child link=\"arm\"/></joint></robot>";
    let text = robot("floating").replace("</robot>", arm);
    let e = parse_urdf(&text, "r.urdf", BaseChoice::Auto).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Input);
    let said = e.to_string();
    for part in ["joint \"parcel_joint\"", "\"elbow\"", "\"fixed\"", "nothing holds"] {
        assert!(said.contains(part), "no {part} in: {said}");
    }
}

/// Neither mass nor shape: refused, and a line.
#[test]
fn a_free_body_without_mass_is_refused_and_one_without_shape_told() {
    let text = robot("floating");
    let massless = text.replace("value=\"2\"", "value=\"0\"").replace("value=\"1\"", "value=\"0\"");
    let e = parse_urdf(&massless, "r.urdf", BaseChoice::Auto).unwrap_err().to_string();
    assert!(e.contains("\"parcel\"") && e.contains("no mass"), "{e}");
    let bare =
        text.replace("<collision><geometry><box size=\"0.1 0.1 0.1\"/></geometry></collision>", "");
    let warnings = loaded(&bare, BaseChoice::Auto).warnings;
    assert!(warnings.iter().any(|w| w.contains("touches nothing")), "{warnings:?}");
}

/// A world with a robot and a ball: neither holds the other.
#[test]
fn bodies_of_the_world_stay_where_they_are_when_the_robot_is_placed() {
    let ball = "<link name=\"ball\"><inertial><mass value=\"0.5\"/><inertia ixx=\"0.001\" \
                ixy=\"0\" ixz=\"0\" iyy=\"0.001\" iyz=\"0\" izz=\"0.001\"/></inertial><collision>\
                <geometry><sphere radius=\"0.1\"/></geometry></collision></link>\
                <link name=\"world\"/><joint name=\"ball_joint\" type=\"floating\">\
                <parent link=\"world\"/><child link=\"ball\"/><origin xyz=\"2 0 0.5\"/></joint>\
                <joint name=\"base\" type=\"floating\"><parent link=\"world\"/>\
                <child link=\"trunk\"/></joint></robot>";
    let text = robot("fixed").replace("</robot>", ball);
    let of = loaded(&text, BaseChoice::Auto);
    // the robot is what has joints
    assert_eq!((of.model.base, &of.model.bodies[0].name[..]), (Base::Floating, "trunk"));
    assert_eq!((of.free.len(), of.free[0].parent.as_deref()), (1, None));
    let s = scenario(&text, &["initial.position_m=[0.0, 0.0, 7.0]"]);
    assert!(s.spec.q.p_WB.z < 0.2, "placed on the ground");
    assert_eq!(s.spec.collisions.bodies[0].X_WB.p, Vec3::new(2.0, 0.0, 0.5));
    // welded, the robot stays and the ball flies
    let held = loaded(&text, BaseChoice::Fixed);
    assert_eq!((held.model.base, held.free.len()), (Base::Fixed, 1));
    assert!(held.model.frame("trunk").is_some());
}

#[test]
fn pairs_with_a_free_body_can_be_kept_apart_and_the_model_command_lists_it() {
    let s = scenario(&robot("floating"), &["contact.disable=[[\"trunk\", \"lid\"]]"]);
    assert_eq!(s.spec.collisions.apart_shapes.len(), 1);
    assert!(!s.warnings.iter().any(|w| w.contains("contact.disable")), "{:?}", s.warnings);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.urdf");
    std::fs::write(&file, robot("floating")).unwrap();
    let (text, _) = logs::hardstand(&["model".as_ref(), file.as_os_str()]);
    assert!(text.contains("parcel  3.000  2 shapes, starts at tray"), "{text}");
}

/// The daemon's page draws free bodies by their shapes, and not a second time with the robot.
#[cfg(feature = "view")]
#[test]
fn the_page_does_not_draw_a_free_body_on_the_robot() {
    use hardstand::simulation::{describe, describe_ground};
    use hardstand_view::{Scene, Source};
    // a joint in a comment is none
    let link = "<link name=\"parcel\">";
    let commented = format!("<!-- was <joint type=\"fixed\"> -->{link}");
    let s = scenario(&robot("floating").replace(link, &commented), &[]);
    let model = describe(&s.simulation(), 1, s.gains_max, &s.hold_gains);
    let ground = describe_ground(&s.spec);
    let scene = Scene::new(Source::Log, &model, &ground, &s.robot_urdf);
    let drawn = scene.json()["urdf"].as_str().unwrap();
    for gone in ["parcel", "lid"] {
        assert!(s.robot_urdf.contains(gone) && !drawn.contains(gone), "{gone}: {drawn}");
    }
    let kept = parse_urdf(drawn, "drawn", BaseChoice::Auto).unwrap();
    assert_eq!((kept.model.frames.len(), kept.free.len()), (3, 0));
    let body = scene.json()["surfaces"].as_array().unwrap().last().unwrap();
    assert_eq!((body["name"].as_str(), body["moves"].as_bool()), (Some("parcel"), Some(true)));
    assert_eq!(body["vertices"].as_array().unwrap().len(), 48);
}

/// The robot is the tree with joints; a body that only has a free joint is a body of the scenario.
#[test]
fn free_bodies_of_a_mujoco_model_are_simulated() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scene.xml");
    let text = "<mujoco><worldbody>\
        <body name=\"box\" pos=\"1 0 0.6\" euler=\"0 0 90\"><freejoint/>\
        <geom type=\"box\" size=\"0.1 0.2 0.1\" mass=\"4\"/></body>\
        <body name=\"trunk\" pos=\"0 0 1\"><freejoint/><geom type=\"box\" size=\"0.2 0.2 0.1\" \
        mass=\"9\"/><body name=\"leg\" pos=\"0 0 -0.2\"><joint name=\"knee\" axis=\"0 1 0\"/>\
        <geom size=\"0.05\" mass=\"1\"/></body></body>\
        <body name=\"two\" pos=\"5 0 1\"><freejoint/><geom size=\"0.1\" mass=\"1\"/>\
        <body name=\"arm\"><joint/><geom size=\"0.1\" mass=\"1\"/></body></body>\
        </worldbody></mujoco>";
    std::fs::write(&file, text).unwrap();
    let robot = mjcf::read_robot(&file, BaseChoice::Auto).unwrap();
    assert_eq!(robot.loaded.model.bodies[0].name, "trunk");
    assert_eq!(robot.loaded.free.len(), 1, "{:?}", robot.loaded.free);
    let warnings = &robot.loaded.warnings;
    let left = warnings.iter().find(|w| w.contains("other bodies that move are left out")).unwrap();
    assert!(left.contains("two") && !left.contains("box"), "{left}");
    let path = folder.path().join("s.toml");
    std::fs::write(&path, "[robot]\nmjcf = \"scene.xml\"\n").unwrap();
    let s = Scenario::load(&path, &[]).unwrap();
    let body = &s.spec.collisions.bodies[0];
    assert_eq!(body.name, "box");
    assert!((body.X_WB.p - Vec3::new(1.0, 0.0, 0.6)).norm() < 1e-12);
    assert!((body.X_WB.R * Vec3::x() - Vec3::y()).norm() < 1e-12);
    let mut simulation = s.simulation();
    run(&mut simulation, 2000);
    let height_m = simulation.state().bodies[0].p_WB.z;
    assert!((height_m - 0.1).abs() < 0.01, "it has fallen to the ground: {height_m} m");
}
