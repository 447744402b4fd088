//! Time and state of a running daemon: pause, step, reset, save, restore; and pushes.

use serde::{Deserialize, Serialize};

use hardstand_error::{Error, ErrorKind};
use hardstand_physics::model::Model;
use hardstand_physics::plant::{Event, Plant, Rejection};

use super::order::{Refusal, check_epoch, check_layout, check_number, claimed, shown};
use super::{HEADER_BYTES, Kind};

/// What `pause`, `resume`, `step`, `run_until` and `reset` can be given. Without a payload they
/// mean the run that there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlRequest {
    /// Run that is meant; 0 for whichever there is.
    pub run_id: u32,
    /// `step`: how many ticks, 1 without a payload. `run_until`: the tick. Otherwise 0.
    pub number: u64,
    /// `reset`: 1 if published time shall begin at 0 again, too. Otherwise 0.
    pub rewind: u8,
}

/// The complete state of a simulation: the answer to `snapshot`, and what `restore` takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedState {
    /// Layout hash of the robot.
    pub layout_hash: u64,
    /// Hash of robot and scenario as far as they decide the physics.
    pub physics_hash: u64,
    /// Run in which it was saved.
    pub run_id: u32,
    /// Ticks done.
    pub tick: u64,
    /// The state, see [`State::walk`](hardstand_physics::plant::State::walk); the last word is the
    /// digest.
    pub words: Vec<u64>,
}

impl SavedState {
    /// The state in which `plant` is.
    #[must_use]
    pub fn of(plant: &mut Plant, physics_hash: u64, run_id: u32) -> Self {
        let (layout_hash, tick) = (plant.layout_hash(), plant.state().tick);
        Self { layout_hash, physics_hash, run_id, tick, words: plant.snapshot_words() }
    }

    /// `plant` in this state; `physics_hash` is that of its robot and scenario.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if the state is another robot's or scenario's, or none that a run can
    /// go on from.
    pub fn restored(&self, mut plant: Plant, physics_hash: u64) -> crate::Result<Plant> {
        let refuse = |text| Error::new(ErrorKind::Input, format!("the saved state: {text}"));
        self.check(plant.layout_hash(), physics_hash).map_err(|r| refuse(r.text))?;
        plant.restore(&self.words).map_err(|e| refuse(e.to_string()))?;
        match plant.fault() {
            Some(fault) => Err(refuse(format!("it is not one to go on from: {fault:?}"))),
            None => Ok(plant),
        }
    }

    fn check(&self, layout_hash: u64, physics_hash: u64) -> Result<(), Refusal> {
        check_layout(self.layout_hash, layout_hash)?;
        if self.physics_hash == physics_hash {
            return Ok(());
        }
        let got = self.physics_hash;
        let text = format!(
            "physics_hash is {got:016x}; it must be {physics_hash:016x}: the state is from another \
             robot or scenario"
        );
        Err(Refusal { reason: Rejection::Layout, text })
    }
}

/// A constant force on a link, for some ticks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PushRequest {
    /// Run that is meant; 0 for whichever there is.
    pub run_id: u32,
    /// Name of the link.
    pub link: String,
    /// Point of attack in the link's frame, m.
    pub point_link_m: [f64; 3],
    /// Force in world axes, N.
    pub force_world_n: [f64; 3],
    /// Duration, ticks.
    pub ticks: u64,
}

/// Largest force of a push along each axis, N.
const FORCE_MAX_N: f64 = 1e6;
/// Farthest point of attack along each axis, m.
const POINT_MAX_M: f64 = 1e3;
/// Largest number of ticks in an order: what a double still tells apart.
const TICKS_MAX: u64 = 1 << 53;

const CONTROL_BYTES: usize = HEADER_BYTES + 4 + 8 + 1;

/// Makes a request of the bytes of one, if all is well; no bytes mean the default.
///
/// # Errors
/// The first [`Refusal`] that applies, in the order size (of the header), version, size, run_id,
/// range.
pub fn check_control(bytes: &[u8], run_id: u32) -> Result<Option<ControlRequest>, Refusal> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let r: ControlRequest = claimed(Kind::Control, bytes, format!("0 or {CONTROL_BYTES}"))?;
    check_epoch(r.run_id, run_id)?;
    check_ticks("number", r.number, 0)?;
    if r.rewind > 1 {
        let text = format!("rewind is {}; it must be 0 or 1", r.rewind);
        return Err(Refusal { reason: Rejection::OutOfRange, text });
    }
    Ok(Some(r))
}

/// Makes a push of the bytes of a request, if all is well.
///
/// # Errors
/// The first [`Refusal`] that applies, in the order size (of the header), version, size, run_id,
/// link, point, force, ticks.
pub fn check_push(bytes: &[u8], model: &Model, run_id: u32) -> Result<Event, Refusal> {
    let least = HEADER_BYTES + 4 + 8 + 24 + 24 + 8;
    let r: PushRequest = claimed(Kind::Push, bytes, format!("{least} and the link's name"))?;
    check_epoch(r.run_id, run_id)?;
    let Some(frame) = model.frame(&r.link) else {
        let name = shown(&r.link);
        let text = format!("link is {name:?}; it must be the name of a link of the robot");
        return Err(Refusal { reason: Rejection::OutOfRange, text });
    };
    let vectors = [
        ("point_link_m", r.point_link_m, POINT_MAX_M),
        ("force_world_n", r.force_world_n, FORCE_MAX_N),
    ];
    for (name, vector, max) in vectors {
        for x in vector {
            check_number(name, x, x.abs() <= max, format!("-{max} to {max} along each axis"))?;
        }
    }
    check_ticks("ticks", r.ticks, 1)?;
    Ok(Event::Push {
        body: frame.body as u32,
        point_B: frame.X_BF.point(&r.point_link_m.into()).into(),
        force_W: r.force_world_n,
        ticks: r.ticks,
    })
}

/// Makes a state of the bytes of one, if they are of this robot and scenario. Whether the words
/// make sense, only a plant can tell.
///
/// # Errors
/// The first [`Refusal`] that applies, in the order size (of the header), version, size, layout,
/// physics.
pub fn check_saved(
    bytes: &[u8],
    layout_hash: u64,
    physics_hash: u64,
) -> Result<SavedState, Refusal> {
    let saved: SavedState = claimed(Kind::SavedState, bytes, "as long as snapshot gives it")?;
    saved.check(layout_hash, physics_hash)?;
    Ok(saved)
}

/// # Errors
/// [`Rejection::OutOfRange`].
pub(super) fn check_ticks(name: &str, ticks: u64, min: u64) -> Result<(), Refusal> {
    if (min..=TICKS_MAX).contains(&ticks) {
        return Ok(());
    }
    let text = format!("{name} is {ticks}; it must be {min} to {TICKS_MAX}");
    Err(Refusal { reason: Rejection::OutOfRange, text })
}
