//! Logs as drawings and tables.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use crate::common::bench::quadruped;
use crate::common::logs;
use crate::common::process::Log;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::RowAccessor as _;

/// A log of a push, and where tables go.
fn log(folder: &Path) -> PathBuf {
    let path = folder.join("run.mcap");
    let push =
        "events=[{at_s=0.1, kind=\"push\", link=\"trunk\", force_n=[0,40,0], duration_s=0.05}]";
    let scenario = quadruped(&[push]);
    let ticks = logs::run_of(&scenario, &logs::Script::default(), 300);
    logs::write(&path, &scenario, &ticks);
    path
}

fn hardstand(words: &[&str], code: i32) -> String {
    let words: Vec<&std::ffi::OsStr> = words.iter().map(AsRef::as_ref).collect();
    let (said, ended) = logs::hardstand(&words);
    assert_eq!(ended, code, "{said}");
    said
}

#[test]
fn a_table_has_the_numbers_of_the_log_and_their_units() {
    let folder = tempfile::tempdir().unwrap();
    let (log, csv) = (log(folder.path()), folder.path().join("run.csv"));
    let parquet = folder.path().join("run.parquet");
    let [file, to, also] = [&log, &csv, &parquet].map(|p| p.to_str().unwrap());
    for one in [to, &folder.path().join("./run.csv").display().to_string()] {
        let said = hardstand(&["export", file, "--csv", to, "--parquet", one], 2);
        assert!(said.contains("--csv and --parquet are both"), "{said}");
    }
    let said = hardstand(&["export", file, "--csv", to, "--parquet", also], 0);
    assert!(said.contains("300 rows"), "{said}");
    let mut table = csv::Reader::from_path(&csv).unwrap();
    let heads: Vec<String> = table.headers().unwrap().iter().map(String::from).collect();
    for head in ["time [s]", "base.z [m]", "joint.FL_hip_joint.q [rad]", "foot.FL.normal [N]"] {
        assert!(heads.iter().any(|h| h == head), "{head}");
    }
    let rows: Vec<BTreeMap<String, String>> = table
        .records()
        .map(|r| heads.iter().cloned().zip(r.unwrap().iter().map(String::from)).collect())
        .collect();
    let recorded = Log::read(&log).states;
    for (row, state) in rows.iter().zip(&recorded) {
        let number = |name: &str| row[name].parse::<f64>().unwrap();
        assert_eq!(number("base.z [m]").to_bits(), state.truth_base_position_m[2].to_bits());
        assert_eq!(
            number("joint.RR_calf_joint.tau [N·m]").to_bits(),
            state.joints[11].tau.to_bits()
        );
        assert_eq!(number("foot.RL.normal [N]").to_bits(), state.foot_normal_n[2].to_bits());
    }
    assert_eq!(rows.len(), 300);

    let reader = SerializedFileReader::new(File::open(&parquet).unwrap()).unwrap();
    let names: Vec<String> = reader
        .metadata()
        .file_metadata()
        .schema_descr()
        .columns()
        .iter()
        .map(|c| c.name().to_string())
        .collect();
    assert_eq!(names, heads);
    let column = names.iter().position(|n| n == "base.y [m]").unwrap();
    let all: Vec<f64> = reader
        .get_row_iter(None)
        .unwrap()
        .map(|row| row.unwrap().get_double(column).unwrap())
        .collect();
    let expected: Vec<f64> = recorded.iter().map(|s| s.truth_base_position_m[1]).collect();
    assert_eq!(all, expected);
    assert!(all.iter().any(|y| *y > 1e-4), "the push shows");
}

#[test]
fn tables_and_drawings_of_some_quantities() {
    let folder = tempfile::tempdir().unwrap();
    let log = log(folder.path());
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (file, csv) = (log.display().to_string(), path("q.csv"));
    let only = ["--only", "time", "--only", "joint.*.q", "--every", "10"];
    hardstand(&[&["export", &file, "--csv", &csv][..], &only].concat(), 0);
    let text = std::fs::read_to_string(&csv).unwrap();
    assert_eq!((text.lines().count(), text.lines().next().unwrap().split(',').count()), (31, 13));

    let svg = path("all.svg");
    let every =
        ["base", "feet", "joints", "efforts", "friction", "imu", "latency", "foot.*.height"];
    let said = hardstand(&[&["plot", &file, "-o", &svg][..], &every].concat(), 0);
    // 2 + 1 + 12 + 1 + 2 + 2 + 2 + 1
    assert!(said.contains("23 panels"), "{said}");
    let drawing = std::fs::read_to_string(&svg).unwrap();
    roxmltree::Document::parse(&drawing).unwrap();
    for text in ["foot.FL.normal", "command.FR_calf_joint.q", "base.tilt, rad"] {
        assert!(drawing.contains(text), "{text}");
    }

    let wrong = hardstand(&["plot", &file, "-o", &svg, "joint.FL_hop_joint.q"], 2);
    assert!(wrong.contains("joint.FL_hip_joint.q"), "{wrong}");
    let pdf = hardstand(&["plot", &file, "-o", &path("a.pdf"), "feet"], 2);
    assert!(pdf.contains(".svg or .png"), "{pdf}");
    hardstand(&["export", &file], 2);
    hardstand(&["plot", &file, "-o", &svg, "feet", "--from", "2", "--to", "1"], 2);
}

/// Lines in colours, and text: a machine without fonts draws it too.
#[test]
fn a_drawing_can_be_a_png() {
    let folder = tempfile::tempdir().unwrap();
    let (log, file) = (log(folder.path()), folder.path().join("feet.png"));
    let words = ["plot", log.to_str().unwrap(), "-o", file.to_str().unwrap(), "feet", "base"];
    hardstand(&words, 0);
    let decoder = png::Decoder::new(std::io::BufReader::new(File::open(&file).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut rgb).unwrap();
    assert_eq!((info.width, info.height), (1000, 600));
    let pixels = |from: u32, to: u32| rgb[(from * 3000) as usize..(to * 3000) as usize].chunks(3);
    let dark = pixels(0, 28).filter(|p| p.iter().all(|&c| c < 100)).count();
    assert!(dark > 10, "{dark} dark pixels where the title is");
    let blue = pixels(30, 170).filter(|p| p[2] > 150 && p[0] < 60).count();
    assert!(blue > 300, "{blue} blue pixels");
}

/// What is made of a log that breaks off is there, and the exit code says that it is not all.
#[test]
fn a_log_that_breaks_off_shows_in_the_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(log(folder.path())).unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let [cut, csv, svg] = [path("cut.mcap"), path("cut.csv"), path("cut.svg")];
    std::fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    for words in [&["export", &cut, "--csv", &csv][..], &["plot", &cut, "-o", &svg, "feet"]] {
        let said = hardstand(words, 3);
        assert!(said.contains("the log breaks off"), "{said}");
        assert!(std::fs::metadata(words[3]).unwrap().len() > 1000, "{words:?}");
    }
}
