//! Named places where a test can make a thread panic or hang. Builds without debug assertions have
//! none.

/// `NAME:N`: the thread that passes the point `NAME` for the Nth time, the 2Nth, … panics.
/// `NAME:N:panics=K`: only the first K times.
/// `NAME:N:hang`: it never returns from there. `NAME:N:stall`: it stands still for 3 s.
/// `NAME:N:open=FILE`: it tries to read the file, as a thread that has been taken over would, and
/// prints what came of it.
#[cfg(debug_assertions)]
const VARIABLE: &str = "HARDSTAND_FAULT_POINT";

#[cfg(debug_assertions)]
static ARMED: std::sync::OnceLock<Option<(String, u64, Deed)>> = std::sync::OnceLock::new();
#[cfg(debug_assertions)]
static VISITS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

#[cfg(debug_assertions)]
enum Deed {
    /// At most so many times.
    Panic(u64),
    Hang,
    Stall,
    Open(std::path::PathBuf),
}

/// Reads the environment once, at start-up.
pub(crate) fn arm() {
    #[cfg(debug_assertions)]
    ARMED.get_or_init(|| {
        let value = std::env::var(VARIABLE).ok()?;
        let (name, every) = value.split_once(':')?;
        let (number, deed) = match every.split_once(':') {
            None => (every, Deed::Panic(u64::MAX)),
            Some((number, "hang")) => (number, Deed::Hang),
            Some((number, "stall")) => (number, Deed::Stall),
            Some((number, what)) if what.starts_with("panics=") => {
                (number, Deed::Panic(what.strip_prefix("panics=")?.parse().ok()?))
            }
            Some((number, open)) => (number, Deed::Open(open.strip_prefix("open=")?.into())),
        };
        Some((name.into(), number.parse::<u64>().ok()?.max(1), deed))
    });
}

/// Does at the point `name` what the environment asks for.
#[inline]
#[cfg_attr(
    debug_assertions,
    allow(clippy::panic, reason = "a test requests the panic by an environment variable")
)]
pub(crate) fn visit(name: &str) {
    #[cfg(debug_assertions)]
    if let Some(Some((armed, every, deed))) = ARMED.get()
        && armed == name
        && let visit = VISITS.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1
        && visit.is_multiple_of(*every)
    {
        match deed {
            Deed::Panic(times) if visit / every > *times => {}
            Deed::Panic(_) => panic!("fault point {name}"),
            Deed::Hang => loop {
                std::thread::park();
            },
            Deed::Stall => std::thread::sleep(std::time::Duration::from_secs(3)),
            Deed::Open(file) => {
                use std::io::Write as _;
                let what = std::fs::File::open(file)
                    .map_or_else(|e| e.kind().to_string(), |_| "opened".into());
                let _shown = writeln!(std::io::stderr(), "fault point {name}: {what}").is_ok();
            }
        }
    }
    #[cfg(not(debug_assertions))]
    let _no_fault_in_a_release = name;
}
