//! `include/hardstand.h` is what cbindgen writes from the source.
//!
//! `HARDSTAND_GOLDEN=write cargo test -p hardstand-capi --test header` writes it.
#![allow(clippy::unwrap_used, reason = "tests fail by panic")]

use std::path::Path;

#[test]
fn the_header_is_that_of_the_source() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let header = root.join("include/hardstand.h");
    let mut written = Vec::new();
    cbindgen::generate(root).unwrap().write(&mut written);
    if std::env::var_os("HARDSTAND_GOLDEN").is_some() {
        std::fs::write(&header, &written).unwrap();
    }
    let there = std::fs::read(&header).unwrap();
    assert!(
        there == written,
        "include/hardstand.h is not that of the source: \
         HARDSTAND_GOLDEN=write cargo test -p hardstand-capi --test header"
    );
}
