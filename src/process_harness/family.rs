//! A program and all that it starts, whatever group or session they are in.

use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

/// What marks the members: programs inherit the environment.
const VARIABLE: &str = "HARDSTAND_FAMILY";

/// The programs that have the mark of one of them.
#[derive(Debug)]
pub(super) struct Family {
    mark: String,
}

impl Family {
    /// One without members. The first of a process ends what killed ones have left.
    pub(super) fn new() -> Self {
        static ORPHANS: Once = Once::new();
        static NEXT: AtomicU64 = AtomicU64::new(0);
        ORPHANS.call_once(end_orphans);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { mark: format!("{}-{number}", std::process::id()) }
    }

    /// Makes the program of a command a member.
    pub(super) fn mark(&self, command: &mut Command) {
        command.env(VARIABLE, &self.mark);
    }

    /// Those that run now. What has emptied its environment is not found.
    pub(super) fn members(&self) -> Vec<Pid> {
        marked(|mark| mark == self.mark)
    }
}

/// Longest wait for the end of a program that was killed, s.
const KILLED_S: i64 = 5;

/// Ends programs that killed ones have left, and waits until they have given back what they had: a
/// daemon its endpoint.
fn end_orphans() {
    let mut ends = Vec::new();
    for pid in orphans() {
        // a number may be another process's by now, a descriptor may not
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(end) => {
                let _ended = pidfd_send_signal(&end, Signal::KILL).is_ok();
                ends.push(end);
            }
            Err(_no_such_call) => _ = kill_process(pid, Signal::KILL).is_ok(),
        }
    }
    let patience = Timespec { tv_sec: KILLED_S, tv_nsec: 0 };
    for end in &ends {
        let mut end = [PollFd::from_borrowed_fd(end.as_fd(), PollFlags::IN)];
        let _ended = poll(&mut end, Some(&patience)).is_ok();
    }
}

/// Programs whose family's founder, the process that its mark names, is no more.
fn orphans() -> Vec<Pid> {
    let is_alone = |mark: &str| {
        let founder = mark.split('-').next().and_then(|number| number.parse::<u32>().ok());
        founder.is_some_and(has_ended)
    };
    marked(is_alone)
}

/// True if there is no such process, or its parent has not asked yet how it ended.
fn has_ended(number: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{number}/stat")) else { return true };
    // the name before it may hold anything
    stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with(['Z', 'X']))
}

/// Programs with such a mark, of those that see the same process numbers.
fn marked(is_wanted: impl Fn(&str) -> bool) -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let numbers = |process: &Path| std::fs::read_link(process.join("ns/pid")).ok();
    let own = numbers(Path::new("/proc/self"));
    let has_mark = |line: &[u8]| {
        let line = std::str::from_utf8(line).ok();
        line.and_then(|line| line.strip_prefix(VARIABLE)?.strip_prefix('=')).is_some_and(&is_wanted)
    };
    let member = |entry: std::fs::DirEntry| {
        let name = entry.file_name();
        let number = std::str::from_utf8(name.as_bytes()).ok()?.parse().ok()?;
        // of another user: not readable, and no member
        let environment = std::fs::read(entry.path().join("environ")).ok()?;
        let is_member = environment.split(|byte| *byte == 0).any(has_mark);
        (is_member && numbers(&entry.path()) == own).then(|| Pid::from_raw(number))?
    };
    entries.flatten().filter_map(member).collect()
}
