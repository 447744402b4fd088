//! What the physics thread hands to other threads after a tick.

use crate::config::ControllerNumbers;
use crate::limits::{CANDIDATES_MAX, EVENTS_MAX};
use crate::simulation::{Leases, LimitedJoints, Outcome, Simulation, Snapshot};
use hardstand_protocol::{
    Authority, CandidateRecord, Command, Event, JointCommand, LogTick, Phase, PlantFailure,
    TickInput, Verdict,
};

use super::command_admission::AdmissionCounts;
use super::{LinkCounts, StateCounts};

/// An empty record of a tick with all the memory it will ever need; with `contacts` it has room for
/// contacts, too.
#[must_use]
pub fn empty_log_tick(
    simulation: &Simulation,
    snapshot: &Snapshot,
    words: usize,
    contacts: bool,
) -> LogTick {
    LogTick {
        run_id: 0,
        tick: 0,
        candidates: touched(CANDIDATES_MAX, NO_CANDIDATE),
        joints: touched(simulation.model().joint_count(), JointCommand::default()),
        events: touched(EVENTS_MAX, NO_EVENT),
        authority: Authority::Zero,
        failure: None,
        digest: 0,
        missed_deadlines: 0,
        state: snapshot.state.clone(),
        contacts: contacts.then(|| snapshot.contacts.clone()),
        drives: snapshot.drives.clone(),
        sensors: snapshot.sensors.clone(),
        references: snapshot.references.clone(),
        keyframe: touched(words, 0),
    }
}

/// Fills in the record of a tick, everything but the keyframe and the missed deadlines.
pub fn fill_log_tick(
    record: &mut LogTick,
    tick: u64,
    input: &TickInput,
    outcome: &Outcome,
    after: &Snapshot,
) {
    let s = &after.state;
    (record.run_id, record.tick) = (s.run_id, tick);
    record.candidates.clear();
    record.joints.clear();
    for (candidate, verdict) in input.candidates.iter().zip(&outcome.verdicts) {
        record.candidates.push(record_of(candidate, *verdict));
    }
    for (i, candidate) in input.candidates.iter().enumerate() {
        if record.is_in_force(i) {
            record.joints.extend_from_slice(&candidate.joints);
        }
    }
    record.events.clone_from(&input.events);
    (record.authority, record.failure) = (outcome.authority, outcome.failure);
    record.digest = s.digest;
    record.state.copy_from(s); // a derived clone_from would allocate
    record.references.clone_from(&after.references);
    record.drives.copy_from(&after.drives);
    record.sensors.copy_from(&after.sensors);
    if let Some(contacts) = &mut record.contacts {
        contacts.copy_from(&after.contacts);
    }
}

/// The set-points that came into force in the tick, by joint: those of a controller that has joined
/// are for its own joints. `leases` are those of the tick, of a robot with `joints`.
#[must_use]
pub fn set_points(tick: &LogTick, leases: &Leases, joints: usize) -> Vec<SetPoint> {
    let of = |(candidate, these)| {
        let candidate: &CandidateRecord = candidate;
        SetPoint::of((candidate.session, candidate.answers_tick), these, leases, joints)
    };
    tick.in_force().flat_map(of).collect()
}

/// A set-point of one joint that came into force in a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SetPoint {
    /// Number of the controller's name; `None` if it has not joined.
    pub controller: Option<u64>,
    /// Index of the joint in the model.
    pub joint: usize,
    /// Its set-points and gains.
    pub command: JointCommand,
    /// The state that this answers.
    pub answers_tick: u64,
}

impl SetPoint {
    /// The set-points of a command by session and the tick of the state that it answers, by joint:
    /// those of a controller that has joined are for its own joints, of a robot with `joints`.
    pub(super) fn of(
        (session, answers_tick): (u64, u64),
        set_points: &[JointCommand],
        leases: &Leases,
        joints: usize,
    ) -> impl Iterator<Item = Self> {
        let lease = leases.of_session(session);
        let controller = lease.map(|(_, lease)| lease.controller);
        let own = (0..joints)
            .filter(move |&joint| lease.is_none_or(|(p, _)| leases.owner(joint) == Some(p)));
        let of = move |(joint, &command)| Self { controller, joint, command, answers_tick };
        own.zip(set_points).map(of)
    }
}

const NO_CANDIDATE: CandidateRecord = CandidateRecord {
    session: 0,
    seq: 0,
    answers_tick: 0,
    applies_tick: 0,
    size: 0,
    verdict: Verdict::Proving,
};
const NO_EVENT: Event = Event::Push { body: 0, point_B: [0.0; 3], force_W: [0.0; 3], ticks: 0 };

/// An empty list whose memory has been written to, so that the loop causes no page fault.
fn touched<T: Clone>(capacity: usize, value: T) -> Vec<T> {
    let mut list = vec![value; capacity];
    list.clear();
    list
}

fn record_of(candidate: &Command, verdict: Verdict) -> CandidateRecord {
    CandidateRecord {
        session: candidate.session,
        seq: candidate.seq,
        answers_tick: candidate.answers_tick,
        applies_tick: candidate.applies_tick,
        size: candidate.joints.len() as u32,
        verdict,
    }
}

/// One tick for the monitor: small and by value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TickReport {
    /// Run number.
    pub run_id: u32,
    /// Ticks done.
    pub tick: u64,
    /// Ticks done in this run and those before.
    pub ticks_run: u64,
    /// Wall time at which the first of them began, ns; 0 before it.
    pub begun_ns: u64,
    /// Published time, ns.
    pub time_ns: u64,
    /// What the loop is doing.
    pub phase: Phase,
    /// How late the thread woke up, ns; 0 if it did not sleep.
    pub wakeup_latency_ns: u64,
    /// Time of the whole tick, from input to output, ns.
    pub tick_cost_ns: u64,
    /// Wall deadlines missed since the start.
    pub missed_deadlines: u64,
    /// Of these, ticks that were run at once afterwards; the others were skipped.
    pub caught_up_ticks: u64,
    /// What the drives obeyed.
    pub authority: Authority,
    /// Age of the command in force, ticks.
    pub command_age_ticks: u32,
    /// Session that owns the robot; 0 for none.
    pub command_session: u64,
    /// Verdicts on the candidate commands; the first `candidates` are valid.
    pub verdicts: [Verdict; CANDIDATES_MAX],
    /// Number of candidate commands.
    pub candidates: usize,
    /// Pushes that found no free slot.
    pub pushes_refused: u32,
    /// Faults that found no free slot.
    pub faults_refused: u32,
    /// Height of the base origin, m.
    pub base_height_m: f64,
    /// Cosine of the tilt: z-axis of the base against the world's.
    pub tilt_cos: f64,
    /// Sum of the feet's normal forces, N.
    pub foot_normal_sum_n: f64,
    /// Why the plant has stopped, if it has.
    pub failure: Option<PlantFailure>,
    /// Digest after the tick.
    pub digest: u64,
    /// Snapshots that found no free box.
    pub snapshots_dropped: u64,
    /// Log records that found no free box.
    pub log_dropped: u64,
    /// Commands that were checked in the run before and taken in this one.
    pub commands_outdated: u64,
    /// Counts of the admission of commands, and of waiting for them.
    pub admission: AdmissionCounts,
    /// Joints at a limit of their motors, summed over all ticks.
    pub limited: LimitedJoints,
    /// Controllers that the tick waits for; 0 for none.
    pub missing: ControllerNumbers,
    /// Wall time of a tick, ns; 0 at free pace.
    pub wall_period_ns: u64,
    /// What faults of the link have done to commands since the start.
    pub link: LinkCounts,
    /// What they have done to states.
    pub states: StateCounts,
}

impl Default for TickReport {
    fn default() -> Self {
        Self {
            run_id: 0,
            tick: 0,
            ticks_run: 0,
            begun_ns: 0,
            time_ns: 0,
            phase: Phase::Waiting,
            wakeup_latency_ns: 0,
            tick_cost_ns: 0,
            missed_deadlines: 0,
            caught_up_ticks: 0,
            authority: Authority::Zero,
            command_age_ticks: u32::MAX,
            command_session: 0,
            verdicts: [Verdict::Proving; CANDIDATES_MAX],
            candidates: 0,
            pushes_refused: 0,
            faults_refused: 0,
            base_height_m: 0.0,
            tilt_cos: 1.0,
            foot_normal_sum_n: 0.0,
            failure: None,
            digest: 0,
            snapshots_dropped: 0,
            log_dropped: 0,
            commands_outdated: 0,
            admission: AdmissionCounts::default(),
            limited: LimitedJoints::default(),
            missing: ControllerNumbers::default(),
            wall_period_ns: 0,
            link: LinkCounts::default(),
            states: StateCounts::default(),
        }
    }
}
