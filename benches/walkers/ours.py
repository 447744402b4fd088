"""Runs a policy on Hardstand: in this process, and through a daemon."""

from __future__ import annotations

import time
from importlib import resources
from pathlib import Path
from typing import Any

import hardstand
import numpy as np
from hardstand import binary, network, policy
from hardstand import contract as contracts
from hardstand.observation import Sensors

from motion import Trace
from walkers import Command, Walker

#: NumPy, so that the version of onnxruntime decides no digest.
ENGINE = "numpy"


def load(walker: Walker) -> tuple[contracts.Contract, network.Network]:
    """Contract and policy."""
    return contracts.load(walker.contract), network.load(walker.policy_file, ENGINE)


def options(walker: Walker) -> list[str]:
    """Policy and command of a controller process, whichever runs it."""
    command = [("--command", f"{name}={value}") for name, value in walker.push.items()]
    return ["--policy", str(walker.policy_file), *(word for pair in command for word in pair)]


def command_line(walker: Walker) -> list[str]:
    """`hardstand controller policy`, in a process of its own."""
    contract = resources.files("hardstand") / "contracts" / f"{walker.contract}.toml"
    return [str(binary.find()), "controller", "policy", str(contract), *options(walker)]


class Loop:
    """A policy with a plant in this process."""

    def __init__(
        self, walker: Walker, scenario: Path, changes: list[str], command: Command,
        loaded: tuple[contracts.Contract, network.Network] | None = None,
    ) -> None:
        self.plant = hardstand.Plant(scenario, set=changes)
        contract, net = loaded or load(walker)
        robot = contracts.Robot.of_plant(self.plant)
        self.policy = policy.Policy(contract, net, robot, command=command)
        places = [self.policy.joints.index(name) for name in self.plant.joints]
        self.places, self.kp, self.kd = places, self.policy.kp[places], self.policy.kd[places]
        self.late: list[Any] = []  # targets still to come, of a plant with a delay
        self.delay = 0

    def advance(self, trace: Trace | None = None) -> None:
        """One action and its ticks."""
        self.late.append(self.policy.act(Sensors.of_plant(self.plant))[self.places])
        q = self.late.pop(0) if len(self.late) > self.delay else self.plant.q_initial
        order = {"q": q, "dq": 0.0, "kp": self.kp, "kd": self.kd, "tau": 0.0}
        if trace is None:
            self.plant.step(**order, ticks=self.policy.period)
            return
        self.plant.step(**order)
        record(trace, self.plant)
        for _ in range(self.policy.period - 1):
            self.plant.step()
            record(trace, self.plant)


def record(trace: Trace, plant: Any) -> None:
    """A row of the plant's state."""
    trace.add(
        position=plant.base_position, quat=plant.base_quat, velocity=plant.base_velocity,
        q=plant.q, dq=plant.dq, tau=plant.tau, normal=plant.foot_normal,
    )


def run(
    walker: Walker, scenario: Path, changes: list[str], command: Command, seconds: float,
    loaded: tuple[contracts.Contract, network.Network] | None = None, delay: int = 0,
) -> Trace:
    """In this process; with a delay of so many actions."""
    loop = Loop(walker, scenario, changes, command, loaded)
    loop.delay = delay
    trace = Trace(loop.plant.period)
    begin = time.perf_counter()
    record(trace, loop.plant)
    while loop.plant.time < seconds - 1e-9:
        loop.advance(trace)
    trace.wall_s = time.perf_counter() - begin
    trace.digest = f"{loop.plant.digest:016x}"
    return trace


def through_daemon(
    walker: Walker, scenario: Path, changes: list[str], command: Command, seconds: float,
    mode: str = "lockstep", log: Path | None = None,
) -> tuple[Trace, Any]:
    """Through a daemon: the trace of its log, and the report of the run."""
    contract, net = load(walker)
    pace = "free" if mode == "lockstep" else "realtime"
    with hardstand.daemon(
        scenario, mode, pace, set=changes, duration=seconds, log=log
    ) as robot:
        controller = policy.of_robot(robot, contract, net, command)
        begin = time.perf_counter()
        if mode == "lockstep":
            every_tick(robot, controller)
        else:
            policy.run(robot, controller, "walker")
        ended = robot.daemon.wait()
        wall = time.perf_counter() - begin
        joints, feet = list(robot.model.joints), list(robot.model.feet)
        period = robot.model.period
    trace = Trace(period, digest=str(ended.digest) if ended else "", wall_s=wall)
    if log is not None:
        table(trace, hardstand.read(log), joints, feet)
    return trace, ended


def every_tick(robot: Any, controller: policy.Policy) -> None:
    """Answers every tick under the name that a plant in a process has for its controller: both are
    part of the state, and so of the digest."""
    q = None
    for state in robot.states("python", joints=controller.joints):
        if state.tick % controller.period == 0:
            q = controller.act(Sensors.of_state(state))
        robot.command(q=q, kp=controller.kp, kd=controller.kd)


def table(trace: Trace, log: Any, joints: list[str], feet: list[str]) -> None:
    """Fills a trace with a log."""
    base = {"position": ["base.x", "base.y", "base.z"],
            "quat": [f"base.quat.{a}" for a in "wxyz"],
            "velocity": ["base.vx", "base.vy", "base.vz"]}
    names = base | {k: [f"joint.{j}.{k}" for j in joints] for k in ("q", "dq", "tau")}
    names["normal"] = [f"foot.{f}.normal" for f in feet]
    values = log.to_numpy([*(n for part in names.values() for n in part), "missed_deadlines"])
    trace.missed_deadlines = int(values["missed_deadlines"][-1])
    for name, part in names.items():
        trace.rows[name] = list(np.stack([values[n] for n in part], -1))
