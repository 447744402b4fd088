//! How a command reaches a daemon.

use std::path::PathBuf;

use clap::Args;

use hardstand_client::{Client, Credentials, TlsFiles};
use hardstand_error::Result;

/// The endpoint of a daemon, and the credentials.
#[derive(Debug, Args)]
pub(in crate::cli) struct DaemonArguments {
    /// zenoh endpoint of the daemon
    #[arg(long, value_name = "ENDPOINT", default_value = "tcp/127.0.0.1:7447")]
    #[arg(env = crate::process_harness::CONNECT_VARIABLE)]
    pub(in crate::cli) connect: String,
    /// Robot name in the keys, hardstand/ROBOT/…
    #[arg(long, default_value = "quadruped", env = crate::process_harness::ROBOT_VARIABLE)]
    pub(in crate::cli) robot: String,
    /// User of the daemon's bus.users_file
    #[arg(long, value_name = "NAME", requires = "password_file")]
    pub(in crate::cli) user: Option<String>,
    /// File with this user's password and nothing else, mode 600
    #[arg(long, value_name = "FILE", requires = "user")]
    pub(in crate::cli) password_file: Option<PathBuf>,
    /// Certificate (PEM) to show at an endpoint tls/HOST:PORT
    #[arg(long, value_name = "FILE", requires_all = ["tls_key", "tls_ca"])]
    pub(in crate::cli) tls_certificate: Option<PathBuf>,
    /// Its private key (PEM), mode 600
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub(in crate::cli) tls_key: Option<PathBuf>,
    /// Authority (PEM) that has signed the daemon's certificate
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub(in crate::cli) tls_ca: Option<PathBuf>,
}

impl DaemonArguments {
    /// A client of that daemon.
    pub(in crate::cli) fn client(&self) -> Result<Client> {
        let (endpoint, robot, credentials) = self.parts();
        Client::connect_as(&endpoint, &robot, &credentials)
    }

    /// Endpoint, robot and credentials.
    pub(in crate::cli) fn parts(&self) -> (String, String, Credentials) {
        let user = self.user.clone().zip(self.password_file.clone());
        let tls = match (&self.tls_certificate, &self.tls_key, &self.tls_ca) {
            (Some(certificate), Some(key), Some(ca)) => Some(TlsFiles {
                certificate: certificate.clone(),
                key: key.clone(),
                ca: ca.clone(),
            }),
            _ => None,
        };
        (self.connect.clone(), self.robot.clone(), Credentials { user, tls })
    }
}
