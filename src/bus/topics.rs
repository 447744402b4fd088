//! Keys and payloads defined by other protocols: the zenoh features that `ros2` needs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::Subscriber;
use zenoh::qos::{CongestionControl, Priority};
use zenoh::query::{Query, QueryTarget, Queryable};
use zenoh::{Session, Wait};
use zenoh_ext::{AdvancedPublisher, AdvancedPublisherBuilderExt, CacheConfig};

use crate::fault_point;
use hardstand_error::Result;
use hardstand_protocol::is_exact;

use super::panic_guard::PanicGuard;
use super::{Bus, bus_error};

/// Longest wait for an answer to a probe.
const PROBED_FOR: Duration = Duration::from_millis(300);

/// A published key; knows whether it has subscribers.
#[derive(Debug)]
pub struct Topic {
    publisher: zenoh::pubsub::Publisher<'static>,
    wanted: Arc<AtomicBool>,
}

/// A key with a last message for late subscribers, as ROS 2's *transient local* requires.
#[derive(Debug)]
pub struct LatchedTopic(AdvancedPublisher<'static>);

/// A subscription; dropping it ends it.
#[derive(Debug)]
pub struct Listening(#[expect(dead_code, reason = "undeclared when dropped")] Subscriber<()>);

/// A service under a key; dropping it ends it.
#[derive(Debug)]
pub struct ServiceGuard(#[expect(dead_code, reason = "undeclared when dropped")] Queryable<()>);

/// A query under a key. Dropped without an answer, it gets none.
#[derive(Debug)]
pub struct ServiceCall(Query);

/// A liveliness token; dropping it removes it.
#[derive(Debug)]
pub struct Token(#[expect(dead_code, reason = "undeclared when dropped")] LivelinessToken);

/// Sends queries to find out whether a peer answers.
#[derive(Clone, Debug)]
pub struct Probe(Session);

impl Probe {
    /// True if a peer answers a query of `key` within the time limit.
    #[must_use]
    pub fn is_answered(&self, key: &str) -> bool {
        let asked = self.0.get(key).target(QueryTarget::All).timeout(PROBED_FOR).wait();
        asked.is_ok_and(|replies| replies.iter().any(|reply| reply.result().is_ok()))
    }
}

/// Wall time, for the timestamps of messages.
#[derive(Clone, Debug)]
pub struct WallClock(Session);

impl WallClock {
    /// ns since 1970.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.0.new_timestamp().get_time().to_duration().as_nanos() as u64
    }
}

impl Bus {
    /// The session's id, as in keys.
    #[must_use]
    pub fn id(&self) -> String {
        self.session.zid().to_string()
    }

    /// For queries to other peers.
    #[must_use]
    pub fn probe(&self) -> Probe {
        Probe(self.session.clone())
    }

    /// The session's clock.
    #[must_use]
    pub fn wall_clock(&self) -> WallClock {
        WallClock(self.session.clone())
    }

    /// Declares a key to publish. Messages that a slow subscriber cannot take are dropped.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`](crate::ErrorKind::Bus).
    pub fn topic(&self, key: &str) -> Result<Topic> {
        let failed = |e| bus_error(key, e);
        let publisher = self
            .session
            .declare_publisher(key.to_string())
            .congestion_control(CongestionControl::Drop)
            // not express: a snapshot fills many topics at once, and separate messages overrun
            // zenoh's queue
            .priority(Priority::InteractiveHigh)
            .wait()
            .map_err(failed)?;
        let wanted = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&wanted);
        publisher
            .matching_listener()
            .callback(move |status| flag.store(status.matching(), Ordering::Release))
            .background()
            .wait()
            .map_err(failed)?;
        if publisher.matching_status().wait().is_ok_and(|status| status.matching()) {
            wanted.store(true, Ordering::Release);
        }
        Ok(Topic { publisher, wanted })
    }

    /// Declares a key whose last message is kept.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`](crate::ErrorKind::Bus).
    pub fn latched_topic(&self, key: &str) -> Result<LatchedTopic> {
        let builder = self
            .session
            .declare_publisher(key.to_string())
            .congestion_control(CongestionControl::Drop)
            .advanced()
            .cache(CacheConfig::default().max_samples(1))
            .publisher_detection();
        Ok(LatchedTopic(builder.wait().map_err(|e| bus_error(key, e))?))
    }

    /// Calls `take` with payload and attachment of every message under `key`, on zenoh's threads.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`](crate::ErrorKind::Bus).
    pub fn listen(
        &self,
        key: &str,
        take: impl Fn(&[u8], Option<&[u8]>) + Send + Sync + 'static,
    ) -> Result<Listening> {
        let panic_guard = self.panic_guard.clone();
        let subscriber = self
            .session
            .declare_subscriber(key.to_string())
            .callback(move |sample| {
                panic_guard.guard(|| {
                    fault_point::visit("ros2_command");
                    if !is_exact(sample.key_expr()) {
                        return; // put under a pattern of keys
                    }
                    let attachment = sample.attachment().map(zenoh::bytes::ZBytes::to_bytes);
                    take(&sample.payload().to_bytes(), attachment.as_deref());
                });
            })
            .wait()
            .map_err(|e| bus_error(key, e))?;
        Ok(Listening(subscriber))
    }

    /// Calls `take` with every query under `key`, on zenoh's threads.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`](crate::ErrorKind::Bus).
    pub fn serve(
        &self,
        key: &str,
        take: impl Fn(ServiceCall) + Send + Sync + 'static,
    ) -> Result<ServiceGuard> {
        let panic_guard = self.panic_guard.clone();
        let queryable = self
            .session
            .declare_queryable(key.to_string())
            // clients wait until a queryable is complete for the key
            .complete(true)
            .callback(move |query| {
                // a pattern of keys calls nothing
                if is_exact(query.key_expr()) {
                    panic_guard.guard(|| take(ServiceCall(query)));
                }
            })
            .wait()
            .map_err(|e| bus_error(key, e))?;
        Ok(ServiceGuard(queryable))
    }

    /// Declares the liveliness token `key`.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`](crate::ErrorKind::Bus).
    pub fn token(&self, key: &str) -> Result<Token> {
        let token = self.session.liveliness().declare_token(key.to_string());
        Ok(Token(token.wait().map_err(|e| bus_error(key, e))?))
    }

    /// Shared by all threads that work for this session.
    #[must_use]
    pub fn panic_guard(&self) -> PanicGuard {
        self.panic_guard.clone()
    }
}

impl ServiceCall {
    /// The key of the query.
    #[must_use]
    pub fn key(&self) -> &str {
        self.0.key_expr().as_str()
    }

    /// The payload of the query.
    #[must_use]
    pub fn payload(&self) -> Vec<u8> {
        self.0.payload().map(|p| p.to_bytes().into_owned()).unwrap_or_default()
    }

    /// The attachment; empty without one.
    #[must_use]
    pub fn attachment(&self) -> Vec<u8> {
        self.0.attachment().map(|a| a.to_bytes().into_owned()).unwrap_or_default()
    }

    /// Answers under the key of the query.
    pub fn answer(&self, payload: &[u8], attachment: Option<&[u8]>) {
        let reply = self.0.reply(self.0.key_expr().clone(), payload).attachment(attachment);
        let _peer_may_be_gone = reply.wait().is_ok();
    }
}

impl Topic {
    /// True if the key has subscribers.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Acquire)
    }

    /// Publishes; false on an error of zenoh.
    pub fn put(&self, payload: &[u8], attachment: Option<&[u8]>) -> bool {
        self.publisher.put(payload).attachment(attachment).wait().is_ok()
    }
}

impl LatchedTopic {
    /// Publishes, and replaces the kept message; false on an error of zenoh.
    pub fn put(&self, payload: &[u8], attachment: Option<&[u8]>) -> bool {
        self.0.put(payload).attachment(attachment).wait().is_ok()
    }
}
