"""Lets a torque-controlled MPC walk with Go2 on Hardstand and in MuJoCo.

    pip install quadprog
    python3 benches/walkers/mpc_rows.py [--markdown docs/walkers.md]

The controller commands joint torques and nothing else: no gain holds a joint. Exit code 1 means
that a run fell.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hardstand
import mujoco
import numpy as np
from hardstand.observation import Sensors

import ours
import peer
import report
import scenario
from motion import TILT_MAX_RAD, Floats, Trace, measure, up
from mpc import CONTROL_S, Body, Mpc
from rows import SHORT
from walkers import GO2, WALKERS, Command, Walker

RUN_S = 8.0
COMMANDS: dict[str, Command] = {
    "on the spot": {}, "forward": {"vx": 0.5}, "back": {"vx": -0.4}, "sideways": {"vy": 0.3},
    "turn": {"yaw_rate": 0.8},
}
#: A push of the base to the left, at its centre of mass: when, how long, how long it may take to
#: fall, s; first and last push of the search, N, and steps of the bisection.
PUSH_AT_S, PUSH_FOR_S, PUSH_WAIT_S = 3.0, 0.1, 3.0
PUSH_FIRST_N, PUSH_LAST_N, PUSH_STEPS = 100.0, 2000.0, 5


class Here:
    """Go2 on Hardstand."""

    def __init__(self, file: Path, model: str) -> None:
        self.plant = hardstand.Plant(file, set=scenario.changes(GO2, model))
        self.joints, self.period = list(self.plant.joints), self.plant.period

    @property
    def time(self) -> float:
        return float(self.plant.time)

    def state(self) -> dict[str, Floats]:
        """What the controller sees."""
        s = Sensors.of_plant(self.plant)
        return {
            "position": s.base_position, "quat": s.base_quat, "velocity": s.base_velocity,
            "gyro": s.gyro, "q": s.q, "dq": s.dq,
        }

    def push(self, force: float, point: list[float]) -> None:
        """Pushes the base to the left from now on, for PUSH_FOR_S."""
        self.plant.push(GO2.base, [0.0, force, 0.0], PUSH_FOR_S, point)

    def advance(self, tau: Floats, trace: Trace | None = None) -> None:
        """CONTROL_S with these torques."""
        self.plant.step(q=0.0, dq=0.0, kp=0.0, kd=0.0, tau=tau)
        if trace is not None:
            ours.record(trace, self.plant)


class There:
    """Go2 in MuJoCo, from the state in which Hardstand begins."""

    def __init__(self, model: mujoco.MjModel, begin: Here) -> None:
        self.model, self.data = model, mujoco.MjData(model)
        self.joints, plant, d = begin.joints, begin.plant, self.data
        self.qpos = np.array([model.joint(j).qposadr[0] for j in self.joints])
        self.dofs = np.array([model.joint(j).dofadr[0] for j in self.joints])
        self.effort, self.feet = plant.effort_max, peer.feet_of(model, GO2)
        self.base, self.pushed, self.push_ends = model.body(GO2.base).id, 0.0, 0.0
        d.qpos[:3], d.qpos[3:7] = plant.base_position, plant.base_quat
        d.qpos[self.qpos] = plant.q_initial
        mujoco.mj_forward(model, d)
        self.period = model.opt.timestep

    @property
    def time(self) -> float:
        return float(self.data.time)

    def state(self) -> dict[str, Floats]:
        """What the controller sees."""
        d = self.data
        return {
            "position": d.qpos[:3].copy(), "quat": d.qpos[3:7].copy(),
            "velocity": d.qvel[:3].copy(), "gyro": d.qvel[3:6].copy(), "q": d.qpos[self.qpos],
            "dq": d.qvel[self.dofs],
        }

    def push(self, force: float, point: list[float]) -> None:
        """Pushes the base to the left from now on, for PUSH_FOR_S, at its centre of mass."""
        self.pushed, self.push_ends = force, self.time + PUSH_FOR_S

    def advance(self, tau: Floats, trace: Trace | None = None) -> None:
        """CONTROL_S with these torques, or one step if that is longer."""
        tau, d = np.clip(tau, -self.effort, self.effort), self.data
        d.qfrc_applied[self.dofs] = tau
        for _ in range(max(1, round(CONTROL_S / self.period))):
            pushed = self.pushed if self.time < self.push_ends - 1e-9 else 0.0
            d.xfrc_applied[self.base, :3] = [0.0, pushed, 0.0]
            mujoco.mj_step(self.model, d)
            if trace is not None:
                trace.add(
                    position=d.qpos[:3], quat=d.qpos[3:7], velocity=d.qvel[:3],
                    q=d.qpos[self.qpos], dq=d.qvel[self.dofs], tau=tau,
                    normal=peer.normal(self.model, d, self.feet),
                )


class Bench:
    """The models and the scenario of all runs."""

    def __init__(self, walker: Walker, folder: Path) -> None:
        self.file = scenario.write(walker, folder)
        self.models = {kind: peer.model_of(GO2, walker.mjcf, kind) for kind in peer.KINDS}
        self.body = Body(GO2, walker.mjcf, self.robot("rigid").joints)

    def robot(self, simulator: str) -> Here | There:
        """A robot at its start."""
        if simulator in peer.KINDS:
            return There(self.models[simulator], Here(self.file, "rigid"))
        return Here(self.file, simulator)

    def run(self, simulator: str, command: Command) -> Trace:
        """The trace of a run."""
        robot, controller = self.robot(simulator), Mpc(self.body, command)
        trace = Trace(robot.period)
        while robot.time < RUN_S - 1e-9:
            robot.advance(controller.torques(robot.time, robot.state()), trace)
        if isinstance(robot, Here):
            trace.digest = f"{robot.plant.digest:016x}"
        return trace

    def bears(self, simulator: str, force: float) -> bool:
        """Whether the robot that walks forward stays up after the push."""
        robot, controller = self.robot(simulator), Mpc(self.body, COMMANDS["forward"])
        point = self.models["stiff"].body(GO2.base).ipos.tolist()
        waiting = True
        while robot.time < PUSH_AT_S + PUSH_FOR_S + PUSH_WAIT_S:
            if waiting and robot.time >= PUSH_AT_S - 1e-9:
                robot.push(force, point)
                waiting = False
            robot.advance(controller.torques(robot.time, robot.state()))
            now = robot.state()
            if up(now["quat"]) < np.cos(TILT_MAX_RAD) or now["position"][2] < 0.15:
                return False
        return True

    def push_limit(self, simulator: str) -> float:
        """The largest push that it bears, N: found in steps of a quarter, then bisected."""
        low, high = 0.0, PUSH_FIRST_N
        while self.bears(simulator, high) and high < PUSH_LAST_N:
            low, high = high, 1.25 * high
        for _ in range(PUSH_STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.bears(simulator, middle) else (low, middle)
        return low


def rows(bench: Bench) -> Iterator[tuple[Any, ...]]:
    """The rows of the table; the last column but one says whether the robot fell."""
    for name, command in COMMANDS.items():
        for simulator in (*scenario.MODELS, *peer.KINDS):
            r = measure(bench.run(simulator, command), command)
            yield (
                name, SHORT[simulator], report.speeds(r, "asked", ".1f"),
                report.speeds(r, "measured", ".3f"), f"{r['height_m']:.3f}",
                f"{r['torque_nm']:.2f}", f"{r['power_w']:.1f}", f"{r['steps_hz']:.2f}",
                "no" if r["fell_s"] is None else f"{r['fell_s']:.2f} s",
                f"`{r['digest']}`" if r["digest"] else "",
            )


def main() -> int:
    """Prints the table: 0, or 1 if a run fell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--markdown", type=Path, help="page whose part `mpc` is rewritten")
    a = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(WALKERS[0], Path(folder))
        for row in rows(bench):
            found.append(row)
            print(*row, sep=" | ", flush=True)
        simulators = ("exponential_spring", "hunt_crossley", "rigid", "stiff")
        limits = [f"{SHORT[s]} {bench.push_limit(s):.0f} N" for s in simulators]
    last = f"Largest push to the left for {PUSH_FOR_S} s at 0.5 m/s: {', '.join(limits)}."
    print(last)
    if a.markdown:
        head = (
            "command | on | asked | measured: m/s, m/s, rad/s | height, m | torque, N·m "
            "| power, W | steps, Hz | fell | digest"
        )
        report.replace(a.markdown, {"mpc": f"{report.table(head, found)}\n{last}\n"})
    return int(any(row[-2] != "no" for row in found))


if __name__ == "__main__":
    sys.exit(main())
