//! A controller that has not joined: it takes the newest state and sends commands.

use std::time::Duration;

use hardstand_error::Result;
use hardstand_protocol::{
    Authority, ClaimedCommand, JointCommand, Kind, ModelReply, Phase, StateReading, encode_command,
    public_session, random_number,
};
use zenoh::Wait;
use zenoh::handlers::{RingChannel, RingChannelHandler};
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::qos::{CongestionControl, Priority};
use zenoh::sample::Sample;

use crate::Client;
use crate::client::received;
use crate::session::bus_error;

impl Client {
    /// The publisher of commands.
    pub(crate) fn declare_commands(&self) -> Result<Publisher<'static>> {
        self.session
            .declare_publisher(self.keys.cmd.clone())
            .congestion_control(CongestionControl::Drop)
            .priority(Priority::RealTime)
            .express(true)
            .wait()
            .map_err(|e| bus_error(&self.keys.cmd, e))
    }

    /// Controls the robot without joining: subscribes to its states under a new session.
    ///
    /// # Errors
    /// `ErrorKind::Bus` if a key cannot be declared.
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
            session: random_number(),
            joints: vec![JointCommand::default(); model.joints.len()],
            ..Default::default()
        };
        Ok(Controller { states, commands, claim, owned: false, buffer: Vec::new() })
    }
}

/// A controller that takes the newest state and sends commands, without a schedule.
#[derive(Debug)]
pub struct Controller {
    states: Subscriber<RingChannelHandler<Sample>>,
    commands: Publisher<'static>,
    claim: ClaimedCommand,
    owned: bool,
    buffer: Vec<u8>,
}

impl Controller {
    /// The newest state that has not been returned yet; `None` after `patience` without one.
    ///
    /// # Errors
    /// `ErrorKind::Bus` if the session is closed or the state does not decode.
    pub fn next_state(&self, patience: Duration) -> Result<Option<StateReading>> {
        let sample = self.states.recv_timeout(patience).map_err(|e| bus_error("state", e))?;
        sample.map(|s| received(Kind::State, &s.payload().to_bytes())).transpose()
    }

    /// Sends the set-points `joints` as the answer to `state`.
    ///
    /// # Errors
    /// `ErrorKind::Bus` if it cannot be sent.
    pub fn send(&mut self, state: &StateReading, joints: &[JointCommand]) -> Result<()> {
        self.claim.seq += 1;
        (self.claim.run_id, self.claim.answers_tick) = (state.run_id, state.tick);
        self.claim.joints.clear();
        self.claim.joints.extend_from_slice(joints);
        encode_command(&self.claim, &mut self.buffer)?;
        self.commands.put(self.buffer.as_slice()).wait().map_err(|e| bus_error("cmd", e))
    }

    /// The number by which this controller's session is published.
    #[must_use]
    pub fn session(&self) -> u64 {
        public_session(self.claim.session)
    }

    /// True if `state` shows that this session owned the robot and has lost it, because it was
    /// late or another controller took over. The daemon refuses all its further commands; call
    /// [`renew_session`](Self::renew_session).
    pub fn has_lost(&mut self, state: &StateReading) -> bool {
        let ours = state.command_session == self.session();
        let lost = self.owned && !(ours && Authority::is_command(state.authority));
        self.owned |= ours && state.phase == Phase::Running.code();
        lost
    }

    /// Starts a new session, which must prove that it is alive like any other.
    pub fn renew_session(&mut self) {
        (self.claim.session, self.claim.seq, self.owned) = (random_number(), 0, false);
    }
}
