//! The holding law of friction: what docs/holding.md promises.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]
#![allow(missing_docs, non_snake_case, unreachable_pub)]

#[path = "common/golden/block.rs"]
mod block;
#[path = "holding/blocks.rs"]
mod blocks;
#[path = "common/golden/files.rs"]
mod files;
#[path = "holding/law.rs"]
mod law;
#[path = "holding/loads.rs"]
mod loads;
#[path = "common/golden/report.rs"]
mod report;
#[path = "common/robots.rs"]
mod robots;
#[path = "common/golden/run.rs"]
mod run;
#[path = "common/golden/spring.rs"]
mod spring;
#[path = "holding/stance.rs"]
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
