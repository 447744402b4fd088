//! Whether ticks wait for controllers, and what the loop is doing.

numbered! {
    /// Whether a tick waits for the commands that are due at it.
    pub enum Mode {
        /// Never.
        RealTime = 0, "realtime";
        /// Always.
        Lockstep = 1, "lockstep";
        /// Until a budget of wall time is spent.
        Budgeted = 2, "budgeted";
    }
}

numbered! {
    /// What the loop is doing.
    pub enum Phase {
        /// Waiting for a controller that proves life.
        Waiting = 0, "waiting";
        /// Running.
        Running = 1, "running";
        /// Stopped by a plant failure.
        Failed = 2, "stopped";
        /// Paused.
        Paused = 3, "paused";
        /// A tick waits for a controller.
        Awaiting = 4, "awaiting a controller";
    }
}
