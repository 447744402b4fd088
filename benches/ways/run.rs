//! A daemon, and a controller of one way.

use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use hardstand_client::Client;
use hardstand_protocol::{JointCommand, StatusReading};
use rustix::process::{Pid, Signal, kill_process};

use super::motors::{self, Master, Wire};
use super::native::Zenoh;
use super::packets::{Memory, Udp};
use super::ros2::RmwZenoh;
use super::{PATIENCE, lcm, mark};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Zenoh,
    ZenohTcp,
    Udp,
    SharedMemory,
    RmwZenoh,
    #[cfg(feature = "dds")]
    Dds,
    #[cfg(feature = "dds")]
    Unitree,
    Lcm,
    Fdcanusb,
    Slcan,
}

/// A controller that holds the robot.
pub trait Exchange {
    /// Waits for a state and answers it.
    fn exchange(&mut self);
}

/// A daemon and its controller.
pub struct Run {
    pub controller: Box<dyn Exchange>,
    client: Client,
    daemon: Child,
    places: Places,
    hold: Vec<JointCommand>,
}

/// Where daemon and controller meet.
struct Places {
    dir: PathBuf,
    socket: String,
    tcp: String,
    udp: String,
    group: SocketAddrV4,
    memory: PathBuf,
    log: PathBuf,
    buses: [PathBuf; 2],
}

impl Places {
    fn new() -> Self {
        let in_memory = Path::new("/dev/shm");
        let base = if in_memory.is_dir() { in_memory.into() } else { std::env::temp_dir() };
        let dir = base.join(format!("hardstand-ways-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let free = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        Self {
            socket: format!("unixsock-stream/{}", dir.join("z.sock").display()),
            tcp: format!("tcp/{tcp}"),
            udp: free.to_string(),
            group: SocketAddrV4::new(Ipv4Addr::new(239, 255, 76, 68), free.port()),
            memory: dir.join("robot"),
            log: dir.join("run.mcap"),
            buses: motors::BUSES.map(|name| dir.join(name)),
            dir,
        }
    }

    /// Keys of the scenario. States come every tick, where a robot's program would send fewer.
    fn settings(&self, way: Way) -> Vec<String> {
        let ros2 = |mode: &str| format!("ros2.mode=\"{mode}\"");
        let mut all = vec![format!("bus.listen=[{:?}, {:?}]", self.socket, self.tcp)];
        match way {
            Way::Zenoh | Way::ZenohTcp => {}
            Way::Udp => all.push(format!("udp.listen={}", self.udp)),
            Way::SharedMemory => {
                all.push(format!("shared_memory.path={}", self.memory.display()));
            }
            Way::RmwZenoh => {
                all.extend([ros2("rmw_zenoh"), "ros2.rates_hz.joint_states=1000".into()]);
                return all;
            }
            #[cfg(feature = "dds")]
            Way::Dds | Way::Unitree => {
                all.extend([ros2("dds"), format!("ros2.domain={}", super::dds::domain())]);
                all.push(if way == Way::Dds {
                    "ros2.rates_hz.joint_states=1000".into()
                } else {
                    "unitree.rate_hz=1000".into()
                });
                all.extend((way == Way::Unitree).then(|| "unitree.enabled=true".into()));
                return all;
            }
            Way::Lcm => {
                all.extend([format!("lcm.group={}", self.group), "lcm.rate_hz=1000".into()]);
            }
            Way::Fdcanusb => all.extend(motors::settings(Wire::Fdcanusb, &self.buses)),
            Way::Slcan => all.extend(motors::settings(Wire::Slcan, &self.buses)),
        }
        all.push(ros2("off"));
        all
    }
}

impl Run {
    /// With `--log` among the arguments the run is recorded.
    pub fn start(way: Way, more: &[&str]) -> Self {
        let places = Places::new();
        let scenario = format!("{}/config/quadruped.toml", env!("CARGO_MANIFEST_DIR"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_hardstand"));
        command.args(["run", &scenario]).args(more).stdout(Stdio::null());
        if more.contains(&"--log") {
            command.arg(&places.log);
        }
        places.settings(way).iter().for_each(|set| _ = command.args(["--set", set]));
        let daemon = command.spawn().unwrap();
        let client = Client::connect(&places.socket, "quadruped").unwrap();
        let model = client.model(PATIENCE).unwrap();
        let master = |wire| Master::of(wire, &places.buses, &places.socket, &model);
        let controller: Box<dyn Exchange> = match way {
            Way::Zenoh => Box::new(Zenoh::of(&places.socket, &model)),
            Way::ZenohTcp => Box::new(Zenoh::of(&places.tcp, &model)),
            Way::Udp => Box::new(Udp::of(&places.udp, &model)),
            Way::SharedMemory => Box::new(Memory::of(&places.memory, &model)),
            Way::RmwZenoh => Box::new(RmwZenoh::of(&places.socket, &model)),
            #[cfg(feature = "dds")]
            Way::Dds => Box::new(super::dds::Dds::of(&model)),
            #[cfg(feature = "dds")]
            Way::Unitree => Box::new(super::dds::Unitree::of(&model)),
            Way::Lcm => Box::new(lcm::Lcm::of(places.group, &model)),
            Way::Fdcanusb => Box::new(master(Wire::Fdcanusb)),
            Way::Slcan => Box::new(master(Wire::Slcan)),
        };
        Self { controller, client, daemon, places, hold: model.hold() }
    }

    /// The status is made once a second.
    pub fn late_status(&self) -> StatusReading {
        std::thread::sleep(std::time::Duration::from_millis(1200));
        self.client.status(PATIENCE).unwrap()
    }

    /// Ends the run. The sorted ages of the set-points that were in force.
    pub fn ages(mut self) -> Vec<u64> {
        let pid = Pid::from_raw(self.daemon.id() as i32).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
        self.daemon.wait().unwrap();
        mark::ages(&self.places.log, &self.hold)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _gone = self.daemon.kill().is_ok();
        let _buried = self.daemon.wait().is_ok();
        let _left_over = std::fs::remove_dir_all(&self.places.dir).is_ok();
    }
}

/// Where a joint of the model has its motor: legs FR, FL, RR, RL, each with hip, thigh, calf.
pub fn unitrees_place(joint: &str) -> usize {
    let leg = ["FR", "FL", "RR", "RL"].iter().position(|leg| joint.starts_with(leg));
    let part = ["hip", "thigh", "calf"].iter().position(|part| joint.contains(part));
    3 * leg.unwrap() + part.unwrap()
}
