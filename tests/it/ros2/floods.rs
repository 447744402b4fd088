//! Floods over the keys of ROS 2.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use index::std_msgs::msg::Float64MultiArray;
use ros2_interfaces_jazzy_serde as index;
use rustix::process::Signal;

use super::peer::{self, Peer, Way};
use crate::common::process::{Log, Observer, Scene, serial};
use crate::daemon::attacks::kept;

/// ADM-1 over ROS keys: a flood of commands from so many publishers costs the owner at most one
/// command in 50, and never the robot.
fn flooded(publishers: u8, links: usize) {
    let _one = serial();
    let scene = Scene::new();
    // the flood takes the controller's cores too
    let mut daemon = scene.daemon(&["--set", "command.hold_ticks=500"]);
    let observer = Observer::of(&scene);
    let _controller = scene.controller("controller");
    let owned = observer.until("it stands", |s| s.tick >= 1000 && s.authority == 1);
    let end = Arc::<AtomicBool>::default();
    let efforts = Float64MultiArray { data: vec![0.0; 12], ..Default::default() };
    let flood = |_| {
        let peer = Peer::connect(&scene.endpoint, Way::RmwZenoh);
        let (end, bytes) = (Arc::clone(&end), peer::bytes(&efforts));
        std::thread::spawn(move || {
            let topic = "forward_effort_controller/commands";
            peer.flood(topic, &peer::ARRAY, &bytes, publishers, &end)
        })
    };
    let floods: Vec<_> = (0..links).map(flood).collect();
    let from = observer.until("the flood", |s| s.tick >= owned.tick + 200).tick;
    let after = observer.until("two seconds", |s| s.tick >= from + 2000);
    end.store(true, Ordering::Relaxed);
    let sent: u64 = floods.into_iter().map(|flood| flood.join().unwrap()).sum();
    let received = observer.status().counter("ros2_received");
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    let (accepted, of_owner) = kept(&Log::read(&scene.log()), owned.command_session, from);
    println!("{sent} sent, {received} received; the owner kept {accepted} of {of_owner}");
    assert_eq!(after.command_session, owned.command_session, "another session has the robot");
    let height = after.truth_base_position_m[2];
    assert!((height - owned.truth_base_position_m[2]).abs() < 0.02, "{height} m");
    assert!(received > 5 * of_owner, "{received} messages are no flood");
    assert!(accepted * 50 >= of_owner * 49, "{accepted} of {of_owner} commands");
    assert!(of_owner > 200, "{of_owner} commands: the owner hardly sent any");
    scene.replays();
}

#[test]
fn a_flood_over_ros_keys_costs_the_owner_one_command_in_fifty_at_most() {
    flooded(4, 1);
}

#[test]
#[ignore = "the flood needs the cores: cargo test --test it a_flood_over -- --ignored --nocapture"]
fn a_flood_over_ros_keys_from_sixty_publishers_costs_the_owner_as_little() {
    flooded(60, 4);
}
