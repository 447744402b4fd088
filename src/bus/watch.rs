//! Asks the bus again and again whether it still answers, as a client would notice.

use std::io::ErrorKind as IoError;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use hardstand_error::{Result, no_thread};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{Shutdown, shutdown};
use zenoh::sample::Locality;
use zenoh::{Session, Wait};
use zenoh_runtime::ZRuntime;

use super::{Bus, Keys, transport_metrics};
use crate::fault_point;

/// Time between two questions.
const PERIOD: Duration = Duration::from_secs(2);
/// Longest wait for each part of an answer.
const PATIENCE: Duration = Duration::from_secs(3);

const RUNTIMES: [ZRuntime; 5] =
    [ZRuntime::Application, ZRuntime::Acceptor, ZRuntime::TX, ZRuntime::RX, ZRuntime::Net];

/// A thread that asks, and counts the answers. It stops asking when the bus does not answer at all;
/// then the count stands still.
#[derive(Debug)]
pub struct Watch {
    thread: JoinHandle<()>,
    stop: Sender<()>,
    answers: Arc<AtomicU64>,
    twin: Arc<AtomicBool>,
}

impl Watch {
    /// Asks `bus`, which listens on the endpoints `listen`.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`](hardstand_error::ErrorKind::Bus) if the thread cannot be started.
    pub fn start(bus: &Bus, keys: &Keys, listen: &[String]) -> Result<Self> {
        let (stop, stopped) = bounded(1);
        let answers = Arc::new(AtomicU64::new(0));
        let question = Question {
            session: bus.session.clone(),
            key: keys.status.clone(),
            listen: listen.to_vec(),
        };
        let (count, twin) = (Arc::clone(&answers), Arc::<AtomicBool>::default());
        let found = Arc::clone(&twin);
        let thread = std::thread::Builder::new()
            .name("bus-watch".into())
            .spawn(move || question.repeat(&stopped, &count, &found))
            .map_err(|e| no_thread("bus-watch", &e))?;
        Ok(Self { thread, stop, answers, twin })
    }

    /// Answers since the start.
    #[must_use]
    pub fn answers(&self) -> u64 {
        self.answers.load(Ordering::Relaxed)
    }

    /// True if another daemon has answered, too: it simulates a robot of the same name.
    #[must_use]
    pub fn has_twin(&self) -> bool {
        self.twin.load(Ordering::Relaxed)
    }

    /// Ends the thread.
    pub fn finish(self) {
        drop(self.stop);
        let _ended = self.thread.join().is_ok();
    }
}

struct Question {
    session: Session,
    key: String,
    listen: Vec<String>,
}

impl Question {
    fn repeat(&self, stopped: &Receiver<()>, answers: &AtomicU64, twin: &AtomicBool) {
        loop {
            fault_point::visit("watch");
            if self.is_answered() {
                answers.fetch_add(1, Ordering::Relaxed);
            }
            if !twin.load(Ordering::Relaxed) && self.has_status(Locality::Remote) {
                twin.store(true, Ordering::Relaxed);
            }
            if stopped.recv_timeout(PERIOD) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    }

    /// True if each endpoint accepts, each of zenoh's runtimes works, and the status is there.
    ///
    /// A session of its own would ask for the same, but needs credentials and a place among the
    /// sessions, which a client may have taken.
    fn is_answered(&self) -> bool {
        self.listen.iter().all(|endpoint| accepts(endpoint))
            && runtimes_work()
            && self.has_status(Locality::SessionLocal)
    }

    fn has_status(&self, of: Locality) -> bool {
        let get = self.session.get(&self.key).allowed_destination(of);
        let reply = get.timeout(PATIENCE).wait().map(|replies| replies.recv_timeout(PATIENCE));
        matches!(reply, Ok(Ok(Some(reply))) if reply.result().is_ok())
    }
}

/// True if every runtime begins a task in time.
fn runtimes_work() -> bool {
    let (done, begun) = bounded(RUNTIMES.len());
    for runtime in RUNTIMES {
        let done = done.clone();
        runtime.spawn(async move { _ = done.send(()).is_ok() });
    }
    RUNTIMES.iter().all(|_| begun.recv_timeout(PATIENCE).is_ok())
}

/// True if a listener takes a connection, and closes it when nothing more comes. True as well if
/// the endpoint cannot be reached for another reason than that it is gone: a lost network is no
/// fault of the bus.
fn accepts(endpoint: &str) -> bool {
    let endpoint = endpoint.split(['?', '#']).next().unwrap_or_default();
    // before the connection, because zenoh may see its end before this thread goes on
    transport_metrics::expect_probe();
    let connected = match endpoint.split_once('/') {
        Some(("unixsock-stream", path)) => UnixStream::connect(path).map(OwnedFd::from),
        // port 0: the system has chosen one
        Some((_, address)) if !address.ends_with(":0") => connect(address),
        _ => Err(IoError::AddrNotAvailable.into()),
    };
    let gone = [IoError::ConnectionRefused, IoError::NotFound];
    match connected {
        Ok(stream) => wait_for_end(&stream).is_ok(),
        Err(e) => {
            transport_metrics::end_probe();
            !gone.contains(&e.kind())
        }
    }
}

fn connect(address: &str) -> std::io::Result<OwnedFd> {
    let mut result = Err(IoError::AddrNotAvailable.into());
    for address in address.to_socket_addrs()? {
        result = TcpStream::connect_timeout(&address, PATIENCE);
        if result.is_ok() {
            break;
        }
    }
    result.map(OwnedFd::from)
}

/// Says that nothing more comes, and reads until the other side closes.
///
/// # Errors
/// Those of the system, among them `EAGAIN` if the other side does not close in time.
fn wait_for_end(stream: &OwnedFd) -> rustix::io::Result<()> {
    set_socket_timeout(stream, Timeout::Recv, Some(PATIENCE))?;
    match shutdown(stream, Shutdown::Write) {
        // closed already
        Err(Errno::NOTCONN) => return Ok(()),
        result => result?,
    }
    let mut farewell = [0; 1024];
    for _ in 0..8 {
        match rustix::io::read(stream, &mut farewell) {
            Ok(0) | Err(Errno::CONNRESET) => break,
            Ok(_) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}
