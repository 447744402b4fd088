//! Rules of the house that the compiler does not know, kept by a test. Each rule has a test of its
//! own that sees it fail.

use std::fs;
use std::path::{Path, PathBuf};

/// Which rooms a room may use. `error`, `limits`, `fault_point`, `path_text` and
/// itself are always allowed.
const ROOMS: [(&str, &[&str]); 56] = [
    ("error", &[]),
    ("protocol", &[]),
    ("client", &["protocol"]),
    ("capi", &["client", "protocol"]),
    ("log", &[]),
    ("limits", &[]),
    ("fault_point", &[]),
    ("path_text", &[]),
    ("math", &["simd"]),
    ("simd", &[]),
    ("buffer_pool", &[]),
    ("spatial", &["math", "simd"]),
    ("model", &["math", "spatial"]),
    ("urdf", &["math", "spatial", "model"]),
    ("dynamics", &["math", "simd", "spatial", "model"]),
    ("contact", &["math", "simd", "spatial"]),
    ("actuator", &["math", "simd", "spatial", "model"]),
    ("sensor", &["math", "spatial", "model", "actuator"]),
    ("plant", PHYSICS),
    ("simulation", SIMULATION),
    ("rt", &["spatial", "simulation", "plant", "buffer_pool", "config"]),
    ("ingress", &["simulation", "spatial", "model", "contact", "plant", "buffer_pool"]),
    ("desk", &["simulation", "buffer_pool", "rt", "ingress", "config"]),
    ("replay", &["simulation", "plant", "rt", "ingress", "config", "ros2"]),
    ("inspect", &["simulation", "math", "model", "plant", "rt", "replay", "config"]),
    ("bus", &["simulation", "plant", "buffer_pool", "rt", "ingress", "desk", "config", "client"]),
    ("dds", &["bus"]),
    ("ros2", ROS2),
    ("ports", &["simulation", "buffer_pool", "rt", "ingress", "desk", "bus"]),
    ("buses", &["spatial", "simulation", "buffer_pool", "rt", "config", "ports"]),
    ("lcm", &["spatial", "rt", "config", "ports"]),
    ("config", CONFIG),
    ("daemon", ALL),
    ("doctor", ALL),
    ("process_harness", ALL),
    ("certify", ALL),
    ("campaign", TRIALS),
    ("hunt", &["config", "math", "model", "campaign", "optimize"]),
    ("robot_log", &["model", "inspect", "replay", "ros2"]),
    ("calibrate", CALIBRATE),
    ("view", VIEW),
    ("playground", &[]),
    ("trot", &[]),
    ("matrix", &[]),
    ("student", &["math"]),
    ("mjcf", &["math", "matrix", "spatial", "urdf"]),
    ("scaffold", ALL),
    ("optimize", &["math"]),
    ("python", &["dynamics", "model", "spatial"]),
    ("policy", &[]),
    ("port", &[]),
    ("controllers", &["client"]),
    ("sandbox", &[]),
    ("geometry", &[]),
    ("motors", &[]),
    ("cli", ALL),
];
const PHYSICS: &[&str] =
    &["math", "simd", "spatial", "model", "dynamics", "contact", "actuator", "sensor"];
const SIMULATION: &[&str] =
    &["spatial", "model", "dynamics", "contact", "actuator", "sensor", "plant"];
const CONFIG: &[&str] = &[
    "simulation",
    "mjcf",
    "math",
    "spatial",
    "model",
    "urdf",
    "dynamics",
    "contact",
    "actuator",
    "sensor",
    "plant",
];
const ROS2: &[&str] = &[
    "simulation",
    "spatial",
    "model",
    "sensor",
    "plant",
    "buffer_pool",
    "ingress",
    "desk",
    "bus",
    "config",
    "rt",
    "dds",
    "ports",
];
const ALL: &[&str] = &[
    "simulation",
    "math",
    "spatial",
    "model",
    "urdf",
    "mjcf",
    "scaffold",
    "dynamics",
    "contact",
    "actuator",
    "sensor",
    "plant",
    "rt",
    "buffer_pool",
    "ingress",
    "desk",
    "replay",
    "inspect",
    "client",
    "bus",
    "dds",
    "ports",
    "buses",
    "lcm",
    "ros2",
    "config",
    "daemon",
    "doctor",
    "process_harness",
    "certify",
    "campaign",
    "hunt",
    "robot_log",
    "calibrate",
    "view",
];

const CALIBRATE: &[&str] = &[
    "matrix",
    "student",
    "robot_log",
    "config",
    "model",
    "spatial",
    "math",
    "dynamics",
    "actuator",
    "plant",
    "optimize",
];
const VIEW: &[&str] = &["simulation", "plant", "config", "ingress", "inspect", "replay", "client"];
const TRIALS: &[&str] = &[
    "simulation",
    "math",
    "student",
    "plant",
    "config",
    "ingress",
    "inspect",
    "replay",
    "daemon",
    "process_harness",
    "certify",
    "view",
];

/// Calls whose bits depend on the machine, or that cost determinism in another way.
const BANNED_CALLS: [&str; 22] = [
    ".exp(",
    ".exp2(",
    ".exp_m1(",
    ".ln(",
    ".ln_1p(",
    ".log(",
    ".log2(",
    ".log10(",
    ".powf(",
    ".powi(",
    ".sin(",
    ".cos(",
    ".tan(",
    ".sin_cos(",
    ".asin(",
    ".acos(",
    ".atan(",
    ".atan2(",
    ".hypot(",
    ".cbrt(",
    ".mul_add(",
    "SystemTime::now",
];

const LINE_MAX: usize = 100;
const FILE_MAX: usize = 600;
const FUNCTION_MAX: usize = 70;
/// Files that serve the reader better in one piece, and why.
const LONG_FILES: [(&str, &str); 1] =
    [("src/cli/arguments.rs", "the whole command line as one table")];

fn sources() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("src"), root.join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                // rules are for sources; tests may use every room
                if path.file_name().is_some_and(|name| name != "tests") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    found
}

/// The room of a file: the first folder or file name below `src`.
/// A crate besides the physics is one room.
fn room_of(path: &Path) -> String {
    let crates = path.components().skip_while(|c| c.as_os_str() != "crates").nth(1);
    if let Some(name) = crates.filter(|name| name.as_os_str() != "physics") {
        return name.as_os_str().to_string_lossy().into_owned();
    }
    // benchmarks of the physics use all of it, as its uppermost room does
    let Some(below) = path.components().skip_while(|c| c.as_os_str() != "src").nth(1) else {
        return "plant".into();
    };
    below.as_os_str().to_string_lossy().trim_end_matches(".rs").to_string()
}

/// A line without its comment.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or("")
}

fn forbidden_imports(room: &str, text: &str) -> Vec<String> {
    let Some((_, allowed)) = ROOMS.iter().find(|(r, _)| *r == room) else {
        return vec![format!("room `{room}` is not in the table of tests/it/tidy.rs")];
    };
    let mut out = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let line = code(line).replace("hardstand_physics::", "crate::");
        let line = line.replace("hardstand_client::", "crate::client::");
        for used in line.split("crate::").skip(1) {
            let name: String =
                used.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            let is_room = ROOMS.iter().any(|(r, _)| *r == name);
            let free =
                name == room || ["limits", "fault_point", "path_text"].contains(&name.as_str());
            if is_room && !free && !allowed.contains(&name.as_str()) {
                out.push(format!("line {}: `{room}` may not use `{name}`", n + 1));
            }
        }
    }
    out
}

fn banned_calls(room: &str, text: &str) -> Vec<String> {
    // a viewer's numbers are for the eye, and its channels have a method `log`
    if room == "math" || room == "view" {
        return Vec::new();
    }
    let mut out = Vec::new();
    for (n, line) in text.lines().enumerate() {
        for call in BANNED_CALLS.iter().filter(|c| code(line).contains(*c)) {
            out.push(format!("line {}: `{call}`: use hardstand_physics::math", n + 1));
        }
        // controllers use nothing of the simulation, so libm itself
        if !matches!(room, "trot" | "policy") && code(line).contains("libm::") {
            out.push(format!("line {}: `libm`: use hardstand_physics::math", n + 1));
        }
    }
    out
}

fn untidy(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() > FILE_MAX {
        out.push(format!("{} lines; at most {FILE_MAX}", lines.len()));
    }
    let mut begun = None;
    for (n, line) in lines.iter().enumerate() {
        if line.chars().count() > LINE_MAX {
            out.push(format!("line {}: longer than {LINE_MAX} columns", n + 1));
        }
        for mark in ["FIXME", "XXX", "todo!(", "unimplemented!(", "dbg!("] {
            if line.contains(mark) {
                out.push(format!("line {}: `{mark}` is left over", n + 1));
            }
        }
        let indent = line.len() - line.trim_start().len();
        let words = code(line).trim_start();
        if ["fn ", "pub fn ", "pub(", "const fn ", "pub const fn "]
            .iter()
            .any(|w| words.starts_with(w))
            && words.contains("fn ")
            && !words.trim_end().ends_with(';')
            && begun.is_none()
        {
            begun = Some((n, indent));
        }
        if let Some((start, depth)) = begun
            && (*line == format!("{}}}", " ".repeat(depth)) || (n == start && line.ends_with('}')))
        {
            if n - start + 1 > FUNCTION_MAX {
                let length = n - start + 1;
                out.push(format!("line {}: a function of {length} lines", start + 1));
            }
            begun = None;
        }
    }
    out
}

fn unsafe_code(text: &str) -> Vec<String> {
    let found = text.lines().enumerate().filter(|(_, l)| {
        code(l).split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == "unsafe")
    });
    found.map(|(n, _)| format!("line {}: unsafe code", n + 1)).collect()
}

fn assert_clean(rule: &str, check: impl Fn(&str, &str) -> Vec<String>) {
    let mut mistakes = Vec::new();
    for (path, text) in sources() {
        let found = check(&room_of(&path), &text);
        mistakes.extend(found.into_iter().map(|m| format!("{}: {m}", path.display())));
    }
    assert!(mistakes.is_empty(), "{rule}:\n{}", mistakes.join("\n"));
}

#[test]
fn rooms_use_only_the_rooms_above_them() {
    assert_clean("imports", |room, text| {
        if room == "lib" || room == "main" { Vec::new() } else { forbidden_imports(room, text) }
    });
}

#[test]
fn an_import_from_below_is_seen() {
    let found = forbidden_imports(
        "contact",
        "use hardstand_physics::plant::State;\n// crate::bus is fine\n",
    );
    assert_eq!(found, ["line 1: `contact` may not use `plant`"]);
    let found = forbidden_imports("ingress", "use hardstand_client::Client;");
    assert_eq!(found, ["line 1: `ingress` may not use `client`"]);
    assert_eq!(
        forbidden_imports("bus", "use hardstand_physics::plant::State;"),
        Vec::<String>::new()
    );
}

#[test]
fn transcendental_functions_come_from_math() {
    assert_clean("transcendental calls", banned_calls);
}

#[test]
fn a_transcendental_call_is_seen() {
    let found = banned_calls("contact", "let y = x.exp();");
    assert_eq!(found, ["line 1: `.exp(`: use hardstand_physics::math"]);
    assert!(banned_calls("math", "libm::exp(x)").is_empty());
    assert!(banned_calls("policy", "libm::expf(x)").is_empty());
    assert_eq!(banned_calls("policy", "let y = x.tan();").len(), 1);
}

#[test]
fn files_functions_and_lines_are_short_and_nothing_is_left_over() {
    let long = |path: &Path| LONG_FILES.iter().any(|(name, _)| path.ends_with(name));
    let mistakes = sources().into_iter().flat_map(|(path, text)| {
        let found = untidy(&text).into_iter();
        let found = found.filter(|m| !(m.ends_with("lines; at most 600") && long(&path)));
        found.map(|m| format!("{}: {m}", path.display())).collect::<Vec<_>>()
    });
    let mistakes: Vec<String> = mistakes.collect();
    assert!(mistakes.is_empty(), "tidiness:\n{}", mistakes.join("\n"));
}

#[test]
fn untidiness_is_seen() {
    let long = format!("fn f() {{\n{}}}\n", "    x();\n".repeat(80));
    assert_eq!(untidy(&long), ["line 1: a function of 82 lines"]);
    assert_eq!(untidy(&"x".repeat(101)), ["line 1: longer than 100 columns"]);
    assert_eq!(untidy("// FIXME later"), ["line 1: `FIXME` is left over"]);
}

/// Words that leave open which program, thread or person is meant.
const VAGUE: [&str; 6] = ["whoever", "somebody", "nobody", "anybody", "befall", "befalls"];

fn vague(text: &str) -> Vec<String> {
    let word = |c: char| !c.is_alphanumeric() && c != '_';
    let found = text.lines().enumerate().filter_map(|(n, line)| {
        let found = line.split(word).find(|w| VAGUE.contains(&w.to_lowercase().as_str()))?;
        Some(format!("line {}: \"{found}\": name the thing that is meant", n + 1))
    });
    found.collect()
}

#[test]
fn texts_name_what_they_mean() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let code = sources().into_iter().filter(|(path, _)| {
        let path = path.strip_prefix(root).unwrap();
        path.components().any(|c| c.as_os_str() == "src") && !path.starts_with("tests")
    });
    let pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"].map(Into::into);
    let docs = fs::read_dir(root.join("docs")).unwrap();
    let docs = docs.map(|entry| entry.unwrap().path()).filter(|p| p.extension().is_some());
    let pages: Vec<PathBuf> = pages.into_iter().chain(docs).collect();
    assert!(pages.len() > 15, "{pages:?}");
    let pages = pages.into_iter().filter(|p| p.extension().is_some_and(|e| e == "md"));
    let pages = pages.map(|p| (root.join(&p), fs::read_to_string(root.join(&p)).unwrap()));
    let mistakes: Vec<String> = code
        .chain(pages)
        .flat_map(|(path, text)| {
            vague(&text).into_iter().map(move |m| format!("{}: {m}", path.display()))
        })
        .collect();
    assert!(mistakes.is_empty(), "words:\n{}", mistakes.join("\n"));
    assert_eq!(vague("x\nNobody reads it"), ["line 2: \"Nobody\": name the thing that is meant"]);
}

/// The files that may be unsafe: names that C calls, and its pointers; AVX2; the memory of a page;
/// system calls, and a signal handler.
const UNSAFE: [&str; 11] = [
    "crates/capi/src/ffi/client.rs",
    "crates/capi/src/ffi/controller.rs",
    "crates/capi/src/ffi/events.rs",
    "crates/capi/src/ffi/faults.rs",
    "crates/capi/src/ffi/orders.rs",
    "crates/capi/src/ffi/pointers.rs",
    "crates/physics/src/simd/avx2.rs",
    "crates/playground/src/module.rs",
    "crates/port/src/bus_error.rs",
    "crates/port/src/mapped.rs",
    "src/rt/thread.rs",
];

#[test]
fn unsafe_code_has_few_homes() {
    let mut seen = 0;
    let mut mistakes = Vec::new();
    for (path, text) in sources() {
        let found = unsafe_code(&text);
        if UNSAFE.iter().any(|home| path.ends_with(home)) {
            seen += usize::from(!found.is_empty());
        } else {
            mistakes.extend(found.into_iter().map(|m| format!("{}: {m}", path.display())));
        }
    }
    assert!(mistakes.is_empty(), "unsafe outside {UNSAFE:?}:\n{}", mistakes.join("\n"));
    assert_eq!(
        seen,
        UNSAFE.len(),
        "one of {UNSAFE:?} is not unsafe or not there: shorten this test"
    );
    assert_eq!(unsafe_code("let x = unsafe { f() };"), ["line 1: unsafe code"]);
}

/// The tests that a table names: the file, and the function if it names one.
fn named_tests(table: &str) -> Vec<(&str, &str)> {
    let paths = table.split('`').skip(1).step_by(2);
    let paths = paths.filter(|p| p.starts_with("tests/it/") || p.starts_with("crates/"));
    paths.map(|p| p.split_once("::").unwrap_or((p, ""))).collect()
}

#[test]
fn the_promises_name_tests_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/promises.md")).unwrap();
    let (_, table) = page.split_once("\n## Promises and their tests\n").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();
    let named = named_tests(table);
    assert!(named.len() > 100, "docs/promises.md names {} tests", named.len());
    for (file, function) in named {
        let text = fs::read_to_string(root.join(file))
            .unwrap_or_else(|e| panic!("docs/promises.md names {file}: {e}"));
        let exists = text.contains(&format!("fn {function}"));
        assert!(exists, "docs/promises.md names {function}, which is not in {file}");
    }
}

#[test]
fn a_test_that_a_promise_names_is_found() {
    let row = "| DET-1 | `x` | `tests/it/a.rs`, `crates/physics/tests/it/b.rs::c` | `cargo test` |";
    let expected = [("tests/it/a.rs", ""), ("crates/physics/tests/it/b.rs", "c")];
    assert_eq!(named_tests(row), expected);
}

/// zenoh without its default features, bincode pinned: both are promises of the manifest.
#[test]
fn the_manifest_keeps_its_promises() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let line = |name: &str| manifest.lines().find(|l| l.starts_with(name)).unwrap().to_string();
    assert!(line("zenoh = {").contains("default-features = false"));
    assert!(line("bincode = {").contains("\"=2.0.1\""));
    let lock = fs::read_to_string(root.join("Cargo.lock")).unwrap();
    assert!(!lock.contains("git+"), "a crate comes from git");
    for absent in ["quinn", "matrixmultiply"] {
        assert!(!lock.contains(&format!("name = \"{absent}\"\n")), "{absent} is in the tree");
    }
    // TLS and its C come with the feature of that name only
    assert_eq!(line("default = ["), "default = [\"zenoh\", \"view\"]");
    let of_the_bus = [
        "zenoh",
        "zenoh-runtime",
        "hardstand-client",
        "hardstand-policy",
        "zenoh-ext",
        "tracing-core",
        "parquet",
        "sha2",
        "ed25519-compact",
        "nix",
        "socketcan",
    ];
    let of_the_bus = of_the_bus.map(|name| format!("\"dep:{name}\"")).join(", ");
    let of_the_bus = format!("{of_the_bus}, \"hardstand-controllers/bus\"");
    assert_eq!(line("zenoh = ["), format!("zenoh = [{of_the_bus}]"));
    let tls = ["zenoh", "hardstand-client/tls", "hardstand-view?/tls"];
    assert_eq!(line("tls = ["), format!("tls = {tls:?}"));
    assert!(!line("zenoh = {").contains("tls"));
    let client = fs::read_to_string(root.join("crates/client/Cargo.toml")).unwrap();
    assert!(client.contains("\ntls = [\"zenoh/transport_tls\"]\n"));
    let (_, uses) = client.split_once("\n[dependencies]\n").unwrap();
    let (uses, _) = uses.split_once("\n[").unwrap();
    for other in ["hardstand-physics", "hardstand-log", "hardstand ="] {
        assert!(!uses.contains(other), "the client depends on {other}");
    }
    for named in ["ring", "rustls"] {
        assert!(!manifest.contains(&format!("\n{named} =")), "{named} is in the manifest");
    }
}
