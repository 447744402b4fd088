//! Free bodies and points that touch as readings, quantities and pictures; hulls of meshes.

use std::path::Path;

use hardstand::config::Scenario;
use hardstand::inspect::{Condition, Quantities};
use hardstand::replay::TickView;
use hardstand::rt::empty_log_tick;
#[cfg(feature = "view")]
use hardstand::simulation::describe_ground;
use hardstand::simulation::{Simulation, describe};
use hardstand_playground::Playground;
#[cfg(feature = "view")]
use hardstand_protocol::ViewReading;
use hardstand_protocol::limits::{BODIES_MAX, MESSAGE_BYTES_MAX, TOUCHES_MAX};
use hardstand_protocol::{BodiesReading, Kind, ModelReply, TickInput, TouchReading, encode};
#[cfg(feature = "view")]
use hardstand_view::{RunFile, Scene, Source};

const BOX: &str = "bodies=[{name=\"box\", shape=\"box\", size_m=[0.3, 0.3, 0.2], mass_kg=3.0, \
    position_m=[2.0, 0.0, 0.12]}]";

fn scenario(sets: &[&str]) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/quadruped.toml");
    // what is dropped comes to rest
    let sets = sets.iter().chain(&["contact.cz_s_per_m=5.0"]);
    let sets: Vec<String> = sets.map(|s| (*s).to_owned()).collect();
    Scenario::load(&path, &sets).unwrap()
}

fn run(simulation: &mut Simulation, ticks: u32) {
    for _ in 0..ticks {
        simulation.step(&TickInput::new());
        assert_eq!(simulation.failure(), None, "tick {}", simulation.state().tick);
    }
}

fn model(scenario: &Scenario) -> ModelReply {
    describe(&scenario.simulation(), 1, scenario.gains_max, &scenario.hold_gains)
}

#[cfg(feature = "view")]
fn view(simulation: &Simulation) -> ViewReading {
    let mut s = simulation.new_snapshot();
    simulation.fill(&mut s);
    ViewReading {
        state: s.state,
        contacts: s.contacts,
        references: s.references,
        surfaces: s.surfaces,
        owners: s.owners,
        bodies: s.bodies.bodies.clone(),
        points: s.bodies.points.clone(),
    }
}

#[test]
fn a_box_on_the_floor_is_read_with_its_weight() {
    let scenario = scenario(&[BOX]);
    let mut simulation = scenario.simulation();
    let mut snapshot = simulation.new_snapshot();
    run(&mut simulation, 1500);
    simulation.fill(&mut snapshot);
    let read = &snapshot.bodies;
    let state = simulation.state();
    assert_eq!((read.tick, read.points_left_out), (1500, 0));
    assert_eq!(read.bodies[0].position_world_m, state.bodies[0].p_WB.to_array());
    assert_eq!(read.bodies[0].quat_wxyz, state.bodies[0].quat_WB.wxyz());
    let own: Vec<&TouchReading> =
        read.points.iter().filter(|p| (p.a_kind, p.a_index) == (TouchReading::BODY, 0)).collect();
    assert_eq!(own.len(), 4);
    let sum: f64 = own.iter().map(|p| p.force_world_n[2]).sum();
    assert!((sum - 3.0 * 9.81).abs() < 0.01, "{sum}");
    for point in own {
        assert_eq!((point.b_kind, point.b_index), (TouchReading::SURFACE, 0));
        assert_eq!(point.normal_world, [0.0, 0.0, 1.0]);
        assert!(point.depth_m.abs() < 0.01 && point.slip_m_per_s < 1e-3, "{point:?}");
    }
    let model = model(&scenario);
    assert_eq!(model.bodies[0].name, "box");
    assert_eq!((model.bodies[0].mass_kg, model.bodies[0].joint), (3.0, 0));
    let shape = model.shapes.iter().find(|s| s.carrier == TouchReading::BODY).unwrap();
    assert_eq!((shape.index, shape.kind), (0, 2));
    assert!(shape.size_m.iter().zip([0.3, 0.3, 0.2]).all(|(a, b)| (a - b).abs() < 1e-12));
    assert_eq!(model.links[0], "trunk");
    assert!(model.shapes.iter().any(|s| s.carrier == TouchReading::LINK));
}

/// 64 boxes on one heap have more points than a message holds.
#[test]
fn points_beyond_the_room_of_a_message_are_counted() {
    let bodies: Vec<String> = (0..BODIES_MAX)
        .map(|i| {
            let (x, y) = (3.0 + 0.25 * (i % 8) as f64, 0.25 * (i / 8) as f64);
            format!(
                "{{name=\"b{i}\", shape=\"cylinder\", radius_m=0.1, length_m=0.2, mass_kg=1.0, \
                 position_m=[{x}, {y}, 0.1]}}"
            )
        })
        .collect();
    let bodies = format!("bodies=[{}]", bodies.join(", "));
    let mut simulation = scenario(&[&bodies]).simulation();
    let mut snapshot = simulation.new_snapshot();
    run(&mut simulation, 5);
    let touching = simulation.plant().collisions().points().len();
    simulation.fill(&mut snapshot);
    assert_eq!(snapshot.bodies.points.len(), touching.min(TOUCHES_MAX));
    // as many as a message can hold
    let mut full = BodiesReading::with_room(BODIES_MAX, TOUCHES_MAX);
    full.points.resize(TOUCHES_MAX, TouchReading::default());
    let mut bytes = Vec::new();
    encode(Kind::Bodies, &full, &mut bytes).unwrap();
    assert!(bytes.len() <= MESSAGE_BYTES_MAX, "{}", bytes.len());
    let pointer = snapshot.bodies.points.as_ptr();
    snapshot.bodies.copy_from(&snapshot.bodies.clone());
    assert_eq!(snapshot.bodies.points.as_ptr(), pointer, "a copy allocates");
    assert_eq!(snapshot.clone().bodies.points.capacity(), snapshot.bodies.points.capacity());
}

#[test]
fn bodies_have_quantities() {
    let scenario = scenario(&[BOX, "stations=[]"]);
    let mut simulation = scenario.simulation();
    let mut s = simulation.new_snapshot();
    run(&mut simulation, 1000);
    simulation.fill(&mut s);
    let known = Quantities::of(&simulation);
    let applied = empty_log_tick(&simulation, &s, 0, false);
    let leases = simulation.leases();
    let (state, references, command) = (&s.state, &s.references[..], simulation.command());
    let (contacts, bodies, drives) = (Some(&s.contacts), Some(&s.bodies), Some(&s.drives));
    let applied = &applied;
    let sensors = Some(&s.sensors);
    let view =
        TickView { applied, state, contacts, bodies, drives, sensors, references, command, leases };
    let of = |name: &str| known.find(name).unwrap_or_else(|| panic!("no {name}")).of(&view);
    assert_eq!(of("body.box.height"), simulation.state().bodies[0].p_WB.z);
    assert!((of("body.box.height") - 0.1).abs() < 0.01);
    assert!(of("body.box.speed") < 0.01);
    assert!(
        (of("body.box.touch_force") - 3.0 * 9.81).abs() < 0.1,
        "{}",
        of("body.box.touch_force")
    );
    assert_eq!(of("body.box.touches"), 4.0);
    assert!(of("touch.force") > 7.0);
    // without a controller the robot lies on its links
    assert!(of("link.trunk.touches") + of("link.FL_calf.touches") > 0.0);
    assert!(Condition::parse("body.box.z < 0.2", &known).unwrap().at(&view).holds);
}

#[cfg(feature = "view")]
#[test]
fn the_page_gets_bodies_as_surfaces_that_move_and_points_as_contacts() {
    let scenario = scenario(&[BOX]);
    let mut simulation = scenario.simulation();
    run(&mut simulation, 1000);
    let model = model(&scenario);
    let ground = describe_ground(&scenario.spec);
    let scene = Scene::new(Source::Log, &model, &ground, &scenario.robot_urdf);
    let surfaces = scene.json()["surfaces"].as_array().unwrap();
    let (last, body) = (surfaces.len() - 1, surfaces.last().unwrap());
    assert_eq!((body["name"].as_str(), body["moves"].as_bool()), (Some("box"), Some(true)));
    assert_eq!(body["vertices"].as_array().unwrap().len(), 24);
    let view = view(&simulation);
    let frame = hardstand_view::frame(&view, &model, &[]);
    let shown = frame["surfaces"].as_array().unwrap().last().unwrap();
    assert_eq!(shown["surface"].as_u64(), Some(last as u64));
    let z = simulation.state().bodies[0].p_WB.z;
    assert_eq!(shown["position_m"][2].as_f64(), Some(z));
    let contacts = frame["contacts"].as_array().unwrap();
    let stations = model.stations.len() as u64;
    let points = contacts.iter().filter(|c| c["station"].as_u64().unwrap() >= stations);
    let force: f64 = points.map(|c| c["force"][2].as_f64().unwrap()).sum();
    assert!((force - 3.0 * 9.81).abs() < 0.1, "{force}");
    let mut file = RunFile::new(scene, "a run".into());
    file.push(view);
    assert!(file.to_bytes().unwrap().len() > 1000);
}

const CUBE_URDF: &str = r#"<robot name="cube"><link name="cube"><inertial><mass value="2"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><mesh filename="FILE" scale="0.001 0.001 0.001"/></geometry></collision>
  </link></robot>"#;

/// Corners and triangles of a cube of 200 mm.
fn cube() -> (Vec<[f64; 3]>, Vec<[usize; 3]>) {
    let side = |i: usize, axis: usize| if i >> axis & 1 == 1 { 100.0 } else { -100.0 };
    let corners = (0..8).map(|i| [0, 1, 2].map(|axis| side(i, axis))).collect();
    let quads =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    (corners, quads.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]).collect())
}

fn mesh_files() -> Vec<(&'static str, Vec<u8>)> {
    let (corners, triangles) = cube();
    let mut stl = vec![b' '; 80];
    stl.extend((triangles.len() as u32).to_le_bytes());
    let mut text = String::from("solid cube\n");
    let mut obj: String = corners.iter().map(|[x, y, z]| format!("v {x} {y} {z}\n")).collect();
    for t in &triangles {
        stl.extend([0; 12]);
        text += "facet normal 0 0 0\nouter loop\n";
        for &i in t {
            corners[i].iter().for_each(|x| stl.extend((*x as f32).to_le_bytes()));
            let [x, y, z] = corners[i];
            text += &format!("vertex {x} {y} {z}\n");
        }
        stl.extend([0; 2]);
        text += "endloop\nendfacet\n";
        obj += &format!("f {} {} {}\n", t[0] + 1, t[1] + 1, t[2] + 1);
    }
    let numbers: Vec<String> =
        corners.iter().flatten().map(|x| (x / 100.0 - 1.0).to_string()).collect();
    // half the size about a corner, in mm, turned by a right angle: the node puts it right
    let dae = format!(
        "<COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" version=\"1.4.1\"><asset>\
         <unit meter=\"1\"/></asset><library_geometries><geometry id=\"g\"><mesh>\
         <source id=\"s\"><float_array id=\"a\" count=\"24\">{}</float_array><technique_common>\
         <accessor source=\"#a\" count=\"8\" stride=\"3\"/></technique_common></source>\
         <vertices id=\"v\"><input semantic=\"POSITION\" source=\"#s\"/></vertices></mesh>\
         </geometry></library_geometries><library_visual_scenes><visual_scene><node>\
         <rotate>0 0 1 90</rotate><scale>100 100 100</scale><node><matrix>1 0 0 1 0 1 0 1 0 0 1 1 \
         0 0 0 1</matrix><instance_geometry url=\"#g\"/></node></node></visual_scene>\
         </library_visual_scenes></COLLADA>",
        numbers.join(" ")
    );
    vec![
        ("cube.stl", stl),
        ("text.stl", text.into_bytes()),
        ("cube.obj", obj.into_bytes()),
        ("cube.dae", dae.into_bytes()),
    ]
}

#[test]
fn a_mesh_touches_as_its_hull_and_a_replay_needs_no_file() {
    for (name, bytes) in mesh_files() {
        let folder = tempfile::tempdir().unwrap();
        let meshes = folder.path().join("meshes");
        std::fs::create_dir(&meshes).unwrap();
        std::fs::write(meshes.join(name), bytes).unwrap();
        let urdf = CUBE_URDF.replace("FILE", &format!("package://cube/meshes/{name}"));
        std::fs::write(folder.path().join("cube.urdf"), urdf).unwrap();
        let path = folder.path().join("scenario.toml");
        let text = "[robot]\nurdf = \"cube.urdf\"\n[contact]\nstiction = \"holding\"\n\
                    cz_s_per_m = 5.0\n[initial]\nclearance_m = 0.02\nrpy_rad = [0.02, 0.01, 0.0]\n";
        std::fs::write(&path, text).unwrap();
        let scenario = Scenario::load(&path, &[]).unwrap();
        assert!(scenario.warnings.iter().all(|w| !w.contains("mesh")), "{:?}", scenario.warnings);
        drop(folder);
        let again =
            Scenario::from_texts(&scenario.complete_toml, &scenario.robot_urdf, &[]).unwrap();
        assert_eq!(again.physics_hash, scenario.physics_hash);
        let [mut one, mut two] = [scenario.simulation(), again.simulation()];
        run(&mut one, 2000);
        run(&mut two, 2000);
        assert_eq!(one.state().digest, two.state().digest);
        let z = one.state().q.p_WB.z;
        assert!((z - 0.1).abs() < 0.005, "{name}: {z}");
        let shapes = model(&scenario).shapes;
        assert_eq!((shapes.len(), shapes[0].kind, shapes[0].vertices_m.len()), (1, 4, 24));
    }
}

#[test]
fn a_mesh_that_cannot_be_read_is_named_in_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    for (file, bytes) in [("gone.stl", None), ("bad.stl", Some(b"solid".to_vec()))] {
        if let Some(bytes) = bytes {
            std::fs::write(folder.path().join(file), bytes).unwrap();
        }
        std::fs::write(folder.path().join("cube.urdf"), CUBE_URDF.replace("FILE", file)).unwrap();
        let path = folder.path().join("scenario.toml");
        std::fs::write(&path, "[robot]\nurdf = \"cube.urdf\"\n").unwrap();
        let scenario = Scenario::load(&path, &[]).unwrap();
        let named = scenario.warnings.iter().filter(|w| w.contains(file) && w.contains("touch"));
        assert_eq!(named.count(), 1, "{:?}", scenario.warnings);
        assert!(scenario.spec.collisions.shapes.is_empty());
    }
}

#[test]
fn the_simulation_in_a_page_has_bodies_and_goes_back_with_them() {
    let scenario = include_str!("../../config/quadruped.toml");
    let robot = include_str!("../../config/robots/quadruped.urdf");
    let mut playground = Playground::new(scenario, robot, &[BOX.into()]).unwrap();
    let scene = playground.scene();
    assert_eq!(scene.json()["surfaces"].as_array().unwrap().last().unwrap()["name"], "box");
    playground.run_to(20).unwrap();
    let (frame, digest) = (playground.frame(), playground.digest());
    let height_m = |frame: &serde_json::Value| {
        let surfaces = frame["surfaces"].as_array().unwrap();
        surfaces.last().unwrap()["position_m"][2].as_f64().unwrap()
    };
    // it falls from 0.12 m
    assert!((height_m(&frame) - (0.12 - 0.5 * 9.81 * 0.02 * 0.02)).abs() < 2e-4);
    playground.run_to(1500).unwrap();
    assert!((height_m(&playground.frame()) - 0.1).abs() < 0.01);
    playground.run_to(20).unwrap();
    assert_eq!((playground.frame(), playground.digest()), (frame, digest));
}

/// Two caps that tilt against each other by a few milliradians touch with their faces, not with one
/// point of a rim: that would tip the lower one, and so on for ever.
#[test]
fn a_cylinder_comes_to_rest_on_another() {
    let stack = "bodies=[{name=\"a\", shape=\"cylinder\", mass_kg=4.112, position_m=[2.0, 0.0, 0.067], \
                 radius_m=0.1, length_m=0.132}, {name=\"b\", shape=\"cylinder\", mass_kg=5.593, \
                 position_m=[1.984, -0.008, 0.1805], rpy_rad=[0.0, 0.0, 0.948], radius_m=0.136, \
                 length_m=0.093}]";
    let scenario = scenario(&[stack, "contact.stiction=holding", "contact.cz_s_per_m=2.0"]);
    let mut simulation = scenario.simulation();
    run(&mut simulation, 5000);
    for _ in 0..100 {
        run(&mut simulation, 10);
        for body in &simulation.state().bodies {
            assert!(body.w_WB.norm() < 1e-3, "{:?}", body.w_WB);
        }
    }
}

/// Nothing moves what begins at rest on a face with more corners than a patch has points, and the
/// forces at its points carry its weight in every tick.
#[test]
fn a_cylinder_stands_still_on_its_cap() {
    const WEIGHT_N: f64 = 10.0 * 9.81;
    let can = "bodies=[{name=\"can\", shape=\"cylinder\", radius_m=0.1, length_m=0.1, \
               mass_kg=10.0, position_m=[2.0, 0.0, 0.05], rpy_rad=[0.0, 0.0, 0.2], \
               place=\"above_ground\"}]";
    for law in ["exponential_spring", "hunt_crossley", "rigid"] {
        let scenario = scenario(&[can, &format!("contact.model={law}")]);
        let mut simulation = scenario.simulation();
        let mut snapshot = simulation.new_snapshot();
        let z_m = simulation.state().bodies[0].p_WB.z;
        for tick in 1..=10_000 {
            run(&mut simulation, 1);
            if tick < 1000 || tick % 7 != 0 {
                continue;
            }
            simulation.fill(&mut snapshot);
            let points = snapshot.bodies.points.iter();
            let own = points.filter(|p| (p.a_kind, p.a_index) == (TouchReading::BODY, 0));
            let sum_n: f64 = own.map(|p| p.force_world_n[2]).sum();
            assert!((sum_n - WEIGHT_N).abs() < 0.01 * WEIGHT_N, "{law}: {sum_n} N in tick {tick}");
        }
        let body = &simulation.state().bodies[0];
        assert!(body.w_WB.norm() < 1e-9, "{law}: {:?}", body.w_WB);
        assert!((body.p_WB.z - z_m).abs() < 1e-3, "{law}: {} m from {z_m} m", body.p_WB.z);
    }
}

/// Two balls side by side, each half in the other: nothing presses them together, and they part.
#[test]
fn rigid_bodies_that_overlap_part_and_are_named() {
    let balls = "bodies=[{name=\"a\", shape=\"sphere\", radius_m=0.1, mass_kg=5.0, \
                 position_m=[2.0, 0.0, 0.1]}, {name=\"b\", shape=\"sphere\", radius_m=0.1, \
                 mass_kg=5.0, position_m=[2.0, 0.1, 0.1]}]";
    let scenario = scenario(&[balls, "contact.model=rigid"]);
    let named = |w: &&String| w.contains("100 mm deep in body \"b\"");
    assert_eq!(scenario.warnings.iter().filter(named).count(), 1, "{:?}", scenario.warnings);
    let mut simulation = scenario.simulation();
    run(&mut simulation, 1000);
    let [a, b] = &simulation.state().bodies[..] else { panic!("two bodies") };
    let apart_m = (a.p_WB - b.p_WB).norm();
    assert!((apart_m - 0.2).abs() < 1e-5, "{apart_m} m");
    assert!(a.v_WB.norm() < 1e-9 && b.v_WB.norm() < 1e-9, "{:?} {:?}", a.v_WB, b.v_WB);
}
