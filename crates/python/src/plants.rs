//! `Plants`: many robots of one scenario, on all cores.
#![allow(clippy::needless_pass_by_value, reason = "arguments of Python functions are values")]

use std::path::PathBuf;
use std::thread;

use crate::Refused;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use hardstand_error::Result;
use hardstand_protocol::DriveReading;

use crate::core::{Core, SetPoints};
use crate::{PART_TICKS, bytes, in_parts, numbers, raised};

/// Name under which the commands are given.
const CONTROLLER: &str = "python";

/// Many robots of one scenario; each array has a row for each.
#[pyclass(module = "hardstand._native")]
pub(crate) struct Plants {
    cores: Vec<Core>,
    initial: Core,
    threads: usize,
}

#[pymethods]
impl Plants {
    #[new]
    #[pyo3(signature = (scenario, n, sets = Vec::new(), threads = None))]
    fn new(
        scenario: PathBuf,
        n: usize,
        sets: Vec<String>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let initial = Core::load(&scenario, &sets, CONTROLLER).map_err(|e| raised(&e))?;
        let all = thread::available_parallelism().map_or(1, usize::from);
        let threads = threads.unwrap_or(all).clamp(1, n.max(1));
        Ok(Self { cores: vec![initial.clone(); n], initial, threads })
    }

    fn __len__(&self) -> usize {
        self.cores.len()
    }

    /// Commands all and advances all by `ticks`. Returns which have failed.
    #[pyo3(signature = (q=None, dq=None, kp=None, kd=None, tau=None, ticks=1))]
    #[allow(clippy::too_many_arguments, reason = "keywords of a Python method")]
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        q: Option<&[u8]>,
        dq: Option<&[u8]>,
        kp: Option<&[u8]>,
        kd: Option<&[u8]>,
        tau: Option<&[u8]>,
        ticks: u64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut set_points = vec![SetPoints::default(); self.cores.len()];
        self.spread("q", q, &mut set_points, |s| &mut s.q)?;
        self.spread("dq", dq, &mut set_points, |s| &mut s.dq)?;
        self.spread("kp", kp, &mut set_points, |s| &mut s.kp)?;
        self.spread("kd", kd, &mut set_points, |s| &mut s.kd)?;
        self.spread("tau", tau, &mut set_points, |s| &mut s.tau)?;
        for (core, new) in self.cores.iter_mut().zip(&set_points) {
            core.command(new).map_err(|e| raised(&e))?;
        }
        let (threads, cores) = (self.threads, &mut self.cores);
        let share = cores.len().div_ceil(threads).max(1);
        let mut failed = Vec::new();
        in_parts(py, ticks, (PART_TICKS / share as u64).max(1), |part| {
            failed = run(cores, share, part);
            Ok(())
        })?
        .map_err(|e| raised(&e))?;
        Ok(PyBytes::new(py, &failed))
    }

    /// The initial state again, of all or of those that `mask` names.
    #[pyo3(signature = (mask=None))]
    fn reset(&mut self, mask: Option<&[u8]>) {
        for (i, core) in self.cores.iter_mut().enumerate() {
            if mask.is_none_or(|m| m.get(i).is_some_and(|on| *on != 0)) {
                *core = self.initial.clone();
            }
        }
    }

    #[getter]
    fn digest(&self) -> Vec<u64> {
        let all = self.cores.iter().map(|c| c.simulation().state().digest);
        all.collect()
    }

    #[getter]
    fn tick(&self) -> Vec<u64> {
        let all = self.cores.iter().map(|c| c.simulation().state().tick);
        all.collect()
    }

    fn q<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut all = Vec::new();
        self.cores.iter_mut().for_each(|c| all.extend(c.reported(|j| j.q)));
        bytes(py, all)
    }

    fn truth_q<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.rows(py, |c, out| out.extend(c.truth().into_iter().map(|j| j.q)))
    }

    fn dq<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut all = Vec::new();
        self.cores.iter_mut().for_each(|c| all.extend(c.reported(|j| j.dq)));
        bytes(py, all)
    }

    fn truth_dq<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.rows(py, |c, out| out.extend(c.truth().into_iter().map(|j| j.dq)))
    }

    fn tau<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut all = Vec::new();
        self.cores.iter_mut().for_each(|c| all.extend(c.reported(|j| j.tau)));
        bytes(py, all)
    }

    fn truth_tau<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.rows(py, |c, out| out.extend(c.truth().into_iter().map(|j| j.tau)))
    }

    fn base_position<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.rows(py, |c, out| out.extend(c.simulation().state().q.p_WB.to_array()))
    }

    fn base_quat<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.rows(py, |c, out| {
            let quat = c.simulation().state().q.quat_WB.wxyz();
            let failed = c.simulation().failure().is_some();
            out.extend(if failed { [f64::NAN; 4] } else { quat });
        })
    }

    fn base_velocity<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.rows(py, |c, out| out.extend(c.simulation().state().v.v_WB.to_array()))
    }

    fn base_angular_velocity<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.rows(py, |c, out| {
            let state = c.simulation().state();
            out.extend(state.q.quat_WB.to_matrix().tr_mul(&state.v.w_WB).to_array());
        })
    }

    fn truth_imu_quat<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.rows(py, |c, out| out.extend(c.simulation().plant().imu().quat_WI.wxyz()))
    }

    fn truth_imu_gyro<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.rows(py, |c, out| {
            out.extend(c.simulation().plant().imu().angular_velocity_I.to_array())
        })
    }

    fn truth_imu_acc<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.rows(py, |c, out| out.extend(c.simulation().plant().imu().specific_force_I.to_array()))
    }

    fn truth_foot_normal<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.rows(py, |c, out| out.extend(c.true_normals_n()))
    }

    fn imu_quat<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.rows(py, |c, out| out.extend(c.simulation().imu().quat_WI.wxyz()))
    }

    fn imu_gyro<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.rows(py, |c, out| out.extend(c.simulation().imu().angular_velocity_I.to_array()))
    }

    fn imu_acc<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.rows(py, |c, out| out.extend(c.simulation().imu().specific_force_I.to_array()))
    }

    fn drive_motor_q<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.drives(py, |d| d.motor_q)
    }

    fn drive_motor_dq<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.drives(py, |d| d.motor_dq)
    }

    fn drive_current<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.drives(py, |d| d.current_a)
    }

    fn drive_winding<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.drives(py, |d| d.winding_c)
    }

    fn drive_housing<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.drives(py, |d| d.housing_c)
    }

    fn drive_flags<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.drives(py, |d| f64::from(d.flags))
    }

    fn battery_voltage<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let all: Vec<f64> = self.cores.iter_mut().map(|c| c.readings().drives.bus_v).collect();
        bytes(py, all)
    }

    fn velocity_command<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.rows(py, |c, out| out.extend(c.simulation().velocity_command().values()))
    }

    fn foot_contact<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut all = Vec::new();
        self.cores.iter_mut().for_each(|c| all.extend(&c.readings().state.foot_contact));
        PyBytes::new(py, &all)
    }

    fn foot_normal<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut all = Vec::new();
        self.cores.iter_mut().for_each(|c| all.extend(&c.readings().state.foot_normal_n));
        bytes(py, all)
    }
}

impl Plants {
    fn spread(
        &self,
        name: &str,
        given: Option<&[u8]>,
        set_points: &mut [SetPoints],
        slot: fn(&mut SetPoints) -> &mut Option<Vec<f64>>,
    ) -> PyResult<()> {
        let Some(found) = given.map(numbers) else { return Ok(()) };
        let (rows, joints) = (self.cores.len(), self.initial.joints());
        if found.len() != rows * joints {
            let text = format!("{name} has {} numbers, not {rows} × {joints}", found.len());
            return Err(Refused::new_err(text));
        }
        for (s, row) in set_points.iter_mut().zip(found.chunks_exact(joints.max(1))) {
            *slot(s) = Some(row.to_vec());
        }
        Ok(())
    }

    fn drives<'py>(
        &mut self,
        py: Python<'py>,
        number: fn(&DriveReading) -> f64,
    ) -> Bound<'py, PyBytes> {
        let mut all = Vec::new();
        self.cores.iter_mut().for_each(|c| all.extend(c.of_drives(number)));
        bytes(py, all)
    }

    fn rows<'py>(
        &self,
        py: Python<'py>,
        row: impl Fn(&Core, &mut Vec<f64>),
    ) -> Bound<'py, PyBytes> {
        let mut all = Vec::new();
        self.cores.iter().for_each(|core| row(core, &mut all));
        bytes(py, all)
    }
}

/// Runs all, `share` of them on each thread; which have failed.
fn run(cores: &mut [Core], share: usize, ticks: u64) -> Vec<u8> {
    thread::scope(|scope| {
        let started: Vec<_> = cores
            .chunks_mut(share)
            .map(|own| {
                scope.spawn(move || {
                    own.iter_mut().map(|core| core.run(ticks)).collect::<Vec<Result<()>>>()
                })
            })
            .collect();
        let ended = started.into_iter().flat_map(|t| t.join().unwrap_or_default());
        ended.map(|result| u8::from(result.is_err())).collect()
    })
}
