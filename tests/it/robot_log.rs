//! Logs of real robots become tables.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hardstand::robot_log::{
    Columns, Mapping, RobotLog, import, parse_npz, parse_rosbag, read_csv, write_csv,
};
use hardstand::ros2::messages::{Float64MultiArray, JointState, Message};
use hardstand_physics::model::Model;

use crate::common::bench::quadruped;
use crate::common::logs;
use crate::common::process::Log;

mod doubtful;
mod sqlite;

const MAP: &str = r#"
[time]
column = "t_ms"
unit = "ms"
[quantities]
q = { column = "{joint} pos", unit = "deg" }
q_des = { column = "{joint} cmd", unit = "deg" }
kp = { value = 20.0 }
[joints]
knee = { name = "k", sign = -1, offset = 0.5 }
hip = "h"
"#;
const CSV: &str = "t_ms,h pos,h cmd,k pos,k cmd\n0,90,0,10,20\n5,91,0,11,20\n10,92,0,12,20\n";

fn file(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path
}

fn mapped(csv: &str, map: &str) -> hardstand::Result<Columns> {
    let folder = tempfile::tempdir().unwrap();
    let map = Mapping::load(&file(folder.path(), "map.toml", map))?;
    Ok(import(&[file(folder.path(), "log.csv", csv)], Some(&map))?.table)
}

#[test]
fn names_units_signs_and_time_become_the_tables() {
    let table = mapped(CSV, MAP).unwrap();
    assert_eq!(table.need("time_s").unwrap(), [0.0, 0.005, 0.01]);
    let degree = std::f64::consts::PI / 180.0;
    assert_eq!(table.need("q.hip").unwrap(), [90.0, 91.0, 92.0].map(|x| x * degree));
    assert_eq!(table.need("q.knee").unwrap(), [10.0, 11.0, 12.0].map(|x| -(x * degree) + 0.5));
    assert_eq!(table.need("q_des.knee").unwrap(), [-20.0 * degree + 0.5; 3]);
    assert_eq!(table.need("kp.knee").unwrap(), [20.0; 3]);
}

#[test]
fn two_joints_of_the_model_are_not_one_of_the_log() {
    let said = mapped(CSV, &MAP.replace("hip = \"h\"", "hip = \"k\"")).unwrap_err().to_string();
    assert!(said.contains("joints.hip and joints.knee are both \"k\""), "{said}");
}

/// An empty cell is allowed where lines end; at the end of a file that stops there it is a number
/// that was cut off.
#[test]
fn a_table_that_is_cut_off_before_its_last_number_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let read = |text: &str| read_csv(&file(folder.path(), "log.csv", text));
    let said = read("a,b\n1,2\n3,").unwrap_err().to_string();
    assert!(said.contains("line 3, column b: the file ends before a number"), "{said}");
    for whole in ["a,b\n1,2\n3,\n", "a,b\n1,2\n3,4", "a,b\n1,2\n,4"] {
        assert_eq!(read(whole).unwrap().len(), 2, "{whole:?}");
    }
}

#[test]
fn a_table_that_is_written_is_read_again_packed_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = mapped(CSV, MAP).unwrap();
    table.values[1][1] = f64::NAN;
    table.values[2][2] = 0.1 + 0.2;
    for name in ["t.csv", "t.csv.gz"] {
        let path = folder.path().join(name);
        let mut out = fs::File::create(&path).unwrap();
        write_csv(&mut out, name.ends_with(".gz"), &table).unwrap();
        let read = read_csv(&path).unwrap();
        assert_eq!(read.names, table.names);
        for (a, b) in read.values.iter().flatten().zip(table.values.iter().flatten()) {
            assert!(a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()), "{name}: {a} {b}");
        }
    }
    assert!(fs::metadata(folder.path().join("t.csv.gz")).unwrap().len() > 20);
}

#[test]
fn a_bad_log_is_refused_with_line_and_column() {
    let bad = |from: &str, to: &str| mapped(&CSV.replace(from, to), MAP).unwrap_err().to_string();
    for (from, to, wanted) in [
        ("10,92", "4,92", "line 4, column t_ms: time runs back"),
        ("10,92", "5,92", "line 4, column t_ms: time stands still"),
        ("10,92", "90,92", "line 4, column t_ms: a gap of 0.085"),
        ("91", "NaN", "line 3, column h pos: \"NaN\" is not finite"),
        ("91", "inf", "line 3, column h pos: \"inf\" is not finite"),
        ("91", "", "line 3, column h pos: the cell is empty"),
        ("91", "x1", "line 3, column h pos: \"x1\" is not a number"),
        (
            "5,91,0,11,20",
            "5,91,0,11",
            "line 3, column k cmd: the line ends before it; it has 4 cells",
        ),
        ("5,91,0,11,20", "5,91,0,11,20,7", "line 3, cell 6: there are 5 columns; it has 6 cells"),
        ("k cmd", "k cmds", "no column \"k cmd\"; the columns are: t_ms, h pos"),
        ("k cmd", "h cmd", "two columns are called \"h cmd\""),
        (",", ";", "is one column; separate columns by commas"),
    ] {
        let said = bad(from, to);
        assert!(said.contains(wanted), "{from:?} -> {to:?}: {said}");
    }
    for (from, to, wanted) in [
        ("sign = -1", "sign = 2", "joints.knee.sign is 2; it must be 1 or -1"),
        ("\"deg\"", "\"grad\"", "unit is \"grad\"; it must be one of"),
        ("kp =", "stiffness =", "quantities.stiffness; known are q, dq"),
        ("value = 20.0", "value = nan", "quantities.kp.value is NaN; it must be a finite number"),
        ("value = 20.0", "value = inf", "quantities.kp.value is inf; it must be a finite number"),
        ("offset = 0.5", "offset = nan", "joints.knee.offset is NaN; it must be a finite number"),
        ("\"deg\" }", "\"deg\", offset = inf }", "quantities.q.offset is inf; it must be a finite"),
        (
            "\"ms\"",
            "\"ms\"\ngap_max_s = nan",
            "time.gap_max_s is NaN; it must be finite and greater",
        ),
        (
            "\"ms\"",
            "\"ms\"\ngap_max_s = -1.0",
            "time.gap_max_s is -1; it must be finite and greater",
        ),
        ("knee = { name = \"k\", sign = -1, offset = 0.5 }\nhip = \"h\"\n", "", "joints is empty"),
        ("unit = \"ms\"", "units = \"ms\"", "unknown field `units`"),
    ] {
        let said = mapped(CSV, &MAP.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(said.contains(wanted), "{from:?} -> {to:?}: {said}");
    }
}

/// A zip archive whose entries are not packed, as `numpy.savez` writes it.
pub fn archive(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, data) in entries {
        let (at, size) = (out.len() as u32, data.len() as u32);
        let mut crc = flate2::Crc::new();
        crc.update(data);
        out.extend_from_slice(b"PK\x03\x04");
        out.extend([20, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        out.extend(crc.sum().to_le_bytes());
        out.extend([size, size].iter().flat_map(|x| x.to_le_bytes()));
        out.extend((name.len() as u16).to_le_bytes());
        out.extend([0, 0]);
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(data);
        directory.extend_from_slice(b"PK\x01\x02");
        directory.extend([20, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        directory.extend(crc.sum().to_le_bytes());
        directory.extend([size, size].iter().flat_map(|x| x.to_le_bytes()));
        directory.extend((name.len() as u16).to_le_bytes());
        directory.extend([0; 12]);
        directory.extend(at.to_le_bytes());
        directory.extend_from_slice(name.as_bytes());
    }
    let (at, count) = (out.len() as u32, entries.len() as u16);
    out.extend_from_slice(&directory);
    out.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    out.extend([count, count].iter().flat_map(|x| x.to_le_bytes()));
    out.extend((directory.len() as u32).to_le_bytes());
    out.extend(at.to_le_bytes());
    out.extend([0, 0]);
    out
}

pub fn npy(kind: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}\n");
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((text.len() as u16).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
    out.extend_from_slice(data);
    out
}

const NPZ_MAP: &str = r#"
order = ["h", "k"]
[time]
column = "t"
[quantities]
q = "q[{index}]"
q_des = "target[{index}]"
[joints]
knee = "k"
hip = "h"
"#;

#[test]
fn arrays_of_numpy_become_columns() {
    let folder = tempfile::tempdir().unwrap();
    let map = Mapping::load(&file(folder.path(), "map.toml", NPZ_MAP)).unwrap();
    let f8 = |x: &[f64]| x.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let f4 = |x: &[f32]| x.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let write = |targets: [f32; 6]| {
        let path = folder.path().join("log.npz");
        let bytes = archive(&[
            ("t.npy", npy("<f8", "3,", &f8(&[0.0, 0.1, 0.2]))),
            ("q.npy", npy("<f8", "3, 2", &f8(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))),
            ("target.npy", npy("<f4", "3, 2", &f4(&targets))),
        ]);
        fs::write(&path, bytes).unwrap();
        import(&[path], Some(&map))
    };
    let table = write([0.5; 6]).unwrap().table;
    assert_eq!(table.need("q.knee").unwrap(), [2.0, 4.0, 6.0]);
    assert_eq!(table.need("q_des.hip").unwrap(), [0.5; 3]);
    // an array of names, and one with another number of rows, are named only if one is missed
    let other = folder.path().join("more.npz");
    let bytes = archive(&[
        ("names.npy", npy("<U1", "2,", &[104, 0, 0, 0, 107, 0, 0, 0])),
        ("gains.npy", npy("<f8", "2,", &f8(&[1.0, 2.0]))),
        ("t.npy", npy("<f8", "3,", &f8(&[0.0, 0.1, 0.2]))),
        ("q.npy", npy("<f8", "3, 2", &f8(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))),
    ]);
    fs::write(&other, bytes).unwrap();
    let said = import(&[other], Some(&map)).unwrap_err().to_string();
    assert!(said.contains("no column \"target[1]\"") || said.contains("no column \"target[0]\""));
    assert!(said.contains("array names: its type is \"<U1\""), "{said}");
    assert!(said.contains("array gains: 2 rows, others have 3"), "{said}");
    let said = write([0.5, 0.5, 0.5, f32::NAN, 0.5, 0.5]).unwrap_err().to_string();
    assert!(said.contains("row 1, column target[1]: NaN is not finite"), "{said}");
}

/// A bag of messages: topic, type, time and bytes.
pub fn bag(messages: &[(&str, &str, u64, Vec<u8>)]) -> Vec<u8> {
    let options = mcap::WriteOptions::new().compression(None);
    let mut writer = options.create(std::io::Cursor::new(Vec::new())).unwrap();
    let mut channels = BTreeMap::new();
    for (topic, kind, time_ns, data) in messages {
        let channel = *channels.entry((topic, kind)).or_insert_with(|| {
            let schema = writer.add_schema(kind, "ros2msg", b"").unwrap();
            writer.add_channel(schema, topic, "cdr", &BTreeMap::new()).unwrap()
        });
        let header = mcap::records::MessageHeader {
            channel_id: channel,
            sequence: 0,
            log_time: *time_ns,
            publish_time: *time_ns,
        };
        writer.write_to_known_channel(&header, data).unwrap();
    }
    writer.finish().unwrap();
    writer.into_inner().into_inner()
}

const BAG_MAP: &str = r#"
[time]
column = "log_time_s"
empty = "not_sampled"
[quantities]
q = "/joint_states.position[{joint}]"
dq = "/joint_states.velocity[{joint}]"
q_des = "/commands.data[0]"
[joints]
hip = "h"
"#;

/// Of the joint `h` of [`BAG_MAP`].
fn joint_state(position: f64) -> JointState {
    JointState {
        name: vec!["h".into()],
        position: vec![position],
        velocity: vec![0.5],
        ..JointState::default()
    }
}

/// A file of ROS 2 messages whose chunk is not packed.
fn plain_bag() -> Vec<u8> {
    let mut messages = Vec::new();
    let mut bytes = Vec::new();
    let begin_ns = 1_700_000_000_000_000_000;
    for i in 0..4_u64 {
        joint_state(i as f64).encode(&mut bytes);
        let time_ns = begin_ns + i * 10_000_000;
        messages.push(("/joint_states", JointState::NAME, time_ns, bytes.clone()));
        let command = Float64MultiArray { data: vec![7.0 + i as f64], ..Default::default() };
        command.encode(&mut bytes);
        let time_ns = time_ns + 3_000_000;
        messages.push(("/commands", Float64MultiArray::NAME, time_ns, bytes.clone()));
    }
    bag(&messages)
}

#[test]
fn messages_of_ros_2_become_rows_in_the_order_of_their_times() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag.mcap");
    fs::write(&path, plain_bag()).unwrap();
    let map = Mapping::load(&file(folder.path(), "map.toml", BAG_MAP)).unwrap();
    let table = import(&[path], Some(&map)).unwrap().table;
    assert_eq!(table.need("time_s").unwrap()[..4], [0.0, 0.003, 0.01, 0.013]);
    let q = table.need("q.hip").unwrap();
    assert_eq!((q[0], q[2], q[4]), (0.0, 1.0, 2.0));
    assert!(q[1].is_nan() && q[3].is_nan());
    assert_eq!(table.need("q_des.hip").unwrap()[1], 7.0);
}

/// Files that PyPI's `rosbags` and `mcap` packed; a way of packing that nothing unpacks is refused,
/// and a chunk of another size than it names.
#[test]
fn packed_chunks_of_other_programs_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let map = Mapping::load(&file(folder.path(), "map.toml", BAG_MAP)).unwrap();
    let path = folder.path().join("bag.mcap");
    let read = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        import(std::slice::from_ref(&path), Some(&map)).map_err(|e| e.to_string())
    };
    let zstd = include_bytes!("../data/bag_zstd.mcap");
    let lz4 = include_bytes!("../data/bag_lz4.mcap");
    for bytes in [&zstd[..], &lz4[..]] {
        let table = read(bytes).unwrap().table;
        assert_eq!(table.need("time_s").unwrap()[..4], [0.0, 0.003, 0.01, 0.013]);
        let q = table.need("q.hip").unwrap();
        assert_eq!((q[0], q[2], q[4], q[6]), (0.0, 1.0, 2.0, 3.0));
        assert_eq!(table.need("q_des.hip").unwrap()[7], 10.0);
    }
    let place = |bytes: &[u8], what: &[u8]| bytes.windows(what.len()).position(|w| w == what);
    for (bytes, how) in [(&zstd[..], "zstd"), (&lz4[..], "lz4")] {
        let name = place(bytes, how.as_bytes()).unwrap();
        let mut unknown = bytes.to_vec();
        unknown[name] = b'q';
        let said = read(&unknown).unwrap_err();
        assert!(said.contains("unknown; lz4, zstd and chunks that are not packed"), "{said}");
        // the size that the chunk names, 12 bytes before the name of its packing
        for (more, wanted) in [(1, "fewer than"), (-1, "more than")] {
            let mut wrong = bytes.to_vec();
            wrong[name - 16] = wrong[name - 16].wrapping_add_signed(more);
            let said = read(&wrong).unwrap_err();
            assert!(said.contains(&format!("a chunk packed with {how}: {wanted}")), "{said}");
        }
    }
}

/// One bit of a number that still is one: without the checksum it would be read as it is.
#[test]
fn a_changed_byte_in_a_chunk_is_refused_by_its_checksum() {
    let folder = tempfile::tempdir().unwrap();
    let map = Mapping::load(&file(folder.path(), "map.toml", BAG_MAP)).unwrap();
    let path = folder.path().join("bag.mcap");
    let read = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        import(std::slice::from_ref(&path), Some(&map)).map_err(|e| e.to_string())
    };
    let refused = |bytes: &[u8], what: &str| {
        let said = read(bytes).unwrap_err();
        let wanted = [path.to_str().unwrap(), "Chunk CRC failed (expected "];
        assert!(wanted.iter().all(|wanted| said.contains(wanted)), "{what}: {said}");
    };
    let place = |bytes: &[u8], what: &[u8]| bytes.windows(what.len()).position(|w| w == what);
    for (packed, how) in [
        (&include_bytes!("../data/bag_zstd.mcap")[..], "zstd"),
        (&include_bytes!("../data/bag_lz4.mcap")[..], "lz4"),
    ] {
        // the checksum that the chunk names, 8 bytes before the name of its packing
        let mut wrong = packed.to_vec();
        wrong[place(packed, how.as_bytes()).unwrap() - 8] ^= 1;
        refused(&wrong, how);
    }
    let plain = plain_bag();
    assert_eq!(read(&plain).unwrap().table.need("q.hip").unwrap()[2], 1.0);
    let mut wrong = plain.clone();
    wrong[place(&plain, &7.0_f64.to_le_bytes()).unwrap() + 6] ^= 1;
    refused(&wrong, "a number");
}

/// `ros2 bag record` begins a new file at a size or a time; the tenth comes after the ninth.
#[test]
fn the_files_of_a_bags_folder_are_read_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk");
    fs::create_dir(&path).unwrap();
    let none = import(std::slice::from_ref(&path), None).unwrap_err().to_string();
    assert!(none.contains("walk: the folder holds no .mcap and no .db3"), "{none}");
    fs::write(path.join("metadata.yaml"), "").unwrap();
    for n in 0..11_u64 {
        let mut bytes = Vec::new();
        joint_state(n as f64).encode(&mut bytes);
        let time_ns = 1_700_000_000_000_000_000 + n * 5_000_000;
        let message = ("/joint_states", JointState::NAME, time_ns, bytes);
        fs::write(path.join(format!("walk_{n}.mcap")), bag(&[message])).unwrap();
    }
    let map = BAG_MAP.replace("q_des = \"/commands.data[0]\"\n", "q_des = { value = 0.0 }\n");
    let map = Mapping::load(&file(folder.path(), "map.toml", &map)).unwrap();
    let table = import(&[path], Some(&map)).unwrap().table;
    let expected: Vec<f64> = (0..11).map(f64::from).collect();
    assert_eq!(table.need("q.hip").unwrap(), expected);
    let times_s: Vec<f64> = (0..11).map(|n| 0.005 * f64::from(n)).collect();
    assert_eq!(table.need("time_s").unwrap(), times_s);
}

/// Sizes that a log states are no reason to spend memory: what they claim must be there.
#[test]
fn arrays_of_impossible_sizes_are_not_read() {
    for (shape, values, why) in [
        ("9223372036854775807, 0", 0, "it is empty"),
        ("0, 18446744073709551615", 0, "it is empty"),
        ("0,", 0, "it is empty"),
        ("18446744073709551615, 2", 2, "18446744073709551615 × 2 numbers, but 2 in the file"),
        ("3, 9223372036854775807", 1, "numbers, but 1 in the file"),
        ("99999999999999999999,", 1, "its shape is damaged"),
        ("1, 1, 1", 1, "it has 3 axes"),
    ] {
        let bad = npy("<f8", shape, &vec![0; 8 * values]);
        let good = npy("<f8", "1,", &[0; 8]);
        let table = parse_npz("log", &archive(&[("bad.npy", bad), ("t.npy", good)])).unwrap();
        assert_eq!((table.names, table.rows.len()), (vec!["t".to_string()], 1), "{shape}");
        assert!(table.skipped[0].contains(why), "{shape}: {:?}", table.skipped);
    }
    let wide = npy("<f4", "1, 16385", &[0; 4 * 16_385]);
    let said = parse_npz("log", &archive(&[("wide.npy", wide)])).unwrap_err().to_string();
    assert!(said.contains("16385 columns and 1 rows; at most 16384 columns"), "{said}");
    // the size in the directory, before anything is unpacked
    let twice = [("a.npy", npy("<f8", "1,", &[0; 8])), ("b.npy", npy("<f8", "1,", &[0; 8]))];
    let mut two = archive(&twice);
    let entries: Vec<usize> =
        (0..two.len() - 4).filter(|&at| two[at..].starts_with(b"PK\x01\x02")).collect();
    two[entries[1] + 24..entries[1] + 28].copy_from_slice(&(u32::MAX - 1).to_le_bytes());
    let said = parse_npz("log", &two).unwrap_err().to_string();
    assert!(said.contains("longer than 4 GiB, unpacked"), "{said}");
}

/// Each message with a name of its own: as many columns as rows.
#[test]
fn a_bag_whose_table_would_be_too_large_is_refused() {
    let refusal = |names: u64, times: u64| {
        let message = |i: u64| {
            let (name, position) = (vec![format!("j{}", i % names)], vec![0.5]);
            let mut bytes = Vec::new();
            JointState { name, position, ..JointState::default() }.encode(&mut bytes);
            ("/joint_states", JointState::NAME, i, bytes)
        };
        let messages: Vec<_> = (0..times).map(message).collect();
        parse_rosbag("log", &bag(&messages)).map(|table| table.len())
    };
    assert_eq!(refusal(100, 200).unwrap(), 200);
    let said = refusal(16_383, 16_383).unwrap_err().to_string();
    assert!(said.contains("16385 columns and 1 rows; at most 16384 columns"), "{said}");
    let said = refusal(16_000, 17_000).unwrap_err().to_string();
    assert!(said.contains("16002 columns and 17000 rows"), "{said}");
}

fn model() -> Model {
    quadruped(&[]).model
}

#[test]
fn a_log_of_our_own_needs_no_mapping_and_commands_stand_where_they_begin() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.mcap");
    let scenario = quadruped(&[]);
    let script = logs::Script { other_from: 30, ..logs::Script::default() };
    let ticks = logs::run_of(&scenario, &script, 60);
    logs::write(&path, &scenario, &ticks);
    let table = import(std::slice::from_ref(&path), None).unwrap().table;
    let log = RobotLog::of(&table, &model()).unwrap();
    let states = Log::read(&path).states;
    assert_eq!(log.time_s.len(), states.len());
    for (row, state) in states.iter().enumerate() {
        for (track, joint) in log.joints.iter().zip(&state.joints) {
            assert_eq!(track.q[row].to_bits(), joint.q.to_bits());
        }
        let base = &log.base.as_ref().unwrap().columns;
        assert_eq!(base[2][row].to_bits(), state.truth_base_position_m[2].to_bits());
    }
    // the gain rises with the first command of the second half: in the row of the state before it
    let kp = log.joints[0].command[2].as_ref().unwrap();
    let rise = kp.iter().position(|kp| *kp == 130.0).unwrap();
    let first = ticks.iter().find(|t| t.joints.first().is_some_and(|j| j.kp == 130.0)).unwrap();
    let after = states.iter().position(|s| s.tick == first.state.tick).unwrap();
    assert_eq!(rise + 1, after);
}

#[test]
fn a_table_that_does_not_fit_the_robot_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let model = model();
    let of = |text: &str| {
        RobotLog::load(&file(folder.path(), "t.csv", text), &model).unwrap_err().to_string()
    };
    let said = of("time_s,q.knee\n0,1\n1,1\n");
    assert!(said.contains("column \"q.knee\" is not one of the table's"), "{said}");
    let said = of("time_s,q.FL_hip_joint\n0,1\n1,1\n");
    assert!(said.contains("joint FL_hip_joint has no command"), "{said}");
    let mut head = String::from("time_s");
    for joint in &model.joints {
        head += &format!(",q.{0},q_des.{0}", joint.name);
    }
    let zeros = ",0".repeat(2 * model.joint_count());
    let said = of(&format!("{head}\n0{zeros}\n1{zeros}\n"));
    assert!(said.contains("set robot.base = \"fixed\""), "{said}");
    for (time, wanted) in [
        (["", "1"], "line 2, column time_s: the time is missing"),
        (["0", ""], "line 3, column time_s: the time is missing"),
        (["1", "0"], "line 3, column time_s: time runs back"),
    ] {
        let rows = time.map(|t| format!("{t}{zeros}\n")).concat();
        let said = of(&format!("{head}\n{rows}"));
        assert!(said.contains(wanted), "{time:?}: {said}");
    }
    let base = "x y z qw qx qy qz vx vy vz wx wy wz".split(' ');
    let base = base.map(|name| format!(",base.{name}")).collect::<String>();
    let poses = [",0,0,1,1,0,0,0,0,0,0,0,0,0", ",0,,1,1,0,0,0,0,0,0,0,0,0"];
    let said = of(&format!("{head}{base}\n0{zeros}{}\n1{zeros}{}\n", poses[0], poses[1]));
    assert!(said.contains("line 3, column base.y: the cell is empty"), "{said}");
}
