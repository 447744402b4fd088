//! Credentials of a client.

use std::path::PathBuf;

/// Credentials of a client. Secrets are in files, never in arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Credentials {
    /// User, and the file that holds only the password.
    pub user: Option<(String, PathBuf)>,
    /// Files for an endpoint `tls/…`.
    pub tls: Option<TlsFiles>,
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
