"""Hardstand: a simulated legged robot for the program that controls it.

    import hardstand

    with hardstand.connect("quadruped") as robot:
        for state in robot.states(join="legs"):
            robot.command(q=robot.q_initial, kp=100, kd=3)

docs/python.md describes the package.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .aio import AsyncRobot, connect_async
from .client import Robot, connect
from .daemon import Daemon, daemon
from .errors import Busy, DaemonGone, FileFailed, HardstandError, Lost, PlantFailed, Refused
from .log import Log, read
from .model import Model
from .state import Bodies, Contacts, Drives, Sensors, State
from .status import Event, Events, Status
from .tools import (
    bisect, branch, calibrate, campaign, campaign_compare, campaign_plan, campaign_report, certify,
    compare, hunt, import_log, model, plot, pushes, replay, run, verify,
)

if TYPE_CHECKING:
    from . import gym, policy
    from .law import Law
    from .plant import Dynamics, Plant, Plants

# without `gym` and `policy`, whose packages need not be there
__all__ = [
    "AsyncRobot", "Bodies", "Busy", "Contacts", "Daemon", "Dynamics", "DaemonGone", "Drives", "Event", "Events", "FileFailed",
    "HardstandError",
    "Law", "Log", "Lost", "Model", "Plant", "PlantFailed", "Plants", "Refused", "Robot", "Sensors", "State", "Status",
    "bisect", "branch", "calibrate", "campaign", "campaign_compare", "campaign_plan",
    "campaign_report", "certify", "compare", "connect", "connect_async",
    "daemon", "hunt", "import_log", "model", "plot", "pushes", "read", "replay", "run", "verify",
]


def __getattr__(name: str) -> Any:
    """Loads what needs the extension module or an optional package when it is first used."""
    if name in ("Dynamics", "Plant", "Plants"):
        return getattr(importlib.import_module("hardstand.plant"), name)
    if name == "Law":
        return importlib.import_module("hardstand.law").Law
    if name in ("gym", "policy"):
        return importlib.import_module(f"hardstand.{name}")
    raise AttributeError(f"module hardstand has no attribute {name!r}")
