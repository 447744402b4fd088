//! The files of `config/ros2` name topics, types, frames and joints: they must be those of the
//! daemon. The tools that read them are not here.

use std::collections::BTreeMap;

use hardstand::ros2::messages::catalogue;
use hardstand::urdf::{BaseChoice, parse_urdf};
use serde_yaml::Value;
use zenoh::Wait;

use super::peer::{Peer, Way};
use crate::common::process::{Observer, Scene, repository, serial, wait_for};

fn shipped(name: &str) -> String {
    std::fs::read_to_string(repository(&format!("config/ros2/{name}"))).unwrap()
}

/// Type and token's word of every topic of a daemon, and if it is latched.
struct Declared {
    topics: BTreeMap<String, (String, String, bool)>,
    joints: Vec<String>,
}

impl Declared {
    fn of_a_daemon() -> Self {
        let scene = Scene::new();
        let _daemon = scene.daemon(&["--set", "ros2.mode=bridge"]);
        let observer = Observer::of(&scene);
        let peer = Peer::connect(&scene.endpoint, Way::Bridge);
        let topics = wait_for("tokens", || {
            let replies = peer.session.liveliness().get("@/*/@ros2_lv/*/*/*/*").wait().unwrap();
            let all: BTreeMap<_, _> = replies
                .iter()
                .filter_map(|r| {
                    let token = r.result().ok()?.key_expr().to_string();
                    let words: Vec<&str> = token.split('/').skip(3).collect();
                    let [word, topic, kind, qos] = words[..] else { panic!("{token}") };
                    let name = format!("/{}", topic.replace('§', "/"));
                    let kind = kind.replace('§', "/");
                    Some((name, (kind, word.to_string(), qos.starts_with(":1:1:"))))
                })
                .collect();
            (all.len() >= 23).then_some(all)
        });
        let joints = observer.model.joints.iter().map(|j| j.name.clone()).collect();
        Self { topics, joints }
    }

    fn check(&self, topic: &str, word: &str, kind: &str) -> bool {
        let found = self.topics.get(topic).unwrap_or_else(|| panic!("no topic {topic}"));
        assert_eq!((found.0.as_str(), found.1.as_str()), (kind, word), "{topic}");
        found.2
    }
}

#[test]
fn what_is_shipped_for_ros_fits_the_daemon() {
    let _one = serial();
    let declared = Declared::of_a_daemon();
    rviz(&declared);
    plotjuggler(&declared);
    ros2_control(&declared);
    controllers(&declared);
}

fn rviz(declared: &Declared) {
    let file: Value = serde_yaml::from_str(&shipped("quadruped.rviz")).unwrap();
    let manager = &file["Visualization Manager"];
    assert_eq!(manager["Global Options"]["Fixed Frame"], "odom");
    let mut shown = Vec::new();
    for display in manager["Displays"].as_sequence().unwrap() {
        let class = display["Class"].as_str().unwrap();
        let (key, kind) = match class {
            "rviz_default_plugins/RobotModel" => ("Description Topic", "std_msgs/msg/String"),
            "rviz_default_plugins/Odometry" => ("Topic", "nav_msgs/msg/Odometry"),
            "rviz_default_plugins/Wrench" => ("Topic", "geometry_msgs/msg/WrenchStamped"),
            "rviz_default_plugins/Grid" | "rviz_default_plugins/TF" => continue,
            other => panic!("what does {other} show?"),
        };
        let topic = display[key]["Value"].as_str().unwrap();
        let latched = declared.check(topic, "MP", kind);
        let durability = if latched { "Transient Local" } else { "Volatile" };
        assert_eq!(display[key]["Durability Policy"], durability, "{topic}");
        shown.push(topic);
    }
    let wrenches = |t: &&String| t.ends_with("/wrench");
    for topic in declared.topics.keys().filter(wrenches) {
        assert!(shown.contains(&topic.as_str()), "{topic} is not shown");
    }
    let urdf = std::fs::read_to_string(repository("config/robots/quadruped.urdf")).unwrap();
    let frame = manager["Views"]["Current"]["Target Frame"].as_str().unwrap();
    assert!(urdf.contains(&format!("<link name=\"{frame}\">")), "{frame}");
}

/// True if a message of the type `kind` has a number at `path`.
fn has_number(kind: &str, path: &[&str]) -> bool {
    let (_, _, definition) = catalogue().into_iter().find(|(name, ..)| *name == kind).unwrap();
    let rule = format!("{}\nMSG: ", "=".repeat(80));
    let mut parts = definition.split(&rule);
    let mut fields = parts.next().unwrap();
    let others: BTreeMap<&str, &str> = parts.map(|p| p.split_once('\n').unwrap()).collect();
    for (i, step) in path.iter().enumerate() {
        let Some(line) = fields.lines().find(|l| l.split(' ').nth(1) == Some(step)) else {
            return false;
        };
        let t = line.split(' ').next().unwrap();
        match others.get(t) {
            Some(inner) => fields = inner,
            None => return t == "float64" && i + 1 == path.len(),
        }
    }
    false
}

fn plotjuggler(declared: &Declared) {
    let text = shipped("plotjuggler.xml");
    let document = roxmltree::Document::parse(&text).unwrap();
    let all = |name: &'static str| document.descendants().filter(move |n| n.has_tag_name(name));
    let selected = all("selected_topics").next().unwrap().attribute("value").unwrap();
    let selected: Vec<&str> = selected.split(';').collect();
    let mut used = Vec::new();
    for curve in all("curve").map(|n| n.attribute("name").unwrap()) {
        let topic = selected.iter().find(|t| curve.starts_with(&format!("{t}/")));
        let topic = *topic.unwrap_or_else(|| panic!("{curve}: no such topic is selected"));
        let kind = declared.topics[topic].0.as_str();
        declared.check(topic, "MP", kind);
        let path: Vec<&str> = curve[topic.len() + 1..].split('/').collect();
        // PlotJuggler sorts what a joint state says by joints
        if kind == "sensor_msgs/msg/JointState" {
            let known = ["position", "velocity", "effort"].contains(&path[1]);
            assert!(known && declared.joints.iter().any(|j| j == path[0]), "{curve}");
        } else {
            assert!(has_number(kind, &path), "{curve}");
        }
        used.push(topic);
    }
    assert!(selected.iter().all(|topic| used.contains(topic)), "{selected:?}, {used:?}");
    assert!(used.len() >= 3 * declared.joints.len() + 4 * 3, "{}", used.len());
    for splitter in all("DockSplitter") {
        let count = splitter.children().filter(roxmltree::Node::is_element).count();
        assert_eq!(splitter.attribute("count"), Some(count.to_string().as_str()));
        assert_eq!(splitter.attribute("sizes").unwrap().split(';').count(), count);
    }
}

fn ros2_control(declared: &Declared) {
    let text = shipped("ros2_control.xml");
    let document = roxmltree::Document::parse(&text).unwrap();
    let root = document.root_element();
    let param = |name: &str| {
        let found = root.descendants().find(|n| n.attribute("name") == Some(name));
        found.and_then(|n| n.text()).unwrap_or_else(|| panic!("no {name}"))
    };
    let kind = "sensor_msgs/msg/JointState";
    declared.check(param("joint_commands_topic"), "MS", kind);
    declared.check(param("joint_states_topic"), "MP", kind);
    assert!(param("trigger_joint_command_threshold").parse::<f64>().unwrap() < 0.0);
    let joints = root.children().filter(|n| n.has_tag_name("joint"));
    let joints: Vec<&str> = joints.map(|n| n.attribute("name").unwrap()).collect();
    assert_eq!(joints, declared.joints);
    // in its place, the robot is the same
    let urdf = std::fs::read_to_string(repository("config/robots/quadruped.urdf")).unwrap();
    let (begin, rest) = urdf.split_once("<ros2_control").unwrap();
    let (_, end) = rest.split_once("</ros2_control>").unwrap();
    let fragment = &text[text.find("<ros2_control name").unwrap()..];
    let model = |text: &str| parse_urdf(text, "quadruped.urdf", BaseChoice::Auto).unwrap();
    let (ours, theirs) = (model(&urdf), model(&format!("{begin}{fragment}{end}")));
    assert_eq!(format!("{:?}", ours.model), format!("{:?}", theirs.model));
    assert_eq!(ours.warnings.len(), theirs.warnings.len(), "{:?}", theirs.warnings);
}

fn controllers(declared: &Declared) {
    let file: Value = serde_yaml::from_str(&shipped("controllers.yaml")).unwrap();
    let manager = &file["controller_manager"]["ros__parameters"];
    assert_eq!(1000 % manager["update_rate"].as_u64().unwrap(), 0);
    let mut count = 0;
    for (name, value) in manager.as_mapping().unwrap() {
        let Some(kind) = value.get("type") else { continue };
        let name = name.as_str().unwrap();
        let parameters = &file[name]["ros__parameters"];
        let joints = parameters["joints"].as_sequence().unwrap();
        let joints: Vec<&str> = joints.iter().map(|j| j.as_str().unwrap()).collect();
        assert_eq!(joints, declared.joints, "{name}");
        // who says something to it must not say it to the daemon, too
        let topic = match kind.as_str().unwrap() {
            "forward_command_controller/ForwardCommandController" => "commands",
            "joint_trajectory_controller/JointTrajectoryController" => "joint_trajectory",
            other => panic!("{other}"),
        };
        assert!(!declared.topics.contains_key(&format!("/{name}/{topic}")), "{name}");
        count += 1;
    }
    assert_eq!(count, 2);
}

/// zenoh takes it, it connects to where the daemon listens, and lets in nobody.
#[test]
fn the_bridge_s_configuration_connects_to_the_daemon() {
    let config = zenoh::Config::from_file(repository("config/ros2/bridge.json5")).unwrap();
    let of = |key: &str| config.get_json(key).unwrap();
    let text = std::fs::read_to_string(repository("config/quadruped.toml")).unwrap();
    let urdf = std::fs::read_to_string(repository("config/robots/quadruped.urdf")).unwrap();
    let scenario = hardstand::config::Scenario::from_texts(&text, &urdf, &[]).unwrap();
    let listen = serde_json::to_string(&scenario.bus.listen).unwrap();
    assert_eq!((of("connect/endpoints"), of("listen/endpoints")), (listen, "[]".into()));
    assert_eq!(
        (of("mode"), of("scouting/multicast/enabled")),
        ("\"router\"".into(), "false".into())
    );
}
