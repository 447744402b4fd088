//! `hardstand._native`: the plant in a Python process. `python/hardstand` is what users import.

#![allow(non_snake_case, reason = "monogram notation, see the physics")]

mod core;
mod law;
mod model;
mod plant;
mod plants;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use hardstand_error::{Error, ErrorKind};

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

pyo3::import_exception!(hardstand.errors, Refused);
pyo3::import_exception!(hardstand.errors, FileFailed);

/// The exception of an error.
fn raised(e: &Error) -> PyErr {
    match e.kind() {
        ErrorKind::File => FileFailed::new_err(e.to_string()),
        _ => Refused::new_err(e.to_string()),
    }
}
