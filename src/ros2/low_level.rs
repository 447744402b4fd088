//! Unitree's topics: publishes states and receives commands.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::command_subscriber::{CommandSubscriber, LOW_CMD};
use super::counters::{RosCounters, RosRejection};
use super::messages::{Joy, Message};
use super::naming::End;
use super::orders::Refused;
use super::postures::{Posture, Postures};
use super::remote::Remote;
use super::topics::MessageType;
use super::unitree::{
    Checked, Guard, HgImuState, HgLowCmd, HgLowState, LowCmd, LowState, MODE_AB, SportModeState,
    WRITERS, WirelessController, arms, fill, fill_hg, fill_sport, has_its_crc, hg_imu,
    hg_set_points, remote_bytes, set_crc, set_points, watch,
};
use super::wires::{Out, Take, Wires};
use crate::config::{HgMotors, Motors, UnitreeRobot, UnitreeSettings};
use crate::simulation::Snapshot;
use hardstand_error::{Result, no_thread};
use hardstand_protocol::{JointCommand, random_number};

/// Topic names of the real robot; the namespace does not apply.
const LOW_STATE_TOPIC: &str = "/lowstate";
const SLOW_STATE_TOPIC: &str = "/lf/lowstate";
const LOW_CMD_TOPIC: &str = "/lowcmd";
const ARM_TOPIC: &str = "/arm_sdk";
const BODY_TOPICS: [&str; 2] = ["/sportmodestate", "/odommodestate"];
const SLOW_BODY_TOPICS: [&str; 2] = ["/lf/sportmodestate", "/lf/odommodestate"];
const TORSO_TOPIC: &str = "/secondary_imu";
const SLOW_TORSO_TOPIC: &str = "/lf/secondary_imu";
const REMOTE_TOPIC: &str = "/wirelesscontroller";

/// Axes and buttons of a game controller.
pub(super) const JOY_TOPIC: &str = "/joy";

/// One in so many states is on the slow topic and has the sticks beside it.
const SLOW: u64 = 10;

/// Publishes states.
#[derive(Debug)]
pub(super) struct LowStates {
    robot: Robot,
    every: u64,
    guard: Guard,
    remote_control: Arc<Remote>,
    fast: Out,
    slow: Out,
    remote: Out,
    /// Fast and slow, of the unit in a humanoid's torso.
    torso: Option<[Out; 2]>,
    /// Of the body, fast and slow, two of the same each.
    bodies: [[Out; 2]; 2],
    body: SportModeState,
}

#[derive(Debug)]
enum Robot {
    Go { motors: Motors, message: Box<LowState> },
    Hg { motors: HgMotors, message: Box<HgLowState>, mode_pr: Arc<AtomicU8> },
}

/// Declares the topics of the robot, with a guard, which is returned for its services.
pub(super) fn low_level(
    wires: &mut Wires<'_>,
    settings: &UnitreeSettings,
    subscriber: &Arc<CommandSubscriber>,
    (motion, remote_control): (&OwnMotion, Remote),
    counters: &Arc<RosCounters>,
) -> Result<(LowStates, Guard)> {
    let own = [random_number() as u32, random_number() as u32];
    let remote = wires.publish(MessageType::of::<WirelessController>(), REMOTE_TOPIC)?;
    let bridged = matches!(remote, Out::Zenoh(_, None, _));
    let guard = Guard::new(own, bridged, Arc::clone(counters));
    // libraries for controllers that can also play the robot declare both
    let is_taken = wires.finder((LOW_STATE_TOPIC, LOW_CMD_TOPIC), WRITERS);
    let thread = watch(guard.clone(), is_taken, wires.bus().panic_guard());
    thread.map_err(|e| no_thread("guard", &e))?;
    let (robot, state) = match settings.robot.clone() {
        UnitreeRobot::Go(motors) => {
            let take = receive(guard.clone(), subscriber, motors);
            wires.listen(MessageType::of::<LowCmd>(), LOW_CMD_TOPIC, End::Subscriber, take)?;
            let mut message =
                LowState { head: [0xFE, 0xEF], level_flag: 0xFF, sn: own, ..Default::default() };
            // real controllers stop if the battery is empty
            message.bms_state.soc = 100;
            (Robot::Go { motors, message: Box::new(message) }, MessageType::of::<LowState>())
        }
        UnitreeRobot::Hg(motors) => {
            let mode_pr = Arc::new(AtomicU8::new(0));
            listen_to_arms(wires, &motors, &guard, subscriber, motion)?;
            let kind = (motors.clone(), settings.mode_machine);
            let take = receive_hg(guard.clone(), subscriber, kind, Arc::clone(&mode_pr));
            wires.listen(MessageType::of::<HgLowCmd>(), LOW_CMD_TOPIC, End::Subscriber, take)?;
            let mut message =
                HgLowState { mode_machine: settings.mode_machine, ..Default::default() };
            message.reserve[..2].copy_from_slice(&own);
            (
                Robot::Hg { motors, message: Box::new(message), mode_pr },
                MessageType::of::<HgLowState>(),
            )
        }
    };
    let watcher = guard.clone();
    let observe: Take = Box::new(move |bytes, _| watcher.observe(bytes));
    wires.listen(state, LOW_STATE_TOPIC, End::Subscriber, observe)?;
    let remote_control = listen_to_remotes(wires, &guard, subscriber, (remote_control, &remote))?;
    let states = LowStates {
        robot,
        every: settings.every_ticks,
        guard: guard.clone(),
        remote_control,
        fast: wires.publish(state, LOW_STATE_TOPIC)?,
        slow: wires.publish(state, SLOW_STATE_TOPIC)?,
        remote,
        torso: torso(wires, settings)?,
        bodies: [bodies(wires, BODY_TOPICS)?, bodies(wires, SLOW_BODY_TOPICS)?],
        body: SportModeState::default(),
    };
    Ok((states, guard))
}

impl LowStates {
    /// Ticks between two states; `None` without subscribers or if the guard blocks.
    pub(super) fn wanted(&self) -> Option<u64> {
        let single = [&self.fast, &self.slow, &self.remote].into_iter();
        let all = single.chain(self.torso.iter().flatten()).chain(self.bodies.iter().flatten());
        // each is asked: it keeps count of its readers
        let any = all.filter(|out| out.is_wanted()).count() > 0;
        let wanted = any && self.guard.block_reason().is_none();
        wanted.then_some(self.every)
    }

    /// Lets go a remote control that is no longer heard.
    pub(super) fn look(&self) {
        self.remote_control.look();
    }

    /// Publishes the state with this number, if it is due.
    pub(super) fn publish(
        &mut self,
        (number, snapshot): (u64, &Snapshot),
        unix_ns: u64,
        buffer: &mut Vec<u8>,
        counters: &RosCounters,
    ) {
        if self.wanted().is_none_or(|every| !number.is_multiple_of(every)) {
            return;
        }
        let (state, slow) = (&snapshot.state, number.is_multiple_of(self.every * SLOW));
        let remote = self.remote_control.shown(state);
        match &mut self.robot {
            Robot::Go { motors, message } => {
                fill(motors, state, message);
                message.wireless_remote = remote_bytes(&remote);
                message.encode(buffer);
                set_crc::<LowState>(buffer);
            }
            Robot::Hg { motors, message, mode_pr } => {
                fill_hg(motors, state, message);
                message.wireless_remote = remote_bytes(&remote);
                message.mode_pr = mode_pr.load(Ordering::Relaxed);
                message.encode(buffer);
                set_crc::<HgLowState>(buffer);
            }
        }
        let topics = [(&mut self.fast, true), (&mut self.slow, slow)];
        for (topic, _) in topics.into_iter().filter(|(topic, due)| *due && topic.is_wanted()) {
            topic.put(buffer, unix_ns, counters);
        }
        let motors = match &self.robot {
            Robot::Go { motors, .. } => Some(motors),
            Robot::Hg { .. } => None,
        };
        let due = self.bodies.iter_mut().zip([true, slow]).filter(|(_, due)| *due);
        let bodies = due.flat_map(|(bodies, _)| bodies);
        for topic in bodies.filter(|topic| topic.is_wanted()) {
            fill_sport(motors, state, &mut self.body);
            self.body.encode(buffer);
            topic.put(buffer, unix_ns, counters);
        }
        if let (Some(outs), Some(read)) = (&mut self.torso, &snapshot.second_imu) {
            let (w, f) = (read.angular_velocity_I, read.specific_force_I);
            hg_imu(read.quat_WI, w.to_array(), f.to_array()).encode(buffer);
            let due = outs.iter_mut().zip([true, slow]);
            for (out, _) in due.filter(|(out, due)| *due && out.is_wanted()) {
                out.put(buffer, unix_ns, counters);
            }
        }
        if slow && self.remote.is_wanted() {
            remote.encode(buffer);
            self.remote.put(buffer, unix_ns, counters);
        }
    }
}

/// `/joy`, and `/wirelesscontroller` of others than `own`: sticks and keys of the remote control.
fn listen_to_remotes(
    wires: &mut Wires<'_>,
    guard: &Guard,
    subscriber: &Arc<CommandSubscriber>,
    (remote, own): (Remote, &Out),
) -> Result<Arc<Remote>> {
    type Hear = fn(&Remote, &[u8]) -> std::result::Result<(), Refused>;
    let remote = Arc::new(remote);
    let take = |topic: &'static str, hear: Hear| -> Take {
        let (of, guard, subscriber) = (Arc::clone(&remote), guard.clone(), Arc::clone(subscriber));
        Box::new(move |bytes, _| {
            subscriber.receive_other(topic, || guard.permit().and_then(|()| hear(&of, bytes)));
        })
    };
    let (joy, others) =
        (take(JOY_TOPIC, Remote::hear_joy), take(REMOTE_TOPIC, Remote::hear_remote));
    wires.listen(MessageType::of::<Joy>(), JOY_TOPIC, End::Subscriber, joy)?;
    let of = MessageType::of::<WirelessController>();
    wires.listen_to_others(of, REMOTE_TOPIC, own, others)?;
    Ok(remote)
}

/// Topics of the state of the body.
fn bodies(wires: &mut Wires<'_>, [sport, odometry]: [&str; 2]) -> Result<[Out; 2]> {
    let body = MessageType::of::<SportModeState>();
    Ok([wires.publish(body, sport)?, wires.publish(body, odometry)?])
}

/// The topics of the unit in a humanoid's torso, if it has one.
fn torso(wires: &mut Wires<'_>, settings: &UnitreeSettings) -> Result<Option<[Out; 2]>> {
    if settings.torso_imu().is_none() {
        return Ok(None);
    }
    let imu = MessageType::of::<HgImuState>();
    Ok(Some([wires.publish(imu, TORSO_TOPIC)?, wires.publish(imu, SLOW_TORSO_TOPIC)?]))
}

/// What the daemon does by itself while `arm_sdk` moves the arms.
#[derive(Clone, Debug)]
pub(super) struct OwnMotion {
    pub(super) postures: Arc<Postures>,
    /// Simulated time for which set-points for the arms hold, as commands do.
    pub(super) hold_ns: u64,
}

/// `arm_sdk`: set-points for the arms, for a kind that has it.
fn listen_to_arms(
    wires: &mut Wires<'_>,
    motors: &HgMotors,
    guard: &Guard,
    subscriber: &Arc<CommandSubscriber>,
    motion: &OwnMotion,
) -> Result<()> {
    if motors.kind.arms.is_none() {
        return Ok(());
    }
    let (motors, guard, motion) = (motors.clone(), guard.clone(), motion.clone());
    let subscriber = Arc::clone(subscriber);
    let take: Take = Box::new(move |bytes, _| {
        let read = || {
            guard.permit()?;
            let message = HgLowCmd::decode(bytes)?;
            let refused = || Refused::new(RosRejection::Cdr, "the weight is no number".into());
            arms(&motors, &message).ok_or_else(refused)
        };
        let stand = || motion.postures.trajectory(Posture::Up);
        subscriber.receive_arms(ARM_TOPIC, read(), motion.hold_ns, stand);
    });
    wires.listen(MessageType::of::<HgLowCmd>(), ARM_TOPIC, End::Subscriber, take)
}

/// Receives a quadruped's commands.
fn receive(guard: Guard, subscriber: &Arc<CommandSubscriber>, motors: Motors) -> Take {
    let subscriber = Arc::clone(subscriber);
    Box::new(move |bytes, sender| {
        let _in_force =
            subscriber.receive_set_points((LOW_CMD_TOPIC, LOW_CMD), sender, |_before| {
                guard.permit()?;
                let message = LowCmd::decode(bytes)?;
                check::<LowCmd>(&message, message.crc)?;
                Ok(set_points(&motors, &message))
            });
    })
}

/// Receives a humanoid's commands; `mode_pr` becomes that of the last one in force.
fn receive_hg(
    guard: Guard,
    subscriber: &Arc<CommandSubscriber>,
    (motors, mode_machine): (HgMotors, u8),
    mode_pr: Arc<AtomicU8>,
) -> Take {
    let subscriber = Arc::clone(subscriber);
    Box::new(move |bytes, sender| {
        let mut asked = 0;
        let read = |before: &[JointCommand]| {
            guard.permit()?;
            let message = HgLowCmd::decode(bytes)?;
            check::<HgLowCmd>(&message, message.crc)?;
            check_modes(&message, mode_machine, !before.is_empty())?;
            asked = message.mode_pr;
            Ok(hg_set_points(&motors, &message, before))
        };
        if subscriber.receive_set_points((LOW_CMD_TOPIC, LOW_CMD), sender, read) {
            mode_pr.store(asked, Ordering::Relaxed);
        }
    })
}

fn check_modes(m: &HgLowCmd, machine: u8, commanded: bool) -> std::result::Result<(), Refused> {
    let refuse = |text: String| Err(Refused::new(RosRejection::Machine, text));
    if m.mode_machine != machine {
        let given = m.mode_machine;
        return refuse(format!("mode_machine is {given}; it must be {machine}, as in the states"));
    }
    if m.mode_pr > MODE_AB {
        return refuse(format!("mode_pr is {}; it must be 0 or 1", m.mode_pr));
    }
    if m.mode_pr == MODE_AB && !commanded {
        return refuse(
            "mode_pr is 1 before any command with mode_pr 0; the rods of ankles and waist are not \
             modelled, so these joints need set-points by pitch and roll first"
                .into(),
        );
    }
    Ok(())
}

/// The checksum is over little-endian CDR, and the message may be big-endian.
fn check<T: Checked>(message: &T, crc: u32) -> std::result::Result<(), Refused> {
    let mut encoded = Vec::new();
    message.encode(&mut encoded);
    if has_its_crc::<T>(&encoded) {
        return Ok(());
    }
    let text = format!("crc is {crc:08x}, which is not the checksum of the message");
    Err(Refused::new(RosRejection::Crc, text))
}
