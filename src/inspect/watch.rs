//! Evaluates a condition tick by tick.

use std::cmp::Ordering;
use std::collections::VecDeque;

use crate::replay::TickView;
use hardstand_log::TickId;

use super::parser::{Function, Operator, Tree};

/// What a condition says of a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    /// It holds. A comparison with NaN does not: 0/0, or a quantity that the tick does not have.
    pub holds: bool,
    /// How far it is from changing: positive where it holds, negative where it does not, 0 between.
    /// Of a comparison the distance of both sides; of `and` the least, of `or` the largest of both;
    /// of `for` the least in that time (the robustness of signal temporal logic, Fainekos & Pappas
    /// 2009). −∞ where a side is NaN.
    pub margin: f64,
}

/// A condition that looks at one tick after the other. It remembers what `for`, `rises` and `rate`
/// need; a tick that does not follow the one before it makes it forget.
#[derive(Clone, Debug)]
pub struct Watch {
    tree: Tree,
    memory: Memory,
    last: Option<TickId>,
}

#[derive(Clone, Debug)]
struct Memory {
    slots: Vec<Slot>,
    time_ns: u64,
}

/// What one `for`, `rises` or `rate` remembers.
#[derive(Clone, Debug, Default)]
struct Slot {
    /// Of `for`: the first of the ticks in a row in which the condition held, ns.
    since_ns: Option<u64>,
    /// Of `for`: margins of the window with their times, without those that a later, lower one
    /// hides.
    window: VecDeque<(u64, f64)>,
    /// Of `rises`: the tick before.
    truth: Option<Truth>,
    /// Of `rate`: time and number of the tick before.
    number: Option<(u64, f64)>,
}

impl Watch {
    pub(super) fn new(tree: Tree, slots: usize) -> Self {
        Self { tree, memory: Memory::new(slots), last: None }
    }

    /// Looks at the next tick.
    pub fn look(&mut self, view: &TickView<'_>) -> Truth {
        self.look_at(std::slice::from_ref(view))
    }

    /// Looks at the next tick of several robots, in the order of their quantities; there is one at
    /// least. Their ticks have one number.
    pub fn look_at(&mut self, views: &[TickView<'_>]) -> Truth {
        let Some(view) = views.first() else {
            return Truth { holds: false, margin: f64::NEG_INFINITY };
        };
        let now = TickId { run_id: view.applied.run_id, tick: view.state.tick };
        // the tick in which the plant stops itself has the state before it, and its number
        let before =
            if view.applied.failure.is_some() { now.tick } else { now.tick.wrapping_sub(1) };
        let follows = |last: TickId| last.run_id == now.run_id && last.tick == before;
        if !self.last.is_some_and(follows) {
            self.memory.slots.fill(Slot::default());
        }
        self.last = Some(now);
        self.memory.time_ns = view.state.time_ns;
        self.memory.truth(&self.tree, views)
    }
}

/// What a condition says of a tick by itself; without memory nothing is allocated.
pub(super) fn at(tree: &Tree, slots: usize, view: &TickView<'_>) -> Truth {
    let mut memory = Memory::new(slots);
    memory.time_ns = view.state.time_ns;
    memory.truth(tree, std::slice::from_ref(view))
}

impl Memory {
    fn new(slots: usize) -> Self {
        Self { slots: vec![Slot::default(); slots], time_ns: 0 }
    }

    /// Both sides of `and` and `or` are always looked at, because they may remember.
    fn truth(&mut self, tree: &Tree, views: &[TickView<'_>]) -> Truth {
        let found = match tree {
            Tree::Not(of) => {
                let of = self.truth(of, views);
                Truth { holds: !of.holds, margin: -of.margin }
            }
            Tree::For(of, duration_ns, slot) => {
                let of = self.truth(of, views);
                self.lasts(of, *duration_ns, *slot)
            }
            Tree::Rises(of, slot) => {
                let of = self.truth(of, views);
                self.rises(of, *slot)
            }
            Tree::Pair(a, Operator::Or, b) => {
                let (a, b) = (self.truth(a, views), self.truth(b, views));
                Truth { holds: a.holds || b.holds, margin: a.margin.max(b.margin) }
            }
            Tree::Pair(a, Operator::And, b) => {
                let (a, b) = (self.truth(a, views), self.truth(b, views));
                Truth { holds: a.holds && b.holds, margin: a.margin.min(b.margin) }
            }
            Tree::Pair(a, operator, b) => {
                compared(self.number(a, views), *operator, self.number(b, views))
            }
            _ => Truth { holds: false, margin: f64::NAN },
        };
        let margin = if found.margin.is_nan() { f64::NEG_INFINITY } else { found.margin };
        Truth { margin, ..found }
    }

    /// It has held since `duration_ns` ago, in every tick.
    fn lasts(&mut self, of: Truth, duration_ns: u64, slot: usize) -> Truth {
        let now_ns = self.time_ns;
        let Some(slot) = self.slots.get_mut(slot) else { return of };
        slot.since_ns = of.holds.then(|| slot.since_ns.unwrap_or(now_ns));
        let begin_ns = now_ns.checked_sub(duration_ns);
        while slot.window.back().is_some_and(|(_, margin)| *margin >= of.margin) {
            slot.window.pop_back();
        }
        slot.window.push_back((now_ns, of.margin));
        while slot.window.front().is_some_and(|(at, _)| begin_ns.is_some_and(|begin| *at < begin)) {
            slot.window.pop_front();
        }
        let least = slot.window.front().map_or(f64::NEG_INFINITY, |(_, margin)| *margin);
        let holds = slot.since_ns.is_some_and(|since| now_ns - since >= duration_ns);
        // before so much time has passed it does not hold, however far the ticks are from changing
        Truth { holds, margin: if holds { least } else { least.min(0.0) } }
    }

    /// It holds, and did not in the tick before. In the first tick nothing rises.
    fn rises(&mut self, of: Truth, slot: usize) -> Truth {
        let Some(slot) = self.slots.get_mut(slot) else { return of };
        let never = Truth { holds: false, margin: f64::NEG_INFINITY };
        slot.truth.replace(of).map_or(never, |before| Truth {
            holds: of.holds && !before.holds,
            margin: of.margin.min(-before.margin),
        })
    }

    fn number(&mut self, tree: &Tree, views: &[TickView<'_>]) -> f64 {
        match tree {
            Tree::Number(x) => *x,
            Tree::Quantity(q) => q.among(views),
            Tree::Negative(of) => -self.number(of, views),
            Tree::Rate(of, slot) => {
                let now = self.number(of, views);
                let time_ns = self.time_ns;
                let slot = self.slots.get_mut(*slot);
                let before = slot.and_then(|slot| slot.number.replace((time_ns, now)));
                before.map_or(f64::NAN, |(at, x)| (now - x) / ((time_ns - at) as f64 * 1e-9))
            }
            Tree::Pair(a, operator, b) => {
                let (a, b) = (self.number(a, views), self.number(b, views));
                match operator {
                    Operator::Plus => a + b,
                    Operator::Minus => a - b,
                    Operator::Times => a * b,
                    Operator::Over => a / b,
                    _ => f64::NAN,
                }
            }
            Tree::Call(function, arguments) => {
                let all = arguments.iter().map(|a| self.number(a, views));
                // f64::min and max would pass over a NaN
                let least = |a: f64, b: f64| if b.is_nan() || b < a { b } else { a };
                let most = |a: f64, b: f64| if b.is_nan() || b > a { b } else { a };
                match function {
                    Function::Abs => all.map(f64::abs).next(),
                    Function::Min => all.reduce(least),
                    Function::Max => all.reduce(most),
                }
                .unwrap_or(f64::NAN)
            }
            Tree::Not(_) | Tree::For(..) | Tree::Rises(..) => f64::NAN,
        }
    }
}

fn compared(a: f64, operator: Operator, b: f64) -> Truth {
    let (holds, margin) = match operator {
        Operator::Less => (a < b, b - a),
        Operator::LessOrEqual => (a <= b, b - a),
        Operator::Greater => (a > b, a - b),
        Operator::GreaterOrEqual => (a >= b, a - b),
        Operator::Equal => (a == b, -(a - b).abs()),
        Operator::NotEqual => (a.partial_cmp(&b).is_some_and(Ordering::is_ne), (a - b).abs()),
        _ => (false, f64::NAN),
    };
    Truth { holds, margin }
}
