"""Tests with a daemon and the controller as a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import hardstand
import numpy as np

import ours
from motion import Trace, up
from rows import Bench

PAUSE_AT_S, PAUSE_S, RUN_S = 3.0, 0.3, 8.0


def command_line(bench: Bench) -> list[str]:
    """The policy as a controller process."""
    walker = bench.walker
    out = [sys.executable, "-m", "hardstand.policy", walker.contract]
    return [*out, *ours.options(walker), "--join", "walker", "--engine", ours.ENGINE]


def certify(bench: Bench, seconds: float = 2.0) -> dict[str, Any]:
    """`hardstand certify` of the policy."""
    with tempfile.TemporaryDirectory() as folder:
        program = str(hardstand.binary.find())
        line = [program, "certify", str(bench.scenario), "--duration", str(seconds)]
        line += ["--out", folder + "/certificate"]
        for change in bench.changes("exponential_spring"):
            line += ["--set", change]
        done = subprocess.run(
            [*line, "--", *command_line(bench)], capture_output=True, text=True, check=False
        )
        file = Path(folder) / "certificate" / "certificate.json"
        if not file.is_file():
            return {"certified": False, "problem": done.stderr.strip()[-500:]}
        found = json.loads(file.read_text())
    return {
        "certified": found["certified"], "seconds": seconds,
        "runs": {run["name"]: run["verdict"] for run in found["runs"]},
    }


def pause(bench: Bench, hold_ticks: int) -> dict[str, Any]:
    """Stops the controller for 0.3 s in real time (SIGSTOP, SIGCONT) while the robot walks. A
    command is held for so many ticks before the joints are damped."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "run.mcap"
        with hardstand.daemon(
            bench.scenario, "realtime", "realtime", duration=RUN_S, log=log,
            set=[*bench.changes("exponential_spring"), f"command.hold_ticks={hold_ticks}"],
        ) as robot:
            environment = os.environ | {
                "HARDSTAND_CONNECT": robot.daemon.endpoint,
                "HARDSTAND_ROBOT": robot.daemon.robot_name,
            }
            process = subprocess.Popen(
                command_line(bench), env=environment, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            try:
                robot.wait_tick(round(PAUSE_AT_S / robot.model.period), timeout=60)
                process.send_signal(signal.SIGSTOP)
                time.sleep(PAUSE_S)
                process.send_signal(signal.SIGCONT)
                robot.daemon.wait(60)
            finally:
                process.kill()
                process.wait()
            joints, feet = list(robot.model.joints), list(robot.model.feet)
            period = robot.model.period
        recorded = hardstand.read(log)
        trace = Trace(period)
        ours.table(trace, recorded, joints, feet)
        authority = recorded.to_numpy(["authority"])["authority"]
        events = [event["text"] for event in recorded.events]
    return verdict(trace, authority, events, period)


def verdict(trace: Trace, authority: Any, events: list[str], period: float) -> dict[str, Any]:
    """How the robot took the pause."""
    begin = round((PAUSE_AT_S + 0.1) / period)
    away = np.flatnonzero(np.isin(authority[begin:], (0, 3)))  # no effort, damped
    fell = np.flatnonzero(up(trace["quat"]) < np.cos(1.0))
    tail = slice(round((RUN_S - 2) / period), None)
    return {
        "rejoined": sum("must join again" in text for text in events),
        "damped_s": float(len(away) * period),
        "tilt_max_rad": float(np.arccos(np.clip(up(trace["quat"])[begin:].min(), -1, 1))),
        "height_min_m": float(trace["position"][begin:, 2].min()),
        "fell_s": float(fell[0] * period) if len(fell) else None,
        "speed_after": float(np.linalg.norm(trace["velocity"][tail, :2].mean(0))),
        "events": events[:12],
    }
