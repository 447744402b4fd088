//! Requests that wait for answers of the loop.

/// Waiters for the answer to one order, which may come again before it is answered.
const WAITERS_MAX: usize = 8;

/// Waiters with the numbers of their requests, in the order in which they came.
#[derive(Debug)]
pub(super) struct Waiters<W>(Vec<(u64, W)>);

impl<W> Waiters<W> {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds one. Of too many for one request the first gets no answer: it would have asked again,
    /// as those after it did.
    pub(super) fn add(&mut self, number: u64, waiter: W) {
        let mut places = self.0.iter().enumerate().filter(|(_, (of, _))| *of == number);
        let first = places.next().map(|(place, _)| place);
        if let Some(first) = first.filter(|_| places.count() + 1 >= WAITERS_MAX) {
            self.0.remove(first);
        }
        self.0.push((number, waiter));
    }

    /// Takes those for the request with this number.
    pub(super) fn take(&mut self, number: u64) -> impl Iterator<Item = W> {
        self.0.extract_if(.., move |(of, _)| *of == number).map(|(_, waiter)| waiter)
    }
}

#[cfg(test)]
mod tests {
    use super::{WAITERS_MAX, Waiters};

    /// The same order again and again costs no memory, and no other order its answer.
    #[test]
    fn an_order_that_comes_without_end_has_a_limited_number_of_waiters() {
        let mut waiters = Waiters::new();
        waiters.add(1, 0);
        (1..=1000).for_each(|n| waiters.add(2, n));
        waiters.add(3, 2000);
        assert_eq!(waiters.0.len(), WAITERS_MAX + 2);
        let newest: Vec<_> = (1001 - WAITERS_MAX..=1000).collect();
        assert_eq!(waiters.take(2).collect::<Vec<_>>(), newest);
        assert_eq!(waiters.take(1).collect::<Vec<_>>(), [0]);
        assert_eq!(waiters.take(3).collect::<Vec<_>>(), [2000]);
        assert!(waiters.0.is_empty());
    }
}
