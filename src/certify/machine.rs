//! The machine on which a certificate was made, or a campaign was run.

use serde::{Deserialize, Serialize};

/// A machine, without its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Cores that this process may use.
    pub cores: usize,
    /// Model of the first of them.
    pub cpu: String,
    /// Release of the kernel.
    pub kernel: String,
    /// Architecture that the program was built for.
    pub architecture: String,
}

impl Machine {
    /// This one.
    #[must_use]
    pub fn here() -> Self {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let unknown = |text: &str| {
            if text.is_empty() { "unknown".to_string() } else { text.to_string() }
        };
        let info = read("/proc/cpuinfo");
        let model = info.lines().find(|line| line.starts_with("model name"));
        let model = model.and_then(|line| line.split_once(':')).map_or("", |(_, model)| model);
        Self {
            cores: std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get),
            cpu: unknown(model.trim()),
            kernel: unknown(read("/proc/sys/kernel/osrelease").trim()),
            architecture: std::env::consts::ARCH.into(),
        }
    }
}
