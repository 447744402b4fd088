//! The CAN bus: order, times, errors, bus-off, loss; the same with the same seed.

use super::{at, numbered};
use hardstand_motors::buses::{BitRates, CanBus, ErrorState, NodeFaults, bit_time};
use hardstand_motors::drives::{Damiao, MitRanges, ODrive, ODriveConfig};
use hardstand_motors::{CanFrame, CanId, CanNetwork};

const RATES: BitRates = BitRates { nominal_bps: 1_000_000, data_bps: 5_000_000 };
const SECOND: u64 = 1_000_000_000;

fn ids(bus: &mut CanBus, until_ns: u64) -> Vec<(u64, u32)> {
    std::iter::from_fn(|| bus.next(until_ns)).map(|d| (d.end_ns, d.frame.id.raw())).collect()
}

#[test]
fn the_smallest_identifier_wins_and_the_others_wait() {
    let mut bus = CanBus::new(RATES, 4, 0);
    let bits = |id| u64::from(bit_time::exact(&numbered(id)).nominal) * 1000;
    bus.queue(1, 5_000, numbered(0x300));
    bus.queue(2, 5_000, numbered(0x100));
    // ready while the first is on the wire: it takes part in the second arbitration
    bus.queue(3, 9_000, numbered(0x200));
    let (a, b, c) = (bits(0x100), bits(0x200), bits(0x300));
    let times = [(5_000 + a, 0x100), (5_000 + a + b, 0x200), (5_000 + a + b + c, 0x300)];
    assert_eq!(ids(&mut bus, SECOND), times);
    assert_eq!(bus.statistics().busy_ns, a + b + c);
    assert_eq!(bus.statistics().frames, 3);
}

#[test]
fn a_frame_arrives_when_its_last_bit_has_passed() {
    let mut bus = CanBus::new(RATES, 2, 0);
    bus.queue(0, 0, numbered(1));
    let end_ns = u64::from(bit_time::exact(&numbered(1)).nominal) * 1000;
    assert!(bus.next(end_ns - 1).is_none());
    // what becomes ready in between does not stop it, however important
    bus.queue(1, end_ns / 2, numbered(0));
    let first = bus.next(end_ns).unwrap();
    assert_eq!((first.end_ns, first.from, first.receivers), (end_ns, 0, 0b10));
    assert_eq!(bus.next(SECOND).unwrap().frame, numbered(0));
}

#[test]
fn standard_wins_over_extended_and_data_over_remote() {
    let mut order = [
        CanFrame::eight(CanId::extended(0x100 << 18), [0; 8]),
        CanFrame::request(CanId::standard(0x100), 8).unwrap(),
        CanFrame::eight(CanId::standard(0x100), [0; 8]),
        CanFrame::eight(CanId::extended(0x0ff << 18 | 0x3_ffff), [0; 8]),
    ];
    order.sort_by_key(CanFrame::arbitration_key);
    let found: Vec<(u32, bool)> = order.iter().map(|f| (f.id.raw(), f.remote)).collect();
    let expected =
        [(0x0ff << 18 | 0x3_ffff, false), (0x100, false), (0x100, true), (0x100 << 18, false)];
    assert_eq!(found, expected);
}

#[test]
fn errors_are_repeated_until_the_frame_arrives() {
    let mut bus = CanBus::new(RATES, 3, 7);
    bus.set_faults(0, NodeFaults { error_share: 0.1, loss_share: 0.0 });
    for _ in 0..50 {
        for _ in 0..20 {
            assert!(bus.queue(0, 0, numbered(5)));
        }
        assert_eq!(ids(&mut bus, 100 * SECOND).len(), 20, "every frame arrives");
    }
    let statistics = bus.statistics();
    assert_eq!(statistics.frames, 1000);
    // 1000 successes at 10 % errors: 111 expected, standard deviation 11
    assert!((70..160).contains(&statistics.errors), "{statistics:?}");
}

#[test]
fn thirty_two_errors_in_a_row_end_in_bus_off_and_recovery_takes_1408_bits() {
    let mut bus = CanBus::new(RATES, 3, 0);
    bus.set_faults(1, NodeFaults { error_share: 1.0, loss_share: 0.0 });
    bus.queue(1, 0, numbered(5));
    let mut passive_ns = 0;
    for ns in (0..20_000_000).step_by(1000) {
        assert!(bus.next(ns).is_none());
        let state = bus.state(1, ns);
        if state == ErrorState::Passive && passive_ns == 0 {
            passive_ns = ns;
            assert_eq!(bus.counters(1).transmit, 128, "16 errors");
        }
        if state == ErrorState::BusOff {
            break;
        }
    }
    assert!(passive_ns > 0);
    assert_eq!(bus.statistics().errors, 32);
    assert_eq!(bus.statistics().bus_off, 1);
    assert_eq!(bus.counters(0).receive, 32, "a receiver counts one for each");
    assert!(!bus.queue(1, 20_000_000, numbered(5)), "its frames are dropped");
    let busy_ns = bus.statistics().busy_ns;
    // 8 bits of pause before each of the 16 attempts while passive
    let off_ns = busy_ns + 16 * 8_000;
    assert_eq!(bus.state(1, off_ns + 1_408_000 - 1), ErrorState::BusOff);
    assert_eq!(bus.state(1, off_ns + 1_408_000), ErrorState::Active);
    bus.set_faults(1, NodeFaults::default());
    assert!(bus.queue(1, 20_000_000, numbered(5)));
    assert!(bus.next(SECOND).is_some());
}

#[test]
fn a_node_that_is_alone_stays_error_passive() {
    let mut bus = CanBus::new(RATES, 1, 0);
    bus.queue(0, 0, numbered(5));
    assert!(bus.next(SECOND / 10).is_none());
    assert_eq!(bus.counters(0).transmit, 128);
    assert_eq!(bus.state(0, SECOND / 10), ErrorState::Passive);
    assert!(bus.statistics().unacknowledged > 500, "it keeps trying");
}

#[test]
fn success_lowers_the_counters() {
    let mut bus = CanBus::new(RATES, 2, 0);
    bus.set_faults(0, NodeFaults { error_share: 1.0, loss_share: 0.0 });
    bus.queue(0, 0, numbered(5));
    while bus.statistics().errors < 2 {
        let now = bus.statistics().busy_ns + 1000;
        assert!(bus.next(now).is_none());
    }
    bus.set_faults(0, NodeFaults::default());
    // what was on the wire still fails
    while bus.next(SECOND).is_none() {}
    for _ in 0..4 {
        bus.queue(0, 0, numbered(5));
    }
    assert_eq!(ids(&mut bus, SECOND).len(), 4);
    assert_eq!(bus.counters(0).transmit, 3 * 8 - 5, "three errors, five frames");
    assert_eq!(bus.counters(1).receive, 0);
}

#[test]
fn lost_frames_are_acknowledged_and_not_repeated() {
    let mut bus = CanBus::new(RATES, 3, 3);
    bus.set_faults(2, NodeFaults { error_share: 0.0, loss_share: 0.25 });
    let mut seen = [0; 3];
    for _ in 0..40 {
        for _ in 0..50 {
            bus.queue(0, 0, numbered(5));
        }
        while let Some(delivery) = bus.next(100 * SECOND) {
            for (n, count) in seen.iter_mut().enumerate() {
                *count += delivery.receivers >> n & 1;
            }
        }
    }
    assert_eq!(seen[..2], [0, 2000]);
    // standard deviation 19
    assert!((1420..1580).contains(&seen[2]), "{seen:?}");
    assert_eq!(bus.statistics().lost, 2000 - seen[2] as u64);
}

/// Frames at the master of two drives under faults.
fn run(seed: u64) -> Vec<(u64, CanFrame)> {
    let ranges = MitRanges::DAMIAO_4310;
    let drives: Vec<hardstand_motors::buses::CanDrive> = vec![
        Box::new(Damiao::new(1, 17, ranges)),
        Box::new(ODrive::new(9, ODriveConfig::default())),
    ];
    let mut network = CanNetwork::new(RATES, drives, 50_000, seed);
    for node in 0..3 {
        network.set_faults(node, NodeFaults { error_share: 0.05, loss_share: 0.05 });
    }
    let mut out = Vec::new();
    for ms in 0..500 {
        network.send(ms * 1_000_000, CanFrame::eight(CanId::standard(1), [0x7f; 8]));
        network.advance((ms + 1) * 1_000_000, &[at(0.1), at(0.2)]);
        out.extend(network.received());
    }
    out
}

#[test]
fn the_same_seed_gives_the_same_frames_at_the_same_times() {
    let first = run(11);
    assert!(first.len() > 450, "{}", first.len());
    assert_eq!(first, run(11));
    assert_ne!(first, run(12));
    assert!(first.is_sorted_by_key(|(time, _)| *time));
}

#[test]
fn an_answer_comes_after_the_request_and_the_drives_time() {
    let drive = Damiao::new(1, 17, MitRanges::DAMIAO_4310);
    let mut network = CanNetwork::new(RATES, vec![Box::new(drive)], 50_000, 0);
    let request = CanFrame::eight(CanId::standard(1), [0x7f; 8]);
    network.send(1_000, request);
    network.advance(SECOND, &[at(0.0)]);
    let answers: Vec<_> = network.received().collect();
    let ns = |frame: &CanFrame| u64::from(bit_time::exact(frame).nominal) * 1000;
    assert_eq!(answers[0].0, 1_000 + ns(&request) + 50_000 + ns(&answers[0].1));
}

/// The frames of a master whose adapter is bus-off are as lost as those in its queue.
#[test]
fn frames_of_a_master_in_bus_off_are_counted_as_dropped() {
    let drive = Box::new(Damiao::new(1, 17, MitRanges::DAMIAO_4310));
    let mut network = CanNetwork::new(RATES, vec![drive], 0, 0);
    network.set_faults(0, NodeFaults { error_share: 1.0, loss_share: 0.0 });
    network.send(0, numbered(1));
    let mut now_ns = 0;
    while network.state(0) != ErrorState::BusOff {
        now_ns += 10_000;
        network.advance(now_ns, &[]);
        assert!(now_ns < SECOND, "the master goes bus-off");
    }
    let before = network.statistics().dropped;
    assert_eq!(before, 1, "what was in its queue");
    for _ in 0..5 {
        network.send(now_ns, numbered(1));
    }
    assert_eq!(network.statistics().dropped, before + 5);
}
