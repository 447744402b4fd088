//! What could be read in more than one way, or as another number, is refused.

use std::fs;

use hardstand::robot_log::{Mapping, RobotLog, import, parse_npz, parse_rosbag};
use hardstand::ros2::messages::{Float64MultiArray, JointState, Message};

use super::{BAG_MAP, CSV, MAP, archive, bag, file, joint_state, mapped, npy};
use crate::common::bench::quadruped;
use crate::common::logs;

/// Two arrays of one name, two columns of one name, and a byte that is another one.
#[test]
fn arrays_that_are_there_twice_or_damaged_are_refused() {
    let f8 = |x: f64| npy("<f8", "1,", &x.to_le_bytes());
    let said = |bytes: &[u8]| parse_npz("log", bytes).unwrap_err().to_string();
    let twice = archive(&[("q_a.npy", f8(1.0)), ("q_a.npy", f8(2.0))]);
    assert!(said(&twice).contains("two arrays are called \"q_a.npy\"; give each a name"));
    let columns = [("a.npy", npy("<f8", "1, 1", &[0; 8])), ("a[0].npy", f8(2.0))];
    assert!(said(&archive(&columns)).contains("two columns are called \"a[0]\""));
    let mut changed = archive(&[("q_a.npy", f8(1.0))]);
    assert_eq!(parse_npz("log", &changed).unwrap().values, [[1.0]]);
    let number = 1.0_f64.to_le_bytes();
    let at = changed.windows(8).position(|bytes| bytes == number).unwrap();
    changed[at] ^= 1;
    assert!(said(&changed).contains("q_a.npy: its checksum is another one"), "{}", said(&changed));
}

#[test]
fn numbers_that_a_unit_makes_infinite_and_times_of_another_unit_are_refused() {
    let map = MAP.replacen("\"deg\"", "\"turn\"", 1);
    let said = mapped(&CSV.replace("91", "1e308"), &map).unwrap_err().to_string();
    assert!(said.contains("line 3, column h pos:") && said.contains("becomes inf"), "{said}");
    let map = MAP.replace("unit = \"ms\"", "unit = \"s\"");
    let csv = CSV.replace("\n5,", "\n5e6,").replace("\n10,", "\n1e7,");
    let said = mapped(&csv, &map).unwrap_err().to_string();
    assert!(said.contains("line 4, column t_ms: 10000000 s after the first row"), "{said}");
    assert!(said.contains("at most 86400 s") && said.contains("time.unit"), "{said}");
}

/// States at 200 Hz and commands 0.4 ms after them: steps of 0.4 and 4.6 ms are no gaps. A time
/// without states of a joint is one, however many others there are.
#[test]
fn states_and_commands_in_messages_of_their_own_have_no_gaps() {
    let folder = tempfile::tempdir().unwrap();
    let map = Mapping::load(&file(folder.path(), "map.toml", BAG_MAP)).unwrap();
    let read = |states: &dyn Fn(u64) -> bool| {
        let (mut messages, mut bytes) = (Vec::new(), Vec::new());
        for i in 0..40_u64 {
            let time_ns = 1_700_000_000_000_000_000 + i * 5_000_000;
            if states(i) {
                joint_state(i as f64).encode(&mut bytes);
                messages.push(("/joint_states", JointState::NAME, time_ns, bytes.clone()));
            }
            let command = Float64MultiArray { data: vec![7.0], ..Default::default() };
            command.encode(&mut bytes);
            let time_ns = time_ns + 400_000;
            messages.push(("/commands", Float64MultiArray::NAME, time_ns, bytes.clone()));
        }
        let path = folder.path().join("bag.mcap");
        fs::write(&path, bag(&messages)).unwrap();
        import(&[path], Some(&map)).map_err(|e| e.to_string())
    };
    assert_eq!(read(&|_| true).unwrap().table.len(), 80);
    let said = read(&|i| !(10..20).contains(&i)).unwrap_err();
    assert!(said.contains("a gap of 0.055000 s, from 0.045 s to 0.1 s; at most 0.025"), "{said}");
    // import has judged gaps: a table with one is taken
    let model = quadruped(&["robot.base=fixed"]).model;
    let mut head = String::from("time_s");
    for joint in &model.joints {
        head += &format!(",q.{0},q_des.{0},kp.{0}", joint.name);
    }
    let zeros = ",0".repeat(3 * model.joint_count());
    let table = format!("{head}\n0{zeros}\n0.001{zeros}\n0.002{zeros}\n0.5{zeros}\n");
    let path = file(folder.path(), "t.csv", &table);
    assert_eq!(RobotLog::load(&path, &model).unwrap().time_s.len(), 4);
    for (from, to, wanted) in [
        (
            "\n0.5,0,0,0",
            "\n0.5,0,0,-1",
            "line 5, column kp.FL_hip_joint: the gain is -1; it must be 0 to",
        ),
        ("\n0.5,0,0,0", "\n0.5,0,0,1e308", "it must be 0 to 1e6"),
        ("\n0.5,", "\n5e8,", "500000000 s after the first row; at most 86400 s"),
    ] {
        let path = file(folder.path(), "t.csv", &table.replace(from, to));
        let said = RobotLog::load(&path, &model).unwrap_err().to_string();
        assert!(said.contains(wanted), "{to:?}: {said}");
    }
}

/// Names that are there twice, lists of another length, two messages at one time.
#[test]
fn messages_that_do_not_say_which_number_is_meant_are_refused() {
    let said = |messages: &[(u64, JointState)]| {
        let encoded = |(time_ns, state): &(u64, JointState)| {
            let mut bytes = Vec::new();
            state.encode(&mut bytes);
            ("/js", JointState::NAME, *time_ns, bytes)
        };
        let messages: Vec<_> = messages.iter().map(encoded).collect();
        parse_rosbag("log", &bag(&messages)).map(|table| table.len()).map_err(|e| e.to_string())
    };
    let of = |names: &[&str], position: &[f64]| JointState {
        name: names.iter().map(ToString::to_string).collect(),
        position: position.to_vec(),
        ..JointState::default()
    };
    let (a, b) = (of(&["a"], &[1.0]), of(&["b"], &[2.0]));
    assert_eq!(said(&[(1, a.clone()), (1, b), (2, a.clone())]), Ok(2), "other columns");
    let twice = said(&[(1, of(&["a", "a"], &[1.0, 2.0]))]).unwrap_err();
    assert!(twice.contains("/js: message 0 has a second number for /js.position[a]"), "{twice}");
    let same = said(&[(1, a.clone()), (1, a.clone())]).unwrap_err();
    assert!(same.contains("/js: message 1 has a second number for /js.position[a]"), "{same}");
    let short = of(&["a", "b"], &[1.0]);
    let refused = said(&[(1, short.clone())]).unwrap_err();
    assert!(refused.contains("/js: in message 0, position has 1 numbers for 2 names"), "{refused}");
    // another topic of the same bag can be read
    let (mut odd, mut good) = (Vec::new(), Vec::new());
    short.encode(&mut odd);
    a.encode(&mut good);
    let both = [("/gripper", JointState::NAME, 1, odd), ("/js", JointState::NAME, 2, good)];
    let table = parse_rosbag("log", &bag(&both)).unwrap();
    assert_eq!((table.len(), &table.names[2..]), (1, &["/js.position[a]".to_owned()][..]));
    let needed = table.need("/gripper.position[a]").unwrap_err().to_string();
    assert!(needed.contains("not read: /gripper: in message 0"), "{needed}");
}

/// A file with one message, and where the first record of its chunk begins.
fn bag_of_one() -> (Vec<u8>, usize) {
    let mut state = Vec::new();
    JointState { name: vec!["a".into()], position: vec![1.0], ..Default::default() }
        .encode(&mut state);
    let whole = bag(&[("/js", JointState::NAME, 1, state)]);
    assert_eq!(parse_rosbag("log", &whole).unwrap().len(), 1);
    // behind the magic
    let mut at = 8;
    while whole[at] != 0x06 {
        at += 9 + length_at(&whole, at) as usize;
    }
    // behind 40 bytes of the chunk's own
    (whole, at + 9 + 40)
}

/// The length of the record that begins there, behind its kind.
fn length_at(bag: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bag[at + 1..at + 9].try_into().unwrap())
}

/// Lengths are numbers of the file: none of them may be believed.
#[test]
fn a_record_longer_than_the_file_is_refused() {
    let (whole, first) = bag_of_one();
    for length in [u64::MAX, u64::MAX - 8, 1 << 40] {
        let mut long = whole.clone();
        long[9..17].copy_from_slice(&length.to_le_bytes());
        let said = parse_rosbag("log", &long).unwrap_err().to_string();
        assert!(said.starts_with("log: message 0: "), "{said}");
    }
    let chunk = length_at(&whole, first - 40 - 9);
    for length in [length_at(&whole, first) + 1, chunk, u64::MAX] {
        let mut long = whole.clone();
        long[first + 1..first + 9].copy_from_slice(&length.to_le_bytes());
        let said = parse_rosbag("log", &long).unwrap_err().to_string();
        assert!(said.starts_with("log: a chunk: its last "), "{said}");
    }
    let said = parse_rosbag("log", &whole[..first + 20]).unwrap_err().to_string();
    assert_eq!(said, "log: a chunk is cut off");
}

/// Attachments are no messages; one without the checksum at its end is not looked into.
#[test]
fn attachments_of_bags_are_passed_over() {
    let (whole, first) = bag_of_one();
    let chunk = first - 40 - 9;
    // two times, no name, no kind, no data
    for length in [0, 16 + 4 + 4 + 8, 16 + 4 + 4 + 8 + 4] {
        let attachment = [&[0x09][..], &(length as u64).to_le_bytes(), &vec![0; length]].concat();
        let bag = [&whole[..chunk], &attachment, &whole[chunk..]].concat();
        assert_eq!(parse_rosbag("log", &bag).unwrap().len(), 1, "{length} bytes");
    }
    let mut inside = whole;
    inside[first] = 0x09;
    let said = parse_rosbag("log", &inside).unwrap_err().to_string();
    assert_eq!(said, "log: a chunk with an attachment");
}

/// A log that was cut off gives the ticks that it has, and says so; a pipe is not waited for.
#[test]
fn a_log_of_our_own_that_breaks_off_is_imported_with_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.mcap");
    let scenario = quadruped(&[]);
    let ticks = logs::run_of(&scenario, &logs::Script::default(), 60);
    logs::write(&path, &scenario, &ticks);
    assert!(import(std::slice::from_ref(&path), None).unwrap().table.notes.is_empty());
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 400]).unwrap();
    let notes = import(std::slice::from_ref(&path), None).unwrap().table.notes;
    assert!(notes.len() == 1 && notes[0].contains("the log breaks off"), "{notes:?}");
    #[cfg(unix)]
    for name in ["f.csv", "f.npz"] {
        let pipe = folder.path().join(name);
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let said = import(&[pipe], None).unwrap_err().to_string();
        assert!(said.contains("it is a named pipe, not a regular file"), "{said}");
    }
}
