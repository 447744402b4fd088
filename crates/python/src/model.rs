//! `Model`: the dynamics of a robot, to be compared with those of others.
#![allow(clippy::needless_pass_by_value, reason = "arguments of Python functions are values")]

use std::path::PathBuf;

use crate::Refused;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use hardstand::mjcf::read_robot;
use hardstand::urdf::BaseChoice;
use hardstand_physics::dynamics::{
    Data, GeneralizedForces, MassMatrix, Positions, Velocities, crba, kinematics, rnea,
};
use hardstand_physics::model::Base;
use hardstand_physics::spatial::{Quaternion, Vec3};

use crate::{bytes, raised};

/// A robot, read from a URDF or a MuJoCo model (MJCF).
///
/// Generalized velocities are the angular velocity of the base and the velocity of its origin, both
/// in world axes (only if it floats), then the joints.
#[pyclass(module = "hardstand._native")]
pub(crate) struct Model {
    model: hardstand_physics::model::Model,
    warnings: Vec<String>,
}

impl Model {
    /// Data with the kinematics of a state.
    fn at(
        &self,
        position: [f64; 3],
        quat_wxyz: [f64; 4],
        q: Vec<f64>,
        v: &Velocities,
    ) -> PyResult<Data> {
        let joints = self.model.joint_count();
        if q.len() != joints || v.joints.len() != joints {
            let text = format!("q has {} numbers; the robot has {joints} joints", q.len());
            return Err(Refused::new_err(text));
        }
        let quat = Quaternion::from_wxyz(quat_wxyz);
        if !(quat.norm() > 0.0 && quat.norm().is_finite()) {
            return Err(Refused::new_err("the quaternion has no length"));
        }
        let q = Positions { quat_WB: quat.normalised(), p_WB: position.into(), joints: q };
        let mut data = Data::new(&self.model);
        kinematics(&self.model, &q, v, &mut data);
        Ok(data)
    }
}

#[pymethods]
impl Model {
    #[new]
    fn new(file: PathBuf) -> PyResult<Self> {
        let robot = read_robot(&file, BaseChoice::Auto).map_err(|e| raised(&e))?;
        Ok(Self { model: robot.loaded.model, warnings: robot.loaded.warnings })
    }

    /// What was left out or assumed.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    #[getter]
    fn joints(&self) -> Vec<String> {
        self.model.joints.iter().map(|j| j.name.clone()).collect()
    }

    /// Names of links.
    #[getter]
    fn bodies(&self) -> Vec<String> {
        self.model.frames.iter().map(|f| f.name.clone()).collect()
    }

    #[getter]
    fn mass(&self) -> f64 {
        self.model.total_mass()
    }

    #[getter]
    fn floating(&self) -> bool {
        self.model.base == Base::Floating
    }

    /// The matrix M of M dv/dt + bias = forces, kg, kg·m, kg·m².
    fn mass_matrix<'py>(
        &self,
        py: Python<'py>,
        base_position: [f64; 3],
        base_quat: [f64; 4],
        q: Vec<f64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let still = Velocities::zero(&self.model);
        let mut data = self.at(base_position, base_quat, q, &still)?;
        let mut M = MassMatrix::zero(&self.model);
        crba(&self.model, &mut data, &mut M);
        let n = M.size();
        Ok(bytes(py, (0..n * n).map(|at| M.at(at / n, at % n))))
    }

    /// The forces that keep all velocities as they are: Coriolis, centrifugal, gravity; N, N·m.
    /// `base_velocity` is angular, then linear, in world axes.
    #[allow(clippy::too_many_arguments, reason = "a state has as many parts")]
    fn bias_forces<'py>(
        &self,
        py: Python<'py>,
        base_position: [f64; 3],
        base_quat: [f64; 4],
        base_velocity: [f64; 6],
        q: Vec<f64>,
        dq: Vec<f64>,
        gravity: [f64; 3],
    ) -> PyResult<Bound<'py, PyBytes>> {
        let [a, b, c, x, y, z] = base_velocity;
        let v = Velocities { w_WB: Vec3::new(a, b, c), v_WB: Vec3::new(x, y, z), joints: dq };
        let mut data = self.at(base_position, base_quat, q, &v)?;
        let mut tau = GeneralizedForces::zero(&self.model);
        let still = Velocities::zero(&self.model);
        rnea(&self.model, &mut data, &still, &gravity.into(), &mut tau);
        let mut all = Vec::new();
        if self.floating() {
            all.extend(tau.base_W.ang.to_array());
            all.extend(tau.base_W.lin.to_array());
        }
        all.extend(tau.joints);
        Ok(bytes(py, all))
    }

    /// Position (m) and quaternion (w, x, y, z) of a link in the world.
    fn pose(
        &self,
        body: &str,
        base_position: [f64; 3],
        base_quat: [f64; 4],
        q: Vec<f64>,
    ) -> PyResult<([f64; 3], [f64; 4])> {
        let Some(frame) = self.model.frame(body) else {
            return Err(Refused::new_err(format!("no link is called {body:?}")));
        };
        let data = self.at(base_position, base_quat, q, &Velocities::zero(&self.model))?;
        let X_WF = data.X_WB[frame.body].compose(&frame.X_BF);
        Ok((X_WF.p.to_array(), Quaternion::from_matrix(&X_WF.R).wxyz()))
    }
}
