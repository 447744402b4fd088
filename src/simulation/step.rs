//! One tick of the simulation.

use hardstand_physics::actuator::Reference;
use hardstand_physics::dynamics::Data;
use hardstand_physics::model::Model;
use hardstand_physics::plant::{
    self, ComputePath, ContactSet, OwnerWords, Plant, PlantSpec, State, Walk, WordBytes,
};
use hardstand_physics::sensor::ImuReading;
use hardstand_protocol::{Authority, JointCommand, PlantFailure, TickInput, Verdict};

use crate::limits::CANDIDATES_MAX;

use super::arbitration::Arbitration;
use super::{InjectedFaults, Leases, WatchdogSpec};

/// What became of a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// What the drives obeyed.
    pub authority: Authority,
    /// Verdicts on the candidates, in their order; the first `candidates` are valid.
    pub verdicts: [Verdict; CANDIDATES_MAX],
    /// Number of candidates.
    pub candidates: usize,
    /// Pushes that found no free slot.
    pub pushes_refused: u32,
    /// Faults that found no free slot, or that this plant cannot have.
    pub faults_refused: u32,
    /// Set if the plant has stopped; the tick has then not been counted.
    pub failure: Option<PlantFailure>,
}

/// Arbitration, faults and plant. See the [module](crate::simulation).
#[derive(Clone, Debug)]
pub struct Simulation {
    pub(super) plant: Plant,
    pub(super) watchdog: WatchdogSpec,
    pub(super) arbitration: Arbitration,
    pub(super) faults: InjectedFaults,
    pub(super) authority: Authority,
    /// What the drives are to do in this tick.
    pub(super) references: Vec<Reference>,
    /// The same before faults of the encoders have changed it, to be shown.
    pub(super) obeyed: Vec<JointCommand>,
    /// What the unit shows.
    pub(super) imu: ImuReading,
    /// Words of the last good tick, to go back to.
    good: Words,
    /// Words of the tick that is run.
    coming: Words,
}

/// The words of arbitration and faults.
#[derive(Clone, Debug)]
struct Words {
    arbitration: WordBytes,
    faults: WordBytes,
}

impl Words {
    fn of(arbitration: &mut Arbitration, faults: &mut InjectedFaults) -> Self {
        let (mut a, mut f) = (WordBytes::new(arbitration), WordBytes::new(faults));
        a.take(arbitration);
        f.take(faults);
        Self { arbitration: a, faults: f }
    }

    fn owner(&self) -> OwnerWords<'_> {
        OwnerWords { before_pushes: self.arbitration.bytes(), after_pushes: self.faults.bytes() }
    }
}

impl Simulation {
    /// A simulation in its initial state: no session commands, and no fault acts. If the initial
    /// state itself is bad, it has a [`failure`](Self::failure) from the start.
    #[must_use]
    pub fn new(model: Model, spec: PlantSpec, watchdog: WatchdogSpec) -> Self {
        let joints = model.joint_count();
        let mut plant = Plant::new(model, spec);
        let (mut arbitration, mut faults) = (Arbitration::new(joints), InjectedFaults::default());
        let good = Words::of(&mut arbitration, &mut faults);
        plant.begin_digest(&good.owner());
        Self {
            imu: plant.reported_imu(),
            plant,
            watchdog,
            arbitration,
            faults,
            authority: Authority::Zero,
            references: vec![Reference::default(); joints],
            obeyed: vec![JointCommand::default(); joints],
            coming: good.clone(),
            good,
        }
    }

    /// Advances by one tick. Total: whatever the input, it returns; it never allocates.
    pub fn step(&mut self, input: &TickInput) -> Outcome {
        let mut outcome = Outcome {
            authority: Authority::Zero,
            verdicts: [Verdict::Proving; CANDIDATES_MAX],
            candidates: input.candidates.len().min(CANDIDATES_MAX),
            pushes_refused: 0,
            faults_refused: 0,
            failure: self.failure(),
        };
        if outcome.failure.is_some() {
            return outcome;
        }
        self.apply_events(&input.events, &mut outcome);
        self.take_commands(&input.candidates, &mut outcome);
        if !self.faults.is_empty() {
            let (tick, period_s) = (self.tick(), self.spec().period_ns as f64 / 1e9);
            self.faults.draw(tick, period_s);
            self.mislead();
        }
        self.faults.end_tick();
        self.coming.arbitration.take(&mut self.arbitration);
        self.coming.faults.take(&mut self.faults);
        match self.plant.step(&self.references, &self.coming.owner()) {
            None => std::mem::swap(&mut self.good, &mut self.coming),
            Some(_) => self.go_back(),
        }
        self.imu = self.shown_by_imu(self.plant.reported_imu());
        outcome.failure = self.failure();
        outcome.authority = self.authority;
        outcome
    }

    /// Back to the last good tick, as the plant is.
    fn go_back(&mut self) {
        self.arbitration.overwrite(self.good.arbitration.words());
        self.faults.overwrite(self.good.faults.words());
        self.let_go();
        self.equip();
    }

    /// The drives obey nothing until the next tick.
    fn let_go(&mut self) {
        self.authority = Authority::Zero;
        self.references.fill(Reference::default());
        self.obeyed.fill(JointCommand::default());
    }

    /// Brings everything that depends on the state up to date with it.
    pub(super) fn wake(&mut self) {
        self.equip();
        self.plant.wake();
        self.good.arbitration.take(&mut self.arbitration);
        self.good.faults.take(&mut self.faults);
        self.let_go();
        self.imu = self.shown_by_imu(self.plant.reported_imu());
    }

    /// The plant.
    #[must_use]
    pub const fn plant(&self) -> &Plant {
        &self.plant
    }

    /// The robot, with the payloads that faults have put on it.
    #[must_use]
    pub const fn model(&self) -> &Model {
        self.plant.model()
    }

    /// What happens when the controller is late or lost.
    #[must_use]
    pub const fn watchdog(&self) -> &WatchdogSpec {
        &self.watchdog
    }

    /// Everything else the physics depends on.
    #[must_use]
    pub const fn spec(&self) -> &PlantSpec {
        self.plant.spec()
    }

    /// The state of the plant.
    #[must_use]
    pub const fn state(&self) -> &State {
        self.plant.state()
    }

    /// Ticks done.
    #[must_use]
    pub const fn tick(&self) -> u64 {
        self.plant.state().tick
    }

    /// Which session commands which joints.
    #[must_use]
    pub const fn leases(&self) -> &Leases {
        &self.arbitration.leases
    }

    /// Command in force, one entry for each joint.
    #[must_use]
    pub fn command(&self) -> &[JointCommand] {
        &self.arbitration.command
    }

    /// Faults that act.
    #[must_use]
    pub const fn faults(&self) -> &InjectedFaults {
        &self.faults
    }

    /// Kinematics of the current state, see [`Plant::data`].
    #[must_use]
    pub const fn data(&self) -> &Data {
        self.plant.data()
    }

    /// Contacts, evaluated for the current state.
    #[must_use]
    pub const fn contacts(&self) -> &ContactSet {
        self.plant.contacts()
    }

    /// IMU reading of the last tick, as faults let the unit show it.
    #[must_use]
    pub const fn imu(&self) -> &ImuReading {
        &self.imu
    }

    /// See [`layout_hash`](plant::layout_hash()).
    #[must_use]
    pub const fn layout_hash(&self) -> u64 {
        self.plant.layout_hash()
    }

    /// Simulated time, ns: always `tick × period`.
    #[must_use]
    pub const fn time_ns(&self) -> u64 {
        self.plant.time_ns()
    }

    /// What the drives obeyed in the last tick.
    #[must_use]
    pub const fn authority(&self) -> Authority {
        self.authority
    }

    /// Set once the plant has stopped.
    #[must_use]
    pub const fn failure(&self) -> Option<PlantFailure> {
        match self.plant.failure() {
            None => None,
            Some(plant::PlantFailure::NotFinite) => Some(PlantFailure::NotFinite),
            Some(plant::PlantFailure::OutOfRange) => Some(PlantFailure::OutOfRange),
            Some(plant::PlantFailure::TooManyContacts) => Some(PlantFailure::TooManyContacts),
        }
    }

    /// Chooses how the plant computes, see [`Plant::set_path`].
    pub fn set_path(&mut self, path: ComputePath) {
        self.plant.set_path(path);
    }
}
