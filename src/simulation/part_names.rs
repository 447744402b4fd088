//! Events in words.

use hardstand_physics::model::Model;
use hardstand_physics::plant::PlantSpec;
use hardstand_protocol::{
    CommandSchedule, Event, FaultKind, InjectedFault, Part, Scope, UNTIL_CLEARED,
};

/// Names of the parts of a robot and its ground.
#[derive(Clone, Debug, Default)]
pub struct PartNames {
    joints: Vec<String>,
    feet: Vec<String>,
    bodies: Vec<String>,
    stations: Vec<String>,
    regions: Vec<String>,
    constraints: Vec<String>,
}

impl PartNames {
    /// Those of a robot on its ground.
    #[must_use]
    pub fn of(model: &Model, spec: &PlantSpec) -> Self {
        fn names<T>(all: &[T], name: impl Fn(&T) -> &String) -> Vec<String> {
            all.iter().map(|x| name(x).clone()).collect()
        }
        Self {
            joints: names(&model.joints, |j| &j.name),
            feet: names(&spec.feet, |f| &f.name),
            bodies: names(&model.bodies, |b| &b.name),
            stations: names(&spec.stations, |s| &s.name),
            regions: names(&spec.regions, |r| &r.name),
            constraints: names(&spec.constraints, |c| &c.name),
        }
    }

    /// What happens, for people; `controller` names a controller by its number.
    ///
    /// ```
    /// # use hardstand::simulation::PartNames;
    /// # use hardstand_protocol::{Event, Scope};
    /// let event = Event::Friction { scope: Scope::All, mu_static: 0.4, mu_kinetic: 0.3 };
    /// let words = PartNames::default().words(&event, |number| number.to_string());
    /// assert_eq!(words, "friction of all stations: static 0.4, kinetic 0.3");
    /// ```
    pub fn words(&self, event: &Event, controller: impl Fn(u64) -> String) -> String {
        match event {
            Event::Push { body, force_W: [x, y, z], ticks, .. } => {
                let link = named(&self.bodies, *body, "body");
                format!("push of {link} with ({x}, {y}, {z}) N for {ticks} ticks")
            }
            Event::Touch { body, force_W: [x, y, z], .. } => {
                let link = named(&self.bodies, *body, "body");
                format!("another robot touches {link} with ({x}, {y}, {z}) N")
            }
            Event::Friction { scope, mu_static, mu_kinetic } => {
                let what = self.part(part_of(*scope)).unwrap_or_else(|| "all stations".into());
                format!("friction of {what}: static {mu_static}, kinetic {mu_kinetic}")
            }
            Event::Grant(grant) => {
                let (name, session) = (controller(grant.controller), grant.session);
                let CommandSchedule { period, phase, offset } = grant.schedule;
                let role = if grant.required { "required" } else { "advisory" };
                format!(
                    "the controller {name} joins, {role}, period {period}, phase {phase}, offset \
                     {offset}, session {session:016x}"
                )
            }
            Event::Leave { session } => format!("session {session:016x} leaves"),
            Event::InjectFault { fault, ticks } => self.fault(fault, *ticks),
            Event::ClearFaults { kind, part } => self.clearing(*kind, *part),
            Event::Velocity(v) => {
                let [vx, vy, yaw_rate] = v.values();
                format!("velocity command: ({vx}, {vy}) m/s, {yaw_rate} rad/s")
            }
            Event::Constraint { index, active } => {
                let name = named(&self.constraints, *index, "constraint");
                format!("constraint {name} {}", if *active { "acts" } else { "ends" })
            }
            Event::ResetAnchors { scope } => {
                let what = self.part(part_of(*scope)).unwrap_or_else(|| "all stations".into());
                format!("anchors of {what} begin anew")
            }
            Event::Stop => "emergency stop".into(),
            Event::Arm => "end of the emergency stop".into(),
        }
    }

    /// "motor_derated of joint FL_calf_joint: share 0.5, for 200 ticks".
    fn fault(&self, fault: &InjectedFault, ticks: u64) -> String {
        let row = fault.kind.row();
        let mut values = fault.values.iter();
        let numbers = row.parameters.iter().map(|p| {
            let numbers: Vec<String> = values.by_ref().take(p.count).map(f64::to_string).collect();
            match numbers.as_slice() {
                [one] => format!("{} {one}", p.name),
                more => format!("{} ({})", p.name, more.join(", ")),
            }
        });
        let long = match ticks {
            UNTIL_CLEARED => "until it is cleared".into(),
            ticks => format!("for {ticks} ticks"),
        };
        let details: Vec<String> = numbers.chain([long]).collect();
        format!("{}: {}", self.kind_of_part(fault.kind, Some(fault.part)), details.join(", "))
    }

    fn clearing(&self, kind: Option<FaultKind>, part: Option<Part>) -> String {
        match (kind, part.and_then(|part| self.part(part))) {
            (Some(kind), _) => format!("end of {}", self.kind_of_part(kind, part)),
            (None, Some(part)) => format!("end of all faults of {part}"),
            (None, None) => "end of all faults".into(),
        }
    }

    fn kind_of_part(&self, kind: FaultKind, part: Option<Part>) -> String {
        match part.and_then(|part| self.part(part)) {
            Some(part) => format!("{} of {part}", kind.name()),
            None => kind.name().into(),
        }
    }

    /// "joint FL_hip_joint"; nothing for the whole robot.
    fn part(&self, part: Part) -> Option<String> {
        let (what, names, i) = match part {
            Part::Whole => return None,
            Part::Joint(i) => ("joint", &self.joints, i),
            Part::Foot(i) => ("foot", &self.feet, i),
            Part::Body(i) => ("link", &self.bodies, i),
            Part::Station(i) => ("station", &self.stations, i),
            Part::Region(i) => ("region", &self.regions, i),
        };
        Some(format!("{what} {}", named(names, i, "number")))
    }
}

/// The name, or the index of a part that is not there.
fn named(names: &[String], i: u32, what: &str) -> String {
    names.get(i as usize).cloned().unwrap_or_else(|| format!("{what} {i}"))
}

const fn part_of(scope: Scope) -> Part {
    match scope {
        Scope::All => Part::Whole,
        Scope::Station(i) => Part::Station(i),
        Scope::Foot(i) => Part::Foot(i),
        Scope::Region(i) => Part::Region(i),
    }
}
