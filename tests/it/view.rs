//! The page's server and files: with clients of other makers. tests in `web/test` drive a browser.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::common::process::{Log, Observer, Process, Scene, digest, serial, wait_for};
use flate2::read::GzDecoder;
use rustix::process::Signal;
use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest as _;
use tungstenite::{Message, WebSocket};

const HARDSTAND: &str = env!("CARGO_BIN_EXE_hardstand");
/// The server pings, so that a read alone does not end.
const WITHIN: Duration = Duration::from_secs(20);
const FRAME: &str = "/hardstand/frame";
const OTHER_SCENE: &str = "/hardstand/other_scene";
const OTHER_FRAME: &str = "/hardstand/other_frame";

/// `hardstand view` of a scene, and the address of its page.
fn view(scene: &Scene, more: &[&str]) -> (Process, String) {
    let fixed = ["view", "--connect", &scene.endpoint, "--listen", "127.0.0.1:0", "--json"];
    let viewer = scene.hardstand("view", &[&fixed, more].concat());
    let line = wait_for("the page's address", || Some(viewer.out()).filter(|o| o.contains('\n')));
    let url = serde_json::from_str::<Value>(&line).unwrap()["url"].as_str().unwrap().to_string();
    (viewer, url.trim_start_matches("http://").trim_end_matches('/').into())
}

/// The answer to a request, head and body.
fn http(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

fn get(address: &str, path: &str, more: &str) -> String {
    http(address, &format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n{more}\r\n"))
}

/// A page, as far as the wire shows it.
struct Page {
    socket: WebSocket<TcpStream>,
    channels: Vec<(u64, String)>,
    services: Vec<(u64, String)>,
}

impl Page {
    fn open(address: &str, topics: &[&str]) -> Self {
        Self::open_from(None, address, topics)
    }

    /// As a browser opens it for a page of the site `origin`.
    fn open_from(origin: Option<&str>, address: &str, topics: &[&str]) -> Self {
        let mut request = format!("ws://{address}/").into_client_request().unwrap();
        if let Some(origin) = origin {
            request.headers_mut().insert("Origin", origin.parse().unwrap());
        }
        let protocol = "foxglove.sdk.v1".parse().unwrap();
        request.headers_mut().insert("Sec-WebSocket-Protocol", protocol);
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let (socket, _) = tungstenite::client(request, stream).unwrap();
        let mut page = Self { socket, channels: Vec::new(), services: Vec::new() };
        while page.channels.len() < 10 || page.services.len() < 14 {
            let Message::Text(text) = page.socket.read().unwrap() else { continue };
            let message: Value = serde_json::from_str(&text).unwrap();
            let named = |list: &str, name: &str| -> Vec<(u64, String)> {
                let all = message[list].as_array().cloned().unwrap_or_default();
                let one = |c: &Value| (c["id"].as_u64().unwrap(), c[name].as_str().unwrap().into());
                all.iter().map(one).collect()
            };
            page.channels.extend(named("channels", "topic"));
            page.services.extend(named("services", "name"));
        }
        let wanted = page.channels.iter().filter(|(_, topic)| topics.contains(&topic.as_str()));
        let list: Vec<Value> = wanted.map(|(id, _)| json!({ "id": id, "channelId": id })).collect();
        assert_eq!(list.len(), topics.len(), "{:?}", page.channels);
        let subscribe = json!({ "op": "subscribe", "subscriptions": list }).to_string();
        page.socket.send(Message::text(subscribe)).unwrap();
        page
    }

    /// The next message of a topic.
    fn next(&mut self, topic: &str) -> Value {
        let id = self.channels.iter().find(|(_, t)| t == topic).unwrap().0;
        let begin = Instant::now();
        loop {
            assert!(begin.elapsed() < WITHIN, "nothing on {topic}");
            let Message::Binary(bytes) = self.socket.read().unwrap() else { continue };
            if bytes[0] == 1 && u64::from(u32::from_le_bytes(bytes[1..5].try_into().unwrap())) == id
            {
                return serde_json::from_slice(&bytes[13..]).unwrap();
            }
        }
    }

    /// The next frame for which `wanted` holds.
    fn frame(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        let begin = Instant::now();
        loop {
            let frame = self.next(FRAME);
            if wanted(&frame) {
                return frame;
            }
            assert!(begin.elapsed() < Duration::from_secs(20), "{frame}");
        }
    }

    /// The next message of a topic about the robot `name` for which `wanted` holds.
    fn about(&mut self, topic: &str, name: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let begin = Instant::now();
        loop {
            let message = self.next(topic);
            if message["name"] == name && wanted(&message) {
                return message;
            }
            assert!(begin.elapsed() < WITHIN, "{message}");
        }
    }

    /// Gives an order; the answer.
    fn order(&mut self, name: &str, request: &Value) -> Value {
        let name = format!("/hardstand/{name}");
        let id = self.services.iter().find(|(_, n)| *n == name).unwrap().0 as u32;
        let mut call = vec![2];
        call.extend(id.to_le_bytes());
        call.extend(7_u32.to_le_bytes());
        call.extend(4_u32.to_le_bytes());
        call.extend(b"json");
        call.extend(request.to_string().as_bytes());
        self.socket.send(Message::binary(call)).unwrap();
        let begin = Instant::now();
        loop {
            assert!(begin.elapsed() < WITHIN, "no answer to {name}");
            let Message::Binary(bytes) = self.socket.read().unwrap() else { continue };
            if bytes[0] == 3 {
                return serde_json::from_slice(&bytes[17..]).unwrap();
            }
        }
    }
}

/// A run in lockstep; `during` has it while it runs at a tenth of real time.
fn lockstep(scene: &Scene, during: impl FnOnce()) -> String {
    let mode = ["--mode", "lockstep", "--speed", "0.2", "--duration", "0.6"];
    let mut daemon = scene.daemon(&mode);
    let fixed = ["controller", "stand", "--connect", &scene.endpoint, "--join", "legs"];
    let _controller = scene.hardstand("controller", &fixed);
    during();
    digest(&daemon.ends_with(0))
}

#[test]
fn ten_pages_of_which_one_is_stopped_change_no_digest() {
    let _one = serial();
    let alone = lockstep(&Scene::new(), || ());
    let scene = Scene::new();
    let (_viewer, address) = view(&scene, &[]);
    let watched = lockstep(&scene, || {
        let all = [FRAME, "/hardstand/scene", "/contact_forces", "/tf", "/joint_states"];
        let mut pages: Vec<Page> = (0..10).map(|_| Page::open(&address, &all)).collect();
        let _stopped = pages.pop();
        for page in &mut pages {
            let first = page.frame(|f| f["phase"] == "running");
            page.frame(|f| f["tick"].as_u64() > first["tick"].as_u64());
        }
    });
    assert_eq!(alone, watched);
}

#[test]
fn a_page_sees_the_robot_and_its_orders_reach_it() {
    let _one = serial();
    let scene = Scene::new();
    let (_viewer, address) = view(&scene, &[]);
    // before there is a daemon, the page says so
    let mut page = Page::open(&address, &["/hardstand/link", "/hardstand/scene", FRAME]);
    assert_eq!(page.next("/hardstand/link")["connected"], false);
    assert_eq!(page.order("pause", &json!({}))["ok"], false);
    let mut daemon = scene.daemon(&["--mode", "lockstep", "--speed", "1"]);
    let fixed = ["controller", "stand", "--connect", &scene.endpoint, "--join", "legs"];
    let _controller = scene.hardstand("controller", &fixed);
    let shown = page.next("/hardstand/scene");
    assert_eq!(
        (&shown["robot"], &shown["joints"][2]["name"]),
        (&json!("quadruped"), &json!("FL_calf_joint"))
    );
    assert!(shown["urdf"].as_str().unwrap().contains("<robot name=\"quadruped\">"));
    let observer = Observer::of(&scene);
    observer.until("it stands", |s| s.tick > 400);
    let owned = page.frame(|f| f["joint_owners"][0] == "legs");
    assert_eq!((&owned["joint_owners"][11], &owned["joint_ages"][11]), (&json!("legs"), &json!(0)));
    let answer = page.order("pause", &json!({}));
    assert_eq!(answer["ok"], true, "{answer}");
    let state = observer.until("a pause", |s| s.phase == 3);
    let frame = page.frame(|f| f["tick"] == state.tick && f["phase"] == "paused");
    assert_eq!(frame["digest"], format!("{:016x}", state.digest));
    assert_eq!(frame["q"][1].as_f64(), Some(state.joints[1].q));
    assert_eq!(frame["command"]["kp"][0], 100.0);
    let sum_n: f64 =
        frame["contacts"].as_array().unwrap().iter().map(|c| c["force"][2].as_f64().unwrap()).sum();
    let weight_n = shown["mass_kg"].as_f64().unwrap() * 9.81;
    assert!((sum_n - weight_n).abs() < 0.05 * weight_n, "{sum_n} N of {weight_n} N");

    // there and back again: the same bits
    assert_eq!(page.order("step", &json!({ "ticks": 12 }))["ok"], true);
    page.frame(|f| f["tick"] == state.tick + 12);
    for (ticks, at) in [(-5, 7), (-4, 3), (-3, 0)] {
        let answer = page.order("step", &json!({ "ticks": ticks }));
        assert_eq!(
            (&answer["ok"], &answer["tick"]),
            (&json!(true), &json!(state.tick + at)),
            "{answer}"
        );
    }
    let back = page.frame(|f| f["tick"] == state.tick && f["run_id"] == 4);
    assert_eq!(back["digest"], frame["digest"]);
    assert_eq!((&back["q"], &back["base"]), (&frame["q"], &frame["base"]));
    let answer = page.order("step", &json!({ "ticks": -1_000_000 }));
    assert_eq!(answer["ok"], false);
    assert!(answer["text"].as_str().unwrap().contains("ticks to go back"), "{answer}");

    let fault = json!({ "kind": "motor_derated", "joint": "FL_calf_joint", "share": 0.5, "duration_s": 0.1 });
    assert_eq!(page.order("fault", &fault)["ok"], true);
    let velocity = json!([0.3, -0.1, 0.2]);
    assert_eq!(page.order("cmd_vel", &json!({ "velocity": velocity }))["ok"], true);
    assert_eq!(page.order("step", &json!({ "ticks": 2 }))["ok"], true);
    page.frame(|f| f["velocity_command"] == velocity);
    let fast = page.order("cmd_vel", &json!({ "velocity": [300.0, 0.0, 0.0] }));
    assert_eq!(fast["ok"], false, "{fast}");
    let none = page.order("fault", &json!({ "kind": "gremlins" }));
    assert!(none["text"].as_str().unwrap().contains("gremlins"), "{none}");
    assert_eq!(page.order("stop", &json!({}))["ok"], true);
    page.frame(|f| f["authority"] == "stopped" || f["phase"] == "paused");
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    scene.replays();
    let gone =
        std::iter::repeat_with(|| page.next("/hardstand/link")).find(|l| l["connected"] == false);
    assert!(gone.is_some());
}

#[test]
fn a_page_of_another_site_reaches_nothing() {
    let _one = serial();
    let scene = Scene::new();
    let secret = scene.path("secret");
    std::fs::write(&secret, "sesame").unwrap();
    std::fs::set_permissions(&secret, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let (_viewer, address) = view(&scene, &[]);
    assert!(get(&address, "/", "").contains("<title>"));
    assert!(get(&address, "/run", "").starts_with("HTTP/1.1 204"));
    for path in ["/../Cargo.toml", "/mesh/../../etc/passwd", "/mesh/0.stl"] {
        assert!(get(&address, path, "").starts_with("HTTP/1.1 404"), "{path}");
    }
    let evil = "Origin: http://evil.example\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
    assert!(get(&address, "/", evil).starts_with("HTTP/1.1 403"));
    // a name that a foreign DNS server may give this machine
    let request = "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n";
    assert!(http(&address, request).starts_with("HTTP/1.1 421"));
    assert!(
        http(&address, "PUT / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").starts_with("HTTP/1.1 405")
    );
    assert!(http(&address, "nonsense\r\n\r\n").starts_with("HTTP/1.1 400"));

    let secret = secret.display().to_string();
    let guard = ["--page-user", "ada", "--page-password-file", &secret];
    let (_guarded, address) = view(&scene, &guard);
    assert!(get(&address, "/", "").starts_with("HTTP/1.1 401"));
    // ada:sesamE, ada:sesame
    assert!(
        get(&address, "/", "Authorization: Basic YWRhOnNlc2FtRQ==\r\n").starts_with("HTTP/1.1 401")
    );
    assert!(
        get(&address, "/", "Authorization: Basic YWRhOnNlc2FtZQ==\r\n").starts_with("HTTP/1.1 200")
    );
    let open = ["view", "--connect", &scene.endpoint, "--listen", "0.0.0.0:0"];
    let refused = scene.hardstand("open", &open).ends_with(2);
    assert!(refused.contains("can be reached from other machines"), "{refused}");
}

/// Ports of this machine on which a process listens.
fn ports_of(process: &Process) -> Vec<u16> {
    let sockets: Vec<String> = std::fs::read_dir(format!("/proc/{}/fd", process.pid()))
        .unwrap()
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .filter_map(|to| {
            Some(to.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_string())
        })
        .collect();
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let listens = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let own = words.get(3) == Some(&"0A") && sockets.contains(&words.get(9)?.to_string());
        let (_, port) = words.get(1).filter(|_| own)?.split_once(':')?;
        u16::from_str_radix(port, 16).ok()
    };
    table.lines().filter_map(listens).collect()
}

/// The WebSocket behind the door has a port of its own, which a program or a site can find.
#[test]
fn who_does_not_come_through_the_door_sees_and_orders_nothing() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&["--set", "sim.start=\"now\""]);
    let (viewer, address) = view(&scene, &[]);
    // one who comes through it sees the robot
    Page::open(&address, &[FRAME]).frame(|f| f["tick"].as_u64() > Some(0));
    let behind = ports_of(&viewer).into_iter().filter(|port| !address.ends_with(&port.to_string()));
    let behind: Vec<u16> = behind.collect();
    assert_eq!(behind.len(), 1, "{behind:?}");
    let behind = format!("127.0.0.1:{}", behind[0]);
    let evil = Some("https://evil.example");
    let mut page =
        Page::open_from(evil, &behind, &[FRAME, "/hardstand/scene", "/robot_description"]);
    let name = "/hardstand/stop".to_string();
    let id = page.services.iter().find(|(_, n)| *n == name).unwrap().0 as u32;
    let call = [&[2][..], &id.to_le_bytes(), &7_u32.to_le_bytes(), &4_u32.to_le_bytes(), b"json{}"];
    page.socket.send(Message::binary(call.concat())).unwrap();
    // the refusal, and nothing of the robot before it or in the second after it
    let begin = Instant::now();
    page.socket.get_ref().set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let mut refused = String::new();
    while begin.elapsed() < WITHIN {
        match page.socket.read() {
            Ok(Message::Text(text)) => refused += text.as_str(),
            Ok(Message::Binary(bytes)) => panic!("{bytes:?}"),
            Ok(_) => {}
            Err(_silence) => break,
        }
    }
    assert!(refused.contains("connect by the port of the page"), "{refused}");
    let frame = Page::open(&address, &[FRAME]).frame(|_| true);
    assert_ne!(frame["authority"], "stopped", "{frame}");
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}

/// Each from its own description and views; one that no daemon has is not drawn.
#[test]
fn the_other_robots_of_a_daemon_are_drawn_beside_the_one_of_the_page() {
    let _one = serial();
    let scene = Scene::new();
    let place =
        |name: &str, y: f64| format!("{{name={name:?}, initial={{position_m=[0, {y}, 0]}}}}");
    let robots = format!("robots=[{}, {}]", place("left", 0.5), place("right", -0.5));
    let sets = ["--set", &robots, "--set", "ros2.mode=off", "--set", "sim.start=now"];
    let mut daemon = scene.daemon(&sets);
    let with = ["--robot", "left", "--with", "right", "--with", "absent"];
    let (_viewer, address) = view(&scene, &with);
    // the second page comes late
    for _ in 0..2 {
        let mut page = Page::open(&address, &[FRAME, OTHER_SCENE, OTHER_FRAME]);
        let drawn = page.about(OTHER_SCENE, "right", |m| !m["robot"].is_null());
        let robot = &drawn["robot"];
        assert!(robot["urdf"].as_str().unwrap().contains("<robot"));
        assert_eq!(
            (&robot["base_link"], robot["joints"].as_array().unwrap().len()),
            (&json!("trunk"), 12)
        );
        let other = page.about(OTHER_FRAME, "right", |_| true);
        assert_eq!(other["q"].as_array().unwrap().len(), 12);
        let y = |frame: &Value| frame["base"]["p"][1].as_f64().unwrap();
        assert!((y(&other) + 0.5).abs() < 0.2, "{other}");
        let own = page.frame(|_| true);
        assert!((y(&own) - 0.5).abs() < 0.2, "{own}");
    }
    let mut page = Page::open(&address, &[OTHER_SCENE]);
    page.about(OTHER_SCENE, "absent", |m| m["robot"].is_null());
    daemon.signal(Signal::TERM);
    page.about(OTHER_SCENE, "right", |m| m["robot"].is_null());
    daemon.ends_with(0);
}

/// The header and the columns of a run file.
fn unpacked(html: &str, id: &str) -> (Value, Vec<u8>) {
    let start = format!("<script id=\"{id}\" type=\"text/plain\">");
    let text = html.rsplit_once(&start).expect(id).1.split_once('<').unwrap().0;
    let packed = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, text).unwrap();
    let mut bytes = Vec::new();
    GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
    assert_eq!(&bytes[..4], b"HSR1");
    let length = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
    (serde_json::from_slice(&bytes[8..8 + length]).unwrap(), bytes[8 + length..].to_vec())
}

fn record(scene: &Scene, log: &Path, sets: &[&str]) {
    let more = [&["--pace", "free", "--duration", "2"], sets].concat();
    let args = scene.run_args_with_log(log, &more);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    scene.hardstand("run", &args).ends_with(0);
}

#[test]
fn a_log_becomes_one_file_and_a_second_one_is_laid_over_it() {
    let _one = serial();
    let scene = Scene::new();
    let push =
        "events=[{at_s=1.0, kind=\"push\", link=\"trunk\", force_n=[0,50,0], duration_s=0.1}]";
    let (a, b) = (scene.path("a.mcap"), scene.path("b.mcap"));
    record(&scene, &a, &[]);
    record(&scene, &b, &["--set", push]);
    let [a, b, out] = [a, b, scene.path("run.html")].map(|p| p.display().to_string());
    let mut process = std::process::Command::new(HARDSTAND);
    let low = ["--where", "base.z < 0.3", "--where", "base.z < -5"];
    process.args(["page", &a, &b, "-o", &out, "--json"]).args(low);
    let said = Process::start(scene.dir.path(), "page", process).ends_with(0);
    let said: Value = serde_json::from_str(&said).unwrap();
    let html = std::fs::read_to_string(&out).unwrap();
    assert_eq!(said["bytes"], html.len());
    assert!(html.len() < 2_000_000, "{} bytes", html.len());
    let (head, columns) = unpacked(&html, "hardstand-run");
    let (frames, width) = (head["frames"].as_u64().unwrap() as usize, |c: &Value| {
        let size = match c["type"].as_str().unwrap() {
            "f64" => 8,
            "i32" | "f32" => 4,
            "i16" => 2,
            _ => 1,
        };
        size * c["width"].as_u64().unwrap() as usize
    });
    assert_eq!(frames, said["frames"].as_u64().unwrap() as usize);
    let list = head["columns"].as_array().unwrap();
    assert_eq!(columns.len(), frames * list.iter().map(width).sum::<usize>());
    // the digest of the last frame is that of the log's tick
    let before = list.iter().take_while(|c| c["name"] != "digest").map(width).sum::<usize>();
    let Log { ticks, states, .. } = Log::read(Path::new(&a));
    // a mark wherever the condition begins to hold
    let is_low = |i: usize| states[i].truth_base_position_m[2] < 0.3;
    let begins = (0..states.len()).filter(|&i| is_low(i) && (i == 0 || !is_low(i - 1)));
    let begins: Vec<Value> = begins
        .map(|i| json!({ "time_s": states[i].time_ns as f64 * 1e-9, "kind": "condition", "text": "base.z < 0.3" }))
        .collect();
    assert!(!begins.is_empty());
    let marks = head["marks"].as_array().unwrap().iter().filter(|m| m["kind"] == "condition");
    assert_eq!(marks.cloned().collect::<Vec<_>>(), begins);
    let shown = &columns[before * frames..][8 * (frames - 1)..][..8];
    let digest = u64::from_be_bytes(shown.try_into().unwrap());
    assert_eq!(ticks.last().unwrap().digest, digest);
    assert_eq!(head["first_difference"], Value::Null);

    let (second, _) = unpacked(&html, "hardstand-run2");
    let first_s = second["first_difference"]["time_s"].as_f64().unwrap();
    assert!((first_s - 1.001).abs() < 1e-9, "{}", second["first_difference"]);
    assert!(second["events"].as_array().unwrap().iter().any(|e| e["kind"] == "push"));
    assert!(second["marks"].as_array().unwrap().iter().any(|m| m["kind"] == "fault"));
}

/// The page and its WebSocket over TLS: openssl checks the certificate and speaks to both.
#[cfg(feature = "tls")]
#[test]
fn a_page_over_tls_proves_who_it_is() {
    let _one = serial();
    let scene = Scene::new();
    let Some(dir) = crate::security::tls::authority(&scene, "page-tls") else { return };
    let file = |name: &str| dir.join(name).display().to_string();
    let (certificate, key) = (file("daemon.pem"), file("daemon.key"));
    let own = ["--page-certificate", &certificate, "--page-key", &key];
    let (_viewer, url) = view(&scene, &own);
    let address = url.strip_prefix("https://").unwrap_or_else(|| panic!("{url}"));
    let port = address.rsplit_once(':').unwrap().1;
    let connect = format!("localhost:{port}");
    let ask = |ca: &str, request: &str| {
        let ca = file(ca);
        let mut openssl = std::process::Command::new("openssl");
        openssl.args(["s_client", "-quiet", "-connect", &connect, "-CAfile", &ca]);
        openssl.args(["-verify_return_error", "-verify_hostname", "localhost"]);
        let (input, output) = (std::process::Stdio::piped(), std::process::Stdio::piped());
        let child = openssl.stdin(input).stdout(output).stderr(std::process::Stdio::null());
        let mut child = child.spawn().unwrap();
        // refused certificates close the pipe
        let mut input = child.stdin.take().unwrap();
        let _refused = input.write_all(request.as_bytes()).is_ok();
        let mut answer = [0; 64];
        let n = child.stdout.as_mut().unwrap().read(&mut answer).unwrap();
        let _gone = child.kill().is_ok();
        child.wait().unwrap();
        String::from_utf8_lossy(&answer[..n]).into_owned()
    };
    let head = format!("GET / HTTP/1.1\r\nHost: {connect}\r\n");
    assert!(ask("ca.pem", &format!("{head}\r\n")).starts_with("HTTP/1.1 200"));
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                   Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
                   Sec-WebSocket-Protocol: foxglove.sdk.v1\r\n\r\n";
    assert!(ask("ca.pem", &format!("{head}{upgrade}")).starts_with("HTTP/1.1 101"));
    // another authority; and no TLS at all
    assert_eq!(ask("daemon.pem", &format!("{head}\r\n")), "");
    let mut plain = TcpStream::connect(("127.0.0.1", port.parse().unwrap())).unwrap();
    plain.write_all(format!("{head}\r\n").as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _closed = plain.read_to_end(&mut answer).is_ok();
    assert!(!answer.starts_with(b"HTTP"));
    // a key that others may read
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let fixed = ["view", "--listen", "127.0.0.1:0"];
    let refused = scene.hardstand("refused", &[&fixed[..], &own].concat()).ends_with(2);
    assert!(refused.contains("chmod 600"), "{refused}");
}
