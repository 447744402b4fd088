//! The same tosses in MuJoCo, through `mujoco_tosses.py`: same first states, same errors.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use hardstand_physics::spatial::{Quaternion, Vec3};
use serde_json::{Value, json};

use crate::cube::Result;
use crate::cube::data::Tosses;
use crate::cube::laws::{MUJOCO, Parameter};
use crate::cube::predict::{G, Pose, Setting, first_state};
use crate::cube::score::TossError;
use crate::cube::start::Start;

/// A Python with MuJoCo that waits for parameters.
pub(crate) struct MuJoCo {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    starts: Vec<Start>,
    pub(crate) version: String,
}

/// The Python of `HARDSTAND_PYTHON`, or `python3`, if it has MuJoCo.
pub(crate) fn python() -> Option<String> {
    let python = std::env::var("HARDSTAND_PYTHON").unwrap_or_else(|_| "python3".into());
    let mut probe = Command::new(&python);
    probe.args(["-c", "import mujoco"]).stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|s| s.success()).then_some(python)
}

impl MuJoCo {
    /// Starts the script and hands it the first states.
    ///
    /// # Errors
    /// If it cannot be started or does not answer.
    pub(crate) fn start(python: &str, of: &Tosses, setting: &Setting) -> Result<Self> {
        let script =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/cube_tosses/mujoco_tosses.py");
        let mut command = Command::new(python);
        command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the Python process has no pipes".into());
        };
        let starts: Vec<Start> = of.tosses.iter().map(|t| first_state(of, t, setting)).collect();
        let as_json = |(start, toss): (&Start, &crate::cube::data::Toss)| {
            let list = |v: &Vec3| [v.x, v.y, v.z];
            json!({
                "p_m": list(&start.p_W), "q_wxyz": start.q_WB.wxyz(),
                "v_m_per_s": list(&start.v_W), "w_rad_per_s": list(&start.w_W),
                "samples": toss.samples.len() - 1 - start.sample,
            })
        };
        let cube = json!({
            "dt_s": of.dt_s, "gravity_m_per_s2": G, "mass_kg": of.mass_kg,
            "inertia_kg_m2": of.inertia_kg_m2, "half_width_m": of.half_width_m,
            "com_m": [setting.com_B.x, setting.com_B.y, setting.com_B.z],
            "starts": starts.iter().zip(&of.tosses).map(as_json).collect::<Vec<Value>>(),
        });
        let answers = BufReader::new(answers);
        let mut out = Self { child, requests, answers, starts, version: String::new() };
        let hello = out.ask(&cube)?;
        out.version = hello["version"].as_str().unwrap_or("unknown").to_string();
        Ok(out)
    }

    fn ask(&mut self, request: &Value) -> Result<Value> {
        writeln!(self.requests, "{request}")?;
        self.requests.flush()?;
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            return Err("mujoco_tosses.py has ended; its error is above".into());
        }
        Ok(serde_json::from_str(&line)?)
    }

    /// Errors with these values of [`MUJOCO`], or with MuJoCo's defaults, toss by toss.
    ///
    /// # Errors
    /// If the script ends or answers with something else than poses.
    pub(crate) fn errors(
        &mut self,
        of: &Tosses,
        setting: &Setting,
        values: Option<&[f64]>,
    ) -> Result<Vec<TossError>> {
        let named = |values: &[f64]| -> serde_json::Map<String, Value> {
            let pair = |(p, x): (&Parameter, &f64)| (p.name.to_string(), json!(x));
            MUJOCO.iter().zip(values).map(pair).collect()
        };
        let answer = self.ask(&values.map_or(Value::Null, |v| Value::Object(named(v))))?;
        let answer: Vec<Vec<[f64; 7]>> = serde_json::from_value(answer)?;
        if answer.len() != of.tosses.len() {
            return Err(format!("MuJoCo has answered {} tosses", answer.len()).into());
        }
        let each = of.tosses.iter().zip(&self.starts).zip(&answer);
        let error = |((toss, start), rows): ((_, &Start), &Vec<[f64; 7]>)| {
            let poses: Vec<Pose> = rows.iter().map(pose).collect();
            TossError::of(of, toss, start, setting.scale, &poses)
        };
        Ok(each.map(error).collect())
    }
}

fn pose(row: &[f64; 7]) -> Pose {
    let [x, y, z, qw, qx, qy, qz] = *row;
    (Vec3::new(x, y, z), Quaternion::from_wxyz([qw, qx, qy, qz]))
}

impl Drop for MuJoCo {
    /// Ends the process: it may be in the middle of a prediction that is not wanted any more.
    fn drop(&mut self) {
        if self.child.kill().is_ok() {
            let _ = self.child.wait();
        }
    }
}
