//! The tests of the daemon and its tools, one module for each subject.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panic")]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "long runs print figures, skipped tests why"
)]
#![allow(non_snake_case, reason = "monogram notation, see spatial")]
#![allow(missing_docs, unreachable_pub, missing_debug_implementations, reason = "tests")]

mod common;

mod alloc;
mod anchors;
mod bisect;
mod bodies;
mod branch;
mod bus_config;
mod by_mass;
mod calibrate;
#[cfg(feature = "zenoh")]
mod campaign;
#[cfg(feature = "zenoh")]
mod certify;
mod collisions;
mod config;
mod contact;
mod corpus;
#[cfg(feature = "zenoh")]
mod daemon;
mod defect_patches;
mod determinism;
mod determinism_cases;
mod doctor;
#[cfg(feature = "zenoh")]
mod drives;
mod every_request;
mod evidence;
mod executive;
mod exhaustive;
mod falls;
mod faults;
mod footing;
mod free_links;
mod friction;
mod golden;
mod ground;
mod ground_keys;
mod held;
mod holding;
mod hostile;
#[cfg(feature = "zenoh")]
mod hunt;
mod implicit;
#[cfg(feature = "zenoh")]
mod in_process;
mod ingress;
mod joints;
mod json;
mod leases;
mod lockstep;
mod message;
mod mjcf;
mod models;
mod optimize;
#[cfg(feature = "view")]
mod outputs;
mod overlays;
mod page;
mod plant;
mod presets;
#[cfg(feature = "zenoh")]
mod pushes;
#[cfg(feature = "zenoh")]
mod python;
mod realtime;
mod record;
mod regions;
mod replay;
mod rigid;
#[cfg(feature = "zenoh")]
mod robot_log;
mod robots;
#[cfg(feature = "zenoh")]
mod ros2;
mod ros2_log;
#[cfg(feature = "zenoh")]
mod saved;
#[cfg(feature = "zenoh")]
mod saved_words;
#[cfg(feature = "zenoh")]
mod scaffold;
#[cfg(feature = "zenoh")]
mod scaffold_feet;
#[cfg(feature = "zenoh")]
mod security;
mod segments;
mod sensors;
mod sets;
mod simd;
mod simulation;
mod soak;
mod soft;
mod soles;
#[cfg(feature = "zenoh")]
mod special_files;
mod spring_keys;
#[cfg(feature = "zenoh")]
mod tables;
mod tidy;
mod time_control;
mod urdf;
mod verify;
#[cfg(feature = "view")]
mod view;
mod walking;
#[cfg(feature = "zenoh")]
mod warnings;
mod watchdog;
