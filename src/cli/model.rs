//! `hardstand model`.

use crate::urdf::{BaseChoice, Loaded, Shape, parse_urdf, read_urdf_text};
use hardstand_error::Result;
use hardstand_physics::model::{Base, JointKind, Model};

use super::arguments::{BaseArgument, ModelArguments};
use super::{ExitCode, show};

pub(super) fn model(a: &ModelArguments) -> Result<ExitCode> {
    let base = match a.base {
        BaseArgument::Auto => BaseChoice::Auto,
        BaseArgument::Floating => BaseChoice::Floating,
        BaseArgument::Fixed => BaseChoice::Fixed,
    };
    let text = read_urdf_text(&a.urdf)?;
    let loaded = parse_urdf(&text, &a.urdf.display().to_string(), base)?;
    let model = &loaded.model;
    let held = match model.base {
        Base::Floating => "floating base, 6 degrees of freedom",
        Base::Fixed => "fixed base",
    };
    show::line(&format!(
        "robot {}: {} bodies, {} joints, {:.3} kg, {held}",
        model.name,
        model.bodies.len(),
        model.joint_count(),
        model.total_mass()
    ));
    tree(model);
    joints(model);
    feet(&loaded);
    for w in &loaded.warnings {
        show::line(&format!("warning: {w}"));
    }
    Ok(ExitCode::Done)
}

fn tree(model: &Model) {
    show::line("\ntree (body, mass in kg, links fixed to it)");
    let mut depth = vec![0; model.bodies.len()];
    for (i, body) in model.bodies.iter().enumerate() {
        if i > 0 {
            depth[i] = depth[body.parent] + 1;
        }
        let merged: Vec<&str> = model
            .frames
            .iter()
            .filter(|f| f.body == i && f.name != body.name)
            .map(|f| f.name.as_str())
            .collect();
        let fixed =
            if merged.is_empty() { String::new() } else { format!("  + {}", merged.join(", ")) };
        show::line(&format!(
            "{:indent$}{}  {:.3}{fixed}",
            "",
            body.name,
            body.inertia.mass,
            indent = 2 + 2 * depth[i]
        ));
    }
}

fn joints(model: &Model) {
    show::line("\njoints, in the order of states and commands (rad and N·m, or m and N)");
    let width = model.joints.iter().map(|j| j.name.len()).max().unwrap_or(0).max(4);
    show::line(&format!(
        "  {:>3}  {:width$}  {:9}  {:>17}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}",
        "#", "name", "kind", "position", "effort", "velocity", "damping", "friction", "armature"
    ));
    for (i, j) in model.joints.iter().enumerate() {
        let kind = match j.kind {
            JointKind::Revolute if j.q_min.is_infinite() => "continuous",
            JointKind::Revolute => "revolute",
            JointKind::Prismatic => "prismatic",
        };
        show::line(&format!(
            "  {i:>3}  {:width$}  {kind:9}  {:>17}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}",
            j.name,
            format!("{} … {}", number(j.q_min), number(j.q_max)),
            number(j.effort_max),
            number(j.velocity_max),
            number(j.damping),
            number(j.friction),
            number(j.armature)
        ));
    }
}

fn number(x: f64) -> String {
    if x.is_infinite() {
        return if x > 0.0 { "∞".into() } else { "−∞".into() };
    }
    let text = format!("{x:.4}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}

/// Links whose collision shape can serve as a foot: at the ends of the tree.
fn feet(loaded: &Loaded) {
    let is_tip = |body: usize| loaded.model.bodies.iter().skip(1).all(|b| b.parent != body);
    show::line("\ncollision shapes at the tips: possible feet ([[feet]] name, link)");
    let mut lines: Vec<(String, usize)> = Vec::new();
    for c in &loaded.collisions {
        if loaded.model.frame(&c.frame).is_none_or(|f| !is_tip(f.body)) {
            continue;
        }
        let shape = match c.shape {
            Shape::Sphere { radius_m } => format!("sphere, radius {radius_m} m: 1 station"),
            Shape::Box { size_m: [x, y, z] } => format!("box {x} × {y} × {z} m: 8 stations"),
            _ => "neither sphere nor box: give points_m".into(),
        };
        let line = format!("{}: {shape}", c.frame);
        match lines.iter_mut().find(|(l, _)| *l == line) {
            Some((_, count)) => *count += 1,
            None => lines.push((line, 1)),
        }
    }
    for (line, count) in &lines {
        let times = if *count > 1 { format!(" ({count} of them)") } else { String::new() };
        show::line(&format!("  {line}{times}"));
    }
    if lines.is_empty() {
        show::line("  none: give points_m for each foot");
    }
}
