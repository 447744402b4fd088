//! The shipped quadruped, held by PD, without a bus.

use std::path::Path;

use hardstand::config::Scenario;
use hardstand::simulation::Simulation;
use hardstand_physics::plant::ContactResult;
use hardstand_physics::spatial::Vec3;
use hardstand_protocol::{Command, Event, JointCommand, TickInput};

/// `config/quadruped.toml` with these changes.
pub fn quadruped(sets: &[&str]) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/quadruped.toml");
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_string()).collect();
    Scenario::load(&path, &sets).unwrap()
}

/// The setting by which shapes of the feet touch the ground instead of stations.
pub fn feet_of_shapes() -> String {
    let feet = ["FL", "FR", "RL", "RR"]
        .map(|leg| format!("{{name=\"{leg}\", link=\"{leg}_foot\", contact=\"shapes\"}}"));
    format!("feet=[{}]", feet.join(","))
}

/// A robot whose drives hold its initial pose.
pub struct Standing {
    pub simulation: Simulation,
    pub gains: [f64; 2],
    input: TickInput,
    /// Events for the next tick.
    pub events: Vec<Event>,
}

impl Standing {
    pub fn new(scenario: &Scenario) -> Self {
        let (input, events) = (TickInput::new(), Vec::new());
        Self { simulation: scenario.simulation(), gains: [100.0, 3.0], input, events }
    }

    pub fn run(&mut self, ticks: u32) {
        for _ in 0..ticks {
            let tick = self.simulation.state().tick;
            let [kp, kd] = self.gains;
            let hold = |&q: &f64| JointCommand { q, kp, kd, ..Default::default() };
            let joints = self.simulation.spec().q.joints.iter().map(hold).collect();
            self.input.candidates.clear();
            let command = Command {
                run_id: 1,
                session: 7,
                seq: tick + 1,
                answers_tick: tick,
                applies_tick: 0,
                joints,
            };
            self.input.candidates.push(Box::new(command));
            self.input.events.clear();
            self.input.events.append(&mut self.events);
            self.simulation.step(&self.input);
            assert_eq!(self.simulation.failure(), None, "at tick {tick}");
        }
    }

    /// Contacts of the feet, each with the surface that carries most.
    pub fn foot_contacts(&self) -> Vec<ContactResult> {
        let surfaces = self.simulation.contacts().surface_count();
        let all = self.simulation.contacts().evaluated();
        let best = |&s: &usize| {
            let of = &all[s * surfaces..(s + 1) * surfaces];
            *of.iter().max_by(|a, b| a.force.normal_n.total_cmp(&b.force.normal_n)).unwrap()
        };
        self.simulation.spec().feet.iter().flat_map(|f| &f.stations).map(best).collect()
    }

    /// Centres of the feet's stations in the world.
    pub fn feet_W(&self) -> Vec<Vec3> {
        let spec = self.simulation.spec();
        let center = |&s: &usize| {
            let station = &spec.stations[s];
            self.simulation.data().point_W(station.body, &station.p_BS)
        };
        spec.feet.iter().flat_map(|f| &f.stations).map(center).collect()
    }

    /// The farthest that a foot has gone from `before`.
    pub fn feet_moved_m(&self, before: &[Vec3]) -> f64 {
        let far = |(a, b): (&Vec3, Vec3)| (a - b).norm();
        before.iter().zip(self.feet_W()).map(far).fold(0.0, f64::max)
    }
}
