//! Files whose keys replace those of a scenario.

use std::path::{Path, PathBuf};

use toml::{Table, Value};

use hardstand_error::{Error, ErrorKind, Result, read_text};

use super::merge::parse;
use crate::limits::SCENARIO_BYTES_MAX;

/// The files that the scenario `text` names, in order, with their contents. `path` is the
/// scenario's own.
///
/// # Errors
/// [`ErrorKind::File`] if a file cannot be read, [`ErrorKind::Input`] if it is no TOML or names
/// overlays itself.
pub(super) fn read(text: &str, file: &str, path: &Path) -> Result<Vec<(PathBuf, Table)>> {
    let scenario = parse(text, file)?;
    let Some(value) = scenario.get("overlays") else { return Ok(Vec::new()) };
    // what is no name is refused with the scenario
    let names = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    let one = |name: &str| {
        let overlay = path.parent().unwrap_or(Path::new("")).join(name);
        let shown = overlay.display().to_string();
        let text = read_text(&overlay, SCENARIO_BYTES_MAX)
            .map_err(|e| Error::new(ErrorKind::File, format!("{file}: overlay {shown}: {e}")))?;
        let table = parse(&text, &shown)?;
        if let Some(value) = table.get("overlays") {
            let text = format!(
                "{shown}: overlays is {value}; an overlay has none of its own: name these files \
                 in the overlays of {file}"
            );
            return Err(Error::new(ErrorKind::Input, text));
        }
        Ok((overlay, table))
    };
    names.map(one).collect()
}
