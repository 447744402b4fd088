//! Virtual motors for programs that know only the wire.
//!
//! ```text
//! virtual_motors [--wire fdcanusb|slcan|damiao-usb|socketcand] [--seed N] [--inertia KG_M2]
//!     KIND:ID...
//! ```
//!
//! Kinds: `moteus`, `damiao`, `mini-cheetah`, `cybergear`, `robstride`, `odrive`, `go-m8010`. The
//! first line on standard output says where the adapter is: a pseudo-terminal or a TCP port. Each
//! motor turns a rotor. Lines on standard input change what surrounds the motors, see `order`; the
//! program ends with its standard input.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "that is what it is for")]

use hardstand_motors::buses::{BitRates, CanDrive, NodeFaults, SerialDrive, SerialFaults};
use hardstand_motors::buses::{SerialLine, SerialNetwork};
use hardstand_motors::drives::{
    CyberGear, Damiao, GoM8010, MiniCheetah, MitRanges, Moteus, ODrive, ODriveConfig,
    split_requests,
};
use hardstand_motors::wires::{Adapter, DamiaoUsb, Fdcanusb, Slcan, Socketcand};
use hardstand_motors::{CanNetwork, Condition, Environment, JointReading, SetPoint};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::pty::OpenptFlags;
use rustix::termios::OptionalActions;
use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

const STEP_NS: u64 = 1_000_000;
/// When the machine lets this program wait for longer, the motors' clock stands still.
const PAUSE_MAX_NS: u64 = 500_000_000;
const DAMPING_NM_S: f64 = 0.02;
/// From the end of a frame to a drive's answer.
const ANSWER_NS: u64 = 50_000;

type Failure = Box<dyn std::error::Error>;

/// Where the master connects.
enum Port {
    /// The pseudo-terminal, and its other end, which stays open between masters.
    Pty {
        master: OwnedFd,
        _other: OwnedFd,
    },
    Tcp(TcpListener, Option<TcpStream>),
}

enum Network {
    Can(CanNetwork, Box<dyn Adapter>),
    Serial(SerialNetwork),
}

struct Rotor {
    reading: JointReading,
    load_nm: f64,
    environment: Environment,
}

struct Motors {
    network: Network,
    rotors: Vec<Rotor>,
    readings: Vec<JointReading>,
    inertia_kg_m2: f64,
    simulated_ns: u64,
}

fn adapter(wire: &str) -> Result<Box<dyn Adapter>, Failure> {
    Ok(match wire {
        "fdcanusb" => Box::new(Fdcanusb::default()),
        "slcan" => Box::new(Slcan::default()),
        "damiao-usb" => Box::new(DamiaoUsb::default()),
        "socketcand" => Box::new(Socketcand::default()),
        _ => return Err(format!("no wire {wire}: fdcanusb, slcan, damiao-usb, socketcand").into()),
    })
}

fn can_drive(kind: &str, id: u8) -> Result<CanDrive, Failure> {
    let serial = [id, 1, 2, 3, 4, 5, 6, 7];
    let watchdog_ns = Some(2_000_000_000);
    Ok(match kind {
        "moteus" => Box::new(Moteus::new(id)),
        // the master's id is the motor's plus 16, as in the maker's examples
        "damiao" => Box::new(Damiao::new(id.into(), u16::from(id) + 16, MitRanges::DAMIAO_4310)),
        "mini-cheetah" => Box::new(MiniCheetah::new(id, MitRanges::MINI_CHEETAH, None)),
        "cybergear" => Box::new(CyberGear::new(id, MitRanges::CYBERGEAR, serial)),
        "robstride" => Box::new(CyberGear::new(id, MitRanges::ROBSTRIDE_02, serial)),
        "odrive" => {
            Box::new(ODrive::new(id, ODriveConfig { watchdog_ns, ..ODriveConfig::default() }))
        }
        _ => return Err(format!("no motor {kind}").into()),
    })
}

fn motors(wire: &str, seed: u64, names: &[(String, u8)]) -> Result<Motors, Failure> {
    let network = if names.iter().any(|(kind, _)| kind == "go-m8010") {
        let mut drives: Vec<SerialDrive> = Vec::new();
        for (_, id) in names.iter().filter(|(kind, _)| kind == "go-m8010") {
            drives.push(Box::new(GoM8010::new(*id)));
        }
        if drives.len() != names.len() {
            return Err("go-m8010 has a bus of its own".into());
        }
        let line = SerialLine { bps: 4_000_000, answer_ns: ANSWER_NS };
        Network::Serial(SerialNetwork::new(line, drives, split_requests, seed))
    } else {
        let drives: Result<_, _> = names.iter().map(|(kind, id)| can_drive(kind, *id)).collect();
        let network = CanNetwork::new(BitRates::MOTEUS, drives?, ANSWER_NS, seed);
        Network::Can(network, adapter(wire)?)
    };
    let rotor = || Rotor {
        reading: JointReading::default(),
        load_nm: 0.0,
        environment: Environment::default(),
    };
    let rotors: Vec<Rotor> = names.iter().map(|_| rotor()).collect();
    let readings = vec![JointReading::default(); rotors.len()];
    Ok(Motors { network, rotors, readings, inertia_kg_m2: 0.01, simulated_ns: 0 })
}

impl Motors {
    /// Advances rotors, drives and bus to `now_ns`; appends what the master receives.
    fn advance(&mut self, now_ns: u64, to_master: &mut Vec<u8>) {
        while self.simulated_ns + STEP_NS <= now_ns {
            self.simulated_ns += STEP_NS;
            self.advance_bus(self.simulated_ns);
            for n in 0..self.rotors.len() {
                self.step_rotor(n);
            }
        }
        self.advance_bus(now_ns);
        match &mut self.network {
            Network::Can(network, adapter) => {
                for (time_ns, frame) in network.received() {
                    adapter.deliver(time_ns, &frame, to_master);
                }
            }
            Network::Serial(network) => network.receive(now_ns, to_master),
        }
    }

    fn advance_bus(&mut self, until_ns: u64) {
        match &mut self.network {
            Network::Can(network, _) => network.advance(until_ns, &self.readings),
            Network::Serial(network) => network.advance(until_ns, &self.readings),
        }
    }

    fn step_rotor(&mut self, n: usize) {
        let (now_ns, rotor) = (self.simulated_ns, &mut self.rotors[n]);
        let set_point = match &mut self.network {
            Network::Can(network, _) => network.set_point(n, now_ns, &rotor.reading),
            Network::Serial(network) => network.set_point(n, now_ns, &rotor.reading),
        };
        let dt = STEP_NS as f64 * 1e-9;
        let mut now = rotor.reading;
        now.tau_nm = set_point.unwrap_or(SetPoint::Released).torque_nm(&now);
        let torque = now.tau_nm + rotor.load_nm - DAMPING_NM_S * now.dq_rad_s;
        now.dq_rad_s += dt * torque / self.inertia_kg_m2;
        now.q_rad += dt * now.dq_rad_s;
        rotor.reading = now;
        self.readings[n] = now;
    }

    fn feed(&mut self, now_ns: u64, bytes: &[u8], to_master: &mut Vec<u8>) {
        match &mut self.network {
            Network::Can(network, adapter) => {
                let mut frames = Vec::new();
                adapter.feed(bytes, &mut frames, to_master);
                for frame in frames {
                    network.send(now_ns, frame);
                }
            }
            Network::Serial(network) => {
                network.send(now_ns, bytes);
            }
        }
    }

    /// `load N NM`, `environment N BUS_V BOARD_C MOTOR_C`, `condition N NAME on|off`, `faults NODE
    /// ERROR_SHARE LOSS_SHARE` (node 0 is the master), `line FLIP_SHARE LOSS_SHARE`, `statistics`.
    fn order(&mut self, line: &str) -> Result<String, Failure> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["load", n, nm] => {
                self.rotor(n)?.load_nm = nm.parse()?;
            }
            ["environment", n, bus_v, board_c, motor_c] => {
                let rotor = self.rotor(n)?;
                let (bus_v, board_c) = (bus_v.parse()?, board_c.parse()?);
                rotor.environment = Environment { bus_v, board_c, motor_c: motor_c.parse()? };
                let environment = rotor.environment;
                match (&mut self.network, n.parse()?) {
                    (Network::Can(can, _), n) => {
                        can.drive(n).map(|drive| drive.set_environment(environment))
                    }
                    (Network::Serial(serial), n) => {
                        serial.drive(n).map(|drive| drive.set_environment(environment))
                    }
                };
            }
            ["condition", n, name, state] => {
                let known = Condition::ALL.into_iter().find(|(known, _)| *known == name);
                let (_, condition) = known.ok_or("no such condition")?;
                let on = state == "on";
                match (&mut self.network, n.parse()?) {
                    (Network::Can(can, _), n) => {
                        can.drive(n).map(|drive| drive.set_condition(condition, on))
                    }
                    (Network::Serial(serial), n) => {
                        serial.drive(n).map(|drive| drive.set_condition(condition, on))
                    }
                };
            }
            ["faults", node, error, loss] => {
                let Network::Can(can, _) = &mut self.network else { return Err("no CAN".into()) };
                let (error_share, loss_share) = (error.parse()?, loss.parse()?);
                can.set_faults(node.parse()?, NodeFaults { error_share, loss_share });
            }
            ["line", flip, loss] => {
                let Network::Serial(serial) = &mut self.network else {
                    return Err("no serial line".into());
                };
                let (flip_share, loss_share) = (flip.parse()?, loss.parse()?);
                serial.faults = SerialFaults { flip_share, loss_share };
            }
            ["statistics"] => {
                return Ok(match &mut self.network {
                    Network::Can(can, _) => format!("{:?} {:?}", can.state(0), can.statistics()),
                    Network::Serial(serial) => {
                        format!("busy_ns: {} collisions: {}", serial.busy_ns, serial.collisions)
                    }
                });
            }
            _ => return Err(format!("no order {line:?}").into()),
        }
        Ok("ok".into())
    }

    fn rotor(&mut self, n: &str) -> Result<&mut Rotor, Failure> {
        Ok(self.rotors.get_mut(n.parse::<usize>()?).ok_or("no such motor")?)
    }
}

impl Port {
    fn open(wire: &str) -> Result<(Self, String), Failure> {
        if wire == "socketcand" {
            let listener = TcpListener::bind("127.0.0.1:0")?;
            listener.set_nonblocking(true)?;
            let address = format!("tcp {}", listener.local_addr()?);
            return Ok((Self::Tcp(listener, None), address));
        }
        let master = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        rustix::pty::grantpt(&master)?;
        rustix::pty::unlockpt(&master)?;
        let name = rustix::pty::ptsname(&master, Vec::new())?;
        let other = rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty())?;
        let mut settings = rustix::termios::tcgetattr(&other)?;
        settings.make_raw();
        rustix::termios::tcsetattr(&other, OptionalActions::Now, &settings)?;
        rustix::fs::fcntl_setfl(&master, OFlags::NONBLOCK)?;
        let address = format!("pty {}", name.to_string_lossy());
        Ok((Self::Pty { master, _other: other }, address))
    }

    fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Pty { master, .. } => master.as_fd(),
            Self::Tcp(_, Some(stream)) => stream.as_fd(),
            Self::Tcp(listener, None) => listener.as_fd(),
        }
    }

    /// Bytes from the master; greets one that has just connected.
    fn read(&mut self, network: &mut Network, buffer: &mut [u8]) -> Result<usize, Failure> {
        if let Self::Tcp(listener, stream @ None) = self {
            match listener.accept() {
                Ok((accepted, _)) => {
                    accepted.set_nonblocking(true)?;
                    accepted.set_nodelay(true)?;
                    if let Network::Can(_, adapter) = network {
                        *adapter = Box::new(Socketcand::default());
                        let mut greeting = Vec::new();
                        adapter.greet(&mut greeting);
                        rustix::io::write(&accepted, &greeting)?;
                    }
                    *stream = Some(accepted);
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => {}
                Err(e) => return Err(e.into()),
            }
            return Ok(0);
        }
        match rustix::io::read(self.fd(), buffer) {
            Ok(0) | Err(rustix::io::Errno::CONNRESET) => {
                if let Self::Tcp(_, stream) = self {
                    *stream = None;
                }
                Ok(0)
            }
            Ok(count) => Ok(count),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Ok(0),
            Err(e) => Err(e.into()),
        }
    }

    /// What the master does not take in time is lost, as in an adapter.
    fn write(&self, bytes: &[u8]) {
        if !matches!(self, Self::Tcp(_, None)) && !bytes.is_empty() {
            let _lost_if_full = rustix::io::write(self.fd(), bytes).is_err();
        }
    }
}

fn run(mut port: Port, mut motors: Motors) -> Result<(), Failure> {
    let (mut last, mut now_ns) = (Instant::now(), 0_u64);
    let stdin = std::io::stdin();
    let (mut buffer, mut line, mut out) = ([0; 4096], Vec::new(), Vec::new());
    let timeout = Timespec::try_from(Duration::from_micros(250))?;
    loop {
        let (mut master, mut orders) = (false, false);
        let mut waits = [
            PollFd::from_borrowed_fd(port.fd(), PollFlags::IN),
            PollFd::new(&stdin, PollFlags::IN),
        ];
        if poll(&mut waits, Some(&timeout)).is_ok_and(|ready| ready > 0) {
            (master, orders) = (!waits[0].revents().is_empty(), !waits[1].revents().is_empty());
        }
        let now = Instant::now();
        now_ns += (now.duration_since(last).as_nanos() as u64).min(PAUSE_MAX_NS);
        last = now;
        motors.advance(now_ns, &mut out);
        if master {
            let count = port.read(&mut motors.network, &mut buffer)?;
            motors.feed(now_ns, &buffer[..count], &mut out);
        }
        port.write(&out);
        out.clear();
        if orders {
            let count = rustix::io::read(&stdin, &mut buffer)?;
            if count == 0 {
                return Ok(());
            }
            line.extend_from_slice(&buffer[..count]);
            while let Some(end) = line.iter().position(|byte| *byte == b'\n') {
                let text: Vec<u8> = line.drain(..=end).collect();
                match motors.order(String::from_utf8_lossy(&text).trim()) {
                    Ok(answer) => println!("{answer}"),
                    Err(e) => println!("error: {e}"),
                }
            }
        }
    }
}

fn main() -> Result<(), Failure> {
    let (mut wire, mut seed, mut names) = ("fdcanusb".to_string(), 1, Vec::new());
    let mut inertia: Option<f64> = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--wire" => wire = arguments.next().ok_or("--wire needs a name")?,
            "--seed" => seed = arguments.next().ok_or("--seed needs a number")?.parse()?,
            "--inertia" => {
                inertia = Some(arguments.next().ok_or("--inertia needs kg m2")?.parse()?)
            }
            name => {
                let (kind, id) = name.split_once(':').ok_or("motors are KIND:ID")?;
                names.push((kind.to_string(), id.parse()?));
            }
        }
    }
    if names.is_empty() {
        return Err(
            "usage: virtual_motors [--wire fdcanusb|slcan|damiao-usb|socketcand] KIND:ID...".into(),
        );
    }
    let mut motors = motors(&wire, seed, &names)?;
    motors.inertia_kg_m2 = inertia.unwrap_or(motors.inertia_kg_m2);
    let (port, address) = Port::open(&wire)?;
    println!("{address}");
    run(port, motors)
}
