//! The verdict: in which band a loop's times lie. docs/real-time.md says where the bands come from.

use serde::Serialize;

/// Below this largest wake-up latency LinuxCNC expects "very nice results", ns.
const EXCELLENT_NS: u64 = 20_000;
/// Below this, "still good results".
const GOOD_NS: u64 = 50_000;
/// From this on a PC is "not a good candidate for software stepping".
const FAIR_NS: u64 = 100_000;
/// Beyond this share of a period for the wake-up of 99.9 % of the ticks there is no time left.
const PERIOD_SHARE_MAX: f64 = 0.5;
/// Largest share of missed deadlines.
const MISSED_SHARE_MAX: f64 = 1e-3;

/// How fit a machine is, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Band {
    /// No deadline missed, every wake-up within 20 µs.
    Excellent,
    /// No deadline missed, every wake-up within 50 µs.
    Good,
    /// No deadline missed, every wake-up within 100 µs.
    Fair,
    /// 99.9 % of the wake-ups within half a period, and at most one deadline of 1000 missed.
    Soft,
    /// Everything else.
    NotForRealTime,
}

/// Times of a run, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Length of a tick.
    pub period_ns: u64,
    /// Ticks done.
    pub ticks: u64,
    /// 99.9th percentile of the wake-up latency.
    pub wakeup_p99_9_ns: u64,
    /// Largest wake-up latency.
    pub wakeup_max_ns: u64,
    /// Deadlines missed.
    pub missed_deadlines: u64,
}

impl Times {
    /// The band in which they lie.
    #[must_use]
    pub fn band(&self) -> Band {
        let late = self.period_share() > PERIOD_SHARE_MAX;
        if self.ticks == 0 || late || self.missed_share() > MISSED_SHARE_MAX {
            return Band::NotForRealTime;
        }
        match self.wakeup_max_ns {
            _ if self.missed_deadlines > 0 => Band::Soft,
            0..EXCELLENT_NS => Band::Excellent,
            EXCELLENT_NS..GOOD_NS => Band::Good,
            GOOD_NS..FAIR_NS => Band::Fair,
            _ => Band::Soft,
        }
    }

    /// The share of a period that the wake-up of 99.9 % of the ticks takes at most.
    #[must_use]
    pub fn period_share(&self) -> f64 {
        self.wakeup_p99_9_ns as f64 / self.period_ns.max(1) as f64
    }

    /// Missed deadlines per tick.
    #[must_use]
    pub fn missed_share(&self) -> f64 {
        self.missed_deadlines as f64 / self.ticks.max(1) as f64
    }
}

impl Band {
    /// All, best first.
    pub const ALL: [Self; 5] =
        [Self::Excellent, Self::Good, Self::Fair, Self::Soft, Self::NotForRealTime];

    /// In words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Excellent => "excellent",
            Self::Good => "good",
            Self::Fair => "fair",
            Self::Soft => "soft real time",
            Self::NotForRealTime => "not for real time",
        }
    }

    /// What it takes.
    #[must_use]
    pub const fn condition(self) -> &'static str {
        match self {
            Self::Excellent => "no deadline missed, every wake-up below 20 µs",
            Self::Good => "no deadline missed, every wake-up below 50 µs",
            Self::Fair => "no deadline missed, every wake-up below 100 µs",
            Self::Soft => "99.9 % of wake-ups within half a period, ≤ 1 of 1000 deadlines missed",
            Self::NotForRealTime => "anything else",
        }
    }

    /// What it is good for.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Excellent => "as good as a PC gets: LinuxCNC would step motors in software",
            Self::Good => "hard real time at 1 kHz",
            Self::Fair => "hard real time at 1 kHz for a loop with slack; no step pulses",
            Self::Soft => "develop and test controllers; trust no figure of timing",
            Self::NotForRealTime => "use --mode lockstep, or mend what is found above",
        }
    }

    /// True for all but the last.
    #[must_use]
    pub fn is_usable(self) -> bool {
        self != Self::NotForRealTime
    }
}
