//! The node `hardstand`: its topics and services, and their threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::command_subscriber::{
    COMMAND_TOPICS, CommandSubscriber, DYNAMIC, EFFORT, JOINTS, Now, POSITION, TRAJECTORY,
};
use super::counters::RosCounters;
use super::diagnostics::diagnostics;
use super::low_level::{LOW_CMD_TOPIC, LOW_STATE_TOPIC, LowStates, receive_commands};
use super::messages::{
    DiagnosticArray, DynamicJointState, Float64MultiArray, JointState, JointTrajectory, Message,
    Twist,
};
use super::naming::{End, Naming, attachment, gid_of};
use super::orders::Orders;
use super::readings::Readings;
use super::services::Services;
use super::simulator::Simulator;
use super::topic_publisher::{Line, TopicPublisher};
use super::topics::{Latched, MessageType, Source, latched, sources};
use super::unitree::{Guard, LowCmd, LowState, watch};
use crate::bus::{Bus, FeedEnd, LatchedTopic, Listening, Order, OrderPort, Token};
use crate::config::{Ros2Settings, Scenario, UnitreeSettings};
use crate::ingress::CommandIngress;
use crate::simulation::Simulation;
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{HoldGains, ModelReply, StatusReading, VelocityCommand, random_number};

/// The node. Dropping it removes its topics and services.
#[derive(Debug)]
pub struct Node {
    robot: String,
    diagnostics: Mutex<(Line, StatusReading)>,
    counters: Arc<RosCounters>,
    thread: JoinHandle<()>,
    services: Services,
    stop: Arc<AtomicBool>,
    _latched: [LatchedTopic; 2],
    _listening: Vec<Listening>,
    _tokens: Vec<Token>,
}

/// Velocities that controllers that walk are asked for.
const VELOCITY_TOPIC: &str = "cmd_vel";

/// Connections of the node to the daemon.
#[derive(Debug)]
pub struct NodeEnds {
    /// Snapshots.
    pub feed: FeedEnd,
    /// Commands.
    pub desk: CommandIngress,
    /// Orders.
    pub orders: OrderPort,
    /// A plant like that of the loop, to compute states with.
    pub simulation: Simulation,
}

impl Node {
    /// Declares the topics and services of `scenario` and starts the threads.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`] if a key cannot be declared.
    pub fn start(
        bus: &Bus,
        scenario: &Scenario,
        model: &ModelReply,
        ends: NodeEnds,
        counters: Arc<RosCounters>,
    ) -> Result<Self> {
        let NodeEnds { feed, desk, orders, simulation } = ends;
        let mut declarations = Declarations::new(bus, &scenario.ros2)?;
        let robot = scenario.bus.robot.clone();
        let readings = Readings::of(scenario);
        let sources = sources(scenario);
        let lines = sources.iter().map(|s| declarations.line(s)).collect::<Result<Vec<_>>>()?;
        let [robot_description, tf_static] = latched(scenario, &readings);
        let latched =
            [declarations.latched(&robot_description)?, declarations.latched(&tf_static)?];
        let diagnostics = declarations.line(&Source {
            topic: "/diagnostics".into(),
            of: MessageType::of::<DiagnosticArray>(),
            every: 1,
            which: 0,
            encode: |_, _, _| {},
        })?;
        let subscriber = Arc::new(command_subscriber(scenario, model, &feed, desk, &counters));
        let mut listening = declarations.listening(&subscriber)?;
        listening.push(declarations.velocity_commands(orders.clone(), &counters)?);
        let unitree = scenario.unitree.as_ref();
        let low_states =
            unitree.map(|u| declarations.low_level(u, &subscriber, &mut listening)).transpose()?;
        let stop = Arc::new(AtomicBool::new(false));
        let simulator = Simulator::new(orders, feed.newest.clone(), simulation, &robot);
        let services = Services::start(
            bus,
            &mut declarations.naming,
            simulator,
            &stop,
            Arc::clone(&counters),
        )?;
        let mut topic_publisher = TopicPublisher {
            lines,
            low_states,
            readings,
            inbox: feed.inbox,
            every: feed.every,
            subscriber,
            counters: Arc::clone(&counters),
            panic_guard: bus.panic_guard(),
            clock: bus.wall_clock(),
            buffer: Vec::new(),
        };
        let seen = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("ros2".into())
            .spawn(move || topic_publisher.run(&seen))
            .map_err(|e| Error::new(ErrorKind::Internal, format!("ros2 thread: {e}")))?;
        Ok(Self {
            robot,
            diagnostics: Mutex::new((diagnostics, StatusReading::default())),
            counters,
            thread,
            services,
            stop,
            _latched: latched,
            _listening: listening,
            _tokens: declarations.tokens,
        })
    }

    /// Publishes a status as diagnostics.
    pub fn publish_status(&self, bus: &Bus, status: &StatusReading) {
        let mut guard = self.diagnostics.lock().unwrap_or_else(PoisonError::into_inner);
        let (line, before) = &mut *guard;
        if line.topic.is_wanted() {
            let last = self.counters.last_refusal();
            let message = diagnostics(&self.robot, status, before, &last);
            let mut buffer = Vec::new();
            message.encode(&mut buffer);
            line.put(&buffer, bus.wall_clock().now_ns(), &self.counters);
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
    scenario: &Scenario,
    model: &ModelReply,
    feed: &FeedEnd,
    desk: CommandIngress,
    counters: &Arc<RosCounters>,
) -> CommandSubscriber {
    let joints = scenario.model.joints.iter().map(|j| j.name.clone()).collect();
    let [kp_max, kd_max] = scenario.gains_max;
    let limited = |g: &HoldGains| HoldGains { kp: g.kp.min(kp_max), kd: g.kd.min(kd_max) };
    let gains = scenario.hold_gains.iter().map(limited).collect();
    let newest = feed.newest.clone();
    let now = move || {
        let n = newest.get();
        Now {
            run_id: n.run_id,
            tick: n.tick,
            time_ns: n.time_ns,
            phase: n.phase,
            authority: n.authority,
            session: n.command_session,
        }
    };
    let robot = (model.layout_hash, model.period_ns);
    CommandSubscriber::new(Orders::new(joints, gains), robot, desk, now, Arc::clone(counters))
}

/// Declares topics.
struct Declarations<'a> {
    bus: &'a Bus,
    naming: Naming,
    tokens: Vec<Token>,
}

impl<'a> Declarations<'a> {
    fn new(bus: &'a Bus, settings: &Ros2Settings) -> Result<Self> {
        let naming = Naming::new(settings, &bus.id());
        let tokens = vec![bus.token(&naming.node_token())?];
        Ok(Self { bus, naming, tokens })
    }

    fn line(&mut self, source: &Source) -> Result<Line> {
        let wire = self.naming.end_of(source.of, &source.topic, End::Publisher);
        let topic = self.bus.topic(&wire.key)?;
        self.tokens.push(self.bus.token(&wire.token)?);
        let gid = self.naming.has_attachments().then_some(wire.gid);
        let &Source { every, which, encode, .. } = source;
        Ok(Line { topic, gid, sequence: 0, every, which, encode })
    }

    fn latched(&mut self, message: &Latched) -> Result<LatchedTopic> {
        let wire = self.naming.end_of(message.of, message.topic, End::Latched);
        let latched = self.bus.latched_topic(&wire.key)?;
        self.tokens.push(self.bus.token(&wire.token)?);
        let now_ns = self.bus.wall_clock().now_ns();
        let attached = self.naming.has_attachments().then(|| attachment(1, now_ns, &wire.gid));
        latched.put(&message.bytes, attached.as_ref().map(<[u8; 33]>::as_slice));
        Ok(latched)
    }

    /// Unitree's topics, with a guard.
    fn low_level(
        &mut self,
        settings: &UnitreeSettings,
        subscriber: &Arc<CommandSubscriber>,
        listening: &mut Vec<Listening>,
    ) -> Result<LowStates> {
        let own = [random_number() as u32, random_number() as u32];
        let guard = Guard::new(own);
        let thread = watch(guard.clone(), self.bus.probe(), self.bus.panic_guard());
        thread.map_err(|e| Error::new(ErrorKind::Internal, format!("guard thread: {e}")))?;
        let watcher = guard.clone();
        let states = self.naming.end::<LowState>(LOW_STATE_TOPIC, End::Subscriber);
        listening.push(self.bus.listen(&states.key, move |bytes, _| watcher.observe(bytes))?);
        let take = receive_commands(settings.motors, guard.clone(), Arc::clone(subscriber));
        let commands = self.naming.end::<LowCmd>(LOW_CMD_TOPIC, End::Subscriber);
        listening.push(self.bus.listen(&commands.key, take)?);
        for token in [states.token, commands.token] {
            self.tokens.push(self.bus.token(&token)?);
        }
        let line = self.line(&Source {
            topic: LOW_STATE_TOPIC.into(),
            of: MessageType::of::<LowState>(),
            every: settings.every_ticks,
            which: 0,
            encode: |_, _, _| {},
        })?;
        Ok(LowStates::new(line, settings.motors, guard, own))
    }

    fn listening(&mut self, subscriber: &Arc<CommandSubscriber>) -> Result<Vec<Listening>> {
        let mut all = Vec::new();
        self.listen::<DynamicJointState>(&mut all, DYNAMIC, subscriber)?;
        self.listen::<JointState>(&mut all, JOINTS, subscriber)?;
        self.listen::<Float64MultiArray>(&mut all, EFFORT, subscriber)?;
        self.listen::<Float64MultiArray>(&mut all, POSITION, subscriber)?;
        self.listen::<JointTrajectory>(&mut all, TRAJECTORY, subscriber)?;
        Ok(all)
    }

    /// `cmd_vel`: each message is an order without an answer.
    fn velocity_commands(
        &mut self,
        orders: OrderPort,
        counters: &Arc<RosCounters>,
    ) -> Result<Listening> {
        let wire = self.naming.end::<Twist>(VELOCITY_TOPIC, End::Subscriber);
        let counters = Arc::clone(counters);
        self.tokens.push(self.bus.token(&wire.token)?);
        self.bus.listen(&wire.key, move |bytes, _| {
            counters.count_received();
            match Twist::decode(bytes) {
                Ok(m) => {
                    let velocity = VelocityCommand::from([m.linear.x, m.linear.y, m.angular.z]);
                    orders.tell(Order::Velocity, "ros2", &velocity);
                }
                Err(e) => counters.count(VELOCITY_TOPIC, &e.into()),
            }
        })
    }

    fn listen<T: Message>(
        &mut self,
        all: &mut Vec<Listening>,
        topic: usize,
        subscriber: &Arc<CommandSubscriber>,
    ) -> Result<()> {
        let end = if topic == TRAJECTORY { End::ReliableSubscriber } else { End::Subscriber };
        let wire = self.naming.end::<T>(COMMAND_TOPICS[topic], end);
        let subscriber = Arc::clone(subscriber);
        all.push(self.bus.listen(&wire.key, move |bytes, attachment| {
            subscriber.receive(topic, attachment.and_then(gid_of), bytes);
        })?);
        self.tokens.push(self.bus.token(&wire.token)?);
        Ok(())
    }
}
