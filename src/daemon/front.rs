//! The daemon's front: the bus, or nothing in a build without zenoh.

#[cfg(feature = "zenoh")]
pub(super) use with_bus::Front;
#[cfg(not(feature = "zenoh"))]
pub(super) use without_bus::Front;

use crate::plant::Rejection;

/// Counters of what arrived: commands received, and those refused for a reason.
pub(super) trait Arrivals: std::fmt::Debug {
    fn received(&self) -> u64;
    fn rejected(&self, reason: Rejection) -> u64;
}

#[cfg(feature = "zenoh")]
mod with_bus {
    use std::sync::Arc;

    use zenoh::pubsub::Subscriber;

    use super::Arrivals;
    use crate::bus::{ArrivalCounters, Bus, CommandDesk, Keys, Publisher, Services};
    use crate::config::Scenario;
    use crate::error::Result;
    use crate::handover::{Inbox, Outbox};
    use crate::message::{CommandLimits, ModelReply, StatusReading};
    use crate::plant::{Command, Rejection, Snapshot};

    /// Bus, publisher, queryables and the desk where commands arrive.
    #[derive(Debug)]
    pub(in crate::daemon) struct Front {
        bus: Bus,
        services: Services,
        publisher: Publisher,
        counters: Arc<ArrivalCounters>,
        _commands: Subscriber<()>,
    }

    impl Front {
        pub(in crate::daemon) fn open(
            scenario: &Scenario,
            model: &ModelReply,
            commands: Outbox<Command>,
            limits: CommandLimits,
            snapshots: Inbox<Snapshot>,
        ) -> Result<Self> {
            let keys = Keys::of(&scenario.bus.robot);
            let bus = Bus::open(&scenario.bus)?;
            let period_ns = scenario.spec.period_ns;
            let publisher = Publisher::start(&bus, &keys, &scenario.bus, period_ns, snapshots)?;
            let services = Services::start(&bus, &keys, model, &scenario.robot_urdf)?;
            let desk = CommandDesk::new(commands, limits);
            let counters = desk.counters();
            let subscriber = desk.subscribe(&bus, &keys)?;
            Ok(Self { bus, services, publisher, counters, _commands: subscriber })
        }

        pub(in crate::daemon) fn counters(&self) -> Box<dyn Arrivals> {
            Box::new(Arc::clone(&self.counters))
        }

        /// A status that cannot be published now is published in a second.
        pub(in crate::daemon) fn publish_status(&self, status: &StatusReading) {
            let _next_second = self.services.publish_status(&self.bus, status).is_ok();
        }

        pub(in crate::daemon) fn close(self) {
            let _stats = self.publisher.finish();
            drop((self._commands, self.services));
            self.bus.close();
        }
    }

    impl Arrivals for Arc<ArrivalCounters> {
        fn received(&self) -> u64 {
            ArrivalCounters::received(self)
        }

        fn rejected(&self, reason: Rejection) -> u64 {
            ArrivalCounters::rejected(self, reason)
        }
    }
}

#[cfg(not(feature = "zenoh"))]
mod without_bus {
    use super::Arrivals;
    use crate::config::Scenario;
    use crate::error::{Error, ErrorKind, Result};
    use crate::handover::{Inbox, Outbox};
    use crate::message::{CommandLimits, ModelReply, StatusReading};
    use crate::plant::{Command, Rejection, Snapshot};
    use crate::rt::StartRule;

    /// Nobody can command this robot; its snapshots are dropped by the loop when the queue is full.
    #[derive(Debug)]
    pub(in crate::daemon) struct Front {
        _ends: (Outbox<Command>, Inbox<Snapshot>),
    }

    #[derive(Debug)]
    struct Nothing;

    impl Front {
        pub(in crate::daemon) fn open(
            scenario: &Scenario,
            _model: &ModelReply,
            commands: Outbox<Command>,
            _limits: CommandLimits,
            snapshots: Inbox<Snapshot>,
        ) -> Result<Self> {
            if scenario.start == StartRule::OnController {
                return Err(Error::new(
                    ErrorKind::Bus,
                    "this build has no bus, so no controller can come; use --set sim.start=now",
                ));
            }
            Ok(Self { _ends: (commands, snapshots) })
        }

        pub(in crate::daemon) fn counters(&self) -> Box<dyn Arrivals> {
            Box::new(Nothing)
        }

        pub(in crate::daemon) fn publish_status(&self, _status: &StatusReading) {}

        pub(in crate::daemon) fn close(self) {}
    }

    impl Arrivals for Nothing {
        fn received(&self) -> u64 {
            0
        }

        fn rejected(&self, _reason: Rejection) -> u64 {
            0
        }
    }
}
