//! What the table says.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::process::Command;

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;

use super::recipes::python;
use super::stage::{EIGHT, HARDSTAND, Row, Stage, eight, same};
use crate::common::process::{Process, repository};

/// Each number by hand: they are quantities of ticks 1 to 150.
#[test]
fn a_row_says_what_happened() {
    let rows = eight().rows();
    let names: Vec<&str> = rows.iter().map(|row| row["case"].as_str()).collect();
    let expected = ["flat__none", "flat__noise", "slick__none", "slick__noise"];
    let expected: Vec<String> =
        expected.iter().flat_map(|c| [7, 9].map(|seed| format!("{c}__s{seed:04}"))).collect();
    assert_eq!(names, expected);
    for row in &rows {
        let at = |name: &str| row[name].as_str();
        assert_eq!(
            ["outcome", "exit_code", "reason", "ticks", "time_s", "log"].map(at),
            ["done", "0", "", "150", "0.15", ""]
        );
        assert_eq!(
            ["late", "late_at_s", "fell", "fell_at_s"].map(at),
            ["true", "0.101", "false", ""]
        );
        // the ground's, from the first tick on
        let slick = if at("scenario") == "slick" { ["true", "0.001"] } else { ["false", ""] };
        assert_eq!(["slick", "slick_at_s"].map(at), slick);
        assert_eq!(["ticks_mean", "ticks_min", "ticks_max"].map(at), ["75.5", "1.0", "150.0"]);
        let height_m: f64 = row["height_m"].parse().unwrap();
        assert!((0.3..0.36).contains(&height_m), "{height_m}");
        assert!(row["wall_s"].parse::<f64>().unwrap() > 0.0);
    }
    assert!(!eight().results().join("cases/flat__none__s0007/run.mcap").exists());
}

/// The seed is that of the fault; nothing else hangs on it.
#[test]
fn a_seed_changes_what_hangs_on_chance() {
    let rows = eight().rows();
    let digest = |case: &str| {
        let row = rows.iter().find(|row| row["case"] == case);
        row.unwrap_or_else(|| panic!("no row {case}"))["digest"].clone()
    };
    assert_eq!(digest("flat__none__s0007").len(), 16);
    assert_eq!(digest("flat__none__s0007"), digest("flat__none__s0009"));
    assert_ne!(digest("flat__noise__s0007"), digest("flat__noise__s0009"));
    assert_ne!(digest("flat__none__s0007"), digest("flat__noise__s0007"));
    assert_ne!(digest("flat__none__s0007"), digest("slick__none__s0007"));
}

/// Two slices at a time, in one folder, of which each writes the table.
#[test]
fn slices_are_the_whole_and_a_row_is_the_same_every_time() {
    let whole = eight();
    let stage = Stage::new(EIGHT);
    let mut slices = [0, 1].map(|i| {
        let shard = format!("{i}/2");
        stage.start(&format!("slice{i}"), &["--shard", &shard, "--jobs", "1"])
    });
    for slice in &mut slices {
        let said = slice.ends_with(0);
        assert!(said.contains("cases      4 to run, 1 at a time"), "{said}");
    }
    assert_eq!(same(&stage.rows()), same(&whole.rows()));
}

#[test]
fn a_case_in_one_process_has_the_row_of_two_processes() {
    let stage = Stage::new(&EIGHT.replace("seeds", "in_process = true\nseeds"));
    let said = stage.run(&["--jobs", "2"], 0);
    assert!(said.contains("outcomes   8 of 8 cases: done 8"), "{said}");
    assert_eq!(same(&stage.rows()), same(&eight().rows()));

    // what happens to commands and states on their way happens here, too
    let link = EIGHT.replace("seeds = [7, 9]", "seeds = [7]").replace(
        "[{ at_s = 0.05, kind = \"encoder_noise\", amplitude = 0.01 }]",
        "[{ at_s = 0.02, kind = \"link_delay\", delay_ticks = 3 }, \
          { at_s = 0.05, kind = \"link_drop\", probability = 0.3, duration_s = 0.05 }, \
          { at_s = 0.07, kind = \"link_duplicate\", probability = 0.5, delay_ticks = 2 }, \
          { at_s = 0.11, kind = \"link_stale\", probability = 0.5 }, \
          { at_s = 0.03, kind = \"state_drop\", probability = 0.2, duration_s = 0.1 }, \
          { at_s = 0.06, kind = \"state_jitter\", delay_ticks = 4, duration_s = 0.06 }, \
          { at_s = 0.09, kind = \"state_reorder\", probability = 0.3, delay_ticks = 3 }]",
    );
    let both = ["true", "false"].map(|way| {
        let stage = Stage::new(&link.replace("seeds", &format!("in_process = {way}\nseeds")));
        stage.run(&["--jobs", "1"], 0);
        same(&stage.rows())
    });
    assert_eq!(both[0], both[1]);
    let digests: Vec<&String> = both[0].iter().map(|row| &row["digest"]).collect();
    assert!(digests[0] != digests[1], "the link does nothing: {digests:?}");

    let paced = EIGHT.replace("seeds", "in_process = true\nspeed = 1.0\nseeds");
    let said = Stage::new(&paced).run(&[], 2);
    assert!(said.contains("in_process") && said.contains("lockstep"), "{said}");
}

#[test]
fn a_controller_that_stays_up_has_the_rows_of_one_that_is_started_for_each_case() {
    // gains that the controller asks for: it is started for each, and for nothing else
    let stiff = "set = [\"contact.mu_static=0.7\", 'joints.\"*\".hold_kp=120.0']";
    let both = ["true", "false"].map(|resets| {
        let campaign = EIGHT
            .replace("set = [\"contact.mu_static=0.7\"]", stiff)
            .replace("seeds =", &format!("controller_resets = {resets}\nseeds ="));
        let stage = Stage::with_script(&campaign, "echo >> $STARTS; exec $STAND");
        let starts = stage.path("starts");
        let script = stage.controller[2].replace("$STARTS", &starts.display().to_string());
        // in a folder whose name is not UTF-8
        let dir = tempfile::Builder::new().prefix(OsStr::from_bytes(b"\xff")).tempdir().unwrap();
        let there = Stage { controller: vec!["sh".into(), "-c".into(), script], dir };
        there.write(&campaign);
        let said = there.run(&["--jobs", "1"], 0);
        assert!(said.contains("outcomes   8 of 8 cases: done 8"), "{said}");
        (same(&there.rows()), fs::read(starts).unwrap().len())
    });
    assert_eq!(both[0].0, both[1].0);
    let digests: BTreeSet<&String> = both[0].0.iter().map(|row| &row["digest"]).collect();
    assert_eq!(digests.len(), 6, "faults and gains act, seeds without a fault do not: {digests:?}");
    assert_eq!((both[0].1, both[1].1), (2, 8));

    let paced = EIGHT.replace("seeds", "controller_resets = true\nmode = \"realtime\"\nseeds");
    let said = Stage::new(&paced).run(&[], 2);
    assert!(said.contains("controller_resets") && said.contains("lockstep"), "{said}");
}

#[test]
fn after_a_controller_that_fails_another_one_is_started() {
    let campaign = EIGHT.replace("seeds", "controller_resets = true\nseeds");
    let script = "[ -e $0 ] && exec $STAND; touch $0; echo no luck; exit 3";
    let stage = Stage::with_script(&campaign, script);
    let mut controller = stage.controller.clone();
    controller.push(stage.path("failed").display().to_string());
    let stage = Stage { controller, ..stage };
    let said = stage.run(&["--jobs", "1"], 0);
    assert!(said.contains("outcomes   8 of 8 cases: controller_ended 1, done 7"), "{said}");
    let rows = stage.rows();
    let [first, others] = [&rows[..1], &rows[1..]];
    assert_eq!(first[0]["reason"], "the controller's exit code 3");
    let all = same(&eight().rows());
    assert_eq!(same(others), all[1..]);
    let words = stage.results().join("cases/flat__none__s0007/controller.txt");
    assert_eq!(fs::read_to_string(words).unwrap(), "no luck\n");
}

/// Such as a job that was given up for dead, and came again beside itself.
#[test]
fn two_campaigns_in_one_folder_do_no_harm() {
    let stage = Stage::new(&EIGHT.replace("seeds = [7, 9]", "seeds = [7]\nkeep_logs = \"all\""));
    let mut both = ["a", "b"].map(|name| stage.start(name, &["--jobs", "1"]));
    both.iter_mut().for_each(|campaign| {
        campaign.ends_with(0);
    });
    let mut rows = same(&stage.rows());
    for row in &mut rows {
        let log = std::mem::take(row.get_mut("log").unwrap());
        let log = Process::start(stage.dir.path(), "replay", {
            let mut replay = Command::new(HARDSTAND);
            replay.arg("replay").arg(stage.results().join(log));
            replay
        })
        .ends_with(0);
        assert!(log.contains(&row["digest"]), "{log}");
    }
    let seven = |row: &Row| row["seed"] == "7";
    let expected: Vec<Row> = eight().rows().into_iter().filter(seven).collect();
    assert_eq!(rows, same(&expected));
}

/// Columns, kinds and values, with no cell more or less.
#[test]
fn parquet_says_the_same_as_csv() {
    let file = File::open(eight().results().join("table.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let text = |field: &Field| match field {
        Field::Null => String::new(),
        Field::Str(s) => s.clone(),
        Field::Long(n) => n.to_string(),
        Field::Double(x) => format!("{x:?}"),
        Field::Bool(b) => b.to_string(),
        other => panic!("{other:?}"),
    };
    let found: Vec<Row> = reader
        .get_row_iter(None)
        .unwrap()
        .map(|row| row.unwrap().get_column_iter().map(|(n, f)| (n.clone(), text(f))).collect())
        .collect();
    assert_eq!(found, eight().rows());
}

/// Readers of others.
#[test]
fn pyarrow_reads_both_tables_alike() {
    let Some(python) = python("pyarrow_reads_both_tables_alike", "pyarrow") else { return };
    let mut command = Command::new(python);
    command.arg(repository("tests/python/table.py")).arg(eight().results());
    let out = command.output().unwrap();
    let (said, errors) =
        (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{said}{errors}");
    assert!(said.contains("8 rows, 23 columns alike"), "{said}");
}

/// What is drawn from the seed is the same in all scenarios, other for another seed, in its range,
/// and what the log's scenario has.
#[test]
fn varied_keys_are_drawn_from_the_seed() {
    let vary = "[[vary]]\nkey = \"contact.mu_static\"\nbetween = [0.7, 0.9]\n";
    let head = EIGHT.replace("seeds = [7, 9]", "seeds = [7, 9]\nkeep_logs = \"all\"");
    let head = head.split("[[faults]]").next().unwrap();
    let stage = Stage::new(&format!("{head}{vary}"));
    stage.run(&[], 0);
    let rows = stage.rows();
    let drawn: Vec<f64> =
        rows.iter().map(|row| row["contact_mu_static"].parse().unwrap()).collect();
    assert_eq!(drawn[..2], drawn[2..], "flat and slick");
    assert_ne!(drawn[0].to_bits(), drawn[1].to_bits(), "seeds 7 and 9");
    assert!(drawn.iter().all(|x| (0.7..=0.9).contains(x)), "{drawn:?}");
    for (row, mu) in rows.iter().zip(drawn) {
        assert_eq!(row["log"], format!("cases/{}/run.mcap", row["case"]));
        let log = hardstand_log::LogReader::open(&stage.results().join(&row["log"])).unwrap();
        assert!(log.info().scenario.contains(&format!("mu_static = {mu:?}")), "{mu}");
    }
}

/// A margin may name a condition of the campaign, which comes before a word of the language.
#[test]
fn a_margin_is_that_of_the_campaigns_own_condition() {
    let stage = Stage::new(
        "duration_s = 0.05\n[[scenarios]]\nname = \"flat\"\nfile = \"QUADRUPED\"\n\
         [conditions]\nfell = \"base.z < 10\"\nhigh = \"base.z > 20\"\n\
         [measures]\nby_name = { margin = \"fell\" }\nby_text = { margin = \"base.z < 10\" }\n\
         high_m = { margin = \"high\" }\n",
    );
    stage.run(&[], 0);
    let row = &stage.rows()[0];
    assert_eq!(row["by_name"], row["by_text"], "{row:?}");
    let high: f64 = row["high_m"].parse().unwrap();
    assert!((-20.0..-19.0).contains(&high), "{row:?}");
}
