//! `Plant`: one robot on its ground.
#![allow(clippy::needless_pass_by_value, reason = "arguments of Python functions are values")]

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use hardstand_error::Error;

use crate::core::{Core, SetPoints};
use crate::law::Law;
use crate::{PART_TICKS, PlantFailed, Refused, bytes, in_parts, numbers, raised};

/// One robot on its ground, with one controller: the same ticks as the daemon's in lockstep.
#[pyclass(module = "hardstand._native")]
pub(crate) struct Plant {
    core: Core,
    initial: Core,
}

/// The numbers of each joint, from bytes.
fn per_joint(name: &str, given: Option<&[u8]>, joints: usize) -> PyResult<Option<Vec<f64>>> {
    let Some(found) = given.map(numbers) else { return Ok(None) };
    if found.len() == joints {
        return Ok(Some(found));
    }
    let count = found.len();
    Err(Refused::new_err(format!("{name} has {count} numbers; the robot has {joints} joints")))
}

#[pymethods]
impl Plant {
    #[new]
    #[pyo3(signature = (scenario, sets = Vec::new(), controller = "python"))]
    fn new(scenario: PathBuf, sets: Vec<String>, controller: &str) -> PyResult<Self> {
        let core = Core::load(&scenario, &sets, controller).map_err(|e| raised(&e))?;
        Ok(Self { initial: core.clone(), core })
    }

    /// Commands the joints and advances; what is left out stays as in the last command.
    #[pyo3(signature = (q=None, dq=None, kp=None, kd=None, tau=None, ticks=1))]
    #[allow(clippy::too_many_arguments, reason = "keywords of a Python method")]
    fn step(
        &mut self,
        py: Python<'_>,
        q: Option<&[u8]>,
        dq: Option<&[u8]>,
        kp: Option<&[u8]>,
        kd: Option<&[u8]>,
        tau: Option<&[u8]>,
        ticks: u64,
    ) -> PyResult<()> {
        let n = self.core.joints();
        let set_points = SetPoints {
            q: per_joint("q", q, n)?,
            dq: per_joint("dq", dq, n)?,
            kp: per_joint("kp", kp, n)?,
            kd: per_joint("kd", kd, n)?,
            tau: per_joint("tau", tau, n)?,
        };
        self.core.command(&set_points).map_err(|e| raised(&e))?;
        let core = &mut self.core;
        let ran = in_parts(py, ticks, PART_TICKS, |part| core.run(part))?;
        ran.map_err(|e| self.halted(&e))
    }

    /// Advances, commanded by a control law.
    fn run(&mut self, py: Python<'_>, mut law: PyRefMut<'_, Law>, ticks: u64) -> PyResult<()> {
        let (core, runner) = (&mut self.core, law.runner());
        let ran = in_parts(py, ticks, PART_TICKS, |part| core.run_law(runner, part))?;
        ran.map_err(|e| self.halted(&e))
    }

    /// The messages `model` and `state`.
    fn messages<'py>(&mut self, py: Python<'py>) -> PyResult<[Bound<'py, PyBytes>; 2]> {
        let messages = self.core.messages().map_err(|e| raised(&e))?;
        Ok(messages.map(|message| PyBytes::new(py, &message)))
    }

    /// A fault at the next tick, with the parameters of docs/faults.md.
    #[pyo3(signature = (kind, **parameters))]
    fn fault(&mut self, kind: &str, parameters: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        fault(&mut self.core, kind, parameters)
    }

    /// The complete state.
    fn snapshot<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let saved = self.core.save().map_err(|e| raised(&e))?;
        Ok(PyBytes::new(py, &saved))
    }

    /// Goes on from a snapshot of a plant or a daemon of the same scenario.
    fn restore(&mut self, snapshot: &[u8]) -> PyResult<()> {
        self.core.restore(snapshot).map_err(|e| raised(&e))
    }

    /// The initial state again.
    fn reset(&mut self) {
        self.core = self.initial.clone();
    }

    /// A copy that goes its own way.
    fn clone(&self) -> Self {
        Self { core: self.core.clone(), initial: self.initial.clone() }
    }

    #[getter]
    fn joints(&self) -> Vec<String> {
        self.core.simulation().model().joints.iter().map(|j| j.name.clone()).collect()
    }

    #[getter]
    fn feet(&self) -> Vec<String> {
        self.core.simulation().spec().feet.iter().map(|f| f.name.clone()).collect()
    }

    #[getter]
    fn period(&self) -> f64 {
        self.core.simulation().spec().period_ns as f64 * 1e-9
    }

    #[getter]
    fn mass(&self) -> f64 {
        self.core.simulation().model().total_mass()
    }

    #[getter]
    fn tick(&self) -> u64 {
        self.core.simulation().state().tick
    }

    #[getter]
    fn time(&self) -> f64 {
        self.core.simulation().time_ns() as f64 * 1e-9
    }

    #[getter]
    fn digest(&self) -> u64 {
        self.core.simulation().state().digest
    }

    fn q<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.core.reported(|j| j.q))
    }

    fn truth_q<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.core.truth().into_iter().map(|j| j.q))
    }

    fn dq<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.core.reported(|j| j.dq))
    }

    fn truth_dq<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.core.truth().into_iter().map(|j| j.dq))
    }

    fn tau<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.core.reported(|j| j.tau))
    }

    fn truth_tau<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.core.truth().into_iter().map(|j| j.tau))
    }

    fn q_initial<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.core.simulation().spec().q.joints.iter().copied())
    }

    fn effort_max<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let joints = &self.core.simulation().model().joints;
        bytes(py, joints.iter().map(|j| j.effort_max))
    }

    fn base_position<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.core.simulation().state().q.p_WB.to_array())
    }

    fn base_quat<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.core.simulation().state().q.quat_WB.wxyz())
    }

    fn base_velocity<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.core.simulation().state().v.v_WB.to_array())
    }

    fn base_angular_velocity<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let state = self.core.simulation().state();
        let w_B = state.q.quat_WB.to_matrix().tr_mul(&state.v.w_WB);
        bytes(py, w_B.to_array())
    }

    fn truth_imu_quat<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.core.simulation().plant().imu().quat_WI.wxyz())
    }

    fn truth_imu_gyro<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.core.simulation().plant().imu().angular_velocity_I.to_array())
    }

    fn truth_imu_acc<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.core.simulation().plant().imu().specific_force_I.to_array())
    }

    fn truth_foot_normal<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.core.true_normals_n())
    }

    fn imu_quat<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.core.simulation().imu().quat_WI.wxyz())
    }

    fn imu_gyro<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.core.simulation().imu().angular_velocity_I.to_array())
    }

    fn imu_acc<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.core.simulation().imu().specific_force_I.to_array())
    }

    fn drive_motor_q<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.core.of_drives(|d| d.motor_q))
    }

    fn drive_motor_dq<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.core.of_drives(|d| d.motor_dq))
    }

    fn drive_current<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.core.of_drives(|d| d.current_a))
    }

    fn drive_winding<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.core.of_drives(|d| d.winding_c))
    }

    fn drive_housing<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.core.of_drives(|d| d.housing_c))
    }

    fn drive_flags<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.core.of_drives(|d| f64::from(d.flags)))
    }

    fn battery_voltage(&mut self) -> f64 {
        self.core.readings().drives.bus_v
    }

    fn velocity_command<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.core.simulation().velocity_command().values())
    }

    fn foot_contact<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.core.readings().state.foot_contact)
    }

    fn foot_normal<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.core.readings().state.foot_normal_n.iter().copied())
    }
}

impl Plant {
    /// The exception of a plant that did not go on.
    fn halted(&self, e: &Error) -> PyErr {
        if self.core.has_failed() { PlantFailed::new_err(e.to_string()) } else { raised(e) }
    }
}

/// A fault from Python's keyword arguments; those that are None count as left out.
fn fault(core: &mut Core, kind: &str, parameters: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    const PARTS: [&str; 5] = ["joint", "foot", "link", "station", "region"];
    const DURATIONS: [&str; 2] = ["duration", "duration_s"];
    let refuse = |text: String| Refused::new_err(format!("{kind}: {text}"));
    let mut part: Option<(String, String)> = None;
    let mut duration: Option<(String, f64)> = None;
    let mut numbers: Vec<(String, Vec<f64>)> = Vec::new();
    for (key, value) in parameters.into_iter().flatten().filter(|(_, value)| !value.is_none()) {
        let key: String = key.extract()?;
        let wrong = |must: &str| refuse(format!("{key} is {value}; it must be {must}"));
        if PARTS.contains(&key.as_str()) {
            let name = value.extract().map_err(|_e| wrong("a name"))?;
            if let Some((other, _)) = part.replace((key.clone(), name)) {
                return Err(refuse(format!("one part at a time, not {other} and {key}")));
            }
        } else if DURATIONS.contains(&key.as_str()) {
            let seconds = value.extract().map_err(|_e| wrong("a number of seconds"))?;
            if let Some((other, _)) = duration.replace((key.clone(), seconds)) {
                return Err(refuse(format!("{other} and {key} are the same: give one of them")));
            }
        } else {
            let one = value.extract::<f64>().map(|x| vec![x]);
            let all = one.or_else(|_not_one| value.extract::<Vec<f64>>());
            let all = all.map_err(|_e| wrong("a number or a list of numbers"))?;
            numbers.push((key, all));
        }
    }
    let part = part.as_ref().map(|(word, name)| (word.as_str(), name.as_str()));
    core.fault(kind, part, duration.map(|(_, s)| s), &numbers).map_err(|e| raised(&e))
}
