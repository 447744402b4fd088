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
    let port = if matches!(wire, "ethercat" | "odri") { "ecat0" } else { "/run/one" };
    load_with(wire, &format!("port = \"{port}\""), drives)
}

/// Likewise, with these lines in the table of the bus.
fn load_with(wire: &str, lines: &str, drives: [&str; 2]) -> hardstand::Result<Scenario> {
    let [a, b] = drives;
    let bus = format!(
        "[[buses]]\nname = \"one\"\nwire = \"{wire}\"\n{lines}\n\
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
    let cases = [
        ("rs485", "go-m8010", 0, 14),
        ("slcan", "odrive", 0, 62),
        ("slcan", "moteus", 1, 126),
        ("slcan", "mini-cheetah", 1, 126),
        ("ethercat", "cia402", 1, 64),
        ("odri", "udriver", 0, 11),
    ];
    for (wire, motor, least, most) in cases {
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

#[test]
fn a_bus_on_ethernet_has_an_interface_and_no_bit_rate() {
    let drives = [drive("cia402", 1), drive("cia402", 2)];
    let drives = drives.each_ref().map(String::as_str);
    let refusal = |lines: &str| load_with("ethercat", lines, drives).unwrap_err().to_string();
    load_with("ethercat", "port = \"ecat0\"", drives).unwrap();
    for port in ["/run/one", "", "sixteen-characte"] {
        let said = refusal(&format!("port = \"{port}\""));
        assert!(said.contains("buses[0].port") && said.contains("a network interface"), "{said}");
    }
    for key in ["bit_rate_bps = 1000000", "data_bit_rate_bps = 5000000", "answer_us = 50"] {
        let said = refusal(&format!("port = \"ecat0\"\n{key}"));
        assert!(said.contains(key.split(' ').next().unwrap()), "{said}");
    }
    let other = [drive("udriver", 1), drive("udriver", 2)];
    let said = load("ethercat", other.each_ref().map(String::as_str)).unwrap_err().to_string();
    assert!(said.contains("\"udriver\" with \"odri\""), "{said}");
}

#[test]
fn the_settings_of_a_cia402_drive_reach_it() {
    let own = "vendor_id = 4026531840\nproduct_code = 7\nrevision = 3\ncounts_per_rev = 4096\n\
               torque_rated_nm = 2.5\ntorque_max_nm = 9.0\nkp_nm_per_rad = 40.0\n\
               kd_nm_s_per_rad = 0.5";
    let (first, second) = (format!("{}\n{own}", drive("cia402", 9)), drive("cia402", 2));
    let scenario = load("ethercat", [&first, &second]).unwrap();
    let Motor::Cia402(config, identity) = scenario.buses[0].drives[0].motor else { panic!() };
    let numbers = [identity.alias.into(), identity.vendor, identity.product, identity.revision];
    assert_eq!(numbers, [9, 4_026_531_840, 7, 3]);
    assert_eq!((config.counts_per_rev, config.rated_torque_nm), (4096, 2.5));
    assert_eq!((config.max_torque_nm, config.stiffness, config.damping), (9.0, 40.0, 0.5));
}

#[test]
fn a_drive_that_is_refused_is_not_said_to_repeat_another_one() {
    let [first, high] = [drive("mini-cheetah", 1), drive("mini-cheetah", 200)];
    let said = refusal("slcan", [&first, &high]);
    assert!(said.contains("buses[0].drives[1].id is 200; it must be"), "{said}");
    assert!(!said.contains("another one for each drive"), "{said}");

    let bus = |name: &str, joint: &str| {
        format!(
            "[[buses]]\nname = \"{name}\"\nwire = \"slcan\"\nport = \"/run/{joint}\"\n\
             [[buses.drives]]\njoint = \"{joint}\"\n{first}\n"
        )
    };
    let refused = |buses: String| {
        let Err(e) = Scenario::from_texts(&buses, &robot(), &[]) else { panic!("{buses}") };
        e.to_string()
    };
    // the first joint of the robot is hip1
    let said = refused(bus("one", "hip1") + &bus("two", "knee"));
    assert!(said.contains("joint is \"knee\"; it must be one of"), "{said}");
    assert!(!said.contains("is used twice"), "{said}");
    let said = refused(bus("", "hip1") + &bus("", "hip2"));
    assert!(said.contains("buses[1].name is"), "{said}");
    assert!(!said.contains("is used twice"), "{said}");
    let said = refused(bus("one", "hip1") + &bus("one", "hip1"));
    assert_eq!(said.matches("is used twice").count(), 2, "{said}");
}
