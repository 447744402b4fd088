//! Saved states: made from a plant, and put back into one.

use crate::simulation::Simulation;
use hardstand_error::{Error, ErrorKind};
use hardstand_protocol::Rejection;
use hardstand_protocol::{Kind, Refusal, SavedState};

use super::order::{check_layout, claimed};

/// Where a run is now.
#[derive(Clone, Copy, Debug)]
pub struct Present {
    /// Its number.
    pub run_id: u32,
    /// Ticks done.
    pub tick: u64,
    /// Digest of the state.
    pub digest: u64,
}

/// The state in which `simulation` is, without the names of its controllers.
#[must_use]
pub fn save(simulation: &mut Simulation, physics_hash: u64, run_id: u32) -> SavedState {
    let (layout_hash, tick) = (simulation.layout_hash(), simulation.state().tick);
    let words = simulation.snapshot_words();
    SavedState { layout_hash, physics_hash, run_id, tick, words, ..SavedState::default() }.summed()
}

/// `simulation` in the state `saved`; `physics_hash` is that of the plant's robot and scenario.
///
/// # Errors
/// [`ErrorKind::Input`] if the state is another robot's or scenario's, or a run cannot go on from
/// it.
pub fn restored(
    saved: &SavedState,
    mut simulation: Simulation,
    physics_hash: u64,
) -> crate::Result<Simulation> {
    let refuse = |text| Error::new(ErrorKind::Input, format!("the saved state: {text}"));
    check_origin(saved, simulation.layout_hash(), physics_hash)?;
    simulation.restore(&saved.words).map_err(|e| refuse(e.to_string()))?;
    match simulation.failure() {
        Some(failure) => Err(refuse(format!("it is not one to go on from: {}", failure.words()))),
        None => Ok(simulation),
    }
}

/// Whether a saved state is undamaged, and of this robot and scenario.
///
/// # Errors
/// [`ErrorKind::Input`] if it is not.
pub fn check_origin(saved: &SavedState, layout_hash: u64, physics_hash: u64) -> crate::Result<()> {
    check_hashes(saved, layout_hash, physics_hash)
        .map_err(|r| Error::new(ErrorKind::Input, format!("the saved state: {}", r.text)))
}

/// Decodes a body with a saved state and checks that it is of this robot and scenario. Whether its
/// words make sense, only a plant can decide.
///
/// # Errors
/// The first [`Refusal`] that applies, in the order size, layout, physics.
pub fn check_saved(
    body: &[u8],
    layout_hash: u64,
    physics_hash: u64,
) -> Result<SavedState, Refusal> {
    let saved: SavedState = claimed(Kind::SavedState, body, "as long as snapshot gives it")?;
    check_hashes(&saved, layout_hash, physics_hash)?;
    Ok(saved)
}

fn check_hashes(saved: &SavedState, layout_hash: u64, physics_hash: u64) -> Result<(), Refusal> {
    let (sum, got) = (saved.sum(), saved.checksum);
    if sum != got {
        let text = format!("checksum is {got:016x}; its contents have {sum:016x}: it is damaged");
        return Err(Refusal { reason: Rejection::OutOfRange, text });
    }
    check_layout(saved.layout_hash, layout_hash)?;
    if saved.physics_hash == physics_hash {
        return Ok(());
    }
    let got = saved.physics_hash;
    let text = format!(
        "physics_hash is {got:016x}; it must be {physics_hash:016x}: the state is from another \
         robot or scenario"
    );
    Err(Refusal { reason: Rejection::Layout, text })
}
