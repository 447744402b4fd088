//! MuJoCo models, against what MuJoCo makes of them (`data/mjcf/README.md`).
#![allow(non_snake_case, reason = "monogram notation, see spatial")]

use std::path::{Path, PathBuf};

use hardstand::config::Scenario;
use hardstand::mjcf::{self, Converted};
use hardstand::urdf::{BaseChoice, parse_urdf};
use hardstand_physics::dynamics::{
    Data, GeneralizedForces, MassMatrix, Positions, Velocities, crba, kinematics, rnea,
};
use hardstand_physics::model::Model;
use hardstand_physics::spatial::{Quaternion, Vec3};
use serde_json::Value;

/// Largest relative error; the numbers differ by rounding.
const ERROR_MAX: f64 = 1e-12;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/data/mjcf").join(name)
}

fn read(name: &str) -> (Converted, Model, Value) {
    let robot = mjcf::convert(&data(&format!("{name}.xml"))).unwrap();
    let model = parse_urdf(&robot.urdf, name, BaseChoice::Auto).unwrap().model;
    let text = std::fs::read_to_string(data(&format!("{name}.json"))).unwrap();
    (robot, model, serde_json::from_str(&text).unwrap())
}

fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn vec3(v: &Value) -> Vec3 {
    let n = numbers(v);
    Vec3::new(n[0], n[1], n[2])
}

/// A state of the reference in our words, with its kinematics.
fn state(model: &Model, state: &Value) -> (Positions, Velocities, Data) {
    let (mut q, mut v) = (Positions::zero(model), Velocities::zero(model));
    if let Some(base) = state["base"].as_object() {
        let quat = numbers(&base["quaternion"]);
        q.quat_WB = Quaternion::from_wxyz([quat[0], quat[1], quat[2], quat[3]]).normalised();
        q.p_WB = vec3(&base["position"]);
        v.v_WB = vec3(&base["linear_velocity"]);
        v.w_WB = q.quat_WB.to_matrix() * vec3(&base["angular_velocity"]);
    }
    for (i, joint) in model.joints.iter().enumerate() {
        q.joints[i] = state["joint_positions"][&joint.name].as_f64().unwrap();
        v.joints[i] = state["joint_velocities"][&joint.name].as_f64().unwrap();
    }
    let mut data = Data::new(model);
    kinematics(model, &q, &v, &mut data);
    (q, v, data)
}

/// MuJoCo's velocities u = T s of ours s = [w_W, v_W, joints]: [v_W, Rᵀ w_W, joints in its order].
fn transformation(model: &Model, reference: &Value, q: &Positions) -> Vec<Vec<f64>> {
    let dofs: Vec<&str> =
        reference["dofs"].as_array().unwrap().iter().map(|d| d.as_str().unwrap()).collect();
    let n = dofs.len();
    let mut T = vec![vec![0.0; n]; n];
    let first = n - model.joint_count();
    if first == 6 {
        let R = q.quat_WB.to_matrix();
        for i in 0..3 {
            T[i][3 + i] = 1.0;
            for j in 0..3 {
                T[3 + i][j] = R[(j, i)];
            }
        }
    }
    for (i, joint) in model.joints.iter().enumerate() {
        let row = dofs.iter().skip(first).position(|d| *d == joint.name).unwrap();
        T[first + row][first + i] = 1.0;
    }
    T
}

fn largest(all: impl IntoIterator<Item = f64>) -> f64 {
    all.into_iter().fold(0.0, |most: f64, x| most.max(x.abs()))
}

#[test]
fn mass_matrix_bias_forces_and_poses_are_those_of_mujoco() {
    for name in ["quadruped", "biped", "hopper", "meshes"] {
        let (_, model, reference) = read(name);
        let mass = reference["mass"].as_f64().unwrap();
        assert!((model.total_mass() / mass - 1.0).abs() < ERROR_MAX, "{name}");
        let mut armature = numbers(&reference["base_armature"]);
        armature.resize(model.nv(), 0.0);
        for one in reference["states"].as_array().unwrap() {
            let (q, _, mut data) = state(&model, one);
            let T = transformation(&model, &reference, &q);
            let n = T.len();
            let theirs: Vec<Vec<f64>> =
                one["mass_matrix"].as_array().unwrap().iter().map(numbers).collect();
            // M_s = Tᵀ M T and b_s = Tᵀ b; T' s is zero in world axes
            let M = |r: usize, c: usize| {
                let diagonal = if r == c { armature[r] } else { 0.0 };
                theirs[r][c] - diagonal
            };
            let in_ours = |r: usize, c: usize| -> f64 {
                (0..n)
                    .flat_map(|i| (0..n).map(move |j| (i, j)))
                    .map(|(i, j)| T[i][r] * M(i, j) * T[j][c])
                    .sum()
            };
            let mut tau = GeneralizedForces::zero(&model);
            let still = Velocities::zero(&model);
            let gravity = vec3(&reference["gravity"]);
            rnea(&model, &mut data, &still, &gravity, &mut tau);
            let mut bias = Vec::new();
            if n > model.joint_count() {
                bias.extend(tau.base_W.ang.to_array());
                bias.extend(tau.base_W.lin.to_array());
            }
            bias.extend(&tau.joints);
            let theirs_b = numbers(&one["bias_force"]);
            let wrong_b =
                (0..n).map(|r| bias[r] - (0..n).map(|i| T[i][r] * theirs_b[i]).sum::<f64>());
            let wrong_b = largest(wrong_b) / largest(theirs_b.iter().copied());
            assert!(wrong_b < ERROR_MAX, "{name}: bias forces {wrong_b:e}");

            let mut H = MassMatrix::zero(&model);
            crba(&model, &mut data, &mut H);
            let wrong_M = (0..n).flat_map(|r| (0..n).map(move |c| (r, c)));
            let wrong_M = largest(wrong_M.map(|(r, c)| H.at(r, c) - in_ours(r, c)));
            let wrong_M = wrong_M / largest(theirs.concat());
            assert!(wrong_M < ERROR_MAX, "{name}: mass matrix {wrong_M:e}");
            poses(name, &model, &data, one);
        }
    }
}

fn poses(name: &str, model: &Model, data: &Data, state: &Value) {
    let mut known = 0;
    for (body, pose) in state["poses"].as_object().unwrap() {
        let Some(frame) = model.frame(body) else { continue };
        known += 1;
        let X = data.X_WB[frame.body].compose(&frame.X_BF);
        let pose = numbers(pose);
        let wrong = (X.p - Vec3::new(pose[0], pose[1], pose[2])).norm();
        assert!(wrong < ERROR_MAX, "{name}: {body} is {wrong:e} m off");
        let (ours, theirs) = (Quaternion::from_matrix(&X.R).wxyz(), &pose[3..]);
        let along: f64 = ours.iter().zip(theirs).map(|(a, b)| a * b).sum();
        assert!((along.abs() - 1.0).abs() < ERROR_MAX, "{name}: {body} is turned");
    }
    assert!(known > model.joint_count() / 2, "{name}: {known} bodies are known");
}

#[test]
fn limits_friction_and_gains_are_those_of_mujoco() {
    for name in ["quadruped", "biped", "hopper"] {
        let (robot, model, reference) = read(name);
        for j in reference["joints"].as_array().unwrap() {
            let own = j["name"].as_str().unwrap();
            let Some(i) = model.joint_index(own) else { continue };
            let joint = &model.joints[i];
            let number = |key: &str| j[key].as_f64().unwrap();
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b.abs().max(1.0);
            assert!(near(joint.armature, number("armature")), "{own}: armature");
            assert!(near(joint.damping, number("damping")), "{own}: damping");
            assert!(near(joint.friction, number("frictionloss")), "{own}: friction");
            match j["range"].as_array() {
                Some(range) => {
                    assert!(near(joint.q_min, range[0].as_f64().unwrap()), "{own}: q_min");
                    assert!(near(joint.q_max, range[1].as_f64().unwrap()), "{own}: q_max");
                }
                None => assert!(joint.q_max.is_infinite(), "{own}: {}", joint.q_max),
            }
            let actuators = reference["actuators"].as_array().unwrap();
            let own_actuators: Vec<&Value> =
                actuators.iter().filter(|a| a["joint"] == own).collect();
            if let [a] = own_actuators.as_slice() {
                strength(own, a, joint.effort_max, &robot);
            }
        }
    }
}

fn strength(joint: &str, a: &Value, effort_max: f64, robot: &Converted) {
    let near = |x: f64, y: f64| (x - y).abs() <= 1e-9 * y.abs().max(1.0);
    match a["effort_range"].as_array() {
        Some(range) => {
            let most = largest(range.iter().map(|x| x.as_f64().unwrap()));
            assert!(near(effort_max, most), "{joint}: effort {effort_max}, MuJoCo {most}");
        }
        None => assert!(effort_max.is_infinite(), "{joint}: effort {effort_max}"),
    }
    let gear = a["gear"].as_f64().unwrap();
    let at_joint = |key: &str| a[key].as_f64().unwrap() * gear * gear;
    if a["affine"] != true {
        assert!(!robot.gains.contains_key(joint), "{joint}: {:?}", robot.gains[joint]);
        return;
    }
    let gains = robot.gains[joint];
    assert!(near(gains.kp, at_joint("kp_q")), "{joint}: kp {} of {a}", gains.kp);
    // the damping of a ratio needs the mass matrix: `hardstand new` has it
    if gains.dampratio.is_none() {
        assert!(near(gains.kd, at_joint("kd")), "{joint}: kd {} of {a}", gains.kd);
    }
}

#[test]
fn a_scenario_starts_in_a_keyframe() {
    let (_, _, reference) = read("quadruped");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.toml");
    let robot = data("quadruped.xml").display().to_string();
    let write = |more: &str| {
        let text = format!("[robot]\nmjcf = {robot:?}\n{more}");
        std::fs::write(&path, text).unwrap();
        Scenario::load(&path, &[])
    };
    let s = write("[initial]\nkeyframe = \"home\"\njoints.FL_knee = -1.0\n").unwrap();
    for (i, joint) in s.model.joints.iter().enumerate() {
        let home = reference["home"]["joints"][&joint.name].as_f64().unwrap();
        let expected = if joint.name == "FL_knee" { -1.0 } else { home };
        assert_eq!(s.spec.q.joints[i], expected, "{}", joint.name);
    }
    assert!(!s.warnings.is_empty());
    // the log's texts are enough
    let again = Scenario::from_texts(&s.complete_toml, &s.robot_urdf, &[]).unwrap();
    assert_eq!(again.simulation().state().digest, s.simulation().state().digest);
    assert_eq!(again.physics_hash, s.physics_hash);

    let refused = |more: &str| write(more).unwrap_err().to_string();
    assert!(refused("[initial]\nkeyframe = \"away\"\n").contains("home"));
    assert!(refused("urdf = \"x.urdf\"\n").contains("name one file"));
}

const INERTIAL: &str =
    "<inertial pos=\"0 0 0\" quat=\".9 .1 .3 .2\" mass=\"9\" diaginertia=\".1 .2 .3\"/>";

/// A trunk with a leg on a joint "knee", and what else the file has.
fn with_leg(before: &str, trunk: &str, leg: &str, after: &str) -> Converted {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("robot.xml");
    let tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    std::fs::write(dir.path().join("tet.obj"), tetrahedron).unwrap();
    let body = format!("<body name=\"leg\"><joint name=\"knee\"/><geom size=\".1\"/>{leg}</body>");
    let world = format!("<body name=\"trunk\"><freejoint/>{trunk}{body}</body>");
    let text = format!("<mujoco>{before}<worldbody>{world}</worldbody>{after}</mujoco>");
    std::fs::write(&path, text).unwrap();
    mjcf::convert(&path).unwrap()
}

/// MuJoCo 4.0.0 keeps the moments of a plate that `balanceinertia` need not change, and bounds the
/// principal moments, not the diagonal.
#[test]
fn inertias_whose_axes_are_turned_are_balanced_and_bounded_as_by_mujoco() {
    let inertia = |compiler: &str, trunk: &str| {
        let robot = with_leg(&format!("<compiler {compiler}/>"), trunk, "", "");
        let model = parse_urdf(&robot.urdf, "robot", BaseChoice::Auto).unwrap().model;
        model.bodies[0].inertia.about_com()
    };
    let plate = inertia("balanceinertia=\"true\"", INERTIAL);
    assert!((plate.determinant() - 0.1 * 0.2 * 0.3).abs() < 1e-12, "{plate:?}");
    let solid = INERTIAL.replace(".3\"/>", ".4\"/>");
    let balanced = inertia("balanceinertia=\"true\"", &solid);
    let mean = 0.7_f64 / 3.0;
    assert!((balanced.determinant() - mean * mean * mean).abs() < 1e-12, "{balanced:?}");
    let thin = "<inertial pos=\"0 0 0\" euler=\"0 0 45\" mass=\"9\" diaginertia=\".02 .001 .02\"/>";
    let bounded = inertia("boundinertia=\".005\"", thin);
    for (at, wanted) in [((0, 0), 0.0125), ((0, 1), 0.0075), ((2, 2), 0.02)] {
        assert!((bounded[at] - wanted).abs() < 1e-15, "{at:?}: {bounded:?}");
    }
}

#[test]
fn efforts_and_gains_of_unusual_actuators_are_those_of_mujoco() {
    let ball = "<geom size=\".1\"/>";
    for (actuator, effort_max, dampratio) in [
        ("pid joint=\"knee\" kp=\"300\" ctrlrange=\"-1 1\" forcerange=\"-80 80\"", 80.0, None),
        (
            "general joint=\"knee\" gainprm=\"100\" biastype=\"affine\" ctrlrange=\"-1 1\"",
            100.0,
            None,
        ),
        (
            "general joint=\"knee\" gainprm=\"300\" biastype=\"affine\" biasprm=\"0 -300 1\" \
             forcerange=\"-7 7\"",
            7.0,
            Some(1.0),
        ),
    ] {
        let robot = with_leg("", ball, "", &format!("<actuator><{actuator}/></actuator>"));
        let model = parse_urdf(&robot.urdf, "robot", BaseChoice::Auto).unwrap().model;
        assert_eq!(model.joints[0].effort_max, effort_max, "{actuator}");
        assert_eq!(robot.gains.get("knee").and_then(|g| g.dampratio), dampratio, "{actuator}");
    }
}

/// What a certificate hashes: not the meshes that are only drawn.
#[test]
fn a_scenario_names_the_files_that_decide_it() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    let tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    for name in ["drawn.obj", "touches.obj", "weighed.obj"] {
        write(name, tetrahedron);
    }
    let mesh = |name: &str, more: &str| format!("<geom type=\"mesh\" mesh=\"{name}\" {more}/>");
    let drawn = mesh("drawn", "contype=\"0\" conaffinity=\"0\" group=\"2\"");
    let weighed = mesh("weighed", "mass=\"1\" contype=\"0\" conaffinity=\"0\"");
    let assets = ["drawn", "touches", "weighed"].map(|name| format!("<mesh file=\"{name}.obj\"/>"));
    write(
        "leg.xml",
        &format!(
            "<mujoco><body name=\"leg\"><joint name=\"knee\"/>{INERTIAL}{drawn}{}</body>\
         <body name=\"arm\"><joint name=\"elbow\"/>{weighed}</body></mujoco>",
            mesh("touches", ""),
        ),
    );
    write(
        "robot.xml",
        &format!(
            "<mujoco><asset>{}</asset><worldbody><body name=\"trunk\"><freejoint/>\
         <geom size=\".1\"/><include file=\"leg.xml\"/></body></worldbody></mujoco>",
            assets.concat(),
        ),
    );
    write("overlay.toml", "[contact]\nbodies = \"all\"\n");
    write("scenario.toml", "overlays = [\"overlay.toml\"]\n[robot]\nmjcf = \"robot.xml\"\n");
    let scenario = Scenario::load(&dir.path().join("scenario.toml"), &[]).unwrap();
    let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_string();
    let names: Vec<String> = scenario.files.iter().map(name).collect();
    let wanted =
        ["scenario.toml", "robot.xml", "leg.xml", "touches.obj", "weighed.obj", "overlay.toml"];
    assert_eq!(names, wanted);
}

#[test]
fn places_names_and_files_are_those_of_mujoco() {
    let ball = "<geom size=\".1\"/>";
    let mesh = |compiler: &str, asset: &str| {
        let before = format!("{compiler}<asset><mesh name=\"tet\" {asset}/></asset>");
        with_leg(&before, ball, "<geom type=\"mesh\" mesh=\"tet\" mass=\"1\"/>", "").urdf
    };
    // the file's origin is where refpos says it is not
    let shifted = mesh("", "file=\"tet.obj\" scale=\"1 1 2\" refpos=\"0 0 .1\"");
    assert!(shifted.contains("<origin xyz=\"0 0 -0.2\" rpy"), "{shifted}");
    let turned = mesh("", "file=\"tet.obj\" refquat=\"0 1 0 0\"");
    assert!(turned.contains("rpy=\"3.14159"), "{turned}");
    mesh("<compiler strippath=\"true\"/>", "file=\"some/where/tet.obj\"");
    mesh("<compiler meshdir=\"nowhere\"/><compiler assetdir=\".\"/>", "file=\"tet.obj\"");
    let site = "<site name=\"s\" type=\"capsule\" size=\".01\" fromto=\".1 .1 .1 .3 .1 .1\"/>";
    let urdf = with_leg("", ball, site, "").urdf;
    assert!(urdf.contains("<origin xyz=\"0.2 0.1 0.1\""), "{urdf}");
    // a joint of the name that a weld would get, and one without a name
    let names = "<body name=\"\"><joint name=\"foot_fixed\"/><geom size=\".1\"/>\
                 <body name=\"foot\"><geom size=\".1\"/></body></body>";
    let robot = with_leg("", ball, names, "<keyframe><key name=\"home\"/></keyframe>");
    parse_urdf(&robot.urdf, "robot", BaseChoice::Auto).unwrap();
    assert!(robot.keyframes.iter().any(|k| k.name == "home"), "{:?}", robot.keyframes);
    // what stands beside the robot, and what is switched off
    let lists = |before: &str, what: &str| {
        let robot = with_leg(before, ball, "", "");
        assert!(robot.warnings.iter().any(|w| w.contains(what)), "{what}: {:?}", robot.warnings);
    };
    lists("<option actuatorgroupdisable=\"0\"/>", "switches off");
    let floor =
        |at: &str| format!("<worldbody><geom type=\"plane\" size=\"1 1 1\" {at}/></worldbody>");
    lists(&floor("pos=\"0 0 .3\""), "shapes of the world");
    lists(&floor("euler=\"0 20 0\""), "shapes of the world");
    let warnings = with_leg(&floor(""), ball, "", "").warnings;
    assert!(!warnings.iter().any(|w| w.contains("shapes of the world")), "{warnings:?}");
}

/// roxmltree compares all attributes of an element with each other.
#[test]
fn a_file_with_too_many_attributes_is_refused_before_it_is_parsed() {
    let dir = tempfile::tempdir().unwrap();
    for root in ["mujoco", "robot"] {
        let path = dir.path().join("bomb.xml");
        let attributes: String = (0..200_000).map(|n| format!(" a{n}=\"\"")).collect();
        std::fs::write(&path, format!("<{root}><x{attributes}/></{root}>")).unwrap();
        let said = mjcf::read_robot(&path, BaseChoice::Auto).unwrap_err().to_string();
        assert!(said.contains("more than 256 attributes"), "{said}");
    }
    let path = dir.path().join("many.xml");
    let bodies = "<body><joint range=\"0\"/></body>".repeat(50_000);
    std::fs::write(&path, format!("<mujoco><worldbody>{bodies}</worldbody></mujoco>")).unwrap();
    let said = mjcf::read_robot(&path, BaseChoice::Auto).unwrap_err().to_string();
    assert!(said.contains("more than 4096 bodies"), "{said}");
}

#[test]
fn what_is_not_understood_is_refused_and_what_is_left_out_is_listed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("robot.xml");
    let leg = |joint: &str| {
        format!(
            "<worldbody><body name=\"trunk\"><freejoint/><geom size=\"0.1\"/>\
             <body name=\"leg\">{joint}<geom size=\"0.05\"/></body></body></worldbody>"
        )
    };
    let convert = |inside: &str| {
        std::fs::write(&path, format!("<mujoco>{inside}</mujoco>")).unwrap();
        mjcf::convert(&path)
    };
    for (inside, word) in [
        (leg("<joint type=\"ball\"/>"), "three hinges"),
        (leg("<joint springiness=\"1\"/>"), "springiness"),
        (leg("<joint axis=\"0 0 0\"/>"), "axis"),
        (leg("<joint axis=\"0 0\"/>"), "3 finite numbers"),
        (leg("<joint class=\"knee\"/>"), "no class \"knee\""),
        (leg("<joint limited=\"true\"/>"), "range is missing"),
        (leg("<freejoint/>"), "only a child of the world"),
        (leg("<joint/><replicate count=\"2\"/>"), "replicate"),
        (leg("<joint/><include file=\"robot.xml\"/>"), "twice"),
        (leg("<joint/><include file=\"absent.xml\"/>"), "absent.xml"),
        (leg("<joint/><include file=\"absent.xml\"/>"), "robot.xml:1: <include>"),
        (leg("<joint/><geom type=\"mesh\" mesh=\"m\"/>"), "<inertial>"),
        (leg("<joint/><geom mesh=\"m\"/>"), "a sphere is not fitted to mesh m"),
        (leg("<joint/><geom size=\"1\" mass=\"-1\"/>"), "mass of a geom must not be negative"),
        (leg("<joint armature=\"-1\"/>"), "armature of a joint must not be negative"),
        (leg("<joint range=\"0 1\" limited=\"True\"/>"), "true, false or auto"),
        (leg("<joint name=\"a\"/><joint name=\"a\"/>"), "two joints \"a\""),
        (leg("<joint/><body name=\"leg\"/>"), "two bodies \"leg\""),
        (leg("<joint/><site quat=\"1 0 0 0\" euler=\"0 0 1\"/>"), "two orientations"),
        (leg(&format!("<joint/>{INERTIAL}{INERTIAL}")), "a second <inertial>"),
        (format!("<compiler angle=\"radians\"/>{}", leg("<joint/>")), "degree or radian"),
        (format!("<compiler degrees=\"true\"/>{}", leg("<joint/>")), "<compiler degrees>"),
        (
            format!("<default><joint springdamper=\"1 1\"/></default>{}", leg("<joint/>")),
            "springdamper",
        ),
        (
            format!("{}<actuator><motor joint=\"kne\"/></actuator>", leg("<joint/>")),
            "no joint \"kne\"",
        ),
        (leg("<joint/><geom type=\"box\" mesh=\"m\"/>"), "not fitted to mesh m"),
        (leg("<joint/><geom size=\"1\" glow=\"1\"/>"), "glow"),
        (leg("<joint/><geom size=\"1\" shellinertia=\"true\"/>"), "shellinertia"),
        (format!("{}<wings/>", leg("<joint/>")), "wings"),
        (String::from("<worldbody><geom size=\"1\"/></worldbody>"), "where is the robot"),
    ] {
        let said = convert(&inside).unwrap_err().to_string();
        assert!(said.contains(word), "{inside}: {said}");
    }
    let listed = "<joint name=\"knee\" stiffness=\"3\"/><plugin plugin=\"p\"/>";
    let more = "<tendon><spatial/></tendon><equality><weld body1=\"leg\"/></equality>\
                <option viscosity=\"0.1\" gravity=\"0 0 -1.62\"><flag contact=\"disable\"/></option>";
    let robot = convert(&format!("{}{more}", leg(listed))).unwrap();
    assert_eq!(robot.gravity_m_per_s2, Some([0.0, 0.0, -1.62]));
    for what in [
        "springs of joints",
        "tendons",
        "equalities",
        "no actuator",
        "plugins",
        "option viscosity",
        "flag contact",
    ] {
        assert!(robot.warnings.iter().any(|w| w.contains(what)), "{what}: {:?}", robot.warnings);
    }
    let late = "<actuator><general joint=\"knee\" dyntype=\"filter\"/></actuator>";
    let robot = convert(&format!("{}{late}", leg("<joint name=\"knee\"/>"))).unwrap();
    assert!(robot.warnings.iter().any(|w| w.contains("at once")), "{:?}", robot.warnings);
    let weightless = format!("<option><flag gravity=\"disable\"/></option>{}", leg("<joint/>"));
    assert_eq!(convert(&weightless).unwrap().gravity_m_per_s2, Some([0.0; 3]));
    let pair = "<joint name=\"knee\" ref=\"10\"/><joint name=\"toe\" axis=\"0 1 0\" ref=\"-4\"/>";
    let coupled = |polycoef: &str| {
        let equality =
            format!("<equality><joint joint1=\"toe\" joint2=\"knee\" {polycoef}/></equality>");
        convert(&format!("<compiler angle=\"radian\"/>{}{equality}", leg(pair))).unwrap()
    };
    // as MuJoCo: q_toe − ref = a₀ + a₁ (q_knee − ref)
    let robot = coupled("polycoef=\"0.5 -2 0 0 0\"");
    let mimic = "<mimic joint=\"knee\" multiplier=\"-2\" offset=\"16.5\"/>";
    assert!(robot.urdf.contains(mimic), "{}", robot.urdf);
    assert!(!robot.warnings.iter().any(|w| w.contains("equalities")), "{:?}", robot.warnings);
    assert!(coupled("").urdf.contains("multiplier=\"1\" offset=\"-14\""));
    assert!(!coupled("active=\"false\"").urdf.contains("<mimic"));
    let curved = coupled("polycoef=\"0 1 3\"");
    assert!(!curved.urdf.contains("<mimic"));
    assert!(curved.warnings.iter().any(|w| w.contains("other than points")));
    let end = "<equality><connect body1=\"leg\" body2=\"trunk\" anchor=\"0 0 -0.3\"/></equality>";
    let closed = convert(&format!("{}{end}", leg("<joint/>"))).unwrap();
    let (body, other) = ("leg".to_string(), Some("trunk".to_string()));
    let [point_m, other_point_m] = [[0.0, 0.0, -0.3]; 2];
    let connection = mjcf::Connection { body, other, point_m, other_point_m };
    assert_eq!(closed.connections, [connection]);
    assert!(!closed.warnings.iter().any(|w| w.contains("equalities")), "{:?}", closed.warnings);
    std::fs::write(&path, "<robot name=\"r\"/>").unwrap();
    assert!(mjcf::convert(&path).unwrap_err().to_string().contains("<mujoco>"));
}

#[test]
fn sensors_name_the_inertial_unit_and_feet_and_the_rest_is_listed() {
    let quadruped = read("quadruped").0;
    assert_eq!(quadruped.sensors.imu.as_deref(), Some("imu"));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("robot.xml");
    let convert = |sensors: &str| {
        let text = format!(
            "<mujoco><worldbody><body name=\"trunk\"><freejoint/><geom size=\"0.1\"/>\
             <site name=\"chip\"/><body name=\"leg\"><joint name=\"knee\"/><geom size=\"0.05\"/>\
             <site name=\"sole\"/></body></body></worldbody><sensor>{sensors}</sensor></mujoco>"
        );
        std::fs::write(&path, text).unwrap();
        mjcf::convert(&path)
    };
    let robot = convert(
        "<jointpos joint=\"knee\"/><accelerometer site=\"chip\"/><gyro site=\"chip\"/>\
         <gyro name=\"second\" site=\"sole\"/><touch site=\"sole\"/>\
         <rangefinder name=\"eye\" site=\"chip\"/>",
    );
    let robot = robot.unwrap();
    assert_eq!(robot.sensors.imu.as_deref(), Some("chip"));
    assert_eq!(robot.sensors.touch, ["leg"]);
    let sensors = robot.warnings.iter().filter(|w| w.contains("sensor") || w.contains("unit"));
    let wanted = [
        "sensors of the kind rangefinder are not read: eye",
        "the inertial unit is at chip; others are left out: second",
    ];
    assert_eq!(sensors.collect::<Vec<_>>(), wanted);
    let said = convert("<gyro site=\"nose\"/>").unwrap_err().to_string();
    assert!(said.contains("there is no site \"nose\""), "{said}");
}

/// A ball of 0.1 m whose keyframe has its centre 0.02 m above the ground.
#[test]
fn a_keyframe_in_the_ground_is_lifted_with_a_line() {
    let dir = tempfile::tempdir().unwrap();
    let robot = dir.path().join("ball.xml");
    let text = "<mujoco><worldbody><body name=\"ball\"><freejoint/><geom size=\"0.1\"/></body>\
                </worldbody><keyframe><key name=\"home\" qpos=\"0 0 0.02 1 0 0 0\"/>\
                <key name=\"high\" qpos=\"0 0 0.5 1 0 0 0\"/></keyframe></mujoco>";
    std::fs::write(&robot, text).unwrap();
    let path = dir.path().join("s.toml");
    let load = |keyframe: &str| {
        let foot = "[[feet]]\nname = \"ball\"\nlink = \"ball\"\nradius_m = 0.1\n";
        let text = format!(
            "[robot]\nmjcf = \"ball.xml\"\n[initial]\nkeyframe = {keyframe:?}\n\
             place = \"above_ground\"\n{foot}"
        );
        std::fs::write(&path, text).unwrap();
        Scenario::load(&path, &[]).unwrap()
    };
    let home = load("home");
    let wanted = "the keyframe \"home\" is in the ground; the robot was lifted by 0.0";
    assert!(home.warnings.iter().any(|w| w.starts_with(wanted)), "{:?}", home.warnings);
    assert!((home.spec.q.p_WB.z - 0.1).abs() < 0.01, "{}", home.spec.q.p_WB.z);
    assert!(!load("high").warnings.iter().any(|w| w.contains("lifted")));
}

/// A trunk with four legs. The first two touch each other by their bits, through a foot without a
/// joint; the third only by a pair, except where it is excluded.
#[test]
fn bodies_that_do_not_touch_in_mujoco_do_not_touch_here() {
    let leg = |name: &str, bits: &str, more: &str| {
        format!(
            "<body name=\"{name}\" pos=\"0 0 -1\"><joint name=\"{name}\" axis=\"0 1 0\"/>\
             <geom name=\"{name}\" type=\"box\" size=\"0.1 0.1 0.1\" mass=\"1\" {bits}/>\
             {more}</body>"
        )
    };
    let quiet = "contype=\"0\" conaffinity=\"1\"";
    let foot = "<body name=\"foot\"><geom size=\"0.1\" mass=\"1\" contype=\"2\"/></body>";
    let legs = [
        leg("one", quiet, foot),
        leg("two", "contype=\"0\" conaffinity=\"2\"", ""),
        leg("three", quiet, ""),
        leg("four", quiet, ""),
    ];
    let model = |contact: &str| {
        format!(
            "<mujoco><worldbody><body name=\"trunk\"><freejoint/>\
             <geom type=\"box\" size=\"0.2 0.2 0.1\" mass=\"9\" contype=\"0\" conaffinity=\"1\"/>\
             {}</body></worldbody><contact>{contact}</contact></mujoco>",
            legs.concat()
        )
    };
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("robot.xml");
    let apart = |contact: &str| {
        std::fs::write(&file, model(contact)).unwrap();
        mjcf::convert(&file).unwrap().apart
    };
    let pair = |a: &str, b: &str| [a.to_string(), b.to_string()];
    let all = ["trunk", "one", "foot", "two", "three", "four"];
    let every = || (0..6).flat_map(|i| (i + 1..6).map(move |k| pair(all[i], all[k])));
    let welded = pair("one", "foot");
    let without = |touching: &[[String; 2]]| {
        every().filter(|p| *p != welded && !touching.contains(p)).collect::<Vec<_>>()
    };
    // the foot has contype 2 and conaffinity 1: it meets conaffinity 2
    let touching = [pair("foot", "two")];
    assert_eq!(apart(""), without(&touching));
    let named = "<pair geom1=\"four\" geom2=\"three\"/>";
    assert_eq!(apart(named), without(&[pair("foot", "two"), pair("three", "four")]));
    assert_eq!(apart("<exclude body1=\"two\" body2=\"foot\"/>"), without(&[]));
    // and in a scenario, where pairs of its own stay
    let text = "[robot]\nmjcf = \"robot.xml\"\n[contact]\ndisable = [[\"two\", \"foot\"]]\n";
    let scenario = dir.path().join("scenario.toml");
    std::fs::write(&scenario, text).unwrap();
    let complete = Scenario::load(&scenario, &[]).unwrap().complete_toml;
    assert!(complete.contains("\"trunk\""), "{complete}");
}

#[test]
fn a_scenario_is_not_taken_for_a_robot() {
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/quadruped.toml");
    let refusal = mjcf::read_robot(&scenario, BaseChoice::Auto).unwrap_err().to_string();
    assert!(refusal.contains("a scenario is not a robot"), "{refusal}");
}

/// An actuator that pulls a fixed tendon is a motor of each of its joints, by its lever.
#[test]
fn joints_that_a_tendon_drives_have_motors() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("robot.xml");
    let text = "<mujoco><worldbody><body name=\"trunk\"><freejoint/><geom size=\"0.1\"/>\
                <body name=\"leg\"><joint name=\"knee\" axis=\"0 1 0\"/><geom size=\"0.05\"/>\
                <body name=\"end\"><joint name=\"toe\" axis=\"0 1 0\"/><geom size=\"0.05\"/></body>\
                </body></body></worldbody><tendon><fixed name=\"both\">\
                <joint joint=\"knee\" coef=\"2\"/><joint joint=\"toe\" coef=\"-0.5\"/></fixed></tendon>\
                <actuator><general tendon=\"both\" gainprm=\"10\" biastype=\"affine\" \
                biasprm=\"0 -10 -1\" forcerange=\"-30 30\"/></actuator></mujoco>";
    std::fs::write(&path, text).unwrap();
    let robot = mjcf::convert(&path).unwrap();
    let gains = |joint: &str| (robot.gains[joint].kp, robot.gains[joint].kd);
    assert_eq!((gains("knee"), gains("toe")), ((40.0, 4.0), (2.5, 0.25)));
    for (joint, effort) in [("knee", "60"), ("toe", "15")] {
        let (_, after) = robot.urdf.split_once(&format!("<joint name=\"{joint}\"")).unwrap();
        let (own, _) = after.split_once("</joint>").unwrap();
        assert!(own.contains(&format!("effort=\"{effort}\"")), "{own}");
    }
    assert!(robot.warnings.iter().any(|w| w.contains("one tendon drives")), "{:?}", robot.warnings);
}
