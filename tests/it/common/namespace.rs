//! Namespaces of a test's own: a network or mounts that nobody else sees. They go with the process
//! that holds them.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::process::{Process, Scene, wait_for};

pub struct Namespace {
    holder: Process,
    /// Its letter: `n` for a network, `m` for mounts; the same for unshare and nsenter.
    flag: String,
}

impl Namespace {
    /// A new one; `None`, with the reason, where that is not allowed.
    pub fn new(scene: &Scene, name: &str, letter: char) -> Option<Self> {
        let flag = format!("-{letter}");
        for program in ["unshare", "nsenter"] {
            if Command::new(program).arg("--version").output().is_err() {
                eprintln!("SKIPPED: there is no {program}");
                return None;
            }
        }
        let mut command = Command::new("unshare");
        command.args([&flag, "sh", "-c", "echo ready; exec sleep 600"]);
        let mut holder = Process::start(scene.dir.path(), name, command);
        let ended = wait_for("a namespace", || {
            let ended = holder.has_ended();
            (ended || holder.out().contains("ready")).then_some(ended)
        });
        if ended {
            eprintln!("SKIPPED: no namespace of our own: {}", holder.err().trim());
            return None;
        }
        Some(Self { holder, flag })
    }

    pub fn pid(&self) -> u32 {
        self.holder.pid()
    }

    /// `program` in it.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["-t", &self.pid().to_string(), &self.flag, "--", program]);
        command
    }

    /// A line of shell in it, which must work.
    pub fn shell(&self, line: &str) {
        let out = self.command("sh").args(["-ec", line]).output().unwrap();
        assert!(out.status.success(), "{line}: {}", String::from_utf8_lossy(&out.stderr));
    }

    /// Where a file of it is found from outside.
    pub fn seen_from_outside(&self, path: &Path) -> PathBuf {
        Path::new(&format!("/proc/{}/root", self.pid())).join(path.strip_prefix("/").unwrap())
    }
}

/// Two networks with a cable between them, 10.77.0.1 at `near0` and 10.77.0.2 at `far0`; `None`
/// where that is not allowed.
pub fn networks(scene: &Scene) -> Option<[Namespace; 2]> {
    if Command::new("ip").arg("-V").output().is_err() {
        eprintln!("SKIPPED: there is no ip (Debian package iproute2)");
        return None;
    }
    let near = Namespace::new(scene, "near", 'n')?;
    let far = Namespace::new(scene, "far", 'n')?;
    let cable = format!("ip link add near0 type veth peer name far0 netns {}", far.pid());
    let made = near.command("sh").args(["-ec", &cable]).output().unwrap();
    if !made.status.success() {
        eprintln!("SKIPPED: no virtual cable: {}", String::from_utf8_lossy(&made.stderr).trim());
        return None;
    }
    near.shell("ip addr add 10.77.0.1/24 dev near0; ip link set near0 up");
    far.shell("ip addr add 10.77.0.2/24 dev far0; ip link set far0 up");
    Some([near, far])
}
