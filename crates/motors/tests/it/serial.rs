//! The serial line: times, collisions, damaged packets.

use super::at;
use super::go_m8010::request;
use hardstand_motors::SerialNetwork;
use hardstand_motors::buses::{SerialDrive, SerialFaults, SerialLine};
use hardstand_motors::drives::{GoM8010, split_requests};

const LINE: SerialLine = SerialLine { bps: 4_000_000, answer_ns: 30_000 };

fn network(ids: &[u8], seed: u64) -> SerialNetwork {
    let drives = ids.iter().map(|id| Box::new(GoM8010::new(*id)) as SerialDrive).collect();
    SerialNetwork::new(LINE, drives, split_requests, seed)
}

fn received(network: &mut SerialNetwork, until_ns: u64) -> Vec<u8> {
    network.advance(until_ns, &[at(0.0)]);
    let mut out = Vec::new();
    network.receive(until_ns, &mut out);
    out
}

#[test]
fn an_answer_takes_the_time_of_its_bytes() {
    let mut network = network(&[0], 0);
    network.send(0, &request(0, 1, 0.0));
    // 17 and 16 bytes of 2.5 us
    let end_ns = 42_500 + 30_000 + 40_000;
    assert_eq!(received(&mut network, end_ns - 1), []);
    assert_eq!(received(&mut network, end_ns).len(), 16);
    assert_eq!(network.busy_ns, 82_500);
}

#[test]
fn a_master_that_does_not_wait_collides_with_the_answer() {
    let mut network = network(&[0], 0);
    network.send(0, &request(0, 1, 0.0));
    network.advance(50_000, &[at(0.0)]);
    network.send(90_000, &request(0, 1, 0.0));
    assert_eq!(received(&mut network, 1_000_000), []);
    assert_eq!(network.collisions, 2);
}

#[test]
fn two_motors_with_one_id_answer_at_once_and_neither_is_heard() {
    let mut network = network(&[3, 3], 0);
    network.send(0, &request(3, 1, 0.0));
    assert_eq!(received(&mut network, 1_000_000), []);
    assert_eq!(network.collisions, 2);
}

#[test]
fn a_master_that_floods_the_line_loses_requests_and_takes_no_memory() {
    let mut network = network(&[0], 0);
    for _ in 0..1000 {
        network.send(0, &request(0, 1, 0.0));
    }
    assert_eq!(network.dropped, 1000 - 64);
    network.advance(1_000_000_000, &[at(0.0)]);
    network.send(1_000_000_000, &request(0, 1, 0.0));
    assert_eq!(network.dropped, 1000 - 64);
}

#[test]
fn noise_and_half_a_request_are_none() {
    let mut network = network(&[0], 0);
    assert!(!network.send(0, b"S8\rO\r"));
    let request = request(0, 1, 0.0);
    assert!(!network.send(0, &request[..9]));
    assert!(network.send(0, &request[9..]));
}

#[test]
fn damaged_requests_are_not_answered() {
    let mut network = network(&[0], 5);
    network.faults = SerialFaults { flip_share: 0.5, loss_share: 0.0 };
    let mut whole = 0;
    for n in 0..200 {
        network.send(n * 1_000_000, &request(0, 1, 0.0));
        let answer = received(&mut network, n * 1_000_000 + 900_000);
        let good = answer.len() == 16
            && hardstand_motors::drives::crc_kermit(&answer[..14]).to_le_bytes() == answer[14..];
        whole += usize::from(good);
    }
    // both packets whole: one in four; standard deviation 6
    assert!((28..75).contains(&whole), "{whole}");
}
