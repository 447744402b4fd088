"""Holds a quadruped over LCM, as a program for walk-these-ways' messages would.

    python3 -m venv venv && venv/bin/pip install lcm
    venv/bin/python examples/ports/lcm_hold.py [SECONDS]

The structures are written down here and compiled by lcm-gen, which comes with the package. Real
programs bring their own: docs/lcm.md says which ones fit.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

import lcm

TYPES = """
struct leg_control_data_lcmt {
    float q[12]; float qd[12]; float p[12]; float v[12]; float tau_est[12];
    int64_t timestamp_us; int64_t id; int64_t robot_id;
}
struct state_estimator_lcmt {
    float p[3]; float vWorld[3]; float vBody[3]; float rpy[3]; float omegaBody[3];
    float omegaWorld[3]; float quat[4]; float contact_estimate[4]; float aBody[3]; float aWorld[3];
    int64_t timestamp_us; int64_t id; int64_t robot_id;
}
struct rc_command_lcmt {
    int16_t mode; float left_stick[2]; float right_stick[2]; float knobs[2];
    int16_t left_upper_switch; int16_t left_lower_left_switch; int16_t left_lower_right_switch;
    int16_t right_upper_switch; int16_t right_lower_left_switch; int16_t right_lower_right_switch;
}
struct pd_tau_targets_lcmt {
    double q_des[12]; double qd_des[12]; double tau_ff[12]; double kp[12]; double kd[12];
    int64_t timestamp_us; int64_t id; int64_t robot_id;
}
"""


def compiled(folder: Path) -> None:
    """Compiles the structures into modules of `folder`."""
    (folder / "types.lcm").write_text(TYPES)
    generator = Path(sysconfig.get_path("scripts")) / "lcm-gen"
    subprocess.run([generator, "-p", "--ppath", folder, folder / "types.lcm"], check=True)
    sys.path.insert(0, str(folder))


def main() -> None:
    """Holds the first posture that is heard."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    with tempfile.TemporaryDirectory() as folder:
        compiled(Path(folder))
        names = ("leg_control_data", "state_estimator", "rc_command", "pd_tau_targets")
        legs, body, remote, targets = (
            getattr(importlib.import_module(f"{name}_lcmt"), f"{name}_lcmt") for name in names
        )
    heard = {"legs": 0, "body": 0, "remote": 0}
    last = {}

    def note(name: str, structure: type):
        def take(_channel: str, data: bytes) -> None:
            heard[name] += 1
            last[name] = structure.decode(data)

        return take

    link = lcm.LCM()  # udpm://239.255.76.67:7667
    link.subscribe("leg_control_data", note("legs", legs))
    link.subscribe("state_estimator_data", note("body", body))
    link.subscribe("rc_command", note("remote", remote))
    command = targets()
    command.kp, command.kd = [100.0] * 12, [3.0] * 12
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        link.handle_timeout(20)
        if "legs" not in last:
            continue
        if command.id == 0:
            command.q_des = list(last["legs"].q)
        command.id += 1
        link.publish("pd_plustau_targets", command.encode())
    if "body" not in last:
        sys.exit("no state: docs/lcm.md says what the network needs")
    quat = last["body"].quat
    print(f"heard {heard['legs']} {heard['body']} {heard['remote']}")
    print("feet", *(round(force) for force in last["body"].contact_estimate))
    print("up", round(1 - 2 * (quat[1] ** 2 + quat[2] ** 2), 3))
    print("stick", *(round(x, 3) for x in last["remote"].left_stick))


if __name__ == "__main__":
    main()
