//! docs/contact.md agrees with what the example has measured and drawn, and names keys that exist;
//! docs/performance.md names every bench.

use std::fs;
use std::path::{Path, PathBuf};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")
}

fn page() -> String {
    fs::read_to_string(docs().join("contact.md")).unwrap()
}

#[test]
fn the_page_shows_the_table_that_was_measured() {
    let table = fs::read_to_string(docs().join("contact/table.md")).unwrap();
    assert!(table.lines().count() > 20, "a table of {} lines", table.lines().count());
    assert!(page().contains(&table), "run the example contact_models again");
}

#[test]
fn every_plot_is_there_and_small() {
    let text = page();
    let plots: Vec<&str> =
        text.split("](contact/").skip(1).filter_map(|p| p.split(')').next()).collect();
    assert_eq!(plots.len(), 10, "{plots:?}");
    for plot in plots {
        let svg = fs::read_to_string(docs().join("contact").join(plot)).unwrap();
        assert!(svg.starts_with("<svg") && svg.len() <= 60_000, "{plot}: {} bytes", svg.len());
        assert!(!svg.contains("NaN"), "{plot} has points that are no numbers");
    }
}

#[test]
fn every_key_of_the_contact_is_in_the_list_of_defaults() {
    let defaults = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/default.toml");
    let defaults = fs::read_to_string(defaults).unwrap();
    let (_, contact) = defaults.split_once("\n[contact]\n").unwrap();
    let (contact, _) = contact.split_once("\n[").unwrap();
    let text = page();
    let mut named = 0;
    for rest in text.split("`contact.").skip(1) {
        let key: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        assert!(contact.contains(&format!("\n{key} = ")), "contact.{key} is not a key");
        named += 1;
    }
    assert!(named > 10, "the page names {named} keys");
}

#[test]
fn the_page_on_performance_names_every_bench_and_shows_its_plot() {
    let text = fs::read_to_string(docs().join("performance.md")).unwrap();
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let package: toml::Table = fs::read_to_string(package).unwrap().parse().unwrap();
    let benches = package["bench"].as_array().unwrap();
    assert!(benches.len() > 4, "{} benches", benches.len());
    for bench in benches {
        let name = bench["name"].as_str().unwrap();
        assert!(text.contains(&format!("--bench {name}")), "--bench {name} is not on the page");
    }
    assert!(text.contains("](performance/size.svg)"));
    let svg = fs::read_to_string(docs().join("performance/size.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.len() <= 60_000, "{} bytes", svg.len());
    assert!(!svg.contains("NaN"), "the plot has points that are no numbers");
}
