//! `hardstand branch`: a run of a log goes on under other parameters.

use std::ffi::OsStr;
use std::path::Path;

use crate::common::bench;
use crate::common::bench::quadruped;
use crate::common::logs::{Script, hardstand, run_of, write, write_parts};
use hardstand_log::{LogReader, LogRecord, RunIndex};
use hardstand_protocol::LogTick;

const SETS: [&str; 2] = [
    "record.keyframe_every_ticks=50",
    "events=[{at_s=0.035, kind=\"push\", link=\"trunk\", force_n=[9,30,0], duration_s=0.05}]",
];
const TICKS: u64 = 240;

fn ticks() -> Vec<LogTick> {
    run_of(&quadruped(&SETS), &Script::default(), TICKS)
}

/// All records of all files of a run.
fn records(path: &Path) -> Vec<LogRecord> {
    let index = RunIndex::of(path, |_, _| ()).unwrap();
    let mut all = Vec::new();
    for part in &index.segments {
        let mut log = LogReader::open(&part.file).unwrap();
        all.extend(std::iter::from_fn(|| log.next_record()));
        assert_eq!(log.damage(), None);
    }
    all
}

fn digests(path: &Path) -> Vec<(u64, u64)> {
    let digest = |r: LogRecord| match r {
        LogRecord::Tick(t) => Some((t.tick, t.digest)),
        _ => None,
    };
    records(path).into_iter().filter_map(digest).collect()
}

/// Branches `from` at `at`; what is said, and the exit code.
fn branch(from: &Path, at: u64, more: &[&str], to: &Path) -> (String, i32) {
    let at = at.to_string();
    let args: [&OsStr; 6] = [
        "branch".as_ref(),
        from.as_ref(),
        "--at".as_ref(),
        at.as_ref(),
        "--log".as_ref(),
        to.as_ref(),
    ];
    let more: Vec<&OsStr> = more.iter().map(OsStr::new).collect();
    hardstand(&[&args[..], &more].concat())
}

fn assert_replays(path: &Path, ticks: u64) {
    let (out, code) = hardstand(&["replay".as_ref(), path.as_os_str()]);
    assert!(out.contains(&format!("identical  all {ticks} digests")) && code == 0, "{out}");
}

/// Where another number of points touches than at the start: a ball that has fallen.
#[test]
fn a_branch_where_shapes_touch_is_the_run_bit_for_bit() {
    let dir = tempfile::tempdir().unwrap();
    let (log, to) = (dir.path().join("log.mcap"), dir.path().join("branch.mcap"));
    let ball = "bodies=[{name=\"ball\", shape=\"sphere\", radius_m=0.1, mass_kg=1.0, \
                position_m=[2.0, 0.0, 0.15]}]";
    let scenario = quadruped(&[SETS[0], SETS[1], ball]);
    write(&log, &scenario, &run_of(&scenario, &Script::default(), TICKS));
    let (out, code) = branch(&log, 200, &[], &to);
    assert!(code == 0 && out.contains("all digests too"), "{out}");
    assert_replays(&to, TICKS - 200);
}

/// Of one file and of several; from a keyframe, and from in between.
#[test]
fn a_branch_that_changes_nothing_is_the_run_bit_for_bit() {
    let dir = tempfile::tempdir().unwrap();
    let (one, several) = (dir.path().join("one.mcap"), dir.path().join("several.mcap"));
    let ticks = ticks();
    write(&one, &quadruped(&SETS), &ticks);
    assert!(write_parts(&several, &quadruped(&SETS), &ticks).len() > 2);
    for (from, at) in [(&one, 0), (&one, 100), (&one, 137), (&several, 137), (&several, 239)] {
        let to = dir.path().join("branch.mcap");
        let (out, code) = branch(from, at, &[], &to);
        assert_eq!(code, 0, "{out}");
        assert!(out.contains("all digests too"), "{out}");
        assert_replays(&to, TICKS - at);
        let of_branch = |r: &LogRecord| match r {
            LogRecord::Tick(t) => t.tick >= at,
            LogRecord::State(s) => s.tick > at,
            LogRecord::Keyframe(k) => k.tick >= at,
        };
        let mut original = records(from);
        original.retain(of_branch);
        let mut branched = records(&to);
        if at % 50 != 0 {
            // it begins with a keyframe of its own
            assert!(matches!(branched.remove(0), LogRecord::Keyframe(k) if k.tick == at));
        }
        assert!(original == branched, "from {at} on");
    }
}

/// After a reset ticks begin again: the run number says which are meant, and ends the branch.
#[test]
fn a_branch_stays_in_its_run() {
    let dir = tempfile::tempdir().unwrap();
    let (from, to) = (dir.path().join("run.mcap"), dir.path().join("branch.mcap"));
    let mut all = ticks();
    let again = |run_id: u32, ticks: u64| {
        let script = Script { session: 10 + u64::from(run_id), ..Script::default() };
        let mut again = run_of(&quadruped(&SETS), &script, ticks);
        for t in &mut again {
            (t.run_id, t.state.run_id) = (run_id, run_id);
            t.state.time_ns += TICKS * bench::PERIOD_NS; // published time goes on
        }
        again
    };
    all.extend(again(2, 90));
    all.extend(again(3, 20));
    write_parts(&from, &quadruped(&SETS), &all);
    for (more, at, ticks) in [(&[][..], 30, TICKS - 30), (&["--run-id", "2"], 30, 60)] {
        let (out, code) = branch(&from, at, more, &to);
        assert!(out.contains("all digests too") && code == 0, "{out}");
        assert!(out.contains(&format!("compared   {ticks} ticks")), "{out}");
        assert_replays(&to, ticks);
        let LogRecord::State(first) = &records(&to)[2] else {
            panic!("a keyframe, a tick, a state")
        };
        let before = if more.is_empty() { 0 } else { TICKS };
        assert_eq!(first.time_ns, (31 + before) * bench::PERIOD_NS);
    }
}

/// A coefficient that is changed by `--set` is one that an event changes at that tick: the same run
/// to the last bit, though friction is a part of the state.
#[test]
fn a_changed_key_holds_from_the_first_tick_of_the_branch() {
    let dir = tempfile::tempdir().unwrap();
    let (from, oracle) = (dir.path().join("run.mcap"), dir.path().join("oracle.mcap"));
    write(&from, &quadruped(&SETS), &ticks());
    let events =
        "events=[{at_s=0.035, kind=\"push\", link=\"trunk\", force_n=[9,30,0], duration_s=0.05},
      {at_s=0.130, kind=\"friction\", mu_static=0.05, mu_kinetic=0.04}]";
    let scenario = quadruped(&[SETS[0], events]);
    write(&oracle, &scenario, &run_of(&scenario, &Script::default(), TICKS));
    let (to, plot) = (dir.path().join("ice.mcap"), dir.path().join("ice.svg"));
    let sets = ["--set", "contact.mu_static=0.05", "--set", "contact.mu_kinetic=0.04"];
    let (out, code) =
        branch(&from, 130, &[&sets[..], &["--plot", plot.to_str().unwrap()]].concat(), &to);
    assert_eq!(code, 1, "{out}");
    assert_replays(&to, TICKS - 130);
    assert_eq!(digests(&to), digests(&oracle)[130..]);
    assert_ne!(digests(&to), digests(&from)[130..]);
    for text in [
        "DIFFERENT  first at tick 131 (",
        "cause      the scenarios differ",
        "scenario   contact.mu_static is 0.8 and 0.05",
        "share",
    ] {
        assert!(out.contains(text), "{text}: {out}");
    }
    assert!(std::fs::read_to_string(&plot).unwrap().contains("ice.mcap"));
}

/// Events in place of the log's are as if they had been planned.
#[test]
fn events_of_a_branch_happen_in_place_of_those_of_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let plan = |events: &str| {
        let scenario = quadruped(&[SETS[0], &format!("events={events}")]);
        let path = dir.path().join("plan.mcap");
        write(&path, &scenario, &run_of(&scenario, &Script::default(), TICKS));
        digests(&path)
    };
    let early = "{at_s=0.035, kind=\"push\", link=\"trunk\", force_n=[9,30,0], duration_s=0.05}";
    let late = "{at_s=0.15, kind=\"push\", link=\"trunk\", force_n=[0,90,0], duration_s=0.02}";
    let (from, to) = (dir.path().join("run.mcap"), dir.path().join("branch.mcap"));
    let both = quadruped(&[SETS[0], &format!("events=[{early}, {late}]")]);
    write(&from, &both, &run_of(&both, &Script::default(), TICKS));
    // the push that is under way goes on
    for (events, as_planned) in [
        ("[]".to_string(), format!("[{early}]")),
        (
            format!("[{}]", late.replace("90", "-70")),
            format!("[{early}, {}]", late.replace("90", "-70")),
        ),
        (format!("[{late}]"), format!("[{early}, {late}]")),
    ] {
        let (out, code) = branch(&from, 60, &["--events", &events], &to);
        assert_eq!(digests(&to), plan(&as_planned)[60..], "{events}: {out}");
        assert_eq!(code, i32::from(!events.contains("90")), "{out}");
        assert_replays(&to, TICKS - 60);
    }
    let (out, code) = branch(&from, 160, &["--events", &format!("[{late}]")], &to);
    assert!(out.contains("one is at tick 150, before the branch at 160") && code == 2, "{out}");
}

/// Commands that were late, or proved life, are judged anew; one that would be obeyed now was never
/// written down.
#[test]
fn a_branch_ends_with_a_command_that_the_log_does_not_have() {
    let dir = tempfile::tempdir().unwrap();
    let (from, to) = (dir.path().join("run.mcap"), dir.path().join("branch.mcap"));
    let scenario = quadruped(&[SETS[0], SETS[1], "command.hold_ticks=20"]);
    let script = Script { late_ticks: 30, ..Script::default() };
    let ticks = run_of(&scenario, &script, TICKS);
    assert!(ticks[110..].iter().all(|t| t.joints.is_empty()), "the second one is late");
    write(&from, &scenario, &ticks);
    let (out, code) = branch(&from, 60, &["--set", "command.hold_ticks=40"], &to);
    assert!(
        out.contains("a command would be obeyed that was not obeyed in the log's run"),
        "{out}"
    );
    assert_eq!(code, 3, "{out}");
    let ticks = digests(&to).len() as u64;
    assert!((50..70).contains(&ticks), "up to the proof of life: {ticks}");
    assert_replays(&to, ticks);
    // earlier than before: what is known is enough
    let (out, code) = branch(&from, 60, &["--set", "command.hold_ticks=5"], &to);
    assert!(out.contains("DIFFERENT") && code == 1, "{out}");
    assert_replays(&to, TICKS - 60);
}

#[test]
fn what_cannot_be_branched_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let from = dir.path().join("run.mcap");
    let files = write_parts(&from, &quadruped(&SETS), &ticks());
    let to = dir.path().join("branch.mcap");
    for (sets, expected) in [
        ("sim.rate_hz=500", "changes the layout of the state"),
        ("contact.model=\"rigid\"", "changes the layout of the state"),
        ("feet=[{name=\"FL\", link=\"FL_foot\"}]", "changes the layout of the state"),
        ("initial.clearance_m=0.1", "is not allowed in a branch"),
        ("sim.duration_s=5", "is not allowed in a branch"),
        ("events=[]", "use --events"),
        ("contact.no_such_key=1", "contact.no_such_key"),
    ] {
        let (out, code) = branch(&from, 100, &["--set", sets], &to);
        assert!(out.contains(expected) && code == 2, "{sets}: {out}");
        assert!(!to.exists(), "{sets}");
    }
    let (out, code) = branch(&from, TICKS, &[], &to);
    assert!(out.contains("it holds ticks 0 to 239 of run 1") && code == 2, "{out}");
    let before: Vec<Vec<u8>> = files.iter().map(|f| std::fs::read(f).unwrap()).collect();
    let linked = dir.path().join("linked.mcap");
    std::os::unix::fs::symlink(&files[1], &linked).unwrap();
    let hard = dir.path().join("hard.mcap");
    std::fs::hard_link(&from, &hard).unwrap();
    let all = [(&from, &from), (&from, &files[1]), (&files[1], &from), (&from, &linked)];
    for (log, to) in all.into_iter().chain([(&from, &hard)]) {
        let (out, code) = branch(log, 200, &[], to);
        assert!(out.contains("choose another name") && code == 2, "{}: {out}", to.display());
    }
    let after: Vec<Vec<u8>> = files.iter().map(|f| std::fs::read(f).unwrap()).collect();
    assert!(before == after, "the log is as it was");
}

/// A plant that stops itself ends the branch, and its log replays.
#[test]
fn a_fault_ends_a_branch() {
    let dir = tempfile::tempdir().unwrap();
    let (from, to) = (dir.path().join("run.mcap"), dir.path().join("branch.mcap"));
    write(&from, &quadruped(&SETS), &ticks());
    let sets = ["--set", "sim.micro_steps=1", "--set", "contact.d2_per_m=1e5"];
    let (out, code) = branch(&from, 120, &sets, &to);
    assert!(out.contains("ended      plant failure: ") && code == 6, "{out}");
    let (out, _) = hardstand(&["replay".as_ref(), to.as_os_str()]);
    assert!(out.contains("identical"), "{out}");
}
