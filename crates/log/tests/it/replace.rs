//! What a new log replaces, what it refuses to replace, and when.

use std::collections::BTreeMap;
use std::fs;
use std::io::Cursor;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use hardstand_error::ErrorKind;
use hardstand_log::{LogReader, RunInfo, RunWriter, refuse_inputs};

use crate::{digests, info, record, start, write, write_ticks};

/// Everything in a folder, with its contents; `None` for what is not a file.
fn contents(dir: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    let of = |path: &Path| path.is_file().then(|| fs::read(path).unwrap());
    entries.map(|entry| (entry.path(), of(&entry.path()))).collect()
}

/// The recording of `path` is refused with `expected` in its message, and changes nothing.
fn refused(path: &Path, named: &Path, expected: &str) {
    let before = contents(path.parent().unwrap());
    let error = start(path, info()).expect_err(expected);
    assert_eq!(error.kind(), ErrorKind::File);
    let (text, name) = (error.to_string(), named.display().to_string());
    assert!(text.contains(&name) && text.contains(expected), "{text}");
    assert!(text.contains("--log"), "no remedy: {text}");
    assert_eq!(before, contents(path.parent().unwrap()), "{text}");
}

fn ticks_in(path: &Path) -> usize {
    digests(LogReader::open(path).unwrap()).0.len()
}

/// A file that other programs have written.
fn foreign_mcap() -> Vec<u8> {
    let mut writer = mcap::Writer::new(Cursor::new(Vec::new())).unwrap();
    let channel_id = writer.add_channel(0, "/camera", "cdr", &BTreeMap::new()).unwrap();
    let header =
        mcap::records::MessageHeader { channel_id, sequence: 0, log_time: 0, publish_time: 0 };
    writer.write_to_known_channel(&header, &[1; 100]).unwrap();
    writer.finish().unwrap();
    writer.into_inner().into_inner()
}

#[test]
fn a_second_recording_of_the_same_log_is_refused_in_all_its_files() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    let mut first = start(&path, info()).unwrap();
    refused(&path, &path, "another process records in it");
    write_ticks(&mut first, 0..200);
    let files = first.written().segments.clone();
    assert!(files.len() > 3, "{files:?}");
    for file in &files {
        let error = start(file, info()).expect_err("a file of a run that goes on").to_string();
        assert!(error.contains("another process records in it"), "{error}");
    }
    write_ticks(&mut first, 200..220);
    assert_eq!(first.finish().problem(), None);
    // the run is over
    assert_eq!(record(&path, 0..20).len(), 1);
}

#[test]
fn of_two_that_replace_a_log_only_one_begins() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    record(&path, 0..30);
    // it waits for its first tick
    let first = start(&path, info()).unwrap();
    refused(&path, &path, "another process records in it");
    drop(first);
    assert!(!dir.path().join(".run.mcap.tmp").exists());
    assert_eq!(ticks_in(&path), 25);
    record(&path, 0..20);
}

#[test]
fn an_old_log_stays_until_the_new_one_has_ticks_on_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    let old = record(&path, 0..200);
    let new = || start(&path, RunInfo { recording_id: 8, ..info() }).unwrap();
    let mut writer = new();
    write_ticks(&mut writer, 0..9);
    assert!(old.iter().all(|file| file.exists()) && ticks_in(&path) > 20);
    // its process is killed: nothing is lost, and the next one goes on
    std::mem::forget(writer);
    let left = dir.path().join(".run.mcap.tmp");
    assert!(left.exists());
    fs::copy(&left, dir.path().join("copy")).unwrap();
    fs::rename(dir.path().join("copy"), &left).unwrap(); // another file: the lock is gone

    let mut writer = new();
    write_ticks(&mut writer, 0..10);
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while left.exists() {
        assert!(std::time::Instant::now() < until, "the new log never takes its place");
        std::thread::yield_now();
    }
    assert_eq!(ticks_in(&path), 10);
    assert!(old[1..].iter().all(|file| !file.exists()), "files of the old log are left");
    write_ticks(&mut writer, 10..20);
    assert_eq!(writer.finish().problem(), None);
    assert_eq!(contents(dir.path()).len(), 1);
    assert_eq!(ticks_in(&path), 20);
}

#[test]
fn a_run_without_a_tick_replaces_the_old_log_at_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    record(&path, 0..30);
    assert_eq!(start(&path, info()).unwrap().finish().problem(), None);
    assert_eq!(ticks_in(&path), 0);
    assert_eq!(contents(dir.path()).len(), 1);
}

#[test]
fn only_a_log_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    for (bytes, expected) in [
        (b"[sim]\nrate_hz = 1000\n".to_vec(), "not an MCAP file"),
        (foreign_mcap(), "no log of Hardstand"),
        (vec![0; 4096], "not an MCAP file"),
    ] {
        fs::write(&path, bytes).unwrap();
        refused(&path, &path, expected);
    }
    // one that holds nothing, and one of another version, are no loss
    fs::write(&path, "").unwrap();
    record(&path, 0..20);
    let old = fs::read(&path).unwrap();
    let mut older = old.clone();
    for at in 0..older.len() - 2 {
        if older[at..at + 3] == [b'H', b'S', hardstand_protocol::VERSION] {
            older[at + 2] = 4;
        }
    }
    assert_ne!(older, old);
    fs::write(&path, older).unwrap();
    record(&path, 0..20);
    // so is one that broke off
    fs::write(&path, &old[..2000]).unwrap();
    record(&path, 0..20);
}

#[test]
fn further_files_that_are_not_of_the_replaced_run_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    let further = dir.path().join("run.part3.mcap");
    let other = dir.path().join("other.mcap");
    write_of(&other, RunInfo { recording_id: 9, ..info() }, 0..20);
    record(&path, 0..60);
    for bytes in [b"minutes of a meeting".to_vec(), foreign_mcap(), fs::read(&other).unwrap()] {
        fs::write(&further, bytes).unwrap();
        refused(&path, &further, "move it away");
    }
    fs::remove_file(&further).unwrap();
    fs::create_dir(&further).unwrap();
    refused(&path, &further, "it is a folder");
    fs::remove_dir(&further).unwrap();
    // without the first file nothing says whose they are
    record(&path, 0..200);
    fs::remove_file(&path).unwrap();
    refused(&path, &dir.path().join("run.part2.mcap"), "move it away");
}

fn write_of(path: &Path, info: RunInfo, ticks: std::ops::Range<u64>) {
    let mut writer = start(path, info).unwrap();
    write_ticks(&mut writer, ticks);
    assert_eq!(writer.finish().problem(), None);
}

/// One of its files was removed before; the others are still known by their recording.
#[test]
fn what_is_left_of_an_earlier_run_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    let before = record(&path, 0..200);
    fs::remove_file(&before[1]).unwrap();
    let kept = ["run.part02.mcap", "run.part1.mcap", "run.part9.txt", "run2.part2.mcap"];
    kept.iter().for_each(|name| fs::write(dir.path().join(name), "not of this run").unwrap());
    assert_eq!(record(&path, 0..20), std::slice::from_ref(&path));
    assert_eq!(contents(dir.path()).len(), 1 + kept.len());
}

/// A pipe without a reader would block the process that opens it.
#[test]
fn what_is_no_regular_file_is_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::create_dir(path("folder")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
    assert!(Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
    symlink(path("pipe"), path("link")).unwrap();
    symlink(path("nothing"), path("dangling")).unwrap();
    symlink("/dev/null", path("null")).unwrap();
    for (name, kind) in [
        ("folder", "a folder"),
        ("socket", "a socket"),
        ("pipe", "a named pipe"),
        ("link", "a named pipe"),
        ("dangling", "a link that leads to no file"),
        ("null", "a device"),
    ] {
        refused(&path(name), &path(name), kind);
        fs::remove_file(path(".run.mcap.tmp")).unwrap_or_default();
        symlink(path(name), path(".run.mcap.tmp")).unwrap();
        let error = start(&path("run.mcap"), info()).expect_err(name);
        assert!(!path("run.mcap").exists() && !path("nothing").exists(), "{name}: {error}");
    }
}

#[test]
fn a_link_to_a_log_stays_a_link() {
    let dir = tempfile::tempdir().unwrap();
    let (path, there) = (dir.path().join("run.mcap"), dir.path().join("disk/there.mcap"));
    fs::create_dir(there.parent().unwrap()).unwrap();
    write(&there, (0..30).map(crate::tick));
    symlink(&there, &path).unwrap();
    record(&path, 0..20);
    assert!(path.is_symlink() && !there.is_symlink());
    assert_eq!((ticks_in(&there), ticks_in(&path)), (20, 20));
}

#[test]
fn the_input_of_a_log_is_refused_under_every_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let inputs = record(&path("run.mcap"), 0..200);
    fs::hard_link(&inputs[1], path("hard.mcap")).unwrap();
    symlink(&inputs[1], path("soft.mcap")).unwrap();
    fs::hard_link(&inputs[2], path("b.part7.mcap")).unwrap();
    for name in ["run.mcap", "run.part2.mcap", "hard.mcap", "soft.mcap", "b.mcap"] {
        let error = refuse_inputs(&inputs, &path(name)).expect_err(name);
        assert_eq!(error.kind(), ErrorKind::Input);
        assert!(error.to_string().contains("choose another name"), "{error}");
    }
    fs::copy(&inputs[0], path("copy.mcap")).unwrap();
    for name in ["copy.mcap", "new.mcap"] {
        refuse_inputs(&inputs, &path(name)).unwrap();
    }
}

/// A file that comes in the way while a run goes on belongs to another program.
#[test]
fn a_file_in_the_way_of_the_next_one_is_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    let mut writer: RunWriter = start(&path, info()).unwrap();
    let in_the_way = dir.path().join("run.part2.mcap");
    fs::write(&in_the_way, "not of this run").unwrap();
    write_ticks(&mut writer, 0..200);
    let written = writer.finish();
    assert_eq!(written.problem(), None);
    assert_eq!(written.segments[1], dir.path().join("run.part3.mcap"));
    assert_eq!(fs::read(&in_the_way).unwrap(), b"not of this run");
    let index = hardstand_log::RunIndex::of(&path, |_, _| ()).unwrap();
    assert_eq!((index.ticks(), index.damage), (200, None));
}
