//! `hardstand view` and `hardstand page`.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use hardstand_client::secrets::read_password;
use hardstand_client::session::{check_endpoint, check_robot};
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_view::{
    LiveSettings, MeshFolders, ServeSettings, page_with_runs, serve_live, serve_run,
};
use serde::Serialize;

use crate::process_harness::this_program;
use crate::view::{FRAMES_PER_S, PageRuns, page_runs};

use super::arguments::{PageArguments, PageServer, ViewArguments};
use super::{ExitCode, output_file, show, status, stop_on_signal};

pub(super) fn view(a: &ViewArguments) -> Result<ExitCode> {
    let stop = stop_on_signal()?;
    let settings = serve_settings(&a.page)?;
    let meshes = MeshFolders::new(a.meshes.clone());
    let ready = |url: &str| announce(url, a);
    let over = || stop.load(Ordering::Relaxed);
    match &a.log {
        Some(log) => {
            let runs = page_runs(log, a.other.as_deref(), FRAMES_PER_S, &meshes, &a.conditions)?;
            if let Some(damage) = &runs.damage {
                show::note(&format!("the log is not whole: {damage}"));
            }
            serve_run(runs.files, settings, ready, over)?;
        }
        None => serve_live(live_settings(a, meshes)?, settings, ready, over)?,
    }
    Ok(ExitCode::Done)
}

fn live_settings(a: &ViewArguments, meshes: MeshFolders) -> Result<LiveSettings> {
    let (endpoint, robot, credentials) = a.daemon.parts();
    // what is wrong with credentials is said at once; a daemon that is not there yet is waited for
    check_endpoint(&endpoint)?;
    a.others.iter().chain([&robot]).try_for_each(|name| check_robot(name))?;
    if let Some((_, file)) = &credentials.user {
        read_password(file)?;
    }
    for (i, other) in a.others.iter().enumerate() {
        if *other == robot || a.others[..i].contains(other) {
            let text = format!("--with is {other}; it must be a robot that is not drawn already");
            return Err(Error::new(ErrorKind::Input, text));
        }
    }
    let name = robot.clone();
    let connect = move || {
        let client = hardstand_client::Client::connect_as(&endpoint, &name, &credentials)?;
        Ok(client.named("view"))
    };
    let (connect, status_json) = (Box::new(connect), status::as_json);
    Ok(LiveSettings { connect, robot, others: a.others.clone(), status_json, meshes })
}

fn serve_settings(a: &PageServer) -> Result<ServeSettings> {
    let password = match (&a.page_user, &a.page_password_file) {
        (Some(user), Some(file)) => Some((user.clone(), read_password(file)?)),
        _ => None,
    };
    let certificate = a.page_certificate.clone().zip(a.page_key.clone());
    let (listen, origins) = (a.listen, a.allow_origin.clone());
    Ok(ServeSettings { listen, password, origins, certificate })
}

#[derive(Serialize)]
struct Address {
    url: String,
}

fn announce(url: &str, a: &ViewArguments) {
    if a.json {
        // a consumer that is gone needs no address
        let _gone = show::json(&Address { url: url.into() }).is_ok();
        return;
    }
    let what = match &a.log {
        Some(log) => log.display().to_string(),
        None => format!("the robot {} at {}", a.daemon.robot, a.daemon.connect),
    };
    show::line(&format!("page       {url}  shows {what}"));
    if a.log.is_some() {
        show::line("Ctrl-C ends it.");
        return;
    }
    let socket = url.replacen("http", "ws", 1);
    show::line(&format!("Foxglove   {}  (Foxglove WebSocket)", socket.trim_end_matches('/')));
    show::line("Ctrl-C ends it; the simulation goes on.");
}

/// What `page` has written.
#[derive(Serialize)]
struct PageResult {
    #[serde(serialize_with = "crate::path_text::one")]
    file: PathBuf,
    bytes: usize,
    frames: usize,
    frames_per_s: f64,
    damage: Option<String>,
}

pub(super) fn page(a: &PageArguments) -> Result<ExitCode> {
    if !(a.fps > 0.0 && a.fps <= 1000.0) {
        let text = format!("--fps is {}; it must be above 0 and at most 1000", a.fps);
        return Err(Error::new(ErrorKind::Input, text));
    }
    let logs = a.other.iter().chain([&a.log]).map(PathBuf::as_path);
    output_file::check("--output", &a.output, logs)?;
    let meshes = MeshFolders::new(a.meshes.clone());
    let runs = page_runs(&a.log, a.other.as_deref(), a.fps, &meshes, &a.conditions)?;
    let html = page_with_runs(&runs.files);
    output_file::write_text("page", &a.output, &html)?;
    let PageRuns { frames, frames_per_s, damage, .. } = runs;
    let result =
        PageResult { file: a.output.clone(), bytes: html.len(), frames, frames_per_s, damage };
    let code = show::how_whole(result.damage.as_deref(), "page");
    if a.json {
        show::json(&result)?;
        return Ok(code);
    }
    let mb = result.bytes as f64 * 1e-6;
    show::line(&format!(
        "page       {} ({mb:.1} MB): {frames} frames, {frames_per_s:.0} per simulated second",
        result.file.display()
    ));
    Ok(code)
}

/// Starts `hardstand view` as a process of its own, for the first of these robots of a daemon at
/// `endpoint`, with the others beside it. It ends with the value that is returned.
pub(super) fn beside(
    endpoint: &str,
    robots: &[String],
    meshes: Option<&Path>,
) -> Result<crate::process_harness::Process> {
    let mut command = std::process::Command::new(this_program()?);
    command.args(["view", "--connect", endpoint]);
    for (k, robot) in robots.iter().enumerate() {
        command.args([if k == 0 { "--robot" } else { "--with" }, robot]);
    }
    if let Some(folder) = meshes {
        command.arg("--meshes").arg(folder);
    }
    crate::process_harness::Process::start(command)
}
