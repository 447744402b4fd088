//! Landlock: which files and TCP ports may be opened.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, LandlockStatus, NetPort, PathBeneath, PathFd,
    RestrictionStatus, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _,
    RulesetError, Scope,
};

use crate::{Allowed, Applied};

/// The newest version of the rules that is asked for. Older kernels enforce what they have.
const NEWEST: ABI = ABI::V9;

/// What each version of the rules adds, for the versions that add something that is used here.
const SINCE: [(u32, &str); 6] = [
    (1, "files may be opened anywhere: Landlock is not in this kernel or not switched on (`lsm=`)"),
    (3, "a file that may only be read may be cut: Landlock 3 (Linux 6.2) prevents it"),
    (4, "TCP ports are not limited: Landlock 4 (Linux 6.7) limits them"),
    (5, "devices below a readable folder take ioctl: Landlock 5 (Linux 6.10) refuses it"),
    (6, "abstract unix sockets can be reached: Landlock 6 (Linux 6.12) prevents it"),
    (9, "other unix sockets can be connected to: Landlock 9 (Linux 7.1) prevents it"),
];

/// What libraries read about the machine, and this process about itself.
const MACHINE: [&str; 4] =
    ["/proc/self", "/proc/sys/vm/overcommit_memory", "/sys/devices/system/cpu", "/sys/fs/cgroup"];

/// What the resolver of host names reads.
const RESOLVER: [&str; 6] = [
    "/etc/gai.conf",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/resolv.conf",
    "/etc/services",
];

const DNS_PORT: u16 = 53;

pub(crate) fn restrict(allowed: &Allowed) -> Applied {
    match restricted(allowed) {
        Ok(status) => of_status(&status, allowed),
        Err(e) => {
            let text = format!("files and ports: the kernel refused Landlock's rules ({e})");
            Applied { not_applied: vec![text], ..Applied::default() }
        }
    }
}

fn restricted(allowed: &Allowed) -> Result<RestrictionStatus, RulesetError> {
    let mut rules = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(scopes(allowed))?
        .create()?;
    let machine = MACHINE.iter().map(PathBuf::from).chain(std::env::current_exe());
    let resolver = RESOLVER.iter().filter(|_| allowed.host_names).map(PathBuf::from);
    for path in machine.chain(resolver).chain(allowed.read.iter().cloned()) {
        rules = beneath(rules, &path, AccessFs::ReadFile | AccessFs::ReadDir)?;
    }
    for folder in &allowed.write {
        rules = beneath(rules, folder, in_log_folder())?;
    }
    for folder in &allowed.sockets {
        rules = beneath(rules, folder, in_socket_folder())?;
    }
    for folder in &allowed.remove {
        rules = beneath(rules, folder, AccessFs::RemoveFile.into())?;
    }
    for &port in &allowed.bind_ports {
        rules = rules.add_rule(NetPort::new(port, AccessNet::BindTcp | AccessNet::ConnectTcp))?;
    }
    let dns = allowed.host_names.then_some(DNS_PORT);
    for port in allowed.connect_ports.iter().copied().chain(dns) {
        rules = rules.add_rule(NetPort::new(port, AccessNet::ConnectTcp))?;
    }
    rules.restrict_self()
}

fn in_log_folder() -> BitFlags<AccessFs> {
    AccessFs::ReadFile
        | AccessFs::ReadDir
        | AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::MakeReg
        | AccessFs::RemoveFile
}

/// zenoh makes a lock beside its socket, which it opens to read only.
fn in_socket_folder() -> BitFlags<AccessFs> {
    AccessFs::ReadFile
        | AccessFs::MakeReg
        | AccessFs::MakeSock
        | AccessFs::RemoveFile
        | AccessFs::ResolveUnix
}

/// Landlock knows no single process that may be sent signals: with child processes, the list of
/// system calls limits signals alone.
fn scopes(allowed: &Allowed) -> BitFlags<Scope> {
    let sockets = BitFlags::from_flag(Scope::AbstractUnixSocket);
    if allowed.children.is_empty() { sockets | Scope::Signal } else { sockets }
}

/// Allows `access` below `path`; nothing if it cannot be opened, now and then.
fn beneath(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let Ok(opened) = PathFd::new(path) else { return Ok(rules) };
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(NEWEST) };
    rules.add_rule(PathBeneath::new(opened, access))
}

fn of_status(status: &RestrictionStatus, allowed: &Allowed) -> Applied {
    let abi = match status.landlock {
        LandlockStatus::Available { effective_abi, .. } => effective_abi as u32,
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => 0,
    };
    let newest = NEWEST as u32;
    let missing = SINCE.iter().filter(|(since, _)| *since > abi);
    // without sockets of its own the process cannot make one of that family
    let missing = missing.filter(|(since, _)| *since != newest || !allowed.sockets.is_empty());
    let missing = missing.take(if abi == 0 { 1 } else { SINCE.len() });
    Applied {
        landlock_abi: Some(abi.min(newest)).filter(|&abi| abi > 0),
        seccomp: false,
        not_applied: missing.map(|(_, text)| (*text).into()).collect(),
    }
}
