//! A program and all that it starts, whatever group or session they are in.

use std::os::unix::ffi::OsStrExt as _;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::Pid;

/// What marks the members: programs inherit the environment.
const VARIABLE: &str = "HARDSTAND_FAMILY";

/// The programs that have the mark of one of them.
#[derive(Debug)]
pub(super) struct Family {
    mark: String,
}

impl Family {
    /// One without members.
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { mark: format!("{}-{number}", std::process::id()) }
    }

    /// Makes the program of a command a member.
    pub(super) fn mark(&self, command: &mut Command) {
        command.env(VARIABLE, &self.mark);
    }

    /// Those that run now. What has emptied its environment is not found.
    pub(super) fn members(&self) -> Vec<Pid> {
        let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
        let wanted = format!("{VARIABLE}={}", self.mark);
        let is_member = |environment: &[u8]| {
            environment.split(|byte| *byte == 0).any(|line| line == wanted.as_bytes())
        };
        let member = |entry: std::fs::DirEntry| {
            let name = entry.file_name();
            let number = std::str::from_utf8(name.as_bytes()).ok()?.parse().ok()?;
            // of another user: not readable, and no member
            let environment = std::fs::read(entry.path().join("environ")).ok()?;
            is_member(&environment).then(|| Pid::from_raw(number))?
        };
        entries.flatten().filter_map(member).collect()
    }
}
