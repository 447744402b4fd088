//! What a check found.

use serde::Serialize;

/// How good or bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As it should be.
    Ok,
    /// It costs latency; the loop runs.
    Advice,
    /// Real time is not possible like this.
    Bad,
    /// The system does not report it.
    Unknown,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Name of the check; docs/real-time.md explains each.
    pub id: &'static str,
    /// How good or bad it is.
    pub level: Level,
    /// What was found.
    pub found: String,
    /// Command that fixes it until the next start of the machine.
    pub now: Option<String>,
    /// Command that fixes it permanently.
    pub for_good: Option<String>,
}

impl Finding {
    pub(super) fn new(id: &'static str, level: Level, found: impl Into<String>) -> Self {
        Self { id, level, found: found.into(), now: None, for_good: None }
    }

    pub(super) fn ok(id: &'static str, found: impl Into<String>) -> Self {
        Self::new(id, Level::Ok, found)
    }

    pub(super) fn advice(id: &'static str, found: impl Into<String>) -> Self {
        Self::new(id, Level::Advice, found)
    }

    pub(super) fn bad(id: &'static str, found: impl Into<String>) -> Self {
        Self::new(id, Level::Bad, found)
    }

    /// `path` cannot be read.
    pub(super) fn unknown(id: &'static str, path: &str) -> Self {
        Self::new(id, Level::Unknown, format!("{path} is not there or not readable"))
    }

    pub(super) fn now(mut self, command: impl Into<String>) -> Self {
        self.now = Some(command.into());
        self
    }

    pub(super) fn for_good(mut self, command: impl Into<String>) -> Self {
        self.for_good = Some(command.into());
        self
    }

    /// Fixed by a parameter of the kernel's command line.
    pub(super) fn by_boot_parameter(self, parameter: &str) -> Self {
        self.for_good(format!(
            "sudo sed -i 's/^GRUB_CMDLINE_LINUX=\"/&{parameter} /' /etc/default/grub && \
             sudo update-grub && sudo reboot"
        ))
    }
}
