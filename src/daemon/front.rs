//! The daemon's front: the bus, or nothing in a build without zenoh.

#[cfg(feature = "zenoh")]
pub(super) use with_bus::Front;
#[cfg(not(feature = "zenoh"))]
pub(super) use without_bus::Front;

use crate::handover::{Inbox, Outbox};
use crate::plant::{Command, Rejection, Snapshot};
use crate::rt::EventOutbox;

/// The bus's ends of the loop's links.
#[derive(Debug)]
pub(super) struct Ends {
    pub(super) commands: Outbox<Command>,
    pub(super) events: EventOutbox,
    pub(super) snapshots: Inbox<Snapshot>,
}

/// Counters of the commands and of the changes of friction that arrived.
#[derive(Debug)]
pub(super) struct Counters {
    pub(super) commands: Box<dyn Arrivals>,
    pub(super) friction: Box<dyn Arrivals>,
}

/// Counters of what arrived: how much was received, and refused for a reason.
pub(super) trait Arrivals: std::fmt::Debug {
    fn received(&self) -> u64;
    fn rejected(&self, reason: Rejection) -> u64;
}

#[cfg(feature = "zenoh")]
mod with_bus {
    use std::sync::Arc;

    use zenoh::pubsub::Subscriber;

    use super::{Arrivals, Counters, Ends};
    use crate::bus::{
        ArrivalCounters, Bus, CommandDesk, FrictionService, Keys, Publisher, Services,
    };
    use crate::config::Scenario;
    use crate::error::Result;
    use crate::message::{CommandLimits, FrictionLimits, ModelReply, StatusReading};
    use crate::plant::Rejection;

    /// Bus, publisher, queryables and the desks where commands and changes of friction arrive.
    #[derive(Debug)]
    pub(in crate::daemon) struct Front {
        bus: Bus,
        services: Services,
        publisher: Publisher,
        friction: FrictionService,
        counters: Arc<ArrivalCounters>,
        _commands: Subscriber<()>,
    }

    impl Front {
        pub(in crate::daemon) fn open(
            scenario: &Scenario,
            model: &ModelReply,
            ends: Ends,
        ) -> Result<Self> {
            let keys = Keys::of(&scenario.bus.robot);
            let bus = Bus::open(&scenario.bus)?;
            let period_ns = scenario.spec.period_ns;
            let publisher =
                Publisher::start(&bus, &keys, &scenario.bus, period_ns, ends.snapshots)?;
            let friction =
                FrictionService::start(&bus, &keys, ends.events, friction_limits(model))?;
            let services = Services::start(&bus, &keys, model, &scenario.robot_urdf)?;
            let desk = CommandDesk::new(ends.commands, command_limits(scenario, model));
            let counters = desk.counters();
            let subscriber = desk.subscribe(&bus, &keys)?;
            Ok(Self { bus, services, publisher, friction, counters, _commands: subscriber })
        }

        pub(in crate::daemon) fn counters(&self) -> Counters {
            Counters {
                commands: Box::new(Arc::clone(&self.counters)),
                friction: Box::new(self.friction.counters()),
            }
        }

        /// A status that cannot be published now is published in a second.
        pub(in crate::daemon) fn publish_status(&self, status: &StatusReading) {
            let _next_second = self.services.publish_status(&self.bus, status).is_ok();
        }

        pub(in crate::daemon) fn close(self) {
            let _stats = self.publisher.finish();
            self.friction.finish();
            drop((self._commands, self.services));
            self.bus.close();
        }
    }

    fn command_limits(scenario: &Scenario, model: &ModelReply) -> CommandLimits {
        CommandLimits {
            layout_hash: model.layout_hash,
            epoch: model.epoch,
            joints: model.joints.len(),
            kp_max: scenario.gains_max[0],
            kd_max: scenario.gains_max[1],
        }
    }

    fn friction_limits(model: &ModelReply) -> FrictionLimits {
        let counts = [model.stations.len(), model.feet.len(), model.regions.len()];
        FrictionLimits {
            layout_hash: model.layout_hash,
            epoch: model.epoch,
            counts: counts.map(|n| n as u32),
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
    use super::{Arrivals, Counters, Ends};
    use crate::config::Scenario;
    use crate::error::{Error, ErrorKind, Result};
    use crate::handover::{Inbox, Outbox};
    use crate::message::{ModelReply, StatusReading};
    use crate::plant::{Command, Rejection, Snapshot};
    use crate::rt::{EventOutbox, StartRule};

    /// Nobody can command this robot; its snapshots are dropped by the loop when the queue is full.
    #[derive(Debug)]
    pub(in crate::daemon) struct Front {
        _ends: (Outbox<Command>, EventOutbox, Inbox<Snapshot>),
    }

    #[derive(Debug)]
    struct Nothing;

    impl Front {
        pub(in crate::daemon) fn open(
            scenario: &Scenario,
            _model: &ModelReply,
            ends: Ends,
        ) -> Result<Self> {
            if scenario.start == StartRule::OnController {
                return Err(Error::new(
                    ErrorKind::Bus,
                    "this build has no bus, so no controller can come; use --set sim.start=now",
                ));
            }
            Ok(Self { _ends: (ends.commands, ends.events, ends.snapshots) })
        }

        pub(in crate::daemon) fn counters(&self) -> Counters {
            Counters { commands: Box::new(Nothing), friction: Box::new(Nothing) }
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
