//! What the drives obey, and what stops a plant.

numbered! {
    /// What the drives obey in a tick.
    pub enum Authority {
        /// No effort: no session has commanded yet, or the controller is long lost.
        Zero = 0, "zero";
        /// The owner's command, accepted in this tick.
        Fresh = 1, "fresh";
        /// The owner's last command, held.
        Held = 2, "held";
        /// Damping only.
        Damped = 3, "damped";
        /// Damping only, until the emergency stop ends.
        Stopped = 4, "stopped";
    }
}

impl Authority {
    /// True if a number says that the drives obey a command: [`Fresh`](Self::Fresh) or
    /// [`Held`](Self::Held).
    #[must_use]
    pub const fn is_command(code: u8) -> bool {
        matches!(Self::from_code(code), Some(Self::Fresh | Self::Held))
    }
}

numbered! {
    /// Why a plant stopped. The state stays at the last good one. On the wire 0 means that it has
    /// not stopped.
    pub enum PlantFailure {
        /// A position, velocity or acceleration became NaN or infinite: usually the contact or a
        /// gain is too stiff for the micro-step.
        NotFinite = 1, "not_finite";
        /// The base or a joint became faster than 1e4 m/s or rad/s, or went farther than 1e6 m or
        /// rad, or a contact's normal force exceeded 1e9 N: a rigid contact cannot hold the load,
        /// or stiffness or dissipation are too large for the micro-step.
        OutOfRange = 2, "out_of_range";
        /// More shapes touch at the same time than there is room for.
        TooManyContacts = 3, "too_many_contacts";
    }
}

impl PlantFailure {
    /// What it means, in a few words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::NotFinite => "a number is not finite",
            Self::OutOfRange => "a number is out of range",
            Self::TooManyContacts => "too many shapes touch",
        }
    }

    /// What it means and what to do about it.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        match self {
            Self::NotFinite => {
                "a number is no longer finite; raise sim.micro_steps or lower the stiffness \
                 of the contact or the gains; if it is so in the first tick, let what begins deep \
                 in the ground or in something else begin outside of it"
            }
            Self::OutOfRange => {
                "a speed exceeds 1e4 m/s or rad/s, the base is more than 1e6 m away, or a contact \
                 is pressed beyond 1e9 N; raise sim.micro_steps or lower the stiffness or \
                 dissipation of the contact or the gains"
            }
            Self::TooManyContacts => {
                "more shapes touch at the same time than there is room for (1024 points, 256 if \
                 any is rigid); use fewer bodies, or contact.model = \"exponential_spring\""
            }
        }
    }
}
