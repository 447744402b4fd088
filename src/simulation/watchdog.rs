//! Settings of the age ladder of commands.

/// What happens when the controller is late or lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WatchdogSpec {
    /// A command is held while its age is at most this many ticks.
    pub hold_ticks: u64,
    /// After that the joints are damped for this many ticks, then free.
    pub damped_ticks: u64,
    /// Commands in a row by which a session proves that it lives.
    pub proof_commands: u64,
    /// Damping of every joint while damped, N·m·s/rad or N·s/m.
    pub damping: f64,
}
