//! Clocks that differ from machine to machine and from start to start.

use std::process::Command;

use crate::common::process::{Process, Scene, digest, serial};

/// `hardstand run` in a time namespace; `None`, with the reason, where that is not allowed.
fn shifted(scene: &Scene, offsets: &[&str], more: &[&str]) -> Option<String> {
    let unshare = |program: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["-T", "-f", "--kill-child"]).args(offsets).args(program);
        command
    };
    let allowed = unshare(&["true"]).output();
    if !allowed.as_ref().is_ok_and(|out| out.status.success()) {
        eprintln!("SKIPPED: no time namespace of our own: {allowed:?}");
        return None;
    }
    let mut command = unshare(&[env!("CARGO_BIN_EXE_hardstand")]);
    command.args(scene.run_args(more));
    let out = Process::start(scene.dir.path(), "daemon", command).ends_with(0);
    scene.replays();
    Some(digest(&out))
}

/// LC-1, DET-6: what the clocks show at the start decides nothing, at free pace or in real time.
#[test]
fn clocks_that_are_years_ahead_change_no_bit() {
    let _one = serial();
    let free = ["--pace", "free", "--duration", "0.5"];
    let real = ["--set", "sim.start=now", "--duration", "0.5"];
    let here = digest(&Scene::new().daemon(&free).ends_with(0));
    // ten years; a day
    for offsets in [["--monotonic", "315360001"], ["--boottime", "86400"]] {
        for more in [&free[..], &real[..]] {
            let Some(there) = shifted(&Scene::new(), &offsets, more) else { return };
            assert_eq!(there, here, "{offsets:?} {more:?}");
        }
    }
}
