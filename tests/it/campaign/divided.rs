//! Parts of the table, and what a campaign will take.

use std::collections::BTreeMap;
use std::fs::File;
use std::process::Command;

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use serde_json::Value;

use super::recipes::python;
use super::stage::{EIGHT, HARDSTAND, Stage, eight};
use crate::common::process::{Process, repository};

/// Rows of each part, by its name below `parts`.
fn parts(stage: &Stage) -> BTreeMap<String, i64> {
    let folder = stage.results().join("parts");
    let mut found = BTreeMap::new();
    let mut open = vec![folder.clone()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let rows = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        let rows = rows.metadata().file_metadata().num_rows();
        found.insert(path.strip_prefix(&folder).unwrap().display().to_string(), rows);
    }
    found
}

fn pyarrow_reads_the_parts(stage: &Stage, rows: usize) {
    let Some(python) = python("pyarrow_reads_the_parts", "pyarrow") else { return };
    let mut command = Command::new(python);
    command.arg(repository("tests/python/parts.py")).arg(stage.results());
    let said = Process::start(stage.dir.path(), "parts", command).ends_with(0);
    assert!(said.contains(&format!("{rows} rows, 23 columns alike")), "{said}");
}

/// Each slice writes its own parts, and together they are the table; another division replaces
/// them, and rows that are gone take their parts with them.
#[test]
fn the_parts_of_all_slices_are_the_table() {
    let stage = Stage::new(EIGHT);
    let groups =
        ["flat", "slick"].map(|s| ["noise", "none"].map(|f| format!("scenario={s}/fault={f}")));
    let expected = |files: &[&str], rows: i64| -> BTreeMap<String, i64> {
        let names =
            groups.iter().flatten().flat_map(|g| files.iter().map(move |f| format!("{g}/{f}")));
        names.map(|name| (name, rows)).collect()
    };
    stage.run(&["--shard", "0/2", "--jobs", "2"], 0);
    assert_eq!(parts(&stage), expected(&["part-0-of-2.parquet"], 1));
    stage.run(&["--shard", "1/2", "--jobs", "2"], 0);
    assert_eq!(parts(&stage), expected(&["part-0-of-2.parquet", "part-1-of-2.parquet"], 1));
    pyarrow_reads_the_parts(&stage, 8);
    stage.run(&["--table"], 0);
    assert_eq!(parts(&stage), expected(&["part-0-of-1.parquet"], 2));
    pyarrow_reads_the_parts(&stage, 8);
    let fewer = EIGHT.split("[[faults]]\nname = \"noise\"").next().unwrap();
    let rest = EIGHT.split("amplitude = 0.01 }]").nth(1).unwrap();
    stage.write(&format!("{fewer}{rest}").replace("seeds = [7, 9]", "seeds = [9]"));
    stage.run(&["--table"], 0);
    let mut less = expected(&["part-0-of-1.parquet"], 1);
    less.retain(|name, _| name.contains("fault=none"));
    assert_eq!(parts(&stage), less);
    pyarrow_reads_the_parts(&stage, 2);
}

/// Slices of two controllers are two campaigns: the second is refused before it runs a case, and
/// what is mixed all the same is no result.
#[test]
fn slices_of_two_controllers_are_not_mixed() {
    let mut stage = Stage::new(&EIGHT.replace("seeds = [7, 9]", "seeds = [7]"));
    stage.run(&["--shard", "0/2"], 0);
    let finished = stage.finished();
    let manifest = |of: &Stage| std::fs::read(of.results().join("campaign.json")).unwrap();
    let before = manifest(&stage);
    stage.controller.push("--kp=90".into());
    let said = stage.run(&["--shard", "1/2"], 2);
    assert!(said.contains("flat__none__s0007") && said.contains("controller differs"), "{said}");
    stage.controller.pop();
    assert_eq!((stage.finished(), manifest(&stage)), (finished, before));

    stage.run(&["--shard", "1/2"], 0);
    let report = |code: i32| {
        let mut command = Command::new(HARDSTAND);
        command.args(["campaign", "report"]).arg(stage.results());
        Process::start(stage.dir.path(), "report", command).ends_with(code)
    };
    report(0);
    let file = stage.results().join("cases/slick__none__s0007/outcome.json");
    let mut outcome: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    outcome["inputs"]["controller_files"] = "0123456789abcdef".into();
    std::fs::write(&file, outcome.to_string()).unwrap();
    let said = report(2);
    let expected = "the outcomes of slick__none__s0007 and flat__none__s0007 are of two campaigns: \
                    controller_files is \"0123456789abcdef\" and ";
    assert!(said.contains(expected), "{said}");
}

fn plan(stage: &Stage, more: &[&str], code: i32) -> String {
    let mut command = Command::new(HARDSTAND);
    command.args(["campaign", "plan"]).arg(stage.path("campaign.toml")).args(more);
    Process::start(stage.dir.path(), "plan", command).ends_with(code)
}

/// A hundred thousand cases, of which seven have been measured: each group by its own mean.
#[test]
fn a_plan_says_what_the_cases_will_take() {
    let stage = Stage::new(&EIGHT.replace("seeds = [7, 9]", "seeds = 25000"));
    let said = plan(&stage, &[], 0);
    assert!(said.contains("cases      100000: 2 scenarios × 2 faults × 25000 seeds"), "{said}");
    assert!(said.contains("simulated  0.15 s each, 4.17 h in all"), "{said}");
    assert!(said.contains("measured   nothing") && said.contains("--shard 0/1000`"), "{said}");
    let said = plan(&stage, &["--out", "no results"], 0);
    assert!(said.contains("--out 'no results' --shard 0/1000`"), "{said}");

    let out = stage.path("some");
    let rows = eight().rows();
    // one group has one finished case, the others two, so that their means count
    for row in &rows[1..] {
        let [from, to] =
            [eight().results(), out.clone()].map(|f| f.join("cases").join(&row["case"]));
        std::fs::create_dir_all(&to).unwrap();
        std::fs::copy(from.join("outcome.json"), to.join("outcome.json")).unwrap();
    }
    let out = out.display().to_string();
    let text = plan(&stage, &["--json", "--out", &out, "--workers", "1,50"], 0);
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((found["cases"].as_u64(), found["finished"].as_u64()), (Some(100_000), Some(7)));
    let walls_s: Vec<f64> = rows.iter().map(|row| row["wall_s"].parse().unwrap()).collect();
    let near = |name: &str, value: &Value, expected: f64| {
        let value = value.as_f64().unwrap();
        assert!((value / expected - 1.0).abs() < 1e-9, "{name}: {value}, not {expected}");
    };
    near("mean", &found["case_s"], walls_s[1..].iter().sum::<f64>() / 7.0);
    // rows are in groups of two
    let pairs = walls_s[2..].chunks(2).map(|group| 24_998.0 * 0.5 * (group[0] + group[1]));
    let open_s = 24_999.0 * walls_s[1] + pairs.sum::<f64>();
    near("open", &found["open_s"], open_s);
    near("hours on 50", &found["takes"][1]["hours"], open_s / 3600.0 / 50.0);
    let said = plan(&stage, &["--out", &out], 0);
    assert!(said.contains(" h with 1 at a time") && said.contains("group      "), "{said}");
}

/// Outcomes of other cases of the same names measure nothing.
#[test]
fn a_plan_does_not_measure_other_cases() {
    let stage = Stage::new(&EIGHT.replace("duration_s = 0.15", "duration_s = 15.0"));
    let out = eight().results().display().to_string();
    assert!(plan(&stage, &["--out", &out], 0).contains("finished   0, 8 to run"));
    let said = plan(&stage, &["--workers", "0"], 2);
    assert!(said.contains("--workers"), "{said}");
}
