//! Real processes for tests: started with an endpoint of their own, watched with bounded waits,
//! killed when dropped.

pub use super::dice::Dice;
pub use super::repository;
pub use super::serial::serial;

use std::fs::File;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use hardstand_client::{Client, Controller};
use hardstand_log::{LogReader, LogRecord};
use hardstand_protocol::StateReading;
use hardstand_protocol::{LogTick, ModelReply, StatusReading};
use rustix::process::{Pid, Signal, kill_process};

/// Longest wait for anything: the machine may be busy.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Asks again and again until there is an answer.
pub fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = ask() {
            return found;
        }
        assert!(Instant::now() < until, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A program of these lines of a shell, in a file.
pub fn script(file: &Path, lines: &str) {
    std::fs::write(file, format!("#!/bin/sh\n{lines}\n")).unwrap();
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A process whose output goes to files.
pub struct Process {
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl Process {
    pub fn start(dir: &Path, name: &str, command: Command) -> Self {
        Self::start_with(Stdio::null(), dir, name, command)
    }

    fn start_with(stdin: Stdio, dir: &Path, name: &str, mut command: Command) -> Self {
        let (out, err) = (dir.join(format!("{name}.out")), dir.join(format!("{name}.err")));
        let child = command
            .stdin(stdin)
            .stdout(File::create(&out).unwrap())
            .stderr(File::create(&err).unwrap())
            .spawn()
            .unwrap();
        Self { child, out, err }
    }

    /// A process whose output nobody reads: the other ends of its pipes are closed.
    pub fn start_unread(mut command: Command) -> Self {
        let piped = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        drop((child.stdout.take(), child.stderr.take()));
        Self { child, out: PathBuf::from("unread"), err: PathBuf::new() }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Memory in pages that are present, KiB.
    pub fn resident_kib(&self) -> i64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = text.lines().find_map(|l| l.strip_prefix("VmRSS:")).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    }

    /// SIGKILL, and the body is buried.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn out(&self) -> String {
        std::fs::read_to_string(&self.out).unwrap_or_default()
    }

    pub fn err(&self) -> String {
        std::fs::read_to_string(&self.err).unwrap_or_default()
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    pub fn wait(&mut self) -> ExitStatus {
        let what = format!("end of {:?}", self.out);
        wait_for(&what, || self.child.try_wait().unwrap())
    }

    /// Waits for the end and asserts exit code 0, or 3 where a busy machine has left ticks out of the
    /// log.
    pub fn ends_well(&mut self) -> String {
        let status = self.wait();
        let (out, err) = (self.out(), self.err());
        let left_out = status.code() == Some(3) && out.contains("log_ticks_dropped");
        assert!(left_out || status.success(), "{status}\n{out}\n{err}");
        format!("{out}{err}")
    }

    /// Waits for the end and asserts the exit code.
    pub fn ends_with(&mut self, code: i32) -> String {
        let status = self.wait();
        let (out, err) = (self.out(), self.err());
        assert_eq!(status.code(), Some(code), "{status}\n{out}\n{err}");
        format!("{out}{err}")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // a stopped process dies of SIGKILL too
        let _already_gone = self.child.kill();
        let _status = self.child.wait();
    }
}

/// A folder, an endpoint and a robot for one test.
pub struct Scene {
    pub dir: tempfile::TempDir,
    pub endpoint: String,
}

impl Scene {
    pub fn new() -> Self {
        Self::in_folder(tempfile::tempdir().unwrap())
    }

    /// In memory, where there is such a place: a disk that others write to may stall for seconds,
    /// and a log in several files is not what every test is about.
    pub fn in_memory() -> Self {
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        Self::in_folder(dir.unwrap())
    }

    fn in_folder(dir: tempfile::TempDir) -> Self {
        let endpoint = format!("unixsock-stream/{}", dir.path().join("z.sock").display());
        Self { dir, endpoint }
    }

    /// On a TCP port of the loopback that is free now.
    pub fn tcp() -> Self {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        Self { endpoint: format!("tcp/127.0.0.1:{port}"), ..Self::new() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn log(&self) -> PathBuf {
        self.path("run.mcap")
    }

    /// `hardstand` with these arguments.
    pub fn hardstand(&self, name: &str, args: &[&str]) -> Process {
        self.hardstand_with(Stdio::null(), name, args)
    }

    /// Likewise, with this standard input.
    pub fn hardstand_with(&self, stdin: Stdio, name: &str, args: &[&str]) -> Process {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hardstand"));
        command.args(args);
        Process::start_with(stdin, self.dir.path(), name, command)
    }

    /// The arguments of `hardstand run` for this scene, with its log.
    pub fn run_args(&self, more: &[&str]) -> Vec<String> {
        self.run_args_with_log(&self.log(), more)
    }

    /// Likewise, with the log elsewhere.
    pub fn run_args_with_log(&self, log: &Path, more: &[&str]) -> Vec<String> {
        let log = log.display().to_string();
        let listen = format!("bus.listen=[{:?}]", self.endpoint);
        let scenario = repository("config/quadruped.toml");
        let fixed = ["run", &scenario, "--log", &log, "--set", &listen];
        fixed.iter().chain(more).map(ToString::to_string).collect()
    }

    /// A daemon with the quadruped.
    pub fn daemon(&self, more: &[&str]) -> Process {
        let args = self.run_args(more);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        self.hardstand("daemon", &args)
    }

    /// A process of the example controller.
    pub fn controller(&self, name: &str) -> Process {
        self.hardstand(name, &["controller", "stand", "--connect", &self.endpoint])
    }

    /// `hardstand ctl` with these words, which must end with `code`.
    pub fn ctl(&self, words: &[&str], code: i32) -> String {
        let args = [&["ctl"], words, &["--connect", &self.endpoint]].concat();
        self.hardstand("ctl", &args).ends_with(code)
    }

    pub fn replay(&self, more: &[&str]) -> Process {
        let log = self.log().display().to_string();
        let args: Vec<&str> = ["replay", &log].into_iter().chain(more.iter().copied()).collect();
        self.hardstand("replay", &args)
    }

    /// Replays the log in a process of its own; every digest must be equal.
    pub fn replays(&self) -> String {
        self.replay(&[]).ends_with(0)
    }

    pub fn client(&self) -> Client {
        Client::connect(&self.endpoint, "quadruped").unwrap()
    }
}

/// A client with its own view of the robot. It never sends unless told to.
pub struct Observer {
    pub client: Client,
    pub model: ModelReply,
    pub states: Controller,
}

impl Observer {
    pub fn of(scene: &Scene) -> Self {
        Self::of_robot(scene, "quadruped")
    }

    /// Of one of several robots.
    pub fn of_robot(scene: &Scene, robot: &str) -> Self {
        let client = Client::connect(&scene.endpoint, robot).unwrap();
        let model = client.model(PATIENCE).unwrap();
        let states = client.control(&model).unwrap();
        Self { client, model, states }
    }

    pub fn state(&self) -> StateReading {
        self.states.next_state(PATIENCE).unwrap().expect("a state")
    }

    /// The first state that satisfies `wanted`.
    pub fn until(&self, what: &str, wanted: impl Fn(&StateReading) -> bool) -> StateReading {
        wait_for(what, || Some(self.state()).filter(&wanted))
    }

    pub fn status(&self) -> StatusReading {
        self.client.status(PATIENCE).unwrap()
    }

    /// The first status that satisfies `wanted`.
    pub fn status_until(
        &self,
        what: &str,
        wanted: impl Fn(&StatusReading) -> bool,
    ) -> StatusReading {
        let mut last = StatusReading::default();
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            last = self.status();
            if wanted(&last) {
                return last;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{what}: not within {PATIENCE:?}; last: {last:#?}");
    }
}

/// Everything in a log.
#[derive(Default)]
pub struct Log {
    pub ticks: Vec<LogTick>,
    pub states: Vec<StateReading>,
    pub keyframes: Vec<u64>,
    pub damage: Option<String>,
}

impl Log {
    pub fn read(path: &Path) -> Self {
        let mut reader = LogReader::open(path).unwrap();
        let mut log = Self::default();
        while let Some(record) = reader.next_record() {
            match record {
                LogRecord::Tick(t) => log.ticks.push(*t),
                LogRecord::State(s) => log.states.push(*s),
                LogRecord::Keyframe(k) => log.keyframes.push(k.tick),
            }
        }
        log.damage = reader.damage().map(String::from);
        log
    }

    /// Every tick from the first of the run on is there.
    pub fn assert_no_tick_is_missing(&self) {
        assert!(self.ticks.iter().zip(0_u64..).all(|(t, n)| t.tick == n), "a tick is missing");
    }
}

/// The word after `label` at the start of a line of output.
pub fn field(output: &str, label: &str) -> String {
    let line = output.lines().find_map(|l| l.strip_prefix(label));
    let line = line.unwrap_or_else(|| panic!("no line \"{label}\" in:\n{output}"));
    line.split_whitespace().last().unwrap_or_default().to_string()
}

/// The digest that `run` or `replay` printed.
pub fn digest(output: &str) -> String {
    let run = output.lines().find_map(|l| l.strip_prefix("digest"));
    match run {
        Some(rest) => rest.trim().to_string(),
        None => field(output, "identical"),
    }
}

/// The shipped scenario as a text that can lie in any folder.
pub fn quadruped_text() -> String {
    let text = std::fs::read_to_string(repository("config/quadruped.toml")).unwrap();
    let urdf = format!("urdf = \"{}", repository("config/robots"));
    text.replace("urdf = \"robots", &urdf)
}
