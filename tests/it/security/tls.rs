//! Certificates of both sides: the commands of docs/security.md, run as they stand there.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hardstand_client::{Client, Credentials, TlsFiles};
use rustix::process::Signal;
use zenoh::qos::CongestionControl;
use zenoh::sample::Sample;
use zenoh::{Session, Wait};

use super::guarded::{counted, raw_session, status};
use crate::common::process::{PATIENCE, Process, Scene, repository, serial, wait_for};

/// The shell commands of the page, between ```sh and ```, that make certificates.
fn commands() -> String {
    let page = std::fs::read_to_string(repository("docs/security.md")).unwrap();
    let block = page.split("```sh\n").find(|b| b.contains("openssl req")).unwrap();
    block.split("```").next().unwrap().to_string()
}

/// A folder with an authority and certificates of the daemon, ctrl and view; `None` without
/// openssl.
pub(crate) fn authority(scene: &Scene, folder: &str) -> Option<PathBuf> {
    let dir = scene.path(folder);
    std::fs::create_dir(&dir).unwrap();
    if Command::new("openssl").arg("version").stdout(Stdio::null()).status().is_err() {
        eprintln!("SKIPPED: there is no openssl to make certificates");
        return None;
    }
    let text = commands().replace("HOST", "localhost");
    let made = Command::new("sh").args(["-ec", &text]).current_dir(&dir).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    Some(dir)
}

fn files(dir: &std::path::Path, name: &str) -> TlsFiles {
    let file = |name: String| dir.join(name);
    TlsFiles {
        certificate: file(format!("{name}.pem")),
        key: file(format!("{name}.key")),
        ca: file("ca.pem".into()),
    }
}

struct Certified {
    scene: Scene,
    daemon: Process,
    dir: PathBuf,
    endpoint: String,
}

fn daemon() -> Option<Certified> {
    let scene = Scene::tcp();
    let dir = authority(&scene, "tls")?;
    let port = scene.endpoint.rsplit_once(':').unwrap().1;
    let f = files(&dir, "daemon");
    let set = |key: &str, value: &str| format!("bus.{key}={value}");
    let quoted = |p: &PathBuf| format!("{:?}", p.display().to_string());
    let sets = [
        set("listen", &format!("[\"tls/0.0.0.0:{port}\"]")),
        set("users_file", ""),
        set("operators", "[]"),
        set("tls_certificate", &quoted(&f.certificate)),
        set("tls_key", &quoted(&f.key)),
        set("tls_ca", &quoted(&f.ca)),
        "command.hold_ticks=500".into(),
    ];
    let scenario = repository("config/networked.toml");
    let mut args = vec!["run", &scenario];
    sets.iter().for_each(|s| args.extend(["--set", s]));
    let daemon = scene.hardstand("daemon", &args);
    let endpoint = format!("tls/localhost:{port}");
    Some(Certified { scene, daemon, dir, endpoint })
}

/// A session with these settings of zenoh; true if it is let in and hears a state.
fn gets_in(endpoint: &str, tls: &[(&str, String)]) -> bool {
    let more: Vec<(&str, &str)> = tls.iter().map(|(k, v)| (*k, v.as_str())).collect();
    raw_session(endpoint, &more).is_some()
}

fn settings(ca: &std::path::Path, own: Option<&TlsFiles>) -> Vec<(&'static str, String)> {
    let quoted = |p: &std::path::Path| format!("{:?}", p.display().to_string());
    let mut out = vec![("transport/link/tls/root_ca_certificate", quoted(ca))];
    if let Some(own) = own {
        out.push(("transport/link/tls/enable_mtls", "true".into()));
        out.push(("transport/link/tls/connect_certificate", quoted(&own.certificate)));
        out.push(("transport/link/tls/connect_private_key", quoted(&own.key)));
    }
    out
}

/// Beside two sessions, a viewer may have six, and who may stop the robot one more.
fn the_name_decides_about_a_place(c: &Certified, controller: &mut Process) {
    let open = |name: &str| {
        let tls = settings(&c.dir.join("ca.pem"), Some(&files(&c.dir, name)));
        let more: Vec<(&str, &str)> = tls.iter().map(|(k, v)| (*k, v.as_str())).collect();
        raw_session(&c.endpoint, &more)
    };
    let viewers: Vec<_> = std::iter::from_fn(|| open("view")).take(9).collect();
    assert!(!controller.has_ended(), "{}", controller.err());
    assert_eq!(viewers.len(), 6);
    assert!(open("ctrl").is_some());
}

#[test]
fn only_certificates_of_the_authority_get_in_and_their_names_decide() {
    let _one = serial();
    let Some(mut c) = daemon() else { return };
    let strange = authority(&c.scene, "strange").unwrap();
    let file = |name: &str| c.dir.join(name).display().to_string();
    let own = [file("ctrl.pem"), file("ctrl.key"), file("ca.pem")];
    let mut controller = c.scene.hardstand(
        "controller",
        &[
            "controller",
            "stand",
            "--connect",
            &c.endpoint,
            "--tls-certificate",
            &own[0],
            "--tls-key",
            &own[1],
            "--tls-ca",
            &own[2],
        ],
    );
    let credentials = Credentials { user: None, tls: Some(files(&c.dir, "view")) };
    let viewer = Client::connect_as(&c.endpoint, "quadruped", &credentials).unwrap();
    let model = viewer.model(PATIENCE).unwrap();
    let mut states = viewer.control(&model).unwrap();
    let next = || states.next_state(PATIENCE).unwrap();
    let start = wait_for("the controller has the robot", || {
        next().filter(|s| s.tick > 500 && s.command_session != 0)
    });
    assert_eq!(status(&viewer).counter("sessions_denied"), 0);

    let ca = c.dir.join("ca.pem");
    assert!(!gets_in(&c.endpoint, &settings(&ca, None)), "without a certificate");
    counted(&viewer, "sessions_denied", 1);
    let other = files(&strange, "ctrl");
    assert!(!gets_in(&c.endpoint, &settings(&ca, Some(&other))), "of another authority");
    counted(&viewer, "sessions_denied", 2);
    let tcp = c.endpoint.replace("tls/", "tcp/");
    assert!(!gets_in(&tcp, &[]), "without TLS");
    counted(&viewer, "handshakes_failed", 1);
    // who asks for the daemon's certificate is not content with a stranger's
    assert!(!gets_in(&c.endpoint, &settings(&strange.join("ca.pem"), Some(&other))));

    // the viewer's certificate is good, but not for commands
    let state = states.next_state(PATIENCE).unwrap().unwrap();
    let joints = vec![hardstand_protocol::JointCommand::default(); state.joints.len()];
    states.send(&state, &joints).unwrap();
    counted(&viewer, "messages_denied", 1);
    let end = states.next_state(PATIENCE).unwrap().unwrap();
    assert_eq!((end.command_session, end.failure), (start.command_session, 0));
    the_name_decides_about_a_place(&c, &mut controller);
    drop((states, viewer));
    controller.kill();
    c.daemon.signal(Signal::TERM);
    let text = c.daemon.ends_with(0);
    assert!(!text.contains("PRIVATE"), "{text}");
}

#[test]
fn a_key_that_others_may_read_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::new();
    let Some(dir) = authority(&scene, "tls") else { return };
    let tls = files(&dir, "ctrl");
    std::fs::set_permissions(&tls.key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let credentials = Credentials { user: None, tls: Some(tls) };
    let e = Client::connect_as("tls/localhost:1", "quadruped", &credentials).unwrap_err();
    assert!(e.to_string().contains("its mode is 644"), "{e}");
}

/// Messages that each end of the link sends to the other, with this many bytes.
const SENT: usize = 150_000;
const BYTES: usize = 400;

/// The task that reads and the one that writes use the same TLS connection, on two threads.
#[test]
fn both_ends_of_a_link_may_send_at_once() {
    let _one = serial();
    let scene = Scene::tcp();
    let Some(dir) = authority(&scene, "tls") else { return };
    let endpoint = scene.endpoint.replace("tcp/127.0.0.1", "tls/localhost");
    let [here, there] = [("daemon", "listen"), ("ctrl", "connect")].map(|(name, side)| {
        let own = files(&dir, name);
        let mut config = zenoh::Config::default();
        let mut set = |key: &str, value: &str| config.insert_json5(key, value).unwrap();
        let quoted = |path: &PathBuf| format!("{:?}", path.display().to_string());
        set("scouting/multicast/enabled", "false");
        set("listen/endpoints", "[]");
        set(&format!("{side}/endpoints"), &format!("[{endpoint:?}]"));
        set("transport/link/tls/root_ca_certificate", &quoted(&own.ca));
        set(&format!("transport/link/tls/{side}_certificate"), &quoted(&own.certificate));
        set(&format!("transport/link/tls/{side}_private_key"), &quoted(&own.key));
        zenoh::open(config).wait().unwrap()
    });
    let heard = [("there", &here), ("here", &there)].map(|(key, session)| {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let take = move |sample: Sample| {
            assert_eq!(sample.payload().len(), BYTES);
            counted.fetch_add(1, Ordering::Relaxed);
        };
        session.declare_subscriber(key).callback(take).background().wait().unwrap();
        count
    });
    let send = |session: &Session, key: &'static str| {
        let publisher = session.declare_publisher(key).express(true);
        let publisher = publisher.congestion_control(CongestionControl::Block).wait().unwrap();
        wait_for("a subscriber", || {
            publisher.matching_status().wait().unwrap().matching().then_some(())
        });
        for _ in 0..SENT {
            publisher.put(vec![7; BYTES]).wait().unwrap();
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| send(&here, "here"));
        scope.spawn(|| send(&there, "there"));
    });
    for count in heard {
        wait_for("all are heard", || (count.load(Ordering::Relaxed) == SENT).then_some(()));
    }
}
