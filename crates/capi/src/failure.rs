//! Results, and the message of the last error.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use hardstand_client::{Error, ErrorKind, Result};

use crate::description::c_text;
use crate::names::{
    HARDSTAND_BUS, HARDSTAND_INCOMPLETE, HARDSTAND_INTERNAL, HARDSTAND_OK, HARDSTAND_REAL_TIME,
    HARDSTAND_REFUSED,
};

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// The message of the last error of this thread.
pub(crate) fn last() -> *const c_char {
    // when the thread ends, its message is gone
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

fn remember(message: &str) {
    let message = c_text(message);
    let _thread_ends = LAST.try_with(|last| *last.borrow_mut() = message);
}

/// An argument that is refused.
pub(crate) fn refused(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Input, message)
}

/// The result for C. No panic leaves this function.
pub(crate) fn guard(body: impl FnOnce() -> Result<i32>) -> i32 {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(code)) => code,
        Ok(Err(e)) => {
            remember(&e.to_string());
            number(e.kind())
        }
        Err(_panic) => {
            remember(
                "a defect of libhardstand: its message is on standard error; please report it",
            );
            HARDSTAND_INTERNAL
        }
    }
}

/// Likewise, of a function without a result of its own.
pub(crate) fn done(body: impl FnOnce() -> Result<()>) -> i32 {
    guard(|| body().map(|()| HARDSTAND_OK))
}

/// The exit code of `hardstand` for errors of this kind.
const fn number(kind: ErrorKind) -> i32 {
    match kind {
        ErrorKind::Input | ErrorKind::File => HARDSTAND_REFUSED,
        ErrorKind::Log => HARDSTAND_INCOMPLETE,
        ErrorKind::RealTime => HARDSTAND_REAL_TIME,
        ErrorKind::Bus => HARDSTAND_BUS,
        ErrorKind::Internal => HARDSTAND_INTERNAL,
    }
}

/// The text of a result.
pub(crate) const fn meaning(code: i32) -> &'static CStr {
    match code {
        HARDSTAND_OK => c"done",
        crate::names::HARDSTAND_NONE => c"nothing came in time",
        HARDSTAND_REFUSED => c"refused",
        HARDSTAND_INCOMPLETE => c"incomplete",
        HARDSTAND_REAL_TIME => c"real-time rights refused",
        HARDSTAND_BUS => c"no answer on the bus",
        HARDSTAND_INTERNAL => c"a defect of libhardstand",
        _ => c"unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::{HARDSTAND_INTERNAL, HARDSTAND_OK, LAST, done, guard, refused};

    fn message() -> String {
        LAST.with(|last| last.borrow().to_string_lossy().into_owned())
    }

    #[test]
    #[allow(clippy::panic, reason = "the panic that must not cross")]
    fn a_panic_becomes_a_result() {
        assert_eq!(guard(|| panic!("on purpose")), HARDSTAND_INTERNAL);
        assert!(message().starts_with("a defect of libhardstand"), "{}", message());
    }

    #[test]
    fn a_message_belongs_to_its_thread() {
        assert_eq!(done(|| Err(refused("n is 3"))), 2);
        let other = std::thread::spawn(message).join().unwrap_or_default();
        assert_eq!((message().as_str(), other.as_str()), ("n is 3", ""));
        assert_eq!(done(|| Ok(())), HARDSTAND_OK);
        assert_eq!(message(), "n is 3", "a success keeps the message");
    }
}
