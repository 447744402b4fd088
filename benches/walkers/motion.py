"""What a robot did, and what is measured of it: the same for both simulators."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

SETTLE_S = 2.0
TILT_MAX_RAD = 1.0
#: A foot has left the ground below the first force for a time, and is down above the second, N.
OFF_N, ON_N, OFF_FOR_S = 2.0, 20.0, 0.03


@dataclass
class Trace:
    """Rows of equal distance in time."""

    period: float
    rows: dict[str, list[Any]] = field(default_factory=dict)
    digest: str = ""
    wall_s: float = 0.0
    missed_deadlines: int = 0

    def add(self, **values: Any) -> None:
        """One row."""
        for name, value in values.items():
            self.rows.setdefault(name, []).append(np.array(value, np.float64))

    def __getitem__(self, name: str) -> Floats:
        return np.array(self.rows[name])

    def __len__(self) -> int:
        return len(self.rows["q"])


def up(quat: Floats) -> Floats:
    """z of the base's z axis in the world, for quaternions w x y z."""
    return np.asarray(1 - 2 * (quat[..., 1] ** 2 + quat[..., 2] ** 2))


def yaw(quat: Floats) -> Floats:
    """Heading, rad, without jumps."""
    w, x, y, z = np.moveaxis(quat, -1, 0)
    return np.unwrap(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))


def touchdowns(normal: Floats, period: float) -> int:
    """How often a foot comes down after it has been off the ground for OFF_FOR_S."""
    count, off = 0, 0
    for force in normal:
        if force < OFF_N:
            off += 1
        elif force > ON_N:
            count += off * period >= OFF_FOR_S
            off = 0
    return count


def measure(trace: Trace, asked: dict[str, float], settle_s: float = SETTLE_S) -> dict[str, Any]:
    """The measures from `settle_s` on; of a robot that fell, those until then."""
    quat, position = trace["quat"], trace["position"]
    low = position[:, 2] < 0.5 * position[0, 2]
    fallen = np.flatnonzero((up(quat) < np.cos(TILT_MAX_RAD)) | low)
    end = int(fallen[0]) if len(fallen) else len(trace)
    begin = min(round(settle_s / trace.period), end // 2)
    part = slice(begin, end)
    seconds = (end - begin) * trace.period
    heading = yaw(quat)
    cos, sin = np.cos(heading[part]), np.sin(heading[part])
    vx, vy = trace["velocity"][part, 0], trace["velocity"][part, 1]
    tau, dq = trace["tau"][part], trace["dq"][part]
    power = tau * dq
    normal = trace["normal"][part]
    steps = sum(touchdowns(normal[:, i], trace.period) for i in range(normal.shape[1]))
    return {
        "asked": [asked.get(name, 0.0) for name in ("vx", "vy", "yaw_rate")],
        "measured": [
            float((cos * vx + sin * vy).mean()), float((cos * vy - sin * vx).mean()),
            float((heading[end - 1] - heading[begin]) / seconds),
        ],
        "height_m": float(position[part, 2].mean()),
        "torque_nm": float(np.abs(tau).mean()),
        "power_w": float(np.abs(power).sum(1).mean()),
        "positive_w": float(np.maximum(power, 0).sum(1).mean()),
        "steps_hz": steps / seconds / normal.shape[1],
        "fell_s": float(fallen[0] * trace.period) if len(fallen) else None,
        "digest": trace.digest,
        "wall_s": trace.wall_s,
    }
