//! The holding law of friction: what docs/holding.md promises.

mod blocks;
mod law;
mod loads;
mod stance;

use hardstand_physics::contact::{ExponentialSpring, SpringParameters, Stiction};
use hardstand_physics::plant::{ContactModel, PlantSpec};

/// Gives all stations this law.
fn set_law(spec: &mut PlantSpec, stiction: Stiction) {
    for s in &mut spec.stations {
        let ContactModel::ExponentialSpring(spring) = &mut s.model else { continue };
        let par = SpringParameters { stiction, ..*spring.parameters() };
        *spring = ExponentialSpring::new(par).unwrap();
    }
}
