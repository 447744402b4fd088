//! What the daemon does must go on working.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream, ToSocketAddrs as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use crate::child::{Parent, Place, Sandbox};
use crate::outcome::{Attempt, attempt, call};

const ALWAYS: &[i32] = &[];

pub fn attempts() -> Vec<Attempt> {
    let mut all = vec![
        attempt("append to the log", ALWAYS, append_to_log),
        attempt("begin another file of the log", ALWAYS, another_file),
        attempt("replace a log", ALWAYS, |p| {
            fs::write(p.path("log/.run.mcap.tmp"), "new")?;
            fs::remove_file(p.path("log/run.1.mcap"))?;
            fs::rename(p.path("log/.run.mcap.tmp"), p.path("log/run.mcap"))
        }),
        attempt("read the log", ALWAYS, |p| fs::read(p.path("log/run.mcap")).map(drop)),
        attempt("list the log's folder", ALWAYS, |p| {
            fs::read_dir(p.path("log"))?.try_for_each(|e| e.map(drop))
        }),
        attempt("read a key", ALWAYS, |p| fs::read(p.path("keys/daemon.key")).map(drop)),
        attempt("write to standard output and error", ALWAYS, |_| {
            println!();
            io::stderr().write_all(b"text\n")
        }),
        attempt("number of cores", ALWAYS, |_| std::thread::available_parallelism().map(drop)),
        attempt("threads", ALWAYS, |_| threads()),
        attempt("sleep", ALWAYS, |_| {
            std::thread::sleep(Duration::from_millis(1));
            Ok(())
        }),
        attempt("memory", ALWAYS, |_| {
            let mut grown = vec![0_u8; 64 << 20];
            grown.resize(200 << 20, 1);
            drop(grown);
            Ok(())
        }),
        attempt("panic in a thread", ALWAYS, |_| {
            let ended = std::thread::spawn(|| panic!("on purpose")).join();
            ended.map_or(Ok(()), |()| Err(io::Error::other("no panic")))
        }),
        attempt("list of network interfaces", ALWAYS, |_| interfaces()),
    ];
    all.extend(connections());
    all
}

fn connections() -> Vec<Attempt> {
    vec![
        attempt("accept on the configured port", ALWAYS, |p| {
            let listener = TcpListener::bind(("127.0.0.1", p.port))?;
            exchange(TcpStream::connect(("127.0.0.1", p.port))?, listener.accept()?.0)
        }),
        attempt("wait for input", ALWAYS, |_| wait_for_input()),
        attempt("unix socket", ALWAYS, |p| {
            let path = p.path("sockets/daemon");
            let listener = UnixListener::bind(&path)?;
            exchange(UnixStream::connect(&path)?, listener.accept()?.0)?;
            fs::remove_file(path)
        }),
        attempt("lock beside a unix socket", ALWAYS, |p| {
            let path = std::ffi::CString::new(p.path("sockets/lock").to_str().unwrap()).unwrap();
            let (at, flags) = (libc::AT_FDCWD.into(), libc::O_RDONLY | libc::O_CREAT);
            call(libc::SYS_openat, [at, path.as_ptr() as i64, flags.into(), 0o600, 0])?;
            fs::remove_file(p.path("sockets/lock"))
        }),
        attempt("host name", ALWAYS, |_| ("localhost", 7447).to_socket_addrs().map(drop)),
        attempt("end a child", ALWAYS, |p| {
            let group = -i64::from(p.sleeper);
            call(libc::SYS_kill, [group, libc::SIGKILL.into(), 0, 0, 0]).map(drop)
        }),
    ]
}

fn append_to_log(place: &Place) -> io::Result<()> {
    let mut log = OpenOptions::new().append(true).open(place.path("log/run.mcap"))?;
    log.write_all(b"tick")?;
    log.sync_data()?;
    log.sync_all()
}

fn another_file(place: &Place) -> io::Result<()> {
    let path = place.path("log/run.1.mcap");
    let mut file = OpenOptions::new().append(true).create_new(true).open(path)?;
    file.try_lock().map_err(io::Error::other)?;
    file.write_all(b"tick")?;
    let copy = file.try_clone()?;
    file.set_len(2)?;
    assert_eq!(copy.metadata()?.len(), 2);
    copy.unlock()
}

fn threads() -> io::Result<()> {
    let shared = Arc::new((Mutex::new(BTreeMap::new()), Condvar::new()));
    let started: io::Result<Vec<_>> = (0..8)
        .map(|n| {
            let shared = Arc::clone(&shared);
            let work = move || {
                shared.0.lock().unwrap().insert(n, Instant::now());
                shared.1.notify_all();
            };
            std::thread::Builder::new().name(format!("worker-{n}")).spawn(work)
        })
        .collect();
    let started = started?;
    let mut ended = shared.0.lock().unwrap();
    while ended.len() < 8 {
        ended = shared.1.wait(ended).unwrap();
    }
    drop(ended);
    started.into_iter().for_each(|thread| thread.join().unwrap());
    Ok(())
}

fn exchange(mut client: impl io::Write, mut server: impl io::Read) -> io::Result<()> {
    client.write_all(b"state")?;
    let mut text = [0; 5];
    server.read_exact(&mut text)
}

/// As tokio does: epoll, an eventfd to wake it, a pair of sockets for signals.
fn wait_for_input() -> io::Result<()> {
    let (mut one, mut other) = UnixStream::pair()?;
    one.set_nonblocking(true)?;
    other.write_all(b"x")?;
    let epoll = call(libc::SYS_epoll_create1, [libc::EPOLL_CLOEXEC.into(), 0, 0, 0, 0])?;
    let event = libc::epoll_event { events: libc::EPOLLIN.cast_unsigned(), u64: 7 };
    let add = [
        epoll,
        libc::EPOLL_CTL_ADD.into(),
        one.as_raw_fd().into(),
        std::ptr::from_ref(&event) as i64,
        0,
    ];
    call(libc::SYS_epoll_ctl, add)?;
    let mut found = libc::epoll_event { events: 0, u64: 0 };
    let at = std::ptr::from_mut(&mut found) as i64;
    let count = call(libc::SYS_epoll_pwait, [epoll, at, 1, 1000, 0])?;
    assert_eq!((count, found.u64), (1, 7));
    let wake = call(libc::SYS_eventfd2, [0, libc::EFD_CLOEXEC.into(), 0, 0, 0])?;
    call(libc::SYS_close, [wake, 0, 0, 0, 0])?;
    one.read_exact(&mut [0])
}

fn interfaces() -> io::Result<()> {
    let kind = i64::from(libc::SOCK_RAW | libc::SOCK_CLOEXEC);
    let family = i64::from(libc::AF_NETLINK);
    call(libc::SYS_socket, [family, kind, libc::NETLINK_ROUTE.into(), 0, 0]).map(drop)
}

/// The process ends by a signal to itself.
pub fn abort() -> Vec<Attempt> {
    vec![attempt("abort", ALWAYS, |_| std::process::abort())]
}

#[test]
fn a_confined_daemon_can_do_all_of_its_work() {
    let parent = Parent::new();
    let seen = parent.run("allowed", Sandbox::Wide);
    for Attempt { name, .. } in attempts() {
        assert_eq!(seen.error(&name), 0, "{name}");
    }
    let log = parent.place.path("log");
    assert_eq!(fs::read(log.join("run.mcap")).unwrap(), b"new");
    assert!(File::open(log.join("run.1.mcap")).is_err());
}

#[test]
fn without_unix_endpoints_host_names_and_children_the_rest_still_works() {
    let seen = Parent::new().run("allowed", Sandbox::All);
    let narrower = ["unix socket", "lock beside a unix socket", "host name", "end a child"];
    for Attempt { name, .. } in attempts() {
        // the resolver answers this name by itself where it may read no file
        if name != "host name" {
            assert_eq!(seen.error(&name) == 0, !narrower.contains(&&*name), "{name}");
        }
    }
}

#[test]
fn a_confined_process_can_abort() {
    use std::os::unix::process::ExitStatusExt as _;
    let out = Parent::new().output("abort", Sandbox::All);
    assert_eq!(out.status.signal(), Some(libc::SIGABRT), "{out:?}");
}
