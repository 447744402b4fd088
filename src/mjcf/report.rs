//! Mistakes and warnings of a model.

use std::collections::BTreeMap;

use crate::urdf::MISTAKES_SHOWN;
use hardstand_error::{Error, ErrorKind};

/// Places that a warning names.
const PLACES_SHOWN: usize = 4;

/// What is wrong, and what was left out.
#[derive(Debug, Default)]
pub(super) struct Report {
    mistakes: Vec<String>,
    /// What is not simulated, and of which elements.
    left_out: BTreeMap<String, Vec<String>>,
}

impl Report {
    pub(super) fn mistake(&mut self, text: String) {
        // elements of a class share those of the class
        if self.mistakes.len() < MISTAKES_SHOWN && !self.mistakes.contains(&text) {
            self.mistakes.push(text);
        }
    }

    /// `what` of `whose` is not simulated; several of the same kind become one warning.
    pub(super) fn left_out(&mut self, what: &str, whose: &str) {
        self.left_out.entry(what.into()).or_default().push(whose.into());
    }

    /// The error, if there is a mistake.
    pub(super) fn refusal(&self, file: &str) -> Option<Error> {
        (!self.mistakes.is_empty()).then(|| {
            let head = format!("{file}: the robot was refused");
            Error::list(ErrorKind::Input, &head, &self.mistakes)
        })
    }

    pub(super) fn into_warnings(self) -> Vec<String> {
        let warning = |(what, whose): (String, Vec<String>)| {
            let shown = whose.iter().filter(|w| !w.is_empty()).take(PLACES_SHOWN);
            let shown = shown.cloned().collect::<Vec<_>>().join(", ");
            match whose.len().saturating_sub(PLACES_SHOWN) {
                _ if shown.is_empty() => what,
                0 => format!("{what}: {shown}"),
                more => format!("{what}: {shown} and {more} more"),
            }
        };
        self.left_out.into_iter().map(warning).collect()
    }
}
