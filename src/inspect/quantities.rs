//! The quantities of a robot, by name.

use std::fmt;
use std::sync::Arc;

use crate::config::Scenario;
use crate::replay::TickView;
use crate::simulation::Simulation;
use hardstand_physics::model::{Base, JointKind};
use hardstand_physics::plant::{Carrier, ContactModel, Station};
use hardstand_protocol::{ContactsReading, StationReading, TouchReading};

use super::fields::{
    APPLIED, BATTERY, BODY, COMMAND, CONSTRAINT, DRIVE, FOLLOWER, FOOT, FOOT_CONTACTS, FOOT_SENSOR,
    Field, IMU_TRUTH, JOINT, JOINT_TRUTH, PATCH_RADIUS, REFERENCE, STATE, STATION, TOUCH, TOUCHED,
    touched,
};

/// What part a quantity has when two runs are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It says how the run was paced and counted, and may differ where the robot does the same.
    Label,
    /// A set-point in force.
    Input,
    /// A result; it can be among those that differ most.
    Measure,
    /// A result, a flag or a coefficient that follows from others, or says the same in other axes.
    Detail,
}

/// A number that every tick has.
#[derive(Clone)]
pub struct Quantity {
    /// Its name, unique: `foot.FL.slip`.
    pub name: String,
    /// Its unit; empty if it has none.
    pub unit: &'static str,
    /// What it is.
    pub meaning: &'static str,
    /// Its part in a comparison.
    pub role: Role,
    /// It comes from running the log again, and is not in the log itself.
    pub replayed: bool,
    /// Which of several robots it is of.
    robot: usize,
    read: Arc<dyn Fn(&TickView<'_>) -> f64 + Send + Sync>,
}

impl fmt::Debug for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Quantity").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Quantity {
    /// Its value; NaN if the tick does not have it, because the replay differs from the log.
    #[must_use]
    pub fn of(&self, view: &TickView<'_>) -> f64 {
        (self.read)(view)
    }

    /// Its value, if these are the ticks of all robots.
    #[must_use]
    pub fn among(&self, views: &[TickView<'_>]) -> f64 {
        views.get(self.robot).map_or(f64::NAN, |view| self.of(view))
    }
}

/// All quantities of a robot, or of several.
#[derive(Clone, Debug)]
pub struct Quantities {
    list: Vec<Quantity>,
    /// What is before the names of each robot's quantities, and the height of a floating base at
    /// the start, m.
    robots: Vec<(String, Option<f64>)>,
}

impl Quantities {
    /// Those of the robot and ground of `simulation`.
    #[must_use]
    pub fn of(simulation: &Simulation) -> Self {
        let floats = simulation.model().base == Base::Floating;
        let start_height_m = floats.then(|| simulation.spec().q.p_WB.z);
        let mut all = Self { list: Vec::new(), robots: vec![(String::new(), start_height_m)] };
        all.add("", &STATE, LOG, |m| Some(m.state));
        all.add("", &APPLIED, LOG, |m| Some(m.applied));
        all.joints(simulation);
        all.drives(simulation);
        all.feet(simulation);
        all.stations(simulation);
        all.constraints(simulation);
        all.bodies(simulation);
        all.sensors(simulation);
        all
    }

    /// Those of the robots of a daemon; of several each has its name before it: `left.base.z`.
    #[must_use]
    pub fn of_all<'a>(robots: impl IntoIterator<Item = &'a Scenario>) -> Self {
        let mut robots: Vec<(&str, Self)> = robots
            .into_iter()
            .map(|robot| (robot.bus.robot.as_str(), Self::of(&robot.simulation())))
            .collect();
        if robots.len() == 1 {
            return robots.remove(0).1;
        }
        let mut all = Self { list: Vec::new(), robots: Vec::new() };
        for (robot, (name, own)) in robots.into_iter().enumerate() {
            let named = |q: Quantity| Quantity { name: format!("{name}.{}", q.name), robot, ..q };
            all.list.extend(own.list.into_iter().map(named));
            let start_height_m = own.robots.into_iter().find_map(|(_, height_m)| height_m);
            all.robots.push((format!("{name}."), start_height_m));
        }
        all
    }

    /// All of them, in the order of the model.
    #[must_use]
    pub fn list(&self) -> &[Quantity] {
        &self.list
    }

    /// The quantity with this name, or with this name in an earlier version.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Quantity> {
        let renamed = RENAMED.iter().find(|(old, _)| *old == name);
        let name = renamed.map_or(name, |(_, new)| *new);
        self.list.iter().find(|q| q.name == name)
    }

    /// Words for a condition, `fell` and of several robots `left.fell`, each with that condition;
    /// `None` of robots whose bases are fixed.
    pub(super) fn falls(&self) -> Vec<(String, Option<String>)> {
        let fallen = |(prefix, start_height_m): &(String, Option<f64>)| {
            let height_m = 0.5 * (*start_height_m)?;
            Some(format!("({prefix}base.tilt > {FALLEN_TILT_RAD} or {prefix}base.z < {height_m})"))
        };
        let any: Vec<String> = self.robots.iter().filter_map(fallen).collect();
        let any = (!any.is_empty()).then(|| any.join(" or "));
        let own = self.robots.iter().map(|robot| (format!("{}{FELL}", robot.0), fallen(robot)));
        own.chain([(FELL.into(), any)]).collect()
    }

    /// Names that `name` may have been meant to be, the nearest first.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Vec<&str> {
        let near = |q: &Quantity| strsim::osa_distance(name, &q.name);
        let mut all: Vec<(usize, &str)> =
            self.list.iter().map(|q| (near(q), q.name.as_str())).collect();
        all.sort(); // ties by name
        all.into_iter().take(NEAREST).map(|(_, name)| name).collect()
    }

    fn joints(&mut self, simulation: &Simulation) {
        for (i, joint) in simulation.model().joints.iter().enumerate() {
            let prismatic = joint.kind == JointKind::Prismatic;
            let (log, replay) = (Source { prismatic, ..LOG }, Source { prismatic, ..REPLAY });
            let prefix = format!("joint.{}.", joint.name);
            self.add(&prefix, &JOINT, log, move |m| m.state.joints.get(i));
            self.add(&prefix, &REFERENCE, replay, move |m| {
                m.contacts.and_then(|_| m.references.get(i))
            });
            let prefix = format!("command.{}.", joint.name);
            self.add(&prefix, &COMMAND, log, move |m| m.command.get(i));
        }
    }

    /// Drives that are not ideal.
    fn drives(&mut self, simulation: &Simulation) {
        if simulation.spec().drives.is_ideal() {
            return;
        }
        self.add("", &BATTERY, REPLAY, |m| m.drives);
        for (i, joint) in simulation.model().joints.iter().enumerate() {
            let source = Source { prismatic: joint.kind == JointKind::Prismatic, ..REPLAY };
            let prefix = format!("drive.{}.", joint.name);
            self.add(&prefix, &DRIVE, source, move |m| m.drives?.joints.get(i));
        }
    }

    fn feet(&mut self, simulation: &Simulation) {
        let places = simulation.contacts().places();
        for (f, foot) in simulation.spec().feet.iter().enumerate() {
            let prefix = format!("foot.{}.", foot.name);
            self.add(&prefix, &FOOT, REPLAY, move |m| m.contacts?.feet.get(f));
            let stations: Arc<[usize]> = foot.stations.as_slice().into();
            for field in &FOOT_CONTACTS {
                let (stations, read) = (Arc::clone(&stations), field.read);
                let of = move |m: &TickView<'_>| {
                    let Some(contacts) = m.contacts else { return f64::NAN };
                    let all = stations.iter().flat_map(|s| on_all(contacts, *s, places));
                    read(&all.copied().collect(), 0)
                };
                self.push(prefix.clone(), field, "", REPLAY, Arc::new(of));
            }
        }
    }

    /// With several surfaces, the station's own quantities are those of the contact that carries
    /// most.
    fn stations(&mut self, simulation: &Simulation) {
        let ground = &simulation.spec().ground;
        let places = simulation.contacts().places();
        // where surfaces take and leave places, none has quantities of its own
        let have_own = ground.len() > 1 && places == ground.len();
        for (s, station) in simulation.spec().stations.iter().enumerate() {
            // a foot says the same of its stations
            let of_foot = simulation.spec().feet.iter().any(|foot| foot.stations.contains(&s));
            let source = Source { detail: of_foot, ..REPLAY };
            let prefix = format!("station.{}.", station.name);
            self.station(&prefix, station, source, move |m| {
                most_loaded(on_all(m.contacts?, s, places))
            });
            for (g, surface) in ground.iter().enumerate().filter(|_| have_own) {
                let prefix = format!("station.{}.on.{}.", station.name, surface.name);
                self.station(&prefix, station, source, move |m| {
                    m.contacts?.stations.get(s * places + g)
                });
            }
        }
    }

    /// One contact of a station; of a ball with Hertz' contact also the radius of the patch in
    /// which it touches.
    fn station(
        &mut self,
        prefix: &str,
        station: &Station,
        source: Source,
        part: impl for<'a> Fn(&'a TickView<'a>) -> Option<&'a StationReading>
        + Copy
        + Send
        + Sync
        + 'static,
    ) {
        self.add(prefix, &STATION, source, part);
        if !matches!(station.model, ContactModel::HuntCrossley(_)) {
            return;
        }
        let radius_m = station.shape.round_m();
        let read = PATCH_RADIUS.read;
        let of =
            move |m: &TickView<'_>| part(m).map_or(f64::NAN, |s| read(&[radius_m, s.height_m], 0));
        self.push(prefix.into(), &PATCH_RADIUS, "", source, Arc::new(of));
    }

    /// Points that are held on planes; then joints that follow others.
    fn constraints(&mut self, simulation: &Simulation) {
        let held = &simulation.spec().constraints;
        for (i, constraint) in held.iter().enumerate() {
            let prefix = format!("constraint.{}.", constraint.name);
            self.add(&prefix, &CONSTRAINT, REPLAY, move |m| m.contacts?.constraints.get(i));
        }
        let followers = simulation.plant().constraints().couplings();
        for (i, coupling) in (held.len()..).zip(followers) {
            let joint = &simulation.model().joints[coupling.follower];
            let source = Source { prismatic: joint.kind == JointKind::Prismatic, ..REPLAY };
            let prefix = format!("constraint.{}.", joint.name);
            self.add(&prefix, &FOLLOWER, source, move |m| m.contacts?.constraints.get(i));
        }
    }

    /// Free bodies, and what touches by its shapes.
    fn bodies(&mut self, simulation: &Simulation) {
        let spec = &simulation.spec().collisions;
        if spec.shapes.is_empty() {
            return;
        }
        self.add("", &TOUCH, REPLAY, |m| m.bodies);
        for (i, body) in spec.bodies.iter().enumerate() {
            let prefix = format!("body.{}.", body.name);
            self.add(&prefix, &BODY, REPLAY, move |m| m.bodies?.bodies.get(i));
            self.touched(&prefix, TouchReading::BODY, i);
        }
        for (i, link) in simulation.model().bodies.iter().enumerate() {
            if spec.shapes.iter().any(|s| s.carrier == Carrier::Link(i)) {
                self.touched(&format!("link.{}.", link.name), TouchReading::LINK, i);
            }
        }
    }

    /// The truth beside sensors with errors, and what the feet's sensors show.
    fn sensors(&mut self, simulation: &Simulation) {
        if simulation.spec().sensors.is_ideal() {
            return;
        }
        self.add("", &IMU_TRUTH, REPLAY, |m| m.sensors);
        for (i, joint) in simulation.model().joints.iter().enumerate() {
            let source = Source { prismatic: joint.kind == JointKind::Prismatic, ..REPLAY };
            let prefix = format!("truth.joint.{}.", joint.name);
            self.add(&prefix, &JOINT_TRUTH, source, move |m| m.sensors?.joints.get(i));
        }
        for (f, foot) in simulation.spec().feet.iter().enumerate() {
            let prefix = format!("foot.{}.", foot.name);
            self.add(&prefix, &FOOT_SENSOR, REPLAY, move |m| m.sensors?.feet.get(f));
        }
    }

    fn touched(&mut self, prefix: &str, kind: u8, index: usize) {
        for field in &TOUCHED {
            let read = field.read;
            let of = move |m: &TickView<'_>| {
                let of = |all| read(&touched(all, kind, index as u32), 0);
                m.bodies.map_or(f64::NAN, of)
            };
            self.push(prefix.into(), field, "", REPLAY, Arc::new(of));
        }
    }

    fn add<T>(
        &mut self,
        prefix: &str,
        fields: &'static [Field<T>],
        source: Source,
        part: impl for<'a> Fn(&'a TickView<'a>) -> Option<&'a T> + Copy + Send + Sync + 'static,
    ) {
        for field in fields {
            for axis in 0..field.axes.len() {
                let read = field.read;
                let of = move |m: &TickView<'_>| part(m).map_or(f64::NAN, |part| read(part, axis));
                self.push(prefix.into(), field, field.axes[axis], source, Arc::new(of));
            }
        }
    }

    fn push<T>(
        &mut self,
        prefix: String,
        field: &Field<T>,
        axis: &str,
        source: Source,
        read: Arc<dyn Fn(&TickView<'_>) -> f64 + Send + Sync>,
    ) {
        let (revolute, prismatic) = field.unit.split_once('|').unwrap_or((field.unit, field.unit));
        let unit = if source.prismatic { prismatic } else { revolute };
        let name = prefix + &field.name.replace('*', axis);
        let role = if source.detail { Role::Detail } else { field.role };
        let (meaning, replayed) = (field.meaning, source.replayed);
        self.list.push(Quantity { name, unit, meaning, role, replayed, robot: 0, read });
    }
}

/// Names of earlier versions, which are accepted, and the names now.
pub(super) const RENAMED: [(&str, &str); 3] =
    [("fault", "failure"), ("epoch", "run_id"), ("offers", "candidates")];

/// The word for a robot that has fallen.
const FELL: &str = "fell";

/// A robot whose base is tilted by more has fallen: 60°.
const FALLEN_TILT_RAD: f64 = std::f64::consts::FRAC_PI_3;

/// Number of names that an error suggests instead of an unknown one.
const NEAREST: usize = 4;

/// Where a quantity comes from.
#[derive(Clone, Copy)]
struct Source {
    replayed: bool,
    prismatic: bool,
    /// A part of something whose quantities are there, too.
    detail: bool,
}

const LOG: Source = Source { replayed: false, prismatic: false, detail: false };
const REPLAY: Source = Source { replayed: true, ..LOG };

/// The contacts of a station.
fn on_all(contacts: &ContactsReading, station: usize, places: usize) -> &[StationReading] {
    contacts.stations.get(station * places..(station + 1) * places).unwrap_or_default()
}

/// The contact with the largest normal force; if none has any, the one nearest to its ground.
fn most_loaded(contacts: &[StationReading]) -> Option<&StationReading> {
    let key = |s: &StationReading| (s.normal_n, -s.height_m);
    contacts.iter().reduce(|a, b| if key(b) > key(a) { b } else { a })
}
