//! Replay on one thread and on many: the same report, whatever is wrong with the log.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;

use crate::common::bench::{Bench, ROOMY, TestClock, quadruped, write_log};
use hardstand::config::{OverrunPolicy, Pace, Scenario, StartRule};
use hardstand::replay::{ReplayReport, replay};
use hardstand::rt::ManualClock;
use hardstand_log::{KEYFRAME_TOPIC, LogReader, LogRecord, STATE_TOPIC, TICK_TOPIC};
use hardstand_protocol::Authority;
use hardstand_protocol::{Keyframe, Kind, LogTick, encode};

const TICKS: u64 = 240;
/// Twelve stretches.
const KEYFRAME_TICKS: usize = 20;

/// A run that is commanded, and pushed and put on ice over the borders of stretches.
fn scenario() -> Scenario {
    quadruped(&[
        "record.keyframe_every_ticks=20",
        "events=[{at_s=0.035, kind=\"push\", link=\"trunk\", force_n=[9,30,0], duration_s=0.05},
         {at_s=0.100, kind=\"friction\", mu_static=0.05, mu_kinetic=0.04}]",
    ])
}

fn ticks() -> Vec<LogTick> {
    let mut bench = Bench::new(scenario(), ROOMY);
    let hands = bench.hands();
    // one controller leaves, another one comes: held, damped and fresh commands over borders
    let between = move |period| match period {
        ..65 => hands.candidate(7, period, period),
        65..115 => {}
        _ => hands.candidate(8, period, period),
    };
    let clock = TestClock { clock: ManualClock::default(), late: Vec::new(), between };
    let pace = Pace::RealTime(OverrunPolicy::Slip);
    bench.executive(clock, pace, StartRule::Now, TICKS).run();
    bench.logged()
}

fn write(path: &Path, ticks: &[LogTick]) {
    write_log(path, &scenario(), ticks);
}

/// The report, which must be the same on one thread and on several.
fn report(path: &Path, what: &str) -> Result<ReplayReport, String> {
    let on = |threads: usize| {
        let mut log = LogReader::open(path).map_err(|e| e.to_string())?;
        let scenario = Scenario::from_texts(&log.info().scenario, &log.info().robot, &[]).unwrap();
        let threads = NonZeroUsize::new(threads).unwrap();
        replay(&mut log, scenario.simulation(), threads, |_, _, _| {}).map_err(|e| e.to_string())
    };
    let one = on(1);
    for threads in [2, 5] {
        assert_eq!(on(threads), one, "{what} on {threads} threads");
    }
    one
}

/// The report on `ticks` after a change.
fn report_on(ticks: &[LogTick], what: &str, change: impl Fn(&mut Vec<LogTick>)) -> ReplayReport {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    let mut ticks = ticks.to_vec();
    change(&mut ticks);
    write(&path, &ticks);
    report(&path, what).unwrap()
}

/// Where to do harm: within the first, a middle and the last stretch, and at the ticks around a
/// border.
const PLACES: [usize; 8] = [3, 19, 20, 21, 133, 220, 230, 239];

#[test]
fn a_good_log_is_identical_on_any_number_of_threads() {
    let ticks = ticks();
    let keyframes = ticks.iter().filter(|t| !t.keyframe.is_empty()).count();
    assert_eq!(keyframes, 12);
    let authorities = [Authority::Fresh, Authority::Held, Authority::Damped, Authority::Zero];
    let all = authorities.iter().all(|a| ticks.iter().any(|t| t.authority == *a));
    assert!(all, "the run shows every authority");
    let whole = report_on(&ticks, "good", |_| {});
    assert_eq!((whole.ticks, whole.equal, whole.difference), (TICKS, TICKS, None));
    assert_eq!((whole.first_tick, whole.digest), (0, ticks.last().unwrap().digest));
    // a log from the middle of a run, and one with no keyframe but the first
    let rest = report_on(&ticks, "rest", |t| drop(t.drain(..120)));
    assert_eq!((rest.first_tick, rest.ticks, rest.equal), (120, 120, 120));
    let bare = report_on(&ticks, "bare", |t| {
        t.iter_mut().skip(1).for_each(|t| t.keyframe.clear());
    });
    assert_eq!((bare.ticks, bare.equal, bare.difference), (TICKS, TICKS, None));
}

#[test]
fn a_flipped_digest_is_found_wherever_it_is() {
    let ticks = ticks();
    for at in PLACES {
        let found = report_on(&ticks, &format!("digest {at}"), |t| t[at].digest ^= 1 << 40);
        let difference = found.difference.expect("a difference");
        assert_eq!(difference.tick, at as u64 + 1);
        assert!(difference.quantity.starts_with("digest"), "{difference:?}");
        assert_eq!((found.ticks, found.equal), (at as u64 + 1, at as u64));
    }
}

#[test]
fn a_flipped_bit_of_a_state_is_found_wherever_it_is() {
    let ticks = ticks();
    for at in PLACES {
        let found = report_on(&ticks, &format!("state {at}"), |t| {
            let q = &mut t[at].state.joints[5].q;
            *q = f64::from_bits(q.to_bits() ^ 1);
        });
        let difference = found.difference.expect("a difference");
        assert_eq!(difference.tick, at as u64 + 1);
        assert!(difference.quantity.starts_with("joint[5]"), "{difference:?}");
    }
}

#[test]
fn a_flipped_bit_of_a_command_is_found_wherever_it_is() {
    let ticks = ticks();
    for at in PLACES {
        // the first ones only prove life, and have no set-points
        let at = at.max(4);
        assert!(!ticks[at].joints.is_empty(), "a command was accepted in tick {at}");
        let found = report_on(&ticks, &format!("command {at}"), |t| t[at].joints[3].kp += 1.0);
        assert_eq!(found.difference.expect("a difference").tick, at as u64 + 1);
    }
}

/// Every word of a keyframe counts: the stretch before it must have ended in the very same state.
#[test]
fn a_flipped_bit_of_a_keyframe_is_found_wherever_it_is() {
    let ticks = ticks();
    let words = ticks[0].keyframe.len();
    for at in [0, 20, 120, 220] {
        for word in (0..words).step_by(29).chain([words - 1]) {
            let what = format!("word {word} of keyframe {at}");
            let found = report_on(&ticks, &what, |t| t[at].keyframe[word] ^= 1);
            assert_eq!(found.difference.expect(&what).tick, at as u64, "{what}");
            assert_eq!(found.equal, at as u64, "{what}");
        }
    }
}

/// What comes after the first difference does not count, however fast it is found.
#[test]
fn the_first_of_many_differences_is_reported() {
    let ticks = ticks();
    let found = report_on(&ticks, "many", |t| {
        for at in [119, 120, 150, 185, 200, 239] {
            t[at].digest ^= 1;
        }
        t[160].keyframe.truncate(40);
        t[180].keyframe[0] = u64::MAX;
    });
    assert_eq!((found.ticks, found.equal), (120, 119));
    assert_eq!(found.difference.unwrap().tick, 120);
}

#[test]
fn a_keyframe_of_another_size_is_refused_in_the_same_words() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    for at in [0, 20, 120, 220] {
        let mut ticks = ticks();
        ticks[at].keyframe.truncate(40);
        write(&path, &ticks);
        let refused = report(&path, "short keyframe").unwrap_err();
        assert!(refused.contains("a snapshot has 40 words"), "{refused}");
    }
}

#[test]
fn damage_is_reported_alike() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    let ticks = ticks();
    write(&path, &ticks);
    let bytes = std::fs::read(&path).unwrap();
    for (what, with_difference) in [("cut", false), ("cut behind a difference", true)] {
        let mut changed = ticks.clone();
        changed[130].digest ^= u64::from(with_difference);
        write(&path, &changed);
        for share in [3, 5, 7, 9] {
            let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
            file.set_len((bytes.len() * share / 10) as u64).unwrap();
            drop(file);
            let found = report(&path, what).unwrap();
            assert!(found.damage.is_some() != found.difference.is_some(), "{found:?}");
            write(&path, &changed);
        }
    }
}

/// A log of these records, in this order, whatever they are.
fn forge(path: &Path, records: &[LogRecord]) {
    let mut writer = mcap::Writer::new(std::fs::File::create(path).unwrap()).unwrap();
    let channels = [TICK_TOPIC, STATE_TOPIC, KEYFRAME_TOPIC]
        .map(|topic| writer.add_channel(0, topic, "", &BTreeMap::new()).unwrap());
    let scenario = scenario();
    for (name, text) in
        [("robot.urdf", &scenario.robot_urdf), ("scenario.toml", &scenario.complete_toml)]
    {
        let (name, media_type) = (name.to_string(), String::new());
        let data = Cow::Borrowed(text.as_bytes());
        let file = mcap::Attachment { log_time: 0, create_time: 0, name, media_type, data };
        writer.attach(&file).unwrap();
    }
    let mut data = Vec::new();
    for record in records {
        let channel = match record {
            LogRecord::Tick(tick) => encode(Kind::LogTick, tick, &mut data).map(|()| 0),
            LogRecord::State(state) => encode(Kind::State, state, &mut data).map(|()| 1),
            LogRecord::Keyframe(frame) => encode(Kind::Keyframe, frame, &mut data).map(|()| 2),
        };
        let channel_id = channels[channel.unwrap()];
        let header =
            mcap::records::MessageHeader { channel_id, sequence: 0, log_time: 0, publish_time: 0 };
        writer.write_to_known_channel(&header, &data).unwrap();
    }
    writer.finish().unwrap();
}

/// Records in no order that the recorder would write: doubled, left out, changed over.
#[test]
fn a_forged_order_of_records_gives_the_same_report() {
    let mut records = Vec::new();
    for tick in &ticks()[..100] {
        if !tick.keyframe.is_empty() {
            let (run_id, words) = (tick.run_id, tick.keyframe.clone());
            records.push(LogRecord::Keyframe(Keyframe { run_id, tick: tick.tick, words }));
        }
        records.push(LogRecord::Tick(Box::new(tick.clone())));
        records.push(LogRecord::State(Box::new(tick.state.clone())));
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("forged.mcap");
    forge(&path, &records);
    let whole = report(&path, "in order").unwrap();
    assert_eq!((whole.equal, whole.difference), (100, None));

    let mut dice = 0x5eed_0011_u64;
    let mut roll = |below: usize| {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        (dice % below as u64) as usize
    };
    let border = |n: usize| 2 * KEYFRAME_TICKS * n + n; // the index of keyframe `n`
    let (mut identical, mut different) = (0, 0);
    for round in 0..100 {
        let mut forged = records.clone();
        for _ in 0..=roll(2) {
            // near a keyframe, where the cuts are
            let at = (border(roll(5)) + roll(6)).saturating_sub(2);
            match roll(4) {
                0 => drop(forged.remove(at)),
                1 => forged.swap(at, at + 1),
                2 => forged.insert(at + roll(4), forged[at].clone()),
                _ => match &mut forged[at] {
                    LogRecord::Tick(tick) => tick.digest ^= 1,
                    LogRecord::State(state) => state.digest ^= 1,
                    LogRecord::Keyframe(frame) => frame.tick ^= 1,
                },
            }
        }
        forge(&path, &forged);
        match report(&path, &format!("round {round}")) {
            Ok(found) if found.difference.is_none() => identical += 1,
            _ => different += 1,
        }
    }
    assert!(identical > 10 && different > 10, "{identical} identical, {different} different");
}
