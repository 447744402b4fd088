//! What may be at the path of a unix socket before zenoh listens there: it removes the file.

use std::fs::File;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use hardstand_error::{Error, ErrorKind, Result};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use crate::rt::may_write;

/// Checks that `endpoint` can be opened without loss to another program.
///
/// # Errors
/// [`ErrorKind::Bus`] if the folder does not exist or is not writable, or if something is at the
/// path that is neither a socket without a listener nor zenoh's lock.
pub(super) fn check_listen_path(endpoint: &str) -> Result<()> {
    let address = endpoint.split(['?', '#']).next().unwrap_or_default();
    let Some(path) = address.strip_prefix("unixsock-stream/").map(Path::new) else { return Ok(()) };
    let refused = |why: String| {
        let text = format!("cannot listen on {endpoint}: {why}");
        Err(Error::new(ErrorKind::Bus, text))
    };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty())
        && !folder.exists()
    {
        return refused(format!(
            "the folder {} does not exist; make it, or choose another path with --set bus.listen",
            folder.display()
        ));
    }
    if !may_write(path) {
        let user = rustix::process::geteuid().as_raw();
        return refused(format!(
            "user {user} must be able to make and replace files there without root's rights, which \
             are given up at the start; choose another folder with --set bus.listen, or see \
             `namei -l {}`",
            path.display()
        ));
    }
    let mut lock = path.as_os_str().to_owned();
    lock.push(".lock");
    let lock = PathBuf::from(lock);
    // the lock first: a daemon that holds it sees no connection
    let found = lock_in_use(&lock).map(|what| (lock, what));
    match found.or_else(|| socket_in_use(path).map(|what| (path.into(), what))) {
        None => Ok(()),
        Some((path, what)) => {
            refused(format!("{} {what}; choose another path with --set bus.listen", path.display()))
        }
    }
}

/// What is at the path of the lock, unless it is an empty file that no program has locked. zenoh
/// makes it and removes it; a killed daemon leaves it behind.
fn lock_in_use(path: &Path) -> Option<String> {
    let found = path.symlink_metadata().ok()?;
    if !found.is_file() || found.len() > 0 {
        return Some("is no lock of an earlier daemon and would be removed".into());
    }
    match File::open(path).map(|file| flock(&file, FlockOperation::NonBlockingLockShared)) {
        Ok(Ok(())) => None,
        Ok(Err(Errno::WOULDBLOCK)) => Some("is locked: another daemon runs".into()),
        Ok(Err(e)) => Some(format!("cannot be locked ({e})")),
        Err(e) => Some(format!("cannot be read ({e})")),
    }
}

/// What is at the path, unless it is a socket on which no program listens.
fn socket_in_use(path: &Path) -> Option<String> {
    let found = path.symlink_metadata().ok()?;
    if !found.file_type().is_socket() {
        return Some("is no socket and would be removed".into());
    }
    // a listener whose queue is full must not hold up the start
    let connected = SocketAddrUnix::new(path).and_then(|address| {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        connect(&socket, &address)
    });
    match connected {
        Err(Errno::CONNREFUSED) => None,
        Ok(()) => Some("is the socket of a program that listens".into()),
        Err(e) => Some(format!("may be the socket of a program that listens ({e})")),
    }
}
