//! The node `hardstand`: its topics, and the thread behind them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::counters::RosCounters;
use super::diagnostics::diagnostics;
use super::intake::{COMMAND_TOPICS, DYNAMIC, EFFORT, Intake, JOINTS, Now, POSITION, TRAJECTORY};
use super::messages::{
    Bool, Clock, Contacts, DiagnosticArray, DynamicJointState, Float64MultiArray, Imu, JointState,
    JointTrajectory, Message, Odometry, RosString, TfMessage, WrenchStamped,
};
use super::naming::{End, Naming, attachment, gid_of, topic_part};
use super::orders::Orders;
use super::readings::Readings;
use super::talker::{Encode, Line, Talker, encode};
use crate::bus::{Bus, FeedEnd, LatchedTopic, Listening, Token};
use crate::config::{Ros2Settings, Scenario};
use crate::error::{Error, ErrorKind, Result};
use crate::message::{CommandDesk, ModelReply, StatusReading};

/// The node; it lasts as long as this value.
#[derive(Debug)]
pub struct Node {
    robot: String,
    diagnostics: Mutex<(Line, StatusReading)>,
    counters: Arc<RosCounters>,
    thread: JoinHandle<()>,
    stop: Arc<AtomicBool>,
    _latched: [LatchedTopic; 2],
    _listening: Vec<Listening>,
    _tokens: Vec<Token>,
}

impl Node {
    /// Declares the topics of `scenario` and starts the thread. Snapshots come from `feed`,
    /// commands go to `desk`.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`] if a key cannot be declared.
    pub fn start(
        bus: &Bus,
        scenario: &Scenario,
        model: &ModelReply,
        feed: FeedEnd,
        desk: CommandDesk,
        counters: Arc<RosCounters>,
    ) -> Result<Self> {
        let mut making = Making::new(bus, &scenario.ros2)?;
        let robot = scenario.bus.robot.clone();
        let readings = Readings::new(&scenario.model, &scenario.spec, &robot, scenario.ros2.tf);
        let lines = making.lines(&readings, scenario)?;
        let description = RosString { data: scenario.robot_urdf.clone() };
        let latched = [
            making.latched("robot_description", &description)?,
            making.latched("/tf_static", &readings.tf_static())?,
        ];
        let diagnostics = making.line::<DiagnosticArray>("/diagnostics", 1, 0, |_, _, _| {})?;
        let intake = Arc::new(intake(scenario, model, &feed, desk, &counters));
        let listening = making.listening(&intake)?;
        let stop = Arc::new(AtomicBool::new(false));
        let mut talker = Talker {
            lines,
            readings,
            inbox: feed.inbox,
            every: feed.every,
            intake,
            counters: Arc::clone(&counters),
            life: bus.life(),
            clock: bus.wall_clock(),
            buffer: Vec::new(),
        };
        let seen = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("ros2".into())
            .spawn(move || talker.run(&seen))
            .map_err(|e| Error::new(ErrorKind::Internal, format!("ros2 thread: {e}")))?;
        Ok(Self {
            robot,
            diagnostics: Mutex::new((diagnostics, StatusReading::default())),
            counters,
            thread,
            stop,
            _latched: latched,
            _listening: listening,
            _tokens: making.tokens,
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

    /// Ends the thread.
    pub fn finish(self) {
        self.stop.store(true, Ordering::Release);
        let _ended = self.thread.join().is_ok();
    }
}

fn intake(
    scenario: &Scenario,
    model: &ModelReply,
    feed: &FeedEnd,
    desk: CommandDesk,
    counters: &Arc<RosCounters>,
) -> Intake {
    let joints = scenario.model.joints.iter().map(|j| j.name.clone()).collect();
    let gains = scenario.ros2.gains;
    let gains = [gains[0].min(scenario.gains_max[0]), gains[1].min(scenario.gains_max[1])];
    let newest = feed.newest.clone();
    let now = move || {
        let n = newest.get();
        Now {
            epoch: n.epoch,
            tick: n.tick,
            time_ns: n.time_ns,
            phase: n.phase,
            authority: n.authority,
            session: n.command_session,
        }
    };
    let robot = (model.layout_hash, model.period_ns);
    Intake::new(Orders::new(joints, gains), robot, desk, now, Arc::clone(counters))
}

/// What is needed to declare topics.
struct Making<'a> {
    bus: &'a Bus,
    settings: &'a Ros2Settings,
    naming: Naming,
    tokens: Vec<Token>,
}

impl<'a> Making<'a> {
    fn new(bus: &'a Bus, settings: &'a Ros2Settings) -> Result<Self> {
        let naming = Naming::new(settings, &bus.id());
        let tokens = vec![bus.token(&naming.node_token())?];
        Ok(Self { bus, settings, naming, tokens })
    }

    fn line<T: Message>(
        &mut self,
        topic: &str,
        every: u64,
        which: usize,
        encode: Encode,
    ) -> Result<Line> {
        let wire = self.naming.end::<T>(topic, End::Publisher);
        let topic = self.bus.topic(&wire.key)?;
        self.tokens.push(self.bus.token(&wire.token)?);
        let gid = self.naming.has_attachments().then_some(wire.gid);
        Ok(Line { topic, gid, sequence: 0, every, which, encode })
    }

    /// A topic of the robot, if the scenario has a rate for it.
    fn add<T: Message>(
        &mut self,
        lines: &mut Vec<Line>,
        (rate, topic, which): (&str, &str, usize),
        encode: Encode,
    ) -> Result<()> {
        if let Some(every) = self.settings.every(rate) {
            lines.push(self.line::<T>(topic, every, which, encode)?);
        }
        Ok(())
    }

    /// All topics that snapshots fill, time first.
    fn lines(&mut self, readings: &Readings, scenario: &Scenario) -> Result<Vec<Line>> {
        let mut l = Vec::new();
        let once = |rate, topic| (rate, topic, 0);
        self.add::<Clock>(&mut l, once("clock", "/clock"), |r, _, b| encode(r.clock(), b))?;
        let joints = once("joint_states", "joint_states");
        self.add::<JointState>(&mut l, joints, |r, _, b| encode(r.joint_states(), b))?;
        self.add::<Imu>(&mut l, once("imu", "imu/data"), |r, _, b| encode(r.imu(), b))?;
        for (i, foot) in foot_topics(scenario).iter().enumerate().take(readings.feet()) {
            let wrench = format!("feet/{foot}/wrench");
            self.add::<WrenchStamped>(&mut l, ("foot_wrench", &wrench, i), |r, i, b| {
                encode(r.foot_wrench(i), b);
            })?;
            let contact = format!("feet/{foot}/contact");
            self.add::<Bool>(&mut l, ("foot_contact", &contact, i), |r, i, b| {
                encode(r.foot_contact(i), b);
            })?;
        }
        let contacts = once("contacts", "contacts");
        self.add::<Contacts>(&mut l, contacts, |r, _, b| encode(r.contacts(), b))?;
        let truth = once("odometry", "ground_truth/odom");
        self.add::<Odometry>(&mut l, truth, |r, _, b| encode(r.odometry(), b))?;
        self.add::<TfMessage>(&mut l, once("tf", "/tf"), |r, _, b| encode(r.tf(), b))?;
        let dynamic = once("dynamic_joint_states", "dynamic_joint_states");
        self.add::<DynamicJointState>(&mut l, dynamic, |r, _, b| {
            encode(r.dynamic_joint_states(), b);
        })?;
        Ok(l)
    }

    fn latched<T: Message>(&mut self, topic: &str, message: &T) -> Result<LatchedTopic> {
        let wire = self.naming.end::<T>(topic, End::Latched);
        let latched = self.bus.latched_topic(&wire.key)?;
        self.tokens.push(self.bus.token(&wire.token)?);
        let mut buffer = Vec::new();
        message.encode(&mut buffer);
        let now_ns = self.bus.wall_clock().now_ns();
        let attached = self.naming.has_attachments().then(|| attachment(1, now_ns, &wire.gid));
        latched.put(&buffer, attached.as_ref().map(<[u8; 33]>::as_slice));
        Ok(latched)
    }

    fn listening(&mut self, intake: &Arc<Intake>) -> Result<Vec<Listening>> {
        let mut all = Vec::new();
        self.listen::<DynamicJointState>(&mut all, DYNAMIC, intake)?;
        self.listen::<JointState>(&mut all, JOINTS, intake)?;
        self.listen::<Float64MultiArray>(&mut all, EFFORT, intake)?;
        self.listen::<Float64MultiArray>(&mut all, POSITION, intake)?;
        self.listen::<JointTrajectory>(&mut all, TRAJECTORY, intake)?;
        Ok(all)
    }

    fn listen<T: Message>(
        &mut self,
        all: &mut Vec<Listening>,
        topic: usize,
        intake: &Arc<Intake>,
    ) -> Result<()> {
        let end = if topic == TRAJECTORY { End::ReliableSubscriber } else { End::Subscriber };
        let wire = self.naming.end::<T>(COMMAND_TOPICS[topic], end);
        let intake = Arc::clone(intake);
        all.push(self.bus.listen(&wire.key, move |bytes, attachment| {
            intake.take_in(topic, attachment.and_then(gid_of), bytes);
        })?);
        self.tokens.push(self.bus.token(&wire.token)?);
        Ok(())
    }
}

/// The parts of topics' names that say which foot, all different.
fn foot_topics(scenario: &Scenario) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for (i, foot) in scenario.spec.feet.iter().enumerate() {
        let part = topic_part(&foot.name);
        all.push(if all.contains(&part) { format!("{part}_{i}") } else { part });
    }
    all
}
