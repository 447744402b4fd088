//! The fitted values, `fitted.toml`.

use std::fmt::Write as _;

use super::Result;
use super::laws::Parameter;

/// The file as it was built in.
pub(crate) const SHIPPED: &str = include_str!("../fitted.toml");

/// Values of the table `key`, in the order of `parameters`.
///
/// # Errors
/// If the text is no TOML, or lacks the table or one of its keys.
pub(crate) fn values(text: &str, key: &str, parameters: &[Parameter]) -> Result<Vec<f64>> {
    let file: toml::Table = text.parse()?;
    let table = file.get(key).and_then(toml::Value::as_table);
    let table = table.ok_or_else(|| format!("fitted.toml lacks the table [{key}]"))?;
    let value = |p: &Parameter| {
        let value = table.get(p.name).and_then(toml::Value::as_float);
        value.ok_or_else(|| format!("fitted.toml lacks {key}.{} as a float", p.name).into())
    };
    parameters.iter().map(value).collect()
}

/// The table of these values.
pub(crate) fn table(key: &str, parameters: &[Parameter], values: &[f64]) -> String {
    let mut text = format!("[{key}]\n");
    for (p, x) in parameters.iter().zip(values) {
        let _ = writeln!(text, "{} = {x:?}", p.name);
    }
    text
}
