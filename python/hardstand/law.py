"""Control laws of Rust: the same over a bus, in the process of a plant, and called from Python.

    law = hardstand.Law.trot(robot.model, vx=0.4)
    for state in robot.states(join="legs", joints=law.joints, period=law.period):
        robot.command(**law.answer(state))

The set-points are those of `hardstand controller`, to the bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath

import numpy as np
import numpy.typing as npt

from . import _native
from .model import Model
from .state import State

Floats = npt.NDArray[np.float64]

SET_POINTS = ("q", "dq", "kp", "kd", "tau")


class Law:
    """A control law for one robot. It begins again with each run that it sees.

    Attributes:
        joints: names of the joints that it commands, in the model's order.
        period: ticks between two states that it answers.
    """

    def __init__(self, native: _native.Law) -> None:
        self._native = native
        self.joints: tuple[str, ...] = tuple(native.joints)
        self.period: int = native.period

    @classmethod
    def stand(
        cls,
        model: Model,
        *,
        joints: Sequence[str] = (),
        kp: float | None = None,
        kd: float | None = None,
    ) -> Law:
        """Holds the initial positions of these joints, or of all; gains in N·m/rad and N·m·s/rad,
        those of the robot if they are left out."""
        return cls(_native.Law.stand(model.data, list(joints), kp, kd))

    @classmethod
    def trot(
        cls,
        model: Model,
        *,
        vx: float | None = None,
        vy: float | None = None,
        yaw_rate: float | None = None,
    ) -> Law:
        """Walks with the shipped quadruped: forward, to the left (m/s), turning to the left (rad/s).
        Without these as the states ask for."""
        given = [vx, vy, yaw_rate]
        asked = [v or 0.0 for v in given] if any(v is not None for v in given) else None
        return cls(_native.Law.trot(model.data, asked))

    @classmethod
    def policy(
        cls,
        model: Model,
        contract: str | PathLike[str],
        policy: str | PathLike[str] | None = None,
        *,
        command: Mapping[str, float] | None = None,
    ) -> Law:
        """A learned policy with its contract, in Rust's own arithmetic: the same bits on every
        machine. Without `command` it does what the states ask for."""
        network = None if policy is None else fspath(policy)
        asked = list((command or {}).items())
        return cls(_native.Law.policy(model.data, fspath(contract), network, asked))

    def answer(self, state: State) -> dict[str, Floats]:
        """The set-points that answer a state: what `command` and `Plant.step` take."""
        table = np.frombuffer(self._native.answer(state.data)).reshape(-1, len(SET_POINTS))
        return {name: table[:, i].copy() for i, name in enumerate(SET_POINTS)}
