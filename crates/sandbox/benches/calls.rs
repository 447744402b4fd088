//! Time of system calls under each filter: `cargo bench -p hardstand-sandbox`.

#![allow(clippy::print_stdout, reason = "it prints what it has measured")]

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn main() {
    use hardstand_sandbox::{Allowed, Applied, confine_calls, confine_physics_thread};
    // `cargo test --benches` runs each benchmark once, to see that it works
    let rounds = if std::env::args().any(|a| a == "--bench") { 50_000 } else { 100 };
    let nothing = Applied::default;
    println!("ns a call                    clock_nanosleep   fcntl   write");
    for (name, confine) in [
        ("no filter", &nothing as &(dyn Fn() -> Applied + Sync)),
        ("the thread's filter", &confine_physics_thread),
        ("no filter, again", &nothing),
        ("the process's filter", &|| confine_calls(&Allowed::default())),
        ("both filters", &confine_physics_thread),
    ] {
        let work = || {
            let applied = confine();
            assert!(applied.not_applied.is_empty(), "{applied:?}");
            measured::all(rounds)
        };
        // joined: the filter of a thread that still ends would be another than the process's
        let times = std::thread::scope(|s| s.spawn(work).join());
        let [sleep, fcntl, write] = times.unwrap_or([f64::NAN; 3]);
        println!("{name:<28} {sleep:>15.0} {fcntl:>7.0} {write:>7.0}");
    }
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn main() {}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod measured {
    use std::time::Instant;

    use rustix::thread::{ClockId, clock_nanosleep_absolute};
    use rustix::time::Timespec;

    /// A time that the kernel refuses at once.
    const NO_TIME: Timespec = Timespec { tv_sec: 0, tv_nsec: 2_000_000_000 };

    /// The fastest of 31 rounds, ns a call: other programs only add to it.
    pub(super) fn all(rounds: u32) -> [f64; 3] {
        let stderr = std::io::stderr();
        [
            fastest(rounds, || {
                assert!(clock_nanosleep_absolute(ClockId::Monotonic, &NO_TIME).is_err());
            }),
            // the physics thread's filter refuses this one
            fastest(rounds, || _ = rustix::io::fcntl_getfd(&stderr).is_ok()),
            fastest(rounds, || _ = rustix::io::write(&stderr, &[]).is_ok()),
        ]
    }

    fn fastest(rounds: u32, call: impl Fn()) -> f64 {
        let round = || {
            let begin = Instant::now();
            (0..rounds).for_each(|_| call());
            begin.elapsed().as_nanos() as f64 / f64::from(rounds)
        };
        (0..31).map(|_| round()).fold(f64::INFINITY, f64::min)
    }
}
