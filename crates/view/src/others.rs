//! The other robots of a daemon, drawn beside the one of the page.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use foxglove::websocket::{ChannelView, Client as Page};
use foxglove::{Context, RawChannel};
use hardstand_client::Client;
use hardstand_error::Result;
use hardstand_protocol::{ModelReply, ViewReading};
use serde_json::{Value, json};

use crate::live::{AGAIN, LOOK, PATIENCE, Viewer, json_channel};
use crate::pages::Pages;
use crate::pulse::Pulse;
use crate::robot_text;

/// The channels of the other robots, and what a page gets that subscribes later.
pub(crate) struct Others {
    pages: Arc<Pages>,
    scene: Arc<RawChannel>,
    frame: Arc<RawChannel>,
    shown: Mutex<Vec<Shown>>,
}

/// What is shown of one of them.
#[derive(Clone, Default)]
struct Shown {
    scene: Option<Vec<u8>>,
    frame: Option<Vec<u8>>,
}

impl Others {
    /// Of `count` robots.
    pub(crate) fn new(context: &Arc<Context>, pages: &Arc<Pages>, count: usize) -> Result<Self> {
        Ok(Self {
            pages: Arc::clone(pages),
            scene: json_channel(context, "/hardstand/other_scene", "hardstand.OtherScene")?,
            frame: json_channel(context, "/hardstand/other_frame", "hardstand.OtherFrame")?,
            shown: Mutex::new(vec![Shown::default(); count]),
        })
    }

    fn shown(&self) -> MutexGuard<'_, Vec<Shown>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows all robots to a page that has just subscribed.
    pub(crate) fn greet(&self, page: &Page, channel: &ChannelView<'_>) {
        for shown in self.shown().iter() {
            for (of, message) in [(&self.scene, &shown.scene), (&self.frame, &shown.frame)] {
                if let (true, Some(message)) = (of.id() == channel.id(), message) {
                    of.log_to_sink(message, page.sink_id());
                }
            }
        }
    }

    /// Once, however often it is the same.
    fn show_scene(&self, index: usize, scene: &Value) {
        let message = scene.to_string().into_bytes();
        if self.shown()[index].scene.as_ref() == Some(&message) {
            return;
        }
        // not with the list at hand, which `greet` takes in a call from the server
        self.pages.show(&self.scene, &message);
        self.shown()[index] = Shown { scene: Some(message), frame: None };
    }

    fn show_frame(&self, index: usize, name: &str, view: &ViewReading) {
        let state = &view.state;
        let frame = json!({
            "name": name,
            "base": { "p": state.truth_base_position_m, "quat": state.truth_base_quat_wxyz },
            "q": state.joints.iter().map(|joint| joint.q).collect::<Vec<_>>(),
        });
        let message = frame.to_string().into_bytes();
        self.pages.show(&self.frame, &message);
        self.shown()[index].frame = Some(message);
    }
}

impl Viewer {
    /// Shows another robot until `stop` says so, in the sessions of the page.
    pub(crate) fn follow_other(&self, index: usize, stop: &impl Fn() -> bool) {
        let name = &self.live.others[index];
        while !stop() {
            let client = self.client().clone();
            if let Some(client) = client {
                let goes_on =
                    || !stop() && self.client().as_ref().is_some_and(|c| Arc::ptr_eq(c, &client));
                // the page says of its own robot why there is no daemon
                let other = client.of_robot(name);
                let _why = other.and_then(|other| self.show_other(index, &other, goes_on)).err();
            }
            self.others().show_scene(index, &json!({ "name": name, "robot": null }));
            if !stop() {
                std::thread::sleep(AGAIN);
            }
        }
    }

    fn show_other(&self, index: usize, client: &Client, goes_on: impl Fn() -> bool) -> Result<()> {
        let (name, others) = (&self.live.others[index], self.others());
        let (model, urdf) = (client.model(PATIENCE)?, client.urdf(PATIENCE)?);
        let urdf = self.meshes.resolve(index + 1, &self.live.meshes, &urdf);
        others.show_scene(index, &json!({ "name": name, "robot": robot(&model, &urdf) }));
        let views = client.views()?;
        if let Ok(view) = client.standing_view(Duration::ZERO) {
            others.show_frame(index, name, &view);
        }
        let mut pulse = Pulse::default();
        while goes_on() {
            if let Some(view) = views.next(LOOK)? {
                if view.state.layout_hash != model.layout_hash {
                    return Ok(()); // another robot under the same name
                }
                others.show_frame(index, name, &view);
                pulse.beats();
            }
            pulse.feel(client)?;
        }
        Ok(())
    }
}

/// What is needed to draw a robot.
fn robot(model: &ModelReply, urdf: &str) -> Value {
    let joints = model.joints.iter().map(|j| json!({ "name": j.name, "q_initial": j.q_initial }));
    json!({
        "base_link": model.base_link,
        "urdf": robot_text::without_bodies(urdf, model),
        "joints": joints.collect::<Vec<_>>(),
    })
}
