//! Reads one table of a scenario, key by key, and collects all mistakes in it.

use std::cell::RefCell;
use std::collections::BTreeSet;

use hardstand_physics::spatial::Vec3;
use toml::{Table, Value};

/// All mistakes in a scenario.
#[derive(Debug, Default)]
pub(crate) struct Mistakes(RefCell<Vec<String>>);

impl Mistakes {
    pub(crate) fn add(&self, text: String) {
        self.0.borrow_mut().push(text);
    }

    /// Adds a mistake for each repeated name.
    pub(crate) fn refuse_twins<'a>(&self, of: &str, names: impl Iterator<Item = &'a str>) {
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        for pair in names.windows(2).filter(|p| p[0] == p[1]) {
            self.add(format!("{of}: the name \"{}\" is used twice", pair[0]));
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.0.borrow().len()
    }

    pub(crate) fn into_list(self) -> Vec<String> {
        self.0.into_inner()
    }
}

/// The range of a number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    min: f64,
    max: f64,
    min_excluded: bool,
}

impl Range {
    pub(crate) const fn finite() -> Self {
        Self { min: f64::MIN, max: f64::MAX, min_excluded: false }
    }

    pub(crate) const fn between(min: f64, max: f64) -> Self {
        Self { min, max, min_excluded: false }
    }

    pub(crate) const fn at_least(min: f64) -> Self {
        Self { min, max: f64::MAX, min_excluded: false }
    }

    pub(crate) const fn above(min: f64) -> Self {
        Self { min, max: f64::MAX, min_excluded: true }
    }

    pub(crate) fn contains(&self, x: f64) -> bool {
        // NaN fails every comparison
        x <= self.max && if self.min_excluded { x > self.min } else { x >= self.min }
    }

    fn describe(&self) -> String {
        match (self.min == f64::MIN, self.max == f64::MAX, self.min_excluded) {
            (true, _, _) => "a finite number".into(),
            (_, true, true) => format!("finite and greater than {}", self.min),
            (_, true, false) => format!("finite and at least {}", self.min),
            (_, false, _) => format!("{} to {}", self.min, self.max),
        }
    }
}

/// A table and its path, for messages.
#[derive(Debug)]
pub(crate) struct Section<'a> {
    path: String,
    table: Option<&'a Table>,
    seen: RefCell<BTreeSet<String>>,
    mistakes: &'a Mistakes,
}

impl<'a> Section<'a> {
    pub(crate) fn new(path: String, table: Option<&'a Table>, mistakes: &'a Mistakes) -> Self {
        Self { path, table, seen: RefCell::default(), mistakes }
    }

    /// The full name of a key.
    pub(crate) fn name(&self, key: &str) -> String {
        if self.path.is_empty() { key.into() } else { format!("{}.{key}", self.path) }
    }

    /// Reports `key = value; it must be allowed`.
    pub(crate) fn mistake(&self, key: &str, allowed: &str) {
        let value = self.table.and_then(|t| t.get(key));
        let value = value.map_or("missing".into(), |v| format!("{v}"));
        self.mistakes.add(format!("{} is {value}; it must be {allowed}", self.name(key)));
    }

    /// How many mistakes the scenario has so far.
    pub(crate) fn mistake_count(&self) -> usize {
        self.mistakes.count()
    }

    /// The raw value, if the key exists. Marks the key as known in either case.
    pub(crate) fn get(&self, key: &str) -> Option<&'a Value> {
        self.seen.borrow_mut().insert(key.into());
        self.table?.get(key)
    }

    /// True if the key exists. Marks the key as known in either case.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.seen.borrow_mut().insert(key.into());
        self.table.is_some_and(|t| t.contains_key(key))
    }

    /// Whether a key has a string.
    pub(crate) fn is_text(&self, key: &str) -> bool {
        matches!(self.get(key), Some(Value::String(_)))
    }

    /// Marks keys as known that are not read because other keys replace them.
    pub(crate) fn know(&self, keys: &[&str]) {
        self.seen.borrow_mut().extend(keys.iter().map(|key| (*key).to_string()));
    }

    /// Reports a mistake about a key or a whole table that is not a single value.
    pub(crate) fn complain(&self, key: &str, text: &str) {
        self.mistakes.add(format!("{}: {text}", self.name(key)));
    }

    /// All keys of the table, for tables whose keys are names.
    pub(crate) fn keys(&self) -> Vec<&'a str> {
        self.table.map(|t| t.keys().map(String::as_str).collect()).unwrap_or_default()
    }

    pub(crate) fn f64(&self, key: &str, range: Range) -> f64 {
        match self.get(key).and_then(number).filter(|&x| range.contains(x)) {
            Some(x) => x,
            None => {
                self.mistake(key, &range.describe());
                range.min.max(0.0)
            }
        }
    }

    /// The number, if the key is there.
    pub(crate) fn f64_if_given(&self, key: &str, range: Range) -> Option<f64> {
        if self.has(key) { Some(self.f64(key, range)) } else { None }
    }

    pub(crate) fn integer(&self, key: &str, min: i64, max: i64) -> i64 {
        match self.get(key) {
            Some(Value::Integer(i)) if (min..=max).contains(i) => *i,
            Some(Value::Float(x)) if x.fract() == 0.0 => {
                let text = format!("a whole number, without a decimal point, {min} to {max}");
                self.mistake(key, &text);
                min
            }
            _ => {
                self.mistake(key, &format!("a whole number, {min} to {max}"));
                min
            }
        }
    }

    /// The whole number, if it is an allowed one; otherwise the caller reports the mistake.
    pub(crate) fn integer_if(&self, key: &str, allowed: impl Fn(i64) -> bool) -> Option<i64> {
        self.get(key).and_then(Value::as_integer).filter(|&i| allowed(i))
    }

    /// A whole number, 0 or more.
    pub(crate) fn count(&self, key: &str, min: u32, max: u32) -> u64 {
        self.integer(key, i64::from(min), i64::from(max)).unsigned_abs()
    }

    pub(crate) fn bool(&self, key: &str) -> bool {
        match self.get(key) {
            Some(Value::Boolean(b)) => *b,
            _ => {
                self.mistake(key, "true or false");
                false
            }
        }
    }

    pub(crate) fn text(&self, key: &str) -> &'a str {
        match self.get(key) {
            Some(Value::String(s)) => s,
            _ => {
                self.mistake(key, "a string in quotes");
                ""
            }
        }
    }

    /// The string, if the key exists.
    pub(crate) fn text_if_given(&self, key: &str) -> Option<&'a str> {
        if self.has(key) { Some(self.text(key)) } else { None }
    }

    /// One of several words.
    pub(crate) fn choice<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Option<T> {
        let found = match self.get(key) {
            Some(Value::String(s)) => words.iter().find(|(w, _)| w == s),
            _ => None,
        };
        if found.is_none() {
            let all: Vec<String> = words.iter().map(|(w, _)| format!("\"{w}\"")).collect();
            self.mistake(key, &all.join(" or "));
        }
        found.map(|&(_, t)| t)
    }

    /// True if the key holds `word`; [`f64`](Self::f64) reads a number.
    pub(crate) fn choice_or_number(&self, key: &str, word: &str) -> bool {
        matches!(self.get(key), Some(Value::String(s)) if s == word)
    }

    /// A number, or `None` for `word`.
    pub(crate) fn f64_or_word(&self, key: &str, range: Range, word: &str) -> Option<f64> {
        if self.choice_or_number(key, word) {
            return None;
        }
        match self.get(key).and_then(number).filter(|&x| range.contains(x)) {
            Some(x) => Some(x),
            None => {
                self.mistake(key, &format!("{}, or \"{word}\"", range.describe()));
                Some(range.min.max(0.0))
            }
        }
    }

    /// Three numbers.
    pub(crate) fn vec3(&self, key: &str, range: Range) -> [f64; 3] {
        self.numbers(key, "three", range)
    }

    /// A direction, as a unit vector; `None` after a mistake.
    pub(crate) fn direction(&self, key: &str) -> Option<Vec3> {
        let range = Range::between(-1e3, 1e3);
        let found = self.get(key).and_then(|v| as_vec3(v, &range)).map(Vec3::from);
        let found = found.filter(|v| v.norm() >= 1e-3);
        if found.is_none() {
            let allowed = "a direction [x, y, z], at least 0.001 long, each number within ±1000";
            self.mistake(key, allowed);
        }
        found.map(|v| v.normalize())
    }

    /// Two numbers.
    pub(crate) fn vec2(&self, key: &str, range: Range) -> [f64; 2] {
        self.numbers(key, "two", range)
    }

    fn numbers<const N: usize>(&self, key: &str, count: &str, range: Range) -> [f64; N] {
        let found = self.get(key).and_then(|v| as_numbers(v, &range)?.try_into().ok());
        found.unwrap_or_else(|| {
            self.mistake(key, &format!("{count} numbers, each {}", range.describe()));
            [0.0; N]
        })
    }

    /// Rows of equal length.
    pub(crate) fn rows(&self, key: &str, range: Range) -> Vec<Vec<f64>> {
        let rows: Option<Vec<Vec<f64>>> = match self.get(key) {
            Some(Value::Array(list)) => list.iter().map(|v| as_numbers(v, &range)).collect(),
            _ => None,
        };
        let rows = rows.unwrap_or_default();
        if rows.is_empty() || rows.iter().any(|r| r.len() != rows[0].len()) {
            self.complain(
                key,
                &format!("it must be a list of rows of equal length, numbers {}", range.describe()),
            );
        }
        rows
    }

    /// A list of points; `None` if the key does not exist.
    pub(crate) fn points_if_given(&self, key: &str) -> Option<Vec<[f64; 3]>> {
        let range = Range::between(-1e3, 1e3);
        let points = match self.get(key)? {
            Value::Array(list) => list.iter().map(|v| as_vec3(v, &range)).collect(),
            _ => None,
        };
        if points.is_none() {
            self.mistake(key, "a list of points [[x, y, z], …] in m, each within ±1000");
        }
        points
    }

    /// A list of strings.
    pub(crate) fn texts(&self, key: &str) -> Vec<String> {
        let texts: Option<Vec<String>> = match self.get(key) {
            Some(Value::Array(list)) => list.iter().map(|v| v.as_str().map(String::from)).collect(),
            _ => None,
        };
        texts.unwrap_or_else(|| {
            self.mistake(key, "a list of strings");
            Vec::new()
        })
    }

    /// A list of numbers.
    pub(crate) fn numbers_of(&self, key: &str, range: Range) -> Vec<f64> {
        let numbers = self.get(key).and_then(|v| as_numbers(v, &range));
        numbers.unwrap_or_else(|| {
            self.mistake(key, &format!("a list of numbers, each {}", range.describe()));
            Vec::new()
        })
    }

    /// A list of lists of strings.
    pub(crate) fn text_rows(&self, key: &str) -> Vec<Vec<String>> {
        let row = |v: &Value| {
            let row = v.as_array()?;
            row.iter().map(|v| v.as_str().map(str::to_string)).collect::<Option<Vec<_>>>()
        };
        let rows = self.get(key).and_then(Value::as_array);
        let rows = rows.and_then(|rows| rows.iter().map(row).collect::<Option<Vec<_>>>());
        rows.unwrap_or_else(|| {
            self.mistake(key, "a list of lists of strings");
            Vec::new()
        })
    }

    /// A table within this one; empty if it does not exist.
    pub(crate) fn section(&self, key: &str) -> Section<'a> {
        let table = match self.get(key) {
            Some(Value::Table(t)) => Some(t),
            None => None,
            Some(_) => {
                self.mistake(key, "a table");
                None
            }
        };
        Section::new(self.name(key), table, self.mistakes)
    }

    /// A list of tables; empty if it does not exist.
    pub(crate) fn sections(&self, key: &str) -> Vec<Section<'a>> {
        let list = match self.get(key) {
            Some(Value::Array(list)) => list.as_slice(),
            None => &[],
            Some(_) => {
                self.mistake(key, "a list of tables");
                &[]
            }
        };
        let section = |(i, v): (usize, &'a Value)| {
            let path = format!("{}[{i}]", self.name(key));
            if !v.is_table() {
                self.mistakes.add(format!("{path} is {v}; it must be a table"));
            }
            Section::new(path, v.as_table(), self.mistakes)
        };
        list.iter().enumerate().map(section).collect()
    }

    /// Reports keys that have not been read.
    pub(crate) fn finish(self) {
        let seen = self.seen.borrow();
        for key in self.keys().into_iter().filter(|k| !seen.contains(*k)) {
            let known: Vec<&str> = seen.iter().map(String::as_str).collect();
            self.mistakes.add(format!(
                "{} is unknown; known here: {}",
                self.name(key),
                if known.is_empty() { "nothing".into() } else { known.join(", ") }
            ));
        }
    }
}

/// A number of either kind.
pub(crate) fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|i| i as f64))
}

fn as_numbers(value: &Value, range: &Range) -> Option<Vec<f64>> {
    let usable = |v: &Value| number(v).filter(|&x| range.contains(x));
    value.as_array()?.iter().map(usable).collect()
}

fn as_vec3(value: &Value, range: &Range) -> Option<[f64; 3]> {
    as_numbers(value, range)?.try_into().ok()
}
