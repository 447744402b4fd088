//! Masters of others, in `tests/masters`, against the example on a pseudo-terminal or a TCP port.
//!
//! They need a Python with the master's package: the one that `HARDSTAND_PYTHON` names, else
//! `python3`. Without the package the test says so and passes. `.ci/motors` installs all of them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Exit status of a script whose package is missing.
const SKIPPED: i32 = 77;

fn example() -> Option<PathBuf> {
    let tests = std::env::current_exe().unwrap();
    let path = tests.parent()?.parent()?.join("examples/virtual_motors");
    path.exists().then_some(path)
}

fn run(script: &str) {
    let Some(example) = example() else {
        println!("SKIPPED: {script}: build the example virtual_motors first");
        return;
    };
    let python = std::env::var("HARDSTAND_PYTHON").unwrap_or_else(|_| "python3".to_string());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/masters").join(script);
    let Ok(output) = Command::new(&python).arg("-B").arg(path).arg(example).output() else {
        println!("SKIPPED: {script}: no {python}");
        return;
    };
    let (out, err) = (super::text(&output.stdout), super::text(&output.stderr));
    print!("{out}");
    if output.status.code() == Some(SKIPPED) {
        assert!(out.contains("SKIPPED: "), "{script} gave no reason");
        return;
    }
    assert!(output.status.success(), "{script}: {}\n{out}{err}", output.status);
    assert!(out.contains(": ok"), "{script} ended early\n{out}{err}");
}

#[test]
fn the_makers_moteus_master_over_fdcanusb() {
    run("moteus_fdcanusb.py");
}

#[test]
fn the_makers_moteus_master_over_slcan() {
    run("moteus_slcan.py");
}

#[test]
fn python_cybergear_over_slcan() {
    run("cybergear_slcan.py");
}

#[test]
fn robstride_over_socketcand() {
    run("robstride_socketcand.py");
}

#[test]
fn damiao_motor_over_slcan() {
    run("damiao_slcan.py");
}

#[test]
fn pydamiao_over_damiaos_adapter() {
    run("damiao_usb.py");
}

#[test]
fn odrive_can_over_slcan() {
    run("odrive_slcan.py");
}

#[test]
fn a_go_m8010_master_over_a_serial_line() {
    run("go_m8010_pty.py");
}
