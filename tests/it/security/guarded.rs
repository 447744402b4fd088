//! A daemon with users and roles, and sessions that want to talk to it.

use std::path::PathBuf;
use std::time::Duration;

use hardstand_client::{Client, Credentials};
use hardstand_protocol::StatusReading;
use zenoh::{Config, Session, Wait};

use crate::common::process::{PATIENCE, Process, Scene, repository, wait_for};

/// Users of the shipped example and passwords that are nowhere else.
pub const USERS: [(&str, &str); 3] =
    [("ctrl", "Zq7-ctrl-\"secret\\1"), ("op", "Zq7-op-secret-2"), ("view", "Zq7-view-secret-3")];

/// The password of a user.
pub fn password(user: &str) -> &'static str {
    USERS.iter().find(|(u, _)| *u == user).unwrap().1
}

/// A folder with a daemon of `config/networked.toml` that listens on all addresses. It is reached
/// over loopback.
pub struct Guarded {
    pub scene: Scene,
    pub daemon: Process,
}

impl Guarded {
    pub fn new(more: &[&str]) -> Self {
        Self::with(&USERS, more)
    }

    /// The same with other users.
    pub fn with(users: &[(&str, &str)], more: &[&str]) -> Self {
        let scene = Scene::tcp();
        let lines: Vec<String> = users.iter().map(|(u, p)| format!("{u}:{p}\n")).collect();
        let users = secret(&scene, "users.txt", &lines.concat());
        let port = scene.endpoint.rsplit_once(':').unwrap().1;
        let listen = format!("bus.listen=[\"tcp/0.0.0.0:{port}\"]");
        let users = format!("bus.users_file={:?}", users.display().to_string());
        let (scenario, log) = (repository("config/networked.toml"), scene.log());
        let log = log.display().to_string();
        let fixed = ["run", &scenario, "--log", &log, "--set", &listen, "--set", &users];
        let args: Vec<&str> = fixed.into_iter().chain(more.iter().copied()).collect();
        let daemon = scene.hardstand("daemon", &args);
        Self { scene, daemon }
    }

    /// What `user` shows.
    pub fn credentials(&self, user: &str) -> Credentials {
        let file = secret(&self.scene, &format!("{user}.password"), password(user));
        Credentials { user: Some((user.into(), file)), tls: None }
    }

    pub fn client(&self, user: &str) -> Client {
        let credentials = self.credentials(user);
        Client::connect_as(&self.scene.endpoint, "quadruped", &credentials).unwrap()
    }

    /// The example controller as a process, under the user `ctrl`.
    pub fn controller(&self) -> Process {
        let file = secret(&self.scene, "ctrl.password", password("ctrl"));
        let file = file.display().to_string();
        let endpoint = &self.scene.endpoint;
        let who = ["--user", "ctrl", "--password-file", &file];
        let args = ["controller", "stand", "--connect", endpoint];
        self.scene.hardstand("controller", &[args.as_slice(), &who].concat())
    }
}

/// A file that only its owner may use.
pub fn secret(scene: &Scene, name: &str, text: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let path = scene.path(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    path
}

/// A session of zenoh's kind "client": unlike a peer it sends whatever it is told to, wanted or
/// not. `None` if the daemon does not let it in.
pub fn raw_session(endpoint: &str, more: &[(&str, &str)]) -> Option<Session> {
    let mut config = Config::default();
    let endpoints = format!("[{endpoint:?}]");
    let quiet = [
        ("mode", "\"client\""),
        ("connect/endpoints", endpoints.as_str()),
        ("connect/timeout_ms", "3000"),
        ("connect/exit_on_failure", "true"),
        ("connect/retry", "{ period_init_ms: 5000, period_max_ms: 5000 }"),
        ("scouting/multicast/enabled", "false"),
    ];
    for (key, value) in quiet.iter().chain(more) {
        config.insert_json5(key, value).unwrap();
    }
    zenoh::open(config).wait().ok()
}

/// Likewise, with user and password.
pub fn user_session(endpoint: &str, user: &str, password: &str) -> Option<Session> {
    let (user, password) = (format!("{user:?}"), format!("{password:?}"));
    let who = [("transport/auth/usrpwd/user", user.as_str())];
    let shown = [("transport/auth/usrpwd/password", password.as_str())];
    raw_session(endpoint, &[who, shown].concat())
}

pub fn status(client: &Client) -> StatusReading {
    client.status(PATIENCE).unwrap()
}

/// The first status in which the counter has reached `count`.
pub fn counted(client: &Client, name: &str, count: u64) -> StatusReading {
    wait_for(&format!("{name} reaches {count}"), || {
        std::thread::sleep(Duration::from_millis(100));
        Some(status(client)).filter(|s| s.counter(name) >= count)
    })
}
