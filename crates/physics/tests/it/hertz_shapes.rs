//! Shapes with materials: friction of Hunt and Crossley's law.

use hardstand_physics::contact::{ContactMaterial, HertzPair, HuntCrossley, SlipCurve};
use hardstand_physics::plant::{ContactModel, Plant};

use super::common::bodies::{ball, bystander, cuboid, put};

fn wood() -> ContactMaterial {
    ContactMaterial::new(4e4, 0.3, 0.3, 0.2, 0.05).unwrap()
}

fn laws(curve: SlipCurve) -> ContactModel {
    let pair = HertzPair::new(&wood(), &wood()).unwrap();
    let law = HuntCrossley::new(pair, 0.01).unwrap().with_curve(curve);
    ContactModel::HuntCrossley(vec![law; 2])
}

/// Friction of a shape with materials is that of the materials, whatever the shape says.
#[test]
fn friction_of_a_shape_follows_from_its_materials() {
    for (touches, gap_m) in [("floor", 0.0), ("slab", 0.2)] {
        let (model, mut spec) = bystander();
        let model_of = laws(SlipCurve::Stribeck);
        let k = put(&mut spec, ball(0.05, 1.0, [0.0, 0.0, gap_m + 0.049]), &model_of);
        spec.collisions.bodies[k].V_W.lin.x = 1.0;
        if gap_m > 0.0 {
            put(&mut spec, cuboid([0.4, 0.4, 0.1], 6.0, [0.0, 0.0, 0.15]), &model_of);
        }
        let plant = Plant::new(model, spec);
        let [point] = plant.collisions().points() else { panic!("one point touches") };
        let f_W = point.force_W();
        // 0.2, and 0.05 s/m of viscous friction at 1 m/s
        assert!((f_W.x.abs() / f_W.z.abs() - 0.25).abs() < 1e-9, "{touches}: {f_W:?}");
        assert_eq!(point.friction.mu_static(), 0.3, "{touches}");
    }
}
