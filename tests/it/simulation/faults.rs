//! What may go wrong under a seed: each seed has its own mixture, so that some faults meet
//! undisturbed.

use crate::common::dice::Dice;

/// Who is there beside two controllers that have not joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Company {
    /// An operator who changes friction. The age ladder and the pace follow from commands alone.
    #[default]
    Quiet,
    /// Operators with all orders, controllers that join, and strangers.
    Busy,
    /// Sessions that send commands as fast as a link carries them.
    Flood,
}

/// Chances per thousand, and what they do.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    pub company: Company,
    /// A message is lost, per mille.
    pub lose: u64,
    /// A message arrives twice.
    pub twice: u64,
    /// A message is damaged.
    pub damage: u64,
    /// A message is late, by up to `late_us_max`.
    pub late: u64,
    pub late_us_max: u64,
    /// A controller crashes and comes back.
    pub crash: u64,
    /// A controller that has lost the robot does not notice, and goes on under its old session.
    pub stubborn: bool,
    /// A controller stands still for a while.
    pub freeze: u64,
    /// The publisher stands still for up to 100 ms.
    pub publisher_stall: u64,
    /// The loop wakes up late, by up to `stall_periods_max` periods.
    pub stall: u64,
    pub stall_periods_max: u64,
    /// The bus dies, with everything on its way, and is back after a while.
    pub bus_death: u64,
    /// A write takes up to `disk_stall_ms_max`.
    pub disk_stall: u64,
    pub disk_stall_ms_max: u64,
    /// The disk is full after so many bytes.
    pub disk_bytes: Option<usize>,
    /// This operation on the disk fails with EIO: a write, a sync, or the beginning of a file.
    pub disk_error: Option<u64>,
    /// This sync fails with EIO.
    pub sync_error: Option<u64>,
    /// Another program removes the file at hand after this time, ns.
    pub removal_ns: Option<u64>,
    /// Files that the log may have.
    pub files_max: Option<usize>,
    /// An operator sends an order.
    pub order: u64,
    /// Controllers that join, and those that do not.
    pub joiners: u64,
    pub controllers: u64,
    /// Bytes of a stranger arrive.
    pub stranger: u64,
    /// A stranger sends what looks like an order or a command.
    pub imitation: u64,
    /// Sessions that flood, and the commands of each in a period.
    pub flood: [u64; 2],
    pub end: End,
}

/// How the run ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// In order.
    #[default]
    Order,
    /// SIGKILL: what was not written is lost.
    Kill,
    /// Power: what was not synced may be lost.
    Power,
}

impl Faults {
    pub fn of(dice: &mut Dice) -> Self {
        let mut maybe = |one_in: u64, per_mille: u64| {
            if dice.roll(one_in) == 0 { 1 + dice.roll(per_mille) } else { 0 }
        };
        let mut f = Self {
            lose: maybe(2, 300),
            twice: maybe(3, 200),
            damage: maybe(3, 200),
            late: maybe(2, 300),
            crash: maybe(2, 4),
            freeze: maybe(2, 4),
            publisher_stall: maybe(3, 3),
            stall: maybe(2, 20),
            bus_death: maybe(4, 2),
            disk_stall: maybe(3, 20),
            order: maybe(2, 30),
            stranger: maybe(3, 300),
            controllers: 2,
            ..Default::default()
        };
        f.stubborn = dice.roll(3) == 0;
        f.late_us_max = [500, 5_000, 200_000][dice.roll(3) as usize];
        f.stall_periods_max = [2, 20, 400][dice.roll(3) as usize];
        f.disk_stall_ms_max = [100, 1000, 5000][dice.roll(3) as usize];
        f.disk_bytes = (dice.roll(6) == 0).then(|| 20_000 + dice.roll(1_500_000) as usize);
        f.disk_error = (dice.roll(8) == 0).then(|| 1 + dice.roll(400));
        f.removal_ns = (dice.roll(12) == 0).then(|| dice.roll(1_500_000_000));
        f.end = [End::Order, End::Order, End::Kill, End::Power][dice.roll(4) as usize];
        match dice.roll(4) {
            0 => f.make_flood(dice),
            1 | 2 => f.make_busy(dice),
            _ => {}
        }
        // a run has few syncs among hundreds of writes
        if f.company != Company::Flood && dice.roll(8) == 0 {
            f.sync_error = Some(1 + dice.roll(2));
        }
        f
    }

    fn make_busy(&mut self, dice: &mut Dice) {
        self.company = Company::Busy;
        // longer than an order waits for the loop before it is taken back
        self.stall_periods_max *= 2;
        self.order = 1 + dice.roll(40);
        self.joiners = dice.roll(4);
        self.controllers = dice.roll(3);
        self.imitation = if dice.roll(2) == 0 { 1 + dice.roll(100) } else { 0 };
        self.files_max = (dice.roll(4) == 0).then(|| 2 + dice.roll(6) as usize);
    }

    /// Nothing else keeps commands from being obeyed for long, so that what is lost is lost to the
    /// flood.
    fn make_flood(&mut self, dice: &mut Dice) {
        self.company = Company::Flood;
        let sessions = [1, 4, 60][dice.roll(3) as usize];
        self.flood = [sessions, (20 + dice.roll(140)).div_ceil(sessions)];
        self.order = 0;
        (self.joiners, self.controllers) = if dice.roll(2) == 0 { (1, 0) } else { (0, 2) };
        self.stall_periods_max = 20;
        (self.disk_stall, self.disk_bytes, self.disk_error) = (0, None, None);
        self.end = End::Order;
    }
}
