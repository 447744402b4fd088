//! What signals do to a command.

use std::io::Read as _;
use std::ops::RangeInclusive;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use signal_hook::SigId;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::low_level::{self, pipe};

use crate::daemon::Happening;
use hardstand_error::{Error, ErrorKind, Result, no_thread};

/// Signals that end a process by default and mean nothing to a daemon, which has no use for them. A
/// daemon outlives its terminal (SIGHUP). SIGXFSZ is no matter of daemons alone, see `main`.
const HARMLESS: [Signal; 7] = [
    Signal::HUP,
    Signal::USR1,
    Signal::USR2,
    Signal::ALARM,
    Signal::VTALARM,
    Signal::PROF,
    Signal::IO,
];
/// The real-time signals that programs may use.
const REAL_TIME: RangeInclusive<i32> = 34..=64;
/// Signals that announce the end: the limit of CPU time, and the end of power.
const LAST_WARNING: [Signal; 2] = [Signal::XCPU, Signal::POWER];
/// Signals that come within this time are one request: `timeout` sends SIGTERM to its child and to
/// its group, and after Ctrl-C a launcher may pass on what its children have received, too.
const ONE_REQUEST: Duration = Duration::from_millis(100);

/// A flag that SIGINT and SIGTERM set, and the end of the terminal (SIGHUP) unless `nohup` has
/// switched that off; a second request ends the process at once.
///
/// # Errors
/// [`ErrorKind::Internal`] if the system does not take the handlers, [`ErrorKind::Bus`] if it
/// starts no thread.
pub(super) fn stop_on_signal() -> Result<Arc<AtomicBool>> {
    let stop = Arc::default();
    end_at_second_request()?;
    for signal in [SIGINT, SIGTERM] {
        register(signal, &stop)?;
    }
    if !is_ignored(Signal::HUP) {
        register(Signal::HUP.as_raw(), &stop)?;
    }
    Ok(stop)
}

/// Whether this process ignores a signal, as its parent may have decided.
fn is_ignored(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal.as_raw() - 1) & 1 == 1
}

/// How signals end a process with a log: SIGINT, SIGTERM, SIGXCPU and SIGPWR ask it to stop, and of
/// the other signals only those end it that dump core or cannot be handled.
pub(super) struct DaemonStop {
    asked: Arc<AtomicBool>,
    second: Arc<Mutex<Second>>,
}

/// Whether a second signal ends the process at once.
#[derive(Default)]
struct Second {
    /// Runs that have begun.
    runs: u64,
    handlers: Vec<SigId>,
}

impl DaemonStop {
    pub(super) fn on_signal() -> Result<Self> {
        let asked = Arc::default();
        for signal in [Signal::INT, Signal::TERM].into_iter().chain(LAST_WARNING) {
            register(signal.as_raw(), &asked)?;
        }
        for signal in HARMLESS.map(Signal::as_raw).into_iter().chain(REAL_TIME) {
            register(signal, &Arc::default())?;
        }
        let stop = Self { asked, second: Arc::default() };
        lock(&stop.second).handlers = end_at_second(&Arc::default())?;
        Ok(stop)
    }

    /// Set by a signal; may be set to end the run.
    pub(super) const fn asked(&self) -> &Arc<AtomicBool> {
        &self.asked
    }

    /// To be called with all that happens in runs. While one goes on, any number of signals is one
    /// request. Before it begins, and a while after it ends, a second signal ends the process.
    pub(super) fn see(&self, happening: &Happening<'_>) {
        match happening {
            Happening::Ready(..) => {
                let mut second = lock(&self.second);
                second.runs += 1;
                for id in second.handlers.drain(..) {
                    low_level::unregister(id);
                }
            }
            Happening::Ending => {
                let (asked, second) = (Arc::clone(&self.asked), Arc::clone(&self.second));
                let run = lock(&second).runs;
                let wait = move || {
                    thread::sleep(ONE_REQUEST);
                    let mut second = lock(&second);
                    if second.runs == run && second.handlers.is_empty() {
                        let asked = AtomicBool::new(asked.load(Ordering::Relaxed));
                        second.handlers = end_at_second(&Arc::new(asked)).unwrap_or_default();
                    }
                };
                // without it, a run ends in its own time
                drop(thread::Builder::new().name("signals".into()).spawn(wait));
            }
            _ => {}
        }
    }
}

fn lock(second: &Mutex<Second>) -> MutexGuard<'_, Second> {
    second.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on SIGINT and SIGTERM set `asked`; if it is set, they end the process.
fn end_at_second(asked: &Arc<AtomicBool>) -> Result<Vec<SigId>> {
    let mut handlers = Vec::new();
    for signal in [SIGINT, SIGTERM] {
        let end = flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(asked));
        handlers.push(end.map_err(signal_error)?);
        handlers.push(register(signal, asked)?);
    }
    Ok(handlers)
}

/// From now on SIGINT or SIGTERM ends the process if one of them came longer than
/// [`ONE_REQUEST`] before. A handler cannot wait, so a thread does.
fn end_at_second_request() -> Result<()> {
    let (mut first, wake) = UnixStream::pair().map_err(signal_error)?;
    let armed: Arc<AtomicBool> = Arc::default();
    for signal in [SIGINT, SIGTERM] {
        let end = flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&armed));
        end.map_err(signal_error)?;
        let wake = wake.try_clone().map_err(signal_error)?;
        pipe::register(signal, wake).map_err(signal_error)?;
    }
    let arm = move || {
        while first.read_exact(&mut [0]).is_ok() {
            thread::sleep(ONE_REQUEST);
            armed.store(true, Ordering::Relaxed);
        }
    };
    let started = thread::Builder::new().name("signals".into()).spawn(arm);
    started.map(drop).map_err(|e| no_thread("signals", &e))
}

fn register(signal: i32, flag: &Arc<AtomicBool>) -> Result<SigId> {
    flag::register(signal, Arc::clone(flag)).map_err(signal_error)
}

#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
fn signal_error(e: std::io::Error) -> Error {
    Error::new(ErrorKind::Internal, format!("signal handler: {e}"))
}
