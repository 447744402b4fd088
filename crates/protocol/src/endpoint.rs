//! Valid endpoints, and valid names of users.

/// The forms of an endpoint, for messages.
pub const ENDPOINT: &str = "\"tcp/HOST:PORT\", \"tls/HOST:PORT\" or \"unixsock-stream/PATH\"";

/// True for an endpoint of a kind that daemons and clients can open.
#[must_use]
pub fn is_endpoint(text: &str) -> bool {
    let address = text.split(['?', '#']).next().unwrap_or_default();
    let is_host_port = |address: &str| {
        address
            .rsplit_once(':')
            .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
    };
    match address.split_once('/') {
        Some(("tcp", host)) => is_host_port(host),
        // options after `#` could switch off the check of certificates
        Some(("tls", host)) => is_host_port(host) && address == text,
        Some(("unixsock-stream", path)) => !path.is_empty(),
        _ => false,
    }
}

/// True for a valid name of a user or common name of a certificate.
#[must_use]
pub fn is_user_name(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.@".contains(c);
    (1..=64).contains(&text.len()) && text.chars().all(allowed)
}
