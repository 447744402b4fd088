"""The parameters of each kind of fault, in the order of the bus (docs/faults.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .errors import Refused

_AMPLITUDE = {"amplitude": None}
_SEED = {"seed": 0.0}
_PROBABILITY = {"probability": None}
_DELAY: dict[str, float | list[float] | None] = {"delay_ticks": None}

#: Of each kind its parameters in order, with the default, or None if it is required.
FAULTS: dict[str, dict[str, float | list[float] | None]] = {
    "encoder_stuck": {},
    "encoder_offset": {"offset": None},
    "encoder_jumping": {**_AMPLITUDE, "rate_hz": None, **_SEED},
    "encoder_noise": {**_AMPLITUDE, **_SEED},
    "motor_dead": {},
    "motor_derated": {"share": None},
    "motor_saturated": {"effort_max": None},
    "battery_sag": {"share": None},
    "imu_gyro_bias": {"bias_rad_per_s": None},
    "imu_accel_bias": {"bias_m_per_s2": None},
    "imu_saturated": {"gyro_max_rad_per_s": None, "accel_max_m_per_s2": None},
    "imu_axes_swapped": {"axes": None},
    "foot_sensor_stuck": {},
    "payload": {"mass_kg": None, "point_m": [0.0, 0.0, 0.0]},
    "friction": {"mu_static": None, "mu_kinetic": None},
    "push": {"force_n": None, "point_m": [0.0, 0.0, 0.0]},
    "link_drop": {**_PROBABILITY, "length": 1.0, **_SEED},
    "link_delay": _DELAY,
    "link_jitter": {**_DELAY, **_SEED},
    "link_reorder": {**_PROBABILITY, **_DELAY, **_SEED},
    "link_duplicate": {**_PROBABILITY, **_DELAY, **_SEED},
    "link_burst": {"every_ticks": None},
    "link_stale": {**_PROBABILITY, **_SEED},
    "link_nan": {**_PROBABILITY, **_SEED},
    "link_bit_flip": {**_PROBABILITY, **_SEED},
    "bus_loss": {"share": None},
    "bus_error": {"share": None},
    "drive_error": {"condition": None},
    "state_drop": {**_PROBABILITY, "length": 1.0, **_SEED},
    "state_delay": _DELAY,
    "state_jitter": {**_DELAY, **_SEED},
    "state_reorder": {**_PROBABILITY, **_DELAY, **_SEED},
    "state_burst": {"every_ticks": None},
}


def values_of(kind: str, given: Mapping[str, float | Sequence[float]]) -> list[float]:
    """The values of a fault's parameters in the order of the bus; the daemon checks ranges."""
    if kind not in FAULTS:
        raise Refused(f'fault "{kind}" is not one of {", ".join(FAULTS)}')
    known = FAULTS[kind]
    if unknown := [name for name in given if name not in known]:
        has = ", ".join(known) or "none"
        raise Refused(f'fault {kind} has no parameter "{unknown[0]}"; it has: {has}')
    out: list[float] = []
    for name, default in known.items():
        value = given.get(name, default)
        if value is None:
            raise Refused(f"fault {kind} needs the parameter {name}")
        try:
            out += np.asarray(value, dtype=np.float64).ravel().tolist()
        except (TypeError, ValueError):
            raise Refused(f"fault {kind}: {name} is {value!r}; it must be numbers") from None
    return out
