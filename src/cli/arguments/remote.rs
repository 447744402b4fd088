//! Arguments of `remote`.

use std::path::PathBuf;

use clap::Args;

use super::daemon::DaemonArguments;

#[derive(Debug, Args)]
pub(in crate::cli) struct RemoteArguments {
    /// Game controller, as the kernel shows it: /dev/input/js0
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) gamepad: Option<PathBuf>,
    /// Send over DDS, to a daemon with ros2.mode = "dds", instead of over its bus
    #[cfg(feature = "dds")]
    #[arg(long)]
    pub(in crate::cli) dds: bool,
    /// Network interface of DDS, as ros2.interface
    #[cfg(feature = "dds")]
    #[arg(long, value_name = "NAME", default_value = "lo")]
    pub(in crate::cli) interface: String,
    /// Domain, as ros2.domain
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(in crate::cli) domain: u16,
    #[command(flatten)]
    pub(in crate::cli) daemon: DaemonArguments,
}
