//! `Law`: a control law of Rust, called from Python.
#![allow(clippy::needless_pass_by_value, reason = "arguments of Python functions are values")]

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use hardstand_controllers::{ControlLaw, PolicyLaw, Runner, Stand, TrotLaw};
use hardstand_error::Result;
use hardstand_protocol::{Kind, ModelReply, StateReading, VelocityCommand, decode};

use crate::{bytes, raised};

/// A control law for a robot.
#[pyclass(module = "hardstand._native")]
pub(crate) struct Law {
    /// A control law may move to another thread, but need not be shared between them.
    runner: Mutex<Runner>,
}

impl Law {
    pub(crate) fn runner(&mut self) -> &mut Runner {
        self.runner.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// What `make` makes for the robot of the message `model`.
    fn of<L: ControlLaw + 'static>(
        model: &[u8],
        make: impl FnOnce(&ModelReply) -> Result<L>,
    ) -> PyResult<Self> {
        let made = decode(Kind::Model, model).and_then(|model: ModelReply| {
            let law = make(&model)?;
            Ok(Self { runner: Mutex::new(Runner::new(Box::new(law), &model)) })
        });
        made.map_err(|e| raised(&e))
    }
}

#[pymethods]
impl Law {
    /// Holds the initial positions.
    #[staticmethod]
    fn stand(
        model: &[u8],
        joints: Vec<String>,
        kp: Option<f64>,
        kd: Option<f64>,
    ) -> PyResult<Self> {
        Self::of(model, |model| Stand::new(model, &joints, kp, kd))
    }

    /// Trots with the shipped quadruped.
    #[staticmethod]
    fn trot(model: &[u8], velocity: Option<[f64; 3]>) -> PyResult<Self> {
        Self::of(model, |model| TrotLaw::new(model, velocity.map(VelocityCommand::from)))
    }

    /// A learned policy.
    #[staticmethod]
    fn policy(
        model: &[u8],
        contract: PathBuf,
        policy: Option<PathBuf>,
        command: Vec<(String, f64)>,
    ) -> PyResult<Self> {
        Self::of(model, |model| PolicyLaw::load(model, &contract, policy.as_deref(), &command))
    }

    #[getter]
    fn joints(&mut self) -> Vec<String> {
        self.runner().joints().to_vec()
    }

    #[getter]
    fn period(&mut self) -> u64 {
        self.runner().period_ticks()
    }

    /// Set-points that answer the message `state`: q, dq, kp, kd, tau of each of its joints.
    fn answer<'py>(&mut self, py: Python<'py>, state: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let state: StateReading = decode(Kind::State, state).map_err(|e| raised(&e))?;
        let set_points = self.runner().answer(&state).map_err(|e| raised(&e))?;
        Ok(bytes(py, set_points.iter().flat_map(|joint| joint.numbers())))
    }
}
