//! A controller that has joined: it gets every state of its schedule in order and answers each.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{
    ClaimedCommand, JoinReply, JoinRequest, JointCommand, Kind, LeaveRequest, Order, StateReading,
    encode, encode_command,
};
use zenoh::Wait;
use zenoh::handlers::{FifoChannel, FifoChannelHandler};
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::sample::Sample;

use crate::Client;
use crate::client::received;
use crate::session::bus_error;

/// States that can wait for a slow controller.
const STATES_MAX: usize = 256;
/// Newest answers, kept to be sent again.
const ANSWERS_KEPT: usize = 64;

/// A controller that has joined. It answers each state of its schedule once. If the daemon repeats
/// a state because the answer was lost, the same answer is sent again.
#[derive(Debug)]
pub struct JoinedController {
    client: Client,
    request: JoinRequest,
    reply: JoinReply,
    states: Subscriber<FifoChannelHandler<Sample>>,
    commands: Publisher<'static>,
    claim: ClaimedCommand,
    answers: VecDeque<(u64, Vec<u8>)>,
    patience: Duration,
}

impl Client {
    /// Joins a run; [`JoinRequest::new`] makes a request. `patience` is the longest wait for the
    /// daemon's answer, also when it joins again.
    ///
    /// # Errors
    /// `ErrorKind::Input` with the expected and the received value if the daemon refuses,
    /// `ErrorKind::Bus` if it does not answer or is too busy.
    pub fn join(self, request: JoinRequest, patience: Duration) -> Result<JoinedController> {
        // subscribe first: the first state that the reply names must not be missed
        let states = self
            .session
            .declare_subscriber(self.keys.state.clone())
            .with(FifoChannel::new(STATES_MAX))
            .wait()
            .map_err(|e| bus_error(&self.keys.state, e))?;
        let commands = self.declare_commands()?;
        let mut joined = JoinedController {
            client: self,
            request,
            reply: JoinReply::default(),
            states,
            commands,
            claim: ClaimedCommand::default(),
            answers: VecDeque::with_capacity(ANSWERS_KEPT),
            patience,
        };
        joined.join_again()?;
        Ok(joined)
    }
}

impl JoinedController {
    /// Joins the current run, after a reset or restore, or after this session was lost.
    ///
    /// # Errors
    /// As [`Client::join`].
    pub fn join_again(&mut self) -> Result<()> {
        let mut payload = Vec::new();
        encode(Kind::Join, &self.request, &mut payload)?;
        let bytes =
            self.client.ask(self.client.keys.order(Order::Join), &payload, self.patience)?;
        self.reply = received(Kind::JoinReply, &bytes)?;
        match self.reply.verdict {
            0 => {}
            1 => return Err(Error::new(ErrorKind::Input, self.reply.reason.clone())),
            _ => return Err(Error::new(ErrorKind::Bus, self.reply.reason.clone())),
        }
        self.answers.clear();
        (self.claim.layout_hash, self.claim.seq) = (self.request.layout_hash, 0);
        (self.claim.run_id, self.claim.session) = (self.reply.run_id, self.reply.session);
        Ok(())
    }

    /// The daemon's reply to the join request.
    #[must_use]
    pub const fn reply(&self) -> &JoinReply {
        &self.reply
    }

    /// The next state to answer; `None` after `patience` without one. Joins again after a reset or
    /// restore.
    ///
    /// # Errors
    /// `ErrorKind::Bus` if the session is closed or a state does not decode; as
    /// [`join_again`](Self::join_again).
    pub fn next_state(&mut self, patience: Duration) -> Result<Option<StateReading>> {
        let begin = Instant::now();
        loop {
            let left = patience.saturating_sub(begin.elapsed());
            let Some(sample) = self.states.recv_timeout(left).map_err(|e| bus_error("state", e))?
            else {
                return Ok(None);
            };
            let state: StateReading = received(Kind::State, &sample.payload().to_bytes())?;
            if state.run_id > self.reply.run_id {
                self.join_again()?;
            }
            if state.run_id == self.reply.run_id && self.is_asked(&state)? {
                return Ok(Some(state));
            }
        }
    }

    /// True if the controller must answer `state`. Sends the same answer again if there is one.
    fn is_asked(&self, state: &StateReading) -> Result<bool> {
        let (period, phase) = (self.request.period_ticks, self.request.phase_ticks);
        let due = state.tick >= self.reply.first_tick && state.tick % period.max(1) == phase;
        let answered = self.answers.iter().find(|(tick, _)| *tick == state.tick);
        match answered {
            Some((_, bytes)) => self.put(bytes).map(|()| false),
            None => Ok(due && self.answers.back().is_none_or(|(last, _)| *last < state.tick)),
        }
    }

    /// Answers `state` with the set-points of its joints, in the model's order.
    ///
    /// # Errors
    /// `ErrorKind::Bus` if it cannot be sent.
    pub fn answer(&mut self, state: &StateReading, joints: &[JointCommand]) -> Result<()> {
        self.claim.seq += 1;
        self.claim.answers_tick = state.tick;
        self.claim.applies_tick = state.tick + self.request.offset_ticks;
        self.claim.joints.clear();
        self.claim.joints.extend_from_slice(joints);
        let mut bytes = match self.answers.len() {
            ANSWERS_KEPT.. => self.answers.pop_front().unwrap_or_default().1,
            _ => Vec::new(),
        };
        encode_command(&self.claim, &mut bytes)?;
        self.put(&bytes)?;
        self.answers.push_back((state.tick, bytes));
        Ok(())
    }

    fn put(&self, bytes: &[u8]) -> Result<()> {
        self.commands.put(bytes).wait().map_err(|e| bus_error("cmd", e))
    }

    /// Leaves the run: the daemon no longer waits for this controller, and its joints are free for
    /// others.
    ///
    /// # Errors
    /// `ErrorKind::Bus` if the daemon does not answer within `patience`; at once if it is gone.
    pub fn leave(self, patience: Duration) -> Result<Client> {
        if !self.client.is_connected() {
            return Err(Error::new(
                ErrorKind::Bus,
                "the daemon is gone: there is nothing to leave",
            ));
        }
        let request = LeaveRequest { run_id: self.reply.run_id, session: self.reply.session };
        self.client.order(Order::Leave, Kind::Leave, &request, patience)?;
        Ok(self.client)
    }
}
