//! The other side of the bus: what a controller in Rust uses.

use std::time::{Duration, Instant};

use zenoh::handlers::{RingChannel, RingChannelHandler};
use zenoh::pubsub::Subscriber;
use zenoh::qos::{CongestionControl, Priority};
use zenoh::sample::Sample;
use zenoh::{Session, Wait};

use crate::error::{Error, ErrorKind, Result};
use crate::message::{
    ClaimedCommand, FrictionReply, FrictionRequest, Kind, ModelReply, StatusReading, decode,
    encode, encode_command, new_session,
};
use crate::plant::{Authority, JointCommand, Scope, StateReading};

use super::{Credentials, Keys, bus_error, open_client_as};

/// A session with a daemon.
#[derive(Debug)]
pub struct Client {
    session: Session,
    keys: Keys,
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

    /// Changes the coefficients of friction of `scope` in the run that `model` describes, and gives
    /// the tick from whose start on they hold. A daemon that does not answer is asked again, so
    /// the change may be in its log twice.
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
        let ModelReply { layout_hash, epoch, .. } = *model;
        let request = FrictionRequest::new(layout_hash, epoch, scope, mu_static, mu_kinetic);
        let mut payload = Vec::new();
        encode(Kind::Friction, &request, &mut payload)?;
        let bytes = self.ask(&self.keys.friction, &payload, patience)?;
        received::<FrictionReply>(Kind::FrictionReply, &bytes)?.tick()
    }

    fn ask(&self, key: &str, payload: &[u8], patience: Duration) -> Result<Vec<u8>> {
        let begin = Instant::now();
        loop {
            let query = self.session.get(key).timeout(Duration::from_secs(1));
            let query = if payload.is_empty() { query } else { query.payload(payload) };
            let replies = query.wait().map_err(|e| bus_error(key, e))?;
            for reply in replies.iter() {
                if let Ok(sample) = reply.result() {
                    return Ok(sample.payload().to_bytes().into_owned());
                }
            }
            if begin.elapsed() >= patience {
                return Err(Error::new(
                    ErrorKind::Bus,
                    format!("nobody answers on {key}; is the daemon running, and are you let in?"),
                ));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
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
        let commands = self
            .session
            .declare_publisher(self.keys.cmd.clone())
            .congestion_control(CongestionControl::Drop)
            .priority(Priority::RealTime)
            .express(true)
            .wait()
            .map_err(|e| bus_error(&self.keys.cmd, e))?;
        let claim = ClaimedCommand {
            layout_hash: model.layout_hash,
            epoch: model.epoch,
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
    commands: zenoh::pubsub::Publisher<'static>,
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
        (self.claim.epoch, self.claim.answers_tick) = (state.epoch, state.tick);
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
fn received<T: serde::de::DeserializeOwned>(kind: Kind, bytes: &[u8]) -> Result<T> {
    decode(kind, bytes).map_err(|e| bus_error("a message of the daemon", e))
}
