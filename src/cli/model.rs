//! `hardstand model`.

use std::path::Path;

use serde::Serialize;

use crate::config::{singular_joint, singular_refusal, too_many_joints, unreadable};
use crate::mjcf::{Robot, read_robot};
use crate::urdf::{BaseChoice, FreeLink, Loaded, Shape};
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_physics::dynamics::Positions;
use hardstand_physics::model::{Base, Coupling, JointKind, Model};

use super::arguments::{BaseArgument, ModelArguments};
use super::{ExitCode, show};

pub(super) fn model(a: &ModelArguments) -> Result<ExitCode> {
    let base = match a.base {
        BaseArgument::Auto => BaseChoice::Auto,
        BaseArgument::Floating => BaseChoice::Floating,
        BaseArgument::Fixed => BaseChoice::Fixed,
    };
    let mut robot = read_robot(&a.file, base)?;
    if let Some(refusal) = too_many_joints(&robot.loaded.model) {
        return Err(Error::new(ErrorKind::Input, format!("{}: {refusal}", a.file.display())));
    }
    let more = warnings(&a.file, &robot);
    robot.loaded.warnings.extend(more);
    let result = ModelResult::of(&robot.loaded);
    if a.urdf {
        show::line(robot.converted.urdf.trim_end());
        result.warnings.iter().for_each(|w| show::note(&format!("warning: {w}")));
    } else if a.json {
        show::json(&result)?;
    } else {
        result.show();
    }
    Ok(ExitCode::Done)
}

/// What a scenario with this robot would stumble over.
fn warnings(file: &Path, robot: &Robot) -> Vec<String> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let model = &robot.loaded.model;
    let singular = singular_joint(model, &Positions::zero(model));
    let singular =
        singular.map(|joint| singular_refusal(joint, "in the posture with all joints at 0"));
    unreadable(&robot.converted.urdf, folder).into_iter().chain(singular).collect()
}

/// What a robot description means.
#[derive(Debug, Serialize)]
struct ModelResult<'a> {
    robot: &'a str,
    /// `"floating"` or `"fixed"`.
    base: &'static str,
    mass_kg: f64,
    /// The bodies, each after its parent.
    bodies: Vec<BodyRow<'a>>,
    /// The joints in the order of states and commands.
    joints: Vec<JointRow<'a>>,
    /// Collision shapes at the tips of the tree.
    possible_feet: Vec<FootRow<'a>>,
    /// Bodies that no joint holds.
    free_bodies: Vec<FreeRow<'a>>,
    warnings: &'a [String],
}

#[derive(Debug, Serialize)]
struct BodyRow<'a> {
    name: &'a str,
    /// `null` for the root.
    parent: Option<&'a str>,
    /// Joints between it and the root.
    depth: usize,
    mass_kg: f64,
    /// Links that are fixed to it.
    fixed_links: Vec<&'a str>,
}

/// Units are those of a revolute joint (rad, N·m), or of a prismatic one (m, N).
#[derive(Debug, Serialize)]
struct JointRow<'a> {
    name: &'a str,
    /// `"revolute"`, `"continuous"` or `"prismatic"`.
    kind: &'static str,
    /// `null` if there is no limit.
    position_min: Option<f64>,
    position_max: Option<f64>,
    effort_max: Option<f64>,
    velocity_max: Option<f64>,
    damping: f64,
    friction: f64,
    armature: f64,
    /// The joint that it follows; `null` if it moves by itself.
    follows: Option<FollowsRow<'a>>,
}

/// `position = multiplier · position of the joint + offset`.
#[derive(Debug, Serialize)]
struct FollowsRow<'a> {
    /// `null` if it stays at the offset.
    joint: Option<&'a str>,
    multiplier: f64,
    offset: f64,
}

#[derive(Debug, Serialize)]
struct FreeRow<'a> {
    name: &'a str,
    mass_kg: f64,
    /// The link above it at the start; `null` for the world.
    parent: Option<&'a str>,
    shapes: usize,
}

#[derive(Debug, PartialEq, Serialize)]
struct FootRow<'a> {
    link: &'a str,
    shape: FootShape,
}

#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum FootShape {
    Sphere { radius_m: f64 },
    Box { size_m: [f64; 3] },
    Capsule { radius_m: f64, length_m: f64 },
    Cylinder { radius_m: f64, length_m: f64 },
    Other,
}

impl<'a> ModelResult<'a> {
    fn of(loaded: &'a Loaded) -> Self {
        let model = &loaded.model;
        Self {
            robot: &model.name,
            base: match model.base {
                Base::Floating => "floating",
                Base::Fixed => "fixed",
            },
            mass_kg: model.total_mass(),
            bodies: bodies(model),
            joints: (0..model.joint_count()).map(|j| JointRow::of(model, j)).collect(),
            possible_feet: possible_feet(loaded),
            free_bodies: loaded.free.iter().map(free_row).collect(),
            warnings: &loaded.warnings,
        }
    }

    fn show(&self) {
        let base = match self.base {
            "floating" => "floating base, 6 degrees of freedom",
            _ => "fixed base",
        };
        show::line(&format!(
            "robot {}: {} bodies, {} joints, {:.3} kg, {base}",
            self.robot,
            self.bodies.len(),
            self.joints.len(),
            self.mass_kg
        ));
        self.show_tree();
        self.show_joints();
        self.show_feet();
        self.show_free();
        for w in self.warnings {
            show::line(&format!("warning: {w}"));
        }
    }

    fn show_tree(&self) {
        show::line("\ntree (body, mass in kg, links fixed to it)");
        for body in &self.bodies {
            let fixed = body.fixed_links.join(", ");
            let fixed = if fixed.is_empty() { fixed } else { format!("  + {fixed}") };
            let indent = 2 + 2 * body.depth;
            show::line(&format!("{:indent$}{}  {:.3}{fixed}", "", body.name, body.mass_kg));
        }
    }

    fn show_joints(&self) {
        show::line("\njoints, in the order of states and commands (rad and N·m, or m and N)");
        let width = self.joints.iter().map(|j| j.name.len()).max().unwrap_or(0).max(4);
        show::line(&format!(
            "  {:>3}  {:width$}  {:9}  {:>17}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}",
            "#",
            "name",
            "kind",
            "position",
            "effort",
            "velocity",
            "damping",
            "friction",
            "armature"
        ));
        for (i, j) in self.joints.iter().enumerate() {
            let min = j.position_min.map_or("−∞".into(), number);
            let max = |limit: Option<f64>| limit.map_or("∞".into(), number);
            show::line(&format!(
                "  {i:>3}  {:width$}  {:9}  {:>17}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}",
                j.name,
                j.kind,
                format!("{min} … {}", max(j.position_max)),
                max(j.effort_max),
                max(j.velocity_max),
                number(j.damping),
                number(j.friction),
                number(j.armature)
            ));
            if let Some(FollowsRow { joint, multiplier, offset }) = &j.follows {
                let led = joint.map(|joint| format!("{} · {joint} + ", number(*multiplier)));
                let led = led.unwrap_or_default();
                show::line(&format!("       follows: {led}{}", number(*offset)));
            }
        }
    }

    fn show_feet(&self) {
        show::line("\ncollision shapes at the tips: possible feet ([[feet]] name, link)");
        let mut rest = &self.possible_feet[..];
        while let Some(first) = rest.first() {
            let count = rest.iter().take_while(|foot| *foot == first).count();
            let shape = match first.shape {
                FootShape::Sphere { radius_m } => format!("sphere, radius {radius_m} m: 1 station"),
                FootShape::Box { size_m: [x, y, z] } => {
                    format!("box {x} × {y} × {z} m: 8 stations")
                }
                FootShape::Capsule { radius_m, length_m } => {
                    format!("capsule, radius {radius_m} m, length {length_m} m: 2 stations")
                }
                FootShape::Cylinder { .. } if self.has_better(first.link) => {
                    "cylinder: no stations of its own beside the link's other shapes".into()
                }
                FootShape::Cylinder { radius_m, length_m } => format!(
                    "cylinder, radius {radius_m} m, length {length_m} m: 6 stations if it stands, \
                     2 if it lies"
                ),
                FootShape::Other => "a mesh: give points_m".into(),
            };
            let times = if count > 1 { format!(" ({count} of them)") } else { String::new() };
            show::line(&format!("  {}: {shape}{times}", first.link));
            rest = &rest[count..];
        }
        if self.possible_feet.is_empty() {
            show::line("  none: give points_m for each foot");
        }
    }

    fn show_free(&self) {
        if !self.free_bodies.is_empty() {
            show::line("\nbodies of their own, below inner floating joints (name, mass in kg)");
        }
        for FreeRow { name, mass_kg, parent, shapes } in &self.free_bodies {
            let at = parent.unwrap_or("the world");
            show::line(&format!("  {name}  {mass_kg:.3}  {shapes} shapes, starts at {at}"));
        }
    }

    /// Whether a link has a shape that gives stations, so that its cylinders give none.
    fn has_better(&self, link: &str) -> bool {
        let gives =
            |shape: &FootShape| !matches!(shape, FootShape::Cylinder { .. } | FootShape::Other);
        self.possible_feet.iter().any(|foot| foot.link == link && gives(&foot.shape))
    }
}

fn free_row(free: &FreeLink) -> FreeRow<'_> {
    FreeRow {
        name: &free.name,
        mass_kg: free.inertia.mass,
        parent: free.parent.as_deref(),
        shapes: free.collisions.len(),
    }
}

fn bodies(model: &Model) -> Vec<BodyRow<'_>> {
    let mut rows: Vec<BodyRow<'_>> = Vec::new();
    for (i, body) in model.bodies.iter().enumerate() {
        let parent = (i > 0).then(|| &rows[body.parent]);
        let fixed = model.frames.iter().filter(|f| f.body == i && f.name != body.name);
        let row = BodyRow {
            name: &body.name,
            parent: parent.map(|parent| parent.name),
            depth: parent.map_or(0, |parent| parent.depth + 1),
            mass_kg: body.inertia.mass,
            fixed_links: fixed.map(|f| f.name.as_str()).collect(),
        };
        rows.push(row);
    }
    rows
}

impl<'a> JointRow<'a> {
    fn of(model: &'a Model, i: usize) -> Self {
        let j = &model.joints[i];
        let limit = |x: f64| x.is_finite().then_some(x);
        let follows = |c: &Coupling| FollowsRow {
            joint: c.leader.map(|leader| model.joints[leader].name.as_str()),
            multiplier: c.multiplier,
            offset: c.offset,
        };
        Self {
            name: &j.name,
            kind: match j.kind {
                JointKind::Revolute if j.q_min.is_infinite() => "continuous",
                JointKind::Revolute => "revolute",
                JointKind::Prismatic => "prismatic",
            },
            position_min: limit(j.q_min),
            position_max: limit(j.q_max),
            effort_max: limit(j.effort_max),
            velocity_max: limit(j.velocity_max),
            damping: j.damping,
            friction: j.friction,
            armature: j.armature,
            follows: model.couplings.iter().find(|c| c.follower == i).map(follows),
        }
    }
}

/// Links whose collision shape can serve as a foot: at the ends of the tree.
fn possible_feet(loaded: &Loaded) -> Vec<FootRow<'_>> {
    let is_tip = |body: usize| loaded.model.bodies.iter().skip(1).all(|b| b.parent != body);
    let at_tip = |frame: &str| loaded.model.frame(frame).is_some_and(|f| is_tip(f.body));
    loaded
        .collisions
        .iter()
        .filter(|c| at_tip(&c.frame))
        .map(|c| FootRow {
            link: &c.frame,
            shape: match c.shape {
                Shape::Sphere { radius_m } => FootShape::Sphere { radius_m },
                Shape::Box { size_m } => FootShape::Box { size_m },
                Shape::Capsule { radius_m, length_m } => FootShape::Capsule { radius_m, length_m },
                Shape::Cylinder { radius_m, length_m } => {
                    FootShape::Cylinder { radius_m, length_m }
                }
                Shape::Mesh { .. } => FootShape::Other,
            },
        })
        .collect()
}

fn number(x: f64) -> String {
    let text = format!("{x:.4}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}
