//! Names of the keys.

/// The keys of one robot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    /// What all of them begin with.
    pub root: String,
    /// States.
    pub state: String,
    /// Contacts.
    pub contacts: String,
    /// Changes of friction.
    pub friction: String,
    /// Commands.
    pub cmd: String,
    /// Status.
    pub status: String,
    /// Description.
    pub model: String,
    /// Robot description file.
    pub urdf: String,
}

impl Keys {
    /// Keys under `hardstand/<robot>/`.
    #[must_use]
    pub fn of(robot: &str) -> Self {
        let key = |name: &str| format!("hardstand/{robot}/{name}");
        Self {
            root: format!("hardstand/{robot}"),
            state: key("state"),
            contacts: key("contacts"),
            friction: key("friction"),
            cmd: key("cmd"),
            status: key("status"),
            model: key("model"),
            urdf: key("model/urdf"),
        }
    }
}
