"""Shared by the tests: the shipped scenario, and the program that they run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import hardstand
from hardstand import binary

ROOT = Path(__file__).resolve().parents[2]
SCENARIO = ROOT / "config" / "quadruped.toml"

# neither a debug build nor a loaded machine may decide a test
PATIENT = ["command.hold_ticks=500"]


@pytest.fixture(scope="session", autouse=True)
def program() -> str:
    """The program; without one, the tests are skipped with the reason."""
    try:
        return os.fspath(binary.find())
    except hardstand.HardstandError as e:
        pytest.skip(str(e))


@pytest.fixture
def scenario() -> Path:
    return SCENARIO


@pytest.fixture(scope="session")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of half a second in which a controller holds the quadruped."""
    path = tmp_path_factory.mktemp("log") / "run.mcap"
    with hardstand.daemon(SCENARIO, duration=0.5, log=path) as robot:
        for _state in robot.states(join="legs"):
            robot.command(q=robot.q_initial, kp=100, kd=3)
    return path


@pytest.fixture
def robot() -> Iterator[hardstand.Robot]:
    """A robot in lockstep. A test that waits in vain ends with the run, or with its patience."""
    with hardstand.daemon(SCENARIO, duration=20, set=["control.patience_s=10"]) as robot:
        yield robot
