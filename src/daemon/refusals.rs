//! Reports why messages with commands are refused at arrival: counters alone do not say which value
//! is wrong.

use std::time::{Duration, Instant};

use crate::ingress::RefusedCommand;
use hardstand_physics::model::Model;
use hardstand_protocol::Rejection;

use super::front::Counters;

/// A reason that still applies is reported again after this.
const AGAIN: Duration = Duration::from_secs(60);
/// What was refused within this before a controller lost the robot may be why.
const RECENT: Duration = Duration::from_secs(1);

/// What was refused last, and what was reported.
#[derive(Debug)]
pub(super) struct Refusals {
    counters: Counters,
    joints: Vec<String>,
    told: Vec<(&'static str, Instant)>,
    last: Option<(Instant, String)>,
}

impl Refusals {
    pub(super) fn new(model: &Model, counters: Counters) -> Self {
        let joints = model.joints.iter().map(|joint| joint.name.clone()).collect();
        Self { counters, joints, told: Vec::new(), last: None }
    }

    /// Takes what was refused since the last call; returns what is to be reported.
    pub(super) fn look(&mut self) -> Vec<String> {
        let (now, mut texts) = (Instant::now(), Vec::new());
        let command = self.counters.commands.take_refused();
        let command = command.map(|refused| (refused.reason.name(), self.words(&refused)));
        let ros2 = self.counters.ros2.take_refused().into_iter();
        for (reason, text) in command.into_iter().chain(ros2) {
            self.last = Some((now, text.clone()));
            self.told.retain(|(_, at)| now.duration_since(*at) < AGAIN);
            if self.told.iter().all(|(told, _)| *told != reason) {
                self.told.push((reason, now));
                texts.push(format!("commands are refused ({reason}): {text}"));
            }
        }
        texts
    }

    /// What was refused just now.
    pub(super) fn recent(&self) -> Option<&str> {
        self.last.as_ref().filter(|(at, _)| at.elapsed() < RECENT).map(|(_, text)| text.as_str())
    }

    fn words(&self, refused: &RefusedCommand) -> String {
        if let Some((i, name, value, allowed)) = &refused.set_point {
            // a controller of some joints numbers its own
            let own = format!("its joint {i}");
            let all = refused.joints == self.joints.len();
            let joint = self.joints.get(*i).filter(|_| all).unwrap_or(&own);
            return format!("{name} of {joint} is {value}; {allowed}");
        }
        match refused.reason {
            Rejection::Size => "a message is longer or shorter than a command for this robot",
            Rejection::Version => "magic, version or kind of a message is wrong",
            Rejection::Layout => "a command is for another robot, joint order or period",
            Rejection::Session => "a session is 0; it must be a random number",
            _ => "see docs/protocol.md",
        }
        .into()
    }
}
