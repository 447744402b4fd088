//! Files whose keys replace those of a scenario, and corrections of masses in them.

use std::path::Path;

use hardstand::ErrorKind;
use hardstand::config::Scenario;

use crate::common::repository;

/// The shipped quadruped with `overlay` over it.
fn load(folder: &Path, overlay: &str) -> hardstand::Result<Scenario> {
    let urdf = repository("config/robots/quadruped.urdf");
    let text = include_str!("../../config/quadruped.toml");
    let text = text.replace("robots/quadruped.urdf", &urdf);
    std::fs::write(folder.join("fitted.toml"), overlay).unwrap();
    let scenario = folder.join("robot.toml");
    std::fs::write(&scenario, format!("overlays = [\"fitted.toml\"]\n{text}")).unwrap();
    Scenario::load(&scenario, &[])
}

#[test]
fn an_overlay_corrects_masses() {
    let folder = tempfile::tempdir().unwrap();
    let plain = load(folder.path(), "").unwrap().model;
    let text = "[links.\"*\"]\nmass_scale = 2.0\n[links.trunk]\nmass_scale = 100\n";
    let heavy = load(folder.path(), text).unwrap().model;
    for (old, new) in plain.bodies.iter().zip(&heavy.bodies) {
        let factor = if old.name == "trunk" { 100.0 } else { 2.0 };
        assert_eq!(new.inertia.mass, factor * old.inertia.mass, "{}", old.name);
    }
}

/// Below and above the range, and what is no number at all: key, value and range are named.
#[test]
fn a_factor_out_of_its_range_is_refused_with_key_value_and_range() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |text: &str| {
        let e = load(folder.path(), text).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Input, "{e}");
        e.to_string()
    };
    for link in ["\"*\"", "FL_calf"] {
        let name = link.trim_matches('"');
        for key in ["mass_scale", "inertia_scale"] {
            for value in ["0.0099", "100.1", "-1.5", "0", "nan", "inf"] {
                let said = refused(&format!("[links.{link}]\n{key} = {value}\n"));
                let wanted = format!("links.{name}.{key} is {value}; it must be ");
                assert!(said.contains(&wanted) && said.contains("0.01 to 100"), "{said}");
            }
            let said = refused(&format!("[links.{link}]\n{key} = \"heavy\"\n"));
            assert!(said.contains(&format!("links.{name}.{key} is \"heavy\"; it must")), "{said}");
        }
    }
    let said = refused("[links.FL_calve]\nmass_scale = 1.1\n");
    assert!(said.contains("no body has this name; the bodies are trunk, "), "{said}");
    let said = refused("[links.trunk]\nmass = 1.1\n");
    assert!(said.contains("links.trunk.mass is unknown; known here: "), "{said}");
}

#[test]
fn an_overlay_has_no_overlays_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let e = load(folder.path(), "overlays = [\"other.toml\"]\n").unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Input, "{e}");
    let said = e.to_string();
    assert!(said.contains("fitted.toml: overlays is [\"other.toml\"]; an overlay has"), "{said}");
    assert!(said.contains("robot.toml"), "{said}");
}

#[test]
fn a_mistake_is_reported_with_the_names_of_the_overlays() {
    let folder = tempfile::tempdir().unwrap();
    let said = load(folder.path(), "[sim]\nrate = 1000\n").unwrap_err().to_string();
    let first = said.lines().next().unwrap();
    assert!(
        first.contains("robot.toml with the overlays ") && first.contains("fitted.toml"),
        "{said}"
    );
    assert!(said.contains("sim.rate is unknown"), "{said}");
}
