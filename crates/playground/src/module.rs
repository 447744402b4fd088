//! The exports of the WebAssembly module. The host writes a text at [`reserve`]'s address, calls,
//! and reads the answer: [`text_len`] bytes of UTF-8 at [`text`].
#![allow(unsafe_code, reason = "an export needs a name that the linker keeps")]

use std::cell::RefCell;

use hardstand_error::{Error, ErrorKind, Result};
use serde_json::{Value, json};

use crate::Playground;

thread_local! {
    static REQUEST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static TEXT: RefCell<String> = const { RefCell::new(String::new()) };
    static PLAYGROUND: RefCell<Option<Playground>> = const { RefCell::new(None) };
}

/// Makes room for a request of `len` bytes; the host writes it at the address that is returned.
// SAFETY: no other crate exports this name.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(len: usize) -> *mut u8 {
    REQUEST.with_borrow_mut(|b| {
        *b = vec![0; len];
        b.as_mut_ptr()
    })
}

/// Begins anew. Request: `{"scenario", "robot", "set": [text]}`; answer: the scene.
// SAFETY: no other crate exports this name.
#[unsafe(no_mangle)]
pub extern "C" fn open() -> u32 {
    answer(opened())
}

/// Makes the state at `tick` the current one.
// SAFETY: no other crate exports this name.
#[unsafe(no_mangle)]
pub extern "C" fn run_to(tick: u32) -> u32 {
    answer(with(|p| p.run_to(u64::from(tick)).map(|()| String::new())))
}

/// Does something to the robot or the ground. Request: `{"order", "request"}`; answer:
/// `{"ok", "text"}`.
// SAFETY: no other crate exports this name.
#[unsafe(no_mangle)]
pub extern "C" fn order() -> u32 {
    let done = with(|p| {
        let asked = request()?;
        let order = asked.get("order").and_then(Value::as_str).unwrap_or_default();
        p.order(order, asked.get("request").unwrap_or(&Value::Null))
    });
    let (ok, text) = match done {
        Ok(text) => (true, text),
        Err(e) => (false, e.to_string()),
    };
    answer(Ok(json!({ "ok": ok, "text": text }).to_string()))
}

/// Answer: the frame of the current state.
// SAFETY: no other crate exports this name.
#[unsafe(no_mangle)]
pub extern "C" fn frame() -> u32 {
    answer(with(|p| Ok(p.frame().to_string())))
}

/// Answer: the scenario of what was done so far, TOML.
// SAFETY: no other crate exports this name.
#[unsafe(no_mangle)]
pub extern "C" fn scenario() -> u32 {
    answer(with(|p| Ok(p.scenario())))
}

/// Where the answer is.
// SAFETY: no other crate exports this name.
#[unsafe(no_mangle)]
pub extern "C" fn text() -> *const u8 {
    TEXT.with_borrow(|t| t.as_ptr())
}

/// Length of the answer.
// SAFETY: no other crate exports this name.
#[unsafe(no_mangle)]
pub extern "C" fn text_len() -> usize {
    TEXT.with_borrow(String::len)
}

fn opened() -> Result<String> {
    let asked = request()?;
    let text = |key: &str| asked.get(key).and_then(Value::as_str).unwrap_or_default();
    let sets = asked.get("set").and_then(Value::as_array).into_iter().flatten();
    let sets: Vec<String> = sets.filter_map(|s| s.as_str().map(String::from)).collect();
    let new = Playground::new(text("scenario"), text("robot"), &sets)?;
    let scene = new.scene().json().to_string();
    PLAYGROUND.replace(Some(new));
    Ok(scene)
}

fn request() -> Result<Value> {
    let bytes = REQUEST.take();
    serde_json::from_slice(&bytes)
        .map_err(|e| Error::new(ErrorKind::Input, format!("the request is not JSON: {e}")))
}

fn with<T>(f: impl FnOnce(&mut Playground) -> Result<T>) -> Result<T> {
    PLAYGROUND.with_borrow_mut(|p| match p {
        Some(p) => f(p),
        None => Err(Error::new(ErrorKind::Input, "open a scenario first")),
    })
}

/// Keeps the text for the host; 1 if all went well.
fn answer(result: Result<String>) -> u32 {
    let done = u32::from(result.is_ok());
    TEXT.set(result.unwrap_or_else(|e| e.to_string()));
    done
}
