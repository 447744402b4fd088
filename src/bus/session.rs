//! Opening zenoh, quietly.

use zenoh::{Config, Session, Wait};

use crate::config::{BusSettings, is_endpoint};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::MESSAGE_BYTES_MAX;

use super::bus_error;
use super::life::Life;

/// An open session of the daemon.
#[derive(Debug)]
pub struct Bus {
    pub(super) session: Session,
    pub(super) life: Life,
}

/// What every session here has in common.
const QUIET: [(&str, &str); 5] = [
    ("scouting/multicast/enabled", "false"),
    ("scouting/gossip/enabled", "false"),
    ("transport/shared_memory/enabled", "false"),
    // a stopped subscriber must not hold up the publisher
    ("transport/link/tx/queue/congestion_control/drop/wait_before_drop", "0"),
    ("transport/link/tx/queue/allocation/mode", "\"init\""),
];

impl Bus {
    /// Opens the daemon's session: a peer that listens where the scenario says.
    ///
    /// zenoh's threads inherit affinity and scheduling policy of the caller, so this is called from
    /// an I/O core and before any thread becomes real-time.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`](crate::ErrorKind::Bus) if an endpoint is malformed or taken.
    pub fn open(settings: &BusSettings) -> Result<Self> {
        let receive_max = (MESSAGE_BYTES_MAX + 1).to_string();
        let listen = json_list(&settings.listen);
        let connect = json_list(&settings.connect);
        let session = open(&[
            ("mode", "\"peer\""),
            ("listen/endpoints", &listen),
            ("connect/endpoints", &connect),
            ("connect/timeout_ms", "-1"),
            ("connect/exit_on_failure", "false"),
            ("transport/link/rx/max_message_size", &receive_max),
            ("transport/unicast/max_sessions", "32"),
            ("transport/unicast/accept_pending", "8"),
            ("transport/unicast/accept_timeout", "2000"),
        ])
        .map_err(|e| {
            e.within(format!(
                "cannot listen on {:?}; is another daemon running? Choose another endpoint with \
                 --set 'bus.listen=[\"tcp/127.0.0.1:7448\"]'",
                settings.listen
            ))
        })?;
        Ok(Self { session, life: Life::default() })
    }

    /// True if a thread that works for this session has panicked: it must be closed, and another
    /// one opened.
    #[must_use]
    pub fn has_died(&self) -> bool {
        self.life.is_over()
    }

    /// Closes the session.
    pub fn close(self) {
        let _closed = self.session.close().wait().is_ok();
    }
}

/// Opens a session that connects to `endpoint` and listens nowhere, as controllers do. It returns
/// at once; zenoh keeps trying to reach the daemon.
///
/// # Errors
/// [`ErrorKind::Input`] if the endpoint is malformed.
pub fn open_client(endpoint: &str) -> Result<Session> {
    if !is_endpoint(endpoint) {
        return Err(Error::new(
            ErrorKind::Input,
            format!("endpoint \"{endpoint}\" must be tcp/HOST:PORT or unixsock-stream/PATH"),
        ));
    }
    let connect = json_list(&[endpoint.to_string()]);
    open(&[
        ("mode", "\"peer\""),
        ("listen/endpoints", "[]"),
        ("connect/endpoints", &connect),
        ("connect/timeout_ms", "-1"),
        ("connect/exit_on_failure", "false"),
        ("connect/retry", "{ period_init_ms: 100, period_max_ms: 500, period_increase_factor: 2 }"),
    ])
}

fn open(settings: &[(&str, &str)]) -> Result<Session> {
    let mut config = Config::default();
    for (key, value) in QUIET.iter().chain(settings) {
        config.insert_json5(key, value).map_err(|e| bus_error(&format!("{key} = {value}"), e))?;
    }
    zenoh::open(config).wait().map_err(|e| bus_error("zenoh", e))
}

fn json_list(items: &[String]) -> String {
    let quoted: Vec<String> = items.iter().map(|s| format!("{s:?}")).collect();
    format!("[{}]", quoted.join(","))
}
