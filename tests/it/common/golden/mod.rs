//! Reference data of Simbody, and what runs it against this program.
#![allow(clippy::disallowed_methods, reason = "std's functions are an independent reference")]

pub mod ball;
pub mod block;
pub mod compliant;
pub mod constraint_runs;
pub mod files;
pub mod hunt_crossley;
pub mod impacts;
pub mod material;
pub mod point_on_plane;
pub mod quad;
pub mod report;
pub mod run;
pub mod spring;
pub mod touch;
pub mod tree;
pub mod unilateral;
pub mod urdf;
