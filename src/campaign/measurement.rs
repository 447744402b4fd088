//! Replays the log of a case and evaluates its conditions and measures.

use std::collections::BTreeMap;
use std::path::Path;

use crate::inspect::{Condition, Quantities, Quantity, Watch};
use crate::replay::{Player, TickView};
use hardstand_error::Result;
use hardstand_protocol::PlantFailure;

use super::outcome::{First, Held, Value};
use super::plan::{Of, Plan, Take};

/// The evaluation of a log; of a missing log, empty.
#[derive(Debug)]
pub(super) struct Finding {
    /// Ticks that were run, and their length, s.
    pub(super) ticks: u64,
    pub(super) time_s: f64,
    /// All ticks of the scenario's duration were run.
    pub(super) whole: bool,
    pub(super) digest: Option<u64>,
    pub(super) failure: Option<PlantFailure>,
    /// Where the replay differs from the log.
    pub(super) difference: Option<String>,
    pub(super) conditions: BTreeMap<String, Held>,
    pub(super) first: BTreeMap<String, First>,
    pub(super) measures: BTreeMap<String, Option<f64>>,
}

impl Finding {
    /// What `log` holds; a log that is missing or cannot be opened has no ticks.
    ///
    /// # Errors
    /// Those of [`Player::advance`], and of conditions that the log's robot does not fit.
    pub(super) fn of(plan: &Plan, log: &Path) -> Result<Self> {
        let names = plan.conditions.iter().map(|(name, _)| (name.clone(), Held::Unknown));
        let measures = plan.measures.iter().map(|m| (m.name.clone(), None));
        let mut found = Self {
            ticks: 0,
            time_s: 0.0,
            whole: false,
            digest: None,
            failure: None,
            difference: None,
            conditions: names.collect(),
            first: BTreeMap::new(),
            measures: measures.collect(),
        };
        if let Ok(mut player) = Player::open(log) {
            found.read(plan, &mut player)?;
        }
        Ok(found)
    }

    fn read(&mut self, plan: &Plan, player: &mut Player) -> Result<()> {
        let quantities = Quantities::of(&player.scenario().simulation());
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
        let period_ns = player.info().period_ns;
        while player.advance()? {
            let Some(view) = player.view() else { continue };
            self.digest = Some(view.applied.digest);
            self.failure = view.applied.failure;
            // a tick in which the plant stops itself does not count
            self.ticks += u64::from(self.failure.is_none());
            self.time_s = (self.ticks * period_ns) as f64 / 1e9;
            for (name, watch, condition, held) in &mut conditions {
                if *held == Held::Never && watch.look(&view).holds {
                    *held = Held::AtS(self.time_s);
                    self.first.insert((*name).clone(), first(condition, &view));
                }
            }
            for (_, reading, sum) in &mut sums {
                sum.add(reading.number(&view));
            }
        }
        self.whole = player.scenario().ticks == Some(self.ticks);
        self.difference = player
            .difference()
            .map(|d| format!("the replay differs at tick {}: {}", d.tick, d.quantity));
        if self.ticks > 0 {
            self.conditions
                .extend(conditions.iter().map(|(name, .., held)| ((*name).clone(), *held)));
        }
        self.measures.extend(sums.iter().map(|(name, _, sum)| ((*name).clone(), sum.value())));
        Ok(())
    }
}

fn first(condition: &Condition, view: &TickView<'_>) -> First {
    let value = |q: &Quantity| Value {
        name: q.name.clone(),
        unit: q.unit.into(),
        value: Some(q.of(view)).filter(|x| x.is_finite()),
    };
    let values = condition.quantities().into_iter().map(value).collect();
    First { tick: view.state.tick, values }
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

    fn number(&mut self, view: &TickView<'_>) -> f64 {
        match self {
            Self::Quantity(quantity) => quantity.map_or(f64::NAN, |q| q.of(view)),
            Self::Margin(watch) => watch.look(view).margin,
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
