//! Inputs and reports that are no regular files: none blocks, and none is read without end.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::process::{Process, Scene, repository, serial};
use hardstand::daemon::{Report, reports};

fn named_pipe(scene: &Scene) -> PathBuf {
    let pipe = scene.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    pipe
}

/// A process that opened the pipe would wait for its writer, also after SIGTERM.
#[test]
fn an_input_that_is_no_regular_file_is_refused_at_once() {
    let scene = Scene::new();
    let pipe = named_pipe(&scene).display().to_string();
    let overlaid = scene.path("overlaid.toml");
    let robot = repository("config/robots/quadruped.urdf");
    let text = format!("overlays = [\"pipe\"]\n[robot]\nurdf = {robot:?}\n");
    std::fs::write(&overlaid, text).unwrap();
    let (overlaid, quadruped) =
        (overlaid.display().to_string(), repository("config/quadruped.toml"));
    let to = scene.path("whole.mcap").display().to_string();
    for (words, kind) in [
        (&["run", &pipe][..], "a named pipe"),
        (&["run", &overlaid], "a named pipe"),
        (&["run", &quadruped, "--from", &pipe], "a named pipe"),
        (&["verify", &pipe], "a named pipe"),
        (&["replay", &pipe], "a named pipe"),
        (&["recover", &pipe, "--to", &to], "a named pipe"),
        (&["campaign", "plan", &pipe], "a named pipe"),
        (&["run", "/dev/zero"], "a device"),
        (&["run", &quadruped, "--from", "/dev/zero"], "a device"),
    ] {
        let said = scene.hardstand("refused", words).ends_with(2);
        assert!(said.contains(&format!("it is {kind}, not a regular file")), "{words:?}: {said}");
    }
}

/// A run of 10 ms with its report there.
fn run(scene: &Scene, report: &Path) -> Process {
    let report = report.display().to_string();
    scene.daemon(&["--pace", "free", "--duration", "0.01", "--report", &report])
}

#[test]
fn a_report_waits_for_no_reader_of_a_named_pipe() {
    let _one = serial();
    let scene = Scene::new();
    let pipe = named_pipe(&scene);
    let said = run(&scene, &pipe).ends_with(2);
    assert!(said.contains("no program reads this named pipe"), "{said}");
    assert!(!scene.log().exists(), "the run was refused at its start");
    // with a reader it works as before, and so does what is no file
    let mut reader = Command::new("cat").arg(&pipe).stdout(Stdio::piped()).spawn().unwrap();
    // a writer that stays until the daemon has ended: there is a reader now
    let writer = File::options().write(true).open(&pipe).unwrap();
    run(&scene, &pipe).ends_with(0);
    drop(writer);
    let mut text = String::new();
    std::io::Read::read_to_string(&mut reader.stdout.take().unwrap(), &mut text).unwrap();
    assert!(reader.wait().unwrap().success());
    assert!(matches!(reports(&text)[..], [Report::Ready(_), Report::Ended(_)]), "{text}");
    run(&scene, Path::new("/dev/null")).ends_with(0);
}

#[test]
fn the_report_may_be_a_descriptor_of_a_pipe() {
    let _one = serial();
    let scene = Scene::new();
    let words = ["--pace", "free", "--duration", "0.01", "--json", "--report", "/dev/fd/3"];
    let mut command = Command::new("sh");
    command.args(["-c", "{ \"$@\" 3>&1 >/dev/null; } | cat", "sh"]);
    command.arg(env!("CARGO_BIN_EXE_hardstand")).args(scene.run_args(&words));
    let text = Process::start(scene.dir.path(), "piped", command).ends_with(0);
    assert!(matches!(reports(&text)[..], [Report::Ready(_), Report::Ended(_)]), "{text}");
}

/// All lines are lost, which a caller must see; one that has read enough does not care.
#[test]
fn lines_of_json_that_cannot_be_written_show_at_the_end_of_the_run() {
    let _one = serial();
    let scene = Scene::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hardstand"));
    command.args(scene.run_args(&["--pace", "free", "--duration", "0.01", "--json"]));
    let full = File::options().write(true).open("/dev/full").unwrap();
    let ended = command.stdin(Stdio::null()).stdout(full).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("--json: standard output: No space left on device"), "{said}");
    scene.replays();
    let status = Process::start_unread(command).wait();
    assert_eq!(status.code(), Some(0), "the reader has closed the pipe");
}

#[test]
fn lines_of_text_that_cannot_be_written_show_in_the_exit_code() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hardstand"));
    command.arg("faults");
    let full = File::options().write(true).open("/dev/full").unwrap();
    let ended = command.stdin(Stdio::null()).stdout(full).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("standard output: No space left on device"), "{said}");
    let mut closed = Process::start_unread(command);
    assert_eq!(closed.wait().code(), Some(0), "the reader has closed the pipe");
}
