//! Two campaigns, case by case.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use super::stage::{EIGHT, HARDSTAND, Stage, eight};
use crate::common::process::Process;

/// [`EIGHT`] twice, with one seed that only one of them has, with two controllers that leave other
/// cases.
fn two() -> &'static [Stage; 2] {
    static RUN: OnceLock<[Stage; 2]> = OnceLock::new();
    RUN.get_or_init(|| {
        let scripts = [
            "case $HARDSTAND_CASE in flat__noise__s0007) exit 3;; *) exec $STAND;; esac",
            "case $HARDSTAND_CASE in slick__none*) exit 3;; *) exec $STAND --kp=90;; esac",
        ];
        let seeds = ["seeds = [5, 7, 9]", "seeds = [7, 9, 11]"];
        let mut names = Vec::new();
        for group in ["flat__none", "flat__noise", "slick__none", "slick__noise"] {
            names.extend([7, 9].map(|seed| format!("{group}__s{seed:04}")));
        }
        let more: Vec<&str> = names.iter().flat_map(|name| ["--case", name]).collect();
        [0, 1].map(|i| {
            let stage = Stage::with_script(&EIGHT.replace("seeds = [7, 9]", seeds[i]), scripts[i]);
            stage.run(&more, 0);
            stage
        })
    })
}

fn compare(folders: [&Path; 2], more: &[&str], code: i32) -> String {
    let place = tempfile::tempdir().unwrap();
    let mut command = Command::new(HARDSTAND);
    command.args(["campaign", "compare"]).args(folders).args(more);
    Process::start(place.path(), "compare", command).ends_with(code)
}

fn results() -> [std::path::PathBuf; 2] {
    [0, 1].map(|i| two()[i].results())
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|c| c["case"].as_str().unwrap()).collect()
}

#[test]
fn cases_that_became_worse_or_better_are_named() {
    let [a, b] = results();
    let text = compare([&a, &b], &["--json"], 1);
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(names(&found["worse"]), ["slick__none__s0007", "slick__none__s0009"]);
    assert_eq!(names(&found["better"]), ["flat__noise__s0007"]);
    let left = "controller_ended after 0 ticks (0.000 s): the controller's exit code 3";
    assert_eq!(found["worse"][0]["why"], left);
    let counts = ["compared", "passed", "failed", "identical"].map(|name| found[name].as_u64());
    assert_eq!(counts, [8, 5, 0, 0].map(Some));
    assert_eq!(found["inputs"], serde_json::json!(["controller"]));
    assert_eq!(found["only_a"].as_array().unwrap().len(), 4, "seed 5");
    assert_eq!(found["only_b"][0], "flat__none__s0011");
    // by seed: 7 one worse and one better, 9 one worse
    let total = &found["total"];
    assert_eq!(
        [&total["worse"], &total["better"], &total["pairs"]],
        [1, 0, 2].map(Value::from).each_ref()
    );
    assert_eq!(total["p"], 1.0);

    let said = compare([&a, &b], &[], 1);
    for line in [
        "compared   8 cases: 5 passed in both, 0 in neither; 0 ran identically",
        &format!("           slick__none__s0009: {left}"),
        "only in a  4 cases, first flat__none__s0005",
        "only in b  4 cases, first flat__none__s0011",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }
    // the other way round, what was worse is better
    let back: Value = serde_json::from_str(&compare([&b, &a], &["--json"], 1)).unwrap();
    assert_eq!(
        (&back["worse"], back["better"].as_array().map(Vec::len)),
        (&found["better"], Some(2))
    );
}

/// The mean and Student's interval of two pairs by hand: t(1) = 12.706. Seeds that change nothing
/// are one pair, which has no interval.
#[test]
fn measures_are_compared_by_their_pairs() {
    let [a, b] = results();
    let found: Value = serde_json::from_str(&compare([&a, &b], &["--json"], 1)).unwrap();
    let group = |scenario: &str, fault: &str| {
        let groups = found["groups"].as_array().unwrap();
        let found = groups.iter().find(|g| g["scenario"] == scenario && g["fault"] == fault);
        found.unwrap().clone()
    };
    let measure = |group: &Value| {
        let list = group["measures"].as_array().unwrap();
        list.iter().find(|m| m["measure"] == "height_m").unwrap().clone()
    };
    let height = |i: usize, case: &str| -> f64 {
        let row = two()[i].rows().into_iter().find(|row| row["case"] == case).unwrap();
        row["height_m"].parse().unwrap()
    };
    let noise = measure(&group("slick", "noise"));
    let differences =
        ["slick__noise__s0007", "slick__noise__s0009"].map(|c| height(1, c) - height(0, c));
    let mean = 0.5 * (differences[0] + differences[1]);
    let half = 12.706_2 * 0.5 * (differences[0] - differences[1]).abs();
    let number = |name: &str| noise[name].as_f64().unwrap();
    assert!((number("mean") - mean).abs() < 1e-15, "{noise}");
    assert!((number("half_width") / half - 1.0).abs() < 1e-4, "{noise}, {half}");
    assert_eq!(noise["differs"], mean.abs() > half);
    assert!((number("mean_b") - number("mean_a") - mean).abs() < 1e-12);

    let none = group("flat", "none");
    assert_eq!((none["cases"].as_u64(), none["pairs"].as_u64()), (Some(2), Some(1)));
    assert!(measure(&none)["half_width"].is_null() && measure(&none)["differs"] == false);
    assert!(compare([&a, &b], &[], 1).contains("no interval, for it is one pair"));
    let wide = compare([&a, &b], &["--json", "--confidence", "0.99"], 1);
    assert!(wide.contains("\"confidence\":0.99"));
    assert!(compare([&a, &b], &["--confidence", "95"], 2).contains("above 0 and below 1"));
}

#[test]
fn a_campaign_is_as_good_as_itself() {
    let folder = eight().results();
    let said = compare([&folder, &folder], &[], 0);
    assert!(said.contains("8 cases: 8 passed in both, 0 in neither; 8 ran identically"), "{said}");
    assert!(said.contains("worse      0\nbetter     0"), "{said}");
}

#[test]
fn campaigns_that_share_no_case_are_refused() {
    for (from, to, why) in [
        ("duration_s = 0.15", "duration_s = 0.1", "they are other cases: duration_s of"),
        ("name = \"flat\"", "name = \"level\"", "no case is finished in both"),
        ("seeds = [7, 9]", "seeds = [3]", "no case of one has the name"),
    ] {
        let stage = Stage::new(&EIGHT.replace(from, to));
        stage.run(&["--shard", "0/8"], 0);
        let said = compare([&eight().results(), &stage.results()], &[], 2);
        assert!(said.contains("cannot be compared") && said.contains(why), "{said}");
    }
    let stage = Stage::new(
        &EIGHT
            .replace("duration_s", "fail_if = [\"late\"]\nduration_s")
            .replace("time > 0.1", "time > 0.2"),
    );
    stage.run(&["--shard", "0/8"], 0);
    let said = compare([&eight().results(), &stage.results()], &[], 2);
    assert!(said.contains("judged by the condition \"late\""), "{said}");
}
