//! `hardstand._native`: the plant in a Python process. `python/hardstand` is what users import.

#![allow(non_snake_case, reason = "monogram notation, see the physics")]

mod core;
mod law;
mod model;
mod plant;
mod plants;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use hardstand_error::{Error, ErrorKind, Result};

/// The module.
#[pymodule]
fn _native(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add_class::<law::Law>()?;
    m.add_class::<model::Model>()?;
    m.add_class::<plant::Plant>()?;
    m.add_class::<plants::Plants>()?;
    Ok(())
}

/// Numbers as NumPy's `frombuffer` takes them: 8 bytes each, in the machine's order.
fn bytes<'py>(py: Python<'py>, numbers: impl IntoIterator<Item = f64>) -> Bound<'py, PyBytes> {
    let all: Vec<u8> = numbers.into_iter().flat_map(f64::to_ne_bytes).collect();
    PyBytes::new(py, &all)
}

/// The numbers of such bytes.
fn numbers(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks::<8>().0.iter().map(|b| f64::from_ne_bytes(*b)).collect()
}

/// Ticks of a robot between two looks for signals: at most some tenths of a second.
const PART_TICKS: u64 = 2000;

/// Lets `run` advance by `ticks` in parts of at most `part`, without the GIL. Between two parts
/// Ctrl-C, or another signal with a handler of Python, raises its exception.
fn in_parts(
    py: Python<'_>,
    ticks: u64,
    part: u64,
    mut run: impl FnMut(u64) -> Result<()> + Send,
) -> PyResult<Result<()>> {
    let mut left = ticks;
    loop {
        let now = left.min(part);
        if let Err(e) = py.detach(|| run(now)) {
            return Ok(Err(e));
        }
        left -= now;
        if left == 0 {
            return Ok(Ok(()));
        }
        py.check_signals()?;
    }
}

pyo3::import_exception!(hardstand.errors, Refused);
pyo3::import_exception!(hardstand.errors, FileFailed);
pyo3::import_exception!(hardstand.errors, PlantFailed);

/// The exception of an error.
fn raised(e: &Error) -> PyErr {
    match e.kind() {
        ErrorKind::File => FileFailed::new_err(e.to_string()),
        _ => Refused::new_err(e.to_string()),
    }
}
