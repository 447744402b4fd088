//! Rights: what the system grants, where threads run, what listens.

use std::path::Path;
use std::process::Command;

use hardstand::rt::pick_core;
use rustix::process::Signal;

use crate::common::process;
use crate::common::process::{Observer, Process, Scene, serial};

/// `hardstand run` without the rights that real time needs; `None` if that cannot be arranged.
fn without_rights(scene: &Scene, more: &[&str]) -> Option<Process> {
    without_rights_under(scene, &[], more)
}

/// Likewise, with further limits for prlimit.
fn without_rights_under(scene: &Scene, limits: &[&str], more: &[&str]) -> Option<Process> {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can drop capabilities for a test");
        return None;
    }
    if Command::new("setpriv").arg("--version").output().is_err() {
        eprintln!("skipped: there is no setpriv");
        return None;
    }
    // `nobody` must reach the binary and the folder: both are copied to a place that it can read
    let dir = scene.dir.path();
    let open = |path: &Path| {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
    };
    open(dir);
    let binary = dir.join("hardstand");
    std::fs::copy(env!("CARGO_BIN_EXE_hardstand"), &binary).unwrap();
    open(&binary);
    for name in ["quadruped.toml", "robots/quadruped.urdf"] {
        let to = dir.join(name);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(process::repository(&format!("config/{name}")), &to).unwrap();
        open(to.parent().unwrap());
        open(&to);
    }
    let mut command = Command::new("setpriv");
    command
        .args(["--bounding-set", "-sys_nice,-ipc_lock", "--inh-caps", "-all"])
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
        .args(["prlimit", "--rtprio=0", "--memlock=65536"])
        .args(limits)
        .arg(&binary)
        .arg("run")
        .arg(dir.join("quadruped.toml"))
        .args(["--set", &format!("bus.listen=[{:?}]", scene.endpoint)])
        .args(more);
    Some(Process::start(dir, "daemon", command))
}

/// A limit of the machine is no defect of the program, whichever thread it keeps from starting.
#[test]
fn too_few_threads_are_refused_with_the_limit_to_raise() {
    let _one = serial();
    let first = [(1, "(physics)"), (2, "(of zenoh)"), (3, "(of zenoh)"), (4, ""), (5, ""), (6, "")];
    for (limit, thread) in first {
        let scene = Scene::new();
        let limit = format!("--nproc={limit}");
        let Some(mut daemon) = without_rights_under(&scene, &[&limit], &[]) else { return };
        let out = daemon.ends_with(5);
        let said = format!("starts no thread {thread}");
        assert!(out.contains(&said) && out.contains("ulimit -u"), "{limit}: {out}");
    }
}

/// RT-9: required and refused is exit 4, with the remedy.
#[test]
fn required_rights_that_are_refused_end_it() {
    let _one = serial();
    let scene = Scene::new();
    let Some(mut daemon) = without_rights(&scene, &["--set", "realtime.required=true"]) else {
        return;
    };
    let out = daemon.ends_with(4);
    assert!(out.contains("realtime.required") && out.contains("CAP_SYS_NICE"), "{out}");
}

/// RT-9: not required, it runs and says what is missing.
#[test]
fn refused_rights_are_told_and_it_runs() {
    let _one = serial();
    let scene = Scene::new();
    let more = ["--set", "sim.start=now", "--duration", "0.3"];
    let Some(mut daemon) = without_rights(&scene, &more) else { return };
    let out = daemon.ends_with(0);
    assert!(out.contains("degraded   the system refused SCHED_FIFO"), "{out}");
    assert!(out.contains("degraded   the system refused locking memory"), "{out}");
    assert!(out.contains("ran        300 ticks"), "{out}");
}

/// Field of `/proc/<pid>/task/<tid>/stat` after the name, which may hold anything: 1 is the state.
fn stat_field(text: &str, n: usize) -> String {
    let rest = text.rsplit_once(')').unwrap().1;
    rest.split_whitespace().nth(n - 1).unwrap().into()
}

/// RT-10: one thread is FIFO and has its core to itself.
#[test]
fn only_the_physics_thread_is_fifo_and_its_core_is_its_own() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&["--set", "sim.start=now"]);
    let observer = Observer::of(&scene);
    let _controller = scene.controller("controller");
    observer.until("it runs under a controller", |s| s.command_session != 0);
    let status = observer.status_until("a status", |s| s.tick > 0);
    let core = pick_core(None);
    if status.fifo_priority == 0 || core.is_none() {
        eprintln!("skipped: no right to SCHED_FIFO here, or a single core");
        return;
    }
    assert_eq!(status.core, core.unwrap() as u32);
    let mut names = Vec::new();
    for task in std::fs::read_dir(format!("/proc/{}/task", daemon.pid())).unwrap() {
        let dir = task.unwrap().path();
        let read = |name: &str| std::fs::read_to_string(dir.join(name)).unwrap_or_default();
        let (name, stat, status_text) = (read("comm"), read("stat"), read("status"));
        if stat.is_empty() {
            continue; // it has ended meanwhile
        }
        let name = name.trim().to_string();
        // fields 40 and 41 of proc(5) are 38 and 39 after the name
        let (priority, policy) = (stat_field(&stat, 38), stat_field(&stat, 39));
        let line = status_text.lines().find_map(|l| l.strip_prefix("Cpus_allowed_list:")).unwrap();
        let on_core = cores(line).contains(&core.unwrap());
        if name == "physics" {
            assert_eq!((policy.as_str(), priority.as_str()), ("1", "80"), "SCHED_FIFO 80");
            assert_eq!(cores(line), [core.unwrap()]);
        } else {
            assert_eq!(policy, "0", "thread {name} is not SCHED_OTHER");
            assert!(!on_core, "thread {name} may run on the physics core: {line}");
        }
        names.push(name);
    }
    for expected in ["physics", "publisher", "recorder"] {
        assert_eq!(names.iter().filter(|n| *n == expected).count(), 1, "{names:?}");
    }
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

/// `0,2-4` as numbers.
fn cores(list: &str) -> Vec<usize> {
    let number = |s: &str| s.trim().parse::<usize>().unwrap();
    let range = |part: &str| match part.split_once('-') {
        Some((a, b)) => number(a)..=number(b),
        None => number(part)..=number(part),
    };
    list.trim().split(',').flat_map(range).collect()
}

/// SEC-1: nothing listens but the loopback port it was given, and there is no UDP at all.
#[test]
fn it_listens_on_loopback_only() {
    let _one = serial();
    let scene = Scene::tcp();
    let daemon = scene.daemon(&[]);
    let observer = Observer::of(&scene);
    observer.state();
    let sockets = inodes(daemon.pid());
    assert!(!sockets.is_empty(), "no right to look at the daemon's files?");
    let port = scene.endpoint.rsplit_once(':').unwrap().1.parse::<u16>().unwrap();
    let own = |table: &str| -> Vec<(String, String)> {
        let text = std::fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
        let row = |line: &str| {
            let f: Vec<&str> = line.split_whitespace().collect();
            sockets.iter().any(|i| i == f[9]).then(|| (f[1].to_string(), f[3].to_string()))
        };
        text.lines().skip(1).filter_map(row).collect()
    };
    let listening: Vec<String> =
        own("tcp").into_iter().filter(|(_, state)| state == "0A").map(|(local, _)| local).collect();
    assert_eq!(listening, [format!("0100007F:{port:04X}")]);
    for table in ["tcp6", "udp", "udp6", "udplite", "raw", "raw6"] {
        assert_eq!(own(table), [], "{table}");
    }
}

/// Inodes of the sockets that a process has open.
pub(super) fn inodes(pid: u32) -> Vec<String> {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    let inode = |f: std::io::Result<std::fs::DirEntry>| {
        let target = std::fs::read_link(f.ok()?.path()).ok()?;
        let target = target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?;
        Some(target.to_string())
    };
    files.filter_map(inode).collect()
}

/// SEC-4: once it runs, no thread has a capability or can gain one, and its files are private. A
/// root that writes into a folder of somebody else's keeps the right to, and says so.
#[test]
fn a_running_daemon_has_given_up_its_rights() {
    use std::os::unix::fs::MetadataExt as _;
    let _one = serial();
    let root = rustix::process::geteuid().is_root();
    for foreign in [false, true] {
        let scene = Scene::new();
        if foreign {
            if !root {
                eprintln!("SKIPPED in part: only root has rights in others' folders");
                continue;
            }
            std::os::unix::fs::chown(scene.dir.path(), Some(65534), Some(65534)).unwrap();
        }
        let mut daemon = scene.daemon(&["--set", "sim.start=now"]);
        Observer::of(&scene).until("it runs", |s| s.tick >= 100);
        let mut threads = 0;
        for task in std::fs::read_dir(format!("/proc/{}/task", daemon.pid())).unwrap() {
            let dir = task.unwrap().path();
            let Ok(text) = std::fs::read_to_string(dir.join("status")) else { continue };
            let field = |name: &str| {
                let line = text.lines().find_map(|l| l.strip_prefix(name)).unwrap();
                u64::from_str_radix(line.trim(), 16).unwrap()
            };
            let name = std::fs::read_to_string(dir.join("comm")).unwrap_or_default();
            // CAP_DAC_OVERRIDE is bit 1; the physics thread writes no files
            let kept = if foreign && name.trim() != "physics" { 1 << 1 } else { 0 };
            let sets = ["CapEff:", "CapPrm:", "CapInh:", "CapAmb:"].map(field);
            assert_eq!(sets, [kept, kept, 0, 0], "{name}");
            assert_eq!(field("NoNewPrivs:"), 1, "{name}");
            threads += 1;
        }
        assert!(threads >= 8, "{threads} threads");
        daemon.signal(Signal::TERM);
        let out = daemon.ends_with(0);
        assert_eq!(out.contains("rights     keeps CAP_DAC_OVERRIDE"), foreign, "{out}");
        let mode = std::fs::metadata(scene.log()).unwrap().mode();
        assert_eq!(mode & 0o777, 0o640, "{mode:o}");
    }
}

/// Under a small limit of locked memory a locked stack may not grow once the right to lock is given
/// up: the main thread's must not be locked.
#[test]
fn a_small_limit_of_locked_memory_kills_no_thread() {
    let _one = serial();
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: only root may lock more than its limit, and give the right up");
        return;
    }
    let scene = Scene::new();
    let mut command = Command::new("prlimit");
    command.args(["--memlock=8388608", env!("CARGO_BIN_EXE_hardstand")]);
    command.args(scene.run_args(&["--set", "sim.start=now"]));
    command.env("HARDSTAND_FAULT_POINT", "status:2").env("RUST_BACKTRACE", "full");
    let mut daemon = Process::start(scene.dir.path(), "daemon", command);
    let observer = Observer::of(&scene);
    let status = observer.status_until("a restart", |s| s.counter("io_restarts") >= 1);
    assert_eq!(status.memory_locked, 1, "{:?}", status.refused);
    observer.until("it goes on", |s| s.tick >= status.tick + 500);
    let pid = daemon.pid();
    let maps = std::fs::read_to_string(format!("/proc/{pid}/smaps")).unwrap();
    let main = maps.split_once("[stack]").expect("the main thread's stack").1;
    assert!(!is_locked(main), "{}", &main[..1000]);
    let locked = |line: &str| line.starts_with("VmFlags:") && is_locked(line);
    assert!(maps.lines().any(locked), "nothing is locked at all");
    daemon.signal(Signal::TERM);
    let out = daemon.ends_with(0);
    assert!(out.contains("stack backtrace"), "{out}");
}

/// True if the first mapping in a text of `/proc/PID/smaps` is locked.
fn is_locked(smaps: &str) -> bool {
    let flags = smaps.lines().find_map(|l| l.strip_prefix("VmFlags:")).unwrap_or_default();
    flags.split_whitespace().any(|flag| flag == "lo")
}

/// What only root's rights reach would be lost with them: at the start, not at a restart of the
/// bus.
#[test]
fn what_is_reached_by_a_right_that_is_given_up_is_refused_at_the_start() {
    let _one = serial();
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: only root has rights in others' folders");
        return;
    }
    let scene = Scene::new();
    let foreign = scene.path("foreign");
    std::fs::create_dir(&foreign).unwrap();
    let secret = foreign.join("users.txt");
    std::fs::write(&secret, "ctrl:one\n").unwrap();
    for path in [&foreign, &secret] {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = if path.is_dir() { 0o700 } else { 0o600 };
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    std::os::unix::fs::chown(&foreign, Some(65534), Some(65534)).unwrap();

    let socket = format!("unixsock-stream/{}", foreign.join("z.sock").display());
    let listen = format!("bus.listen=[{socket:?}]");
    let out = scene.daemon(&["--set", &listen]).ends_with(5);
    assert!(out.contains(&socket) && out.contains("without root's rights"), "{out}");

    let users = format!("bus.users_file={:?}", secret.display().to_string());
    let ctrl = "bus.controllers=[\"ctrl\"]";
    let out = scene.daemon(&["--set", &users, "--set", ctrl]).ends_with(2);
    assert!(out.contains("users.txt: Permission denied"), "{out}");
    assert!(out.contains("without root's rights") && out.contains("namei -l"), "{out}");
    assert!(!scene.log().exists(), "a run that is refused leaves old logs alone");
}

/// A root that keeps the right to write into another's folder needs it for the bus there, too.
#[test]
fn a_bus_in_a_folder_of_another_user_comes_back() {
    let _one = serial();
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: only root has rights in others' folders");
        return;
    }
    let scene = Scene::new();
    std::os::unix::fs::chown(scene.dir.path(), Some(65534), Some(65534)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hardstand"));
    command.args(scene.run_args(&["--set", "sim.start=now"]));
    command.env("HARDSTAND_FAULT_POINT", "publisher:1000");
    let mut daemon = Process::start(scene.dir.path(), "daemon", command);
    let observer = Observer::of(&scene);
    let status = observer.status_until("a restart", |s| s.counter("io_restarts") >= 1);
    observer.until("it goes on", |s| s.tick >= status.tick + 200);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}
