//! The place of a stream of orders: each one replaces the one that still waits.

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};

/// Holds the newest of a stream, so that no stream takes the places of other orders.
#[derive(Debug)]
pub(super) struct StreamSlot<T> {
    put: Sender<T>,
    newest: Receiver<T>,
}

impl<T> Clone for StreamSlot<T> {
    fn clone(&self) -> Self {
        Self { put: self.put.clone(), newest: self.newest.clone() }
    }
}

impl<T> StreamSlot<T> {
    pub(super) fn new() -> Self {
        let (put, newest) = bounded(1);
        Self { put, newest }
    }

    /// Puts the newest one in; the one that waits goes.
    pub(super) fn put(&self, mut newest: T) {
        while let Err(TrySendError::Full(again)) = self.put.try_send(newest) {
            let _replaced = self.newest.try_recv().is_ok();
            newest = again;
        }
    }

    /// Where the newest one comes out.
    pub(super) const fn newest(&self) -> &Receiver<T> {
        &self.newest
    }

    /// Takes the one that waits if `is_wanted`.
    pub(super) fn take_if(&self, is_wanted: impl FnOnce(&T) -> bool) -> Option<T> {
        let waiting = self.newest.try_recv().ok()?;
        if is_wanted(&waiting) {
            return Some(waiting);
        }
        // one that has come meanwhile is newer
        let _back = self.put.try_send(waiting).is_ok();
        None
    }
}
