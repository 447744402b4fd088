//! `hardstand new`: the scenario that it proposes stands, in a real daemon.

use std::path::Path;

use serde_json::Value;

use crate::common::logs;
use crate::common::process::{Log, Process, Scene, repository};

const HARDSTAND: &str = env!("CARGO_BIN_EXE_hardstand");

/// `hardstand new` with these words; its exit code and its result.
fn new(folder: &Path, words: &[&str], code: i32) -> Value {
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
