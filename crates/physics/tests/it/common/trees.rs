//! Random trees and states for property tests.

use hardstand_physics::dynamics::{Positions, Velocities};
use hardstand_physics::model::{Base, Builder, JointKind, Model};
use hardstand_physics::spatial::{Mat3, Quaternion, SpatialInertia, Transform, Vec3};
use proptest::prelude::*;

use super::robots::{add_body, add_joint, joint};

/// A robot with everything random and a state of it.
#[derive(Clone, Debug)]
pub struct Sample {
    pub model: Model,
    pub q: Positions,
    pub v: Velocities,
    /// Efforts, or accelerations: one number per joint and six for the base.
    pub tau: Vec<f64>,
}

fn vec3(size: f64) -> impl Strategy<Value = Vec3> {
    prop::array::uniform3(-size..size).prop_map(Vec3::from)
}

pub fn rotation() -> impl Strategy<Value = Mat3> {
    vec3(3.0).prop_map(|phi| Quaternion::from_rotation_vector(&phi).to_matrix())
}

pub fn transform() -> impl Strategy<Value = Transform> {
    (rotation(), vec3(0.5)).prop_map(|(R, p)| Transform::new(R, p))
}

/// A body whose principal inertias satisfy the triangle inequality.
pub fn inertia() -> impl Strategy<Value = SpatialInertia> {
    (0.1..5.0f64, vec3(0.2), prop::array::uniform3(0.05..0.4f64), rotation()).prop_map(
        |(mass, c, r, R)| {
            // the inertia of a box with half sides r
            let d = Vec3::new(
                r[1] * r[1] + r[2] * r[2],
                r[0] * r[0] + r[2] * r[2],
                r[0] * r[0] + r[1] * r[1],
            );
            let I = R * Mat3::from_diagonal(&(d * (mass / 3.0))) * R.transpose();
            SpatialInertia::from_com(mass, &c, &((I + I.transpose()) * 0.5))
        },
    )
}

type Limb = (SpatialInertia, Transform, Vec3, bool, f64, f64);

fn limb() -> impl Strategy<Value = Limb> {
    let axis = vec3(1.0).prop_filter("an axis", |a| a.norm() > 0.1);
    (inertia(), transform(), axis, any::<bool>(), prop_oneof![Just(0.0), 0.0..0.5f64], 0.0..1.0f64)
}

/// Trees of 1 to `bodies` bodies; with `armature` or without.
pub fn tree(bodies: usize, armature: bool) -> impl Strategy<Value = Sample> {
    let limbs = prop::collection::vec(limb(), 0..bodies);
    (any::<bool>(), inertia(), limbs).prop_flat_map(move |(floating, root, limbs)| {
        let model = build(floating, root, &limbs, armature);
        let n = model.joint_count();
        let numbers = move |size: f64| prop::collection::vec(-size..size, n);
        let base = (vec3(3.0), vec3(1.0), vec3(2.0), vec3(2.0));
        let tau = prop::collection::vec(-20.0..20.0f64, n + 6);
        (base, numbers(1.5), numbers(2.0), tau).prop_map(move |((phi, p, w, v), q, qd, tau)| {
            let moving = if model.base == Base::Floating { 1.0 } else { 0.0 };
            Sample {
                model: model.clone(),
                q: Positions {
                    quat_WB: Quaternion::from_rotation_vector(&phi),
                    p_WB: p,
                    joints: q,
                },
                v: Velocities { w_WB: w * moving, v_WB: v * moving, joints: qd },
                tau,
            }
        })
    })
}

fn build(floating: bool, root: SpatialInertia, limbs: &[Limb], armature: bool) -> Model {
    let mut b = Builder::new("tree", if floating { Base::Floating } else { Base::Fixed });
    add_body(&mut b, "b0", root);
    for (i, (inertia, X_PJ, axis, revolute, rotor, where_)) in limbs.iter().enumerate() {
        let (parent, name) = ((where_ * (i + 1) as f64) as usize, format!("b{}", i + 1));
        let kind = if *revolute { JointKind::Revolute } else { JointKind::Prismatic };
        let mut j = joint(&format!("j{}", i + 1), kind, (*axis).into(), *X_PJ);
        j.armature = if armature { *rotor } else { 0.0 };
        add_body(&mut b, &name, *inertia);
        add_joint(&mut b, &format!("b{parent}"), &name, j);
    }
    b.build().unwrap()
}

/// The numbers of a vector in the order of the mass matrix.
pub fn flat(model: &Model, w: &Vec3, v: &Vec3, joints: &[f64]) -> Vec<f64> {
    let mut out = Vec::new();
    if model.base == Base::Floating {
        out.extend(w.iter().chain(v.iter()));
    }
    out.extend(joints);
    out
}
