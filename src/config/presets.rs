//! Named sets of values: `contact.spring` and `contact.preset`.

use toml::{Table, Value};

use super::section::Section;

/// The sets, with what each one matches.
const PRESETS_TOML: &str = include_str!("../../config/presets.toml");

/// The keys of `[contact]` that name a set, in the order in which their sets are applied, each with
/// the name that stands for the values of config/default.toml.
const NAMERS: [(&str, &str); 2] = [("preset", "none"), ("spring", "simbody")];

/// All sets: by key, then by name.
pub(super) fn sets() -> Table {
    // tests read every set, so the file is valid
    PRESETS_TOML.parse().unwrap_or_default()
}

/// The values that the key `contact.<namer>` stands for where its value is `name`. The name of the
/// defaults takes back what any set of that key changes. An unknown name stands for nothing; it is
/// refused later, as the value of its key.
fn values(sets: &Table, defaults: &Table, namer: &str, fallback: &str, name: &str) -> Table {
    let Some(Value::Table(of_key)) = sets.get(namer) else { return Table::new() };
    if name != fallback {
        return of_key.get(name).and_then(Value::as_table).cloned().unwrap_or_default();
    }
    let mut out = Table::new();
    for changed in of_key.values().filter_map(Value::as_table) {
        for (section, keys) in changed {
            for key in keys.as_table().into_iter().flat_map(Table::keys) {
                let value = defaults.get(section).and_then(|s| s.get(key));
                let slot = out.entry(section.clone()).or_insert_with(|| Table::new().into());
                if let (Some(value), Some(slot)) = (value, slot.as_table_mut()) {
                    slot.insert(key.clone(), value.clone());
                }
            }
        }
    }
    out
}

/// The values of all sets that a layer of settings names, to be merged before the layer itself.
pub(super) fn named_by(contact: &Table, defaults: &Table) -> Vec<Table> {
    let sets = sets();
    let name_of = |key: &str| contact.get(key).and_then(Value::as_str);
    let chosen = NAMERS.iter().filter_map(|&(key, none)| Some((key, none, name_of(key)?)));
    chosen.map(|(key, none, name)| values(&sets, defaults, key, none, name)).collect()
}

/// Reports a name that does not exist.
pub(super) fn check_names(contact: &Section<'_>) {
    let sets = sets();
    for (namer, fallback) in NAMERS {
        let names = sets.get(namer).and_then(Value::as_table).into_iter().flat_map(Table::keys);
        let words: Vec<(&str, ())> =
            [fallback].into_iter().chain(names.map(String::as_str)).map(|n| (n, ())).collect();
        let _known = contact.choice(namer, &words);
    }
}
