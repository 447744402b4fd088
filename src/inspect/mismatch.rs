//! A value that differs between two runs.

use std::fmt;

use serde::Serialize;

/// A value that differs between two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// The controller that gave it, where several have joined or the scenario names it.
    pub controller: Option<String>,
    /// What differs: a set-point as `command.JOINT.FIELD`, a quantity of the robot, `events`,
    /// `verdicts` or `leases`.
    pub quantity: String,
    /// The values in both runs; `None` in a run that has none. A number has all its digits.
    pub values: [Option<String>; 2],
}

impl Mismatch {
    pub(super) fn new(quantity: impl Into<String>, values: [Option<String>; 2]) -> Self {
        Self { controller: None, quantity: quantity.into(), values }
    }

    /// Two numbers that differ.
    pub(super) fn of_numbers(quantity: impl Into<String>, x: f64, y: f64) -> Self {
        Self::new(quantity, [x, y].map(|number| Some(format!("{number:e}"))))
    }

    pub(super) fn by(mut self, controller: Option<String>) -> Self {
        self.controller = controller;
        self
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(controller) = &self.controller {
            write!(f, "{controller}, ")?;
        }
        let [a, b] = self.values.each_ref().map(|value| value.as_deref().unwrap_or("none"));
        write!(f, "{}: {a} and {b}", self.quantity)
    }
}
