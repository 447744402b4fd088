//! Confines the daemon's process after its start: a daemon that is taken over can write its log,
//! and little else.
//!
//! Two parts of Linux do it. *Landlock* decides which files and TCP ports may be opened. It binds
//! the calling thread and the threads that it starts later, so it comes before the threads that
//! read from the network. *seccomp* decides which system calls exist at all. Both last until the
//! process ends, and neither needs a privilege.
//!
//! A call that is not listed fails with ENOSYS, as on a kernel that does not have it. Decision 0014
//! gives the reasons.
//!
//! ```no_run
//! use hardstand_sandbox::{Allowed, confine_calls, confine_files, confine_physics_thread};
//! # fn open_network() {}
//! # fn main() -> hardstand_error::Result<()> {
//! let mut allowed = Allowed { bind_ports: vec![7447], ..Default::default() };
//! allowed.add_log("runs/stand/run.mcap".as_ref());
//! let mut applied = confine_files(&allowed); // before threads that read from the network
//! open_network();
//! applied.add(confine_calls(&allowed)); // all threads that there are, and those to come
//! applied.enforce(true)?;
//! std::thread::spawn(|| confine_physics_thread());
//! # Ok(())
//! # }
//! ```

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod calls;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod filter;
#[cfg(target_os = "linux")]
mod landlock_rules;

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub use calls::{CallGroup, GROUPS, LIMITED, LimitedCall, PHYSICS_CALLS};

use std::path::{Path, PathBuf};

use hardstand_error::{Error, ErrorKind, Result};

/// What the process still needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Folders in which, and below which, files may be made, read, written, renamed and removed.
    pub write: Vec<PathBuf>,
    /// Files that may be read, and folders below which files may be read.
    pub read: Vec<PathBuf>,
    /// Folders in which unix sockets are made, connected to, and removed.
    pub sockets: Vec<PathBuf>,
    /// Folders in which, and below which, files may be removed.
    pub remove: Vec<PathBuf>,
    /// TCP ports to listen on. The process may connect to them, too.
    pub bind_ports: Vec<u16>,
    /// TCP ports to connect to.
    pub connect_ports: Vec<u16>,
    /// Peers have host names, so the process asks DNS servers over UDP and TCP.
    pub host_names: bool,
    /// UDP, for DDS: no rule limits its ports.
    pub udp: bool,
    /// Child processes, each the leader of its process group, that may be sent signals.
    pub children: Vec<u32>,
}

impl Allowed {
    /// Allows to write the log `path` and its further files: the folder where it is, and the one
    /// where it leads to if it is a link.
    pub fn add_log(&mut self, path: &Path) {
        self.write.push(folder_of(path));
        if let Ok(place) = path.canonicalize() {
            self.write.push(folder_of(&place));
        }
    }

    /// Allows to listen on, and to connect to, unix sockets in the folder of `path`.
    pub fn add_unix_socket(&mut self, path: &Path) {
        self.sockets.push(folder_of(path));
    }

    /// Allows to remove `path`, and with it all files in its folder.
    pub fn add_link(&mut self, path: &Path) {
        self.remove.push(folder_of(path));
    }
}

fn folder_of(file: &Path) -> PathBuf {
    file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")).into()
}

/// What is in force.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// The version of Landlock's rules that the kernel enforces for this thread and those to come.
    pub landlock_abi: Option<u32>,
    /// The list of system calls is in force.
    pub seccomp: bool,
    /// What is not in force, and why.
    pub not_applied: Vec<String>,
}

impl Applied {
    /// Adds what another step has applied.
    pub fn add(&mut self, other: Self) {
        self.landlock_abi = self.landlock_abi.or(other.landlock_abi);
        self.seccomp |= other.seccomp;
        self.not_applied.extend(other.not_applied);
    }

    /// One line for people.
    #[must_use]
    pub fn summary(&self) -> String {
        let files = self
            .landlock_abi
            .map_or("files not limited".into(), |abi| format!("files limited (Landlock {abi})"));
        let calls = if self.seccomp { "system calls limited" } else { "system calls not limited" };
        format!("{files}, {calls}")
    }

    /// # Errors
    /// [`ErrorKind::RealTime`] if something is not in force although `required`.
    pub fn enforce(&self, required: bool) -> Result<()> {
        if !required || self.not_applied.is_empty() {
            return Ok(());
        }
        Err(Error::list(
            ErrorKind::RealTime,
            "security.sandbox is \"required\", but this kernel cannot confine all of it; update \
             the kernel, or set security.sandbox = \"on\" to run with what it can:",
            &self.not_applied,
        ))
    }

    #[cfg_attr(
        all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")),
        allow(dead_code, reason = "other machines have no filter")
    )]
    fn without(what: &str) -> Self {
        Self { not_applied: vec![what.into()], ..Self::default() }
    }
}

/// Limits the files and TCP ports that the calling thread, and every thread that it starts later,
/// may open. What is open stays open. Without Landlock nothing happens, and the result names what
/// is missing.
///
/// Names in `allowed` that do not exist are passed over: they cannot be opened later either.
#[must_use]
pub fn confine_files(allowed: &Allowed) -> Applied {
    #[cfg(target_os = "linux")]
    return landlock_rules::restrict(allowed);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = allowed;
        Applied::without("files and ports: only Linux has Landlock")
    }
}

/// Limits the system calls of all threads of this process, and of every thread to come.
#[must_use]
pub fn confine_calls(allowed: &Allowed) -> Applied {
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    return filter::on_process(allowed);
    #[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
    {
        let _ = allowed;
        Applied::without(NO_LIST)
    }
}

/// [`confine_files`] for the calling thread, then [`confine_calls`] for all threads: for a process
/// that opens its endpoints later, or not again.
#[must_use]
pub fn confine_process(allowed: &Allowed) -> Applied {
    let mut applied = confine_files(allowed);
    applied.add(confine_calls(allowed));
    applied
}

/// Limits the system calls of the calling thread to those of the real-time loop, of its end, and of
/// a panic. It can open no file and no socket, so that it needs no limit of Landlock.
///
/// Call it after [`confine_calls`], which fails once threads have different filters. Only where the
/// loop publishes through its buffers: in lockstep it sends messages itself.
#[must_use]
pub fn confine_physics_thread() -> Applied {
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    return filter::on_physics_thread();
    #[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
    Applied::without(NO_LIST)
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
const NO_LIST: &str = "system calls: there is a list for Linux on x86-64 and aarch64 only";

/// What this kernel can apply: tries it on a thread that does nothing else.
#[must_use]
pub fn probe() -> Applied {
    let tried = std::thread::spawn(|| {
        let mut applied = confine_files(&Allowed::default());
        applied.add(confine_physics_thread());
        applied
    });
    tried.join().unwrap_or_default()
}
