//! Logs of real robots: read from several formats into one table of joint states and commands.
//!
//! The table is CSV, plain or as `.gz`. Its columns are `time_s`, for each joint `q.`, `dq.`,
//! `tau.`, `q_des.`, `dq_des.`, `kp.`, `kd.` and `tau_ff.` with the name of the joint in the model,
//! and `base.` with `x`, `y`, `z`, `qw`, `qx`, `qy`, `qz`, `vx`, `vy`, `vz`, `wx`, `wy`, `wz`: pose
//! and velocity of the base in the world. Units are s, rad, m, N·m, N. A command is in force from
//! the time of its row on. An empty cell means that the quantity was not sampled at that time.
//!
//! In WebAssembly there are no files: a [`RobotLog`] is made by the caller.

mod columns;
#[cfg(not(target_family = "wasm"))]
mod csv_file;
#[cfg(not(target_family = "wasm"))]
mod import;
#[cfg(not(target_family = "wasm"))]
mod mapping;
#[cfg(not(target_family = "wasm"))]
mod messages;
#[cfg(not(target_family = "wasm"))]
mod npz;
#[cfg(not(target_family = "wasm"))]
mod own_log;
#[cfg(not(target_family = "wasm"))]
mod packed;
#[cfg(not(target_family = "wasm"))]
mod rosbag;
#[cfg(not(target_family = "wasm"))]
mod sqlite;
mod track;
#[cfg(not(target_family = "wasm"))]
mod whole_file;

pub use columns::Columns;
#[cfg(not(target_family = "wasm"))]
pub use csv_file::{read_csv, write_csv};
#[cfg(not(target_family = "wasm"))]
pub use import::{Imported, import};
#[cfg(not(target_family = "wasm"))]
pub use mapping::Mapping;
#[cfg(not(target_family = "wasm"))]
pub use npz::parse_npz;
#[cfg(not(target_family = "wasm"))]
pub use rosbag::{parse_rosbag, parse_sqlite_bag};
pub use track::{BaseTrack, JointTrack, RobotLog};

/// Bytes of a log, unpacked.
#[cfg(not(target_family = "wasm"))]
const BYTES_MAX: u64 = 4 << 30;
/// Columns of a table.
const COLUMNS_MAX: usize = 16_384;
/// Cells of a table, of 8 bytes each.
const CELLS_MAX: usize = 1 << 28;
/// Quantities of a joint, as the table names them.
pub const JOINT_QUANTITIES: [&str; 8] = ["q", "dq", "tau", "q_des", "dq_des", "kp", "kd", "tau_ff"];
/// Quantities of the base.
pub const BASE_QUANTITIES: [&str; 13] =
    ["x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz"];
/// Name of the column of times.
pub const TIME: &str = "time_s";
