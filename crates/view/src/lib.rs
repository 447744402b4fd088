//! What people look at: the page of a simulated robot.
//!
//! - [`serve_live`]: a client of a daemon that serves the page and, in the Foxglove WebSocket
//!   protocol, the data, to browsers on this machine;
//! - [`serve_run`]: the page with a recorded run;
//! - [`RunFile`] and [`page_with_runs`]: a run as one HTML file, without server and network.
//!
//! The page is built from `web/`; what it reads is described in `web/PROTOCOL.md`. Nothing here
//! affects a simulation but the orders that someone gives on the page.

#[cfg(feature = "server")]
mod foxglove_topics;
mod frame;
#[cfg(feature = "server")]
mod front_door;
#[cfg(feature = "server")]
mod live;
mod meshes;
#[cfg(feature = "server")]
mod orders;
#[cfg(feature = "server")]
mod others;
mod page;
#[cfg(feature = "server")]
mod pages;
#[cfg(feature = "server")]
mod pulse;
mod robot_text;
mod run_file;
mod scene;
mod shape_mesh;
#[cfg(feature = "server")]
mod tls;

pub use frame::frame;
#[cfg(feature = "server")]
pub use front_door::{ServeSettings, serve_run};
#[cfg(feature = "server")]
pub use live::{LiveSettings, serve_live};
pub use meshes::MeshFolders;
pub use page::page_with_runs;
pub use run_file::{Mark, RunEvent, RunFile};
pub use scene::{Scene, Source};
