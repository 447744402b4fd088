"""A plant without physics: joints follow their targets, and the robot tilts with the first one."""

from __future__ import annotations

from typing import Any

import numpy as np


class FakePlant:
    """The interface of `hardstand.Plant`, or with `n` that of `hardstand.Plants`."""

    joints = ["a", "b", "c"]
    period = 0.001
    mass = 1.0

    def __init__(self, n: int | None = None) -> None:
        self.batch = () if n is None else (n,)
        self.q_initial = np.array([0.0, 0.1, 0.2])
        self.steps: list[dict[str, Any]] = []
        self.reset()

    def reset(self, mask: np.ndarray | None = None) -> None:
        chosen = np.ones(self.batch, np.bool_) if mask is None else mask
        self.tick = 0
        self.digest = 0
        initial = np.broadcast_to(self.q_initial, (*self.batch, 3))
        old = getattr(self, "q", initial)
        self.q = np.where(chosen[..., None], initial, old)
        self._move()

    def _move(self) -> None:
        half = self.q[..., 0] / 2
        zero = np.zeros(self.batch)
        self.base_quat = np.stack([np.cos(half), np.sin(half), zero, zero], -1)
        self.imu_quat = self.base_quat
        self.dq = self.tau = np.zeros_like(self.q)
        three = np.zeros((*self.batch, 3))
        self.base_velocity = self.base_position = self.base_angular_velocity = three
        self.imu_gyro = self.imu_acc = three
        self.foot_contact = np.ones((*self.batch, 2), np.bool_)

    def step(self, q: Any = None, ticks: int = 1, **more: Any) -> None:
        self.steps.append({"q": np.array(q), "ticks": ticks, **more})
        self.q = np.array(q)
        self.tick += ticks
        self._move()
