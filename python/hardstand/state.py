"""States and contacts of the robot, as views on the bytes that came over the bus."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from . import wire
from .model import Model

Floats = npt.NDArray[np.float64]

_SCALARS = struct.Struct("<QIQQ4BIQQQ")  # from layout_hash to digest, at offset 4
_NO_AGE = 0xFFFF_FFFF
_REAL_TIME = 0

MODES = ("realtime", "lockstep", "budgeted")
PHASES = ("waiting", "running", "stopped", "paused", "awaiting a controller")
FAILURES = (None, "not_finite", "out_of_range", "too_many_contacts")
AUTHORITIES = ("zero", "fresh", "held", "damped", "stopped")


def named(names: tuple[Any, ...], number: int) -> Any:
    """The name with this number, or the number itself if a newer daemon has more of them."""
    return names[number] if number < len(names) else str(number)


class State:
    """The robot after `tick` ticks; all quantities belong to this instant.

    Arrays are read-only views on the received bytes, so a state costs no copy. Joints are in the
    model's order, all of them; `state.q[robot.index]` are those of the lease. Units are SI; the
    world's z points up; quaternions are w, x, y, z.

    Attributes:
        tick: ticks done; the number that a command answers.
        time: simulated time, s.
        run_id: number of the run; a reset or restore begins the next one.
        command_age: age of the command in ticks, or None if there was none.
        owner: public number of the session that commands the robot, 0 for none.
        digest: chained over all ticks: equal digests, equal runs.
        data: the bytes of the message.
    """

    __slots__ = (
        "_age", "_authority", "_failure", "_mode", "_phase", "data", "digest", "layout_hash",
        "owner", "run_id", "seq", "tick", "time_ns",
    )

    def __init__(self, data: bytes) -> None:
        wire.check(data, wire.STATE, "a state")
        self.data = data
        (
            self.layout_hash, self.run_id, self.tick, self.time_ns, self._mode, self._phase,
            self._failure, self._authority, self._age, self.owner, self.seq, self.digest,
        ) = _SCALARS.unpack_from(data, 4)

    def __repr__(self) -> str:
        return f"State(tick={self.tick}, time={self.time:g}, authority={self.authority!r})"

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return float(self.time_ns) * 1e-9

    @property
    def mode(self) -> str:
        """`"realtime"`, `"lockstep"` or `"budgeted"`."""
        return str(named(MODES, self._mode))

    @property
    def is_real_time(self) -> bool:
        """True if ticks do not wait for controllers."""
        return bool(self._mode == _REAL_TIME)

    @property
    def phase(self) -> str:
        """`"waiting"` for a controller, `"running"`, `"stopped"` by a failure, or `"paused"`."""
        return str(named(PHASES, self._phase))

    @property
    def failure(self) -> str | None:
        """Why the plant stopped itself: `"not_finite"`, `"out_of_range"`, or None."""
        name = named(FAILURES, self._failure)
        return None if name is None else str(name)

    @property
    def authority(self) -> str:
        """What the drives obeyed: `"fresh"`, `"held"`, `"damped"`, `"zero"` or `"stopped"`; if
        joints differ, that of the joint with the least."""
        return str(named(AUTHORITIES, self._authority))

    @property
    def command_age(self) -> int | None:
        """Ticks from the state that was answered to the tick that used the command, or None."""
        return None if self._age == _NO_AGE else int(self._age)

    def _floats(self, count: int, offset: int) -> Floats:
        return np.frombuffer(self.data, "<f8", count, offset)

    @property
    def joints(self) -> npt.NDArray[Any]:
        """Records of q (rad or m), dq (rad/s or m/s) and tau (N·m or N); (n,)."""
        (n,) = struct.unpack_from("<Q", self.data, 272)
        return np.frombuffer(self.data, wire.JOINT_READING, n, 280)

    @property
    def q(self) -> Floats:
        """Positions that the encoders read, rad or m; (n,)."""
        return self.joints["q"]

    @property
    def dq(self) -> Floats:
        """Velocities that the encoders read, rad/s or m/s; (n,)."""
        return self.joints["dq"]

    @property
    def tau(self) -> Floats:
        """Efforts that the motors made, N·m or N; (n,)."""
        return self.joints["tau"]

    @property
    def imu_quat(self) -> Floats:
        """Orientation of the IMU in the world, w x y z; (4,)."""
        return self._floats(4, 64)

    @property
    def imu_gyro(self) -> Floats:
        """Angular velocity, rad/s, in the axes of the IMU; (3,)."""
        return self._floats(3, 96)

    @property
    def imu_acc(self) -> Floats:
        """Specific force, m/s², in the axes of the IMU: +9.81 on z at rest; (3,)."""
        return self._floats(3, 120)

    @property
    def truth_base_position(self) -> Floats:
        """Origin of the base link in the world, m; (3,). Only a simulator knows it."""
        return self._floats(3, 144)

    @property
    def truth_base_quat(self) -> Floats:
        """Orientation of the base in the world, w x y z; (4,). Only a simulator knows it."""
        return self._floats(4, 168)

    @property
    def truth_base_velocity(self) -> Floats:
        """Velocity of the base's origin, m/s, in world axes; (3,). Only a simulator knows it."""
        return self._floats(3, 200)

    @property
    def truth_base_angular_velocity(self) -> Floats:
        """Angular velocity of the base, rad/s, in world axes; (3,). Only a simulator knows it."""
        return self._floats(3, 224)

    @property
    def velocity_command(self) -> Floats:
        """What a controller that walks is asked for: ahead and to the left, m/s, and turn to the
        left, rad/s; (3,)."""
        return self._floats(3, 248)

    def _feet_at(self) -> tuple[int, int]:
        (joints,) = struct.unpack_from("<Q", self.data, 272)
        at = 280 + 24 * int(joints)
        (feet,) = struct.unpack_from("<Q", self.data, at)
        return at + 8, int(feet)

    @property
    def foot_contact(self) -> npt.NDArray[np.bool_]:
        """True for each foot that is down, debounced; (feet,)."""
        at, feet = self._feet_at()
        return np.frombuffer(self.data, np.bool_, feet, at)

    @property
    def foot_normal(self) -> Floats:
        """Sum of the normal forces of each foot, N; (feet,)."""
        at, feet = self._feet_at()
        return np.frombuffer(self.data, "<f8", feet, at + feet + 8)


class Contacts:
    """Forces of the ground on the robot after `tick` ticks.

    `feet` and `stations` are record arrays whose fields are those of docs/protocol.md, for
    instance `contacts.feet["force_world_n"]`, N, of shape (feet, 3), and
    `contacts.stations["slip_m_per_s"]`, of shape (stations, surfaces), or (stations, places) where
    these would be more than 192 contacts. So is `constraints`, with an
    entry for each of the scenario's.
    """

    __slots__ = ("constraints", "data", "feet", "layout_hash", "run_id", "stations", "tick", "time_ns")

    def __init__(self, data: bytes, stations: int) -> None:
        wire.check(data, wire.CONTACTS, "a message of contacts")
        self.data = data
        self.layout_hash, self.run_id, self.tick, self.time_ns, feet = struct.unpack_from(
            "<QIQQQ", data, 4
        )
        self.feet: npt.NDArray[Any] = np.frombuffer(data, wire.FOOT_READING, feet, 40)
        at = 40 + wire.FOOT_READING.itemsize * feet
        (count,) = struct.unpack_from("<Q", data, at)
        flat = np.frombuffer(data, wire.STATION_READING, count, at + 8)
        self.stations: npt.NDArray[Any] = flat.reshape(stations, count // max(stations, 1))
        at += 8 + wire.STATION_READING.itemsize * count
        (constraints,) = struct.unpack_from("<Q", data, at)
        self.constraints: npt.NDArray[Any] = np.frombuffer(
            data, wire.CONSTRAINT_READING, constraints, at + 8
        )

    def __repr__(self) -> str:
        return f"Contacts(tick={self.tick}, feet={len(self.feet)})"


class Drives:
    """What drives show that are not ideal, after `tick` ticks.

    `joints` is a record array whose fields are those of docs/protocol.md, for instance
    `drives.joints["winding_c"]`, °C, of shape (joints,); `bus_v` is the battery's voltage, V.
    """

    __slots__ = ("bus_v", "data", "joints", "layout_hash", "run_id", "tick", "time_ns")

    def __init__(self, data: bytes) -> None:
        wire.check(data, wire.DRIVES, "a message of drives")
        self.data = data
        head = struct.unpack_from("<QIQQdQ", data, 4)
        self.layout_hash, self.run_id, self.tick, self.time_ns, self.bus_v, joints = head
        self.joints: npt.NDArray[Any] = np.frombuffer(data, wire.DRIVE_READING, joints, 48)

    def __repr__(self) -> str:
        return f"Drives(tick={self.tick}, joints={len(self.joints)})"


class Sensors:
    """The truth beside sensors with errors, after `tick` ticks: only a simulator knows it.

    `joints` and `feet` are record arrays whose fields are those of docs/protocol.md, for instance
    `message.joints["truth_q"]`, rad or m, of shape (joints,), and `message.feet["force_foot_n"]`, N,
    of shape (feet, 3): what the sensors of the feet show along all axes.
    """

    __slots__ = ("data", "feet", "joints", "layout_hash", "run_id", "tick", "time_ns")

    def __init__(self, data: bytes) -> None:
        wire.check(data, wire.SENSORS, "a message of sensors")
        self.data = data
        self.layout_hash, self.run_id, self.tick, self.time_ns = struct.unpack_from("<QIQQ", data, 4)
        (count,) = struct.unpack_from("<Q", data, 160)
        self.joints: npt.NDArray[Any] = np.frombuffer(data, wire.JOINT_TRUTH, count, 168)
        at = 168 + wire.JOINT_TRUTH.itemsize * count
        (count,) = struct.unpack_from("<Q", data, at)
        self.feet: npt.NDArray[Any] = np.frombuffer(
            data, wire.FOOT_SENSOR_READING, count, at + 8
        )

    def __repr__(self) -> str:
        return f"Sensors(tick={self.tick}, joints={len(self.joints)}, feet={len(self.feet)})"

    def _floats(self, count: int, offset: int) -> Floats:
        return np.frombuffer(self.data, "<f8", count, offset)

    @property
    def truth_imu_quat(self) -> Floats:
        """Orientation of the IMU in the world, w x y z; (4,)."""
        return self._floats(4, 32)

    @property
    def truth_imu_gyro(self) -> Floats:
        """Angular velocity, rad/s, in the axes of the IMU; (3,)."""
        return self._floats(3, 64)

    @property
    def truth_imu_acc(self) -> Floats:
        """Specific force, m/s², in the axes of the IMU; (3,)."""
        return self._floats(3, 88)

    @property
    def truth_gyro_bias(self) -> Floats:
        """Bias of the gyroscope, rad/s; (3,)."""
        return self._floats(3, 112)

    @property
    def truth_accel_bias(self) -> Floats:
        """Bias of the accelerometer, m/s²; (3,)."""
        return self._floats(3, 136)


class Bodies:
    """Free bodies of the scenario, and the points where shapes touch, after `tick` ticks.

    `bodies` and `points` are record arrays whose fields are those of docs/protocol.md, for instance
    `message.bodies["position_world_m"]`, m, of shape (bodies, 3), in the order of `names`, and
    `message.points["force_world_n"]`, N, of shape (points, 3): the force on side A.

    Attributes:
        names: the free bodies, in the order of `bodies`.
        left_out: points that touch but found no room in the message.
    """

    __slots__ = (
        "_sides", "bodies", "data", "layout_hash", "left_out", "names", "points", "run_id", "tick",
        "time_ns",
    )

    def __init__(self, data: bytes, model: Model) -> None:
        wire.check(data, wire.BODIES, "a message of bodies")
        self.data = data
        (
            self.layout_hash, self.run_id, self.tick, self.time_ns, self.left_out, count,
        ) = struct.unpack_from("<QIQQIQ", data, 4)
        self.bodies: npt.NDArray[Any] = np.frombuffer(data, wire.BODY_READING, count, 44)
        at = 44 + wire.BODY_READING.itemsize * count
        (count,) = struct.unpack_from("<Q", data, at)
        self.points: npt.NDArray[Any] = np.frombuffer(data, wire.TOUCH_READING, count, at + 8)
        self.names = tuple(body.name for body in model.bodies)
        self._sides = (model.surfaces, model.links, self.names)

    def __repr__(self) -> str:
        return f"Bodies(tick={self.tick}, bodies={len(self.bodies)}, points={len(self.points)})"

    def __getitem__(self, name: str) -> Any:
        """The record of a free body by name."""
        return self.bodies[self.names.index(name)]

    def sides(self, point: int) -> tuple[str, str]:
        """Names of the two things that touch at a point: links, free bodies, and of the second one
        surfaces of the ground."""
        at = self.points[point]
        return (
            self._sides[int(at["a_kind"])][int(at["a_index"])],
            self._sides[int(at["b_kind"])][int(at["b_index"])],
        )

    def force_on(self, name: str) -> Floats:
        """Sum of the forces on a link or a free body at all points, N, world axes; (3,)."""
        sum_n = np.zeros(3)
        for i, point in enumerate(self.points):
            a, b = self.sides(i)
            sum_n += point["force_world_n"] * (int(a == name) - int(b == name))
        return sum_n
