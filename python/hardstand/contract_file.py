"""Contracts of policies as files: what a policy was trained to see and to command."""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib import resources
from pathlib import Path
from typing import Any

from .errors import HardstandError

SCHEMA = "hardstand.contract.v1"

#: Terms of an observation: whether they have a frame, and whether only a simulator knows them.
TERMS: dict[str, tuple[bool, bool]] = {
    "gyro": (True, False),
    "gravity": (True, False),
    "acc": (True, False),
    "q": (False, False),
    "dq": (False, False),
    "last_action": (False, False),
    "command": (False, False),
    "clock_sin": (False, False),
    "clock_cos": (False, False),
    "foot_contact": (False, False),
    "constant": (False, False),
    "base_velocity": (True, True),
    "base_height": (False, True),
}


class Violated(HardstandError):
    """A contract that a robot or a policy does not keep; `clauses` has a line for each mistake."""

    def __init__(self, name: str, clauses: list[str]) -> None:
        text = f"contract {name}: {len(clauses)} clauses are violated"
        super().__init__("\n  - ".join([text, *clauses]), kind="input")
        self.clauses = clauses


@dataclass
class Term:
    """A part of the observation, multiplied with `scale`, then limited to ± `clip`.

    With `history` N it has the last N values, `decimation` policy steps apart. `joints` of q and dq
    default to those of the contract; `offset` is subtracted from q, by default the default pose.
    """

    term: str
    scale: float | list[float] = 1.0
    frame: str = "imu"
    history: int = 1
    decimation: int = 1
    clip: float | None = None
    joints: list[str] | None = None
    offset: float | list[float] | None = None
    names: list[str] = field(default_factory=list)
    value: list[float] = field(default_factory=list)
    truth: bool = False


@dataclass
class Clock:
    """A gait clock with one phase for each of `offsets`, shares of a period.

    `first_step` is the count of policy steps that the first observation shows. While all commands
    are below `standing_below`, all phases are `standing`; after that they start again.
    """

    period_s: float
    offsets: list[float] = field(default_factory=lambda: [0.0])
    first_step: int = 0
    standing: float | None = None
    standing_below: float = 0.01


@dataclass
class Hold:
    """Joints that the policy does not command, held at `q`."""

    joints: list[str]
    q: float | list[float]
    kp: float | list[float]
    kd: float | list[float]


@dataclass
class Contract:
    """What a policy was trained to see and to command. docs/python.md describes each key."""

    name: str
    policy_hz: float
    joints: list[str]
    default_q: list[float]
    kp: float | list[float] | str
    kd: float | list[float] | str
    observation: list[Term]
    action_scale: float | list[float] = 1.0
    action_clip: float | None = None
    commands: dict[str, list[float]] = field(default_factory=dict)
    clock: Clock | None = None
    hold: list[Hold] = field(default_factory=list)
    history_layout: str = "term"
    history_order: str = "oldest_first"
    history_fill: str = "zero"
    policy: str | None = None
    input: str | None = None
    output: str | None = None
    source: str = ""
    folder: Path = field(default_factory=Path)

    def command_values(self, given: Mapping[str, float]) -> list[float]:
        """The command in the order of `commands`; names that are not given are 0, or the limit
        nearest to 0."""
        return [
            given.get(name, min(max(0.0, low), high))
            for name, (low, high) in self.commands.items()
        ]


def load(path: str | os.PathLike[str]) -> Contract:
    """The contract in a file, or one of this package by name (`names()`)."""
    file = Path(path)
    if not file.exists() and file.suffix == "" and os.fspath(path) in names():
        file = Path(str(resources.files("hardstand") / "contracts" / f"{path}.toml"))
    try:
        text = file.read_text()
    except OSError as e:
        raise HardstandError(
            f"contract {file}: {e.strerror}; this package has {', '.join(names())}", kind="file"
        ) from None
    return parse(text, file)


def names() -> list[str]:
    """The contracts of this package."""
    folder = resources.files("hardstand") / "contracts"
    return sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name[-5:] == ".toml")


def parse(text: str, file: Path = Path("contract.toml")) -> Contract:
    """The contract in a text; all mistakes of its form are in one error."""
    tomllib = _toml()
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        raise HardstandError(f"contract {file}: {e}", kind="input") from None
    mistakes: list[str] = []
    if given.pop("schema", None) != SCHEMA:
        mistakes.append(f'schema must be "{SCHEMA}"')
    terms = [
        _made(Term, term, f"observation[{i}]", mistakes)
        for i, term in enumerate(given.pop("observation", []))
    ]
    holds = [
        _made(Hold, hold, f"hold[{i}]", mistakes) for i, hold in enumerate(given.pop("hold", []))
    ]
    clock = given.pop("clock", None)
    made = _made(
        Contract,
        given | {
            "observation": terms, "hold": holds, "folder": file.parent,
            "clock": clock and _made(Clock, clock, "clock", mistakes),
        },
        "", mistakes,
    )
    if mistakes:
        raise Violated(str(file), mistakes)
    contract: Contract = made
    return contract


def not_finite(given: Mapping[str, Any], prefix: str = "") -> list[str]:
    """The values that are NaN, or have one: a line each."""
    out = []
    for name, value in given.items():
        if isinstance(value, float) and math.isnan(value):
            out.append(f"{prefix}{name} is nan; it must be finite")
        elif _has_nan(value):
            out.append(f"{prefix}{name} has a nan; its numbers must be finite")
    return out


def _has_nan(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_nan, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(_has_nan, value))
    return isinstance(value, float) and math.isnan(value)


def _toml() -> Any:
    for name in ("tomllib", "tomli"):  # Python 3.10 has no tomllib
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            continue
    raise HardstandError("contracts need Python 3.11, or: pip install tomli", kind="input")


def _made(kind: type, given: Mapping[str, Any], where: str, mistakes: list[str]) -> Any:
    """An object of the dataclass `kind`, or None and the mistakes."""
    prefix = f"{where}." if where else ""
    known = [f.name for f in fields(kind)]
    unknown = [name for name in given if name not in known]
    mistakes += not_finite(given, prefix)
    mistakes += [f"{prefix}{name} is unknown; known are {', '.join(known)}" for name in unknown]
    try:
        return kind(**{name: value for name, value in given.items() if name not in unknown})
    except TypeError as e:
        missing = str(e).partition(": ")[2] or str(e)
        mistakes.append(f"{where or 'the contract'} lacks {missing}")
        return None
