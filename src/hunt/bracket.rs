//! The least step of a scale at which something happens, in few trials.

/// Narrows down where on a scale of whole steps something begins to happen. At 0 it does not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bracket {
    /// The largest step so far at which it does not happen.
    not_at: usize,
    /// The smallest one at which it happens; one more than the last step if none is known.
    at: usize,
    last: usize,
    next: usize,
    /// Steps of the next stride away from the guess, until both ends are known.
    stride: usize,
}

impl Bracket {
    /// Steps 1 to `last`, of which `guess` is tried first. Its neighbours are next, so a good guess
    /// takes two trials; without one, halves are.
    pub(super) fn new(last: usize, guess: Option<usize>) -> Self {
        let middle = last.div_ceil(2);
        let next = guess.map_or(middle, |step| step.clamp(1, last));
        let stride = if guess.is_some() { 1 } else { last };
        Self { not_at: 0, at: last + 1, last, next, stride }
    }

    /// The step to try; `None` once it is known.
    pub(super) const fn next(&self) -> Option<usize> {
        if self.at - self.not_at > 1 { Some(self.next) } else { None }
    }

    /// Takes what came out at [`next`](Self::next).
    pub(super) fn tell(&mut self, happens: bool) {
        if happens {
            self.at = self.next;
        } else {
            self.not_at = self.next;
        }
        let open = if happens { self.not_at == 0 } else { self.at > self.last };
        let middle = self.not_at + (self.at - self.not_at) / 2;
        self.next = match (open, happens) {
            (true, true) => self.at.saturating_sub(self.stride).max(middle.min(self.at - 1)),
            (true, false) => (self.not_at + self.stride).min(middle.max(self.not_at + 1)),
            (false, _) => middle,
        };
        self.stride *= 2;
    }

    /// The least step at which it happens; `None` if it happens at none.
    pub(super) fn found(&self) -> Option<usize> {
        (self.at <= self.last).then_some(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::Bracket;

    /// What is found if it happens from `limit` on, and after how many trials.
    fn search(last: usize, guess: Option<usize>, limit: usize) -> (Option<usize>, usize) {
        let (mut bracket, mut trials) = (Bracket::new(last, guess), 0);
        while let Some(step) = bracket.next() {
            assert!((1..=last).contains(&step), "{step} of {last}");
            bracket.tell(step >= limit);
            trials += 1;
        }
        (bracket.found(), trials)
    }

    #[test]
    fn every_limit_is_found_from_every_guess() {
        for last in [1, 2, 3, 7, 40, 80] {
            let guesses = std::iter::once(None).chain((0..=last + 1).map(Some));
            for (guess, limit) in guesses.flat_map(|g| (1..=last + 1).map(move |l| (g, l))) {
                let (found, trials) = search(last, guess, limit);
                assert_eq!(found, (limit <= last).then_some(limit), "{last}, {guess:?}");
                // at worst the way out by doubled strides, and back by halves
                let most = 2 * (usize::BITS - last.leading_zeros()) as usize + 1;
                assert!(trials <= most, "{trials} trials for {limit} of {last} from {guess:?}");
            }
        }
    }

    #[test]
    fn a_good_guess_takes_two_trials_and_halves_take_the_logarithm() {
        assert_eq!(search(80, Some(33), 33), (Some(33), 2));
        assert_eq!(search(80, Some(33), 34), (Some(34), 2));
        let mean = (1..=81).map(|limit| search(80, None, limit).1).sum::<usize>() as f64 / 81.0;
        assert!((6.0..6.7).contains(&mean), "{mean}");
    }
}
