//! One instant of a run, as the page reads it.

use hardstand_protocol::{
    Authority, FootReading, Mode, ModelReply, OwnerReading, Phase, PlantFailure, PoseDescription,
    StationReading, TouchReading, ViewReading,
};
use serde_json::{Value, json};

/// A contact that presses less than this is not shown, N.
pub(crate) const NORMAL_MIN_N: f64 = 1e-6;

/// The view as JSON; `model` is the robot's, `names` are known controllers with their numbers.
#[must_use]
pub fn frame(view: &ViewReading, model: &ModelReply, names: &[(u64, String)]) -> Value {
    let (s, c) = (&view.state, &view.contacts);
    let joints = |of: fn(&hardstand_protocol::JointReading) -> f64| {
        s.joints.iter().map(of).collect::<Vec<f64>>()
    };
    let command = |of: fn(&hardstand_protocol::JointCommand) -> f64| {
        view.references.iter().map(of).collect::<Vec<f64>>()
    };
    let is_commanded = s.command_age_ticks != u32::MAX;
    let moving = model.surfaces.iter().enumerate().filter(|(_, s)| s.moves == 1);
    let mut frame = json!({
        "run_id": s.run_id,
        "tick": s.tick,
        "time_ns": s.time_ns,
        "mode": Mode::from_code(s.mode).map(Mode::name),
        "phase": Phase::from_code(s.phase).map(Phase::name),
        "failure": PlantFailure::from_code(s.failure).map(PlantFailure::words),
        "authority": Authority::name_of(s.authority),
        "command_age_ticks": is_commanded.then_some(s.command_age_ticks),
        "owner": (s.command_session != 0).then(|| format!("{:016x}", s.command_session)),
        "digest": format!("{:016x}", s.digest),
        "velocity_command": s.velocity_command.values(),
        "base": {
            "p": s.truth_base_position_m,
            "quat": s.truth_base_quat_wxyz,
            "v": s.truth_base_velocity_m_per_s,
            "w": s.truth_base_angular_velocity_rad_per_s,
        },
        "imu": {
            "quat": s.imu_quat_wxyz,
            "gyro": s.imu_angular_velocity_rad_per_s,
            "acc": s.imu_specific_force_m_per_s2,
        },
        "q": joints(|j| j.q),
        "dq": joints(|j| j.dq),
        "tau": joints(|j| j.tau),
        "command": is_commanded.then(|| json!({
            "q": command(|r| r.q),
            "dq": command(|r| r.dq),
            "kp": command(|r| r.kp),
            "kd": command(|r| r.kd),
            "tau_ff": command(|r| r.tau_ff),
        })),
        "friction": c.stations.first().map(|s| [s.mu_static, s.mu_kinetic]),
        "foot_contact": s.foot_contact.iter().map(|&c| c == 1).collect::<Vec<_>>(),
        "foot_normal_n": s.foot_normal_n,
        "feet": c.feet.iter().map(foot).collect::<Vec<_>>(),
        "contacts": touching(view, model)
            .map(|(pair, s)| contact(pair[0], surface_of(pair[1], view, model), s))
            .chain(view.points.iter().enumerate().map(|(i, p)| touch(i, p, model)))
            .collect::<Vec<_>>(),
        "surfaces": moving
            .zip(&view.surfaces)
            .map(|((i, _), pose)| surface(i, pose))
            .chain(body_poses(view).enumerate().map(|(i, p)| surface(model.surfaces.len() + i, &p)))
            .collect::<Vec<_>>(),
    });
    if view.owners.iter().any(|o| o.controller != 0) {
        let name = |number| match names.iter().find(|(known, _)| *known == number) {
            Some((_, name)) => name.clone(),
            None => format!("{number:016x}"),
        };
        let owner = |o: &OwnerReading| (o.controller != 0).then(|| name(o.controller));
        let age = |o: &OwnerReading| (o.age_ticks != u32::MAX).then_some(o.age_ticks);
        frame["joint_owners"] = view.owners.iter().map(owner).collect();
        frame["joint_ages"] = view.owners.iter().map(age).collect();
    }
    frame
}

fn foot(f: &FootReading) -> Value {
    json!({ "point": f.point_world_m, "force": f.force_world_n, "moment": f.moment_world_nm })
}

/// Index of the surface of a contact, or one beyond all surfaces and bodies where places of a
/// station have no surface for good.
pub(crate) fn surface_of(place: usize, view: &ViewReading, model: &ModelReply) -> usize {
    let surfaces = model.surfaces.len();
    let fixed = view.contacts.places(model.stations.len()) == surfaces;
    if fixed { place } else { surfaces + model.bodies.len() }
}

/// The contacts that carry a force, each with its station and its place there.
pub(crate) fn touching<'a>(
    view: &'a ViewReading,
    model: &ModelReply,
) -> impl Iterator<Item = ([usize; 2], &'a StationReading)> {
    let places = view.contacts.places(model.stations.len()).max(1);
    let all = view.contacts.stations.iter().enumerate();
    all.filter(|(_, s)| s.normal_n > NORMAL_MIN_N).map(move |(i, s)| ([i / places, i % places], s))
}

fn contact(station: usize, surface: usize, s: &StationReading) -> Value {
    json!({
        "station": station,
        "surface": surface,
        "p": s.position_world_m,
        "normal": s.normal_world,
        "force": s.force_world_n,
        "normal_n": s.normal_n,
        "anchor": s.anchor_world_m,
        "slip_m_per_s": s.slip_m_per_s,
        "sliding": s.sliding,
        "mu": s.mu,
        "limit_n": s.friction_limit_n,
    })
}

/// Poses of the free bodies: surfaces that move, after those of the ground.
pub(crate) fn body_poses(view: &ViewReading) -> impl Iterator<Item = PoseDescription> + '_ {
    view.bodies
        .iter()
        .map(|b| PoseDescription { position_m: b.position_world_m, quat_wxyz: b.quat_wxyz })
}

/// Numbers of the station and surface under which a point is shown, of which there are no such: the
/// place of the point after the stations, and what is its side B.
pub(crate) fn touch_pair(place: usize, at: &TouchReading, model: &ModelReply) -> [usize; 2] {
    let index = at.b_index as usize;
    let surface = match at.b_kind {
        TouchReading::SURFACE => index,
        TouchReading::BODY => model.surfaces.len() + index,
        _ => model.surfaces.len() + model.bodies.len(),
    };
    [model.stations.len() + place, surface]
}

/// Normal force of a point, N.
pub(crate) fn touch_normal_n(at: &TouchReading) -> f64 {
    at.force_world_n.iter().zip(at.normal_world).map(|(f, n)| f * n).sum()
}

/// A point as a contact; it has no anchor.
fn touch(place: usize, at: &TouchReading, model: &ModelReply) -> Value {
    let ([station, surface], normal_n) = (touch_pair(place, at, model), touch_normal_n(at));
    let side = |kind: u8, index: u32| {
        let index = index as usize;
        let name = match kind {
            TouchReading::SURFACE => model.surfaces.get(index).map(|s| &s.name),
            TouchReading::LINK => model.links.get(index),
            _ => model.bodies.get(index).map(|b| &b.name),
        };
        name.map_or("", String::as_str)
    };
    json!({
        "station": station,
        "surface": surface,
        "name": format!("{} – {}", side(at.a_kind, at.a_index), side(at.b_kind, at.b_index)),
        "p": at.point_world_m,
        "normal": at.normal_world,
        "force": at.force_world_n,
        "normal_n": normal_n,
        "anchor": null,
        "slip_m_per_s": at.slip_m_per_s,
        "sliding": at.sliding,
        "mu": at.mu,
        "limit_n": at.mu * normal_n,
    })
}

fn surface(index: usize, pose: &PoseDescription) -> Value {
    json!({ "surface": index, "position_m": pose.position_m, "quat": pose.quat_wxyz })
}
