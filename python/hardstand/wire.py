"""Bytes of the bus, protocol version 7 (docs/protocol.md): the fixed layouts as NumPy dtypes."""

from __future__ import annotations

import hashlib
import operator
import secrets
import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import HardstandError, Refused

VERSION = 7

# kinds of messages
STATE, CONTACTS, COMMAND, STATUS, MODEL = 1, 2, 3, 4, 5
FRICTION, ORDER_REPLY, CONTROL, PUSH, SAVED_STATE = 8, 9, 10, 11, 12
JOIN, JOIN_REPLY, LEAVE, SPEED, EVENT = 13, 14, 15, 16, 17
FAULT, CLEAR, VELOCITY, CONSTRAINT, ANCHORS = 20, 21, 22, 26, 28
DRIVES, BODIES, SENSORS = 24, 25, 27

STATE_HEAD = np.dtype([
    ("header", "S4"), ("layout_hash", "<u8"), ("run_id", "<u4"), ("tick", "<u8"),
    ("time_ns", "<u8"), ("mode", "u1"), ("phase", "u1"), ("failure", "u1"), ("authority", "u1"),
    ("command_age_ticks", "<u4"), ("command_session", "<u8"), ("command_seq", "<u8"),
    ("digest", "<u8"), ("imu_quat_wxyz", "<f8", 4), ("imu_angular_velocity_rad_per_s", "<f8", 3),
    ("imu_specific_force_m_per_s2", "<f8", 3), ("truth_base_position_m", "<f8", 3),
    ("truth_base_quat_wxyz", "<f8", 4), ("truth_base_velocity_m_per_s", "<f8", 3),
    ("truth_base_angular_velocity_rad_per_s", "<f8", 3), ("joints", "<u8"),
])
JOINT_READING = np.dtype([("q", "<f8"), ("dq", "<f8"), ("tau", "<f8")])
JOINT_COMMAND = np.dtype([(name, "<f8") for name in ("q", "dq", "kp", "kd", "tau_ff")])

DRIVE_READING = np.dtype([
    ("motor_q", "<f8"), ("motor_dq", "<f8"), ("truth_q", "<f8"), ("truth_dq", "<f8"),
    ("current_a", "<f8"), ("winding_c", "<f8"), ("housing_c", "<f8"), ("flags", "<u4"),
])

JOINT_TRUTH = np.dtype([(name, "<f8") for name in ("truth_q", "truth_dq", "truth_tau")])
FOOT_SENSOR_READING = np.dtype([
    ("force_foot_n", "<f8", 3), ("moment_foot_nm", "<f8", 3), ("truth_normal_n", "<f8"),
    ("truth_force_foot_n", "<f8", 3), ("truth_moment_foot_nm", "<f8", 3),
])

CONTACTS_HEAD = np.dtype([
    ("header", "S4"), ("layout_hash", "<u8"), ("run_id", "<u4"), ("tick", "<u8"),
    ("time_ns", "<u8"), ("feet", "<u8"),
])
FOOT_READING = np.dtype([
    ("contact", "?"), ("normal_n", "<f8"), ("point_world_m", "<f8", 3),
    ("force_world_n", "<f8", 3), ("moment_world_nm", "<f8", 3), ("force_foot_n", "<f8", 3),
    ("moment_foot_nm", "<f8", 3), ("potential_energy_j", "<f8"), ("power_dissipation_w", "<f8"),
])
STATION_READING = np.dtype([
    ("position_world_m", "<f8", 3), ("velocity_world_m_per_s", "<f8", 3),
    ("normal_world", "<f8", 3), ("force_world_n", "<f8", 3),
    ("friction_elastic_world_n", "<f8", 3), ("friction_damping_world_n", "<f8", 3),
    ("anchor_world_m", "<f8", 3), ("height_m", "<f8"), ("normal_n", "<f8"),
    ("normal_elastic_n", "<f8"), ("normal_damping_n", "<f8"), ("slip_m_per_s", "<f8"),
    ("sliding", "<f8"), ("mu", "<f8"), ("mu_static", "<f8"), ("mu_kinetic", "<f8"),
    ("friction_limit_n", "<f8"), ("potential_energy_j", "<f8"), ("power_dissipation_w", "<f8"),
])
CONSTRAINT_READING = np.dtype([
    ("active", "u1"), ("point_world_m", "<f8", 3), ("force_world_n", "<f8", 3),
    ("height_m", "<f8"), ("speed_m_per_s", "<f8"),
])
BODY_READING = np.dtype([
    ("position_world_m", "<f8", 3), ("quat_wxyz", "<f8", 4),
    ("velocity_world_m_per_s", "<f8", 3), ("angular_velocity_world_rad_per_s", "<f8", 3),
])
TOUCH_READING = np.dtype([
    ("a_kind", "u1"), ("a_index", "<u4"), ("b_kind", "u1"), ("b_index", "<u4"),
    ("point_world_m", "<f8", 3), ("normal_world", "<f8", 3), ("force_world_n", "<f8", 3),
    ("depth_m", "<f8"), ("slip_m_per_s", "<f8"), ("sliding", "<f8"), ("mu", "<f8"),
])
COMMAND_HEAD = np.dtype([
    ("header", "S4"), ("layout_hash", "<u8"), ("run_id", "<u4"), ("session", "<u8"),
    ("seq", "<u8"), ("answers_tick", "<u8"), ("applies_tick", "<u8"), ("joints", "<u8"),
])


def header(kind: int) -> bytes:
    """The four bytes with which a message of this kind begins."""
    return b"HS" + bytes((VERSION, kind))


def check(data: bytes, kind: int, what: str) -> None:
    """Raises unless `data` is a message of this kind and version; `what` names it in the error."""
    if data[:4] == header(kind):
        return
    if data[:2] == b"HS" and len(data) > 2 and data[2] != VERSION:
        raise HardstandError(
            f"{what} has protocol version {data[2]}; this package reads version {VERSION}: "
            "install the package of the daemon's version",
            kind="bus",
        )
    raise HardstandError(f"{what} begins with {data[:4]!r}, not {header(kind)!r}", kind="bus")


#: What a field of this letter of `struct` takes.
_ALLOWED = {
    "d": "a number",
    "B": "a whole number from 0 to 255",
    "I": "a whole number from 0 to 2**32 - 1",
    "Q": "a whole number from 0 to 2**64 - 1",
}


def pack(layout: str, /, **fields: Any) -> bytes:
    """The fields of an order, a letter of `struct` for each. Raises `Refused` with the name and the
    value of the first that does not fit."""
    out = b""
    for letter, (name, value) in zip(layout, fields.items(), strict=True):
        try:
            out += struct.pack("<" + letter, value)
        except (struct.error, TypeError, ValueError, OverflowError):
            raise Refused(f"{name} is {value!r}; it must be {_ALLOWED[letter]}") from None
    return out


def whole(name: str, value: Any, least: int | None = None) -> int:
    """A whole number, with `least` one from there to 2**64 - 1; raises `Refused` with its name."""
    try:
        number = operator.index(value)
    except TypeError:
        raise Refused(f"{name} is {value!r}; it must be a whole number") from None
    if least is not None and not least <= number < 2**64:
        raise Refused(f"{name} is {value!r}; it must be {least} to 2**64 - 1")
    return number


def vector(name: str, value: Any) -> list[float]:
    """Three numbers; raises `Refused` with the name of what is none."""
    try:
        numbers = [float(x) for x in value]
    except (TypeError, ValueError):
        raise Refused(f"{name} is {value!r}; it must be 3 numbers: x, y, z") from None
    if len(numbers) != 3:
        raise Refused(f"{name} has {len(numbers)} numbers; it must have 3: x, y, z")
    return numbers


def text(value: str) -> bytes:
    """A text: its count of bytes, then UTF-8."""
    if not isinstance(value, str):
        raise Refused(f"{value!r} is no text; it must be a str")
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def random_number() -> int:
    """A random number other than 0, for sessions and orders."""
    return secrets.randbits(63) + 1


def public_session(session: int) -> int:
    """The number by which the daemon shows a session that has not joined."""
    digest = hashlib.sha3_256(struct.pack("<Q", session)).digest()
    return max(1, int.from_bytes(digest[:8], "little"))


def order(kind: int, robot: str, run_id: int, asker: str, body: bytes) -> bytes:
    """An order: header, head, body."""
    head = text(robot) + struct.pack("<IQ", run_id, random_number()) + text(asker)
    return header(kind) + head + body


def set_points(n: int) -> npt.NDArray[Any]:
    """`n` set-points of zeros, a record of q, dq, kp, kd, tau_ff each."""
    return np.zeros(n, JOINT_COMMAND)


class Reader:
    """Reads fields one after the other, where their places are not fixed."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at

    def take(self, layout: str) -> Any:
        """One value, or a tuple of several, in the notation of `struct`."""
        values = struct.unpack_from("<" + layout, self.data, self.at)
        self.at += struct.calcsize("<" + layout)
        return values[0] if len(values) == 1 else values

    def text(self) -> str:
        """A text."""
        count = self.take("Q")
        return bytes(self.take(f"{count}s")).decode() if count else ""

    def count(self) -> int:
        """The count of a list's elements."""
        return int(self.take("Q"))

    def numbers(self, n: int) -> npt.NDArray[np.float64]:
        """`n` numbers, as an array."""
        out = np.frombuffer(self.data, "<f8", n, self.at)
        self.at += 8 * n
        return out
