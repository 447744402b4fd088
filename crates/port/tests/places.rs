//! A process has so many files at most. Alone, since tests of one process would share the places.
#![allow(clippy::unwrap_used, reason = "tests fail by panic")]

use hardstand_port::Slots;

#[test]
fn the_seventeenth_file_is_refused_and_dropped_ones_give_their_places_back() {
    let file = tempfile::tempfile().unwrap();
    file.set_len(Slots::file_bytes(1, 1)).unwrap();
    let open = |count| (0..count).map(|_| Slots::create(&file, (1, 1))).collect();
    for _ in 0..3 {
        let all: Result<Vec<_>, _> = open(16);
        assert_eq!(all.unwrap().len(), 16);
        let all: Result<Vec<_>, _> = open(17);
        assert!(all.unwrap_err().to_string().contains("16 such files"));
    }
}
