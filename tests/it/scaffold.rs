//! `hardstand new`: the scenario that it proposes stands, in a real daemon.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use serde_json::Value;

use hardstand::config::Scenario;

use crate::common::logs;
use crate::common::process::{Log, Process, Scene, repository};

const HARDSTAND: &str = env!("CARGO_BIN_EXE_hardstand");

/// `hardstand new` with these words; its exit code and its result.
pub fn new(folder: &Path, words: &[&str], code: i32) -> Value {
    let mut command = std::process::Command::new(HARDSTAND);
    command.arg("new").args(words).arg("--json").current_dir(folder);
    let said = Process::start(folder, "new", command).ends_with(code);
    serde_json::from_str(&said).unwrap_or(Value::String(said))
}

/// A biped whose feet are boxes; knees bend one way only.
fn biped() -> String {
    let leg = |side: &str, y: f64| {
        let joint = |name: &str, axis: &str, range: &str| {
            format!("<joint name=\"{side}_{name}\" axis=\"{axis}\" range=\"{range}\"/>")
        };
        let inertial = |mass: f64, z: f64| {
            let i = 0.02 * mass;
            format!("<inertial pos=\"0 0 {z}\" mass=\"{mass}\" diaginertia=\"{i} {i} {i}\"/>")
        };
        format!(
            "<body name=\"{side}_hip\" pos=\"0 {y} 0\">{}{}\
             <body name=\"{side}_thigh\">{}{}\
             <body name=\"{side}_shank\" pos=\"0 0 -0.35\">{}{}\
             <body name=\"{side}_foot\" pos=\"0 0 -0.35\">{}{}\
             <geom type=\"box\" size=\"0.11 0.05 0.02\" pos=\"0.03 0 -0.05\"/>\
             </body></body></body></body>",
            inertial(1.0, 0.0),
            joint("roll", "1 0 0", "-30 30"),
            inertial(3.0, -0.15),
            joint("pitch", "0 1 0", "-100 60"),
            inertial(2.0, -0.15),
            joint("knee", "0 1 0", "0 120"),
            inertial(0.8, -0.03),
            joint("ankle", "0 1 0", "-60 60"),
        )
    };
    format!(
        "<mujoco model=\"biped\"><default><joint armature=\"0.02\"/></default><worldbody>\
         <body name=\"trunk\" pos=\"0 0 1\"><freejoint/>\
         <inertial pos=\"0.02 0 0.2\" mass=\"15\" diaginertia=\"0.4 0.3 0.2\"/>{}{}\
         </body></worldbody></mujoco>",
        leg("left", 0.1),
        leg("right", -0.1)
    )
}

#[test]
fn a_proposed_scenario_stands_in_a_daemon() {
    let scene = Scene::new();
    let folder = scene.dir.path();
    std::fs::write(folder.join("biped.xml"), biped()).unwrap();
    std::fs::copy(repository("config/robots/quadruped.urdf"), folder.join("dog.urdf")).unwrap();
    for (robot, feet) in [("dog.urdf", 4), ("biped.xml", 2)] {
        let result = new(folder, &[robot, "-o", "my.toml", "--force"], 0);
        assert_eq!(result["stands"], true, "{robot}: {result}");
        assert_eq!(result["posture"], "solved");
        assert_eq!(result["feet"].as_array().unwrap().len(), feet, "{result}");
        let mut args = scene.run_args(&["--mode", "lockstep", "--pace", "free", "--duration", "3"]);
        args[1] = folder.join("my.toml").display().to_string();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut daemon = scene.hardstand("daemon", &args);
        let stand = ["controller", "stand", "--connect", &scene.endpoint, "--join", "legs"];
        let mut name = vec!["--robot", if feet == 4 { "quadruped" } else { "biped" }];
        name.splice(0..0, stand);
        let mut controller = scene.hardstand("legs", &name);
        daemon.ends_with(0);
        controller.kill();
        let log = Log::read(&scene.log());
        let (first, last) = (&log.states[0], &log.states[log.states.len() - 1]);
        let sunk = first.truth_base_position_m[2] - last.truth_base_position_m[2];
        assert!(sunk < 0.05, "{robot} sinks by {sunk} m");
        let [w, x, y, _] = last.truth_base_quat_wxyz;
        assert!(x * x + y * y < 0.01, "{robot} leans: {w} {x} {y}");
    }
}

/// A ball at the end of a shank, which is another shape of the same link, stays a ball; two balls
/// of different size become two of the smaller one, as low as they were.
#[test]
fn balls_among_the_shapes_of_a_foot_stay_balls() {
    let folder = tempfile::tempdir().unwrap();
    let ball = |radius: f64, x: f64| {
        format!("<geom type=\"sphere\" size=\"{radius}\" pos=\"{x} 0 -0.07\"/>")
    };
    let shank = "<geom type=\"cylinder\" size=\"0.012 0.03\" pos=\"0 0 -0.02\"/>";
    let sole = "<geom type=\"box\" size=\"0.11 0.05 0.02\" pos=\"0.03 0 -0.05\"/>";
    for (shapes, radius, points) in [
        (shank.to_string() + &ball(0.022, 0.0), "radius_m = 0.022", vec!["[0.0, 0.0, -0.07]"]),
        (
            ball(0.01, 0.05) + &ball(0.008, -0.05),
            "radius_m = 0.008",
            vec!["[0.05, 0.0, -0.072", "[-0.05, 0.0, -0.07]"],
        ),
    ] {
        std::fs::write(folder.path().join("ball.xml"), biped().replace(sole, &shapes)).unwrap();
        let file = folder.path().join("ball.toml");
        let robot = folder.path().join("ball.xml");
        let words = [robot.as_os_str(), "-o".as_ref(), file.as_os_str(), "--force".as_ref()];
        // whether it stands on them is not asked
        logs::hardstand(&[&["new".as_ref()], &words[..]].concat());
        let text = std::fs::read_to_string(&file).unwrap();
        for word in points.iter().chain([&radius]) {
            assert!(text.contains(word), "{word}: {text}");
        }
    }
}

#[test]
fn what_looks_wrong_is_said_and_no_file_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(repository("config/robots/quadruped.urdf")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("mm.urdf", &text.replace("xyz=\"0 0 -0.213\"", "xyz=\"0 0 -213\""));
    write(
        "degrees.urdf",
        &text.replace("lower=\"-1.05\" upper=\"1.05\"", "lower=\"-60\" upper=\"60\""),
    );
    write("heavy.urdf", &text.replace("<mass value=\"7\"/>", "<mass value=\"7000\"/>"));
    for (name, word) in
        [("mm.urdf", "millimetres"), ("degrees.urdf", "degrees"), ("heavy.urdf", "tonnes")]
    {
        let (said, _) = logs::hardstand(&["new".as_ref(), folder.path().join(name).as_os_str()]);
        assert!(said.contains(word), "{name}: {said}");
    }
    write("dog.urdf", &text);
    write("my.toml", "# mine");
    let said = new(folder.path(), &["dog.urdf", "-o", "my.toml"], 2);
    assert!(said.to_string().contains("--force"), "{said}");
    assert_eq!(std::fs::read_to_string(folder.path().join("my.toml")).unwrap(), "# mine");
}

/// What no scenario can hold is refused before the work, which takes minutes for many joints.
#[test]
fn a_robot_that_no_scenario_can_have_is_refused_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let inertia = "<inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" \
                   ixz=\"0\" iyz=\"0\"/></inertial>";
    let arm = |i: u32| {
        format!(
            "<link name=\"l{i}\">{inertia}</link><joint name=\"j{i}\" type=\"continuous\"><parent \
             link=\"trunk\"/><child link=\"l{i}\"/><axis xyz=\"0 1 0\"/></joint>"
        )
    };
    let arms: String = (0..257).map(arm).collect();
    let file = folder.path().join("arms.urdf");
    let text = format!("<robot name=\"a\"><link name=\"trunk\">{inertia}</link>{arms}</robot>");
    std::fs::write(&file, text).unwrap();
    let (said, code) = logs::hardstand(&["new".as_ref(), file.as_os_str()]);
    let file = file.display();
    let refusal = format!("hardstand: {file}: the robot has 257 joints; at most 256\n");
    assert_eq!((said, code), (refusal, 2));
    // a file that is there, before the robot is read
    let (there, no_robot) = (folder.path().join("there.toml"), folder.path().join("none.urdf"));
    std::fs::write(&there, "# mine").unwrap();
    let words = ["new".as_ref(), no_robot.as_os_str(), "-o".as_ref(), there.as_os_str()];
    let (said, code) = logs::hardstand(&words);
    assert!(code == 2 && said.contains("there.toml exists; choose another name"), "{said}");
}

#[test]
fn a_path_that_a_scenario_cannot_name_is_refused_and_others_are_quoted() {
    let folder = tempfile::tempdir().unwrap();
    let robot = repository("config/robots/quadruped.urdf");
    let strange = folder.path().join(OsStr::from_bytes(b"my\xff"));
    std::fs::create_dir(&strange).unwrap();
    let (file, beside) = (strange.join("dog.urdf"), strange.join("dog.toml"));
    std::fs::copy(&robot, &file).unwrap();
    let out = folder.path().join("dog.toml");
    for words in [&["-o".as_ref(), out.as_os_str()][..], &[]] {
        let (said, code) = logs::hardstand(&[&["new".as_ref(), file.as_os_str()], words].concat());
        assert_eq!(code, 2, "{said}");
        assert!(said.contains("the path is not UTF-8, so no scenario can name the file"), "{said}");
    }
    assert!(!out.exists());
    let words = ["new".as_ref(), file.as_os_str(), "-o".as_ref(), beside.as_os_str()];
    assert_eq!(logs::hardstand(&words).1, 0, "beside the robot its name needs no folder");
    let spaced = folder.path().join("my dog.toml");
    let words = ["new".as_ref(), robot.as_ref(), "-o".as_ref(), spaced.as_os_str()];
    let (said, _) = logs::hardstand(&words);
    let next = format!("next       hardstand run '{}' --view\n", spaced.display());
    assert!(said.contains(&next), "{said}");
}

/// What was found is the output where a file is written, and a note where the scenario is printed.
#[test]
fn the_result_is_printed_where_the_scenario_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let robot = repository("config/robots/quadruped.urdf");
    let file = folder.path().join("my.toml");
    let written = ["new".as_ref(), robot.as_ref(), "-o".as_ref(), file.as_os_str()];
    let (said, code) = logs::hardstand(&written);
    assert_eq!(code, 0, "{said}");
    assert!(said.starts_with("feet       FL_foot, FR_foot, RL_foot, RR_foot\n"), "{said}");
    let (said, code) = logs::hardstand(&["new".as_ref(), robot.as_ref()]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("\nhardstand: feet       FL_foot"), "{said}");
}

/// `hardstand new` for a changed biped: its result and the scenario.
fn of_biped(change: &[(&str, &str)]) -> (Value, String) {
    let folder = tempfile::tempdir().unwrap();
    let text = change.iter().fold(biped(), |text, (from, to)| {
        assert!(text.contains(from), "{from}: {text}");
        text.replace(from, to)
    });
    std::fs::write(folder.path().join("biped.xml"), text).unwrap();
    let result = new(folder.path(), &["biped.xml", "-o", "my.toml"], 0);
    (result, std::fs::read_to_string(folder.path().join("my.toml")).unwrap())
}

const SOLE: &str = "<geom type=\"box\" size=\"0.11 0.05 0.02\" pos=\"0.03 0 -0.05\"/>";

/// The file's posture shows where the sole is only roughly: the box does.
#[test]
fn a_sole_that_is_not_level_in_the_file_stands_level() {
    let tilted = SOLE.replace("/>", " euler=\"0 15 0\"/>");
    let (result, _) = of_biped(&[(SOLE, &tilted)]);
    assert_eq!(result["stands"], true, "{result}");
    let (result, _) =
        of_biped(&[(SOLE, &tilted), ("size=\"0.11 0.05 0.02\"", "size=\"0.11 0.05 0.002\"")]);
    assert_eq!(result["stands"], true, "{result}");
}

#[test]
fn feet_without_a_collision_shape_are_those_that_are_drawn_or_get_a_sole() {
    let drawn = SOLE.replace("/>", " contype=\"0\" conaffinity=\"0\"/>");
    for (shape, corner, note) in
        [(drawn.as_str(), "[0.14, 0.05, -0.07]", "what is drawn"), ("", "points_m", "is assumed")]
    {
        let (result, scenario) = of_biped(&[(SOLE, shape)]);
        assert_eq!(result["stands"], true, "{result}");
        assert!(result["notes"].to_string().contains(note), "{result}");
        assert!(scenario.contains(corner), "{scenario}");
    }
}

#[test]
fn a_keyframe_in_which_the_robot_falls_gives_way_to_a_solved_posture() {
    let falls = "</worldbody><keyframe><key name=\"home\" \
                 qpos=\"0 0 0.7 1 0 0 0 0 -1.2 0.2 0 0 -1.2 0.2 0\"/></keyframe>";
    let (result, scenario) = of_biped(&[("</worldbody>", falls)]);
    assert_eq!((&result["stands"], &result["posture"]), (&true.into(), &"solved".into()));
    assert!(result["notes"].to_string().contains("does not stand in keyframe home"), "{result}");
    assert!(!scenario.contains("keyframe"), "{scenario}");
}

/// As in files of biomechanics, where y is up.
#[test]
fn a_robot_that_lies_in_its_file_is_turned_upright() {
    let text = biped();
    let turned = text.replace("<freejoint/>", "<freejoint/><frame euler=\"-90 0 0\">");
    let turned = turned.replace("</body></worldbody>", "</frame></body></worldbody>");
    let (result, scenario) = of_biped(&[(text.as_str(), turned.as_str())]);
    assert_eq!(result["stands"], true, "{result}");
    assert!(scenario.contains("rpy_rad = [1.57"), "{scenario}");
}

#[test]
fn the_contact_follows_from_the_weight_where_the_default_does_not_fit() {
    let (_, scenario) = of_biped(&[]);
    assert!(!scenario.contains("by_mass"), "34 N a corner: {scenario}");
    let (result, scenario) = of_biped(&[("mass=\"15\"", "mass=\"150\"")]);
    assert_eq!(result["stands"], true, "{result}");
    assert!(scenario.contains("mm aside.\nspring = \"by_mass\""), "{scenario}");
    let light = "<compiler settotalmass=\"4\"/><worldbody>";
    let (result, scenario) = of_biped(&[("<worldbody>", light)]);
    assert_eq!(result["stands"], true, "{result}");
    assert!(scenario.contains("above the ground.\nspring = \"by_mass\""), "{scenario}");
}

/// A cylinder touches the ground with its rim, not with the corners of the box around it.
#[test]
fn a_round_sole_has_its_points_on_its_rim() {
    let (radius_m, middle) = (0.08, [0.03, 0.0, -0.07]);
    let round = format!("<geom type=\"cylinder\" size=\"{radius_m} 0.02\" pos=\"0.03 0 -0.05\"/>");
    let (result, scenario) = of_biped(&[(SOLE, &round)]);
    assert_eq!(result["stands"], true, "{result}");
    let table: toml::Table = scenario.parse().unwrap();
    for foot in table["feet"].as_array().unwrap() {
        let points = foot["points_m"].as_array().unwrap();
        assert_eq!(points.len(), 6, "{foot}");
        for point in points {
            let at = |i: usize| point[i].as_float().unwrap() - middle[i];
            let from_axis_m = (at(0) * at(0) + at(1) * at(1)).sqrt();
            assert!((from_axis_m - radius_m).abs() < 1e-4 && at(2).abs() < 1e-4, "{point}");
        }
    }
}

/// Of a file that says 0 of all efforts a robot without motors would fall down.
#[test]
fn a_file_without_any_motor_gets_motors_and_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(repository("config/robots/quadruped.urdf")).unwrap();
    let mut parts = text.split("effort=\"");
    let mut zeros = parts.next().unwrap().to_owned();
    for part in parts {
        zeros += "effort=\"0\"";
        zeros += part.split_once('"').unwrap().1;
    }
    std::fs::write(folder.path().join("zeros.urdf"), zeros).unwrap();
    let result = new(folder.path(), &["zeros.urdf", "-o", "my.toml"], 0);
    assert_eq!(result["stands"], true, "{result}");
    assert!(result["notes"].to_string().contains("effort_max = 1000"), "{result}");
    let scenario = std::fs::read_to_string(folder.path().join("my.toml")).unwrap();
    assert!(scenario.contains("effort_max = 1000.0"), "{scenario}");
}

/// The inertial unit is where the model's gyroscope is, whatever the site is called.
#[test]
fn a_proposal_has_the_inertial_unit_of_the_models_sensors() {
    let folder = tempfile::tempdir().unwrap();
    let sensors = "<sensor><gyro site=\"chip\"/><accelerometer site=\"chip\"/></sensor></mujoco>";
    let text = biped()
        .replace("<freejoint/>", "<freejoint/><site name=\"chip\" pos=\"0 0 0.1\"/>")
        .replace("</mujoco>", sensors);
    std::fs::write(folder.path().join("robot.xml"), text).unwrap();
    new(folder.path(), &["robot.xml", "-o", "my.toml"], 0);
    let scenario = std::fs::read_to_string(folder.path().join("my.toml")).unwrap();
    assert!(scenario.contains("[imu]\nlink = \"chip\""), "{scenario}");
}

/// Four legs that each close over a parallelogram of thigh, shank, crank and rod.
fn on_parallelograms() -> String {
    let bar = |to: &str, mass: &str| {
        format!(
            "<geom type=\"capsule\" fromto=\"0 0 0 {to}\" size=\"0.01\" mass=\"{mass}\" \
             contype=\"0\" conaffinity=\"0\"/>"
        )
    };
    let hinge = |name: &str| format!("<joint name=\"{name}\" axis=\"0 1 0\" damping=\"0.01\"/>");
    let mut legs = String::new();
    let [mut motors, mut ends] = [String::new(), String::new()];
    for (i, (x, y)) in [(0.2, 0.12), (0.2, -0.12), (-0.2, 0.12), (-0.2, -0.12)].iter().enumerate() {
        legs += &format!(
            "<body name=\"thigh{i}\" pos=\"{x} {y} 0\">{}{}\
             <body name=\"shank{i}\" pos=\"0 0 -0.2\">{}{}{}\
             <geom type=\"sphere\" size=\"0.02\" pos=\"0 0 -0.2\" mass=\"0.05\"/></body></body>\
             <body name=\"crank{i}\" pos=\"{x} {y} 0\">{}{}\
             <body name=\"rod{i}\" pos=\"-0.1 0 0\">{}{}</body></body>",
            hinge(&format!("thigh{i}")),
            bar("0 0 -0.2", "0.3"),
            hinge(&format!("knee{i}")),
            bar("0 0 -0.2", "0.2"),
            bar("-0.1 0 0", "0.05"),
            hinge(&format!("crank{i}")),
            bar("-0.1 0 0", "0.1"),
            hinge(&format!("rod{i}")),
            bar("0 0 -0.2", "0.1"),
        );
        for joint in ["thigh", "crank"] {
            motors += &format!("<motor joint=\"{joint}{i}\" ctrlrange=\"-40 40\"/>");
        }
        ends += &format!("<connect body1=\"rod{i}\" body2=\"shank{i}\" anchor=\"0 0 -0.2\"/>");
    }
    format!(
        "<mujoco model=\"linkage\"><default><joint armature=\"0.005\"/></default><worldbody>\
         <body name=\"base\" pos=\"0 0 0.5\"><freejoint/><geom type=\"box\" \
         size=\"0.25 0.1 0.05\" mass=\"6\"/>{legs}</body></worldbody><actuator>{motors}</actuator>\
         <equality>{ends}</equality></mujoco>"
    )
}

/// A constraint holds the rod where it is at the start: the wrong linkage, if that is open.
#[test]
fn a_linkage_is_proposed_closed_and_an_open_one_is_said() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("linkage.xml"), on_parallelograms()).unwrap();
    let result = new(folder.path(), &["linkage.xml", "-o", "my.toml"], 0);
    assert_eq!((&result["stands"], &result["posture"]), (&true.into(), &"solved".into()));
    let load = |sets: &[String]| Scenario::load(&folder.path().join("my.toml"), sets).unwrap();
    let open = |warning: &&String| warning.contains("apart at the start");
    let scenario = load(&[]);
    let q = |name: &str| {
        let joint = scenario.model.joint_index(name).unwrap();
        scenario.simulation().state().q.joints[joint]
    };
    assert!(q("knee0").abs() > 0.1, "the posture is not that of the file: {}", q("knee0"));
    assert_eq!(scenario.warnings.iter().find(open), None);
    let moved = load(&[format!("initial.joints.rod0={:?}", q("rod0") + 0.3)]);
    let said: Vec<&String> = moved.warnings.iter().filter(open).collect();
    assert!(
        matches!(said[..], [one] if one.contains("connect0") && one.contains("0.0598 m")),
        "{said:?}"
    );
}

/// A body that flies without legs is no robot that stands.
#[test]
fn a_floating_robot_without_feet_does_not_stand() {
    let folder = tempfile::tempdir().unwrap();
    let only_a_link = "<robot name=\"top\"><link name=\"trunk\"><inertial><mass value=\"7\"/>\
        <inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link></robot>";
    std::fs::write(folder.path().join("top.urdf"), only_a_link).unwrap();
    let result = new(folder.path(), &["top.urdf", "-o", "my.toml"], 1);
    assert_eq!((&result["stands"], &result["feet"]), (&false.into(), &Value::Array(vec![])));
}

/// A model of the moon's gravity is proposed with it; names that need other escapes in TOML than in
/// Rust come through.
#[test]
fn gravity_and_names_of_the_file_are_those_of_the_proposal() {
    let moon = "<option gravity=\"0 0 -1.62\"/><worldbody>";
    let accents = "joint name=\"rou\u{301}e \u{200b}\"";
    let name = "joint name=\"left_roll\"";
    let (_, scenario) = of_biped(&[("<worldbody>", moon), (name, accents)]);
    let table: toml::Table = scenario.parse().unwrap();
    assert_eq!(table["sim"]["gravity_m_per_s2"][2].as_float(), Some(-1.62));
    assert!(table["joints"].get("rou\u{301}e \u{200b}").is_some(), "{scenario}");
}

/// Robots with more feet than a scenario can have.
#[test]
fn a_proposal_has_as_many_feet_as_a_scenario_can() {
    let folder = tempfile::tempdir().unwrap();
    let inertial = |mass: f64, i: f64| {
        format!("<inertial pos=\"0 0 0\" mass=\"{mass}\" diaginertia=\"{i} {i} {i}\"/>")
    };
    let leg = |i: usize| {
        let (x, y) = (0.1 * (i / 2) as f64 - 0.8, if i.is_multiple_of(2) { 0.1 } else { -0.1 });
        format!(
            "<body pos=\"{x} {y} 0\"><joint axis=\"0 1 0\" range=\"-30 30\"/>{}\
             <geom type=\"sphere\" size=\"0.01\" pos=\"0 0 -0.2\"/></body>",
            inertial(0.1, 0.001)
        )
    };
    let legs: String = (0..34).map(leg).collect();
    let text = format!(
        "<mujoco><worldbody><body><freejoint/>{}{legs}</body></worldbody></mujoco>",
        inertial(3.0, 0.5)
    );
    std::fs::write(folder.path().join("centipede.xml"), text).unwrap();
    let mut command = std::process::Command::new(HARDSTAND);
    command.args(["new", "centipede.xml", "--json"]).current_dir(folder.path());
    let output = command.output().unwrap();
    // whether it stands is not asked
    assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["feet"].as_array().unwrap().len(), 32);
    assert!(result["notes"].to_string().contains("2 more are left out"), "{result}");
}

/// The daemon reads them for contact, so the proposal does for feet.
#[test]
fn feet_are_also_meshes_in_collada_and_in_stl_as_text() {
    let dae = "<COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" version=\"1.4.1\">\
        <asset><up_axis>Z_UP</up_axis></asset><library_geometries><geometry id=\"g\"><mesh>\
        <source id=\"p\"><float_array id=\"a\" count=\"24\">CORNERS</float_array>\
        <technique_common><accessor source=\"#a\" count=\"8\" stride=\"3\"/></technique_common></source>\
        <vertices id=\"v\"><input semantic=\"POSITION\" source=\"#p\"/></vertices>\
        <triangles count=\"4\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/>\
        <p>0 1 2 1 2 3 4 5 6 5 6 7</p></triangles></mesh></geometry></library_geometries>\
        <library_visual_scenes><visual_scene><node><instance_geometry url=\"#g\"/></node>\
        </visual_scene></library_visual_scenes></COLLADA>";
    let corners: Vec<[f64; 3]> = (0..8)
        .map(|i| {
            let at = |bit: usize, low: f64, high: f64| if i >> bit & 1 == 0 { low } else { high };
            [at(0, -0.08, 0.14), at(1, -0.05, 0.05), at(2, -0.07, -0.03)]
        })
        .collect();
    let words = |c: &[f64; 3]| format!("{} {} {}", c[0], c[1], c[2]);
    let all: Vec<String> = corners.iter().map(words).collect();
    let facets: String = [[0, 1, 2], [1, 2, 3], [4, 5, 6], [5, 6, 7]]
        .iter()
        .map(|t| {
            let vertices = t.map(|i| format!("vertex {} ", all[i])).concat();
            format!("facet normal 0 0 1 outer loop {vertices}endloop endfacet ")
        })
        .collect();
    let stl = format!("solid sole {facets}endsolid sole");
    let boxes = tempfile::tempdir().unwrap();
    std::fs::write(boxes.path().join("biped.xml"), biped()).unwrap();
    let urdf = hardstand::mjcf::convert(&boxes.path().join("biped.xml")).unwrap().urdf;
    for (name, mesh) in [("sole.dae", dae.replace("CORNERS", &all.join(" "))), ("sole.stl", stl)] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(name), mesh).unwrap();
        let mut parts = urdf.split("<box ");
        let mut meshed = parts.next().unwrap().to_owned();
        for part in parts {
            meshed += &format!("<mesh filename=\"{name}\"/>");
            meshed += part.split_once("/>").unwrap().1;
        }
        assert!(meshed.contains(name), "{urdf}");
        std::fs::write(folder.path().join("biped.urdf"), meshed).unwrap();
        let result = new(folder.path(), &["biped.urdf", "-o", "my.toml"], 0);
        assert_eq!(result["stands"], true, "{name}: {result}");
        assert!(!result["notes"].to_string().contains("assumed: put"), "{name}: {result}");
    }
}
