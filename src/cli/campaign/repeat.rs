//! The command that runs a case again.

use crate::campaign::Manifest;

use super::super::shell::quoted;

/// It, for a shell: into a folder of its own, so that the results stay as they are.
pub(super) fn command(m: &Manifest, case: &str) -> String {
    let words =
        ["hardstand", "campaign", &m.file, "--case", case, "--out", &format!("again-{case}")];
    let mut out = words.map(quoted).join(" ");
    if let Some(folder) = &m.folder {
        let controller: Vec<String> = m.controller.iter().map(|word| quoted(word)).collect();
        out = format!("cd {} && {out} -- {}", quoted(folder), controller.join(" "));
    }
    out
}
