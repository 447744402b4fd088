//! Long runs without a clock: a day of ticks, and ticks near the limits of 32 and 53 bits.

use crate::common::bench::quadruped;
use hardstand::simulation::Simulation;
use hardstand_protocol::{Authority, Event, JointCommand, Scope, TickInput};

/// A day at 1 kHz.
const DAY_TICKS: u64 = 86_400_000;
const LOOK_EVERY: u64 = 1000;

/// A standing quadruped that sways, is pushed, slips, and loses its controller now and then. What
/// happens depends on the tick alone.
struct Life {
    simulation: Simulation,
    input: TickInput,
    q: Vec<f64>,
}

impl Life {
    /// Begins at `tick`.
    fn at(tick: u64) -> Self {
        let scenario = quadruped(&[]);
        let q = scenario.spec.q.joints.clone();
        let mut simulation = scenario.simulation();
        let mut words = simulation.snapshot_words();
        assert_eq!(words[0], 0, "the tick is the first word");
        words[0] = tick;
        simulation.restore(&words).unwrap();
        Self { simulation, input: TickInput::new(), q }
    }

    fn step(&mut self) {
        let tick = self.simulation.state().tick;
        let mut command = self.input.candidates.pop().unwrap_or_default();
        let phase = (tick % 6283) as f64 * 0.001;
        let sway = 0.05 * hardstand_physics::math::sin_cos(phase).0;
        let hold =
            |&q: &f64| JointCommand { q: q + sway, kp: 100.0, kd: 3.0, ..Default::default() };
        command.joints.clear();
        command.joints.extend(self.q.iter().map(hold));
        // a new session every 10,000 ticks, after a silence that costs the old one the robot
        (command.session, command.seq, command.answers_tick) = (1 + tick / 10_000, tick, tick);
        let silent = tick % 10_000 >= 9_800;
        self.input.events.clear();
        match tick % 2500 {
            500 => self.input.events.push(push(40.0)),
            1500 => self.input.events.push(push(-40.0)),
            2000 => self.input.events.push(friction(0.3)),
            2100 => self.input.events.push(friction(0.8)),
            _ => {}
        }
        if silent {
            self.simulation.step(&self.input);
        } else {
            self.input.candidates.push(command);
            self.simulation.step(&self.input);
        }
    }

    /// Finite, on the unit sphere, and near where a standing robot is.
    fn look(&self) {
        let s = self.simulation.state();
        let (q, v) = (&s.q, &s.v);
        let norm = q.quat_WB.norm();
        assert!((norm - 1.0).abs() < 1e-9, "tick {}: quaternion of norm {norm}", s.tick);
        let mut speeds = v.joints.iter().chain(v.w_WB.iter()).chain(v.v_WB.iter());
        assert!(speeds.all(|x| x.abs() < 100.0), "tick {}: {v:?}", s.tick);
        assert!((0.0..1.0).contains(&q.p_WB.z), "tick {}: height {}", s.tick, q.p_WB.z);
        assert_eq!(self.simulation.failure(), None);
    }

    /// The digests after every so many ticks.
    fn live(&mut self, ticks: u64, digest_every: u64) -> Vec<u64> {
        let mut digests = Vec::new();
        for n in 1..=ticks {
            self.step();
            if n % LOOK_EVERY == 0 {
                self.look();
            }
            if n % digest_every == 0 {
                digests.push(self.simulation.state().digest);
            }
        }
        digests
    }
}

fn push(side_n: f64) -> Event {
    let force_W = [0.0, side_n, 0.0];
    Event::Push { body: 0, point_B: [0.0; 3], force_W, ticks: 100 }
}

fn friction(mu_static: f64) -> Event {
    Event::Friction { scope: Scope::All, mu_static, mu_kinetic: 0.75 * mu_static }
}

/// Two lives side by side have the same digests.
fn twice(from: u64, ticks: u64, digest_every: u64) -> Vec<u64> {
    let both =
        [(), ()].map(|()| std::thread::spawn(move || Life::at(from).live(ticks, digest_every)));
    let [a, b] = both.map(|life| life.join().unwrap());
    assert_eq!(a.len() as u64, ticks / digest_every);
    assert_eq!(a, b, "from tick {from}");
    a
}

/// DET-3.
#[test]
#[ignore = "half an hour in a release build"]
fn a_day_of_ticks_has_one_digest() {
    let begin = std::time::Instant::now();
    let digests = twice(0, DAY_TICKS, 1_000_000);
    let seconds = begin.elapsed().as_secs_f64();
    let rate = DAY_TICKS as f64 / seconds;
    let last = digests.last().unwrap();
    println!(
        "{DAY_TICKS} ticks twice in {seconds:.0} s, {rate:.0} ticks/s each, digest {last:016x}"
    );
}

/// DET-3, short, and where counters overflow: nothing but the number of the tick is different.
#[test]
fn ticks_go_on_near_the_limits_of_32_and_53_bits() {
    let limits = [0, 1 << 32, 1 << 53];
    for limit in limits {
        // both sides of the limit
        let from = if limit == 0 { 0 } else { limit - 1000 };
        let digests = twice(from, 12_000, 100);
        assert_eq!(digests.len(), 120);
        let mut life = Life::at(from);
        life.live(2000, 100);
        let simulation = &life.simulation;
        assert_eq!(simulation.state().tick, from + 2000);
        assert_eq!(simulation.time_ns(), (from + 2000).wrapping_mul(1_000_000));
        assert_eq!(simulation.authority(), Authority::Fresh);
    }
}

/// The digest tells two lives apart that differ in one command.
#[test]
fn a_life_that_differs_has_another_digest() {
    let mut other = Life::at(0);
    other.q[3] += 1e-12;
    assert_ne!(other.live(200, 200), Life::at(0).live(200, 200));
}
