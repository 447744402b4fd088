//! Ports of motor buses: the link to a pseudo-terminal, and who has a TCP port.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::buses::{LEGS, bus, bus_of, daemon};
use crate::common::process::{Observer, Scene, serial};

/// A link that the daemon did not leave behind may be that of another daemon, of udev or socat.
#[test]
fn only_a_dead_link_to_a_pseudo_terminal_is_replaced_and_the_own_one_is_removed() {
    let _one = serial();
    let scene = Scene::in_memory();
    let port = scene.path("all");
    let buses = [bus("all", &port, &LEGS, "")];
    let link = |target: &str| {
        let _none_before = std::fs::remove_file(&port).is_ok();
        std::os::unix::fs::symlink(target, &port).unwrap();
    };
    // of a device that is not plugged in, and of one that is there
    for target in ["/dev/serial/by-id/usb-adapter", "/dev/null", "mine"] {
        link(target);
        let said = daemon(&scene, &buses, &[]).ends_with(2);
        assert!(said.contains(target) && said.contains("remove it"), "{said}");
        assert_eq!(std::fs::read_link(&port).unwrap(), Path::new(target));
    }
    link("/dev/pts/99999999");
    let mut first = daemon(&scene, &buses, &[]);
    Observer::of(&scene);
    let own = std::fs::read_link(&port).unwrap();
    assert_ne!(own, Path::new("/dev/pts/99999999"));
    // a second daemon with the same link
    let other = Scene::in_memory();
    let said = daemon(&other, &buses, &[]).ends_with(2);
    assert!(said.contains("another program"), "{said}");
    assert_eq!(std::fs::read_link(&port).unwrap(), own, "the first one keeps its link");
    first.signal(Signal::TERM);
    first.ends_with(0);
    assert!(port.symlink_metadata().is_err(), "the link is still there");
    // a daemon that was killed leaves a dead one
    let mut second = daemon(&scene, &buses, &[]);
    Observer::of(&scene);
    second.kill();
    let _ended = second.wait();
    let mut third = daemon(&scene, &buses, &[]);
    Observer::of(&scene);
    // a link that points elsewhere now is not the daemon's any more
    link("mine");
    third.signal(Signal::TERM);
    third.ends_with(0);
    assert_eq!(std::fs::read_link(&port).unwrap(), Path::new("mine"));
}

/// A program that connects and says nothing, or only noise, keeps no master from the bus.
#[test]
fn a_connection_without_frames_makes_room_for_a_master() {
    let _one = serial();
    let scene = Scene::in_memory();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let buses = [bus_of("all", "socketcand", Path::new(&free), &LEGS, "motor = \"odrive\"")];
    let mut daemon = daemon(&scene, &buses, &["--set", "sim.start=\"now\""]);
    let observer = Observer::of(&scene);
    let connect = || {
        let stream = TcpStream::connect(&free).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        stream
    };
    let hears = |stream: &mut TcpStream, what: &str| {
        let mut heard = Vec::new();
        let mut buffer = [0; 4096];
        let end = Instant::now() + Duration::from_secs(10);
        while Instant::now() < end && !String::from_utf8_lossy(&heard).contains(what) {
            match stream.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => heard.extend_from_slice(&buffer[..count]),
                Err(_) => {}
            }
        }
        String::from_utf8_lossy(&heard).into_owned()
    };
    let mut silent = connect();
    assert!(hears(&mut silent, "< hi >").contains("< hi >"));
    std::thread::sleep(Duration::from_millis(2500));
    silent.write_all(b"< open can0 >< rawmode >< send noise >").unwrap();
    let mut master = connect();
    assert!(hears(&mut master, "< hi >").contains("< hi >"), "the silent one keeps the bus");
    let said = hears(&mut silent, "another");
    assert!(said.contains("< error another master has connected >"), "{said}");
    master.write_all(b"< open can0 >< rawmode >").unwrap();
    assert!(hears(&mut master, "< ok >< ok >").contains("< ok >< ok >"));
    // a master that sends is not disturbed
    for _ in 0..30 {
        master.write_all(b"< send 007 0 >").unwrap();
        std::thread::sleep(Duration::from_millis(100));
    }
    let mut late = connect();
    let said = hears(&mut late, "another");
    assert!(said.contains("< error the bus has another master >"), "{said}");
    master.write_all(b"< echo >").unwrap();
    assert!(hears(&mut master, "< echo >").contains("< echo >"), "the master has lost the bus");
    observer.status_until("both are counted", |s| {
        s.counter("bus_all_masters_replaced") == 1 && s.counter("bus_all_masters_refused") == 1
    });
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}
