//! What a hunt draws its cases from, and the cases.

use toml::Value;

use hardstand_error::{Error, ErrorKind, Result};

use crate::campaign::Lists;

use super::draw::Draw;
use super::judge::Judged;
use super::template::{fill, names, words};

/// Everything that can differ between two cases.
#[derive(Clone, Debug)]
pub struct Space {
    pub(super) vary: Vec<Vary>,
    pub(super) slots: Vec<Slot>,
    /// Events and commands of the scenario itself, which all cases have.
    pub(super) own: [Lists; 2],
    /// Length of a case, s.
    pub(super) duration_s: f64,
    /// All cases begin with these changes.
    pub(super) sets: Vec<String>,
    /// The scenario has no section of its own.
    pub(super) is_usual: bool,
}

/// Keys of the scenario that get one number.
#[derive(Clone, Debug)]
pub(super) struct Vary {
    pub(super) keys: Vec<String>,
    pub(super) draw: Draw,
    /// The scenario's own values of these keys.
    pub(super) own: Vec<Value>,
}

impl Vary {
    fn name(&self) -> String {
        self.keys.join(" and ")
    }

    /// What it is in a case, in words.
    fn words(&self, value: &Value) -> String {
        let is = if self.keys.len() == 1 { "is" } else { "are" };
        format!("{} {is} {value} instead of {}", self.name(), self.usual())
    }

    /// The scenario's own values, in words.
    fn usual(&self) -> String {
        let mut own: Vec<String> = self.own.iter().map(Value::to_string).collect();
        own.dedup();
        own.join(" and ")
    }
}

/// An event or a velocity command that a case has or has not.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Slot {
    pub(super) list: List,
    pub(super) template: Value,
    pub(super) draws: Vec<Draw>,
}

impl Slot {
    fn kind(&self) -> &str {
        self.template.get("kind").and_then(Value::as_str).unwrap_or("command")
    }
}

/// The list of the scenario that a slot adds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    Events = 0,
    Commands = 1,
}

pub(super) const LISTS: [(&str, List); 2] =
    [("events", List::Events), ("commands", List::Commands)];

/// One case: for each key that varies the value that was drawn, if it is not the scenario's own,
/// and for each slot the values that were drawn if the case has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    pub(super) varied: Vec<Option<Value>>,
    pub(super) slots: Vec<Option<Vec<Value>>>,
}

impl Space {
    /// Count of the numbers from 0 to 1 that make a case.
    #[must_use]
    pub fn genes(&self) -> usize {
        self.vary.len() + self.slots.iter().map(|s| 1 + s.draws.len()).sum::<usize>()
    }

    /// True if the scenario does not describe a space of its own.
    #[must_use]
    pub const fn is_usual(&self) -> bool {
        self.is_usual
    }

    /// Length of a case, s.
    #[must_use]
    pub const fn duration_s(&self) -> f64 {
        self.duration_s
    }

    /// Makes all cases this long.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if it is not above 0.
    pub fn set_duration_s(&mut self, duration_s: f64) -> Result<()> {
        if !(duration_s.is_finite() && duration_s > 0.0) {
            let text = format!("--duration is {duration_s}; it must be finite and greater than 0");
            return Err(Error::new(ErrorKind::Input, text));
        }
        self.duration_s = duration_s;
        Ok(())
    }

    /// In how much a case differs from the scenario.
    #[must_use]
    pub fn changes(&self, judged: &Judged) -> usize {
        self.words(&judged.case).len()
    }

    /// Counts of keys, and of events and commands.
    #[must_use]
    pub const fn counts(&self) -> [usize; 2] {
        [self.vary.len(), self.slots.len()]
    }

    /// The case that these numbers make. A slot is in the case from 0.5 on.
    pub(super) fn candidate(&self, genes: &[f64]) -> Candidate {
        let mut genes = genes.iter().copied();
        let mut next = || genes.next().unwrap_or(0.0);
        let varied = self.vary.iter().map(|v| Some(v.draw.at(next()))).collect();
        let slot = |slot: &Slot| {
            let is_there = next() >= 0.5;
            let values: Vec<Value> = slot.draws.iter().map(|draw| draw.at(next())).collect();
            is_there.then_some(values)
        };
        Candidate { varied, slots: self.slots.iter().map(slot).collect() }
    }

    /// The scenario as it is.
    pub(super) fn usual(&self) -> Candidate {
        Candidate { varied: vec![None; self.vary.len()], slots: vec![None; self.slots.len()] }
    }

    /// What `--set` changes for the scenario as it is, in the length of a case.
    #[must_use]
    pub fn usual_sets(&self) -> Vec<String> {
        let mut sets = self.sets(&self.usual());
        sets.push(format!("sim.duration_s={:?}", self.duration_s));
        sets
    }

    /// What a value of a case is drawn from.
    pub(super) fn draw(&self, place: Place) -> &Draw {
        match place {
            Place::Key(i) => &self.vary[i].draw,
            Place::Slot(i, k) => &self.slots[i].draws[k],
        }
    }

    /// The value towards which one is shrunk: the one with the least effect.
    pub(super) fn least(&self, place: Place) -> Value {
        match place {
            Place::Key(i) => self.vary[i].own[0].clone(),
            Place::Slot(..) => self.draw(place).least(),
        }
    }

    /// The case with that value there; a key is as in the scenario.
    pub(super) fn with_least(&self, case: &Candidate, place: Place) -> Candidate {
        match place {
            Place::Key(_) => case.with(place, None),
            Place::Slot(..) => case.with(place, Some(self.least(place))),
        }
    }

    /// That value in words.
    pub(super) fn least_words(&self, place: Place) -> String {
        match place {
            Place::Key(i) => self.vary[i].usual(),
            Place::Slot(..) => self.least(place).to_string(),
        }
    }

    /// What `--set` changes for this case.
    pub(super) fn sets(&self, case: &Candidate) -> Vec<String> {
        let mut sets = self.sets.clone();
        for (vary, value) in self.vary.iter().zip(&case.varied) {
            let set = |value| vary.keys.iter().map(move |key| format!("{key}={value}"));
            sets.extend(value.iter().flat_map(set));
        }
        for (_, list) in LISTS {
            sets.extend(self.own[list as usize].with(&self.added(case, list)));
        }
        sets
    }

    fn added(&self, case: &Candidate, list: List) -> Vec<Value> {
        let both = self.slots.iter().zip(&case.slots).filter(|(slot, _)| slot.list == list);
        both.filter_map(|(slot, values)| Some(fill(&slot.template, &mut values.as_ref()?.iter())))
            .collect()
    }

    /// In what a case differs from the scenario, each in words.
    pub(super) fn words(&self, case: &Candidate) -> Vec<String> {
        let varied = self.vary.iter().zip(&case.varied);
        let varied = varied.filter_map(|(v, x)| Some(v.words(x.as_ref()?)));
        let added = LISTS.into_iter().flat_map(|(_, list)| self.added(case, list));
        varied.chain(added.map(|event| words(&event))).collect()
    }

    /// Lists of cases that must not all be refused, each in words and as `--set` has it: each key,
    /// event and command alone with its values at both ends, and with each value of a list. Copies
    /// count once.
    #[must_use]
    pub fn probes(&self) -> Vec<Vec<(String, Vec<String>)>> {
        let described = |case: &Candidate| (self.words(case).join(", "), self.sets(case));
        let described = |cases: Vec<Candidate>| cases.iter().map(described).collect();
        self.probed().into_iter().map(described).collect()
    }

    fn probed(&self) -> Vec<Vec<Candidate>> {
        let usual = self.usual();
        let mut all: Vec<Vec<Candidate>> = Vec::new();
        for (i, vary) in self.vary.iter().enumerate() {
            let at = |gene| usual.with(Place::Key(i), Some(vary.draw.at(gene)));
            all.push(ENDS.map(at).to_vec());
        }
        for (i, slot) in self.slots.iter().enumerate() {
            if i > 0 && self.slots[i - 1] == *slot {
                continue;
            }
            let ends = ENDS.map(|gene| {
                let mut case = usual.clone();
                case.slots[i] = Some(slot.draws.iter().map(|draw| draw.at(gene)).collect());
                case
            });
            for (k, draw) in slot.draws.iter().enumerate() {
                let Draw::OneOf(values) = draw else { continue };
                let with = |value: &Value| {
                    let place = Place::Slot(i, k);
                    ends.iter().map(|case| case.with(place, Some(value.clone()))).collect()
                };
                all.extend(values.iter().map(with));
            }
            all.push(ends.to_vec());
        }
        all
    }

    /// What a place of a case is called: `push force_n.1`, or `push 2 force_n.1` if the case has
    /// several.
    pub(super) fn name(&self, case: &Candidate, place: Place) -> String {
        let (i, k) = match place {
            Place::Key(i) => return self.vary[i].name(),
            Place::Slot(i, k) => (i, k),
        };
        let kind = self.slots[i].kind();
        let same = |j: &usize| case.slots[*j].is_some() && self.slots[*j].kind() == kind;
        let before = (0..i).filter(same).count();
        let number = match (0..self.slots.len()).filter(same).count() {
            0 | 1 => String::new(),
            _ => format!(" {}", before + 1),
        };
        let names = names(&self.slots[i].template);
        format!("{kind}{number} {}", names.get(k).map_or("", String::as_str))
    }
}

/// Genes of both ends of a range.
const ENDS: [f64; 2] = [0.0, 1.0];

/// Where a value stands in a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A key that varies.
    Key(usize),
    /// Of a slot, the value of one of its draws.
    Slot(usize, usize),
}

impl Candidate {
    /// All values of the case.
    pub(super) fn places(&self) -> Vec<Place> {
        let keys = (0..self.varied.len()).map(Place::Key);
        let slots = self.slots.iter().enumerate().flat_map(|(i, values)| {
            (0..values.as_ref().map_or(0, Vec::len)).map(move |k| Place::Slot(i, k))
        });
        keys.chain(slots).collect()
    }

    pub(super) fn value(&self, place: Place) -> Option<&Value> {
        match place {
            Place::Key(i) => self.varied.get(i)?.as_ref(),
            Place::Slot(i, k) => self.slots.get(i)?.as_ref()?.get(k),
        }
    }

    /// The case with another value there; a key without one is as in the scenario.
    pub(super) fn with(&self, place: Place, value: Option<Value>) -> Self {
        let mut changed = self.clone();
        match (place, value) {
            (Place::Key(i), value) => changed.varied[i] = value,
            (Place::Slot(i, k), Some(value)) => {
                let old = changed.slots[i].as_mut().and_then(|values| values.get_mut(k));
                old.into_iter().for_each(|old| old.clone_from(&value));
            }
            (Place::Slot(..), None) => {}
        }
        changed
    }

    /// Count of events and commands.
    pub(super) fn events(&self) -> usize {
        self.slots.iter().flatten().count()
    }
}
