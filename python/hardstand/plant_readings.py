"""What a plant in this process shows: of one robot, or with a row for each of many."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Flags = npt.NDArray[np.uint32]


def floats(data: bytes, *shape: int) -> Floats:
    """An array of the extension module's bytes."""
    return np.frombuffer(data, dtype=np.float64).reshape(shape).copy()


class Reading:
    """A property that is a copy of an array of the extension module, of the same name. `width` is
    its last axis, -1 for as many as there are."""

    def __init__(self, width: int = -1, doc: str = "") -> None:
        self._width = width
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, plant: Any, owner: type | None = None) -> Floats:
        if plant is None:
            return self  # type: ignore[return-value]  # for help()
        return floats(getattr(plant._native, self._name)(), *plant._batch, self._width)

    def __set__(self, plant: Any, value: object) -> None:
        raise AttributeError(f"{self._name} cannot be set")


class Readings:
    """Arrays of `Plant` and, with a row for each robot, of `Plants`."""

    _native: _native.Plant | _native.Plants
    _batch: tuple[int, ...] = ()

    q = Reading(doc="Positions (n).")
    dq = Reading(doc="Velocities (n).")
    tau = Reading(doc="Efforts of the motors (n).")
    base_position = Reading(3, "m")
    base_quat = Reading(4, "w, x, y, z")
    base_velocity = Reading(3, "m/s")
    base_angular_velocity = Reading(3, "rad/s")
    truth_q = Reading(doc="(n)")
    truth_dq = Reading(doc="(n)")
    truth_tau = Reading(doc="(n)")
    truth_imu_quat = Reading(4, "w, x, y, z")
    truth_imu_gyro = Reading(3, "rad/s")
    truth_imu_acc = Reading(3, "m/s²")
    truth_foot_normal = Reading(doc="N")
    imu_quat = Reading(4, "w, x, y, z")
    imu_gyro = Reading(3, "rad/s")
    imu_acc = Reading(3, "m/s²")
    foot_normal = Reading(doc="N")
    drive_motor_q = Reading(
        doc="Positions of the motors' sides at the joints: the joints' if nothing is elastic."
    )
    drive_motor_dq = Reading(doc="Velocities of the motors' sides at the joints.")
    drive_current = Reading(doc="Currents of the motors, A; 0 without a torque constant.")
    drive_winding = Reading(doc="Temperatures of the windings, °C.")
    drive_housing = Reading(doc="Temperatures of the housings, °C.")
    velocity_command = Reading(
        3, "What `[[commands]]` ask for: ahead, to the left (m/s), turn to the left (rad/s)."
    )

    @property
    def drive_flags(self) -> Flags:
        """Errors, as bits: 1 derated, 2 tripped, 4 watchdog, 8 torque limit, 16 voltage limit."""
        return floats(self._native.drive_flags(), *self._batch, -1).astype(np.uint32)

    @property
    def foot_contact(self) -> Bools:
        """Which feet touch the ground."""
        found = np.frombuffer(self._native.foot_contact(), dtype=np.bool_)
        return found.reshape(*self._batch, -1).copy()
