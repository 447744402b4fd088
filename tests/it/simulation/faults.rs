//! What may go wrong under a seed: each seed has its own mixture, so that some faults meet
//! undisturbed.

use crate::common::dice::Dice;

/// Chances per thousand, and what they do.
#[derive(Clone, Debug, Default)]
pub struct Faults {
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
    /// Friction is changed over the bus.
    pub friction: u64,
    /// Bytes of a stranger arrive.
    pub stranger: u64,
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
            stall: maybe(2, 20),
            bus_death: maybe(4, 2),
            disk_stall: maybe(3, 20),
            friction: maybe(2, 30),
            stranger: maybe(3, 300),
            ..Default::default()
        };
        f.stubborn = dice.roll(3) == 0;
        f.late_us_max = [500, 5_000, 200_000][dice.roll(3) as usize];
        f.stall_periods_max = [2, 20, 400][dice.roll(3) as usize];
        f.disk_stall_ms_max = [100, 1000, 5000][dice.roll(3) as usize];
        f.disk_bytes = (dice.roll(6) == 0).then(|| 20_000 + dice.roll(1_500_000) as usize);
        f.end = [End::Order, End::Order, End::Kill, End::Power][dice.roll(4) as usize];
        f
    }
}
