//! What the trajectories have in common: a plant in the oracle's manner, and tolerances.

use hardstand::simulation::{Simulation, WatchdogSpec};
use hardstand_physics::contact::{
    ContactPlane, ExponentialSpring, Friction, Restitution, RollingFriction, SpringParameters,
    StationShape, Surface,
};
use hardstand_physics::dynamics::{Positions, Velocities};
use hardstand_physics::model::Model;
use hardstand_physics::plant::Walk;
use hardstand_physics::plant::{
    CollisionSpec, ContactModel, DriveSet, Integrator, PlantSpec, SensorSet, Station, StopSpec,
};
use hardstand_physics::sensor::{FootSwitchSpec, ImuSpec};
use hardstand_physics::spatial::{Transform, Vec3};
use hardstand_protocol::{Event, Scope};
use serde_json::Value;

use super::files::{get, list, num, nums};
use super::report::Report;

/// Ground, springs and start of a trajectory.
#[derive(Clone)]
pub struct Scene {
    pub gravity_W: Vec3,
    pub planes: Vec<ContactPlane>,
    /// Body and point.
    pub stations: Vec<(usize, Vec3)>,
    pub parameters: SpringParameters,
    pub mu: [f64; 2],
    pub q: Positions,
    pub v: Velocities,
}

/// A plant that takes one Runge–Kutta step of length `h_s` per tick.
pub fn simulation(model: Model, scene: &Scene, h_s: f64) -> Simulation {
    let spring = ExponentialSpring::new(scene.parameters).expect("parameters");
    let friction = Friction::new(scene.mu[0], scene.mu[1]);
    let station = |(i, &(body, p_BS)): (usize, &(usize, Vec3))| Station {
        shape: StationShape::Point,
        name: format!("s{i}"),
        body,
        p_BS,
        model: ContactModel::ExponentialSpring(spring),
        friction,
        rolling: RollingFriction::NONE,
    };
    let plane = |(i, p): (usize, &ContactPlane)| Surface::plane(&format!("p{i}"), p.X_WP);
    let spec = PlantSpec {
        period_ns: ticks(1e9 * h_s),
        micro_steps: 1,
        integrator: Integrator::Rk4,
        gravity_W: scene.gravity_W,
        ground: scene.planes.iter().enumerate().map(plane).collect(),
        regions: vec![],
        stations: scene.stations.iter().enumerate().map(station).collect(),
        feet: vec![],
        collisions: CollisionSpec::none(),
        restitution: Restitution::default(),
        constraints: vec![],
        stops: StopSpec { time_constant_s: 0.01, damping_ratio: 1.0 },
        imu: ImuSpec { body: 0, X_BI: Transform::identity() },
        second_imu: None,
        foot_switch: FootSwitchSpec { on_n: 1.0, off_n: 0.5, debounce_ticks: 1 },
        drives: DriveSet::default(),
        sensors: SensorSet::default(),
        q: scene.q.clone(),
        v: scene.v.clone(),
    };
    let watchdog =
        WatchdogSpec { hold_ticks: u64::MAX / 2, damped_ticks: 0, proof_commands: 1, damping: 0.0 };
    Simulation::new(model, spec, watchdog)
}

/// The stations of a file, and which of the plant's contacts each of its springs is.
#[derive(Clone, Debug, PartialEq)]
pub struct Springs<'a> {
    /// Each station once.
    pub stations: Vec<&'a Value>,
    /// The plant's contact, stations outer and planes inner, for each spring of the file.
    pub order: Vec<usize>,
}

/// The springs that `setup` lists under `key`: each station once, with forces plane by plane, or
/// each station once for every plane. Then an entry may say its `plane`, or the file which plane
/// "spring_i_uses_plane"; else the first entry of a station is that of the first plane.
pub fn springs<'a>(
    setup: &'a Value,
    key: &str,
    planes: usize,
    is_same: impl Fn(&Value, &Value) -> bool,
) -> Springs<'a> {
    let listed = list(setup, key);
    let mut stations: Vec<&Value> = Vec::new();
    for entry in listed {
        if !stations.iter().any(|s| is_same(s, entry)) {
            stations.push(entry);
        }
    }
    let n = stations.len();
    if listed.len() == n {
        let order = (0..n * planes).map(|i| (i % n) * planes + i / n).collect();
        return Springs { stations, order };
    }
    let per_plane = setup.get("spring_i_uses_plane").map(springs_per_plane);
    let order = listed.iter().enumerate().map(|(i, entry)| {
        let station = stations.iter().position(|s| is_same(s, entry));
        let before = listed[..i].iter().filter(|s| is_same(s, entry)).count();
        let own = entry.get("plane").and_then(Value::as_u64).map(|p| p as usize);
        let plane = own.or(per_plane.map(|per_plane| i / per_plane)).unwrap_or(before);
        assert!(plane < planes, "spring {i} is on plane {plane} of {planes}");
        station.expect("one of the unique ones") * planes + plane
    });
    let order: Vec<usize> = order.collect();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    let all: Vec<usize> = (0..n * planes).collect();
    assert_eq!(
        sorted, all,
        "\"{key}\" lists each of {n} stations once for each of {planes} planes"
    );
    Springs { stations, order }
}

/// `N` of a rule "i/N (integer division)".
fn springs_per_plane(rule: &Value) -> usize {
    let text = rule.as_str().unwrap_or_default();
    let digits = text
        .strip_prefix("i/")
        .map(|rest| rest.find(|c: char| !c.is_ascii_digit()).map_or(rest, |end| &rest[..end]));
    let count = digits.and_then(|digits| digits.parse().ok()).filter(|count| *count > 0);
    count.unwrap_or_else(|| panic!("\"spring_i_uses_plane\" is {rule}; it must be \"i/N\""))
}

/// The nearest whole number.
pub fn ticks(x: f64) -> u64 {
    x.round() as u64
}

/// Events `{t, mu_s, mu_k}` that fall on `tick`.
pub fn friction_events(events: &[Value], tick: u64, h_s: f64) -> Vec<Event> {
    let now = events.iter().filter(|e| ticks(num(e, "t") / h_s) == tick);
    now.map(|e| Event::Friction {
        scope: Scope::All,
        mu_static: num(e, "mu_s"),
        mu_kinetic: num(e, "mu_k"),
    })
    .collect()
}

/// The plant as the oracle samples it: with the new coefficients already in the forces.
pub fn after_friction_events(simulation: &Simulation, events: &[Event]) -> Simulation {
    let mut copy = simulation.clone();
    for event in events {
        if let Event::Friction { mu_static, mu_kinetic, .. } = *event {
            let both = [("contact.mu_static", mu_static), ("contact.mu_kinetic", mu_kinetic)];
            set_words(&mut copy, &both);
        }
    }
    copy
}

/// Writes each value into all words of its group of the plant's state.
pub fn set_words(simulation: &mut Simulation, values: &[(&str, f64)]) {
    let mut words = simulation.snapshot_words();
    let mut k = 0;
    simulation.clone().walk(&mut |name, _, _| {
        if let Some((_, value)) = values.iter().find(|(group, _)| *group == name) {
            words[k] = value.to_bits();
        }
        k += 1;
    });
    simulation.restore(&words).expect("the plant's own words");
}

/// Tolerances of a trajectory: base position (m), orientation and joint positions, base velocity,
/// angular and joint velocities, forces relative to the largest force (or 1 N), sliding.
#[derive(Clone, Copy)]
pub struct Tolerance {
    pub position: f64,
    pub orientation: f64,
    pub velocity: f64,
    pub angular: f64,
    pub force: f64,
    pub sliding: f64,
}

/// Positions and velocities at the samples.
pub type Path = Vec<(Positions, Velocities)>;

impl Tolerance {
    /// The scene's own tolerance `(position, velocity)`, or five times what moving the start by
    /// ± two units in the last place does to the path, whichever is more. Contact that is about to
    /// stick or slip amplifies rounding, and nobody's rounding is the right one.
    pub fn new(
        scene: (f64, f64),
        par: &SpringParameters,
        weight: f64,
        h_s: f64,
        path: impl Fn(f64) -> Path,
    ) -> Self {
        let (here, up, down) = (path(0.0), path(ULPS), path(-ULPS));
        let floor = [scene.0, scene.0, scene.1, scene.1];
        let mut tol = [0.0; 4];
        let (a, b) = (spread(&here, &up), spread(&here, &down));
        for k in 0..4 {
            tol[k] = floor[k].max((5.0 * a[k].max(b[k])).min(LOOSEST));
        }
        let [position, orientation, velocity, angular] = tol;
        let (p, v) = (position.max(0.1 * orientation), velocity.max(0.1 * angular));
        let force = propagated(par, p, v, weight.max(1.0)).max(3e-11);
        // the slope of the smooth step is at most 1.875; the anchor's speed is a difference over h
        let sliding = (4.0 * p / (h_s * par.v_settle_m_per_s)).min(1.0);
        Self { position, orientation, velocity, angular, force, sliding }
    }
}

/// Tolerance of position and velocity for a scene that is not known by name: what the smooth ones
/// need. Where contact amplifies rounding, the paths from shifted starts say so.
pub const UNKNOWN_SCENE: (f64, f64) = (1e-11, 3e-9);

const ULPS: f64 = 2.0 * f64::EPSILON;
const LOOSEST: f64 = 1e-2;

/// Base position moved by `shift` relative to its size or 1 m.
pub fn shifted(mut q: Positions, shift: f64) -> Positions {
    q.p_WB.iter_mut().for_each(|x| *x += shift * x.abs().max(1.0));
    q
}

fn spread(a: &Path, b: &Path) -> [f64; 4] {
    let mut out = [0.0; 4];
    for ((qa, va), (qb, vb)) in a.iter().zip(b) {
        let (a, b) = (qa.quat_WB.wxyz(), qb.quat_WB.wxyz());
        let quat = (0..4).map(|k| (a[k] - b[k]).abs()).fold(0.0, f64::max);
        let joints =
            |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let now = [
            (qa.p_WB - qb.p_WB).amax(),
            joints(&qa.joints, &qb.joints).max(quat),
            (va.v_WB - vb.v_WB).amax(),
            joints(&va.joints, &vb.joints).max((va.w_WB - vb.w_WB).amax()),
        ];
        for k in 0..4 {
            out[k] = f64::max(out[k], now[k]);
        }
    }
    out
}

/// What differences of `position` and `velocity` do to the force of one spring, relative to a
/// force of `scale`.
pub fn propagated(par: &SpringParameters, position: f64, velocity: f64, scale: f64) -> f64 {
    let normal = scale * (par.d2_per_m * position + par.cz_s_per_m * velocity);
    let friction = par.kxy_n_per_m * position + par.cxy_n_s_per_m * velocity;
    (normal + friction) / scale
}

/// Compares the contacts of a sample: `order[i]` is the plant's contact for the file's spring `i`.
/// The forces in the file are in P (`plane_axes`) or W.
#[expect(clippy::too_many_arguments, reason = "a comparison has two sides")]
pub fn compare_contacts(
    simulation: &Simulation,
    order: &[usize],
    forces: &[Vec3],
    sample: &Value,
    plane_axes: bool,
    tol: &Tolerance,
    at: &str,
    report: &mut Report,
) {
    let (anchors, sliding) = (list(sample, "anchor_P"), nums(get(sample, "sliding")));
    assert_eq!(forces.len(), order.len(), "forces in the sample");
    let scale = forces.iter().map(Vec3::norm).fold(1.0, f64::max);
    for (i, &contact) in order.iter().enumerate() {
        let evaluated = &simulation.contacts().evaluated()[contact];
        let f = &evaluated.force;
        let force = if plane_axes { f.force_P() } else { evaluated.record_W().force };
        report.vector("force", &force, &forces[i], scale, tol.force, at);
        let anchor = nums(&anchors[i]);
        let anchor_tol = 10.0 * tol.position.max(0.1 * tol.orientation);
        report.number("anchor", f.next_anchor_P[0], anchor[0], 1.0, anchor_tol, at);
        report.number("anchor", f.next_anchor_P[1], anchor[1], 1.0, anchor_tol, at);
        report.number("sliding", f.next_sliding, sliding[i], 1.0, tol.sliding, at);
    }
}
