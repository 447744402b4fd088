//! Pointers from C.
#![allow(unsafe_code, reason = "texts and arrays of C are pointers")]

use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;
use std::sync::{Mutex, MutexGuard, TryLockError};

use hardstand_client::{Error, ErrorKind, Result};

use crate::failure::refused;

/// What a pointer points to; `what` is its name in the message.
pub(super) fn given<T>(pointer: Option<T>, what: &str) -> Result<T> {
    pointer.ok_or_else(|| refused(format!("{what} is NULL")))
}

/// Likewise, a place for a handle, which is null until there is one.
pub(super) fn place<'a, T>(
    out: Option<&'a mut MaybeUninit<*mut T>>,
    what: &str,
) -> Result<&'a mut *mut T> {
    Ok(given(out, what)?.write(std::ptr::null_mut()))
}

/// A text of C; `None` for null.
///
/// # Safety
/// `pointer` is null, or points to a text that ends with a zero byte and holds for `'a`.
pub(super) unsafe fn text<'a>(pointer: *const c_char, what: &str) -> Result<Option<&'a str>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: as the caller promises
    let text = unsafe { CStr::from_ptr(pointer) };
    let text = text.to_str().map_err(|e| refused(format!("{what} is not UTF-8: {e}")))?;
    Ok(Some(text))
}

/// Likewise, and null is refused.
///
/// # Safety
/// As [`text`].
pub(super) unsafe fn needed<'a>(pointer: *const c_char, what: &str) -> Result<&'a str> {
    // SAFETY: as the caller promises
    given(unsafe { text(pointer, what) }?, what)
}

/// An array of C.
///
/// # Safety
/// `pointer` is null, or points to `n` elements that hold for `'a`.
pub(super) unsafe fn array<'a, T>(pointer: *const T, n: usize, what: &str) -> Result<&'a [T]> {
    if n == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() {
        return Err(refused(format!("{what} is NULL, and its length is {n}")));
    }
    if !pointer.is_aligned() || n > isize::MAX as usize / size_of::<T>().max(1) {
        return Err(refused(format!("{what}: {n} elements at {pointer:p} cannot be an array")));
    }
    // SAFETY: neither null nor out of line nor too long; the rest as the caller promises
    Ok(unsafe { std::slice::from_raw_parts(pointer, n) })
}

/// The inside of a handle that has one user at a time.
pub(super) fn seize<'a, T>(inside: &'a Mutex<T>, what: &str) -> Result<MutexGuard<'a, T>> {
    inside.try_lock().map_err(|e| match e {
        TryLockError::WouldBlock => refused(format!(
            "another thread is in a call with this {what}: it has one user at a time"
        )),
        TryLockError::Poisoned(_) => Error::new(
            ErrorKind::Internal,
            format!("an earlier call with this {what} met a defect of libhardstand: free it"),
        ),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::{array, seize, text};

    #[test]
    fn null_and_impossible_arrays_are_refused() {
        let numbers = [1.0_f64, 2.0];
        let start = numbers.as_ptr();
        let askew = start.cast::<u8>().wrapping_add(1).cast::<f64>();
        // SAFETY: two elements are there; the others are refused before they are read
        let (two, null, long, askew) = unsafe {
            let long = array(start, usize::MAX, "x").is_err();
            let null = array::<f64>(std::ptr::null(), 1, "x").is_err();
            (array(start, 2, "x"), null, long, array(askew, 1, "x").is_err())
        };
        assert_eq!((two.ok(), null, long, askew), (Some(&numbers[..]), true, true, true));
    }

    #[test]
    fn texts_are_utf_8_or_refused() {
        // SAFETY: each ends with a zero byte
        let texts = unsafe { [text(c"a".as_ptr(), "x").ok(), text(c"\xff".as_ptr(), "x").ok()] };
        assert_eq!(texts, [Some(Some("a")), None]);
    }

    #[test]
    fn a_second_user_is_refused() {
        let inside = Mutex::new(());
        let first = seize(&inside, "controller");
        assert!(first.is_ok() && seize(&inside, "controller").is_err());
    }
}
