//! libhardstand as it is installed, programs compiled with it, and daemons to run them against.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Longest wait for anything: the machine may be busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);
const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Werror", "-pedantic"];

pub(crate) fn repository(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// The folder in which cargo has put the libraries: that of this test.
fn libraries() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().into()
}

/// The daemon: HARDSTAND_PROGRAM, or else the one that cargo has built beside this test.
fn daemon_program() -> PathBuf {
    let built = || libraries().parent().unwrap().join("hardstand");
    std::env::var_os("HARDSTAND_PROGRAM").map_or_else(built, PathBuf::from)
}

/// True if a tool is there; otherwise says what is skipped.
pub(crate) fn has(tool: &str, test: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok_and(|o| o.status.success());
    if !found {
        println!("SKIPPED {test}: there is no {tool}");
    }
    found
}

/// True if compilers and the daemon are there.
pub(crate) fn can_run(test: &str) -> bool {
    let program = daemon_program();
    let built = program.exists();
    if !built {
        println!("SKIPPED {test}: no {}: cargo build", program.display());
    }
    built && has("cc", test) && has("c++", test)
}

pub(crate) fn succeeds(command: &mut Command) -> String {
    let output =
        command.stdin(Stdio::null()).output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let text = text(&output);
    assert!(output.status.success(), "{command:?}: {}\n{text}", output.status);
    text
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

/// A prefix where `install.sh` has put the library.
pub(crate) fn prefix() -> &'static Path {
    static PREFIX: OnceLock<TempDir> = OnceLock::new();
    let dir = PREFIX.get_or_init(|| {
        let dir = TempDir::new().unwrap();
        let script = repository("crates/capi/install.sh");
        succeeds(Command::new(script).arg(dir.path()).env("HARDSTAND_LIBRARIES", libraries()));
        dir
    });
    dir.path()
}

/// A program compiled from `source`, a file of the repository, with all warnings as errors.
pub(crate) fn compiled(source: &str) -> PathBuf {
    compiled_from(&repository(source))
}

pub(crate) fn compiled_from(source: &Path) -> PathBuf {
    compiled_with(source, &[])
}

/// The same with other files and folders of headers: arguments of the compiler.
pub(crate) fn compiled_with(source: &Path, more: &[String]) -> PathBuf {
    let (compiler, standard) = match source.extension().and_then(|e| e.to_str()) {
        Some("c") => ("cc", "-std=c11"),
        _ => ("c++", "-std=c++17"),
    };
    let prefix = prefix();
    let program = prefix.join(source.with_extension("").file_name().unwrap());
    let program = program.with_extension(format!("{:x}", source.as_os_str().len()));
    let program = PathBuf::from(format!("{}{compiler}", program.display()));
    let lib = prefix.join("lib");
    succeeds(
        Command::new(compiler)
            .args([standard, "-O1", "-pthread"])
            .args(WARNINGS)
            .arg("-I")
            .arg(prefix.join("include"))
            .args(more)
            .arg(source)
            .arg("-o")
            .arg(&program)
            .arg(format!("-L{}", lib.display()))
            .arg(format!("-Wl,-rpath,{}", lib.display()))
            .args(["-lhardstand", "-lm"]),
    );
    program
}

/// A process that is killed when the test ends.
pub(crate) struct Process(Child);

impl Process {
    fn start(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(command.spawn().unwrap())
    }

    pub(crate) fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Waits for the end. Its exit code, and what it has said: little, so that no pipe is full.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let until = Instant::now() + PATIENCE;
        while self.0.try_wait().unwrap().is_none() {
            assert!(Instant::now() < until, "a process has not ended within {PATIENCE:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
        let mut said = String::new();
        for pipe in [
            self.0.stdout.take().map(|p| Box::new(p) as Box<dyn std::io::Read>),
            self.0.stderr.take().map(|p| Box::new(p) as Box<dyn std::io::Read>),
        ] {
            pipe.unwrap().read_to_string(&mut said).unwrap();
        }
        (self.0.wait().unwrap().code(), said)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _already_gone = self.0.kill();
        let _status = self.0.wait();
    }
}

/// A daemon with the shipped quadruped at an endpoint of its own.
pub(crate) struct Daemon {
    pub(crate) process: Process,
    pub(crate) endpoint: String,
    _dir: TempDir,
}

pub(crate) const LOCKSTEP: [&str; 4] = ["--mode", "lockstep", "--pace", "free"];

impl Daemon {
    pub(crate) fn start(more: &[&str]) -> Self {
        let dir = TempDir::new().unwrap();
        let socket = dir.path().join("z.sock");
        let endpoint = format!("unixsock-stream/{}", socket.display());
        let process = Self::process(&dir, &endpoint, more);
        Self { process, endpoint, _dir: dir }
    }

    fn process(dir: &TempDir, endpoint: &str, more: &[&str]) -> Process {
        let scenario = repository("config/quadruped.toml").display().to_string();
        let log = dir.path().join("run.mcap").display().to_string();
        let listen = format!("bus.listen=[{endpoint:?}]");
        let mut command = Command::new(daemon_program());
        command.args(["run", &scenario, "--log", &log, "--set", &listen]).args(more);
        Process::start(command)
    }

    /// A program that is given the endpoint first, and in the environment.
    pub(crate) fn with(&self, program: &Path, args: &[&str]) -> Process {
        Self::with_endpoint(&self.endpoint, program, args)
    }

    /// The same with another endpoint than that of the daemon.
    pub(crate) fn with_endpoint(endpoint: &str, program: &Path, args: &[&str]) -> Process {
        let mut command = Command::new(program);
        command.arg(endpoint).args(args).env("HARDSTAND_CONNECT", endpoint);
        Process::start(command)
    }
}
