//! `hardstand certify`: real daemons, real controllers, really stopped.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::bench::quadruped;
use crate::common::logs::{Script, run_of, write};
use crate::common::process::{Process, Scene, repository, wait_for};
use hardstand::certify::{Attribution, Reason, ReplayProblem, attribute, summarize};
use hardstand::daemon::{EndKind, reports};
use hardstand::process_harness::{Ended, FailureKind, Harness, REPORT};
use rustix::process::Signal;
use serde_json::Value;

const HARDSTAND: &str = env!("CARGO_BIN_EXE_hardstand");

/// What `certify` is told before the controller's command.
fn certify(scene: &Scene, more: &[&str], controller: &[&str]) -> Process {
    let listen = format!("bus.listen=[{:?}]", scene.endpoint);
    let (scenario, out) = (repository("config/quadruped.toml"), out(scene).display().to_string());
    let fixed = ["certify", &scenario, "--set", &listen, "--out", &out];
    scene.hardstand("certify", &[&fixed, more, &["--"], controller].concat())
}

fn out(scene: &Scene) -> PathBuf {
    scene.path("certificate")
}

fn json(scene: &Scene) -> Value {
    let text = std::fs::read_to_string(out(scene).join("certificate.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn run<'a>(certificate: &'a Value, name: &str) -> &'a Value {
    let runs = certificate["runs"].as_array().unwrap();
    runs.iter().find(|run| run["name"] == name).unwrap_or_else(|| panic!("{name}: {runs:#?}"))
}

/// A Python that has zenoh, or a plain word why there is none.
fn python() -> Option<String> {
    let python = std::env::var("HARDSTAND_PYTHON").unwrap_or_else(|_| "python3".into());
    let mut tried = Command::new(&python);
    tried.args(["-c", "import zenoh"]).stdin(Stdio::null()).stderr(Stdio::null());
    if tried.status().is_ok_and(|status| status.success()) {
        return Some(python);
    }
    eprintln!("SKIPPED: {python} cannot import zenoh; see tests/it/python.rs");
    None
}

/// Certifies a Python controller.
fn certify_python(scene: &Scene, python: &str, law: &str) -> Process {
    let file = repository("tests/certify/controller.py");
    certify(scene, &["--duration", "0.1"], &[python, &file, "--law", law])
}

/// Every run with what was done to it, the certificate, and the page.
fn assert_certified(scene: &Scene, ticks: u64) -> Value {
    let certificate = json(scene);
    assert_eq!(certificate["certified"], true, "{certificate:#}");
    assert_eq!(certificate["schema"], "hardstand.certificate.v2");
    let runs = certificate["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 9);
    let reference = &runs[0];
    for run in runs {
        let half = run["name"].as_str().unwrap().starts_with("snapshot");
        assert_eq!(run["ticks"], if half { ticks / 2 } else { ticks }, "{run:#}");
        assert_eq!(run["replays"], true);
        if !half {
            assert_eq!(run["digest"], reference["digest"]);
        }
    }
    assert_eq!(
        run(&certificate, "snapshot-1")["digest"],
        run(&certificate, "snapshot-2")["digest"]
    );
    let wall_s = |name| run(&certificate, name)["wall_s"].as_f64().unwrap();
    let simulated_s = ticks as f64 * 1e-3;
    assert!(wall_s("speed-0.1") >= 10.0 * simulated_s, "{certificate:#}");
    for name in ["controller-stopped", "daemon-stopped"] {
        let at = run(&certificate, name)["stopped_at_tick"].as_u64().unwrap();
        assert!((ticks / 4..ticks).contains(&at), "{certificate:#}");
        assert!(wall_s(name) >= 1.0 + 1.4, "stopped for a second: {certificate:#}");
        // 50 ticks would have been run in this time
        let meanwhile = run(&certificate, name)["ticks_while_stopped"].as_u64().unwrap();
        assert!(meanwhile <= 10, "{certificate:#}");
    }
    let page = std::fs::read_to_string(out(scene).join("certificate.html")).unwrap();
    for text in ["Yes: 9 runs", reference["digest"].as_str().unwrap(), "controller-stopped"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(!page.contains("<script"));
    certificate
}

#[test]
fn a_controller_that_depends_on_states_only_is_certified() {
    let scene = Scene::new();
    let controller = [HARDSTAND, "controller", "stand", "--join", "legs"];
    let said = certify(&scene, &["--duration", "0.1"], &controller).ends_with(0);
    let certificate = assert_certified(&scene, 100);
    assert!(said.contains("\nCERTIFIED: 9 runs; every run matches its reference"), "{said}");
    assert_eq!(run(&certificate, "controller-stopped")["perturbation"], "controller_stopped");
    assert_eq!(run(&certificate, "reference")["problem"], Value::Null);
    // it has no memory, so that who comes in the middle does as who was there from the beginning
    assert_eq!(certificate["snapshot"]["equals_reference"], true, "{said}");
    assert_eq!(certificate["snapshot"]["tick"], 50);
    let physics = certificate["scenario"]["physics_hash"].as_str().unwrap();
    assert_eq!(physics, format!("{:016x}", quadruped(&[]).physics_hash));
    // the reference's log is kept, and is what it says it is
    let told = summarize(&out(&scene).join("reference/run.mcap")).unwrap();
    assert_eq!(format!("{:016x}", told.digest), certificate["runs"][0]["digest"]);
    assert!(!out(&scene).join("speed-1").exists());
}

/// Its states are lost, late and in another order, and so in each run.
#[test]
fn a_controller_behind_a_bad_link_is_certified() {
    let scene = Scene::new();
    let events = "events=[{at_s=0.02, kind=\"state_drop\", probability=0.2, seed=7}, \
                  {at_s=0.04, kind=\"state_reorder\", probability=0.2, delay_ticks=3, seed=3}, \
                  {at_s=0.06, kind=\"state_delay\", delay_ticks=5}]";
    let controller = [HARDSTAND, "controller", "trot", "--vx", "0.3", "--join", "legs"];
    let of = |more: &[&str]| {
        certify(&scene, &[&["--duration", "0.1"], more].concat(), &controller).ends_with(0);
        let certificate = assert_certified(&scene, 100);
        certificate["runs"][0]["digest"].clone()
    };
    let bad = of(&["--set", events]);
    std::fs::remove_dir_all(out(&scene)).unwrap();
    assert_ne!(of(&[]), bad, "the link does something");
}

/// Another language, another link, with a memory.
#[test]
fn a_controller_in_python_is_certified() {
    let Some(python) = python() else { return };
    let scene = Scene::tcp();
    certify_python(&scene, &python, "good").ends_with(0);
    let certificate = assert_certified(&scene, 100);
    assert_eq!(certificate["snapshot"]["equals_reference"], false, "its filter begins anew");
}

/// Of two bad habits the one shows in every run, the other only where the controller was stopped:
/// the daemon then sends a state again.
#[test]
fn a_controller_that_looks_at_the_clock_or_counts_repeats_is_caught() {
    let Some(python) = python() else { return };
    let scene = Scene::new();
    let said = certify_python(&scene, &python, "bad").ends_with(1);
    let certificate = json(&scene);
    assert_eq!(certificate["certified"], false);
    let runs = certificate["runs"].as_array().unwrap();
    for run in runs.iter().filter(|run| run["compared_with"] == "reference") {
        assert_eq!(run["verdict"], "different", "{run:#}");
        let difference = &run["difference"];
        assert_eq!(difference["cause"], "controller");
        assert_ne!(difference["values"][0], difference["values"][1]);
        if run["name"] == "controller-stopped" {
            let at = run["stopped_at_tick"].as_u64().unwrap();
            let tick = difference["tick"].as_u64().unwrap();
            assert!((at..80).contains(&tick), "where it was stopped: {run:#}");
            assert_eq!(difference["quantity"], "command.FL_hip_joint.kp");
            assert_eq!(difference["values"][1], "1.01e2");
        } else {
            // in the step from 80 to 81
            assert_eq!(difference["tick"], 81, "{run:#}");
            assert_eq!(difference["quantity"], "command.FR_thigh_joint.tau_ff");
        }
    }
    assert!(said.contains("first at tick 81 (0.081 s)"), "{said}");
    assert!(said.contains("the controller gave another command for tick 81"), "{said}");
    let page = std::fs::read_to_string(out(&scene).join("certificate.html")).unwrap();
    assert!(page.contains("another command for tick 81") && page.contains("<svg"), "{page}");
    assert!(out(&scene).join("repeat/run.mcap").exists(), "what differs is kept");
}

/// The files that decided a run, by name.
fn names(files: &Value) -> Vec<String> {
    let file = |f: &Value| Path::new(f["file"].as_str().unwrap()).file_name().unwrap().to_owned();
    files.as_array().unwrap().iter().map(|f| file(f).into_string().unwrap()).collect()
}

#[test]
fn a_signed_certificate_is_confirmed_and_a_changed_one_refused() {
    let scene = Scene::new();
    let key = ed25519_compact::KeyPair::from_seed(ed25519_compact::Seed::new([7; 32]));
    let (private, public) = (scene.path("key.pem"), scene.path("public.pem"));
    std::fs::write(&private, key.sk.to_pem()).unwrap();
    std::fs::write(&public, key.pk.to_pem()).unwrap();
    let of = |path: &Path| path.display().to_string();
    let controller = [HARDSTAND, "controller", "stand", "--join", "legs"];
    let more =
        ["--duration", "0.1", "--sign", &of(&private), "--file", &repository("tests/certify")];
    certify(&scene, &more, &controller).ends_with(0);
    let inputs = json(&scene)["inputs"].clone();
    assert_eq!(names(&inputs["scenario"])[0], "quadruped.toml");
    for (part, name) in [("controller", "controller.py"), ("libraries", "hardstand")] {
        let found = names(&inputs[part]);
        assert!(found.iter().any(|f| f == name), "{part}: {found:?}");
    }
    // the hash is that of other programs
    let log = of(&out(&scene).join("reference/run.mcap"));
    let sum = Command::new("sha256sum").arg(&log).output().unwrap().stdout;
    let sum = String::from_utf8(sum).unwrap();
    assert_eq!(inputs["reference_log"]["sha256"], sum.split(' ').next().unwrap());

    let kept = scene.path("kept.json");
    std::fs::copy(out(&scene).join("certificate.json"), &kept).unwrap();
    std::fs::copy(out(&scene).join("certificate.json.sig"), scene.path("kept.json.sig")).unwrap();
    // the log beside it is the one that it was made with
    let whole = std::fs::read(&log).unwrap();
    let mut other = whole.clone();
    let middle = other.len() / 2;
    other[middle] ^= 1;
    std::fs::write(&log, &other).unwrap();
    let own = of(&out(&scene).join("certificate.json"));
    let aside = of(&scene.path("aside"));
    let said =
        scene.hardstand("other", &["certify", "--check", &own, "--out", &aside]).ends_with(2);
    assert!(said.contains("reference/run.mcap is not the log that"), "{said}");
    std::fs::write(&log, &whole).unwrap();
    // what is checked is not replaced
    let own = of(&out(&scene).join("certificate.json"));
    let own = ["certify", "--check", &own, "--out", &of(&out(&scene))];
    let said = scene.hardstand("own", &own).ends_with(2);
    assert!(said.contains("which would be replaced; give another folder"), "{said}");
    assert!(json(&scene)["certified"] == true && out(&scene).join("certificate.json.sig").exists());
    let again = of(&out(&scene));
    let (kept_name, public) = (of(&kept), of(&public));
    let check = ["certify", "--check", &kept_name, "--key", &public, "--out", &again];
    let said = scene.hardstand("check", &check).ends_with(0);
    assert!(said.contains("\nCONFIRMED: "), "{said}");
    let certificate = json(&scene);
    assert_eq!(certificate["check"]["signature_checked"], true);
    let differences = certificate["check"]["differences"].as_array().unwrap();
    // the files of --file were found again
    assert!(differences.is_empty(), "{differences:?}");

    let text = std::fs::read_to_string(&kept).unwrap();
    std::fs::write(&kept, text.replace("\"certified\": true", "\"certified\": 1")).unwrap();
    let said = scene.hardstand("changed", &check).ends_with(2);
    assert!(said.contains("was changed, or was not signed with the key of"), "{said}");
}

#[test]
fn a_hash_order_that_was_fixed_is_said_and_does_not_pass_elsewhere() {
    let Some(python) = python() else { return };
    let scene = Scene::new();
    let file = repository("tests/certify/controller.py");
    let listen = format!("bus.listen=[{:?}]", scene.endpoint);
    let (scenario, folder) = (repository("config/quadruped.toml"), out(&scene));
    let start = |name: &str, seed: Option<&str>, args: &[&str]| {
        let mut command = Command::new(HARDSTAND);
        command.arg("certify").args(args).env_remove("PYTHONHASHSEED");
        command.envs(seed.map(|seed| ("PYTHONHASHSEED", seed))).arg("--out").arg(&folder);
        command.args(["--", &python, &file, "--law", "hash"]);
        Process::start(scene.dir.path(), name, command)
    };
    let args = [&scenario, "--set", &listen, "--duration", "0.05"];
    let said = start("fixed", Some("0"), &args.map(|a| a as &str)).ends_with(0);
    assert!(said.contains("PYTHONHASHSEED was set"), "{said}");
    let certificate = json(&scene);
    assert_eq!(certificate["inputs"]["environment"]["PYTHONHASHSEED"], "0");
    let packages = certificate["inputs"]["packages"].as_array().unwrap();
    assert!(packages.iter().any(|p| p.as_str().unwrap().starts_with("eclipse-zenoh ")));
    let kept = scene.path("kept.json").display().to_string();
    std::fs::copy(folder.join("certificate.json"), &kept).unwrap();
    let said = start("elsewhere", None, &["--check", &kept]).ends_with(1);
    assert!(said.contains("variable   PYTHONHASHSEED: there 0, here none"), "{said}");
    assert!(said.contains("\nNOT CONFIRMED: "), "{said}");
}

#[test]
fn a_controller_that_does_not_join_or_ends_early_is_reported() {
    for (controller, patience, expected) in [
        (&["sleep", "60"][..], "2", "no controller joined"),
        (&["sh", "-c", "echo out of memory; exit 3"], "30", "exit code 3"),
        (&["/no/such/controller"], "30", "cannot start \"/no/such/controller\""),
    ] {
        let scene = Scene::new();
        let code = if expected.starts_with("cannot") { 2 } else { 8 };
        let said = certify(&scene, &["--patience", patience], controller).ends_with(code);
        assert!(said.contains(expected), "{said}");
        assert!(!said.contains("exit code 3") || said.contains("out of memory"), "{said}");
        assert!(!out(&scene).join("certificate.json").exists());
    }
    let scene = Scene::new();
    let sleep = ["sleep", "60"];
    let mut process = certify(&scene, &["--json", "--patience", "2"], &sleep);
    process.ends_with(8);
    let failed: Value = serde_json::from_str(&process.out()).unwrap();
    assert_eq!(failed["certified"], false);
    assert_eq!(failed["failure"]["kind"], "controller_not_joined", "{failed:#}");
    let scene = Scene::new();
    let said = certify(&scene, &["--set", "control.mode=\"realtime\""], &["true"]).ends_with(2);
    assert!(said.contains("--set control.mode is not allowed"), "{said}");
}

/// Runs `config/quadruped.toml` in lockstep with a controller, in the process harness.
fn in_harness(scene: &Scene, sets: &[&str], controller: &[&str]) -> Ended {
    let listen = format!("bus.listen=[{:?}]", scene.endpoint);
    let mut run = vec![repository("config/quadruped.toml"), "--set".into(), listen];
    run.extend(["--mode", "lockstep", "--pace", "free", "--duration", "0.1"].map(String::from));
    run.extend(sets.iter().flat_map(|set| ["--set".into(), (*set).to_string()]));
    let harness = Harness {
        program: Some(HARDSTAND.into()),
        folder: scene.dir.path().into(),
        run: run.into_iter().map(Into::into).collect(),
        endpoint: scene.endpoint.clone(),
        robots: vec!["quadruped".into()],
        controller: controller.iter().map(Into::into).collect(),
        ..Harness::default()
    };
    harness.start().unwrap().wait(|_| Ok(true)).unwrap()
}

#[test]
fn the_harness_names_the_missing_controller_from_data() {
    let scene = Scene::new();
    let sets = ["control.controllers=[\"front\", \"rear\"]", "control.patience_s=1.0"];
    let front = ["--join", "front", "--joint", "FL_hip_joint"];
    let controller = [&[HARDSTAND, "controller", "stand"][..], &front].concat();
    let ended = in_harness(&scene, &sets, &controller);
    assert!(ended.was_ready && ended.error.is_none());
    let end = ended.report.as_ref().unwrap();
    assert_eq!(end.kind, EndKind::ControllerTimeout);
    assert_eq!((end.missing.as_slice(), end.ticks), (&["rear".to_string()][..], 0));
    let failure = ended.failure(0, scene.dir.path());
    assert_eq!(failure.kind, FailureKind::ControllerNotJoined);
    assert_eq!(failure.missing, ["rear"]);
}

#[test]
fn the_harness_has_the_end_of_a_run_and_the_error_of_a_refusal_as_data() {
    let scene = Scene::new();
    let ended = in_harness(&scene, &[], &[HARDSTAND, "controller", "stand", "--join", "legs"]);
    let end = ended.report.unwrap();
    assert_eq!((end.kind, end.ticks, end.tick), (EndKind::DurationReached, 100, 100));
    assert_eq!(end.log_files, [scene.path("run.mcap")]);
    assert_eq!(end.digest.len(), 16);
    let ended = in_harness(&scene, &["sim.rate_hz=0"], &["true"]);
    assert!(!ended.was_ready && ended.report.is_none());
    let error = ended.error.unwrap();
    assert!(error.is_refusal() && error.message.contains("sim.rate_hz"), "{error:?}");
}

/// A controller in a session of its own is stopped and ended, and what it has in memory is known.
#[test]
fn a_controller_in_a_session_of_its_own_is_certified() {
    let scene = Scene::new();
    let inner = format!("{HARDSTAND} controller stand --join legs --connect {}", scene.endpoint);
    let script = scene.path("session.sh");
    // another one has time to save what it has
    let saved = scene.path("saved");
    let text = format!(
        "sh -c 'trap \"sleep 0.3; echo saved >> {}; exit\" TERM; while :; do sleep 0.05; done' &\n\
         setsid {inner} &\nwait\n",
        saved.display()
    );
    std::fs::write(&script, text).unwrap();
    let controller = ["sh", &script.display().to_string()];
    certify(&scene, &["--duration", "0.1"], &controller).ends_with(0);
    let certificate = json(&scene);
    let stopped = run(&certificate, "controller-stopped")["ticks_while_stopped"].as_u64().unwrap();
    assert!(stopped <= 10, "{certificate:#}");
    let libraries = names(&certificate["inputs"]["libraries"]);
    assert!(libraries.iter().any(|name| name == "hardstand"), "{libraries:?}");
    assert_eq!(std::fs::read_to_string(&saved).unwrap().lines().count(), 9);
    assert_eq!(alive_in(scene.dir.path()), Vec::<String>::new());
}

/// Nobody knows which of the runs had which contents.
#[test]
fn a_file_that_changes_during_the_runs_makes_no_certificate() {
    let scene = Scene::new();
    let script = scene.path("stand.sh");
    let text = format!("exec {HARDSTAND} controller stand --join legs");
    std::fs::write(&script, &text).unwrap();
    let controller = ["sh", &script.display().to_string()];
    let mut process = certify(&scene, &["--duration", "0.1"], &controller);
    wait_for("the second run", || out(&scene).join("repeat").exists().then_some(()));
    std::fs::write(&script, text + " --kp=90").unwrap();
    let said = process.ends_with(2);
    assert!(said.contains("changed while the runs took place: "), "{said}");
    assert!(!out(&scene).join("certificate.json").exists());
}

#[test]
fn what_certify_cannot_do_is_refused_before_the_first_run() {
    let scene = Scene::new();
    let key = scene.path("public.pem").display().to_string();
    for (more, text) in [
        (&["--patience", "0.5"][..], "--patience is 0.5; it must be at least 2 s"),
        (&["--key", &key], "--key is of a certificate that --check names"),
    ] {
        let said = certify(&scene, more, &["true"]).ends_with(2);
        assert!(said.contains(text), "{said}");
    }
}

/// What an earlier certificate said can still be read, and files of others stay.
#[test]
fn a_certificate_is_set_aside_and_other_folders_are_kept() {
    let scene = Scene::new();
    let other = out(&scene).join("reference");
    std::fs::create_dir_all(&other).unwrap();
    std::fs::write(other.join("notes.txt"), "mine").unwrap();
    std::fs::write(out(&scene).join("certificate.json"), "an old one").unwrap();
    let said = certify(&scene, &[], &["true"]).ends_with(2);
    assert!(said.contains("is not a run of an earlier certificate"), "{said}");
    assert_eq!(std::fs::read_to_string(other.join("notes.txt")).unwrap(), "mine");
    let earlier = std::fs::read_to_string(out(&scene).join("earlier.json")).unwrap();
    assert_eq!(earlier, "an old one");
}

/// Command lines of processes that name this folder.
fn alive_in(folder: &Path) -> Vec<String> {
    let folder = folder.display().to_string();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|e| std::fs::read_to_string(e.path().join("cmdline")).ok());
    lines.filter(|line| line.contains(&folder)).collect()
}

#[test]
fn an_interrupt_leaves_neither_processes_nor_half_a_certificate() {
    let scene = Scene::new();
    std::fs::create_dir(out(&scene)).unwrap();
    std::fs::write(out(&scene).join("certificate.json"), "an old one").unwrap();
    let controller =
        [HARDSTAND, "controller", "stand", "--join", "a", "--connect", &scene.endpoint];
    let mut process = certify(&scene, &["--duration", "3"], &controller);
    let report = out(&scene).join("speed-1").join(REPORT);
    wait_for("the run at 1 ×", || {
        let lines = reports(&std::fs::read_to_string(&report).unwrap_or_default());
        (!lines.is_empty()).then_some(())
    });
    process.signal(Signal::INT);
    let said = process.ends_with(1);
    assert!(said.contains("no certificate"), "{said}");
    assert_eq!(alive_in(scene.dir.path()), Vec::<String>::new());
    let left = std::fs::read_dir(out(&scene)).unwrap().flatten();
    assert!(left.into_iter().all(|e| !e.file_name().to_string_lossy().contains("certificate")));
}

/// Waits until the reference's daemon is ready.
fn reference_begins(scene: &Scene) {
    let report = out(scene).join("reference").join(REPORT);
    wait_for("the reference", || {
        let lines = reports(&std::fs::read_to_string(&report).unwrap_or_default());
        (!lines.is_empty()).then_some(())
    });
}

/// Each would replace what the other compares.
#[test]
fn a_folder_is_that_of_one_certification_at_a_time() {
    let scene = Scene::new();
    let mut first = certify(&scene, &[], &["sleep", "60"]);
    reference_begins(&scene);
    let other = Scene::new();
    let listen = format!("bus.listen=[{:?}]", other.endpoint);
    let (scenario, folder) = (repository("config/quadruped.toml"), out(&scene));
    let folder = folder.display().to_string();
    let words = ["certify", &scenario, "--set", &listen, "--out", &folder, "--", "sleep", "60"];
    let said = other.hardstand("second", &words).ends_with(2);
    let expected = format!("--out {folder} is the folder of another `hardstand certify`");
    assert!(said.contains(&expected), "{said}");
    first.signal(Signal::INT);
    first.ends_with(1);
    // and is free again
    certify(&scene, &[], &["sh", "-c", "exit 3"]).ends_with(8);
}

/// A daemon that a killed certification has left does not keep the endpoint.
#[test]
fn a_certification_that_was_killed_is_in_no_way_of_the_next_one() {
    let scene = Scene::tcp();
    let mut killed = certify(&scene, &[], &["sleep", "60"]);
    reference_begins(&scene);
    killed.kill();
    let said = certify(&scene, &[], &["sh", "-c", "exit 3"]).ends_with(8);
    assert!(said.contains("exit code 3"), "{said}");
    assert_eq!(alive_in(scene.dir.path()), Vec::<String>::new());
}

/// Two builds of which one computes otherwise, as far as logs show: the same commands, another
/// state. And the same build with another controller.
#[test]
fn a_difference_that_the_plant_made_is_attributed_to_it() {
    let dir = tempfile::tempdir().unwrap();
    let log = |name: &str, sets: &[&str], script: &Script| {
        let (scenario, path) = (quadruped(sets), dir.path().join(name));
        // the log claims the usual scenario, as that of another build would
        write(&path, &quadruped(&[]), &run_of(&scenario, script, 240));
        path
    };
    let a = log("a.mcap", &[], &Script::default());
    let b = log("b.mcap", &["contact.cz_s_per_m=0.6"], &Script::default());
    assert!(summarize(&a).unwrap().equals(&summarize(&a).unwrap()));
    assert!(summarize(&a).unwrap().replay.is_none());
    let told = summarize(&b).unwrap();
    assert!(!told.equals(&summarize(&a).unwrap()));
    assert!(matches!(told.replay, Some(ReplayProblem::Differs { .. })));
    let (found, _) = attribute(&a, &b).unwrap();
    assert_eq!(found.cause, Attribution::Plant, "{found:?}");
    assert_eq!(found.reason, Reason::StateDiffers, "{found:?}");
    let stiffer = Script { other_from: 150, ..Script::default() };
    let (found, _) = attribute(&a, &log("c.mcap", &[], &stiffer)).unwrap();
    assert_eq!(found.cause, Attribution::Controller);
    assert_eq!(found.quantity, "command.FL_hip_joint.kp");
}
