//! Faults on demand, and saved states.
#![allow(clippy::missing_safety_doc, reason = "the text for C says what a pointer must be")]
#![allow(unsafe_code, reason = "names that C calls, and its texts and arrays")]

use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::time::Duration;

use hardstand_client::{Client, Result};
use hardstand_protocol::{ClearFaultsRequest, FaultRequest, Kind, SavedState, decode, encode};

use super::client::HardstandClient;
use super::pointers::{array, given, needed, place, text};
use crate::failure::{done, refused};
use crate::settings::duration;

/// The complete state of a run, as `hardstand_snapshot` gives it. It never changes: any number of
/// threads may use it.
#[derive(Debug)]
pub struct HardstandSaved {
    saved: SavedState,
    bytes: Vec<u8>,
}

impl HardstandSaved {
    fn new(saved: SavedState) -> Result<Self> {
        let mut bytes = Vec::new();
        encode(Kind::SavedState, &saved, &mut bytes)?;
        Ok(Self { saved, bytes })
    }
}

fn order(
    client: Option<&HardstandClient>,
    patience_ns: u64,
    tick: Option<&mut MaybeUninit<u64>>,
    give: impl FnOnce(&Client, Duration) -> Result<u64>,
) -> i32 {
    done(|| {
        let since = give(&given(client, "client")?.client, duration(patience_ns))?;
        if let Some(tick) = tick {
            tick.write(since);
        }
        Ok(())
    })
}

/// Injects a fault; `hardstand faults` and docs/faults.md list the kinds. `part` is "joint",
/// "foot", "link", "station" or "region" and `name` the name of one; null for all there is.
/// `values` are the `n` numbers of the kind's parameters, one after the other. It lasts `ticks`
/// ticks, with 0 until it is cleared. `tick` gets the first tick of the fault; it may be null. Any
/// thread; blocks until the daemon answers, for up to twice `patience_ns` and two seconds;
/// allocates.
///
/// HARDSTAND_REFUSED: the daemon refuses, `hardstand_last_error` has field, value and range.
/// HARDSTAND_BUS: it does not answer, or is too busy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hardstand_fault(
    client: Option<&HardstandClient>,
    kind: *const c_char,
    part: *const c_char,
    name: *const c_char,
    values: *const f64,
    n: usize,
    ticks: u64,
    patience_ns: u64,
    tick: Option<&mut MaybeUninit<u64>>,
) -> i32 {
    order(client, patience_ns, tick, |client, patience| {
        // SAFETY: the header says that each is a text or null, and that there are `n` values
        let (kind, part, name, values) = unsafe {
            let (kind, part) = (needed(kind, "kind")?, text(part, "part")?);
            (kind, part, text(name, "name")?, array(values, n, "values")?)
        };
        let [part, name] = [part, name].map(|text| text.unwrap_or_default().to_string());
        let values = values.to_vec();
        client.fault(&FaultRequest { kind: kind.into(), part, name, values, ticks }, patience)
    })
}

/// Clears faults: of one kind, on one part, or with null all of them. `tick` gets the first tick
/// without them. As `hardstand_fault`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hardstand_clear_faults(
    client: Option<&HardstandClient>,
    kind: *const c_char,
    part: *const c_char,
    name: *const c_char,
    patience_ns: u64,
    tick: Option<&mut MaybeUninit<u64>>,
) -> i32 {
    order(client, patience_ns, tick, |client, patience| {
        // SAFETY: the header says that each is a text or null
        let texts = unsafe { [text(kind, "kind")?, text(part, "part")?, text(name, "name")?] };
        let [kind, part, name] = texts.map(|text| text.unwrap_or_default().to_string());
        client.clear_faults(&ClearFaultsRequest { kind, part, name }, patience)
    })
}

/// Takes the complete state. `saved` gets it, to be freed with `hardstand_saved_free`. Any thread;
/// blocks as `hardstand_fault`; allocates.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_snapshot(
    client: Option<&HardstandClient>,
    patience_ns: u64,
    saved: Option<&mut MaybeUninit<*mut HardstandSaved>>,
) -> i32 {
    done(|| {
        let out = place(saved, "saved")?;
        let state = given(client, "client")?.client.snapshot(duration(patience_ns))?;
        *out = Box::into_raw(Box::new(HardstandSaved::new(state)?));
        Ok(())
    })
}

/// Continues from a saved state, as the next run. `tick` gets the tick of the state; it may be
/// null. As `hardstand_fault`.
///
/// HARDSTAND_REFUSED: the state is that of another robot or scenario, or it is damaged.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_restore(
    client: Option<&HardstandClient>,
    saved: Option<&HardstandSaved>,
    patience_ns: u64,
    tick: Option<&mut MaybeUninit<u64>>,
) -> i32 {
    order(client, patience_ns, tick, |client, patience| {
        client.restore(&given(saved, "saved")?.saved, patience)
    })
}

/// The tick of a saved state; 0 for null. Any thread; does not block or allocate.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_saved_tick(saved: Option<&HardstandSaved>) -> u64 {
    saved.map_or(0, |saved| saved.saved.tick)
}

/// The bytes of a saved state, for a file: `n` gets their number. They belong to `saved`. Null for
/// null. Any thread; does not block or allocate.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_saved_bytes(
    saved: Option<&HardstandSaved>,
    n: Option<&mut MaybeUninit<usize>>,
) -> *const u8 {
    if let Some(n) = n {
        n.write(saved.map_or(0, |saved| saved.bytes.len()));
    }
    saved.map_or(std::ptr::null(), |saved| saved.bytes.as_ptr())
}

/// A saved state from the `n` bytes that `hardstand_saved_bytes` gave. Any thread; does not block;
/// allocates.
///
/// HARDSTAND_REFUSED: they are not those of a saved state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hardstand_saved_read(
    bytes: *const u8,
    n: usize,
    saved: Option<&mut MaybeUninit<*mut HardstandSaved>>,
) -> i32 {
    done(|| {
        let out = place(saved, "saved")?;
        // SAFETY: the header says that there are `n` bytes
        let bytes = unsafe { array(bytes, n, "bytes") }?;
        let state: SavedState = decode(Kind::SavedState, bytes)
            .map_err(|e| refused(format!("the bytes are not those of a saved state: {e}")))?;
        if state.sum() != state.checksum {
            return Err(refused("the saved state is damaged: its checksum is another one"));
        }
        *out = Box::into_raw(Box::new(HardstandSaved::new(state)?));
        Ok(())
    })
}

/// Frees a saved state. Null is allowed. Any thread; does not block.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_saved_free(saved: Option<Box<HardstandSaved>>) {
    done(|| {
        drop(saved);
        Ok(())
    });
}
