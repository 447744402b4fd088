//! A node without ROS: zenoh, and CDR by `cdr-encoding` and the index's types.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use byteorder::LittleEndian;
use ros2_interfaces_jazzy_serde as index;
use serde::{Deserialize, Serialize};
use zenoh::handlers::FifoChannelHandler;
use zenoh::pubsub::Subscriber;
use zenoh::qos::CongestionControl;
use zenoh::sample::Sample;
use zenoh::{Config, Session, Wait};

use crate::common::process::{PATIENCE, wait_for};

/// `control_msgs` is not in the index's crate.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DynamicJointState {
    pub header: index::std_msgs::msg::Header,
    pub joint_names: Vec<String>,
    pub interface_values: Vec<InterfaceValue>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct InterfaceValue {
    pub interface_names: Vec<String>,
    pub values: Vec<f64>,
}

/// A type by which a node knows a topic.
pub struct Type {
    pub dds: &'static str,
    pub hash: &'static str,
}

macro_rules! types {
    ($($name:ident, $dds:literal, $hash:literal;)*) => {
        $(pub const $name: Type = Type { dds: $dds, hash: concat!("RIHS01_", $hash) };)*
    };
}

// from wire experiments with hiroz and rosbags, not from the code under test
types! {
    CLOCK, "rosgraph_msgs::msg::dds_::Clock_",
        "692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564";
    JOINT_STATE, "sensor_msgs::msg::dds_::JointState_",
        "a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f11c5882bc9179260e";
    IMU, "sensor_msgs::msg::dds_::Imu_",
        "7d9a00ff131080897a5ec7e26e315954b8eae3353c3f995c55faf71574000b5b";
    WRENCH, "geometry_msgs::msg::dds_::WrenchStamped_",
        "8dc3deaf06b2ab281f9f9a742a8961c328ca7cec16e3fd6586d3a5c83fa78f77";
    CONTACTS, "ros_gz_interfaces::msg::dds_::Contacts_",
        "2cf36dd51e105580839fb7d6c028846a6342a8dfd62fde733d05f3e0c9ec4b5b";
    BOOL, "std_msgs::msg::dds_::Bool_",
        "feb91e995ff9ebd09c0cb3d2aed18b11077585839fb5db80193b62d74528f6c9";
    ODOMETRY, "nav_msgs::msg::dds_::Odometry_",
        "3cc97dc7fb7502f8714462c526d369e35b603cfc34d946e3f2eda2766dfec6e0";
    TWIST, "geometry_msgs::msg::dds_::Twist_",
        "9c45bf16fe0983d80e3cfe750d6835843d265a9a6c46bd2e609fcddde6fb8d2a";
    TF, "tf2_msgs::msg::dds_::TFMessage_",
        "e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087";
    STRING, "std_msgs::msg::dds_::String_",
        "df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";
    DIAGNOSTICS, "diagnostic_msgs::msg::dds_::DiagnosticArray_",
        "5a8a36efb05fb25070fa0fb3810290c0e6cd4862b54a8fb975a1ee8dc55a333e";
    DYNAMIC, "control_msgs::msg::dds_::DynamicJointState_",
        "18024c98a62697680f581108eeed40b28fb4542fa0ac5a8e36f56c62b6813d26";
    ARRAY, "std_msgs::msg::dds_::Float64MultiArray_",
        "1025ddc6b9552d191f89ef1a8d2f60f3d373e28b283d8891ddcc974e8c55397f";
    TRAJECTORY, "trajectory_msgs::msg::dds_::JointTrajectory_",
        "179b33eba59d676f6d967ac71fe35e7ca2f64b2f3928f4a018cec115e213796e";
}

/// Which of the two ways a peer speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    RmwZenoh,
    Bridge,
}

pub struct Peer {
    pub session: Session,
    pub way: Way,
    sequence: AtomicU64,
}

impl Peer {
    /// As a node of `rmw_zenoh` opens its session: a peer that looks for a router.
    pub fn connect(endpoint: &str, way: Way) -> Self {
        Self::open(endpoint, way, &[])
    }

    /// Likewise, with other settings besides.
    pub fn open(endpoint: &str, way: Way, more: &[(&'static str, &str)]) -> Self {
        let mut config = Config::default();
        for (key, value) in [
            ("mode", "\"peer\"".to_string()),
            ("connect/endpoints", format!("[{endpoint:?}]")),
            ("connect/timeout_ms", "-1".into()),
            ("connect/exit_on_failure", "false".into()),
            ("connect/retry", "{ period_init_ms: 50, period_max_ms: 200 }".into()),
            ("listen/endpoints", "[]".into()),
            ("scouting/multicast/enabled", "false".into()),
            ("timestamping/enabled", "true".into()),
        ] {
            config.insert_json5(key, &value).unwrap();
        }
        for (key, value) in more {
            config.insert_json5(key, value).unwrap();
        }
        let session = zenoh::open(config).wait().unwrap();
        Self { session, way, sequence: AtomicU64::new(0) }
    }

    /// Sends as fast as the link takes it, in the name of so many publishers, until the `end`. How
    /// many messages.
    pub fn flood(
        &self,
        topic: &str,
        t: &Type,
        bytes: &[u8],
        publishers: u8,
        end: &AtomicBool,
    ) -> u64 {
        let publisher = self.session.declare_publisher(self.key(topic, t, t.hash));
        let publisher = publisher.congestion_control(CongestionControl::Block).wait().unwrap();
        let (mut attachment, mut sent) = ([0_u8; 33], 0_u64);
        attachment[16] = 16;
        while !end.load(Ordering::Relaxed) {
            for id in 0..publishers {
                attachment[..8].copy_from_slice(&sent.to_le_bytes());
                attachment[17..].fill(id + 1);
                publisher.put(bytes).attachment(&attachment[..]).wait().unwrap();
                sent += 1;
            }
        }
        sent
    }

    /// Leaves out so many numbers.
    pub fn skip(&self, numbers: u64) {
        self.sequence.fetch_add(numbers, Ordering::Relaxed);
    }

    fn key(&self, topic: &str, t: &Type, hash: &str) -> String {
        match self.way {
            Way::RmwZenoh => format!("0/{topic}/{}/{hash}", t.dds),
            Way::Bridge => topic.into(),
        }
    }

    /// Subscribes with the exact hash, as `rmw_zenoh_cpp` does.
    pub fn subscribe(&self, topic: &str, t: &Type) -> Subscriber<FifoChannelHandler<Sample>> {
        let key = self.key(topic, t, t.hash);
        self.session
            .declare_subscriber(key)
            .with(zenoh::handlers::FifoChannel::new(65_536))
            .wait()
            .unwrap()
    }

    /// Publishes as a node would that knows no hash.
    pub fn publish<T: Serialize>(&self, topic: &str, t: &Type, message: &T) {
        self.put(topic, t, &bytes(message));
    }

    pub fn put(&self, topic: &str, t: &Type, bytes: &[u8]) {
        let no_hash = "RIHS01_0000000000000000000000000000000000000000000000000000000000000000";
        let key = self.key(topic, t, no_hash);
        let put = self.session.put(key, bytes);
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed) + 1;
        let mut attachment = [0_u8; 33];
        attachment[..8].copy_from_slice(&sequence.to_le_bytes());
        attachment[16] = 16;
        attachment[17..].copy_from_slice(&gid(topic));
        match self.way {
            Way::RmwZenoh => put.attachment(&attachment[..]).wait().unwrap(),
            Way::Bridge => put.wait().unwrap(),
        }
    }

    /// The first message of a topic.
    pub fn first<T: for<'a> Deserialize<'a>>(&self, topic: &str, t: &Type) -> T {
        let subscriber = self.subscribe(topic, t);
        wait_for(topic, || next(&subscriber))
    }
}

/// One publisher per topic.
fn gid(topic: &str) -> [u8; 16] {
    let mut gid = [7; 16];
    gid.iter_mut().zip(topic.bytes()).for_each(|(g, b)| *g = b);
    gid
}

pub fn bytes<T: Serialize>(message: &T) -> Vec<u8> {
    let body = cdr_encoding::to_vec::<T, LittleEndian>(message).unwrap();
    [0, 1, 0, 0].into_iter().chain(body).collect()
}

pub fn decode<T: for<'a> Deserialize<'a>>(sample: &Sample) -> T {
    let bytes = sample.payload().to_bytes();
    assert_eq!(bytes[..4], [0, 1, 0, 0], "the header of little-endian CDR");
    cdr_encoding::from_bytes::<T, LittleEndian>(&bytes[4..]).unwrap().0
}

/// The next message within a moment.
pub fn next<T: for<'a> Deserialize<'a>>(
    subscriber: &Subscriber<FifoChannelHandler<Sample>>,
) -> Option<T> {
    subscriber.recv_timeout(Duration::from_millis(200)).unwrap().map(|s| decode(&s))
}

/// The newest message; the ones before are dropped.
pub fn newest<T: for<'a> Deserialize<'a>>(
    subscriber: &Subscriber<FifoChannelHandler<Sample>>,
) -> T {
    let begin = Instant::now();
    let mut last = None;
    loop {
        while let Ok(Some(sample)) = subscriber.try_recv() {
            last = Some(sample);
        }
        if let Some(sample) = last {
            return decode(&sample);
        }
        assert!(begin.elapsed() < PATIENCE, "{}: nothing came", subscriber.key_expr());
        std::thread::sleep(Duration::from_millis(2));
    }
}
