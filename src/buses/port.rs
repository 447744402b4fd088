//! Where the master connects: a pseudo-terminal, or a TCP port.

use std::io::ErrorKind as IoErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pty::OpenptFlags;
use rustix::termios::OptionalActions;

use crate::config::BusPort;
use hardstand_error::{Error, ErrorKind, Result};

/// An open port.
#[derive(Debug)]
pub(super) enum Port {
    /// The daemon's end of a pseudo-terminal, and the master's end, which stays open between
    /// masters so that neither settings nor bytes are lost.
    Pty { own: OwnedFd, _masters: OwnedFd },
    /// A listening socket, and the one master that is connected.
    Tcp { listener: TcpListener, stream: Option<TcpStream> },
}

/// What came of a look at the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// So many bytes, perhaps none.
    Bytes(usize),
    /// A master has connected, which expects a greeting.
    Connected,
}

impl Port {
    /// Opens the port.
    ///
    /// # Errors
    /// [`ErrorKind::File`] for a pseudo-terminal or its link, [`ErrorKind::Bus`] for a TCP port.
    pub(super) fn open(port: &BusPort) -> Result<Self> {
        match port {
            BusPort::Pty(link) => Self::open_pty(link).map_err(|e| {
                let link = link.display();
                Error::new(ErrorKind::File, format!("pseudo-terminal for {link}: {e}"))
            }),
            BusPort::Tcp(address) => Self::listen(*address).map_err(|e| {
                Error::new(ErrorKind::Bus, format!("cannot listen on {address} for a bus: {e}"))
            }),
        }
    }

    fn open_pty(link: &Path) -> std::io::Result<Self> {
        let own = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        rustix::pty::grantpt(&own)?;
        rustix::pty::unlockpt(&own)?;
        let name = rustix::pty::ptsname(&own, Vec::new())?;
        let masters = rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty())?;
        let mut settings = rustix::termios::tcgetattr(&masters)?;
        settings.make_raw();
        rustix::termios::tcsetattr(&masters, OptionalActions::Now, &settings)?;
        rustix::fs::fcntl_setfl(&own, OFlags::NONBLOCK)?;
        replace_link(link, &name.to_string_lossy())?;
        Ok(Self::Pty { own, _masters: masters })
    }

    fn listen(address: SocketAddr) -> std::io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self::Tcp { listener, stream: None })
    }

    fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Pty { own, .. } => own.as_fd(),
            Self::Tcp { stream: Some(stream), .. } => stream.as_fd(),
            Self::Tcp { listener, .. } => listener.as_fd(),
        }
    }

    /// Waits for input, at most for `patience`; true if there is some.
    pub(super) fn wait(&self, patience: Duration) -> bool {
        let Ok(timeout) = Timespec::try_from(patience) else { return false };
        let mut waits = [PollFd::from_borrowed_fd(self.fd(), PollFlags::IN)];
        poll(&mut waits, Some(&timeout)).is_ok_and(|ready| ready > 0)
    }

    /// Reads what is there. A master that has gone makes room for the next one.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Input {
        if let Self::Tcp { listener, stream: stream @ None } = self {
            let Ok((accepted, _)) = listener.accept() else { return Input::Bytes(0) };
            let ready = accepted.set_nonblocking(true).and_then(|()| accepted.set_nodelay(true));
            if ready.is_err() {
                return Input::Bytes(0);
            }
            *stream = Some(accepted);
            return Input::Connected;
        }
        match rustix::io::read(self.fd(), buffer) {
            Ok(count) if count > 0 => Input::Bytes(count),
            Err(Errno::AGAIN | Errno::INTR) => Input::Bytes(0),
            // the end of a connection, or an error that only a new one can mend
            _ => {
                if let Self::Tcp { stream, .. } = self {
                    *stream = None;
                }
                Input::Bytes(0)
            }
        }
    }

    /// Writes; the bytes that were not taken are lost, as in an adapter. Their number.
    pub(super) fn write(&self, bytes: &[u8]) -> usize {
        if bytes.is_empty() || matches!(self, Self::Tcp { stream: None, .. }) {
            return 0;
        }
        bytes.len() - rustix::io::write(self.fd(), bytes).unwrap_or(0)
    }
}

/// Makes `link` point to `target`. What is there already may only be a symbolic link.
fn replace_link(link: &Path, target: &str) -> std::io::Result<()> {
    match std::fs::symlink_metadata(link) {
        Ok(found) if found.is_symlink() => std::fs::remove_file(link)?,
        Ok(_) => {
            let text = "there is a file already that is no symbolic link";
            return Err(std::io::Error::new(IoErrorKind::AlreadyExists, text));
        }
        Err(e) if e.kind() == IoErrorKind::NotFound => {}
        Err(e) => return Err(e),
    }
    std::os::unix::fs::symlink(target, link)
}
