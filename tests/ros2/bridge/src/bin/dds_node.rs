//! A node of ros2-client on RustDDS that holds the robot where it finds it, and prints what it saw,
//! a `name value` a line.
//!
//!   dds_node SECONDS          the domain is in ROS_DOMAIN_ID, the network is the loopback

use std::error::Error;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use ros2_client::{Context, Message, MessageTypeName, Name, NodeName, NodeOptions, QosProfile};
use rustdds::DomainParticipantBuilder;
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

fn main() -> Result<(), Box<dyn Error>> {
    let seconds = std::env::args().nth(1).ok_or("usage: dds_node SECONDS")?.parse()?;
    let domain = std::env::var("ROS_DOMAIN_ID").map_or(Ok(0), |d| d.parse())?;
    let participant = DomainParticipantBuilder::new(domain)
        .with_only_networks([Ipv4Addr::LOCALHOST])
        .build()
        .map_err(|e| format!("{e:?}"))?;
    let context = Context::from_domain_participant(participant).map_err(|e| format!("{e:?}"))?;
    let name = NodeName::new("/", "rustdds_controller")?;
    let mut node = context.new_node(name, NodeOptions::new()).map_err(|e| format!("{e:?}"))?;
    let states = node.create_topic(
        &Name::new("/", "joint_states")?,
        MessageTypeName::new("sensor_msgs", "JointState"),
        &QosProfile::subscription_default(),
    )?;
    let commands = node.create_topic(
        &Name::new("/forward_position_controller", "commands")?,
        MessageTypeName::new("std_msgs", "Float64MultiArray"),
        &QosProfile::publisher_default(),
    )?;
    let states = node.create_subscription::<JointState>(&states, None)?;
    let commands = node.create_publisher::<Float64MultiArray>(&commands, None)?;
    let (mut begin, mut count) = (Instant::now(), 0_u64);
    let (mut first, mut last): (Option<JointState>, JointState) = Default::default();
    // its time counts from the first state on
    while first.is_none() || begin.elapsed() < Duration::from_secs(seconds) {
        while let Ok(Some((state, _))) = states.take() {
            if first.is_none() {
                begin = Instant::now();
            }
            count += 1;
            let data = first.get_or_insert_with(|| state.clone()).position.clone();
            last = state;
            let _sent = commands.publish(Float64MultiArray { data, ..Default::default() });
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let ms = |m: &JointState| i64::from(m.header.stamp.sec) * 1000 + i64::from(m.header.stamp.nanosec) / 1_000_000;
    println!("joint_states {count}");
    println!("joints {}", last.name.len());
    println!("simulated_ms {}", ms(&last) - first.as_ref().map_or(0, ms));
    Ok(())
}
