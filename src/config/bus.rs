//! The section `bus` of a scenario: endpoints, and the rights of each user.

use std::path::PathBuf;

use crate::limits::{ROS_SESSIONS, SESSIONS, STOP_SESSIONS};
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_physics::model::Model;
use hardstand_protocol::{ENDPOINT, ROBOT_NAME, is_endpoint, is_robot_name, is_user_name};

use super::Ros2Mode;
use super::section::Section;

/// Settings of the bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusSettings {
    /// Robot name in the keys: `hardstand/<robot>/…`.
    pub robot: String,
    /// Robots whose keys the session serves: this one and the others of the daemon.
    pub robots: Vec<String>,
    /// Endpoints to listen on.
    pub listen: Vec<String>,
    /// Endpoints to connect to.
    pub connect: Vec<String>,
    /// ROS 2 mode: nodes of `rmw_zenoh` need a router.
    pub ros2: Ros2Mode,
    /// Domain of the ROS 2 nodes.
    pub ros2_domain: u32,
    /// Sessions at a time; `None` for the default of the ROS 2 mode.
    pub sessions_max: Option<u64>,
    /// Ticks between two messages of `state`.
    pub state_every_ticks: u64,
    /// Ticks between two messages of `contacts`.
    pub contacts_every_ticks: u64,
    /// Rights of each user; `None`: everyone on this machine has all rights.
    pub access: Option<Access>,
}

impl BusSettings {
    /// The endpoint for a controller that the daemon's command starts.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if `bus.listen` is empty.
    pub fn endpoint(&self) -> Result<&str> {
        self.listen.first().map(String::as_str).ok_or_else(|| {
            let text = "bus.listen is empty; the controller needs an endpoint to find the daemon";
            Error::new(ErrorKind::Input, text)
        })
    }
}

/// Rights by role. Names are users, or without a file of users the common names of certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// File of `user:password` lines.
    pub users_file: Option<PathBuf>,
    /// Files for TLS.
    pub tls: Option<TlsFiles>,
    /// Users who read, query and send commands.
    pub controllers: Vec<String>,
    /// Users who read, query, change friction, push, pause, step and reset.
    pub operators: Vec<String>,
    /// Users who read and query.
    pub viewers: Vec<String>,
    /// Users who are ROS 2 nodes of `rmw_zenoh`: they hear, command and serve each other.
    pub ros2_nodes: Vec<String>,
}

impl BusSettings {
    /// Sessions at a time: each process of ROS 2 nodes with the daemon as router is a session.
    #[must_use]
    pub fn sessions(&self) -> u64 {
        let own = if self.ros2 == Ros2Mode::RmwZenoh { ROS_SESSIONS } else { SESSIONS };
        self.sessions_max.unwrap_or(own)
    }

    /// Likewise, with those that are kept for users who may stop the robot.
    #[must_use]
    pub fn all_sessions(&self) -> u64 {
        let kept = if self.access.is_some() { 2 * STOP_SESSIONS } else { 0 };
        self.sessions() + kept
    }
}

fn sessions_max(s: &Section<'_>) -> Option<u64> {
    if s.choice_or_number("sessions_max", "auto") {
        return None;
    }
    let count = s.integer_if("sessions_max", |n| (1..=1000).contains(&n));
    if count.is_none() {
        s.mistake("sessions_max", "\"auto\" or 1 to 1000");
    }
    count.map(i64::unsigned_abs)
}

impl Access {
    /// The names in all roles; a name in several roles comes several times.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        let roles = [&self.controllers, &self.operators, &self.viewers, &self.ros2_nodes];
        roles.into_iter().flatten()
    }
}

/// PEM files of one side of a TLS connection. Both sides present a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// Own certificate.
    pub certificate: PathBuf,
    /// Private key of the certificate.
    pub key: PathBuf,
    /// Certificate authority that must have signed the other side's certificate.
    pub ca: PathBuf,
}

pub(super) fn bus(root: &Section<'_>, robot_section: &Section<'_>, model: &Model) -> BusSettings {
    let s = root.section("bus");
    let named = robot_section.text("name");
    let robot = if named.is_empty() { model.name.as_str() } else { named };
    if !is_robot_name(robot) {
        robot_section.mistake("name", &format!("{ROBOT_NAME} (here: \"{robot}\")"));
    }
    let endpoints = |key: &str| {
        let list = s.texts(key);
        if !list.iter().all(|e| is_endpoint(e)) {
            s.mistake(key, &format!("a list of {ENDPOINT}"));
        }
        list
    };
    let settings = BusSettings {
        robot: robot.into(),
        robots: vec![robot.into()],
        listen: endpoints("listen"),
        connect: endpoints("connect"),
        ros2: Ros2Mode::Off,
        ros2_domain: 0,
        sessions_max: sessions_max(&s),
        state_every_ticks: s.count("state_every_ticks", 1, 100_000),
        contacts_every_ticks: s.count("contacts_every_ticks", 1, 100_000),
        access: access(&s),
    };
    check_listen(&s, &settings);
    check_connect(&s, &settings);
    s.finish();
    settings
}

fn access(s: &Section<'_>) -> Option<Access> {
    let path = |key: &str| Some(s.text(key)).filter(|t| !t.is_empty()).map(PathBuf::from);
    let names = |key: &str| {
        let list = s.texts(key);
        if !list.iter().all(|n| is_user_name(n)) {
            s.mistake(key, &format!("a list of {NAME}"));
        }
        list
    };
    let files = [path("tls_certificate"), path("tls_key"), path("tls_ca")];
    let tls = match files {
        [Some(certificate), Some(key), Some(ca)] => Some(TlsFiles { certificate, key, ca }),
        [None, None, None] => None,
        _ => {
            s.complain("tls_certificate", "set tls_certificate, tls_key and tls_ca, or none");
            None
        }
    };
    let access = Access {
        users_file: path("users_file"),
        tls,
        controllers: names("controllers"),
        operators: names("operators"),
        viewers: names("viewers"),
        ros2_nodes: names("ros2_nodes"),
    };
    let asked = access.users_file.is_some() || access.tls.is_some();
    let roles = ["controllers", "operators", "viewers", "ros2_nodes"];
    let named = access.names().next().is_some();
    if named && !asked {
        let key = roles.into_iter().find(|role| s.has(role)).unwrap_or("controllers");
        s.complain(key, "roles need users_file or the tls keys");
    } else if asked && !named {
        s.complain("controllers", "name a user in controllers, operators, viewers or ros2_nodes");
    }
    asked.then_some(access)
}

fn check_listen(s: &Section<'_>, bus: &BusSettings) {
    let (users, tls) = match &bus.access {
        Some(a) => (a.users_file.is_some(), a.tls.is_some()),
        None => (false, false),
    };
    let good = bus.listen.iter().filter(|e| is_endpoint(e));
    for endpoint in good {
        if endpoint.starts_with("tls/") {
            if !tls {
                s.complain("listen", &format!("{endpoint} needs tls_certificate, tls_key, tls_ca"));
            }
        } else if tls && !users {
            let text = "checks no certificate; without users_file it must be tls/HOST:PORT";
            s.complain("listen", &format!("{endpoint} {text}"));
        } else if !users && !is_local(endpoint) {
            s.mistake(
                "listen",
                "on this machine only (127.0.0.1, [::1], localhost or a unix socket): anyone \
                 who reaches the bus can command the robot. To listen elsewhere, set \
                 bus.users_file and name its users in bus.controllers, bus.operators and \
                 bus.viewers, or use tls/HOST:PORT; see docs/security.md",
            );
        }
    }
}

/// Access rights cannot be checked for peers behind a router.
fn check_connect(s: &Section<'_>, bus: &BusSettings) {
    if bus.access.is_some() && !bus.connect.is_empty() {
        s.mistake("connect", "[] with users_file or the tls keys: let the other side connect");
    } else if bus.connect.iter().any(|e| is_endpoint(e) && !is_local(e)) {
        s.mistake("connect", "on this machine only: anyone who reaches it can command the robot");
    }
}

/// True if only this machine can reach the endpoint.
fn is_local(endpoint: &str) -> bool {
    if endpoint.starts_with("unixsock-stream/") {
        return true;
    }
    let host = endpoint.split_once('/').and_then(|(_, address)| address.rsplit_once(':'));
    let host = host.unwrap_or_default().0.trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

const NAME: &str = "names: 1 to 64 letters, digits, \"-\", \"_\", \".\" or \"@\"";
