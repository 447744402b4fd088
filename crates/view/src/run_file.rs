//! A recorded run as one compact file: what the page plays.

use std::collections::BTreeMap;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{StationReading, TouchReading, ViewReading};
use serde::Serialize;

use crate::Scene;
use crate::frame::{body_poses, surface_of, touch_normal_n, touching};

/// An event of the run.
#[derive(Clone, Debug, Serialize)]
pub struct RunEvent {
    /// Tick in which it happened.
    pub tick: u64,
    /// Its time, s.
    pub time_s: f64,
    /// One word, as in the protocol.
    pub kind: String,
    /// The controller that it is about; empty if it is about none.
    pub controller: String,
    /// For people.
    pub text: String,
}

/// A mark on the time line.
#[derive(Clone, Debug, Serialize)]
pub struct Mark {
    /// Time, s.
    pub time_s: f64,
    /// `fault`, `rejection`, `deadline`, `condition`, `failure` or `difference`.
    pub kind: &'static str,
    /// For people.
    pub text: String,
}

/// A run, frame by frame.
#[derive(Debug)]
pub struct RunFile {
    scene: Scene,
    title: String,
    views: Vec<ViewReading>,
    /// Events, oldest first.
    pub events: Vec<RunEvent>,
    /// Marks, in any order.
    pub marks: Vec<Mark>,
    /// What happened how often, of all of it.
    pub counts: BTreeMap<String, u64>,
    /// Where it leaves the run that it is laid over: time in s, and what differs.
    pub first_difference: Option<(f64, String)>,
}

/// How the values of a column are stored.
#[derive(Clone, Copy)]
enum Stored {
    F64,
    U8,
    /// Differences of multiples of this: numbers that cannot be large.
    I16(f64),
    /// Likewise of numbers of any size; a missing one is as the one before.
    I32(f64),
    /// As the last, but a missing number is missing.
    Gaps(f64),
}

#[derive(Serialize)]
struct Column {
    name: &'static str,
    width: usize,
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    scale: Option<f64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    delta: bool,
}

/// Columns under way to the file.
struct Columns<'a> {
    views: &'a [ViewReading],
    heads: Vec<Column>,
    bytes: Vec<u8>,
}

/// The values of a 16-bit and a 32-bit column that are missing.
const MISSING: i16 = i16::MIN;
const MISSING_WIDE: i32 = i32::MIN;

impl Columns<'_> {
    fn add<I: IntoIterator<Item = f64>>(
        &mut self,
        name: &'static str,
        width: usize,
        stored: Stored,
        of: impl Fn(&ViewReading) -> I,
    ) {
        let mut before = vec![0_i64; width];
        for view in self.views {
            let mut values = of(view).into_iter();
            for last in &mut before {
                put(&mut self.bytes, stored, values.next().unwrap_or(f64::NAN), last);
            }
        }
        let (r#type, scale) = match stored {
            Stored::F64 => ("f64", None),
            Stored::U8 => ("u8", None),
            Stored::I16(scale) => ("i16", Some(scale)),
            Stored::I32(scale) | Stored::Gaps(scale) => ("i32", Some(scale)),
        };
        self.heads.push(Column { name, width, r#type, scale, delta: scale.is_some() });
    }
}

fn put(bytes: &mut Vec<u8>, stored: Stored, value: f64, before: &mut i64) {
    let step = |scale: f64, most: i64| {
        let whole = (value / scale).round();
        if whole.is_nan() { None } else { Some((whole as i64).clamp(-most, most)) }
    };
    let wide = |bytes: &mut Vec<u8>, now: i64, before: &mut i64| {
        bytes.extend((now.wrapping_sub(*before) as i32).to_le_bytes());
        *before = now;
    };
    match stored {
        Stored::F64 => bytes.extend(value.to_le_bytes()),
        Stored::U8 => bytes.push(value as u8),
        Stored::I16(scale) => {
            let now = step(scale, i64::from(i16::MAX)).unwrap_or(i64::from(MISSING));
            bytes.extend((now.wrapping_sub(*before) as i16).to_le_bytes());
            *before = now;
        }
        Stored::I32(scale) => {
            wide(bytes, step(scale, i64::from(i32::MAX)).unwrap_or(*before), before);
        }
        Stored::Gaps(scale) => {
            let now = step(scale, i64::from(i32::MAX)).unwrap_or(i64::from(MISSING_WIDE));
            wide(bytes, now, before);
        }
    }
}

impl RunFile {
    /// An empty run; `title` is the name of the log.
    #[must_use]
    pub const fn new(scene: Scene, title: String) -> Self {
        Self {
            scene,
            title,
            views: Vec::new(),
            events: Vec::new(),
            marks: Vec::new(),
            counts: BTreeMap::new(),
            first_difference: None,
        }
    }

    /// Adds a frame.
    pub fn push(&mut self, view: ViewReading) {
        self.views.push(view);
    }

    /// Number of frames.
    #[must_use]
    pub fn frames(&self) -> usize {
        self.views.len()
    }

    /// The bytes of the file, compressed.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] without a frame.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        if self.views.is_empty() {
            return Err(Error::new(ErrorKind::Input, "the log has no tick to show"));
        }
        let mut pairs = self.contact_pairs();
        let columns = self.columns(&pairs);
        // points where shapes touch follow, in places of their own
        let (stations, surfaces) =
            (self.scene.model.stations.len(), self.scene.model.surfaces.len());
        pairs.extend((0..self.points_max()).map(|place| [stations + place, surfaces]));
        let surface = |p: &[usize; 2]| match self.views.first() {
            Some(view) if p[0] < stations => surface_of(p[1], view, &self.scene.model),
            _ => p[1],
        };
        let pair = |p: &[usize; 2]| serde_json::json!({ "station": p[0], "surface": surface(p) });
        let difference = self
            .first_difference
            .as_ref()
            .map(|(time_s, text)| serde_json::json!({ "time_s": time_s, "text": text }));
        let head = serde_json::json!({
            "scene": self.scene.value,
            "title": self.title,
            "frames": self.views.len(),
            "contact_pairs": pairs.iter().map(pair).collect::<Vec<_>>(),
            "columns": columns.heads,
            "events": self.events,
            "marks": self.marks,
            "counts": self.counts,
            "first_difference": difference,
        })
        .to_string();
        let failed = |e: std::io::Error| Error::new(ErrorKind::Internal, format!("gzip: {e}"));
        let mut out = GzEncoder::new(Vec::new(), Compression::best());
        let length = (head.len() as u32).to_le_bytes();
        for part in [b"HSR1".as_slice(), &length, head.as_bytes(), &columns.bytes] {
            out.write_all(part).map_err(failed)?;
        }
        out.finish().map_err(failed)
    }

    /// The pairs of station and surface that ever carry a force.
    fn contact_pairs(&self) -> Vec<[usize; 2]> {
        let mut pairs = BTreeMap::new();
        for view in &self.views {
            pairs.extend(touching(view, &self.scene.model).map(|(pair, _)| (pair, ())));
        }
        pairs.into_keys().collect()
    }

    /// Points that touch at the same time at most.
    fn points_max(&self) -> usize {
        self.views.iter().map(|v| v.points.len()).max().unwrap_or(0)
    }

    fn columns(&self, pairs: &[[usize; 2]]) -> Columns<'_> {
        let (joints, feet) = (self.scene.model.joints.len(), self.scene.model.feet.len());
        let mut c = Columns { views: &self.views, heads: Vec::new(), bytes: Vec::new() };
        let (place, turn) = (Stored::I32(1e-5), Stored::I16(1e-4));
        let (angle, effort) = (Stored::I32(1e-5), Stored::Gaps(0.01));
        c.add("time_s", 1, Stored::F64, |v| [v.state.time_ns as f64 * 1e-9]);
        c.add("tick", 1, Stored::I32(1.0), |v| [v.state.tick as f64]);
        c.add("base_p", 3, place, |v| v.state.truth_base_position_m);
        c.add("base_quat", 4, turn, |v| v.state.truth_base_quat_wxyz);
        c.add("base_v", 3, Stored::Gaps(1e-3), |v| v.state.truth_base_velocity_m_per_s);
        c.add("base_w", 3, Stored::Gaps(1e-2), |v| v.state.truth_base_angular_velocity_rad_per_s);
        c.add("imu_quat", 4, turn, |v| v.state.imu_quat_wxyz);
        c.add("imu_gyro", 3, Stored::Gaps(1e-2), |v| v.state.imu_angular_velocity_rad_per_s);
        c.add("imu_acc", 3, Stored::Gaps(1e-2), |v| v.state.imu_specific_force_m_per_s2);
        c.add("velocity_command", 3, Stored::I32(1e-5), |v| v.state.velocity_command.values());
        c.add("q", joints, angle, |v| collected(v.state.joints.iter().map(|j| j.q)));
        c.add("dq", joints, effort, |v| collected(v.state.joints.iter().map(|j| j.dq)));
        c.add("tau", joints, effort, |v| collected(v.state.joints.iter().map(|j| j.tau)));
        let r = |v: &ViewReading, of: fn(&hardstand_protocol::JointCommand) -> f64| {
            collected(v.references.iter().map(of))
        };
        c.add("command_q", joints, angle, |v| r(v, |r| r.q));
        c.add("command_dq", joints, effort, |v| r(v, |r| r.dq));
        c.add("command_kp", joints, Stored::I32(0.01), |v| r(v, |r| r.kp));
        c.add("command_kd", joints, Stored::I32(0.01), |v| r(v, |r| r.kd));
        c.add("command_tau_ff", joints, effort, |v| r(v, |r| r.tau_ff));
        c.add("authority", 1, Stored::U8, |v| [f64::from(v.state.authority)]);
        c.add("command_age", 1, Stored::I32(1.0), |v| {
            [match v.state.command_age_ticks {
                u32::MAX => -1.0,
                age => f64::from(age),
            }]
        });
        c.add("phase", 1, Stored::U8, |v| [f64::from(v.state.phase)]);
        c.add("failure", 1, Stored::U8, |v| [f64::from(v.state.failure)]);
        c.add("digest", 8, Stored::U8, |v| v.state.digest.to_be_bytes().map(f64::from));
        let force = Stored::I32(0.01);
        c.add("foot_contact", feet, Stored::U8, |v| {
            collected(v.state.foot_contact.iter().map(|&c| f64::from(c)))
        });
        c.add("foot_normal_n", feet, force, |v| v.state.foot_normal_n.clone());
        c.add("foot_point", 3 * feet, place, |v| {
            collected(v.contacts.feet.iter().flat_map(|f| f.point_world_m))
        });
        c.add("foot_force", 3 * feet, force, |v| {
            collected(v.contacts.feet.iter().flat_map(|f| f.force_world_n))
        });
        c.add("foot_moment", 3 * feet, force, |v| {
            collected(v.contacts.feet.iter().flat_map(|f| f.moment_world_nm))
        });
        self.contact_columns(&mut c, pairs);
        let moving = self.views.first().map_or(0, |v| v.surfaces.len() + v.bodies.len());
        if moving > 0 {
            c.add("surface_pose", 7 * moving, Stored::F64, |v| {
                let poses = v.surfaces.iter().copied().chain(body_poses(v));
                collected(poses.flat_map(|s| s.position_m.into_iter().chain(s.quat_wxyz)))
            });
        }
        c
    }

    fn contact_columns(&self, c: &mut Columns<'_>, pairs: &[[usize; 2]]) {
        let stations = self.scene.model.stations.len();
        let places = self.views.first().map_or(0, |v| v.contacts.places(stations));
        let points = self.points_max();
        let n = pairs.len() + points;
        let at = |v: &ViewReading,
                  of: &dyn Fn(&StationReading) -> [f64; 3],
                  touch: &dyn Fn(&TouchReading) -> [f64; 3]| {
            let station = |[s, g]: &[usize; 2]| v.contacts.stations.get(s * places + g).map(of);
            let stations = pairs.iter().map(|p| station(p).unwrap_or([f64::NAN; 3]));
            collected(stations.chain(v.points.iter().map(touch)).flatten())
        };
        let one = |v: &ViewReading,
                   of: &dyn Fn(&StationReading) -> f64,
                   touch: &dyn Fn(&TouchReading) -> f64| {
            let station = |[s, g]: &[usize; 2]| v.contacts.stations.get(s * places + g).map(of);
            let stations = pairs.iter().map(|p| station(p).unwrap_or(f64::NAN));
            collected(stations.chain(v.points.iter().map(touch)))
        };
        let (place, force) = (Stored::I32(1e-5), Stored::I32(0.01));
        c.add("contact_p", 3 * n, place, |v| at(v, &|s| s.position_world_m, &|p| p.point_world_m));
        c.add("contact_normal", 3 * n, Stored::I16(1e-4), |v| {
            at(v, &|s| s.normal_world, &|p| p.normal_world)
        });
        c.add("contact_force", 3 * n, force, |v| at(v, &|s| s.force_world_n, &|p| p.force_world_n));
        // a point of two shapes has no anchor to show: it is where the point is
        c.add("contact_anchor", 3 * n, place, |v| {
            at(v, &|s| s.anchor_world_m, &|p| p.point_world_m)
        });
        // a place without a point has no force
        c.add("contact_normal_n", n, force, |v| {
            let mut all = one(v, &|s| s.normal_n, &touch_normal_n);
            all.resize(n, 0.0);
            all
        });
        c.add("contact_slip", n, Stored::I32(1e-5), |v| {
            one(v, &|s| s.slip_m_per_s, &|p| p.slip_m_per_s)
        });
        c.add("contact_sliding", n, Stored::I16(1e-3), |v| one(v, &|s| s.sliding, &|p| p.sliding));
        c.add("contact_mu", n, Stored::Gaps(1e-3), |v| one(v, &|s| s.mu, &|p| p.mu));
        c.add("contact_limit_n", n, force, |v| {
            one(v, &|s| s.friction_limit_n, &|p| p.mu * touch_normal_n(p))
        });
    }
}

fn collected(values: impl Iterator<Item = f64>) -> Vec<f64> {
    values.collect()
}

#[cfg(test)]
mod tests {
    use super::{MISSING_WIDE, Stored, put};

    #[test]
    fn numbers_of_any_size_and_missing_ones_are_kept() {
        let (mut bytes, mut before) = (Vec::new(), 0);
        for value in [1287.34, f64::NAN, -5000.0, 0.0] {
            put(&mut bytes, Stored::Gaps(0.01), value, &mut before);
        }
        let differences =
            bytes.chunks_exact(4).map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let mut now = 0_i32;
        let read: Vec<i32> = differences
            .map(|difference| {
                now = now.wrapping_add(difference);
                now
            })
            .collect();
        assert_eq!(read, [128_734, MISSING_WIDE, -500_000, 0]);
    }
}
