//! The bus of a scenario, its adapter and its drives.

use crate::config::{BusDrive, BusWire, Motor, MotorBus};
use crate::simulation::InjectedFaults;
use hardstand_motors::buses::{
    BitRates, CanDrive, ErrorState, NodeFaults, SerialDrive, SerialFaults, SerialLine,
};
use hardstand_motors::drives::{
    Cia402Config, CyberGear, Damiao, GoM8010, MiniCheetah, MitRanges, Moteus, ODrive, ODriveConfig,
    split_requests,
};
use hardstand_motors::ethercat::Identity;
use hardstand_motors::odri::{ImuReading, MotorSpec};
use hardstand_motors::wires::{Adapter, DamiaoUsb, Fdcanusb, Slcan, Socketcan, Socketcand};
use hardstand_motors::{
    CanNetwork, Condition, Drive, EtherCatNetwork, JointReading, MasterBoard, SerialNetwork,
    SetPoint,
};
use hardstand_physics::spatial::{Quaternion, Vec3};
use hardstand_protocol::{FaultKind, StateReading};

use super::ethernet;

/// How long a master board waits for commands by default, as its firmware's.
const BOARD_PATIENCE_MS: u64 = 20;
/// What its IMU takes for gravity, m/s².
const STANDARD_GRAVITY: f64 = 9.80665;

/// Drives on one bus, as the program sees them that opened the port.
pub(super) enum Network {
    Can { network: CanNetwork, adapter: Box<dyn Adapter + Send>, wire: BusWire },
    Serial(SerialNetwork),
    EtherCat(EtherCatNetwork),
    Odri(Box<MasterBoard>),
}

impl std::fmt::Debug for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Can { .. } => "Can",
            Self::Serial(_) => "Serial",
            Self::EtherCat(_) => "EtherCat",
            Self::Odri(_) => "Odri",
        })
    }
}

impl Network {
    pub(super) fn of(bus: &MotorBus) -> Self {
        if bus.wire == BusWire::Rs485 {
            let line = SerialLine { bps: bus.bit_rate_bps, answer_ns: bus.answer_ns };
            let drive = |d: &BusDrive| Box::new(GoM8010::new(d.id)) as SerialDrive;
            let drives = bus.drives.iter().map(drive).collect();
            return Self::Serial(SerialNetwork::new(line, drives, split_requests, bus.seed));
        }
        if bus.wire == BusWire::EtherCat {
            let slaves: Vec<_> = bus.drives.iter().map(slave).collect();
            return Self::EtherCat(EtherCatNetwork::new(&slaves, bus.seed));
        }
        if bus.wire == BusWire::Odri {
            return Self::Odri(Box::new(master_board(bus)));
        }
        let (nominal_bps, data_bps) = (bus.bit_rate_bps, bus.data_bit_rate_bps);
        let rates = BitRates { nominal_bps, data_bps };
        let drives = bus.drives.iter().map(can_drive).collect();
        let network = CanNetwork::new(rates, drives, bus.answer_ns, bus.seed);
        Self::Can { network, adapter: adapter(bus.wire), wire: bus.wire }
    }

    /// A master has connected: the adapter begins afresh.
    pub(super) fn greet(&mut self, to_master: &mut Vec<u8>) {
        if let Self::Can { adapter: own, wire, .. } = self {
            *own = adapter(*wire);
            own.greet(to_master);
        }
    }

    /// Bytes of the master at `now_ns`; true if there was a frame among them.
    pub(super) fn feed(&mut self, now_ns: u64, bytes: &[u8], to_master: &mut Vec<u8>) -> bool {
        match self {
            Self::Can { network, adapter, .. } => {
                let mut frames = Vec::new();
                adapter.feed(bytes, &mut frames, to_master);
                let any = !frames.is_empty();
                frames.into_iter().for_each(|frame| network.send(now_ns, frame));
                any
            }
            Self::Serial(network) => network.send(now_ns, bytes),
            Self::EtherCat(network) => network.send(now_ns, bytes),
            Self::Odri(board) => board.send(bytes),
        }
    }

    /// Advances the bus to `now_ns` and appends what the master has received until then.
    pub(super) fn advance(
        &mut self,
        now_ns: u64,
        readings: &[JointReading],
        to_master: &mut Vec<u8>,
    ) {
        match self {
            Self::Can { network, adapter, .. } => {
                network.advance(now_ns, readings);
                for (time_ns, frame) in network.received() {
                    adapter.deliver(time_ns, &frame, to_master);
                }
            }
            Self::Serial(network) => {
                network.advance(now_ns, readings);
                network.receive(now_ns, to_master);
            }
            Self::EtherCat(network) => {
                network.advance(now_ns, readings);
                network.received().for_each(|frame| ethernet::append(to_master, &frame));
            }
            Self::Odri(board) => {
                board.advance(now_ns, readings);
                board.received().for_each(|frame| ethernet::append(to_master, &frame));
            }
        }
    }

    /// What an IMU measures that is on the bus, too.
    pub(super) fn set_imu(&mut self, state: &StateReading) {
        if let Self::Odri(board) = self {
            board.imu = imu(state);
        }
    }

    /// What drive `n` does from `now_ns` on.
    pub(super) fn set_point(&mut self, n: usize, now_ns: u64, now: &JointReading) -> SetPoint {
        let set_point = match self {
            Self::Can { network, .. } => network.set_point(n, now_ns, now),
            Self::Serial(network) => network.set_point(n, now_ns, now),
            Self::EtherCat(network) => network.set_point(n, now_ns, now),
            Self::Odri(board) => board.set_point(n),
        };
        set_point.unwrap_or(SetPoint::Released)
    }

    /// Gives each drive the injected faults of its joint. A serial line has the worst of them.
    pub(super) fn set_faults(&mut self, drives: &[BusDrive], faults: &InjectedFaults) {
        let mut line = SerialFaults::default();
        for (n, drive) in drives.iter().enumerate() {
            let of = |kind| {
                let own = faults.active().filter(move |(f, _)| f.kind == kind);
                own.filter(|(f, _)| f.part.has_joint(drive.joint)).map(|(f, _)| f.values[0])
            };
            let share = |kind| of(kind).fold(0.0, f64::max);
            let (loss_share, error_share) = (share(FaultKind::BusLoss), share(FaultKind::BusError));
            line.loss_share = line.loss_share.max(loss_share);
            line.flip_share = line.flip_share.max(error_share);
            for (i, (_, condition)) in Condition::ALL.into_iter().enumerate() {
                let present = of(FaultKind::DriveError).any(|number| number == (i + 1) as f64);
                match self {
                    Self::Can { network, .. } => {
                        set_condition(network.drive(n), condition, present)
                    }
                    Self::Serial(network) => set_condition(network.drive(n), condition, present),
                    Self::EtherCat(network) => network.set_condition(n, condition, present),
                    Self::Odri(board) => board.set_condition(n, condition, present),
                }
            }
            let faults = NodeFaults { error_share, loss_share };
            match self {
                Self::Can { network, .. } => network.set_faults(n + 1, faults),
                Self::EtherCat(network) => network.set_faults(n, faults),
                Self::Odri(board) => board.set_faults(n, faults),
                Self::Serial(_) => {}
            }
        }
        if let Self::Serial(network) = self {
            network.faults = line;
        }
    }

    /// Sums since the start by name, and last the time in which the bus was busy, ns.
    pub(super) fn counts(&mut self, drives: usize) -> (Vec<(&'static str, u64)>, u64) {
        let network = match self {
            Self::Serial(network) => {
                let counts = [("collisions", network.collisions), ("dropped", network.dropped)];
                return (counts.to_vec(), network.busy_ns);
            }
            Self::EtherCat(network) => return chain_counts(network),
            Self::Odri(board) => return board_counts(board),
            Self::Can { network, .. } => network,
        };
        let nodes = |network: &mut CanNetwork, state: ErrorState| {
            (0..=drives).filter(|&node| network.state(node) == state).count() as u64
        };
        let passive = nodes(network, ErrorState::Passive);
        let off = nodes(network, ErrorState::BusOff);
        let s = network.statistics();
        let counts = vec![
            ("frames", s.frames),
            ("frames_destroyed", s.errors),
            ("frames_unacknowledged", s.unacknowledged),
            ("frames_lost", s.lost),
            ("frames_dropped", s.dropped),
            ("bus_off", s.bus_off),
            ("nodes_error_passive", passive),
            ("nodes_bus_off", off),
        ];
        (counts, s.busy_ns)
    }
}

fn chain_counts(network: &EtherCatNetwork) -> (Vec<(&'static str, u64)>, u64) {
    let s = network.statistics();
    let counts = vec![
        ("frames", s.frames),
        ("frames_destroyed", s.errors),
        ("frames_lost", s.lost),
        ("frames_dropped", s.dropped),
        ("frames_malformed", s.malformed),
        ("slaves_operational", network.operational() as u64),
    ];
    (counts, s.busy_ns)
}

fn board_counts(board: &MasterBoard) -> (Vec<(&'static str, u64)>, u64) {
    let s = board.statistics();
    let counts = vec![
        ("frames", s.packets),
        ("frames_destroyed", s.errors),
        ("frames_lost", s.lost),
        ("frames_dropped", s.dropped),
        ("frames_malformed", s.malformed),
        ("sessions_active", u64::from(board.is_active())),
    ];
    (counts, 0)
}

/// What a master board's IMU says, which knows gravity and its own attitude.
fn imu(state: &StateReading) -> ImuReading {
    let quat = Quaternion::from_wxyz(state.imu_quat_wxyz);
    let up = quat.to_matrix().transpose() * Vec3::new(0.0, 0.0, STANDARD_GRAVITY);
    let [x, y, z] = state.imu_specific_force_m_per_s2;
    ImuReading {
        attitude_rad: quat.to_rpy(),
        angular_velocity_rad_per_s: state.imu_angular_velocity_rad_per_s,
        specific_force_m_per_s2: [x, y, z],
        linear_acceleration_m_per_s2: [x - up.x, y - up.y, z - up.z],
    }
}

/// A board gives up a computer that is silent for as long as the most patient of its drives says.
fn master_board(bus: &MotorBus) -> MasterBoard {
    let motor = |drive: &BusDrive| match drive.motor {
        Motor::UDriver(torque_nm_per_a) => Some(MotorSpec { id: drive.id, torque_nm_per_a }),
        _ => None, // the scenario lets no other motor come here
    };
    let motors: Vec<_> = bus.drives.iter().filter_map(motor).collect();
    let patience_ns = bus.drives.iter().filter_map(|drive| drive.watchdog_ns).max();
    let patience_ms = patience_ns.map_or(BOARD_PATIENCE_MS, |ns| ns.div_ceil(1_000_000));
    MasterBoard::new(&motors, patience_ms as u32, bus.seed)
}

fn set_condition<F>(
    drive: Option<&mut Box<dyn Drive<Frame = F> + Send>>,
    condition: Condition,
    present: bool,
) {
    if let Some(drive) = drive {
        drive.set_condition(condition, present);
    }
}

fn adapter(wire: BusWire) -> Box<dyn Adapter + Send> {
    match wire {
        BusWire::Slcan => Box::new(Slcan::default()),
        BusWire::DamiaoUsb => Box::new(DamiaoUsb::default()),
        BusWire::Socketcand => Box::new(Socketcand::default()),
        BusWire::Socketcan => Box::new(Socketcan),
        BusWire::Fdcanusb | BusWire::Rs485 | BusWire::EtherCat | BusWire::Odri => {
            Box::new(Fdcanusb::default())
        }
    }
}

/// The slave of a drive; the scenario gives each motor of EtherCAT its settings.
fn slave(drive: &BusDrive) -> (Identity, Cia402Config) {
    match drive.motor {
        Motor::Cia402(config, identity) => (identity, config),
        _ => (Identity::new(u16::from(drive.id)), Cia402Config::default()),
    }
}

fn can_drive(drive: &BusDrive) -> CanDrive {
    let (id, watchdog_ns) = (drive.id, drive.watchdog_ns);
    match drive.motor {
        Motor::Moteus(config) => Box::new(Moteus::with_config(id, config)),
        Motor::Damiao(ranges, master_id) => Box::new(Damiao::new(id.into(), master_id, ranges)),
        Motor::CyberGear(ranges) => Box::new(CyberGear::new(id, ranges, [id, 1, 2, 3, 4, 5, 6, 7])),
        Motor::ODrive => {
            Box::new(ODrive::new(id, ODriveConfig { watchdog_ns, ..ODriveConfig::default() }))
        }
        // the scenario lets no motor of another wire come here
        Motor::MiniCheetah | Motor::GoM8010 | Motor::Cia402(..) | Motor::UDriver(_) => {
            Box::new(MiniCheetah::new(id, MitRanges::MINI_CHEETAH, watchdog_ns))
        }
    }
}
