//! Arguments of `status` and `events`.

use clap::Args;

use super::daemon::DaemonArguments;

#[derive(Debug, Args)]
pub(in crate::cli) struct StatusArguments {
    #[command(flatten)]
    pub(in crate::cli) daemon: DaemonArguments,
    /// One JSON object instead of text; docs/protocol.md lists its fields
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Again every second, until Ctrl-C
    #[arg(long)]
    pub(in crate::cli) watch: bool,
    /// Counters that are 0, too
    #[arg(long)]
    pub(in crate::cli) all: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct EventsArguments {
    #[command(flatten)]
    pub(in crate::cli) daemon: DaemonArguments,
    /// One JSON object a line instead of text
    #[arg(long)]
    pub(in crate::cli) json: bool,
}
