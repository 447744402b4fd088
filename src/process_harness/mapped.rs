//! What the processes of a group have in memory.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// Adds the files that the group's processes have mapped as code.
pub(super) fn note(group: u32, files: &mut BTreeSet<PathBuf>) {
    let Ok(entries) = std::fs::read_dir("/proc") else { return };
    for process in entries.flatten() {
        let path = process.path();
        let stat = std::fs::read_to_string(path.join("stat")).unwrap_or_default();
        if group_of(&stat) == Some(group) {
            let maps = std::fs::read_to_string(path.join("maps")).unwrap_or_default();
            files.extend(maps.lines().filter_map(code).map(PathBuf::from));
        }
    }
}

/// The group in a line of `/proc/PID/stat`: `PID (NAME) STATE PARENT GROUP …`.
fn group_of(stat: &str) -> Option<u32> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(2)?.parse().ok()
}

/// The file of a line of `/proc/PID/maps` that is code: `FROM-TO PERMISSIONS OFFSET DEVICE INODE
/// FILE`.
fn code(line: &str) -> Option<&str> {
    let file = line.find('/').and_then(|at| line.get(at..))?;
    let permissions = line.split_whitespace().nth(1)?;
    (permissions.contains('x') && !file.ends_with(" (deleted)")).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::{code, group_of};

    #[test]
    fn lines_of_the_system_are_understood() {
        assert_eq!(group_of("17 (a) b) S 1 16 16 0 -1"), Some(16));
        let line = "7f0-7f1 r-xp 00001000 fe:00 1234  /usr/lib/a library.so";
        assert_eq!(code(line), Some("/usr/lib/a library.so"));
        assert_eq!(code("7f0-7f1 r--p 0 fe:00 1 /usr/lib/data"), None);
        assert_eq!(code("7f0-7f1 r-xp 0 fe:00 1 /usr/lib/old.so (deleted)"), None);
        assert_eq!(code("7f0-7f1 r-xp 0 00:00 0 [vdso]"), None);
    }
}
