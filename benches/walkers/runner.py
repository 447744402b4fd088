"""Runs the policies with `hardstand controller policy`, whose arithmetic gives the same bits on
every machine: twice each, in a daemon in lockstep.

    python3 benches/walkers/runner.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import hardstand

import ours
import scenario
from motion import Trace, measure
from rows import SHORT
from run import chosen
from walkers import Walker

RUN_S = 8.0


def run(walker: Walker, file: Path, model: str, log: Path) -> tuple[str, dict[str, Any]]:
    """The digest, and what docs/walkers.md measures."""
    changes = scenario.changes(walker.robot, model)
    with hardstand.daemon(file, duration=RUN_S, log=log, set=changes) as robot:
        line = ours.command_line(walker)
        line += ["--connect", robot.daemon.endpoint, "--robot", robot.daemon.robot_name]
        controller = subprocess.Popen(
            line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            ended = robot.daemon.wait(120)
        finally:
            controller.kill()
            controller.wait()
    trace = Trace(robot.model.period)
    ours.table(trace, hardstand.read(log), list(robot.model.joints), list(robot.model.feet))
    return ended.digest, measure(trace, walker.push)


def main() -> int:
    """A line for each walker and contact model; exit code 1 if a digest differs."""
    different = 0
    print("| walker | on | asked | speed, m/s | power, W | digest, twice |")
    print("| --- | --- | --- | --- | --- | --- |")
    for walker in chosen([]):
        with tempfile.TemporaryDirectory() as folder:
            file = scenario.write(walker, Path(folder))
            for model in scenario.MODELS:
                log = Path(folder) / "run.mcap"
                first = run(walker, file, model, log)
                again = run(walker, file, model, log)
                same = first[0] == again[0]
                different += not same
                digest = f"`{first[0]}`" if same else f"`{first[0]}`, `{again[0]}`"
                command = ", ".join(f"{name} {value}" for name, value in walker.push.items())
                seen = first[1]
                fell = "fell" if seen["fell_s"] is not None else f"{seen['measured'][0]:.3f}"
                print(
                    f"| {walker.name} | {SHORT[model]} | {command} | {fell} | "
                    f"{seen['power_w']:.1f} | {digest} |",
                    flush=True,
                )
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
