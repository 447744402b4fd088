//! A stage for nodes of DDS: the real bridge, the daemon, and nodes that know only ROS's messages.
//! `tests/ros2/bridge/run` builds what it needs.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::process::{Process, Scene, repository, wait_for};

/// DDS on the loopback alone, without multicast.
const LOOPBACK: &str = "<CycloneDDS><Domain id=\"any\"><General><Interfaces>\
    <NetworkInterface name=\"lo\"/></Interfaces><AllowMulticast>false</AllowMulticast></General>\
    <Discovery><ParticipantIndex>auto</ParticipantIndex>\
    <MaxAutoParticipantIndex>32</MaxAutoParticipantIndex>\
    <Peers><Peer address=\"localhost\"/></Peers></Discovery></Domain></CycloneDDS>";

/// Where `tests/ros2/bridge/run` has put the programs.
fn built(name: &str) -> PathBuf {
    let folder = std::env::var("HARDSTAND_ROS2_BRIDGE")
        .expect("HARDSTAND_ROS2_BRIDGE: tests/ros2/bridge/run sets it");
    Path::new(&repository(&folder)).join(name)
}

/// A daemon's place, and a domain of DDS of its own.
pub struct Stage {
    pub scene: Scene,
    domain: u32,
}

impl Stage {
    pub fn new() -> Self {
        // domains whose ports are below those that the system gives away
        let domain = 1 + std::process::id() % 99;
        Self { scene: Scene::tcp(), domain }
    }

    pub fn daemon(&self, sets: &[&str]) -> Process {
        let all = ["ros2.mode=bridge"].iter().chain(sets).flat_map(|set| ["--set", set]);
        self.scene.daemon(&all.collect::<Vec<_>>())
    }

    /// The bridge with the configuration that users are given.
    pub fn bridge(&self) -> Process {
        let text = std::fs::read_to_string(repository("config/ros2/bridge.json5")).unwrap();
        let changed = text.replace("tcp/127.0.0.1:7447", &self.scene.endpoint);
        assert_ne!(changed, text);
        self.bridge_with(&changed)
    }

    pub fn bridge_with(&self, config: &str) -> Process {
        let file = self.scene.path("bridge.json5");
        std::fs::write(&file, config).unwrap();
        let mut command = Command::new(built("debug/ros2-bridge"));
        command.arg(&file);
        self.start("bridge", command)
    }

    /// A node of CycloneDDS; `words` are those of tests/ros2/bridge/node.py.
    pub fn node(&self, name: &str, words: &[&str]) -> Process {
        let mut command = Command::new(built("venv/bin/python"));
        command.arg(repository("tests/ros2/bridge/node.py")).arg(name).args(words);
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        self.start(name, command)
    }

    /// A node of RustDDS that holds the robot where it finds it.
    pub fn rust_node(&self, seconds: u32) -> Process {
        let mut command = Command::new(built("debug/dds_node"));
        command.arg(seconds.to_string());
        self.start("rust_node", command)
    }

    fn start(&self, name: &str, mut command: Command) -> Process {
        command.env("ROS_DOMAIN_ID", self.domain.to_string());
        command.env("ROS_DISTRO", "jazzy").env("CYCLONEDDS_URI", LOOPBACK);
        Process::start(self.scene.dir.path(), name, command)
    }
}

/// What a node has told, a value a line.
pub fn lines(node: &Process) -> Vec<Value> {
    let out = node.out();
    // the last line may not be whole yet
    let whole = out.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole.lines().map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{e}: {l}"))).collect()
}

/// The messages of a topic that a node has told.
pub fn heard(node: &Process, topic: &str) -> Vec<Value> {
    let of_topic = |v: Value| (v["topic"] == topic).then(|| v["message"].clone());
    lines(node).into_iter().filter_map(of_topic).collect()
}

/// The messages of a topic once there are `count` of them.
pub fn wait_heard(node: &Process, topic: &str, count: usize) -> Vec<Value> {
    wait_for(&format!("{count} of {topic}: {}", node.err()), || {
        let all = heard(node, topic);
        (all.len() >= count).then_some(all)
    })
}

/// What a node has told under `key`, last.
pub fn last(node: &Process, key: &str) -> Option<Value> {
    lines(node).iter().rev().find_map(|v| v.get(key).cloned())
}

/// ns of a stamp.
pub fn ns(stamp: &Value) -> i64 {
    stamp["sec"].as_i64().unwrap() * 1_000_000_000 + stamp["nanosec"].as_i64().unwrap()
}

/// A number.
pub fn number(v: &Value) -> f64 {
    v.as_f64().unwrap_or_else(|| panic!("{v} is no number"))
}

/// The length of a vector.
pub fn length(v: &Value) -> f64 {
    ["x", "y", "z"].map(|axis| number(&v[axis])).iter().map(|a| a * a).sum::<f64>().sqrt()
}

/// A list of texts.
pub fn texts(v: &Value) -> Vec<&str> {
    v.as_array().unwrap().iter().map(|t| t.as_str().unwrap()).collect()
}
