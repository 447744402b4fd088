//! Conditions on the quantities of a tick.

use std::cmp::Ordering;

use crate::replay::TickView;
use hardstand_error::Result;

use super::parser::{Function, Operator, Tree, parse};
use super::quantities::RENAMED;
use super::{Quantities, Quantity};

/// A condition, such as `foot.FL.slip > 0.02 and base.z < 0.2`.
#[derive(Clone, Debug)]
pub struct Condition {
    tree: Tree,
    text: String,
}

impl Condition {
    /// Reads a condition on quantities of a robot: `<`, `<=`, `>`, `>=`, `==`, `!=`; `and`, `or`,
    /// `not`, also `&&`, `||`, `!`; `+`, `-`, `*`, `/`; `abs`, `min`, `max`; parentheses.
    ///
    /// # Errors
    /// [`ErrorKind::Input`](crate::ErrorKind::Input) with the place and what is expected there, or
    /// the names that are nearest to one that is unknown.
    pub fn parse(text: &str, quantities: &Quantities) -> Result<Self> {
        Ok(Self { tree: parse(text, quantities)?, text: text.into() })
    }

    /// True if it holds. A comparison with NaN is false: 0/0, or a quantity that the tick does not
    /// have.
    #[must_use]
    pub fn holds(&self, view: &TickView<'_>) -> bool {
        truth(&self.tree, view)
    }

    /// How far it is from changing: positive where it holds, negative where it does not, 0 between.
    /// Of a comparison the distance of both sides; of `and` the least, of `or` the largest of both
    /// (the robustness of signal temporal logic, Fainekos & Pappas 2009). −∞ where a side is NaN.
    #[must_use]
    pub fn margin(&self, view: &TickView<'_>) -> f64 {
        margin(&self.tree, view)
    }

    /// Hints on names of earlier versions that are in it.
    #[must_use]
    pub fn hints(&self) -> Vec<String> {
        let old = |(old, _): &&(&str, &str)| {
            let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
            self.text.split(|c| !is_name(c)).any(|name| name == *old)
        };
        let hint = |(old, new): &(&str, &str)| format!("the quantity {old} is now called {new}");
        RENAMED.iter().filter(old).map(hint).collect()
    }

    /// The quantities in it, each once, in their order.
    #[must_use]
    pub fn quantities(&self) -> Vec<&Quantity> {
        let mut found = Vec::new();
        collect(&self.tree, &mut found);
        found
    }
}

fn truth(tree: &Tree, m: &TickView<'_>) -> bool {
    match tree {
        Tree::Not(of) => !truth(of, m),
        Tree::Pair(a, Operator::Or, b) => truth(a, m) || truth(b, m),
        Tree::Pair(a, Operator::And, b) => truth(a, m) && truth(b, m),
        Tree::Pair(a, operator, b) => {
            let (a, b) = (number(a, m), number(b, m));
            match operator {
                Operator::Less => a < b,
                Operator::LessOrEqual => a <= b,
                Operator::Greater => a > b,
                Operator::GreaterOrEqual => a >= b,
                Operator::Equal => a == b,
                Operator::NotEqual => a.partial_cmp(&b).is_some_and(Ordering::is_ne),
                _ => false,
            }
        }
        _ => false,
    }
}

fn margin(tree: &Tree, m: &TickView<'_>) -> f64 {
    let found = match tree {
        Tree::Not(of) => -margin(of, m),
        Tree::Pair(a, Operator::Or, b) => margin(a, m).max(margin(b, m)),
        Tree::Pair(a, Operator::And, b) => margin(a, m).min(margin(b, m)),
        Tree::Pair(a, operator, b) => {
            let (a, b) = (number(a, m), number(b, m));
            match operator {
                Operator::Less | Operator::LessOrEqual => b - a,
                Operator::Greater | Operator::GreaterOrEqual => a - b,
                Operator::Equal => -(a - b).abs(),
                Operator::NotEqual => (a - b).abs(),
                _ => f64::NAN,
            }
        }
        _ => f64::NAN,
    };
    if found.is_nan() { f64::NEG_INFINITY } else { found }
}

fn number(tree: &Tree, m: &TickView<'_>) -> f64 {
    match tree {
        Tree::Number(x) => *x,
        Tree::Quantity(q) => q.of(m),
        Tree::Negative(of) => -number(of, m),
        Tree::Pair(a, operator, b) => {
            let (a, b) = (number(a, m), number(b, m));
            match operator {
                Operator::Plus => a + b,
                Operator::Minus => a - b,
                Operator::Times => a * b,
                Operator::Over => a / b,
                _ => f64::NAN,
            }
        }
        Tree::Call(function, arguments) => {
            let all = arguments.iter().map(|a| number(a, m));
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
        Tree::Not(_) => f64::NAN,
    }
}

fn collect<'a>(tree: &'a Tree, found: &mut Vec<&'a Quantity>) {
    match tree {
        Tree::Number(_) => {}
        Tree::Quantity(q) => {
            if found.iter().all(|f| f.name != q.name) {
                found.push(q);
            }
        }
        Tree::Negative(of) | Tree::Not(of) => collect(of, found),
        Tree::Pair(a, _, b) => {
            collect(a, found);
            collect(b, found);
        }
        Tree::Call(_, all) => all.iter().for_each(|of| collect(of, found)),
    }
}
