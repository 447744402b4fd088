//! The master board: its states, its µDrivers, and a packet of sensors every millisecond.

use super::packet::{BOARDS, Counts, ImuReading, Request, acknowledgement, sensors};
use crate::drives::udriver::{BYTES, MOTORS, SYSTEM, UDriver};
use crate::{Condition, JointReading, NodeFaults, Random, SetPoint};

/// Period of the board.
const PERIOD_NS: u64 = 1_000_000;
/// Periods in which it looks for µDrivers.
const SEARCH: u32 = 50;
/// Longest wait for the first command, periods.
const FIRST_COMMAND: u32 = 1000;
/// Packets that wait for the computer.
const PACKETS_MAX: usize = 64;
/// Status of a µDriver whose answer was damaged.
const NO_ANSWER: u16 = 0xf;
/// With no command of the computer: the system is enabled, and no motor.
const ZERO: [u8; BYTES] = {
    let mut zero = [0; BYTES];
    zero[1] = (SYSTEM >> 8) as u8;
    zero
};

/// One motor: which of the twelve it is, and its torque constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MotorSpec {
    /// 0 to 11: two to each µDriver.
    pub id: u8,
    /// Torque of the rotor in N·m/A.
    pub torque_nm_per_a: f64,
}

/// Sums since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MasterBoardStatistics {
    /// Packets in both directions that arrived.
    pub packets: u64,
    /// Packets that the cable lost.
    pub lost: u64,
    /// Packets for the computer that were dropped: it did not take them.
    pub dropped: u64,
    /// Frames that are no packet of this protocol.
    pub malformed: u64,
    /// Exchanges with a µDriver that were damaged.
    pub errors: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    WaitingForInit,
    Searching,
    Acknowledging,
    Active,
    /// No command came in time; a new session begins with another init.
    Failed,
}

/// A master board with its µDrivers. Drive `n` is the motor that was given as number `n`.
#[derive(Debug)]
pub struct MasterBoard {
    ids: Vec<u8>,
    faults: Vec<NodeFaults>,
    boards: [UDriver; BOARDS],
    /// The µDrivers that have a motor, a bit each.
    connected: u8,
    /// Longest time without a command, periods.
    patience: u32,
    state: State,
    session: u16,
    /// Periods in this state, or since the last command.
    waited: u32,
    commands: [[u8; BYTES]; BOARDS],
    counts: Counts,
    next_ns: u64,
    /// What the IMU measures.
    pub imu: ImuReading,
    random: Random,
    to_computer: Vec<Vec<u8>>,
    statistics: MasterBoardStatistics,
}

impl MasterBoard {
    /// A board that waits for a session and gives it up after `patience_ms` without a command.
    pub fn new(motors: &[MotorSpec], patience_ms: u32, seed: u64) -> Self {
        let constant = |board: usize| {
            std::array::from_fn(|motor| {
                let id = board * MOTORS + motor;
                let found = motors.iter().find(|spec| usize::from(spec.id) == id);
                found.map_or(1.0, |spec| spec.torque_nm_per_a)
            })
        };
        let bits = motors.iter().map(|spec| 1_u8.checked_shl(u32::from(spec.id) / 2).unwrap_or(0));
        Self {
            ids: motors.iter().map(|spec| spec.id).collect(),
            faults: vec![NodeFaults::default(); motors.len()],
            boards: std::array::from_fn(|board| UDriver::new(constant(board))),
            connected: bits.fold(0, |all, bit| all | bit),
            patience: patience_ms,
            state: State::WaitingForInit,
            session: 0,
            waited: 0,
            commands: [ZERO; BOARDS],
            counts: Counts::default(),
            next_ns: 0,
            imu: ImuReading::default(),
            random: Random::new(seed),
            to_computer: Vec::new(),
            statistics: MasterBoardStatistics::default(),
        }
    }

    /// The largest share of packets that the cable loses: it has no joint of its own.
    fn loss_share(&self) -> f64 {
        self.faults.iter().map(|faults| faults.loss_share).fold(0.0, f64::max)
    }

    /// A frame of the computer, from its Ethernet header on. True if it is one of the protocol.
    pub fn send(&mut self, frame: &[u8]) -> bool {
        let Some(request) = Request::of(frame) else {
            self.statistics.malformed += 1;
            return false;
        };
        if self.random.chance(self.loss_share()) {
            self.statistics.lost += 1;
            return true;
        }
        self.statistics.packets += 1;
        match request {
            Request::Init { session } => {
                if matches!(self.state, State::WaitingForInit | State::Failed) {
                    self.session = session;
                    self.enter(State::Searching);
                }
            }
            Request::Command { session, boards, index } => {
                if session == self.session {
                    self.take_command(&boards, index);
                }
            }
        }
        true
    }

    fn take_command(&mut self, boards: &[[u8; BYTES]], index: u16) {
        match self.state {
            State::Acknowledging => {
                self.enter(State::Active);
                self.counts.last_command = index.wrapping_sub(1);
            }
            State::Active => {}
            _ => return,
        }
        let missing = index.wrapping_sub(self.counts.last_command).wrapping_sub(1);
        self.counts.commands_lost = self.counts.commands_lost.wrapping_add(missing);
        self.counts.last_command = index;
        self.waited = 0;
        self.commands.iter_mut().zip(boards).for_each(|(own, new)| *own = *new);
    }

    fn enter(&mut self, state: State) {
        (self.state, self.waited) = (state, 0);
        if state == State::Acknowledging {
            self.counts = Counts::default();
        }
    }

    /// Advances the board to `until_ns`. `readings[n]` belongs to drive `n`, at the rotor.
    pub fn advance(&mut self, until_ns: u64, readings: &[JointReading]) {
        while self.next_ns <= until_ns {
            let now_ns = self.next_ns;
            self.next_ns += PERIOD_NS;
            self.period(now_ns, readings);
        }
    }

    fn period(&mut self, now_ns: u64, readings: &[JointReading]) {
        let limit = match self.state {
            State::Searching => SEARCH,
            State::Acknowledging => FIRST_COMMAND,
            State::Active => self.patience,
            State::WaitingForInit | State::Failed => u32::MAX,
        };
        self.waited = self.waited.saturating_add(1);
        if self.waited > limit {
            let found = self.state == State::Searching;
            self.enter(if found { State::Acknowledging } else { State::Failed });
        }
        let answers = self.exchange(now_ns, readings);
        match self.state {
            State::WaitingForInit => {}
            State::Acknowledging => self.tell(acknowledgement(self.session, self.connected)),
            State::Searching | State::Active | State::Failed => {
                self.counts.sensor_index = self.counts.sensor_index.wrapping_add(1);
                self.tell(sensors(self.session, &answers, &self.imu, self.counts));
            }
        }
    }

    /// One exchange with each µDriver: commands there, answers back.
    fn exchange(&mut self, now_ns: u64, readings: &[JointReading]) -> [[u8; BYTES]; BOARDS] {
        let mut answers = [[0; BYTES]; BOARDS];
        for (board, answer) in answers.iter_mut().enumerate() {
            if self.connected >> board & 1 == 0 {
                continue;
            }
            let at = |motor: usize| self.ids.iter().position(|&id| usize::from(id) == motor);
            let own: [_; MOTORS] = std::array::from_fn(|motor| at(board * MOTORS + motor));
            let now = own.map(|n| n.and_then(|n| readings.get(n).copied()).unwrap_or_default());
            let shares = own.iter().flatten().map(|&n| self.faults[n].error_share);
            let damaged = self.random.chance(shares.fold(0.0, f64::max));
            let active = self.state == State::Active;
            let driver = &mut self.boards[board];
            if !damaged {
                driver.command(now_ns, if active { &self.commands[board] } else { &ZERO });
            }
            driver.advance(now_ns, now);
            if damaged {
                self.statistics.errors += 1;
                answer[..2].copy_from_slice(&NO_ANSWER.to_le_bytes());
            } else {
                *answer = driver.answer(now_ns, now);
            }
        }
        answers
    }

    fn tell(&mut self, frame: Vec<u8>) {
        if self.random.chance(self.loss_share()) {
            self.statistics.lost += 1;
        } else if self.to_computer.len() >= PACKETS_MAX {
            self.statistics.dropped += 1;
        } else {
            self.statistics.packets += 1;
            self.to_computer.push(frame);
        }
    }

    /// Frames for the computer.
    pub fn received(&mut self) -> impl Iterator<Item = Vec<u8>> {
        self.to_computer.drain(..)
    }

    fn place(&self, n: usize) -> Option<(usize, usize)> {
        let id = usize::from(*self.ids.get(n)?);
        Some((id / MOTORS, id % MOTORS)).filter(|(board, _)| *board < BOARDS)
    }

    /// What drive `n` does now; `None` if there is no such drive.
    pub fn set_point(&self, n: usize) -> Option<SetPoint> {
        let (board, motor) = self.place(n)?;
        Some(self.boards[board].set_point(motor))
    }

    /// Adds or removes a fault of the hardware of drive `n`.
    pub fn set_condition(&mut self, n: usize, condition: Condition, present: bool) {
        if let Some((board, motor)) = self.place(n) {
            self.boards[board].set_condition(motor, condition, present);
        }
    }

    /// Faults of drive `n`: the share of its µDriver's exchanges that are damaged, and a share of
    /// the packets on the cable that are lost, of which the largest one of all drives counts.
    pub fn set_faults(&mut self, n: usize, faults: NodeFaults) {
        if let Some(own) = self.faults.get_mut(n) {
            *own = faults;
        }
    }

    /// True while a computer commands.
    pub fn is_active(&self) -> bool {
        self.state == State::Active
    }

    /// Sums since the start.
    pub fn statistics(&self) -> MasterBoardStatistics {
        self.statistics
    }
}
