//! The number of files that the process may open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use hardstand_error::{Error, ErrorKind, Result};

/// Sees to it that `needed` files can be open: the hard limit becomes the limit if the latter is
/// lower. Without enough of them zenoh's threads panic.
///
/// # Errors
/// [`ErrorKind::Bus`] if the hard limit is lower, too.
pub fn allow_open_files(needed: u64) -> Result<()> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let suffices = |limit: Option<u64>| limit.is_none_or(|limit| limit >= needed);
    if suffices(current) {
        return Ok(());
    }
    let raised = Rlimit { current: maximum, maximum };
    if suffices(maximum) && setrlimit(Resource::Nofile, raised).is_ok() {
        return Ok(());
    }
    let limit = maximum.or(current).unwrap_or(u64::MAX);
    Err(Error::new(
        ErrorKind::Bus,
        format!(
            "this process may open {limit} files, and needs {needed}: raise the limit (`ulimit -n \
             {needed}`, LimitNOFILE= of systemd), or lower bus.sessions_max, of which each takes \
             one file"
        ),
    ))
}
