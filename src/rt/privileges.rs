//! Privileges that the process gives up once the physics thread has what it needs.

use std::path::Path;

use rustix::fs::{Access, AtFlags, CWD, Mode, accessat};
use rustix::process::{geteuid, umask};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set, set_capabilities,
    set_no_new_privs,
};

/// Gives up the capabilities of the calling thread, and of all threads that it will start, for
/// good. With `log` in a folder that belongs to another user, root keeps the one capability that
/// writing needs (CAP_DAC_OVERRIDE); the result names it.
///
/// Each thread calls this for itself: it keeps its capabilities when another gives up its own.
pub fn drop_privileges(log: Option<&Path>) -> Option<String> {
    let _no_program_gains_rights = set_no_new_privs(true).is_ok();
    let _no_ambient = clear_ambient_capability_set().is_ok();
    let had = capabilities(None).map_or(CapabilitySet::empty(), |sets| sets.permitted);
    // without any capability in effect, the kernel answers what can be written without them
    keep(CapabilitySet::empty(), had);
    let foreign = log.filter(|path| geteuid().is_root() && !may_write(path));
    let wanted = foreign.map_or(CapabilitySet::empty(), |_| CapabilitySet::DAC_OVERRIDE);
    let kept = had & wanted;
    keep(kept, kept);
    foreign.filter(|_| !kept.is_empty()).map(|path| {
        format!("CAP_DAC_OVERRIDE, for the log {} in a folder that is not root's", path.display())
    })
}

fn keep(effective: CapabilitySet, permitted: CapabilitySet) {
    let inheritable = CapabilitySet::empty();
    let sets = CapabilitySets { effective, permitted, inheritable };
    let _given_up = set_capabilities(None, sets).is_ok();
}

/// Files of this process are for its user and group only.
pub fn keep_files_private() {
    let _before = umask(Mode::RWXO | Mode::WGRP);
}

/// True if the rights in force allow to create or overwrite `path`.
#[must_use]
pub fn may_write(path: &Path) -> bool {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let allows = |path: &Path, access| accessat(CWD, path, access, AtFlags::EACCESS).is_ok();
    let exists = path.symlink_metadata().is_ok();
    allows(folder, Access::WRITE_OK | Access::EXEC_OK)
        && (!exists || allows(path, Access::WRITE_OK))
}
