//! Attempts, and system calls by number.

use std::io;

use crate::child::{Parent, Place, Sandbox};

/// One thing to try.
pub struct Attempt {
    pub name: String,
    /// Error numbers, one of which a confined process must get.
    pub refused: &'static [i32],
    pub run: Box<Try>,
}

type Try = dyn Fn(&Place) -> io::Result<()>;

pub fn attempt(
    name: &str,
    refused: &'static [i32],
    run: impl Fn(&Place) -> io::Result<()> + 'static,
) -> Attempt {
    Attempt { name: name.into(), refused, run: Box::new(run) }
}

/// The error number of a result; 0 for success.
pub fn errno_of(result: io::Result<()>) -> i32 {
    result.err().map_or(0, |e| e.raw_os_error().unwrap_or(-1))
}

/// A system call with up to five arguments.
#[allow(unsafe_code, reason = "the only way to make a call that no library makes")]
pub fn call(number: i64, arguments: [i64; 5]) -> io::Result<i64> {
    let [a, b, c, d, e] = arguments;
    // SAFETY: callers pass numbers, or addresses of values that outlive the call; the kernel checks
    // addresses and reports those that are not mapped.
    let result = unsafe { libc::syscall(number, a, b, c, d, e, 0_i64) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Runs `attempts` without the sandbox and with it: only the second process may be refused.
pub fn check_refused(group: &str, sandbox: Sandbox, attempts: &[Attempt]) {
    let free = Parent::new();
    let free = free.run(group, Sandbox::None);
    let confined = Parent::new();
    let confined = confined.run(group, sandbox);
    let mut checked = 0;
    for Attempt { name, refused, .. } in attempts {
        let (before, after) = (free.error(name), confined.error(name));
        if group == "calls" && before == libc::ENOSYS {
            println!("SKIPPED {name}: this kernel does not have it");
            continue;
        }
        checked += 1;
        // a call with invalid arguments shows that it exists by another error
        assert!(
            !refused.contains(&before),
            "{name} fails without the sandbox, too: error {before}"
        );
        assert!(refused.contains(&after), "{name}: error {after}, not one of {refused:?}");
    }
    assert!(checked * 5 >= attempts.len() * 4, "{checked} of {} attempts", attempts.len());
}
