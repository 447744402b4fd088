//! The daemon's zenoh session.

use hardstand_client::session::{Settings, check_endpoint, json_list, open};
use hardstand_error::Result;
use hardstand_protocol::is_exact;
use zenoh::query::{Query, Queryable};
use zenoh::{Session, Wait};

use crate::config::{BusSettings, Ros2Mode};
use crate::limits::MESSAGE_BYTES_MAX;

use super::access::daemon_settings;
use super::listen_path::check_listen_path;
use super::panic_guard::PanicGuard;
use super::{Keys, bus_error, transport_metrics};

/// An open session of the daemon.
#[derive(Debug)]
pub struct Bus {
    pub(super) session: Session,
    pub(super) panic_guard: PanicGuard,
}

/// Handshakes at a time, and their longest duration, ms: a client that connects and sends nothing
/// must not block other clients for long.
const HANDSHAKES_MAX: &str = "8";
const HANDSHAKE_MS: &str = "2000";

/// Why a session could not be opened, as far as settings tell.
fn no_session(settings: &BusSettings) -> String {
    let listen = &settings.listen;
    let mut twice = listen.iter().enumerate().filter(|(i, one)| listen[..*i].contains(one));
    if let Some((_, endpoint)) = twice.next() {
        return format!("cannot listen on {endpoint} twice; name it once in bus.listen");
    }
    let cannot = format!("cannot listen on {listen:?}");
    match settings.access.as_ref().and_then(|access| access.tls.as_ref()) {
        Some(tls) => format!(
            "{cannot}; is another daemon running, or do the files not belong together? \
             bus.tls_certificate {} must be that of the key bus.tls_key {}, and bus.tls_ca {} \
             must hold certificates",
            tls.certificate.display(),
            tls.key.display(),
            tls.ca.display()
        ),
        None => format!(
            "{cannot}; is another daemon running? Choose another endpoint with --set \
             'bus.listen=[\"tcp/127.0.0.1:7448\"]'"
        ),
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        // a publisher thread of a failed session must not go on taking snapshots
        self.panic_guard.end();
    }
}

impl Bus {
    /// Opens the daemon's session with the endpoints and the access control of the scenario.
    ///
    /// zenoh's threads inherit affinity and scheduling policy of the caller, so call this on an I/O
    /// core and before any thread becomes real-time.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`](crate::ErrorKind::Bus) if an endpoint is taken,
    /// [`ErrorKind::Input`](crate::ErrorKind::Input) if a file of users or keys is refused.
    pub fn open(settings: &BusSettings) -> Result<Self> {
        for endpoint in settings.listen.iter().chain(&settings.connect) {
            check_endpoint(endpoint)?;
        }
        settings.listen.iter().try_for_each(|endpoint| check_listen_path(endpoint))?;
        let ros = settings.ros2 == Ros2Mode::RmwZenoh;
        // a router passes messages on to a router and to clients, but not between peers without
        // gossip; and nodes of ROS 2 need a router
        let router = ros || !settings.connect.is_empty();
        let given = [
            ("mode", if router { "\"router\"" } else { "\"peer\"" }.to_string()),
            // nodes that connect to a router learn of each other by gossip
            ("scouting/gossip/enabled", ros.to_string()),
            // messages that are kept for late subscribers are distinguished by their timestamps
            ("timestamping/enabled", (settings.ros2 != Ros2Mode::Off).to_string()),
            ("listen/endpoints", json_list(&settings.listen)),
            ("connect/endpoints", json_list(&settings.connect)),
            ("connect/timeout_ms", "-1".into()),
            ("connect/exit_on_failure", "false".into()),
            ("transport/link/rx/max_message_size", (MESSAGE_BYTES_MAX + 1).to_string()),
            ("transport/unicast/max_sessions", settings.sessions().to_string()),
            ("transport/unicast/accept_pending", HANDSHAKES_MAX.into()),
            ("transport/unicast/accept_timeout", HANDSHAKE_MS.into()),
            ("transport/unicast/open_timeout", HANDSHAKE_MS.into()),
        ];
        let mut all = Settings::from(given);
        if let Some(access) = &settings.access {
            let keys: Vec<Keys> = settings.robots.iter().map(|robot| Keys::of(robot)).collect();
            all.extend(daemon_settings(access, &keys, settings.ros2_domain)?);
        }
        transport_metrics::start();
        let session = open(&all).map_err(|e| e.within(no_session(settings)))?;
        Ok(Self::of(session))
    }

    pub(super) fn of(session: Session) -> Self {
        Self { session, panic_guard: PanicGuard::default() }
    }

    /// True if a thread of this session has panicked, or another robot has closed it: close it and
    /// open another one.
    #[must_use]
    pub fn has_died(&self) -> bool {
        self.panic_guard.is_over() || self.session.is_closed()
    }

    /// Calls `take` with every query that names exactly `key`, on zenoh's threads. Queries of
    /// patterns are left to others: tools send them to find out what there is.
    pub(super) fn answer_exactly(
        &self,
        key: &str,
        take: impl Fn(Query) + Send + Sync + 'static,
    ) -> Result<Queryable<()>> {
        let panic_guard = self.panic_guard.clone();
        self.session
            .declare_queryable(key.to_string())
            .callback(move |query| {
                if is_exact(query.key_expr()) {
                    panic_guard.guard(|| take(query));
                }
            })
            .wait()
            .map_err(|e| bus_error(key, e))
    }

    /// Closes the session.
    pub fn close(self) {
        let _closed = self.session.close().wait().is_ok();
    }
}
