//! Mistakes and warnings, with the lines they are on.

use roxmltree::Node;

use super::lines::Lines;
use hardstand_error::{Error, ErrorKind};

/// Mistakes in one error; a file with more repeats the same one.
pub(crate) const MISTAKES_SHOWN: usize = 50;
/// The same for warnings.
const WARNINGS_SHOWN: usize = 100;
/// Names shown in one warning.
const NAMES_SHOWN: usize = 6;
/// Characters of a value shown in a message.
const VALUE_CHARS_SHOWN: usize = 60;

/// Collects mistakes and warnings about one file.
#[derive(Debug)]
pub(super) struct Report {
    file: String,
    lines: Lines,
    mistakes: Vec<String>,
    warnings: Vec<String>,
    /// Warnings that apply to many elements, reported once with all names.
    shared: Vec<(&'static str, Vec<String>)>,
}

impl Report {
    pub(super) fn new(file: &str, text: &str) -> Self {
        let (mistakes, warnings, shared) = (Vec::new(), Vec::new(), Vec::new());
        Self { file: file.into(), lines: Lines::of(text), mistakes, warnings, shared }
    }

    /// Line of an element, from 1.
    pub(super) fn line(&self, node: Node<'_, '_>) -> usize {
        self.lines.line(node)
    }

    pub(super) fn mistake(&mut self, text: String) {
        self.mistakes.push(text);
    }

    pub(super) fn warn(&mut self, text: String) {
        self.warnings.push(text);
    }

    /// Adds `name` to the elements that the warning `text` applies to.
    pub(super) fn warn_shared(&mut self, text: &'static str, name: &str) {
        match self.shared.iter_mut().find(|(t, _)| *t == text) {
            Some((_, names)) => names.push(name.into()),
            None => self.shared.push((text, vec![name.into()])),
        }
    }

    pub(super) fn has_mistakes(&self) -> bool {
        !self.mistakes.is_empty()
    }

    /// All mistakes as one error.
    pub(super) fn refusal(mut self) -> Error {
        let more = self.mistakes.len().saturating_sub(MISTAKES_SHOWN);
        if more > 0 {
            self.mistakes.truncate(MISTAKES_SHOWN);
            self.mistakes.push(format!("… and {more} more"));
        }
        let head = format!("{}: the robot model was refused", self.file);
        Error::list(ErrorKind::Input, &head, &self.mistakes)
    }

    pub(super) fn into_warnings(mut self) -> Vec<String> {
        let more = self.warnings.len().saturating_sub(WARNINGS_SHOWN);
        if more > 0 {
            self.warnings.truncate(WARNINGS_SHOWN);
            self.warnings.push(format!("… and {more} more warnings like these"));
        }
        for (text, names) in &self.shared {
            self.warnings.push(format!("{text}: {}", list(names)));
        }
        self.warnings
    }
}

/// A value for a message: on one line and of limited length.
pub(super) fn shown(value: &str) -> String {
    let mut text: String = value.chars().take(VALUE_CHARS_SHOWN).collect();
    if text.len() < value.len() {
        text.push('…');
    }
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// `"a", "b" and 3 more`.
pub(super) fn list<S: AsRef<str>>(names: &[S]) -> String {
    let quoted: Vec<String> =
        names.iter().take(NAMES_SHOWN).map(|n| format!("\"{}\"", shown(n.as_ref()))).collect();
    let more = names.len() - quoted.len();
    let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
    quoted.join(", ") + &tail
}
