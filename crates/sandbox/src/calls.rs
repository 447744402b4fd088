//! The system calls that the daemon uses, by what it needs them for. Found with strace in runs with
//! log, controller, operator and lost connections, with the variants that other versions of glibc,
//! Rust and tokio use for the same.

/// A system call: its name and number.
pub(crate) type Call = (&'static str, i64);

/// System calls with one purpose, which are allowed with all arguments.
#[derive(Clone, Copy, Debug)]
pub struct CallGroup {
    /// What they are for.
    pub purpose: &'static str,
    calls: &'static [Call],
    /// Older forms of the same that only x86-64 has.
    #[cfg(target_arch = "x86_64")]
    calls_x86_64: &'static [Call],
}

/// A system call that is allowed with some arguments only.
#[derive(Clone, Copy, Debug)]
pub struct LimitedCall {
    /// The call.
    pub(crate) call: Call,
    /// What is allowed.
    pub limit: &'static str,
}

impl CallGroup {
    /// Names of the calls that each machine has.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.calls.iter().map(|(name, _)| without_prefix(name))
    }

    /// Names of the calls that x86-64 has beside them.
    #[cfg(target_arch = "x86_64")]
    pub fn names_x86_64(&self) -> impl Iterator<Item = &'static str> {
        self.calls_x86_64.iter().map(|(name, _)| without_prefix(name))
    }

    pub(crate) fn numbers(&self) -> impl Iterator<Item = i64> {
        #[cfg(target_arch = "x86_64")]
        let older = self.calls_x86_64;
        #[cfg(not(target_arch = "x86_64"))]
        let older: &[Call] = &[];
        self.calls.iter().chain(older).map(|(_, number)| *number)
    }
}

impl LimitedCall {
    /// Name of the call.
    #[must_use]
    pub fn name(&self) -> &'static str {
        without_prefix(self.call.0)
    }
}

fn without_prefix(name: &'static str) -> &'static str {
    name.strip_prefix("SYS_").unwrap_or(name)
}

macro_rules! calls {
    ($($name:ident)*) => { &[$((stringify!($name), libc::$name)),*] };
}

macro_rules! group {
    ($purpose:literal, $($name:ident)*) => { group!($purpose, $($name)* ;) };
    ($purpose:literal, $($name:ident)* ; $($older:ident)*) => {
        CallGroup {
            purpose: $purpose,
            calls: calls!($($name)*),
            #[cfg(target_arch = "x86_64")]
            calls_x86_64: calls!($($older)*),
        }
    };
}

macro_rules! limited {
    ($($name:ident: $limit:literal,)*) => {
        &[$(LimitedCall { call: (stringify!($name), libc::$name), limit: $limit }),*]
    };
}

/// What all threads of the daemon may call.
pub const GROUPS: &[CallGroup] = &[
    group!("memory", SYS_brk SYS_madvise SYS_mlockall SYS_mremap SYS_munlock SYS_munmap),
    group!(
        "threads and locks",
        SYS_exit SYS_exit_group SYS_futex SYS_getpid SYS_gettid SYS_membarrier SYS_restart_syscall
        SYS_rseq SYS_rt_sigaction SYS_rt_sigprocmask SYS_rt_sigreturn SYS_sched_getaffinity
        SYS_sched_getparam SYS_sched_getscheduler SYS_sched_yield SYS_set_robust_list
        SYS_set_tid_address SYS_sigaltstack
    ),
    group!(
        "time",
        SYS_clock_getres SYS_clock_gettime SYS_clock_nanosleep SYS_gettimeofday SYS_nanosleep;
        SYS_time
    ),
    group!(
        "files that are open",
        SYS_close SYS_fallocate SYS_fdatasync SYS_flock SYS_fstat SYS_fsync SYS_ftruncate SYS_lseek
        SYS_pread64 SYS_pwrite64 SYS_read SYS_readv SYS_write SYS_writev
    ),
    group!(
        "names of files; Landlock decides which",
        SYS_faccessat SYS_faccessat2 SYS_getcwd SYS_getdents64 SYS_newfstatat SYS_openat
        SYS_readlinkat SYS_renameat SYS_renameat2 SYS_statx SYS_unlinkat;
        SYS_access SYS_lstat SYS_open SYS_readlink SYS_rename SYS_stat SYS_unlink
    ),
    group!(
        "waiting for input",
        SYS_epoll_create1 SYS_epoll_ctl SYS_epoll_pwait SYS_epoll_pwait2 SYS_eventfd2 SYS_pipe2
        SYS_ppoll SYS_pselect6;
        SYS_epoll_wait SYS_poll SYS_select
    ),
    group!(
        "connections; Landlock decides which",
        SYS_accept SYS_accept4 SYS_bind SYS_connect SYS_getpeername SYS_getsockname SYS_getsockopt
        SYS_listen SYS_recvfrom SYS_recvmmsg SYS_recvmsg SYS_setsockopt SYS_shutdown
    ),
    group!(
        "about the process and its children",
        SYS_getegid SYS_geteuid SYS_getgid SYS_getrandom SYS_getrusage SYS_getuid SYS_sysinfo
        SYS_uname SYS_wait4 SYS_waitid
    ),
    group!(
        "giving up more rights",
        SYS_capget SYS_capset SYS_landlock_add_rule SYS_landlock_create_ruleset
        SYS_landlock_restrict_self
    ),
];

/// What they may call with some arguments only.
pub const LIMITED: &[LimitedCall] = limited! {
    SYS_clone: "threads of this process; clone3, whose arguments no filter sees, does not exist",
    SYS_fcntl: "flags and duplicates of file descriptors",
    SYS_ioctl: "non-blocking input, and the size of the terminal; never input to a terminal",
    SYS_kill: "child processes that were started before",
    SYS_mmap: "memory that cannot be executed",
    SYS_mprotect: "memory that cannot be executed",
    SYS_prctl: "names of threads, and giving up rights",
    SYS_prlimit64: "reading limits of this process",
    SYS_seccomp: "one more filter",
    SYS_sendmmsg: "on connections: no connection by TCP Fast Open",
    SYS_sendmsg: "on connections: no connection by TCP Fast Open",
    SYS_sendto: "on connections: no connection by TCP Fast Open",
    SYS_socket: "TCP; unix streams if an endpoint is one; UDP if a peer has a host name, and for \
                 DDS; the list of network interfaces",
    SYS_socketpair: "unix streams",
    SYS_tgkill: "threads of this process",
};

/// What the physics thread may call. Of the limited ones, the limits are those above; `write` and
/// `writev` go to standard error only.
pub const PHYSICS_CALLS: &[CallGroup] = &[
    group!(
        "the loop",
        SYS_clock_gettime SYS_clock_nanosleep SYS_restart_syscall SYS_rt_sigreturn
    ),
    group!(
        "wake-ups outside real time, the end of the thread, a panic",
        SYS_brk SYS_exit SYS_exit_group SYS_futex SYS_getpid SYS_getrandom SYS_gettid SYS_madvise
        SYS_mremap SYS_munmap SYS_rt_sigaction SYS_rt_sigprocmask SYS_sched_yield SYS_sigaltstack
    ),
];
