//! `hardstand verify`, and the commands that refuse a log whose chain breaks.

use std::path::{Path, PathBuf};

use crate::common::bench::quadruped;
use crate::common::logs::{Script, hardstand, run_of, write, write_parts};

const SETS: [&str; 2] = ["record.keyframe_every_ticks=50", "record.ros2=false"];
const TICKS: u64 = 240;

struct Run {
    dir: tempfile::TempDir,
    files: Vec<PathBuf>,
}

impl Run {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let scenario = quadruped(&SETS);
        let ticks = run_of(&scenario, &Script::default(), TICKS);
        let files = write_parts(&dir.path().join("run.mcap"), &scenario, &ticks);
        assert!(files.len() > 1, "{files:?}");
        Self { dir, files }
    }

    /// Changes the bytes of the `n`th file.
    fn change(&self, n: usize, change: impl Fn(&mut Vec<u8>)) {
        let mut bytes = std::fs::read(&self.files[n]).unwrap();
        change(&mut bytes);
        std::fs::write(&self.files[n], bytes).unwrap();
    }

    /// A flip in the middle of the second file.
    fn flip(&self) {
        self.change(1, |bytes| {
            let at = bytes.len() / 2;
            bytes[at] ^= 8;
        });
    }

    /// What a command prints about the log, and its exit code.
    fn run(&self, command: &str, more: &[&str]) -> (String, i32) {
        let mut arguments = vec![command.as_ref(), self.files[0].as_os_str()];
        arguments.extend(more.iter().map(AsRef::<std::ffi::OsStr>::as_ref));
        hardstand(&arguments)
    }

    fn verify_json(&self) -> (serde_json::Value, i32) {
        let (text, code) = self.run("verify", &["--json"]);
        (serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}")), code)
    }
}

#[test]
fn a_good_log_is_complete_as_text_and_as_json() {
    let run = Run::new();
    let (text, code) = run.run("verify", &[]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("complete   every byte is as it was written, to tick 240"), "{text}");
    let (json, code) = run.verify_json();
    assert_eq!((code, &json["verdict"], &json["ticks"]), (0, &"complete".into(), &TICKS.into()));
    assert_eq!(json["files"].as_array().unwrap().len(), run.files.len());
    assert!(json["fault"].is_null() && json["value"].as_str().unwrap().len() == 16, "{json}");
    assert!(text.contains(json["value"].as_str().unwrap()), "{text}");
}

#[test]
fn a_cut_log_is_cut_off_and_still_replays() {
    let run = Run::new();
    let last = run.files.len() - 1;
    run.change(last, |bytes| bytes.truncate(bytes.len() * 3 / 4));
    let (json, code) = run.verify_json();
    assert_eq!((code, &json["verdict"]), (3, &"cut_off".into()), "{json}");
    assert_eq!(json["fault"]["file"], run.files[last].to_str().unwrap());
    let tick = json["fault"]["tick"].as_u64().unwrap();
    assert!(tick > 50 && tick < TICKS && tick.is_multiple_of(10), "{json}");
    assert_eq!(json["fault"]["tick"], json["end_tick"]);
    let (text, code) = run.run("verify", &[]);
    assert!(code == 3 && text.contains(&format!("it ends after tick {tick}")), "{text}");
    let (text, code) = run.run("replay", &[]);
    assert_eq!(code, 3, "{text}");
    assert!(text.contains(&format!("everything up to tick {tick} was replayed")), "{text}");
}

#[test]
fn a_broken_log_is_refused_with_its_place_by_all_that_read_it() {
    let run = Run::new();
    run.flip();
    let (json, code) = run.verify_json();
    assert_eq!((code, &json["verdict"]), (3, &"broken".into()), "{json}");
    let fault = &json["fault"];
    let at = std::fs::metadata(&run.files[1]).unwrap().len() / 2;
    let [from, to] = ["from_byte", "to_byte"].map(|key| fault[key].as_u64().unwrap());
    assert!((from..to).contains(&at), "{fault}");
    let place = format!("the chain breaks after tick {} of run 1", fault["tick"]);
    let b = run.dir.path().join("b.mcap");
    let b = b.to_str().unwrap();
    for (command, more) in [
        ("verify", &[][..]),
        ("replay", &[]),
        ("bisect", &["--where", "tick > 9"]),
        ("bisect", &["--list", "--at", "5"]),
        ("bisect", &["--", "true"]),
        ("bisect", &[run.files[0].to_str().unwrap()]),
        ("branch", &["--at", "20", "--log", b]),
    ] {
        let (text, code) = run.run(command, more);
        assert_eq!(code, 3, "{command}: {text}");
        assert!(text.contains(&place) && text.contains("run.part2.mcap"), "{command}: {text}");
        assert!(text.contains("hardstand recover"), "{command}: {text}");
        assert!(!text.contains("identical") && !Path::new(b).exists(), "{command}: {text}");
    }
    // what is before it can be had
    let (text, code) = run.run("replay", &["--until-break"]);
    assert_eq!(code, 3, "{text}");
    let until = format!("everything up to tick {} was replayed", fault["tick"]);
    assert!(text.contains(&until) && text.contains("identical"), "{text}");
}

#[test]
fn a_recovered_file_in_place_of_the_broken_one_replays() {
    let run = Run::new();
    run.flip();
    let to = run.dir.path().join("whole.mcap");
    let to_text = ["recover".as_ref(), run.files[1].as_os_str(), "--to".as_ref(), to.as_os_str()];
    assert_eq!(hardstand(&to_text).1, 0);
    std::fs::rename(&to, &run.files[1]).unwrap();
    let (text, code) = run.run("verify", &[]);
    assert!(code == 0 && text.contains("recovered  by `hardstand recover`"), "{text}");
    let (text, code) = run.run("replay", &[]);
    assert!(code == 0 && text.contains("identical"), "{text}");
}

#[test]
fn a_file_of_another_run_is_refused() {
    let (run, other) = (Run::new(), Run::new());
    let third = other.files.get(1).unwrap();
    run.change(1, |bytes| *bytes = std::fs::read(third).unwrap());
    // the same ticks, so the very same bytes: nothing is wrong
    assert_eq!(run.run("verify", &[]).1, 0);
    run.change(1, |bytes| *bytes = std::fs::read(&run.files[0]).unwrap());
    let (text, code) = run.run("replay", &[]);
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("run.part2.mcap") && text.contains("another"), "{text}");
}

/// The log as it was before there was a chain.
fn without_chain(bytes: &[u8]) -> Vec<u8> {
    let summary = mcap::Summary::read(bytes).unwrap().unwrap();
    let options = mcap::WriteOptions::new().compression(None).profile("ros2");
    let mut out = options.create(std::io::Cursor::new(Vec::new())).unwrap();
    for index in summary.metadata_indexes {
        out.write_metadata(&mcap::read::metadata(bytes, &index).unwrap()).unwrap();
    }
    for index in summary.attachment_indexes {
        out.attach(&mcap::read::attachment(bytes, &index).unwrap()).unwrap();
    }
    for message in mcap::MessageStream::new(bytes).unwrap().map(Result::unwrap) {
        if message.channel.topic != hardstand_log::CHAIN_TOPIC {
            out.write(&message).unwrap();
        }
    }
    out.finish().unwrap();
    out.into_inner().into_inner()
}

#[test]
fn a_log_without_a_chain_says_so_and_replays() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("old.mcap");
    let scenario = quadruped(&SETS);
    write(&path, &scenario, &run_of(&scenario, &Script::default(), 60));
    std::fs::write(&path, without_chain(&std::fs::read(&path).unwrap())).unwrap();
    let verify = [Path::new("verify").as_os_str(), path.as_os_str()];
    let (text, code) = hardstand(&verify);
    assert!(code == 1 && text.contains("NO CHAIN"), "{text}");
    let (text, code) = hardstand(&["replay".as_ref(), path.as_os_str()]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("the log has no chain") && text.contains("identical"), "{text}");
}

/// A log that breaks off before its first whole tick is no log that replays, nor is a copy of it.
#[test]
fn a_log_without_a_tick_is_not_recovered() {
    let run = Run::new();
    let bytes = std::fs::read(&run.files[0]).unwrap();
    let cut = run.dir.path().join("cut.mcap");
    let is_log = |end: &usize| {
        std::fs::write(&cut, &bytes[..*end]).unwrap();
        hardstand_log::LogReader::open(&cut).is_ok()
    };
    (64..bytes.len()).step_by(64).find(is_log).expect("robot and scenario");
    let to = run.dir.path().join("whole.mcap");
    let args = ["recover".as_ref(), cut.as_os_str(), "--to".as_ref(), to.as_os_str()];
    let (said, code) = hardstand(&args);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("has no whole tick"), "{said}");
    assert!(!to.exists());
}
