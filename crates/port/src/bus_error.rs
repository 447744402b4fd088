//! Mapped memory whose file another process has cut.
//!
//! The next access to it would end this process by SIGBUS. The handler puts memory of this process
//! in the place of the mapping, as libwayland does for the buffers of its clients: the access goes
//! on, and the owner of the mapping sees that it is lost. Other bus errors go to the handler that
//! was there before.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};

/// Mappings of one process.
const MOST: usize = 16;
static WATCHED: [Watched; MOST] = [const { Watched::free() }; MOST];
/// What was there before the handler.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// A mapping that the handler knows.
#[derive(Debug)]
pub(crate) struct Watched {
    /// Its address; 0 if the place is free.
    start: AtomicUsize,
    /// Its length, 0 while it changes.
    bytes: AtomicUsize,
    lost: AtomicBool,
}

impl Watched {
    const fn free() -> Self {
        let lost = AtomicBool::new(false);
        Self { start: AtomicUsize::new(0), bytes: AtomicUsize::new(0), lost }
    }

    /// A place for a mapping of so many bytes at this address.
    pub(crate) fn claim(start: usize, bytes: usize) -> std::io::Result<&'static Self> {
        install()?;
        let is_claimed = |watched: &&Self| {
            watched.start.compare_exchange(0, start, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        };
        let Some(watched) = WATCHED.iter().find(is_claimed) else {
            let text = format!("this process has {MOST} such files open, which is the most");
            return Err(std::io::Error::new(std::io::ErrorKind::QuotaExceeded, text));
        };
        watched.lost.store(false, Ordering::Relaxed);
        watched.bytes.store(bytes, Ordering::Release);
        Ok(watched)
    }

    /// The mapping goes.
    pub(crate) fn release(&self) {
        self.bytes.store(0, Ordering::Release);
        self.start.store(0, Ordering::Release);
    }

    /// Whether memory of this process is in its place.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// The file is in its place again.
    pub(crate) fn found(&self) {
        self.lost.store(false, Ordering::Release);
    }

    fn holds(&self, address: usize) -> bool {
        let bytes = self.bytes.load(Ordering::Acquire);
        address.wrapping_sub(self.start.load(Ordering::Acquire)) < bytes
    }

    #[allow(unsafe_code, reason = "mmap")]
    fn replace(&self) -> bool {
        let bytes = self.bytes.load(Ordering::Acquire);
        let start = self.start.load(Ordering::Acquire) as *mut c_void;
        let (access, kind) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: these pages are a mapping that its owner has until `release`, and accesses as
        // atomic words only; a signal handler may make this call, which only calls the kernel
        let put = unsafe { mmap_anonymous(start, bytes, access, kind | MapFlags::FIXED) };
        self.lost.store(put.is_ok(), Ordering::Release);
        put.is_ok()
    }
}

#[allow(unsafe_code, reason = "sigaction")]
fn install() -> std::io::Result<()> {
    static INSTALLED: OnceLock<i32> = OnceLock::new();
    let error = *INSTALLED.get_or_init(|| {
        // SAFETY: zeros are an action: the default, without flags and with an empty mask
        let [mut action, mut before] = unsafe { std::mem::zeroed::<[libc::sigaction; 2]>() };
        action.sa_sigaction = on_bus_error as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: both are whole, and the handler has the signature that SA_SIGINFO asks for
        let done = unsafe { libc::sigaction(libc::SIGBUS, &raw const action, &raw mut before) };
        let _first = BEFORE.set(before).is_ok();
        if done == 0 { 0 } else { std::io::Error::last_os_error().raw_os_error().unwrap_or(1) }
    });
    if error == 0 { Ok(()) } else { Err(std::io::Error::from_raw_os_error(error)) }
}

#[allow(unsafe_code, reason = "a signal handler")]
extern "C" fn on_bus_error(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a whole `siginfo_t`
    let address = unsafe { (*info).si_addr() } as usize;
    let watched = WATCHED.iter().find(|watched| watched.holds(address));
    if watched.is_some_and(Watched::replace) {
        return;
    }
    let before = BEFORE.get();
    match before.map_or(libc::SIG_DFL, |before| before.sa_sigaction) {
        // the access comes again, and ends the process
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: the default is an action
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        handler if before.is_some_and(|before| before.sa_flags & libc::SA_SIGINFO != 0) => {
            type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
            // SAFETY: a handler with SA_SIGINFO has this signature
            let handler = unsafe { std::mem::transmute::<usize, Handler>(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: a handler without SA_SIGINFO has this signature
            let handler = unsafe { std::mem::transmute::<usize, extern "C" fn(c_int)>(handler) };
            handler(signal);
        }
    }
}
