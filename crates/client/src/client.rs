//! A connection to a daemon.

use std::time::{Duration, Instant};

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{
    EventReading, GroundReply, Keys, Kind, ModelReply, StatusReading, ViewReading, decode,
};
use serde::de::DeserializeOwned;
use zenoh::handlers::{FifoChannel, FifoChannelHandler, RingChannel, RingChannelHandler};
use zenoh::pubsub::Subscriber;
use zenoh::sample::Sample;
use zenoh::{Session, Wait};

use crate::Credentials;
use crate::session::{bus_error, check_robot, is_connected, open_unconnected};

/// A session with a daemon.
#[derive(Debug)]
pub struct Client {
    pub(crate) session: Session,
    pub(crate) keys: Keys,
    pub(crate) robot: String,
    pub(crate) asker: String,
    /// The endpoint, and who connects: for messages.
    place: String,
}

impl Client {
    /// Connects to the daemon at `endpoint` that simulates `robot`. zenoh connects in the
    /// background; [`model`](Self::model) waits for the connection.
    ///
    /// # Errors
    /// `ErrorKind::Input` if the endpoint or the robot's name is malformed.
    pub fn connect(endpoint: &str, robot: &str) -> Result<Self> {
        Self::connect_as(endpoint, robot, &Credentials::default())
    }

    /// Likewise, to a daemon with access control. A daemon that rejects the credentials does not
    /// answer.
    ///
    /// # Errors
    /// `ErrorKind::Input` if endpoint or name is malformed or a file of secrets is refused,
    /// `ErrorKind::File` if it cannot be read.
    pub fn connect_as(endpoint: &str, robot: &str, credentials: &Credentials) -> Result<Self> {
        check_robot(robot)?;
        let session = open_unconnected(endpoint, credentials)?;
        let asker = format!("pid-{}", std::process::id());
        let place = match &credentials.user {
            Some((user, _)) => format!("{endpoint} as user {user}"),
            None => endpoint.into(),
        };
        Ok(Self { session, keys: Keys::of(robot), robot: robot.into(), asker, place })
    }

    /// The same session for another robot of the daemon.
    ///
    /// # Errors
    /// `ErrorKind::Input` if the robot's name is malformed.
    pub fn of_robot(&self, robot: &str) -> Result<Self> {
        check_robot(robot)?;
        let (session, asker) = (self.session.clone(), self.asker.clone());
        let (keys, place) = (Keys::of(robot), self.place.clone());
        Ok(Self { session, keys, robot: robot.into(), asker, place })
    }

    /// The same, with the name by which its orders appear in events and logs: 1 to 64 letters,
    /// digits, "-", "_" or ".". By default it is made from the number of this process.
    #[must_use]
    pub fn named(self, asker: &str) -> Self {
        Self { asker: asker.into(), ..self }
    }

    /// Puts a message under a key that is not one of Hardstand's, such as that of a topic of ROS 2.
    ///
    /// # Errors
    /// `ErrorKind::Bus` if the session is closed.
    pub fn put(&self, key: &str, bytes: &[u8]) -> Result<()> {
        self.session.put(key, bytes).wait().map_err(|e| bus_error(key, e))
    }

    /// True while there is a connection.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        is_connected(&self.session)
    }

    /// The description of the robot; repeats the query for `patience`.
    ///
    /// # Errors
    /// `ErrorKind::Bus` if no daemon answers in that time.
    pub fn model(&self, patience: Duration) -> Result<ModelReply> {
        let bytes = self.ask(&self.keys.model, &[], patience)?;
        received(Kind::Model, &bytes)
    }

    /// The ground as triangles; repeats the query for `patience`.
    ///
    /// # Errors
    /// `ErrorKind::Bus` if no daemon answers in that time.
    pub fn ground(&self, patience: Duration) -> Result<GroundReply> {
        let bytes = self.ask(&self.keys.ground, &[], patience)?;
        received(Kind::Ground, &bytes)
    }

    /// The robot's URDF; repeats the query for `patience`.
    ///
    /// # Errors
    /// `ErrorKind::Bus` if no daemon answers in that time.
    pub fn urdf(&self, patience: Duration) -> Result<String> {
        let bytes = self.ask(&self.keys.urdf, &[], patience)?;
        String::from_utf8(bytes).map_err(|e| bus_error(&self.keys.urdf, e))
    }

    /// The status; repeats the query for `patience`.
    ///
    /// # Errors
    /// `ErrorKind::Bus` if no daemon answers in that time.
    pub fn status(&self, patience: Duration) -> Result<StatusReading> {
        let bytes = self.ask(&self.keys.status, &[], patience)?;
        received(Kind::Status, &bytes)
    }

    /// Subscribes to views: the newest is kept, at most 60 come per second.
    ///
    /// # Errors
    /// `ErrorKind::Bus` if the subscriber cannot be declared.
    pub fn views(&self) -> Result<Views> {
        let subscriber = self.session.declare_subscriber(self.keys.view.clone());
        let subscriber = subscriber.with(RingChannel::new(1)).wait();
        subscriber.map(Views).map_err(|e| bus_error(&self.keys.view, e))
    }

    /// The view of a robot that waits, stands paused or has stopped.
    ///
    /// # Errors
    /// `ErrorKind::Bus` if no daemon answers within `patience`; `ErrorKind::Log` if the answer
    /// does not decode: the robot has run since the daemon began.
    pub fn standing_view(&self, patience: Duration) -> Result<ViewReading> {
        let bytes = self.ask(&self.keys.view, &[], patience)?;
        received(Kind::View, &bytes)
    }

    /// Subscribes to the events of the daemon's runs.
    ///
    /// # Errors
    /// `ErrorKind::Bus` if the subscriber cannot be declared.
    pub fn events(&self) -> Result<Events> {
        let subscriber = self.session.declare_subscriber(self.keys.events.clone());
        let subscriber = subscriber.with(FifoChannel::new(EVENTS_KEPT)).wait();
        subscriber.map(Events).map_err(|e| bus_error(&self.keys.events, e))
    }

    /// The number of the current run.
    pub(crate) fn run_id(&self, patience: Duration) -> Result<u32> {
        Ok(self.model(patience)?.run_id)
    }

    /// Sends a query, and repeats it until a daemon answers. The daemon executes an order once,
    /// however often it comes.
    pub(crate) fn ask(&self, key: &str, payload: &[u8], patience: Duration) -> Result<Vec<u8>> {
        let (begin, mut pause) = (Instant::now(), AGAIN_AFTER);
        loop {
            let left = patience.saturating_sub(begin.elapsed());
            let query = self.session.get(key).timeout(left.clamp(AGAIN_AFTER, ANSWERED_WITHIN));
            let query = if payload.is_empty() { query } else { query.payload(payload) };
            let replies = query.wait().map_err(|e| bus_error(key, e))?;
            for reply in replies.iter() {
                if let Ok(sample) = reply.result() {
                    return Ok(sample.payload().to_bytes().into_owned());
                }
            }
            if begin.elapsed() >= patience {
                return Err(self.no_answer(key));
            }
            std::thread::sleep(pause.min(patience.saturating_sub(begin.elapsed())));
            pause = (2 * pause).min(AGAIN_AFTER_MAX);
        }
    }

    fn no_answer(&self, key: &str) -> Error {
        let Self { place, robot, .. } = self;
        let why = if self.is_connected() {
            format!(
                "{place} is connected; check that its robot is {robot}, and that the user may do \
                 this"
            )
        } else {
            format!(
                "there is no connection to {place}; check that it listens there and has room for \
                 another session (bus.sessions_max), and check the credentials"
            )
        };
        Error::new(ErrorKind::Bus, format!("no daemon answers on {key}: {why}"))
    }
}

/// Decodes a message of the daemon.
pub(crate) fn received<T: DeserializeOwned>(kind: Kind, bytes: &[u8]) -> Result<T> {
    decode(kind, bytes).map_err(|e| bus_error("a message of the daemon", e))
}

/// A query without an answer is repeated after this.
const ANSWERED_WITHIN: Duration = Duration::from_secs(1);
/// A query that no daemon has received, since the connection is not there yet, is repeated after
/// this, each time twice as late.
const AGAIN_AFTER: Duration = Duration::from_millis(2);
const AGAIN_AFTER_MAX: Duration = Duration::from_millis(50);
const DAY: Duration = Duration::from_secs(24 * 3600);
/// Events that can wait in a subscriber; zenoh waits if there are more.
const EVENTS_KEPT: usize = 1000;

/// A subscriber of the events of a daemon's runs.
#[derive(Debug)]
pub struct Events(Subscriber<FifoChannelHandler<Sample>>);

impl Events {
    /// The next event; `None` after `patience` without one. What is not an event, as others may
    /// publish under the same key, is passed over.
    ///
    /// # Errors
    /// `ErrorKind::Bus` if the session is closed.
    pub fn next(&self, patience: Duration) -> Result<Option<EventReading>> {
        let begin = Instant::now();
        loop {
            // a day: the channel cannot add up more than an instant holds
            let left = patience.saturating_sub(begin.elapsed()).min(DAY);
            let sample = self.0.recv_timeout(left).map_err(|e| bus_error("events", e))?;
            let Some(sample) = sample else {
                if begin.elapsed() < patience {
                    continue;
                }
                return Ok(None);
            };
            if let Ok(event) = decode(Kind::Event, &sample.payload().to_bytes()) {
                return Ok(Some(event));
            }
        }
    }
}

/// A subscriber of views.
#[derive(Debug)]
pub struct Views(Subscriber<RingChannelHandler<Sample>>);

impl Views {
    /// The newest view that has not been given yet; `None` after `patience` without one.
    ///
    /// # Errors
    /// `ErrorKind::Bus` if the session is closed, `ErrorKind::Log` if it does not decode.
    pub fn next(&self, patience: Duration) -> Result<Option<ViewReading>> {
        let sample = self.0.recv_timeout(patience).map_err(|e| bus_error("view", e))?;
        sample.map(|sample| received(Kind::View, &sample.payload().to_bytes())).transpose()
    }
}
