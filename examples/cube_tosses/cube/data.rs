//! The file of tosses: `.json` or `.json.gz`, checked.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use flate2::read::GzDecoder;
use hardstand_physics::spatial::{Quaternion, Vec3};
use serde_json::Value;

use super::Result;

/// Tosses of one cube.
#[derive(Clone, Debug)]
pub(crate) struct Tosses {
    /// Time between two samples, s.
    pub(crate) dt_s: f64,
    pub(crate) mass_kg: f64,
    /// Half of the cube's edge, m.
    pub(crate) half_width_m: f64,
    /// About any axis through the centre.
    pub(crate) inertia_kg_m2: f64,
    pub(crate) tosses: Vec<Toss>,
}

/// One toss.
#[derive(Clone, Debug)]
pub(crate) struct Toss {
    pub(crate) samples: Vec<Sample>,
}

/// One sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// Centre in the world, m: z is up, the table is at 0.
    pub(crate) p_W: Vec3,
    /// Body to world.
    pub(crate) q_WB: Quaternion,
    /// Velocity in the world, m/s: a difference of two samples.
    pub(crate) v_W: Vec3,
    /// Angular velocity in the body's axes, rad/s: a difference of two samples.
    pub(crate) w_B: Vec3,
}

/// Largest file, bytes, unpacked: about 100 times the 570 tosses of the data set.
const BYTES_MAX: u64 = 1 << 30;
/// Fewest samples of a toss: two for its first velocities, and one to predict.
const SAMPLES_MIN: usize = 3;

/// Reads and checks one file.
///
/// # Errors
/// If the file cannot be read or unpacked, is no JSON, lacks a key, or has a number out of range:
/// with the file, the place in it and the reason.
pub(crate) fn load(path: &Path) -> Result<Tosses> {
    let within = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let file = File::open(path).map_err(|e| within(&e))?;
    let mut text = String::new();
    let packed = path.extension().is_some_and(|e| e == "gz");
    let read = if packed {
        GzDecoder::new(file).take(BYTES_MAX).read_to_string(&mut text)
    } else {
        file.take(BYTES_MAX).read_to_string(&mut text)
    };
    let reason =
        if packed { "cannot be unpacked as gzip with UTF-8 text" } else { "cannot be read" };
    read.map_err(|e| within(&format!("{reason}: {e}")))?;
    let json: Value = serde_json::from_str(&text).map_err(|e| within(&format!("no JSON: {e}")))?;
    parse(&json).map_err(|e| within(&e).into())
}

fn parse(json: &Value) -> Result<Tosses> {
    let file = Place { value: json, path: String::new() };
    let mut tosses = Vec::new();
    for toss in file.key("tosses")?.items()? {
        tosses.push(parse_toss(&toss)?);
    }
    if tosses.is_empty() {
        return Err("tosses is empty; it must have at least one toss".into());
    }
    Ok(Tosses {
        dt_s: file.key("dt_s")?.number(1e-4, 0.1)?,
        mass_kg: file.key("mass_kg")?.number(1e-3, 1e3)?,
        half_width_m: file.key("half_width_m")?.number(1e-3, 10.0)?,
        inertia_kg_m2: file.key("inertia_kg_m2")?.number(1e-9, 1e4)?,
        tosses,
    })
}

fn parse_toss(toss: &Place<'_>) -> Result<Toss> {
    let id = toss.key("id")?;
    if !id.value.is_u64() {
        return Err(id.wrong("must be an integer of at least 0"));
    }
    let columns = ["p_m", "q_wxyz", "v_m_per_s", "w_body_rad_per_s"].map(|k| toss.key(k));
    let [p, q, v, w] = columns;
    let (p, q, v, w) = (p?, q?, v?, w?);
    let count = p.items()?.len();
    for other in [&p, &q, &v, &w] {
        let own = other.items()?.len();
        if own != count {
            let reason = format!("has {own} samples, but p_m has {count}; they must be equal");
            return Err(other.wrong(&reason));
        }
    }
    if count < SAMPLES_MIN {
        let reason = format!("has {count} samples; a toss must have at least {SAMPLES_MIN}");
        return Err(p.wrong(&reason));
    }
    let mut samples = Vec::with_capacity(count);
    for (((p, q), v), w) in p.items()?.iter().zip(q.items()?).zip(v.items()?).zip(w.items()?) {
        let q_WB = Quaternion::from_wxyz(q.numbers(1.001)?);
        if (q_WB.norm() - 1.0).abs() > 1e-3 {
            return Err(q.wrong(&format!("has length {}; it must be 1 within 0.001", q_WB.norm())));
        }
        let (p_W, v_W) = (Vec3::from(p.numbers(100.0)?), Vec3::from(v.numbers(1e3)?));
        let w_B = Vec3::from(w.numbers(1e4)?);
        samples.push(Sample { p_W, q_WB: q_WB.normalised(), v_W, w_B });
    }
    Ok(Toss { samples })
}

/// A value and where it is in the file, for the reader of a mistake.
struct Place<'a> {
    value: &'a Value,
    path: String,
}

impl<'a> Place<'a> {
    fn wrong(&self, reason: &str) -> Box<dyn std::error::Error + Send + Sync> {
        let path = if self.path.is_empty() { "the file" } else { &self.path };
        format!("{path} {reason}").into()
    }

    fn key(&self, key: &str) -> Result<Self> {
        let map = self.value.as_object().ok_or_else(|| self.wrong("must be an object"))?;
        let value = map.get(key).ok_or_else(|| self.wrong(&format!("lacks the key {key}")))?;
        let dot = if self.path.is_empty() { "" } else { "." };
        Ok(Self { value, path: format!("{}{dot}{key}", self.path) })
    }

    fn items(&self) -> Result<Vec<Self>> {
        let list = self.value.as_array().ok_or_else(|| self.wrong("must be a list"))?;
        let place = |(i, value)| Place { value, path: format!("{}[{i}]", self.path) };
        Ok(list.iter().enumerate().map(place).collect())
    }

    fn number(&self, low: f64, high: f64) -> Result<f64> {
        let x = self.value.as_f64().ok_or_else(|| {
            self.wrong(&format!("is {}; it must be a number", shortened(self.value)))
        })?;
        if (low..=high).contains(&x) {
            return Ok(x);
        }
        Err(self.wrong(&format!("is {x}; it must be {low} to {high}")))
    }

    /// A vector of `N` numbers within ±`most`.
    fn numbers<const N: usize>(&self, most: f64) -> Result<[f64; N]> {
        let items = self.items()?;
        if items.len() != N {
            return Err(self.wrong(&format!("has {} numbers; it must have {N}", items.len())));
        }
        let mut out = [0.0; N];
        for (x, item) in out.iter_mut().zip(&items) {
            *x = item.number(-most, most)?;
        }
        Ok(out)
    }
}

fn shortened(value: &Value) -> String {
    value.to_string().chars().take(40).collect()
}
