//! What a host of the WebAssembly module calls: `reserve`, then bytes into memory, then `replay` or
//! `cases`; the answer is `text_len()` bytes of UTF-8 at `text()`.

use std::cell::RefCell;

use hardstand::Result;

thread_local! {
    static BYTES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static TEXT: RefCell<String> = const { RefCell::new(String::new()) };
}

fn answer(result: Result<String>) -> u32 {
    let is_equal = u32::from(result.is_ok());
    let text = result.unwrap_or_else(|e| e.to_string());
    TEXT.with_borrow_mut(|t| *t = text);
    is_equal
}

/// Makes room for a log of `len` bytes; the host writes it at the address that is returned.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(len: usize) -> *mut u8 {
    BYTES.with_borrow_mut(|b| {
        *b = vec![0; len];
        b.as_mut_ptr()
    })
}

/// Replays the log; 1 if every digest is that of the log.
#[unsafe(no_mangle)]
pub extern "C" fn replay() -> u32 {
    answer(crate::replay(BYTES.take()))
}

/// Runs the fixed cases; 1 if every digest is the one that is written down.
#[unsafe(no_mangle)]
pub extern "C" fn cases() -> u32 {
    answer(crate::cases())
}

/// Where the answer is.
#[unsafe(no_mangle)]
pub extern "C" fn text() -> *const u8 {
    TEXT.with_borrow(|t| t.as_ptr())
}

/// Length of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn text_len() -> usize {
    TEXT.with_borrow(String::len)
}
