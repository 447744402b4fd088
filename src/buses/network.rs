//! The bus of a scenario, its adapter and its drives.

use crate::config::{BusDrive, BusWire, Motor, MotorBus};
use crate::simulation::InjectedFaults;
use hardstand_motors::buses::{
    BitRates, CanDrive, ErrorState, NodeFaults, SerialDrive, SerialFaults, SerialLine,
};
use hardstand_motors::drives::{
    CyberGear, Damiao, GoM8010, MiniCheetah, MitRanges, Moteus, ODrive, ODriveConfig,
    split_requests,
};
use hardstand_motors::wires::{Adapter, Fdcanusb, Slcan, Socketcand};
use hardstand_motors::{CanNetwork, Condition, Drive, JointReading, SerialNetwork, SetPoint};
use hardstand_protocol::FaultKind;

/// Drives on one bus, as the program sees them that opened the port.
pub(super) enum Network {
    Can { network: CanNetwork, adapter: Box<dyn Adapter + Send>, wire: BusWire },
    Serial(SerialNetwork),
}

impl std::fmt::Debug for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Can { .. } => "Can",
            Self::Serial(_) => "Serial",
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
        }
    }

    /// What drive `n` does from `now_ns` on.
    pub(super) fn set_point(&mut self, n: usize, now_ns: u64, now: &JointReading) -> SetPoint {
        let set_point = match self {
            Self::Can { network, .. } => network.set_point(n, now_ns, now),
            Self::Serial(network) => network.set_point(n, now_ns, now),
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
                }
            }
            if let Self::Can { network, .. } = self {
                network.set_faults(n + 1, NodeFaults { error_share, loss_share });
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
        BusWire::Socketcand => Box::new(Socketcand::default()),
        BusWire::Fdcanusb | BusWire::Rs485 => Box::new(Fdcanusb::default()),
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
        // the scenario lets no GO-M8010 come here
        Motor::MiniCheetah | Motor::GoM8010 => {
            Box::new(MiniCheetah::new(id, MitRanges::MINI_CHEETAH, watchdog_ns))
        }
    }
}
