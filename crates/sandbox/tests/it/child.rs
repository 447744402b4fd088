//! A process that makes attempts, with or without the sandbox.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use hardstand_sandbox::{Allowed, confine_calls, confine_files, confine_process};

use crate::outcome::{Attempt, errno_of};

const TEST: &str = "child::the_other_process";
const ROLE: &str = "HARDSTAND_TEST_ROLE";
const PLACE: &str = "HARDSTAND_TEST_PLACE";

/// What comes into force before the attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sandbox {
    None,
    FilesOnly,
    All,
    /// With unix sockets, host names and a child process.
    Wide,
}

/// Files, ports and processes that the attempts are about.
#[derive(Clone, Debug)]
pub struct Place {
    /// Holds `log/run.mcap`, `log/link` to `other/secret`, `keys/daemon.key`, `other/secret`,
    /// `sockets`, and `other/listener`.
    pub folder: PathBuf,
    /// The port that may be used.
    pub port: u16,
    /// A port on which the parent listens, and which may not be used.
    pub other_port: u16,
    pub parent: u32,
    /// A process that sleeps, in a group of its own.
    pub sleeper: u32,
}

impl Place {
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Name of the parent's abstract unix socket.
    pub fn abstract_name(&self) -> String {
        format!("hardstand-sandbox-{}", self.other_port)
    }

    fn to_text(&self) -> String {
        let Self { folder, port, other_port, parent, sleeper } = self;
        format!("{port} {other_port} {parent} {sleeper} {}", folder.display())
    }

    fn from_text(text: &str) -> Self {
        let mut words = text.splitn(5, ' ');
        let mut number = || words.next().unwrap().parse::<u32>().unwrap();
        let (port, other_port) = (number() as u16, number() as u16);
        let (parent, sleeper) = (number(), number());
        Self { folder: words.next().unwrap().into(), port, other_port, parent, sleeper }
    }

    fn allowed(&self, sandbox: Sandbox) -> Allowed {
        let mut allowed = Allowed {
            read: vec![self.path("keys/daemon.key")],
            bind_ports: vec![self.port],
            ..Allowed::default()
        };
        allowed.add_log(&self.path("log/run.mcap"));
        if sandbox == Sandbox::Wide {
            allowed.add_unix_socket(&self.path("sockets/daemon"));
            allowed.host_names = true;
            allowed.children = vec![self.sleeper];
        }
        allowed
    }
}

/// The parent's side of a [`Place`]; it listens, and its sleeper lives, as long as this.
pub struct Parent {
    pub place: Place,
    _folder: tempfile::TempDir,
    _listens: (TcpListener, UnixListener, UnixListener),
    sleeper: Child,
}

impl Parent {
    pub fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().canonicalize().unwrap();
        for name in ["log", "keys", "other", "sockets"] {
            fs::create_dir(folder.join(name)).unwrap();
        }
        for name in ["log/run.mcap", "keys/daemon.key", "other/secret", "other/victim"] {
            fs::write(folder.join(name), name).unwrap();
        }
        std::os::unix::fs::symlink(folder.join("other/secret"), folder.join("log/link")).unwrap();
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let other_port = other.local_addr().unwrap().port();
        // free again when the child takes it
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut sleep = Command::new("sleep");
        std::os::unix::process::CommandExt::process_group(&mut sleep, 0);
        let sleeper = sleep.arg("60").stdin(Stdio::null()).spawn().unwrap();
        let parent = std::process::id();
        let place = Place { folder, port, other_port, parent, sleeper: sleeper.id() };
        let unix = UnixListener::bind(place.path("other/listener")).unwrap();
        let name = SocketAddr::from_abstract_name(place.abstract_name()).unwrap();
        let listens = (other, unix, UnixListener::bind_addr(&name).unwrap());
        Self { place, _folder: temporary, _listens: listens, sleeper }
    }

    /// Runs the attempts of a group in a process of its own: the error number of each, 0 for
    /// success, and what the sandbox did not apply.
    pub fn run(&self, group: &str, sandbox: Sandbox) -> Seen {
        let out = self.output(group, sandbox);
        assert!(out.status.success(), "{out:?}");
        let (mut errors, mut not_applied) = (BTreeMap::new(), String::new());
        for line in String::from_utf8_lossy(&out.stdout).lines() {
            // the harness may have written the beginning of the line
            let found = line.rsplit_once("attempt ").and_then(|(_, rest)| rest.split_once('='));
            if let Some((name, error)) = found {
                errors.insert(name.to_string(), error.parse().unwrap());
            } else if let Some((_, text)) = line.rsplit_once("not applied ") {
                not_applied.push_str(text);
            }
        }
        Seen { errors, not_applied }
    }

    pub fn output(&self, group: &str, sandbox: Sandbox) -> Output {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", TEST, "--nocapture", "--test-threads=1"])
            .env(ROLE, format!("{group} {sandbox:?}"))
            .env(PLACE, self.place.to_text())
            .output()
            .unwrap()
    }
}

impl Drop for Parent {
    fn drop(&mut self) {
        let _it_may_have_been_ended = self.sleeper.kill().is_ok();
        let _its_status = self.sleeper.wait().is_ok();
    }
}

/// What a process has seen.
pub struct Seen {
    errors: BTreeMap<String, i32>,
    pub not_applied: String,
}

impl Seen {
    pub fn error(&self, name: &str) -> i32 {
        *self.errors.get(name).unwrap_or_else(|| panic!("{name} was not tried: {:?}", self.errors))
    }
}

/// Not a test by itself: the process that makes the attempts.
#[test]
fn the_other_process() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let place = Place::from_text(&std::env::var(PLACE).unwrap());
    let (group, sandbox) = role.rsplit_once(' ').unwrap();
    let sandbox = [Sandbox::None, Sandbox::FilesOnly, Sandbox::All, Sandbox::Wide]
        .into_iter()
        .find(|s| format!("{s:?}") == sandbox)
        .unwrap();
    if group == "physics" {
        crate::physics::in_another_process(&place, sandbox);
    }
    let attempts = attempts(group);
    let applied = match sandbox {
        Sandbox::None => None,
        Sandbox::FilesOnly => Some(confine_files(&place.allowed(sandbox))),
        Sandbox::All => Some(confine_process(&place.allowed(sandbox))),
        Sandbox::Wide => {
            let mut applied = confine_files(&place.allowed(sandbox));
            applied.add(confine_calls(&place.allowed(sandbox)));
            Some(applied)
        }
    };
    println!();
    for text in applied.iter().flat_map(|applied| &applied.not_applied) {
        println!("not applied {text}");
    }
    for attempt in attempts {
        println!("attempt {}={}", attempt.name, errno_of((attempt.run)(&place)));
    }
    // at once: the harness may do what is forbidden here
    std::process::exit(0);
}

fn attempts(group: &str) -> Vec<Attempt> {
    match group {
        "files" => crate::files::attempts(),
        "calls" => crate::calls::attempts(),
        "sockets" => crate::sockets::attempts(),
        "abort" => crate::allowed::abort(),
        #[cfg(target_arch = "x86_64")]
        "32 bits" => crate::calls::call_of_32_bits(),
        _ => crate::allowed::attempts(),
    }
}

/// What a file holds now, as text.
pub fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}
