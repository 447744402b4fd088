//! Opens zenoh sessions with quiet defaults: no multicast, no gossip, no listening socket.
//!
//! The daemon opens its session through this module too, so both sides check endpoints and files
//! of secrets in the same way.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use hardstand_error::{Error, ErrorKind, Result, no_thread};
use hardstand_protocol::{ENDPOINT, ROBOT_NAME, is_endpoint, is_robot_name, is_user_name};
use zenoh::{Config, Session, Wait};

use crate::secrets::{path_text, read_password, read_secret, unreadable};
use crate::{Credentials, TlsFiles};

/// Settings of zenoh: key and JSON5 value. Values may be secret.
pub type Settings = Vec<(&'static str, String)>;

/// zenoh's keys for a client's certificate and private key.
const TLS_CONNECT: [&str; 2] =
    ["transport/link/tls/connect_certificate", "transport/link/tls/connect_private_key"];

/// Longest wait for a connection when a session is opened.
const CONNECTED_WITHIN: Duration = Duration::from_millis(500);
/// Both sides declare their keys within this, once there is a connection.
const DECLARED_WITHIN: Duration = Duration::from_millis(20);

/// Threads that zenoh starts at once for a session.
const THREADS: usize = 4;

/// Settings of every session.
const QUIET: [(&str, &str); 7] = [
    // ms that opening would wait for others to be found, in vain
    ("scouting/delay", "0"),
    ("scouting/multicast/enabled", "false"),
    ("scouting/gossip/enabled", "false"),
    ("adminspace/enabled", "false"),
    ("transport/shared_memory/enabled", "false"),
    // µs to wait until the link takes the earlier messages: without it, 1 % of the states was
    // dropped. After a drop zenoh does not wait again until the link moves, so a stopped client
    // delays no other
    ("transport/link/tx/queue/congestion_control/drop/wait_before_drop", "100"),
    ("transport/link/tx/queue/allocation/mode", "\"init\""),
];

/// Opens a session that connects to `endpoint` and does not listen. Returns as soon as a daemon
/// is there, after half a second at the latest; zenoh keeps trying to reach it.
///
/// # Errors
/// `ErrorKind::Input` if the endpoint is malformed.
pub fn open_client(endpoint: &str) -> Result<Session> {
    open_client_as(endpoint, &Credentials::default())
}

/// The same for a daemon with access control. A daemon that rejects the credentials does not
/// answer, and zenoh keeps trying.
///
/// # Errors
/// `ErrorKind::Input` if the endpoint is malformed or a file of secrets is refused,
/// `ErrorKind::File` if it cannot be read.
pub fn open_client_as(endpoint: &str, credentials: &Credentials) -> Result<Session> {
    let session = open_unconnected(endpoint, credentials)?;
    let begin = Instant::now();
    while !is_connected(&session) && begin.elapsed() < CONNECTED_WITHIN {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(DECLARED_WITHIN);
    Ok(session)
}

/// The same, without waiting for the connection.
pub(crate) fn open_unconnected(endpoint: &str, credentials: &Credentials) -> Result<Session> {
    check_endpoint(endpoint)?;
    let given = [
        ("mode", "\"peer\"".to_string()),
        ("listen/endpoints", "[]".into()),
        ("connect/endpoints", json_list(&[endpoint.to_string()])),
        ("connect/timeout_ms", "-1".into()),
        ("connect/exit_on_failure", "false".into()),
        (
            "connect/retry",
            "{ period_init_ms: 100, period_max_ms: 500, period_increase_factor: 2 }".into(),
        ),
    ];
    let mut all = Settings::from(given);
    all.extend(client_settings(credentials)?);
    open(&all)
}

/// True while `session` has a connection.
pub(crate) fn is_connected(session: &Session) -> bool {
    let info = session.info();
    // the daemon is a router, or where nodes of `rmw_zenoh` have theirs, a peer
    info.routers_zid().wait().next().is_some() || info.peers_zid().wait().next().is_some()
}

/// Settings of a client.
///
/// # Errors
/// `ErrorKind::File` or `ErrorKind::Input` if a file is missing, or other users can access it.
fn client_settings(credentials: &Credentials) -> Result<Settings> {
    let mut settings = Settings::new();
    if let Some((user, file)) = &credentials.user {
        if !is_user_name(user) {
            let text = "must be 1 to 64 letters, digits, \"-\", \"_\", \".\" or \"@\"";
            return Err(Error::new(ErrorKind::Input, format!("user {user:?} {text}")));
        }
        settings.push(("transport/auth/usrpwd/user", format!("{user:?}")));
        settings.push(("transport/auth/usrpwd/password", format!("{:?}", read_password(file)?)));
    }
    if let Some(files) = &credentials.tls {
        tls_settings(files, TLS_CONNECT, &mut settings)?;
    }
    Ok(settings)
}

/// Checks that this build can open `endpoint`.
///
/// # Errors
/// `ErrorKind::Input` if it cannot.
pub fn check_endpoint(endpoint: &str) -> Result<()> {
    let mistake = if !is_endpoint(endpoint) {
        format!("must be {ENDPOINT}")
    } else if endpoint.starts_with("tls/") && !cfg!(feature = "tls") {
        "needs a build with TLS: cargo build --release --features tls".into()
    } else {
        return Ok(());
    };
    Err(Error::new(ErrorKind::Input, format!("endpoint \"{endpoint}\" {mistake}")))
}

/// Checks that a robot can be called so: a name with `*` would be that of all robots.
///
/// # Errors
/// `ErrorKind::Input` if it cannot.
pub fn check_robot(robot: &str) -> Result<()> {
    if is_robot_name(robot) {
        return Ok(());
    }
    let text = format!(
        "robot \"{robot}\": a robot's name has {ROBOT_NAME}; the daemon prints its robot's name \
         when it starts"
    );
    Err(Error::new(ErrorKind::Input, text))
}

/// Adds the settings for TLS with `files`; `keys` are zenoh's names of certificate and private key.
///
/// # Errors
/// `ErrorKind::File` or `ErrorKind::Input` if a file is missing, or other users can access the
/// private key.
pub fn tls_settings(files: &TlsFiles, keys: [&'static str; 2], out: &mut Settings) -> Result<()> {
    read_secret("TLS key", &files.key)?;
    for (file, what) in [(&files.certificate, "TLS certificate"), (&files.ca, "TLS authority")] {
        std::fs::File::open(file).map_err(|e| unreadable(what, file, &e))?;
    }
    out.push(("transport/link/tls/enable_mtls", "true".into()));
    out.push(("transport/link/tls/root_ca_certificate", path_text(&files.ca)?));
    out.push((keys[0], path_text(&files.certificate)?));
    out.push((keys[1], path_text(&files.key)?));
    Ok(())
}

/// Opens a session with `settings`, besides those of every session.
///
/// # Errors
/// `ErrorKind::Bus` if zenoh refuses, or its threads cannot be started.
pub fn open(settings: &Settings) -> Result<Session> {
    threads_can_start()?;
    let mut config = Config::default();
    let quiet = QUIET.iter().copied();
    for (key, value) in quiet.chain(settings.iter().map(|(key, value)| (*key, value.as_str()))) {
        // the message has neither value nor reason, because either may show a password
        config.insert_json5(key, value).map_err(|_secret| {
            Error::new(ErrorKind::Internal, format!("zenoh does not take the setting {key}"))
        })?;
    }
    zenoh::open(config).wait().map_err(|e| bus_error("zenoh", e))
}

/// Starts and ends some threads: where the system refuses one, zenoh panics.
fn threads_can_start() -> Result<()> {
    let gate = Mutex::new(());
    std::thread::scope(|scope| {
        let _closed = gate.lock();
        for _ in 0..THREADS {
            let waiting = std::thread::Builder::new();
            waiting
                .spawn_scoped(scope, || drop(gate.lock()))
                .map_err(|e| no_thread("of zenoh", &e))?;
        }
        Ok(())
    })
}

/// A list of strings in JSON.
#[must_use]
pub fn json_list(items: &[String]) -> String {
    let quoted: Vec<String> = items.iter().map(|s| format!("{s:?}")).collect();
    format!("[{}]", quoted.join(","))
}

/// An error of the bus; `what` names the key or the operation.
#[must_use]
pub fn bus_error(what: &str, e: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Bus, format!("{what}: {}", without_places(&e.to_string())))
}

/// The text without places in zenoh's source, which zenoh's errors name as ` at /….rs:61.`.
fn without_places(text: &str) -> String {
    let mut parts = text.split(" at /");
    let mut out = String::from(parts.next().unwrap_or_default());
    for part in parts {
        match part.split_once(".rs:") {
            Some((path, rest)) if !path.contains(' ') => {
                let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                out.push_str(rest.trim_start_matches('.'));
            }
            _ => {
                out.push_str(" at /");
                out.push_str(part);
            }
        }
    }
    out
}
