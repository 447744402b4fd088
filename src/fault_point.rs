//! Named places where a test can make a thread panic or hang. Builds without debug assertions have
//! none.

/// `NAME:N`: the thread that passes the point `NAME` for the Nth time, the 2Nth, … panics.
/// `NAME:N:hang`: it never returns from there.
#[cfg(debug_assertions)]
const VARIABLE: &str = "HARDSTAND_FAULT_POINT";

#[cfg(debug_assertions)]
static ARMED: std::sync::OnceLock<Option<(String, u64, bool)>> = std::sync::OnceLock::new();
#[cfg(debug_assertions)]
static VISITS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

/// Reads the environment once, at start-up.
pub(crate) fn arm() {
    #[cfg(debug_assertions)]
    ARMED.get_or_init(|| {
        let value = std::env::var(VARIABLE).ok()?;
        let (name, every) = value.split_once(':')?;
        let number = every.strip_suffix(":hang").unwrap_or(every);
        Some((name.into(), number.parse::<u64>().ok()?.max(1), number != every))
    });
}

/// Panics or hangs if the environment asks for it at the point `name`.
#[inline]
#[cfg_attr(
    debug_assertions,
    allow(clippy::panic, reason = "a test requests the panic by an environment variable")
)]
pub(crate) fn visit(name: &str) {
    #[cfg(debug_assertions)]
    if let Some(Some((armed, every, hang))) = ARMED.get()
        && armed == name
        && (VISITS.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1).is_multiple_of(*every)
    {
        if *hang {
            loop {
                std::thread::park();
            }
        }
        panic!("fault point {name}");
    }
    #[cfg(not(debug_assertions))]
    let _no_fault_in_a_release = name;
}
