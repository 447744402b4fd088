"""The simulation inside this process: one robot, or many on all cores.

    plant = hardstand.Plant("config/quadruped.toml")
    plant.step(q=plant.q_initial, kp=100, kd=3, ticks=1000)

Ticks, digests and saved states are those of the daemon in lockstep, for a controller that joins as
`python` (or another name that is given), for all joints, and answers every tick. One thread at a time may use an object.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native, wire
from .dynamics import Dynamics
from .errors import Refused
from .law import Law
from .model import Model, read_model
from .plant_readings import Bools, Floats, Readings, floats
from .state import State

Values = float | npt.ArrayLike

SET_POINTS = ("q", "dq", "kp", "kd", "tau")


def _bytes(values: Values | None, shape: tuple[int, ...], name: str) -> bytes | None:
    """Set-points as the extension module takes them; a number or a row counts for all."""
    if values is None:
        return None
    try:
        given = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise Refused(f"{name} is {values!r}; it must be numbers that fit {shape}") from None
    try:
        full = np.broadcast_to(given, shape)
    except ValueError:
        raise Refused(f"{name} has the shape {given.shape}; it must fit {shape}") from None
    return np.ascontiguousarray(full).tobytes()


class Plant(Readings):
    """One robot on its ground, held by one controller: this process.

    Arrays are copies, float64, in the order of `joints`: rad and N·m, or m and N. The base is given
    by position (m, world), quaternion (w, x, y, z), velocity (m/s, world) and angular velocity
    (rad/s, in its own axes). Where the scenario's `[sensors]` have errors, `q`, `dq`, `tau`, `imu_…`
    and `foot_…` are what the sensors show; what begins with `truth_`, and the base, is the truth.

    `drive_…` are the readings of drives that are not ideal, and empty if all are ideal.
    """

    def __init__(
        self,
        scenario: str | PathLike[str],
        *,
        set: Sequence[str] = (),
        controller: str = "python",
    ) -> None:
        self._native: _native.Plant = _native.Plant(fspath(scenario), list(set), controller)

    @property
    def joints(self) -> list[str]:
        """Names of the joints."""
        return self._native.joints

    @property
    def feet(self) -> list[str]:
        """Names of the feet."""
        return self._native.feet

    @property
    def period(self) -> float:
        """Length of a tick, s."""
        return self._native.period

    @property
    def mass(self) -> float:
        """Mass, kg."""
        return self._native.mass

    @property
    def tick(self) -> int:
        """Ticks done."""
        return self._native.tick

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self._native.time

    @property
    def digest(self) -> int:
        """Digest of the state, 64 bits."""
        return self._native.digest

    @property
    def q_initial(self) -> Floats:
        """Initial positions (n)."""
        return floats(self._native.q_initial(), -1)

    @property
    def effort_max(self) -> Floats:
        """Largest efforts (n)."""
        return floats(self._native.effort_max(), -1)

    @property
    def battery_voltage(self) -> float:
        """Voltage at the battery's terminals, V; 0 without a battery."""
        return self._native.battery_voltage()

    def step(
        self,
        q: Values | None = None,
        dq: Values | None = None,
        kp: Values | None = None,
        kd: Values | None = None,
        tau: Values | None = None,
        ticks: int = 1,
    ) -> None:
        """Commands all joints, in the order of `joints`, and advances, without the GIL. What is
        left out stays as in the last command. After `run` with a law for some joints, the
        controller joins for all joints again.

        Raises:
            Refused: a value is out of its range; nothing has happened.
            PlantFailed: the physics has failed; the state is the last good one.
        """
        ticks, shape = wire.whole("ticks", ticks, 0), (len(self.joints),)
        given = zip(SET_POINTS, (q, dq, kp, kd, tau), strict=True)
        self._native.step(*(_bytes(v, shape, name) for name, v in given), ticks=ticks)

    def run(self, law: Law, ticks: int) -> None:
        """Advances, commanded by a control law of Rust, without the GIL. The law joins as the
        plant's controller, for its joints and with its period."""
        self._native.run(law._native, wire.whole("ticks", ticks, 0))

    @property
    def model(self) -> Model:
        """The robot, as a daemon describes it."""
        return read_model(self._native.messages()[0])

    @property
    def state(self) -> State:
        """The state, as a daemon in lockstep publishes it."""
        return State(self._native.messages()[1])

    def push(
        self,
        link: str,
        force: Sequence[float],
        duration: float,
        point: Sequence[float] = (0, 0, 0),
    ) -> None:
        """Pushes a link with a force (N, world axes) for a time (s) at a point (m, in the link)."""
        self._native.fault(
            "push", link=link, force_n=wire.vector("force", force), duration=duration,
            point_m=wire.vector("point", point),
        )

    def friction(self, mu_static: float, mu_kinetic: float) -> None:
        """Changes the friction of all stations."""
        self._native.fault("friction", mu_static=mu_static, mu_kinetic=mu_kinetic)

    def fault(self, kind: str, **parameters: Any) -> None:
        """Injects a fault with the parameters of docs/faults.md."""
        self._native.fault(kind, **parameters)

    def snapshot(self) -> bytes:
        """The complete state, with the set-points in force, as `Robot.snapshot` gives it."""
        return self._native.snapshot()

    def restore(self, saved: bytes) -> None:
        """Goes on from a state of a plant or of a daemon of the same scenario, bit for bit. What
        was commanded there goes on as well: `step()` without values holds it."""
        self._native.restore(saved)

    def reset(self) -> None:
        """Begins again."""
        self._native.reset()

    def clone(self) -> Plant:
        """A copy that goes its own way."""
        new = object.__new__(Plant)
        new._native = self._native.clone()
        return new


class Plants(Readings):
    """`n` robots of one scenario. Arrays have a row for each; steps use all cores, without the GIL.

    A robot whose physics has failed keeps its last state; its `base_quat` is NaN.
    """

    def __init__(
        self,
        scenario: str | PathLike[str],
        n: int,
        *,
        set: Sequence[str] = (),
        threads: int | None = None,
    ) -> None:
        self._n = wire.whole("n", n, 1)
        if threads is not None:
            wire.whole("threads", threads, 1)
        self._native: _native.Plants = _native.Plants(fspath(scenario), n, list(set), threads)
        self._one = Plant(scenario, set=set)
        self._batch = (self._n,)

    def __len__(self) -> int:
        return self._n

    @property
    def joints(self) -> list[str]:
        """Names of the joints."""
        return self._one.joints

    @property
    def feet(self) -> list[str]:
        """Names of the feet."""
        return self._one.feet

    @property
    def period(self) -> float:
        """Length of a tick, s."""
        return self._one.period

    @property
    def mass(self) -> float:
        """Mass of a robot, kg."""
        return self._one.mass

    @property
    def q_initial(self) -> Floats:
        """Initial positions of a robot (n)."""
        return self._one.q_initial

    @property
    def effort_max(self) -> Floats:
        """Largest efforts of a robot (n)."""
        return self._one.effort_max

    @property
    def model(self) -> Model:
        """The robot, as a daemon describes it."""
        return self._one.model

    @property
    def digest(self) -> npt.NDArray[np.uint64]:
        return np.array(self._native.digest, dtype=np.uint64)

    @property
    def tick(self) -> npt.NDArray[np.uint64]:
        return np.array(self._native.tick, dtype=np.uint64)

    @property
    def battery_voltage(self) -> Floats:
        """Voltages at the terminals of the batteries, V, (n)."""
        return floats(self._native.battery_voltage(), self._n)

    def step(
        self,
        q: Values | None = None,
        dq: Values | None = None,
        kp: Values | None = None,
        kd: Values | None = None,
        tau: Values | None = None,
        ticks: int = 1,
    ) -> Bools:
        """Commands all and advances all. Returns which have failed."""
        ticks, shape = wire.whole("ticks", ticks, 0), (self._n, len(self.joints))
        given = zip(SET_POINTS, (q, dq, kp, kd, tau), strict=True)
        failed = self._native.step(*(_bytes(v, shape, name) for name, v in given), ticks=ticks)
        return np.frombuffer(failed, dtype=np.bool_).copy()

    def reset(self, mask: npt.ArrayLike | None = None) -> None:
        """Begins again, all or those of the mask."""
        if mask is None:
            self._native.reset(None)
            return
        chosen = np.asarray(mask, dtype=np.bool_)
        if chosen.shape != (self._n,):
            raise Refused(f"mask has the shape {chosen.shape}; it must be ({self._n},)")
        self._native.reset(chosen.tobytes())


__all__ = ["Dynamics", "Plant", "Plants"]
