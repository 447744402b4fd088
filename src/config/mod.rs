//! Scenarios: read from TOML, checked as a whole, converted to the settings of other modules.
//!
//! `config/default.toml` documents every key and is the source of the defaults. One error lists all
//! mistakes, each with key, value and allowed values.

#![allow(non_snake_case, reason = "monogram notation, see spatial")]

mod apart;
mod bus;
mod bus_ids;
mod buses;
mod by_mass;
mod collisions;
mod constraints;
mod contact_law;
mod control;
mod derived_stations;
mod drives;
mod events;
mod feet;
mod free_links;
mod hulls;
mod inertias;
mod lcm;
mod links;
mod materials;
mod merge;
mod overlays;
mod ports;
mod posture;
mod presets;
mod realtime;
mod regions;
mod rest;
mod robot;
mod robot_file;
mod robots;
mod ros2;
mod scenario;
mod section;
mod sections;
mod sensors;
mod services;
mod spring_keys;
mod terrain;
mod unitree;
mod warnings;

pub use bus::{Access, BusSettings, TlsFiles};
pub use buses::{BusDrive, BusPort, BusWire, Motor, MotorBus};
pub use control::ControlSettings;
pub use drives::{PRESETS as DRIVES, drive_of, preset as drive_preset};
#[cfg(not(target_family = "wasm"))]
pub(crate) use hulls::unreadable;
#[cfg(not(target_family = "wasm"))]
pub(crate) use inertias::{refusal as singular_refusal, singular_joint};
pub use lcm::{LcmSettings, LcmTypes};
pub use merge::DEFAULT_TOML;
#[cfg(feature = "zenoh")]
pub(crate) use merge::parse;
pub(crate) use merge::{get, key_of, keys_of, set};
pub use ports::{PacketPorts, SharedMemorySettings};
pub use realtime::{
    Budget, ControllerNumbers, Mode, OverrunPolicy, Pace, RealtimeSettings, StartRule,
    wall_period_ns,
};
#[cfg(not(target_family = "wasm"))]
pub(crate) use robot_file::gap_W;
pub use ros2::{RATES, Ros2Join, Ros2Mode, Ros2Settings, TfEdges};
#[cfg(not(target_family = "wasm"))]
pub(crate) use scenario::too_many_joints;
pub use scenario::{Scenario, WITHOUT_PHYSICS};
#[cfg(feature = "zenoh")]
pub(crate) use section::{Mistakes, Range, Section, number};
pub use sensors::{PRESETS as SENSORS, preset as sensor_preset};
pub use services::{RecordSettings, Sandbox};
pub use unitree::{HgKind, HgMotors, Motors, UnitreeRobot, UnitreeSettings, Walker};
