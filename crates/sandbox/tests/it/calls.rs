//! System calls that do not exist for a confined process.

use std::io;
use std::process::Command;

use libc::ENOSYS;

use crate::child::{Parent, Sandbox};
use crate::outcome::{Attempt, attempt, call, check_refused};

const ABSENT: &[i32] = &[ENOSYS];

/// Calls that are tried with arguments that no kernel takes: without the sandbox they fail for that
/// reason, and change nothing.
const WITH_INVALID_ARGUMENTS: &[(&str, i64)] = &[
    ("acct", libc::SYS_acct),
    ("add_key", libc::SYS_add_key),
    ("adjtimex", libc::SYS_adjtimex),
    ("bpf", libc::SYS_bpf),
    ("chroot", libc::SYS_chroot),
    ("clock_settime", libc::SYS_clock_settime),
    ("clone3", libc::SYS_clone3),
    ("copy_file_range", libc::SYS_copy_file_range),
    ("delete_module", libc::SYS_delete_module),
    ("dup3", libc::SYS_dup3),
    ("execve", libc::SYS_execve),
    ("execveat", libc::SYS_execveat),
    ("fanotify_init", libc::SYS_fanotify_init),
    ("finit_module", libc::SYS_finit_module),
    ("fsopen", libc::SYS_fsopen),
    ("get_mempolicy", libc::SYS_get_mempolicy),
    ("init_module", libc::SYS_init_module),
    ("io_setup", libc::SYS_io_setup),
    ("io_uring_enter", libc::SYS_io_uring_enter),
    ("io_uring_register", libc::SYS_io_uring_register),
    ("io_uring_setup", libc::SYS_io_uring_setup),
    ("kcmp", libc::SYS_kcmp),
    ("keyctl", libc::SYS_keyctl),
    ("move_mount", libc::SYS_move_mount),
    ("memfd_create", libc::SYS_memfd_create),
    ("mount", libc::SYS_mount),
    ("msgget", libc::SYS_msgget),
    ("name_to_handle_at", libc::SYS_name_to_handle_at),
    ("open_by_handle_at", libc::SYS_open_by_handle_at),
    ("open_tree", libc::SYS_open_tree),
    ("openat2", libc::SYS_openat2),
    ("perf_event_open", libc::SYS_perf_event_open),
    ("pidfd_getfd", libc::SYS_pidfd_getfd),
    ("pidfd_open", libc::SYS_pidfd_open),
    ("pidfd_send_signal", libc::SYS_pidfd_send_signal),
    ("pivot_root", libc::SYS_pivot_root),
    ("process_vm_readv", libc::SYS_process_vm_readv),
    ("process_vm_writev", libc::SYS_process_vm_writev),
    ("ptrace", libc::SYS_ptrace),
    ("reboot", libc::SYS_reboot),
    ("request_key", libc::SYS_request_key),
    ("rt_sigqueueinfo", libc::SYS_rt_sigqueueinfo),
    ("sched_setaffinity", libc::SYS_sched_setaffinity),
    ("sched_setscheduler", libc::SYS_sched_setscheduler),
    ("setgroups", libc::SYS_setgroups),
    ("sethostname", libc::SYS_sethostname),
    ("setns", libc::SYS_setns),
    ("setpriority", libc::SYS_setpriority),
    ("shmat", libc::SYS_shmat),
    ("splice", libc::SYS_splice),
    ("swapon", libc::SYS_swapon),
    ("tkill", libc::SYS_tkill),
    ("umount2", libc::SYS_umount2),
    ("unshare", libc::SYS_unshare),
    ("vmsplice", libc::SYS_vmsplice),
];

pub fn attempts() -> Vec<Attempt> {
    let mut all: Vec<Attempt> = WITH_INVALID_ARGUMENTS
        .iter()
        .map(|&(name, number)| attempt(name, ABSENT, move |_| raw(number, [-1; 5])))
        .collect();
    all.extend(programs_and_processes());
    all.extend(rights_and_memory());
    all
}

fn raw(number: i64, arguments: [i64; 5]) -> io::Result<()> {
    call(number, arguments).map(drop)
}

fn programs_and_processes() -> Vec<Attempt> {
    vec![
        attempt("start a program", ABSENT, |_| Command::new("/bin/true").status().map(drop)),
        attempt("run a shell", ABSENT, |_| {
            Command::new("/bin/sh").arg("-c").arg(":").status().map(drop)
        }),
        // without CLONE_VM, a flag that a thread needs, no kernel makes one
        attempt("fork", ABSENT, |_| raw(libc::SYS_clone, [libc::CLONE_THREAD.into(), 0, 0, 0, 0])),
        attempt("a thread in a new namespace", ABSENT, |_| {
            let flags = libc::CLONE_THREAD | libc::CLONE_VM | libc::CLONE_NEWUSER;
            raw(libc::SYS_clone, [flags.into(), 0, 0, 0, 0])
        }),
        attempt("signal to another process", ABSENT, |p| {
            raw(libc::SYS_kill, [p.sleeper.into(), 0, 0, 0, 0])
        }),
        attempt("signal to the parent", ABSENT, |p| {
            raw(libc::SYS_kill, [p.parent.into(), 0, 0, 0, 0])
        }),
        attempt("signal to all processes", ABSENT, |_| raw(libc::SYS_kill, [-1, 0, 0, 0, 0])),
        attempt("signal to a thread of another process", ABSENT, |p| {
            raw(libc::SYS_tgkill, [p.sleeper.into(), p.sleeper.into(), 0, 0, 0])
        }),
        attempt("limits of another process", ABSENT, |p| {
            raw(libc::SYS_prlimit64, [p.sleeper.into(), libc::RLIMIT_NOFILE.into(), 0, 0, 0])
        }),
        attempt("own limits", ABSENT, |_| {
            let limit = libc::rlimit { rlim_cur: 512, rlim_max: 1024 };
            let limit = std::ptr::from_ref(&limit) as i64;
            raw(libc::SYS_prlimit64, [0, libc::RLIMIT_NOFILE.into(), limit, 0, 0])
        }),
    ]
}

fn rights_and_memory() -> Vec<Attempt> {
    let map = |protection: i32| {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        call(libc::SYS_mmap, [0, 4096, protection.into(), flags.into(), -1])
    };
    vec![
        attempt("setuid", ABSENT, |_| raw(libc::SYS_setuid, [user(libc::SYS_getuid), 0, 0, 0, 0])),
        attempt("setresuid", ABSENT, |_| raw(libc::SYS_setresuid, [-1; 5])),
        attempt("setgid", ABSENT, |_| raw(libc::SYS_setgid, [user(libc::SYS_getgid), 0, 0, 0, 0])),
        attempt("personality", ABSENT, |_| raw(libc::SYS_personality, [0xffff_ffff, 0, 0, 0, 0])),
        attempt("userfaultfd", ABSENT, |_| raw(libc::SYS_userfaultfd, [1, 0, 0, 0, 0])),
        attempt("traceable by others", ABSENT, |_| {
            raw(libc::SYS_prctl, [libc::PR_SET_DUMPABLE.into(), 1, 0, 0, 0])
        }),
        attempt("ambient capability", ABSENT, |_| {
            let raise = libc::PR_CAP_AMBIENT_IS_SET.into();
            raw(libc::SYS_prctl, [libc::PR_CAP_AMBIENT.into(), raise, 0, 0, 0])
        }),
        attempt("seccomp with a listener", ABSENT, |_| {
            let flag = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER as i64;
            raw(libc::SYS_seccomp, [libc::SECCOMP_SET_MODE_FILTER.into(), flag, 0, 0, 0])
        }),
        attempt("input to a terminal", ABSENT, |_| {
            raw(libc::SYS_ioctl, [0, libc::TIOCSTI as i64, 0, 0, 0])
        }),
        attempt("signals by a file", ABSENT, |_| {
            raw(libc::SYS_fcntl, [0, libc::F_SETOWN.into(), 0, 0, 0])
        }),
        attempt("memory with code", ABSENT, move |_| {
            map(libc::PROT_READ | libc::PROT_EXEC).map(drop)
        }),
        attempt("memory that becomes code", ABSENT, move |_| {
            let at = map(libc::PROT_READ | libc::PROT_WRITE)?;
            let code = i64::from(libc::PROT_READ | libc::PROT_EXEC);
            raw(libc::SYS_mprotect, [at, 4096, code, 0, 0])
        }),
    ]
}

fn user(number: i64) -> i64 {
    call(number, [0; 5]).unwrap()
}

#[test]
fn a_call_that_is_not_listed_does_not_exist() {
    check_refused("calls", Sandbox::All, &attempts());
}

/// Calls of 32-bit programs have other numbers.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "no library makes such a call")]
pub fn call_of_32_bits() -> Vec<Attempt> {
    vec![attempt("call of 32 bits", ABSENT, |_| {
        let mut result = 20_i64;
        // SAFETY: number 20 of i386 is getpid, which takes nothing and changes nothing.
        unsafe { std::arch::asm!("int 0x80", inout("rax") result) };
        if result > 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::EINVAL)) }
    })]
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_call_of_32_bits_ends_the_process() {
    use std::os::unix::process::ExitStatusExt as _;
    let parent = Parent::new();
    let before = parent.output("32 bits", Sandbox::None).status;
    if before.signal().is_some() {
        println!("SKIPPED: this kernel runs no programs of 32 bits");
        return;
    }
    let out = parent.output("32 bits", Sandbox::All);
    assert_eq!(out.status.signal(), Some(libc::SIGSYS), "{out:?}");
}

#[test]
fn landlock_alone_keeps_signals_inside() {
    let seen = Parent::new().run("calls", Sandbox::FilesOnly);
    if !seen.not_applied.contains("Landlock 6") {
        assert_eq!(seen.error("signal to another process"), libc::EPERM);
    }
}

#[test]
fn a_child_that_is_named_can_be_signalled_and_no_other_process() {
    let seen = Parent::new().run("calls", Sandbox::Wide);
    assert_eq!(seen.error("signal to another process"), 0);
    assert_eq!(seen.error("signal to the parent"), ENOSYS);
    assert_eq!(seen.error("signal to all processes"), ENOSYS);
}
