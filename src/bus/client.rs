//! The other side of the bus: what a controller in Rust uses.

use std::time::{Duration, Instant};

use serde::Serialize;
use zenoh::handlers::{FifoChannel, FifoChannelHandler, RingChannel, RingChannelHandler};
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::qos::{CongestionControl, Priority};
use zenoh::sample::Sample;
use zenoh::{Session, Wait};

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{Authority, JointCommand, Scope, StateReading};
use hardstand_protocol::{
    ClaimedCommand, ClearFaultsRequest, ControlRequest, EventReading, FaultRequest,
    FrictionRequest, Kind, ModelReply, OrderReply, PushRequest, SavedState, SpeedRequest,
    StatusReading, decode, encode, encode_command, new_session,
};

use super::{Ask, Credentials, Keys, bus_error, open_client_as};

/// A session with a daemon.
#[derive(Debug)]
pub struct Client {
    pub(super) session: Session,
    pub(super) keys: Keys,
}

impl Client {
    /// Connects to the daemon at `endpoint` that simulates `robot`. The connection is made in the
    /// background; [`model`](Self::model) waits for it.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if the endpoint is malformed.
    pub fn connect(endpoint: &str, robot: &str) -> Result<Self> {
        Self::connect_as(endpoint, robot, &Credentials::default())
    }

    /// Likewise, to a daemon that asks for credentials. If it does not like them, it answers as
    /// little as one that is not there.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if the endpoint is malformed or a file of secrets is refused,
    /// [`ErrorKind::File`] if it cannot be read.
    pub fn connect_as(endpoint: &str, robot: &str, credentials: &Credentials) -> Result<Self> {
        Ok(Self { session: open_client_as(endpoint, credentials)?, keys: Keys::of(robot) })
    }

    /// True while there is a connection.
    pub(super) fn is_connected(&self) -> bool {
        let info = self.session.info();
        // the daemon is a router, or where nodes of `rmw_zenoh` have theirs, a peer
        info.routers_zid().wait().next().is_some() || info.peers_zid().wait().next().is_some()
    }

    /// Asks for the description of the robot, again and again until `patience` is over.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`] if no daemon answers in that time.
    pub fn model(&self, patience: Duration) -> Result<ModelReply> {
        let bytes = self.ask(&self.keys.model, &[], patience)?;
        received(Kind::Model, &bytes)
    }

    /// Asks for the status, likewise.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`] if no daemon answers in that time.
    pub fn status(&self, patience: Duration) -> Result<StatusReading> {
        let bytes = self.ask(&self.keys.status, &[], patience)?;
        received(Kind::Status, &bytes)
    }

    /// Begins to hear what happens.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`] if the subscriber cannot be declared.
    pub fn events(&self) -> Result<Events> {
        let subscriber = self.session.declare_subscriber(self.keys.events.clone());
        let subscriber = subscriber.with(FifoChannel::new(EVENTS_KEPT)).wait();
        subscriber.map(Events).map_err(|e| bus_error(&self.keys.events, e))
    }

    /// Changes the coefficients of friction of `scope` in the run that `model` describes, and gives
    /// the tick from whose start on they hold.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] with field, value and range if the daemon refuses it,
    /// [`ErrorKind::Bus`] if no daemon answers within `patience`, or it is too busy.
    pub fn set_friction(
        &self,
        model: &ModelReply,
        scope: Scope,
        mu_static: f64,
        mu_kinetic: f64,
        patience: Duration,
    ) -> Result<u64> {
        let ModelReply { layout_hash, run_id, .. } = *model;
        let request = FrictionRequest::new(layout_hash, run_id, scope, mu_static, mu_kinetic);
        self.order(Ask::Friction, Kind::Friction, &request, patience)
    }

    /// Asks for one of pause, resume, step, run_until and reset, and gives the tick from which on
    /// it holds; for steps, the number of ticks after which the simulation pauses. A daemon that
    /// does not answer is not asked again, since steps would be run twice.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] with field, value and range if the daemon refuses it,
    /// [`ErrorKind::Bus`] if no daemon answers within `patience`, or it is too busy.
    pub fn steer(&self, ask: Ask, request: &ControlRequest, patience: Duration) -> Result<u64> {
        self.order(ask, Kind::Control, request, patience)
    }

    /// Lets more or less time pass per second of wall time, 0 for as much as the machine allows,
    /// from the tick on that is given back.
    ///
    /// # Errors
    /// As [`steer`](Self::steer).
    pub fn set_speed(&self, speed: f64, patience: Duration) -> Result<u64> {
        self.order(Ask::Speed, Kind::Speed, &SpeedRequest { speed }, patience)
    }

    /// Pushes a link, from the tick on that is given back.
    ///
    /// # Errors
    /// As [`steer`](Self::steer).
    pub fn push(&self, request: &PushRequest, patience: Duration) -> Result<u64> {
        self.order(Ask::Push, Kind::Push, request, patience)
    }

    /// Breaks something, from the tick on that is given back.
    ///
    /// # Errors
    /// As [`steer`](Self::steer).
    pub fn fault(&self, request: &FaultRequest, patience: Duration) -> Result<u64> {
        self.order(Ask::Fault, Kind::Fault, request, patience)
    }

    /// Ends faults, from the tick on that is given back.
    ///
    /// # Errors
    /// As [`steer`](Self::steer).
    pub fn clear_faults(&self, request: &ClearFaultsRequest, patience: Duration) -> Result<u64> {
        self.order(Ask::ClearFaults, Kind::ClearFaults, request, patience)
    }

    /// The complete state, which [`restore`](Self::restore) takes.
    ///
    /// # Errors
    /// As [`steer`](Self::steer).
    pub fn snapshot(&self, patience: Duration) -> Result<SavedState> {
        let key = self.keys.order(Ask::Snapshot);
        let bytes = self.ask(key, &[], patience)?;
        // a refusal is a message of another kind
        match decode::<OrderReply>(Kind::OrderReply, &bytes) {
            Ok(refused) => Err(refused.tick().map_or_else(|e| e, |_| bus_error(key, "no state"))),
            Err(_not_refused) => received(Kind::SavedState, &bytes),
        }
    }

    /// Goes on from a state, as the next run; the tick of the state.
    ///
    /// # Errors
    /// As [`steer`](Self::steer).
    pub fn restore(&self, saved: &SavedState, patience: Duration) -> Result<u64> {
        self.order(Ask::Restore, Kind::SavedState, saved, patience)
    }

    pub(super) fn order<T: Serialize>(
        &self,
        ask: Ask,
        kind: Kind,
        request: &T,
        patience: Duration,
    ) -> Result<u64> {
        let mut payload = Vec::new();
        encode(kind, request, &mut payload)?;
        let bytes = self.ask(self.keys.order(ask), &payload, patience)?;
        received::<OrderReply>(Kind::OrderReply, &bytes)?.tick()
    }

    /// Asks, and asks again as long as nobody is there. What carries a payload is not asked again
    /// once it may have arrived.
    pub(super) fn ask(&self, key: &str, payload: &[u8], patience: Duration) -> Result<Vec<u8>> {
        let begin = Instant::now();
        loop {
            let (asked, order) = (Instant::now(), !payload.is_empty());
            let wait = if order { patience } else { Duration::from_secs(1) };
            let query = self.session.get(key).timeout(wait);
            let query = if order { query.payload(payload) } else { query };
            let replies = query.wait().map_err(|e| bus_error(key, e))?;
            for reply in replies.iter() {
                if let Ok(sample) = reply.result() {
                    return Ok(sample.payload().to_bytes().into_owned());
                }
            }
            let lost = order && asked.elapsed() >= wait;
            if lost || begin.elapsed() >= patience {
                return Err(Error::new(
                    ErrorKind::Bus,
                    format!("nobody answers on {key}; is the daemon running, and are you let in?"),
                ));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Where commands are put.
    pub(super) fn declare_commands(&self) -> Result<Publisher<'static>> {
        self.session
            .declare_publisher(self.keys.cmd.clone())
            .congestion_control(CongestionControl::Drop)
            .priority(Priority::RealTime)
            .express(true)
            .wait()
            .map_err(|e| bus_error(&self.keys.cmd, e))
    }

    /// Begins to control the robot: subscribes to its states under a new session.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`] if a key cannot be declared.
    pub fn control(&self, model: &ModelReply) -> Result<Controller> {
        let states = self
            .session
            .declare_subscriber(self.keys.state.clone())
            .with(RingChannel::new(1))
            .wait()
            .map_err(|e| bus_error(&self.keys.state, e))?;
        let commands = self.declare_commands()?;
        let claim = ClaimedCommand {
            layout_hash: model.layout_hash,
            run_id: model.run_id,
            session: new_session(),
            joints: vec![JointCommand::default(); model.joints.len()],
            ..Default::default()
        };
        Ok(Controller { states, commands, claim, owned: false, buffer: Vec::new() })
    }
}

/// One controller: newest state in, command out.
#[derive(Debug)]
pub struct Controller {
    states: Subscriber<RingChannelHandler<Sample>>,
    commands: Publisher<'static>,
    claim: ClaimedCommand,
    owned: bool,
    buffer: Vec<u8>,
}

impl Controller {
    /// The newest state that has not been seen yet; `None` after `patience` without one.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`] if the session is closed or the state does not decode.
    pub fn next_state(&self, patience: Duration) -> Result<Option<StateReading>> {
        let sample = self.states.recv_timeout(patience).map_err(|e| bus_error("state", e))?;
        sample.map(|s| received(Kind::State, &s.payload().to_bytes())).transpose()
    }

    /// Sends the set-points `joints` as the answer to `state`.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`] if it cannot be put.
    pub fn send(&mut self, state: &StateReading, joints: &[JointCommand]) -> Result<()> {
        self.claim.seq += 1;
        (self.claim.run_id, self.claim.answers_tick) = (state.run_id, state.tick);
        self.claim.joints.clear();
        self.claim.joints.extend_from_slice(joints);
        encode_command(&self.claim, &mut self.buffer)?;
        self.commands.put(self.buffer.as_slice()).wait().map_err(|e| bus_error("cmd", e))
    }

    /// This controller's session.
    #[must_use]
    pub const fn session(&self) -> u64 {
        self.claim.session
    }

    /// True if `state` shows that this session had the robot and has lost it, by being late or to
    /// another controller. The daemon refuses all its further commands, so go on with
    /// [`renew_session`](Self::renew_session).
    pub fn has_lost(&mut self, state: &StateReading) -> bool {
        let ours = state.command_session == self.claim.session;
        let in_force = [Authority::Fresh, Authority::Held].map(Authority::code);
        let lost = self.owned && !(ours && in_force.contains(&state.authority));
        self.owned |= ours && state.phase == 1;
        lost
    }

    /// Takes a new session, which has to prove that it lives like any other.
    pub fn renew_session(&mut self) {
        (self.claim.session, self.claim.seq, self.owned) = (new_session(), 0, false);
    }
}

/// Decodes what a daemon has sent.
pub(super) fn received<T: serde::de::DeserializeOwned>(kind: Kind, bytes: &[u8]) -> Result<T> {
    decode(kind, bytes).map_err(|e| bus_error("a message of the daemon", e))
}

/// Events that are kept for who is slow to take them; zenoh waits when there are more.
const EVENTS_KEPT: usize = 1000;

/// What happens in a daemon's runs.
#[derive(Debug)]
pub struct Events(Subscriber<FifoChannelHandler<Sample>>);

impl Events {
    /// The next one; `None` if none has come within `patience`.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`] if the session is closed, [`ErrorKind::Log`] if it does not decode.
    pub fn next(&self, patience: Duration) -> Result<Option<EventReading>> {
        let sample = self.0.recv_timeout(patience);
        let sample = sample.map_err(|e| bus_error("events", e))?;
        sample.map(|sample| received(Kind::Event, &sample.payload().to_bytes())).transpose()
    }
}
