//! Arguments of `view` and `page`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::DaemonArguments;

#[derive(Debug, Args)]
pub(in crate::cli) struct ViewArguments {
    /// Log to show instead of a running daemon
    #[arg(value_name = "LOG")]
    pub(in crate::cli) log: Option<PathBuf>,
    /// A second log to lay over the first one; the first difference is marked
    #[arg(value_name = "LOG2", requires = "log")]
    pub(in crate::cli) other: Option<PathBuf>,
    /// Mark where a condition begins to hold, as in `hardstand bisect --where` (repeatable)
    #[arg(long = "where", value_name = "EXPR", allow_hyphen_values = true, requires = "log")]
    pub(in crate::cli) conditions: Vec<String>,
    /// Another robot of the daemon to draw beside the one that the page is for (repeatable)
    #[arg(long = "with", value_name = "ROBOT", conflicts_with = "log")]
    pub(in crate::cli) others: Vec<String>,
    #[command(flatten)]
    pub(in crate::cli) page: PageServer,
    /// Folder with the robot's meshes, for names of files and package:// (repeatable)
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) meshes: Vec<PathBuf>,
    /// Print one JSON document with the address of the page instead of text
    #[arg(long)]
    pub(in crate::cli) json: bool,
    #[command(flatten)]
    pub(in crate::cli) daemon: DaemonArguments,
}

/// Where a page is served.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct PageServer {
    /// Address and port of the page and of its WebSocket, which Foxglove can open too; port 0 takes
    /// a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8765")]
    pub(in crate::cli) listen: SocketAddr,
    /// User that a browser must give
    #[arg(long, value_name = "NAME", requires = "page_password_file")]
    pub(in crate::cli) page_user: Option<String>,
    /// File with this user's password and nothing else, mode 600
    #[arg(long, value_name = "FILE", requires = "page_user")]
    pub(in crate::cli) page_password_file: Option<PathBuf>,
    /// Certificate (PEM) for https
    #[arg(long, value_name = "FILE", requires = "page_key")]
    pub(in crate::cli) page_certificate: Option<PathBuf>,
    /// Its private key (PEM), mode 600
    #[arg(long, value_name = "FILE", requires = "page_certificate")]
    pub(in crate::cli) page_key: Option<PathBuf>,
    /// Another site whose pages may connect, such as https://app.foxglove.dev (repeatable)
    #[arg(long, value_name = "ORIGIN")]
    pub(in crate::cli) allow_origin: Vec<String>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct PageArguments {
    /// Log
    #[arg(value_name = "LOG")]
    pub(in crate::cli) log: PathBuf,
    /// A second log to lay over the first one; the first difference is marked
    #[arg(value_name = "LOG2")]
    pub(in crate::cli) other: Option<PathBuf>,
    /// Mark where a condition begins to hold, as in `hardstand bisect --where` (repeatable)
    #[arg(long = "where", value_name = "EXPR", allow_hyphen_values = true)]
    pub(in crate::cli) conditions: Vec<String>,
    /// File to write (HTML)
    #[arg(short, long, value_name = "FILE")]
    pub(in crate::cli) output: PathBuf,
    /// Frames per simulated second; of a long log fewer are taken
    #[arg(long, value_name = "N", default_value_t = 60.0)]
    pub(in crate::cli) fps: f64,
    /// Folder with the robot's meshes, for names of files and package:// (repeatable)
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) meshes: Vec<PathBuf>,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub(in crate::cli) json: bool,
}
