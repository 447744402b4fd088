"""The rows of the table: walkers, commands and simulators."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import ours
import peer
import scenario
from motion import Trace, measure
from walkers import Command, Walker

Row = dict[str, Any]
SHORT = {
    "exponential_spring": "spring", "hunt_crossley": "Hunt–Crossley", "rigid": "rigid",
    "out of the box": "MuJoCo", "stiff": "MuJoCo stiff",
}
Say = Callable[[str], None]


class Bench:
    """Everything that the runs of a walker share."""

    def __init__(self, walker: Walker, folder: Path) -> None:
        self.walker = walker
        self.scenario = scenario.write(walker, folder)
        self.loaded = ours.load(walker)
        self.models = {k: peer.model_of(walker.robot, walker.mjcf, k) for k in peer.KINDS}

    def changes(self, model: str) -> list[str]:
        return scenario.changes(self.walker.robot, model)

    def ours(self, model: str, command: Command, seconds: float, **more: Any) -> Trace:
        changes = self.changes(model) + more.pop("set", [])
        return ours.run(
            self.walker, self.scenario, changes, command, seconds, self.loaded, **more
        )

    def peer_loop(self, kind: str, command: Command) -> peer.Loop:
        """A loop in MuJoCo from the state in which ours begins."""
        mine = ours.Loop(
            self.walker, self.scenario, self.changes("rigid"), command, self.loaded
        ).plant
        start = {"position": mine.base_position, "quat": mine.base_quat, "q": mine.q_initial}
        return peer.Loop(
            self.walker, self.models[kind], start, list(mine.joints), mine.effort_max, command,
            self.loaded,
        )

    def run(self, simulator: str, command: Command, seconds: float) -> Trace:
        """The trace of one row."""
        if simulator in peer.KINDS:
            return peer.run(self.peer_loop(simulator, command), seconds)
        return self.ours(simulator, command, seconds)


def rows(
    bench: Bench, commands: dict[str, Command], seconds: float, settle: float
) -> Iterator[Row]:
    """A row for each command and simulator."""
    for name, command in commands.items():
        for simulator in (*scenario.MODELS, *peer.KINDS):
            trace = bench.run(simulator, command, seconds)
            yield {
                "walker": bench.walker.name, "command": name, "simulator": SHORT[simulator],
                **measure(trace, command, settle),
            }


def live_rows(
    bench: Bench, name: str, command: Command, seconds: float, settle: float
) -> Iterator[Row]:
    """Rows through a daemon on each contact model: in lockstep, with the bits of the process, and
    in real time."""
    for model in scenario.MODELS:
        inside = bench.ours(model, command, seconds)
        for mode, label in (("lockstep", "daemon in lockstep"), ("realtime", "1 kHz")):
            trace, ended = live(bench, model, command, seconds, mode)
            row = {
                "walker": bench.walker.name, "command": name,
                "simulator": f"{SHORT[model]}, {label}", **measure(trace, command, settle),
                "ticks": ended.ticks, "missed_deadlines": trace.missed_deadlines,
            }
            if mode == "lockstep":
                same = all(
                    np.array_equal(inside[k][1:], trace[k])
                    for k in ("position", "quat", "velocity", "q", "dq", "tau")
                )
                row["same_bits"] = same and inside.digest == trace.digest
            yield row


def live(
    bench: Bench, model: str, command: Command, seconds: float, mode: str
) -> tuple[Trace, Any]:
    """A run through a daemon, and its report."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "run.mcap"
        return ours.through_daemon(
            bench.walker, bench.scenario, bench.changes(model), command, seconds, mode, log
        )
