//! The live page: a client of a daemon on one side, a WebSocket on the other.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use foxglove::websocket::{Capability, ChannelView, Client as Page, ClientChannel, ServerListener};
use foxglove::{ChannelBuilder, Context, RawChannel, Schema, WebSocketServer};
use hardstand_client::Client;
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{EventReading, StatusReading, controller_number};
use serde_json::{Value, json};

use crate::foxglove_topics::FoxgloveTopics;
use crate::frame::frame;
use crate::front_door::{Behind, Files, FrontDoor, runtime};
use crate::meshes::{MeshFolders, SharedMeshes};
use crate::orders::{Orders, SharedClient};
use crate::others::Others;
use crate::pages::Pages;
use crate::pulse::Pulse;
use crate::scene::Source;
use crate::{Scene, ServeSettings};

/// What a live page shows.
#[allow(missing_debug_implementations, reason = "holds a function")]
pub struct LiveSettings {
    /// Opens a connection with the daemon; called again after a loss.
    pub connect: Box<dyn Fn() -> Result<Client> + Send + Sync>,
    /// Name of the robot on the bus.
    pub robot: String,
    /// Names of other robots that are drawn beside it.
    pub others: Vec<String>,
    /// A status as JSON, as `hardstand status --json` prints it.
    pub status_json: fn(&str, &StatusReading) -> Value,
    /// Where meshes of the robot are looked for.
    pub meshes: MeshFolders,
}

/// Time for an answer of the daemon.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);
/// Time between two looks for views and events.
pub(crate) const LOOK: Duration = Duration::from_millis(15);
/// Time between two attempts to reach a daemon.
pub(crate) const AGAIN: Duration = Duration::from_millis(200);
/// Messages that wait for a slow page at most; older ones are dropped.
const BACKLOG: usize = 32;

/// The channels of the page.
struct Channels {
    pages: Arc<Pages>,
    scene: Arc<RawChannel>,
    frame: Arc<RawChannel>,
    status: Arc<RawChannel>,
    event: Arc<RawChannel>,
    link: Arc<RawChannel>,
    foxglove: FoxgloveTopics,
    others: Others,
}

/// What a page gets that subscribes later.
#[derive(Default)]
struct Kept {
    scene: Option<Vec<u8>>,
    frame: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    urdf: Option<Vec<u8>>,
    /// Numbers and names of the controllers that have joined.
    names: Vec<(u64, String)>,
}

struct LatePages {
    kept: Arc<Mutex<Kept>>,
    channels: Arc<Channels>,
}

impl ServerListener for LatePages {
    fn on_client_advertise(&self, page: Page, channel: &ClientChannel) {
        self.channels.pages.hear(&page, &channel.topic);
    }

    fn on_client_unadvertise(&self, page: Page, channel: &ClientChannel) {
        self.channels.pages.forget(&page, &channel.topic);
    }

    fn on_subscribe(&self, page: Page, channel: ChannelView<'_>) {
        if !self.channels.pages.knows(page.id()) {
            return;
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let all = [
            (&self.channels.scene, &kept.scene),
            (&self.channels.frame, &kept.frame),
            (&self.channels.link, &kept.link),
            (self.channels.foxglove.description(), &kept.urdf),
        ];
        for (of, message) in all {
            if let (true, Some(message)) = (of.id() == channel.id(), message) {
                of.log_to_sink(message, page.sink_id());
            }
        }
        self.channels.others.greet(&page, &channel);
    }
}

/// A channel of objects in JSON.
pub(crate) fn json_channel(
    context: &Arc<Context>,
    topic: &str,
    schema: &str,
) -> Result<Arc<RawChannel>> {
    ChannelBuilder::new(topic)
        .context(context)
        .message_encoding("json")
        .schema(Schema::new(schema, "jsonschema", br#"{"type":"object"}"#.as_slice()))
        .build_raw()
        .map_err(|e| viewer_error(&e))
}

impl Channels {
    fn new(context: &Arc<Context>, pages: &Arc<Pages>, others: usize) -> Result<Self> {
        let channel = |topic: &str, schema: &str| json_channel(context, topic, schema);
        Ok(Self {
            pages: Arc::clone(pages),
            scene: channel("/hardstand/scene", "hardstand.Scene")?,
            frame: channel("/hardstand/frame", "hardstand.Frame")?,
            status: channel("/hardstand/status", "hardstand.Status")?,
            event: channel("/hardstand/event", "hardstand.Event")?,
            link: channel("/hardstand/link", "hardstand.Link")?,
            foxglove: FoxgloveTopics::new(context, pages)?,
            others: Others::new(context, pages, others)?,
        })
    }
}

pub(crate) fn viewer_error(e: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Internal, format!("the viewer's server: {e}"))
}

/// Serves the live page until `stop` says so; `ready` is given the address. Waits for the daemon,
/// and for the next one when it has gone.
///
/// # Errors
/// [`ErrorKind::Input`] or [`ErrorKind::File`] if the port cannot be opened. What keeps the daemon
/// from answering is shown on the page.
pub fn serve_live(
    live: LiveSettings,
    serve: ServeSettings,
    ready: impl FnOnce(&str),
    stop: impl Fn() -> bool + Sync,
) -> Result<()> {
    let threads = runtime()?;
    let context = Context::new();
    let pages = Arc::new(Pages::new());
    let channels = Arc::new(Channels::new(&context, &pages, live.others.len())?);
    let (kept, client) = (Arc::<Mutex<Kept>>::default(), SharedClient::default());
    let meshes = SharedMeshes::default();
    let before_ns = Arc::<AtomicU64>::default();
    let orders =
        Arc::new(Orders::new(Arc::clone(&client), Arc::clone(&before_ns), Arc::clone(&pages)));
    let server = WebSocketServer::new()
        .name("Hardstand")
        .context(&context)
        .bind("127.0.0.1", 0)
        .message_backlog_size(BACKLOG)
        .capabilities([Capability::Services, Capability::ClientPublish])
        .supported_encodings(["json"])
        .services(orders.services())
        .listener(Arc::new(LatePages { kept: Arc::clone(&kept), channels: Arc::clone(&channels) }))
        .tokio_runtime(threads.handle());
    let found = meshes.clone();
    let files: Files = Arc::new(move |path| Some(("application/octet-stream", found.read(path)?)));
    let server = threads.block_on(server.start()).map_err(|e| viewer_error(&e))?;
    let behind = Behind { port: server.port(), introduction: pages.introduction() };
    let door = threads.block_on(FrontDoor::open(serve, files, Some(behind)))?;
    ready(&door.url());
    threads.spawn(door.serve());
    let viewer = Viewer { live, channels, kept, client, meshes, before_ns };
    std::thread::scope(|scope| {
        for k in 0..viewer.live.others.len() {
            let (viewer, stop) = (&viewer, &stop);
            scope.spawn(move || viewer.follow_other(k, stop));
        }
        viewer.run(&stop);
    });
    // the pages see that their connections close
    let _closing = server.stop();
    Ok(())
}

pub(crate) struct Viewer {
    pub(crate) live: LiveSettings,
    channels: Arc<Channels>,
    kept: Arc<Mutex<Kept>>,
    client: SharedClient,
    pub(crate) meshes: SharedMeshes,
    /// See [`Orders`].
    before_ns: Arc<AtomicU64>,
}

impl Viewer {
    pub(crate) fn others(&self) -> &Others {
        &self.channels.others
    }

    pub(crate) fn client(&self) -> std::sync::MutexGuard<'_, Option<Arc<Client>>> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows on the pages whether the daemon answers.
    fn link(&self, connected: bool, text: &str) {
        let message = json!({ "connected": connected, "text": text }).to_string().into_bytes();
        self.channels.pages.show(&self.channels.link, &message);
        self.kept().link = Some(message);
    }

    fn run(&self, stop: &impl Fn() -> bool) {
        while !stop() {
            self.link(false, "no daemon answers yet");
            if let Err(e) = self.follow(stop) {
                self.link(false, &e.to_string());
            }
            *self.client() = None;
            if !stop() {
                std::thread::sleep(AGAIN);
            }
        }
    }

    /// Shows one daemon until it goes.
    fn follow(&self, stop: &impl Fn() -> bool) -> Result<()> {
        let client = Arc::new((self.live.connect)()?);
        let scene = self.scene(&client)?;
        let (views, events) = (client.views()?, client.events()?);
        if let Ok(view) = client.standing_view(Duration::ZERO) {
            self.show(&view, &scene);
        }
        *self.client() = Some(Arc::clone(&client));
        self.link(true, "");
        let mut pulse = Pulse::default();
        while !stop() {
            if let Some(view) = views.next(LOOK)? {
                if view.state.layout_hash != scene.model.layout_hash {
                    return Ok(()); // another robot under the same name
                }
                self.show(&view, &scene);
                pulse.beats();
            }
            while let Some(event) = events.next(Duration::ZERO)? {
                let event = event_json(&event).to_string();
                self.channels.pages.show(&self.channels.event, event.as_bytes());
            }
            if let Some(status) = pulse.feel(&client)? {
                let text = (self.live.status_json)(&self.live.robot, &status).to_string();
                self.channels.pages.show(&self.channels.status, text.as_bytes());
                let names = status.controllers.into_iter().map(|c| c.name);
                self.kept().names = names.map(|n| (controller_number(&n), n)).collect();
            }
        }
        Ok(())
    }

    fn scene(&self, client: &Client) -> Result<Scene> {
        let model = client.model(PATIENCE)?;
        let (urdf, ground) = (client.urdf(PATIENCE)?, client.ground(PATIENCE)?);
        let urdf = self.meshes.resolve(0, &self.live.meshes, &urdf);
        let scene = Scene::new(Source::Live, &model, &ground, &urdf).named(&self.live.robot);
        let message = scene.value.to_string().into_bytes();
        let pages = &self.channels.pages;
        pages.show(&self.channels.scene, &message);
        let description = json!({ "data": urdf }).to_string().into_bytes();
        pages.show(self.channels.foxglove.description(), &description);
        let mut kept = self.kept();
        (kept.scene, kept.frame, kept.urdf) = (Some(message), None, Some(description));
        Ok(scene)
    }

    fn show(&self, view: &hardstand_protocol::ViewReading, scene: &Scene) {
        let state = &view.state;
        let in_run_ns = state.tick.wrapping_mul(scene.model.period_ns);
        self.before_ns.store(state.time_ns.saturating_sub(in_run_ns), Ordering::Relaxed);
        let message = frame(view, &scene.model, &self.kept().names).to_string().into_bytes();
        self.channels.pages.show(&self.channels.frame, &message);
        self.channels.foxglove.show(view, &scene.model);
        self.kept().frame = Some(message);
    }
}

fn event_json(event: &EventReading) -> Value {
    let EventReading { run_id, tick, time_ns, kind, controller, asker, text } = event;
    json!({
        "run_id": run_id, "tick": tick, "time_s": *time_ns as f64 * 1e-9, "kind": kind,
        "controller": controller, "asker": asker, "text": text,
    })
}
