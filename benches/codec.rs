//! Cost of start-up and of encoding messages, for the shipped quadruped:
//! `cargo bench --bench codec`. What each tick encodes is in the bench `tick`, the log in `turn`.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used)]

#[path = "common/standing.rs"]
mod standing;

use divan::{Bencher, black_box};
use hardstand::config::Scenario;
use hardstand::ingress::{CommandLimits, check_command};
use hardstand::simulation::{Simulation, Snapshot};
use hardstand_protocol::{
    ClaimedCommand, Counter, FrictionRequest, Kind, Order, OrderHead, OrderReply, StatusReading,
    decode, decode_body, decode_command, decode_order, encode, encode_command, encode_order,
};
use hardstand_protocol::{Command, Scope, StateReading};
use serde::Serialize;
use standing::{SPRING, hold, scenario, shipped, standing};

fn main() {
    divan::main();
}

/// From files to a plant in its initial state.
#[divan::bench]
fn start_up(bencher: Bencher<'_, '_>) {
    bencher.bench_local(|| Scenario::load(black_box(&shipped()), &[]).unwrap().simulation());
}

#[divan::bench]
fn load_a_scenario(bencher: Bencher<'_, '_>) {
    bencher.bench_local(|| Scenario::load(black_box(&shipped()), &[]).unwrap());
}

#[divan::bench]
fn build_a_plant(bencher: Bencher<'_, '_>) {
    let scenario = scenario(10, SPRING);
    bencher.bench_local(|| black_box(&scenario).simulation());
}

fn claim(simulation: &Simulation) -> ClaimedCommand {
    let (layout_hash, joints) = (simulation.layout_hash(), hold(simulation));
    ClaimedCommand {
        layout_hash,
        run_id: 1,
        session: 7,
        seq: 1,
        answers_tick: 3000,
        applies_tick: 0,
        joints,
    }
}

#[divan::bench]
fn encode_a_command(bencher: Bencher<'_, '_>) {
    let (claim, mut bytes) = (claim(&standing(10, SPRING)), Vec::new());
    bencher.bench_local(|| {
        encode_command(black_box(&claim), &mut bytes).unwrap();
        black_box(&bytes).len()
    });
}

/// From bytes to a checked command.
#[divan::bench]
fn decode_and_check_a_command(bencher: Bencher<'_, '_>) {
    let simulation = standing(10, SPRING);
    let (claim, mut bytes, mut command) = (claim(&simulation), Vec::new(), Command::default());
    encode_command(&claim, &mut bytes).unwrap();
    let (layout_hash, joints) = (simulation.layout_hash(), claim.joints.len());
    let limits = CommandLimits { layout_hash, run_id: 1, joints, kp_max: 1e4, kd_max: 1e3 };
    bencher.bench_local(|| {
        let claim = decode_command(black_box(&bytes), joints).unwrap();
        check_command(&claim, &limits, &mut command).unwrap();
        black_box(&command).seq
    });
    assert_eq!(command.joints, claim.joints);
}

fn bench_encoding<T: Serialize>(bencher: Bencher<'_, '_>, kind: Kind, value: &T) {
    let mut bytes = Vec::new();
    bencher.bench_local(|| {
        encode(kind, black_box(value), &mut bytes).unwrap();
        black_box(&bytes).len()
    });
}

fn snapshot() -> Snapshot {
    let simulation = standing(10, SPRING);
    let mut snapshot = simulation.new_snapshot();
    simulation.fill(&mut snapshot);
    snapshot
}

#[divan::bench]
fn encode_contacts(bencher: Bencher<'_, '_>) {
    bench_encoding(bencher, Kind::Contacts, &snapshot().contacts);
}

#[divan::bench]
fn decode_a_state(bencher: Bencher<'_, '_>) {
    let (snapshot, mut bytes) = (snapshot(), Vec::new());
    encode(Kind::State, &snapshot.state, &mut bytes).unwrap();
    bencher.bench_local(|| decode::<StateReading>(Kind::State, black_box(&bytes)).unwrap());
}

#[divan::bench]
fn encode_a_status(bencher: Bencher<'_, '_>) {
    let counter = |i: u64| Counter { name: format!("rejected_reason_{i}"), value: i };
    let status = StatusReading { counters: (0..20).map(counter).collect(), ..Default::default() };
    bench_encoding(bencher, Kind::Status, &status);
}

#[divan::bench]
fn encode_a_model(bencher: Bencher<'_, '_>) {
    let scenario = scenario(10, SPRING);
    bench_encoding(
        bencher,
        Kind::Model,
        &hardstand::simulation::describe(
            &scenario.simulation(),
            1,
            scenario.gains_max,
            &scenario.hold_gains,
        ),
    );
}

#[divan::bench]
fn decode_a_request_for_friction(bencher: Bencher<'_, '_>) {
    let request = FrictionRequest::new(1, Scope::Foot(2), 0.1, 0.05);
    let (head, mut bytes) = (OrderHead::new("quadruped", 1, "bench"), Vec::new());
    encode_order(Order::Friction, &head, &request, &mut bytes).unwrap();
    bencher.bench_local(|| {
        let (_, body) = decode_order(Order::Friction, black_box(&bytes)).unwrap();
        decode_body::<FrictionRequest>(Kind::Friction, body).unwrap()
    });
}

#[divan::bench]
fn encode_a_reply_about_friction(bencher: Bencher<'_, '_>) {
    bench_encoding(bencher, Kind::OrderReply, &OrderReply::accepted(3000));
}
