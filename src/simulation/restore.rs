//! Snapshots of the complete state, and going on from one.

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_physics::plant::{Walk, Word};
use hardstand_physics::spatial::{Quaternion, Vec3};

use super::{Simulation, check_fault};

impl Walk for Simulation {
    fn walk(&mut self, visit: &mut impl FnMut(&'static str, usize, Word<'_>)) {
        let state = self.plant.state_mut();
        state.walk_motion(visit);
        self.arbitration.walk(visit);
        state.walk_pushes(visit);
        self.faults.walk(visit);
        state.walk_contacts(visit);
    }
}

impl Simulation {
    /// The complete state as words and the digest last, for [`restore`](Self::restore).
    #[must_use]
    pub fn snapshot_words(&mut self) -> Vec<u64> {
        let mut words = Vec::new();
        self.write_words(&mut words);
        words
    }

    /// Appends the words of a snapshot to `out`; does not allocate if `out` has room.
    pub fn write_words(&mut self, out: &mut Vec<u64>) {
        self.append_words(out);
        out.push(self.state().digest);
    }

    /// Continues from a snapshot: the following ticks have the same bits as if the simulation had
    /// never stopped. Until the next tick the IMU reads as at rest and the authority is zero, since
    /// neither is state.
    ///
    /// # Errors
    /// [`ErrorKind::Log`] if the snapshot is another robot's or holds what no run can produce; the
    /// simulation is then unchanged.
    pub fn restore(&mut self, words: &[u64]) -> Result<()> {
        let before = (self.state().clone(), self.arbitration.clone(), self.faults);
        self.set_words(words)?;
        if self.is_sensible() {
            self.wake();
            return Ok(());
        }
        (*self.plant.state_mut(), self.arbitration, self.faults) = before;
        let what = "a snapshot holds a tick, count, body, lease or fault that no run can produce";
        Err(Error::new(ErrorKind::Log, what))
    }

    /// [`restore`](Self::restore) from words that another simulation of the same scenario has
    /// accepted. Does not allocate; words of a wrong number change nothing.
    pub fn adopt(&mut self, words: &[u64]) {
        if self.set_words(words).is_ok() {
            self.wake();
        }
    }

    fn set_words(&mut self, words: &[u64]) -> Result<()> {
        let expected = self.word_count() + 1;
        let (Some((&digest, state)), true) = (words.split_last(), words.len() == expected) else {
            let got = words.len();
            let text = format!("a snapshot has {got} words; this robot's has {expected}");
            return Err(Error::new(ErrorKind::Log, text));
        };
        self.overwrite(state.iter().copied());
        self.plant.state_mut().digest = digest;
        Ok(())
    }

    /// Counts and indices that a damaged snapshot could have set beyond all sense.
    fn is_sensible(&self) -> bool {
        let is_possible = |fault: &_| check_fault(fault, self.model(), self.spec()).is_ok();
        self.plant.is_sensible() && self.arbitration.is_sensible() && self.faults.all(is_possible)
    }

    /// Puts the base elsewhere, see
    /// [`Plant::place_base`](hardstand_physics::plant::Plant::place_base).
    pub fn place_base(&mut self, quat_WB: Quaternion, p_WB: Vec3, w_WB: Vec3, v_WB: Vec3) {
        self.plant.place_base(quat_WB, p_WB, w_WB, v_WB);
        self.wake();
    }
}
