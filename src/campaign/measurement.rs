//! Replays the logs of a case, one of each robot, and evaluates its conditions and measures.

use std::collections::BTreeMap;
use std::path::PathBuf;

use xxhash_rust::xxh3::xxh3_64;

use crate::inspect::{Condition, Quantities, Quantity, Watch};
use crate::replay::{Difference, Player, TickView};
use hardstand_error::Result;

use super::outcome::{First, Held, Value};
use super::plan::{Of, Plan, Take};

/// The evaluation of the logs; where one is missing, empty.
#[derive(Debug)]
pub(super) struct Finding {
    /// Ticks that were run, and their length, s.
    pub(super) ticks: u64,
    pub(super) time_s: f64,
    /// All ticks of the scenario's duration were run.
    pub(super) whole: bool,
    pub(super) digest: Option<u64>,
    /// Where the replay differs from a log.
    pub(super) difference: Option<String>,
    pub(super) conditions: BTreeMap<String, Held>,
    pub(super) first: BTreeMap<String, First>,
    pub(super) measures: BTreeMap<String, Option<f64>>,
}

impl Finding {
    /// What the `logs` of all robots hold; logs of which one is missing or cannot be opened have no
    /// ticks.
    ///
    /// # Errors
    /// Those of [`Player::advance`], and of conditions that the logs' robots do not fit.
    pub(super) fn of(plan: &Plan, logs: impl IntoIterator<Item = PathBuf>) -> Result<Self> {
        let names = plan.conditions.iter().map(|(name, _)| (name.clone(), Held::Unknown));
        let measures = plan.measures.iter().map(|m| (m.name.clone(), None));
        let mut found = Self {
            ticks: 0,
            time_s: 0.0,
            whole: false,
            digest: None,
            difference: None,
            conditions: names.collect(),
            first: BTreeMap::new(),
            measures: measures.collect(),
        };
        let players = logs.into_iter().map(|log| Player::open(&log));
        if let Ok(mut players) = players.collect::<Result<Vec<_>>>() {
            found.read(plan, &mut players)?;
        }
        Ok(found)
    }

    fn read(&mut self, plan: &Plan, players: &mut [Player]) -> Result<()> {
        let quantities = Quantities::of_all(players.iter().map(Player::scenario));
        let mut conditions = Vec::new();
        for (name, text) in &plan.conditions {
            let condition = Condition::parse(text, &quantities)?;
            conditions.push((name, condition.watch(), condition, Held::Never));
        }
        let mut sums: Vec<_> = plan
            .measures
            .iter()
            .map(|m| Ok((&m.name, Reading::new(&m.of, &quantities)?, Sum::new(&m.of))))
            .collect::<Result<_>>()?;
        let period_ns = players.first().map_or(0, |player| player.info().period_ns);
        while let Some(views) = next_tick(players)? {
            self.digest = Some(digest_of(&views));
            // a tick in which a plant stops itself does not count
            self.ticks += u64::from(views.iter().all(|view| view.applied.failure.is_none()));
            self.time_s = (self.ticks * period_ns) as f64 / 1e9;
            for (name, watch, condition, held) in &mut conditions {
                if *held == Held::Never && watch.look_at(&views).holds {
                    *held = Held::AtS(self.time_s);
                    self.first.insert((*name).clone(), first(condition, &views));
                }
            }
            for (_, reading, sum) in &mut sums {
                sum.add(reading.number(&views));
            }
        }
        self.whole = players.iter().all(|player| player.scenario().ticks == Some(self.ticks));
        let several = players.len() > 1;
        self.difference = players.iter().find_map(|player| {
            let Difference { tick, quantity, .. } = player.difference()?;
            let robot = &player.scenario().bus.robot;
            let of = if several { format!(" of {robot}") } else { String::new() };
            Some(format!("the replay{of} differs at tick {tick}: {quantity}"))
        });
        if self.ticks > 0 {
            self.conditions
                .extend(conditions.iter().map(|(name, .., held)| ((*name).clone(), *held)));
        }
        self.measures.extend(sums.iter().map(|(name, _, sum)| ((*name).clone(), sum.value())));
        Ok(())
    }
}

/// The next tick of each; `None` once one of them has ended. Robots of a daemon end together.
fn next_tick(players: &mut [Player]) -> Result<Option<Vec<TickView<'_>>>> {
    for player in &mut *players {
        if !player.advance()? {
            return Ok(None);
        }
    }
    Ok(players.iter().map(Player::view).collect())
}

/// Of several robots a hash of their digests.
fn digest_of(views: &[TickView<'_>]) -> u64 {
    if let [view] = views {
        return view.applied.digest;
    }
    let bytes: Vec<u8> = views.iter().flat_map(|view| view.applied.digest.to_le_bytes()).collect();
    xxh3_64(&bytes)
}

fn first(condition: &Condition, views: &[TickView<'_>]) -> First {
    let value = |q: &Quantity| Value {
        name: q.name.clone(),
        unit: q.unit.into(),
        value: Some(q.among(views)).filter(|x| x.is_finite()),
    };
    let values = condition.quantities().into_iter().map(value).collect();
    First { tick: views.first().map_or(0, |view| view.state.tick), values }
}

/// The number of a tick that a measure is made of.
enum Reading<'a> {
    Quantity(Option<&'a Quantity>),
    Margin(Watch),
}

impl<'a> Reading<'a> {
    fn new(of: &Of, quantities: &'a Quantities) -> Result<Self> {
        Ok(match of {
            Of::Quantity(name, _) => Self::Quantity(quantities.find(name)),
            Of::Margin(condition) => Self::Margin(Condition::parse(condition, quantities)?.watch()),
        })
    }

    fn number(&mut self, views: &[TickView<'_>]) -> f64 {
        match self {
            Self::Quantity(quantity) => quantity.map_or(f64::NAN, |q| q.among(views)),
            Self::Margin(watch) => watch.look_at(views).margin,
        }
    }
}

/// A measure so far.
struct Sum {
    take: Take,
    value: f64,
    count: u64,
}

impl Sum {
    const fn new(of: &Of) -> Self {
        let take = match of {
            Of::Quantity(_, take) => *take,
            Of::Margin(_) => Take::Max,
        };
        Self { take, value: 0.0, count: 0 }
    }

    fn add(&mut self, x: f64) {
        if !x.is_finite() {
            return;
        }
        self.count += 1;
        self.value = match self.take {
            _ if self.count == 1 => x,
            Take::Max => self.value.max(x),
            Take::Min => self.value.min(x),
            Take::Mean => self.value + x,
            Take::Last => x,
        };
    }

    fn value(&self) -> Option<f64> {
        let divisor = if self.take == Take::Mean { self.count as f64 } else { 1.0 };
        (self.count > 0).then(|| self.value / divisor)
    }
}
