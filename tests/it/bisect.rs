//! `hardstand bisect`: quantities, conditions, judges, and where two logs part.

use std::collections::BTreeSet;
use std::path::Path;

use crate::common::bench::quadruped;
use crate::common::logs::{Script, hardstand, run_of, write, write_parts};
use crate::common::repository;
use hardstand::inspect::{Cause, Comparison, Condition, Quantities, compare, trace};
use hardstand::replay::Player;
use hardstand_log::TickId;
use hardstand_physics::contact::{HalfSpace, Overlap};
use hardstand_physics::spatial::Vec3;
use hardstand_protocol::LogTick;

/// Twelve stretches; pushed and put on ice over their borders.
const SETS: [&str; 2] = [
    "record.keyframe_every_ticks=20",
    "events=[{at_s=0.035, kind=\"push\", link=\"trunk\", force_n=[9,30,0], duration_s=0.05},
     {at_s=0.100, kind=\"friction\", mu_static=0.05, mu_kinetic=0.04}]",
];
const TICKS: u64 = 240;

fn ticks() -> Vec<LogTick> {
    run_of(&quadruped(&SETS), &Script::default(), TICKS)
}

/// The same, and 100 ticks after a reset.
fn two_runs() -> Vec<LogTick> {
    let mut all = ticks();
    let mut again = run_of(&quadruped(&SETS), &Script { session: 9, ..Script::default() }, 100);
    for tick in &mut again {
        (tick.run_id, tick.state.run_id) = (2, 2);
    }
    all.extend(again);
    all
}

fn logged(dir: &Path, name: &str, ticks: &[LogTick]) -> std::path::PathBuf {
    let path = dir.join(name);
    write(&path, &quadruped(&SETS), ticks);
    path
}

/// What the loop has published is what a replay shows, by name.
#[test]
fn quantities_are_what_was_published() {
    let dir = tempfile::tempdir().unwrap();
    let ticks = ticks();
    let path = logged(dir.path(), "run.mcap", &ticks);
    let scenario = quadruped(&SETS);
    let quantities = Quantities::of(&scenario.simulation());
    let names: BTreeSet<&str> = quantities.list().iter().map(|q| q.name.as_str()).collect();
    assert_eq!(names.len(), quantities.list().len(), "each name is unique");
    let mut player = Player::open(&path).unwrap();
    let mut seen = 0;
    for tick in &ticks {
        assert!(player.advance().unwrap());
        let view = player.view().unwrap();
        let of = |name: &str| quantities.find(name).unwrap_or_else(|| panic!("{name}")).of(&view);
        let (state, contacts) = (&tick.state, tick.contacts.as_ref().unwrap());
        let foot = &contacts.feet[1];
        let station = &contacts.stations[1];
        for (name, expected) in [
            ("tick", state.tick as f64),
            ("time", state.time_ns as f64 / 1e9),
            ("authority", f64::from(state.authority)),
            ("age", f64::from(state.command_age_ticks)),
            ("base.y", state.truth_base_position_m[1]),
            ("base.vz", state.truth_base_velocity_m_per_s[2]),
            ("base.wx", state.truth_base_angular_velocity_rad_per_s[0]),
            ("base.quat.w", state.truth_base_quat_wxyz[0]),
            ("imu.gyro.x", state.imu_angular_velocity_rad_per_s[0]),
            ("imu.accel.z", state.imu_specific_force_m_per_s2[2]),
            ("joint.FR_calf_joint.q", state.joints[5].q),
            ("joint.FR_calf_joint.tau", state.joints[5].tau),
            ("joint.FR_calf_joint.kp", tick.references[5].kp),
            ("foot.FR.normal", foot.normal_n),
            ("foot.FR.force.z", foot.force_world_n[2]),
            ("foot.FR.point.x", foot.point_world_m[0]),
            ("foot.FR.slip", if station.normal_n > 0.0 { station.slip_m_per_s } else { 0.0 }),
            ("station.FR.slip", station.slip_m_per_s),
            ("station.FR.sliding", station.sliding),
            ("station.FR.anchor.y", station.anchor_world_m[1]),
            ("station.trunk.7.height", contacts.stations.last().unwrap().height_m),
            ("candidates", tick.candidates.len() as f64),
            ("events", tick.events.len() as f64),
        ] {
            assert_eq!(of(name).to_bits(), expected.to_bits(), "{name} after {}", state.tick);
            seen += 1;
        }
        let held = &scenario.spec.q.joints[5];
        let commanded = if state.command_session == 0 { 0.0 } else { *held };
        assert_eq!(of("command.FR_calf_joint.q").to_bits(), commanded.to_bits());
    }
    assert!(!player.advance().unwrap());
    assert_eq!(seen, 23 * ticks.len());
}

/// With several surfaces the plain name means the one that carries most.
#[test]
fn a_station_over_several_surfaces_is_the_contact_that_carries_most() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    let sets = ["planes=[{name=\"low\", position_m=[0,0,-0.5], rpy_rad=[0,0,0]},
                 {name=\"ground\", position_m=[0,0,0], rpy_rad=[0,0,0]}]"];
    let scenario = quadruped(&sets);
    write(&path, &scenario, &run_of(&scenario, &Script::default(), 100));
    let quantities = Quantities::of(&scenario.simulation());
    let mut player = Player::open(&path).unwrap();
    let mut loaded = 0;
    while player.advance().unwrap() {
        let view = player.view().unwrap();
        let of = |name: &str| quantities.find(name).unwrap_or_else(|| panic!("{name}")).of(&view);
        assert_eq!(of("station.FL.height"), of("station.FL.on.ground.height"));
        assert_eq!(of("station.FL.normal"), of("station.FL.on.ground.normal"));
        assert!(of("station.FL.on.low.height") > 0.4);
        loaded += u64::from(of("station.FL.normal") > 0.0);
    }
    assert!(loaded > 50, "{loaded}");
}

/// Simbody's patch radius: of Hertz' contact with a ball.
#[test]
fn a_ball_on_hertz_contact_has_the_radius_of_its_patch() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    let scenario = quadruped(&["contact.model=hunt_crossley", "stations=[]"]);
    write(&path, &scenario, &run_of(&scenario, &Script::default(), 100));
    let quantities = Quantities::of(&scenario.simulation());
    let mut player = Player::open(&path).unwrap();
    let mut touched = 0;
    while player.advance().unwrap() {
        let view = player.view().unwrap();
        let of = |name: &str| quantities.find(name).unwrap_or_else(|| panic!("{name}")).of(&view);
        let (radius_m, depth_m) = (0.022, -of("station.FL.height"));
        let expected = if depth_m > 0.0 {
            let floor = HalfSpace { point: Vec3::zeros(), normal: Vec3::z() };
            let centre = Vec3::z() * (radius_m - depth_m);
            Overlap::sphere_on_half_space(&floor, &centre, radius_m).unwrap().patch_radius_m()
        } else {
            0.0
        };
        assert!((of("station.FL.patch_radius") - expected).abs() < 1e-15, "{expected}");
        touched += u64::from(expected > 1e-3);
    }
    assert!(touched > 50, "{touched}");
    // springs have no such patch
    assert!(Quantities::of(&quadruped(&[]).simulation()).find("station.FL.patch_radius").is_none());
}

#[test]
fn conditions_mean_what_they_say() {
    let dir = tempfile::tempdir().unwrap();
    let path = logged(dir.path(), "run.mcap", &ticks()[..120]);
    let quantities = Quantities::of(&quadruped(&SETS).simulation());
    let mut player = Player::open(&path).unwrap();
    while player.advance().unwrap() {}
    let view = player.view().unwrap(); // tick is 120, time 0.12 s
    for (text, expected) in [
        ("tick == 120", true),
        ("tick != 120", false),
        ("tick >= 120 and tick <= 120", true),
        ("tick > 120 or tick < 120", false),
        ("tick>119&&!(tick>120)", true),
        ("not tick < 120 and not tick > 120", true),
        ("tick < 0 or tick > 0 and tick > 200", false),
        ("(tick < 0 or tick > 0) and tick > 2e2", false),
        ("2 + 3 * 4 - 6 / 2 == 11", true),
        ("(2 + 3) * 4 == 20 || tick < 0", true),
        ("10 - 4 - 3 == 3", true),
        ("24 / 4 / 2 == 3", true),
        ("-2 * -3 == 6", true),
        ("- -2 == 2", true),
        ("abs(-tick) == 120", true),
        ("min(tick, 3, 5) == 3 and max(tick, 3) == 120", true),
        ("abs(time - .12) < 1e-12", true),
        ("0 / 0 == 0 / 0", false),
        ("0 / 0 != 0 / 0", false),
        ("max(0 / 0, 1) > 0", false),
        ("foot.FL.normal == station.FL.normal", true),
    ] {
        let condition =
            Condition::parse(text, &quantities).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(condition.at(&view).holds, expected, "{text}");
    }
    for (text, expected) in [
        ("foot.FL.slp > 0.02", "there is no quantity foot.FL.slp; the nearest are foot.FL.slip,"),
        ("base.z", "a number is no condition"),
        ("base.z < 1 < 2", "write a < b and b < c"),
        ("base.z and tick > 1", "both sides must be conditions"),
        ("(tick > 1) + 2 > 3", "both sides must be numbers"),
        ("abs(tick > 1) > 0", "a condition is no number"),
        ("abs(1, 2) > 0", "one argument of abs"),
        ("sin(tick) > 0", "there is no function sin; there are abs, min, max, rate, rises"),
        ("tick for 1 s", "column 6: expected an operator"),
        ("tick > 1 for 1", "expected a unit of time, s or ms"),
        ("tick > 1 for 0 ms", "up to 1000 s"),
        ("tick > 1 for 2000 s", "up to 1000 s"),
        ("rises(tick)", "a number is no condition"),
        ("rate(tick > 1) > 0", "a condition is no number"),
        ("tick > ", "column 8: expected a number, a quantity or ("),
        ("(tick > 1", "column 10: expected )"),
        ("tick > 1)", "column 9: expected an operator"),
        ("tick = 1", "column 6: expected an operator"),
        ("tick > 1x", "column 8: expected a number"),
        ("tick > 1.2.3", "column 8: expected a number"),
        ("tick > 1e999", "column 8: expected a number"),
        ("", "column 1: expected a number, a quantity or ("),
        ("ä > 1", "there is no quantity ä"),
        (&("(".repeat(500) + "1 > 0"), "within each other"),
        (&("tick > 1 or ".repeat(100_000) + "tick > 1"), "at most 1000 operands"),
        (&("tick > 1".to_string() + &" for 1 s".repeat(100_000)), "at most 1000 operands"),
    ] {
        let error = Condition::parse(text, &quantities).unwrap_err().to_string();
        assert!(error.contains(expected), "{text:?}: {error}");
    }
}

/// In which ticks of 120 a condition holds.
fn held_in(path: &Path, text: &str) -> Vec<u64> {
    let quantities = Quantities::of(&quadruped(&SETS).simulation());
    let mut watch = Condition::parse(text, &quantities).unwrap_or_else(|e| panic!("{e}")).watch();
    let mut player = Player::open(path).unwrap();
    let mut held = Vec::new();
    while player.advance().unwrap() {
        let view = player.view().unwrap();
        let truth = watch.look(&view);
        if truth.holds {
            held.push(view.state.tick);
        }
        // the margin has the sign of the truth
        assert!(if truth.holds { truth.margin >= 0.0 } else { truth.margin <= 0.0 }, "{text}");
    }
    held
}

#[test]
fn conditions_remember_how_long_they_have_held() {
    let dir = tempfile::tempdir().unwrap();
    let path = logged(dir.path(), "run.mcap", &ticks()[..120]);
    // tick 50 is that at 0.05 s; ten ms later the condition has held for ten ms
    for (text, first, last) in [
        ("tick >= 50 for 10 ms", 60, 120),
        ("tick >= 50 for 0.01 s and tick <= 70", 60, 70),
        ("(tick >= 50 and tick <= 70) for 10 ms", 60, 70),
        ("(tick >= 50 and tick <= 70) for 20 ms", 70, 70),
        ("not tick < 50 for 10 ms", 1, 10),
        ("rises(tick >= 50)", 50, 50),
        ("rises(tick >= 50 for 10 ms)", 60, 60),
        ("rate(tick) > 999 and rate(tick) < 1001 and tick < 9", 2, 8),
        ("rate(rate(tick)) < 1e-3 and tick < 9", 3, 8),
        ("tick < 0 or rises(tick == 3)", 3, 3),
        ("(tick == 20 or tick == 21) and rises(tick >= 21)", 21, 21),
    ] {
        let held = held_in(&path, text);
        let expected: Vec<u64> = match text {
            "not tick < 50 for 10 ms" => (1..=10).chain(50..=120).collect(),
            _ => (first..=last).collect(),
        };
        assert_eq!(held, expected, "{text}");
    }
    let none = held_in(&path, "(tick >= 50 and tick <= 70) for 21 ms");
    assert!(none.is_empty() && held_in(&path, "rises(tick >= 1)").is_empty(), "{none:?}");
    // as the command line has it, on whatever threads
    let text = "tick >= 50 for 10 ms";
    let words = ["bisect".as_ref(), path.as_os_str(), "--where".as_ref(), text.as_ref()];
    let (out, _) = hardstand(&[&words[..], &["--threads".as_ref(), "3".as_ref()]].concat());
    assert!(out.contains("holds      first at tick 60 "), "{out}");
}

type Holds<'a> = &'a dyn Fn(&LogTick) -> bool;

/// Against a walk through all ticks, on one thread and on several, at and around borders.
#[test]
fn the_first_tick_at_which_a_condition_holds_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let ticks = ticks();
    let path = logged(dir.path(), "run.mcap", &ticks);
    let slip = |t: &LogTick| {
        let s = &t.contacts.as_ref().unwrap().stations[0];
        if s.normal_n > 0.0 { s.slip_m_per_s } else { 0.0 }
    };
    let most = ticks.iter().map(slip).fold(0.0, f64::max);
    let cases: [(String, Holds<'_>); 5] = [
        (format!("foot.FL.slip >= {:e}", 0.5 * most), &|t| slip(t) >= 0.5 * most),
        (format!("foot.FL.slip == {most:e}"), &|t| slip(t) == most),
        ("authority == 3".into(), &|t| t.state.authority == 3),
        ("events > 0 and tick > 50".into(), &|t| !t.events.is_empty() && t.state.tick > 50),
        ("base.z < -1".into(), &|_| false),
    ];
    let at = [1, 19, 20, 21, 22, 133, 240].map(|n| (format!("tick >= {n}"), n));
    let found = cases.map(|(text, holds)| {
        let first = ticks.iter().find(|t| holds(t)).map(|t| t.state.tick);
        (text, first)
    });
    assert_eq!(found.iter().filter(|(_, first)| first.is_some()).count(), 4, "{found:?}");
    for (text, first) in found.into_iter().chain(at.map(|(text, n)| (text, Some(n)))) {
        for threads in ["1", "3"] {
            let (out, code) = hardstand(&[
                "bisect".as_ref(),
                path.as_os_str(),
                "--where".as_ref(),
                text.as_ref(),
                "--threads".as_ref(),
                threads.as_ref(),
            ]);
            let expected =
                first.map_or("never".into(), |n| format!("holds      first at tick {n} ("));
            assert!(out.contains(&expected), "{text}, {threads} threads: {out}");
            assert_eq!(code, i32::from(first.is_some()), "{text}: {out}");
        }
    }
}

/// The quantities of the condition but the time, with a mark, of the run that the tick is of.
#[test]
fn a_search_draws_what_is_around_the_tick() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    write_parts(&path, &quadruped(&SETS), &two_runs());
    let plot = dir.path().join("plot.svg");
    let search = |text: &str| {
        let words = ["bisect".as_ref(), path.as_os_str(), "--where".as_ref(), text.as_ref()];
        hardstand(&[&words[..], &["--plot".as_ref(), plot.as_os_str()]].concat())
    };
    let (out, code) = search("tick < 0 and base.z > 9");
    assert!(out.contains("nothing is drawn") && code == 0, "{out}");
    assert!(!plot.exists());
    let (out, code) = search("run_id == 2 and time > 0.05 and base.z > -1 and base.tilt >= 0");
    assert!(out.contains(&format!("plot       {}", plot.display())) && code == 1, "{out}");
    let drawn = std::fs::read_to_string(&plot).unwrap();
    for panel in ["base.z, m", "base.tilt, rad"] {
        assert!(drawn.contains(panel), "{panel}: {drawn}");
    }
    assert!(!drawn.contains("time, s"), "{drawn}");
    // run 2 has 100 ticks, run 1 has more
    assert!(drawn.contains("0.08") && !drawn.contains("0.15"), "{drawn}");
}

/// Nothing is said of ticks that a replay does not reach as they are in the log.
#[test]
fn a_search_says_when_the_replay_differs_or_the_log_is_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let ticks = ticks();
    let search = |path: &Path, text: &str| {
        hardstand(&["bisect".as_ref(), path.as_os_str(), "--where".as_ref(), text.as_ref()])
    };
    // made by another build: the same scenario has given another run
    let path = dir.path().join("other.mcap");
    write(&path, &quadruped(&[SETS[0], SETS[1], "contact.mu_static=0.7"]), &ticks);
    let (out, code) = search(&path, "tick == 200");
    assert!(out.contains("DIFFERENT  first at tick") && code == 1, "{out}");
    assert!(!out.contains("holds"), "{out}");
    let (out, code) =
        hardstand(&["bisect".as_ref(), path.as_os_str(), "--".as_ref(), "true".as_ref()]);
    assert!(out.contains("DIFFERENT") && !out.contains("judged") && code == 1, "{out}");

    let path = logged(dir.path(), "run.mcap", &ticks);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let (out, code) = search(&path, "tick > 230");
    assert!(out.contains("damaged") && out.contains("never") && code == 3, "{out}");
    let (out, code) = search(&path, "tick > 20");
    assert!(out.contains("holds      first at tick 21 (") && code == 1, "{out}");
}

/// The tick in which the plant stops itself has the number of the one before it.
#[test]
fn conditions_remember_over_the_end_of_the_plant() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("hurled.mcap");
    let push = "{at_s=0, kind=\"push\", link=\"trunk\", force_n=[1e6, 0, 0], duration_s=1}";
    let events = format!("events=[{push}, {push}, {push}]");
    let mut run = std::process::Command::new(env!("CARGO_BIN_EXE_hardstand"));
    run.args(["controller", "stand", "--in-process", &repository("config/quadruped.toml")]);
    run.args(["--set", &events, "--duration", "0.1", "--log"]).arg(&path);
    run.output().unwrap();
    let ends = held_in(&path, "failure != 0");
    assert_eq!(ends.len(), 1, "{ends:?}");
    for text in ["rises(failure != 0)", "failure != 0 and (time > 0 for 20 ms)"] {
        assert_eq!(held_in(&path, text), ends, "{text}");
    }
}

/// A run in several files, and a run after a reset: tick and run number are reported.
#[test]
fn all_files_and_runs_are_searched() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    let files = write_parts(&path, &quadruped(&SETS), &two_runs());
    assert!(files.len() > 3, "{files:?}");
    for (text, expected) in [
        ("tick >= 200", "first at tick 200 ("),
        ("run_id == 2 and tick == 77", "first at tick 77 of run 2 ("),
    ] {
        let (out, code) =
            hardstand(&["bisect".as_ref(), path.as_os_str(), "--where".as_ref(), text.as_ref()]);
        assert!(out.contains(expected) && code == 1, "{text}: {out}");
    }
    // a judge sees them, too
    let script = "test $HARDSTAND_RUN_ID = 1 -o $HARDSTAND_TICK -lt 42";
    let (out, code) = judged(&path, script);
    assert!(out.contains("bad        first at tick 42 of run 2 (") && code == 1, "{out}");
    let list = ["bisect".as_ref(), path.as_os_str(), "--list".as_ref(), "--at".as_ref()];
    let (out, code) =
        hardstand(&[&list[..], &["55".as_ref(), "--run-id".as_ref(), "2".as_ref()]].concat());
    let line =
        |name: &str| out.lines().find(|l| l.starts_with(name)).unwrap_or_default().to_string();
    assert!(code == 0 && line("tick ").contains(" 55 ") && line("run_id").contains(" 2 "), "{out}");
    let (out, code) = hardstand(&[&list[..], &["999".as_ref()]].concat());
    let extent = "no state has 999 ticks done: tick 998 of run 1 is not in the log; it holds ticks 0 \
                  to 239 of run 1, ticks 0 to 99 of run 2";
    assert!(out.contains(extent) && code == 2, "{out}");
    let both = ["--where", "tick > 1", "--at", "5"].map(AsRef::as_ref);
    let (out, code) = hardstand(&[&["bisect".as_ref(), path.as_os_str()], &both[..]].concat());
    assert!(out.contains("cannot be used with") && code == 2, "{out}");
}

fn judged(path: &Path, script: &str) -> (String, i32) {
    hardstand(&[
        "bisect".as_ref(),
        path.as_os_str(),
        "--".as_ref(),
        "sh".as_ref(),
        "-c".as_ref(),
        script.as_ref(),
    ])
}

#[test]
fn a_command_judges_ticks() {
    let dir = tempfile::tempdir().unwrap();
    let path = logged(dir.path(), "run.mcap", &ticks());
    // what it reads is the tick that it is asked for
    let reads =
        "json=$(cat); case $json in *\\\"tick\\\":$HARDSTAND_TICK.0[,}]*) ;; *) exit 200;; esac; ";
    for (script, expected, code) in [
        ("test $HARDSTAND_TICK -lt 133", "bad        first at tick 133 (", 1),
        ("true", "never", 0),
        ("false", "bad        first at tick 1 (", 1),
        ("test $HARDSTAND_TICK -lt 133 || exit 127", "bad        first at tick 133 (", 1),
        (
            "test $HARDSTAND_TICK -lt 150 && exit 0; test $HARDSTAND_TICK -lt 153 && exit 125; exit 1",
            "bad        first between tick 150 (0.150 s) and tick 153 (",
            1,
        ),
        (
            "test $((HARDSTAND_TICK % 3)) = 0 && exit 125; test $HARDSTAND_TICK -lt 152",
            "bad        first at tick 152 (",
            1,
        ),
        ("exit 125", "can judge none", 2),
        ("exit 128", "exit status: 128", 2),
        ("kill -9 $$", "signal: 9", 2),
    ] {
        let (out, got) = judged(&path, &format!("{reads}{script}"));
        assert!(out.contains(expected), "{script}: {out}");
        assert_eq!(got, code, "{script}: {out}");
    }
    // one that reads nothing
    let (out, code) = judged(&path, "exec <&-; test $HARDSTAND_TICK -lt 7");
    assert!(out.contains("first at tick 7 (") && code == 1, "{out}");
    let args = ["bisect".as_ref(), path.as_os_str(), "--".as_ref(), "/no/such/judge".as_ref()];
    let (out, code) = hardstand(&args);
    assert!(out.contains("cannot run /no/such/judge") && code == 2, "{out}");
}

/// The comparison of two runs, and what the program says of them.
fn compared(dir: &Path, a: &Path, b: &Path) -> (Comparison, String, i32) {
    let (mut x, mut y) = (Player::open(a).unwrap(), Player::open(b).unwrap());
    let found = compare(&mut x, &mut y, |_, _| ()).unwrap();
    let plot = dir.join("plot.svg");
    let args =
        ["bisect".as_ref(), a.as_os_str(), b.as_os_str(), "--plot".as_ref(), plot.as_os_str()];
    let (out, code) = hardstand(&args);
    let five: Vec<&str> = found.ranked.iter().take(5).map(|r| r.name.as_str()).collect();
    let drawn = std::fs::read_to_string(&plot).unwrap_or_default();
    for name in five {
        assert!(out.contains(name), "{name}: {out}");
        assert!(drawn.contains(name), "{name}: {drawn}");
    }
    (found, out, code)
}

const fn at(tick: u64) -> TickId {
    TickId { run_id: 1, tick }
}

#[test]
fn equal_runs_are_equal_whatever_their_sessions_are_called() {
    let dir = tempfile::tempdir().unwrap();
    let a = logged(dir.path(), "a.mcap", &ticks());
    let (found, out, code) = compared(dir.path(), &a, &a);
    assert_eq!((found.ticks, found.cause, found.digest, code), (TICKS, None, None, 0));
    assert!(out.contains("all digests too"), "{out}");
    let script = Script { session: 1234, ..Script::default() };
    let other = run_of(&quadruped(&SETS), &script, TICKS - 7);
    let b = logged(dir.path(), "b.mcap", &other);
    let (found, out, code) = compared(dir.path(), &a, &b);
    assert_eq!((found.ticks, found.cause.clone(), code), (TICKS - 7, None, 0), "{out}");
    assert!(found.sessions && found.digest.is_some() && found.ranked.is_empty());
    assert!(out.contains("numbers of sessions") && out.contains("a goes on"), "{out}");
}

#[test]
fn the_cause_of_a_difference_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let ticks = ticks();
    let a = logged(dir.path(), "a.mcap", &ticks);

    // the controller, in the tick that begins in state 150
    let script = Script { other_from: 150, ..Script::default() };
    let b = logged(dir.path(), "b.mcap", &run_of(&quadruped(&SETS), &script, TICKS));
    let (found, out, code) = compared(dir.path(), &a, &b);
    let accepted = |t: &&LogTick| t.tick >= 150 && !t.joints.is_empty();
    let first = ticks.iter().find(accepted).unwrap().tick + 1;
    let Some(Cause::Controller(text)) = &found.cause else { panic!("{out}") };
    assert_eq!(text.quantity, "command.FL_hip_joint.kp");
    assert_eq!(text.values[0].as_deref(), Some("1e2"));
    assert_eq!((found.parted(), code), (Some(at(first)), 1), "{out}");
    assert!(out.contains("cause      the controller"), "{out}");

    // an operator's push
    let pushed =
        "events=[{at_s=0.035, kind=\"push\", link=\"trunk\", force_n=[9,31,0], duration_s=0.05},
     {at_s=0.100, kind=\"friction\", mu_static=0.05, mu_kinetic=0.04}]";
    let scenario = quadruped(&[SETS[0], pushed]);
    let b = dir.path().join("pushed.mcap");
    write(&b, &scenario, &run_of(&scenario, &Script::default(), TICKS));
    let (found, out, code) = compared(dir.path(), &a, &b);
    let Some(Cause::Events(found_events)) = &found.cause else { panic!("{out}") };
    let text = found_events.to_string();
    assert!(text.contains("push of trunk with (9, 30, 0) N") && text.contains("31"), "{text}");
    assert_eq!((found.parted(), code), (Some(at(36)), 1));
    // it is the push that differs most, not a coefficient or a flag
    assert!(found.ranked[0].share > 0.01 && found.ranked[0].first >= at(36), "{out}");

    // the scenario: the first tick with a foot on the ground
    let scenario = quadruped(&[SETS[0], SETS[1], "contact.cz_s_per_m=0.6", "record.ros2=false"]);
    let b = dir.path().join("damped.mcap");
    write(&b, &scenario, &run_of(&scenario, &Script::default(), TICKS));
    let (found, out, code) = compared(dir.path(), &a, &b);
    assert_eq!((&found.cause, code), (&Some(Cause::Plant), 1), "{out}");
    assert!(out.contains("scenario   contact.cz_s_per_m is 0.5 and 0.6"), "{out}");
    assert!(out.contains("cause      the scenarios differ"), "{out}");
    assert!(!out.contains("record"), "what has no part in it is not named: {out}");

    // another build: the same scenario, another run
    let b = dir.path().join("build.mcap");
    write(&b, &quadruped(&SETS), &run_of(&scenario, &Script::default(), TICKS));
    let (found, out, code) = compared(dir.path(), &a, &b);
    assert_eq!((&found.cause, code), (&Some(Cause::Plant), 1), "{out}");
    assert!(out.contains("cause      the plant: the same inputs gave another state"), "{out}");
    assert!(out.contains("b is not of this build") && out.contains("b does not replay"), "{out}");
    assert!(found.ranked.iter().all(|r| !r.name.starts_with("foot.")), "its contacts are unknown");
    assert!(!found.ranked.is_empty());

    // they begin apart
    let scenario = quadruped(&[SETS[0], SETS[1], "initial.clearance_m=0.001"]);
    let b = dir.path().join("higher.mcap");
    write(&b, &scenario, &run_of(&scenario, &Script::default(), TICKS));
    let (found, out, code) = compared(dir.path(), &a, &b);
    assert_eq!((&found.cause, found.parted(), code), (&Some(Cause::Beginning), Some(at(1)), 1));
    assert!(out.contains("scenario   initial.clearance_m"), "{out}");
}

/// The numbers of the ranking, by hand.
#[test]
fn what_differs_most_is_measured_by_its_range() {
    let dir = tempfile::tempdir().unwrap();
    let a = logged(dir.path(), "a.mcap", &ticks());
    let script = Script { other_from: 150, ..Script::default() };
    let b = logged(dir.path(), "b.mcap", &run_of(&quadruped(&SETS), &script, TICKS));
    let open = || (Player::open(&a).unwrap(), Player::open(&b).unwrap());
    let (mut x, mut y) = open();
    let found = compare(&mut x, &mut y, |_, _| ()).unwrap();
    assert!(found.ranked.windows(2).all(|w| w[0].share >= w[1].share));
    let quantities = Quantities::of(&quadruped(&SETS).simulation());
    let from = found.quantity.as_ref().unwrap().0;
    for r in found.ranked.iter().step_by(10) {
        let q = quantities.find(&r.name).unwrap();
        let (mut x, mut y) = open();
        let (mut pairs, mut since) = (Vec::new(), 0);
        while x.advance().unwrap() && y.advance().unwrap() {
            pairs.push((q.of(&x.view().unwrap()), q.of(&y.view().unwrap())));
            since += u64::from(x.position().unwrap() >= from);
        }
        let all = || pairs.iter().flat_map(|(a, b)| [*a, *b]);
        let range = all().fold(f64::MIN, f64::max) - all().fold(f64::MAX, f64::min);
        let squares: f64 = pairs.iter().map(|(a, b)| (a - b) * (a - b)).sum();
        let share = (squares / since as f64).sqrt() / range;
        assert!((share - r.share).abs() < 1e-12 * share, "{}: {share} {}", r.name, r.share);
        let largest = pairs.iter().map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert_eq!(largest, r.largest, "{}", r.name);
    }
    // a plot's columns hold every value
    let name = found.ranked[0].name.clone();
    let (mut x, mut y) = open();
    let traces = trace(&mut x, &mut y, std::slice::from_ref(&name), at(1), TICKS, 7).unwrap();
    let q = quantities.find(&name).unwrap();
    let (mut x, _) = open();
    let mut tick = 0;
    while x.advance().unwrap() {
        let [low, high] = traces[0].columns[0][(tick * 7 / TICKS) as usize].unwrap();
        assert!((low..=high).contains(&q.of(&x.view().unwrap())));
        tick += 1;
    }
}
