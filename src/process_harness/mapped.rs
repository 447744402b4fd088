//! What processes have in memory.

use std::collections::BTreeSet;
use std::path::PathBuf;

use rustix::process::Pid;

/// Adds the files that these processes have mapped as code.
pub(super) fn note(processes: &[Pid], files: &mut BTreeSet<PathBuf>) {
    for process in processes {
        let path = format!("/proc/{}/maps", process.as_raw_nonzero());
        let maps = std::fs::read_to_string(path).unwrap_or_default();
        files.extend(maps.lines().filter_map(code).map(PathBuf::from));
    }
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
    use super::code;

    #[test]
    fn lines_of_the_system_are_understood() {
        let line = "7f0-7f1 r-xp 00001000 fe:00 1234  /usr/lib/a library.so";
        assert_eq!(code(line), Some("/usr/lib/a library.so"));
        assert_eq!(code("7f0-7f1 r--p 0 fe:00 1 /usr/lib/data"), None);
        assert_eq!(code("7f0-7f1 r-xp 0 fe:00 1 /usr/lib/old.so (deleted)"), None);
        assert_eq!(code("7f0-7f1 r-xp 0 00:00 0 [vdso]"), None);
    }
}
