//! Buffer pools between the physics thread and the I/O threads: bounded channels of recycled boxes.
//!
//! A sender takes a free box, fills it in place and sends it; the receiver gives it back. Neither
//! side allocates after start-up or blocks: both use only `try_send` and `try_recv`. A receiver
//! that *parks* would make the sender's `try_send` take a lock and wake it by a system call, so
//! threads that receive from the physics thread poll at intervals of their own.
//!
//! ```
//! let (out, inbox) = hardstand::buffer_pool::pool(2, || 0_u32);
//! let mut b = out.take_free().ok_or("none free")?;
//! *b = 7;
//! out.send(b);
//! let got = inbox.take().ok_or("nothing there")?;
//! assert_eq!(*got, 7);
//! inbox.give_back(got);
//! # Ok::<(), &str>(())
//! ```

mod command_queue;
mod emergency_stop;
mod notifier;
mod run;

pub use command_queue::{CommandReceiver, CommandSender, OWNERS, Sent, command_queue};
pub use emergency_stop::{EmergencyStop, StopTaken};
pub use notifier::{Notifier, Waiter, bell};
pub use run::Run;

use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};

/// The sending side of a buffer pool.
#[derive(Clone, Debug)]
pub struct Outbox<T> {
    full: Sender<Box<T>>,
    sent: Receiver<Box<T>>,
    free: Receiver<Box<T>>,
    unsent: Sender<Box<T>>,
    bell: Option<Notifier>,
}

/// The receiving side of a buffer pool.
#[derive(Clone, Debug)]
pub struct Inbox<T> {
    full: Receiver<Box<T>>,
    free: Sender<Box<T>>,
}

/// A channel whose memory has been written once, so that the loop causes no page fault in it.
pub fn touched_channel<T: Clone>(capacity: usize, value: &T) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = bounded(capacity);
    while sender.try_send(value.clone()).is_ok() {}
    while receiver.try_recv().is_ok() {}
    (sender, receiver)
}

/// A buffer pool with `count` boxes made by `make`.
pub fn pool<T>(count: usize, make: impl Fn() -> T) -> (Outbox<T>, Inbox<T>) {
    let (full_tx, full_rx) = bounded(count);
    let (free_tx, free_rx) = bounded(count);
    for _ in 0..count {
        // there is room for all of them
        let _sent = free_tx.try_send(Box::new(make())).is_ok();
    }
    (
        Outbox {
            full: full_tx,
            sent: full_rx.clone(),
            free: free_rx,
            unsent: free_tx.clone(),
            bell: None,
        },
        Inbox { full: full_rx, free: free_tx },
    )
}

impl<T> Outbox<T> {
    /// A box to fill; `None` if the receiver has not kept up.
    #[must_use]
    pub fn take_free(&self) -> Option<Box<T>> {
        self.free.try_recv().ok()
    }

    /// Takes back the oldest box that the receiver has not taken yet; for data of which only the
    /// newest value counts.
    #[must_use]
    pub fn recall_oldest(&self) -> Option<Box<T>> {
        self.sent.try_recv().ok()
    }

    /// True if there are boxes that the receiver has not taken yet.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        !self.sent.is_empty()
    }

    /// Sends the box. Cannot fail: the channel has a place for each box.
    pub fn send(&self, item: Box<T>) {
        let _sent = self.full.try_send(item).is_ok();
        if let Some(bell) = &self.bell {
            bell.ring();
        }
    }

    /// The same sender, which also rings `bell` after each box.
    #[must_use]
    pub fn ringing(self, bell: Notifier) -> Self {
        Self { bell: Some(bell), ..self }
    }

    /// Puts an unused box back.
    pub fn put_back(&self, item: Box<T>) {
        let _sent = self.unsent.try_send(item).is_ok();
    }
}

impl<T> Inbox<T> {
    /// The next box, oldest first; `None` if there is none now.
    #[must_use]
    pub fn take(&self) -> Option<Box<T>> {
        self.full.try_recv().ok()
    }

    /// The next box, or `None` after `patience`. The thread parks, so the sender may have to wake
    /// it by a system call: only for pools between I/O threads.
    #[must_use]
    pub fn take_within(&self, patience: Duration) -> Option<Box<T>> {
        self.full.recv_timeout(patience).ok()
    }

    /// Returns a box to the sender.
    pub fn give_back(&self, item: Box<T>) {
        let _sent = self.free.try_send(item).is_ok();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panic")]
mod tests {
    use super::pool;

    #[test]
    fn boxes_arrive_in_order_and_are_reused() {
        let (out, inbox) = pool(3, || 0_u32);
        for round in 0..100 {
            for n in 0..3 {
                let mut item = out.take_free().unwrap();
                *item = round * 3 + n;
                out.send(item);
            }
            assert!(out.take_free().is_none(), "all three boxes are in use");
            for n in 0..3 {
                let item = inbox.take().unwrap();
                assert_eq!(*item, round * 3 + n);
                inbox.give_back(item);
            }
            assert!(inbox.take().is_none());
        }
    }

    #[test]
    fn a_box_that_is_put_back_is_free_again_and_not_received() {
        let (out, inbox) = pool(1, || 0_u8);
        for _ in 0..10 {
            let item = out.take_free().unwrap();
            assert!(out.take_free().is_none());
            out.put_back(item);
        }
        assert!(inbox.take().is_none());
    }

    #[test]
    fn either_end_can_be_dropped_first() {
        let (out, inbox) = pool(2, || 0_u8);
        let (sent, kept) = (out.take_free().unwrap(), out.take_free().unwrap());
        out.send(sent);
        drop(inbox);
        out.send(kept); // the receiver no longer exists
        assert!(out.take_free().is_none());
        let (out, inbox) = pool(1, || 7_u8);
        out.send(out.take_free().unwrap());
        drop(out);
        let item = inbox.take().unwrap();
        assert_eq!(*item, 7);
        inbox.give_back(item);
        assert!(inbox.take().is_none());
    }

    #[test]
    fn two_threads_exchange_every_box_once_and_in_order() {
        const ITEMS: u64 = 100_000;
        let (out, inbox) = pool(8, || 0_u64);
        let sender = std::thread::spawn(move || {
            let mut next = 0;
            while next < ITEMS {
                let Some(mut item) = out.take_free() else {
                    std::thread::yield_now();
                    continue;
                };
                *item = next;
                out.send(item);
                next += 1;
            }
        });
        let mut expected = 0;
        while expected < ITEMS {
            let Some(item) = inbox.take() else {
                std::thread::yield_now();
                continue;
            };
            assert_eq!(*item, expected);
            inbox.give_back(item);
            expected += 1;
        }
        sender.join().unwrap();
        assert!(inbox.take().is_none());
    }
}
