"""The observation of a policy, built from published sensors as its contract says.

Everything works on arrays with any leading axes, so the same code serves a robot on the bus, a
plant in this process, and many plants at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .contract_file import Clock, Contract, Term
from .state import State

Array = npt.NDArray[Any]
_DOWN = np.array([0.0, 0.0, -1.0])


@dataclass
class Sensors:
    """Readings of one instant, of shape (…, 3), (…, 4) or (…, n); quaternions are w x y z.

    `base_*` are known to a simulator only; the velocity is in the world.
    """

    gyro: Array
    acc: Array
    quat: Array
    q: Array
    dq: Array
    foot_contact: Array
    base_velocity: Array
    base_quat: Array
    base_position: Array

    @classmethod
    def of_state(cls, state: State) -> Sensors:
        """Of a state on the bus; joints in the model's order."""
        return cls(
            state.imu_gyro, state.imu_acc, state.imu_quat, state.q, state.dq, state.foot_contact,
            state.truth_base_velocity, state.truth_base_quat, state.truth_base_position,
        )

    @classmethod
    def of_plant(cls, plant: Any) -> Sensors:
        """Of a `Plant` or of `Plants`."""
        return cls(
            plant.imu_gyro, plant.imu_acc, plant.imu_quat, plant.q, plant.dq, plant.foot_contact,
            plant.base_velocity, plant.base_quat, plant.base_position,
        )


def rotate(quat: Array, vector: Array) -> Array:
    """The vectors (…, 3) turned by the quaternions (…, 4), w x y z."""
    w, v = quat[..., :1], quat[..., 1:]
    twice = 2 * np.cross(v, vector)
    return np.asarray(vector + w * twice + np.cross(v, twice))


def unrotate(quat: Array, vector: Array) -> Array:
    """The vectors turned back: from the world into the frame of `quat`."""
    return rotate(quat * np.array([1.0, -1.0, -1.0, -1.0]), vector)


class Phases:
    """The phases of a gait clock, rad, within ±π; (…, offsets)."""

    def __init__(self, clock: Clock, policy_hz: float, batch: tuple[int, ...]) -> None:
        self.clock = clock
        self._step = 2 * np.pi / (policy_hz * clock.period_s)
        self._starts = 2 * np.pi * np.asarray(clock.offsets)
        self.count = np.full(batch, clock.first_step - 1, np.int64)

    def reset(self, mask: Array) -> None:
        """Starts the clocks of `mask` again."""
        self.count = np.where(mask, self.clock.first_step - 1, self.count)

    def advance(self, command: Array) -> Array:
        """One policy step on."""
        self.count = self.count + 1
        phases = self._starts + self._step * self.count[..., None]
        if self.clock.standing is not None:
            stands = np.asarray((np.abs(command) < self.clock.standing_below).all(-1))
            self.count = np.where(stands, -1, self.count)
            phases = np.where(stands[..., None], 2 * np.pi * self.clock.standing, phases)
        return np.asarray(np.mod(phases + np.pi, 2 * np.pi) - np.pi)


class Observer:
    """Builds observations for `joints`, the robot's, in the order of its readings."""

    def __init__(
        self,
        contract: Contract,
        joints: Sequence[str],
        feet: int = 0,
        imu_quat: Sequence[float] = (1.0, 0.0, 0.0, 0.0),
        batch: tuple[int, ...] = (),
    ) -> None:
        self.contract, self.batch, self._feet = contract, batch, feet
        self._imu_quat = np.asarray(imu_quat, np.float64)
        self._places = {name: i for i, name in enumerate(joints)}
        self._default = dict(zip(contract.joints, contract.default_q, strict=True))
        self._names = list(contract.commands)
        clock = contract.clock
        self._phases = Phases(clock, contract.policy_hz, batch) if clock else None
        self._terms = [self._reader(term) for term in contract.observation]
        longest = [(t.history - 1) * t.decimation + 1 for t in contract.observation]
        self._past: list[Array | None] = [None] * len(longest)
        self._kept = longest
        self._fresh = np.ones(batch, np.bool_)

    def reset(self, mask: Array | None = None) -> None:
        """Forgets histories and starts the gait clock, of those in `mask` or of all."""
        chosen = np.ones(self.batch, np.bool_) if mask is None else np.asarray(mask, np.bool_)
        self._fresh = self._fresh | chosen
        if self._phases:
            self._phases.reset(chosen)

    def __call__(self, sensors: Sensors, last_action: Array, command: Array) -> Array:
        """The observation (…, size), float32. `last_action` (…, joints), as the policy gave it;
        `command` (…, commands) in the order of the contract."""
        phases = self._phases.advance(command) if self._phases else np.zeros((*self.batch, 0))
        parts = []
        for i, (term, read) in enumerate(zip(self.contract.observation, self._terms, strict=True)):
            value = read(sensors, last_action, command, phases) * np.asarray(term.scale)
            if term.clip is not None:
                value = np.clip(value, -term.clip, term.clip)
            value = np.broadcast_to(value, (*self.batch, value.shape[-1])).astype(np.float32)
            parts.append(self._with_history(i, term, value))
        self._fresh = np.zeros(self.batch, np.bool_)
        if self.contract.history_layout == "frame":
            return np.concatenate(parts, -1).reshape(*self.batch, -1)
        return np.concatenate([p.reshape(*self.batch, -1) for p in parts], -1)

    def _with_history(self, i: int, term: Term, value: Array) -> Array:
        """The last values of a term, (…, history, size)."""
        now = value[..., None, :]
        past = self._past[i]
        first = now if self.contract.history_fill == "first" else np.zeros_like(now)
        filled = np.repeat(first, self._kept[i], -2)
        kept = filled if past is None else np.where(self._fresh[..., None, None], filled, past)
        self._past[i] = kept = np.concatenate([kept[..., 1:, :], now], -2)
        chosen = kept[..., :: term.decimation, :]
        return chosen[..., ::-1, :] if self.contract.history_order == "newest_first" else chosen

    def _reader(self, term: Term) -> Any:
        """The function that reads a term: (sensors, last action, command, phases) to (…, size)."""
        kind, turn = term.term, self._in_frame(term.frame)
        if kind in ("q", "dq"):
            return self._joints(term)
        if kind == "command":
            chosen = [self._names.index(name) for name in term.names or self._names]
            return lambda s, last, command, phases: command[..., chosen]
        readers = {
            "gyro": lambda s, *_: turn(s.gyro),
            "acc": lambda s, *_: turn(s.acc),
            "gravity": lambda s, *_: turn(unrotate(s.quat, np.broadcast_to(_DOWN, s.gyro.shape))),
            "last_action": lambda s, last, *_: last,
            "clock_sin": lambda s, last, command, phases: np.sin(phases),
            "clock_cos": lambda s, last, command, phases: np.cos(phases),
            "foot_contact": lambda s, *_: s.foot_contact.astype(np.float64),
            "constant": lambda s, *_: np.asarray(term.value, np.float64),
            "base_velocity": lambda s, *_: (
                unrotate(s.base_quat, s.base_velocity) if term.frame == "base" else s.base_velocity
            ),
            "base_height": lambda s, *_: s.base_position[..., 2:],
        }
        return readers[kind]

    def _in_frame(self, frame: str) -> Any:
        """From the axes of the IMU to those of `frame`."""
        if frame == "base" and not np.array_equal(self._imu_quat, [1, 0, 0, 0]):
            return lambda vector: rotate(self._imu_quat, vector)
        return lambda vector: vector

    def _joints(self, term: Term) -> Any:
        names = term.joints or self.contract.joints
        places = [self._places[name] for name in names]
        if term.term == "dq":
            return lambda s, *_: s.dq[..., places]
        usual = [self._default.get(name, 0.0) for name in names]
        offset = np.asarray(usual if term.offset is None else term.offset)
        return lambda s, *_: s.q[..., places] - offset

    @property
    def size(self) -> int:
        """The size of the observation."""
        c = self.contract
        return sum(t.history * term_size(c, t, self._feet) for t in c.observation)


def term_size(contract: Contract, term: Term, feet: int = 0) -> int:
    """The size of one value of a term."""
    n = len(contract.joints)
    clocks = len(contract.clock.offsets) if contract.clock else 0
    sizes = {
        "q": len(term.joints or contract.joints), "dq": len(term.joints or contract.joints),
        "last_action": n, "command": len(term.names or contract.commands), "clock_sin": clocks,
        "clock_cos": clocks, "foot_contact": feet, "constant": len(term.value), "base_height": 1,
    }
    return sizes.get(term.term, 3)
