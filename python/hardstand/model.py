"""What a controller needs to know of the robot before it begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import numpy as np
import numpy.typing as npt

from . import wire
from .errors import Refused

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Station:
    """A contact point: its body, and its position in the body's frame, m."""

    name: str
    body: str
    position_body_m: tuple[float, float, float]
    model: str


@dataclass(frozen=True)
class Body:
    """A free body of the scenario: mass in kg, `"free"`, `"hinge"` or `"slide"`, the axis of that
    joint in the body's frame, and its pose at the start; m, w x y z."""

    name: str
    mass: float
    joint: str
    axis: tuple[float, ...]
    position_m: tuple[float, ...]
    quat_wxyz: tuple[float, ...]


@dataclass(frozen=True)
class Shape:
    """A convex shape of a link or a free body, `carrier`, that touches: `"sphere"` (radius),
    `"capsule"` and `"cylinder"` (radius, length along z), `"box"` (edges) or `"hull"` (corners in
    `vertices_m`), with its pose in the carrier's frame; m, w x y z."""

    carrier: str
    kind: str
    size_m: tuple[float, ...]
    position_m: tuple[float, ...]
    quat_wxyz: tuple[float, ...]
    vertices_m: Floats
    model: str
    mu_static: float
    mu_kinetic: float


@dataclass(frozen=True)
class Frame:
    """A frame: the body that carries it, and its pose in that body's frame; m, w x y z."""

    body: str
    position_m: tuple[float, ...]
    quat_wxyz: tuple[float, ...]


@dataclass(frozen=True)
class Model:
    """The robot that the daemon simulates; it does not change while the daemon runs.

    Arrays have one element a joint, in the order of `joints`, which is that of states too; rad and
    N·m for revolute joints, m and N for prismatic ones. A limit that is missing is ±inf. `data` is
    the message.
    """

    layout_hash: int
    run_id: int
    period_ns: int
    hold_ticks: int
    damped_ticks: int
    proof_commands: int
    kp_max: float
    kd_max: float
    mass: float
    gravity: Floats
    version: str
    robot: str
    base_link: str
    joints: tuple[str, ...]
    prismatic: npt.NDArray[np.bool_]
    q_initial: Floats
    q_min: Floats
    q_max: Floats
    effort_max: Floats
    velocity_max: Floats
    feet: tuple[str, ...]
    foot_stations: tuple[tuple[int, ...], ...]
    stations: tuple[Station, ...]
    surfaces: tuple[str, ...]
    foot_frames: tuple[Frame, ...]
    imu_frame: Frame
    regions: tuple[str, ...]
    constraints: tuple[str, ...]
    links: tuple[str, ...]
    bodies: tuple[Body, ...]
    shapes: tuple[Shape, ...]
    data: bytes = field(repr=False, compare=False)

    @property
    def period(self) -> float:
        """Length of a tick, s."""
        return self.period_ns * 1e-9

    def index(self, joints: Sequence[str] | None) -> npt.NDArray[np.intp]:
        """The places in the model of joints by name; `*` in a name stands for any text. None
        stands for all joints."""
        if joints is None:
            return np.arange(len(self.joints))
        if isinstance(joints, str):
            joints = [joints]
        found: list[int] = []
        for name in joints:
            hits = [i for i, own in enumerate(self.joints) if fnmatchcase(own, name)]
            if not hits:
                raise Refused(
                    f'joint "{name}" is not one of the robot {self.robot}; '
                    f"its joints are {', '.join(self.joints)}"
                )
            found += [i for i in hits if i not in found]
        return np.array(found, dtype=np.intp)

    def foot(self, name: str) -> int:
        """The place of a foot by name."""
        return place(self.feet, name, "foot", self.robot)


def place(names: Sequence[str], name: str, what: str, robot: str) -> int:
    """The place of `name` in `names`; `what` names the thing in the error."""
    if name not in names:
        known = ", ".join(names) or "none"
        raise Refused(f'{what} "{name}" is not one of the robot {robot}; it has: {known}')
    return list(names).index(name)


def _frame(r: wire.Reader) -> Frame:
    return Frame(r.text(), r.take("3d"), r.take("4d"))


_LAWS = ("exponential_spring", "hunt_crossley", "rigid")
_JOINTS = ("free", "hinge", "slide")
_SHAPES = ("sphere", "capsule", "box", "cylinder", "hull")


def _body(r: wire.Reader) -> Body:
    name, (mass, joint) = r.text(), r.take("dB")
    return Body(name, mass, _JOINTS[joint], r.take("3d"), r.take("3d"), r.take("4d"))


def _shape(r: wire.Reader, links: Sequence[str], bodies: Sequence[Body]) -> Shape:
    carrier, index, kind = r.take("BIB")
    name = links[index] if carrier == 1 else bodies[index].name
    size, position, quat = r.take("3d"), r.take("3d"), r.take("4d")
    vertices = r.numbers(r.count()).reshape(-1, 3)
    law, mu_static, mu_kinetic = r.take("B2d")
    return Shape(
        name, _SHAPES[kind], size, position, quat, vertices, _LAWS[law], mu_static, mu_kinetic
    )


def read_model(data: bytes) -> Model:
    """The model in a message."""
    wire.check(data, wire.MODEL, "the model")
    r = wire.Reader(data, 4)
    layout_hash, run_id, period_ns, hold, damped, proof, kp_max, kd_max, mass = r.take("QI4Q3d")
    gravity = r.numbers(3)
    version, robot, base_link = r.text(), r.text(), r.text()
    joints = [(r.text(), *r.take("B5d")) for _ in range(r.count())]
    limits = np.array([joint[2:] for joint in joints]).reshape(-1, 5).T
    feet = [(r.text(), tuple(r.take("I") for _ in range(r.count()))) for _ in range(r.count())]
    stations = []
    for _ in range(r.count()):
        name, body, position = r.text(), r.text(), r.take("3d")
        kind = _LAWS[r.take("B2d")[0]]
        stations.append(Station(name, body, position, kind))
    surfaces = [(r.text(), r.take("2B7d"))[0] for _ in range(r.count())]
    foot_frames = tuple(_frame(r) for _ in range(r.count()))
    imu_frame = _frame(r)
    regions = [(r.text(), r.take("I4d"))[0] for _ in range(r.count())]
    _hold_gains = [r.take("2d") for _ in range(r.count())]
    constraints = []
    for _ in range(r.count()):
        constraints.append(r.text())
        _on, _point, _plane, _normal = r.text(), r.take("3d"), r.text(), r.take("3d")
    links = tuple(r.text() for _ in range(r.count()))
    bodies = tuple(_body(r) for _ in range(r.count()))
    shapes = tuple(_shape(r, links, bodies) for _ in range(r.count()))
    return Model(
        layout_hash=layout_hash, run_id=run_id, period_ns=period_ns, hold_ticks=hold,
        damped_ticks=damped, proof_commands=proof, kp_max=kp_max, kd_max=kd_max, mass=mass,
        gravity=gravity, version=version, robot=robot, base_link=base_link,
        joints=tuple(joint[0] for joint in joints),
        prismatic=np.array([joint[1] == 1 for joint in joints], dtype=np.bool_),
        q_initial=limits[0], q_min=limits[1], q_max=limits[2],
        effort_max=limits[3], velocity_max=limits[4],
        feet=tuple(foot[0] for foot in feet), foot_stations=tuple(foot[1] for foot in feet),
        stations=tuple(stations), surfaces=tuple(surfaces), foot_frames=foot_frames,
        imu_frame=imu_frame, regions=tuple(regions), constraints=tuple(constraints), links=links,
        bodies=bodies, shapes=shapes, data=bytes(data),
    )
