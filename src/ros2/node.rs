//! The node `hardstand`: its topics and services, and their threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::action::FollowAction;
use super::command_subscriber::{
    COMMAND_TOPICS, CommandSubscriber, DYNAMIC, EFFORT, JOINTS, POSITION, TRAJECTORY,
};
use super::counters::RosCounters;
use super::diagnostics::diagnostics;
use super::joined::Joined;
use super::low_level::{LowStates, OwnMotion, low_level};
use super::messages::{
    DiagnosticArray, DynamicJointState, Float64MultiArray, JointState, JointTrajectory, Message,
    Twist,
};
use super::naming::End;
use super::orders::Orders;
use super::postures::Postures;
use super::readings::Readings;
use super::remote::Remote;
use super::services::Services;
use super::simulator::Simulator;
use super::stamps::Stamps;
use super::timed_velocity::TimedVelocity;
use super::topic_publisher::{Line, TopicPublisher};
use super::topics::{MessageType, Source, latched, sources};
use super::unitree_services as unitree;
use super::walk::Walk;
use super::wires::{Held, LatchedOut, Out, Take, Wires};
use crate::bus::{Bus, FeedEnd, OrderPort};
use crate::config::{Mode, Ros2Mode, Scenario};
use crate::ingress::CommandIngress;
use crate::ports::BusOrders;
use crate::simulation::Simulation;
use hardstand_error::{Result, no_thread};
use hardstand_protocol::{HoldGains, ModelReply, StatusReading, VelocityCommand};

/// The node. Dropping it removes its topics and services.
#[derive(Debug)]
pub struct Node {
    robot: String,
    /// Begins the names of its diagnostics, by which ROS tells them apart.
    named: String,
    diagnostics: Mutex<(Out, StatusReading)>,
    counters: Arc<RosCounters>,
    thread: JoinHandle<()>,
    services: Services,
    stop: Arc<AtomicBool>,
    _latched: [LatchedOut; 2],
    _held: Held,
}

/// Velocities that controllers that walk are asked for.
const VELOCITY_TOPIC: &str = "cmd_vel";

/// Connections of the node to the daemon.
#[allow(missing_debug_implementations, reason = "it has a function")]
pub struct NodeEnds {
    /// Snapshots.
    pub feed: FeedEnd,
    /// Makes an end for commands.
    pub ingress: Box<dyn Fn() -> CommandIngress>,
    /// Orders.
    pub orders: OrderPort,
    /// Where the node asks to join.
    pub joins: BusOrders,
    /// A plant like that of the loop, to compute states with.
    pub simulation: Simulation,
}

impl Node {
    /// Declares the topics and services of `scenario` and starts the threads.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`](hardstand_error::ErrorKind::Bus) if a key cannot be declared.
    pub fn start(
        bus: &Bus,
        scenario: &Scenario,
        model: &ModelReply,
        ends: NodeEnds,
        counters: Arc<RosCounters>,
    ) -> Result<Self> {
        let NodeEnds { feed, ingress, orders, joins, simulation } = ends;
        let mut wires = Wires::new(bus, &scenario.ros2)?;
        let readings = Readings::of(scenario);
        let lines = own_sources(scenario).map(|s| line(&mut wires, &s)).collect::<Result<_>>()?;
        let [robot_description, tf_static] = latched(scenario, &readings);
        let latched = [wires.latch(&robot_description)?, wires.latch(&tf_static)?];
        let diagnostics = wires.publish(MessageType::of::<DiagnosticArray>(), "/diagnostics")?;
        let subscriber =
            Arc::new(command_subscriber((scenario, model), &feed, (&ingress, joins), &counters));
        listen_to_commands(&mut wires, &subscriber)?;
        listen_to_velocities(&mut wires, orders.clone(), &counters)?;
        let velocity = Arc::new(TimedVelocity::new(orders.clone()));
        let robot_and_model = (scenario, model);
        let low_states = unitree_robot(
            &mut wires,
            robot_and_model,
            &subscriber,
            (&velocity, &orders),
            &counters,
        )?;
        // a bridge needs another announcement for actions
        let action = match scenario.ros2.mode {
            Ros2Mode::Bridge => None,
            _ => Some(FollowAction::serve(&mut wires, &subscriber, &counters)?),
        };
        let stop = Arc::new(AtomicBool::new(false));
        let joins = Arc::clone(&subscriber);
        let simulator =
            Simulator::new(orders, (feed.newest.clone(), joins), simulation, &scenario.bus.robot);
        let services = Services::start(&mut wires, simulator, Arc::clone(&counters))?;
        let mut topic_publisher = TopicPublisher {
            lines,
            low_states,
            readings,
            inbox: feed.inbox,
            every: feed.every,
            subscriber,
            action,
            velocity,
            counters: Arc::clone(&counters),
            panic_guard: bus.panic_guard(),
            clock: bus.wall_clock(),
            buffer: Vec::new(),
        };
        let seen = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("ros2".into())
            .spawn(move || topic_publisher.run(&seen))
            .map_err(|e| no_thread("ros2", &e))?;
        Ok(Self {
            robot: scenario.bus.robot.clone(),
            named: named(&scenario.ros2.namespace),
            diagnostics: Mutex::new((diagnostics, StatusReading::default())),
            counters,
            thread,
            services,
            stop,
            _latched: latched,
            _held: wires.finish()?,
        })
    }

    /// Publishes a status as diagnostics.
    pub fn publish_status(&self, bus: &Bus, status: &StatusReading) {
        let mut guard = self.diagnostics.lock().unwrap_or_else(PoisonError::into_inner);
        let (topic, before) = &mut *guard;
        if topic.is_wanted() {
            let last = self.counters.last_refusal();
            let message = diagnostics((&self.named, &self.robot), status, before, &last);
            let mut buffer = Vec::new();
            message.encode(&mut buffer);
            topic.put(&buffer, bus.wall_clock().now_ns(), &self.counters);
        }
        before.clone_from(status);
    }

    /// Ends the threads.
    pub fn finish(self) {
        self.stop.store(true, Ordering::Release);
        self.services.finish();
        let _ended = self.thread.join().is_ok();
    }
}

fn command_subscriber(
    (scenario, model): (&Scenario, &ModelReply),
    feed: &FeedEnd,
    (ingress, joins): (&dyn Fn() -> CommandIngress, BusOrders),
    counters: &Arc<RosCounters>,
) -> CommandSubscriber {
    let joints = scenario.model.joints.iter().map(|j| j.name.clone()).collect();
    let gains = hold_gains(scenario);
    let joined = Joined::of(scenario, model, (feed.newest.clone(), joins), ingress);
    let newest = feed.newest.clone();
    let now = move || newest.get();
    let exact = scenario.control.mode != Mode::RealTime;
    let robot = (model.layout_hash, Stamps { period_ns: model.period_ns, exact });
    let orders = Orders::new(joints, gains);
    let orders = orders.with_interfaces(scenario.ros2.command_interfaces.clone());
    let (joined, standby) = match joined {
        Some((joined, true)) => (Some(joined), None),
        Some((joined, false)) => (None, Some(joined)),
        None => (None, None),
    };
    let ends = (ingress(), joined);
    CommandSubscriber::new(orders, robot, ends, now, Arc::clone(counters)).with_standby(standby)
}

/// The gains with which positions without gains are held.
fn hold_gains(scenario: &Scenario) -> Vec<HoldGains> {
    let [kp_max, kd_max] = scenario.gains_max;
    let limited = |g: &HoldGains| HoldGains { kp: g.kp.min(kp_max), kd: g.kd.min(kd_max) };
    scenario.hold_gains.iter().map(limited).collect()
}

/// Unitree's topics and services, if the scenario has them.
fn unitree_robot(
    wires: &mut Wires<'_>,
    (scenario, model): (&Scenario, &ModelReply),
    subscriber: &Arc<CommandSubscriber>,
    (velocity, orders): (&Arc<TimedVelocity>, &OrderPort),
    counters: &Arc<RosCounters>,
) -> Result<Option<LowStates>> {
    let Some(settings) = &scenario.unitree else { return Ok(None) };
    let postures = Arc::new(Postures::of(scenario, &settings.robot, hold_gains(scenario)));
    let hold_ns = scenario.watchdog.hold_ticks * scenario.spec.period_ns;
    let motion = OwnMotion { postures: Arc::clone(&postures), hold_ns };
    let remote = Remote::new(orders.clone());
    let (low_states, guard) = low_level(wires, settings, subscriber, (&motion, remote), counters)?;
    if let Some(walker) = &settings.walker {
        subscriber.set_walk(Walk::new(walker, model)?);
    }
    let ends = unitree::Ends {
        subscriber: Arc::clone(subscriber),
        postures,
        velocity: Arc::clone(velocity),
        guard,
        counters: Arc::clone(counters),
    };
    unitree::serve(wires, &ends)?;
    Ok(Some(low_states))
}

fn listen_to_commands(wires: &mut Wires<'_>, subscriber: &Arc<CommandSubscriber>) -> Result<()> {
    let topics = [
        (DYNAMIC, MessageType::of::<DynamicJointState>()),
        (JOINTS, MessageType::of::<JointState>()),
        (EFFORT, MessageType::of::<Float64MultiArray>()),
        (POSITION, MessageType::of::<Float64MultiArray>()),
        (TRAJECTORY, MessageType::of::<JointTrajectory>()),
    ];
    for (topic, of) in topics {
        let end = if topic == TRAJECTORY { End::ReliableSubscriber } else { End::Subscriber };
        let subscriber = Arc::clone(subscriber);
        let take: Take = Box::new(move |bytes, sender| subscriber.receive(topic, sender, bytes));
        wires.listen(of, COMMAND_TOPICS[topic], end, take)?;
    }
    Ok(())
}

/// `cmd_vel`: each message is an order without an answer.
fn listen_to_velocities(
    wires: &mut Wires<'_>,
    orders: OrderPort,
    counters: &Arc<RosCounters>,
) -> Result<()> {
    let counters = Arc::clone(counters);
    let take: Take = Box::new(move |bytes, _| {
        counters.count_received();
        match Twist::decode(bytes) {
            Ok(m) => {
                let velocity = VelocityCommand::from([m.linear.x, m.linear.y, m.angular.z]);
                let _counted = orders.stream("ros2", &velocity).is_ok();
            }
            Err(e) => counters.count(VELOCITY_TOPIC, &e.into()),
        }
    });
    wires.listen(MessageType::of::<Twist>(), VELOCITY_TOPIC, End::Subscriber, take)
}

fn line(wires: &mut Wires<'_>, source: &Source) -> Result<Line> {
    let topic = wires.publish(source.of, &source.topic)?;
    let &Source { every, which, encode, is_of_robot, .. } = source;
    Ok(Line { topic, every, which, encode, is_of_robot })
}

/// The topics of a robot: of several the first one has the clock of all.
fn own_sources(scenario: &Scenario) -> impl Iterator<Item = Source> {
    let is_first = scenario.ros2.node == 0;
    sources(scenario).into_iter().filter(move |s| is_first || s.topic != "/clock")
}

/// How the names of diagnostics begin in this namespace.
fn named(namespace: &str) -> String {
    match namespace {
        "" => "hardstand: ".into(),
        _ => format!("hardstand: {namespace}: "),
    }
}
