//! Nodes that hold the robot where they find it, and print what they saw, a `name value` a line.
//!
//!   ros2-peers hiroz ENDPOINT SECONDS          also lists the graph, hears /clock and the
//!   description ros2-peers ros2-client SECONDS             its session is set up by
//!   ZENOH_CONFIG_OVERRIDE

use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        #[cfg(feature = "hiroz")]
        ["hiroz", endpoint, seconds] => by_hiroz::run(endpoint, seconds.parse()?),
        #[cfg(feature = "ros2-client")]
        ["ros2-client", seconds] => by_ros2_client::run(seconds.parse()?),
        other => Err(format!("what is {other:?}?").into()),
    }
}

/// What a node has seen.
#[derive(Default)]
struct Seen {
    states: u64,
    first_ns: i64,
    last_ns: i64,
    joints: usize,
    position: Vec<f64>,
}

impl Seen {
    /// Takes in a joint state; the answer is what to hold.
    fn state(&mut self, stamp: (i32, u32), names: &[String], position: &[f64]) -> Vec<f64> {
        let ns = i64::from(stamp.0) * 1_000_000_000 + i64::from(stamp.1);
        if self.states == 0 {
            (self.first_ns, self.position) = (ns, position.to_vec());
        }
        self.states += 1;
        (self.last_ns, self.joints) = (ns, names.len());
        self.position.clone()
    }

    fn tell(&self) {
        println!("joint_states {}", self.states);
        println!("joints {}", self.joints);
        println!("simulated_ms {}", (self.last_ns - self.first_ns) / 1_000_000);
    }
}

#[cfg(feature = "hiroz")]
mod by_hiroz {
    use super::{Duration, Instant, Seen};
    use hiroz::Builder;
    use hiroz::context::ZContextBuilder;
    use hiroz_msgs::{rosgraph_msgs, sensor_msgs, std_msgs};

    #[tokio::main(flavor = "multi_thread", worker_threads = 1)]
    pub(super) async fn run(endpoint: &str, seconds: u64) -> hiroz::Result<()> {
        let mut config = zenoh::Config::default();
        config.insert_json5("mode", "\"peer\"")?;
        config.insert_json5("listen/endpoints", "[\"tcp/127.0.0.1:0\"]")?;
        config.insert_json5("scouting/multicast/enabled", "false")?;
        config.insert_json5("connect/endpoints", &format!("[{endpoint:?}]"))?;
        let context =
            ZContextBuilder::default().with_zenoh_config(config).with_domain_id(0).build()?;
        let node = context.create_node("hiroz_controller").build()?;
        let states = node.create_sub::<sensor_msgs::JointState>("/joint_states").build()?;
        let clock = node.create_sub::<rosgraph_msgs::Clock>("/clock").build()?;
        let topic = "/forward_position_controller/commands";
        let commands = node.create_pub::<std_msgs::Float64MultiArray>(topic).build()?;
        let (begin, mut seen, mut clocks) = (Instant::now(), Seen::default(), 0_u64);
        while begin.elapsed() < Duration::from_secs(seconds) {
            while clock.recv_timeout(Duration::ZERO).is_ok() {
                clocks += 1;
            }
            let Ok(m) = states.recv_timeout(Duration::from_millis(100)) else { continue };
            let stamp = (m.header.stamp.sec, m.header.stamp.nanosec);
            let held = seen.state(stamp, &m.name, &m.position);
            commands.publish(&std_msgs::Float64MultiArray {
                data: held.into(),
                ..Default::default()
            })?;
        }
        seen.tell();
        println!("clocks {clocks}");
        let mut topics = context.graph().get_topic_names_and_types();
        topics.sort();
        for (name, kind) in topics {
            println!("topic {name} {kind}");
        }
        println!("nodes {:?}", context.graph().get_node_names());
        Ok(())
    }
}

#[cfg(feature = "ros2-client")]
mod by_ros2_client {
    use super::{Duration, Instant, Seen};
    use ros2_client::{Context, Message, MessageTypeName, Name, NodeName, NodeOptions, QosProfile};
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize, Clone, Default)]
    struct Time {
        sec: i32,
        nanosec: u32,
    }

    #[derive(Serialize, Deserialize, Clone, Default)]
    struct Header {
        stamp: Time,
        frame_id: String,
    }

    #[derive(Serialize, Deserialize, Clone, Default)]
    struct JointState {
        header: Header,
        name: Vec<String>,
        position: Vec<f64>,
        velocity: Vec<f64>,
        effort: Vec<f64>,
    }

    #[derive(Serialize, Deserialize, Clone, Default)]
    struct Layout {
        dim: Vec<(String, u32, u32)>,
        data_offset: u32,
    }

    #[derive(Serialize, Deserialize, Clone, Default)]
    struct Float64MultiArray {
        layout: Layout,
        data: Vec<f64>,
    }

    impl Message for JointState {}
    impl Message for Float64MultiArray {}

    pub(super) fn run(seconds: u64) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let failed = |e: &dyn std::fmt::Debug| format!("{e:?}");
        let context = Context::new().map_err(|e| failed(&e))?;
        let name = NodeName::new("/", "r2c_controller").map_err(|e| failed(&e))?;
        let node = context.new_node(name, NodeOptions::new()).map_err(|e| failed(&e))?;
        let states = node.create_topic(
            &Name::new("/", "joint_states").map_err(|e| failed(&e))?,
            MessageTypeName::new("sensor_msgs", "JointState"),
            &QosProfile::subscription_default(),
        );
        let commands = node.create_topic(
            &Name::new("/forward_position_controller", "commands").map_err(|e| failed(&e))?,
            MessageTypeName::new("std_msgs", "Float64MultiArray"),
            &QosProfile::publisher_default(),
        );
        let states =
            node.create_subscription::<JointState>(&states, None).map_err(|e| failed(&e))?;
        let commands =
            node.create_publisher::<Float64MultiArray>(&commands, None).map_err(|e| failed(&e))?;
        let (begin, mut seen) = (Instant::now(), Seen::default());
        while begin.elapsed() < Duration::from_secs(seconds) {
            while let Ok(Some((m, _))) = states.try_take() {
                let stamp = (m.header.stamp.sec, m.header.stamp.nanosec);
                let data = seen.state(stamp, &m.name, &m.position);
                let _sent = commands.publish(Float64MultiArray { data, ..Default::default() });
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        seen.tell();
        Ok(())
    }
}
