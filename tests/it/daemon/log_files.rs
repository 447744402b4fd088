//! The files of the log: other processes that want them, and a robot that is reset all the time.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use hardstand::daemon::EVENT_TOPIC;
use hardstand_log::{LogReader, RunIndex};
use hardstand_protocol::{ControlRequest, Order};
use rustix::process::Signal;

use crate::common::process::{Log, Observer, PATIENCE, Process, Scene, serial, wait_for};

const NOW: [&str; 2] = ["--set", "sim.start=now"];

/// A daemon of `scene` that records in `log`.
fn daemon(scene: &Scene, log: &Path, more: &[&str]) -> Process {
    let args = scene.run_args_with_log(log, more);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    scene.hardstand("daemon", &args)
}

#[test]
fn two_daemons_never_record_in_one_log() {
    let _one = serial();
    let (scene, other) = (Scene::new(), Scene::new());
    let mut first = scene.daemon(&NOW);
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick >= 50);
    let text = daemon(&other, &scene.log(), &NOW).ends_with(2);
    assert!(text.contains("another process records in it now"), "{text}");
    assert!(text.contains(&scene.log().display().to_string()), "{text}");
    let state = observer.until("it goes on", |s| s.tick >= 500);
    first.signal(Signal::TERM);
    first.ends_with(0);
    let log = Log::read(&scene.log());
    log.assert_no_tick_is_missing();
    assert!(log.damage.is_none() && log.ticks.len() as u64 >= state.tick, "{:?}", log.damage);

    // the lock of a daemon that was killed is gone
    let mut killed = scene.daemon(&NOW);
    Observer::of(&scene).until("it runs", |s| s.tick >= 50);
    killed.kill();
    daemon(&other, &scene.log(), &["--pace", "free", "--duration", "0.1"]).ends_with(0);
    assert_eq!(Log::read(&scene.log()).ticks.len(), 100);
}

#[test]
fn a_log_that_is_removed_during_the_run_is_told_and_the_rest_is_kept() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon =
        scene.daemon(&[&NOW[..], &["--set", "record.keyframe_every_ticks=100"]].concat());
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick >= 300);
    assert_eq!(observer.status().counter("log_files_lost"), 0);
    std::fs::remove_file(scene.log()).unwrap();
    let status = observer.status_until("it is told", |s| s.counter("log_files_lost") == 1);
    assert_eq!(status.counter("log_failed"), 0, "the recording goes on");
    let told = wait_for("the message", || Some(daemon.err()).filter(|e| e.contains("removed")));
    assert!(told.contains("run.mcap: it was removed or renamed; the recording goes on"), "{told}");
    observer.until("some keyframes more", |s| s.tick >= status.tick + 500);
    daemon.signal(Signal::TERM);
    let text = daemon.ends_with(3);
    assert!(text.contains("LOST: ") && text.contains("ended      stopped by a signal"), "{text}");
    let rest = scene.path("run.part2.mcap");
    let index = RunIndex::of(&rest, |_, _| ()).unwrap();
    assert!(index.ticks() > 300 && index.damage.is_none(), "{index:?}");
    scene.hardstand("replay", &["replay", rest.to_str().unwrap()]).ends_with(0);
}

/// It is in the report that another program reads, too.
#[test]
fn a_log_that_is_cut_during_the_run_is_in_the_report() {
    let _one = serial();
    let scene = Scene::new();
    let report = scene.path("report.json");
    let name = report.to_str().unwrap();
    let mut daemon = scene.daemon(&[&NOW[..], &["--report", name]].concat());
    Observer::of(&scene).until("it runs", |s| s.tick >= 100);
    std::fs::OpenOptions::new().write(true).open(scene.log()).unwrap().set_len(1000).unwrap();
    daemon.signal(Signal::TERM);
    daemon.ends_with(3);
    let report = std::fs::read_to_string(report).unwrap();
    assert!(report.contains("\"recording_error\":\"log ") && report.contains("it was cut to"));
}

/// The daemon opens no pipe, and ends at once.
#[test]
fn a_log_that_is_no_file_or_not_ours_is_refused() {
    let _one = serial();
    let scene = Scene::new();
    let pipe = scene.path("pipe.mcap");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let text = scene.path("notes.txt");
    std::fs::write(&text, "a text").unwrap();
    for (log, expected) in [
        (pipe.as_path(), "it is a named pipe"),
        (Path::new("/dev/full"), "it is a device"),
        (scene.dir.path(), "it is a folder"),
        (text.as_path(), "it would be replaced, but it is not of an earlier run"),
    ] {
        let said = daemon(&scene, log, &NOW).ends_with(2);
        assert!(said.contains(expected) && said.contains(&log.display().to_string()), "{said}");
    }
    assert_eq!(std::fs::read(&text).unwrap(), b"a text");
}

/// Resets the robot `count` times, each after a tick of the run before.
fn reset(observer: &Observer, count: u32, rewind: bool) {
    for _ in 0..count {
        let before = observer.state().run_id;
        let request = ControlRequest { rewind: u8::from(rewind), ..ControlRequest::default() };
        observer.client.steer(Order::Reset, &request, PATIENCE).unwrap();
        observer.until("the next run", |s| s.run_id > before && s.tick > 0);
    }
}

#[test]
fn resets_that_rewind_the_time_end_at_the_limit_of_files() {
    let _one = serial();
    let scene = Scene::in_memory();
    let mut daemon = scene.daemon(&[&NOW[..], &["--set", "record.files_max=3"]].concat());
    let observer = Observer::of(&scene);
    reset(&observer, 2, true);
    assert_eq!(observer.status().counter("log_full"), 0);
    reset(&observer, 5, true);
    let status = observer.status_until("it is told", |s| s.counter("log_full") == 1);
    assert_eq!(status.counter("log_failed"), 1);
    let told = wait_for("the message", || Some(daemon.err()).filter(|e| e.contains("log")));
    assert!(told.contains("the 3 files that record.files_max allows"), "{told}");
    observer.until("the robot goes on", |s| s.tick >= 300);
    daemon.signal(Signal::TERM);
    daemon.ends_with(3);
    let last = scene.path("run.part3.mcap");
    assert!(last.exists() && !scene.path("run.part4.mcap").exists());
    assert!(LogReader::open(&last).is_ok());
    scene.replays();
}

/// Each run is a file: a client that resets without end does not fill the folder.
#[test]
fn a_flood_of_resets_makes_ten_files_a_second() {
    let _one = serial();
    let scene = Scene::in_memory();
    let mut daemon = scene.daemon(&NOW);
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick >= 50);
    let (begin, mut taken, mut refused) = (Instant::now(), 0, 0);
    while begin.elapsed() < Duration::from_secs(2) {
        match observer.client.steer(Order::Reset, &ControlRequest::default(), PATIENCE) {
            Ok(_) => taken += 1,
            Err(e) => {
                assert!(e.to_string().contains("each run is a file of the log"), "{e}");
                refused += 1;
            }
        }
    }
    let limit = 32 + begin.elapsed().as_millis() as u64 / 100 + 1;
    assert!(refused > taken && (33..=limit).contains(&taken), "{taken} of {limit}, {refused} not");
    observer.until("the robot goes on", |s| s.tick >= 100);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    let files = std::fs::read_dir(scene.log().parent().unwrap()).unwrap();
    let files = files.filter(|f| f.as_ref().unwrap().path().extension() == Some("mcap".as_ref()));
    assert!(files.count() as u64 <= limit + 1);
    scene.replays();
}

/// Each order with the asker, and the events of the loop, in words that other readers show.
#[test]
fn the_log_says_who_ordered_what() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&NOW);
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick >= 50);
    let push = ["push", "--link", "trunk", "--force", "0", "20", "0", "--duration", "0.01"];
    scene.ctl(&push, 0);
    scene.ctl(&["pause"], 0);
    // the last event belongs to no tick
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    let bytes = std::fs::read(scene.log()).unwrap();
    let messages = mcap::MessageStream::new(&bytes).unwrap().map(Result::unwrap);
    let events: Vec<serde_json::Value> = messages
        .filter(|m| m.channel.topic == EVENT_TOPIC)
        .map(|m| serde_json::from_slice(&m.data[8..m.data.len() - 1]).unwrap())
        .collect();
    let of = |kind: &str| events.iter().filter(|e| e["kind"] == kind).collect::<Vec<_>>();
    let texts: Vec<&str> = of("order").iter().map(|e| e["text"].as_str().unwrap()).collect();
    assert!(texts.len() == 2 && texts[1].contains("ordered pause"), "{texts:?}");
    assert!(
        of("order").iter().all(|e| e["asker"].as_str().unwrap().starts_with("pid-")),
        "{events:?}"
    );
    assert_eq!(of("push").len(), 1, "{events:?}");
    scene.replays();
}

/// Published time goes on over a reset, and an order has the time of the state whose number it has.
#[test]
fn an_order_has_the_time_of_its_tick_in_a_later_run_too() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&NOW);
    let client = scene.client();
    let events = client.events().unwrap();
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick >= 50);
    scene.ctl(&["reset"], 0);
    let again = observer.until("the next run", |s| s.run_id == 2 && s.tick >= 10);
    let begin_ns = again.time_ns - again.tick * 1_000_000;
    assert!(begin_ns >= 50_000_000, "{begin_ns}");
    scene.ctl(&["pause"], 0);
    scene.ctl(&["stop"], 0);
    let mut ordered = Vec::new();
    while ordered.len() < 3 {
        let event = events.next(PATIENCE).unwrap().expect("the events of three orders");
        if event.kind == "order" {
            assert_eq!(event.run_id, 2, "{event:?}");
            assert_eq!(event.time_ns, begin_ns + event.tick * 1_000_000, "{event:?}");
            ordered.push(event.text);
        }
    }
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}
