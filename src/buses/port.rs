//! Where the master connects: a pseudo-terminal, a TCP port, or a network interface.
//!
//! A TCP port has one master. A connection that has sent no frame for [`MASTER_SILENT`] makes room
//! for the next one; while it sends, others are refused. Both get the reason.

use std::io::ErrorKind as IoErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pty::OpenptFlags;
use rustix::termios::OptionalActions;

use crate::config::{BusPort, BusWire, MotorBus};
use hardstand_error::{Error, ErrorKind, Result};

use super::can;
use super::ethernet::{self, Cable};

/// A master whose last frame is older than this, or that has sent none since it connected, makes
/// room for another one.
const MASTER_SILENT: Duration = Duration::from_secs(2);
/// What a connection gets before the daemon closes it, as socketcand words it.
const REPLACED: &[u8] = b"< error another master has connected >";
const REFUSED: &[u8] = b"< error the bus has another master >";

/// An open port.
#[derive(Debug)]
pub(super) enum Port {
    Pty(Pty),
    Tcp(Tcp),
    Ethernet(Cable),
    Can(Cable),
}

/// A pseudo-terminal behind a symbolic link.
#[derive(Debug)]
pub(super) struct Pty {
    own: OwnedFd,
    /// The master's end, which stays open between masters so that neither settings nor bytes are
    /// lost.
    _masters: OwnedFd,
    link: PathBuf,
    name: String,
}

/// A listening socket, and the one master that is connected.
#[derive(Debug)]
pub(super) struct Tcp {
    listener: TcpListener,
    master: Option<TcpStream>,
    /// When the master sent its last frame, or connected.
    heard: Instant,
    replaced: u64,
    refused: u64,
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
    pub(super) fn open(bus: &MotorBus, cable: Option<Cable>) -> Result<Self> {
        match &bus.port {
            BusPort::Pty(link) => Self::open_pty(link).map_err(|e| {
                let link = link.display();
                Error::new(ErrorKind::File, format!("pseudo-terminal for {link}: {e}"))
            }),
            BusPort::Tcp(address) => Self::listen(*address).map_err(|e| {
                Error::new(ErrorKind::Bus, format!("cannot listen on {address} for a bus: {e}"))
            }),
            BusPort::Interface(name) => {
                let missing = || Error::new(ErrorKind::Internal, format!("no socket for {name}"));
                let can = bus.wire == BusWire::Socketcan;
                cable.map(if can { Self::Can } else { Self::Ethernet }).ok_or_else(missing)
            }
        }
    }

    fn open_pty(link: &Path) -> std::io::Result<Self> {
        // before another pseudo-terminal can have the number of the dead one
        remove_dead_link(link)?;
        let own = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        rustix::pty::grantpt(&own)?;
        rustix::pty::unlockpt(&own)?;
        let name = rustix::pty::ptsname(&own, Vec::new())?;
        let masters = rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty())?;
        let mut settings = rustix::termios::tcgetattr(&masters)?;
        settings.make_raw();
        rustix::termios::tcsetattr(&masters, OptionalActions::Now, &settings)?;
        rustix::fs::fcntl_setfl(&own, OFlags::NONBLOCK)?;
        let name = name.to_string_lossy().into_owned();
        std::os::unix::fs::symlink(&name, link)?;
        Ok(Self::Pty(Pty { own, _masters: masters, link: link.into(), name }))
    }

    fn listen(address: SocketAddr) -> std::io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let heard = Instant::now();
        Ok(Self::Tcp(Tcp { listener, master: None, heard, replaced: 0, refused: 0 }))
    }

    fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Pty(pty) => pty.own.as_fd(),
            Self::Ethernet(cable) | Self::Can(cable) => cable.as_fd(),
            Self::Tcp(Tcp { master: Some(master), .. }) => master.as_fd(),
            Self::Tcp(Tcp { listener, .. }) => listener.as_fd(),
        }
    }

    /// Waits for input, at most for `patience`; true if there is some.
    pub(super) fn wait(&self, patience: Duration) -> bool {
        let Ok(timeout) = Timespec::try_from(patience) else { return false };
        let next = match self {
            Self::Pty(pty) => pty.own.as_fd(),
            Self::Ethernet(cable) | Self::Can(cable) => cable.as_fd(),
            Self::Tcp(tcp) => tcp.listener.as_fd(),
        };
        let mut waits = [self.fd(), next].map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        poll(&mut waits, Some(&timeout)).is_ok_and(|ready| ready > 0)
    }

    /// Reads what is there. A master that has gone makes room for the next one.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Input {
        if let Self::Tcp(tcp) = self
            && tcp.accept()
        {
            return Input::Connected;
        }
        if matches!(self, Self::Tcp(Tcp { master: None, .. })) {
            return Input::Bytes(0);
        }
        match rustix::io::read(self.fd(), buffer) {
            Ok(count) if count > 0 => Input::Bytes(count),
            Err(Errno::AGAIN | Errno::INTR) => Input::Bytes(0),
            // the end of a connection, or an error that only a new one can mend
            _ => {
                if let Self::Tcp(tcp) = self {
                    tcp.master = None;
                }
                Input::Bytes(0)
            }
        }
    }

    /// The master has sent a frame.
    pub(super) fn note_frame(&mut self, now: Instant) {
        if let Self::Tcp(tcp) = self {
            tcp.heard = now;
        }
    }

    /// Masters that made room for another one, and those that were refused.
    pub(super) fn counts(&self) -> [(&'static str, u64); 2] {
        let (replaced, refused) = match self {
            Self::Pty(_) | Self::Ethernet(_) | Self::Can(_) => (0, 0),
            Self::Tcp(tcp) => (tcp.replaced, tcp.refused),
        };
        [("masters_replaced", replaced), ("masters_refused", refused)]
    }

    /// Writes; the bytes that were not taken are lost, as in an adapter. Their number.
    pub(super) fn write(&self, bytes: &[u8]) -> usize {
        if bytes.is_empty() || matches!(self, Self::Tcp(Tcp { master: None, .. })) {
            return 0;
        }
        if let Self::Ethernet(cable) = self {
            return ethernet::write(cable.as_fd(), bytes);
        }
        if let Self::Can(cable) = self {
            return can::write(cable.as_fd(), bytes);
        }
        bytes.len() - rustix::io::write(self.fd(), bytes).unwrap_or(0)
    }
}

impl Tcp {
    /// Takes the next connection, if there is one and it may have the bus.
    fn accept(&mut self) -> bool {
        let Ok((next, _)) = self.listener.accept() else { return false };
        if next.set_nonblocking(true).and_then(|()| next.set_nodelay(true)).is_err() {
            return false;
        }
        if let Some(master) = &self.master {
            if self.heard.elapsed() < MASTER_SILENT {
                self.refused += 1;
                tell(&next, REFUSED);
                return false;
            }
            self.replaced += 1;
            tell(master, REPLACED);
        }
        self.master = Some(next);
        self.heard = Instant::now();
        true
    }
}

/// Tells a connection why it ends, if there is room.
fn tell(connection: &TcpStream, why: &[u8]) {
    let _when_there_is_room = rustix::io::write(connection, why).is_ok();
}

impl Drop for Pty {
    /// Removes the link, unless it points elsewhere now.
    fn drop(&mut self) {
        if std::fs::read_link(&self.link).is_ok_and(|target| target == Path::new(&self.name)) {
            let _as_far_as_allowed = std::fs::remove_file(&self.link).is_ok();
        }
    }
}

/// Removes the link that a daemon left behind which was killed: one to a pseudo-terminal that is
/// gone. Anything else is refused.
fn remove_dead_link(link: &Path) -> std::io::Result<()> {
    let refuse = |text: String| Err(std::io::Error::new(IoErrorKind::AlreadyExists, text));
    match std::fs::symlink_metadata(link) {
        Ok(found) if found.is_symlink() => {}
        Ok(_) => return refuse("there is a file already that is no symbolic link".into()),
        Err(e) if e.kind() == IoErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(e),
    }
    let target = std::fs::read_link(link)?;
    let shown = target.display();
    if !target.starts_with("/dev/pts") {
        let text = "which no daemon has made; remove it, or choose another path";
        return refuse(format!("there is a symbolic link already, to {shown}, {text}"));
    }
    if target.symlink_metadata().is_ok() {
        let text = "which another program has open; end that, or remove the link";
        return refuse(format!("there is a symbolic link already, to {shown}, {text}"));
    }
    std::fs::remove_file(link)
}
