//! Lockstep with offsets and periods, where states are lost: nobody waits for ever, and the run is
//! the one without losses.

use std::time::Duration;

use hardstand_client::JoinedController;
use hardstand_protocol::{JoinRequest, JointCommand};

use crate::common::process::{PATIENCE, Process, Scene, digest, serial};

/// Period, phase and offset of the controller, ticks.
const SCHEDULES: [[u64; 3]; 6] =
    [[1, 0, 0], [1, 0, 7], [3, 1, 2], [5, 0, 12], [20, 0, 5], [7, 6, 14]];
const LOCKSTEP: [&str; 6] = ["--mode", "lockstep", "--pace", "free", "--duration", "1.5"];

/// Numbers in 0 to 1 that look random (splitmix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Holds the joints until the daemon ends, but does not get a `share` of the states, and now and
/// then is slow. How many were lost.
fn hold(
    daemon: &mut Process,
    mut controller: JoinedController,
    hold: &[JointCommand],
    (share, seed): (f64, u64),
) -> u32 {
    let (mut dice, mut lost, mut silent) = (Dice(seed), 0, 0);
    while !daemon.has_ended() {
        let Ok(state) = controller.next_state(Duration::from_millis(100)) else { break };
        let Some(state) = state else {
            silent += 1;
            assert!(silent < 100, "no state for 10 s: seed {seed}, {lost} lost");
            continue;
        };
        silent = 0;
        if dice.roll() < share {
            lost += 1;
            continue;
        }
        if dice.roll() < 0.01 {
            std::thread::sleep(Duration::from_millis(3));
        }
        controller.answer(&state, hold).unwrap();
    }
    lost
}

/// The digest of a run, and how many states were lost.
fn run(
    [period_ticks, phase_ticks, offset_ticks]: [u64; 3],
    share: f64,
    seed: u64,
) -> (String, u32) {
    let scene = Scene::new();
    let mut daemon = scene.daemon(&LOCKSTEP);
    let client = scene.client();
    let model = client.model(PATIENCE).unwrap();
    let request =
        JoinRequest { period_ticks, phase_ticks, offset_ticks, ..JoinRequest::new(&model, "legs") };
    let controller = client.join(request, PATIENCE).unwrap();
    let lost = hold(&mut daemon, controller, &model.hold(), (share, seed));
    (digest(&daemon.ends_with(0)), lost)
}

fn losses(seeds: u64, share: f64) {
    for schedule in SCHEDULES {
        let (whole, none) = run(schedule, 0.0, 0);
        assert_eq!(none, 0);
        for seed in 1..=seeds {
            let (digest, lost) = run(schedule, share, seed);
            assert!(lost > 0, "{schedule:?}, seed {seed}");
            assert_eq!(digest, whole, "{schedule:?}, seed {seed}: {lost} states lost");
        }
    }
}

#[test]
fn lost_states_are_sent_again_for_every_schedule() {
    let _one = serial();
    losses(1, 0.05);
}

#[test]
#[ignore = "some minutes"]
fn lost_states_are_sent_again_for_every_schedule_and_seed() {
    let _one = serial();
    losses(25, 0.1);
}
