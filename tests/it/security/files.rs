//! What a file of secrets must be, and what a scenario needs before it may listen to a network.

use std::os::unix::fs::PermissionsExt as _;

use super::guarded::secret;
use crate::common::process::{Scene, repository};

/// `hardstand run` with these settings is refused with exit code 2; what it says.
fn refusal(scene: &Scene, sets: &[&str]) -> String {
    let scenario = repository("config/networked.toml");
    let users = format!("bus.users_file={:?}", scene.path("users.txt").display().to_string());
    let mut args = vec!["run", &scenario, "--set", &users, "--set", "sim.start=now"];
    args.extend(["--duration", "0.1"]);
    let listen = format!("bus.listen=[{:?}]", scene.endpoint);
    args.extend(["--set", &listen]);
    sets.iter().for_each(|set| args.extend(["--set", set]));
    scene.hardstand("daemon", &args).ends_with(2)
}

const GOOD: &str = "ctrl:one\nop:two\nview:three\n";

#[test]
fn a_users_file_that_others_may_use_is_refused() {
    let scene = Scene::new();
    let path = secret(&scene, "users.txt", GOOD);
    for mode in [0o644, 0o640, 0o604, 0o620, 0o601] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let text = refusal(&scene, &[]);
        let expected = format!("users.txt: its mode is {mode:o}, so others may use it");
        assert!(text.contains(&expected) && text.contains("chmod 600 "), "{text}");
        assert!(!text.contains("three"), "{text}");
    }
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: only root can give a file away");
        return;
    }
    secret(&scene, "users.txt", GOOD);
    std::os::unix::fs::chown(&path, Some(65534), None).unwrap();
    let text = refusal(&scene, &[]);
    assert!(text.contains("it belongs to user 65534") && text.contains("chown 0 "), "{text}");
}

#[test]
fn a_users_file_that_is_none_is_refused_without_a_word_of_it() {
    let scene = Scene::new();
    for (content, expected) in [
        (String::new(), "it is empty"),
        (" \n\n".into(), "it is empty"),
        ("ctrl:one\nsecret\n".into(), "line 2: it must be user:password"),
        ("ctrl:one\n:secret\n".into(), "line 2: a user is 1 to 64"),
        ("ctrl:one\n# a: secret\n".into(), "line 2: a user is 1 to 64"),
        ("ctrl:\n".into(), "line 1: a password is 1 to 256"),
        ("ctrl:secret one\n".into(), "line 1: a password is 1 to 256"),
        ("ctrl:secret\nctrl:one\n".into(), "line 2: this user has a line already"),
        (format!("ctrl:{}\n", "secret".repeat(50)), "line 1: a password is 1 to 256"),
        ("\n".repeat(65_537), "it is larger than 65536 bytes"),
        ("ctrl:secret\n".into(), "op has a role, but no line in "),
        (format!("{GOOD}extra:secret\n"), "extra is in "),
    ] {
        secret(&scene, "users.txt", &content);
        let text = refusal(&scene, &[]);
        assert!(text.contains(expected), "no \"{expected}\" in:\n{text}");
        assert!(!text.contains("secret"), "{text}");
    }
    std::fs::remove_file(scene.path("users.txt")).unwrap();
    let text = refusal(&scene, &[]);
    assert!(text.contains("users.txt: No such file"), "{text}");
    std::fs::create_dir(scene.path("users.txt")).unwrap();
    assert!(refusal(&scene, &[]).contains("it is not a file"));
}

#[test]
fn a_password_file_is_held_to_the_same_rules() {
    let scene = Scene::new();
    let file = secret(&scene, "p", "secret\n").display().to_string();
    let stand = |user: &str| {
        let args = ["controller", "stand", "--connect", &scene.endpoint, "--patience", "0.1"];
        let who = ["--user", user, "--password-file", &file];
        scene.hardstand("controller", &[args.as_slice(), &who].concat())
    };
    stand("ctrl").ends_with(5);
    assert!(stand("a b").ends_with(2).contains("user \"a b\" must be"));
    for (content, mode, expected) in [
        ("secret", 0o640, "its mode is 640"),
        ("", 0o600, "it is empty"),
        ("secret\nsecret\n", 0o600, "it must be one line"),
        ("sec ret", 0o600, "it must be one line"),
    ] {
        secret(&scene, "p", content);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        let text = stand("ctrl").ends_with(2);
        assert!(text.contains(expected) && !text.contains("secret"), "{text}");
    }
}

#[test]
fn listening_beyond_this_machine_needs_users_and_roles() {
    let scene = Scene::tcp();
    let any = "bus.listen=[\"tcp/0.0.0.0:7447\"]";
    for (sets, expected) in [
        (vec![any, "bus.users_file="], "this machine only"),
        (
            vec![
                any,
                "bus.users_file=",
                "bus.controllers=[]",
                "bus.operators=[]",
                "bus.viewers=[]",
            ],
            "set bus.users_file",
        ),
        (vec!["bus.users_file="], "roles need users_file or the tls keys"),
        (
            vec!["bus.controllers=[]", "bus.operators=[]", "bus.viewers=[]"],
            "name a user in controllers",
        ),
        (vec!["bus.viewers=[\"a:b\"]"], "it must be a list of names"),
        (vec!["bus.connect=[\"tcp/127.0.0.1:1\"]"], "let the other side connect"),
        (vec!["bus.listen=[\"tls/127.0.0.1:1\"]"], "needs tls_certificate, tls_key, tls_ca"),
        (vec!["bus.listen=[\"tls/0.0.0.0:1#enable_mtls=false\"]"], "it must be a list of"),
        (vec!["bus.tls_key=k"], "set tls_certificate, tls_key and tls_ca, or none"),
        (
            vec!["bus.users_file=", "bus.tls_key=k", "bus.tls_certificate=c", "bus.tls_ca=a"],
            "checks no certificate",
        ),
    ] {
        secret(&scene, "users.txt", GOOD);
        let text = refusal(&scene, &sets);
        assert!(text.contains(expected), "no \"{expected}\" in:\n{text}");
    }
    let open = ["run", &repository("config/quadruped.toml"), "--set"];
    let far = "bus.connect=[\"tcp/192.0.2.1:7447\"]";
    let text = scene.hardstand("far", &[open.as_slice(), &[far]].concat()).ends_with(2);
    assert!(text.contains("this machine only"), "{text}");
    if !cfg!(feature = "tls") {
        let sets = ["bus.listen=[\"tls/0.0.0.0:1\"]", "bus.tls_key=k", "bus.tls_certificate=c"];
        let text = refusal(&scene, &[sets.as_slice(), &["bus.tls_ca=a"]].concat());
        assert!(text.contains("needs a build with TLS: cargo build"), "{text}");
    }
}
