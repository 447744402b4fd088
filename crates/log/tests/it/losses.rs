//! Files that another program removes, replaces or changes while the run goes on.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use hardstand_log::{LogReader, RunIndex};

use crate::{digests, info, record, start, start_with, write_ticks};

const SECOND_NS: u64 = 1_000_000_000;

/// Damages the first file after 30 ticks; what is noted, and the ticks in the second file.
fn after(damage: impl Fn(&Path)) -> (String, usize) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    let mut writer = start_with(&path, info(), u64::MAX).unwrap();
    writer.settle(0);
    write_ticks(&mut writer, 0..30);
    writer.settle(SECOND_NS);
    assert_eq!(writer.written().losses, [""; 0]);
    damage(&path);
    write_ticks(&mut writer, 30..40);
    assert_eq!(writer.written().losses, [""; 0], "it looks once a second");
    writer.settle(2 * SECOND_NS);
    let losses = writer.written().losses.clone();
    assert_eq!(losses.len(), 1, "{losses:?}");
    // the recording goes on with the next keyframe, which is that of tick 50
    write_ticks(&mut writer, 40..90);
    writer.settle(3 * SECOND_NS);
    let written = writer.finish();
    assert_eq!((&written.losses, &written.error), (&losses, &None), "it is noted once");
    assert_eq!(written.problem().as_ref(), losses.first());
    let second = dir.path().join("run.part2.mcap");
    assert_eq!(written.segments, [path, second.clone()]);
    (losses[0].clone(), digests(LogReader::open(&second).unwrap()).0.len())
}

#[test]
fn a_file_that_is_lost_is_noted_and_the_rest_is_kept_in_another_one() {
    for (damage, expected) in [
        (Box::new(|path: &Path| fs::remove_file(path).unwrap()) as Box<dyn Fn(&Path)>, "removed"),
        (Box::new(|path| fs::rename(path, path.with_extension("old")).unwrap()), "renamed"),
        (Box::new(|path| fs::write(path, "").unwrap()), "cut to "),
        (
            Box::new(|path| {
                let copy = path.with_extension("copy");
                fs::copy(path, &copy).unwrap();
                fs::rename(copy, path).unwrap();
            }),
            "another file took its place",
        ),
        (
            Box::new(|path| {
                let mut file = OpenOptions::new().append(true).open(path).unwrap();
                file.write_all(b"a remark").unwrap();
            }),
            "another program wrote to it",
        ),
    ] {
        let (loss, ticks) = after(damage);
        assert!(loss.contains("run.mcap") && loss.contains(expected), "{expected}: {loss}");
        assert_eq!(ticks, 40, "{expected}");
    }
}

/// What was renamed is whole, up to its end, and names the file in which the run goes on.
#[test]
fn a_renamed_file_loses_no_tick() {
    let dir = tempfile::tempdir().unwrap();
    let (path, moved) = (dir.path().join("run.mcap"), dir.path().join("moved.mcap"));
    let mut writer = start_with(&path, info(), u64::MAX).unwrap();
    write_ticks(&mut writer, 0..30);
    fs::rename(&path, &moved).unwrap();
    writer.settle(0);
    writer.settle(SECOND_NS);
    write_ticks(&mut writer, 30..90);
    assert_eq!(writer.finish().losses.len(), 1);
    let index = RunIndex::of(&moved, |_, _| ()).unwrap();
    assert_eq!((index.ticks(), index.damage), (90, None));
}

#[test]
fn files_that_have_ended_are_looked_at_once_more_at_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    let mut writer = start(&path, info()).unwrap();
    write_ticks(&mut writer, 0..200);
    let files = writer.written().segments.clone();
    fs::remove_file(&files[0]).unwrap();
    let bytes = fs::read(&files[1]).unwrap();
    fs::write(&files[1], &bytes[..1000]).unwrap();
    let written = writer.finish();
    assert_eq!(written.losses.len(), 2, "{:?}", written.losses);
    assert!(written.losses[0].contains("run.mcap: it was removed"), "{:?}", written.losses);
    assert!(written.losses[1].contains("run.part2.mcap: it was cut to 1000 of"));
}

/// The file at hand, in the last moment.
#[test]
fn a_file_that_is_lost_at_the_end_is_noted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    let mut writer = start(&path, info()).unwrap();
    write_ticks(&mut writer, 0..30);
    fs::remove_file(&path).unwrap();
    assert_eq!(writer.finish().losses.len(), 1);
}

/// Another program was faster: its file is not replaced, and no tick is lost.
#[test]
fn a_log_that_cannot_take_its_place_stays_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    record(&path, 0..30);
    let mut writer = start_with(&path, info(), u64::MAX).unwrap();
    fs::remove_file(&path).unwrap();
    fs::write(&path, "a text").unwrap();
    write_ticks(&mut writer, 0..20);
    let written = writer.finish();
    assert!(written.losses[0].contains("it cannot replace"), "{:?}", written.losses);
    assert_eq!(fs::read(&path).unwrap(), b"a text");
    let beside = LogReader::open(&dir.path().join(".run.mcap.tmp")).unwrap();
    assert_eq!(digests(beside).0.len(), 20);
}
