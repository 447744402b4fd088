"""The simulation inside this process (crates/python). One thread at a time may use an object."""

from collections.abc import Sequence
from os import PathLike

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Values = float | npt.ArrayLike

class Plant:
    joints: list[str]
    period: float
    tick: int
    time: float
    digest: int
    mass: float
    q: Floats
    dq: Floats
    tau: Floats
    base_position: Floats
    base_quat: Floats
    base_velocity: Floats
    base_angular_velocity: Floats
    imu_quat: Floats
    imu_gyro: Floats
    imu_acc: Floats
    foot_contact: Bools
    foot_normal: Floats
    q_initial: Floats
    effort_max: Floats
    def __init__(self, scenario: str | PathLike[str], *, set: Sequence[str] = ()) -> None: ...
    def step(
        self, q: Values | None = None, dq: Values | None = None, kp: Values | None = None,
        kd: Values | None = None, tau: Values | None = None, ticks: int = 1,
    ) -> None: ...
    def push(
        self, link: str, force: Sequence[float], duration: float,
        point: Sequence[float] = (0, 0, 0),
    ) -> None: ...
    def friction(self, mu_static: float, mu_kinetic: float) -> None: ...
    def fault(self, kind: str, **parameters: object) -> None: ...
    def snapshot(self) -> bytes: ...
    def restore(self, saved: bytes) -> None: ...
    def reset(self) -> None: ...
    def clone(self) -> Plant: ...

class Plants:
    joints: list[str]
    period: float
    mass: float
    q: Floats
    dq: Floats
    tau: Floats
    base_position: Floats
    base_quat: Floats
    base_velocity: Floats
    base_angular_velocity: Floats
    imu_quat: Floats
    imu_gyro: Floats
    imu_acc: Floats
    foot_contact: Bools
    foot_normal: Floats
    q_initial: Floats
    effort_max: Floats
    def __init__(
        self, scenario: str | PathLike[str], n: int, *, set: Sequence[str] = (),
        threads: int | None = None,
    ) -> None: ...
    def step(
        self, q: Values | None = None, dq: Values | None = None, kp: Values | None = None,
        kd: Values | None = None, tau: Values | None = None, ticks: int = 1,
    ) -> None: ...
    def reset(self, mask: npt.ArrayLike | None = None) -> None: ...
