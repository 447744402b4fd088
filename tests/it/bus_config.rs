//! The tables `buses` of a scenario: which ids drives can have.

use hardstand::ErrorKind;
use hardstand::config::{Motor, Scenario};

const INERTIAL: &str = r#"<inertial><mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1"
 iyz="0" izz="0.1"/></inertial>"#;

/// A trunk with two legs.
fn robot() -> String {
    let leg = |n: u8| {
        format!(
            r#"<link name="leg{n}">{INERTIAL}</link><joint name="hip{n}" type="revolute">
<parent link="trunk"/><child link="leg{n}"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="20" velocity="9"/></joint>"#
        )
    };
    format!(r#"<robot name="r"><link name="trunk">{INERTIAL}</link>{}{}</robot>"#, leg(1), leg(2))
}

/// A scenario with these drives at the two joints.
fn load(wire: &str, drives: [&str; 2]) -> hardstand::Result<Scenario> {
    let [a, b] = drives;
    let bus = format!(
        "[[buses]]\nname = \"one\"\nwire = \"{wire}\"\nport = \"/run/one\"\n\
         [[buses.drives]]\njoint = \"hip1\"\n{a}\n[[buses.drives]]\njoint = \"hip2\"\n{b}\n"
    );
    Scenario::from_texts(&bus, &robot(), &[])
}

fn refusal(wire: &str, drives: [&str; 2]) -> String {
    let Err(e) = load(wire, drives) else { panic!("not refused: {drives:?}") };
    assert_eq!(e.kind(), ErrorKind::Input, "{e}");
    e.to_string()
}

fn drive(motor: &str, id: u32) -> String {
    format!("motor = \"{motor}\"\nid = {id}")
}

#[test]
fn an_id_that_the_field_on_the_wire_does_not_hold_or_that_means_all_motors_is_refused() {
    let cases =
        [("go-m8010", 0, 14), ("odrive", 0, 62), ("moteus", 1, 126), ("mini-cheetah", 1, 126)];
    for (motor, least, most) in cases {
        let wire = if motor == "go-m8010" { "rs485" } else { "slcan" };
        load(wire, [&drive(motor, least), &drive(motor, most)]).unwrap();
        let said = refusal(wire, [&drive(motor, 5), &drive(motor, most + 1)]);
        let expected = format!("buses[0].drives[1].id is {}; it must be", most + 1);
        assert!(said.contains(&expected), "{said}");
    }
    assert!(refusal("slcan", [&drive("moteus", 0), &drive("moteus", 1)]).contains("id is 0"));
}

#[test]
fn feedback_that_would_be_a_command_for_a_drive_is_refused() {
    let damiao = |id| drive("damiao-4310", id);
    let scenario = load("slcan", [&damiao(1), &damiao(2)]).unwrap();
    let masters = scenario.buses[0].drives.iter().map(|d| match d.motor {
        Motor::Damiao(_, master) => master,
        other => panic!("{other:?}"),
    });
    assert!(masters.eq([17, 18]));
    // 1 answers to 17, which is the other one
    let said = refusal("slcan", [&damiao(1), &damiao(17)]);
    assert!(said.contains("the feedback has the identifier 17"), "{said}");
    assert!(said.contains("the drive with id 17"), "{said}");
    let apart = format!("{}\nmaster_id = 100", damiao(1));
    load("slcan", [&apart, &damiao(17)]).unwrap();
    // the factory's master_id is the same for all
    let [a, b] = [1, 2].map(|id| format!("{}\nmaster_id = 0", damiao(id)));
    load("slcan", [&a, &b]).unwrap();
    // 3 << 5 is where an ODrive with id 3 listens
    let odrive = format!("{}\nmaster_id = 96", damiao(1));
    assert!(refusal("slcan", [&odrive, &drive("odrive", 3)]).contains("the drive with id 3"));
    let apart = format!("{}\nmaster_id = 1000", damiao(97));
    let said = refusal("slcan", [&apart, &drive("odrive", 3)]);
    assert!(said.contains("id 97 is also one for the drive with id 3"), "{said}");
}
