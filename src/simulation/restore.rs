//! Snapshots of the complete state, and going on from one.

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_physics::plant::{Walk, Word};
use hardstand_physics::spatial::{Quaternion, Vec3};

use super::word_ranges::WordRange;
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
        if let Err(e) = self.set_words(words) {
            *self.plant.state_mut() = before.0;
            return Err(e);
        }
        let Some(objection) = self.objection(words) else {
            self.wake();
            return Ok(());
        };
        (*self.plant.state_mut(), self.arbitration, self.faults) = before;
        Err(Error::new(ErrorKind::Log, format!("a snapshot's {objection}")))
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
        let others = expected - self.plant.state_mut().word_count();
        let fits = self.plant.state_mut().fit(words.len(), others);
        let (Some((&digest, state)), true) = (words.split_last(), fits) else {
            let got = words.len();
            let text = format!("a snapshot has {got} words; this robot's has {expected}");
            return Err(Error::new(ErrorKind::Log, text));
        };
        self.overwrite(state.iter().copied());
        self.plant.state_mut().digest = digest;
        Ok(())
    }

    /// The first of `words`, which this state was set to, that no run can produce.
    fn objection(&mut self, words: &[u64]) -> Option<String> {
        if self.word_count() + 1 != words.len() {
            return Some("touch.count is not the number of points that follow".into());
        }
        let mut found = None;
        let mut rest = words.iter();
        let mut ranges = self.word_ranges().into_iter();
        self.walk(&mut |group, index, word| {
            let (Some(given), Some(range)) = (rest.next(), ranges.next()) else { return };
            let objection = match range {
                None => Some("without a range".to_owned()),
                Some(range) => range.objection(*given, &word),
            };
            if let (None, Some(text)) = (&found, objection) {
                found = Some(format!("{group}[{index}] is {text}"));
            }
        });
        found.or_else(|| self.disagreement())
    }

    /// The range of each word, in their order; `None` for one that has none.
    pub(super) fn word_ranges(&mut self) -> Vec<Option<WordRange>> {
        let (names, tick) = (self.word_names(), self.tick());
        names.into_iter().map(|(group, i)| WordRange::of(self, tick, group, i)).collect()
    }

    /// Words that contradict each other.
    fn disagreement(&self) -> Option<String> {
        let square_of = |q: &Quaternion| q.wxyz().iter().map(|x| x * x).sum::<f64>();
        let is_unit = |square: f64| ((1.0 - 1e-6)..=(1.0 + 1e-6)).contains(&square);
        let mut bodies = self.state().bodies.iter();
        if let Some(i) = bodies.position(|b| !is_unit(square_of(&b.quat_WB))) {
            return Some(format!("body.quat_WB_wxyz of body {i} is not of length 1"));
        }
        let square = square_of(&self.state().q.quat_WB);
        if !is_unit(square) {
            return Some(format!("base.quat_WB_wxyz has the length² {square:e}; it must be 1"));
        }
        let is_possible = |fault: &_| check_fault(fault, self.model(), self.spec()).is_ok();
        if !self.arbitration.is_sensible() {
            Some("leases contradict each other".to_owned())
        } else if !self.faults.all(is_possible) {
            Some("faults are such as cannot be requested".to_owned())
        } else {
            None
        }
    }

    /// Puts the base elsewhere, see
    /// [`Plant::place_base`](hardstand_physics::plant::Plant::place_base).
    pub fn place_base(&mut self, quat_WB: Quaternion, p_WB: Vec3, w_WB: Vec3, v_WB: Vec3) {
        self.plant.place_base(quat_WB, p_WB, w_WB, v_WB);
        self.wake();
    }
}
