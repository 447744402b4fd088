//! A recorder that is killed: its log is cut off after a link, and holds what it had written.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hardstand_log::{LogReader, Verdict, recover, verify};

use crate::{info, start_with, tick, write_ticks};

const PATH: &str = "HARDSTAND_TEST_LOG";
const BYTES: u64 = 400_000;

/// The child of the test below: it writes until it is killed.
#[test]
fn child_that_writes_until_it_is_killed() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let mut writer = start_with(Path::new(&path), info(), 100_000).unwrap();
    let begin = Instant::now();
    for number in 0.. {
        write_ticks(&mut writer, [number]);
        assert!(begin.elapsed() < Duration::from_secs(60), "no test has killed it");
    }
}

#[test]
fn the_log_of_a_killed_recorder_is_cut_off_after_a_link() {
    for round in 0..5_u64 {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.mcap");
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "killed::child_that_writes_until_it_is_killed"])
            .env(PATH, &path)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let bytes = || -> u64 {
            let entries = std::fs::read_dir(dir.path()).unwrap();
            entries.filter_map(|entry| Some(entry.ok()?.metadata().ok()?.len())).sum()
        };
        let begin = Instant::now();
        while bytes() < BYTES + round * 777 {
            assert!(child.try_wait().unwrap().is_none(), "the child has ended");
            assert!(begin.elapsed() < Duration::from_secs(30), "the child writes nothing");
        }
        child.kill().unwrap();
        child.wait().unwrap();

        let found = verify(&path, |_, _| ()).unwrap();
        let Verdict::CutOff(fault) = &found.verdict else { panic!("{:?}", found.verdict) };
        assert_eq!((fault.tick, found.ticks), (found.end_tick, found.end_tick));
        assert!(found.ticks > 100 && found.files.len() > 1, "{found:?}");
        // what is read are the ticks that were written
        let last = found.files.last().unwrap();
        let (digests, damage) = crate::digests(LogReader::open(last).unwrap());
        assert!(damage.is_some());
        let first = found.ticks - digests.len() as u64;
        let written: Vec<u64> = (first..found.ticks).map(|n| tick(n).digest).collect();
        assert_eq!(digests, written);
        // and can be saved
        let whole = dir.path().join("whole.mcap");
        assert_eq!(recover(last, &whole).unwrap().ticks, digests.len() as u64);
        let (_, damage) = crate::digests(LogReader::open(&whole).unwrap());
        assert_eq!(damage, None);
    }
}
