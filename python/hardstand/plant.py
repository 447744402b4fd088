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

from . import _native
from .errors import Refused
from .law import Law
from .model import Model, read_model
from .state import State

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Flags = npt.NDArray[np.uint32]
Values = float | npt.ArrayLike

SET_POINTS = ("q", "dq", "kp", "kd", "tau")


def _bytes(values: Values | None, shape: tuple[int, ...], name: str) -> bytes | None:
    """Set-points as the extension module takes them; a number or a row counts for all."""
    if values is None:
        return None
    try:
        full = np.broadcast_to(np.asarray(values, dtype=np.float64), shape)
    except ValueError:
        found = np.shape(values)
        raise Refused(f"{name} has the shape {found}; it must fit {shape}") from None
    return np.ascontiguousarray(full).tobytes()


def _floats(data: bytes, *shape: int) -> Floats:
    return np.frombuffer(data, dtype=np.float64).reshape(shape).copy()


def _flags(data: bytes, *shape: int) -> Flags:
    return np.frombuffer(data, dtype=np.float64).reshape(shape).astype(np.uint32)


class Plant:
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
        self._native = _native.Plant(fspath(scenario), list(set), controller)

    joints = property(lambda self: self._native.joints, doc="Names of the joints.")
    feet = property(lambda self: self._native.feet, doc="Names of the feet.")
    period = property(lambda self: self._native.period, doc="Length of a tick, s.")
    mass = property(lambda self: self._native.mass, doc="Mass, kg.")
    tick = property(lambda self: self._native.tick, doc="Ticks done.")
    time = property(lambda self: self._native.time, doc="Simulated time, s.")
    digest = property(lambda self: self._native.digest, doc="Digest of the state, 64 bits.")
    q = property(lambda self: _floats(self._native.q(), -1), doc="Positions (n).")
    dq = property(lambda self: _floats(self._native.dq(), -1), doc="Velocities (n).")
    tau = property(lambda self: _floats(self._native.tau(), -1), doc="Efforts of the motors (n).")
    q_initial = property(lambda self: _floats(self._native.q_initial(), -1), doc="(n)")
    effort_max = property(lambda self: _floats(self._native.effort_max(), -1), doc="(n)")
    base_position = property(lambda self: _floats(self._native.base_position(), 3))
    base_quat = property(lambda self: _floats(self._native.base_quat(), 4))
    base_velocity = property(lambda self: _floats(self._native.base_velocity(), 3))
    base_angular_velocity = property(
        lambda self: _floats(self._native.base_angular_velocity(), 3)
    )
    truth_q = property(lambda self: _floats(self._native.truth_q(), -1), doc="(n)")
    truth_dq = property(lambda self: _floats(self._native.truth_dq(), -1), doc="(n)")
    truth_tau = property(lambda self: _floats(self._native.truth_tau(), -1), doc="(n)")
    truth_imu_quat = property(lambda self: _floats(self._native.truth_imu_quat(), 4))
    truth_imu_gyro = property(lambda self: _floats(self._native.truth_imu_gyro(), 3), doc="rad/s")
    truth_imu_acc = property(lambda self: _floats(self._native.truth_imu_acc(), 3), doc="m/s²")
    truth_foot_normal = property(
        lambda self: _floats(self._native.truth_foot_normal(), -1), doc="N"
    )
    imu_quat = property(lambda self: _floats(self._native.imu_quat(), 4))
    imu_gyro = property(lambda self: _floats(self._native.imu_gyro(), 3), doc="rad/s")
    imu_acc = property(lambda self: _floats(self._native.imu_acc(), 3), doc="m/s²")
    foot_normal = property(lambda self: _floats(self._native.foot_normal(), -1), doc="N")
    drive_motor_q = property(
        lambda self: _floats(self._native.drive_motor_q(), -1),
        doc="Positions of the motors' sides at the joints: the joints' if nothing is elastic.",
    )
    drive_motor_dq = property(lambda self: _floats(self._native.drive_motor_dq(), -1))
    drive_current = property(
        lambda self: _floats(self._native.drive_current(), -1),
        doc="Currents of the motors, A; 0 without a torque constant.",
    )
    drive_winding = property(
        lambda self: _floats(self._native.drive_winding(), -1),
        doc="Temperatures of the windings, °C.",
    )
    drive_housing = property(
        lambda self: _floats(self._native.drive_housing(), -1),
        doc="Temperatures of the housings, °C.",
    )
    drive_flags = property(
        lambda self: _flags(self._native.drive_flags(), -1),
        doc="Errors, as bits: 1 derated, 2 tripped, 4 watchdog, 8 torque limit, 16 voltage limit.",
    )
    battery_voltage = property(
        lambda self: self._native.battery_voltage(),
        doc="Voltage at the battery's terminals, V; 0 without a battery.",
    )
    velocity_command = property(
        lambda self: _floats(self._native.velocity_command(), 3),
        doc="What `[[commands]]` ask for: ahead, to the left (m/s), turn to the left (rad/s).",
    )

    @property
    def foot_contact(self) -> Bools:
        """Which feet touch the ground."""
        return np.frombuffer(self._native.foot_contact(), dtype=np.bool_).copy()

    def step(
        self,
        q: Values | None = None,
        dq: Values | None = None,
        kp: Values | None = None,
        kd: Values | None = None,
        tau: Values | None = None,
        ticks: int = 1,
    ) -> None:
        """Commands the joints and advances. What is left out stays as in the last command."""
        shape = (len(self.joints),)
        given = zip(SET_POINTS, (q, dq, kp, kd, tau), strict=True)
        self._native.step(*(_bytes(v, shape, name) for name, v in given), ticks)

    def run(self, law: Law, ticks: int) -> None:
        """Advances, commanded by a control law of Rust, without the GIL. The law joins as the
        plant's controller, for its joints and with its period."""
        self._native.run(law._native, ticks)

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
            "push", link=link, force_n=list(map(float, force)), duration_s=float(duration),
            point_m=list(map(float, point)),
        )

    def friction(self, mu_static: float, mu_kinetic: float) -> None:
        """Changes the friction of all stations."""
        self._native.fault("friction", mu_static=mu_static, mu_kinetic=mu_kinetic)

    def fault(self, kind: str, **parameters: Any) -> None:
        """Injects a fault with the parameters of docs/faults.md."""
        self._native.fault(kind, **parameters)

    def snapshot(self) -> bytes:
        """The complete state."""
        return self._native.snapshot()

    def restore(self, saved: bytes) -> None:
        """Goes on from a state of a plant of the same scenario, bit for bit."""
        self._native.restore(saved)

    def reset(self) -> None:
        """Begins again."""
        self._native.reset()

    def clone(self) -> Plant:
        """A copy that goes its own way."""
        new = object.__new__(Plant)
        new._native = self._native.clone()
        return new


class Plants:
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
        if n < 1:
            raise Refused(f"n is {n}; it must be at least 1")
        self._native = _native.Plants(fspath(scenario), n, list(set), threads)
        self._one = Plant(scenario, set=set)
        self._n = n

    def __len__(self) -> int:
        return self._n

    joints = property(lambda self: self._one.joints)
    feet = property(lambda self: self._one.feet)
    period = property(lambda self: self._one.period)
    mass = property(lambda self: self._one.mass)
    q_initial = property(lambda self: self._one.q_initial)
    effort_max = property(lambda self: self._one.effort_max)

    @property
    def digest(self) -> npt.NDArray[np.uint64]:
        return np.array(self._native.digest, dtype=np.uint64)

    @property
    def tick(self) -> npt.NDArray[np.uint64]:
        return np.array(self._native.tick, dtype=np.uint64)

    def __getattr__(self, name: str) -> Any:
        widths = {
            "q": -1, "dq": -1, "tau": -1, "base_position": 3, "base_quat": 4, "base_velocity": 3,
            "base_angular_velocity": 3, "imu_quat": 4, "imu_gyro": 3, "imu_acc": 3,
            "foot_normal": -1, "velocity_command": 3, "truth_q": -1, "truth_dq": -1,
            "truth_tau": -1, "truth_imu_quat": 4, "truth_imu_gyro": 3, "truth_imu_acc": 3,
            "truth_foot_normal": -1, "drive_motor_q": -1, "drive_motor_dq": -1,
            "drive_current": -1, "drive_winding": -1, "drive_housing": -1,
        }
        if name not in widths:
            raise AttributeError(f"Plants has no attribute {name!r}")
        return _floats(getattr(self._native, name)(), self._n, widths[name])

    @property
    def foot_contact(self) -> Bools:
        """Which feet touch the ground, (n, feet)."""
        found = np.frombuffer(self._native.foot_contact(), dtype=np.bool_)
        return found.reshape(self._n, -1).copy()

    @property
    def drive_flags(self) -> Flags:
        """Errors of the drives, (n, joints), as those of `Plant`."""
        return _flags(self._native.drive_flags(), self._n, -1)

    @property
    def battery_voltage(self) -> Floats:
        """Voltages at the terminals of the batteries, V, (n)."""
        return _floats(self._native.battery_voltage(), self._n)

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
        shape = (self._n, len(self.joints))
        given = zip(SET_POINTS, (q, dq, kp, kd, tau), strict=True)
        failed = self._native.step(*(_bytes(v, shape, name) for name, v in given), ticks)
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


class Dynamics:
    """The dynamics of a robot, from a URDF or a MuJoCo model: to compare them with others.

    Velocities are the angular velocity of the base and the velocity of its origin, both in world
    axes (only if it floats), then the joints.
    """

    def __init__(self, file: str | PathLike[str]) -> None:
        self._native = _native.Model(fspath(file))

    joints = property(lambda self: self._native.joints)
    bodies = property(lambda self: self._native.bodies, doc="Names of links.")
    mass = property(lambda self: self._native.mass)
    floating = property(lambda self: self._native.floating)
    warnings = property(lambda self: self._native.warnings, doc="What was left out.")

    def mass_matrix(self, base_position: Any, base_quat: Any, q: Any) -> Floats:
        """The matrix M of M dv/dt + bias = forces."""
        n = len(self.joints) + 6 * self.floating
        return _floats(self._native.mass_matrix(*map(_list, (base_position, base_quat, q))), n, n)

    def bias_forces(
        self, base_position: Any, base_quat: Any, base_velocity: Any, q: Any, dq: Any, gravity: Any
    ) -> Floats:
        """The forces that keep all velocities as they are: Coriolis, centrifugal, gravity."""
        all_ = (base_position, base_quat, base_velocity, q, dq, gravity)
        return _floats(self._native.bias_forces(*map(_list, all_)), -1)

    def pose(
        self, body: str, base_position: Any, base_quat: Any, q: Any
    ) -> tuple[list[float], list[float]]:
        """Position (m) and quaternion (w, x, y, z) of a link in the world."""
        return self._native.pose(body, *map(_list, (base_position, base_quat, q)))


def _list(values: Any) -> list[float]:
    return np.asarray(values, dtype=np.float64).ravel().tolist()


__all__ = ["Dynamics", "Plant", "Plants"]
