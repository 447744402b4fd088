//! What people look at: the page of a simulated robot.
//!
//! - [`serve_live`]: a client of a daemon that serves the page and, in the Foxglove WebSocket
//!   protocol, the data, to browsers on this machine;
//! - [`serve_run`]: the page with a recorded run;
//! - [`RunFile`] and [`page_with_runs`]: a run as one HTML file, without server and network.
//!
//! The page is built from `web/`; what it reads is described in `web/PROTOCOL.md`. Nothing here
//! affects a simulation but the orders that someone gives on the page.

mod foxglove_topics;
mod frame;
mod front_door;
mod live;
mod meshes;
mod orders;
mod page;
mod run_file;
mod scene;

pub use front_door::{ServeSettings, serve_run};
pub use live::{LiveSettings, serve_live};
pub use meshes::MeshFolders;
pub use page::page_with_runs;
pub use run_file::{Mark, RunEvent, RunFile};
pub use scene::{Scene, Source};
