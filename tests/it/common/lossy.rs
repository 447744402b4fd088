//! A relay between controllers and a daemon that loses messages: states on the way out, commands on
//! the way in, and answers to queries.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use hardstand_client::session::{json_list, open, open_client};
use zenoh::liveliness::LivelinessToken;
use zenoh::sample::SampleKind;
use zenoh::{Session, Wait};

use super::dice::Dice;

/// How many of a hundred messages are lost.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    pub states: u64,
    pub commands: u64,
    pub replies: u64,
    pub seed: u64,
}

impl Loss {
    /// As an unlucky link has it: each kind of message.
    pub const fn of_all(percent: u64, seed: u64) -> Self {
        Self { states: percent, commands: percent, replies: percent, seed }
    }
}

/// Loses some percent of what it is asked about, and counts them.
struct Sieve {
    percent: u64,
    dice: Mutex<Dice>,
    lost: Arc<AtomicU64>,
}

impl Sieve {
    fn new(percent: u64, seed: u64) -> Self {
        let dice = Mutex::new(Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1));
        Self { percent, dice, lost: Arc::default() }
    }

    fn loses(&self) -> bool {
        let roll = self.dice.lock().unwrap_or_else(PoisonError::into_inner).roll(100);
        let loses = roll < self.percent;
        self.lost.fetch_add(u64::from(loses), Ordering::Relaxed);
        loses
    }
}

/// The relay; it ends when dropped.
pub struct Lossy {
    /// Where controllers connect.
    pub endpoint: String,
    lost: [Arc<AtomicU64>; 3],
    _sessions: [Session; 2],
}

impl Lossy {
    /// A relay to the daemon at `daemon`, with a socket in `dir`.
    pub fn start(dir: &Path, daemon: &str, loss: Loss) -> Self {
        let endpoint = format!("unixsock-stream/{}", dir.join("lossy.sock").display());
        let far = open_client(daemon).unwrap();
        let near = open(&vec![
            ("mode", "\"router\"".into()),
            ("listen/endpoints", json_list(std::slice::from_ref(&endpoint))),
        ])
        .unwrap();
        let lost = [
            relay_states(&far, &near, Sieve::new(loss.states, loss.seed)),
            relay_commands(&near, &far, Sieve::new(loss.commands, loss.seed + 1)),
            relay_queries(&near, &far, Sieve::new(loss.replies, loss.seed + 2)),
        ];
        relay_signs_of_life(&near, &far);
        Self { endpoint, lost, _sessions: [far, near] }
    }

    /// Lost states, commands and replies.
    pub fn lost(&self) -> [u64; 3] {
        self.lost.each_ref().map(|lost| lost.load(Ordering::Relaxed))
    }
}

/// What `from` hears on the keys that match `pattern`, `to` puts, but for what is lost.
fn relay(
    from: &Session,
    to: &Session,
    pattern: &str,
    loses: impl Fn() -> bool + Send + Sync + 'static,
) {
    let to = to.clone();
    let heard = from.declare_subscriber(pattern).callback(move |sample| {
        if !loses() {
            let (key, bytes) = (sample.key_expr().clone(), sample.payload().clone());
            to.put(key, bytes).express(true).wait().unwrap();
        }
    });
    heard.background().wait().unwrap();
}

fn relay_states(far: &Session, near: &Session, sieve: Sieve) -> Arc<AtomicU64> {
    let lost = Arc::clone(&sieve.lost);
    relay(far, near, "hardstand/*/state/**", move || sieve.loses());
    relay(far, near, "hardstand/*/events", || false);
    lost
}

fn relay_commands(near: &Session, far: &Session, sieve: Sieve) -> Arc<AtomicU64> {
    let lost = Arc::clone(&sieve.lost);
    relay(near, far, "hardstand/*/cmd", move || sieve.loses());
    lost
}

fn relay_queries(near: &Session, far: &Session, sieve: Sieve) -> Arc<AtomicU64> {
    let (far, lost, sieve) = (far.clone(), Arc::clone(&sieve.lost), Arc::new(sieve));
    let asked = near.declare_queryable("hardstand/**").complete(true).callback(move |query| {
        let payload = query.payload().cloned().unwrap_or_default();
        let (sieve, key) = (Arc::clone(&sieve), query.key_expr().clone());
        let answers = far.get(key.clone()).payload(payload).callback(move |reply| {
            if let (Ok(sample), false) = (reply.result(), sieve.loses()) {
                let _asker_is_there = query.reply(&key, sample.payload().clone()).wait().is_ok();
            }
        });
        answers.wait().unwrap();
    });
    asked.background().wait().unwrap();
    lost
}

/// The daemon sees which controllers of `near` are there.
fn relay_signs_of_life(near: &Session, far: &Session) {
    let far = far.clone();
    let tokens = Mutex::new(BTreeMap::<String, LivelinessToken>::new());
    let live = near.liveliness().declare_subscriber("hardstand/*/alive/*").history(true);
    let seen = live.callback(move |sample| {
        let mut tokens = tokens.lock().unwrap_or_else(PoisonError::into_inner);
        let key = sample.key_expr().as_str().to_owned();
        if sample.kind() == SampleKind::Delete {
            tokens.remove(&key);
        } else {
            let token = far.liveliness().declare_token(key.clone()).wait().unwrap();
            tokens.insert(key, token);
        }
    });
    seen.background().wait().unwrap();
}
