//! What the physics thread asks of the system, and what it got.

use std::fs::File;
use std::io::Write as _;

use rustix::mm::{Advice, MlockAllFlags, madvise, mlockall, munlock};
use rustix::process::{Resource, getrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_sandbox::Applied;

use crate::config::RealtimeSettings;

/// What the system granted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    /// `SCHED_FIFO` priority of the physics thread.
    pub fifo_priority: Option<u8>,
    /// CPU of the physics thread.
    pub core: Option<usize>,
    /// All memory is locked as soon as it is touched.
    pub memory_locked: bool,
    /// No core falls into a sleep from which it wakes up late.
    pub cores_awake: bool,
    /// What was refused, why, and what to do about it.
    pub refused: Vec<String>,
    /// Capabilities that the process keeps, and what for; none as a rule.
    pub kept: Vec<String>,
    /// What the process has given up; `None` if nothing was to be.
    pub sandbox: Option<Applied>,
}

impl Grants {
    /// One line for people.
    #[must_use]
    pub fn summary(&self) -> String {
        let fifo = self.fifo_priority.map_or("normal scheduling".into(), |p| format!("FIFO {p}"));
        let core = self.core.map_or("any core".into(), |c| format!("core {c}"));
        let memory = if self.memory_locked { "memory locked" } else { "memory not locked" };
        let awake = if self.cores_awake { ", cores kept awake" } else { "" };
        format!("{fifo}, {core}, {memory}{awake}")
    }

    /// # Errors
    /// [`ErrorKind::RealTime`] if something was refused although `required`.
    pub fn enforce(&self, required: bool) -> Result<()> {
        if !required || self.refused.is_empty() {
            return Ok(());
        }
        Err(Error::list(
            ErrorKind::RealTime,
            "realtime.required is true, but the system refused:",
            &self.refused,
        ))
    }
}

/// The CPU for the physics thread: the wish, which may well be an isolated core outside the mask of
/// this process, or the last one the process may use. `None` if the process has one CPU only: then
/// nothing is pinned.
#[must_use]
pub fn pick_core(wish: Option<usize>) -> Option<usize> {
    let cores = allowed_cores();
    wish.or_else(|| cores.last().copied().filter(|_| cores.len() > 1))
}

fn allowed_cores() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(None) else { return Vec::new() };
    (0..CpuSet::MAX_CPU).filter(|&c| set.is_set(c)).collect()
}

/// Takes the calling thread, and all threads it will start, off the physics core, unless it is the
/// only one. Called before zenoh is opened: its threads inherit this.
pub fn keep_off_core(core: Option<usize>) {
    let Some(core) = core else { return };
    let mut set = CpuSet::new();
    for c in allowed_cores().into_iter().filter(|&c| c != core) {
        set.set(c);
    }
    if set.count() > 0 {
        let _best_effort = sched_setaffinity(None, &set).is_ok();
    }
}

/// Keeps all cores out of sleeps that take time to wake up from, as long as the returned file is
/// open. cyclictest does the same. Without the right to it (root has it) the answer is `None`.
#[must_use]
pub fn keep_cores_awake() -> Option<File> {
    // a number of µs that waking up may take; it holds until the file is closed
    let mut file = File::options().write(true).open("/dev/cpu_dma_latency").ok()?;
    file.write_all(&0_i32.to_ne_bytes()).is_ok().then_some(file)
}

/// Locks all memory that the process has now, as it is touched; what comes from files, code above
/// all, is touched here.
///
/// Called on the physics thread before it says what it got, and again before the loop: what that
/// needs is there by then, and what I/O threads allocate later is none of its business.
pub fn lock_memory(grants: &mut Grants) {
    match mlockall(MlockAllFlags::CURRENT | MlockAllFlags::ONFAULT) {
        Ok(()) => {
            grants.memory_locked = true;
            touch_files_and_let_main_stack_grow();
        }
        Err(e) => {
            let limit = getrlimit(Resource::Memlock).current;
            let limit =
                limit.map_or(String::new(), |bytes| format!(", its limit is {} KiB", bytes / 1024));
            grants.refused.push(format!(
                "locking memory ({e}{limit}): allow it with `ulimit -l unlimited` or CAP_IPC_LOCK, \
                 or set realtime.lock_memory = false"
            ));
        }
    }
}

/// Maps code and constants of the program and its libraries, so that a path that is taken for the
/// first time is no page fault. Unlocks the main thread's stack: it grows as it is used, and a
/// locked one may not, once the right to lock is given up; the thread would die of it.
#[allow(unsafe_code, reason = "the only way to ask for it")]
fn touch_files_and_let_main_stack_grow() {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    for line in maps.lines() {
        let Some((begin, length)) = range(line) else { continue };
        let _best_effort = if line.ends_with("[stack]") {
            // SAFETY: unlocking changes no page, and this mapping is there as long as the process.
            unsafe { munlock(begin, length) }.is_ok()
        } else if line.contains(" r") && line.contains('/') {
            // SAFETY: MADV_POPULATE_READ reads pages and changes none; of a range that is not
            // mapped any more it makes an error.
            unsafe { madvise(begin, length, Advice::LinuxPopulateRead) }.is_ok()
        } else {
            true
        };
    }
}

/// Where a mapping of `/proc/self/maps` begins, and its length.
fn range(line: &str) -> Option<(*mut std::ffi::c_void, usize)> {
    let (from, to) = line.split(' ').next()?.split_once('-')?;
    let address = |hex: &str| usize::from_str_radix(hex, 16).ok();
    let (from, to) = (address(from)?, address(to)?);
    Some((std::ptr::with_exposed_provenance_mut(from), to.saturating_sub(from)))
}

/// Makes the calling thread the physics thread: pins it to `core` and raises it to `SCHED_FIFO`.
/// What the system refuses is written to `grants` with the remedy.
pub fn enter_realtime(settings: &RealtimeSettings, core: Option<usize>, grants: &mut Grants) {
    if let Some(core) = core {
        let mut set = CpuSet::new();
        set.set(core);
        match sched_setaffinity(None, &set) {
            Ok(()) => grants.core = Some(core),
            Err(e) => grants.refused.push(format!("pinning to core {core} ({e})")),
        }
    }
    let fifo = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let granted = ThreadPriority::try_from(settings.priority).map_err(|e| e.to_owned()).and_then(
        |priority| {
            set_thread_priority_and_policy(thread_native_id(), priority, fifo).map_err(
                |e| match e {
                    thread_priority::Error::OS(n) => {
                        std::io::Error::from_raw_os_error(n).to_string()
                    }
                    other => format!("{other:?}"),
                },
            )
        },
    );
    match granted {
        Ok(()) => grants.fifo_priority = Some(settings.priority),
        Err(e) => grants.refused.push(format!(
            "SCHED_FIFO priority {} ({e}): allow it with `ulimit -r {}` or CAP_SYS_NICE",
            settings.priority, settings.priority
        )),
    }
}
