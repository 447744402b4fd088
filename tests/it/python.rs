//! Python and the wire: the example controller, a decoder written from docs/protocol.md alone, and
//! the readers of ROS 2's logs.
//!
//! They need a Python with `zenoh`, `rosbags` and `mcap_ros2`: the one that `HARDSTAND_PYTHON`
//! names, else `python3`. Without one they say so and pass.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const HARDSTAND: &str = env!("CARGO_BIN_EXE_hardstand");
/// Nothing here takes a third of this, even on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// A process that does not outlive its test, and what it has printed.
struct Process {
    name: &'static str,
    child: Child,
    output: Option<JoinHandle<String>>,
    errors: Option<JoinHandle<String>>,
}

impl Process {
    fn start(name: &'static str, command: &mut Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|e| panic!("{name}: {e}"));
        let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let output = std::thread::spawn(move || {
            let mut text = String::new();
            let _until_it_ends = out.read_to_string(&mut text).is_ok();
            text
        });
        let errors = std::thread::spawn(move || {
            let mut text = String::new();
            let _until_it_ends = err.read_to_string(&mut text).is_ok();
            text
        });
        Self { name, child, output: Some(output), errors: Some(errors) }
    }

    /// Waits for the end; its status, standard output and standard error.
    fn finish(mut self) -> (ExitStatus, String, String) {
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if begin.elapsed() > PATIENCE {
                let _gone = self.child.kill().is_ok();
                let text = self.output.take().unwrap().join().unwrap();
                panic!("{} has not ended after {PATIENCE:?}; it printed:\n{text}", self.name);
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let output = self.output.take().unwrap().join().unwrap();
        let errors = self.errors.take().unwrap().join().unwrap();
        (status, output, errors)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _already_gone = self.child.kill().is_ok();
        let _status = self.child.wait().is_ok();
    }
}

/// A Python that can import these modules, or a plain word why there is none.
pub fn python(test: &str, modules: &str) -> Option<String> {
    let python = std::env::var("HARDSTAND_PYTHON").unwrap_or_else(|_| "python3".into());
    let tried = Command::new(&python)
        .args(["-c", &format!("import {modules}")])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let why = match tried {
        Ok(status) if status.success() => return Some(python),
        Ok(_) => format!("{python} cannot import {modules}"),
        Err(e) => format!("{python} does not start ({e})"),
    };
    eprintln!(
        "SKIPPED {test}: {why}. To run it: python3 -m venv v && v/bin/pip install eclipse-zenoh \
         rosbags mcap-ros2-support && HARDSTAND_PYTHON=v/bin/python cargo test --test it python::"
    );
    None
}

fn at_root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A directory of its own with a unix socket in it, so that tests may run side by side.
struct Place {
    directory: tempfile::TempDir,
    endpoint: String,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let socket = directory.path().join("z.sock");
        let endpoint = format!("unixsock-stream/{}", socket.display());
        Self { directory, endpoint }
    }

    fn daemon(&self, duration_s: &str, more: &[&str]) -> Process {
        let mut command = Command::new(HARDSTAND);
        command.arg("run").arg(at_root("config/quadruped.toml"));
        command.args(["--duration", duration_s, "--log"]).arg(self.log());
        // neither a debug build nor a loaded machine may decide this test
        command.args(["--set", "command.hold_ticks=500"]);
        command.args(["--set", "regions=[{name=\"aside\", min_m=[5,5], max_m=[6,7]}]"]);
        command.args(["--set", &format!("bus.listen=[{:?}]", self.endpoint)]).args(more);
        Process::start("the daemon", &mut command)
    }

    fn log(&self) -> PathBuf {
        self.directory.path().join("run.mcap")
    }
}

/// The number after `name` in the summary's line that begins with `line`.
fn number(summary: &str, line: &str, name: &str) -> f64 {
    let text = summary.lines().rev().find(|l| l.starts_with(line)).unwrap_or_default();
    let rest = text.split(&format!("{name} ")).nth(1).unwrap_or_default();
    let digits: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    digits.parse().unwrap_or_else(|_| panic!("no {name:?} in line {line:?} of:\n{summary}"))
}

#[test]
fn the_python_example_makes_the_robot_stand() {
    let Some(python) = python("the_python_example_makes_the_robot_stand", "zenoh") else { return };
    let place = Place::new();
    let daemon = place.daemon("3", &[]);
    let mut command = Command::new(python);
    command.arg(at_root("examples/stand_protocol.py"));
    command.args(["--connect", &place.endpoint, "--robot", "quadruped", "--seconds", "60"]);
    let controller = Process::start("examples/stand_protocol.py", &mut command);

    let (status, summary, errors) = daemon.finish();
    assert!(status.success(), "{status}\n{summary}\n{errors}");
    let (status, said, errors) = controller.finish();
    assert!(status.success(), "examples/stand_protocol.py: {status}\n{said}\n{errors}");
    assert!(said.contains("the daemon has stopped"), "{said}");
    assert!(!said.contains("lost the robot"), "{said}");

    let height_m = number(&summary, "robot ", "height");
    assert!((0.30..0.36).contains(&height_m), "it stands 0.33 m high, not {height_m}\n{summary}");
    assert!(number(&summary, "robot ", "tilt") < 5.0, "{summary}");
    assert!(number(&summary, "counters ", "commands_accepted") > 100.0, "{summary}");

    let mut command = Command::new(HARDSTAND);
    let (status, said, errors) =
        Process::start("replay", command.arg("replay").arg(place.log())).finish();
    assert!(status.success(), "replay: {status}\n{said}\n{errors}");
    assert!(said.contains("identical  all 3000 digests"), "{said}");
}

/// Whatever the pace, with a controller that knows nothing but docs/protocol.md.
#[test]
fn lockstep_with_the_python_example_gives_the_same_run() {
    let test = "lockstep_with_the_python_example_gives_the_same_run";
    let Some(python) = python(test, "zenoh") else { return };
    let run = |pace: &[&str]| {
        let place = Place::new();
        let daemon = place.daemon("0.5", &[&["--mode", "lockstep"], pace].concat());
        let mut command = Command::new(&python);
        command.arg(at_root("examples/lockstep.py")).args(["--connect", &place.endpoint]);
        let controller = Process::start(
            "examples/lockstep.py",
            command.args(["--period", "2", "--offset", "3"]),
        );
        let (status, summary, errors) = daemon.finish();
        assert!(status.success(), "{status}\n{summary}\n{errors}");
        let (status, said, errors) = controller.finish();
        assert!(status.success() && said.contains("as session"), "{said}\n{errors}");
        // every answer but those to the last states has been obeyed
        assert_eq!(number(&summary, "counters ", "commands_accepted"), 249.0, "{summary}");
        let digest = summary.lines().find(|line| line.starts_with("digest"));
        digest.unwrap().to_string()
    };
    assert_eq!(run(&["--pace", "free"]), run(&["--speed", "0.5"]));
}

/// The log of a real daemon, and what is left of one that was killed.
#[test]
fn readers_of_ros_2_understand_the_log() {
    let modules = "rosbags, mcap_ros2";
    let Some(python) = python("readers_of_ros_2_understand_the_log", modules) else { return };
    let place = Place::new();
    let daemon = place.daemon("2", &[]);
    let mut command = Command::new(HARDSTAND);
    let _controller = Process::start(
        "the controller",
        command.args(["controller", "stand", "--connect", &place.endpoint]),
    );
    let (status, summary, errors) = daemon.finish();
    assert!(status.success(), "{status}\n{summary}\n{errors}");
    let cut = place.directory.path().join("cut.mcap");
    let whole = std::fs::read(place.log()).unwrap();
    std::fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    let mut command = Command::new(HARDSTAND);
    let (status, said, errors) =
        Process::start("recover", command.arg("recover").arg(&cut)).finish();
    assert!(status.success(), "recover: {status}\n{said}\n{errors}");
    let mut command = Command::new(python);
    command.arg(at_root("tests/python/log.py")).arg("--standing").arg(place.log());
    command.arg(place.directory.path().join("cut.recovered.mcap"));
    let (status, said, errors) = Process::start("tests/python/log.py", &mut command).finish();
    assert!(status.success(), "{status}\n{said}\n{errors}");
    assert!(said.contains("run.mcap: 2000 ticks"), "{said}");
    assert!(said.contains("cut.recovered.mcap: "), "{said}");
}

#[test]
fn every_payload_is_as_the_protocol_describes_it() {
    let test = "every_payload_is_as_the_protocol_describes_it";
    let Some(python) = python(test, "zenoh") else { return };
    let place = Place::new();
    let beside = "bodies=[{name=\"box\", shape=\"box\", size_m=[0.3, 0.3, 0.2], mass_kg=3.0, \
                  position_m=[2.0, 0.0, 0.1031034]}]";
    let gyro = "sensors.imu.gyro.bias_rad_per_s=0.01";
    let joints = "sensors.joints.\"*\".offset_rad=0.01";
    let all = [beside, gyro, joints];
    let sets: Vec<&str> = all.iter().flat_map(|set| ["--set", *set]).collect();
    let _daemon = place.daemon("60", &sets);
    let mut command = Command::new(HARDSTAND);
    let _controller = Process::start(
        "the controller",
        command.args(["controller", "stand", "--connect", &place.endpoint]),
    );
    let mut command = Command::new(python);
    command.arg(at_root("tests/python/decode.py")).args(["--connect", &place.endpoint]);
    let (status, said, errors) = Process::start("tests/python/decode.py", &mut command).finish();
    assert!(status.success(), "{status}\n{said}\n{errors}");
    assert!(said.contains("all payloads are as described"), "{said}");
}
