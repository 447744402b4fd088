//! Bags in SQLite, as ROS 2 writes them up to Humble.

use std::fs;
use std::path::Path;

use hardstand::robot_log::{Columns, Mapping, import, parse_sqlite_bag};

use super::{BAG_MAP, file};

const BAG: &[u8] = include_bytes!("../../data/bag.db3");
const PAGE: usize = 4096;

fn refused(bytes: &[u8]) -> String {
    parse_sqlite_bag("log", bytes).map(|table| table.len()).unwrap_err().to_string()
}

fn table_of(folder: &Path, path: &Path) -> Columns {
    let map = Mapping::load(&file(folder, "map.toml", BAG_MAP)).unwrap();
    import(&[path.to_path_buf()], Some(&map)).unwrap().table
}

/// Written by PyPI's `rosbags`: messages on several pages, and one that is longer than a page.
#[test]
fn a_bag_in_sqlite_is_read_as_one_in_mcap() {
    let folder = tempfile::tempdir().unwrap();
    let walk = folder.path().join("walk");
    fs::create_dir(&walk).unwrap();
    let path = walk.join("walk_0.db3");
    fs::write(&path, BAG).unwrap();
    for path in [&walk, &path] {
        let table = table_of(folder.path(), path);
        assert_eq!(table.len(), 80);
        assert_eq!(table.need("time_s").unwrap()[..4], [0.0, 0.003, 0.01, 0.013]);
        let (q, q_des) = (table.need("q.hip").unwrap(), table.need("q_des.hip").unwrap());
        for i in 0..40 {
            assert_eq!((q[2 * i], q_des[2 * i + 1]), (i as f64, 7.0 + i as f64));
            assert!(q[2 * i + 1].is_nan() && q_des[2 * i].is_nan());
        }
    }
    let columns = parse_sqlite_bag("log", BAG).unwrap();
    // the long message is the eighth command
    let last = columns.need("/commands.data[599]").unwrap();
    assert_eq!((last[15], last.iter().filter(|x| !x.is_nan()).count()), (0.25, 1));
}

#[test]
fn a_bag_in_sqlite_that_was_cut_off_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag.db3");
    fs::write(&path, BAG).unwrap();
    let map = Mapping::load(&file(folder.path(), "map.toml", BAG_MAP)).unwrap();
    for end in ["-wal", "-journal"] {
        let beside = folder.path().join(format!("bag.db3{end}"));
        fs::write(&beside, "").unwrap();
        assert_eq!(table_of(folder.path(), &path).len(), 80, "an empty file holds nothing");
        fs::write(&beside, "rows").unwrap();
        let said = import(std::slice::from_ref(&path), Some(&map)).unwrap_err().to_string();
        assert!(said.contains(&format!("bag.db3{end} holds what is missing")), "{said}");
        fs::remove_file(beside).unwrap();
    }
    let said = refused(&BAG[..BAG.len() - PAGE]);
    assert!(said.contains("the SQLite file is damaged: page") && said.contains("not in the file"));
    assert!(refused(b"SQLite format 2").contains("log: it is no SQLite file"));
}

/// What a page claims is no reason to read on for ever, or outside of the file.
#[test]
fn damaged_pages_are_refused() {
    let find = |what: &[u8]| BAG.windows(what.len()).rposition(|w| w == what).unwrap();
    let changed = |at: usize, to: &[u8]| {
        let mut bytes = BAG.to_vec();
        bytes[at..at + to.len()].copy_from_slice(to);
        refused(&bytes)
    };
    // the first page of the messages leads to others: its last child is at 8
    let root = (1..).find(|&page| BAG[page * PAGE] == 5).unwrap();
    let own = u32::try_from(root + 1).unwrap().to_be_bytes();
    let said = changed(root * PAGE + 8, &own);
    assert!(said.contains(&format!("page {} is in a table twice", root + 1)), "{said}");
    let said = changed(root * PAGE + 8, &[0; 4]);
    assert!(said.contains("page 0 is not in the file"), "{said}");
    let said = changed(root * PAGE + 3, &[255, 255]);
    assert!(said.contains(&format!("damaged: page {}", root + 1)), "{said}");
    let said = changed(16, &[0, 3]);
    assert!(said.contains("pages of 3 bytes"), "{said}");
    let said = changed(56, &[0, 0, 0, 2]);
    assert!(said.contains("its text is not UTF-8"), "{said}");
    let said = changed(find(b"cdr"), b"xml");
    assert!(said.contains("is serialized as \"xml\""), "{said}");
    let said = changed(find(b"CREATE TABLE messages"), b"CREATE TABLE messages(x ");
    assert!(said.contains("messages has no column \"id\""), "{said}");
}

/// Each bag has two bytes changed, in the head, in a page's head or anywhere.
#[test]
fn damaged_bags_are_a_table_or_an_error() {
    let mut random = hardstand::optimize::SplitMix(3);
    let mut below = |n: usize| (random.uniform() * n as f64) as usize;
    let mut refusals = 0;
    for case in 0..3000 {
        let mut bytes = BAG.to_vec();
        for _ in 0..2 {
            let at = match case % 3 {
                0 => below(100),
                1 => below(BAG.len() / PAGE) * PAGE + below(40),
                _ => below(BAG.len()),
            };
            bytes[at] = below(256) as u8;
        }
        refusals += u32::from(parse_sqlite_bag("log", &bytes).is_err());
    }
    assert!((300..2900).contains(&refusals), "{refusals}");
}
