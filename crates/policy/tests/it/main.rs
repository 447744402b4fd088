//! Tests of policies, against onnxruntime, the Python package and damaged files.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panic")]
#![allow(clippy::print_stdout, reason = "the largest differences are printed")]
#![allow(missing_docs, unreachable_pub, missing_debug_implementations, reason = "tests")]

#[path = "../../../../tests/it/common/allocator.rs"]
mod allocator;
mod clauses;
mod contracts;
mod damaged;
mod digest;
mod networks;
mod onnx_writer;
mod operators;
mod states;

use std::path::{Path, PathBuf};

/// The folder of the stored cases.
fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

/// The stored files with this ending.
fn stored(ending: &str) -> Vec<PathBuf> {
    files(&data(), ending)
}

/// The stored files with this ending, and those of HARDSTAND_POLICY_CASES (see data/make.py).
fn cases(ending: &str) -> Vec<PathBuf> {
    let more = std::env::var_os("HARDSTAND_POLICY_CASES").map(PathBuf::from);
    stored(ending).into_iter().chain(more.iter().flat_map(|f| files(f, ending))).collect()
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> =
        entries.filter(|path| path.to_str().unwrap().ends_with(ending)).collect();
    found.sort();
    found
}
