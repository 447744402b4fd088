//! The ports of a run that are not the bus: opened before files are limited, run by threads of
//! their own.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::buffer_pool::{Inbox, Notifier, Outbox, Waiter, bell, pool};
pub(super) use crate::buses::Cables;
use crate::buses::OpenBus;
use crate::config::{Mode, Pace, Scenario};
use crate::ingress::{CommandIngress, CommandLimits};
use crate::lcm::OpenLcm;
use crate::ports::{OpenSharedMemory, OpenUdp, PortEnds, PortGuard, Source, SourceSpec};
use crate::rt::{Links, PORT_QUEUE, PortState};
use crate::simulation::Simulation;
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{ModelReply, Role};

use super::front::Ends;

/// Restarts that the monitor has not taken in yet.
const RESTARTS_QUEUE: usize = 64;

/// Ports that are open, and the loop's ends of their queues.
#[derive(Debug)]
pub(super) struct OpenPorts {
    buses: Vec<(OpenBus, Inbox<PortState>)>,
    udp: Option<(OpenUdp, Inbox<PortState>, Option<Waiter>)>,
    shared_memory: Option<(OpenSharedMemory, Inbox<PortState>, Option<Waiter>)>,
    lcm: Option<(OpenLcm, Inbox<PortState>)>,
    empty: PortState,
}

/// The threads of the ports.
#[derive(Debug)]
pub(super) struct Ports {
    threads: Vec<JoinHandle<()>>,
    /// Names of ports that were restarted after a panic.
    restarted: Receiver<String>,
    stop: Arc<AtomicBool>,
}

impl OpenPorts {
    /// Opens the ports of a scenario; where the loop sends states for them goes to `links`. A
    /// log that is shown has its commands already and needs no port, so it has no `cables`.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if the mode is one that they cannot be in, or the errors of opening.
    pub(super) fn open(
        scenario: &Scenario,
        simulation: &Simulation,
        cables: Option<Cables>,
        links: &mut Links,
    ) -> Result<Self> {
        let empty = PortState::of(&simulation.new_snapshot());
        let mut open = Self { buses: Vec::new(), udp: None, shared_memory: None, lcm: None, empty };
        let Some(mut cables) = cables else { return Ok(open) };
        let queue = |outboxes: &mut Vec<Outbox<PortState>>, notifier: Option<Notifier>| {
            let (outbox, inbox) = pool(PORT_QUEUE, || open.empty.clone());
            outboxes.push(match notifier {
                Some(notifier) => outbox.ringing(notifier),
                None => outbox,
            });
            inbox
        };
        check_mode(scenario)?;
        // in real time the loop wakes no other thread
        for bus in &scenario.buses {
            open.buses.push((OpenBus::open(bus, &mut cables)?, queue(&mut links.buses, None)));
        }
        if let Some(address) = scenario.ports.udp {
            let (notifier, waiter) = waits(scenario).then(bell).unzip();
            let queue = queue(&mut links.ports, notifier);
            open.udp = Some((OpenUdp::open(address)?, queue, waiter));
        }
        if let Some(settings) = &scenario.ports.shared_memory {
            let counts = (open.empty.state.joints.len(), open.empty.state.foot_contact.len());
            let memory = OpenSharedMemory::open(&settings.path, counts, settings.spin_us)?;
            let (notifier, waiter) = waits(scenario).then(bell).unzip();
            let queue = queue(&mut links.ports, notifier);
            open.shared_memory = Some((memory, queue, waiter));
        }
        if let Some(settings) = &scenario.lcm {
            open.lcm = Some((OpenLcm::open(settings.group)?, queue(&mut links.ports, None)));
        }
        Ok(open)
    }

    /// Where the UDP port listens, if there is one.
    pub(super) fn udp_address(&self) -> Option<SocketAddr> {
        self.udp.as_ref().and_then(|(udp, ..)| udp.address())
    }

    /// Starts the threads.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`] if there is no thread.
    pub(super) fn start(
        self,
        scenario: &Scenario,
        model: &ModelReply,
        ends: &Ends,
    ) -> Result<Ports> {
        let stop = Arc::new(AtomicBool::new(false));
        let (restarted, restarted_in) = bounded(RESTARTS_QUEUE);
        let make = Make { scenario, model, ends, restarted, stop: &stop };
        let periods_ns = (scenario.spec.period_ns, scenario.wall_period_ns);
        let mut threads = Vec::new();
        for ((open, inbox), bus) in self.buses.into_iter().zip(&scenario.buses) {
            let joints = bus.drives.iter().map(|drive| drive.joint).collect();
            let ends = make.ends(bus.controller(), joints, bus.every_ticks, inbox);
            threads.push(open.start(ends, self.empty.clone(), periods_ns, scenario.gains_max)?);
        }
        let all = || (0..model.joints.len()).collect();
        if let Some((open, inbox, waiter)) = self.udp {
            let ends = make.ends("udp".into(), all(), 1, inbox);
            threads.push(open.start(ends, self.empty.clone(), waiter)?);
        }
        let settings = &scenario.ports.shared_memory;
        if let (Some((open, inbox, waiter)), Some(settings)) = (self.shared_memory, settings) {
            let ends = make.ends(settings.controller.clone(), all(), settings.every_ticks, inbox);
            threads.push(open.start(ends, self.empty.clone(), waiter)?);
        }
        if let (Some((open, inbox)), Some(settings)) = (self.lcm, scenario.lcm) {
            let ends = make.ends("lcm".into(), all(), 1, inbox);
            threads.push(open.start(settings, ends, self.empty)?);
        }
        Ok(Ports { threads, restarted: restarted_in, stop })
    }
}

/// What the ends of all ports are made of.
struct Make<'a> {
    scenario: &'a Scenario,
    model: &'a ModelReply,
    ends: &'a Ends,
    restarted: Sender<String>,
    stop: &'a Arc<AtomicBool>,
}

impl Make<'_> {
    fn ends(
        &self,
        name: String,
        joints: Vec<usize>,
        every_ticks: u64,
        states: Inbox<PortState>,
    ) -> PortEnds {
        let names = joints.iter().filter_map(|&joint| self.model.joints.get(joint));
        let spec = SourceSpec {
            name,
            joint_names: names.map(|joint| joint.name.clone()).collect(),
            joints,
            role: if waits(self.scenario) { Role::Required } else { Role::Advisory },
            every_ticks,
            hold_ticks: self.scenario.watchdog.hold_ticks,
            layout_hash: self.model.layout_hash,
        };
        let ingress = self.ingress();
        let counters = self.ends.counters.ports.clone();
        let guard = PortGuard::new(spec.name.clone(), self.restarted.clone(), counters.clone());
        PortEnds {
            states,
            source: Source::new(spec, self.ends.port_orders.clone(), ingress),
            counters,
            guard,
            stop: Arc::clone(self.stop),
        }
    }

    fn ingress(&self) -> CommandIngress {
        let Ends { commands, run_id, joined_sessions, counters, .. } = self.ends;
        let limits = command_limits(self.scenario, self.model);
        let (run_id, joined) = (Arc::clone(run_id), joined_sessions.clone());
        CommandIngress::new(
            commands.clone(),
            limits,
            run_id,
            joined,
            Arc::clone(&counters.commands),
        )
    }
}

/// True if ticks wait for commands.
fn waits(scenario: &Scenario) -> bool {
    scenario.control.mode != Mode::RealTime
}

/// # Errors
/// [`ErrorKind::Input`] if a port cannot be in this mode.
fn check_mode(scenario: &Scenario) -> Result<()> {
    if !waits(scenario) && scenario.pace != Pace::Free {
        return Ok(());
    }
    let refused = [
        (!scenario.buses.is_empty(), "[[buses]] needs", "a master on a wire"),
        (scenario.lcm.is_some(), "lcm.group needs", "a program of LCM"),
    ];
    let Some((_, what, master)) = refused.into_iter().find(|(is_there, ..)| *is_there) else {
        return Ok(());
    };
    Err(Error::new(
        ErrorKind::Input,
        format!(
            "{what} control.mode \"realtime\" and sim.pace \"realtime\": {master} runs on its own \
             clock, and its messages do not say which state they answer"
        ),
    ))
}

/// What a command may be.
pub(super) fn command_limits(scenario: &Scenario, model: &ModelReply) -> CommandLimits {
    CommandLimits {
        layout_hash: model.layout_hash,
        run_id: model.run_id,
        joints: model.joints.len(),
        kp_max: scenario.gains_max[0],
        kd_max: scenario.gains_max[1],
    }
}

impl Ports {
    /// Names of the ports that were restarted since the last call.
    pub(super) fn restarted(&self) -> Vec<String> {
        self.restarted.try_iter().collect()
    }

    /// Whether all threads run.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] if one was given up.
    pub(super) fn check(&self) -> Result<()> {
        if self.threads.iter().all(|thread| !thread.is_finished()) {
            return Ok(());
        }
        let text = "a thread of a port panicked again and again; the run was stopped in order. \
                    This is a defect of Hardstand: please report it with the output above and the \
                    log";
        Err(Error::new(ErrorKind::Internal, text))
    }

    /// Ends the threads.
    pub(super) fn finish(mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in std::mem::take(&mut self.threads) {
            let _reported_by_check = thread.join().is_ok();
        }
    }
}

impl Drop for Ports {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
