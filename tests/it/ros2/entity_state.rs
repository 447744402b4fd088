//! The state of the robot as an entity: read, and set by clients of either release.

use hardstand::ros2::messages::{
    ChosenPlaceRequest, Done, EntityAnswer, EntityState, PlaceRequest, Service as _,
    SetChosenEntityState, SetEntityState, read, written,
};
use hardstand_protocol::StateReading;

use super::peer::Way;
use super::services::{Client, begin, end};
use crate::common::process::{Observer, serial, wait_for};

#[test]
fn a_client_picks_the_robot_up() {
    let _one = serial();
    let (scene, daemon, observer, mut client) = begin("rmw_zenoh", Way::RmwZenoh);
    client.pause(true);
    let truth = observer.until("paused", |s| s.phase == 3);
    let EntityAnswer { result, state } = client.entity("quadruped");
    assert_eq!((result.result, state.header.frame_id.as_str()), (1, "odom"));
    let p = &state.pose.position;
    assert_eq!([p.x, p.y, p.z], truth.truth_base_position_m);
    let stamp = &state.header.stamp;
    assert_eq!(stamp.sec as u64 * 1_000_000_000 + u64::from(stamp.nanosec), truth.time_ns);
    let v = &state.twist.linear;
    assert_eq!([v.x, v.y, v.z], truth.truth_base_velocity_m_per_s);
    let missing = client.entity("cat").result;
    assert_eq!(missing.result, 2);
    assert!(missing.error_message.contains("the only one is \"quadruped\""), "{missing:?}");

    // what cannot be is refused, with a reason
    let mut wish = state.clone();
    let mut refused = |change: &dyn Fn(&mut EntityState), word: &str| {
        let mut bad = state.clone();
        change(&mut bad);
        let (code, why) = client.place("quadruped", &bad);
        assert!(code == 4 && why.contains(word), "{code} {why}");
    };
    refused(&|s| s.header.frame_id = "map".into(), "it must be \"odom\"");
    refused(&|s| s.pose.orientation.w = 3.0, "length of orientation");
    refused(&|s| s.pose.orientation = EntityState::default().pose.orientation, "is 0");
    refused(&|s| s.pose.position.z = f64::NAN, "the plant cannot continue from this state");
    refused(&|s| s.twist.angular.x = f64::INFINITY, "the plant cannot continue from this state");
    assert_eq!(client.place("cat", &wish).0, 2);
    assert_eq!(observer.until("paused", |s| s.phase == 3).run_id, truth.run_id);

    // a metre up, thrown: it flies as a thrown body does
    wish.pose.position.z += 1.0;
    wish.twist.linear.x = 2.0;
    assert_eq!(client.place("quadruped", &wish), (1, String::new()));
    let up = observer.until("the next run", |s| s.run_id == truth.run_id + 1);
    assert_eq!((up.tick, up.time_ns), (truth.tick, truth.time_ns + observer.model.period_ns));
    assert_eq!(up.truth_base_position_m[2], wish.pose.position.z);
    assert_eq!(up.foot_contact, [0; 4]);
    assert_eq!(client.step(100).0, 1);
    let flown = observer.until("100 ms later", |s| s.tick == up.tick + 100);
    let far_m = flown.truth_base_position_m[0] - up.truth_base_position_m[0];
    let fallen_m = up.truth_base_position_m[2] - flown.truth_base_position_m[2];
    assert!((0.19..0.21).contains(&far_m), "{far_m} m in 0.1 s at 2 m/s");
    let expected_m = 0.5 * 9.81 * 0.01 - 0.1 * wish.twist.linear.z;
    assert!((fallen_m - expected_m).abs() < 0.01, "{fallen_m} and {expected_m} m");
    end(&scene, daemon);
}

/// A client of release 2.1 that sets these parts.
fn choose(client: &mut Client, state: &EntityState, [set_pose, set_twist]: [bool; 2]) {
    let request = ChosenPlaceRequest {
        entity: "quadruped".into(),
        state: state.clone(),
        set_pose,
        set_twist,
        set_acceleration: true,
    };
    let Done { result } = client.call::<SetChosenEntityState>("set_entity_state", &request);
    assert_eq!((result.result, result.error_message.as_str()), (1, ""));
}

/// Height of the base, m, and its velocity ahead, m/s.
fn motion(state: &StateReading) -> (f64, f64) {
    (state.truth_base_position_m[2], state.truth_base_velocity_m_per_s[0])
}

/// 2.1 appends three booleans to the request: a type of its own, with the same name.
#[test]
fn a_client_of_release_2_1_sets_what_it_chooses() {
    let _one = serial();
    for (mode, way) in [("rmw_zenoh", Way::RmwZenoh), ("bridge", Way::Bridge)] {
        let (scene, daemon, observer, mut client) = begin(mode, way);
        client.pause(true);
        let before = observer.until("paused", |s| s.phase == 3);
        let mut wish = client.entity("quadruped").state;
        wish.pose.position.z += 1.0;
        wish.twist.linear.x = 2.0;
        let next = |observer: &Observer, n: u32| {
            observer.until("the next run", |s| s.run_id == before.run_id + n)
        };
        let ((z_m, vx_m_per_s), up_m) = (motion(&before), wish.pose.position.z);

        // nothing chosen: nothing happens
        choose(&mut client, &wish, [false, false]);
        assert_eq!(observer.state().run_id, before.run_id);
        // a pose that is not to be set may be anything
        let unset = EntityState { pose: EntityState::default().pose, ..wish.clone() };
        choose(&mut client, &unset, [false, true]);
        assert_eq!(motion(&next(&observer, 1)), (z_m, 2.0));
        let still = client.entity("quadruped").state.twist.linear.x;
        assert_eq!(still, 2.0);
        let standing = EntityState { twist: EntityState::default().twist, ..wish.clone() };
        choose(&mut client, &standing, [true, false]);
        assert_eq!(motion(&next(&observer, 2)), (up_m, 2.0));
        choose(&mut client, &standing, [true, true]);
        assert_eq!(motion(&next(&observer, 3)), (up_m, 0.0));
        // a client of 1.x beside it
        wish.twist.linear.x = vx_m_per_s;
        assert_eq!(client.place("quadruped", &wish), (1, String::new()));
        assert_eq!(motion(&next(&observer, 4)), (up_m, vx_m_per_s));
        end(&scene, daemon);
    }
}

/// Bytes of one release under the hash of the other, of neither, and a hash that is unknown.
#[test]
fn a_request_of_an_unknown_type_is_refused() {
    let _one = serial();
    for (mode, way) in [("rmw_zenoh", Way::RmwZenoh), ("bridge", Way::Bridge)] {
        let (scene, daemon, observer, mut client) = begin(mode, way);
        client.pause(true);
        let before = observer.until("paused", |s| s.phase == 3);
        let state = client.entity("quadruped").state;
        let entity = String::from("quadruped");
        let old = written(&PlaceRequest { entity: entity.clone(), state: state.clone() });
        let new = written(&ChosenPlaceRequest { entity, state, ..Default::default() });
        assert_eq!(new.len(), old.len() + 3);
        let [old_key, new_key] = [
            client.key::<SetEntityState>("set_entity_state"),
            client.key::<SetChosenEntityState>("set_entity_state"),
        ];
        let mut refused = |key: &str, bytes: &[u8]| {
            client.sequence += 1;
            assert_eq!(client.ask(key, bytes), None, "{key}, {} bytes", bytes.len());
        };
        // padding to a multiple of four is none of the three booleans
        let longer = |bytes: &[u8], n: usize| [bytes, &vec![0; n]].concat();
        let (mut cdr, mut unknown) = (0, 0);
        for n in [1, 2, 5, 8] {
            refused(&old_key, &longer(&old, n));
            cdr += 1;
        }
        if way == Way::RmwZenoh {
            refused(&old_key, &new);
            refused(&new_key, &old);
            let other = old_key.replace(SetEntityState::HASH, &format!("RIHS01_{:064x}", 5));
            refused(&other, &old);
            (cdr, unknown) = (cdr + 2, 1);
        }
        observer.status_until("they are counted", |s| {
            let of = |name: &str| s.counter(&format!("ros2_rejected_{name}"));
            (of("cdr"), of("type")) == (cdr, unknown)
        });
        assert_eq!(observer.state().run_id, before.run_id, "{mode}");
        // a release without hashes: the length decides, with and without padding
        let plain = old_key.replace(SetEntityState::HASH, "TypeHashNotSupported");
        for bytes in [&old[..], &new, &longer(&new, 1)] {
            client.sequence += 1;
            let answer = wait_for("an answer", || client.ask(&plain, bytes));
            assert_eq!(read::<Done>(&answer).unwrap().result.result, 1);
        }
        end(&scene, daemon);
    }
}
