//! The defects that `.ci/simulated` puts back still fit the source.

use std::fs;
use std::path::Path;

/// Why a patch does not apply to a tree: the lines that a hunk expects are not in the file, in
/// their order. `read` gives the text of a file.
fn mismatch(patch: &str, read: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut file = None;
    let mut hunks: Vec<(String, String)> = Vec::new();
    for line in patch.lines() {
        if let Some(name) = line.strip_prefix("--- a/") {
            file = Some(name.to_string());
        } else if line.starts_with("@@ ") {
            hunks.push((file.clone()?, String::new()));
        } else if let (Some((_, expected)), Some(text)) =
            (hunks.last_mut(), line.strip_prefix([' ', '-']).filter(|_| !line.starts_with("---")))
        {
            expected.push_str(text);
            expected.push('\n');
        }
    }
    if hunks.is_empty() {
        return Some("it has no hunk".into());
    }
    hunks.into_iter().find_map(|(file, expected)| {
        let fits = read(&file).is_some_and(|text| text.contains(&expected));
        (!fits).then(|| format!("{file} has no lines\n{expected}"))
    })
}

#[test]
fn every_defect_of_the_simulation_can_be_put_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for entry in fs::read_dir(root.join("tests/it/simulation/defects")).unwrap() {
        let path = entry.unwrap().path();
        let patch = fs::read_to_string(&path).unwrap();
        let wrong = mismatch(&patch, |file| fs::read_to_string(root.join(file)).ok());
        assert_eq!(wrong, None, "{}", path.display());
        count += 1;
    }
    assert!(count >= 29, "{count} defects");
}

#[test]
fn a_patch_to_other_lines_is_noticed() {
    let patch = "--- a/f.rs\n+++ b/f.rs\n@@ -1,3 +1,3 @@ fn f() {\n a\n-b\n+x\n c\n";
    let of = |text: &str| mismatch(patch, |_| Some(text.into()));
    assert_eq!(of("0\na\nb\nc\n"), None);
    assert!(of("a\nb\nd\n").is_some());
    assert!(of("a\nc\nb\n").is_some());
    assert!(mismatch(patch, |_| None).is_some());
    assert!(mismatch("", |_| Some("a".into())).is_some());
}
