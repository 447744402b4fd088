//! A controller over zenoh, by the client in Rust.

use hardstand_client::{Client, JoinedController};
use hardstand_protocol::{JoinRequest, JointCommand, ModelReply};

use super::PATIENCE;
use super::mark::marked;
use super::run::Exchange;

pub struct Zenoh {
    controller: JoinedController,
    hold: Vec<JointCommand>,
}

impl Zenoh {
    pub fn of(endpoint: &str, model: &ModelReply) -> Self {
        let client = Client::connect(endpoint, "quadruped").unwrap();
        let request = JoinRequest::new(model, "bench");
        Self { controller: client.join(request, PATIENCE).unwrap(), hold: model.hold() }
    }
}

impl Exchange for Zenoh {
    fn exchange(&mut self) {
        let state = self.controller.next_state(PATIENCE).unwrap().expect("a state");
        self.controller.answer(&state, &marked(&self.hold, state.tick)).unwrap();
    }
}
