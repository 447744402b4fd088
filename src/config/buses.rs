//! The tables `buses` of a scenario: motor drives on the wire in the place of joints.

use std::net::SocketAddr;
use std::path::PathBuf;

use hardstand_motors::drives::{Cia402Config, MitRanges, MoteusConfig};
use hardstand_motors::ethercat::Identity;
use hardstand_physics::model::Model;
use hardstand_protocol::{Event, is_controller_name};

use super::section::{Mistakes, Range, Section};
use super::{bus_ids, ros2};

/// Buses of a robot: each joins as a controller of its own.
const BUSES_MAX: usize = 8;
/// Drives of a bus, as many as the robot can have joints.
const DRIVES_MAX: usize = 64;
/// Characters in the name of a network interface.
const INTERFACE_MAX: usize = 15;
/// Torque of the rotor of Solo's motors, N·m/A.
const SOLO_NM_PER_A: f64 = 0.025;

/// The adapter between the master's program and the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BusWire {
    /// mjbots' fdcanusb: text lines on a pseudo-terminal.
    Fdcanusb,
    /// LAWICEL's slcan on a pseudo-terminal.
    Slcan,
    /// Damiao's adapter from USB to CAN on a pseudo-terminal.
    DamiaoUsb,
    /// socketcand on a TCP port.
    Socketcand,
    /// A CAN interface of Linux, real or virtual, without an adapter.
    Socketcan,
    /// A serial line without an adapter, on a pseudo-terminal.
    Rs485,
    /// EtherCAT on a network interface.
    EtherCat,
    /// The master board of the Open Dynamic Robot Initiative, on a network interface.
    Odri,
}

impl BusWire {
    /// On raw Ethernet.
    #[must_use]
    pub const fn is_ethernet(self) -> bool {
        matches!(self, Self::EtherCat | Self::Odri)
    }

    /// The port is a network interface.
    const fn is_on_interface(self) -> bool {
        self.is_ethernet() || matches!(self, Self::Socketcan)
    }
}

/// Where the master connects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BusPort {
    /// A symbolic link to a pseudo-terminal that the daemon opens.
    Pty(PathBuf),
    /// A TCP port of this machine.
    Tcp(SocketAddr),
    /// A network interface of this machine.
    Interface(String),
}

/// A motor drive, with the settings that its maker gives it.
#[derive(Clone, Copy, Debug)]
pub enum Motor {
    /// mjbots moteus.
    Moteus(MoteusConfig),
    /// Damiao with these ranges; it answers to this id.
    Damiao(MitRanges, u16),
    /// CyberGear or RobStride.
    CyberGear(MitRanges),
    /// The controller of the MIT mini cheetah.
    MiniCheetah,
    /// ODrive.
    ODrive,
    /// Unitree GO-M8010-6.
    GoM8010,
    /// A CiA 402 drive in a slave of EtherCAT.
    Cia402(Cia402Config, Identity),
    /// A motor behind a master board, with the torque of its rotor in N·m/A.
    UDriver(f64),
}

/// One drive and its joint.
#[derive(Clone, Copy, Debug)]
pub struct BusDrive {
    /// The motor.
    pub motor: Motor,
    /// Its id on the bus.
    pub id: u8,
    /// Index of the joint in the model.
    pub joint: usize,
    /// What the drive turns for one turn of the joint; negative if it turns the other way.
    pub ratio: f64,
    /// Where the joint is when the drive shows 0, rad.
    pub offset_rad: f64,
    /// The drive's watchdog at power-on, for motors that have one in their settings, ns.
    pub watchdog_ns: Option<u64>,
}

/// A bus with drives.
#[derive(Clone, Debug)]
pub struct MotorBus {
    /// Its name, in counters and as the controller `bus.NAME`.
    pub name: String,
    /// The adapter.
    pub wire: BusWire,
    /// Where the master connects.
    pub port: BusPort,
    /// Bit rate of CAN's arbitration phase, or of the serial line, bit/s.
    pub bit_rate_bps: u32,
    /// Bit rate of CAN FD's data phase, bit/s.
    pub data_bit_rate_bps: u32,
    /// From the end of a frame to a drive's answer, ns.
    pub answer_ns: u64,
    /// Ticks between two set-points for the joints.
    pub every_ticks: u64,
    /// Of random faults.
    pub seed: u64,
    /// The drives, in the order of their joints.
    pub drives: Vec<BusDrive>,
}

impl MotorBus {
    /// The name under which the bus commands its joints.
    #[must_use]
    pub fn controller(&self) -> String {
        format!("bus.{}", self.name)
    }
}

/// Reads the tables; `rate_hz` is that of the ticks.
pub(super) fn buses(
    root: &Section<'_>,
    model: &Model,
    rate_hz: u64,
    events: &[(u64, Event)],
    mistakes: &Mistakes,
) -> Vec<MotorBus> {
    let mut buses = Vec::new();
    for s in root.sections("buses") {
        buses.push(bus(&s, model, rate_hz));
        s.finish();
    }
    // a name that is wrong has been reported
    let names = buses.iter().map(|bus| bus.name.as_str()).filter(|name| is_bus_name(name));
    mistakes.refuse_twins("buses", names);
    let joints = buses.iter().flat_map(|bus| &bus.drives).map(|drive| drive.joint);
    let names = joints.filter_map(|joint| model.joints.get(joint));
    mistakes.refuse_twins("buses: joints", names.map(|joint| joint.name.as_str()));
    if buses.len() > BUSES_MAX {
        mistakes.add(format!("buses has {} entries; at most {BUSES_MAX}", buses.len()));
    }
    check_faults(events, &buses, mistakes);
    buses
}

/// Refuses planned faults of drives in a scenario without buses.
fn check_faults(events: &[(u64, Event)], buses: &[MotorBus], mistakes: &Mistakes) {
    for (_, event) in events {
        if let Event::InjectFault { fault, .. } = event
            && fault.kind.is_of_bus()
            && buses.is_empty()
        {
            let name = fault.kind.name();
            mistakes.add(format!("events: the fault \"{name}\" needs a drive in [[buses]]"));
        }
    }
}

fn is_bus_name(name: &str) -> bool {
    is_controller_name(name) && name.len() <= 32
}

fn bus(s: &Section<'_>, model: &Model, rate_hz: u64) -> MotorBus {
    let name = s.text("name");
    if !is_bus_name(name) {
        s.mistake("name", "1 to 32 letters, digits, \"-\", \"_\" or \".\"");
    }
    let wires = [
        ("fdcanusb", BusWire::Fdcanusb),
        ("slcan", BusWire::Slcan),
        ("damiao-usb", BusWire::DamiaoUsb),
        ("socketcand", BusWire::Socketcand),
        ("socketcan", BusWire::Socketcan),
        ("rs485", BusWire::Rs485),
        ("ethercat", BusWire::EtherCat),
        ("odri", BusWire::Odri),
    ];
    let wire = s.choice("wire", &wires).unwrap_or(BusWire::Fdcanusb);
    let (slow, fast) = match wire {
        BusWire::Rs485 => (4_000_000, 4_000_000),
        _ => (1_000_000, 5_000_000),
    };
    // Ethernet has one bit rate, and answers have their own time
    let is_given = |key: &str| !wire.is_ethernet() && s.has(key);
    let rate = |key: &str, default: u32| match is_given(key) {
        true => s.count(key, 10_000, 12_000_000) as u32,
        false => default,
    };
    let every_ticks = match s.has("rate_hz") {
        true => ros2::rate(s, "rate_hz", rate_hz, rate_hz),
        false => Some(1),
    };
    if every_ticks.is_none() {
        s.mistake("rate_hz", "more than 0");
    }
    let answer_us = is_given("answer_us")
        .then(|| s.f64_if_given("answer_us", Range::between(0.0, 10_000.0)))
        .flatten();
    MotorBus {
        name: name.into(),
        wire,
        port: port(s, wire),
        bit_rate_bps: rate("bit_rate_bps", slow),
        data_bit_rate_bps: rate("data_bit_rate_bps", fast),
        answer_ns: (answer_us.unwrap_or(50.0) * 1e3).round() as u64,
        every_ticks: every_ticks.unwrap_or(1),
        seed: if s.has("seed") { s.count("seed", 0, u32::MAX >> 1) } else { 1 },
        drives: drives(s, wire, model),
    }
}

fn port(s: &Section<'_>, wire: BusWire) -> BusPort {
    let text = s.text("port");
    if wire.is_on_interface() {
        let is_char = |c: char| c.is_ascii_graphic() && c != '/' && c != ':';
        if !(1..=INTERFACE_MAX).contains(&text.len()) || !text.chars().all(is_char) {
            s.mistake("port", "a network interface, as \"can0\": 1 to 15 characters");
        }
        return BusPort::Interface(text.into());
    }
    if wire != BusWire::Socketcand {
        if !text.starts_with('/') {
            s.mistake("port", "an absolute path: a symbolic link to the pseudo-terminal");
        }
        return BusPort::Pty(text.into());
    }
    let address = text.parse::<SocketAddr>().ok().filter(|address| address.ip().is_loopback());
    if address.is_none() {
        let rule = "an address of this machine, as \"127.0.0.1:28700\": anyone who reaches it can \
                    command the robot";
        s.mistake("port", rule);
    }
    BusPort::Tcp(address.unwrap_or_else(|| ([127, 0, 0, 1], 0).into()))
}

fn drives(s: &Section<'_>, wire: BusWire, model: &Model) -> Vec<BusDrive> {
    let sections = s.sections("drives");
    if sections.is_empty() || sections.len() > DRIVES_MAX {
        s.complain("drives", &format!("a bus has 1 to {DRIVES_MAX} [[buses.drives]]"));
    }
    let mut drives: Vec<BusDrive> = Vec::new();
    let mut read = Vec::new();
    for d in sections {
        let mistakes = d.mistake_count();
        let drive = drive(&d, wire, model);
        // one that is wrong has values in the place of its own, which others may have
        if d.mistake_count() == mistakes {
            if drives.iter().any(|other| other.id == drive.id) {
                d.mistake("id", "another one for each drive of a bus");
            }
            drives.push(drive);
            read.push((d, Some(drive)));
        } else {
            read.push((d, None));
        }
    }
    for (d, drive) in read {
        if let Some(text) = drive.and_then(|drive| bus_ids::overlap(&drive, &drives)) {
            d.complain("id", &text);
        }
        d.finish();
    }
    drives.sort_by_key(|drive| drive.joint);
    drives
}

fn drive(s: &Section<'_>, wire: BusWire, model: &Model) -> BusDrive {
    let name = s.text("joint");
    let joint = model.joints.iter().position(|joint| joint.name == name);
    if joint.is_none() {
        let names: Vec<&str> = model.joints.iter().map(|joint| joint.name.as_str()).collect();
        s.mistake("joint", &format!("one of {}", names.join(", ")));
    }
    let (motor, id) = motor(s, wire);
    let gear = s.f64_if_given("gear", Range::between(1e-3, 1e3)).unwrap_or(1.0);
    let sign = s.f64_if_given("sign", Range::between(-1.0, 1.0)).unwrap_or(1.0);
    if sign.abs() != 1.0 {
        s.mistake("sign", "1 or -1");
    }
    let offset_rad = s.f64_if_given("offset_rad", Range::between(-1e3, 1e3)).unwrap_or(0.0);
    let watchdog_ms = s.f64_if_given("watchdog_ms", Range::between(1.0, 1e6));
    BusDrive {
        motor,
        id,
        joint: joint.unwrap_or(0),
        ratio: gear * sign,
        offset_rad,
        watchdog_ns: watchdog_ms.map(|ms| (ms * 1e6).round() as u64),
    }
}

/// The motor and its id.
fn motor(s: &Section<'_>, wire: BusWire) -> (Motor, u8) {
    let damiao = |ranges| Motor::Damiao(ranges, 0);
    let motors = [
        ("moteus", Motor::Moteus(MoteusConfig::default())),
        ("damiao-4310", damiao(MitRanges::DAMIAO_4310)),
        ("damiao-4340", damiao(MitRanges::DAMIAO_4340)),
        ("cybergear", Motor::CyberGear(MitRanges::CYBERGEAR)),
        ("robstride-02", Motor::CyberGear(MitRanges::ROBSTRIDE_02)),
        ("mini-cheetah", Motor::MiniCheetah),
        ("odrive", Motor::ODrive),
        ("go-m8010", Motor::GoM8010),
        ("cia402", Motor::Cia402(Cia402Config::default(), Identity::new(1))),
        ("udriver", Motor::UDriver(SOLO_NM_PER_A)),
    ];
    let motor = s.choice("motor", &motors).unwrap_or(Motor::MiniCheetah);
    let fits = match wire {
        BusWire::Rs485 => matches!(motor, Motor::GoM8010),
        BusWire::EtherCat => matches!(motor, Motor::Cia402(..)),
        BusWire::Odri => matches!(motor, Motor::UDriver(_)),
        _ => !matches!(motor, Motor::GoM8010 | Motor::Cia402(..) | Motor::UDriver(_)),
    };
    if !fits {
        let rule = "\"go-m8010\" with wire \"rs485\", \"cia402\" with \"ethercat\", \
                    \"udriver\" with \"odri\", another one with any other wire";
        s.mistake("motor", rule);
    }
    let (least, most) = bus_ids::range(&motor);
    let id = s.count("id", least, most) as u8;
    let motor = match motor {
        Motor::Moteus(config) => Motor::Moteus(moteus(s, config)),
        Motor::Damiao(ranges, _) => {
            let given = s.has("master_id").then(|| s.count("master_id", 0, 0x7ff) as u16);
            Motor::Damiao(ranges, given.unwrap_or(u16::from(id) + 16))
        }
        Motor::Cia402(config, _) => cia402(s, config, id),
        Motor::UDriver(own) => {
            let given = s.f64_if_given("torque_nm_per_a", Range::between(1e-4, 1e3));
            Motor::UDriver(given.unwrap_or(own))
        }
        other => other,
    };
    (motor, id)
}

/// The settings and the identity of a drive of EtherCAT.
fn cia402(s: &Section<'_>, mut config: Cia402Config, id: u8) -> Motor {
    let given = |key: &str, least: f64, most: f64| s.f64_if_given(key, Range::between(least, most));
    let number = |key: &str, least: u32, default: u32| match s.has(key) {
        true => s.count(key, least, u32::MAX) as u32,
        false => default,
    };
    config.rated_torque_nm = given("torque_rated_nm", 1e-3, 1e4).unwrap_or(config.rated_torque_nm);
    config.max_torque_nm = given("torque_max_nm", 0.0, 1e4).unwrap_or(config.max_torque_nm);
    let gain = |key: &str, most: f64| given(key, 0.0, most).map(|gain| gain as f32);
    config.stiffness = gain("kp_nm_per_rad", 1e5).unwrap_or(config.stiffness);
    config.damping = gain("kd_nm_s_per_rad", 1e4).unwrap_or(config.damping);
    config.counts_per_rev = number("counts_per_rev", 1, config.counts_per_rev);
    let own = Identity::new(u16::from(id));
    let identity = Identity {
        vendor: number("vendor_id", 0, own.vendor),
        product: number("product_code", 0, own.product),
        revision: number("revision", 0, own.revision),
        ..own
    };
    Motor::Cia402(config, identity)
}

/// The settings that a moteus of another size has.
fn moteus(s: &Section<'_>, mut config: MoteusConfig) -> MoteusConfig {
    let over = |key: &str, slot: &mut f64, max: f64| {
        *slot = s.f64_if_given(key, Range::between(0.0, max)).unwrap_or(*slot);
    };
    over("kp_nm_per_rev", &mut config.kp_nm_per_rev, 1e5);
    over("kd_nm_s_per_rev", &mut config.kd_nm_s_per_rev, 1e4);
    over("torque_max_nm", &mut config.max_torque_nm, 1e4);
    over("timeout_s", &mut config.default_timeout_s, 1e3);
    config
}
