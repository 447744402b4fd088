//! Values of `--set`: TOML, or strings without quotes; and mistakes that are told once.

use std::path::Path;

use hardstand::config::Scenario;

fn load(sets: &[&str]) -> Result<Scenario, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/quadruped.toml");
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    Scenario::load(&path, &sets).map_err(|e| e.to_string())
}

fn refused(sets: &[&str]) -> String {
    match load(sets) {
        Ok(_) => panic!("accepted: {sets:?}"),
        Err(text) => text,
    }
}

#[test]
fn a_list_or_table_that_is_no_toml_is_refused_with_the_reason() {
    let push = "events=[{at_s=0.1,kind='push',link='trunk',force_n=[0,0,1],duration_s=.1}]";
    let said = refused(&[push]);
    assert!(said.contains("\"events\": [{at_s=0.1,"), "{said}");
    assert!(said.contains("is not valid TOML: "), "{said}");
    assert!(!said.contains("a list of tables"), "{said}");
    for wrong in ["bus={", "robot.name=\"a", "robot.name='a", "sim.gravity_m_per_s2=[0, 0, -9.81"] {
        let said = refused(&[wrong]);
        assert!(said.contains("is not valid TOML: "), "{wrong}: {said}");
    }
    assert!(load(&[&push.replace("=.1", "=0.1")]).is_ok());
}

#[test]
fn what_needs_no_quotes_stays_a_string() {
    let file = |text: &str| load(&[&format!("record.file={text}")]).unwrap().record.file;
    for name in ["run.mcap", "2026-11-22-run.mcap", "-a.mcap", "+a.mcap", ".a/1.2.3", "/a/b"] {
        assert_eq!(file(name), name);
    }
    let lcm = load(&["lcm.group=239.255.76.67:7667"]).unwrap().lcm.unwrap();
    assert_eq!(lcm.group.to_string(), "239.255.76.67:7667");
    let udp = |text: &str| load(&[&format!("udp.listen={text}")]).unwrap().ports.udp.unwrap();
    assert_eq!(udp("127.0.0.1:0").to_string(), "127.0.0.1:0");
    assert_eq!(udp("[::1]:7000").to_string(), "[::1]:7000");
}

#[test]
fn a_key_in_single_quotes_is_one_in_double_quotes() {
    for joint in ["joints.'*'.damping=0.7", "joints.\"*\".damping=0.7"] {
        let model = load(&[joint]).unwrap().model;
        assert!(model.joints.iter().all(|joint| joint.damping == 0.7), "{joint}");
    }
}

#[test]
fn a_mistake_in_a_coefficient_of_friction_is_told_once() {
    for value in ["-1", "abc", "nan"] {
        let said = refused(&[&format!("contact.mu_static={value}")]);
        assert_eq!(said.matches("contact.mu_static is").count(), 1, "{said}");
        assert!(!said.contains("mu_kinetic"), "{said}");
    }
    let said = refused(&["feet.0.mu_static=-1", "feet.0.mu_kinetic=0.5"]);
    assert!(said.contains("feet[0].mu_static is -1") && !said.contains("mu_kinetic"), "{said}");
}

#[test]
fn a_port_of_lcm_is_not_0() {
    let said = refused(&["lcm.group=224.0.0.251:0"]);
    assert!(said.contains("lcm.group is \"224.0.0.251:0\"; it must be"), "{said}");
    assert!(said.contains("1 to 65535"), "{said}");
    assert!(load(&["lcm.group=224.0.0.251:7667"]).is_ok());
}
