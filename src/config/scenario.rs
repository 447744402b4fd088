//! A scenario: all checked settings of a run.

use std::io;
use std::path::{Path, PathBuf};

use toml::{Table, Value};
use xxhash_rust::xxh3::xxh3_64;

use super::lcm::{LcmSettings, lcm};
use super::ports::{PacketPorts, packet_ports};
use super::posture::Posture;
use super::realtime::{OverrunPolicy, Pace, RealtimeSettings, StartRule, wall_period_ns};
use crate::limits::{JOINTS_MAX, SCENARIO_BYTES_MAX};
use crate::mjcf::Converted;
use crate::simulation::{Simulation, WatchdogSpec};
use crate::urdf::{Loaded, command_interfaces, parse_urdf};
use hardstand_error::{Error, ErrorKind, Result, read_text};
use hardstand_physics::model::{Base, Model};
use hardstand_physics::plant::{
    CollisionShape, ContactModel, DriveSet, Integrator, PlantSpec, Station,
};
use hardstand_protocol::{Event, HoldGains};

use super::bus::{BusSettings, bus};
use super::buses::{MotorBus, buses};
use super::collisions::Collided;
use super::control::{ControlSettings, control};
use super::robot_file::{adopt, open_connections, robot_file};
use super::ros2::{Ros2Settings, ros2};
use super::section::{Mistakes, Section};
use super::sections::{Sim, command, foot_switch, imu, stops};
use super::services::{RecordSettings, Sandbox, realtime, record, sandbox};
use super::unitree::{UnitreeSettings, unitree};
use super::warnings::warnings;
use super::{
    by_mass, collisions, constraints, contact_law, drives, events, feet, hulls, inertias, links,
    materials, merge, overlays, regions, rest, robot, robots, sensors, terrain,
};

/// All settings of a run.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The complete scenario as TOML: defaults, file and `--set` in one.
    pub complete_toml: String,
    /// The robot's URDF.
    pub robot_urdf: String,
    /// Hash of all settings that affect the physics.
    pub physics_hash: u64,
    /// The robot.
    pub model: Model,
    /// The other settings of the physics.
    pub spec: PlantSpec,
    /// What happens when the controller is late or lost.
    pub watchdog: WatchdogSpec,
    /// Planned events by tick.
    pub events: Vec<(u64, Event)>,
    /// Pace.
    pub pace: Pace,
    /// What the loop does after a missed deadline with pace "realtime".
    pub overrun: OverrunPolicy,
    /// Wall time of a tick in real time, ns.
    pub wall_period_ns: u64,
    /// Treatment of controllers.
    pub control: ControlSettings,
    /// When simulated time begins.
    pub start: StartRule,
    /// Ticks to run; `None`: no end.
    pub ticks: Option<u64>,
    /// Largest `kp` and `kd` of a command.
    pub gains_max: [f64; 2],
    /// Gains with which a position of each joint can be held.
    pub hold_gains: Vec<HoldGains>,
    /// Settings of the physics thread.
    pub realtime: RealtimeSettings,
    /// Bus.
    pub bus: BusSettings,
    /// ROS 2.
    pub ros2: Ros2Settings,
    /// Motor buses.
    pub buses: Vec<MotorBus>,
    /// UDP and shared memory.
    pub ports: PacketPorts,
    /// LCM; `None` if it is off.
    pub lcm: Option<LcmSettings>,
    /// Unitree's messages; `None` if they are off.
    pub unitree: Option<UnitreeSettings>,
    /// Recorder.
    pub record: RecordSettings,
    /// What the process gives up.
    pub sandbox: Sandbox,
    /// Warnings about settings that are allowed but doubtful.
    pub warnings: Vec<String>,
    /// The files that decide it: the scenario, its robot with what that includes and the meshes
    /// with which it touches or is weighed, its overlays. Empty if it came as text.
    pub files: Vec<PathBuf>,
}

impl Scenario {
    /// Reads a scenario file and its robot; `sets` are `key=value` overrides.
    ///
    /// # Errors
    /// [`ErrorKind::File`] if a file cannot be read, [`ErrorKind::Input`] with all mistakes, and if
    /// the scenario has several robots.
    pub fn load(path: &Path, sets: &[String]) -> Result<Self> {
        let mut all = Self::load_all(path, sets)?;
        match (all.pop(), all.len()) {
            (Some(scenario), 0) => Ok(scenario),
            (_, others) => {
                let (file, count) = (path.display(), others + 1);
                let text = format!(
                    "{file} has {count} [[robots]]; here it can be one only: several robots run \
                     with `hardstand run`"
                );
                Err(Error::new(ErrorKind::Input, text))
            }
        }
    }

    /// True if it is one of several robots of a daemon.
    #[must_use]
    pub const fn has_company(&self) -> bool {
        self.bus.robots.len() > 1
    }

    /// Reads a scenario file and its robots: a scenario for each of `[[robots]]`, one without that
    /// section.
    ///
    /// # Errors
    /// [`ErrorKind::File`] if a file cannot be read, [`ErrorKind::Input`] with all mistakes.
    pub fn load_all(path: &Path, sets: &[String]) -> Result<Vec<Self>> {
        let file = path.display().to_string();
        let text = read_scenario(path)?;
        let (overlay_files, overlays): (Vec<_>, Vec<_>) =
            overlays::read(&text, &file, path)?.into_iter().unzip();
        let complete = merge::complete(&text, &file, &overlays, sets)?;
        let with: Vec<String> = overlay_files.iter().map(|f| f.display().to_string()).collect();
        let with = if with.is_empty() {
            file.clone()
        } else {
            format!("{file} with the overlays {}", with.join(", "))
        };
        let one = |(name, table): (Option<String>, Table)| {
            let of = name.map_or(with.clone(), |name| format!("{with}, robot {name}"));
            let mut scenario = Self::load_table(table, path, &of)?;
            scenario.files.extend(overlay_files.clone());
            Ok(scenario)
        };
        let (mut all, mut refused) = (Vec::new(), Vec::new());
        for robot in robots::split(complete, &file)? {
            one(robot).map_or_else(|e| refused.push(e), |robot| all.push(robot));
        }
        if let Some(first) = refused.first() {
            let texts: Vec<String> = refused.iter().map(Error::to_string).collect();
            return Err(Error::new(first.kind(), texts.join("\n")));
        }
        let names: Vec<String> = all.iter().map(|robot| robot.bus.robot.clone()).collect();
        for (node, robot) in all.iter_mut().enumerate() {
            robot.bus.robots.clone_from(&names);
            robot.ros2.node = node;
        }
        robots::check(&all, &file)?;
        Ok(all)
    }

    /// `file` names the scenario in messages.
    fn load_table(mut complete: Table, path: &Path, file: &str) -> Result<Self> {
        let robot = robot_file(&complete, path)?;
        let adopted = adopt(&mut complete, &robot.converted, robot.folder());
        let warnings = adopted.map_err(|e| e.within(file))?;
        let (urdf, name) = (&robot.converted.urdf, robot.name());
        let scenario = Self::assemble(&complete, urdf, file, &name);
        let mut scenario = scenario.map_err(|e| robot.refusal(e))?;
        scenario.warnings.splice(0..0, warnings);
        let open = open_connections(&robot.converted.connections, &scenario);
        scenario.warnings.extend(open);
        let mut of_robot = robot.converted.files.clone();
        of_robot.extend(hulls::files(&complete, robot.folder()));
        of_robot.sort();
        of_robot.dedup();
        scenario.files = [vec![path.into(), name.into()], of_robot].concat();
        Ok(scenario)
    }

    /// A scenario from the texts of the scenario and the robot, as stored in a log.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] with all mistakes.
    pub fn from_texts(scenario: &str, robot: &str, sets: &[String]) -> Result<Self> {
        let complete = merge::complete(scenario, "the scenario", &[], sets)?;
        Self::assemble(&complete, robot, "the scenario", "the robot")
    }

    /// A scenario from its text and a robot that has been read, whose meshes are files in `folder`.
    /// `hulls` are those of meshes that have been read; more come.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] with all mistakes.
    pub fn of_robot(
        scenario: &str,
        robot: &Converted,
        folder: &Path,
        hulls: &mut Table,
    ) -> Result<Self> {
        let mut complete = merge::complete(scenario, "the scenario", &[], &[])?;
        if let Some(Value::Table(section)) = complete.get_mut("robot") {
            section.insert("hulls".into(), Value::Table(std::mem::take(hulls)));
        }
        let warnings = adopt(&mut complete, robot, folder)?;
        let scenario = Self::from_table(&complete, &robot.urdf);
        let section = complete.get_mut("robot").and_then(Value::as_table_mut);
        if let Some(Value::Table(known)) = section.and_then(|section| section.remove("hulls")) {
            *hulls = known;
        }
        let mut scenario = scenario?;
        scenario.warnings.splice(0..0, warnings);
        Ok(scenario)
    }

    /// A scenario from a complete table, as [`complete_toml`](Self::complete_toml) has it, and the
    /// text of the robot.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] with all mistakes.
    pub fn from_table(complete: &Table, robot: &str) -> Result<Self> {
        Self::assemble(complete, robot, "the scenario", "the robot")
    }

    /// The plant in its initial state.
    #[must_use]
    pub fn simulation(&self) -> Simulation {
        Simulation::new(self.model.clone(), self.spec.clone(), self.watchdog)
    }

    fn assemble(table: &Table, robot_urdf: &str, file: &str, robot_file: &str) -> Result<Self> {
        let mistakes = Mistakes::default();
        let root = Section::new(String::new(), Some(table), &mistakes);
        let robot_section = root.section("robot");
        let (_urdf, _mjcf) = (robot_section.text("urdf"), robot_section.text("mjcf"));
        robot_section.know(&["hulls"]);
        let base = robot::base_choice(&robot_section);
        let loaded = parse_urdf(robot_urdf, robot_file, base)?;
        let mut scenario = build(&root, &robot_section, loaded, table, robot_urdf, &mistakes);
        robot_section.finish();
        // read by a hunt alone
        root.know(&["hunt"]);
        root.finish();
        inertias::check(&scenario.model, &scenario.spec, &mistakes);
        let list = mistakes.into_list();
        if list.is_empty() {
            scenario.warnings.extend(warnings(table, &scenario.model, &scenario.spec));
            return Ok(scenario);
        }
        Err(Error::list(ErrorKind::Input, &format!("{file}: the scenario was refused"), &list))
    }
}

fn read_scenario(path: &Path) -> Result<String> {
    read_text(path, SCENARIO_BYTES_MAX).map_err(|e| {
        let kind = match e.kind() {
            io::ErrorKind::FileTooLarge | io::ErrorKind::InvalidData => ErrorKind::Input,
            _ => ErrorKind::File,
        };
        Error::new(kind, format!("scenario {}: {e}", path.display()))
    })
}

/// Why no scenario can have this robot, if it has too many joints.
pub(crate) fn too_many_joints(model: &Model) -> Option<String> {
    let n = model.joint_count();
    (n > JOINTS_MAX).then(|| format!("the robot has {n} joints; at most {JOINTS_MAX}"))
}

fn build(
    root: &Section<'_>,
    robot_section: &Section<'_>,
    mut loaded: Loaded,
    table: &Table,
    robot_urdf: &str,
    mistakes: &Mistakes,
) -> Scenario {
    if let Some(refusal) = too_many_joints(&loaded.model) {
        mistakes.add(refusal);
    }
    let hold_gains = robot::override_joints(root, &mut loaded.model);
    links::override_links(root, &mut loaded.model);
    let sim = Sim::read(root, mistakes);
    let held = constraints::constraints(root, &loaded.model, mistakes);
    let drives = drives::drives(root, &mut loaded.model);
    let (mut spec, warnings) = plant_spec(root, &sim, &loaded, (&held, drives), mistakes);
    let (watchdog, gains_max) = command(root);
    for (joint, gains) in loaded.model.joints.iter().zip(&hold_gains) {
        let [kp_max, kd_max] = gains_max;
        for (key, value, max) in [("kp", gains.kp, kp_max), ("kd", gains.kd, kd_max)] {
            if value > max {
                let name = &joint.name;
                mistakes.add(format!(
                    "joints.{name}.hold_{key} is {value}; it must be at most \
                     command.{key}_max, {max}"
                ));
            }
        }
    }
    let mut events = events::events(root, &loaded.model, &spec, mistakes);
    events.extend(held.events(&spec));
    let (realtime, overrun) = realtime(root);
    let mut bus = bus(root, robot_section, &loaded.model);
    let control = control(root);
    let mut ros2 = ros2(root, spec.period_ns, &control.mode, &mut bus);
    let joints: Vec<&str> = loaded.model.joints.iter().map(|j| j.name.as_str()).collect();
    ros2.command_interfaces = command_interfaces(robot_urdf, &joints);
    let unitree = unitree(root, &loaded.model, &spec, &ros2);
    spec.second_imu = unitree.as_ref().and_then(UnitreeSettings::torso_imu);
    Scenario {
        complete_toml: table.to_string(),
        robot_urdf: robot_urdf.into(),
        physics_hash: physics_hash(table, robot_urdf),
        pace: if sim.free { Pace::Free } else { Pace::RealTime(overrun) },
        overrun,
        wall_period_ns: wall_period_ns(spec.period_ns, sim.speed),
        control,
        start: sim.start,
        ticks: sim.ticks,
        gains_max,
        hold_gains,
        realtime,
        bus,
        buses: buses(root, &loaded.model, 1_000_000_000 / spec.period_ns, &events, mistakes),
        ports: packet_ports(root),
        lcm: lcm(root, &loaded.model, &spec),
        unitree,
        ros2,
        record: record(root),
        sandbox: sandbox(root),
        warnings: [loaded.warnings, warnings].concat(),
        files: Vec::new(),
        model: loaded.model,
        spec,
        watchdog,
        events,
    }
}

/// The settings of the plant besides the model, and warnings about them.
fn plant_spec(
    root: &Section<'_>,
    sim: &Sim,
    loaded: &Loaded,
    (held, drives): (&constraints::Constraints, DriveSet),
    mistakes: &Mistakes,
) -> (PlantSpec, Vec<String>) {
    let materials = materials::materials(root, mistakes);
    let defaults = contact_law::contact_defaults(root, &materials, mistakes);
    let ground = terrain::ground(root, &materials, defaults.ground_material, mistakes);
    let regions = regions::regions(root, &defaults, &ground, mistakes);
    let initial = root.section("initial");
    let (q, v) = robot::initial_state(&initial, &loaded.model);
    let clearance_m = robot::clearance_m(&initial);
    initial.finish();

    let (defaults, materials, ground) = (&defaults, &materials, &ground);
    let common = collisions::Common { loaded, defaults, materials, ground, mistakes };
    let up_W = robot::up_over(&ground.surfaces, &sim.gravity_W);
    let posture = Posture::of(&loaded.model, (&q, &v), up_W);
    let mut touching = feet::touching(root, &common, &posture);
    let Collided { spec: collisions, carried, placed, warnings } =
        collisions::collisions(root, &common, &posture, &mut touching);

    let switch = foot_switch(root);
    let sensors = sensors::sensors(root, &loaded.model);
    let mut spec = PlantSpec {
        period_ns: sim.period_ns,
        micro_steps: sim.micro_steps,
        integrator: sim.integrator,
        gravity_W: sim.gravity_W,
        ground: ground.surfaces.clone(),
        regions,
        stations: touching.stations,
        feet: touching.feet,
        collisions,
        restitution: contact_law::restitution(root, mistakes),
        constraints: held.all.clone(),
        stops: stops(root),
        imu: imu(root, &loaded.model),
        second_imu: None,
        foot_switch: switch.spec(),
        drives,
        sensors,
        q,
        v,
    };
    check_integrator(&spec, mistakes);
    let places = clearance_m.is_some() && loaded.model.base == Base::Floating;
    if mistakes.count() == 0 {
        collisions::prepare(&loaded.model, &mut spec, mistakes);
    }
    if mistakes.count() == 0 {
        by_mass::fit(&loaded.model, &mut spec, &touching.keys, &switch, places, mistakes);
    }
    if let Some(clearance_m) = clearance_m
        && places
        && mistakes.count() == 0
    {
        let before_W = spec.q.p_WB;
        rest::place_above(&loaded.model, &mut spec, clearance_m);
        let rise_W = spec.q.p_WB - before_W;
        carried.into_iter().for_each(|k| spec.collisions.bodies[k].X_WB.p += rise_W);
    }
    if mistakes.count() == 0 {
        rest::place_bodies(&loaded.model, &mut spec, &placed);
    }
    (spec, warnings)
}

fn check_integrator(spec: &PlantSpec, mistakes: &Mistakes) {
    let rigid = |s: &Station| s.model == ContactModel::Rigid;
    let word = match spec.integrator {
        Integrator::SemiImplicitEuler => return,
        Integrator::Rk4 => "rk4",
        Integrator::LinearlyImplicit => "linearly_implicit",
    };
    if !spec.collisions.bodies.is_empty() && word == "rk4" {
        mistakes.add(
            "sim.integrator is \"rk4\"; with [[bodies]], or floating joints inside the robot, it \
             must be \"semi_implicit_euler\" or \"linearly_implicit\""
                .into(),
        );
    }
    if spec.has_rolling_friction() && word == "rk4" {
        mistakes.add(
            "sim.integrator is \"rk4\", whose stages would turn a light foot back and forth; with \
             rolling_m or torsional_m above 0 it must be \"semi_implicit_euler\" or \
             \"linearly_implicit\""
                .into(),
        );
    }
    let rigid_shape = |s: &CollisionShape| s.model == ContactModel::Rigid;
    if spec.stations.iter().any(rigid) || spec.collisions.shapes.iter().any(rigid_shape) {
        let text = format!("sim.integrator is \"{word}\"; with a rigid contact it must be");
        mistakes.add(format!("{text} \"semi_implicit_euler\""));
    }
}

/// Sections that have no part in what a tick computes.
pub const WITHOUT_PHYSICS: [&str; 12] = [
    "realtime",
    "control",
    "bus",
    "buses",
    "ros2",
    "unitree",
    "udp",
    "shared_memory",
    "lcm",
    "record",
    "security",
    "hunt",
];

/// Hash of the robot and of all sections that affect the physics.
fn physics_hash(table: &Table, robot_urdf: &str) -> u64 {
    let mut physics = table.clone();
    for key in WITHOUT_PHYSICS {
        physics.remove(key);
    }
    // events act by ticks, each of which is in the log
    physics.remove("events");
    if let Some(toml::Value::Table(sim)) = physics.get_mut("sim") {
        for key in ["pace", "speed", "start", "duration_s"] {
            sim.remove(key);
        }
    }
    // so that the hash of a scenario without this section is the same as before it existed
    if physics.get("links").and_then(toml::Value::as_table).is_some_and(Table::is_empty) {
        physics.remove("links");
    }
    if let Some(toml::Value::Table(robot)) = physics.get_mut("robot") {
        robot.remove("urdf");
        robot.remove("mjcf");
        robot.remove("name");
    }
    // moments against rolling that are 0, and the default curve of friction, say nothing, and older
    // logs do not have them
    if let Some(toml::Value::Table(contact)) = physics.get_mut("contact") {
        if contact.get("slip_curve").and_then(toml::Value::as_str) == Some("hollars") {
            contact.remove("slip_curve");
        }
        let is_off = |key: &str| contact.get(key).is_none_or(|v| v.as_float() == Some(0.0));
        if is_off("rolling_m") && is_off("torsional_m") {
            for key in ["rolling_m", "torsional_m", "settle_rad_per_s"] {
                contact.remove(key);
            }
        }
    }
    // without a battery the section says nothing, and older logs do not have it
    let battery_v = physics.get("battery").and_then(|b| b.get("voltage_v")?.as_float());
    if battery_v == Some(0.0) {
        physics.remove("battery");
    }
    // nor without sensors that have errors
    if physics.get("sensors").is_some_and(sensors::is_silent) {
        physics.remove("sensors");
    }
    xxh3_64(format!("{physics}\n{robot_urdf}").as_bytes())
}
