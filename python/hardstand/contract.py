"""Checks a contract against a robot and a policy, before the first step."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .contract_file import (
    TERMS, Contract, Term, Violated, load, names, not_finite, parse,
)
from .network import Network
from .observation import term_size

__all__ = ["Contract", "Robot", "Violated", "check", "load", "names", "parse", "violations",
    "violations_of_command",
]

Floats = npt.NDArray[np.float64]

#: Most policy steps that a history may reach back.
STEPS_MAX = 10_000


@dataclass
class Robot:
    """What a contract is checked against. Fields that are None are not checked."""

    joints: Sequence[str]
    period: float
    q_min: Floats | None = None
    q_max: Floats | None = None
    kp_max: float = np.inf
    kd_max: float = np.inf
    feet: int = 0
    imu_on_base: bool = True
    #: Of the unit in the base, w, x, y, z.
    imu_quat: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0)
    prismatic: npt.NDArray[np.bool_] | None = None

    @classmethod
    def of_model(cls, model: Any) -> Robot:
        """Of the model of a robot on the bus."""
        return cls(
            model.joints, model.period, model.q_min, model.q_max, model.kp_max, model.kd_max,
            len(model.feet), model.imu_frame.body == model.base_link, model.imu_frame.quat_wxyz,
            model.prismatic,
        )

    @classmethod
    def of_plant(cls, plant: Any) -> Robot:
        """Of a `Plant` or `Plants`."""
        if (model := getattr(plant, "model", None)) is not None:
            return cls.of_model(model)
        return cls(plant.joints, plant.period, feet=np.shape(plant.foot_contact)[-1])


def values(contract: Contract, name: str, network: Network | None) -> Floats | None:
    """`kp` or `kd` of each joint. `"policy"` takes it from the metadata of the ONNX file. None if
    it is not there."""
    given = getattr(contract, name)
    if given == "policy":
        stored = network.shapes.metadata.get(name) if network else None
        if stored is None:
            return None
        given = json.loads(stored)
    return np.broadcast_to(np.asarray(given, np.float64), len(contract.joints))


def check(
    contract: Contract, robot: Robot, network: Network | None = None,
    command: Mapping[str, float] | None = None,
) -> None:
    """Raises `Violated` with every clause that the robot, the policy or the command violates."""
    if clauses := violations(contract, robot, network, command or {}):
        raise Violated(contract.name, clauses)


def violations(
    contract: Contract, robot: Robot, network: Network | None, command: Mapping[str, float],
) -> list[str]:
    """The violated clauses, a line each."""
    if out := _numbers(contract):
        return out
    out = [*_lengths(contract), *_joints(contract, robot), *_terms(contract, robot)]
    out += _timing(contract, robot)
    if not _lengths(contract):
        out += [*_gains(contract, robot, network), *_pose(contract, robot)]
    out += [*_ranges(contract), *violations_of_command(contract, command)]
    if network is not None:
        out += _policy(contract, robot, network)
    return out


def _numbers(contract: Contract) -> list[str]:
    """Numbers that are NaN: of a contract that is no file, too."""
    out = not_finite(vars(contract))
    for i, term in enumerate(contract.observation):
        out += not_finite(vars(term), f"observation[{i}].")
    for i, hold in enumerate(contract.hold):
        out += not_finite(vars(hold), f"hold[{i}].")
    return out + (not_finite(vars(contract.clock), "clock.") if contract.clock else [])


def _lengths(contract: Contract) -> list[str]:
    n = len(contract.joints)
    out = []
    for name in ("default_q", "kp", "kd", "action_scale"):
        given = getattr(contract, name)
        if isinstance(given, list) and len(given) != n:
            out.append(f"{name} has {len(given)} numbers; joints has {n} names")
        if isinstance(given, str) and given != "policy":
            out.append(f'{name} is "{given}"; it must be a number, a list, or "policy"')
    for name, allowed in (
        ("history_layout", ("term", "frame")), ("history_fill", ("zero", "first")),
        ("history_order", ("oldest_first", "newest_first")),
    ):
        if getattr(contract, name) not in allowed:
            out.append(f'{name} is "{getattr(contract, name)}"; it must be {" or ".join(allowed)}')
    return out


def _joints(contract: Contract, robot: Robot) -> list[str]:
    held = [joint for hold in contract.hold for joint in hold.joints]
    named = contract.joints + held
    out = [
        f"joints: the robot has no joint {name}; its joints are {', '.join(robot.joints)}"
        for name in named if name not in robot.joints
    ]
    twice = sorted({name for name in named if named.count(name) > 1})
    out += [f"joints: {name} is there twice" for name in twice]
    if free := [name for name in robot.joints if name not in named]:
        out.append(
            f"joints: the robot's joints {', '.join(free)} are not commanded; add a table [[hold]] "
            "with joints, q, kp and kd"
        )
    return out


def _terms(contract: Contract, robot: Robot) -> list[str]:
    out = []
    for i, term in enumerate(contract.observation):
        where = f"observation[{i}] {term.term}"
        if term.term not in TERMS:
            out.append(f"{where}: unknown; it must be one of {', '.join(TERMS)}")
            continue
        out += [f"{where}: {text}" for text in _term(contract, term, robot)]
    frames = {(t.history, t.decimation) for t in contract.observation}
    if contract.history_layout == "frame" and len(frames) > 1:
        out.append('history_layout "frame" needs the same history and decimation in all terms')
    return out


def _term(contract: Contract, term: Term, robot: Robot) -> list[str]:
    has_frame, is_truth = TERMS[term.term]
    frames = ("base", "world") if term.term == "base_velocity" else ("imu", "base")
    out: list[str] = []
    if has_frame and term.frame not in frames:
        out.append(f'frame is "{term.frame}"; it must be {" or ".join(frames)}')
    if term.frame == "base" and not is_truth and not robot.imu_on_base:
        out.append("frame is base, but the IMU is on another body, so it cannot be turned")
    if is_truth and not term.truth:
        out.append("only a simulator knows it; write truth = true to accept that")
    if term.history < 1 or term.decimation < 1:
        out.append(f"history is {term.history} and decimation {term.decimation}; 1 is the least")
    elif term.history * term.decimation > STEPS_MAX:
        out.append(
            f"history is {term.history} and decimation {term.decimation}; history times decimation "
            f"may be {STEPS_MAX}"
        )
    out += _not_above_0("clip", term.clip)
    out += [f"the robot has no joint {j}" for j in term.joints or [] if j not in robot.joints]
    out += [f'the contract has no command "{n}"' for n in term.names if n not in contract.commands]
    if term.term.startswith("clock") and contract.clock is None:
        out.append("the contract has no [clock]")
    size = term_size(contract, term, robot.feet)
    for name in ("scale", "offset"):
        given = getattr(term, name)
        if isinstance(given, list) and len(given) != size:
            out.append(f"{name} has {len(given)} numbers; the term has {size}")
    return out


def _timing(contract: Contract, robot: Robot) -> list[str]:
    out = _not_above_0("clock.period_s", contract.clock.period_s if contract.clock else None)
    ticks = 1 / (contract.policy_hz * robot.period) if contract.policy_hz > 0 else 0.0
    if ticks < 1 or abs(ticks - round(ticks)) > 1e-6:
        out.insert(
            0,
            f"policy_hz is {contract.policy_hz:g}; it must divide the robot's "
            f"{1 / robot.period:g} ticks per second",
        )
    return out


def _ranges(contract: Contract) -> list[str]:
    out = [
        f"commands.{name} is [{low:g}, {high:g}]; the least must come first"
        for name, (low, high) in contract.commands.items() if low > high
    ]
    return out + _not_above_0("action_clip", contract.action_clip)


def _not_above_0(name: str, limit: float | None) -> list[str]:
    wrong = limit is not None and limit <= 0
    return [f"{name} is {limit:g}; it must be above 0"] if wrong else []


def _gains(contract: Contract, robot: Robot, network: Network | None) -> list[str]:
    out = []
    for name, most in (("kp", robot.kp_max), ("kd", robot.kd_max)):
        given = values(contract, name, network)
        if given is None:
            if network is not None:
                out.append(f'{name} is "policy", but the policy\'s metadata has no {name}')
            continue
        for joint, value in zip(contract.joints, given, strict=True):
            if not 0 <= value <= most:
                out.append(f"{name} of {joint} is {value:g}; the robot takes 0 to {most:g}")
    return out


def _pose(contract: Contract, robot: Robot) -> list[str]:
    out: list[str] = []
    if robot.q_min is None or robot.q_max is None:
        return out
    places = {name: i for i, name in enumerate(robot.joints)}
    for name, q in zip(contract.joints, contract.default_q, strict=True):
        if (i := places.get(name)) is None:
            continue
        if not robot.q_min[i] <= q <= robot.q_max[i]:
            limits = f"{robot.q_min[i]:g} to {robot.q_max[i]:g}"
            out.append(f"default_q of {name} is {q:g}; the joint's limits are {limits}")
        if robot.prismatic is not None and robot.prismatic[i]:
            out.append(f"joints: {name} is prismatic; a policy commands revolute joints")
    return out


def violations_of_command(contract: Contract, command: Mapping[str, float]) -> list[str]:
    out = []
    for name, value in command.items():
        if name not in contract.commands:
            known = ", ".join(contract.commands) or "none"
            out.append(f'command "{name}" is unknown; the contract has {known}')
        elif not contract.commands[name][0] <= value <= contract.commands[name][1]:
            low, high = contract.commands[name]
            out.append(f"command {name} is {value:g}; it must be {low:g} to {high:g}")
    return out


def _policy(contract: Contract, robot: Robot, network: Network) -> list[str]:
    out = []
    shapes = network.shapes
    for what, name, known in (
        ("input", contract.input, shapes.inputs), ("output", contract.output, shapes.outputs),
    ):
        if name is not None and name not in known:
            out.append(f'{what} "{name}" is none of the policy\'s: {", ".join(known)}')
    if contract.input is None and len(shapes.inputs) != 1:
        out.append(f"the policy has the inputs {', '.join(shapes.inputs)}; name one as input")
    terms = [t for t in contract.observation if t.term in TERMS]
    sizes = [t.history * term_size(contract, t, robot.feet) for t in terms]
    takes = contract.input if contract.input in shapes.inputs else next(iter(shapes.inputs), "")
    wanted = shapes.inputs.get(takes)
    if wanted is not None and sum(sizes) != wanted:
        parts = " + ".join(f"{t.term} {n}" for t, n in zip(terms, sizes, strict=True))
        out.append(f"observation: it has {sum(sizes)} numbers ({parts}); the policy takes {wanted}")
    made = shapes.outputs.get(contract.output or next(iter(shapes.outputs), ""))
    if made is not None and made != len(contract.joints):
        out.append(f"joints: there are {len(contract.joints)}; the policy gives {made} actions")
    return out
