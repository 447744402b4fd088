//! A table of a TOML file, read key by key. Mistakes are collected, so that one error names all.

use crate::numbers::Numbers;
use toml::de::{DeTable, DeValue};

/// A table, the path to it for errors, and the mistakes found so far.
pub(crate) struct Form<'a, 'i> {
    table: &'a DeTable<'i>,
    path: String,
    known: &'a [&'a str],
    missing: Vec<&'static str>,
    mistakes: &'a mut Vec<String>,
}

impl<'a, 'i> Form<'a, 'i> {
    /// `path` is empty for the whole file.
    pub(crate) fn new(
        table: &'a DeTable<'i>,
        path: &str,
        known: &'a [&'a str],
        mistakes: &'a mut Vec<String>,
    ) -> Self {
        let path = if path.is_empty() { String::new() } else { format!("{path}.") };
        Self { table, path, known, missing: Vec::new(), mistakes }
    }

    fn value(&self, name: &str) -> Option<&'a DeValue<'i>> {
        self.table.get(name).map(|value| value.get_ref())
    }

    /// A value that `read` understands.
    fn read<T>(
        &mut self,
        name: &str,
        what: &str,
        read: impl Fn(&DeValue<'i>) -> Option<T>,
    ) -> Option<T> {
        let value = self.value(name)?;
        let made = read(value);
        if made.is_none() {
            let mistake = match value {
                DeValue::Float(_) if has_nan(value) => "is nan; it must be finite".to_string(),
                _ if has_nan(value) => "has a nan; its numbers must be finite".to_string(),
                _ => format!("is of type {}; it must be {what}", value.type_str()),
            };
            self.mistakes.push(format!("{}{name} {mistake}", self.path));
        }
        made
    }

    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        self.read(name, "a string", |v| v.as_str().map(str::to_string))
    }

    pub(crate) fn number(&mut self, name: &str) -> Option<f64> {
        self.read(name, "a number", number)
    }

    pub(crate) fn integer(&mut self, name: &str) -> Option<i64> {
        self.read(name, "an integer", integer)
    }

    pub(crate) fn boolean(&mut self, name: &str) -> Option<bool> {
        self.read(name, "true or false", DeValue::as_bool)
    }

    pub(crate) fn list(&mut self, name: &str) -> Option<Vec<f64>> {
        self.read(name, "a list of numbers", list)
    }

    pub(crate) fn numbers(&mut self, name: &str) -> Option<Numbers> {
        self.read(name, "a number or a list of numbers", numbers)
    }

    pub(crate) fn names(&mut self, name: &str) -> Option<Vec<String>> {
        self.read(name, "a list of strings", |v| {
            v.as_array()?.iter().map(|v| v.get_ref().as_str().map(str::to_string)).collect()
        })
    }

    /// `"policy"` (None), a number or a list.
    pub(crate) fn gains(&mut self, name: &str) -> Option<Option<Numbers>> {
        if let Some(text) = self.value(name).and_then(DeValue::as_str).filter(|s| *s != "policy") {
            let must = "it must be a number, a list, or \"policy\"";
            self.mistakes.push(format!("{}{name} is \"{text}\"; {must}", self.path));
            return None;
        }
        self.read(name, "a number, a list, or \"policy\"", |v| match v.as_str() {
            Some(_) => Some(None),
            None => numbers(v).map(Some),
        })
    }

    /// The least and the greatest value of each name, in the order of the file.
    pub(crate) fn ranges(&mut self, name: &str) -> Vec<(String, [f64; 2])> {
        let what = "a table of names with [least, greatest]";
        let read = self.read(name, what, |v| {
            let entries = in_order(v.as_table()?).into_iter();
            let range = |v: &DeValue<'i>| <[f64; 2]>::try_from(list(v)?).ok();
            entries.map(|(name, v)| Some((name.to_string(), range(v)?))).collect()
        });
        read.unwrap_or_default()
    }

    pub(crate) fn table(&mut self, name: &str) -> Option<&'a DeTable<'i>> {
        let value = self.value(name)?;
        if value.as_table().is_none() {
            self.mistakes.push(format!("{}{name} must be a table [{name}]", self.path));
        }
        value.as_table()
    }

    pub(crate) fn tables(&mut self, name: &str) -> Vec<&'a DeTable<'i>> {
        let Some(value) = self.value(name) else { return Vec::new() };
        let tables = value
            .as_array()
            .and_then(|all| all.iter().map(|v| v.get_ref().as_table()).collect::<Option<Vec<_>>>());
        if tables.is_none() {
            self.mistakes.push(format!("{}{name} must be tables [[{name}]]", self.path));
        }
        tables.unwrap_or_default()
    }

    /// Adds a mistake.
    pub(crate) fn refuse(&mut self, mistake: String) {
        self.mistakes.push(mistake);
    }

    /// Where the mistakes of a part are collected.
    pub(crate) fn mistakes(&mut self) -> &mut Vec<String> {
        self.mistakes
    }

    /// The value of a key that must be there, or a stand-in and a mistake.
    pub(crate) fn need<T: Default>(&mut self, name: &'static str, read: Option<T>) -> T {
        if self.value(name).is_none() {
            self.missing.push(name);
        }
        read.unwrap_or_default()
    }

    /// Ends the table: a mistake for each key that is unknown, and one for all that are missing.
    pub(crate) fn finish(self) {
        for (name, _) in in_order(self.table) {
            if !self.known.contains(&name) {
                let (path, known) = (&self.path, self.known.join(", "));
                self.mistakes.push(format!("{path}{name} is unknown; known are {known}"));
            }
        }
        let quoted: Vec<String> = self.missing.iter().map(|name| format!("'{name}'")).collect();
        let list = match &quoted[..] {
            [] => return,
            [one] => one.clone(),
            [a, b] => format!("{a} and {b}"),
            [others @ .., last] => format!("{}, and {last}", others.join(", ")),
        };
        let path = self.path.trim_end_matches('.');
        let path = if path.is_empty() { "the contract" } else { path };
        self.mistakes.push(format!("{path} lacks {list}"));
    }
}

/// Keys and values in the order of the file.
fn in_order<'a, 'i>(table: &'a DeTable<'i>) -> Vec<(&'a str, &'a DeValue<'i>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries.into_iter().map(|(key, value)| (key.get_ref().as_ref(), value.get_ref())).collect()
}

fn integer(value: &DeValue<'_>) -> Option<i64> {
    let integer = value.as_integer()?;
    i64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

fn float(value: &DeValue<'_>) -> Option<f64> {
    value.as_float().and_then(|float| float.as_str().parse().ok())
}

/// True for a NaN, and for what has one.
fn has_nan(value: &DeValue<'_>) -> bool {
    match value {
        DeValue::Array(all) => all.iter().any(|v| has_nan(v.get_ref())),
        DeValue::Table(all) => all.iter().any(|(_, v)| has_nan(v.get_ref())),
        other => float(other).is_some_and(f64::is_nan),
    }
}

/// A number that is not NaN.
#[expect(clippy::cast_precision_loss, reason = "integers of contracts are small")]
fn number(value: &DeValue<'_>) -> Option<f64> {
    float(value).or_else(|| integer(value).map(|i| i as f64)).filter(|x: &f64| !x.is_nan())
}

fn list(value: &DeValue<'_>) -> Option<Vec<f64>> {
    value.as_array()?.iter().map(|v| number(v.get_ref())).collect()
}

fn numbers(value: &DeValue<'_>) -> Option<Numbers> {
    number(value).map(Numbers::One).or_else(|| list(value).map(Numbers::Each))
}
