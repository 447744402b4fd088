//! Neither a tick of the plant nor a whole turn of the loop allocates (RT-1).

use crate::common::WATCHDOG;
use std::cell::{Cell, RefCell};

use hardstand::buffer_pool::{CommandSender, Inbox};
use hardstand::config::{OverrunPolicy, Pace, StartRule};
use hardstand::rt::{Clock, Request, RequestSender};
use hardstand::simulation::Simulation;
use hardstand_physics::contact::{
    BrickContact, ContactMaterial, Friction, HalfSpace, HertzPair, HuntCrossley, Overlap,
    RollingFriction, SoftGround, StationShape, Surface, SurfaceShape, stairs,
};
use hardstand_physics::dynamics::{Constraints, Data, PointOnPlane, Velocities};
use hardstand_physics::model::Coupling;
use hardstand_physics::plant::{
    ComputePath, ConstraintSpec, ContactModel, FrictionRegion, Integrator, SensorSet,
};
use hardstand_physics::sensor::{FootSensor, ImuErrors, JointSensor};
use hardstand_physics::spatial::{Mat3, Motion, Transform, Vec3};
use hardstand_protocol::LogTick;
use hardstand_protocol::{Command, Event, FaultKind, InjectedFault, JointCommand, Part, Scope};

use crate::common::allocator::{calls, calls_so_far, peak_bytes};
use crate::common::{bench, drive, robots};

#[test]
fn the_counter_sees_an_allocation() {
    let mut v = Vec::new();
    assert_eq!(calls(|| v.push(1u8)), 1);
    assert_eq!(calls(|| drop(v)), 1);
    assert_eq!(calls(|| ()), 0);
    let (kept, bytes) = peak_bytes(|| (vec![0_u8; 1000], vec![0_u8; 5000]).0);
    assert_eq!((kept.len(), bytes), (1000, 6000));
}

/// Sensors with memory of every kind.
fn late_sensors(joints: usize) -> SensorSet {
    let mut imu = ImuErrors { delay_us: 3000.0, ..ImuErrors::NONE };
    imu.gyro.noise_density = 1e-3;
    imu.vibration.frequency_hz = 80.0;
    let joint = JointSensor { delay_us: 2500.0, noise_rad: 1e-4, ..JointSensor::default() };
    let feet = Some(FootSensor { delay_us: 1000.0, ..FootSensor::default() });
    SensorSet { seed: 1, imu: Some(imu), joints: vec![joint; joints], feet }
}

#[test]
fn a_tick_does_not_allocate() {
    for integrator in [Integrator::SemiImplicitEuler, Integrator::Rk4, Integrator::LinearlyImplicit]
    {
        let (model, mut spec) = robots::walker();
        spec.integrator = integrator;
        if integrator == Integrator::SemiImplicitEuler {
            spec.stations.iter_mut().step_by(2).for_each(|s| s.model = ContactModel::Rigid);
        }
        if integrator == Integrator::LinearlyImplicit {
            spec.sensors = late_sensors(model.joint_count());
        }
        let (min_m, max_m) = ([0.0, -1.0], [1.0, 1.0]);
        let friction = Some(Friction::new(0.5, 0.4));
        let name = "patch".into();
        spec.regions.push(FrictionRegion { name, surface: 0, min_m, max_m, friction });
        // a clone, as the daemon's warm-up steps one
        let mut simulation = Simulation::new(model, spec, WATCHDOG).clone();
        let mut snapshot = simulation.new_snapshot();
        let mut newest = snapshot.clone();
        for tick in 0..600 {
            let mut input = drive::busy_input(&simulation);
            if tick % 10 == 0 {
                input.events.push(grip(Scope::Region(0), tick as u32));
            }
            if tick == 590 {
                // also a fault does not
                let force_W = [f64::NAN, 0.0, 0.0];
                input.events.push(Event::Push { body: 0, point_B: [0.0; 3], force_W, ticks: 1 });
            }
            let n = calls(|| {
                simulation.step(&input);
                simulation.fill(&mut snapshot);
                newest.copy_from(&snapshot);
            });
            assert_eq!(n, 0, "calls of the allocator in tick {tick}");
            assert_eq!(newest, snapshot);
        }
        assert!(simulation.failure().is_some());
    }
}

/// What most robots take: springs on planes without regions, several micro-steps at once in lanes.
#[test]
fn a_tick_in_lanes_does_not_allocate() {
    for integrator in [Integrator::SemiImplicitEuler, Integrator::LinearlyImplicit] {
        for path in [ComputePath::Fastest, ComputePath::Portable, ComputePath::OneByOne] {
            let (model, mut spec) = robots::walker();
            spec.integrator = integrator;
            let foot = StationShape::Sphere { radius_m: 0.02 };
            spec.stations.iter_mut().for_each(|s| s.shape = foot);
            let mut simulation = Simulation::new(model, spec, WATCHDOG).clone();
            simulation.set_path(path);
            for tick in 0..300 {
                let mut input = drive::busy_input(&simulation);
                if tick % 50 == 0 {
                    let force_W = [9.0, 0.0, 1.0];
                    input.events.push(Event::Push {
                        body: 2,
                        point_B: [0.0; 3],
                        force_W,
                        ticks: 9,
                    });
                    input.events.push(grip(Scope::All, tick));
                    input.events.push(broken(tick));
                }
                let n = calls(|| _ = simulation.step(&input));
                assert_eq!(n, 0, "{integrator:?}, {path:?}: calls of the allocator in tick {tick}");
            }
            assert_eq!(simulation.failure(), None);
        }
    }
}

/// Surfaces that take and leave places, a soft one, moments against rolling, anchors that begin anew.
#[test]
fn a_tick_before_many_steps_does_not_allocate() {
    let (model, mut spec) = robots::walker();
    for (i, (X_WS, step)) in stairs(30, 0.02, 0.05, 4.0, 0.005).unwrap().into_iter().enumerate() {
        let shape = SurfaceShape::Solid(step);
        spec.ground.push(Surface { shape, ..Surface::plane(&format!("step {i}"), X_WS) });
    }
    spec.ground[0].soft = Some(SoftGround::new(3000.0, 10.0, 1.0, 0.05).unwrap());
    let rolling = RollingFriction::new(0.001, 0.002, 0.1).unwrap();
    spec.stations.iter_mut().for_each(|s| s.rolling = rolling);
    assert!(spec.places() < spec.ground.len());
    spec.v.v_WB.x = 0.5;
    let mut simulation = Simulation::new(model, spec, WATCHDOG).clone();
    let mut snapshot = simulation.new_snapshot();
    let surfaces = |simulation: &Simulation| -> Vec<Option<usize>> {
        simulation.contacts().evaluated().iter().map(|at| at.surface).collect()
    };
    let before = surfaces(&simulation);
    for tick in 0..400 {
        let mut input = drive::busy_input(&simulation);
        if tick % 20 == 0 {
            input.events.push(Event::ResetAnchors { scope: Scope::All });
        }
        let n = calls(|| {
            simulation.step(&input);
            simulation.fill(&mut snapshot);
        });
        assert_eq!(n, 0, "calls of the allocator in tick {tick}");
    }
    assert_eq!(simulation.failure(), None);
    assert_ne!(surfaces(&simulation), before);
}

/// Rigid contacts of a robot that constraints hold.
#[test]
fn a_tick_with_followers_and_a_gantry_does_not_allocate() {
    let (mut model, mut spec) = robots::walker();
    model.couplings =
        vec![Coupling { follower: 2, leader: Some(1), multiplier: 0.03, offset: 0.0 }];
    for station in &mut spec.stations {
        station.model = ContactModel::Rigid;
    }
    spec.constraints.push(ConstraintSpec {
        name: "gantry".into(),
        body: 0,
        p_BF: Vec3::zeros(),
        plane_body: None,
        R_SP: Mat3::identity(),
        slides: true,
        active: true,
    });
    let mut simulation = Simulation::new(model, spec, WATCHDOG).clone();
    for tick in 0..200 {
        let mut input = drive::busy_input(&simulation);
        if tick % 50 == 40 {
            let active = tick % 100 == 90;
            input.events.push(Event::Constraint { index: 0, active });
        }
        let n = calls(|| _ = simulation.step(&input));
        assert_eq!(n, 0, "calls of the allocator in tick {tick}");
    }
    assert_eq!(simulation.failure(), None);
}

#[test]
fn constraints_do_not_allocate() {
    let (model, spec) = robots::walker();
    let points = (1..model.bodies.len()).map(|body| PointOnPlane {
        plane_body: (body % 2 == 0).then_some(0),
        X_SP: Transform::identity(),
        follower_body: body,
        p_BF: Vec3::new(0.1, 0.02, -0.2),
        slides: body == 1,
    });
    let mut held = Constraints::new(&model, points.collect()).unwrap();
    let (mut q, mut v, mut vdot) = (spec.q.clone(), spec.v.clone(), Velocities::zero(&model));
    let (mut data, tau) = (Data::new(&model), vec![0.0; model.joint_count()]);
    let n = calls(|| {
        held.project_positions(&model, &mut q, &mut data, 0.0);
        held.project_velocities(&model, &q, &mut v, &mut data, 0.0);
        held.accelerate(&model, &mut data, &tau, &spec.gravity_W, &mut vdot);
    });
    assert_eq!(n, 0, "calls of the allocator");
}

/// A brick is the largest of them: four corners and their resultant.
#[test]
fn a_contact_does_not_allocate() {
    let rubber = ContactMaterial::new(1e6, 0.5, 0.8, 0.6, 0.1).unwrap();
    let law = HuntCrossley::new(HertzPair::new(&rubber, &rubber).unwrap(), 0.01).unwrap();
    let brick = BrickContact::new(&rubber, &rubber, Vec3::repeat(0.1), 0.01).unwrap();
    let floor = HalfSpace { point: Vec3::zeros(), normal: Vec3::z() };
    let pose = Transform::from_xyz_rpy([0.0, 0.0, 0.099], [0.0; 3]);
    let slide = Motion::new(Vec3::zeros(), Vec3::x());
    let n = calls(|| {
        let ball = Overlap::sphere_on_half_space(&floor, &pose.p, 0.1).unwrap();
        let f = law.evaluate(&law.initial_friction(), &ball, &Vec3::x());
        let mut sum = brick.evaluate(&brick.initial_friction(), &floor, &pose, &slide).unwrap();
        sum.contact.change_frame(&pose);
        assert!(f.normal_n > 0.0 && sum.vertices().len() == 4);
    });
    assert_eq!(n, 0);
}

/// One fault after the other, each for 120 ticks.
fn broken(tick: u32) -> Event {
    let (kind, part, values) = match tick / 50 {
        0 => (FaultKind::Payload, Part::Body(2), [0.3, 0.0, 0.0, -0.1]),
        1 => (FaultKind::EncoderStuck, Part::Joint(3), [0.0; 4]),
        2 => (FaultKind::EncoderNoise, Part::Whole, [0.001, 7.0, 0.0, 0.0]),
        3 => (FaultKind::MotorDerated, Part::Whole, [0.5, 0.0, 0.0, 0.0]),
        4 => (FaultKind::Friction, Part::Foot(1), [0.4, 0.3, 0.0, 0.0]),
        _ => return Event::ClearFaults { kind: None, part: None },
    };
    Event::InjectFault { fault: InjectedFault { kind, part, values }, ticks: 120 }
}

fn grip(scope: Scope, n: u32) -> Event {
    let mu_static = 0.5 + 0.001 * f64::from(n % 300);
    Event::Friction { scope, mu_static, mu_kinetic: 0.4 }
}

/// A clock that stands still but for sleeps, commands the robot at each of them, changes its
/// friction at some, and counts what
/// the loop asks of the allocator between the first and the last one.
struct CountingClock<'a> {
    commands: &'a CommandSender,
    command: RefCell<Command>,
    log: &'a Inbox<LogTick>,
    orders: &'a RefCell<RequestSender>,
    told: &'a Cell<u64>,
    now_ns: Cell<u64>,
    sleeps: Cell<u64>,
    counted: &'a Cell<u64>,
    own: Cell<u64>,
    first: Cell<Option<u64>>,
}

impl Clock for CountingClock<'_> {
    fn now_ns(&self) -> u64 {
        self.now_ns.get()
    }

    fn sleep_until(&self, deadline_ns: u64) {
        let here = calls_so_far();
        let first = self.first.get().unwrap_or(here);
        self.first.set(Some(first));
        self.counted.set(here - first - self.own.get());

        // every 50th deadline is missed
        let sleeps = self.sleeps.get() + 1;
        self.sleeps.set(sleeps);
        let late_ns = if sleeps.is_multiple_of(50) { 3_400_000 } else { 0 };
        self.now_ns.set(deadline_ns + late_ns);
        // the controller's side; for a while nobody empties the log
        let mut command = self.command.borrow_mut();
        (command.seq, command.answers_tick) = (sleeps, sleeps - 1);
        self.commands.send(&command);
        // four a tick at most: more than one, and never too many to answer
        let mut orders = self.orders.borrow_mut();
        for n in 0..sleeps % 5 {
            let order = Request::Event(grip(Scope::Foot(n as u32), sleeps as u32));
            assert!(orders.send(order).is_ok());
        }
        self.told.set(self.told.get() + std::iter::from_fn(|| orders.answer()).count() as u64);
        if !(200..400).contains(&sleeps)
            && let Some(tick) = self.log.take()
        {
            self.log.give_back(tick);
        }
        self.own.set(self.own.get() + calls_so_far() - here);
    }
}

#[test]
fn a_turn_of_the_loop_does_not_allocate() {
    let sets = [
        "feet.0.model=rigid",
        "feet.1.model=hunt_crossley",
        "planes.0.motion={amplitude_m=[0.01, 0.0, 0.0], frequency_hz=2.0}",
        "events=[{at_s=0.1, kind=\"push\", link=\"trunk\", force_n=[9,9,9], duration_s=0.1},
          {at_s=0.2, kind=\"payload\", link=\"FL_calf\", mass_kg=0.1, duration_s=0.2},
          {at_s=0.3, kind=\"encoder_noise\", amplitude=0.001, duration_s=0.3},
          {at_s=0.3, kind=\"friction\", foot=\"RL\", mu_static=0.4, mu_kinetic=0.3, duration_s=0.1},
          {at_s=0.4, kind=\"link_jitter\", delay_ticks=5, seed=1, duration_s=0.4},
          {at_s=0.5, kind=\"link_duplicate\", probability=0.5, delay_ticks=3, duration_s=0.2},
          {at_s=0.6, kind=\"link_nan\", probability=0.2, duration_s=0.1},
          {at_s=0.8, kind=\"link_drop\", probability=0.2, duration_s=0.1},
          {at_s=0.9, kind=\"link_burst\", every_ticks=30, duration_s=0.2},
          {at_s=0.85, kind=\"state_jitter\", delay_ticks=9, seed=1, duration_s=0.4},
          {at_s=0.95, kind=\"state_drop\", probability=0.2, duration_s=0.3},
          {at_s=1.1, kind=\"battery_sag\", share=0.9}]",
    ];
    let queues = bench::Queues { snapshots: 8, log: 64, reports: 100 };
    let mut bench = bench::Bench::new(bench::quadruped(&sets), queues);
    let joints = bench.scenario.model.joint_count();
    let hold = JointCommand { kp: 60.0, kd: 2.0, ..Default::default() };
    let command =
        Command { run_id: 1, session: 5, joints: vec![hold; joints], ..Default::default() };
    let (commands, log, counted) = (bench.commands.clone(), bench.log.clone(), Cell::new(u64::MAX));
    let (orders, told) = (RefCell::new(bench.orders.take().unwrap()), Cell::new(0));
    let clock = CountingClock {
        commands: &commands,
        command: RefCell::new(command),
        log: &log,
        orders: &orders,
        told: &told,
        now_ns: Cell::new(0),
        sleeps: Cell::new(0),
        counted: &counted,
        own: Cell::new(0),
        first: Cell::new(None),
    };
    let pace = Pace::RealTime(OverrunPolicy::Slip);
    let (_, simulation) = bench.executive(clock, pace, StartRule::Now, 1500).run();
    assert_eq!(simulation.state().tick, 1500);
    assert!(simulation.leases().implicit().session == 5, "the commands were applied");
    assert!(told.get() > 2500, "{} events were applied", told.get());
    assert_eq!(counted.get(), 0, "calls of the allocator in the loop");
}
