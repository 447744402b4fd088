//! The simulation that runs inside a page, against the daemon.

use hardstand_playground::Playground;
use serde_json::json;

use crate::common::process::{Scene, digest, repository};

/// What a reader of the page does, at ticks of all kinds, and what a daemon in lockstep makes of
/// the scenario that the page writes: the same state, to the bit.
#[test]
fn a_daemon_repeats_what_was_done_in_the_page() {
    for law in ["exponential_spring", "hunt_crossley", "rigid"] {
        let mut page = quadruped(law);
        let push =
            |y: f64| json!({ "link": "trunk", "force_n": [20.0, y, 0.0], "duration_s": 0.1 });
        page.order("push", &push(50.0)).unwrap();
        page.run_to(137).unwrap();
        page.order("friction", &json!({ "mu_static": 0.3, "mu_kinetic": 0.25 })).unwrap();
        page.order("push", &push(-70.0)).unwrap();
        page.run_to(300).unwrap();
        // forgotten again
        page.order("push", &push(500.0)).unwrap();
        page.run_to(420).unwrap();
        page.run_to(299).unwrap();
        let sick = json!({ "kind": "motor_derated", "joint": "FL_calf_joint", "share": 0.5 });
        page.order("fault", &sick).unwrap();
        page.run_to(700).unwrap();
        assert_eq!(native_digest(&page), format!("{:016x}", page.digest()), "{law}");
    }
}

#[test]
fn what_a_page_cannot_do_is_refused() {
    let mut page = quadruped("rigid");
    page.run_to(10).unwrap();
    let before = (page.digest(), page.scenario());
    for (order, request, word) in [
        ("stop", json!({}), "push, friction and fault"),
        ("push", json!({ "link": "wing", "force_n": [0, 0, 1], "duration_s": 0.1 }), "wing"),
        ("push", json!({ "link": "trunk", "force_n": [0, 0], "duration_s": 0.1 }), "force_n"),
        ("push", json!("up"), "push"),
        ("friction", json!({ "mu_static": 0.1, "mu_kinetic": 0.2 }), "mu_kinetic"),
        ("fault", json!({ "kind": "link_drop", "probability": 0.1, "seed": 1 }), "commands"),
        ("fault", json!({ "kind": "state_delay", "delay_ticks": 3 }), "states"),
        ("fault", json!({}), "kind"),
    ] {
        let said = page.order(order, &request).unwrap_err().to_string();
        assert!(said.contains(word), "{order} {request}: {said}");
    }
    assert_eq!((page.digest(), page.scenario()), before);
    assert!(Playground::new("[robot]\nurdf = \"x\"", "<robot", &[]).is_err());
}

fn quadruped(law: &str) -> Playground {
    let text = |name: &str| std::fs::read_to_string(repository(name)).unwrap();
    let sets = [format!("contact.model={law}")];
    Playground::new(&text("config/quadruped.toml"), &text("config/robots/quadruped.urdf"), &sets)
        .unwrap()
}

/// Of the daemon's last state, which runs the page's scenario in lockstep.
fn native_digest(page: &Playground) -> String {
    let scene = Scene::new();
    let robot = format!("urdf = \"{}\"", repository("config/robots/quadruped.urdf"));
    let scenario = page.scenario().replace("urdf = \"robots/quadruped.urdf\"", &robot);
    let file = scene.path("page.toml");
    std::fs::write(&file, scenario).unwrap();
    let duration_s = format!("{}", page.tick() as f64 / 1000.0);
    let mut args = scene.run_args(&["--mode", "lockstep", "--pace", "free"]);
    args[1] = file.display().to_string();
    args.extend(["--duration".into(), duration_s]);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut daemon = scene.hardstand("daemon", &args);
    let stand = ["controller", "stand", "--connect", &scene.endpoint, "--join", "legs"];
    let mut controller = scene.hardstand("legs", &stand);
    let said = daemon.ends_with(0);
    controller.kill();
    digest(&said)
}
