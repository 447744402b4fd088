//! The table of docs/security.md is that of the code.

use std::path::Path;

use hardstand_sandbox::{GROUPS, LIMITED, PHYSICS_CALLS};

use crate::child::text;

fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[test]
fn the_page_lists_the_calls_that_are_allowed() {
    let mut rows = Vec::new();
    for group in GROUPS.iter().chain(PHYSICS_CALLS) {
        let older = quoted(group.names_x86_64());
        let older = if older.is_empty() { older } else { format!("; on x86-64 also {older}") };
        rows.push(format!("| {} | {}{older} |", group.purpose, quoted(group.names())));
    }
    for limited in LIMITED {
        rows.push(format!("| `{}` | {} |", limited.name(), limited.limit));
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/security.md");
    let page = text(&page);
    let missing: Vec<String> =
        rows.iter().filter(|row| !page.contains(row.as_str())).cloned().collect();
    assert!(missing.is_empty(), "docs/security.md lacks these rows:\n{}", missing.join("\n"));
    let (_, tables) = page.split_once("\n### System calls\n").unwrap();
    let tables = tables.split("\n## ").next().unwrap();
    let lines = tables.lines().filter(|line| line.starts_with("| ") && line.contains('`'));
    assert_eq!(lines.count(), rows.len(), "docs/security.md has rows that the code has not");
}
