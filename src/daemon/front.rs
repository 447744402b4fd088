//! The daemon's front: the bus, or nothing in a build without zenoh.

#[cfg(feature = "zenoh")]
pub(super) use with_bus::Front;
#[cfg(not(feature = "zenoh"))]
pub(super) use without_bus::Front;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use crossbeam_channel::Sender;

use crate::buffer_pool::{CommandSender, EmergencyStop, Inbox};
#[cfg(feature = "zenoh")]
use crate::bus::SharedBus;
use crate::desk::SharedOrders;
use crate::ingress::{AcceptedOrder, ArrivalCounters, ControllerRegistry, JoinedSessions};
#[cfg(feature = "zenoh")]
use crate::ports::{BusOrders, PortCounters};
use crate::ros2::RosCounters;
use crate::rt::Direct;
use crate::simulation::{Simulation, Snapshot};

use super::kept::Kept;

/// The bus's ends of the loop's links. They outlive a bus that has died.
#[cfg_attr(
    not(feature = "zenoh"),
    allow(dead_code, reason = "without a bus they have no other end")
)]
#[derive(Clone, Debug)]
pub(super) struct Ends {
    pub(super) commands: CommandSender,
    pub(super) emergency_stop: EmergencyStop,
    pub(super) orders: SharedOrders,
    /// A plant in its initial state.
    pub(super) simulation: Simulation,
    /// The run number.
    pub(super) run_id: Arc<AtomicU32>,
    pub(super) snapshots: Inbox<Snapshot>,
    /// Where the loop publishes by itself, if it does.
    pub(super) direct: Option<Direct>,
    pub(super) registry: ControllerRegistry,
    pub(super) joined_sessions: JoinedSessions,
    /// Where the other ports ask to join.
    #[cfg(feature = "zenoh")]
    pub(super) port_orders: BusOrders,
    /// Where the bus stays between runs, if it does.
    pub(super) kept: Option<Kept>,
    /// The session of several robots, if this is one of them.
    #[cfg(feature = "zenoh")]
    pub(super) shared: Option<SharedBus>,
    /// Where it is said which orders were accepted.
    pub(super) accepted: Sender<AcceptedOrder>,
    /// What happens in the run is in a log already.
    pub(super) shows_log: bool,
    /// The log of the run.
    pub(super) log: Option<PathBuf>,
    pub(super) counters: Counters,
}

/// Counters of the commands and of the orders that arrived.
#[derive(Clone, Debug, Default)]
pub(super) struct Counters {
    pub(super) commands: Arc<ArrivalCounters>,
    pub(super) orders: Arc<ArrivalCounters>,
    pub(super) ros2: Arc<RosCounters>,
    #[cfg(feature = "zenoh")]
    pub(super) ports: PortCounters,
}

impl Counters {
    /// Counters of the ports, by name.
    pub(super) fn of_ports(&self) -> Vec<(String, u64)> {
        #[cfg(feature = "zenoh")]
        return self.ports.all();
        #[cfg(not(feature = "zenoh"))]
        Vec::new()
    }
}

/// Counters of the links, by name.
pub(super) fn link_counts() -> Vec<(&'static str, u64)> {
    #[cfg(feature = "zenoh")]
    return crate::bus::link_counts();
    #[cfg(not(feature = "zenoh"))]
    Vec::new()
}

#[cfg(feature = "zenoh")]
mod with_bus {
    use std::sync::Arc;

    use zenoh::pubsub::Subscriber;

    use super::super::ports::command_limits;
    use super::{Counters, Ends, Kept};
    use crate::bus::{
        Bus, Feed, Keys, OrderService, Publisher, Services, Watch, subscribe_commands,
        watch_connections,
    };
    use crate::config::{BusSettings, Ros2Mode, Scenario};
    use crate::desk::{OrderGate, RequestValidator};
    use crate::ingress::CommandIngress;
    use crate::replay::past_state;
    use crate::ros2::{Node, NodeEnds};
    use crate::simulation::describe_ground;
    use hardstand_error::Result;
    use hardstand_protocol::{EventReading, ModelReply, StatusReading};

    /// Bus, publisher, queryables and the desks where commands and orders arrive.
    #[derive(Debug)]
    pub(in crate::daemon) struct Front {
        bus: Bus,
        services: Services,
        publisher: Publisher,
        orders: OrderService,
        ros2: Option<Node>,
        watch: Watch,
        _commands: Subscriber<()>,
        _connections: Subscriber<()>,
        kept: Option<(Kept, BusSettings)>,
        is_shared: bool,
    }

    impl Front {
        pub(in crate::daemon) fn open(
            scenario: &Scenario,
            model: &ModelReply,
            ends: Ends,
        ) -> Result<Self> {
            let keys = Keys::of(&scenario.bus.robot);
            let bus = match (&ends.shared, &ends.kept) {
                (Some(shared), _) => shared.open(&scenario.bus)?,
                (None, Some(kept)) => kept.bus.open(&scenario.bus)?,
                (None, None) => Bus::open(&scenario.bus)?,
            };
            let period_ns = scenario.spec.period_ns;
            let (feed, feed_end) = Feed::new();
            let spoken = scenario.ros2.mode != Ros2Mode::Off;
            let feed = spoken.then_some(feed);
            let source = (ends.snapshots, ends.direct);
            let publisher = Publisher::start(&bus, &keys, &scenario.bus, period_ns, source, feed)?;
            let Counters { commands, orders, ros2, .. } = ends.counters;
            let run_id = ends.run_id;
            let simulation = ends.simulation.clone();
            let validator = RequestValidator::new(
                ends.simulation,
                scenario.physics_hash,
                scenario.control.mode,
                (ends.registry, ends.joined_sessions.clone()),
                ends.emergency_stop.clone(),
            );
            let past = ends.log.map(|log| (log, past_state as _));
            let validator = validator.with_past(past);
            let validator = if ends.shows_log { validator.of_a_log() } else { validator };
            let robot = &scenario.bus.robot;
            let gate = OrderGate::new(robot, Arc::clone(&run_id), orders, ends.accepted);
            let stop = ends.emergency_stop;
            let orders = OrderService::start(&bus, &keys, ends.orders, stop, validator, gate)?;
            let connections = watch_connections(&bus, &keys, ends.joined_sessions.clone())?;
            let ground = describe_ground(&scenario.spec);
            let shown = (scenario.robot_urdf.as_str(), &ground);
            let services = Services::start(&bus, &keys, model, shown, Arc::clone(&run_id))?;
            ends.port_orders.set(Some(orders.port()));
            let limits = command_limits(scenario, model);
            let (sender, joined) = (ends.commands, ends.joined_sessions);
            let ingress = Box::new(move || {
                let (run_id, counters) = (Arc::clone(&run_id), Arc::clone(&commands));
                CommandIngress::new(sender.clone(), limits, run_id, joined.clone(), counters)
            });
            let subscriber = subscribe_commands(&bus, &keys, ingress())?;
            let ros2 = if spoken {
                let (feed, joins, orders) = (feed_end, ends.port_orders, orders.port());
                let ends = NodeEnds { feed, ingress, orders, joins, simulation };
                Some(Node::start(&bus, scenario, model, ends, ros2)?)
            } else {
                None
            };
            let watch = Watch::start(&bus, &keys, &scenario.bus.listen)?;
            Ok(Self {
                bus,
                services,
                publisher,
                orders,
                ros2,
                watch,
                _commands: subscriber,
                _connections: connections,
                kept: ends.kept.map(|kept| (kept, scenario.bus.clone())),
                is_shared: ends.shared.is_some(),
            })
        }

        /// True if one of its threads has panicked.
        pub(in crate::daemon) fn has_died(&self) -> bool {
            self.bus.has_died()
        }

        /// How often the bus has answered the daemon's own questions.
        pub(in crate::daemon) fn answers(&self) -> Option<u64> {
            Some(self.watch.answers())
        }

        /// True if another daemon simulates a robot of the same name on the bus.
        pub(in crate::daemon) fn has_twin(&self) -> bool {
            self.watch.has_twin()
        }

        /// A status that cannot be published now is published in a second.
        pub(in crate::daemon) fn publish_status(&self, status: &StatusReading) {
            let _next_second = self.services.publish_status(&self.bus, status).is_ok();
            if let Some(ros2) = &self.ros2 {
                self.bus.panic_guard().guard(|| ros2.publish_status(&self.bus, status));
            }
        }

        /// An event that cannot be published now is lost on the bus; it is in the log.
        pub(in crate::daemon) fn publish_event(&self, event: &EventReading) {
            let _said = self.services.publish_event(&self.bus, event).is_ok();
        }

        /// `at_end` of the run, when other robots may still have the session.
        pub(in crate::daemon) fn close(self, at_end: bool) {
            self.watch.finish();
            self.publisher.finish();
            self.orders.finish();
            if let Some(ros2) = self.ros2 {
                ros2.finish();
            }
            drop((self._commands, self._connections, self.services));
            match self.kept {
                _ if self.is_shared && at_end => drop(self.bus),
                Some((kept, settings)) if !self.bus.has_died() => {
                    kept.bus.keep(settings, self.bus);
                }
                _ => self.bus.close(),
            }
        }
    }
}

#[cfg(not(feature = "zenoh"))]
mod without_bus {
    use super::Ends;
    use crate::config::Scenario;
    use crate::config::StartRule;
    use hardstand_error::{Error, ErrorKind, Result};
    use hardstand_protocol::{EventReading, ModelReply, StatusReading};

    /// No controller can command this robot; its snapshots are dropped by the loop when the queue
    /// is full.
    #[derive(Debug)]
    pub(in crate::daemon) struct Front {
        _ends: Ends,
    }

    impl Front {
        pub(in crate::daemon) fn open(
            scenario: &Scenario,
            _model: &ModelReply,
            ends: Ends,
        ) -> Result<Self> {
            if scenario.start == StartRule::OnController {
                return Err(Error::new(
                    ErrorKind::Bus,
                    "this build has no bus, so no controller can join; use --set sim.start=now",
                ));
            }
            Ok(Self { _ends: ends })
        }

        pub(in crate::daemon) fn has_died(&self) -> bool {
            false
        }

        pub(in crate::daemon) fn answers(&self) -> Option<u64> {
            None
        }

        pub(in crate::daemon) fn has_twin(&self) -> bool {
            false
        }

        pub(in crate::daemon) fn publish_status(&self, _status: &StatusReading) {}

        pub(in crate::daemon) fn publish_event(&self, _event: &EventReading) {}

        pub(in crate::daemon) fn close(self, _at_end: bool) {}
    }
}
