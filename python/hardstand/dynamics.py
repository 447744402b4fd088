"""The dynamics of a robot, from a URDF or a MuJoCo model."""

from __future__ import annotations

from os import PathLike, fspath
from typing import Any

import numpy as np

from . import _native
from .plant_readings import Floats, floats


class Dynamics:
    """The dynamics of a robot, from a URDF or a MuJoCo model: to compare them with others.

    Velocities are the angular velocity of the base and the velocity of its origin, both in world
    axes (only if it floats), then the joints.
    """

    def __init__(self, file: str | PathLike[str]) -> None:
        self._native = _native.Model(fspath(file))

    @property
    def joints(self) -> list[str]:
        """Names of the joints."""
        return self._native.joints

    @property
    def bodies(self) -> list[str]:
        """Names of links."""
        return self._native.bodies

    @property
    def mass(self) -> float:
        """Mass, kg."""
        return self._native.mass

    @property
    def floating(self) -> bool:
        """True if the base floats."""
        return self._native.floating

    @property
    def warnings(self) -> list[str]:
        """What was left out."""
        return self._native.warnings

    def mass_matrix(self, base_position: Any, base_quat: Any, q: Any) -> Floats:
        """The matrix M of M dv/dt + bias = forces."""
        n = len(self.joints) + 6 * self.floating
        return floats(self._native.mass_matrix(*map(_list, (base_position, base_quat, q))), n, n)

    def bias_forces(
        self, base_position: Any, base_quat: Any, base_velocity: Any, q: Any, dq: Any, gravity: Any
    ) -> Floats:
        """The forces that keep all velocities as they are: Coriolis, centrifugal, gravity."""
        all_ = (base_position, base_quat, base_velocity, q, dq, gravity)
        return floats(self._native.bias_forces(*map(_list, all_)), -1)

    def pose(
        self, body: str, base_position: Any, base_quat: Any, q: Any
    ) -> tuple[list[float], list[float]]:
        """Position (m) and quaternion (w, x, y, z) of a link in the world."""
        return self._native.pose(body, *map(_list, (base_position, base_quat, q)))


def _list(values: Any) -> list[float]:
    return np.asarray(values, dtype=np.float64).ravel().tolist()
