//! Faults of the link between the robot and the nodes: what comes late or never, and what nobody
//! but the simulation knows.

use hardstand::ros2::messages::Message;
use hardstand::ros2::unitree::LowState;
use index::rosgraph_msgs::msg::Clock;
use index::sensor_msgs::msg::JointState;
use ros2_interfaces_jazzy_serde as index;
use rustix::process::Signal;
use zenoh::handlers::FifoChannelHandler;
use zenoh::pubsub::Subscriber;
use zenoh::sample::Sample;

use super::peer::{self, Peer, Way, newest};
use super::unitree::LOW_STATE;
use crate::common::process::{Observer, Scene, serial, wait_for};

const DELAY_TICKS: u64 = 100;

/// Ticks of 1 ms.
fn ticks(stamp: &index::builtin_interfaces::msg::Time) -> u64 {
    (stamp.sec as u64 * 1_000_000_000 + u64::from(stamp.nanosec)) / 1_000_000
}

struct Heard {
    clock: Subscriber<FifoChannelHandler<Sample>>,
    truth: Subscriber<FifoChannelHandler<Sample>>,
    joints: Subscriber<FifoChannelHandler<Sample>>,
    motors: Subscriber<FifoChannelHandler<Sample>>,
}

impl Heard {
    fn by(peer: &Peer) -> Self {
        Self {
            clock: peer.subscribe("clock", &peer::CLOCK),
            truth: peer.subscribe("ground_truth/odom", &peer::ODOMETRY),
            joints: peer.subscribe("joint_states", &peer::JOINT_STATE),
            motors: peer.subscribe("lowstate", &LOW_STATE),
        }
    }

    fn clock(&self) -> u64 {
        ticks(&newest::<Clock>(&self.clock).clock)
    }

    /// The newest states of the world, then of the robot.
    fn newest(&self) -> [u64; 4] {
        let truth: index::nav_msgs::msg::Odometry = newest(&self.truth);
        let joints: JointState = newest(&self.joints);
        let motors = wait_for("a state of the motors", || {
            let all = std::iter::from_fn(|| self.motors.try_recv().unwrap());
            all.last().map(|s| LowState::decode(&s.payload().to_bytes()).unwrap())
        });
        let robot = [ticks(&joints.header.stamp), u64::from(motors.tick)];
        [self.clock(), ticks(&truth.header.stamp), robot[0], robot[1]]
    }
}

#[test]
fn nodes_see_the_robot_as_late_as_its_link_lets_them_and_the_world_as_it_is() {
    let _one = serial();
    let scene = Scene::in_memory();
    let event = format!(
        "events=[{{at_s=0.1, kind=\"state_delay\", delay_ticks={DELAY_TICKS}, duration_s=30.0}}]"
    );
    let sets = ["ros2.mode=rmw_zenoh", "unitree.enabled=true", "sim.start=now", &event];
    let more: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    let mut daemon = scene.daemon(&more);
    let observer = Observer::of(&scene);
    let peer = Peer::connect(&scene.endpoint, Way::RmwZenoh);
    let heard = Heard::by(&peer);
    // until then the guard looks for another robot
    heard.newest();
    scene.ctl(&["pause"], 0);
    let shown = observer.until("a pause", |s| s.phase == 3).tick;
    let now = shown + DELAY_TICKS;
    wait_for("the robot is late, in a pause too", || {
        (heard.newest() == [now, now, shown, shown]).then_some(())
    });
    scene.ctl(&["clear"], 0);
    scene.ctl(&["resume"], 0);
    wait_for("what was under way has come", || {
        let [clock, _, joints, motors] = heard.newest();
        (clock > now + 2 * DELAY_TICKS && joints + 10 > clock && motors + 10 > clock).then_some(())
    });
    scene.ctl(&["fault", "state_drop", "--probability", "1"], 0);
    let lost = heard.clock();
    wait_for("time goes on", || (heard.clock() > lost + 100).then_some(()));
    for states in [&heard.joints, &heard.motors] {
        while states.try_recv().unwrap().is_some() {}
    }
    wait_for("time goes on", || (heard.clock() > lost + 400).then_some(()));
    for states in [&heard.joints, &heard.motors] {
        assert!(states.try_recv().unwrap().is_none(), "{}: nothing comes", states.key_expr());
    }
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}
