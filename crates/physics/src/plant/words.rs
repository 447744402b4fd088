//! Events in words.

use crate::model::Model;

use super::{Event, Grid};

impl Event {
    /// Its kind in a word.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Push { .. } => "push",
            Self::Friction { .. } => "friction",
            Self::Grant(_) => "join",
            Self::Leave { .. } => "leave",
            Self::Stop => "stop",
            Self::Arm => "arm",
            Self::InjectFault { .. } => "fault",
            Self::ClearFaults { .. } => "mend",
        }
    }

    /// What happens, for people. `name` knows controllers by number.
    #[must_use]
    pub fn words(&self, model: &Model, name: impl Fn(u64) -> String) -> String {
        match self {
            Self::Push { body, force_W: [x, y, z], ticks, .. } => {
                let link = model.bodies.get(*body as usize).map_or("nothing", |b| &b.name);
                format!("push of {link} with ({x}, {y}, {z}) N for {ticks} ticks")
            }
            Self::Friction { scope, mu_static, mu_kinetic } => {
                format!("friction of {scope:?} {mu_static}, {mu_kinetic}")
            }
            Self::Grant(grant) => {
                let (name, session) = (name(grant.controller), grant.session);
                let Grid { period, phase, offset } = grant.grid;
                let role = if grant.required { "required" } else { "advisory" };
                format!(
                    "the controller {name} joins, {role}, period {period}, phase {phase}, offset \
                     {offset}, session {session:016x}"
                )
            }
            Self::Leave { session } => format!("session {session:016x} leaves"),
            Self::InjectFault { fault, .. } => {
                let row = fault.kind.row();
                format!("fault {} {:?} {:?}", row.name, fault.part, fault.values)
            }
            Self::ClearFaults { kind, part } => format!("mend {kind:?} {part:?}"),
            Self::Stop => "emergency stop".into(),
            Self::Arm => "end of the emergency stop".into(),
        }
    }
}
