//! What the process gives up once it has its rights: a robot's commander needs none of root's.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::Mode;
use rustix::process::{geteuid, umask};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set, set_capabilities,
    set_no_new_privs,
};

/// Gives up the capabilities of the calling thread, and of all threads that it will start, for
/// good. With `log` in a folder of somebody else's, root keeps the one right that writing needs
/// (CAP_DAC_OVERRIDE); the answer says so.
///
/// Called where all rights have been used: threads keep what they have when another gives up its.
pub fn drop_privileges(log: Option<&Path>) -> Option<String> {
    let _no_program_gains_rights = set_no_new_privs(true).is_ok();
    let foreign = log.filter(|path| geteuid().is_root() && !root_may_write(path));
    let wanted = foreign.map_or(CapabilitySet::empty(), |_| CapabilitySet::DAC_OVERRIDE);
    let had = capabilities(None).map_or(CapabilitySet::empty(), |sets| sets.permitted);
    let kept = had & wanted;
    let _no_ambient = clear_ambient_capability_set().is_ok();
    let sets =
        CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    let _given_up = set_capabilities(None, sets).is_ok();
    foreign.filter(|_| !kept.is_empty()).map(|path| {
        format!("CAP_DAC_OVERRIDE, for the log {} in a folder that is not root's", path.display())
    })
}

/// Files of this process are for its user and group only.
pub fn keep_files_private() {
    let _before = umask(Mode::RWXO | Mode::WGRP);
}

/// True if root needs no special right to create or overwrite `path`.
fn root_may_write(path: &Path) -> bool {
    const OWNER_WRITES: u32 = 0o200;
    const OTHERS_WRITE: u32 = 0o002;
    let by_mode = |path: &Path| {
        let need = |m: &std::fs::Metadata| if m.uid() == 0 { OWNER_WRITES } else { OTHERS_WRITE };
        std::fs::metadata(path).map(|m| m.mode() & need(&m) != 0)
    };
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    by_mode(folder).unwrap_or(true) && by_mode(path).unwrap_or(true)
}
