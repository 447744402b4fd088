//! A controller that has joined: it gets every state of its schedule in order and answers each.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{
    Authority, ClaimedCommand, JoinReply, JoinRequest, JointCommand, Kind, LeaveRequest, Mode,
    Order, Phase, Role, StateReading, encode_command, public_session, random_number,
};
use zenoh::Wait;
use zenoh::handlers::{RingChannel, RingChannelHandler};
use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::sample::Sample;

use crate::Client;
use crate::client::received;
use crate::session::bus_error;

/// States that can wait for a slow controller. Of more, the newest remain; in lockstep the daemon
/// repeats those without an answer.
const STATES_MAX: usize = 1024;
/// Least time between two requests to join, and the most that it grows to in vain.
const JOINS_APART: Duration = Duration::from_millis(200);
const JOINS_APART_MAX: Duration = Duration::from_secs(5);
/// Newest answers, kept to be sent again.
const ANSWERS_KEPT: usize = 64;

/// A controller that has joined. It answers each state of its schedule once. If the daemon repeats
/// a state because the answer was lost, the same answer is sent again.
#[derive(Debug)]
pub struct JoinedController {
    /// Shows the daemon that this process is there.
    _alive: LivelinessToken,
    request: JoinRequest,
    reply: JoinReply,
    states: Subscriber<RingChannelHandler<Sample>>,
    commands: Publisher<'static>,
    claim: ClaimedCommand,
    answers: VecDeque<(u64, Vec<u8>)>,
    patience: Duration,
    joined_at: Instant,
    /// When a state came last.
    heard: Instant,
    joins_apart: Duration,
    losses: u64,
    skipped: u64,
    /// The last field, because a session that ends before its keys keeps its memory.
    client: Client,
}

impl Client {
    /// Joins a run; [`JoinRequest::new`] makes a request. `patience` is the longest wait for the
    /// daemon's answer, also when it joins again.
    ///
    /// # Errors
    /// `ErrorKind::Input` with the expected and the received value if the daemon refuses,
    /// `ErrorKind::Bus` if it does not answer or is too busy.
    pub fn join(self, mut request: JoinRequest, patience: Duration) -> Result<JoinedController> {
        // subscribe first: the first state that the reply names must not be missed
        let states = self
            .session
            .declare_subscriber(self.keys.due_state.clone())
            // a queue that is full must not keep the answers to this client's queries waiting
            .with(RingChannel::new(STATES_MAX))
            .wait()
            .map_err(|e| bus_error(&self.keys.due_state, e))?;
        let commands = self.declare_commands()?;
        if request.session == 0 {
            request.session = random_number();
        }
        let alive = self.keys.alive(&format!("{:016x}", public_session(request.session)));
        let token = self.session.liveliness().declare_token(alive.clone()).wait();
        let mut joined = JoinedController {
            client: self,
            _alive: token.map_err(|e| bus_error(&alive, e))?,
            request,
            reply: JoinReply::default(),
            states,
            commands,
            claim: ClaimedCommand::default(),
            answers: VecDeque::with_capacity(ANSWERS_KEPT),
            patience,
            joined_at: Instant::now(),
            heard: Instant::now(),
            joins_apart: JOINS_APART,
            losses: 0,
            skipped: 0,
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
        let run_id = self.client.run_id(self.patience)?;
        let bytes = self.client.send_order(run_id, Order::Join, &self.request, self.patience)?;
        self.reply = received(Kind::JoinReply, &bytes)?;
        match self.reply.verdict {
            0 => {}
            1 => return Err(Error::new(ErrorKind::Input, self.reply.reason.clone())),
            _ => return Err(Error::new(ErrorKind::Bus, self.reply.reason.clone())),
        }
        self.answers.clear();
        self.joined_at = Instant::now();
        (self.claim.layout_hash, self.claim.seq) = (self.request.layout_hash, 0);
        (self.claim.run_id, self.claim.session) = (self.reply.run_id, self.request.session);
        Ok(())
    }

    /// How often this controller was late for too long, lost its joints and joined again.
    #[must_use]
    pub const fn losses(&self) -> u64 {
        self.losses
    }

    /// In real time: states that were skipped because a newer one was there already.
    #[must_use]
    pub const fn skipped(&self) -> u64 {
        self.skipped
    }

    /// When a state came last, also one that needs no answer, as in a pause; at first, when the
    /// controller joined.
    #[must_use]
    pub const fn heard(&self) -> Instant {
        self.heard
    }

    /// The daemon's reply to the join request.
    #[must_use]
    pub const fn reply(&self) -> &JoinReply {
        &self.reply
    }

    /// True while there is a connection.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.client.is_connected()
    }

    /// The next state to answer; `None` after `patience` without one. In real time it is the newest
    /// that has come. Joins again after a reset or restore, and in real time after it has lost its
    /// joints.
    ///
    /// # Errors
    /// `ErrorKind::Bus` if the session is closed or a state does not decode; as
    /// [`join_again`](Self::join_again).
    pub fn next_state(&mut self, patience: Duration) -> Result<Option<StateReading>> {
        let begin = Instant::now();
        let mut newest: Option<StateReading> = None;
        loop {
            let left = match newest {
                Some(_) => Duration::ZERO,
                None => patience.saturating_sub(begin.elapsed()),
            };
            let Some(sample) = self.states.recv_timeout(left).map_err(|e| bus_error("state", e))?
            else {
                return Ok(newest);
            };
            let state: StateReading = received(Kind::State, &sample.payload().to_bytes())?;
            self.heard = Instant::now();
            let has_lost = self.may_have_lost(&state);
            if has_lost || state.run_id > self.reply.run_id {
                newest = None;
                self.join_again()?;
                self.losses += u64::from(has_lost);
            }
            if state.run_id != self.reply.run_id || !self.is_asked(&state)? {
                continue;
            }
            if state.mode != Mode::RealTime.code() {
                return Ok(Some(state));
            }
            self.skipped += u64::from(newest.replace(state).is_some());
        }
    }

    /// True if some joints obey no command although this controller has had the time to send one.
    /// If they are not its own, joining again changes nothing.
    fn may_have_lost(&mut self, state: &StateReading) -> bool {
        let weak = [Authority::Damped, Authority::Zero].map(Authority::code);
        if state.run_id != self.reply.run_id || state.tick < self.reply.first_tick {
            return false;
        }
        if !weak.contains(&state.authority) {
            self.joins_apart = JOINS_APART;
            return false;
        }
        // elsewhere the tick of the join would depend on wall time, and so would the run
        let due = state.mode == Mode::RealTime.code()
            && state.phase == Phase::Running.code()
            && self.request.role != Role::Observer.code()
            && self.joined_at.elapsed() > self.joins_apart;
        if due {
            self.joins_apart = (2 * self.joins_apart).min(JOINS_APART_MAX);
        }
        due
    }

    /// True if the controller must answer `state`. Sends the same answer again if there is one.
    fn is_asked(&self, state: &StateReading) -> Result<bool> {
        let (period, phase) = (self.request.period_ticks, self.request.phase_ticks);
        let due = state.tick >= self.reply.first_tick && state.tick % period.max(1) == phase;
        let answered = self.answers.iter().find(|(tick, _)| *tick == state.tick);
        match answered {
            Some((_, bytes)) => self.put(bytes).map(|()| false),
            // a state may come late, when the first message with it was lost
            None => Ok(due && !self.is_forgotten(state.tick)),
        }
    }

    /// True if the answer to this state, if there was one, is not kept any more.
    fn is_forgotten(&self, tick: u64) -> bool {
        let oldest = self.answers.iter().map(|(tick, _)| *tick).min();
        self.answers.len() >= ANSWERS_KEPT && oldest.is_some_and(|oldest| tick < oldest)
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
        let request = LeaveRequest { session: self.request.session };
        self.client.order_in(self.reply.run_id, Order::Leave, &request, patience)?;
        Ok(self.client)
    }
}
