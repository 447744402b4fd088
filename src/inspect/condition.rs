//! Conditions on the quantities of a tick.

use crate::replay::TickView;
use hardstand_error::Result;

use super::parser::{Tree, parse};
use super::quantities::RENAMED;
use super::watch::{self, Truth, Watch};
use super::{Quantities, Quantity};

/// A condition, such as `foot.FL.slip > 0.02 and base.z < 0.2`.
#[derive(Clone, Debug)]
pub struct Condition {
    tree: Tree,
    /// Count of what it remembers.
    slots: usize,
    text: String,
}

impl Condition {
    /// Reads a condition on quantities of a robot: `<`, `<=`, `>`, `>=`, `==`, `!=`; `and`, `or`,
    /// `not`, also `&&`, `||`, `!`; `+`, `-`, `*`, `/`; `abs`, `min`, `max`, `rate`; `for`,
    /// `rises`; parentheses.
    ///
    /// # Errors
    /// [`ErrorKind::Input`](crate::ErrorKind::Input) with the place and what is expected there, or
    /// the names that are nearest to one that is unknown.
    pub fn parse(text: &str, quantities: &Quantities) -> Result<Self> {
        let (tree, slots) = parse(text, quantities)?;
        Ok(Self { tree, slots, text: text.into() })
    }

    /// Evaluates it, tick by tick.
    #[must_use]
    pub fn watch(&self) -> Watch {
        Watch::new(self.tree.clone(), self.slots)
    }

    /// What it says of a tick by itself, as a watch does of its first one.
    #[must_use]
    pub fn at(&self, view: &TickView<'_>) -> Truth {
        watch::at(&self.tree, self.slots, view)
    }

    /// True if it says something of a tick that depends on the ticks before: with `for`, `rises` or
    /// `rate`.
    #[must_use]
    pub const fn remembers(&self) -> bool {
        self.slots > 0
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

fn collect<'a>(tree: &'a Tree, found: &mut Vec<&'a Quantity>) {
    match tree {
        Tree::Number(_) => {}
        Tree::Quantity(q) => {
            if found.iter().all(|f| f.name != q.name) {
                found.push(q);
            }
        }
        Tree::Negative(of)
        | Tree::Not(of)
        | Tree::For(of, ..)
        | Tree::Rises(of, _)
        | Tree::Rate(of, _) => collect(of, found),
        Tree::Pair(a, _, b) => {
            collect(a, found);
            collect(b, found);
        }
        Tree::Call(_, all) => all.iter().for_each(|of| collect(of, found)),
    }
}
