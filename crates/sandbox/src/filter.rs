//! seccomp: which system calls exist.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp,
    SeccompCondition, SeccompFilter, SeccompRule, apply_filter, apply_filter_all_threads,
};

use crate::calls::{CallGroup, GROUPS, LIMITED, PHYSICS_CALLS};
use crate::{Allowed, Applied};

/// By number of the call: the ways in which it is allowed, or none for all.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

pub(crate) fn on_process(allowed: &Allowed) -> Applied {
    let applied = process_rules(allowed).and_then(compiled).map_err(Error::from);
    result("system calls", applied.and_then(|program| apply_filter_all_threads(&program)))
}

pub(crate) fn on_physics_thread() -> Applied {
    let applied = physics_rules().and_then(compiled).map_err(Error::from);
    result("physics thread", applied.and_then(|program| apply_filter(&program)))
}

fn result(what: &str, applied: Result<(), Error>) -> Applied {
    let not_applied = applied.err().map(|e| match e {
        Error::ThreadSync(thread) => {
            format!("{what}: thread {thread} has a filter of its own already")
        }
        other => format!("{what}: the kernel refused the filter ({other})"),
    });
    Applied {
        landlock_abi: None,
        seccomp: not_applied.is_none(),
        not_applied: not_applied.into_iter().collect(),
    }
}

/// A program that allows what `rules` list. Calls of another instruction set end the process.
fn compiled(rules: Rules) -> Result<BpfProgram, BackendError> {
    let missing = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let arch = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, missing, SeccompAction::Allow, arch)?.try_into()
}

fn unlimited(groups: &[CallGroup]) -> Rules {
    groups.iter().flat_map(CallGroup::numbers).map(|number| (number, Vec::new())).collect()
}

fn process_rules(allowed: &Allowed) -> Result<Rules, BackendError> {
    let mut rules = unlimited(GROUPS);
    for limited in LIMITED {
        let ways = ways(limited.call.1, allowed)?;
        // without a way the call does not exist
        if !ways.is_empty() {
            rules.insert(limited.call.1, ways);
        }
    }
    Ok(rules)
}

fn physics_rules() -> Result<Rules, BackendError> {
    let mut rules = unlimited(PHYSICS_CALLS);
    let nothing = Allowed::default();
    for number in [libc::SYS_mmap, libc::SYS_mprotect, libc::SYS_tgkill] {
        rules.insert(number, ways(number, &nothing)?);
    }
    for number in [libc::SYS_write, libc::SYS_writev] {
        rules.insert(number, any_of(0, [libc::STDERR_FILENO])?);
    }
    Ok(rules)
}

/// The ways in which a call of the table [`LIMITED`] is allowed.
fn ways(number: i64, allowed: &Allowed) -> Result<Vec<SeccompRule>, BackendError> {
    match number {
        libc::SYS_clone => threads(),
        libc::SYS_fcntl => any_of(1, FILE_COMMANDS),
        libc::SYS_ioctl => any_of(1, IOCTLS),
        libc::SYS_kill => {
            any_of(0, allowed.children.iter().flat_map(|&pid| [pid, pid.wrapping_neg()]))
        }
        libc::SYS_mmap | libc::SYS_mprotect => way([without(2, libc::PROT_EXEC)?]),
        libc::SYS_prctl => prctls(),
        libc::SYS_prlimit64 => way([is(0, 0)?, null(2)?]),
        libc::SYS_seccomp => way([is(0, libc::SECCOMP_SET_MODE_FILTER)?, null(1)?]),
        libc::SYS_sendto | libc::SYS_sendmmsg => way([without(3, libc::MSG_FASTOPEN)?]),
        libc::SYS_sendmsg => way([without(2, libc::MSG_FASTOPEN)?]),
        libc::SYS_socket => sockets(allowed),
        libc::SYS_socketpair => way([is(0, libc::AF_UNIX)?, of_type(libc::SOCK_STREAM)?]),
        libc::SYS_tgkill => way([is(0, std::process::id())?]),
        _ => Ok(Vec::new()),
    }
}

const FILE_COMMANDS: [i32; 5] =
    [libc::F_DUPFD_CLOEXEC, libc::F_GETFD, libc::F_GETFL, libc::F_SETFD, libc::F_SETFL];

/// TCGETS2 is how new versions of glibc ask whether a file is a terminal.
const IOCTLS: [libc::Ioctl; 7] = [
    libc::FIONBIO,
    libc::FIONREAD,
    libc::FIOCLEX,
    libc::FIONCLEX,
    libc::TCGETS,
    libc::TIOCGWINSZ,
    TCGETS2,
];
const TCGETS2: libc::Ioctl = 0x802c_542a_u32 as libc::Ioctl;

const NEW_NAMESPACES: i32 = libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWUTS;

/// Flags that a thread has; a process has none of the first two.
fn threads() -> Result<Vec<SeccompRule>, BackendError> {
    let thread = libc::CLONE_THREAD | libc::CLONE_VM;
    let mask = u64::from((thread | NEW_NAMESPACES).cast_unsigned());
    way([condition(0, SeccompCmpOp::MaskedEq(mask), thread)?])
}

/// PR_GET_AUXV is how Rust's libraries learn of the machine.
fn prctls() -> Result<Vec<SeccompRule>, BackendError> {
    const PR_GET_AUXV: i32 = 0x4155_5856;
    let names = [libc::PR_SET_NAME, libc::PR_GET_NAME, libc::PR_SET_NO_NEW_PRIVS, PR_GET_AUXV];
    let mut ways = any_of(0, names)?;
    ways.extend(way([is(0, libc::PR_CAP_AMBIENT)?, is(1, libc::PR_CAP_AMBIENT_CLEAR_ALL)?])?);
    Ok(ways)
}

fn sockets(allowed: &Allowed) -> Result<Vec<SeccompRule>, BackendError> {
    let mut ways = Vec::new();
    for family in [libc::AF_INET, libc::AF_INET6] {
        // 0 is TCP as well; MPTCP has rules of its own that Landlock's do not cover
        for protocol in [0, libc::IPPROTO_TCP] {
            let tcp = [is(0, family)?, of_type(libc::SOCK_STREAM)?, is(2, protocol)?];
            ways.extend(way(tcp)?);
        }
        if allowed.host_names || allowed.udp {
            ways.extend(way([is(0, family)?, of_type(libc::SOCK_DGRAM)?])?);
        }
    }
    if !allowed.sockets.is_empty() {
        ways.extend(way([is(0, libc::AF_UNIX)?, of_type(libc::SOCK_STREAM)?])?);
    }
    ways.extend(way([is(0, libc::AF_NETLINK)?, is(2, libc::NETLINK_ROUTE)?])?);
    Ok(ways)
}

/// One way: all `conditions` hold.
fn way(
    conditions: impl IntoIterator<Item = SeccompCondition>,
) -> Result<Vec<SeccompRule>, BackendError> {
    Ok(vec![SeccompRule::new(conditions.into_iter().collect())?])
}

/// A way for each value of the argument.
fn any_of<T: Into<Argument>>(
    argument: u8,
    values: impl IntoIterator<Item = T>,
) -> Result<Vec<SeccompRule>, BackendError> {
    let ways = values.into_iter().map(|value| SeccompRule::new(vec![is(argument, value)?]));
    ways.collect()
}

/// An argument whose upper half the kernel does not look at.
struct Argument(u32);

impl From<u32> for Argument {
    fn from(value: u32) -> Self {
        Self(value)
    }
}

impl From<i32> for Argument {
    fn from(value: i32) -> Self {
        Self(value.cast_unsigned())
    }
}

/// The kernel takes 32 bits of the number of an ioctl, which glibc passes as 64.
impl From<u64> for Argument {
    fn from(value: u64) -> Self {
        Self(value as u32)
    }
}

fn is(argument: u8, value: impl Into<Argument>) -> Result<SeccompCondition, BackendError> {
    condition(argument, SeccompCmpOp::Eq, value)
}

fn without(argument: u8, flag: i32) -> Result<SeccompCondition, BackendError> {
    condition(argument, SeccompCmpOp::MaskedEq(u64::from(flag.cast_unsigned())), 0)
}

/// The second argument is this type of socket, with flags.
fn of_type(kind: i32) -> Result<SeccompCondition, BackendError> {
    const TYPE_MASK: u64 = 0xf;
    condition(1, SeccompCmpOp::MaskedEq(TYPE_MASK), kind)
}

fn condition(
    argument: u8,
    how: SeccompCmpOp,
    value: impl Into<Argument>,
) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, how, value.into().0.into())
}

/// All 64 bits of the argument are 0.
fn null(argument: u8) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, 0)
}
