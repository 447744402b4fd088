//! Damaged files: an error or another network, but never a panic or a large allocation.

use crate::allocator::peak_bytes;
use crate::onnx_writer::{Field, from_four, integers, message, node};
use hardstand_policy::{Contract, Network};

/// What reading a small file may allocate: its budget of 4 million numbers, as places and as f32.
const PEAK_BYTES_MAX: i64 = 128 << 20;

/// Reads and runs a network; whether it could be read.
fn try_network(bytes: &[u8]) -> bool {
    let (network, peak) = peak_bytes(|| Network::from_bytes(bytes, "damaged"));
    assert!(peak < PEAK_BYTES_MAX, "{peak} bytes for a file of {}", bytes.len());
    network.is_ok_and(|mut network| network.run(&[]).is_ok())
}

/// A sequence of pseudo-random numbers (Knuth's MMIX).
fn next(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*state >> 33).unwrap()
}

#[test]
fn truncated_files_are_refused() {
    let mut read = 0;
    for path in crate::stored(".onnx") {
        let bytes = std::fs::read(&path).unwrap();
        assert!(try_network(&bytes), "{path:?}");
        let cut = (0..bytes.len()).step_by(97);
        read += cut.filter(|end| try_network(&bytes[..*end])).count();
    }
    assert_eq!(read, 0);
}

#[test]
fn flipped_bits_neither_panic_nor_allocate_without_limit() {
    let (mut state, mut read, mut tried) = (1, 0, 0);
    for path in crate::stored(".onnx") {
        let bytes = std::fs::read(&path).unwrap();
        for _ in 0..400 {
            let mut damaged = bytes.clone();
            // the structure is at the end of the file and between the tensors
            for _ in 0..=next(&mut state) % 3 {
                let at = next(&mut state) % bytes.len();
                damaged[at] ^= 1 << (next(&mut state) % 8);
            }
            tried += 1;
            read += usize::from(try_network(&damaged));
        }
    }
    // most flips hit weights, and give another network
    assert!(read > tried / 4 && read < tried, "{read} of {tried}");
}

#[test]
fn nodes_that_are_damaged_neither_panic_nor_allocate_without_limit() {
    // without the weights, so that each flip hits the structure
    let nodes = vec![
        node("Concat", &["obs", "obs"], &["a"], &[("axis", 1)]),
        node("Slice", &["a", "one", "end", "one"], &["b"], &[]),
        node("Tile", &["b", "two"], &["c"], &[]),
        node("Split", &["c"], &["d", "e"], &[("axis", 0)]),
        node("Gather", &["d", "two"], &["f"], &[("axis", -1)]),
        node("Transpose", &["f"], &["g"], &[]),
        node("ReduceMean", &["g", "one"], &["h"], &[("keepdims", 0)]),
        node("Reshape", &["h", "open"], &["i"], &[]),
        node("Expand", &["i", "two"], &["j"], &[]),
        node("Softmax", &["j"], &["actions"], &[("axis", 1)]),
    ];
    let constants = || {
        let names =
            [("one", vec![1]), ("two", vec![2, 2]), ("end", vec![6]), ("open", vec![1, -1])];
        names.iter().map(|(name, numbers)| integers(name, numbers)).collect()
    };
    let bytes = from_four(nodes, constants());
    assert!(try_network(&bytes), "{:?}", Network::from_bytes(&bytes, "whole").unwrap_err());
    let mut state = 7;
    for _ in 0..20_000 {
        let mut damaged = bytes.clone();
        for _ in 0..=next(&mut state) % 4 {
            let at = next(&mut state) % bytes.len();
            damaged[at] ^= 1 << (next(&mut state) % 8);
        }
        try_network(&damaged);
    }
}

#[test]
fn millions_of_empty_parts_are_refused_before_they_are_decoded() {
    // 2 bytes each: empty nodes of the graph
    let graph: Vec<u8> = [1 << 3 | 2, 0].repeat(4 << 20);
    let bytes = message(vec![(7, Field::Bytes(graph))]);
    let (refused, peak) = peak_bytes(|| Network::from_bytes(&bytes, "empty").unwrap_err());
    assert!(refused.to_string().contains("more than 1048576 parts"), "{refused}");
    assert!(peak < 1 << 16, "{peak} bytes");
}

#[test]
fn a_contract_that_ends_before_its_last_required_key_is_refused() {
    let text = std::fs::read_to_string(crate::data().join("example.toml")).unwrap();
    let (key, value) = ("\nkd = ", "0.5");
    let without = text.find(key).unwrap() + key.len();
    for end in 0..=without {
        let cut = Contract::parse(&text[..end], "cut.toml");
        assert!(cut.is_err(), "{:?}: {cut:?}", &text[..end]);
    }
    let least = Contract::parse(&text[..without + value.len()], "cut.toml");
    assert!(least.is_ok(), "{least:?}");
}

#[test]
fn damaged_contracts_do_not_panic() {
    let text = std::fs::read_to_string(crate::data().join("example.toml")).unwrap();
    for end in 0..text.len() {
        let _ = Contract::parse(&text[..end], "cut.toml");
    }
    let mut state = 3;
    for _ in 0..2000 {
        let mut damaged = text.clone().into_bytes();
        let at = next(&mut state) % damaged.len();
        damaged[at] = b" \n=[]\"'.,019-a"[next(&mut state) % 14];
        let _ = Contract::parse(&String::from_utf8(damaged).unwrap(), "damaged.toml");
    }
}
