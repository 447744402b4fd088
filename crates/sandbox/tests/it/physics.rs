//! The physics thread's filter: the loop, its end and a panic work, nothing else does, and other
//! threads are not concerned.

use std::fs::File;
use std::hint::black_box;
use std::io::{self, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hardstand_sandbox::{confine_calls, confine_physics_thread, probe};

use crate::child::{Parent, Place, Sandbox};
use crate::outcome::errno_of;

/// The other process. `Sandbox::Wide` stands for the filter of the process before that of the
/// thread, `Sandbox::All` for the wrong order.
pub fn in_another_process(place: &Place, sandbox: Sandbox) -> ! {
    println!();
    if sandbox == Sandbox::Wide {
        let (go, goes) = sync_channel(0);
        let earlier = std::thread::spawn(move || {
            goes.recv().unwrap();
            crate::outcome::call(libc::SYS_getppid, [0; 5]).map(drop)
        });
        let applied = confine_calls(&Default::default());
        println!("attempt process before={}", applied.not_applied.len());
        go.send(()).unwrap();
        println!("attempt thread started before={}", errno_of(earlier.join().unwrap()));
    }
    let (path, shared) = (place.path("other/secret"), Arc::new(Mutex::new(0)));
    let (ready, confined) = sync_channel(1);
    let (go, goes) = sync_channel(1);
    let (count, file) = (Arc::clone(&shared), path.clone());
    let physics = std::thread::spawn(move || {
        let applied = confine_physics_thread();
        let opened = File::open(file).map(drop);
        let bound = TcpListener::bind("127.0.0.1:0").map(drop);
        let printed = rustix_write(libc::STDOUT_FILENO);
        let errors = [opened, bound, printed].map(errno_of);
        work_of_the_loop(&count);
        ready.send((applied, errors)).unwrap();
        goes.recv().unwrap();
        panic!("a defect of the loop");
    });
    let (applied, [opened, bound, printed]) = confined.recv().unwrap();
    println!("attempt thread confined={}", i32::from(!applied.seccomp));
    println!("attempt open a file={opened}");
    println!("attempt listen={bound}");
    println!("attempt write to another file than standard error={printed}");
    println!("attempt other thread opens a file={}", errno_of(File::open(&path).map(drop)));
    println!("attempt lock that the loop had={}", *shared.lock().unwrap() - 100);
    if sandbox == Sandbox::All {
        println!("attempt process after={}", confine_calls(&Default::default()).not_applied.len());
    }
    go.send(()).unwrap();
    println!("attempt join after a panic={}", i32::from(physics.join().is_ok()));
    std::process::exit(0);
}

/// Sleeps, and what a loop in lockstep, a debug build or an end may do.
fn work_of_the_loop(count: &Mutex<i32>) {
    let begin = Instant::now();
    for _ in 0..100 {
        std::thread::sleep(Duration::from_micros(50));
        *count.lock().unwrap() += 1;
        std::thread::yield_now();
        std::thread::park_timeout(Duration::from_micros(1));
        black_box(vec![1_u8; 1 << 20]);
    }
    assert!(begin.elapsed() >= Duration::from_millis(5));
    io::stderr().write_all(b"the loop ends\n").unwrap();
}

fn rustix_write(file: i32) -> io::Result<()> {
    let text = b"x";
    let arguments = [file.into(), text.as_ptr() as i64, 1, 0, 0];
    crate::outcome::call(libc::SYS_write, arguments).map(drop)
}

#[test]
fn the_loop_works_and_opens_nothing_while_other_threads_can() {
    let parent = Parent::new();
    let seen = parent.run("physics", Sandbox::None);
    assert_eq!(seen.error("thread confined"), 0);
    for refused in ["open a file", "listen", "write to another file than standard error"] {
        assert_eq!(seen.error(refused), libc::ENOSYS, "{refused}");
    }
    for works in ["other thread opens a file", "lock that the loop had", "join after a panic"] {
        assert_eq!(seen.error(works), 0, "{works}");
    }
    let out = parent.output("physics", Sandbox::None);
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(text.contains("the loop ends") && text.contains("a defect of the loop"), "{text}");
}

#[test]
fn the_filter_of_the_process_binds_all_threads_and_goes_before_that_of_the_loop() {
    let seen = Parent::new().run("physics", Sandbox::Wide);
    assert_eq!(seen.error("process before"), 0);
    assert_eq!(seen.error("thread started before"), libc::ENOSYS);
    assert_eq!(seen.error("thread confined"), 0);
    assert_eq!(seen.error("open a file"), libc::ENOSYS);
    assert_eq!(seen.error("join after a panic"), 0);
}

#[test]
fn the_wrong_order_is_reported() {
    let seen = Parent::new().run("physics", Sandbox::All);
    assert_eq!(seen.error("process after"), 1);
}

#[test]
fn a_probe_reports_and_confines_nothing() {
    let found = probe();
    assert!(found.seccomp, "{found:?}");
    assert_eq!(found.enforce(true).is_err(), !found.not_applied.is_empty());
    assert!(found.enforce(false).is_ok());
    assert!(File::open("/etc/passwd").is_ok());
    assert_eq!(probe(), found);
}
