//! A scenario: everything a run needs, checked.

use std::path::Path;

use toml::Table;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, ErrorKind, Result};
use crate::limits::{JOINTS_MAX, NAME_BYTES_MAX, SCENARIO_BYTES_MAX};
use crate::model::{Loaded, Model, parse_urdf, read_urdf_text};
use crate::plant::{Event, Integrator, Plant, PlantSpec, StopSpec, WatchdogSpec};
use crate::rt::{OverrunPolicy, Pace, RealtimeSettings, StartRule};
use crate::sensor::{FootSwitchSpec, ImuSpec};
use crate::spatial::{Transform, Vec3};

use super::section::{Mistakes, Range, Section};
use super::{events, ground, merge, robot};

/// Settings of the bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusSettings {
    /// Name in the keys: `hardstand/<robot>/…`.
    pub robot: String,
    /// Endpoints to listen on.
    pub listen: Vec<String>,
    /// Endpoints to connect to.
    pub connect: Vec<String>,
    /// Ticks between two states.
    pub state_every_ticks: u64,
    /// Ticks between two contacts.
    pub contacts_every_ticks: u64,
}

/// Settings of the recorder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordSettings {
    /// Log file; empty for none.
    pub file: String,
    /// Ticks between two keyframes.
    pub keyframe_every_ticks: u64,
}

/// Everything a run needs.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The complete scenario as TOML: defaults, file and `--set` in one.
    pub complete_toml: String,
    /// The robot's URDF.
    pub robot_urdf: String,
    /// Hash of everything that decides the physics.
    pub physics_hash: u64,
    /// The robot.
    pub model: Model,
    /// The rest of the physics.
    pub spec: PlantSpec,
    /// Planned events by tick.
    pub events: Vec<(u64, Event)>,
    /// Pace.
    pub pace: Pace,
    /// When to begin.
    pub start: StartRule,
    /// Ticks to run; `None` for no end.
    pub ticks: Option<u64>,
    /// Largest `kp` and `kd` of a command.
    pub gains_max: [f64; 2],
    /// Wishes for the physics thread.
    pub realtime: RealtimeSettings,
    /// Bus.
    pub bus: BusSettings,
    /// Recorder.
    pub record: RecordSettings,
    /// What is doubtful but allowed.
    pub warnings: Vec<String>,
}

impl Scenario {
    /// Reads a scenario file and its robot; `sets` are `key=value` overrides.
    ///
    /// # Errors
    /// [`ErrorKind::File`] if a file cannot be read, [`ErrorKind::Input`] with all mistakes.
    pub fn load(path: &Path, sets: &[String]) -> Result<Self> {
        let file = path.display().to_string();
        let text = read_scenario(path)?;
        let complete = merge::complete(&text, &file, sets)?;
        let urdf = complete.get("robot").and_then(|r| r.get("urdf")).and_then(|u| u.as_str());
        let Some(urdf) = urdf.filter(|u| !u.is_empty()) else {
            return Err(Error::new(
                ErrorKind::Input,
                format!("{file}: robot.urdf is missing; name the robot's URDF file"),
            ));
        };
        let robot_path = path.parent().unwrap_or(Path::new("")).join(urdf);
        let robot = read_urdf_text(&robot_path)?;
        Self::assemble(&complete, &robot, &file, &robot_path.display().to_string())
    }

    /// A scenario from the texts of the scenario and the robot, as a log holds them.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] with all mistakes.
    pub fn from_texts(scenario: &str, robot: &str, sets: &[String]) -> Result<Self> {
        let complete = merge::complete(scenario, "the scenario", sets)?;
        Self::assemble(&complete, robot, "the scenario", "the robot")
    }

    /// The plant in its initial state.
    #[must_use]
    pub fn plant(&self) -> Plant {
        Plant::new(self.model.clone(), self.spec.clone())
    }

    fn assemble(table: &Table, robot_urdf: &str, file: &str, robot_file: &str) -> Result<Self> {
        let mistakes = Mistakes::default();
        let root = Section::new(String::new(), Some(table), &mistakes);
        let robot_section = root.section("robot");
        let _path = robot_section.text("urdf");
        let base = robot::base_choice(&robot_section);
        let loaded = parse_urdf(robot_urdf, robot_file, base)?;
        let scenario = build(&root, &robot_section, loaded, table, robot_urdf, &mistakes);
        robot_section.finish();
        root.finish();
        let list = mistakes.into_list();
        if list.is_empty() {
            return Ok(scenario);
        }
        Err(Error::list(ErrorKind::Input, &format!("{file}: the scenario was refused"), &list))
    }
}

fn read_scenario(path: &Path) -> Result<String> {
    let failed = |e: std::io::Error| {
        Error::new(ErrorKind::File, format!("scenario {}: {e}", path.display()))
    };
    let size = std::fs::metadata(path).map_err(failed)?.len();
    if size > SCENARIO_BYTES_MAX {
        return Err(Error::new(
            ErrorKind::Input,
            format!("scenario {}: {size} bytes; at most {SCENARIO_BYTES_MAX}", path.display()),
        ));
    }
    std::fs::read_to_string(path).map_err(failed)
}

fn build(
    root: &Section<'_>,
    robot_section: &Section<'_>,
    mut loaded: Loaded,
    table: &Table,
    robot_urdf: &str,
    mistakes: &Mistakes,
) -> Scenario {
    if loaded.model.joint_count() > JOINTS_MAX {
        let n = loaded.model.joint_count();
        mistakes.add(format!("the robot has {n} joints; at most {JOINTS_MAX}"));
    }
    robot::override_joints(root, &mut loaded.model);
    let defaults = ground::contact_defaults(root, mistakes);
    let planes = ground::planes(root, mistakes);
    let touching = ground::touching(root, &loaded, &defaults, planes.len(), mistakes);

    let initial = root.section("initial");
    let (mut q, v) = robot::initial_state(&initial, &loaded.model);
    let clearance_m = initial.f64("clearance_m", Range::between(-10.0, 1000.0));
    let place = initial.choice("place", &[("above_ground", true), ("as_given", false)]);
    let floating = loaded.model.base == crate::model::Base::Floating;
    if place == Some(true) && floating {
        robot::place_above(&loaded.model, &planes, &touching, clearance_m, &mut q);
    }
    initial.finish();

    let sim = Sim::read(root, mistakes);
    let spec = PlantSpec {
        period_ns: sim.period_ns,
        micro_steps: sim.micro_steps,
        integrator: sim.integrator,
        gravity_W: sim.gravity_W,
        planes,
        stations: touching.stations,
        feet: touching.feet,
        stops: stops(root),
        watchdog: watchdog(root),
        imu: imu(root, &loaded.model),
        foot_switch: foot_switch(root),
        q,
        v,
    };
    let events = events::events(root, &loaded.model, &spec.feet, spec.period_ns, mistakes);
    let (realtime, overrun) = realtime(root);
    Scenario {
        complete_toml: table.to_string(),
        robot_urdf: robot_urdf.into(),
        physics_hash: physics_hash(table, robot_urdf),
        events,
        pace: if sim.free { Pace::Free } else { Pace::RealTime(overrun) },
        start: sim.start,
        ticks: sim.ticks,
        gains_max: gains_max(root),
        realtime,
        bus: bus(root, robot_section, &loaded.model),
        record: record(root),
        warnings: loaded.warnings,
        model: loaded.model,
        spec,
    }
}

struct Sim {
    period_ns: u64,
    micro_steps: u32,
    integrator: Integrator,
    gravity_W: Vec3,
    free: bool,
    start: StartRule,
    ticks: Option<u64>,
}

impl Sim {
    fn read(root: &Section<'_>, mistakes: &Mistakes) -> Self {
        let s = root.section("sim");
        let before = mistakes.count();
        let rate_hz = s.count("rate_hz", 10, 8000);
        if !1_000_000_000_u64.is_multiple_of(rate_hz) {
            s.mistake("rate_hz", "a divisor of 1e9, so that a tick is a whole number of ns");
        }
        let period_ns = 1_000_000_000 / rate_hz;
        let micro_steps = s.count("micro_steps", 1, 1000);
        // a wrong rate is mistake enough
        if mistakes.count() == before && !period_ns.is_multiple_of(micro_steps) {
            s.mistake("micro_steps", &format!("a divisor of the period, {period_ns} ns"));
        }
        let integrators =
            [("semi_implicit_euler", Integrator::SemiImplicitEuler), ("rk4", Integrator::Rk4)];
        let integrator = s.choice("integrator", &integrators);
        let gravity = s.vec3("gravity_m_per_s2", Range::between(-100.0, 100.0));
        let free = s.choice("pace", &[("realtime", false), ("free", true)]).unwrap_or(false);
        let starts = [("on_controller", StartRule::OnController), ("now", StartRule::Now)];
        let start = s.choice("start", &starts).unwrap_or(StartRule::Now);
        let duration_s = s.f64("duration_s", Range::between(0.0, 1e9));
        let ticks = (duration_s * rate_hz as f64).round() as u64;
        s.finish();
        Self {
            period_ns,
            micro_steps: micro_steps as u32,
            integrator: integrator.unwrap_or(Integrator::SemiImplicitEuler),
            gravity_W: Vec3::from(gravity),
            free,
            start,
            ticks: (duration_s > 0.0).then_some(ticks),
        }
    }
}

fn stops(root: &Section<'_>) -> StopSpec {
    let s = root.section("end_stops");
    let spec = StopSpec {
        time_constant_s: s.f64("time_constant_s", Range::between(1e-5, 1.0)),
        damping_ratio: s.f64("damping_ratio", Range::between(0.0, 10.0)),
    };
    s.finish();
    spec
}

fn watchdog(root: &Section<'_>) -> WatchdogSpec {
    let s = root.section("command");
    WatchdogSpec {
        hold_ticks: s.count("hold_ticks", 1, 100_000),
        damped_ticks: s.count("damped_ticks", 0, 10_000_000),
        proof_commands: s.count("proof_commands", 1, 16),
        damping: s.f64("damping", Range::between(0.0, 1000.0)),
    }
}

fn gains_max(root: &Section<'_>) -> [f64; 2] {
    let s = root.section("command");
    let range = Range::between(0.0, 1e6);
    let gains = [s.f64("kp_max", range), s.f64("kd_max", range)];
    for key in ["hold_ticks", "damped_ticks", "proof_commands", "damping"] {
        s.expect_known(key);
    }
    s.finish();
    gains
}

fn imu(root: &Section<'_>, model: &Model) -> ImuSpec {
    let s = root.section("imu");
    let p = s.vec3("position_m", Range::between(-1e3, 1e3));
    let X_FI = Transform::from_xyz_rpy(p, s.vec3("rpy_rad", Range::between(-10.0, 10.0)));
    let link = s.text("link");
    let spec = match model.frame(link) {
        Some(frame) => ImuSpec { body: frame.body, X_BI: frame.X_BF.compose(&X_FI) },
        None => {
            if !link.is_empty() {
                s.mistake("link", "the name of a link of the robot, or \"\" for the base");
            }
            ImuSpec { body: 0, X_BI: X_FI }
        }
    };
    s.finish();
    spec
}

fn foot_switch(root: &Section<'_>) -> FootSwitchSpec {
    let s = root.section("foot_switch");
    let spec = FootSwitchSpec {
        on_n: s.f64("on_n", Range::at_least(0.0)),
        off_n: s.f64("off_n", Range::at_least(0.0)),
        debounce_ticks: s.count("debounce_ticks", 1, 1000),
    };
    if spec.off_n > spec.on_n {
        s.mistake("off_n", &format!("at most foot_switch.on_n, which is {}", spec.on_n));
    }
    s.finish();
    spec
}

fn realtime(root: &Section<'_>) -> (RealtimeSettings, OverrunPolicy) {
    let s = root.section("realtime");
    let core = s.integer("core", -1, 1023);
    let ticks_max = s.count("catch_up_ticks_max", 1, 1000);
    let policies = [
        ("slip", OverrunPolicy::Slip),
        ("catch_up", OverrunPolicy::CatchUp { ticks_max }),
        ("stop", OverrunPolicy::Stop),
    ];
    let settings = RealtimeSettings {
        priority: s.count("priority", 1, 98) as u8,
        core: usize::try_from(core).ok(),
        lock_memory: s.bool("lock_memory"),
        required: s.bool("required"),
    };
    let overrun = s.choice("overrun", &policies).unwrap_or(OverrunPolicy::Slip);
    s.finish();
    (settings, overrun)
}

fn bus(root: &Section<'_>, robot_section: &Section<'_>, model: &Model) -> BusSettings {
    let s = root.section("bus");
    let named = robot_section.text("name");
    let robot = if named.is_empty() { model.name.as_str() } else { named };
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if robot.is_empty() || robot.len() > NAME_BYTES_MAX || !robot.chars().all(allowed) {
        robot_section.mistake(
            "name",
            &format!(
                "1 to {NAME_BYTES_MAX} letters, digits, \"-\", \"_\" or \".\" (here: \"{robot}\")"
            ),
        );
    }
    let endpoints = |key: &str| {
        let list = s.texts(key);
        if !list.iter().all(|e| is_endpoint(e)) {
            s.mistake(key, "a list of \"tcp/HOST:PORT\" and \"unixsock-stream/PATH\"");
        }
        list
    };
    let settings = BusSettings {
        robot: robot.into(),
        listen: endpoints("listen"),
        connect: endpoints("connect"),
        state_every_ticks: s.count("state_every_ticks", 1, 100_000),
        contacts_every_ticks: s.count("contacts_every_ticks", 1, 100_000),
    };
    s.finish();
    settings
}

/// The two kinds of endpoint that this build of zenoh has.
pub(crate) fn is_endpoint(text: &str) -> bool {
    let address = text.split(['?', '#']).next().unwrap_or_default();
    match address.split_once('/') {
        Some(("tcp", host)) => host
            .rsplit_once(':')
            .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok()),
        Some(("unixsock-stream", path)) => !path.is_empty(),
        _ => false,
    }
}

fn record(root: &Section<'_>) -> RecordSettings {
    let s = root.section("record");
    let settings = RecordSettings {
        file: s.text("file").into(),
        keyframe_every_ticks: s.count("keyframe_every_ticks", 1, 1_000_000),
    };
    s.finish();
    settings
}

/// Hash of the robot and of all sections that decide the physics.
fn physics_hash(table: &Table, robot_urdf: &str) -> u64 {
    let mut physics = table.clone();
    for key in ["realtime", "bus", "record", "events"] {
        physics.remove(key);
    }
    if let Some(toml::Value::Table(sim)) = physics.get_mut("sim") {
        for key in ["pace", "start", "duration_s"] {
            sim.remove(key);
        }
    }
    if let Some(toml::Value::Table(robot)) = physics.get_mut("robot") {
        robot.remove("urdf");
        robot.remove("name");
    }
    xxh3_64(format!("{physics}\n{robot_urdf}").as_bytes())
}
