//! `hardstand controller … --in-process` and `hardstand model`: arguments, warnings, refusals.

use std::ffi::OsStr;
use std::path::Path;

use hardstand::config::Scenario;
use hardstand::simulation::describe;
use hardstand_controllers::{ControlLaw as _, PolicyLaw, TrotLaw};
use hardstand_protocol::{JointCommand, JointReading, ModelReply, StateReading, VelocityCommand};

use crate::common::logs::hardstand;
use crate::common::process::repository;
use crate::walking::CONTRACT;

fn says(words: &[&str], code: i32) -> String {
    let words: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
    let (said, ended) = hardstand(&words);
    assert_eq!(ended, code, "{said}");
    said
}

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn model() -> ModelReply {
    let s = Scenario::load(Path::new(&repository("config/quadruped.toml")), &[]).unwrap();
    describe(&s.simulation(), 1, s.gains_max, &s.hold_gains)
}

#[test]
fn a_velocity_out_of_the_range_of_cmd_vel_is_refused() {
    let model = model();
    for (velocity, name) in [
        ([f64::NAN, 0.0, 0.0], "vx is NaN"),
        ([0.0, f64::INFINITY, 0.0], "vy is inf"),
        ([0.0, 0.0, -1e9], "yaw_rate is -1000000000"),
    ] {
        let law = TrotLaw::new(&model, Some(VelocityCommand::from(velocity)));
        let said = law.map(|_| ()).unwrap_err().to_string();
        assert!(said.contains(name) && said.contains("it must be -100 to 100"), "{said}");
    }
    assert!(TrotLaw::new(&model, Some(VelocityCommand::from([100.0, -100.0, 0.0]))).is_ok());
    let scenario = repository("config/quadruped.toml");
    let trot = ["controller", "trot", "--vx=nan", "--in-process", &scenario, "--duration", "1"];
    assert!(says(&trot, 2).contains("vx is NaN; it must be -100 to 100 m/s"));
}

#[test]
fn a_contract_is_checked_without_a_duration() {
    let folder = tempfile::tempdir().unwrap();
    let contract = write(folder.path(), "calves.toml", CONTRACT);
    let (network, scenario) =
        (repository("crates/policy/tests/data/elu.onnx"), repository("config/quadruped.toml"));
    let policy = ["controller", "policy", &contract, "--policy", &network, "--vx", "0.5"];
    let way = ["--in-process", &scenario];
    let said = says(&[&policy[..], &way, &["--check"]].concat(), 0);
    assert!(said.contains("calves: every clause holds"), "{said}");
    let said = says(&[&policy[..], &way].concat(), 2);
    assert!(said.contains("--duration is missing"), "{said}");
}

#[test]
fn a_target_that_is_no_number_is_reported_with_the_name_of_its_joint() {
    let folder = tempfile::tempdir().unwrap();
    let contract = write(folder.path(), "calves.toml", CONTRACT);
    let network = repository("crates/policy/tests/data/elu.onnx");
    let velocity = [("vx".to_string(), 0.5)];
    let network = Some(Path::new(&network));
    let mut law = PolicyLaw::load(&model(), Path::new(&contract), network, &velocity).unwrap();
    let nothing = JointReading { q: f64::NAN, ..JointReading::default() };
    let state = StateReading { joints: vec![nothing; 12], ..StateReading::default() };
    let mut commands = vec![JointCommand::default(); law.joints().len()];
    let said = law.step(&state, &mut commands).unwrap_err().to_string();
    assert!(said.contains("target of joint FL_calf_joint is NaN at tick 0"), "{said}");
}

const INERTIAL: &str = r#"<inertial><mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1"
 iyz="0" izz="0.1"/></inertial>"#;

#[test]
fn a_mesh_that_is_missing_is_told_in_process_and_by_model() {
    let folder = tempfile::tempdir().unwrap();
    let robot = format!(
        r#"<robot name="r"><link name="trunk">{INERTIAL}<collision><geometry>
<mesh filename="nowhere.stl"/></geometry></collision></link><link name="leg">{INERTIAL}</link>
<joint name="hip" type="revolute"><parent link="trunk"/><child link="leg"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="20" velocity="9"/></joint></robot>"#
    );
    let urdf = write(folder.path(), "r.urdf", &robot);
    let text = "robot.urdf = \"r.urdf\"\ncontact.bodies = \"all\"\n";
    let scenario = write(folder.path(), "s.toml", text);
    let wanted = "collision meshes that cannot be read, so that their links do not touch with \
                  them: nowhere.stl (no such file)";
    let stand = ["controller", "stand", "--in-process", &scenario, "--duration", "0.01"];
    assert!(says(&stand, 0).contains(&format!("warning: {wanted}")));
    assert!(says(&["model", &urdf], 0).contains(&format!("warning: {wanted}")));
}

/// Links without mass between joints of parallel axes: the first joint can turn alone.
fn chain(of_b: &str) -> String {
    let joint = |name: &str, parent: &str, child: &str| {
        // not all in one line, where two are enough
        let z = if child == "d" { -0.05 } else { 0.05 };
        format!(
            r#"<joint name="{name}" type="continuous"><parent link="{parent}"/>
<child link="{child}"/><origin xyz="0.1 0 {z}"/><axis xyz="0 1 0"/></joint>"#
        )
    };
    let ends = [("j1", "a", "b"), ("j2", "b", "c"), ("j3", "c", "c2"), ("j4", "c2", "d")];
    let joints: String = ends.iter().map(|(name, from, to)| joint(name, from, to)).collect();
    format!(
        r#"<robot name="r"><link name="a">{INERTIAL}</link><link name="b">{of_b}</link>
<link name="c"/><link name="c2"/><link name="d">{INERTIAL}</link>{joints}</robot>"#
    )
}

#[test]
fn a_chain_without_inertia_is_refused_with_the_name_of_a_joint() {
    let text = "[robot]\nbase = \"fixed\"\n[contact]\nbodies = \"feet\"\n";
    let load = |urdf: &str, sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        Scenario::from_texts(text, urdf, &sets).map(|_| ()).map_err(|e| e.to_string())
    };
    let said = load(&chain(""), &[]).unwrap_err();
    assert!(said.contains("joint j1: no inertia resists it in the initial posture"), "{said}");
    assert!(said.contains("give one of these links an <inertial>"), "{said}");
    assert_eq!(load(&chain(INERTIAL), &[]), Ok(()));
    assert_eq!(load(&chain(""), &["joints.j1.armature=0.01"]), Ok(()));
    let folder = tempfile::tempdir().unwrap();
    let urdf = write(folder.path(), "r.urdf", &chain(""));
    assert!(says(&["model", &urdf], 0).contains("warning: joint j1: no inertia resists it"));
}

#[test]
fn more_joints_than_a_plant_takes_are_refused_by_model() {
    let link = |n: usize| format!("<link name=\"l{n}\">{INERTIAL}</link>");
    let joint = |n: usize| {
        format!(
            r#"<joint name="j{n}" type="continuous"><parent link="l0"/><child link="l{n}"/>
<axis xyz="0 1 0"/></joint>"#
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let robot = |count: usize| {
        let links: String = (0..=count).map(link).collect();
        let joints: String = (1..=count).map(joint).collect();
        let text = format!("<robot name=\"r\">{links}{joints}</robot>");
        write(folder.path(), &format!("{count}.urdf"), &text)
    };
    assert!(says(&["model", &robot(299)], 2).contains("the robot has 299 joints; at most 256"));
    says(&["model", &robot(256)], 0);
}

/// The robots that are shipped and those of the tests.
#[test]
fn robots_that_move_are_not_called_singular() {
    for file in [
        "config/robots/quadruped.urdf",
        "tests/it/data/mjcf/biped.xml",
        "tests/it/data/mjcf/hopper.xml",
        "tests/it/data/mjcf/meshes.xml",
        "tests/it/data/mjcf/quadruped.xml",
    ] {
        let said = says(&["model", &repository(file)], 0);
        assert!(!said.contains("no inertia resists"), "{file}: {said}");
    }
}
